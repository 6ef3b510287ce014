#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# --from and --to of a capture: figures of a part of each run's window, out of the raw files, or none.
. "$(dirname "$0")/../lib.sh"
. "$tests/golden.sh"

# The window is [10, 13] s. 1e9 B/s in its first second, 2e9 and 3e9 in the next; CPU 1 is busy for 20, 50
# and 80 ticks of 100.
all_collectors="$cpu_collector, $syscalls_collector,
	{\"name\": \"counters\", \"state\": \"ok\", \"files\": [\"counters.tsv\"]},
	{\"name\": \"softnet\", \"state\": \"ok\", \"files\": [\"softnet.snap\"]},
	{\"name\": \"power\", \"state\": \"ok\", \"files\": [\"power.tsv\"]}"

side() { # CAPTURE VARIANT SIDE
	d=$1/runs/$2/measure-01/$3
	run_json "$d" "$2" measure 1 "$3" tcpzc "$all_collectors"
	{
		awk 'BEGIN { for (i = 0; i <= 50; i++) { t = 9 + i / 10; r = t < 11 ? 1 : t < 12 ? 2 : 3
			printf "{\"type\":\"point\",\"t_ns\":%.0f,\"bytes\":%.0f}\n", t * 1e9, n; n += r * 1e8 } }'
		summary "$3" 100 0 100 0 5 5
	} >"$d/workload.out"
	busy=0
	for s in 0 1 2 3; do
		stat_line 1 0 0 $busy $((100 * s - busy)) 0 0 0 0 | snap $(((10 + s) * 1000000000))
		busy=$((busy + 20 + 30 * s))
	done >"$d/proc_stat.snap"
	{ # before and after only
		printf '%08x 00000000 00000000\n%08x 00000000 00000000\n' 0 0 | snap 10000000000
		printf '%08x 00000000 00000000\n%08x 00000000 00000000\n' 0 300 | snap 13000000000
	} >"$d/softnet.snap"
	printf 'event\tcpu\tvalue\tenabled_ns\trunning_ns\ncycles\t1\t3000\t3\t3\n' >"$d/counters.tsv"
	printf 'comm\tpid\ttid\tnr\tname\tcalls\terrors\ttotal_ns\tmin_ns\tmax_ns\tm2_ns2\tbytes\tunfinished\ttime_hist\tsize_hist\n' >"$d/syscalls.tsv"
	printf 'tcpzc\t7\t7\t45\trecvfrom\t10\t0\t100\t10\t10\t0\t5\t0\t\t\n' >>"$d/syscalls.tsv"
	awk 'BEGIN { print "source\tdomain\tt_ns\tmicrojoules\twatts"
		for (s = 10; s <= 13; s++) printf "powercap\tpackage-0\t%d000000000\t%d\t\n", s, (s - 10) * (s - 10) * 1e7 }' >"$d/power.tsv"
}
for v in one two; do
	side cap $v receiver
	side cap $v sender
done
manifest cap "one two" one/measure/1/ok two/measure/1/ok
"$zcost" analyze cap 2>/dev/null

# Power: 10 J in the first second, 30 in the second, 50 in the third. Values between two readings are interpolated: 0.75 x 20 + 50 +
# 0.8 x 80 over 2.55 s. A part between two readings has no CPU use. Totals of the whole window are not stretched.
for part in '' '--from 1 --to 2' '--from 2' '--to 1' '--from +2 --to 3' '--from 0.25 --to 2.8' '--from 1.3 --to 1.6' '--from 1 --to 9'; do
	report cap summary --variant one $part
done
for table in counters softnet syscalls scores; do
	report cap $table
	report cap $table --from 1 --to 2
done
ok "the evidence of zero copy stays for a part" says 'bytes received' "$(
	"$zcost" report zerocopy cap --from 1 --to 2 >out 2>/dev/null; echo out)"
"$zcost" export sql cap --from 1 --to 2 2>/dev/null | sqlite3 part.db
ok "the series of the store cover the part" test "$(sqlite3 part.db "SELECT MIN(t_ns) || ' ' || MAX(t_ns) FROM series")" = "11100000000 12000000000"
ok "the windows of the store are the part" test "$(sqlite3 part.db 'SELECT DISTINCT start_ns || " " || end_ns FROM run')" = "11000000000 12000000000"

compare cap one two --from 2
run compare -C cap one two --from 2 --format commit

# What cannot be.
run report summary cap --from 2 --to 2
run report summary cap --from soon
run report summary cap --from 3.5
run report summary cap/zcost.db --from 1
cp -r cap gone
rm -r gone/runs
ok "the store still has the whole windows" exits 0 "$zcost" report summary gone
run report summary gone --from 1
run compare --self-test cap --from 1

printf 'time,watts\n9,100\n11,200\n13,100\n' >meter.csv
"$zcost" analyze --power-csv meter.csv cap 2>/dev/null
report cap power --from 1 --to 3 # lacks the imported power
ok "figures of a part are as in tests/data/golden/$golden.txt" is_golden

done_testing
