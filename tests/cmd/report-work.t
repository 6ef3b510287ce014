#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Work that one side counts and both sides' costs are divided by. A server counts nothing, its client counts bytes.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"
command -v jq >/dev/null || skip_all "needs jq"

cell() { # cell SIDE COLUMN: prints the cell of `out`, a tsv table
	awk -F'\t' -v side="$1" -v column="$2" 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		$c["side"] == side { print $c[column]; exit }' out
}
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
ok "report summary exits 0" exits 0 "$zcost" report summary silent --format tsv
ok "a side that counts no work has its cost per KiB from the other side's count" near "$(cell receiver ns_per_kib)" 500 0.01
ok "the side that counts keeps its own cost" near "$(cell sender ns_per_kib)" 333.33 0.01
ok "a note says which side counted the work" says 'v receiver: the work is the count of the side sender' err
ok "report scores exits 0" exits 0 "$zcost" report scores silent --format tsv
ok "the total adds the cost of the side that counts no work" sh -c "grep -q '^v	total	ns_per_kib	833.3' out"

ok "analyze exits 0 where both sides count" exits 0 "$zcost" analyze cap
"$zcost" report summary cap --format tsv >out 2>err
ok "a side with its own count keeps it without 'work' in the plan" near "$(cell receiver ns_per_kib)" 1000 0.01
ok "no note names another side then" sh -c "! grep -q 'the work is the count' err"
plan_work cap sender
"$zcost" analyze cap 2>err && "$zcost" report summary cap --format tsv >out 2>err
ok "work = sender replaces the receiver's own count" near "$(cell receiver ns_per_kib)" 500 0.01
ok "work = sender leaves the receiver no rate of its own" test "$(metric cap/zcost.db v receiver rate_messages)" = "$(metric cap/zcost.db v sender rate_messages)"

plan_work neither sender
ok "analyze exits 0 where the side that the plan names counts no work" exits 0 "$zcost" analyze neither
"$zcost" report summary neither --format tsv >out 2>err
ok "a cost without any count is empty" test -z "$(cell receiver ns_per_kib)"
ok "a warning says that the side in 'work' counted nothing" says 'warning: v receiver: the plan has work = sender' err
done_testing
