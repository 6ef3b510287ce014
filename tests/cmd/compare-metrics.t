#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost compare: the figures of merit, syscalls, verdicts on them.
. "$(dirname "$0")/../lib.sh"
. "$tests/world.sh"
need_sqlite

world cap 6 $copying $mapping again:1e6:100:60,40,0:40000:0:0 \
	fell_back:2e6:100:0,80,20:4000:1:0.9
world few 3 $copying $mapping


compared copying mapping -C cap --table syscalls
ok "table syscalls has ns per KiB" near "$(field recvfrom base_ns)" 80.007 0.0001
ok "table syscalls has calls per MiB" near "$(field recvfrom base_calls)" 40.963584 0.0001
ok "fewer calls per MiB are better" test "$(field recvfrom verdict)" = better

ok "compare without --table prints the metrics" exits 0 "$zcost" compare copying mapping -C cap --format tsv
ok "the throughput doubles" near "$(field 'receiver throughput' change_pct)" 100 1e-6
ok "more throughput is better" test "$(field 'receiver throughput' verdict)" = better
ok "p of runs that do not overlap is 2/924, corrected for throughput, three costs and a score" near "$(field 'receiver throughput' p)" 0.0108225 1e-6
ok "the throughput of the total is the receiver's, with the same p and verdict" test "$(field 'total throughput' p) $(field 'total throughput' verdict)" = \
	"$(field 'receiver throughput' p) better"
ok "the costs of each side and of the total have verdicts, and the score of the total" test \
	"$(for row in 'receiver ns_per_kib' 'sender ns_per_kib' 'total ns_per_kib' 'total roi_c'; do field "$row" verdict; done | tr '\n' ' ')" = "better better better better "
