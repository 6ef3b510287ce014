#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A table refuses an option that it does not use. Unknown names have the same exit code in every command.
. "$(dirname "$0")/../lib.sh"
. "$tests/world.sh"
. "$tests/capture.sh"
need sqlite3
world cap 6 $copying $mapping

refused() { # refused COMMAND...: the command exits 2 and its message names the option
	for last; do :; done
	exits 2 "$zcost" "$@" && says "does not apply to '.*' of .*; it applies to [a-z]" err && test ! -s out
}

ok "an unknown option is a usage error" exits 2 "$zcost" report functions cap --limt
ok "the message names the option and --help" says "unrecognized option '--limt'" err
ok "the argument of an option may begin with a dash" sh -c '"$1" report functions cap --comm --bar 2>&1 | grep -q "nothing matches --comm --bar"' - "$zcost"
ok "an option may be cut where no other begins alike" exits 0 "$zcost" report functions cap --lim 3
ok "words behind -- are no options" exits 1 "$zcost" unpack -- --bar

# Options for a recording are refused for a capture, in every table.
"$zcost" report --help >help
tables=$(sed -n '/^Tables:/,/^$/s/^  \([a-z_]*\) .*/\1/p' help)
for t in $tables; do
	case $t in
	callers | callees | hotspots) ok "report $t refuses --vmlinux for a capture" refused report $t _copy_to_iter cap --vmlinux x ;;
	rates) ok "report $t refuses --vmlinux" refused report $t --rate 1e6 --vmlinux x ;;
	groups) ok "report $t refuses --vmlinux for a capture" refused report $t cap --group a=b --vmlinux x ;;
	*)
		"$zcost" report $t cap >out 2>err
		if [ $? = 2 ]; then
			ok "report $t refuses --vmlinux for a perf.data file" refused report $t --perf nowhere --vmlinux x
		else
			ok "report $t refuses --vmlinux for a capture" refused report $t cap --vmlinux x
		fi
		;;
	esac
done
ok "report cpu refuses --cpu" refused report cpu cap --cpu 1
ok "report refuses an adapter as the number of units" exits 2 "$zcost" report summary cap --units nic:veth0
ok "the message names the command that takes an adapter" says "'nic:veth0' says how work is counted: zcost analyze CAPTURE --units nic:veth0;" err
ok "report tcp takes --limit" exits 0 "$zcost" report tcp cap --limit 3
ok "report tcp refuses --estimator: a row is a socket of one run" refused report tcp cap --estimator mean
whole() { # whole COMMAND...: the command exits 2 and says why no figure is of the workload alone
	exits 2 "$zcost" "$@" && says "^zcost [a-z]*: --workload-only: '[a-z_]*' has no figure of the workload alone: [a-z]" err && test ! -s out
}
for t in counters power idle softnet drops batches irq virt nic queues pools snmp sockstat passes limits runs host topology variants 'hotspots _copy_to_iter'; do
	ok "report ${t%% *} refuses --workload-only and says why" whole report $t cap --workload-only
