#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost compare: the figures of merit, syscalls, verdicts on them.
. "$(dirname "$0")/../lib.sh"
. "$tests/world.sh"
. "$tests/golden.sh"
need sqlite3

world cap 6 $copying $mapping again:1e6:100:60,40,0:40000:0:0 \
	fell_back:2e6:100:0,80,20:4000:1:0.9
world few 3 $copying $mapping

# Of runs that do not overlap p is 2/924, for the primary figures by Holm of throughput, three costs and a score. The total's throughput
# is the receiver's. Other rows have the p of a single test and no verdict. With the unit syscall copying is 600 / (40.963584 / 1024).
compare cap copying mapping --table syscalls
compare cap copying mapping
compare cap copying mapping --unit syscall
# With one profile copying costs what the components say, without a p.
sqlite3 cap/zcost.db "UPDATE run SET status = 'failed' WHERE pass = 'profile' AND repeat > 1"
compare cap copying mapping
sqlite3 cap/zcost.db "UPDATE run SET status = 'ok'"
# idle + per_cpu x the CPUs used: 233.5 W, and 8.192^2 / 233.5
compare cap copying mapping --power-model idle=230,per_cpu=3.5
compare cap copying mapping --power-model idle=230,per_cpu=3.5 --roi-n 1.5 --roi-m 3
world kinds 4 $copying $mapping
power() { # power VARIANT KIND WATTS: of both sides, in all runs
	sqlite3 kinds/zcost.db "INSERT INTO metric (run, name, object, unit, value, source) SELECT id, 'power_w', '$2', 'W', $3, 'measured' FROM run WHERE variant = '$1'"
}
power copying wall 100
power mapping package 50
compare kinds copying mapping
power copying package 40
compare kinds copying mapping # the power that both ends have
compare kinds copying mapping --power-kind wall
run compare copying mapping -C cap --power-model 230
compare cap copying again
world noise 6 $copying again:1e6:100:60,40,0:40000:0:0
sqlite3 noise/zcost.db "UPDATE metric SET value = 100 + (SELECT CASE variant WHEN 'again' THEN 3e-14 ELSE 0 END
	FROM run WHERE run.id = run) WHERE name = 'cpu_pct'"
ok "the CPU use of the runs differs by rounding" test "$(sqlite3 noise/zcost.db "SELECT COUNT(DISTINCT value) FROM metric WHERE name = 'cpu_pct'")" = 2
compare noise copying again # ties
world shared 6 $copying $mapping
sqlite3 shared/zcost.db "UPDATE run SET cpus = '1'; INSERT INTO metric (run, name, unit, value)
	SELECT run, 'workload_cpu_pct', '%', value * 0.8 FROM metric WHERE name = 'cpu_pct'"
compare shared copying mapping # sides on one CPU have no total per KiB, but their workloads have one
compare shared copying mapping --workload-only
"$zcost" compare copying mapping -C shared --workload-only --format commit >out 2>err
ok "the commit text names the CPU time of the workload" sh -c "tr -s '\n ' ' ' <out | grep -q \"CPU time: of the workload's processes alone\""
world uneven 3 $copying $mapping
sqlite3 uneven/zcost.db "UPDATE metric SET value = (SELECT repeat * CASE side WHEN 'receiver' THEN 100 ELSE 10 END FROM run WHERE id = metric.run) WHERE name = 'cpu_pct';
	UPDATE run SET status = 'failed' WHERE pass = 'measure' AND repeat = 3 AND side = iif(variant = 'copying', 'sender', 'receiver')"
compare uneven copying mapping # the total adds up the runs that all sides have
world one 1 $copying $mapping
compare one copying mapping --table syscalls
world counted 3 $copying $mapping
sqlite3 counted/zcost.db "DELETE FROM metric WHERE name = 'throughput'; UPDATE metric SET name = 'rate_messages' WHERE name = 'rate_kib'"
compare counted copying mapping --table syscalls # per message: nothing else is counted
compare cap copying mapping --threshold 150
compare few copying mapping
compare cap copying mapping --estimator middle
ok "the gate passes when a metric is better" exits 0 "$zcost" compare copying mapping -C cap --fail-on worse
ok "the gate exits 3 when a metric is worse" exits 3 "$zcost" compare mapping copying -C cap --fail-on=worse
ok "a failed gate still prints the table" says 'throughput' out
ok "the gate passes when nothing changed" exits 0 "$zcost" compare copying again -C cap --fail-on worse
ok "the gate exits 4 when the runs are too few" exits 4 "$zcost" compare mapping copying -C few --fail-on worse
"$zcost" compare copying fell_back -C cap >out 2>err
ok "a fallback stands in the first line" sh -c 'head -n 1 out | grep -q "NOT ZERO COPY: fell_back receiver: 90.0 %.*no speed-up is claimed"'
compare cap copying fell_back # no metric of a variant that copied is better
compare cap fell_back copying # but one can be worse