ok "other rows have the p of a single test and no verdict" test "$(field 'receiver roi_c' verdict), $(field 'receiver roi_c' p | cut -c1-8)" = ", 0.002164"
ok "a note says what a row without a verdict is" says 'a row without a verdict is secondary' err
ok "the metrics have ns per KiB" near "$(field 'receiver ns_per_kib' new)" 500 1e-9
ok "the total has ns per KiB of both sides together" near "$(field 'total ns_per_kib' base)" 2000 1e-9
ok "roi_c is T^2/C" near "$(field 'receiver roi_c' base)" 0.67108864 1e-6
ok "the total has roi_c of both sides" near "$(field 'total roi_c' base)" 0.33554432 1e-6
ok "the metrics have the cost of copying" near "$(field 'receiver copy_ns_per_kib' base)" 600 1e-6
compared copying mapping -C cap --unit syscall
ok "with another unit the name of the metric changes" near "$(field 'receiver copy_ns_per_syscall' base)" 14998.69 0.01 # 600 / (40.963584 / 1024)
sqlite3 cap/zcost.db "UPDATE run SET status = 'failed' WHERE pass = 'profile' AND repeat > 1"
compared copying mapping -C cap
ok "with one profile copying costs what the components say" near "$(field 'receiver copy_ns_per_kib' base)" 600 1e-9
ok "with one profile copying has no p" test -z "$(field 'receiver copy_ns_per_kib' p)$(field 'receiver copy_ns_per_kib' verdict)"
sqlite3 cap/zcost.db "UPDATE run SET status = 'ok'"
compared copying mapping -C cap
ok "the metrics have system calls per MiB" near "$(field 'receiver syscalls_per_mib' base)" 40.963584 0.0001
ok "power without a source has no row" sh -c 'grep -q throughput out && ! grep -q power out'
compared copying mapping -C cap --power-model idle=230,per_cpu=3.5
ok "modelled power has a label" test "$(field 'receiver power' unit)" = 'W, modelled'
ok "modelled power is idle + per_cpu x CPUs used" near "$(field 'receiver power' base)" 233.5 1e-9
ok "roi_p of modelled power has a label" test "$(field 'receiver roi_p' unit)" = 'T^2/P, modelled'
ok "roi_p of modelled power is 8.192^2 / 233.5" near "$(field 'receiver roi_p' base)" 0.28740423 1e-6
compared copying mapping -C cap --power-model idle=230,per_cpu=3.5 --roi-n 1.5 --roi-m 3
ok "the units of the scores have the exponents in use" test "$(field 'receiver roi_c' unit) $(field 'receiver roi_p' unit)" = 'T^1.5/C T^1.5/P^3, modelled'
compared copying mapping -C cap --power-model idle=230,per_cpu=3.5
ok "a note names the model" says '^zcost: warning: power is MODELLED' err
world kinds 4 $copying $mapping
power() { # power VARIANT KIND WATTS: of both sides, in all runs
	sqlite3 kinds/zcost.db "INSERT INTO metric SELECT id, 'power_w:$2', 'W', $3, 'measured' FROM run WHERE variant = '$1'"
}
power copying wall 100
power mapping package 50
compared copying mapping -C kinds
ok "wall power is not compared with package power" says 'power is not compared: copying has wall power, mapping has package power' err
ok "an end without the power of BASE has none" test "$(field 'receiver power' base),$(field 'receiver power' new)" = 100,
power copying package 40
compared copying mapping -C kinds
ok "the power that both ends have is compared" test "$(field 'receiver power' base) $(field 'receiver power' new) $(field 'receiver power' change_pct)" = "40 50 25"
ok "a note says which power it is" says 'power and roi_p use package power' err
compared copying mapping -C kinds --power-kind wall
ok "--power-kind chooses the power of both ends" test "$(field 'receiver power' base),$(field 'receiver power' new)" = 100,
ok "a wrong power model is a usage error" exits 2 "$zcost" compare copying mapping -C cap --power-model 230
compared copying mapping -C cap
ok "CPU use has no verdict" test -z "$(field 'receiver cpu' verdict)"
ok "a note describes the largest movement" says 'receiver data copy -600.0 .*ns/KiB \(600.0 to 0.0\)' err
compared copying again -C cap
verdicts() { awk -F'\t' 'NR > 1 && $11 != "" { print $11 }' out | sort -u; }
ok "equal ends have the verdict ~ alone" test "$(verdicts)" = '~'
ok "no component of equal ends passes the test" says "no component passed the test: p < 0.05 after Holm's correction, a change above 2 %, an interval that leaves 0 out, and no drift" err
world noise 6 $copying again:1e6:100:60,40,0:40000:0:0
sqlite3 noise/zcost.db "UPDATE metric SET value = 100 + (SELECT CASE variant WHEN 'again' THEN 3e-14 ELSE 0 END
	FROM run WHERE run.id = run) WHERE name = 'cpu_pct'"
ok "the CPU use of the runs differs by rounding" test "$(sqlite3 noise/zcost.db "SELECT COUNT(DISTINCT value) FROM metric WHERE name = 'cpu_pct'")" = 2
compared copying again -C noise
ok "figures that differ by rounding are ties" test "$(field 'receiver cpu' p) $(field 'receiver cpu' change_lo) $(field 'receiver cpu' change_hi)" = '1 0 0'
world shared 6 $copying $mapping
sqlite3 shared/zcost.db "UPDATE run SET cpus = '1'; INSERT INTO metric
	SELECT run, 'workload_cpu_pct', '%', value * 0.8, 'measured' FROM metric WHERE name = 'cpu_pct'"
compared copying mapping -C shared
ok "sides on one CPU have no total per KiB" test -z "$(field 'total ns_per_kib' base)"
compared copying mapping -C shared --workload-only
ok "the workloads of sides on one CPU have a total per KiB" near "$(field 'total ns_per_kib' base)" 1600 1e-9
ok "the CPU use of the workloads adds up" near "$(field 'total cpu' base)" 160 1e-9
ok "the costs of the workload have verdicts" test "$(field 'total ns_per_kib' verdict)" = better
ok "compare --workload-only says why the components of the workload are not known" says 'not known: .* that names the processes of the workload' err
"$zcost" compare copying mapping -C shared --workload-only --format commit >out 2>err
ok "the commit text names the CPU time of the workload" sh -c "tr -s '\n ' ' ' <out | grep -q \"CPU time: of the workload's processes alone\""
world uneven 3 $copying $mapping
sqlite3 uneven/zcost.db "UPDATE metric SET value = (SELECT repeat * CASE side WHEN 'receiver' THEN 100 ELSE 10 END FROM run WHERE id = metric.run) WHERE name = 'cpu_pct';
	UPDATE run SET status = 'failed' WHERE pass = 'measure' AND repeat = 3 AND side = iif(variant = 'copying', 'sender', 'receiver')"
