#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Every table fits a terminal of several widths. A pipe gets all columns. Figures stay whole.
. "$(dirname "$0")/../lib.sh"
. "$tests/world.sh"
need sqlite3

world cap 6 $copying $mapping a-variant-with-a-very-long-name-indeed:2e6:100:0,80,20:4000:1:0.9
sqlite3 cap/zcost.db "UPDATE symbol SET name = 'std::vector<zcost::frame, std::allocator<zcost::frame>>::_M_realloc_insert<zcost::frame const&>(zcost::frame const&)' WHERE id = 2;
	UPDATE run SET why = 'the receiver ended before the window did, its log says why' WHERE id = 1;
	INSERT INTO metric (run, name, object, unit, value, source) SELECT id, 'counter', 'a-counter-with-quite-a-long-name', '1', 123456789, 'measured' FROM run;
	INSERT INTO metric (run, name, object, unit, value, source) SELECT id, m.column1, m.column2, '1', m.column3 * repeat, 'measured' FROM run,
		(VALUES ('path_mean_ns', 'receive end_to_end', 2e9), ('path_mean_ns', 'receive wake_up', 1.7e9), ('path_passed', 'receive wake_up', 12345678),
			('path_followed', 'receive', 12345678), ('path_seen', 'receive', 123456789)) m"

# fits WIDTH: prints the lines of `out` that are wider, in characters, and fails if there are any.
fits() {
	LC_ALL=C.UTF-8 awk -v w="$1" 'length($0) > w { print length($0) ": " $0; bad = 1 } END { exit bad }' out
}

# printed WIDTH COMMAND...: the command works and its output fits
printed() {
	width=$1
	shift
	"$@" --width "$width" >out 2>err
	code=$?
	[ $code = 0 ] || [ $code = 4 ] || { echo "exit $code"; cat err; return 1; }
	[ -s out ] && fits "$width"
}

more() { # prints the arguments that a table needs
	case $1 in
	groups) echo "--group a=tcp_* --group another-name=_copy*,insert_page" ;;
	rates) echo "--rate 8165032" ;;
	esac
}
"$zcost" report --help >out
tables=$(sed -n '/^Tables:/,/^$/s/^  \([a-z_]*\) .*/\1/p' out)
for t in $tables; do
	case $t in
	callers | callees | hotspots) place="_copy_to_iter cap" ;; # of a function
	rates) place= ;;
	*) place=cap ;;
	esac
	"$zcost" report $t $place $(more $t) >out 2>err
	if [ $? != 0 ]; then
		skip "report $t fits the width" "not of this store: $(head -n 1 err)"
		continue
	fi
	for w in 60 80 120; do
		ok "report $t fits $w columns" printed $w "$zcost" report $t $place $(more $t)
	done
done
ok "most tables have a width test" test "$planned" -gt 45
"$zcost" compare --help >out
for t in $(sed -n '/^Tables:/,/^$/s/^  \([a-z_]*\) .*/\1/p' out); do
	for w in 60 80 120; do
		ok "compare --table $t fits $w columns" printed $w "$zcost" compare copying mapping -C cap --table $t \
			$([ $t != groups ] || echo --group rx=_copy_to_iter,tcp_*)
	done
done
ok "compare --self-test fits 80 columns" printed 80 "$zcost" compare --self-test cap --variant copying

ok "report functions by four keys fits 80 columns" printed 80 "$zcost" report functions cap --by comm,context,cpu,component
ok "a shortened name keeps its start and its end" says '^unclassified +std::vec[^ ]*\.\.[^ ]* const&\)  ' out
ok "a note names the columns left out at 80 columns" sh -c "tr -s '\n# ' ' ' <out | grep -q 'left out at 80 columns: samples, total_share'"
ok "the cost columns stay at 80 columns" says ' self_ns +total_ns' out

"$zcost" report functions cap >wide
ok "text to a pipe has the whole name" says 'std::allocator<zcost::frame>>::_M_realloc_insert<zcost::frame const&>\(zcost::frame const&\)' wide
"$zcost" report functions cap --width 0 >out
ok "--width 0 gives the same text as a pipe" cmp wide out
COLUMNS=60 "$zcost" report functions cap >out
ok "text to a pipe ignores COLUMNS" cmp wide out
"$zcost" report functions cap --format tsv >tsv 2>err

# Every figure that stays at 60 columns equals the figure in the wide table.
"$zcost" report counters cap >wide
"$zcost" report counters cap --width 60 >out
figures() { grep -v '^#' "$1" | grep -Eo '[0-9]+(\.[0-9]+)? \[[0-9.]+ \.\. [0-9.]+\]' | sort; }
figures wide >a
figures out >b
ok "values and intervals are whole at 60 columns" cmp a b
ok "the wide table has values with intervals" test -s a

# Runs break into blocks, and each block repeats the identifying columns.
sqlite3 cap/zcost.db "UPDATE run SET position = (id - 1) / 2;
	INSERT INTO metric (run, name, object, unit, value, source) SELECT id, 'counter', 'another-counter', 'ns', 98765432, 'measured' FROM run"
