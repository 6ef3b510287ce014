#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost plot --side; sides that a capture does not have, and sides that share CPUs.
. "$(dirname "$0")/../lib.sh"
. "$tests/plot.sh"

make_capture cap || { cat analyze.log; exit 1; }

plot() { # plot CODE ARGUMENT...
	want=$1
	shift
	rm -rf slides
	exits "$want" "$zcost" plot cap -o slides --format svg "$@"
}
column() { # column CHART NAME: its values, each once
	tsv '{ print $at[name] }' name="$2" "slides/$1.tsv" | sort -u | tr '\n' ' '
}

ok "all charts are drawn for one side" plot 0 --side sender
for c in cpu roi_c; do
	ok "$c has the bars of that side alone" test "$(column $c side)" = "sender "
done
ok "T²/C of one side has no total" sh -c "! grep -q 'both sides' slides/roi_c.svg"
ok "the functions are those of the sender" says "<title>[^<]*the sender's time goes" slides/functions.svg
ok "the components are those of the sender" test "$(column components side)" = "sender "
ok "throughput is drawn for the receiver even with --side sender" test -s slides/throughput.svg
ok "its caption says what was copied" says 'uring: every byte was copied' slides/throughput.svg
ok "all charts are drawn for the receiver" plot 0 --side receiver
ok "the waterfall is that of the receiver" says '<title>[^<]*ns per KiB on the receiver' slides/waterfall.svg
ok "a message says why the sender's charts are not drawn" says \
	"waterfall_sender: not drawn: it is the sender's, and --side is receiver" err
ok "an unknown side is an error, exit 1" plot 1 --side local
ok "the message names the sides that the capture has" says "has no side 'local'; it has: receiver, sender" err
ok "--side for a chart without sides is a usage error" plot 2 throughput --side sender
ok "the message names the option" says '\-\-side' err

# The same capture with free names of the sides, and with a third side.
cp -r cap named
sqlite3 named/zcost.db "UPDATE run SET role = 'receiver', side = 'server' WHERE side = 'receiver';
	UPDATE run SET role = 'sender', side = 'a' WHERE side = 'sender';
	INSERT INTO run SELECT id + 1000, variant, pass, repeat, 'b', host, command, cpus, ncpus, start_ns, end_ns, position, status, why, role
		FROM run WHERE side = 'a' AND pass = 'measure';
	INSERT INTO metric SELECT run + 1000, name, cpu, object, unit, value, source FROM metric WHERE run IN (SELECT id - 1000 FROM run WHERE side = 'b');
	INSERT INTO metric (run, name, unit, value, source) SELECT id, 'transfer_sides', '1', 3, 'measured' FROM run WHERE pass = 'measure';
	INSERT INTO metric (run, name, object, unit, value, source) SELECT id, 'transfer', 'throughput', 'Gbit/s', 7, 'measured' FROM run WHERE pass = 'measure'"
named() {
	exits 0 "$zcost" plot named -o slides --format svg "$@"
}
order() { # order CHART: its sides in the order of the picture
	tsv '{ print $at["side"] }' "slides/$1.tsv" | uniq | tr '\n' ' '
}
rm -rf slides
ok "charts of three sides with free names are drawn" named throughput cpu roi_c functions functions_sender
ok "the receiver stands before the senders, whatever its name" test "$(order cpu)" = "server a b "
ok "throughput of three sides has a bar of each, and the total" test "$(order throughput)" = "server a b total "
ok "T²/C of three sides has a total over all sides" says "total: over all sides' CPU use" slides/roi_c.svg
ok "T²/C of the total of three sides is drawn" named roi_c --side total
ok "the total is that of all sides without their bars, too" says "total: over all sides' CPU use" slides/roi_c.svg
ok "the functions are those of the side with the role of the receiver" says "<title>[^<]*server's time goes" slides/functions.svg
ok "functions_sender is of the first sender" says "<title>[^<]*a's time goes" slides/functions_sender.svg

# In the store all is as if both sides had been on CPU 1.
ok "T²/C is drawn for sides on different CPUs" plot 0 roi_c
ok "its total is over both sides' CPU use" says "total: over both sides.* CPU use; higher is better" slides/roi_c.svg
sqlite3 cap/zcost.db "UPDATE run SET cpus = '1'"
ok "T²/C is drawn for sides that share a CPU" plot 0 roi_c
ok "its total counts the shared CPU once" says "over both sides.* CPU use, each CPU once; higher" slides/roi_c.svg

# One side alone.
sqlite3 cap/zcost.db "DELETE FROM run WHERE side = 'sender'; UPDATE run SET side = 'local'"
ok "a capture of one side is drawn" plot 0
ok "a message says that it has no sender" says "waterfall_sender: not drawn: .*has no side 'sender'; it has: local\$" err
ok "--side takes the name of its only side" plot 0 waterfall functions --side local
ok "a capture of the receiver alone is drawn" plot 0 throughput
ok "its throughput is what arrived" says 'What arrived at the receiver' slides/throughput.svg
sqlite3 cap/zcost.db "UPDATE run SET role = 'sender', side = 'client'"
ok "a capture of the sender alone is drawn" plot 0 throughput
ok "its throughput is what the sender moved" says "What the client's application moved; higher" slides/throughput.svg
done_testing
