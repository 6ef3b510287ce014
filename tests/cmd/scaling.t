#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Four times the input takes about four times the CPU time, never sixteen times.
. "$(dirname "$0")/../lib.sh"
. "$tests/world.sh"
. "$tests/capture.sh"
need sqlite3

# used COMMAND...: prints the command's user CPU time in seconds, at least 0.1, because the clock ticks each 10 ms.
used() {
	perl -e 'open(my $seconds, ">&", \*STDOUT); open(STDOUT, ">", "out");
		my $code = system("timeout", "300", @ARGV) >> 8; my $user = (times)[2];
		exit 1 if $code && $code != 4; # 4: the data is lossy
		printf $seconds "%.2f\n", $user < 0.1 ? 0.1 : $user' "$@"
}

# within FACTOR SMALL BIG COMMAND...: IN in the command is the folder with the small or the big input. Other programs only add to
# a time, so the least of up to five turns counts.
within() {
	factor=$1 small=$2 big=$3
	shift 3
	: >small.used
	: >big.used
	for turn in 1 2 3 4 5; do
		used $(echo "$@" | sed "s|IN|$small|g") >>small.used && used $(echo "$@" | sed "s|IN|$big|g") >>big.used || return 1
		awk -v factor="$factor" 'NR == FNR { if (!a || $1 < a) a = $1; next } !b || $1 < b { b = $1 }
			END { print "small: " a " s, big: " b " s"; exit !(b < factor * a) }' small.used big.used && return
	done
	return 1
}
linear() { within 6 "$@"; }

for n in 125 500; do
	world w$n $n "$copying" "$mapping"
	sqlite3 w$n/zcost.db "INSERT INTO note SELECT run.id, 'warning', 'throttled_heat', json_array(run.id, 1.5)
			FROM run, json_each('[1,2,3,4,5,6,7,8]');
		INSERT INTO metric (run, name, object, unit, value) SELECT run.id, 'counter', 'e' || k.value, '1', run.id
			FROM run, json_each('[1,2,3,4,5,6,7,8]') k WHERE pass = 'measure'"
done
for table in summary scores roi runs counters sizes zerocopy components syscalls; do
	ok "report $table takes time linear in the runs" linear w125 w500 "$zcost" report $table IN
done
# The tests sort all pairs of runs of two ends, so a part of the time grows with the square.
ok "compare of four times the runs takes less than twelve times as long" within 12 w125 w500 "$zcost" compare copying mapping -C IN
ok "compare --table functions takes time linear in the runs" \
	linear w125 w500 "$zcost" compare copying mapping -C IN --table functions

# named FOLDER BYTES: makes a world of 5,000 functions in an object with a name of this many bytes.
named() {
	world $1 3 "$copying" "$mapping"
	sqlite3 $1/zcost.db "INSERT INTO dso VALUES (2, printf('%.*c', $2, 'd'), NULL, 3);
		INSERT INTO symbol WITH RECURSIVE i(n) AS (SELECT 4 UNION ALL SELECT n + 1 FROM i WHERE n < 5003)
			SELECT n, 'f' || n, 2, 0 FROM i;
		INSERT INTO frame SELECT id, NULL, id FROM symbol WHERE dso = 2;
		INSERT INTO cost SELECT event.run, event.id, 1, 1, 7, 7, 2, frame.id, 1, 1000 FROM event, frame WHERE symbol > 3"
}

for n in 40 4096; do
	named n$n $n
	"$build/tests/tools/timed" "$zcost" compare copying mapping --table functions -C n$n
done >named.used # a line of wall time, CPU time and memory for each
ok "compare takes no more than three times as long for an object with a name of 4 KiB" \
	within 3 n40 n4096 "$zcost" compare copying mapping --table functions -C IN
ok "compare keeps one copy of the name of an object for all functions" \
	awk '{ print; peak[NR] = $3 } END { exit !(peak[2] < peak[1] + 8) }' named.used

