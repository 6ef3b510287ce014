#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# System calls that a signal interrupts: zcost counts each entry into the kernel, as perf trace does.
. "$(dirname "$0")/../lib.sh"

restarts=$build/tests/tools/restarts
need root

agrees() { # the program prints how often it entered the kernel
	[ -s "$1" ] || return 1
	while read -r name calls errors; do
		tsv '$at["name"] == call { c += $at["calls"]; e += $at["errors"]; u += $at["unfinished"] }
			END { if (c == calls && e == errors && !u) exit 0
				print call ": " c + 0 " calls, " e + 0 " errors, " u + 0 " unfinished; not " calls ", " errors; exit 1 }' \
			call="$name" calls="$calls" errors="$errors" r/syscalls.tsv || return 1
	done <"$1"
}

for method in bpf tracepoint; do
	ok "$method: collect counts calls that signals interrupt" exits 0 "$zcost" collect -o r --collect syscalls --syscalls-method $method -- \
		"$restarts" 400
	ok "$method: every entry of an interrupted call counts, as in perf trace" agrees r/workload.out
done
done_testing
