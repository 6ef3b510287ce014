#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What the kernel counts beside the workload: interrupts, the network stack, in whose namespace.
. "$(dirname "$0")/../lib.sh"

[ "$(id -u)" = 0 ] || skip_all "needs root: network namespaces"

ns=zcost-ck$$
cleanup() { ip netns del "$ns" 2>/dev/null; }

info() { # info COLLECTOR KEY
	jq -r ".collectors[] | select(.name == \"$1\") | .$2" r/run.json
}
metric() { # metric NAME
	sqlite3 r/zcost.db "SELECT value FROM metric WHERE name = '$1'"
}
notes() { notes_of r >notes; }
at_least() { # at_least NAME N
	awk -v v="$(metric "$1")" -v n="$2" 'BEGIN { if (v == "" || v < n) { print "got", v; exit 1 } }'
}
run() {
	rm -rf r
	exits 0 "$zcost" collect -o r "$@" && exits 0 "$zcost" analyze r && notes
}
# What is read at both ends is cut to the window: 30 may come out as 29.999.
# So many datagrams to nobody on loopback, one each 10 ms.
send='sleep 0.3; i=0; while [ $i -lt 30 ]; do echo x >/dev/udp/127.0.0.1/9 || :; sleep 0.01; i=$((i + 1)); done; sleep 0.1'

here() {
	run --collect irq,snmp -- bash -c "$send" 2>/dev/null && at_least snmp:UdpOutDatagrams 29.5
}
steady "irq, snmp: the stack's counters, as nstat names them" here
ok "softirqs by CPU add up" near "$(metric softirq:NET_RX)" "$(sqlite3 r/zcost.db \
	"SELECT SUM(value) FROM metric WHERE name LIKE 'softirq_cpu%:NET_RX'")" 0.001
ok "interrupts of the CPUs" at_least irq:total 1
ok "of this host's own namespace" test "$(info snmp info.netns)" = host
for c in irq snmp; do
	ok "$c: what a reading cost is known" test "$(info $c info.reading_us)" -gt 0
	ok "$c: at the window's ends at least" test "$(info $c info.readings)" -ge 2
done
ok "report irq" exits 0 "$zcost" report irq r
ok "names the softirq" says 'softirq .*NET_RX' out
ok "report snmp" exits 0 "$zcost" report snmp r
ok "what changed" says UdpOutDatagrams out
ok "and not what did not" sh -c "! grep -q TcpExtSyncookiesSent out"
ok "report snmp --all" exits 0 "$zcost" report snmp r --all
ok "shows it" says 'TcpExtSyncookiesSent .* 0' out

ok "a namespace" ip netns add "$ns"
ip -n "$ns" link set lo up
there() { # there COMMAND...: it sends in the namespace, when the window is open
	run --collect snmp --warmup 0.5 -- "$@" && near "$(metric snmp:UdpOutDatagrams)" 30 0.5
}
steady "the workload in a namespace of its own: its counters alone" there ip netns exec "$ns" bash -c "sleep 0.7; $send"
ok "is found there" test "$(info snmp info.netns)" = workload
steady "a child in it is followed" there sh -c "ip netns exec $ns bash -c 'sleep 0.7; $send'; true"
rm -rf r
ok "without a warm-up it enters when the window is open" exits 0 "$zcost" collect -o r --collect snmp -- \
	ip netns exec "$ns" sleep 1.3
ok "and is found later" test "$(info snmp info.netns)" = workload

# Interfaces of the namespace: a pair that is there all the time, one that is made again, one that vanishes.
ip -n "$ns" link add a0 type veth peer name a1
ip -n "$ns" addr add 198.51.100.1/24 dev a0
for i in a0 a1; do ip -n "$ns" link set $i addrgenmode none up; done # IPv6 would send when it likes to
for i in b c; do ip -n "$ns" link add ${i}0 type veth peer name ${i}1; done
ok "nic: interfaces that come and go" run --collect nic --warmup 0.3 --duration 3 -- ip netns exec "$ns" bash -c '
	sleep 0.6
	for i in 1 2 3 4 5; do echo x >/dev/udp/198.51.100.2/9; done # ARP asks, into a1
	sleep 1.2; ip link del b0; ip link del c0; ip link add b0 type veth peer name b1; sleep 2.5'
ok "both namespaces" test "$(info nic info.netns)" = host,workload
ok "what one end sent" at_least nic:workload/a0/link/tx_packets 0.5
ok "the other received" near "$(metric nic:workload/a0/link/tx_packets)" "$(metric nic:workload/a1/link/rx_packets)" 0.01
ok "the driver's counters" at_least nic:workload/a0/ethtool/peer_ifindex 0
ok "lo of the host" at_least nic:host/lo/link/rx_packets 0
ok "an interface that was registered again is noted" says "workload/b0 was registered again in the window" notes
ok "an interface that vanished is noted" says "workload/c0 vanished before the window's end; its counters are known for" notes
known() { # readings that cost much are fewer: with many interfaces there may be none but the ends
	[ "$(info nic info.skipped)" != null ] || at_least nic_known_s:workload/c0/link/rx_packets 0.5
}
ok "its counters are known for a part" known
ok "report nic" exits 0 "$zcost" report nic r
ok "the interface at work" says 'workload +a0 +kernel .*tx_packets' out
ok "how it is set up" says 'workload/a0: veth, .*mtu 1500' out
ok "as data" sh -c "'$zcost' report nic r --format json | jq -e '.interfaces.rows | map(select(.interface == \"a0\" and
	.setting == \"feature:rx-gro\")) | length == 1'"
# The same by ethtool, where it is installed.
if command -v ethtool >/dev/null; then
	nic=$(ip -o -4 route show default | awk '{ print $5; exit }')
	ring=$([ -z "$nic" ] || ethtool -g "$nic" 2>/dev/null | awk '/^RX:/ { n = $2 } END { print n }')
	case $ring in
	[0-9]*) ok "rings as ethtool shows them" test "$ring.0" = "$(metric "nic_state:host/$nic/rx_ring")" ;;
	esac
fi

done_testing
