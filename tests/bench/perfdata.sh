#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Reading perf.data: the table of functions (self and children in one go, contexts and components
# with it) against perf report on one system-wide recording of about two million samples with call
# chains. Interleaved; medians of ROUNDS (5). PERFDATA=FILE takes that file in place of a recording.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${ZCOST_BUILD:-$top/build}
rounds=${ROUNDS:-5}
seconds=${SECONDS_RECORDED:-25}
dir=$(mktemp -d /var/tmp/zcost-bench.XXXXXX)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
timed=$build/tests/tools/timed dump=$build/tests/tools/profile_dump
for tool in "$timed" "$dump"; do
	[ -x "$tool" ] || make -s -C "$top" "$tool" BUILD="$build" >/dev/null
done
command -v perf >/dev/null || { echo "SKIP: no perf here"; exit 0; }

# What zcost is made to look at: TCP over loopback, copied, mapped and through io_uring, with some
# short processes in between.
flow() { # SECONDS PORT RX TX
	"$build/tcpzc" --listen=127.0.0.1 --port="$2" --rx="$3" --seconds="$1" >"$dir/rx.$2" 2>&1 &
	"$build/tcpzc" --connect=127.0.0.1 --port="$2" --tx="$4" --seconds="$1" >"$dir/tx.$2" 2>&1 &
}
load() {
	flow "$1" 7993 recv send
	flow "$1" 7994 mmap sendfile
	flow "$1" 7995 uring-recv uring-send
	end=$(($(date +%s) + $1))
	while [ "$(date +%s)" -lt $end ]; do
		ls -l /usr/bin >/dev/null
		sleep 1
	done
	wait
}

data=${PERFDATA:-}
if [ -z "$data" ]; then
	data=$dir/perf.data
	load "$seconds" &
	perf record -q -a -g -k CLOCK_MONOTONIC -m 2048 -e cpu-clock -F 49999 -o "$data" -- \
		sleep "$seconds" 2>"$dir/err" || { echo "SKIP: perf cannot record: $(tail -n 1 "$dir/err")"; exit 0; }
	wait
fi
"$dump" health "$data" >"$dir/health" || [ $? = 4 ]
samples=$(awk '/^event/ { for (i = 1; i < NF; i++) if ($(i + 1) == "samples,") n += $i } END { print n }' "$dir/health")
echo "$samples samples, $(($(stat -c %s "$data") / 1000000)) MB, $(awk '/^costs/ { print $2 }' "$dir/health") distinct rows"

one() {
	case $1 in
	zcost) "$timed" "$build/zcost" report functions --perf "$data" --all --format tsv ;;
	zcost-1-thread) "$timed" "$dump" functions --threads 1 "$data" ;;
	no-children) "$timed" perf report -i "$data" --no-children -g none --stdio ;;
	children) "$timed" perf report -i "$data" --children -g none --stdio ;;
	esac >>"$dir/$1.runs" || [ $? = 4 ]
}

all='zcost zcost-1-thread no-children children'
for tool in $all; do [ "$tool" = children ] || one "$tool"; done # warm caches
rm -f "$dir"/*.runs
i=0
while [ $i -lt "$rounds" ]; do
	for tool in $all; do one "$tool"; done
	i=$((i + 1))
done

median() { # FILE COLUMN
	sort -n -k "$2,$2" "$1" | awk -v c="$2" '{ x[NR] = $c } END { print x[int((NR + 1) / 2)] }'
}

echo "                  wall s    cpu s     MB   (medians of $rounds)"
for tool in $all; do
	f=$dir/$tool.runs
	printf '%-15s %8.3f %8.3f %6d\n' "$tool" "$(median "$f" 1)" "$(median "$f" 2)" "$(median "$f" 3)"
done
ratio() { # WHAT OTHER COLUMN GOAL
	awk -v a="$(median "$dir/$2.runs" "$3")" -v b="$(median "$dir/zcost.runs" "$3")" -v w="$1" -v g="$4" \
		'BEGIN { printf "%-44s %6.1f  (goal %s)\n", w, a / b, g }'
}
ratio "perf report --children / zcost, wall" children 1 40
ratio "perf report --children / zcost, CPU time" children 2 40
ratio "perf report --no-children / zcost, wall" no-children 1 3
ratio "perf report --no-children / zcost, CPU time" no-children 2 3
ratio "perf report --children / zcost, memory" children 3 4
