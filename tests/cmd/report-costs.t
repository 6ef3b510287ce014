#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Costs by process and thread, in cycles and instructions, per system call: a small world, all figures by hand.
. "$(dirname "$0")/../lib.sh"
. "$tests/golden.sh"

to_out() { "$zcost" report "$@" --format tsv >out 2>err; }

# 2 s at 1e6 KiB/s, half of one CPU of two: 500 ns/KiB. 3e9 cycles: 1500 a KiB, 4.5e9 instructions: 2250.
# In the run that counts calls 1e6 KiB take 25000: 0.025 a KiB. Samples of 1 ms, and 100 samples of idle:
#   srv 10:10 CPU 0  30 in main - tcp_recvmsg - _copy_to_iter     srv 10:11 CPU 0  20 in the same
#   srv 10:10 CPU 1  10 in main - tcp_recvmsg                     srv 10:11 CPU 0  10 in - _copy_to_iter - tcp_recvmsg
#   cli 20:20 CPU 1  20 in main - tcp_recvmsg, 10 in main
version=$(sed -n 's/.*STORE_VERSION = \([0-9]*\).*/\1/p' "$top/analyze/store/store.c")
world() {
	mkdir -p "$1"
	{
		cat "$top/analyze/store/schema.sql"
		cat <<-END
		PRAGMA user_version=$version; PRAGMA application_id=2053336947;
		INSERT INTO capture VALUES ('name', 'world'), ('estimator', 'median');
		INSERT INTO host VALUES (1, 'vm', '6.18', 'x86_64', 'cpu', 2, NULL);
		INSERT INTO variant (name, what) VALUES ('v', '');
		INSERT INTO run VALUES (1, 'v', 'measure', 1, 'receiver', 'vm', 'cmd', '0-1', 2, 0, 2000000000, 1, 'ok', '', 'receiver'),
			(2, 'v', 'profile', 1, 'receiver', 'vm', 'cmd', '0-1', 2, 0, 2000000000, 2, 'ok', '', 'receiver'),
			(3, 'v', 'syscalls', 1, 'receiver', 'vm', 'cmd', '0-1', 2, 0, 2000000000, 3, 'ok', '', 'receiver');
		INSERT INTO metric (run, name, value) VALUES (1, 'seconds', 2), (1, 'rate_kib', 1e6), (1, 'bytes', 2e6 * 1024),
			(1, 'cpu_pct', 50), (1, 'busy_ns', 1e9), (1, 'counter:cycles', 3e9), (1, 'counter:instructions', 4.5e9),
			(3, 'seconds', 2), (3, 'rate_kib', 5e5), (3, 'bytes', 1e6 * 1024); $typed;
		INSERT INTO syscall (run, comm, pid, tid, nr, name, calls, errors, total_ns) VALUES
			(3, 'srv', 10, 10, 45, 'recvfrom', 20000, 0, 9), (3, 'cli', 20, 20, 44, 'sendto', 5000, 0, 9);
		INSERT INTO dso VALUES (1, '[kernel.kallsyms]', NULL, 1);
		INSERT INTO symbol VALUES (1, 'main', 1, 0), (2, 'tcp_recvmsg', 1, 0), (3, '_copy_to_iter', 1, 0), (4, 'do_idle', 1, 0);
		INSERT INTO frame VALUES (1, NULL, 1), (2, 1, 2), (3, 2, 3), (4, 3, 2), (5, NULL, 4);
		INSERT INTO comm VALUES (1, 'srv'), (2, 'cli'), (3, 'swapper');
		INSERT INTO event VALUES (1, 2, 'cpu-clock', 1, 200, 200000000, 2e14, 0);
		INSERT INTO cost VALUES (2, 1, 0, 1, 10, 10, 2, 3, 30, 30000000), (2, 1, 1, 1, 10, 10, 2, 2, 10, 10000000),
			(2, 1, 0, 1, 10, 11, 2, 3, 20, 20000000), (2, 1, 0, 1, 10, 11, 2, 4, 10, 10000000),
			(2, 1, 1, 2, 20, 20, 2, 2, 20, 20000000), (2, 1, 1, 2, 20, 20, 2, 1, 10, 10000000),
			(2, 1, 0, 3, 0, 0, 5, 5, 100, 100000000);
		END
	} | sqlite3 "$1/zcost.db"
}
world w

# --- by whom ---

