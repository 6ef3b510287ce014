#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Control runs of "copied" and "not copied". An ifb device frees the packets that it gets, so the kernel
# does not copy sends through it. Loopback and veth deliver a private copy, and the kernel also copies a
# datagram that it cuts into fragments.
. "$(dirname "$0")/../lib.sh"
. "$tests/tcpzc.sh"

need root perl
cleanup() {
	ip netns del $name-a 2>/dev/null
	ip netns del $name-b 2>/dev/null
}
ip netns add $name-a 2>err && ip netns add $name-b 2>>err || skip_all "no network namespaces: $(head -n 1 err)"
a() { ip netns exec $name-a "$@"; }
b() { ip netns exec $name-b "$@"; }
a ip link set lo up
a ip link add veth0 type veth peer name veth0 netns $name-b || skip_all "no veth"
a ip addr add 192.0.2.1/25 dev veth0
b ip addr add 192.0.2.2/25 dev veth0
a ip link set veth0 up
b ip link set veth0 up

# sent HOST TX SIZE: sends 50 datagrams and leaves the summary in txs
sent() {
	a "$tcpzc" --udp --connect "$1" --port $port --tx "$2" --size "$3" --bytes $(($3 * 50)) >tx 2>tx.err ||
		{ cat tx.err; return 1; }
	grep '"summary"' tx >txs
}
# received BED HOST TX SIZE: does the same with a program that takes the datagrams
received() {
	next_port
	ip netns exec $name-$1 perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(Proto => "udp", LocalAddr => $ARGV[0],
		LocalPort => $ARGV[1]) or die; 1 while defined $s->recv($_, 65536)' "$2" $port 2>rx.err &
	pid=$!
	bound $pid || return 1
	sent "$2" "$3" "$4"
	rc=$?
	kill $pid
	wait $pid
	return $rc
}
none_copied() { holds txs '.sends == {total: 50, zero_copy: 50, copied: 0, unknown: 0}'; }
all_copied() { holds txs '.sends == {total: 50, zero_copy: 0, copied: 50, unknown: 0}'; }
told() { holds txs '.histograms.notify_ns | .count == 50 and .min > 0'; }

positive() { sent 192.0.2.254 "$1" 1400 && none_copied && told; }
fragmented() { sent 192.0.2.254 "$1" 32000 && all_copied && told; }
loopback() { received a 127.0.0.1 "$1" 1400 && all_copied; }
veth() { received b 192.0.2.2 "$1" 1400 && all_copied; }

if a ip link add ifb0 type ifb 2>err; then
	a ip link set ifb0 up
	a ip addr add 192.0.2.129/25 dev ifb0
	ifb=yes
else
	ifb="no ifb device: $(head -n 1 err)"
fi
for tx in msg-zerocopy uring-send-zc; do
	if ! here $tx || { [ $tx = uring-send-zc ] && ! kernel_since 6 2; }; then
		skip "$tx" "${why:-the kernel does not report copies before 6.2}"
		continue
	fi
	if [ "$ifb" = yes ]; then
		ok "$tx out of ifb: no send of 50 counts as copied" positive $tx
		ok "$tx out of ifb in fragments: 50 of 50 sends count as copied" fragmented $tx
	else
		skip "$tx out of ifb" "$ifb"
	fi
	ok "$tx over loopback: 50 of 50 sends count as copied" loopback $tx
	ok "$tx over veth: 50 of 50 sends count as copied" veth $tx
done

ok "--udp with --verify is refused" usage 'does not go together with --rr, --verify or --flows' --udp --connect ::1 --verify
ok "--udp with a mode for TCP is refused" usage "'sendfile' does not send datagrams" --udp --connect ::1 --tx sendfile
ok "--udp of a receiver is refused" usage '--udp belongs to the sender' --udp --listen
ok "a datagram that is too large is refused" usage 'at most 65507' --udp --connect ::1 --size 128k
refused() {
	next_port
	exits 1 "$tcpzc" --udp --connect 127.0.0.1 --port $port --seconds 2 --rate 1000msg && says 'send: Connection refused' err
}
ok "a sender reports that nobody listens on the port" refused

done_testing
