#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compares figures of published talks with captures made by hand.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"
need sqlite3

table() { # table NAME ARGUMENT...: writes a table as tsv into out
	"$zcost" report "$@" --format tsv >out 2>err
}
named() { # named NAME [FORMAT]: prints the value of a row of `out`
	tsv '$at["name"] == name { printf format, $at["value"]; exit }' name="$1" format="${2:-%d}" out
}
column() { # column NAME FORMAT: prints a cell of the first row
	tsv '{ printf format, $at[column]; exit }' column="$1" format="$2" out
}

# --- 253592 recvmsg calls by pages: 53698 below 512, 102476 below 1024, 97418 above ---

measure_run sizes devmem 1 receiver 1280000000 150
measure_run sizes devmem 1 sender 1280000000 150
d=sizes/runs/devmem/measure-01/receiver
{
	points 1280000000 65536 9 14
	pages=$(awk 'BEGIN { printf "%.0f", 253592 * 874.644 }')
	summary receiver 0 0 0 0 "$pages" "$pages" |
		sed 's/"calls":7/"calls":253592/; s/"recv_hist":{[^}]*}/"recv_hist":{"8":53698,"9":102476,"10":97418}/'
} >"$d/workload.out"
manifest sizes devmem devmem/measure/1/ok
"$zcost" analyze sizes >log 2>&1
table sizes sizes --side receiver
ok "report sizes has 97418 receives of 1024 pages and more" is "$(named recv_size_log2:10)" 97418
ok "97418 of 253592 receives are 38.42 %" is "$(named recv_pct_log2:10 %.2f)" 38.42
ok "53698 receives below 512 pages are 21.17 %" is "$(named recv_size_log2:8) $(named recv_pct_log2:8 %.2f)" '53698 21.17'
ok "the buckets add up to the receive calls" is "$(awk -F'\t' '$3 ~ /^recv_size/ { s += $4 } END { print s }' out)" 253592
ok "a receive has 874.644 pages on average" is "$(named bytes_per_receive %.3f)" 874.644

# 111714 returns have 1024 tokens and more. 97418 of them come from one receive alone.
{
	points 1280000000 65536 9 14
	summary receiver 0 0 0 0 1 1 | sed 's/"recv_hist"/"token_hist":{"8":53698,"9":102476,"10":97418},"return_hist":{"10":111714},&/'
} >"$d/workload.out"
"$zcost" analyze sizes >log 2>&1
table sizes sizes --side receiver
ok "87.20 % of the large returns come from one receive" is "$(named recv_per_return_pct_log2:10 %.2f)" 87.20
ok "38.42 % of the receives have 1024 tokens and more" is "$(named recv_tokens_pct_log2:10 %.2f)" 38.42
ok "a bucket without returns has no share of returns" is "$(named recv_per_return_pct_log2:9)" ""

# --- throughputs in the titles of slides ---

titles='118.47 111.95 139.46 190.06 128.77 74.39 131.25 92.42'
runs=
for g in $titles; do
	bytes=$(awk -v g="$g" 'BEGIN { printf "%.0f", g * 1e9 / 8 }')
	measure_run titles "v$g" 1 receiver "$bytes" 300
	measure_run titles "v$g" 1 sender "$bytes" 300
	runs="$runs v$g/measure/1/ok"
done
manifest titles "$(echo "$titles" | sed 's/[0-9][0-9.]*/v&/g')" $runs
"$zcost" analyze titles >log 2>&1
table summary titles --side receiver
ok "report summary has the throughput of eight variants" is "$(tsv '{ printf "%s%s %.2f", n++ ? " " : "", $at["variant"], $at["throughput_gbps"] }' out)" \
	"$(for g in $titles; do printf '%s ' "v$g $g"; done | sed 's/ $//')"

# --- the mean of the middle three of five runs ---

# throughput GBITS REPEAT
throughput() {
	bytes=$(awk -v g="$1" 'BEGIN { printf "%.0f", g * 1e9 / 8 }')
	measure_run five devmem "$2" receiver "$bytes" 300
	measure_run five devmem "$2" sender "$bytes" 300
}
throughput 90 1
throughput 118.41 2
throughput 118.55 3
throughput 118.45 4
throughput 150 5
manifest five devmem devmem/measure/1/ok devmem/measure/2/ok devmem/measure/3/ok devmem/measure/4/ok devmem/measure/5/ok
"$zcost" analyze five >log 2>&1
table summary five --side receiver --estimator middle
ok "--estimator middle drops the slowest and the fastest of five runs" is "$(column throughput_gbps %.2f)" 118.47
table roi five --side receiver --estimator middle
ok "roi_c with --estimator middle uses the middle three runs" near "$(column roi_c %.6f)" "$(awk 'BEGIN { print (118.41 ^ 2 + 118.55 ^ 2 + 118.45 ^ 2) / 300 }')" 0.01

# --- T^2/C: half the throughput on half the CPU has half the score ---

table roi --throughput 10 --cpu-pct 200
ok "roi_c of 10 Gbit/s on two CPUs is 0.5" is "$(column roi_c %.4f)" 0.5000
table roi --throughput 5 --cpu-pct 100
ok "roi_c of 5 Gbit/s on one CPU is 0.25" is "$(column roi_c %.4f)" 0.2500

# --- /proc/net/softnet_stat counts in hexadecimal: 00101ba7 packets are 1055655 ---

measure_run soft base 1 receiver 1280000000 150
measure_run soft base 1 sender 1280000000 150
d=soft/runs/base/measure-01/receiver
run_json "$d" base measure 1 receiver tcpzc \
	"$cpu_collector, {\"name\": \"softnet\", \"state\": \"ok\", \"why\": \"\", \"files\": [\"softnet.snap\"]}"
softnet() { # softnet CPU1: prints the lines of two CPUs; the side has CPU 1
	printf '0005c045 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n%s 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n' "$1"
}
{
	softnet 00000000 | snap 10000000000
	softnet 00101ba7 | snap 13000000000
} >"$d/softnet.snap"
manifest soft base base/measure/1/ok
"$zcost" analyze soft >log 2>&1
table softnet soft --side receiver
ok "00101ba7 in softnet_stat is 1055655 packets" is "$(named softnet_processed)" 1055655
ok "00000000 in softnet_stat is no drop" is "$(named softnet_dropped)" 0
done_testing