compared copying mapping -C uneven
ok "the total adds up the runs that all sides have" test "$(field 'total ns_per_kib' base) $(field 'total ns_per_kib' new) $(field 'receiver ns_per_kib' base)" = "1650 825 2000"
ok "the total has as many runs as the side with the fewest" test "$(field 'total ns_per_kib' base_runs) $(field 'total ns_per_kib' new_runs)" = "2 2"
world one 1 $copying $mapping
compared copying mapping -C one --table syscalls
ok "with one run at each end no error is known and no movement is claimed" sh -c "! grep -q 'passed the test' err"
ok "compare of one run on each side says that a change may be chance" says 'one run on a side gives no error, so any change of a syscall may be chance; the largest movements:' err
ok "compare of one run on each side lists the movements" says 'receiver recvfrom .*: too few runs to tell' err
compared copying mapping -C cap --threshold 150
ok "a change below the threshold is ~" test "$(field 'receiver throughput' verdict)" = '~'
compared copying mapping -C few
ok "three runs are too few for a verdict on a metric" test "$(field 'receiver throughput' verdict)" = 'too few runs'
compared copying mapping -C cap --estimator middle
ok "--estimator middle drops the first and the last run" near "$(field 'receiver ns_per_kib' base)" 1000 1e-9

ok "the gate passes when a metric is better" exits 0 "$zcost" compare copying mapping -C cap --fail-on worse
ok "the gate exits 3 when a metric is worse" exits 3 "$zcost" compare mapping copying -C cap --fail-on=worse
ok "a failed gate still prints the table" says 'throughput' out
ok "the gate passes when nothing changed" exits 0 "$zcost" compare copying again -C cap --fail-on worse
ok "the gate exits 4 when the runs are too few" exits 4 "$zcost" compare mapping copying -C few --fail-on worse
"$zcost" compare copying fell_back -C cap >out 2>err
ok "a fallback stands in the first line" sh -c 'head -n 1 out | grep -q "NOT ZERO COPY: fell_back receiver: 90.0 %.*no speed-up is claimed"'
ok "a metric that would be better has the verdict copied" says 'throughput .* copied +6 +6' out
compared copying fell_back -C cap
ok "no metric of a variant that copied is better" test "$(verdicts)" = copied
compared fell_back copying -C cap
ok "a metric of a variant that copied can be worse" test "$(field 'receiver throughput' verdict)" = worse

# Counters per MiB: twice the interrupts, retransmits where there were none, drops nowhere.
count() { # count NAME COPYING MAPPING: so many per MiB
	sqlite3 cap/zcost.db "INSERT INTO metric (run, name, unit, value) SELECT r.id, '$1', '1',
		m.value / 1048576 * CASE r.variant WHEN 'copying' THEN $2 ELSE $3 END
		FROM run r JOIN metric m ON m.run = r.id AND m.name = 'bytes' WHERE r.side = 'receiver'"
}
count irq:total 4 2
count snmp:TcpRetransSegs 0 0.5
count tcp_socket_retransmits 0 0
count softnet_dropped 0 0
count counter:context-switches 3 3
count sched_switches 1 1
compared copying mapping -C cap
ok "the metrics have interrupts per MiB" near "$(field 'receiver interrupts_per_mib' base)" 4 1e-9
ok "fewer interrupts have no verdict" test "$(field 'receiver interrupts_per_mib' better)$(field 'receiver interrupts_per_mib' verdict)" = less
ok "retransmits over a base of 0 have a row" near "$(field 'receiver retransmits_per_mib' new)" 0.5 1e-9
ok "retransmits over a base of 0 have no ratio" test -z "$(field 'receiver retransmits_per_mib' change_pct)"
ok "retransmits over a base of 0 have a p" near "$(field 'receiver retransmits_per_mib' p)" 0.0021645 1e-6
ok "the retransmits of the workload's sockets stand beside those of the namespace" test \
	"$(field 'receiver workload_retransmits_per_mib' new) $(field 'receiver workload_retransmits_per_mib' scope) $(field 'receiver retransmits_per_mib' scope)" = "0 workload namespace"
