#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What following threads (collector waits) costs the workload: CPU time of the sending end of tcpzc over loopback, per
# request and per KiB, under zcost collect with the collector waits and with none. The runs take turns, so a busy machine
# disturbs both alike. Prints the medians of ROUNDS (5) runs and their ratio.
set -eu
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || { echo "SKIP: needs root"; exit 0; }
port=7600
one() { # one COLLECTOR:UNIT:OPTIONS...: appends ns per unit of so many bytes
	collector=${1%%:*} unit=${1#*:}
	options=$(echo "${unit#*:}" | tr : ' ') unit=${unit%%:*}
	port=$((port + 1))
	"$zcost" collect -o "$dir/run" --pass trace --collect "$collector" --warmup 0 --duration 0 --units tcpzc -- sh -c \
		"$build/tcpzc -l -p $port $options >'$dir/rx' 2>&1 & exec $build/tcpzc -c 127.0.0.1 -p $port $options --seconds 1" 2>"$dir/err" ||
		{ cat "$dir/err"; exit 1; }
	tail -n 1 "$dir/run/workload.out" | jq -r "(.cpu.user_s + .cpu.system_s) * 1e9 * $unit / .bytes" >>"$dir/$1"
}
for load in 64:--rr:-s:64 1024:-s:16k 1024:-s:128k 1024:-s:1M; do
	in_turns "null:$load" "waits:$load"
	awk -v a="$(median "$dir/null:$load" 1)" -v b="$(median "$dir/waits:$load" 1)" -v of="$load" 'BEGIN {
		unit = of ~ /rr/ ? "request" : "KiB"; gsub(/^[0-9]*:|--rr:/, "", of); sub(/:/, " ", of)
		printf "tcpzc %-8s %8.1f ns/%s, with waits %8.1f: %.3f\n", of, a, unit, b, b / a }'
done
