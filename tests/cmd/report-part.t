#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# --from and --to of a capture: figures of a part of each run's window, out of the raw files, or none.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"

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

cell() { # COLUMN TABLE ARGUMENTS...: of variant one, receiver
	column=$1 table=$2
	shift 2
	"$zcost" report "$table" cap --variant one --side receiver --format tsv "$@" 2>err | awk -F'\t' -v c="$column" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at[c]; exit }'
}
ok "throughput without --from and --to covers the whole window" near "$(cell throughput_gbps summary)" 16 1e-6
ok "throughput of the second second is that of the part" near "$(cell throughput_gbps summary --from 1 --to 2)" 16 1e-6
ok "throughput of the last second is that of the part" near "$(cell throughput_gbps summary --from 2)" 24 1e-6
ok "throughput of the first second is that of the part" near "$(cell throughput_gbps summary --to 1)" 8 1e-6
ok "--from +2 equals --from 2" near "$(cell throughput_gbps summary --from +2)" 24 1e-6
ok "CPU use of the second second is that of the part" near "$(cell cpu_pct summary --from 1 --to 2)" 50 1e-6
ok "CPU use of the third second is that of the part" near "$(cell cpu_pct summary --from 2 --to 3)" 80 1e-6
# 10 J in the first second, 30 in the second, 50 in the third.
ok "power of the second second is that of the part" near "$(cell power_w summary --from 1 --to 2)" 30 1e-6
ok "a warning names readings that are far from the ends of the part" test "$(cell cpu_pct summary --from 0.25 --to 2.8 >/dev/null; grep -c 'warning: .*cpu took no reading close to --from or --to' err)" = 1
# 0.75 x 20 + 50 + 0.8 x 80 over 2.55 s
ok "values between two readings are interpolated" near "$(cell cpu_pct summary --from 0.25 --to 2.8)" 50.588235 1e-5
ok "a part between two readings has no CPU use" test -z "$(cell cpu_pct summary --from 1.3 --to 1.6)"
ok "throughput stays when CPU use is absent" near "$(cell throughput_gbps summary --from 1.3 --to 1.6)" 16 1e-6
ok "a warning says that the part is too short for the readings" says 'no part of the window has figures of:.*cpu' err
ok "a note names the part" says '^zcost: --from, --to: only 1.3 to 1.6 s of each run' err

# Totals of the whole window are not stretched.
for t in counters softnet syscalls; do
	ok "$t has rows for the whole window" sh -c "'$zcost' report $t cap --format tsv 2>/dev/null | grep -q one"
	ok "$t has no rows for a part" sh -c "! '$zcost' report $t cap --from 1 --to 2 --format tsv 2>err | grep one"
	ok "$t: the note says why the rows are absent" says "only the total of the whole window is known, not the part between --from and --to" err
done
ok "report scores says why scores of a part are absent" sh -c "'$zcost' report scores cap --from 1 --to 2 >out 2>&1; grep 'cycles_per_byte.*absent.*only the total of the whole window' out"
ok "the evidence of zero copy stays for a part" says 'bytes received' "$(
	"$zcost" report zerocopy cap --from 1 --to 2 >out 2>/dev/null; echo out)"
"$zcost" export sql cap --from 1 --to 2 2>/dev/null | sqlite3 part.db
ok "the series of the store cover the part" test "$(sqlite3 part.db "SELECT MIN(t_ns) || ' ' || MAX(t_ns) FROM series")" = "11100000000 12000000000"
ok "the windows of the store are the part" test "$(sqlite3 part.db 'SELECT DISTINCT start_ns || " " || end_ns FROM run')" = "11000000000 12000000000"

ok "compare accepts --from and --to" exits 0 "$zcost" compare -C cap one two --from 2 --format tsv
ok "compare uses the part of both ends" awk -F'\t' '$2 == "throughput" && $4 + 0 == 24 && $5 + 0 == 24 { n++ } END { exit !n }' out
ok "compare names the part" says 'only from 2 s' err
ok "a commit message names the part" sh -c "'$zcost' compare -C cap one two --from 2 --format commit | grep -e '--from, --to: only from 2 s'"

# What cannot be.
ok "--to before --from is a usage error" exits 2 "$zcost" report summary cap --from 2 --to 2
ok "a word as time is a usage error" exits 2 "$zcost" report summary cap --from soon
ok "a part after all windows exits 1" exits 1 "$zcost" report summary cap --from 3.5
ok "the message says how long the windows are" says 'its window is 3.00 s long' err
ok "a note says that --to is after the end of the window" sh -c "'$zcost' report summary cap --from 1 --to 9 2>&1 | grep 'the window is 3.00 s long, so it ends before --to 9'"
ok "--from with a store file exits 1" exits 1 "$zcost" report summary cap/zcost.db --from 1
ok "the message says that --from needs the raw files" says 'a store alone has figures of whole windows only' err
cp -r cap gone
rm -r gone/runs
ok "the store still has the whole windows" exits 0 "$zcost" report summary gone
ok "--from without raw files exits 1" exits 1 "$zcost" report summary gone --from 1
ok "the message names the missing raw files" says 'gone: the raw files of its runs are gone, and zcost.db has figures of whole windows only' err
ok "compare --self-test with --from is a usage error" exits 2 "$zcost" compare --self-test cap --from 1

printf 'time,watts\n9,100\n11,200\n13,100\n' >meter.csv
"$zcost" analyze --power-csv meter.csv cap 2>/dev/null
"$zcost" report power cap --from 1 --to 3 --format tsv >/dev/null 2>err
ok "a warning names the imported power that a part lacks" says 'power \(imported by analyze --power-csv meter.csv\)' err

done_testing
