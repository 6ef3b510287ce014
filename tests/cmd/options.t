#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# An option that means nothing for a table is refused; names that are not there have one exit code.
. "$(dirname "$0")/../lib.sh"
. "$tests/world.sh"
. "$tests/capture.sh"
need_sqlite
world cap 6 $copying $mapping

refused() { # refused COMMAND...: exit 2, and the message names the option
	for last; do :; done
	exits 2 "$zcost" "$@" && says "means nothing for '.*' of .*; it goes with [a-z]" err && test ! -s out
}

# Every table there is: what belongs to a recording means nothing for a capture.
"$zcost" report --help >help
tables=$(sed -n '/^Tables:/,/^$/s/^  \([a-z_]*\) .*/\1/p' help)
for t in $tables; do
	case $t in
	hotspots) ok "$t: --vmlinux" refused report $t _copy_to_iter cap --vmlinux x ;;
	rates) ok "$t: --vmlinux" refused report $t --rate 1e6 --vmlinux x ;;
	groups) ok "$t: --vmlinux" refused report $t cap --group a=b --vmlinux x ;;
	*)
		"$zcost" report $t cap >out 2>err
		if [ $? = 2 ]; then
			ok "$t: --vmlinux" refused report $t --perf nowhere --vmlinux x
		else
			ok "$t: --vmlinux" refused report $t cap --vmlinux x
		fi
		;;
	esac
done
ok "CPUs of what is not split by them" refused report cpu cap --cpu 1
ok "rows of sockets that are added up" refused report tcp cap --by name --limit 3
ok "which single ones have" exits 0 "$zcost" report tcp cap --limit 3
ok "keys for what cannot be split" refused report sizes cap --by comm
ok "says which can be" says 'it goes with functions, components' err
ok "counts of a bare file, of a capture" refused report functions cap --cycles 1e9
ok "says of what" says 'it goes with a perf.data \(--perf\), a text' err
ok "CPUs of whole sides" refused report summary cap --cpu 1
ok "groups of another table" refused report functions cap --group a=b
ok "given numbers beside a capture" refused report roi cap --throughput 10
ok "runs of a bare file" refused report functions --perf nowhere --variant copying
ok "a capture of rates" exits 2 "$zcost" report rates cap --rate 10,20 --variant copying
ok "says what they are of" says "table 'rates' is made from given numbers, not from a capture" err
ok "a recording of rates" exits 2 "$zcost" report rates --perf nowhere --rate 10,20
ok "a variant of rates" refused report rates --rate 10,20 --variant copying
ok "a unit of rates" refused report rates --rate 1e6 --unit KiB
ok "the estimator of one recording" refused report functions --perf nowhere --estimator mean
ok "rows of whole figures" refused compare copying mapping -C cap --limit 3
ok "work of a capture" refused compare copying mapping -C cap --table functions --rate 1e6
ok "a waterfall by system calls takes no CPUs: those calls are not samples" refused compare copying mapping -C cap \
	--table waterfall --by syscalls --cpu 1
ok "a waterfall by functions takes CPUs" exits 0 "$zcost" compare copying mapping -C cap --table waterfall --by functions --cpu 1
ok "a self-test tests all its tables: --table is a usage error" exits 2 "$zcost" compare --self-test cap --table functions
ok "--children is for tables of costs" refused report summary cap --children
ok "--in is for tables of costs" refused report summary cap --in cycles
ok "rows of a self-test" refused compare --self-test cap --limit 3
ok "a gate of two files, which have no verdict" refused compare "$tests/data/xdp-drop.stat" x.txt \
	--table functions --fail-on worse
ok "runs of the whole store" refused export sql cap --variant copying
ok "samples of tables" refused export csv cap -o csv --cpu 1
# Charts: each that there is refuses what another one reads.
"$zcost" plot --list | awk '{ print $1 }' >charts
ok "there are charts" test "$(wc -l <charts)" -gt 5
for chart in $(cat charts); do
	case $chart in
	roi_p) option=--limit value=3 ;;
	*) option=--power-kind value=wall ;;
	esac
	ok "plot $chart: $option" refused plot cap $chart -o pictures $option $value
done
ok "rows of a chart of bars" refused plot cap cpu throughput -o pictures --limit 3
ok "which of them, and where it goes" says \
	"--limit means nothing for 'cpu', 'throughput' of a capture; it goes with functions, .*waterfall_sender" err
ok "the power's exponent, of CPU use" refused plot cap roi_c -o pictures --roi-m 2
ok "nothing was drawn" test ! -e pictures
plots() { exits 0 "$zcost" plot cap "$@" -o pictures --format svg && test -s pictures/functions.gp; }
if command -v gnuplot >/dev/null; then
	ok "one chart that reads it is enough" plots throughput functions --limit 3
	rm -r pictures
else
	skip "one chart that reads it is enough" "no gnuplot"
fi
ok "what means something is taken" exits 0 "$zcost" report functions cap --by cpu --comm tcpzc --cpu 1 --limit 2

# Numbers are read alike everywhere: all of the argument, finite, in their range.
number() { # number REFUSED COMMAND...
	value=$1
	shift
	exits 2 "$zcost" "$@" && says "'$value' is not a (whole )?number" err && test ! -s out
}
for bad in 0 -1 x inf nan 1e3x ''; do
	ok "an exponent of '$bad': report" number "$bad" report roi cap --roi-n "$bad"
	ok "  compare" number "$bad" compare copying mapping -C cap --roi-n "$bad"
	ok "  plot" number "$bad" plot cap -o pictures --roi-n "$bad"
