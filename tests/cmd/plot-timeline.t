#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost plot timeline: its curves are the series of zcost report timeline, read from the raw files.
. "$(dirname "$0")/../lib.sh"
. "$tests/plot.sh"

# A receiver with power and softnet; the CPU's squeezes are 0, 10 and 40 in its three seconds.
mkdir cap
measure_run cap baseline 1 sender 1250000000 150
measure_run cap baseline 1 receiver 1250000000 150
run_json "$d" baseline measure 1 receiver tcpzc "$cpu_collector,
	{\"name\": \"softnet\", \"state\": \"ok\", \"why\": \"\", \"files\": [\"softnet.snap\"]},
	{\"name\": \"power\", \"state\": \"ok\", \"why\": \"\", \"files\": [\"power.tsv\"]}"
for s in 0 1 2 3; do
	squeezed=$(echo "0 0 10 50" | cut -d ' ' -f $((s + 1)))
	{
		printf '%08x 0 %08x 0 0 0 0 0 0 0 0 0 00000000\n' $((s * 9)) $((s * 7))
		printf '%08x 0 %08x 0 0 0 0 0 0 0 0 0 00000001\n' $((s * 100)) $squeezed
	} | snap $(((10 + s) * 1000000000))
done >$d/softnet.snap
{
	printf 'source\tdomain\tt_ns\tmicrojoules\twatts\n'
	for s in 0 1 2 3; do
		for p in 0 1; do
			printf 'powercap\tpackage-%d\t%d\t%d\t\n' $p $(((10 + s) * 1000000000 + p * 1000)) $((s * (40 + p) * 1000000))
		done
		printf 'powercap\tpackage-0/core\t%d\t%d\t\n' $(((10 + s) * 1000000000)) $((s * 30 * 1000000))
		printf 'perf\tpackage-0\t%d\t%d\t\n' $(((10 + s) * 1000000000)) $((s * 41 * 1000000))
	done
} >$d/power.tsv
# The workload counts once more when it ends, 0.2 ms after its last point: 10 MB out of a queue.
sed -i '/summary/i {"type":"point","t_ns":14000200000,"bytes":6260000000,"messages":95520}' $d/workload.out
manifest cap baseline baseline/measure/1/ok
"$zcost" analyze cap >analyze.log 2>&1 || { cat analyze.log; exit 1; }

# is EXPECTED COMMAND...: checks what the command prints.
is() {
	want=$1
	shift
	got=$("$@")
	[ "$got" = "$want" ] || { echo "got '$got', expected '$want'"; return 1; }
}

# series NAME: "t value" of the receiver's series, by report.
series() {
	"$zcost" report timeline cap --side receiver --all --format tsv |
		tsv '$at["name"] == name { printf "%s%g %g", n++ ? ", " : "", $at["t_s"], $at["value"] }' name="$1"
}

ok "report timeline has the squeezes of the side's CPU alone, per second" is "1 0, 2 10, 3 40" series softnet_squeezed_per_s
ok "report timeline has the mean power between readings of a counter" is "1 40, 2 40, 3 40" series power_w:package/powercap/package-0
ok "report timeline has the CPU use of each second" is "1 50, 2 50, 3 50" series cpu_pct
ok "report timeline has the unit of each series" test "% Gbit/s W" = \
	"$("$zcost" report timeline cap --side receiver --all --format tsv | tsv '$at["name"] ~ /^(cpu_pct|throughput|power_w)/ { print $at["unit"] }' | sort -u | tr '\n' ' ' | sed 's/ $//')"
ok "the throughput of the last 0.2 ms is in the interval before it" is "10 10.7784" sh -c \
	"'$zcost' report timeline cap --side receiver --name throughput --all --format tsv | awk -F '\t' '
		NR > 1 { if (\$NF > most) most = \$NF; if (NR == 2) least = \$NF } END { printf \"%g %g\", least, most }'"
ok "report timeline has a point of throughput every 100 ms" test \
	"$("$zcost" report timeline cap --side receiver --all --format tsv | grep -c '	throughput	')" = 50

"$zcost" report timeline cap --name 'power_w:*/package-?' --all --format tsv >named 2>/dev/null
ok "report timeline --name prints the series that match the glob, and no other" is \
	"power_w:other/perf/package-0 power_w:package/powercap/package-0 power_w:package/powercap/package-1" \
	sh -c "cut -f 4 named | sed 1d | sort -u | paste -sd ' '"
ok "report timeline --name of no series exits 1" exits 1 "$zcost" report timeline cap --name throughputt
ok "the message names the series that the user may have meant" says "has no series 'throughputt'; did you mean throughput?" err
ok "report timeline prints 30 points of each side" is "30 receiver 30 sender" \
	sh -c "'$zcost' report timeline cap --format tsv 2>notes | cut -f 2 | sed 1d | sort | uniq -c | xargs"
ok "a note says how many points the table left out" says 'receiver: 30 of 71 rows; --all shows all' notes
ok "report timeline --limit counts the points of the series that --name selects" is "throughput throughput" \
	sh -c "'$zcost' report timeline cap --side receiver --name throughput --limit 2 --format tsv 2>notes | cut -f 4 | sed 1d | xargs"
ok "the note counts the points of these series alone" says '2 of 50 rows' notes

# Two more runs, so that there is a median: 0.8 and 1.6 of the first. Each is read at its own times.
for r in 2 3; do
	scale=$(echo "0.8 1.6" | cut -d ' ' -f $((r - 1)))
	echo "INSERT INTO run (variant, pass, repeat, side, host, command, cpus, ncpus, start_ns, end_ns, position, status, why)
		SELECT variant, pass, $r, side, host, command, cpus, ncpus, start_ns, end_ns, position + $r, status, why
		FROM run WHERE repeat = 1;
	INSERT INTO series SELECT new.id, name, t_ns + 1000000 * $r, value * $scale FROM series JOIN run old ON old.id = series.run
		JOIN run new ON new.side = old.side AND new.repeat = $r WHERE old.repeat = 1;"
done | sqlite3 -bail cap/zcost.db
ok "plot timeline draws one chart" exits 0 "$zcost" plot cap timeline -o slides --format svg

# at PANEL RUN COLUMN: the column's cells of the chart's data.
at() {
	tsv '$at["panel"] == panel && $at["run"] == run { printf "%s%g", n++ ? " " : "", $at[want] }' \
		panel="$1" run="$2" want="$3" slides/timeline.tsv
}
squeezes="receiver: squeezes/s"
power="receiver: package power, W"
ok "the chart has each run's squeezes" is "0 16 64" at "$squeezes" 3 value
ok "the chart's strong line is the median of the runs" is "0 10 40" at "$squeezes" median value
ok "each run stands at its own times" is "1.002 2.002 3.002" at "$squeezes" 2 x
ok "the power of two packages of one source adds up, without their parts and other sources" is "81 81 81" at "$power" 1 value
ok "the throughput of a steady run is the same at every point in the window" is 10 sh -c \
	"awk -F '\t' '\$6 ~ /^receiver: throughput/ && \$8 == 1 && !seen[\$3]++ { print \$3 }' slides/timeline.tsv"
ok "throughput is drawn once, for the receiver" sh -c "! grep 'sender: throughput' slides/timeline.tsv"
ok "the subtitle explains pale and strong lines" says 'Pale: each run; strong: the median' slides/timeline.svg
ok "the foot note counts the runs" says 'n = 3 measured runs per variant, strong line: median' slides/timeline.svg
ok "the picture is XML" xmllint --noout slides/timeline.svg
ok "gnuplot draws the script without a complaint" sh -c \
	"cd slides && LC_ALL=C.UTF-8 gnuplot timeline.gp 2>&1 | wc -c | grep -x 0"

echo "UPDATE series SET value = 7 WHERE name = 'softnet_squeezed_per_s'" | sqlite3 cap/zcost.db
ok "plot timeline draws the chart again" exits 0 "$zcost" plot cap timeline -o slides --format svg
ok "a figure that never changes is named and not drawn" says 'not drawn: .*receiver squeezes/s .constant 7.' slides/timeline.svg

# A series of 200,000 points with one peak.
"$build/tests/tools/timed" "$zcost" plot cap timeline -o slides --format svg >long.used
echo "INSERT INTO series WITH RECURSIVE t(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM t WHERE i < 199999)
	SELECT id, 'tcp_socket_rtt_us', start_ns + i * 15000, CASE i WHEN 123456 THEN 900 ELSE 10 + i % 3 END
	FROM run, t WHERE side = 'receiver' AND repeat = 1" | sqlite3 -bail cap/zcost.db
"$build/tests/tools/timed" "$zcost" plot cap timeline -o slides --format svg >>long.used
rtt="receiver: rtt, µs"
ok "the pale line of a long series has its only peak" is 900 sh -c "printf '%s\n' $(at "$rtt" 1 value) | sort -n | tail -1"
ok "the pale line shows the peak when it was" is "1.85 900" awk -F '\t' -v panel="$rtt" \
	'$6 == panel && $8 == 1 && $3 == 900 { printf "%.2f %g", $2, $3 }' slides/timeline.tsv
ok "the strong line of a long series has the means" sh -c "printf '%s\n' $(at "$rtt" median value) | awk '\$1 < 10.9 || \$1 > 12.5 { exit 1 }'"
ok "a remark explains the lines of a long series" says 'Pale: the lowest and the highest reading of every 0.01 s; strong: the means' slides/timeline.svg
ok "plot timeline reads a long series in parts" \
	awk '{ print; peak[NR] = $3 } END { exit !(peak[2] < peak[1] + 25) }' long.used
"$zcost" report timeline cap --side receiver --verbose >long 2>&1
ok "report timeline counts the points of a long series" says 'receiver: 30 of 200213 rows' long
echo "DELETE FROM series WHERE name = 'tcp_socket_rtt_us'" | sqlite3 cap/zcost.db

echo "DELETE FROM series" | sqlite3 cap/zcost.db
ok "without any series the chart is not drawn, exit 1" exits 1 "$zcost" plot cap timeline -o none
ok "the message says that no figure over time changes" says 'not drawn: no figure changes over time' err
done_testing
