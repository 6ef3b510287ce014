#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The system calls that tcpzc says it made are those it made, name by name, in every mode.
. "$(dirname "$0")/../lib.sh"
. "$tests/tcpzc.sh"

command -v strace >/dev/null || skip_all "no strace to count by"

# The span that calls.h defines lies between the two calls of getrusage.
traced() { # TRACE: "name count" lines
	awk '/^getrusage\(/ { inside = !inside; next }
		inside && /^[a-z0-9_]+\(/ { sub(/\(.*/, ""); n[$0]++ }
		END { for (name in n) print name, n[name] }' "$1" | sort
}

told() { # SUMMARY
	jq -r '.syscalls | to_entries[] | "\(.key) \(.value)"' "$1" | sort
}

same() { # SIDE SUMMARY: and there is more than the writing of points
	traced "$1.trace" >"$1.traced"
	told "$2" >"$1.told"
	[ "$(grep -vc '^write ' "$1.told")" -gt 0 ] && diff -u "$1.told" "$1.traced"
}

counted() { # TX RX SENDER-OPTIONS
	tx=$1 rx=$2
	shift 2
	rx_prefix='strace -qq -o rx.trace' tx_prefix='strace -qq -o tx.trace'
	transfer 127.0.0.1 --rx "$rx" -- --tx "$tx" --size 60000 "$@" || return 1
	same rx rxs && same tx txs
}

for tx in $(modes sending); do
	here "$tx" || { skip "$tx" "$why"; continue; }
	ok "$tx" counted "$tx" recv --bytes 6M
done
for rx in $(modes receiving); do
	ok "$rx" counted splice "$rx" --bytes 6M
done
ok "with --verify, which writes the file anew" counted sendfile recv --bytes 9M
ok "stopped by its timer" counted send recv --seconds 0.3
ok "stopped by its timer, io_uring" counted uring-send uring-multishot --seconds 0.3

done_testing