done
own() { # own COMMAND...: the command takes --workload-only
	"$zcost" "$@" --workload-only >out 2>err
	case $? in 0 | 4) ;; *) cat err && false ;; esac
}
for t in cpu 'cpu --by comm' syscalls zerocopy tcp sched sizes timeline; do
	ok "report $t takes --workload-only" own report ${t%% *} cap ${t#"${t%% *}"}
done
ok "compare --table syscalls takes --workload-only" own compare copying mapping -C cap --table syscalls
ok "compare --self-test takes --workload-only" own compare --self-test cap
ok "report refuses a load of all programs with --workload-only" exits 2 "$zcost" report modules cap --workload-only --system-load 20
ok "compare --table settings refuses --workload-only and says why" whole compare copying mapping -C cap --table settings --workload-only
ok "report sizes refuses --by" refused report sizes cap --by comm
ok "the message names the tables that take --by" says 'it applies to functions, components' err
ok "report functions refuses --cycles for a capture" refused report functions cap --cycles 1e9
ok "the message names the sources that take --cycles" says 'it applies to a perf.data \(--perf\), a text' err
for table in functions components 'callers main' 'hotspots main'; do
	ok "report $table refuses --rate for a capture, which has its measured rate" refused report $table cap --rate 100
done
ok "the message names the source that takes --rate" says 'it applies to a perf.data \(--perf\); for a capture: omit --rate, costs use the measured rate' err
# Arguments in the wrong order, and typing errors, end with the command to type.
advises() { # MESSAGE COMMAND...
	message=$1
	shift
	exits 2 "$zcost" "$@" && says "$message" err
}
ok "plot of two charts refuses --workload-only with both reasons" advises \
	"'idle' has no figure.*an idle state is .*; 'roi_p' has .*power is that of the host" plot cap idle roi_p -o pictures --workload-only
ok "report callers without a function names its place" advises \
	'callers needs a FUNCTION before the capture: zcost report callers _copy_to_iter cap$' report callers cap
ok "report of a capture without a table names the table's place" advises \
	"'cap' is a capture; the table comes first: zcost report summary cap$" report cap
ok "export of a capture before the format names the format's place" advises \
	"'cap' is a capture; the format comes first: zcost export folded cap$" export cap folded
ok "compare of a capture without -C names -C" advises \
	'the capture goes with -C: zcost compare copying mapping -C cap$' compare copying mapping cap
ok "export folded-diff of a capture without -C names -C" advises \
	'give BASE and NEW, and the capture with -C$' export folded-diff copying mapping cap
ok "an option before the command is refused with its place" advises 'options come after the command' -f csv report summary cap
ok "a typing error in a table names the table" advises "no table 'sumary'; did you mean summary[?] 'zcost report --help' lists the tables$" report sumary cap
ok "a typing error in a command names the command" advises "unknown command 'anlyze'; did you mean analyze[?]" anlyze cap
ok "the start of a table's name names the table" advises "no table 'func'; did you mean functions[?]" report func cap
ok "a typing error in a side exits 1" exits 1 "$zcost" report summary cap --side reciever
ok "the message names the side" says "no side 'reciever'; did you mean receiver[?]" err
ok "a word that resembles no table gets no suggestion" sh -c '! "$1" report zzz cap 2>&1 | grep "did you mean"' - "$zcost"
ok "report limits, which has no interval, names only the estimator" sh -c '"$1" report limits cap --verbose 2>&1 | grep "over the runs: median$"' - "$zcost"
ok "report functions takes a --symbol that only one variant has" exits 0 "$zcost" report functions cap --symbol insert_page --verbose
ok "a note names the variant and sides without the symbol" says '^# copying receiver(, copying sender)?: no sample matches --symbol insert_page$' out
"$zcost" report callers insert_page cap >out 2>err
ok "one note of callers names the variant and sides without the function" says "^# copying receiver(, copying sender)?[a-z, ]*: no sample has 'insert_page'$" out
ok "report functions refuses a --symbol that no variant has" exits 1 "$zcost" report functions cap --symbol nosuch
ok "report functions refuses --group" refused report functions cap --group a=b
ok "report roi refuses --throughput for a capture" refused report roi cap --throughput 10
ok "report functions refuses --variant for a perf.data file" refused report functions --perf nowhere --variant copying
ok "report rates refuses a capture" exits 2 "$zcost" report rates cap --rate 10,20 --variant copying
ok "the message says that rates takes numbers" says "table 'rates' is made from given numbers, not from a capture" err
ok "report rates refuses --perf" exits 2 "$zcost" report rates --perf nowhere --rate 10,20
ok "report rates refuses --variant" refused report rates --rate 10,20 --variant copying
ok "report rates refuses --unit" refused report rates --rate 1e6 --unit KiB
ok "report functions refuses --estimator for a perf.data file" refused report functions --perf nowhere --estimator mean
ok "compare refuses --limit without --table" refused compare copying mapping -C cap --limit 3
ok "compare --table functions refuses --rate for a capture" refused compare copying mapping -C cap --table functions --rate 1e6
ok "compare --table waterfall --by syscalls refuses --cpu" refused compare copying mapping -C cap \
	--table waterfall --by syscalls --cpu 1
ok "compare --table waterfall --by functions takes --cpu" exits 0 "$zcost" compare copying mapping -C cap --table waterfall --by functions --cpu 1
ok "compare --self-test refuses a table whose rows are no tests" exits 2 "$zcost" compare --self-test cap --table waterfall
ok "report summary refuses --children" refused report summary cap --children
ok "report summary refuses --in" refused report summary cap --in cycles
ok "compare --self-test refuses --limit" refused compare --self-test cap --limit 3
ok "compare --table of two files refuses --fail-on" refused compare "$tests/data/xdp-drop.stat" x.txt \
	--table functions --fail-on worse
ok "export sql refuses --variant" refused export sql cap --variant copying
ok "export csv refuses --cpu" refused export csv cap -o csv --cpu 1
# Each chart refuses an option that only other charts read.
"$zcost" plot --list | awk '{ print $1 }' >charts
ok "plot --list lists more than five charts" test "$(wc -l <charts)" -gt 5
for chart in $(cat charts); do
	case $chart in
	roi_p | sweep) option=--limit value=3 ;;
	counters) option=--setting value=size ;;
	*) option=--power-kind value=wall ;;
	esac
	ok "plot $chart refuses $option" refused plot cap $chart -o pictures $option $value
