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
	sqlite3 $cap/zcost.db "INSERT INTO metric SELECT id, 'power_w:wall', 'W', 100, 'measured' FROM run"
done
report() { # report CAPTURE TABLE
	"$zcost" report "$2" "$1" --format tsv --verbose >out 2>err
}
scores() { # scores CAPTURE: prints ns_per_kib of the rows in order
	report "$1" scores && awk -F'\t' '$3 == "ns_per_kib" { printf "%s %.1f ", $2, $4 }' out
}
ok "a server and a proxy without a count take the sum of the clients' counts" test \
	"$(scores many)" = "server 333.3 mid 200.0 c1 200.0 c2 200.0 total 733.3 "
ok "a note names the clients that counted" says 'the work is the count of the sides c1 and c2' err
ok "a proxy between sides that count takes what passed it once" test \
	"$(scores through)" = "server 333.3 mid 200.0 c1 200.0 c2 200.0 total 733.3 "
ok "a note names the receiver, which counted alone" says 'v mid: the work is the count of the side server$' err
ok "a proxy that counts each byte twice leaves the total as it is" test \
	"$(scores twice)" = "server 333.3 mid 100.0 c1 200.0 c2 200.0 total 733.3 "
report many roi
ok "the total has the throughput of the transfer" near "$(cell total throughput_gbps)" 12.288 0.001
ok "the total has the CPU use of all sides" near "$(cell total cpu_pct)" 110 0.01
ok "the total counts the power of a host of four sides once" near "$(cell total power_w)" 100 0.01
ok "the total has the score of all sides" near "$(cell total roi_c)" 1.3727 0.001
cp -r through apart && side apart c1 3 30 && side apart c2 4 60
roles apart c1=sender c2=sender mid=proxy server=receiver
ok "two clients without a count have their costs per KiB of the transfer" test \
	"$(scores apart)" = "server 333.3 mid 200.0 c1 66.7 c2 133.3 total 733.3 "
"$zcost" report summary apart --format tsv >out 2>err
ok "two clients without a count have no throughput of their own" test -z "$(cell c1 throughput_gbps)$(cell c2 throughput_gbps)"
ok "the only proxy without a count has the throughput of the transfer" near "$(cell mid throughput_gbps)" 12.288 0.001
ok "a warning says without --verbose that the throughput of the clients is not known" says \
	'^zcost: warning: v c1, v c2: the side counts no work.* the count of the side server$' err
report half roi
ok "two clients of which one counts have no throughput in total" test -z "$(cell total throughput_gbps)"
ok "two clients of which one counts give the server no throughput" test -z "$(cell server throughput_gbps)"
"$zcost" compare many twice --side total --format tsv >out 2>err
total() { # total METRIC: prints base and new
	awk -F'\t' -v m="$1" '$2 == m { printf "%.1f %.1f", $4, $5 }' out
}
ok "compare has the total cost of four sides" test "$(total ns_per_kib)" = "733.3 733.3"
ok "compare has the throughput of the transfer as the total" test "$(total throughput)" = "12.3 12.3"
ok "an unknown side exits 1" exits 1 "$zcost" report summary many --side sender
ok "the message on an unknown side lists all sides" says "no side 'sender'; did you mean server[?] it has: server, mid, c1, c2" err

. "$tests/golden.sh"
golden_captures through/zcost.db twice/zcost.db
done_testing
