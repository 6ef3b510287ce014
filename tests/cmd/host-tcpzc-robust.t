#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Peers that reset, half-close or vanish, very short transfers, and signals with many threads. The numbers
# are correct or the error is clear, and nothing is left open at the end.
. "$(dirname "$0")/../lib.sh"
. "$tests/tcpzc.sh"

need perl
tx_modes=$(for m in $(modes sending); do here $m && echo $m; done)
rx_modes=$(for m in $(modes receiving); do rx_here $m && echo $m; done)

one_error() { # FILE PATTERN: the file has one line, which matches
	[ "$(wc -l <"$1")" = 1 ] && says "^tcpzc: $2" "$1"
}

# to_peer DEED BYTES SENDER-OPTIONS: sets txrc, txs, and in $peer what the peer read
to_peer() {
	deed=$1 after=$2
	shift 2
	next_port
	perl "$tests/tools/tcp-peer.pl" listen $port $deed $after >peer &
	pid=$!
	"$tcpzc" --connect 127.0.0.1 --port $port "$@" >tx 2>tx.err
	txrc=$?
	wait $pid
	peer=$(cat peer)
	grep '"summary"' tx >txs
}
was_reset() { # TX
	to_peer reset 300000 --tx $1 --seconds 10
	[ $txrc = 1 ] && one_error tx.err '(.*: )?(Connection reset by peer|Broken pipe)$' &&
		holds txs ".bytes >= $peer and .seconds < 9 and
			(.sends | .total > 0 and .zero_copy + .copied + .unknown == .total)"
}
half_closed() { # TX: the peer closes its half and goes on reading
	to_peer half-close 200000 --tx $1 --bytes 20M
	[ $txrc = 0 ] && [ "$peer" = 20971520 ] && holds txs '.bytes == 20971520'
}
for tx in $tx_modes; do
	ok "$tx: a sender has one error when the peer resets the connection" was_reset $tx
done
ok "send: a sender goes on when the peer closes its half" half_closed send
several_reset() {
	to_peer reset '100000 3' --flows 3 --seconds 10
	[ $txrc = 1 ] && one_error tx.err 'flow 0: .* \(and 2 more flows failed\)$' &&
		holds txs '[.flows[] | .error | length > 0] == [true, true, true]'
}
ok "one line says how many of three flows were reset" several_reset

# from_peer DEED BYTES RECEIVER-OPTIONS
from_peer() {
	deed=$1 after=$2
	shift 2
	next_port
	"$tcpzc" --listen --port $port "$@" >rx 2>rx.err &
	pid=$!
	listening $pid
	perl "$tests/tools/tcp-peer.pl" connect $port $deed $after >peer
	wait $pid
	rxrc=$?
	peer=$(cat peer)
	grep '"summary"' rx >rxs
}
reset_by_sender() { # RX
	from_peer reset 500000 --rx $1
	[ $rxrc = 1 ] && one_error rx.err '.*: Connection reset by peer$' && holds rxs '.bytes == 500000'
}
half_closing_sender() { # RX
	from_peer half-close 500001 --rx $1
	[ $rxrc = 0 ] && holds rxs '.bytes == 500001'
}
wrong_bytes() { # RX
	from_peer half-close 500001 --rx $1 --verify
	[ $rxrc = 1 ] && one_error rx.err 'verify: [0-9]* of 500001 bytes differ, the first at offset 0$' && holds rxs '.verify == "failed"'
}
for rx in $rx_modes; do
	[ $rx = trunc ] || ok "$rx finds bytes that are not those of --verify" wrong_bytes $rx # trunc never sees the data
	ok "$rx: a receiver has one error when the sender resets the connection" reset_by_sender $rx
	ok "$rx: a receiver ends when the sender closes its half" half_closing_sender $rx
done

short() { # TX RX BYTES
	verify=--verify
	[ $2 != trunc ] || verify= # trunc never sees the data
	transfer 127.0.0.1 --rx $2 $verify --bytes $3 -- --tx $1 $verify --bytes $3 &&
		holds rxs ".bytes == $3 and (.verify == \"ok\" or .mode == \"trunc\")" &&
		holds txs ".bytes == $3"
}
for tx in $tx_modes; do
	ok "$tx sends one byte" short $tx recv 1
done
for rx in $rx_modes; do
	ok "$rx receives one byte" short send $rx 1
	ok "$rx receives one byte less than a page" short send $rx 4095