# Counters per MiB: twice the interrupts, retransmits where there were none, drops nowhere.
count() { # count NAME COPYING MAPPING: so many per MiB
	sqlite3 cap/zcost.db "INSERT INTO metric (run, name, unit, value) SELECT r.id, '$1', '1',
		m.value / 1048576 * CASE r.variant WHEN 'copying' THEN $2 ELSE $3 END
		FROM run r JOIN metric m ON m.run = r.id AND m.name = 'bytes' WHERE r.side = 'receiver'; $typed"
}
count irq:total 4 2
count snmp:TcpRetransSegs 0 0.5
count tcp_socket_retransmits 0 0
count softnet:dropped 0 0
count counter:context-switches 3 3
count sched_switches 1 1
compare cap copying mapping
ok "the gate ignores interrupts, retransmits and switches" exits 0 "$zcost" compare copying mapping -C cap --fail-on worse

# The sender's profiles are the receiver's; then both sides are on the CPUs of one.
sqlite3 cap/zcost.db "INSERT INTO run SELECT id + 1000, variant, pass, repeat, 'sender', host, command, '2', ncpus, start_ns, end_ns, position, status, why, 'sender'
		FROM run WHERE pass = 'profile';
	INSERT INTO event (id, run, name, is_time, samples, weight, weight2)
		SELECT id + 1000, run + 1000, name, is_time, samples, weight, weight2 FROM event;
	CREATE TEMP TABLE more AS SELECT * FROM cost; UPDATE more SET run = run + 1000, event = event + 1000;
	INSERT INTO cost SELECT * FROM more"
compare cap copying mapping
cp -r cap pooled
sqlite3 pooled/zcost.db "UPDATE cost SET frame = 2 WHERE run IN (SELECT id FROM run WHERE variant = 'copying' AND repeat = 1)"
compare pooled copying mapping # one run of six without a sample of copying: a sixth less
sqlite3 cap/zcost.db "UPDATE run SET cpus = '0-1' WHERE side = 'receiver'; UPDATE run SET cpus = '1' WHERE side = 'sender';
	INSERT INTO metric (run, name, cpu, unit, value, source) SELECT run, 'cpu_pct', 1, unit, value, source FROM metric WHERE name = 'cpu_pct'"
compare cap copying mapping # a shared CPU counts once in use and roi_c, and costs have no total
ok "compare of sides on shared CPUs exits 0" exits 0 "$zcost" compare copying mapping -C cap

# Workloads that count packets, or messages, and no bytes.
counted_in() { # CAPTURE COUNT: what was 1e6 KiB/s is 1e6 of those
	sqlite3 "$1/zcost.db" "DELETE FROM metric WHERE name IN ('bytes', 'throughput') OR name LIKE '%rx_%';
		UPDATE metric SET name = 'rate_$2' WHERE name = 'rate_kib'"
}
for unit in packet message; do
	world $unit 6 $copying $mapping
	counted_in $unit ${unit}s
	compare $unit copying mapping
	ok "the gate judges the rate and the cost per $unit" exits 3 "$zcost" compare mapping copying -C $unit --fail-on worse
	run compare copying mapping -C $unit --format commit
	report $unit summary
	report $unit scores
	report $unit roi
	ok "--unit with an uncounted unit exits 1" exits 1 "$zcost" report functions $unit --unit KiB
	ok "the message names the unit that the workload counts" says "^zcost: --unit KiB: the runs count only $unit;" err
	ok "compare with an uncounted unit exits 1" exits 1 "$zcost" compare copying mapping -C $unit --table functions --unit KiB
done
"$zcost" report summary cap --format tsv >out 2>err
ok "a workload that counts bytes has no metrics per packet" sh -c '! grep -E "packet|message" out err'

# Nothing was counted at all.
world nothing 4 $copying $mapping
sqlite3 nothing/zcost.db "DELETE FROM metric WHERE name IN ('bytes', 'throughput', 'rate_kib')"
run compare copying mapping -C nothing --table waterfall

# --side total, where there is a total
world pair 3 $copying $mapping
for table in roi scores; do
	"$zcost" report $table pair --side total --format tsv >out 2>err
	ok "report $table --side total prints only totals, one of each variant or more" awk -F'\t' 'NR > 1 && $2 != "total" { bad = 1 } END { exit bad || NR < 3 }' out
	"$zcost" report $table pair --format tsv 2>err | awk -F'\t' 'NR == 1 || $2 == "total"' >all
	ok "report $table --side total prints the rows that the whole table has" cmp all out
done
ok "a table without a total refuses it and names the tables that have one" sh -c "'$zcost' report cpu pair --side total 2>&1 | grep -q \"total: table 'cpu' has no total of the sides; these have: roi, scores\""
compared copying mapping -C pair --side total
cp out total
compared copying mapping -C pair
ok "compare --side total prints only the total's rows" sh -c "awk -F'\t' 'NR == 1 || \$1 == \"total\"' out | cmp - total && test \$(wc -l <total) -gt 2"
ok "a list of costs has no total" sh -c "'$zcost' compare copying mapping -C pair --table functions --side total 2>&1 | grep -q 'a list of costs has no total'"
run compare --self-test pair --side total

