#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A test bed on one machine: two network namespaces joined by veth.
#
#   testbed.sh up [NAME]                          make it, or check and repair an existing one
#   testbed.sh down [NAME]                        end its processes and remove it
#   testbed.sh run SIDE [-n NAME] COMMAND...      run a command on a side: receiver or sender
#
# The default NAME is zcost. The namespaces are NAME-receiver (192.0.2.1, 2001:db8::1) and NAME-sender
# (192.0.2.2, 2001:db8::2). These commands do the same as `testbed.sh run`:
#
#   ip netns exec zcost-receiver tcpzc --listen --cpu 1
#   ip netns exec zcost-sender tcpzc --connect 192.0.2.1 --cpu 0
#
# RPS sends the receiver's packets to CPU 1 and the sender's (acknowledgements) to CPU 0. Run the programs
# on these CPUs to have the cost of each side on one CPU.
#
# Packets carry whole pages, so that a receiver can map them. The MTU has room for 15 pages of 4096 bytes
# and the larger of both headers, and the routes announce that segment size for IPv4 and IPv6.
# TESTBED_PAGES=1 to 15 changes it. 2 pages are a jumbo frame.
#
# A packet crosses veth at the size that the stack gave it, up to 64 KiB, whatever the MTU is. With
# TESTBED_TSO=off each side cuts its packets to the MTU first, as a wire carries them (TSO and GSO are off,
# which needs ethtool). Only then does a comparison of the receiver's MTU or GRO make sense.
#
# The congestion control is reno, which every kernel has and which does not pace. Under bbr, the default of
# some hosts, a flow over veth waits for its timers, and these are most of the sender's cost.
# TESTBED_CC=bbr selects another one (which net.ipv4.tcp_allowed_congestion_control must have), and
# TESTBED_CC=host the default of the host.
#
# The script changes nothing outside of the two namespaces: no interface, address, route or sysctl of the
# host. `down` leaves nothing. Exit codes: 0 done, 1 failed (standard error says why), 2 usage. `run` exits
# with the code of its command.
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

# mask CPU: prints the mask for rps_cpus: words of 32 bits with commas between them
mask() {
	m=$(printf '%x' $((1 << ($1 % 32))))
	i=$(($1 / 32))
	while [ "$i" -gt 0 ]; do
		m=$m,00000000
		i=$((i - 1))
	done
	echo "$m"
}

# configure SIDE NUMBER CPU: changes only the namespace of the side
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
		ip -n "$name-$side" link del veth0 2>/dev/null # removes it at once, not with the last socket
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
