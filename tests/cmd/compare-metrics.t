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
ok "syscalls: ns per KiB" near "$(field recvfrom base_ns)" 80.007 0.0001
ok "and calls per MiB" near "$(field recvfrom base_calls)" 40.963584 0.0001
ok "and their change" test "$(field recvfrom verdict)" = better

ok "metrics are the default" exits 0 "$zcost" compare copying mapping -C cap --format tsv
ok "throughput doubles" near "$(field 'receiver throughput' change_pct)" 100 1e-6
ok "which is better" test "$(field 'receiver throughput' verdict)" = better
ok "p is that of runs fully apart, 2/924" near "$(field 'receiver throughput' p)" 0.0021645 1e-6
ok "ns per KiB" near "$(field 'receiver ns_per_kib' new)" 500 1e-9
ok "for both sides together" near "$(field 'total ns_per_kib' base)" 2000 1e-9
ok "T^2/C" near "$(field 'receiver roi_c' base)" 0.67108864 1e-6
ok "T^2/C of both sides" near "$(field 'total roi_c' base)" 0.33554432 1e-6
ok "copying" near "$(field 'receiver copy_ns_per_kib' base)" 600 1e-6
compared copying mapping -C cap --unit syscall
ok "by another unit its name says which" near "$(field 'receiver copy_ns_per_syscall' base)" 14998.69 0.01 # 600 / (40.963584 / 1024)
sqlite3 cap/zcost.db "UPDATE run SET status = 'failed' WHERE pass = 'profile' AND repeat > 1"
compared copying mapping -C cap
ok "with one profile copying is still what the components say" near "$(field 'receiver copy_ns_per_kib' base)" 600 1e-9
ok "though without a verdict" test "$(field 'receiver copy_ns_per_kib' verdict)" = 'too few runs'
sqlite3 cap/zcost.db "UPDATE run SET status = 'ok'"
compared copying mapping -C cap
ok "system calls per MiB" near "$(field 'receiver syscalls_per_mib' base)" 40.963584 0.0001
ok "power that nobody measured has no row" sh -c 'grep -q throughput out && ! grep -q power out'
compared copying mapping -C cap --power-model idle=230,per_cpu=3.5
ok "modelled power is labelled" test "$(field 'receiver power' unit)" = 'W, modelled'
ok "and worked out" near "$(field 'receiver power' base)" 233.5 1e-9
ok "T^2/P, too" test "$(field 'receiver roi_p' unit)" = 'T^n/P^m, modelled'
ok "is 8.192^2 / 233.5" near "$(field 'receiver roi_p' base)" 0.28740423 1e-6
ok "and the notes say it" says '^zcost: warning: power is MODELLED' err
ok "a bad model, exit 2" exits 2 "$zcost" compare copying mapping -C cap --power-model 230
compared copying mapping -C cap
ok "CPU use alone is neither better nor worse" test -z "$(field 'receiver cpu' verdict)"
ok "the largest movement in words" says 'receiver data copy -600.0 .*ns/KiB \(600.0 to 0.0\)' err
compared copying again -C cap
verdicts() { awk -F'\t' 'NR > 1 && $11 != "" { print $11 }' out | sort -u; }
ok "the same twice: no verdict but ~" test "$(verdicts)" = '~'
ok "and no movement" says 'no component moved by more than' err
world noise 6 $copying again:1e6:100:60,40,0:40000:0:0
sqlite3 noise/zcost.db "UPDATE metric SET value = 100 + (SELECT CASE variant WHEN 'again' THEN 3e-14 ELSE 0 END
	FROM run WHERE run.id = run) WHERE name = 'cpu_pct'"
ok "apart by the noise of arithmetic" test "$(sqlite3 noise/zcost.db "SELECT COUNT(DISTINCT value) FROM metric WHERE name = 'cpu_pct'")" = 2
compared copying again -C noise
ok "such figures are equal to the test" test "$(field 'receiver cpu' p) $(field 'receiver cpu' change_lo) $(field 'receiver cpu' change_hi)" = '1 0 0'
world one 1 $copying $mapping
compared copying mapping -C one --table syscalls
ok "one run a side: no error is known, and no claim made of one" sh -c "! grep -q 'moved by more than' err"
ok "compare of one run on each side says that a change may be chance" says 'one run on a side gives no error, so any change of a syscall may be chance; the largest movements:' err
ok "with the movements" says 'receiver recvfrom .*: too few runs to tell' err
compared copying mapping -C cap --threshold 150
ok "a threshold above the change" test "$(field 'receiver throughput' verdict)" = '~'
compared copying mapping -C few
ok "three runs are too few for metrics" test "$(field 'receiver throughput' verdict)" = 'too few runs'
compared copying mapping -C cap --estimator middle
ok "the middle of the runs" near "$(field 'receiver ns_per_kib' base)" 1000 1e-9

