# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Shared by the tests of tcpzc. Source it after lib.sh.

need jq
name=zctest-${scratch##*.} # names the namespaces; a killed test used another name

next_port

# transfer HOST RECEIVER-OPTIONS -- SENDER-OPTIONS: leaves rx, tx (lines), rxs, txs (summaries),
# rxrc, txrc. $rx_prefix and $tx_prefix precede the program.
rx_prefix= tx_prefix=
transfer() {
	next_port
	transfer_here "$@"
}
transfer_here() { # at $port
	host=$1 rxo=
	shift
	while [ "$1" != -- ]; do
		rxo="$rxo $1"
		shift
	done
	shift
	$rx_prefix "$tcpzc" --listen --port $port --accept-timeout ${accept_timeout:-60} $rxo >rx 2>rx.err &
	pid=$!
	$tx_prefix "$tcpzc" --connect "$host" --port $port "$@" >tx 2>tx.err
	txrc=$?
	wait $pid
	rxrc=$?
	grep '"summary"' rx >rxs
	grep '"summary"' tx >txs
	[ $txrc = 0 ] && [ $rxrc = 0 ] || { cat tx.err rx.err; return 1; }
}

# start RECEIVER-OPTIONS -- SENDER-OPTIONS: starts both ends, $rxpid and $txpid, and waits for data
start() {
	rxo=
	while [ "$1" != -- ]; do
		rxo="$rxo $1"
		shift
	done
	shift
	next_port
	: >rx # removes the points of the previous test
	$rx_prefix "$tcpzc" --listen --port $port $rxo >rx 2>rx.err &
	rxpid=$!
	$tx_prefix "$tcpzc" --connect "${host:-127.0.0.1}" --port $port --seconds 20 "$@" >tx 2>tx.err &
	txpid=$!
	soon has_points 3 rx
}
ended() { # waits for both ends and leaves what transfer leaves
	wait $txpid
	txrc=$?
	wait $rxpid
	rxrc=$?
	grep '"summary"' rx >rxs
	grep '"summary"' tx >txs
}
stopped() { # stopped SIGNAL TX RX [OPTIONS]: stops the sender; both ends succeed and agree
	signal=$1 tx=$2 rx=$3
	shift 3
	start --rx $rx "$@" -- --tx $tx "$@"
	kill -$signal $txpid
	ended
	[ $txrc$rxrc = 00 ] && [ "$(jq -c '.bytes, (.flows | length)' rxs)" = "$(jq -c '.bytes, (.flows | length)' txs)" ] ||
		{ cat rx.err tx.err rxs txs; return 1; }
}

# host-tcpzc-nic.t tests the modes that need a NIC with spare queues.
modes() { # sending|receiving
	"$tcpzc" --help | sed -n "/^Ways of $1/,/^\$/s/^  \\([a-z][a-z-]*\\) .*/\\1/p" | grep -vxE 'zcrx|devmem'
}

# Receive modes that can read the received bytes.
seeing_modes() {
	modes receiving | grep -vx trunc
}

# here TX: succeeds if this kernel supports the mode; else sets $why to what is missing.
here() {
	why=$("$tcpzc" --connect 127.0.0.1 --port 1 --tx "$1" --connect-timeout 0.01 2>&1 >/dev/null |
		sed -n '/cannot connect/d; s/^tcpzc: //p')
	[ -z "$why" ]
}

# rx_here RX: the same for a receive mode with its options.
rx_here() {
	why=$("$tcpzc" --listen --port $port --rx "$@" --accept-timeout 0.01 2>&1 >/dev/null |
		sed -n '/nobody connected/d; s/^tcpzc: //p')
	[ -z "$why" ]
}

refused() { # refused PATTERN OPTIONS...: a receiver of the mode $rx refuses them
	pattern=$1
	shift
	exits 1 "$tcpzc" --listen=127.0.0.1 --port $port --accept-timeout 1 --rx $rx "$@" && says "$pattern" err && says '"type":"error"' out
}

usage() { # usage PATTERN OPTIONS...: tcpzc does not take them
	pattern=$1
	shift
	exits 2 "$tcpzc" "$@" && says "$pattern" err && [ ! -s out ]
}

has_ipv6() {
	grep -q ' lo$' /proc/net/if_inet6 2>/dev/null
}

kernel_since() { # MAJOR MINOR
	uname -r | awk -F '[.-]' -v a="$1" -v b="$2" '{ exit !($1 > a || ($1 == a && $2 >= b)) }'
}

holds() { # holds FILE FILTER: the jq FILTER is true for the line of FILE
	[ "$(jq -r "$2" "$1")" = true ] || { echo "not $2:"; cat "$1"; return 1; }
}

# has_socket PID PROTOCOL STATE: /proc/net lists such a socket of PID, in IPv4 or IPv6
has_socket() {
	cat /proc/"$1"/net/"$2" /proc/"$1"/net/"$2"6 2>/dev/null | awk '{ print $10, $4 }' >sockets
	for fd in /proc/"$1"/fd/*; do
		inode=$(readlink "$fd" | sed -n 's/^socket:\[\(.*\)\]$/\1/p')
		[ -n "$inode" ] && grep -qx "$inode $3" sockets && return
	done
	return 1
}
listening() { # listening PID: waits until it has a listening socket
	soon has_socket "$1" tcp 0A
}
bound() { # bound PID: waits until it has a datagram socket
	soon has_socket "$1" udp 07
}

gone() { # gone PID: it has ended, or is a zombie
	! grep -qs '^State:.[^ZX]' /proc/"$1"/status
}
has_points() { # N FILE
	[ "$(grep -c '"point"' "$2")" -ge "$1" ]
}

# strace is installed and may trace.
can_trace() {
	strace -o /dev/null true 2>/dev/null
}
