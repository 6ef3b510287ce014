#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compares the tables and comparisons of the captures in samples/captures with those in tests/data/golden.
. "$(dirname "$0")/../lib.sh"
. "$tests/golden.sh"
need sqlite3

open_capture() {
	"$zcost" unpack "$top/samples/captures/$1.tar.zst" -o "$1" && "$zcost" analyze "$1"
}
ok "the captures in samples/captures are analyzed" eval 'open_capture mapped && open_capture copied'

for table in $tables; do
	case $table in
	functions) report mapped functions --limit 12 ;;
	*) report mapped $table ;;
	esac
done
power='--power-model idle=20,per_cpu=5'
report mapped runs
report mapped timeline --name 'throughput*' --limit 20
report mapped functions --by cpu,context --limit 4 --unit message --side receiver
report mapped functions --workload-only --by comm,cpu,context,module --limit 5 --side receiver
report mapped functions --from 0.2 --to 0.4 --limit 5
report mapped callers _copy_to_iter
report mapped callees tcp_recvmsg --limit 6
report mapped hotspots _copy_to_iter --limit 10
report mapped groups --group 'copy=_copy_to_iter,_copy_from_iter' --group 'memory=*page*,*folio*'
report mapped components --children --component-set basic --basis wall --side sender
report mapped components --workload-only --estimator mean --side receiver
report mapped components --system-load measured --unit message --side sender
report mapped summary --estimator middle $power
report mapped scores $power
report mapped roi $power --roi-n 1.5 --roi-m 0.5 --estimator mean
compare_all mapped baseline mmap
compare mapped baseline mmap $power --threshold 30 --estimator middle
for table in functions components syscalls; do
	compare mapped baseline mmap --table $table --side sender
done
compare mapped baseline mmap --table waterfall --by functions --limit 8
compare mapped baseline mmap --table functions --basis wall --unit message --limit 12
run compare baseline mmap -C mapped --format commit
run compare --self-test mapped --format csv
query mapped "SELECT $spelled, unit, count(*), printf('%.9g', sum(value)) FROM metric
	WHERE value <> 0 GROUP BY 1, 2"

for table in summary components syscalls zerocopy why limits sizes; do
	report copied $table
done
compare copied baseline zerocopy
compare copied baseline zerocopy --table functions --side sender
run compare baseline zerocopy -C copied --format commit
ok "the tables and comparisons of samples/captures are as in tests/data/golden" is_golden

titled() { # titled TABLE...
	for table; do
		"$zcost" report $table copied 2>/dev/null | grep -q '^NOT ZERO COPY: zerocopy sender' || { echo "$table: no title"; return 1; }
	done
}
ok "each table of figures says first that a variant fell back to copying" titled components contexts counters cpu functions idle irq limits \
	modules nic power roi sched scores sizes snmp softnet summary syscalls tcp
drawn() { # of either side: what the kernel copies for the sender costs the receiver, too
	"$zcost" plot copied -o charts --format svg components functions functions_sender waterfall flame flame-diff >/dev/null 2>&1
	rm -f charts/flame_baseline_*
	test "$(ls charts/*.svg | wc -l)" = 7 && test -z "$(grep -L 'fell back to copying' charts/*.svg)"
}
ok "each chart of either side says that a variant fell back to copying" drawn
# --workload-only: one cost for all tables, the CPU time of the workload's threads.
summary_cost() {
	"$zcost" report summary mapped --workload-only --variant "$1" --side receiver --format tsv 2>/dev/null | tsv '{ print $at["ns_per_kib"], 0.01 }'
}
ok "with --workload-only the rows of each table add up to the cost of summary" alone mapped baseline mmap summary_cost --side receiver

done_testing
