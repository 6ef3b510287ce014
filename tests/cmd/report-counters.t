#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# report counters of a capture: hand-made raw files of a machine with a PMU, every figure worked out by hand.
. "$(dirname "$0")/../lib.sh"
. "$tests/golden.sh"

heading='event\tcpu\tvalue\tenabled_ns\trunning_ns\tgroup\tscope\tscale\tunit\tstate\n'
row() { # row EVENT CPU VALUE ENABLED RUNNING GROUP [SCOPE SCALE UNIT STATE]
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$5" "$6" "${7:-cpu}" "${8:-}" "${9:-}" "${10:-}"
}
s=3000000000

# Three runs: 100, 110, 120 million instructions; S is CPU 1. The group {cycles,instructions} had the PMU for half of
# the time; cache-misses for a quarter of it, alone.
for r in 1 2 3; do
	d=cap/runs/v/measure-0$r/local
	run_json $d v measure $r local tcpzc '{"name": "counters", "state": "ok", "files": ["counters.tsv"]}'
	{ points 1280000000 65536 9 14; summary receiver 0 0 0 0 1 1; } >$d/workload.out
	{
		printf "$heading"
		row cycles 1 100000000 $s $((s / 2)) 1
		row cycles 0 77 $s $s 1 # not in S
		row instructions 1 $((45000000 + 5000000 * r)) $s $((s / 2)) 1
		row cache-misses 1 1000 $s $((s / 4)) 0
		row cache-references 1 8000 $s $((s / 2)) 0
		row cycles 1 60000000 $s $((s / 4)) 3
		row branches 1 30000000 $s $((s / 4)) 3
		row branch-misses 1 600000 $s $((s / 4)) 3
		row LLC-loads '' '' '' '' 0 '' '' '' not-supported
		row bus-cycles 1 0 $s 0 0
		row cpu-clock 1 $s $s $s 0 cpu '' ns
		row uncore_imc/cas_reads/ 0 1000000 $s $s 0 socket 6.103515625e-5 MiB
		row context-switches 1 $((3000 + r)) $s $s 0
	} >$d/counters.tsv
done
manifest cap v v/measure/1/ok v/measure/2/ok v/measure/3/ok
sed -i 's/"receiver", "sender"/"local"/g' cap/manifest.json
ok "analyze exits 0 for a capture with counters" exits 0 "$zcost" analyze cap
# Multiplexed counts are scaled to the whole time. The mean is 110 million instructions, the standard deviation 10, that of the mean
# 10 / sqrt 3: 5.2486 %, as perf stat -r prints it. Ratios take events of one group; 4000 of 16000 were counted at different times.
ok "text shows the state of an unsupported event" sh -c "'$zcost' report counters cap | grep -q '<not supported>'"
ok "the store has a metric for an unsupported event" test "$(sqlite3 cap/zcost.db "SELECT COUNT(*) FROM metric WHERE name = 'counter_not_supported' AND object = 'LLC-loads'")" = 3

# CPUs that come and go, and counters that go backwards: S is CPUs 1 and 2.
d=odd/runs/v/measure-01/local
run_json $d v measure 1 local none '{"name": "counters", "state": "ok", "files": ["counters.tsv"]}'
sed -i 's/"cpus": "1"/"cpus": "1-2"/' $d/run.json
manifest odd v v/measure/1/ok
sed -i 's/"receiver", "sender"/"local"/g' odd/manifest.json
{
	printf "$heading"
	row cycles 1 1000 $s $s 0
	row cycles 2 200 $((s / 5)) $((s / 5)) 0
	row page-faults 1 18446744073709551000 $s $s 0
	row page-faults 2 5 $s $s 0
	row faults 1 4 $s $s 0
	row faults 2 0 0 0 0 # it was offline before
} >$d/counters.tsv
"$zcost" analyze odd >/dev/null 2>&1
report odd counters # a CPU that goes offline counts until then, and a counter that went backwards has no value
sed -i 's/\t[^\t]*\t[^\t]*\t[^\t]*\t[^\t]*\t[^\t]*$//' $d/counters.tsv
"$zcost" analyze odd >/dev/null 2>&1
report odd counters

golden_captures cap/zcost.db
done_testing
