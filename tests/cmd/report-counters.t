#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# report counters of a capture: hand-made raw files of a machine with a PMU, every figure worked out by hand.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"

get() { # get FILE COLUMN WHERE...: a cell of a tsv table; WHERE is column=value,...
	awk -F'\t' -v want="$2" -v where="$3" 'BEGIN { n = split(where, w, ",") }
		NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		{ hit = 1
		  for (i = 1; i <= n; i++) { split(w[i], kv, "="); if ($c[kv[1]] != kv[2]) hit = 0 }
		  if (hit) { print $c[want]; exit } }' "$1"
}
cell() { # cell NAME COLUMN EXPECTED [TOLERANCE]
	near "$(get out "$2" "name=$1")" "$3" "${4:-1e-6}"
}
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
ok "report counters exits 0" exits 0 "$zcost" report counters cap --format tsv
ok "a multiplexed count is scaled to the whole time" cell counter:instructions value 110000000 1
ok "a count has an interval over the runs" cell counter:instructions value_hi 120000000 1
ok "running_pct is the part of the time with a hardware counter" cell counter:instructions running_pct 50
ok "an event without multiplexing has no running_pct" test -z "$(get out running_pct name=counter:context-switches)"
# mean 110, standard deviation 10, of the mean 10 / sqrt 3: 5.2486 %, as perf stat -r prints it
ok "the mean is that over the runs" cell counter:instructions mean 110000000 1
ok "stddev_pct is the standard error in percent of the mean" cell counter:instructions stddev_pct 5.2486 1e-3
ok "stddev_pct is 0 for equal counts" cell counter:cycles stddev_pct 0
ok "counts are whole numbers" test "$(get out value name=counter:cycles)" = 200000000
ok "a clock event has the unit of time" test "$(get out unit name=counter:cpu-clock)" = ns
ok "an event that the host lacks is not supported" test "$(get out state name=counter:LLC-loads)" = "<not supported>"
ok "an event that the host lacks has no value" test -z "$(get out value name=counter:LLC-loads)"
ok "an event without a hardware counter is not counted" test "$(get out state name=counter:bus-cycles)" = "<not counted>"
ok "an event without a hardware counter has no value" test -z "$(get out value name=counter:bus-cycles)"
ok "a note names the event that never had a hardware counter" says 'bus-cycles was never counted on 1 of 1 CPU and' err
ok "an event of a socket is scaled, and the CPU of the socket does not matter" cell counter:uncore_imc/cas_reads/ value 61.03515625 1e-4
ok "an event of a socket has its unit" test "$(get out unit name=counter:uncore_imc/cas_reads/)" = MiB
ok "instructions per cycle use the events of one group" cell ipc value 0.55
ok "the same event in another group has a separate row" cell counter:cycles@3 value 240000000 1
ok "the ratio of mispredicted branches is a row" cell branch_miss_pct value 2
ok "a ratio of multiplexed events is 4000 of 16000" cell cache_miss_pct value 25
ok "a note says that the two events were counted at different times" says 'cache_miss_pct: its events took turns and are not in one group' err
ok "no such note names the events of one group" sh -c "! grep -q 'ipc is of events' err"
ok "cycles per byte are 200e6 / 3.84e9" cell cycles_per_byte value 0.052083333
ok "the notes name what is scaled" says 'running_pct is the counted part' err
ok "text shows the state of an unsupported event" sh -c "'$zcost' report counters cap | grep -q '<not supported>'"
ok "the store has a metric for an unsupported event" test "$(sqlite3 cap/zcost.db "SELECT COUNT(*) FROM metric WHERE name = 'counter_not_supported:LLC-loads'")" = 3

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
ok "report counters exits 0 when a CPU went offline" exits 0 "$zcost" report counters odd --format tsv
ok "a CPU that goes offline counts until then" cell counter:cycles value 1200
ok "a CPU that is missing from the start leaves the other counts whole" cell counter:faults value 4
ok "a note names the missing CPU" says 'CPU 2 was counted for only 0.0 % of the time' err
ok "a counter that went backwards has no value" test -z "$(get out value name=counter:page-faults)"
ok "a note says that the counter went backwards" says 'page-faults went backwards and is left out' err
sed -i 's/\t[^\t]*\t[^\t]*\t[^\t]*\t[^\t]*\t[^\t]*$//' $d/counters.tsv
"$zcost" analyze odd >/dev/null 2>&1
ok "report counters exits 0 for a file of an older version" exits 0 "$zcost" report counters odd --format tsv
ok "a file of an older version gives the counts" cell counter:cycles value 1200

. "$tests/golden.sh"
golden_captures cap/zcost.db
done_testing
