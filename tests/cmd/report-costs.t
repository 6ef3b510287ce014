#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Costs by process and thread, in cycles and instructions, per system call: a small world, all figures by hand.
. "$(dirname "$0")/../lib.sh"

# cell FILE COLUMN KEY=VALUE...
cell() {
	file=$1 column=$2
	shift 2
	awk -F'\t' -v column="$column" -v keys="$(IFS=,; echo "$*")" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ n = split(keys, key, ","); hit = 1
		  for (i = 1; i <= n; i++) { split(key[i], kv, "="); if ($at[kv[1]] != kv[2]) hit = 0 }
		  if (hit) print $at[column] }' "$file"
}
sum() { # FILE COLUMN
	awk -F'\t' -v column="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ s += $at[column] } END { printf "%.6f\n", s }' "$1"
}
report() { "$zcost" report "$@" --format tsv >out 2>err; }

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
			(3, 'seconds', 2), (3, 'rate_kib', 5e5), (3, 'bytes', 1e6 * 1024);
		INSERT INTO syscall (run, comm, pid, tid, nr, name, calls, errors, total_ns) VALUES
			(3, 'srv', 10, 10, 45, 'recvfrom', 20000, 0, 9), (3, 'cli', 20, 20, 44, 'sendto', 5000, 0, 9);
		INSERT INTO dso VALUES (1, '[kernel.kallsyms]', NULL, 1);
		INSERT INTO symbol VALUES (1, 'main', 1, 0), (2, 'tcp_recvmsg', 1, 0), (3, '_copy_to_iter', 1, 0), (4, 'do_idle', 1, 0);
		INSERT INTO frame VALUES (1, NULL, 1), (2, 1, 2), (3, 2, 3), (4, 3, 2), (5, NULL, 4);
		INSERT INTO comm VALUES (1, 'srv'), (2, 'cli'), (3, 'swapper');
		INSERT INTO event VALUES (1, 2, 'cpu-clock', 1, 200, 200000000, 2e14);
		INSERT INTO cost VALUES (2, 1, 0, 1, 10, 10, 2, 3, 30, 30000000), (2, 1, 1, 1, 10, 10, 2, 2, 10, 10000000),
			(2, 1, 0, 1, 10, 11, 2, 3, 20, 20000000), (2, 1, 0, 1, 10, 11, 2, 4, 10, 10000000),
			(2, 1, 1, 2, 20, 20, 2, 2, 20, 20000000), (2, 1, 1, 2, 20, 20, 2, 1, 10, 10000000),
			(2, 1, 0, 3, 0, 0, 5, 5, 100, 100000000);
		END
	} | sqlite3 "$1/zcost.db"
}
world w

# --- by whom ---

report functions w --by thread --all
ok "a thread has its own share of a function" near "$(cell out self_ns thread=srv:11 symbol=tcp_recvmsg)" 50 1e-6
ok "a thread's total counts the callees once per sample" near "$(cell out total_ns thread=srv:11 symbol=tcp_recvmsg)" 150 1e-6
ok "another thread of the same process has its own total" near "$(cell out total_ns thread=srv:10 symbol=tcp_recvmsg)" 200 1e-6
ok "a thread of another process has its own total" near "$(cell out total_ns thread=cli:20 symbol=main)" 150 1e-6
ok "the costs of all threads add up to the basis" near "$(sum out self_ns)" 500 1e-6
report functions w --by pid,cpu --all
ok "--by pid with --cpu has the process's cost on that CPU" near "$(cell out total_ns pid=10 cpu=0 symbol=main)" 300 1e-6
ok "--by pid with --cpu has the process's cost on the other CPU" near "$(cell out total_ns pid=10 cpu=1 symbol=main)" 50 1e-6
report components w --by tid
ok "components by thread id have the thread's cost" near "$(cell out self_ns tid=10 'component=data copy')" 150 1e-6
ok "one run has the sampling error 1.96 x 500 ns x sqrt(0.3 x 0.7 / 100)" near \
	"$(cell out self_sampling_error tid=10 'component=data copy')" 44.909 1e-2