# The profile pass of `mapping` moves twice the data of its measure pass, 32.8 against 16.4 Gbit/s, that of `copying` the same.
world apart 6 $copying $mapping
profile_moves() { # profile_moves FACTOR
	sqlite3 apart/zcost.db "DELETE FROM metric WHERE name = 'throughput' AND run IN (SELECT id FROM run WHERE pass = 'profile');
		INSERT INTO metric (run, name, unit, value, source) SELECT p.id, 'throughput', '', iif(p.variant = 'mapping', $1, 1) * m.value, 'measured' FROM run p
			JOIN run r ON r.variant = p.variant AND r.side = p.side AND r.repeat = p.repeat AND r.pass = 'measure'
			JOIN metric m ON m.run = r.id AND m.name = 'throughput'
			WHERE p.pass = 'profile'"
}
conditions='^# warning: mapping receiver: the profile pass did 2.0 times the work of the measure pass .32.8 against 16.4 Gbit.s.; its conditions differ, so its shares may not fit these costs$'
profile_moves 2
for table in summary functions components contexts modules 'callers tcp_recvmsg' 'groups --group copy=_copy_to_iter'; do
	"$zcost" report $table apart --verbose >out 2>&1
	ok "report ${table%% *} warns of a profile pass under other conditions" says "$conditions" out
done
for table in metrics functions; do
	"$zcost" compare copying mapping -C apart --table $table --verbose >out 2>&1
	ok "compare --table $table warns of a profile pass under other conditions" says "$conditions" out
done
"$zcost" report --html apart.html apart >out 2>&1
ok "the page warns of a profile pass under other conditions" says 'mapping receiver: the profile pass did 2.0 times' apart.html
"$zcost" plot apart -o apart-charts --format svg --base copying --new mapping components functions waterfall throughput >out 2>&1
for chart in components functions waterfall; do
	ok "the chart $chart counts the doubt about a profile pass under other conditions" \
		says 'fell back to copying every byte .not zero copy.; 1 more: zcost report notes[.]' apart-charts/$chart.svg
done
ok "the chart throughput, which has no costs, has no such doubt" says 'fell back to copying every byte .not zero copy.[.]' apart-charts/throughput.svg
# The same runs count packets and no bytes.
"$zcost" report passes apart --format tsv >bytes
"$zcost" report passes apart --run 2 --format tsv >second
ok "report passes --run N has that run of each pass" is "$(tsv '$at["collector"] == "" { print $at["runs"] }' second | uniq)" 1
sqlite3 apart/zcost.db "DELETE FROM metric WHERE name = 'rate_kib'; UPDATE metric SET name = 'rate_packets', value = value * 1000 WHERE name = 'throughput'"
"$zcost" report components apart --verbose >out 2>&1
ok "a workload that counts packets has the warning in packets/s" says \
	'mapping receiver: the profile pass did 2.0 times the work of the measure pass .[0-9.]+ against [0-9.]+ packets.s.; its conditions differ' out
"$zcost" report passes apart --format tsv >packets
ok "cost_pct of packets is that of bytes in the same proportion" sh -c \
	"for f in bytes packets; do awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if (\$i ~ /^cost_pct/) at[i] } { for (i in at) printf \"%s \", \$i; print \"\" }' \$f >\$f.cost; done; grep -q '[0-9]' bytes.cost && cmp bytes.cost packets.cost"
world apart 6 $copying $mapping
# The size decides first: the interval counts from 1.1 to 1.25 times only. "wide" factors differ so much that it holds 0.
wide='+ 0.5 * (p.repeat % 3 - 1)'
while IFS='|' read -r factor times; do
	profile_moves "($factor)"
	"$zcost" report functions apart >out 2>&1
	"$zcost" report passes apart --variant mapping --format tsv | tsv '$at["pass"] == "profile" { print ($at["cost_lo"] <= 0 && $at["cost_hi"] >= 0) }' | uniq >holds
	case $factor in *repeat*) wide=1 ;; *) wide=0 ;; esac
	ok "a profile pass of $factor times the work has ${times:-no} warning, its interval holds 0 or not" sh -c \
		"[ \$(cat holds) = $wide ] && if [ \"$times\" ]; then grep -q 'profile pass did $times times' out; else ! grep -q 'profile pass did' out; fi"
done <<EOT
1.05|
1.15|1.1
0.92|
0.88|0.9
0.8|0.8
1.2 $wide|
1.3 $wide|1.3
0.75 $wide|0.8
EOT
profile_moves 2
sqlite3 apart/zcost.db "DELETE FROM metric WHERE name = 'throughput' AND run IN (SELECT id FROM run WHERE pass = 'profile' AND repeat > 1)"
"$zcost" report functions apart >out 2>&1
ok "one profiled run is enough for the warning when the difference is large" says 'profile pass did 2.0 times' out

golden_captures cap/zcost.db
done_testing
