#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A test bed on one machine: two network namespaces joined by veth.
#
#   testbed.sh up [NAME]                          make it; on an existing one: check and set again
#   testbed.sh down [NAME]                        remove it, and end what still runs inside
#   testbed.sh run SIDE [-n NAME] COMMAND...      a command on a side: receiver or sender
#
# NAME is zcost unless given. The namespaces are NAME-receiver (192.0.2.1, 2001:db8::1) and
# NAME-sender (192.0.2.2, 2001:db8::2), so that this is the same as `testbed.sh run`:
#
#   ip netns exec zcost-receiver tcpzc --listen --cpu 1
#   ip netns exec zcost-sender tcpzc --connect 192.0.2.1 --cpu 0
#
# The receiver's packets are processed on CPU 1 and the sender's (acknowledgements) on CPU 0 (RPS):
# run the programs there and each side's cost is on a CPU of its own.
#
# Packets carry whole pages, so that a receiver can map them: the MTU leaves room for 15 pages of
# 4096 bytes and the larger of both headers, and the routes announce that segment size for IPv4 as
# for IPv6 (TESTBED_PAGES=1 to 15 changes it: 2 is a jumbo frame's).
#
# A packet crosses veth as large as the stack has made it, up to 64 KiB, whatever the MTU. With
# TESTBED_TSO=off each side cuts its packets to the MTU before they cross (TSO and GSO are off; wants
# ethtool), as a wire would have them; only then are MTU and GRO of the receiver worth a comparison.
#
# Congestion control is reno, which every kernel has and which does not pace: under bbr, the default of
# some hosts, a flow over veth waits for its timers, and these are most of what the sender costs.
# TESTBED_CC=bbr for another (it must be in net.ipv4.tcp_allowed_congestion_control), TESTBED_CC=host
# for the host's own.
#
# Nothing outside of the two namespaces is changed: no interface, address, route or sysctl of
# the host; `down` leaves nothing. Exit 0 done, 1 failed (the reason is on standard error), 2 usage;
# `run` gives the command's own.
set -u

rx_cpu=${TESTBED_RECEIVER_CPU:-1}
tx_cpu=${TESTBED_SENDER_CPU:-0}
pages=${TESTBED_PAGES:-15}
tso=${TESTBED_TSO:-on}
cc=${TESTBED_CC:-reno}
segment=$((pages * 4096))
mtu=$((segment + 72)) # IPv6 40, TCP 20, timestamps 12; IPv4 is 20 shorter
name=zcost

die() {
	echo "testbed.sh: $*" >&2
	exit 1
}

usage() {
	sed -n 's/^#   testbed.sh/usage: testbed.sh/p' "$0" >&2
	exit 2
}

set_name() {
	case $1 in
	'' | *[!a-zA-Z0-9_-]* | -*) echo "testbed.sh: bad name '$1'" >&2 && exit 2 ;;
	esac
	name=$1
}

namespace() { # SIDE
	case ${1:-} in
	receiver | sender) echo "$name-$1" ;;
	*) return 1 ;;
	esac
}

exists() {
	[ -e "/run/netns/$1" ] || [ -e "/var/run/netns/$1" ]
}

require() {
	command -v ip >/dev/null || die "there is no 'ip': install iproute2"
	case $tso in
	on) ;;
	off) command -v ethtool >/dev/null || die "there is no 'ethtool': install it" ;;
	*) die "TESTBED_TSO is on or off, not '$tso'" ;;
	esac
	[ "$(id -u)" = 0 ] || die "network namespaces need root: run it with sudo"
	[ -e /proc/self/ns/net ] || die "this kernel has no network namespaces (CONFIG_NET_NS)"
}

# mask CPU: as rps_cpus takes it, 32 bits a word, commas between
mask() {
	m=$(printf '%x' $((1 << ($1 % 32))))
	i=$(($1 / 32))
	while [ "$i" -gt 0 ]; do
		m=$m,00000000
		i=$((i - 1))
	done
	echo "$m"
}