ok "one run has no interval" test -z "$(cell out self_ns_ci tid=10 'component=data copy')"
report contexts w --by pid
ok "contexts by process have the process's cost" near "$(cell out self_ns pid=20 context=syscall)" 150 1e-6
report modules w --by pid
ok "modules by process have the process's cost" near "$(cell out self_ns pid=10 module=kernel)" 350 1e-6
report groups w --by thread --group 'rx=tcp_recvmsg,_copy_to_iter'
ok "groups by thread have the thread's cost" near "$(cell out total_ns thread=srv:10 group=rx)" 200 1e-6
ok "a text by thread is a usage error" exits 2 "$zcost" report functions --perf-report "$tests/data/xdp-self.txt" --by thread
ok "the message says that the text cannot be split by thread" says "cannot be split by 'thread'.*--perf" err
ok "components of a text by thread are a usage error" exits 2 "$zcost" report components --perf-report "$tests/data/xdp-self.txt" --by pid
ok "the message says that the text has no process ids" says 'has no pid; give the perf.data itself' err
ok "an unknown key is a usage error" exits 2 "$zcost" report functions w --by colour
ok "the message lists thread among the keys" says 'comm, pid, tid, thread, cpu' err

# --- with what they call ---

# data copy: 30 + 20 of its own, and 10 below it in tcp_recvmsg: 60 of 100; main calls all but those 10.
report components w --children --component-set basic
ok "--children adds the total of a component with its callees" near "$(cell out total_share 'component=data copy')" 60 1e-6
ok "--children keeps the self cost of a component" near "$(cell out self_share 'component=data copy')" 50 1e-6
ok "--children adds the total in ns" near "$(cell out total_ns 'component=data copy')" 300 1e-6
ok "--children adds the sampling error of the total" test -n "$(cell out total_sampling_error 'component=data copy')"
report components w --component-set basic
ok "components have no totals without --children" test -z "$(head -n 1 out | grep total)"
report modules w --children --by comm
ok "--children gives modules by command totals" near "$(cell out total_share module=kernel,comm=srv)" 70 1e-6
ok "--children with a text is a usage error" exits 2 "$zcost" report components --children --perf-report "$tests/data/xdp-children.txt"
ok "the message says to use --perf" says 'give the perf.data itself' err
ok "--children with another table is a usage error" exits 2 "$zcost" report roi w --children

# --- callers and callees ---

report functions w --all
total=$(cell out total_ns symbol=tcp_recvmsg)
report callers tcp_recvmsg w
ok "callers has the cost through the outermost caller of a recursive function" near "$(cell out total_ns symbol=main)" "$total" 1e-6
ok "callers has the samples through a caller" test "$(cell out samples symbol=main)" = 90
ok "one run has the sampling error of the cost through a caller" near "$(cell out total_sampling_error symbol=main)" 29.4 1e-2
ok "callers has no self cost" sh -c '! head -n 1 out | grep -q self'
ok "the note has the function's total" says "1 row \(the total of 'tcp_recvmsg'\): 90.00 % = 450.0 ns/KiB" err
report callees tcp_recvmsg w
ok "callees has the cost of a callee" near "$(cell out total_ns symbol=_copy_to_iter)" 250 1e-6
ok "callees has the cost of the function itself" near "$(cell out total_ns 'symbol=[self]')" 200 1e-6
ok "the callees' costs add up to the function's total" near "$(sum out total_ns)" "$total" 1e-6
report callers main w
ok "callers has a row for chains that begin with the function" near "$(cell out total_ns 'symbol=[no caller]')" 500 1e-6
report callers '[t_]*' w
ok "the functions that match a glob count as one for callers" test "$(cut -f 1,3 out | tail -n +2)" = "main	90"
report callees '[t_]*' w
ok "the functions that match a glob count as one for callees" test "$(cut -f 1,3 out | tail -n +2)" = "[self]	90"
report callers tcp_recvmsg w --by thread --comm srv --cpu 0
ok "callers takes --by, --comm and --cpu" test "$(cut -f 1,2,4 out | tail -n +2 | tr '\t\n' '= ')" = "srv:10=main=30 srv:11=main=30 "
report callees tcp_recvmsg w --by component --in cycles
ok "callees takes --by component and --in cycles" near "$(cell out total_cycles 'component=data copy')" 750 1e-6
ok "the note of a function without interrupts inside it names none" sh -c '! grep -q "inside it" err'
cp -r w irq
sqlite3 irq/zcost.db "UPDATE symbol SET name = 'handle_softirqs' WHERE name = '_copy_to_iter'"
report callers tcp_recvmsg irq
ok "the note has the softirqs inside the function" \
	says "90.00 % = 450.0 ns/KiB, of that softirqs inside it 60.00 %, hardirqs 0.00 %;" err