done
for bad in 0 -1 2.5 1e3 x '' 99999999999999999999; do
	ok "'$bad' rows: report" number "$bad" report functions cap --limit "$bad"
	ok "  compare" number "$bad" compare copying mapping -C cap --table functions --limit "$bad"
	ok "  plot" number "$bad" plot cap -o pictures --limit "$bad"
	ok "'$bad' threads: export" number "$bad" export folded cap -j "$bad"
	ok "  analyze" number "$bad" analyze cap -j "$bad"
	ok "  pack" number "$bad" pack cap -j "$bad"
done
for bad in idle=inf,per_cpu=1 idle=1,per_cpu=-1 idle=1 idle=1,per_cpu=2x; do
	for command in "report roi cap" "compare copying mapping -C cap" "plot cap -o pictures"; do
		ok "a model of $bad: ${command%% *}" exits 2 "$zcost" $command --power-model $bad
		ok "  says so" says "'$bad' is not idle=WATTS,per_cpu=WATTS" err
	done
done
ok "no threshold is one" exits 0 "$zcost" compare copying mapping -C cap --threshold 0
ok "  less is none" number -1 compare copying mapping -C cap --threshold -1

# --- names that are not there: 1 when it is the data that lacks them, 2 when nothing could have them ---

report() { "$zcost" report "$@"; }
for t in summary runs functions syscalls counters roi scores irq snmp; do
	ok "$t of no variant" exits 1 report $t cap --variant nosuch
	ok "  of no side" exits 1 report $t cap --side nosuch
	ok "  of no run" exits 1 report $t cap --run 99
done
for t in functions components contexts modules; do
	ok "$t of no command" exits 1 report $t cap --comm nosuch
	ok "  is said" says "table '$t' has no row: nothing matches --comm nosuch" err
	ok "  of no object" exits 1 report $t cap --dso nosuch
	ok "  of no function" exits 1 report $t cap --symbol nosuch
	ok "  of no CPU" exits 1 report $t cap --cpu 7
	ok "  of no event" exits 1 report $t cap --event nosuch
	ok "  by no key" exits 2 report $t cap --by nosuch
	ok "  of no unit" exits 2 report $t cap --unit nosuch
done
ok "calls of no command" exits 1 report syscalls cap --comm nosuch
ok "instructions of no function" exits 1 report hotspots nosuch cap
ok "no estimator" exits 2 report summary cap --estimator nosuch
ok "no table" exits 2 report nosuch cap
ok "no format" exits 2 report summary cap --format nosuch
ok "no option" exits 2 report summary cap --nosuch
ok "no capture" exits 1 report summary nowhere
ok "no file" exits 1 report functions --perf nowhere
compare() { "$zcost" compare "$@"; }
ok "compare with no variant" exits 1 compare copying nosuch -C cap
ok "  of no side" exits 1 compare copying mapping -C cap --table functions --side nosuch
ok "  of no command" exits 1 compare copying mapping -C cap --table functions --comm nosuch
ok "  of no table" exits 2 compare copying mapping -C cap --table nosuch
ok "  of no unit" exits 2 compare copying mapping -C cap --table functions --unit nosuch
ok "export of no variant" exits 1 "$zcost" export folded cap --variant nosuch
ok "  of no command" exits 1 "$zcost" export folded cap --comm nosuch
ok "  of no table" exits 2 "$zcost" export csv cap --table nosuch
ok "  of no format" exits 2 "$zcost" export nosuch cap
ok "plot of no variant" exits 1 "$zcost" plot cap -o x --base nosuch
ok "  of no chart" exits 2 "$zcost" plot cap nosuch -o x
# --- what else was passed over ---

twice() { # COMMAND...: the first --variant would be passed over
	exits 2 "$@" && says "--variant 'mapping': 'copying' is given already; one glob takes several" err
}
ok "report of two --variant" twice "$zcost" report cpu cap --variant copying --variant mapping
ok "plot of two" twice "$zcost" plot cap -o x --variant copying --variant mapping
ok "the way out" sh -c "'$zcost' report cpu cap --variant '[cm]*' | grep -q copying"

cp -r cap lost
sqlite3 lost/zcost.db "INSERT INTO note SELECT id, 'lossy', 'perf_lost', '[0.0, 7.0]' FROM run WHERE pass = 'profile' AND repeat = 1"
ok "the summary's cost of copying bears the profile's losses, exit 4" exits 4 "$zcost" report summary lost
ok "which are said" says 'lossy: copying receiver, mapping receiver .2 of 12 runs.: perf lost 0 records and 7 samples' out
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	measure_run other one 1 receiver 1280000000 150
	manifest other one one/measure/1/ok
	chmod 755 . other
	user() { setpriv --reuid 65534 --regid 65534 --clear-groups -- "$@"; }
	if user "$zcost" analyze --help >/dev/null 2>&1; then
		user "$zcost" analyze other >out 2>err
		ok "a folder of somebody else's" says 'other/zcost.db: cannot be written, the folder other says: Permission denied' err
		ok "and the way out" says 'analyze as its owner or as root, make it writable, or analyze a copy' err
	else
		skip "a folder of somebody else's" "another user cannot run $zcost"
	fi
else
	skip "a folder of somebody else's" "needs root, and setpriv"
fi
done_testing