ok "the switches of the workload's threads stand beside those of the side's CPUs" test \
	"$(field 'receiver workload_context_switches_per_mib' base) $(field 'receiver context_switches_per_mib' base) $(field 'receiver context_switches_per_mib' scope)" = "1 3 cpus"
ok "drops that are 0 in all runs have no row" sh -c '! grep -q softnet_drops out'
ok "equal context switches have p = 1" test "$(field 'receiver context_switches_per_mib' p)" = 1
ok "the gate ignores interrupts, retransmits and switches" exits 0 "$zcost" compare copying mapping -C cap --fail-on worse

# The sender's profiles are the receiver's; then both sides are on the CPUs of one.
sqlite3 cap/zcost.db "INSERT INTO run SELECT id + 1000, variant, pass, repeat, 'sender', host, command, '2', ncpus, start_ns, end_ns, position, status, why, 'sender'
		FROM run WHERE pass = 'profile';
	INSERT INTO event (id, run, name, is_time, samples, weight, weight2)
		SELECT id + 1000, run + 1000, name, is_time, samples, weight, weight2 FROM event;
	CREATE TEMP TABLE more AS SELECT * FROM cost; UPDATE more SET run = run + 1000, event = event + 1000;
	INSERT INTO cost SELECT * FROM more"
compared copying mapping -C cap
ok "the total of copying is the sum of sides on separate CPUs" near "$(field 'total copy_ns_per_kib' base)" 1200 1e-9
cp -r cap pooled
sqlite3 pooled/zcost.db "UPDATE cost SET frame = 2 WHERE run IN (SELECT id FROM run WHERE variant = 'copying' AND repeat = 1)"
compared copying mapping -C pooled
ok "one run of six without a sample of copying lowers the total cost of copying by a sixth" near "$(field 'total copy_ns_per_kib' base)" 1000 1e-9
sqlite3 cap/zcost.db "UPDATE run SET cpus = '0-1' WHERE side = 'receiver'; UPDATE run SET cpus = '1' WHERE side = 'sender';
	INSERT INTO metric SELECT run, 'cpu_pct:cpu1', unit, value, source FROM metric WHERE name = 'cpu_pct'"
receiver=$(field 'receiver cpu' new)
compared copying mapping -C cap
ok "sides on shared CPUs have no total of copying" test -z "$(field 'total copy_ns_per_kib' base)$(field 'total copy_ns_per_kib' new)"
ok "sides on shared CPUs have no total of busy time" test -z "$(field 'total ns_per_kib' base)$(field 'total ns_per_kib' new)"
ok "a note names the shared CPUs of both ends" test "$(grep -c 'copying, mapping: receiver and sender share CPU 1; .* give each side its own cpus' err)" = 1
ok "the total of CPU use counts a shared CPU once" near "$(field 'total cpu' new)" "$receiver" 1e-9
ok "the total of roi_c counts a shared CPU once" near "$(field 'total roi_c' new)" "$(field 'receiver roi_c' new)" 1e-9
ok "compare of sides on shared CPUs exits 0" exits 0 "$zcost" compare copying mapping -C cap

