#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Work that one side counts and both sides' costs are divided by. A server counts nothing, its client counts bytes.
. "$(dirname "$0")/../lib.sh"
. "$tests/golden.sh"
need jq

plan_work() { # plan_work CAPTURE SIDES: the plan has `work = SIDES` for the receiver
	jq --arg work "$2" '.variants[].settings = {"receiver.work": $work}' "$1/manifest.json" >new && mv new "$1/manifest.json"
}

# The sender moves 1e6 KiB/s and takes 100 of 300 ticks: 333.3 ns/KiB. The receiver takes half of a CPU: 500 ns/KiB.
measure_run cap v 1 receiver 512000000 150
measure_run cap v 1 sender 1024000000 100
manifest cap v v/measure/1/ok
cp -r cap silent
d=silent/runs/v/measure-01/receiver
run_json $d v measure 1 receiver none "$cpu_collector"
echo "a log line" >$d/workload.out
cp -r silent neither
on_cpu=2 run_json neither/runs/v/measure-01/sender v measure 1 sender none "$cpu_collector"

ok "analyze exits 0 for a side that counts no work" exits 0 "$zcost" analyze silent
# The side that counts keeps its own cost, the other has 500 ns per KiB of its count, and the total adds them up.
report silent summary
report silent scores
ok "analyze exits 0 where both sides count" exits 0 "$zcost" analyze cap
report cap summary
plan_work cap sender
"$zcost" analyze cap 2>err
report cap summary
ok "work = sender leaves the receiver no rate of its own" test "$(metric cap/zcost.db v receiver rate_messages)" = "$(metric cap/zcost.db v sender rate_messages)"

plan_work neither sender
ok "analyze exits 0 where the side that the plan names counts no work" exits 0 "$zcost" analyze neither
report neither summary # the side in `work` counted nothing

# --- many sides: two clients send through a proxy into one server ---

side() { # side CAPTURE NAME CPU TICKS [BYTES_PER_SECOND]: one side of v/measure-01; without BYTES_PER_SECOND it counts none
	d=$1/runs/v/measure-01/$2
	on_cpu=$3 run_json "$d" v measure 1 "$2" "$([ $# -gt 4 ] && echo tcpzc || echo none)" "$cpu_collector"
	if [ $# -gt 4 ]; then points "$5" 65536 9 14 && summary "$2" 100 0 100 0 "$5" "$5"; else echo "a log line"; fi >"$d/workload.out"
	proc_stat_simple "$4" "$3" >"$d/proc_stat.snap"
}
roles() { # roles CAPTURE SIDE=ROLE...: writes the manifest
	cap=$1
	shift
	manifest "$cap" v v/measure/1/ok
	printf '%s\n' "$@" | jq -R 'split("=")' | jq -s --slurpfile m "$cap/manifest.json" '. as $s | $m[0] |
		.sides = [$s[][0]] | .runs[].sides = .sides | .variants[].settings = ([$s[] | {(.[0] + ".role"): .[1]}] | add)' >new
	mv new "$cap/manifest.json"
	"$zcost" analyze "$cap" >log 2>&1
}
# The clients move 0.5e6 and 1e6 KiB/s.
side many server 1 150
side many mid 2 90
side many c1 3 30 512000000
side many c2 4 60 1024000000
cp -r many through && side through server 1 150 1536000000
cp -r through twice && side twice mid 2 90 3072000000
cp -r many half && side half c1 3 30
for cap in many through twice half; do
	roles $cap c1=sender c2=sender mid=proxy server=receiver
	sqlite3 $cap/zcost.db "INSERT INTO metric (run, name, object, unit, value, source) SELECT id, 'power_w', 'wall', 'W', 100, 'measured' FROM run"
done
# A server and a proxy without a count take the sum of the clients' counts. Counts of both ends agree, and a proxy may count each byte
# twice. Where one client or both do not count, they have no throughput, but the costs of the transfer.
cp -r through apart && side apart c1 3 30 && side apart c2 4 60
roles apart c1=sender c2=sender mid=proxy server=receiver
for cap in many half apart; do # golden_captures has the others
	report $cap scores
	report $cap roi
	report $cap summary
done
run compare many twice --side total --format csv
ok "an unknown side exits 1" exits 1 "$zcost" report summary many --side sender
ok "the message on an unknown side lists all sides" says "no side 'sender'; did you mean server[?] it has: server, mid, c1, c2" err

golden_captures through/zcost.db twice/zcost.db
done_testing
