# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# What the tests of tcpzc share; after lib.sh.

command -v jq >/dev/null || skip_all "no jq"
port=$((20000 + $$ % 10000))

# transfer HOST RECEIVER-OPTIONS -- SENDER-OPTIONS: leaves rx, tx (lines), rxs, txs (summaries),
# rxrc, txrc. $rx_prefix and $tx_prefix go before the program.
rx_prefix= tx_prefix=
transfer() {
	host=$1 rxo=
	shift
	while [ "$1" != -- ]; do
		rxo="$rxo $1"
		shift
	done
	shift
	port=$((port + 1))
	$rx_prefix "$tcpzc" --listen --port $port --accept-timeout ${accept_timeout:-20} $rxo >rx 2>rx.err &
	pid=$!
	$tx_prefix "$tcpzc" --connect "$host" --port $port "$@" >tx 2>tx.err
	txrc=$?
	wait $pid
	rxrc=$?
	grep '"summary"' rx >rxs
	grep '"summary"' tx >txs
	[ $txrc = 0 ] && [ $rxrc = 0 ] || { cat tx.err rx.err; return 1; }
}

# Those that take a NIC with queues to give away are tested in host-tcpzc-zcrx.t and -devmem.t.
modes() { # sending|receiving
	"$tcpzc" --help | sed -n "/^Ways of $1/,/^\$/s/^  \\([a-z][a-z-]*\\) .*/\\1/p" | grep -vxE 'zcrx|devmem'
}

# Ways of receiving that see what they receive.
seeing_modes() {
	modes receiving | grep -vx trunc
}

# here TX: this kernel has what the mode needs; else $why says what is missing.
here() {
	why=$("$tcpzc" --connect 127.0.0.1 --port 1 --tx "$1" --connect-timeout 0.01 2>&1 >/dev/null |
		sed -n '/cannot connect/d; s/^tcpzc: //p')
	[ -z "$why" ]
}

# rx_here RX: the same of a receiver, with the options beside it.
rx_here() {
	why=$("$tcpzc" --listen --port $port --rx "$@" --accept-timeout 0.01 2>&1 >/dev/null |
		sed -n '/nobody connected/d; s/^tcpzc: //p')
	[ -z "$why" ]
}

has_ipv6() {
	grep -q ' lo$' /proc/net/if_inet6 2>/dev/null
}

kernel_since() { # MAJOR MINOR
	uname -r | awk -F '[.-]' -v a="$1" -v b="$2" '{ exit !($1 > a || ($1 == a && $2 >= b)) }'
}

holds() { # FILE FILTER: jq says true for its one line
	[ "$(jq -r "$2" "$1")" = true ] || { echo "not $2:"; cat "$1"; return 1; }
}

# listening PID: until it has a listening socket
listening() {
	i=0
	while [ $i -lt 100 ]; do
		for fd in /proc/"$1"/fd/*; do
			inode=$(readlink "$fd" | sed -n 's/^socket:\[\(.*\)\]$/\1/p')
			[ -n "$inode" ] && awk -v i="$inode" '$4 == "0A" && $10 == i { found = 1 }
				END { exit !found }' /proc/"$1"/net/tcp /proc/"$1"/net/tcp6 && return 0
		done
		sleep 0.05
		i=$((i + 1))
	done
	echo "process $1 does not listen"
	return 1
}