# One run has no interval, but a sampling error: 1.96 x 500 ns x sqrt(0.3 x 0.7 / 100) for the copy of thread 10.
for options in 'functions --by thread --all' 'functions --by pid,cpu --all' 'components --by tid' 'contexts --by pid' 'modules --by pid' \
	'groups --by thread --group rx=tcp_recvmsg,_copy_to_iter'; do
	report w $options
done
ok "a text by thread is a usage error" exits 2 "$zcost" report functions --perf-report "$tests/data/xdp-self.txt" --by thread
ok "the message says that the text cannot be split by thread" says 'has no thread; .*--perf' err
ok "components of a text by thread are a usage error" exits 2 "$zcost" report components --perf-report "$tests/data/xdp-self.txt" --by pid
ok "the message says that the text has no process ids" says 'has no pid; give the perf.data itself' err
run report functions w --by colour

# --- with what they call ---

# data copy: 30 + 20 of its own, and 10 below it in tcp_recvmsg: 60 of 100; main calls all but those 10.
report w components --children --component-set basic
report w components --component-set basic
report w modules --children --by comm
ok "--children with a text is a usage error" exits 2 "$zcost" report components --children --perf-report "$tests/data/xdp-children.txt"
ok "the message says to use --perf" says 'give the perf.data itself' err
run report roi w --children

# --- callers and callees ---

# The cost through the outermost caller of a recursive function is its total, 90 of 100 samples. The functions of a glob count as one.
report w functions --all
for options in 'callers tcp_recvmsg' 'callees tcp_recvmsg' 'callers main' 'callers [t_]*' 'callees [t_]*' \
	'callers tcp_recvmsg --by thread --comm srv --cpu 0' 'callees tcp_recvmsg --by component --in cycles'; do
	report w $options
done
cp -r w irq
sqlite3 irq/zcost.db "UPDATE symbol SET name = 'handle_softirqs' WHERE name = '_copy_to_iter'"
report irq callers tcp_recvmsg # softirqs inside it
run report callers tcp_recvmgs w
run report callers do_idle w --comm srv
run report callers do_idle w
ok "callers of a text is a usage error" exits 2 "$zcost" report callers main --perf-report "$tests/data/xdp-children.txt"

# --- in cycles ---

# n_eff of the 100 samples that are not idle: 1.96 x 1500 x sqrt(0.5 x 0.5 / 100)
for options in 'functions --in cycles --all' 'components --in instructions' 'groups --in cycles --group rx=tcp_recvmsg,_copy_to_iter' \
	'functions --in cycles --cpu 0 --all'; do
	report w $options
done
world n
sqlite3 n/zcost.db "DELETE FROM metric WHERE name = 'counter'"
report n functions --in cycles --all # shares alone
run report roi w --in cycles
run report functions w --in hours

# Where the profile has that event too, its shares are taken: 40 of 50 samples in the copy.
world c
sqlite3 c/zcost.db "INSERT INTO event VALUES (2, 2, 'cycles:ppp', 0, 50, 500, 5000, 0);
	INSERT INTO cost VALUES (2, 2, 0, 1, 10, 10, 2, 3, 40, 400), (2, 2, 1, 2, 20, 20, 2, 1, 10, 100)"
report c functions --in cycles --all
report c functions --in cycles --event cpu-clock --all

# --- per system call ---

# 500 ns per KiB at 0.025 calls per KiB are 20000 ns per call, 60000 cycles, and 80000 ns of two CPUs on the basis wall.
report w functions --unit syscall --all
report w functions --unit syscall --in cycles --all
report w functions --unit syscall --basis wall --all
sqlite3 n/zcost.db "DELETE FROM syscall"
report n functions --unit syscall --all
run report functions w --unit byte

# --- one run has sampling errors: beside each cost, whatever it is split by and counted in ---

paired() { # every row with a share between nothing and all has a sampling error above 0
	tsv '{ for (name in at) if (name ~ /^(self|total)_share$/ && $at[name] > 0) {
			error = name; sub(/share/, "sampling_error", error)
			if (error in at) { n++; if ($at[name] < 99.99 && !($at[error] > 0)) { print; bad++ } }
			else { print "no " error; bad++ } } }
		END { exit bad || !n }' out
}
for in in ns cycles instructions; do
	for table in functions components contexts modules groups; do
		[ $table = groups ] && group='--group rx=tcp_recvmsg' || group=
		to_out $table w --in $in --by thread,cpu --all $group --unit syscall
		ok "$table has costs in $in" paired
	done
