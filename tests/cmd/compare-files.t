#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost compare of files: two perf.data, or two texts of perf report, one run each.
. "$(dirname "$0")/../lib.sh"
. "$tests/golden.sh"

cp "$tests/data/xdp-self.txt" drop.txt
cp "$tests/data/xdp-tx.txt" tx.txt

compared() { # as tsv, into out
	"$zcost" compare --format tsv "$@" >out 2>err
}

field() { tsv '$1 == key { print $at[column] }' key="$1" column="$2" "${3:-out}"; }

sum() { tsv '{ s += $at[column] } END { printf "%.9f", s }' column="$1" out; }

ok "compare reads two texts of perf report" exits 0 "$zcost" compare drop.txt tx.txt --rate 8165032,7000000 --format tsv
"$zcost" report functions --perf-report drop.txt --rate 8165032 --format tsv >drop.tsv 2>/dev/null
"$zcost" report functions --perf-report tx.txt --rate 7000000 --format tsv >tx.tsv 2>/dev/null
for f in mlx5e_handle_rx_cqe __build_skb build_skb; do
	ok "$f has the base cost of zcost report" near "$(field $f base_ns)" "$(field $f self_ns drop.tsv)" 1e-6
	ok "$f has the new cost of zcost report" near "$(field $f new_ns)" "$(field $f self_ns tx.tsv)" 1e-6
done
compared drop.txt tx.txt --rate 1e6
ok "a single rate applies to both texts" near "$(field __build_skb base_ns)" "$(awk -v x="$(field __build_skb self_ns drop.tsv)" 'BEGIN { print x * 8.165032 }')" 1e-3
run compare drop.txt tx.txt --units 1e6,2e6 --busy-ns 1e8 --table components --format csv
ok "compare --format commit reads two texts" exits 0 "$zcost" compare drop.txt tx.txt --rate 8165032,7000000 --format commit
ok "the commit message of two texts has at most 72 columns" awk 'length > 72 { bad = 1 } END { exit bad }' out
ok "the commit message says that each end has one run" says '^too few runs to test' out

run compare drop.txt tx.txt
run compare drop.txt tx.txt --rate 1e6,x
run compare drop.txt tx.txt --rate 1e6,0
run compare drop.txt tx.txt --rate 1e6 --side sender
run compare drop.txt tx.txt --rate 1e6 --table metrics
run compare drop.txt tx.txt --rate 1e6 --table syscalls
run compare drop.txt tx.txt --rate 1e6 --table contexts
echo "no table of shares" >prose.txt
run compare prose.txt tx.txt --rate 1e6

"$build/tests/tools/perfdata_gen" 20000 perf.data >/dev/null
compared perf.data perf.data --rate 1e6,2e6
ok "compare reads the same perf.data at two rates" near "$(sum new_ns)" "$(awk -v x="$(sum base_ns)" 'BEGIN { print x / 2 }')" 1e-3
for by in components contexts modules; do
	compared perf.data perf.data --rate 1e6 --table $by
	ok "--table $by of the same perf.data has no difference of shares" sh -c "test $(wc -l <out) -gt 2 && awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[\$i] = i; next } \$at[\"delta_ns\"] != 0 { exit 1 }' out"
done
compared perf.data perf.data --rate 1e6,2e6 --cpu 0
ok "--cpu compares the samples of one CPU" near "$(sum base_ns)" 1000 1e-3
compared perf.data perf.data --rate 1e6,2e6 --cpu 4000
ok "a CPU without samples is named" says 'perf.data has no samples of the CPUs in --cpu$' err
ok "compare reads a perf.data and a text" exits 0 "$zcost" compare perf.data tx.txt --rate 1e6

# The folder of perf record --threads, and rates as report takes them.
mkdir threads.data
cp perf.data threads.data/data
"$zcost" compare perf.data perf.data --rate 1M,2M --format tsv >plain 2>err
ok "a folder of perf record --threads gives the figures of its file" sh -c "'$zcost' compare threads.data threads.data --rate 1000k,2e6 --format tsv >out 2>err && cmp plain out"
ok "the figures of the file are not empty" test -s plain
run compare perf.data perf.data --rate 1X
run compare perf.data perf.data --rate 1,2,3

mkfifo fifo
ok "compare does not wait for the writer of a FIFO" exits 1 timeout 120 "$zcost" compare fifo drop.txt

for table in functions components modules waterfall; do
	run compare drop.txt tx.txt --rate 8165032,7000000 --table $table --format csv --verbose
done
run compare drop.txt tx.txt --units 1e6,2e6 --busy-ns 1e8 --limit 5
run compare drop.txt tx.txt --rate 1e6 --format commit
run compare drop.txt tx.txt --rate 1e6 --limit 3 --format commit
run compare drop.txt tx.txt --rate 1e6 --all --format commit
ok "comparisons of files are as in tests/data/golden/$golden.txt" is_golden
done_testing