done
small_buffers() { # many sends end short
	transfer 127.0.0.1 --rcvbuf 5000 --verify -- --tx $1 --sndbuf 5000 --bytes 300001 --verify &&
		holds rxs '.bytes == 300001 and .verify == "ok"'
}
for tx in $tx_modes; do
	ok "$tx sends every byte through small buffers" small_buffers $tx
done

four="--flows 4 --threads 2"
ok "SIGINT stops threads that block in send" stopped INT send recv $four
if here uring-send-zc; then
	ok "SIGTERM stops threads that wait in io_uring" stopped TERM uring-send-zc uring-multishot $four
else
	skip "SIGTERM stops threads that wait in io_uring" "$why"
fi

# At the end every socket, ring, pipe and file is closed. strace delays exit_group, so that we can look.
left_open() { # PID: prints the files that it has open and this shell does not
	for fd in /proc/"$1"/fd/*; do
		n=${fd##*/}
		[ "$n" -le 2 ] || [ "$(readlink $fd)" = "$(readlink /proc/$$/fd/$n)" ] || readlink $fd
	done
}
at_exit() { # LOG: prints the process that is about to exit
	soon grep -qs 'exit_group(' "$1" >&2
	awk '{ print $1; exit }' "$1"
}
# The leak sanitizer does not work under strace.
held='env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -e trace=exit_group -e inject=exit_group:delay_enter=60000000 -o'
closes_all() { # TX RX
	rm -f held.rx held.tx
	next_port
	$held held.rx "$tcpzc" --listen --port $port --flows 2 --rx $2 >rx 2>rx.err &
	rxpid=$!
	$held held.tx "$tcpzc" --connect 127.0.0.1 --port $port --flows 2 --tx $1 --bytes 300000 >tx 2>tx.err &
	txpid=$!
	tx=$(at_exit held.tx) rx=$(at_exit held.rx)
	left_open "$tx" >open.tx
	left_open "$rx" >open.rx
	looked=$(ls /proc/$tx/fd /proc/$rx/fd | grep -c '^2$')
	kill -KILL $txpid $rxpid # ends strace, and the delayed programs exit
	wait $txpid $rxpid 2>/dev/null
	says 'exit_group\(0' held.tx && says 'exit_group\(0' held.rx && [ "$looked" = 2 ] || { cat tx.err rx.err; return 1; }
	[ ! -s open.tx ] && [ ! -s open.rx ] || { echo "open at the end:"; cat open.tx open.rx; return 1; }
}
# Each sending mode is tested with the next receiving mode.
hugepages() { sed -n 's/^HugePages_\(Total\|Free\|Rsvd\|Surp\): *//p' /proc/meminfo | tr '\n' ' '; }
huge=$(hugepages)
if can_trace; then
	set -- $rx_modes
	for tx in $tx_modes; do
		ok "$tx and $1 have closed everything at the end" closes_all $tx $1
		set -- "$@" $1
		shift
	done
else
	skip "all closed at the end" "no strace, or it may not hold a process at its end"
fi
no_page() { [ "$huge" = "$(hugepages)" ]; }
ok "no huge page is left in use" soon no_page

# The peer vanishes when the link goes down.
[ "$(id -u)" = 0 ] && ip netns add $name-a 2>/dev/null && ip netns add $name-b || {
	skip "a peer that vanishes" "no network namespaces"
	done_testing
}
cleanup() {
	ip netns del $name-a
	ip netns del $name-b
}
a() { ip netns exec $name-a "$@"; }
b() { ip netns exec $name-b "$@"; }
a ip link add veth0 type veth peer name veth0 netns $name-b
a ip addr add 192.0.2.1/24 dev veth0
b ip addr add 192.0.2.2/24 dev veth0
a ip link set veth0 up
b ip link set veth0 up
vanished() {
	host=192.0.2.1 rx_prefix=a tx_prefix=b
	start --rx recv --peer-timeout 1 -- --peer-timeout 1
	a ip link set veth0 down
	ended
	[ $txrc$rxrc = 11 ] && one_error tx.err '.*(timed out|No route to host|unreachable)$' &&
		one_error rx.err '.*(timed out|No route to host|unreachable)$' &&
		holds rxs '.bytes > 0 and .seconds < 15' && holds txs '.bytes > 0 and .seconds < 15'
}
ok "both ends report that the link went down" vanished

done_testing