# configure SIDE NUMBER CPU: everything here happens inside the namespace
configure() {
	ns=$name-$1
	ip -n "$ns" link set lo up &&
		ip -n "$ns" link set veth0 mtu "$mtu" &&
		ip -n "$ns" addr replace "192.0.2.$2/24" dev veth0 &&
		ip -n "$ns" link set veth0 up &&
		ip -n "$ns" route replace 192.0.2.0/24 dev veth0 src "192.0.2.$2" \
			advmss $((segment + 12)) || return 1
	if ip netns exec "$ns" test -d /proc/sys/net/ipv6/conf/veth0; then
		ip -n "$ns" addr replace "2001:db8::$2/64" dev veth0 nodad &&
			ip -n "$ns" route replace 2001:db8::/64 dev veth0 advmss $((segment + 12)) ||
			return 1
	fi
	[ "$tso" = on ] || ip netns exec "$ns" ethtool -K veth0 tso off gso off || return 1
	[ "$cc" = host ] || ip netns exec "$ns" sysctl -q "net.ipv4.tcp_congestion_control=$cc" || return 1
	ip netns exec "$ns" sh -c '
		echo "4096 131072 33554432" >/proc/sys/net/ipv4/tcp_rmem
		echo "4096 131072 33554432" >/proc/sys/net/ipv4/tcp_wmem
		for q in /sys/class/net/veth0/queues/rx-*/rps_cpus; do
			echo "$1" >"$q" || exit 1
		done' sh "$(mask "$3")"
}

up() {
	require
	for cpu in "$rx_cpu" "$tx_cpu"; do
		[ -d "/sys/devices/system/cpu/cpu$cpu" ] || die "there is no CPU $cpu: the receiver's \
packets go to CPU $rx_cpu, the sender's to $tx_cpu (TESTBED_RECEIVER_CPU, TESTBED_SENDER_CPU)"
	done
	for side in receiver sender; do
		exists "$name-$side" || ip netns add "$name-$side" ||
			{ remove; die "cannot make the network namespace $name-$side"; }
	done
	ip -n "$name-receiver" link show veth0 >/dev/null 2>&1 ||
		ip -n "$name-receiver" link add veth0 type veth peer name veth0 netns "$name-sender" ||
		{ remove; die "cannot make a veth pair (the module veth)"; }
	configure receiver 1 "$rx_cpu" && configure sender 2 "$tx_cpu" ||
		{ remove; die "cannot set up the test bed '$name' (the message above says why)"; }
	echo "test bed '$name' is up: $name-receiver 192.0.2.1, $name-sender 192.0.2.2, MTU $mtu" >&2
}

end_processes() { # NAMESPACE
	for signal in TERM KILL; do
		pids=$(ip netns pids "$1" 2>/dev/null)
		[ -n "$pids" ] || return 0
		kill -s "$signal" $pids 2>/dev/null
		i=0
		while [ -n "$(ip netns pids "$1" 2>/dev/null)" ] && [ "$i" -lt 20 ]; do
			sleep 0.1
			i=$((i + 1))
		done
	done
}

remove() {
	failed=
	for side in receiver sender; do
		exists "$name-$side" || continue
		end_processes "$name-$side"
		ip -n "$name-$side" link del veth0 2>/dev/null # at once, not when the last socket goes
		ip netns del "$name-$side" || failed="$failed $name-$side"
	done
	[ -z "$failed" ]
}

down() {
	require
	remove || die "could not remove:$failed"
}

on_side() { # SIDE [-n NAME] COMMAND...
	side=${1:-}
	[ $# -gt 0 ] && shift
	if [ "${1:-}" = -n ]; then
		[ $# -ge 2 ] || usage
		set_name "$2"
		shift 2
	fi
	ns=$(namespace "$side") && [ $# -gt 0 ] || usage
	require
	exists "$ns" || die "there is no test bed '$name': testbed.sh up $name"
	exec ip netns exec "$ns" "$@"
}


what=${1:-}
[ $# -gt 0 ] && shift
case $what in
up | down)
	[ $# -le 1 ] || usage
	[ $# = 0 ] || set_name "$1"
	"$what"
	;;
run) on_side "$@" ;;
*) usage ;;
esac