cp -r w own
sqlite3 own/zcost.db "INSERT INTO process VALUES (2, 10); UPDATE cost SET context = 3 WHERE pid = 20"
report callers tcp_recvmsg own --workload-only
ok "callers --workload-only has the interrupts elsewhere that run the function" test \
	"$(cut -f 1,3 out | tail -n +2 | tr '\t\n' '= ')" = "main=70 [interrupts elsewhere]=20 "
ok "the note still splits all samples" says 'processes 70.00 %, interrupts elsewhere 30.00 %, everything else 0.00 %' err
ok "callers of an unknown function exits 1" exits 1 "$zcost" report callers tcp_recvmgs w
ok "the message has similar names" says "no sample has a function 'tcp_recvmgs' .*similar names: tcp_recvmsg$" err
ok "callers of a function without samples of the command exits 1" exits 1 "$zcost" report callers do_idle w --comm srv
ok "the message names the command" says 'nothing matches --comm srv' err
ok "callers of a function without samples of the basis exits 1" exits 1 "$zcost" report callers do_idle w
ok "callers of a text is a usage error" exits 2 "$zcost" report callers main --perf-report "$tests/data/xdp-children.txt"

# --- in cycles ---

report functions w --in cycles --all
ok "cycles of a function follow its share" near "$(cell out self_cycles symbol=_copy_to_iter)" 750 1e-6
ok "cycles have totals with callees" near "$(cell out total_cycles symbol=main)" 1500 1e-6
# n_eff of the 100 samples that are not idle: 1.96 x 1500 x sqrt(0.5 x 0.5 / 100)
ok "cycles have a sampling error" near "$(cell out self_sampling_error symbol=_copy_to_iter)" 146.997 1e-2
ok "costs in cycles have no column in ns" sh -c 'head -n 1 out | grep -qv _ns'
ok "the note names the basis in cycles" says 'basis counted: 1500.0 cycles/KiB of CPU 0-1' err
ok "a note says that samples of time divide the cycles" says 'shares are those of cpu-clock; cycles are divided' err
report components w --in instructions
ok "--in instructions gives costs in instructions" near "$(cell out self_instructions 'component=data copy')" 1125 1e-6
ok "instructions add up to the instructions per KiB" near "$(sum out self_instructions)" 2250 1e-6
ok "components in instructions have an interval" sh -c 'head -n 1 out | grep -q self_instructions_ci'
report groups w --in cycles --group 'rx=tcp_recvmsg,_copy_to_iter'
ok "groups have costs in cycles" near "$(cell out total_cycles group=rx)" 1350 1e-6
report functions w --in cycles --cpu 0 --all
ok "--cpu leaves costs in cycles empty" test -z "$(cell out self_cycles symbol=_copy_to_iter)"
ok "the note says why --cpu has no cycles" says 'omit --cpu; shares only' err
world n
sqlite3 n/zcost.db "DELETE FROM metric WHERE name LIKE 'counter:%'"
report functions n --in cycles --all
ok "costs in cycles are empty without a counter" test -z "$(cell out self_cycles symbol=_copy_to_iter)"
ok "shares stay without a counter" near "$(cell out self_share symbol=_copy_to_iter)" 50 1e-6
ok "the note says that no run counted cycles" says "none: no run counted both its work and the events" err
ok "--in with another table is a usage error" exits 2 "$zcost" report roi w --in cycles
ok "an unknown amount is a usage error" exits 2 "$zcost" report functions w --in hours

