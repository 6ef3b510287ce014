#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Reading perf.data: the table of functions (self and children, contexts and components in one run) against perf report,
# on a system-wide recording of about two million samples with call chains. zcost runs with its default threads, with
# one and with two. The tools run interleaved. Figures are medians of ROUNDS (5) runs. PERFDATA=FILE uses that recording.
set -eu
. "$(dirname "$0")/lib.sh"
recording

run() {
	case $1 in
	zcost) "$timed" "$zcost" report functions --perf "$data" --all --format tsv ;;
	zcost-j1) "$timed" "$zcost" report functions --perf "$data" --all --format tsv -j 1 ;;
	zcost-j2) "$timed" "$zcost" report functions --perf "$data" --all --format tsv -j 2 ;;
	no-children) "$timed" perf report -i "$data" --no-children -g none --stdio ;;
	children) "$timed" perf report -i "$data" --children -g none --stdio ;;
	esac
}

race zcost zcost-j1 zcost-j2 no-children children
against children "perf report --children / zcost, wall" 1 "goal 40"
against children "perf report --children / zcost, CPU time" 2 "goal 40"
against no-children "perf report --no-children / zcost, wall" 1 "goal 3"
against no-children "perf report --no-children / zcost, CPU time" 2 "goal 3"
against children "perf report --children / zcost, memory" 3 "goal 4"
