#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Reading perf.data: the table of functions (self and children, contexts and components in one run) against perf report,
# on four recordings of SECONDS_RECORDED (25) seconds:
#   repeating   all CPUs during TCP over loopback by tcpzc, whose stacks repeat: two million samples
#   everyday    iperf3 over loopback, whose libraries have no frame pointers: two million samples
#   busy        all CPUs during shells and compilers
#   dwarf       iperf3 with copies of the user stack (--call-graph dwarf): fifty thousand samples
# zcost runs with one and with two threads. perfdata_walk hashes each sample once, in one thread: the limit of any reader.
# The tools run interleaved. Figures are medians of ROUNDS (5) runs. KINDS names some of the recordings. PERFDATA=FILE uses
# that recording alone. The disk needs 2 GB.
set -eu
. "$(dirname "$0")/lib.sh"
walk=$build/tests/tools/perfdata_walk
need "$timed" "$dump" "$walk"
port=$((20000 + $$ % 10000))

record() { # record OPTIONS... -- COMMAND...: one of the other three recordings
	data=$dir/perf.data
	perf record -q -k CLOCK_MONOTONIC -e cpu-clock -o "$data" "$@" >/dev/null 2>"$dir/err" ||
		{ echo "SKIP: perf cannot record: $(tail -n 1 "$dir/err")"; exit 0; }
	describe
}
iperf='iperf3 -s -1 -p "$1" & sleep 0.5; iperf3 -c 127.0.0.1 -p "$1" -t "$2"; wait'
compile='while :; do
	make -s -C "$1" OFFLINE=1 BUILD="$2" -j2; rm -r "$2"
	for f in /usr/include/*.h; do sh -c "wc -l <$f"; done
done'
make_recording() { # make_recording KIND
	case $1 in
	repeating) recording ;;
	everyday) record -F 40000 -g -- sh -c "$iperf" sh $port "$seconds" ;;
	busy) record -a -F 20000 -g -- sh -c 'timeout "$3" sh -c "$0" sh "$1" "$2"; :' "$compile" "$top" "$dir/busy" "$seconds" ;;
	dwarf) record -F 1000 --call-graph dwarf -- sh -c "$iperf" sh $port "$seconds" ;;
	*) echo "no recording is called $1" >&2; exit 1 ;;
	esac
}

run() {
	case $1 in
	zcost) "$timed" "$zcost" report functions --perf "$data" --all --format tsv -j 1 ;;
	zcost-2) "$timed" "$zcost" report functions --perf "$data" --all --format tsv -j 2 ;;
	no-children) "$timed" perf report -i "$data" --no-children -g none --stdio ;;
	children) "$timed" perf report -i "$data" --children -g none --stdio ;;
	walk) "$timed" "$walk" "$data" ;;
	esac
}

# The rows of docs/benchmarks.md. A ratio is that of the wall times, with one thread / with two.
row() { # row KIND
	for tool in zcost zcost-2 children no-children walk; do
		for column in 1 3; do median "$dir/$tool.runs" $column; done
	done | paste -sd' ' | awk -v kind="$1" -v what="$(cat "$dir/what")" '{
		printf "| %s: %s | %.3f / %.3f s, %d / %d MB | %.3g s: %.3g / %.3g | %.3g s: %.3g / %.3g | %d MB: %.3g / %.3g | %.3f s: %.3g |\n",
			kind, what, $1, $3, $2, $4, $5, $5 / $1, $5 / $3, $7, $7 / $1, $7 / $3, $6, $6 / $2, $6 / $4, $9, $1 / $9 }'
}

kinds=${KINDS:-repeating everyday busy dwarf}
[ -z "${PERFDATA:-}" ] || kinds=repeating
for kind in $kinds; do
	echo "-- $kind"
	make_recording "$kind" | tee "$dir/what"
	! grep -q '^SKIP' "$dir/what" || continue
	data=${PERFDATA:-$dir/perf.data}
	race zcost zcost-2 no-children children walk
	row "$kind" >>"$dir/rows"
	rm -f "$dir"/*.runs "$dir/perf.data"
done
echo "| recording | zcost, one thread / two | --children (goal 60) | --no-children (goal 6) | memory (goal 7) | walk, and zcost by it |"
cat "$dir/rows"
