#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost compare: what is claimed where a figure is 0, where runs are few, where costs are small.
. "$(dirname "$0")/../lib.sh"
. "$tests/world.sh"
. "$tests/golden.sh"
need sqlite3

world four 4 $copying $mapping

# per_mib CAPTURE METRIC VARIANT A B C D: the receiver's count in each measured run, per MiB of its work
per_mib() {
	capture=$1 metric=$2 variant=$3 repeat=0
	shift 3
	for n; do
		repeat=$((repeat + 1))
		sqlite3 "$capture/zcost.db" "INSERT INTO metric (run, name, unit, value) SELECT r.id, '$metric', '1', m.value / 1048576 * $n
			FROM run r JOIN metric m ON m.run = r.id AND m.name = 'bytes'
			WHERE r.pass = 'measure' AND r.side = 'receiver' AND r.variant = '$variant' AND r.repeat = $repeat; $typed"
	done
}

# Retransmits: a run of the base without any has no ratio, so that no interval is known; never one below -100 %.
per_mib four snmp:TcpRetransSegs copying 3 1 0 1
per_mib four snmp:TcpRetransSegs mapping 0 0 2 0
compare four copying mapping
run compare copying mapping -C four --side receiver --format commit
per_mib four irq:total copying 4 5 6 7
per_mib four irq:total mapping 0 0 1 0
# Zeros in NEW alone give an interval that ends at -100 % and leaves 0 out (below).
compare four mapping copying # a base of 0 has no ratio
world three 3 $copying $mapping
per_mib three snmp:TcpRetransSegs copying 3 1 0
per_mib three snmp:TcpRetransSegs mapping 1 1 2

# A copy whose runs are fully apart, and yet so far from each other that the interval of the change holds 0.
world apart 4 wild:1e6:100:10,90,0:40000:0:0 calm:1e6:100:5,95,0:40000:0:0
repeat=0
for share in 100 120 150 800; do # of 1000 samples
	repeat=$((repeat + 1))
	sqlite3 apart/zcost.db "UPDATE cost SET samples = CASE frame WHEN 1 THEN $share ELSE 1000 - $share END WHERE run IN
		(SELECT id FROM run WHERE variant = 'wild' AND pass = 'profile' AND repeat = $repeat);
		UPDATE cost SET weight = samples * 1000000"
done

# Costs of a third of a nanosecond: words have as many digits as it takes.
world small 6 one:3e9:100:33,33,34:40000:0:0 two:7e9:100:10,80,10:40000:0:0

# The gate: a row without a verdict does not pass, and the message says so.
world pair 2 $copying $mapping
world single 1 $copying $mapping
for few in pair single three; do
	ok "gate with $few exits 4" exits 4 "$zcost" compare mapping copying -C $few --fail-on worse
	ok "gate with $few names the runs that a verdict needs" says '--fail-on: 5 gated rows have too few runs for a verdict; capture 5 runs a side' err
	ok "gate with $few still prints the table" says '^receiver +throughput ' out
	ok "$few without a gate exits 0" exits 0 "$zcost" compare mapping copying -C $few
done
ok "the gate of a list of costs with too few runs exits 4" exits 4 "$zcost" compare calm wild -C apart --table components --fail-on worse
ok "the gate of a list of costs names the runs that a verdict needs" says '--fail-on: 2 gated rows have too few runs for a verdict; capture 5 runs a side' err
world full 5 $copying $mapping
cp -r full part
cp -r full crowded
sqlite3 crowded/zcost.db "INSERT INTO metric (run, name, unit, value) SELECT run, of, '%', part * value FROM metric, (SELECT 'others_user_pct' AS of, 0.3 AS part UNION SELECT 'workload_cpu_pct', 0.7) WHERE name = 'cpu_pct';
	INSERT INTO note SELECT id, 'warning', 'cpu_others', '[30]' FROM run WHERE pass = 'measure'"