# Workloads that count packets, or messages, and no bytes.
counted_in() { # CAPTURE COUNT: what was 1e6 KiB/s is 1e6 of those
	sqlite3 "$1/zcost.db" "DELETE FROM metric WHERE name IN ('bytes', 'throughput') OR name LIKE '%rx_%';
		UPDATE metric SET name = 'rate_$2' WHERE name = 'rate_kib'"
}
for unit in packet message; do
	world $unit 6 $copying $mapping
	counted_in $unit ${unit}s
	compared copying mapping -C $unit
	ok "runs that count ${unit}s have the rate of ${unit}s" near "$(field "receiver rate_${unit}s" base)" 1e6 1e-9
	ok "twice the rate of ${unit}s is better" test "$(field "receiver rate_${unit}s" verdict)" = better
	ok "the total rate of ${unit}s is the receiver's" near "$(field "total rate_${unit}s" new)" 2e6 1e-9
	ok "runs that count ${unit}s have ns per $unit" near "$(field "receiver ns_per_$unit" new)" 500 1e-9
	ok "fewer ns per $unit are better" test "$(field "receiver ns_per_$unit" verdict)" = better
	ok "the total has ns per $unit of both sides" near "$(field "total ns_per_$unit" base)" 2000 1e-9
	ok "copying is per $unit" near "$(field "receiver copy_ns_per_$unit" base)" 600 1e-6
	ok "no metric is per KiB when the unit is the $unit" sh -c "! grep -q '_per_kib' out"
	ok "the gate judges the rate and the cost per $unit" exits 3 "$zcost" compare mapping copying -C $unit --fail-on worse
	ok "compare --format commit of ${unit}s exits 0" exits 0 "$zcost" compare copying mapping -C $unit --format commit
	ok "compare --format commit has the metrics of ${unit}s with their units" says "rate ${unit}s, 1/s +1000000 +2000000" out
	"$zcost" report summary $unit --format tsv >out 2>err
	summary_cell() { # COLUMN: of copying, receiver
		awk -F'\t' -v c="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			$1 == "copying" && $2 == "receiver" { print $at[c] }' out
	}
	ok "report summary has the rate of ${unit}s" near "$(summary_cell rate_${unit}s)" 1e6 1e-9
	ok "report summary has the cost per $unit" near "$(summary_cell ns_per_$unit)" 1000 1e-6
	ok "report summary has the cost of copying per $unit" near "$(summary_cell copy_ns_per_$unit)" 600 1e-6
	ok "report summary has only the columns of the counted unit" sh -c "! head -1 out | grep -q ns_per_$([ $unit = packet ] && echo message || echo packet)"
	"$zcost" report scores $unit --format tsv >out 2>err
	ok "report scores has the cost per $unit" near "$(awk -F'\t' -v s=ns_per_$unit '$1 == "mapping" && $2 == "total" && $3 == s { print $4 }' out)" 1000 1e-6
	ok "report roi exits 0 without bytes" exits 0 "$zcost" report roi $unit --verbose
	ok "report roi says that the workload did not report its bytes" says 'throughput_gbps is absent: the workload did not report its bytes' out
	ok "report roi names the unit that the workload counts" says "the workload counts ${unit}s and roi takes bytes.* ns per $unit" out
	ok "--unit with an uncounted unit exits 1" exits 1 "$zcost" report functions $unit --unit KiB
	ok "the message names the unit that the workload counts" says "^zcost: --unit KiB: the runs count only $unit;" err
	ok "compare with an uncounted unit exits 1" exits 1 "$zcost" compare copying mapping -C $unit --table functions --unit KiB
done
"$zcost" report summary cap --format tsv >out 2>err
ok "a workload that counts bytes has no metrics per packet" sh -c '! grep -E "packet|message" out err'

# Nothing was counted at all.
world nothing 4 $copying $mapping
sqlite3 nothing/zcost.db "DELETE FROM metric WHERE name IN ('bytes', 'throughput', 'rate_kib')"
ok "compare without an amount of work exits 1" exits 1 "$zcost" compare copying mapping -C nothing --table waterfall
ok "the message names the missing amount of work, not a component" says 'the cost of a unit of work is not known: the workload.s output has no amount of work \(zcost capture --units\)' err

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
ok "a self-test has no total" exits 2 "$zcost" compare --self-test pair --side total

