#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Folded stacks of a system-wide recording of about two million samples: zcost export folded against
# perf script --no-inline | stackcollapse-perf.pl. The Perl script is $STACKCOLLAPSE or the one in PATH. Without it perf
# script runs alone, which gives a lower bound. The tools run interleaved. Figures are medians of ROUNDS (5) runs; perf
# script takes minutes and has SLOW_ROUNDS (3). PERFDATA=FILE uses that recording.
set -eu
. "$(dirname "$0")/lib.sh"
slow_rounds=${SLOW_ROUNDS:-3}
collapse=${STACKCOLLAPSE:-$(command -v stackcollapse-perf.pl || true)}
recording

one() {
	case $1 in
	zcost) "$timed" "$zcost" export folded --perf "$data" ;;
	zcost-1-thread) "$timed" "$zcost" export folded --perf "$data" -j 1 ;;
	perf-script) "$timed" perf script --no-inline -i "$data" ;;
	collapse) "$timed" sh -c 'perf script --no-inline -i "$1" | perl "$2"' sh "$data" "$collapse" ;;
	esac >>"$dir/$1.runs" || [ $? = 4 ]
}

slow=perf-script
if [ -n "$collapse" ]; then
	slow="$slow collapse"
else
	echo "no stackcollapse-perf.pl here: perf script alone, a lower bound"
fi
fast='zcost zcost-1-thread'
for tool in $fast; do one "$tool"; done # warm caches
rm -f "$dir"/*.runs
i=0
while [ $i -lt "$rounds" ]; do
	for tool in $fast; do one "$tool"; done
	if [ $i -lt "$slow_rounds" ]; then
		for tool in $slow; do one "$tool"; done
	fi
	i=$((i + 1))
done

echo "                  wall s    cpu s     MB    n"
for tool in $fast $slow; do
	f=$dir/$tool.runs
	printf '%-15s %8.3f %8.3f %6d %4d\n' "$tool" "$(median "$f" 1)" "$(median "$f" 2)" "$(median "$f" 3)" \
		"$(wc -l <"$f")"
done
ratio "perf script alone / zcost, wall" "$dir/perf-script.runs" "$dir/zcost.runs" 1 "lower bound"
ratio "perf script alone / zcost, CPU time" "$dir/perf-script.runs" "$dir/zcost.runs" 2 "lower bound"
[ -z "$collapse" ] || {
	ratio "perf script | stackcollapse / zcost, wall" "$dir/collapse.runs" "$dir/zcost.runs" 1 "goal 100"
	ratio "perf script | stackcollapse / zcost, CPU" "$dir/collapse.runs" "$dir/zcost.runs" 2 "goal 100"
}