compared copying mapping -C crowded
ok "a movement below the table says that it is not judged" says 'receiver data copy .*: not judged beside other programs$' err
ok "beside other programs a cost of whole CPUs has no verdict" test "$(field 'receiver ns_per_kib' verdict) $(field 'receiver throughput' verdict)" = 'others? better'
ok "beside other programs the workload's own cost is a row with a verdict" test "$(field 'receiver workload_ns_per_kib' verdict)" = better
own="$(field 'receiver workload_ns_per_kib' base) $(field 'total workload_ns_per_kib' new)"
"$zcost" compare copying mapping -C crowded --format commit >commit
ok "the commit message has the workload's own cost first" says '^better: receiver workload ns/KiB -50.0%, sender workload ns/KiB -50.0%;' commit
ok "the gate exits 4 for a cost of whole CPUs beside other programs" exits 4 "$zcost" compare copying mapping -C crowded --fail-on worse
ok "the gate beside other programs names the way out" says "--fail-on: 4 gated rows have the time of other programs on the same CPUs; gate with --workload-only" err
ok "the gate of the workload's own cost exits 0" exits 0 "$zcost" compare copying mapping -C crowded --fail-on worse --workload-only
for table in functions components contexts modules waterfall; do
	compared copying mapping -C crowded --table $table
	ok "beside other programs no row of $table is better or worse" test "$(tsv '$at["verdict"] !~ "^~*$" { print $at["verdict"] }' out | sort -u)" = 'others?'
	ok "$table says why" says 'receiver: other programs took 30 % of the side' err
done
compared copying mapping -C crowded --table components --comm tcpzc
ok "the cost of chosen commands has a verdict beside other programs" test "$(field 'data copy' verdict)" = better
"$zcost" plot crowded -o crowded-charts --format svg --base mapping --new copying components functions waterfall roi_c flame-diff >out 2>&1
for chart in components functions waterfall roi_c flame-diff_mapping_copying_receiver; do
	ok "the title of $chart has the workload's own cost" says "<title>copying against mapping, receiver: the workload's own cost 350 → 700 ns per KiB" crowded-charts/$chart.svg
	ok "$chart says that other programs are in its picture" says '; the picture includes other programs' crowded-charts/$chart.svg
done
"$zcost" compare copying mapping -C crowded --html crowded.html
ok "the page leads with the workload's own cost" says 'better: throughput .100.0%, receiver workload ns/KiB -50.0%, .*; not judged beside other programs: receiver ns/KiB' crowded.html
ok "beside other programs no step of the waterfall chart is better or worse" says 'pale: neither better nor worse' crowded-charts/waterfall.svg
ok "beside other programs no frame of flame-diff is better or worse" test "$(tsv '$at["verdict"] !~ "^~*$" { print $at["verdict"] }' crowded-charts/flame*.tsv | sort -u)" = 'others?'
compared copying mapping -C crowded --table syscalls
ok "the time of system calls has a verdict beside other programs" test "$(field recvfrom verdict)" = better
compared copying mapping -C crowded --workload-only
ok "--workload-only has the same cost of the workload" test "$(field 'receiver ns_per_kib' base) $(field 'total ns_per_kib' new)" = "$own"
compared copying mapping -C full
ok "without other programs the workload's own cost is no row" test -z "$(field 'receiver workload_ns_per_kib' base)"
ok "the gate fails for a worse row even if other rows have no verdict" exits 3 sh -c "sqlite3 part/zcost.db \"DELETE FROM metric WHERE name = 'busy_ns' AND run IN
	(SELECT id FROM run WHERE side = 'sender' AND repeat > 2)\"; '$zcost' compare mapping copying -C part --fail-on worse"