# The profile pass of `mapping` moves twice the data of its measure pass, 32.8 against 16.4 Gbit/s, that of `copying` the same.
world apart 6 $copying $mapping
profile_moves() { # profile_moves FACTOR
	sqlite3 apart/zcost.db "DELETE FROM metric WHERE name = 'throughput' AND run IN (SELECT id FROM run WHERE pass = 'profile');
		INSERT INTO metric SELECT p.id, 'throughput', '', iif(p.variant = 'mapping', $1, 1) * m.value, 'measured' FROM run p
			JOIN run r ON r.variant = p.variant AND r.side = p.side AND r.repeat = p.repeat AND r.pass = 'measure'
			JOIN metric m ON m.run = r.id AND m.name = 'throughput'
			WHERE p.pass = 'profile'"
}
conditions='^# warning: mapping receiver: the profile pass did 2.0 times the work of the measure pass .32.8 against 16.4 Gbit.s.: other conditions, so its shares may not fit these costs$'
profile_moves 2
for table in summary functions components contexts modules 'callers tcp_recvmsg' 'groups --group copy=_copy_to_iter'; do
	"$zcost" report $table apart >out 2>&1
	ok "report ${table%% *} warns of a profile pass under other conditions" says "$conditions" out
done
for table in metrics functions; do
	"$zcost" compare copying mapping -C apart --table $table >out 2>&1
	ok "compare --table $table warns of a profile pass under other conditions" says "$conditions" out
done
"$zcost" report summary apart --verbose >out 2>&1
ok "report summary does not speak of no loss where a profile pass was much faster" sh -c "! grep -q 'no measurable loss' out"
"$zcost" report --html apart.html apart >out 2>&1
ok "the page warns of a profile pass under other conditions" says 'mapping receiver: the profile pass did 2.0 times' apart.html
"$zcost" plot apart -o apart-charts components functions waterfall throughput >out 2>&1
for chart in components functions waterfall; do
	ok "the chart $chart has a caption about a profile pass under other conditions" sh -c \
		"tr '\n' ' ' <apart-charts/$chart.svg | sed 's/<[^>]*>//g' | grep -q 'Other conditions: the profile pass of mapping receiver did 2.0 times'"
done
ok "the chart throughput, which has no costs, has no such caption" sh -c "! grep -q 'Other conditions' apart-charts/throughput.svg"
# The same runs count packets and no bytes.
"$zcost" report passes apart --format tsv >bytes
sqlite3 apart/zcost.db "DELETE FROM metric WHERE name = 'rate_kib'; UPDATE metric SET name = 'rate_packets', value = value * 1000 WHERE name = 'throughput'"
"$zcost" report components apart >out 2>&1
ok "a workload that counts packets has the warning in packets/s" says \
	'mapping receiver: the profile pass did 2.0 times the work of the measure pass .[0-9.]+ against [0-9.]+ packets.s.: other conditions' out
"$zcost" report passes apart --format tsv >packets
ok "cost_pct of packets is that of bytes in the same proportion" sh -c \
	"for f in bytes packets; do awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if (\$i ~ /^cost_pct/) at[i] } { for (i in at) printf \"%s \", \$i; print \"\" }' \$f >\$f.cost; done; grep -q '[0-9]' bytes.cost && cmp bytes.cost packets.cost"
world apart 6 $copying $mapping
profile_moves 0.8
"$zcost" report functions apart >out 2>&1
ok "a slower profile pass has the warning, too" says 'the profile pass did 0.8 times' out
profile_moves 1.05
"$zcost" report functions apart >out 2>&1
ok "a profile pass that differs by 5 % has no warning" sh -c "! grep -q 'profile pass did' out"
profile_moves 2
sqlite3 apart/zcost.db "DELETE FROM metric WHERE name = 'throughput' AND run IN (SELECT id FROM run WHERE pass = 'profile' AND repeat > 1)"
"$zcost" report functions apart >out 2>&1
ok "one profiled run is too few for the warning" sh -c "! grep -q 'profile pass did' out"

. "$tests/golden.sh"
golden_captures cap/zcost.db
done_testing
