#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compares the tables of tracepoints with perf script and perf trace -s, row by row.
. "$(dirname "$0")/../lib.sh"
. "$tests/perfdata.sh"

need root perf
mounted=
if ! [ -d /sys/kernel/tracing/events ] && mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null; then
	mounted=1
fi
cleanup() { [ -z "$mounted" ] || umount /sys/kernel/tracing; }
perf record -q -e raw_syscalls:sys_enter -o probe.data true 2>probe.err ||
	skip_all "perf cannot record tracepoints here: $(tail -n 1 probe.err)"

# Makes threads, children, execs, failing calls, slow calls, calls that move bytes, and a thread that
# changes its name.
calls=$build/tests/tools/calls
cat >load.sh <<E2
"$calls" 0 >calls.1 &
"$calls" 0 >calls.2 &
for i in 1 2 3; do ls -l /etc >/dev/null; (exit 3); done
wait
E2

m=$(buffer 32)
record() { # record FILE OPTIONS...
	lossless "$1" perf record -q $m -o "$@" -- sh load.sh 2>record.err || { cat record.err; return 1; }
}
report() { # report CODE OPTIONS...
	code=$1
	shift
	exits "$code" "$zcost" report syscalls --all --format tsv "$@"
}
as_perf() { perl "$tests/tools/trace-compare.pl" "$1" "$zcost" ${2:-}; }

ok "perf records raw system call tracepoints" record a.data -e 'raw_syscalls:*'
ok "each thread's calls match perf script and perf trace -s" as_perf a.data

# The program prints its calls by name. The report must have at least as many.
own_count() {
	report 0 --perf a.data --by syscall || return 1
	while read -r name n errors bytes; do
		tsv '$at["syscall"] == name { found = 1
				moved = $at["bytes_per_call"] * $at["calls"]
				if ($at["calls"] < 2 * n || $at["errors"] < 2 * errors || moved < 2 * bytes - 1) bad = 1 }
			END { exit !found || bad }' name="$name" n="$n" errors="$errors" bytes="${bytes:-0}" out || { echo "$name"; cat out; return 1; }
	done <calls.1
	[ -s calls.1 ]
}
ok "report syscalls misses no call that the program counts" own_count
# Rows by command are the sum of its threads' rows.
sums() {
	report 0 --perf a.data --by tid && cp out by-tid
	report 0 --perf a.data && awk -F'\t' 'NR == FNR { if (FNR > 1) { n[$3, $4] += $5; ms[$3, $4] += $7 } next }
		FNR > 1 && (n[$1, $2] != $3 || (ms[$1, $2] - $5) ^ 2 > 1e-10) { print; bad = 1 }
		END { exit bad }' by-tid out && says '^comm	syscall	calls' out
}
ok "rows by command are the sums of the rows by thread" sums
rows_of_rows() { # "28 of 28 rows"
	report 0 --perf a.data && says '; ([0-9]+) of \1 rows$' err
}
ok "a table with all rows does not offer --all" rows_of_rows

one_cpu() { # adds up the calls of each CPU
	report 0 --perf a.data --by syscall && all=$(awk -F'\t' 'NR > 1 { n += $2 } END { print n }' out)
	n=0
	for cpu in $(seq 0 $(($(nproc --all) - 1))); do
		report 0 --perf a.data --by syscall --cpu "$cpu" && n=$((n + $(awk -F'\t' 'NR > 1 { n += $2 } END { print n + 0 }' out)))
	done
	[ "$n" = "$all" ] || { echo "$n of $all"; return 1; }
}
ok "the calls of each CPU add up to the calls of all CPUs" one_cpu

units() {
	report 0 --perf a.data --by syscall --unit KiB --units 2048 && tsv '
		{ d = $at["calls"] / 2 - $at["calls_per_mib"]; e = $at["total_ms"] * 1e6 / 2048 - $at["ns_per_kib"]
		if (d * d > 1e-6 || e * e > 1e-6) { print; exit 1 } }' out
}
ok "--units gives calls per MiB and ns per KiB" units

# The last call of a process has no return, so its row appears only at the end of the file.
ends() {
	lossless ends.data perf record -q $m -o ends.data -e 'raw_syscalls:*' -- \
		sh -c 'i=0; while [ $i -lt 100 ]; do (:); i=$((i + 1)); done' 2>record.err || { cat record.err; return 1; }
	report 0 --perf ends.data --by tid && says 'calls that had not returned at the end: exit_group 101$' err
}
ok "a note counts the calls that do not return: exit_group of a hundred processes" ends

ok "an unknown key is a usage error" exits 2 "$zcost" report syscalls --perf a.data --by dso
ok "the message lists the keys" says 'no key .dso.; there are: comm pid tid' err

# --- the other formats of a recording ---