# Where the profile has that event too, its shares are taken: 40 of 50 samples in the copy.
world c
sqlite3 c/zcost.db "INSERT INTO event VALUES (2, 2, 'cycles:ppp', 0, 50, 500, 5000);
	INSERT INTO cost VALUES (2, 2, 0, 1, 10, 10, 2, 3, 40, 400), (2, 2, 1, 2, 20, 20, 2, 1, 10, 100)"
report functions c --in cycles --all
ok "--in cycles takes the shares of the event cycles" near "$(cell out self_cycles symbol=_copy_to_iter)" 1200 1e-6
ok "no note names another event" sh -c '! grep -q "are divided" err'
report functions c --in cycles --event cpu-clock --all
ok "--event selects another event with --in cycles" near "$(cell out self_cycles symbol=_copy_to_iter)" 750 1e-6

# --- per system call ---

report functions w --unit syscall --all
ok "500 ns per KiB at 0.025 calls per KiB are 20000 ns per call" near "$(sum out self_ns)" 20000 1e-4
ok "the note says how the basis per call is made" says 'busy: 20000.0 ns/syscall .*; 0.025 calls/KiB of 1 run' err
report functions w --unit syscall --in cycles --all
ok "1500 cycles per KiB at 0.025 calls per KiB are 60000 cycles per call" near "$(sum out self_cycles)" 60000 1e-4
report functions w --unit syscall --basis wall --all
ok "the wall basis of two CPUs is 80000 ns per call" near "$(sum out self_ns)" 80000 1e-3
sqlite3 n/zcost.db "DELETE FROM syscall"
report functions n --unit syscall --all
ok "costs per call are empty when no run counted calls" test -z "$(cell out self_ns symbol=_copy_to_iter)"
ok "the note says that no run counted calls" says "none: no run counted both its work and its system calls \(pass 'syscalls'\)" err
ok "an unknown unit is a usage error" exits 2 "$zcost" report functions w --unit byte
ok "the message lists syscall among the units" says 'packet, KiB, message and syscall' err

# --- one run has sampling errors: beside each cost, whatever it is split by and counted in ---

paired() { # every row with a share between nothing and all has a sampling error above 0
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ for (name in at) if (name ~ /^(self|total)_share$/ && $at[name] > 0) {
			error = name; sub(/share/, "sampling_error", error)
			if (error in at) { n++; if ($at[name] < 99.99 && !($at[error] > 0)) { print; bad++ } }
			else { print "no " error; bad++ } } }
		END { exit bad || !n }' out
}
for in in ns cycles instructions; do
	for table in functions components contexts modules groups; do
		[ $table = groups ] && group='--group rx=tcp_recvmsg' || group=
		report $table w --in $in --by thread,cpu --all $group --unit syscall
		ok "$table has costs in $in" paired
	done
done
report functions n --by comm --all --unit syscall # shares only
ok "shares without a basis have a sampling error" paired
ok "the sampling error of a share is 1.96 x sqrt(0.5 x 0.5 / 100)" near "$(cell out self_sampling_error symbol=_copy_to_iter,comm=srv)" 9.79982 1e-4
report modules w --system-load 40
ok "--system-load gives a driver's CPU use, 40 % of the machine's" near "$(cell out cpu_use_pct module=kernel)" 40 1e-6
report components w --system-load 40
report modules w --system-load measured
ok "--system-load measured takes the CPU use of the side, half of one CPU of two" near "$(cell out cpu_use_pct module=kernel)" 25 1e-6
ok "a note names the measured load" says 'v receiver: cpu_use_pct is share x the measured load of 25.00 % of the time of 2 CPUs' err
report components w --system-load measured
ok "--system-load measured gives the CPU use of the copy" near "$(cell out cpu_use_pct 'component=data copy')" 12.5 1e-6
report modules w --system-load measured --cpu 0
ok "--system-load measured with --cpu has no CPU use" test -z "$(cell out cpu_use_pct module=kernel)"
ok "a note says why --cpu has no CPU use" says 'cpu_use_pct is absent: the load is known only for all CPUs of the side; omit --cpu' err
ok "--system-load measured with a file is a usage error" exits 2 "$zcost" report modules --perf-report "$tests/data/xdp-self.txt" --system-load measured
report components w --system-load 40
ok "--system-load gives one run's CPU use without an interval" test "$(cell out cpu_use_pct 'component=data copy'):$(cell out cpu_use_pct_ci 'component=data copy')" = 20:

