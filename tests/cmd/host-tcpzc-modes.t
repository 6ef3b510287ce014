#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Every way of sending with every way of receiving, over loopback. Every byte is compared.
. "$(dirname "$0")/../lib.sh"

. "$tests/tcpzc.sh"

bytes=5000011 # neither a multiple of the message size nor of a page

tx_modes=$(modes sending)
rx_modes=
for rx in $(seeing_modes); do
	if rx_here "$rx"; then
		rx_modes="$rx_modes $rx"
	else
		skip "to $rx" "$why"
	fi
done

# The modes that ask for zero copy or for a copy. The others share pages and ask for nothing.
asks='{"send": false, "uring-send": false, "recv": false, "recvmsg": false, "uring-recv": false, "uring-multishot": false,
	"msg-zerocopy": true, "uring-send-zc": true, "uring-sendmsg-zc": true, "mmap": true}'
pair() { # TX RX
	transfer 127.0.0.1 --rx "$2" --verify --bytes $bytes -- --tx "$1" --verify --bytes $bytes \
		--size 70000 || return 1
	holds rxs ".bytes == $bytes and .verify == \"ok\" and .mode == \"$2\" and ($asks)[.mode] == .asks_zero_copy and
			.receive.mapped_bytes + .receive.copied_bytes == .bytes and ([.recv_hist[]] | add) == .receive.calls" &&
		holds txs ".bytes == $bytes and .mode == \"$1\" and ($asks)[.mode] == .asks_zero_copy and
			(.sends | .zero_copy + .copied + .unknown == .total and .total > 0)"
}

ok "the help lists at least 6 modes" test "$(echo $tx_modes $rx_modes | wc -w)" -ge 6
for tx in $tx_modes; do
	here "$tx" || {
		skip "$tx" "$why"
		tx_modes=$(echo $tx_modes | tr ' ' '\n' | grep -vx "$tx")
		continue
	}
	ok "$tx to recv: every byte arrives and the counts add up" pair "$tx" recv
done
for rx in $rx_modes; do
	ok "splice to $rx: every byte arrives and the counts add up" pair splice "$rx"
done

# buffers TX registered|plain OPTIONS
buffers() {
	tx=$1 is=$2
	shift 2
	transfer 127.0.0.1 --verify --bytes $bytes -- --tx $tx --verify --bytes $bytes "$@" &&
		holds rxs ".bytes == $bytes and .verify == \"ok\"" &&
		holds txs ".buffers == \"$is\" and (.sends | .zero_copy + .copied + .unknown == .total and .total > 0)"
}
for tx in uring-send-zc uring-sendmsg-zc; do
	here $tx || { skip "$tx: buffers" "$why"; continue; }
	first=registered
	[ $tx = uring-send-zc ] || kernel_since 6 15 || first=plain # an older kernel falls back to plain buffers
	ok "$tx sends from $first buffers" buffers $tx $first
	ok "$tx sends from plain buffers with --plain-buffers" buffers $tx plain --plain-buffers
done
answered_so() {
	transfer 127.0.0.1 --rr --size 64k --tx uring-sendmsg-zc --plain-buffers -- --rr --bytes 640k --size 64k &&
		holds rxs '.rr.buffers == "plain" and (has("buffers") | not)'
}
here uring-sendmsg-zc && ok "responses are sent from plain buffers" answered_so
no_choice() {
	transfer 127.0.0.1 -- --tx uring-send --bytes $bytes && holds txs 'has("buffers") | not'
}
here uring-send && ok "the summary of uring-send has no buffers" no_choice

dropped() {
	transfer 127.0.0.1 --rx trunc --bytes $bytes -- --tx send --bytes $bytes || return 1
	holds rxs ".bytes == $bytes and .receive.dropped_bytes == $bytes and .receive.mapped_bytes + .receive.copied_bytes == 0"
}
ok "trunc counts every byte as dropped" dropped
ok "trunc refuses --verify" exits 2 "$tcpzc" --listen --rx trunc --verify

points() {
	transfer 127.0.0.1 -- --tx send --seconds 0.55 || return 1
	jq -es 'map(select(.type == "point")) | .[0].bytes == 0 and
		(. as $p | all(range(1; length); $p[.].t_ns > $p[. - 1].t_ns and
			$p[.].bytes >= $p[. - 1].bytes))' "$1" >/dev/null || { cat "$1"; return 1; }
	last=$(jq -s 'map(select(.type == "point"))[-1] | "\(.t_ns) \(.bytes) \(.messages)"' "$1")
	sum=$(jq -s '.[-1] | "\(.end_ns) \(.bytes) \(.messages)"' "$1")
	[ "$last" = "$sum" ] || { echo "$last, then $sum"; return 1; }
}
ok "the receiver's points start at zero, rise, and end at the summary's total" points rx
ok "the sender's points start at zero, rise, and end at the summary's total" points tx
often() { # there are about ten points a second
	points rx && has_points 5 rx && has_points 5 tx
}
steady "both ends print five points or more" often

done_testing
