#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Folded stacks of a system-wide recording of about two million samples: zcost export folded against
# perf script --no-inline | stackcollapse-perf.pl. The Perl script is $STACKCOLLAPSE or the one in PATH. Without it perf
# script runs alone, which gives a lower bound. The tools run interleaved. Figures are medians of ROUNDS (3) runs, because
# perf script takes minutes. PERFDATA=FILE uses that recording.
set -eu
ROUNDS=${ROUNDS:-3}
. "$(dirname "$0")/lib.sh"
collapse=${STACKCOLLAPSE:-$(command -v stackcollapse-perf.pl || true)}
recording

run() {
	case $1 in
	zcost) "$timed" "$zcost" export folded --perf "$data" ;;
	zcost-1-thread) "$timed" "$zcost" export folded --perf "$data" -j 1 ;;
	perf-script) "$timed" perf script --no-inline -i "$data" ;;
	collapse) "$timed" sh -c 'perf script --no-inline -i "$1" | perl "$2"' sh "$data" "$collapse" ;;
	esac
}
[ -n "$collapse" ] || echo "no stackcollapse-perf.pl here: perf script alone, a lower bound"
race zcost zcost-1-thread perf-script ${collapse:+collapse}
against perf-script "perf script alone / zcost, wall" 1 "lower bound"
against perf-script "perf script alone / zcost, CPU time" 2 "lower bound"
[ -z "$collapse" ] || {
	against collapse "perf script | stackcollapse / zcost, wall" 1 "goal 100"
	against collapse "perf script | stackcollapse / zcost, CPU" 2 "goal 100"
}
