#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Queues, NAPI and page pools of a pair of veth in network namespaces: a NAPI thread with settings, an AF_XDP socket that has a queue
# for a part of the window, and pages of the pool that an XDP program needs. The interface to the outside is only read.
. "$(dirname "$0")/../lib.sh"
need root jq ip ethtool bash
unset ZCOST_COLLECT
space=zcost-q-$$
peer=zcost-p-$$
cleanup() {
	ip netns del "$space" 2>/dev/null
	ip netns del "$peer" 2>/dev/null
}
{ ip netns add "$space" && ip netns add "$peer" &&
	ip -n "$space" link add q0 type veth peer name q1 netns "$peer"; } 2>err || skip_all "no veth in a namespace: $(cat err)"
ip -n "$space" addr add 10.77.0.1/24 dev q0 && ip -n "$space" link set q0 up
ip -n "$peer" addr add 10.77.0.2/24 dev q1 && ip -n "$peer" link set q1 up
ip netns exec "$space" ethtool -K q0 gro on
ip netns exec "$space" sh -c 'cd /sys/class/net/q0 && echo 1 >threaded && echo 2 >napi_defer_hard_irqs && echo 20000 >gro_flush_timeout'

collect() { # collect COLLECTORS COMMAND...: in the namespace, until the command ends
	names=$1
	shift
	rm -rf r
	exits 0 "$zcost" collect -o r --collect "$names" --warmup 0.3 --duration 20 --grace 0 -- ip netns exec "$space" "$@" || return 1
	"$zcost" analyze r 2>log
}
cell() { # cell TABLE CONDITION COLUMN: the column in rows of q0
	"$zcost" report "$1" r --format tsv 2>err | tsv "\$at[\"interface\"] == \"q0\" && $2 { print \$at[\"$3\"] }"
}
readings() { # the script waits for so many readings: the first is that of the window's start
	echo "until [ \$(grep -c ^@ r/queues.snap 2>/dev/null || echo 0) -ge $1 ]; do sleep 0.05; done"
}
works queues collect queues sh -c "$(readings 2); '$build/tests/tools/xdp_owner' q0 0 sh -c '$(readings 4)'; $(readings 5)"

thread=$(cell queues '$at["queue"] == "napi"' pid)
ok "the table names the thread of NAPI" grep -q '^napi/q0-' "/proc/$thread/comm"
ok "and its settings" test "$(cell queues '$at["queue"] == "napi"' defer_hard_irqs) $(cell queues '$at["queue"] == "napi"' gro_flush_timeout)" = "2 20000"
owned() { # the socket had it at the third and fourth reading of five or more
	for of in owned_pct from_s to_s; do cell queues '$at["queue"] == "rx-0" && $at["owner"] == "xsk"' $of; done | xargs >of
	awk '{ exit !($1 > 25 && $1 < 75 && $2 > 0.9 && $3 - $2 > 0.9) }' of || { "$zcost" report queues r && false; }
}
ok "an AF_XDP socket owned the queue from the second second on" owned
ok "the series has the owner" sh -c "'$zcost' report timeline r --name 'queue_owned:q0/rx-0/xsk' --format tsv 2>err | grep -q xsk"

# Without GRO, veth makes the pool for the program and frees it after it: every page goes back, those that were recycled once.
ip netns exec "$space" ethtool -K q0 gro off
pages() {
	collect pools,queues sh -c "sleep 0.5; '$build/tests/tools/xdp_owner' q0 0 ip netns exec $peer bash -c '
		for i in {1..100}; do printf %1400d 0 >/dev/udp/10.77.0.1/9; done'; sleep 0.5" || return 1
	held=$(cell pools '$at["name"] == "held"' count)
	[ "${held:-0}" -ge 1 ] && [ "$held" = "$(cell pools '$at["name"] == "released"' count)" ] || { cat r/pools.tsv && false; }
}
why=$(exits 0 "$zcost" collect -o w --collect pools --duration 0.1 --grace 0 -- sleep 1 >/dev/null && jq -r '.collectors[] | select(.state == "unsupported").why' w/run.json)
if [ -n "$why" ]; then
	skip "the pages of a pool are counted" "$why"
else
	steady "every page that an unlisted pool got from the allocator went back" pages
fi

# The kernel has as many queues in sysfs.
nic=$(ip -o -4 route show default | awk '{ print $5; exit }')
if [ -n "$nic" ]; then
	exits 0 "$zcost" collect -o n --collect queues --duration 0.3 --grace 0 -- sleep 1 >out && "$zcost" analyze n 2>log
	"$zcost" report queues n --all --format tsv 2>err | tsv "\$at[\"interface\"] == \"$nic\" && \$at[\"owner\"] == \"none\" { print \$at[\"queue\"] }" | sort >seen
	ls "/sys/class/net/$nic/queues" | sort >queues
	ok "the interface to the outside has the queues of sysfs" cmp seen queues
fi

done_testing