done
ok "plot of bar charts refuses --limit" refused plot cap cpu throughput -o pictures --limit 3
ok "the message names the charts that take --limit" says \
	"--limit does not apply to 'cpu', 'throughput' of a capture; it applies to functions, .*waterfall_sender, .*[a-z]+$" err
ok "plot roi_c refuses --roi-m" refused plot cap roi_c -o pictures --roi-m 2
ok "a refused plot makes no folder" test ! -e pictures
plots() { exits 0 "$zcost" plot cap "$@" -o pictures --format svg && test -s pictures/functions.gp; }
if command -v gnuplot >/dev/null; then
	ok "plot takes --limit when one of its charts does" plots throughput functions --limit 3
	rm -r pictures
else
	skip "plot takes --limit when one of its charts does" "no gnuplot"
fi
ok "report functions takes --by, --comm, --cpu and --limit" exits 0 "$zcost" report functions cap --by cpu --comm tcpzc --cpu 1 --limit 2

# Every command reads numbers alike: the whole argument, finite, in the range.
number() { # number REFUSED COMMAND...
	value=$1
	shift
	exits 2 "$zcost" "$@" && says "'$value' is not a (whole )?number" err && test ! -s out
}
for bad in 0 inf 1e3x ''; do
	ok "report roi refuses --roi-n '$bad'" number "$bad" report roi cap --roi-n "$bad"
	ok "compare refuses --roi-n '$bad'" number "$bad" compare copying mapping -C cap --roi-n "$bad"
	ok "plot refuses --roi-n '$bad'" number "$bad" plot cap -o pictures --roi-n "$bad"
done
for bad in 0 2.5 '' 99999999999999999999; do
	ok "report functions refuses --limit '$bad'" number "$bad" report functions cap --limit "$bad"
	ok "compare --table functions refuses --limit '$bad'" number "$bad" compare copying mapping -C cap --table functions --limit "$bad"
	ok "plot refuses --limit '$bad'" number "$bad" plot cap -o pictures --limit "$bad"
	ok "export folded refuses -j '$bad'" number "$bad" export folded cap -j "$bad"
	ok "analyze refuses -j '$bad'" number "$bad" analyze cap -j "$bad"
	ok "pack refuses -j '$bad'" number "$bad" pack cap -j "$bad"
done
for bad in idle=inf,per_cpu=1 idle=1,per_cpu=-1 idle=1 idle=1,per_cpu=2x; do
	for command in "report roi cap" "compare copying mapping -C cap" "plot cap -o pictures"; do
		ok "${command%% *} refuses --power-model $bad" exits 2 "$zcost" $command --power-model $bad
		ok "the message of ${command%% *} shows the form of --power-model" says "'$bad' is not idle=WATTS,per_cpu=WATTS" err
	done
done
ok "compare takes --threshold 0" exits 0 "$zcost" compare copying mapping -C cap --threshold 0
ok "compare refuses --threshold -1" number -1 compare copying mapping -C cap --threshold -1

# --- unknown names: 1 when the data lacks the name, 2 when no data could have the name ---

report() { "$zcost" report "$@"; }
for t in summary runs functions irq; do
	ok "report $t with an unknown variant exits 1" exits 1 report $t cap --variant nosuch
	ok "report $t with an unknown side exits 1" exits 1 report $t cap --side nosuch
	ok "report $t with an unknown run exits 1" exits 1 report $t cap --run 99
