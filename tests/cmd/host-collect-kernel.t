#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The kernel's counters: interrupts and the network stack, per network namespace.
. "$(dirname "$0")/../lib.sh"

need root

ns=zcost-ck$$
cleanup() { ip netns del "$ns" 2>/dev/null; }

notes() { notes_of r >notes; }
at_least() { # at_least NAME N
	awk -v v="$(figure "$1")" -v n="$2" 'BEGIN { if (v == "" || v < n) { print "got", v; exit 1 } }'
}
run() {
	rm -rf r
	exits 0 "$zcost" collect -o r "$@" && exits 0 "$zcost" analyze r && notes
}
# The counts are cut to the window: 30 may become 29.999.
# Sends 30 datagrams to an unused port on loopback, one each 10 ms, after the reading before the window.
send='until [ $(grep -c ^@ r/snmp.snap) -ge 2 ]; do sleep 0.02; done; i=0; while [ $i -lt 30 ]; do echo x >/dev/udp/127.0.0.1/9 || :; sleep 0.01; i=$((i + 1)); done; sleep 0.1'

here() {
	run --collect irq,snmp -- bash -c "$send" 2>/dev/null && at_least snmp:UdpOutDatagrams 29.5
}
steady "snmp counts the workload's datagrams under nstat's name" here
ok "softirqs of all CPUs sum to the total" near "$(figure softirq:NET_RX)" "$(sqlite3 r/zcost.db \
	"SELECT SUM(value) FROM metric WHERE name = 'softirq' AND object = 'NET_RX' AND cpu IS NOT NULL")" 0.001
ok "irq counts at least one interrupt" at_least irq:total 1
ok "snmp reads the host's network namespace" test "$(collector snmp .info.netns)" = host
for c in irq snmp; do
	ok "run.json has the cost of a reading of $c" test "$(collector $c .info.reading_us)" -gt 0
	ok "$c has at least two readings" test "$(collector $c .info.readings)" -ge 2
done
ok "report irq succeeds" exits 0 "$zcost" report irq r
ok "report irq lists NET_RX" says 'softirq .*NET_RX' out
ok "report snmp succeeds" exits 0 "$zcost" report snmp r
ok "report snmp lists a counter that changed" says UdpOutDatagrams out
ok "report snmp omits a counter that did not change" sh -c "! grep -q TcpExtSyncookiesSent out"
ok "report snmp --all succeeds" exits 0 "$zcost" report snmp r --all
ok "report snmp --all lists a counter that did not change" says 'TcpExtSyncookiesSent .* 0' out

ok "the host can add a network namespace" ip netns add "$ns"
ip -n "$ns" link set lo up
there() { # there COMMAND...: runs it, which sends in the namespace inside the window
	run --collect snmp --warmup $((again - 1)).5 -- "$@" && near "$(figure snmp:UdpOutDatagrams)" 30 0.5
}
steady "snmp counts only the namespace of the workload" there ip netns exec "$ns" bash -c "$send"
ok "snmp names the workload's namespace" test "$(collector snmp .info.netns)" = workload
steady "snmp counts the namespace of the workload's child" there sh -c "ip netns exec $ns bash -c '$send'; true"
enters() {
	rm -rf r
	exits 0 "$zcost" collect -o r --collect snmp -- ip netns exec "$ns" sleep $again.3 && [ "$(collector snmp .info.netns)" = workload ]
}
steady "snmp finds a namespace that the workload enters inside the window" enters

# Interfaces of the namespace: a pair that stays, one that is registered again, one that vanishes.
ip -n "$ns" link add a0 type veth peer name a1
ip -n "$ns" addr add 198.51.100.1/24 dev a0
for i in a0 a1; do ip -n "$ns" link set $i addrgenmode none up; done # IPv6 would send packets at any time
for i in b c; do ip -n "$ns" link add ${i}0 type veth peer name ${i}1; done
ok "nic runs while interfaces appear and vanish" run --collect nic --warmup 0.3 -- ip netns exec "$ns" bash -c '
	reading() { until [ $(grep -c ^@ r/nic.snap) -ge $1 ]; do sleep 0.05; done; }
	reading 2
	for i in 1 2 3 4 5; do echo x >/dev/udp/198.51.100.2/9; done # ARP asks, into a1
	reading 3; ip link del b0; ip link del c0; ip link add b0 type veth peer name b1; reading 5'