done
report n functions --by comm --all --unit syscall # shares only, with a sampling error of 1.96 x sqrt(0.5 x 0.5 / 100)
for options in 'modules --system-load 40' 'components --system-load 40' 'modules --system-load measured' 'components --system-load measured' \
	'modules --system-load measured --cpu 0'; do
	report w $options # the measured load is half of one CPU of two
done
ok "--system-load measured with a file is a usage error" exits 2 "$zcost" report modules --perf-report "$tests/data/xdp-self.txt" --system-load measured

# --- bare files ---

text=$tests/data/xdp-self.txt # __build_skb 10.36 %
cp "$text" .
run report functions --perf-report xdp-self.txt --in cycles --cycles 2e9 --units 1e7 --format csv # 200 cycles per packet
ok "--cycles without the work done is a usage error" exits 2 "$zcost" report functions --perf-report "$text" --in cycles --cycles 2e9
ok "the message names the options for the work done" says 'cycles needs the work done in that time: --units' err
run report components --perf-report xdp-self.txt --in instructions --units 1e7 --format csv # no total

cat >cycles.txt <<'END'
# Samples: 400  of event 'cycles'
# Event count (approx.): 2000000000
#
# Overhead  Command  Shared Object      Symbol
    60.00%  a        [kernel.kallsyms]  [k] skb_release_data
    40.00%  a        [kernel.kallsyms]  [k] tcp_ack
END
for table in functions components; do # 2e9 cycles over 1e7 packets; the sampling error of 60 % is 1.96 x 200 x sqrt(0.6 x 0.4 / 400)
	run report $table --perf-report cycles.txt --in cycles --rate 5e6 --seconds 2 --format csv
done

if command -v perf >/dev/null && perf record -q -e cpu-clock -F 2000 -o p.data -- \
	perl -e 'for (1 .. 2) { fork } $end = times + 0.05; $x += $_ while times < $end; 1 while wait > 0' 2>/dev/null; then
	perf script -i p.data -F comm,tid,period 2>/dev/null | awk '
		{ k = $1 ":" $2; s[k] += $3; all += $3 } END { for (k in s) printf "%s\t%.4f\n", k, 100 * s[k] / all }' |
		sort >perf.tsv
	"$zcost" report functions --perf p.data --by thread --all --format tsv 2>err | tsv '{ s[$1] += $at["self_share"] } END { for (k in s) printf "%s\t%.4f\n", k, s[k] }' | sort >ours.tsv
	ok "the threads of a recording equal those of perf script" cmp perf.tsv ours.tsv
	ok "the recording has several threads" test "$(grep -c '' ours.tsv)" -ge 4
else
	skip "threads of a recording" "perf cannot record here"
fi

# --- many runs ---

world many
# runs_until N: copies of the runs 1 (measure) and 2 (profile), so that there are N of each
runs_until() {
	for i in $(seq 2 "$1"); do
		echo "INSERT OR IGNORE INTO run SELECT id + 10 * $i, variant, pass, $i, side, host, command, cpus, ncpus, start_ns, end_ns, 10 * $i + id, status, why, role
			FROM run WHERE id < 3;
			INSERT OR IGNORE INTO metric SELECT run + 10 * $i, name, cpu, object, unit, value, source FROM metric WHERE run < 3;
			INSERT OR IGNORE INTO event SELECT id + $i, run + 10 * $i, name, is_time, samples, weight, weight2, exact FROM event WHERE id = 1;
			INSERT INTO cost SELECT run + 10 * $i, event + $i, cpu, comm, pid, tid, context, frame, samples, weight FROM cost
				WHERE run = 2 AND NOT EXISTS (SELECT 1 FROM cost WHERE run = 2 + 10 * $i);"
	done | sqlite3 many/zcost.db
}
few="nominal for fewer than 10 runs"
runs_until 9
ok "a table of nine runs has intervals" sh -c '"$1" report functions many --verbose >out 2>err && grep -q "half the 95 % interval" out' - "$zcost"
ok "with nine runs it says that its intervals are nominal" says "$few" out
runs_until 10
ok "with ten runs it does not" sh -c '"$1" report functions many --verbose >out 2>err && grep -q "half the 95 % interval" out && ! grep -q "$2" out' - "$zcost" "$few"

ok "costs are as in tests/data/golden/$golden.txt" is_golden
done_testing