"$zcost" report runs cap --width 80 >out
grep '^position' out >heads
ok "report runs breaks into blocks at 80 columns" test "$(wc -l <heads)" -gt 2
ok "each block of report runs begins with the columns that identify a run" is "$(grep -cvE '^position +variant +pass +repeat +side( |$)' heads)" 0
"$zcost" report counters cap --width 80 >out
ok "the unit stays beside the value at 80 columns" says ' value +unit' out
sqlite3 cap/zcost.db "INSERT INTO note SELECT id, 'lossy', 'perf_outside_window', json_array(100.0 + id) FROM run WHERE id < 5"
"$zcost" report runs cap >out
ok "notes that differ in a number merge into one range" says '^# lossy: .*: samples outside the window, left out: 101 to 104' out
ok "merged notes appear once" is "$(grep -c 'samples outside' out)" 1

# Sockets have many columns. At 80 columns the most important ones fit in one part beside the identifying ones.
world tcp 2 $copying $mapping
socket() { # socket ADDRESS ADDRESS: adds a socket at both ends of each measured run
	sqlite3 tcp/zcost.db "INSERT INTO socket (run, pid, local, peer, congestion, state, rtt_us, rttvar_us, min_rtt_us, cwnd, ssthresh, mss,
		delivery_rate, pacing_rate, rcv_rtt_us, rcv_space, rmem, wmem, bytes_acked, bytes_received, bytes_sent, bytes_retrans,
		retrans, busy_us, rwnd_limited_us, sndbuf_limited_us, out_of_order, drops)
		SELECT id, 7, iif(side = 'sender', '$1', '$2'), iif(side = 'sender', '$2', '$1'), 'cubic', 'ESTABLISHED', 105, 52, 9, 20, 10, 61440,
		4e9, 7e9, 75, 4e6, 8e5, 9e5, 8e8, 8e8, 8e8, 0, 1, 9e5, 1e5, 1e4, 2, 3 FROM run WHERE pass = 'measure'"
}
socket 192.0.2.2:58110 192.0.2.1:7077
sqlite3 tcp/zcost.db "INSERT INTO metric (run, name, unit, value, source) SELECT id, 'tcp_retransmits', '1', 1246, 'measured' FROM run WHERE pass = 'measure'"
ok "report tcp fits 80 columns" printed 80 "$zcost" report tcp tcp
ok "report tcp has a section for each side" is "$(grep -cE '^variant (copying|mapping), side ' out)" 4
ok "each section of report tcp has one part" is "$(grep -cE '^run +' out)" 4
ok "report tcp has the most important columns at 80 columns" says '^run +evidence +rtt_us +cwnd +delivery_gbps .*retrans$' out
ok "report tcp names the columns left out at 80 columns" sh -c "tr -s '\n# ' ' ' <out | grep -q 'left out at 80 columns: pacing_gbps, .*rttvar_us'"
sqlite3 tcp/zcost.db "UPDATE socket SET local = replace(local, '58110', 58000 + run), peer = replace(peer, '58110', 58000 + run)"
socket 192.0.2.2:40001 192.0.2.1:7077
ok "report tcp with two flows fits 80 columns" printed 80 "$zcost" report tcp tcp
ok "each section with two flows has the addresses in one part" is "$(grep -cE '^run +local +peer +evidence +rtt_us +cwnd +delivery_gbps' out)" 4
awk '/^variant/ { section = $0 } / sock_diag / { if (seen[section $1 $2 $3]++) print }' out >twice
ok "no two rows of a section have the same run and addresses" test ! -s twice
ok "report tcp has every row of the two flows" is "$(grep -c ' sock_diag ' out)" 16

ok "--width with a word is a usage error" exits 2 "$zcost" report summary cap --width narrow
ok "--width 3 is a usage error" exits 2 "$zcost" report summary cap --width 3
ok "the message names the smallest width" says "neither 0 nor a number from 20" err
ok "--width with --format tsv is a usage error" exits 2 "$zcost" report summary cap --width 80 --format tsv
ok "the message says that --width applies only to text" says "width applies only to the format text" err

if command -v script >/dev/null && script --version 2>&1 | grep -q util-linux; then
	# on_terminal COLUMNS COMMAND: writes what a terminal of that width shows
	on_terminal() {
		script -qec "stty cols $1; $2" /dev/null </dev/null | tr -d '\r' >out
		[ -s out ] && fits "$1"
	}
	ok "a table fits a terminal of 70 columns" on_terminal 70 "'$zcost' report summary cap"
	ok "a table fits a terminal of 100 columns" on_terminal 100 "'$zcost' report functions cap"
	ok "a table uses the width of the terminal" sh -c "LC_ALL=C.UTF-8 awk 'length(\$0) > 80' out | grep -q ."
	ok "COLUMNS=60 works on a terminal of 120 columns" on_terminal 120 "COLUMNS=60 '$zcost' report functions cap"
	ok "COLUMNS takes precedence over the terminal's width" fits 60
	ok "the list of tables fits a terminal of 76 columns" on_terminal 76 "'$zcost' report"
	ok "a message about an unknown table fits a terminal of 76 columns" on_terminal 76 "'$zcost' report sumary cap"
	ok "the message suggests a table" says "^zcost report: no table 'sumary'; did you mean summary[?]" out
	ok "later lines of the message are indented" says "^  --help' lists the tables$" out
	ok "an error in a key of --by fits a terminal of 76 columns" on_terminal 76 "'$zcost' report components cap --by contex"
	ok "-o FILE on a terminal of 70 columns exits 0" on_terminal 70 "'$zcost' report functions cap -o file; echo done"
	ok "-o FILE on a terminal has all columns" sh -c "'$zcost' report functions cap | cmp - file"
else
	skip "a terminal's width" "no script(1) of util-linux to make a terminal with"
fi
done_testing
