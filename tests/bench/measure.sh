#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What the measure pass takes from the throughput: one transfer over the test bed, and zcost collect with
# the collectors of that pass on both sides all the time, but stopped (SIGSTOP) for every second second.
# Each second with it is set against the mean of the second before and the one behind, so that a slow
# drift does not count; TURNS (60) of them. The median of these ratios, and the order statistics that hold
# it with 95 %. What is stopped is what runs in the window; loading and switching on lie before it.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${ZCOST_BUILD:-$top/build}
turns=${TURNS:-60}
bed=$top/samples/testbed.sh
name=zcbenchm$$
dir=$(mktemp -d)
pids=
cleanup() {
	for p in $pids; do kill -CONT "$p" 2>/dev/null && kill "$p"; done
	"$bed" down $name
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
"$bed" up "$name" 2>/dev/null || { echo "SKIP: no test bed here"; exit 0; }

seconds=$((turns * 2 + 6))
on() { # SIDE COMMAND...
	side=$1
	shift
	"$bed" run "$side" -n "$name" "$@"
}
on receiver "$build/tcpzc" --listen --rx recv --cpu 1 >"$dir/out" &
receiver=$!
on sender "$build/tcpzc" --connect 192.0.2.1 --tx send --cpu 0 --seconds $seconds >/dev/null &
sender=$!
sleep 1
for side in receiver sender; do
	cpu=1
	[ $side = receiver ] || cpu=0
	# The sockets it looks for are the workload's: it watches a transfer of its own, of next to nothing.
	"$build/zcost" collect -o "$dir/$side" --host-dir "$dir/host-$side" --pass measure --side $side \
		--cpus $cpu --duration $((turns * 2 + 3)) --grace 0 -- "$bed" run $side -n "$name" \
		$([ $side = receiver ] && echo "$build/tcpzc --listen --port 7078 --rx recv" ||
			echo "$build/tcpzc --connect 192.0.2.1 --port 7078 --rate 1000 --size 100 --seconds $seconds") \
		>/dev/null 2>"$dir/$side.err" &
	pids="$pids $!"
done
sleep 2
i=0
: >"$dir/turns"
clock() { awk '{ printf "%s ", $1 }' /proc/uptime >>"$dir/turns"; }
while [ $i -lt "$turns" ]; do
	kill -CONT $pids
	clock
	sleep 1
	kill -STOP $pids
	clock
	sleep 1
	clock
	echo >>"$dir/turns"
	i=$((i + 1))
done
kill -CONT $pids
wait $pids || { cat "$dir"/*.err; exit 1; }
pids=
wait $sender $receiver
jq -r 'select(.type == "point") | "\(.t_ns / 1e9) \(.bytes)"' "$dir/out" >"$dir/points"
own=$(jq -s 'map(.window.own_cpu_ns / (.window.end_ns - .window.start_ns)) | max * 200' "$dir"/*/run.json) # it is stopped half of the time
awk '
	function at(t,   a, b, m) { # bytes by then
		a = 1; b = n
		while (b - a > 1) { m = int((a + b) / 2); if (T[m] <= t) a = m; else b = m }
		return B[a] + (B[b] - B[a]) * (t - T[a]) / (T[b] - T[a])
	}
	function rate(from, to) { return (at(to) - at(from)) / (to - from) }
	NR == FNR { T[++n] = $1; B[n] = $2; next }
	{ off = rate($2, $3)
	  if (k++) print rate($1, $2) / ((off + last) / 2)
	  last = off }' "$dir/points" "$dir/turns" | sort -n >"$dir/ratios"
awk -v own="$own" '{ x[NR] = $1 } END {
	n = NR; p = 0; c = 0.5 ^ n
	for (k = 0; k < n / 2; k++) { p += c; if (p > 0.025) break; c *= (n - k) / (k + 1) }
	printf "own CPU time of collect, the side with more: %.3f %% of one CPU\n", own
	printf "throughput under the measure pass, of that without: %.2f %% [%.2f .. %.2f] (n=%d; goal 99)\n",
		100 * (n % 2 ? x[(n + 1) / 2] : (x[n / 2] + x[n / 2 + 1]) / 2), 100 * x[k ? k : 1], 100 * x[n + 1 - (k ? k : 1)], n
	printf "  half of the ratios lie from %.1f to %.1f %%\n", 100 * x[int(n / 4) + 1], 100 * x[n - int(n / 4)] }' "$dir/ratios"
