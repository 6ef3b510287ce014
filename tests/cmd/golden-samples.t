#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compares the tables and comparisons of the captures in samples/captures with those in tests/data/golden.
. "$(dirname "$0")/../lib.sh"
. "$tests/golden.sh"
need sqlite3

ok "make try explains the captures in samples/captures" exits 0 env -u DISPLAY -u WAYLAND_DISPLAY sh "$top/samples/try.sh" "$zcost" try
for c in mapped copied; do
	ok "  with a page and charts of $c" test -s try/$c.html -a -s try/$c-charts/components.svg -a -s try/$c/zcost.db
	mv try/$c .
done

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

every_row() { # --all wins over --limit
	for table in $tables queues timeline waits; do
		"$zcost" report $table mapped --all --limit 1 --format csv >limited 2>err
		[ $? != 2 ] || continue # the table takes no --limit
		"$zcost" report $table mapped --all --format csv 2>err | cmp - limited || { echo "$table" && return 1; }
	done
	for table in functions components waterfall; do
		"$zcost" compare baseline mmap -C mapped --table $table --all --limit 1 --format csv >limited
		"$zcost" compare baseline mmap -C mapped --table $table --all --format csv | cmp - limited || return 1
	done
}
ok "--all prints every row of each table, also with --limit" every_row
exits 0 "$zcost" report drops mapped --width 0
ok "report drops says why a dropped packet has no CPU time" says \
	'not measured: cpu_us [(]no run of the syscalls pass timed a dropped packet[)]$' out

elsewhere() { # a capture explains itself: no symbols, kernel or programs of this host
	for words in 'analyze mapped' 'report functions mapped' 'report hotspots _copy_to_iter mapped'; do
		strace -f -e trace=open,openat,readlink -o opened "$zcost" $words >out 2>err
		grep -q 'mapped/.*zcost.db' opened || { cat err && return 1; }
		! grep -E '"(/proc/(kallsyms|kcore|modules|sys/kernel)|/sys/kernel/notes|/lib/modules|/usr/lib/debug|/boot|/usr/s?bin/|/root/.debug)' opened || return 1
	done
}
if strace true 2>strace.err; then
	ok "analyze and report open no symbols of this host" elsewhere
else
	skip "analyze and report open no symbols of this host" "$(head -n 1 strace.err)"
fi

whole() { # the frame's time that no sample saw is in both texts
	set -- mapped --variant baseline --side receiver
	"$zcost" export folded "$@" 2>err | awk '{ n += $NF } END { printf "%.0f\n", n }' >folded
	"$zcost" export perf-script "$@" 2>err | awk '/^[^[:space:]]/ { n += $(NF - 1) } END { printf "%.0f\n", n }' >script
	[ "$(cat folded)" -gt 1000000000 ] && is "$(cat script)" "$(cat folded)"
}
ok "the periods of perf-script add up to the time of folded" whole

# The packed costs of a run, and the rows of table cost that they stand for.
costs() { # costs FILE
	for table in 'functions --all' 'components --by comm,cpu,context' 'callers _copy_to_iter'; do
		"$zcost" report $table mapped --format tsv || return 1
	done >"$1" 2>/dev/null
}
packed() { sqlite3 mapped/zcost.db "$1; SELECT COUNT(*) FROM packed"; }
ok "each run with samples has packed costs" is "$(packed 'SELECT COUNT(DISTINCT run) FROM cost' | uniq | wc -l)" 1
ok "tables are made from packed costs" costs from_packed
before=$(packed 'SELECT 1' | tail -n 1)
ok "a change of a row drops the packed costs of its run" is \
	"$(packed 'UPDATE cost SET weight = weight WHERE rowid = (SELECT MIN(rowid) FROM cost)')" "$((before - 1))"
ok "  and its deletion or a new row does, too" is "$(packed 'DELETE FROM cost WHERE rowid = (SELECT MAX(rowid) FROM cost)')" "$((before - 2))"
"$zcost" analyze mapped >log 2>&1
packed 'DELETE FROM packed' >log
ok "the rows of table cost give the same tables" eval 'costs from_rows && cmp from_packed from_rows'
for text in z @ 'a@@@@@@@@@' 'oooooooooooooooo@'; do
	packed "INSERT OR REPLACE INTO packed SELECT DISTINCT run, '$text' FROM cost" >log
	ok "damaged packed costs '$text' fail with the name of the store" eval \
		'! "$zcost" report functions mapped >out 2>err && ! [ -s out ] && grep -q "mapped/zcost.db.*damaged" err'
done
"$zcost" analyze mapped >log 2>&1

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
