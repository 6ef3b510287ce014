#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Every way of sending with every way of receiving, over loopback: each byte is compared.
. "$(dirname "$0")/../lib.sh"

. "$tests/tcpzc.sh"

bytes=5000011 # neither a multiple of the message size nor of a page

tx_modes=$(modes sending)
rx_modes=$(seeing_modes)
localhost=127.0.0.1
has_ipv6 && localhost=::1

pair() { # TX RX
	transfer 127.0.0.1 --rx "$2" --verify --bytes $bytes -- --tx "$1" --verify --bytes $bytes \
		--size 70000 || return 1
	holds rxs ".bytes == $bytes and .verify == \"ok\" and .mode == \"$2\"" &&
		holds txs ".bytes == $bytes and .mode == \"$1\"" &&
		holds rxs '.receive.mapped_bytes + .receive.copied_bytes == .bytes' &&
		holds rxs '([.recv_hist[]] | add) == .receive.calls' &&
		holds txs '.sends | .zero_copy + .copied + .unknown == .total and .total > 0'
}

ok "the help lists the modes" test "$(echo $tx_modes $rx_modes | wc -w)" -ge 6
for tx in $tx_modes; do
	here "$tx" || {
		skip "$tx" "$why"
		tx_modes=$(echo $tx_modes | tr ' ' '\n' | grep -vx "$tx")
		continue
	}
	for rx in $rx_modes; do
		ok "$tx to $rx: every byte as sent, counts add up" pair "$tx" "$rx"
	done
done

plain() {
	transfer 127.0.0.1 --verify --bytes $bytes -- --tx uring-send-zc --plain-buffers --verify --bytes $bytes &&
		holds rxs ".bytes == $bytes and .verify == \"ok\"" &&
		holds txs '.sends | .zero_copy + .copied + .unknown == .total and .total > 0'
}
if here uring-send-zc; then
	ok "uring-send-zc from buffers that are not registered" plain
else
	skip "uring-send-zc from buffers that are not registered" "$why"
fi

dropped() {
	transfer 127.0.0.1 --rx trunc --bytes $bytes -- --tx send --bytes $bytes || return 1
	holds rxs ".bytes == $bytes and .receive.dropped_bytes == $bytes" &&
		holds rxs '.receive.mapped_bytes + .receive.copied_bytes == 0'
}
ok "trunc drops every byte, and says so" dropped
ok "there is nothing to verify" exits 2 "$tcpzc" --listen --rx trunc --verify

corrupted() { # TX RX
	! transfer $localhost --rx "$2" --verify -- --tx "$1" --verify --bytes 3M --size 70000 \
		--corrupt-at 2097153 >/dev/null || { echo "not noticed"; return 1; }
	[ $rxrc = 1 ] && [ $txrc = 0 ] && holds rxs '.verify == "failed"' &&
		says '"type":"error","what":"verify: 1 of 3145728 bytes differ, the first at offset 2097153"' rx
}
for rx in $rx_modes; do
	ok "$rx finds a byte that was changed" corrupted send "$rx"
done
for tx in $tx_modes; do
	ok "and so it does when $tx changed it" corrupted "$tx" recv
done

points() {
	transfer 127.0.0.1 -- --tx send --seconds 0.55 || return 1
	jq -es 'map(select(.type == "point")) | length >= 5 and .[0].bytes == 0 and
		(. as $p | all(range(1; length); $p[.].t_ns > $p[. - 1].t_ns and
			$p[.].bytes >= $p[. - 1].bytes))' "$1" >/dev/null || { cat "$1"; return 1; }
	last=$(jq -s 'map(select(.type == "point"))[-1] | "\(.t_ns) \(.bytes) \(.messages)"' "$1")
	sum=$(jq -s '.[-1] | "\(.end_ns) \(.bytes) \(.messages)"' "$1")
	[ "$last" = "$sum" ] || { echo "$last, then $sum"; return 1; }
}
ok "the receiver's points start at zero, rise, and end where the summary says" points rx
ok "and so do the sender's" points tx

done_testing
