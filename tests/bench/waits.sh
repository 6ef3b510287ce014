#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What following threads (collector waits) costs requests of 64 bytes over loopback, which consist of calls and sleeps: CPU
# time of the client of tcpzc per request, with the collector and without it in turns. Prints the medians of ROUNDS (5)
# runs and their ratio. `COLLECTOR=waits PASS=trace SIDE=sender sh tests/bench/run.sh build attach` has that of a stream.
set -eu
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || { echo "SKIP: needs root"; exit 0; }
port=7600
one() { # one COLLECTOR: appends ns per request
	port=$((port + 1))
	ends="-p $port --rr -s 64"
	"$zcost" collect -o "$dir/run" --pass trace --collect "$1" --warmup 0 --duration 0 --units tcpzc -- sh -c \
		"$build/tcpzc -l $ends >'$dir/rx' 2>&1 & exec $build/tcpzc -c 127.0.0.1 $ends --seconds 1" 2>"$dir/err" ||
		{ cat "$dir/err"; exit 1; }
	tail -n 1 "$dir/run/workload.out" | jq '(.cpu.user_s + .cpu.system_s) * 1e9 / .messages' >>"$dir/$1"
}
in_turns null waits
awk -v a="$(median "$dir/null" 1)" -v b="$(median "$dir/waits" 1)" \
	'BEGIN { printf "%.1f ns of CPU time for a request, with waits %.1f: %.2f\n", a, b, b / a }'