for n in 40 4096; do
	"$build/tests/tools/timed" "$zcost" plot n$n flame --variant copying --format svg -o flame$n
done >flame.used
ok "plot flame keeps one copy of the name of an object for all functions" \
	awk '{ print; peak[NR] = $3 } END { exit !(peak[2] < peak[1] + 8) }' flame.used
ok "the table of the flame graph has the whole name at each function" \
	awk -F '\t' 'length($4) == 4096 { n++ } END { exit n != 5000 }' flame4096/*.tsv

for n in 1024 4096; do
	world t$n 1 "$copying"
	sqlite3 t$n/zcost.db "INSERT INTO topology (host, kind, name, cpus, package, node)
		WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 2 FROM c WHERE i + 2 < $n)
		SELECT 'vm', kind.value, i / 2, i || '-' || (i + 1), 0, 0 FROM c, json_each('[\"core\", \"cache\"]') kind"
done
ok "report topology --all takes time linear in the CPUs" linear t1024 t4096 "$zcost" report topology --all IN

for n in 10000 40000; do
	run_json s$n baseline measure 1 receiver tcpzc "$cpu_collector"
	sed -i "s/\"end_ns\": 13000000000/\"end_ns\": $((10 + n))000000000/" s$n/run.json
	points 1e9 65536 9 14 >s$n/workload.out
	awk -v n=$n 'BEGIN { for (i = 0; i <= n; i++) {
		text = sprintf("cpu 0 0 0 0 0 0 0 0 0 0\ncpu1 0 0 %d %d 0 0 0 0 0 0\nintr 1 2 3\n", 40 * i, 60 * i)
		printf "@%d000000000 %d\n%s", 10 + i, length(text), text } }' >s$n/proc_stat.snap
done
ok "analyze takes time linear in the snapshots" linear s10000 s40000 "$zcost" analyze IN
ok "analyze reads each of the snapshots" \
	test "$(sqlite3 s40000/zcost.db "SELECT COUNT(*) FROM series WHERE name = 'cpu_pct'")" -ge 40000

# A reading of snmp.snap has 8 KB.
for n in 300 3000; do
	run_json r$n baseline measure 1 receiver tcpzc '{"name": "snmp", "state": "ok", "why": "", "files": ["snmp.snap"]}'
	points 1e9 65536 9 14 >r$n/workload.out
	awk -v n=$n 'BEGIN { for (k = 0; k < 500; k++) { names = names " Counter" k; values = values " 70" k }
		text = "TcpExt:" names "\nTcpExt:" values "\n"
		for (i = 0; i < n; i++) printf "@%.0f %d\n%s", 1e10 + i * 3e9 / (n - 1), length(text), text }' >r$n/snmp.snap
	"$build/tests/tools/timed" "$zcost" analyze r$n
done >read.used
ok "analyze needs no more memory for ten times as many readings" \
	awk '{ print; peak[NR] = $3 } END { exit !(peak[2] < peak[1] + 8) }' read.used
ok "analyze reads the counters of all readings" \
	test "$(sqlite3 r3000/zcost.db "SELECT COUNT(*) FROM metric WHERE name = 'snmp'")" = 500

for n in 20000 80000; do
	run_json h$n baseline measure 1 receiver tcpzc \
		'{"name": "throttle", "state": "ok", "why": "", "files": ["throttle.snap"]}'
	points 1e9 65536 9 14 >h$n/workload.out
	for t in 10 13; do
		awk -v n=$n -v t=$t 'BEGIN { for (i = 0; i < n; i++) print "cpu" i, "core_throttle_count", t }' |
			snap ${t}000000000
	done >h$n/throttle.snap
done
ok "analyze takes time linear in the throttle counters" linear h20000 h80000 "$zcost" analyze IN
ok "analyze adds up all throttle counters" \
	test "$(sqlite3 h80000/zcost.db "SELECT value FROM metric WHERE name = 'throttled_heat'")" = 240000.0

done_testing