ok "nic reads the host's and the workload's namespace" test "$(collector nic .info.netns)" = host,workload
ok "nic counts the packets that one veth sent" at_least nic:workload/a0/link/tx_packets 0.5
ok "nic counts the same packets at the peer" near "$(figure nic:workload/a0/link/tx_packets)" "$(figure nic:workload/a1/link/rx_packets)" 0.01
ok "nic reads the driver's counters" at_least nic:workload/a0/ethtool/peer_ifindex 0
ok "nic reads lo of the host" at_least nic:host/lo/link/rx_packets 0
ok "a note reports an interface that was registered again" says "the interface workload/b0: counted for [0-9.]* s of the window" notes
ok "a note reports an interface that vanished" says "the interface workload/c0: counted for [0-9.]* s of the window" notes
known() { # expensive readings are fewer: with many interfaces there may be only those at the ends
	[ "$(collector nic .info.skipped)" != null ] || at_least nic_known_s:workload/c0/link/rx_packets 0.5
}
ok "the store has the time for which a vanished interface was known" known
ok "report nic succeeds" exits 0 "$zcost" report nic r --verbose
ok "report nic lists the busy interface and its counter" says 'workload +a0 +kernel .*tx_packets' out
ok "report nic shows the driver and the MTU" says 'workload/a0: veth, .*mtu 1500' out
# Compares with ethtool where it is installed.
if command -v ethtool >/dev/null; then
	nic=$(ip -o -4 route show default | awk '{ print $5; exit }')
	ring=$([ -z "$nic" ] || ethtool -g "$nic" 2>/dev/null | awk '/^RX:/ { n = $2 } END { print n }')
	case $ring in
	[0-9]*) ok "nic reads the ring size that ethtool shows" test "$ring.0" = "$(figure "nic_state:host/$nic/rx_ring")" ;;
	esac
fi

# A hook sets a sysctl in the namespace of the workload. hosts/ has the host's.
hosts_rmem=$(cat /proc/sys/net/ipv4/tcp_rmem)
cat >rmem.ini <<EOT
$short_plan
[setting rmem]
values = 1000000 9000000
before = ip netns exec $ns sysctl -qw net.ipv4.tcp_rmem="4096 65536 \${rmem}"
after = true
[side receiver]
prefix = ip netns exec $ns
[variant v]
receiver = sleep 60
EOT
ok "a plan sets a sysctl in the workload's namespace" exits 0 "$zcost" capture rmem.ini -o rmem
"$zcost" analyze rmem >out 2>err
"$zcost" compare v+rmem1000000 v+rmem9000000 -C rmem --table settings --format tsv >out 2>err
ok "the settings that differ have the sysctl of the workload's namespace" says \
	'	sysctl:net.ipv4.tcp_rmem	4096 65536 1000000	4096 65536 9000000$' out
ok "no other sysctl differs" test "$(grep -c sysctl: out)" = 1
ok "the host's own sysctl is as before" test "$(cat /proc/sys/net/ipv4/tcp_rmem)" = "$hosts_rmem"
"$zcost" report host rmem --format tsv >out 2>err
ok "report host has the congestion control of the host" says "	congestion control	$(cat /proc/sys/net/ipv4/tcp_congestion_control)$" out
ok "report host has the default qdisc of the host" says "	default qdisc	$(cat /proc/sys/net/core/default_qdisc)$" out
ok "report host has the setting of huge pages" says '	transparent huge pages	.*\[[a-z]+\]' out
ok "report host has the CPU's flaws and what the kernel does against them" says '	CPU mitigations	.*(mitigated|not affected|vulnerable): ' out

# 20 listening sockets of the workload, in a namespace of its own.
hold='ip link set lo up; exec perl -MIO::Socket::INET -e "
	@s = map { IO::Socket::INET->new(Listen => 1, LocalAddr => q(127.0.0.1)) } 1 .. 20; sleep 60"'
held() { # 20 TCP sockets were in use on average and at most
	run --collect sockstat --warmup $((again - 1)).7 --duration 0.3 --grace 0 -- unshare -n sh -c "$hold" &&
		near "$(figure sockstat_mean:TCP.inuse)" 20 0 && near "$(figure sockstat_max:TCP.inuse)" 20 0 &&
		[ "$(collector sockstat .info.netns)" = workload ]
}
steady "sockstat counts the sockets of a namespace that the workload entered" held

done_testing
