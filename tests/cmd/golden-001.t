#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compares nanoseconds per packet from perf report's text with the tables of an evaluation of generic XDP
# (8165032 packets a second on one CPU), row by row. tests/data holds the share lists. The document is
# read as well when it is present.
. "$(dirname "$0")/../lib.sh"

data=$tests/data
report() { # report FILE SHARE-COLUMN: "symbol ns" lines, one decimal
	"$zcost" report functions --perf-report - --rate 8165032 --format tsv <"$1" 2>err >out.tsv || return
	tsv '{ printf "%s\t%.1f\n", $at["symbol"], $at[column] }' column="$2" out.tsv
}

# equal FILE COLUMN EXPECTED N: compares the first N rows of the report with the expected rows, in order.
equal() {
	report "$1" "$2" >got || { cat err; return 1; }
	[ "$(wc -l <"$3")" -eq "$4" ] || { echo "$3 does not have $4 rows"; return 1; }
	head -n "$4" got | diff "$3" -
}

ok "self costs of 34 functions equal the document's" equal "$data/xdp-self.txt" self_ns "$data/xdp-self.ns" 34
ok "the two functions that the document leaves out follow in order" sh -c 'tail -n +35 got | tr "\t\n" "  " | grep -qx "mlx5e_poll_tx_cq 0.1 __raise_softirq_irqoff 0.0 "'
ok "total costs of 34 functions equal the document's" \
	equal "$data/xdp-children.txt" total_ns "$data/xdp-children.ns" 34
ok "self share and total share of a function stand in one row" awk -F'\t' '$1 == "mlx5e_handle_rx_cqe" && $4 == 34.33 && $5 == 86.37 { found = 1 }
	END { exit !found }' out.tsv

"$zcost" report functions --perf-report "$data/xdp-self.txt" --rate 8165032 >text 2>err
ok "the text table prints costs with one decimal" says '^mlx5e_handle_rx_cqe .* 42\.0 ' text
ok "the sum of the self shares is 99.78 %, 122.2 ns" says '99\.78 %.*122\.2' text
"$zcost" report functions --perf-report "$data/xdp-self.txt" --rate 4574424 --format tsv >out.tsv 2>err
ok "34.33 % at 4574424 packets/s is 75.05 ns" awk -F'\t' '$1 == "mlx5e_handle_rx_cqe" && sprintf("%.2f", $6) == "75.05" { found = 1 }
	END { exit !found }' out.tsv

# --- differences of rates are differences of times ---

delta() { # delta RATE RATE: prints the time per packet at the second rate minus the time at the first
	"$zcost" report rates --rate "$1,$2" --format tsv | awk -F'\t' 'END { printf format, $3 }' format="${3:-%.2f}"
}
ok "the difference between 8413417 and 12006685 packets/s is -35.57 ns" test "$(delta 8413417 12006685)" = -35.57
ok "the difference between 8148972 and 12006685 packets/s is -39.428 ns" test "$(delta 8148972 12006685 %.3f)" = -39.428
ok "the difference between 19803663 and 12006685 packets/s is 32.79 ns" test "$(delta 19803663 12006685)" = 32.79
ok "100 Gbit/s in packets of 1536 bytes is 8138020 packets/s" \
	test "$("$zcost" report rates --rate 100Gbit/1536 --format tsv | awk -F'\t' 'END { print int($1) }')" = 8138020
ok "a packet at 8165032 packets/s takes 122.473 ns" \
	test "$("$zcost" report rates --rate 8165032 --format tsv | awk -F'\t' 'END { printf "%.3f", $2 }')" = 122.473
# Neither of build_skb and napi_gro_receive calls the other, so their total costs add up.
"$zcost" report functions --perf-report "$data/xdp-children.txt" --rate 8165032 --format tsv >out.tsv 2>err
ok "build_skb and napi_gro_receive together cost 59.8 ns" test "$(awk -F'\t' '$1 == "build_skb" || $1 == "napi_gro_receive" { s += $8 }
	END { printf "%.1f", s }' out.tsv)" = 59.8

# Shares of perf annotate are shares of the function's self cost.
inside() { # inside SHARE NS
	printf '%s%%  [k] line\n' "$1" | "$zcost" report functions --perf-report - --busy-ns "$2" --units 1 --format tsv 2>err |
		awk -F'\t' 'END { printf "%.1f", $6 }'
}
ok "56.23 % of 42.0 ns is 23.6 ns" test "$(inside 56.23 42.0)" = 23.6
ok "75.65 % of 12.7 ns is 9.6 ns" test "$(inside 75.65 12.7)" = 9.6

# --- perf stat ---

counter() { # counter NAME FORMAT [COLUMN]: prints a cell of out.tsv
	tsv '$at["name"] == name { printf format, $at[column] }' name="$1" format="$2" column="${3:-value}" out.tsv
}

"$zcost" report counters --perf-stat "$data/xdp-drop.stat" --format tsv >out.tsv 2>err
ok "the XDP drop test runs 2.01 instructions per cycle" is "$(counter ipc:k %.2f)" 2.01
ok "the XDP drop test has 17.337 % cache misses" is "$(counter cache_miss_pct:k %.3f)" 17.337
ok "running_pct equals perf stat's multiplexing share" is "$(counter counter:instructions:k %.2f running_pct)" 55.62
# +- 0.53 % over 4 runs is the standard error; Student's t for 3 degrees of freedom is 3.1824
ok "a spread of +- 0.53 % over 4 runs is an interval of +- 1.6867 %" near "$(awk -F'\t' '$3 ~ /L1-icache/ && $6 { print ($6 - $4) / $4 * 100; exit }' out.tsv)" 1.6867 0.0001
ok "a note says that the counters are means of the runs" says 'mean of the runs' err
"$zcost" report counters --perf-stat "$data/xdp-tx.stat" --format tsv >out.tsv 2>err
ok "the XDP transmit test runs 1.51 instructions per cycle" is "$(counter ipc:k %.2f)" 1.51
ok "the XDP transmit test has 10.930 % cache misses" is "$(counter cache_miss_pct:k %.3f)" 10.930

# rep stos: bytes cleared / cycles
memset() {
	while read -r bytes cycles expected; do
		printf '%s,,cycles,1,100.00,,\n' "$cycles" |
			"$zcost" report counters --perf-stat - --units "$bytes" --unit byte --format tsv >out.tsv 2>err ||
			return
		is "$(counter byte_per_cycles %.1f)" "$expected" || return
	done <"$data/memset.txt"
}
ok "the memset list has 16 sizes" is "$(wc -l <"$data/memset.txt")" 16
ok "bytes per cycle of each memset size equal the document's" memset

exits_with_line() {
	printf '# Overhead  Symbol\n 34.33%%  [k] a\n 3433%%  [k] b\n' |
		"$zcost" report functions --perf-report - >out 2>err && return 1
	says 'standard input, line 3' err
}
ok "the message about a share above 100 % names the line" exits_with_line
ok "an empty text exits 1" exits 1 "$zcost" report functions --perf-report /dev/null
ok "the message says that the text is empty" says 'empty' err

done_testing
