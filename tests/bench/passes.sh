#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The cost of each pass for the workload: throughput of tcpzc on the test bed, bare and under `zcost collect` with the
# collectors of each pass on both sides. The four are interleaved, with the order reversed each round. Figures are
# medians of ROUNDS (5) runs. The throughput is the receiver's over the same two seconds of each run.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${ZCOST_BUILD:-$top/build}
rounds=${ROUNDS:-5}
bed=$top/samples/testbed.sh
name=zcbench$$
dir=$(mktemp -d)
trap '"$bed" down $name; rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
"$bed" up "$name" || { echo "SKIP: no test bed here"; exit 0; }

under() { # under PASS SIDE COMMAND...: runs the command, under collect unless PASS is none
	pass=$1 side=$2 cpu=1
	shift 2
	[ "$side" = receiver ] || cpu=0
	if [ "$pass" = none ]; then
		"$bed" run "$side" -n "$name" "$@" >"$dir/$side.out"
	else
		rm -rf "$dir/$side"
		"$build/zcost" collect -o "$dir/$side" --host-dir "$dir/host-$side" --pass "$pass" \
			--side "$side" --cpus $cpu --warmup 0.2 --duration 2.2 -- \
			"$bed" run "$side" -n "$name" "$@" >/dev/null
		cp "$dir/$side/workload.out" "$dir/$side.out"
	fi
}

gbps() { # the throughput between the points at 0.5 and 2.5 s after the first
	jq -rs '[.[] | select(.type == "point")] | .[0].t_ns as $t
		| [.[] | select(.t_ns >= $t + 5e8 and .t_ns <= $t + 2.5e9)]
		| 8 * (last.bytes - first.bytes) / (last.t_ns - first.t_ns)' "$dir/receiver.out"
}

one() { # PASS
	under "$1" receiver "$build/tcpzc" --listen --rx recv --cpu 1 &
	receiver=$!
	under "$1" sender "$build/tcpzc" --connect 192.0.2.1 --tx send --cpu 0 --seconds 3.5
	wait $receiver
	gbps >>"$dir/$1.gbps"
}

order='none measure profile syscalls'
i=0
while [ $i -lt "$rounds" ]; do
	for pass in $order; do one "$pass"; done
	order=$(echo "$order" | awk '{ for (i = NF; i; i--) printf "%s ", $i }')
	i=$((i + 1))
done

echo "pass      median Gbit/s   min     max   of bare  (n=$rounds)"
bare=$(sort -n "$dir/none.gbps" | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }')
for pass in none measure profile syscalls; do
	sort -n "$dir/$pass.gbps" | awk -v p=$pass -v bare="$bare" '{ x[NR] = $1 } END {
		m = x[int((NR + 1) / 2)]
		printf "%-9s %13.2f %6.2f  %6.2f  %6.1f %%\n", p, m, x[1], x[NR], 100 * m / bare }'
done
