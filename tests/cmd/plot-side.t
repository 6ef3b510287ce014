#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost plot --side; and what is said of sides that a capture does not have, or that share CPUs.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"
. "$tests/plot.sh"

make_capture cap || { cat analyze.log; exit 1; }

plot() { # plot CODE ARGUMENT...
	want=$1
	shift
	rm -rf slides
	exits "$want" "$zcost" plot cap -o slides --format svg "$@"
}
column() { # column CHART NAME: its values, each once
	awk -F '\t' -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at[name] }' \
		"slides/$1.tsv" | sort -u | tr '\n' ' '
}

ok "all charts of one side" plot 0 --side sender
for c in cpu roi_c; do
	ok "  $c" test "$(column $c side)" = "sender "
done
ok "  T²/C has no total of one" sh -c "! grep -q 'both sides' slides/roi_c.svg"
ok "  functions are the sender's" says "<title>[^<]*the sender's time goes" slides/functions.svg
ok "  what one KiB costs, too" test "$(column components side)" = "sender "
ok "  throughput is what arrived at the receiver all the same" test -s slides/throughput.svg
ok "  and what was copied there is said" says 'uring: every byte was copied' slides/throughput.svg
ok "the receiver's" plot 0 --side receiver
ok "  waterfall is compare's" says '<title>[^<]*ns per KiB on the receiver' slides/waterfall.svg
ok "  and those of the sender are left out, and why" says \
	"waterfall_sender: not drawn: it is the sender's, and --side is receiver" err
ok "a side that is not there" plot 1 --side local
ok "  is told, with those that are" says "no side 'local' in this capture; it has receiver, sender" err
ok "a chart that has no sides" plot 2 throughput --side sender
ok "  refuses the option" says '\-\-side' err

# In the store all is as if both sides had been on CPU 1.
ok "sides apart" plot 0 roi_c
ok "  the total is over both" says "total: over both sides.* CPU use; higher is better" slides/roi_c.svg
sqlite3 cap/zcost.db "UPDATE run SET cpus = '1'"
ok "sides that share a CPU" plot 0 roi_c
ok "  the total has it once, as the table says" says "over both sides.* CPU use, each CPU once; higher" slides/roi_c.svg

# One side alone.
sqlite3 cap/zcost.db "DELETE FROM run WHERE side = 'sender'; UPDATE run SET side = 'local'"
ok "a capture of one side" plot 0
ok "  has no sender's charts" says "waterfall_sender: not drawn: .*has no side 'sender'; it has: local\$" err
ok "  draws it by its name" plot 0 waterfall functions --side local
done_testing
