#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The throughput that the pass PASS (measure) costs: one transfer over the test bed under zcost collect, with the
# collectors of that pass on both sides, and OPTIONS, such as --freq 999. In every other second zcost and its perf record
# are stopped (SIGSTOP) and their events are off. The throughput of each second with zcost is divided by the mean of the
# seconds before and after it, which removes a slow drift. Prints the median of TURNS (60) such ratios and the order
# statistics that bound it with 95 % confidence. This is the cost inside the window; loading and switching on happen
# before it. PASS=profile needs a PMU: without one perf is on in parts of the window alone, and `zcost report passes` has
# its cost.
set -eu
. "$(dirname "$0")/lib.sh"
turns=${TURNS:-60}
pass=${PASS:-measure}
[ "$pass" != profile ] || [ -e /sys/bus/event_source/devices/cpu ] || { echo "PASS=profile needs a PMU" >&2; exit 2; }
switch=$build/tests/tools/perf_switch
need "$switch"
pids=
trap 'for p in ${all:-$pids}; do kill -CONT "$p" 2>/dev/null && kill "$p"; done; at_end' EXIT
test_bed

seconds=$((turns * 2 + 4))
collect() { # SIDE CPU COMMAND...
	side=$1 cpu=$2
	shift 2
	"$zcost" collect -o "$dir/$side" --host-dir "$dir/host-$side" --pass "$pass" ${OPTIONS:-} --side "$side" \
		--cpus "$cpu" -- "$bed" run "$side" -n "$name" "$build/tcpzc" --cpu "$cpu" "$@" 2>"$dir/$side.err" &
	pids="$pids $!"
}
collect receiver 1 --listen --rx recv
collect sender 0 --connect 192.0.2.1 --tx send --seconds $seconds
sleep 2
all="$pids $(pgrep -x perf -P "$(echo $pids | tr ' ' ,)" | tr '\n' ' ')" # the profile pass starts perf record
i=0
: >"$dir/turns"
clock() { awk '{ printf "%s ", $1 }' /proc/uptime >>"$dir/turns"; }
events=$("$switch" on $all)
while [ $i -lt "$turns" ]; do
	"$switch" on $all >"$dir/events"
	kill -CONT $all
	clock
	sleep 1
	kill -STOP $all
	"$switch" off $all >"$dir/events"
	clock
	sleep 1
	clock
	echo >>"$dir/turns"
	i=$((i + 1))
done
kill -CONT $all
for p in $pids; do wait "$p" || { cat "$dir"/*.err; exit 1; }; done
pids= all=
jq -r 'select(.type == "point") | "\(.t_ns / 1e9) \(.bytes)"' "$dir/receiver/workload.out" >"$dir/points"
own=$(jq -s 'map(.window.own_cpu_ns / (.window.end_ns - .window.start_ns)) | max * 200' "$dir"/*/run.json) # zcost is stopped half of the time
awk '
	function at(t,   a, b, m) { # at(t): the bytes until t
		a = 1; b = n
		while (b - a > 1) { m = int((a + b) / 2); if (T[m] <= t) a = m; else b = m }
		return B[a] + (B[b] - B[a]) * (t - T[a]) / (T[b] - T[a])
	}
	function rate(from, to) { return (at(to) - at(from)) / (to - from) }
	NR == FNR { T[++n] = $1; B[n] = $2; next }
	{ off = rate($2, $3)
	  if (k++) print rate($1, $2) / ((off + last) / 2)
	  last = off }' "$dir/points" "$dir/turns" | sort -n >"$dir/ratios"
awk -v own="$own" -v events="$events" -v pass="$pass" '{ x[NR] = $1 } END {
	n = NR; p = 0; c = 0.5 ^ n
	for (k = 0; k < n / 2; k++) { p += c; if (p > 0.025) break; c *= (n - k) / (k + 1) }
	printf "counters of both sides, switched with it: %d\n", events
	printf "own CPU time of collect, the side with more: %.3f %% of one CPU\n", own
	printf "throughput under the pass %s, of that without: %.2f %% [%.2f .. %.2f] (n=%d)\n", pass,
		100 * (n % 2 ? x[(n + 1) / 2] : (x[n / 2] + x[n / 2 + 1]) / 2), 100 * x[k ? k : 1], 100 * x[n + 1 - (k ? k : 1)], n
	printf "  half of the ratios lie from %.1f to %.1f %%\n", 100 * x[int(n / 4) + 1], 100 * x[n - int(n / 4)] }' "$dir/ratios"
