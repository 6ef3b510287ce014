#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The CPU time that the collector COLLECTOR (frame) of the pass PASS (profile) costs a side (SIDE: receiver): one transfer
# over the test bed runs all the time, and zcost attaches to that side TURNS (40) times for SECONDS_EACH (0.5), in turns
# with the collector and without it. The CPU time per KiB of a turn with it is divided by that of the turn without it, and
# its throughput, too. Prints the medians of these ratios, and the order statistics that bound them with 95 % confidence.
# Beside it: what the kernel's account of BPF programs says, which `zcost report passes` prints.
set -eu
. "$(dirname "$0")/lib.sh"
turns=${TURNS:-40} collector=${COLLECTOR:-frame} pass=${PASS:-profile} side=${SIDE:-receiver} each=${SECONDS_EACH:-0.5}
pids=
trap 'for p in $pids; do kill "$p" 2>/dev/null || :; done; at_end' EXIT
test_bed
run() { # SIDE CPU OPTION...
	of=$1 cpu=$2
	shift 2
	"$bed" run "$of" -n "$name" "$build/tcpzc" --cpu "$cpu" --size 128k "$@" >"$dir/$of.out" 2>&1 &
	pids="$pids $!"
}
run receiver 1 --listen --rx recv
run sender 0 --connect 192.0.2.1 --tx send --seconds 100000
sleep 1
pid=$(ip netns pids "$name-$side")
one() { # with | without: adds "ns per KiB, bytes, CPU % of the programs" to its file
	more=
	[ "$1" = without ] || more=,$collector
	"$zcost" collect -o "$dir/r" --pid "$pid" --pass "$pass" --cpus 0-1 --collect "threads,tcp,cpu$more" --duration "$each" \
		2>"$dir/err" || { cat "$dir/err"; exit 1; }
	"$zcost" analyze "$dir/r" >"$dir/log" 2>&1 || :
	sqlite3 -separator ' ' "$dir/r/zcost.db" "SELECT max(iif(name = 'workload_cpu_ns', value, 0)) * 1024 /
		max(iif(name IN ('tcp_socket_bytes_received', 'tcp_socket_bytes_acked'), value, 0)),
		max(iif(name IN ('tcp_socket_bytes_received', 'tcp_socket_bytes_acked'), value, 0)),
		100 * max(iif(name = 'program_cpu_pct', value, 0)) / max(iif(name = 'cpu_pct' AND cpu IS NULL, value, 0)) FROM metric" >>"$dir/$1"
	rm -r "$dir/r"
}
rounds=$turns
in_turns with without
paste -d ' ' "$dir/with" "$dir/without" | awk '{ print 100 * ($1 / $4 - 1), 100 * ($2 / $5 - 1), $3 }' >"$dir/ratios"
more() { # COLUMN WHAT
	cut -d ' ' -f "$1" "$dir/ratios" | sort -n | awk -v what="$2 with $collector, more than without" '{ x[NR] = $1 } END {
		n = NR; p = 0; c = 0.5 ^ n
		for (k = 0; k < n / 2; k++) { p += c; if (p > 0.025) break; c *= (n - k) / (k + 1) }
		printf "%s: %.1f %% [%.1f .. %.1f] (n=%d)\n", what, (x[int((n + 1) / 2)] + x[int(n / 2) + 1]) / 2, x[k ? k : 1], x[n + 1 - (k ? k : 1)], n }'
}
more 1 "CPU time per KiB of the $side"
more 2 "throughput"
printf "by the kernel's account of its programs, of all busy time of both CPUs: %.1f %%\n" "$(median "$dir/ratios" 3)"
