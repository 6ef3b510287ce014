#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Checks figures per unit of work where the workload accounts for a part of the window only. Both variants are the
# same steady run. The points of `whole` cover the window of 3 s, those of `part` end after 2.8 s of it.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"

counters='{"name": "counters", "state": "ok", "files": ["counters.tsv"]}'
# steady_run VARIANT PASS END: writes a run of 1 GiB/s
steady_run() {
	d=cap/runs/$1/$2-01/local
	run_json $d $1 $2 1 local tcpzc "$cpu_collector, $counters, $syscalls_collector"
	{ points 1073741824 65536 9 $3; summary receiver 0 0 0 0 1 1; } >$d/workload.out
	proc_stat_simple 150 >$d/proc_stat.snap
	for event in cycles instructions context-switches; do
		printf '%s\t1\t3221225472\t3000000000\t3000000000\n' $event
	done | sed '1i event\tcpu\tvalue\tenabled_ns\trunning_ns' >$d/counters.tsv
	{
		printf 'comm\tpid\ttid\tnr\tname\tcalls\terrors\ttotal_ns\tmin_ns\tmax_ns\tm2_ns2\tbytes\tunfinished\ttime_hist\tsize_hist\n'
		printf 'tcpzc\t11\t11\t45\trecvfrom\t3072\t0\t3145728000\t100000\t300000\t0\t3221225472\t0\t16:3072\t9:3072\n'
	} >$d/syscalls.tsv
}
mkdir cap
for pass in measure syscalls; do
	steady_run whole $pass 14
	steady_run part $pass 12.8
done
manifest cap "whole part" whole/measure/1/ok part/measure/1/ok whole/syscalls/1/ok part/syscalls/1/ok
sed -i 's/"receiver", "sender"/"local"/g' cap/manifest.json
ok "analyze of points that end before the window exits 4" exits 4 "$zcost" analyze cap
# 30 W, and 6 of every other count in the window: 0.002 per MiB
sqlite3 cap/zcost.db "INSERT INTO metric (run, name, unit, value, source)
	SELECT id, column1, 'W', column2, 'measured' FROM run, (VALUES ('power_w:wall', 30), ('irq:total', 6), ('irq:36 eth0', 6),
		('snmp:TcpRetransSegs', 6), ('softnet:dropped', 6), ('softnet:processed', 6), ('softirq:NET_RX', 6),
		('tcp_socket_retransmits', 3), ('sched_switches', 3)); $typed"
ok "the workload of the part accounts for 93 % of the bytes" near \
	"$(sqlite3 cap/zcost.db "SELECT 1.0 * SUM(value * (variant = 'part')) / SUM(value * (variant = 'whole'))
		FROM metrics WHERE name = 'bytes'")" 0.933333 1e-5

# per_work TABLE [COLUMN...]: prints each row of a variant with its figures per unit of work
per_work() {
	t=$1
	shift
	"$zcost" report $t cap --format tsv 2>err | awk -F'\t' -v want="$*" 'NR == 1 { n = split(want, w, " ")
		for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ printf "%s", $at["variant"]
		  for (i = 1; i <= n; i++) printf " %s", $at[w[i]] ~ /^[0-9.e+-]+$/ ? sprintf("%.9g", $at[w[i]]) : $at[w[i]]
		  print "" }' >rows
}
# same ROWS TABLE [COLUMN...]: both variants have ROWS rows, with equal figures
same() {
	want=$1
	shift
	per_work "$@"
	for v in whole part; do sed -n "s/^$v //p" rows >$v; done
	[ "$(grep -c . whole)" = $want ] && cmp whole part || { cat rows err; return 1; }
}
ok "scores are ratios of rates" same 8 scores score value
ok "calls per MiB and their time per KiB are ratios of rates" same 1 syscalls calls_per_mib ns_per_kib
ok "joules per GB are a ratio of rates" same 1 power j_per_gb
for t in irq=3 snmp=2 softnet=2; do
	rows=${t#*=} t=${t%=*}
	ok "the figures per MiB of table $t are ratios of rates" same $rows $t per_s per_mib
done
ok "calls per MiB are those of the window" near "$("$zcost" report syscalls cap --variant part --format tsv | awk -F'\t' 'NR == 1 {
	for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { print $at["calls_per_mib"] }')" 1 1e-9
for table in metrics syscalls; do "$zcost" compare whole part -C cap --table $table --format tsv >$table.tsv; done
ok "compare finds no change in any metric" tsv '{ n++; x = $at["base"] - $at["new"]
	if (x * x > 1e-18 * $at["base"] ^ 2) { print; bad++ } } END { exit bad || n < 9 }' metrics.tsv
ok "compare finds no change in any system call" tsv '{ n++
	if ($at["delta_ns"] ^ 2 + $at["delta_calls"] ^ 2 > 1e-12) { print; bad++ } } END { exit bad || n < 1 }' syscalls.tsv
sed -n '/^SELECT s.variant, s.side, s.comm/,/;$/p' "$top/docs/reference/store.md" >calls.sql
ok "the query of calls per MiB in the documents is a ratio of rates" test \
	"$(sqlite3 cap/zcost.db <calls.sql | awk -F'|' '{ printf "%s %.6f,", $1, $6 }' | tr , '\n' | sort | tr '\n' ,)" = "part 1.000000,whole 1.000000,"

done_testing