ok "the gate with four runs exits 4" exits 4 "$zcost" compare copying mapping -C four --fail-on worse
ok "the gate of one figure in four runs exits 4, too: it is one of three" exits 4 "$zcost" compare copying mapping -C four --side sender --fail-on worse
ok "a note has the runs that three tests take" says '^# too few runs: verdicts on 3 primary figures take 5 runs a side .base 4, new 4.; ' out
ok "the gate with five runs exits 0" exits 0 "$zcost" compare copying mapping -C full --fail-on worse
ok "the gate with five runs prints no warning" sh -c "! grep 'fail-on' err"
ok "the gate with the ends swapped exits 3" exits 3 "$zcost" compare mapping copying -C full --fail-on worse
ok "the gate names each row that failed" is "$(sed -n 's/^zcost: failed: \([^:]*\): .*, worse$/\1/p' err | tr '\n' ,)" 'receiver throughput,receiver ns_per_kib,sender ns_per_kib,total ns_per_kib,total roi_c,'
per_mib full counter:context-switches copying 1 2 3 4 5
per_mib full counter:context-switches mapping 11 12 13 14 15
ok "the gate passes when only secondary metrics are more" exits 0 "$zcost" compare copying mapping -C full --fail-on worse
sqlite3 full/zcost.db "DELETE FROM metric WHERE name IN ('throughput', 'busy_ns', 'bytes', 'rate_kib') AND run IN (SELECT id FROM run WHERE variant = 'mapping')"
ok "the gate exits 4 when no metric has a value at both ends" exits 4 "$zcost" compare copying mapping -C full --fail-on worse
ok "the gate says that no row has a value on both sides" says '--fail-on: no gated row has a value on both sides' err

# Runs that did not take turns: two captures, or one variant after the other.
world first 6 $copying
world second 6 copying:0.9e6:100:60,40,0:40000:0:0
sqlite3 first/zcost.db "INSERT INTO capture VALUES ('created', '2026-01-30T12:00:00Z')"
sqlite3 second/zcost.db "INSERT INTO capture VALUES ('created', '2026-01-31T12:00:00Z')"
"$zcost" compare first second >out 2>err
ok "the first line of two captures says that the runs lie apart, and when" sh -c "head -n 1 out | grep -q '^not interleaved: .*2026-01-30T12:00:00Z and 2026-01-31T12:00:00Z'"
ok "the second line has p of the tests within each capture" sh -c "sed -n 2p out | grep -qE '^drift within base: not seen .p: trend 0.[0-9]+, autocorrelation 0.[0-9]+; 6 runs.; new: not seen'"
ok "a change far beyond the ranges of both captures keeps its verdict" says '^receiver +throughput .* worse ' out
ok "the gate of two captures exits 3 for such a change" exits 3 "$zcost" compare first second --fail-on worse
ok "with tsv the lines are warnings" sh -c "'$zcost' compare first second --format tsv 2>&1 >/dev/null | grep -q 'warning: not interleaved'"
# noisy CAPTURE OFFSET: rates of 1e6 KiB/s with a noise of 12 %, and OFFSET percent more
noisy() {
	sqlite3 "$1/zcost.db" "UPDATE metric SET value = 1e6 * (1 + 0.01 * ($2 + (SELECT repeat * 5 % 7 * 2 FROM run WHERE id = metric.run))) WHERE name = 'rate_kib';
		UPDATE metric SET value = (SELECT value * 8192e-9 FROM metric m WHERE m.run = metric.run AND m.name = 'rate_kib') WHERE name = 'throughput'"
}
noisy first 0
noisy second -12
compared first second
ok "a change within the ranges of both captures is drift?" test "$(field 'receiver throughput' verdict) $(field 'receiver throughput' p | cut -c1-6)" = 'drift? 0.0108'
ok "a note says what drift? means" says "^zcost: drift.: p < 0.05 and .* 'zcost capture --against' " err
ok "the gate passes a change that a drift can explain" exits 0 "$zcost" compare first second --fail-on worse
ok "the gate names such changes" says '^zcost: not gated: [0-9]+ rows change no more than a drift' err
ok "a movement that a drift can explain is not known to be real" sh -c "'$zcost' compare first second --format json 2>err |
	jq -e '.movements.rows[0] | .real == \"not known\" and (.words | endswith(\": no more than a drift between runs that did not take turns\"))'"
