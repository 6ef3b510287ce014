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
at_least() { # at_least NAME N
	awk -v v="$(metric "$1")" -v n="$2" 'BEGIN { if (v == "" || v < n) { print "got", v; exit 1 } }'
}
run() {
	rm -rf r
	exits 0 "$zcost" collect -o r "$@" && exits 0 "$zcost" analyze r
}
# What is read at both ends is cut to the window: 30 may come out as 29.999.
# So many datagrams to nobody on loopback, one each 10 ms.
send='i=0; while [ $i -lt 30 ]; do echo x >/dev/udp/127.0.0.1/9 || :; sleep 0.01; i=$((i + 1)); done; sleep 0.1'

ok "irq, snmp" run --collect irq,snmp -- bash -c "$send" 2>/dev/null
ok "the stack's counters, as nstat names them" at_least snmp:UdpOutDatagrams 29.5
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
ok "the workload in a namespace of its own" run --collect snmp --warmup 0.3 -- \
	ip netns exec "$ns" bash -c "sleep 0.5; $send"
ok "is found there" test "$(info snmp info.netns)" = workload
ok "its counters alone" near "$(metric snmp:UdpOutDatagrams)" 30 0.5
ok "a child in it" run --collect snmp --warmup 0.3 -- \
	sh -c "ip netns exec $ns bash -c 'sleep 0.5; $send'; true"
ok "is followed" near "$(metric snmp:UdpOutDatagrams)" 30 0.5
rm -rf r
ok "without a warm-up it enters when the window is open" exits 0 "$zcost" collect -o r --collect snmp -- \
	ip netns exec "$ns" sleep 1.3
ok "and is found later" test "$(info snmp info.netns)" = workload

done_testing
