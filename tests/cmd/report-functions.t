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
	tsv '$at["symbol"] == s { printf "%.1f", $at["self_ns"] }' s="$1" "$2"
}

ok "report functions reads the text of perf report" exits 0 "$zcost" report functions --perf-report report.txt --rate 8165032 --format tsv
ok "a function has its cost in ns" test "$(ns mlx5e_handle_rx_cqe out)" = 42.0
ok "another function has its cost in ns" test "$(ns __build_skb out)" = 12.7
ok "the table has the documented columns" test "$(head -n 1 out)" = \
	"$(printf 'symbol\tdso\tsamples\tself_share\ttotal_share\tself_ns\tself_ns_ci\ttotal_ns\ttotal_ns_ci\tself_sampling_error\ttotal_sampling_error')"
ok "report functions reads standard input" sh -c "'$zcost' report functions --perf-report - --rate 8165032 <report.txt >out2 --format tsv"
ok "standard input gives the same table as a file" cmp out out2
ok "report functions without a rate exits 0" exits 0 "$zcost" report functions --perf-report report.txt --format csv
ok "costs without a rate are empty, not 0" says '^mlx5e_handle_rx_cqe,\[mlx5_core\],,34.33,,,,,,,,0.2697708499,$' out
ok "report components reads the text of perf report" exits 0 "$zcost" report components --perf-report report.txt --rate 8165032
ok "a driver has its share among the components" says '^netdevice +34.33 +42.0' out
ok "report functions writes JSON" sh -c "'$zcost' report components --perf-report report.txt --format json | jq -e '.rows | length == 3'"

printf '    %s\n' '4.00%  a  [kernel]  [k] one' '3.00%  a  [kernel]  [k] two' '2.00%  b  [kernel]  [k] two' >merge.txt
sed -n 2p report.txt | cat - merge.txt >commands.txt
ok "the rows of several commands add up" exits 0 "$zcost" report functions --perf-report commands.txt --limit 1 --format csv
ok "rows that were added up are sorted again" says '^two,\[kernel\],,5,' out

sed 's/cycles:ppp/page-faults:u/' report.txt >faults.txt
for table in functions components; do
	exits 0 "$zcost" report $table --perf-report faults.txt --rate 1
	ok "$table: a note names an event that does not sample time" says 'page-faults:u counts no time' out
	exits 0 "$zcost" report $table --perf-report report.txt --rate 1
	ok "$table: no note names cycles" sh -c '! grep -q "counts no time" out'
done

ok "an unknown table is a usage error" exits 2 "$zcost" report frobs --perf-report report.txt
ok "the message names the command that lists the tables" says "no table 'frobs'; 'zcost report --help' lists the tables" err
ok "a table without a source is a usage error" exits 2 "$zcost" report functions
ok "the message names the sources" says '--perf' err
ok "an unknown unit is a usage error" exits 2 "$zcost" report components --perf-report report.txt --unit parsec --rate 1
ok "an unknown --by key is a usage error" exits 2 "$zcost" report components --perf-report report.txt --by colour
for table in functions components modules; do
	ok "$table of a text with --cpu is a usage error" exits 2 "$zcost" report $table --perf-report report.txt --rate 1 --cpu 0-3
	ok "the message says to use --perf" says 'give the perf.data itself with --perf' err
	sed 's/ksoftirqd.7//; s/Command//' report.txt >nocomm.txt
	ok "--comm with a text without commands is a usage error" exits 2 "$zcost" report $table --perf-report nocomm.txt --comm iperf3
	ok "the message says how to make a text with commands" says 'no Command column.*--sort comm,dso,symbol$' err
done
ok "contexts of a text are a usage error" exits 2 "$zcost" report contexts --perf-report report.txt
ok "the message says to use --perf for contexts" says 'has no context; .*--perf$' err
ok "a wrong rate is a usage error" exits 2 "$zcost" report functions --perf-report report.txt --rate -3
ok "a missing file exits 1" exits 1 "$zcost" report functions --perf nofile
ok "the message names the missing file" says 'nofile' err
ok "a text as perf.data exits 1" exits 1 "$zcost" report functions --perf report.txt
: >empty
ok "an empty file exits 1" exits 1 "$zcost" report functions --perf empty
ok "a missing capture exits 1" exits 1 "$zcost" report functions nowhere
ok "the message says that there is no such capture" says 'nowhere: no such capture' err
mkdir -p cap/runs
ok "a capture without a store exits 1" exits 1 "$zcost" report functions cap
ok "the message names the command that analyzes the capture" says 'zcost analyze cap' err
printf 'mine | mlx5e_* *build_skb\n' >my.rules
ok "--components reads a file of rules" exits 0 "$zcost" report components --perf-report report.txt --components my.rules --format csv
ok "the rules of the file name the components" says '^mine,,50.18' out
ok "functions without a rule are unclassified" says '^unclassified,,4.06' out
echo 'no bar here' >bad.rules
ok "a file with a wrong rule exits 1" exits 1 "$zcost" report components --perf-report report.txt --components bad.rules
ok "the message names the file and the line of the wrong rule" says 'bad.rules:1' err
ok "a full disk is a failure" sh -c "! '$zcost' report functions --perf-report report.txt >/dev/full"

done_testing