# --- bare files ---

text=$tests/data/xdp-self.txt # __build_skb 10.36 %
report functions --perf-report "$text" --in cycles --cycles 2e9 --units 1e7
ok "--cycles gives 200 cycles per packet" near "$(cell out self_cycles symbol=build_skb)" \
	"$(awk -v s="$(cell out self_share symbol=build_skb)" 'BEGIN { print 2 * s }')" 1e-6
ok "--cycles without the work done is a usage error" exits 2 "$zcost" report functions --perf-report "$text" --in cycles --cycles 2e9
ok "the message names the options for the work done" says 'cycles needs the work done in that time: --units' err
report components --perf-report "$text" --in instructions --units 1e7
ok "costs in cycles stay empty without a total" test -z "$(cell out self_instructions 'component=skb')"
ok "the note says that the total is missing" says 'none: .* --instructions' err

cat >cycles.txt <<'END'
# Samples: 400  of event 'cycles'
# Event count (approx.): 2000000000
#
# Overhead  Command  Shared Object      Symbol
    60.00%  a        [kernel.kallsyms]  [k] skb_release_data
    40.00%  a        [kernel.kallsyms]  [k] tcp_ack
END
first() { # COLUMN
	awk -F'\t' -v c="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { print $at[c] }' out
}
for table in functions components; do
	report $table --perf-report cycles.txt --in cycles --rate 5e6 --seconds 2
	ok "$table: the text's 2e9 cycles over 1e7 packets are 200 per packet" near "$(sum out self_cycles)" 200 1e-6
	ok "$table: a function with 60 % of the samples costs 120 cycles" near "$(first self_cycles)" 120 1e-6
	ok "$table: the sampling error is 1.96 x 200 x sqrt(0.6 x 0.4 / 400)" near "$(first self_sampling_error)" 9.60182 1e-3
done

if command -v perf >/dev/null && perf record -q -e cpu-clock -F 2000 -o p.data -- \
	perl -e 'for (1 .. 2) { fork } $end = times + 0.05; $x += $_ while times < $end; 1 while wait > 0' 2>/dev/null; then
	perf script -i p.data -F comm,tid,period 2>/dev/null | awk '
		{ k = $1 ":" $2; s[k] += $3; all += $3 } END { for (k in s) printf "%s\t%.4f\n", k, 100 * s[k] / all }' |
		sort >perf.tsv
	"$zcost" report functions --perf p.data --by thread --all --format tsv 2>err | awk -F'\t' '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ s[$1] += $at["self_share"] } END { for (k in s) printf "%s\t%.4f\n", k, s[k] }' | sort >ours.tsv
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
			INSERT OR IGNORE INTO metric SELECT run + 10 * $i, name, unit, value, source FROM metric WHERE run < 3;
			INSERT OR IGNORE INTO event SELECT id + $i, run + 10 * $i, name, is_time, samples, weight, weight2 FROM event WHERE id = 1;
			INSERT INTO cost SELECT run + 10 * $i, event + $i, cpu, comm, pid, tid, context, frame, samples, weight FROM cost
				WHERE run = 2 AND NOT EXISTS (SELECT 1 FROM cost WHERE run = 2 + 10 * $i);"
	done | sqlite3 many/zcost.db
}
few="fewer than 10 runs: .* is nominal"
runs_until 9
ok "a table of nine runs has intervals" sh -c '"$1" report functions many --verbose >out 2>err && grep -q "half the 95 % interval" out' - "$zcost"
ok "with nine runs it says that its intervals are nominal" says "$few" out
runs_until 10
ok "with ten runs it does not" sh -c '"$1" report functions many --verbose >out 2>err && grep -q "half the 95 % interval" out && ! grep -q "$2" out' - "$zcost" "$few"

done_testing
