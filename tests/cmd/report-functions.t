#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost report: tables of costs on bare files, and its usage errors.
. "$(dirname "$0")/../lib.sh"

# A few rows as perf prints them; ns per packet at 8165032 packets/s are those of a published evaluation.
cat >report.txt <<'END'
# Samples: 119K of event 'cycles:ppp'
# Overhead  Command      Shared Object     Symbol
    34.33%  ksoftirqd/7  [mlx5_core]       [k] mlx5e_handle_rx_cqe
    10.36%  ksoftirqd/7  [kernel.vmlinux]  [k] __build_skb
     5.49%  ksoftirqd/7  [kernel.vmlinux]  [k] build_skb
     4.06%  ksoftirqd/7  bpf_prog_662b9ca  [k] bpf_prog_662b9cae761bf6ab
END

ns() { # ns SYMBOL FILE: one decimal, as printed there
	awk -F'\t' -v s="$1" 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		$c["symbol"] == s { printf "%.1f", $c["self_ns"] }' "$2"
}

ok "the text of perf report" exits 0 "$zcost" report functions --perf-report report.txt --rate 8165032 --format tsv
ok "ns of a function" test "$(ns mlx5e_handle_rx_cqe out)" = 42.0
ok "ns of another" test "$(ns __build_skb out)" = 12.7
ok "the binding columns" test "$(head -n 1 out)" = \
	"$(printf 'symbol\tdso\tsamples\tself_share\ttotal_share\tself_ns\tself_ns_ci\ttotal_ns\ttotal_ns_ci')"
ok "from standard input" sh -c "'$zcost' report functions --perf-report - --rate 8165032 <report.txt >out2 --format tsv"
ok "the same table" cmp out out2
ok "without a rate, exit 0" exits 0 "$zcost" report functions --perf-report report.txt --format csv
ok "costs are empty, not 0" says '^mlx5e_handle_rx_cqe,\[mlx5_core\],,34.33,,,,,$' out
ok "components of it" exits 0 "$zcost" report components --perf-report report.txt --rate 8165032
ok "a driver's share" says '^netdevice +34.33 +42.0' out
ok "json" sh -c "'$zcost' report components --perf-report report.txt --format json | jq -e '.rows | length == 3'"

printf '    %s\n' '4.00%  a  [kernel]  [k] one' '3.00%  a  [kernel]  [k] two' '2.00%  b  [kernel]  [k] two' >merge.txt
sed -n 2p report.txt | cat - merge.txt >commands.txt
ok "commands added up" exits 0 "$zcost" report functions --perf-report commands.txt --limit 1 --format csv
ok "are sorted again" says '^two,\[kernel\],,5,' out

sed 's/cycles:ppp/page-faults:u/' report.txt >faults.txt
for table in functions components; do
	exits 0 "$zcost" report $table --perf-report faults.txt --rate 1
	ok "$table: an event that counts no time is said" says 'page-faults:u counts no time' out
	exits 0 "$zcost" report $table --perf-report report.txt --rate 1
	ok "$table: cycles are not" sh -c '! grep -q "counts no time" out'
done

ok "an unknown table, exit 2" exits 2 "$zcost" report frobs --perf-report report.txt
ok "lists those that are" says 'functions components' err
ok "no capture and no file, exit 2" exits 2 "$zcost" report functions
ok "says what to give" says '--perf' err
ok "a bad unit, exit 2" exits 2 "$zcost" report components --perf-report report.txt --unit parsec --rate 1
ok "a bad --by, exit 2" exits 2 "$zcost" report components --perf-report report.txt --by colour
for table in functions components modules; do
	ok "$table of a text by --cpu, exit 2" exits 2 "$zcost" report $table --perf-report report.txt --rate 1 --cpu 0-3
	ok "says what can" says 'give the perf.data itself with --perf' err
	sed 's/ksoftirqd.7//; s/Command//' report.txt >nocomm.txt
	ok "and --comm without such a column" exits 2 "$zcost" report $table --perf-report nocomm.txt --comm iperf3
	ok "says what can" says 'no Command column.*--perf$' err
done
ok "contexts of a text, exit 2" exits 2 "$zcost" report contexts --perf-report report.txt
ok "says what can" says 'has no context; .*--perf$' err
ok "a bad rate, exit 2" exits 2 "$zcost" report functions --perf-report report.txt --rate -3
ok "a missing file, exit 1" exits 1 "$zcost" report functions --perf nofile
ok "named" says 'nofile' err
ok "a text as perf.data, exit 1" exits 1 "$zcost" report functions --perf report.txt
: >empty
ok "an empty file, exit 1" exits 1 "$zcost" report functions --perf empty
ok "a capture that is not there, exit 1" exits 1 "$zcost" report functions nowhere
ok "says so" says 'nowhere: no such capture' err
mkdir cap
ok "one that is not analyzed, exit 1" exits 1 "$zcost" report functions cap
ok "says what to run" says 'zcost analyze cap' err
printf 'mine | mlx5e_* *build_skb\n' >my.rules
ok "own rules" exits 0 "$zcost" report components --perf-report report.txt --components my.rules --format csv
ok "are used" says '^mine,,50.18' out
ok "the rest is unclassified" says '^unclassified,,4.06' out
echo 'no bar here' >bad.rules
ok "bad rules, exit 1" exits 1 "$zcost" report components --perf-report report.txt --components bad.rules
ok "file and line" says 'bad.rules:1' err
ok "a full disk is not success" sh -c "! '$zcost' report functions --perf-report report.txt >/dev/full"

done_testing