ok "gate: better is no failure" exits 0 "$zcost" compare copying mapping -C cap --fail-on worse
ok "gate: worse exits 3" exits 3 "$zcost" compare mapping copying -C cap --fail-on=worse
ok "and the table is there all the same" says 'throughput' out
ok "gate: no change is no failure" exits 0 "$zcost" compare copying again -C cap --fail-on worse
ok "gate: too few runs do not pass, exit 4" exits 4 "$zcost" compare mapping copying -C few --fail-on worse
"$zcost" compare copying fell_back -C cap >out 2>err
ok "a fallback stands on the first line" sh -c 'head -n 1 out | grep -q "NOT ZERO COPY: fell_back receiver: 90.0 %.*no speed-up is claimed"'
ok "it is said to have copied" says 'throughput .* copied +6 +6' out
compared copying fell_back -C cap
ok "nothing is better" test "$(verdicts)" = copied
compared fell_back copying -C cap
ok "worse may still be said" test "$(field 'receiver throughput' verdict)" = worse

# Counters per MiB: twice the interrupts, retransmits where there were none, drops nowhere.
count() { # count NAME COPYING MAPPING: so many per MiB
	sqlite3 cap/zcost.db "INSERT INTO metric (run, name, unit, value) SELECT r.id, '$1', '1',
		m.value / 1048576 * CASE r.variant WHEN 'copying' THEN $2 ELSE $3 END
		FROM run r JOIN metric m ON m.run = r.id AND m.name = 'bytes' WHERE r.side = 'receiver'"
}
count irq:total 4 2
count snmp:TcpRetransSegs 0 0.5
count softnet_dropped 0 0
count counter:context-switches 3 3
compared copying mapping -C cap
ok "interrupts per MiB" near "$(field 'receiver interrupts_per_mib' base)" 4 1e-9
ok "fewer are better" test "$(field 'receiver interrupts_per_mib' verdict)" = better
ok "retransmits that there were none of" near "$(field 'receiver retransmits_per_mib' new)" 0.5 1e-9
ok "have no ratio" test -z "$(field 'receiver retransmits_per_mib' change_pct)"
ok "but are worse" test "$(field 'receiver retransmits_per_mib' verdict)" = worse
ok "no drops at all are no row" sh -c '! grep -q softnet_drops out'
ok "the same switches" test "$(field 'receiver context_switches_per_mib' verdict)" = '~'
ok "the gate asks for none of these" exits 0 "$zcost" compare copying mapping -C cap --fail-on worse

# The sender's profiles are the receiver's; then both sides are on the CPUs of one.
sqlite3 cap/zcost.db "INSERT INTO run SELECT id + 1000, variant, pass, repeat, 'sender', host, command, '2', ncpus, start_ns, end_ns, position, status, why
		FROM run WHERE pass = 'profile';
	INSERT INTO event (id, run, name, is_time, samples, weight, weight2)
		SELECT id + 1000, run + 1000, name, is_time, samples, weight, weight2 FROM event;
	CREATE TEMP TABLE more AS SELECT * FROM cost; UPDATE more SET run = run + 1000, event = event + 1000;
	INSERT INTO cost SELECT * FROM more"
compared copying mapping -C cap
ok "sides with CPUs of their own have a total of copying" test -n "$(field 'total copy_ns_per_kib' base)"
sqlite3 cap/zcost.db "UPDATE run SET cpus = '0-1' WHERE side = 'receiver'; UPDATE run SET cpus = '1' WHERE side = 'sender';
	INSERT INTO metric SELECT run, 'cpu_pct:cpu1', unit, value, source FROM metric WHERE name = 'cpu_pct'"