done
for t in functions components contexts modules; do
	ok "report $t with an unknown command exits 1" exits 1 report $t cap --comm nosuch
	ok "the message of report $t names the unknown command" says "table '$t' has no row: nothing matches --comm nosuch" err
	ok "report $t with an unknown object exits 1" exits 1 report $t cap --dso nosuch
	ok "report $t with an unknown function exits 1" exits 1 report $t cap --symbol nosuch
	ok "report $t with an unknown function prints one line" test "$(wc -l <err)" = 1
	ok "report $t with an unknown CPU exits 1" exits 1 report $t cap --cpu 7
	ok "report $t with an unknown event exits 1" exits 1 report $t cap --event nosuch
	ok "report $t with an unknown key is a usage error" exits 2 report $t cap --by nosuch
	ok "report $t with an unknown unit is a usage error" exits 2 report $t cap --unit nosuch
done
ok "report groups with a group of no function exits 1" exits 1 report groups cap --group x=nosuch
ok "the message of report groups names the group" says "nothing matches --group x=nosuch" err
ok "report syscalls with an unknown command exits 1" exits 1 report syscalls cap --comm nosuch
ok "report hotspots with an unknown function exits 1" exits 1 report hotspots nosuch cap
ok "an unknown table is a usage error" exits 2 report nosuch cap
ok "an unknown format is a usage error" exits 2 report summary cap --format nosuch
ok "a missing capture exits 1" exits 1 report summary nowhere
ok "a missing perf.data file exits 1" exits 1 report functions --perf nowhere
ok "compare with an unknown unit is a usage error" exits 2 "$zcost" compare copying mapping -C cap --table functions --unit nosuch
ok "export folded with an unknown variant exits 1" exits 1 "$zcost" export folded cap --variant nosuch
ok "export folded with an unknown command exits 1" exits 1 "$zcost" export folded cap --comm nosuch
ok "export csv with an unknown table is a usage error" exits 2 "$zcost" export csv cap --table nosuch
ok "export with an unknown format is a usage error" exits 2 "$zcost" export nosuch cap
ok "plot with an unknown variant exits 1" exits 1 "$zcost" plot cap -o x --base nosuch
ok "plot with an unknown chart is a usage error" exits 2 "$zcost" plot cap nosuch -o x
# --- options that would be ignored ---

twice() { # COMMAND...: would ignore the first --variant
	exits 2 "$@" && says "--variant 'mapping': --variant 'copying' comes before; one glob selects several" err
}
ok "report refuses a second --variant" twice "$zcost" report cpu cap --variant copying --variant mapping
ok "plot refuses a second --variant" twice "$zcost" plot cap -o x --variant copying --variant mapping
ok "--variant with a glob selects two variants" sh -c "'$zcost' report cpu cap --variant '[cm]*' | grep -q copying"

cp -r cap lost
sqlite3 lost/zcost.db "INSERT INTO note SELECT id, 'lossy', 'perf_lost_samples', '[7.0]' FROM run WHERE pass = 'profile' AND repeat = 1"
ok "report summary exits 4 when the profile that its copy cost uses lost samples" exits 4 "$zcost" report summary lost
ok "report summary names the runs that lost samples" says 'lossy: copying receiver, mapping receiver .2 of 12 runs.: perf lost 7 samples' out
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	measure_run other one 1 receiver 1280000000 150
	manifest other one one/measure/1/ok
	chmod 755 . other
	user() { setpriv --reuid 65534 --regid 65534 --clear-groups -- "$@"; }
	if user "$zcost" analyze --help >/dev/null 2>&1; then
		user "$zcost" analyze other >out 2>err
		ok "analyze names the store that it cannot write" says 'other/zcost.db: cannot be written, the folder other says: Permission denied' err
		ok "the message of analyze says how to write the store" says 'analyze as its owner or as root, make it writable, or analyze a copy' err
	else
		skip "analyze names the store that it cannot write" "another user cannot run $zcost"
	fi
else
	skip "analyze names the store that it cannot write" "needs root, and setpriv"
fi
for command in $("$zcost" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
	ok "zcost $command -h prints what --help prints" sh -c '"$1" $2 -h >short && "$1" $2 --help | cmp - short' - "$zcost" $command
done
ok "zcost -h lists the commands" sh -c '"$1" -h | grep -q "^  report "' - "$zcost"
done_testing