ok "perf writes a compressed recording of system calls with a file per thread" record z.data -z --threads -e 'raw_syscalls:*'
ok "calls of a compressed recording with a file per thread match perf" as_perf z.data
stream_of_calls() { # stream_of_calls FILE OPTIONS...
	to=$1
	shift
	perf record -q $m -e 'raw_syscalls:*' -o - "$@" -- sh load.sh 2>/dev/null >"$to"
}
pipe() {
	lossless pipe.data stream_of_calls pipe.data "$@" || return
	report 0 --perf pipe.data --by tid && cp out file.tsv
	exits 0 "$zcost" report syscalls --all --format tsv --by tid --perf - <pipe.data && cmp out file.tsv &&
		as_perf pipe.data stream
}
ok "calls of a compressed stream match perf, read from a file or from standard input" pipe -z

# --- damage ---

cut() { # removes the last third of the stream
	lossless whole.data stream_of_calls whole.data || return
	size=$(stat -c %s whole.data)
	head -c $((size / 3 * 2 | 1)) whole.data >cut.data # records begin at multiples of 4
	report 4 --perf cut.data --by syscall || return 1
	says 'lossy: cut.data: .* at offset [0-9]*; the records before it are counted' err || return 1
	n=$(awk -F'\t' 'NR > 1 { n += $2 } END { print n }' out)
	all=$(perf script -i whole.data 2>/dev/null | grep -c sys_exit)
	[ "$n" -gt $((all / 3)) ] && [ "$n" -lt "$all" ] || { echo "$n of $all"; return 1; }
}
ok "a truncated stream exits 4 and counts the calls before the cut" cut
killed() { # removes the end of the file, where perf record writes the formats
	perl -e 'open(my $f, "+<", "killed.data"); seek($f, 48, 0); print $f "\0" x 8' && report 1 --perf killed.data
}
cp a.data killed.data
ok "a recording without the formats of its tracepoints exits 1" killed
ok "the message says to record again" says 'killed.data: has tracepoints but not their formats.*record again' err
perf record -q -e raw_syscalls:sys_exit -o exits.data true 2>/dev/null
ok "returns without entries exit 1" exits 1 "$zcost" report syscalls --perf exits.data
ok "the message names the tracepoints to record" says 'perf record -e raw_syscalls:sys_enter -e raw_syscalls:sys_exit' err

# --- scheduling ---

as_sched() { perl "$tests/tools/sched-compare.pl" "$1" "$zcost" ${2:-}; }
cat >busy.sh <<'E3'
for i in 1 2 3 4; do (x=0; while [ $x -lt 20000 ]; do x=$((x+1)); done) & done
wait
E3
ok "perf sched record succeeds" lossless sched.data perf sched record $m -o sched.data -- sh -c '. ./load.sh; . ./busy.sh'
ok "report sched matches perf sched latency and perf script" as_sched sched.data
ok "perf records single scheduler tracepoints" lossless wakeup.data perf record -q -a $m -o wakeup.data \
	-e sched:sched_switch,sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_stat_runtime -- sh -c '. ./load.sh; . ./busy.sh'
ok "report sched of single tracepoints matches perf" as_sched wakeup.data
stream_of_switches() {
	perf record -q -a $m -o - -e sched:sched_switch,sched:sched_waking,sched:sched_wakeup_new,sched:sched_stat_runtime \
		-- sh -c '. ./load.sh; . ./busy.sh' 2>/dev/null >sched.pipe
}
stream() { lossless sched.pipe stream_of_switches && as_sched sched.pipe stream; }
ok "report sched of a stream matches perf" stream
head -c $(($(stat -c %s sched.pipe) / 3 * 2 | 1)) sched.pipe >cut.pipe
ok "report sched of a truncated stream exits 4" exits 4 "$zcost" report sched --perf cut.pipe
ok "a note of report sched has the place of the cut" says 'lossy: cut.pipe: .* at offset [0-9]+' out
some() {
	perf record -q -a $m -o switch.data -e sched:sched_switch -- sh busy.sh 2>/dev/null
	exits 0 "$zcost" report sched --perf switch.data --verbose && says 'the recording has no sched:sched_wakeup;' out &&
		says 'no sched:sched_stat_runtime, so there is no runtime' out && ! says '^comm.*runtime_ms' out >/dev/null
}
ok "report sched without wakeups and run times names what is missing" some
ok "report sched without switches exits 1" exits 1 "$zcost" report sched --perf a.data
ok "the message says to use perf sched record" says 'perf sched record' err
ok "report sched with an unknown key is a usage error" exits 2 "$zcost" report sched --perf sched.data --by cpu

# perf 6.1 sometimes writes samples twice.
perl "$tests/tools/perfdata-double.pl" a.data doubled.data
twice() {
	report 0 --perf a.data && mv out once && report 0 --perf doubled.data && cmp once out
}
ok "samples that are twice in the file count once" twice

done_testing
