#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Reading perf.data: the table of functions (self and children, contexts and components in one run) against perf report,
# on a system-wide recording of about two million samples with call chains. zcost runs with its default threads, with
# one and with two. The tools run interleaved. Figures are medians of ROUNDS (5) runs. PERFDATA=FILE uses that recording.
set -eu
. "$(dirname "$0")/lib.sh"
recording

one() {
	case $1 in
	zcost) "$timed" "$zcost" report functions --perf "$data" --all --format tsv ;;
	zcost-j1) "$timed" "$zcost" report functions --perf "$data" --all --format tsv -j 1 ;;
	zcost-j2) "$timed" "$zcost" report functions --perf "$data" --all --format tsv -j 2 ;;
	no-children) "$timed" perf report -i "$data" --no-children -g none --stdio ;;
	children) "$timed" perf report -i "$data" --children -g none --stdio ;;
	esac >>"$dir/$1.runs" || [ $? = 4 ]
}

all='zcost zcost-j1 zcost-j2 no-children children'
for tool in zcost no-children; do one "$tool"; done # warm caches
rm -f "$dir"/*.runs
i=0
while [ $i -lt "$rounds" ]; do
	for tool in $all; do one "$tool"; done
	i=$((i + 1))
done

echo "                  wall s    cpu s     MB   (medians of $rounds)"
for tool in $all; do
	f=$dir/$tool.runs
	printf '%-15s %8.3f %8.3f %6d\n' "$tool" "$(median "$f" 1)" "$(median "$f" 2)" "$(median "$f" 3)"
done
against() { # TOOL WHAT COLUMN GOAL
	ratio "perf report --$1 / zcost, $2" "$dir/$1.runs" "$dir/zcost.runs" "$3" "goal $4"
}
against children wall 1 40
against children "CPU time" 2 40
against no-children wall 1 3
against no-children "CPU time" 2 3
against children memory 3 4