sqlite3 second/zcost.db "UPDATE metric SET value = value * (1 - 0.1 * (SELECT repeat FROM run WHERE id = metric.run)) WHERE name IN ('rate_kib', 'throughput')"
"$zcost" compare first second >out 2>err
ok "a capture that drifts is named with p" sh -c "sed -n 2p out | grep -q '; new: YES (p: trend 0.00'"
ok "a capture that drifts gives no verdict against another one" says '^receiver +throughput .* drift\?' out
cp -r full blocks
ok "two variants that took turns need no such line" sh -c "'$zcost' compare copying mapping -C full | head -n 1 | grep -q '^mapping against copying'"
sqlite3 blocks/zcost.db "UPDATE run SET position = id"
ok "one variant after the other is not interleaved" sh -c "'$zcost' compare copying mapping -C blocks | head -n 1 |
	grep -qx 'not interleaved: the runs of base and new lie apart in time, and a drift of the machine looks like a change'"
sqlite3 blocks/zcost.db "DELETE FROM run WHERE repeat > 4; UPDATE run SET position = iif(variant = 'copying', repeat + 4 * (repeat > 2), repeat + 2)"
ok "four runs a side that take two turns are not interleaved" sh -c "'$zcost' compare copying mapping -C blocks | head -n 1 | grep -q '^not interleaved'"
sqlite3 blocks/zcost.db "UPDATE run SET position = iif(variant = 'copying', 0, 2) + repeat + 2 * (repeat > 2)"
ok "four runs a side that take three turns are interleaved" sh -c "'$zcost' compare copying mapping -C blocks | head -n 1 | grep -q '^mapping against copying'"
sqlite3 blocks/zcost.db "UPDATE run SET position = id"

# Six runs a side: what the words say of a movement.
world rules 6 $copying fell_back:2e6:100:0,80,20:4000:1:0.9 near:1e6:100:59.7,40.3,0:40000:0:0 rare:1e6:100:99.5,0.5,0:40000:0:0 rarer:1e6:100:99.7,0.3,0:40000:0:0
world outlier 6 wild:1e6:100:10,90,0:40000:0:0 calm:1e6:100:5,95,0:40000:0:0
repeat=0
for share in 100 110 120 130 140 900; do # of 1000 samples
	repeat=$((repeat + 1))
	sqlite3 outlier/zcost.db "UPDATE cost SET samples = CASE frame WHEN 1 THEN $share ELSE 1000 - $share END WHERE run IN
		(SELECT id FROM run WHERE variant = 'wild' AND pass = 'profile' AND repeat = $repeat);
		UPDATE cost SET weight = samples * 1000000"
done
# word VERDICT-OF-A-MOVEMENT BASE NEW CAPTURE: the words of the movement of TCP/IP end so
word() {
	"$zcost" compare $2 $3 -C $4 --table components --format json 2>err | jq -e --arg words ": $1" '.movements.rows[] | select(.what == "TCP/IP").words | endswith($words)'
}
ok "a movement of a variant that copied is real, and no speed-up" sh -c "'$zcost' compare copying fell_back -C rules 2>&1 | grep -q 'data copy -600.*: real, but it copied: no speed-up is claimed$'"
ok "a movement below the threshold is real, but small" word "real, but no more than 2 % of it" copying near rules
ok "a movement of a part below 1 % is not tested" word "too small a part to be tested" rare rarer rules
ok "a movement that one run explains may be an outlier's" word "an outlier among the runs may explain it" wild calm outlier

world back 1 $copying fell_back:2e6:100:0,80,20:4000:1:0.9
"$zcost" compare copying fell_back -C back >out 2>err
ok "the line about the fallback is a whole sentence" says '90.0 % of bytes received, mapped or copied, fell back to copying' out

movements() { # movements ARGUMENT...: adds the movements of a comparison
	echo "## movements: $*"
	"$zcost" compare "$@" --format json 2>>"$golden.notes" | jq -r '.movements.rows[] | [.[]] | @csv' || echo "no movements"
} >>"$golden.txt"
for ends in "copying mapping -C four" "copying mapping -C three" "copying mapping -C single" "wild calm -C apart" "one two -C small" \
	"copying mapping -C full" "copying mapping -C blocks" "first second" "copying fell_back -C back" "first:copying full:mapping" \
	"copying fell_back -C rules" "copying near -C rules" "rare rarer -C rules" "wild calm -C outlier"; do
	movements $ends
	run compare $ends --format csv --verbose
done
golden_captures four/zcost.db
done_testing
