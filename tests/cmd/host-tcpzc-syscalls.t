#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The system calls that tcpzc counts are those that it makes, name by name, in every mode.
. "$(dirname "$0")/../lib.sh"
. "$tests/tcpzc.sh"

can_trace || skip_all "no strace to count by, or it may not"
ASAN_OPTIONS=detect_leaks=0 # the leak sanitizer does not work under strace
export ASAN_OPTIONS

# With some clock sources, each reading of the clock is a system call, which is left out.
#
# The span that tcpzc.h defines is between the two calls of getrusage, in each thread.
traced() { # TRACE...: prints lines of "name count"
	awk 'FNR == 1 { inside = 0 } /^getrusage\(/ { inside = !inside; next }
		inside && /^[a-z0-9_]+\(/ && !/^clock_gettime/ { sub(/\(.*/, ""); n[$0]++ }
		END { for (name in n) print name, n[name] }' "$@" | sort
}

told() { # SUMMARY
	jq -r '.syscalls | to_entries[] | "\(.key) \(.value)"' "$1" | sort
}

same() { # SIDE SUMMARY: the counts agree, and there are more calls than the writes of points
	traced "$1".trace* >"$1.traced"
	told "$2" >"$1.told"
	[ "$(grep -vc '^write ' "$1.told")" -gt 0 ] && diff -u "$1.told" "$1.traced"
}

# threads RECEIVER-OPTIONS -- SENDER-OPTIONS: traces each thread into a file
threads() {
	rm -f rx.trace* tx.trace*
	rx_prefix='strace -ff -qq -o rx.trace' tx_prefix='strace -ff -qq -o tx.trace'
	transfer 127.0.0.1 --size 60000 "$@" || return 1
	[ "$(ls rx.trace* | wc -l)" = 3 ] && same rx rxs && same tx txs
}

counted() { # TX RX SENDER-OPTIONS
	tx=$1 rx=$2
	shift 2
	rm -f rx.trace* tx.trace*
	rx_prefix='strace -qq -o rx.trace' tx_prefix='strace -qq -o tx.trace'
	transfer 127.0.0.1 --rx "$rx" -- --tx "$tx" --size 60000 "$@" || return 1
	same rx rxs && same tx txs
}

for tx in $(modes sending); do
	here "$tx" || { skip "$tx makes the system calls that it counts" "$why"; continue; }
	ok "$tx makes the system calls that it counts" counted "$tx" recv --bytes 6M
done
for rx in $(modes receiving); do
	rx_here "$rx" || { skip "$rx makes the system calls that it counts" "$why"; continue; }
	ok "$rx makes the system calls that it counts" counted splice "$rx" --bytes 6M
done
ok "sendfile with --verify makes the system calls that it counts" counted sendfile recv --bytes 9M
ok "a sender that its timer stops makes the system calls that it counts" counted send recv --seconds 0.3
rx=uring-multishot
if rx_here $rx; then
	ok "an io_uring sender that its timer stops makes the system calls that it counts" counted uring-send $rx --seconds 0.3
else
	skip "an io_uring sender that its timer stops makes the system calls that it counts" "$why"
	rx=recv
fi
for tx in send msg-zerocopy uring-send; do
	here "$tx" && ok "$tx: four flows on two threads make the system calls that they count" threads --flows 4 --threads 2 --rx $rx -- \
		--flows 4 --threads 2 --tx "$tx" --bytes 1M
done
ok "threads that the timer stops make the system calls that they count" threads --flows 3 --threads 2 -- --flows 3 --threads 3 --seconds 0.3
ok "requests and responses make the system calls that they count" threads --rr --flows 3 --threads 2 --rx mmap -- \
	--rr --flows 3 --tx msg-zerocopy --rx recv --bytes 3000000 --outstanding 2 --size 60000
# Notifications come while a flow waits for something else. Poll reports them as an error until they are read.
no_spin() { # MOST-CALLS RECEIVER-OPTIONS -- SENDER-OPTIONS
	most=$1
	shift
	rx_prefix='' tx_prefix=''
	transfer 127.0.0.1 --rx recv --flows 4 "$@" --flows 4 --threads 1 --tx msg-zerocopy || return 1
	jq -e --argjson most "$most" '(.syscalls | .sendto + .ppoll + .recvfrom) < $most' txs
}
ok "flows of msg-zerocopy that share a thread do not try again and again to send" no_spin 24576 -- --size 16k --bytes 64M
ok "requests of msg-zerocopy that share a thread do not try again and again to receive" no_spin 1500 --rr --size 60000 -- \
	--rr --size 60000 --bytes 3000000 --outstanding 2
ok "a sender at a rate makes the system calls that it counts" counted send recv --bytes 1M --rate 200msg

done_testing
