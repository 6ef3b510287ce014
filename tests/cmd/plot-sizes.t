#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost plot sizes, latency, idle, counters: distributions and counters as the reports have them.
. "$(dirname "$0")/../lib.sh"
. "$tests/plot.sh"

make_capture cap || { cat analyze.log; exit 1; }

# put SIDE VARIANT NAME=VALUE...: metrics of all measured runs of the variant.
put() {
	where="variant = '$2' AND side = '$1' AND pass = 'measure'"
	shift 2
	for m; do
		echo "INSERT OR REPLACE INTO metric (run, name, unit, value) SELECT id, '${m%=*}', '1', ${m#*=} FROM run WHERE $where;"
	done
	echo "$typed;"
}
{
	echo "DELETE FROM metric WHERE name = 'recv_size_log2';"
	put receiver baseline recv_size_log2:10=30 recv_size_log2:12=70 hist:batch:log2:3=5
	put receiver mmap recv_size_log2:12=25 recv_size_log2:16=75
	put sender baseline hist:latency_ns:p50=20000 hist:latency_ns:p90=40000 hist:latency_ns:p99=800000 hist:latency_ns:p999=900000 \
		hist:latency_ns:max=1000000
	echo "INSERT INTO note SELECT id, 'warning', 'cpu_others', json_array(50.0) FROM run WHERE variant = 'mmap' AND side = 'receiver' AND pass = 'measure';"
	for v in baseline mmap; do put receiver $v 'cstate_pct:1 C1=10' 'cstate_pct:3 C6=20' cpu_idle_pct=35 cpu_iowait_pct=5; done
} | sqlite3 -bail cap/zcost.db
ok "plot draws the distributions and counters" exits 0 "$zcost" plot cap sizes latency idle counters -o slides --format svg
ok "latency has a caption about the work of other programs" says 'other programs took 50 % of the side' slides/latency.gp
ok "sizes, which the workload counts, have no caption about the work of other programs" sh -c "! grep 'other programs' slides/sizes.gp"
report() { "$zcost" report "$@" --format tsv 2>/dev/null; }
report sizes cap >sizes.tsv
report scores cap >scores.tsv
report idle cap >idle.tsv

# at FILE PANEL VARIANT COLUMN
at() {
	tsv '$at["panel"] == panel && $at["variant"] == variant { printf "%s%g", n++ ? " " : "", $at[want] }' \
		panel="$2" variant="$3" want="$4" "slides/$1.tsv"
}
bytes="receiver: receives by bytes, %"
ok "a size's share is that of the report, and 0 at sizes that did not occur" test "$(at sizes "$bytes" baseline value)" = "0 30 0 70 0 0 0 0 0"
ok "the lines of all variants have the same sizes, powers of two" test \
	"$(at sizes "$bytes" mmap x) $(at sizes "$bytes" baseline x)" = "512 1024 2048 4096 8192 16384 32768 65536 131072 512 1024 2048 4096 8192 16384 32768 65536 131072"
ok "the report has the share of batches" test "$(cells sizes.tsv value name=batch_pct_log2:3 variant=baseline)" = 100
ok "latency is drawn by percentile, in microseconds" test \
	"$(at latency 'sender: latency of a request, µs' baseline value)" = "20 40 800 900 1000"
ok "the legend of latency has the variant with a line" says '^text[0-9]+ = .baseline.' slides/latency.gp
ok "the legend of latency has no variant without a line" sh -c "! grep -q '^text[0-9]* = .mmap.$' slides/latency.gp"
ok "latency has a log axis" says 'set logscale y' slides/latency.gp
ok "a percentile's label is no format of gnuplot" says '^tick3 = "99.9 %%"' slides/latency.gp
ok "the parts of idle time are the states, and what no state accounts for" test \
	"$(cells slides/idle.tsv value variant=mmap side=receiver part=C1) $(cells slides/idle.tsv value variant=mmap side=receiver part=C6) \
$(cells slides/idle.tsv value variant=mmap side=receiver part=idle~outside~the~states)" = "10 20 10"
ok "idle time has the interval of busy time the other way round" test "$(tsv 'FNR > 1 && $at["variant"] == "mmap" && $at["side"] == "receiver" && $at["state"] == "busy" && $at["cpu"] == "all" {
		printf "%.6g", $at["time_pct_hi"] - $at["time_pct_lo"] }' idle.tsv)" = "$(tsv '$at["variant"] == "mmap" && $at["side"] == "receiver" && $at["lo"] != "" { printf "%.6g", $at["hi"] - $at["lo"] }' slides/idle.tsv)"
base=$(cells scores.tsv value variant=baseline side=receiver score=ns_per_kib)
new=$(cells scores.tsv value variant=mmap side=receiver score=ns_per_kib)
ok "a counter is drawn in percent of the base" near "$(cells slides/counters.tsv value variant=mmap counter=receiver:~ns_per_kib)" \
	"$(awk "BEGIN { print 100 * $new / $base }")" 1e-6
ok "beside it is the figure of report scores" near "$(cells slides/counters.tsv score variant=mmap counter=receiver:~ns_per_kib)" "$new" 1e-6
ok "the total is drawn only where it is asked for" sh -c "! grep -q 'total: ' slides/counters.tsv"
ok "each counter has its name in words and its unit" says "receiver: CPU time, ns/KiB" slides/counters.gp
for c in sizes latency idle counters; do
	ok "$c.svg is XML" xmllint --noout slides/$c.svg
done
ok "bars are whole where none is long" sh -c "! grep -q 'Longer bars' slides/counters.gp"
sqlite3 cap/zcost.db "UPDATE metric SET value = 20 * value WHERE name = 'cpu_pct' AND run IN (SELECT id FROM run WHERE variant = 'mmap' AND side = 'receiver')"
"$zcost" plot cap counters -o long --format svg >out 2>err
ok "a bar of more than 500 % ends at 300 %" says '^reach = 300$' long/counters.gp
ok "a remark says where long bars end" says 'Longer bars and whiskers end at 300 %; the numbers are whole' long/counters.gp
ok "the number of a long bar is whole" test "$(cells long/counters.tsv value variant=mmap counter=receiver:~ns_per_kib | cut -d. -f1)" -gt 500
sqlite3 cap/zcost.db "DELETE FROM metric WHERE name = 'hist' AND object LIKE 'latency%'"
ok "without times of requests or notifications latency is not drawn, exit 1" exits 1 "$zcost" plot cap latency -o none
ok "the message says that no workload reported them" says 'no workload reported the times of requests or notifications' err
done_testing