receiver=$(field 'receiver cpu' new)
compared copying mapping -C cap
ok "on shared CPUs they have none" test -z "$(field 'total copy_ns_per_kib' base)$(field 'total copy_ns_per_kib' new)"
ok "nor of busy time" test -z "$(field 'total ns_per_kib' base)$(field 'total ns_per_kib' new)"
ok "it is said of both ends" test "$(grep -c 'copying, mapping: receiver and sender share CPU 1; .* give each side its own cpus' err)" = 1
ok "CPU use is that of all CPUs, once" near "$(field 'total cpu' new)" "$receiver" 1e-9
ok "and so is the score" near "$(field 'total roi_c' new)" "$(field 'receiver roi_c' new)" 1e-9
ok "the text too" exits 0 "$zcost" compare copying mapping -C cap

# Workloads that count packets, or messages, and no bytes.
counted_in() { # CAPTURE COUNT: what was 1e6 KiB/s is 1e6 of those
	sqlite3 "$1/zcost.db" "DELETE FROM metric WHERE name IN ('bytes', 'throughput') OR name LIKE '%rx_%';
		UPDATE metric SET name = 'rate_$2' WHERE name = 'rate_kib'"
}
for unit in packet message; do
	world $unit 6 $copying $mapping
	counted_in $unit ${unit}s
	compared copying mapping -C $unit
	ok "the rate of ${unit}s" near "$(field "receiver rate_${unit}s" base)" 1e6 1e-9
	ok "twice of it is better" test "$(field "receiver rate_${unit}s" verdict)" = better
	ok "in total it is the receiver's" near "$(field "total rate_${unit}s" new)" 2e6 1e-9
	ok "ns per $unit" near "$(field "receiver ns_per_$unit" new)" 500 1e-9
	ok "less is better" test "$(field "receiver ns_per_$unit" verdict)" = better
	ok "of both sides" near "$(field "total ns_per_$unit" base)" 2000 1e-9
	ok "copying is per $unit too" near "$(field "receiver copy_ns_per_$unit" base)" 600 1e-6
	ok "nothing is per KiB" sh -c "! grep -q '_per_kib' out"
	ok "the gate counts them" exits 3 "$zcost" compare mapping copying -C $unit --fail-on worse
	ok "the components' word on it" exits 0 "$zcost" compare copying mapping -C $unit --table components
	ok "names that row" says "copy_ns_per_$unit of --table metrics" out
	ok "the commit's text" exits 0 "$zcost" compare copying mapping -C $unit --format commit
	ok "has them with their units" says "rate ${unit}s, 1/s +1000000 +2000000" out
	"$zcost" report summary $unit --format tsv >out 2>err
	summary_cell() { # COLUMN: of copying, receiver
		awk -F'\t' -v c="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			$1 == "copying" && $2 == "receiver" { print $at[c] }' out
	}
	ok "summary: the rate" near "$(summary_cell rate_${unit}s)" 1e6 1e-9
	ok "summary: the cost" near "$(summary_cell ns_per_$unit)" 1000 1e-6
	ok "summary: of copying" near "$(summary_cell copy_ns_per_$unit)" 600 1e-6
	ok "only of the unit counted" sh -c "! head -1 out | grep -q ns_per_$([ $unit = packet ] && echo message || echo packet)"
	"$zcost" report scores $unit --format tsv >out 2>err
	ok "scores have it" near "$(awk -F'\t' -v s=ns_per_$unit '$1 == "mapping" && $2 == "total" && $3 == s { print $4 }' out)" 1000 1e-6
	ok "roi" exits 0 "$zcost" report roi $unit --verbose
	ok "says what was not counted" says 'throughput_gbps is absent: the workload gave no account of its bytes' out
	ok "and what was" says "the workload counts ${unit}s and roi takes bytes.* ns per $unit" out
	ok "a unit that was not counted" exits 0 "$zcost" report functions $unit --unit KiB
	ok "the message names the unit that the workload counts" says "none: --unit KiB: the workload counts only $unit;" out
done
"$zcost" report summary cap --format tsv >out 2>err
ok "where there are bytes, nothing is of packets" sh -c '! grep -E "packet|message" out err'

# Nothing was counted at all.
world nothing 4 $copying $mapping
sqlite3 nothing/zcost.db "DELETE FROM metric WHERE name IN ('bytes', 'throughput', 'rate_kib')"
ok "no account of work, no costs" exits 1 "$zcost" compare copying mapping -C nothing --table waterfall
ok "is told of the unit of work, not of a component" says 'what a unit of work costs is not known: the workload.s output says no amount of work \(zcost capture --units\)' err

done_testing
