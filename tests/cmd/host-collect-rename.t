#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# An interface that is renamed inside the window: its counters, its driver's counters and its settings share one
# ifindex, and reports list them under one name.
. "$(dirname "$0")/../lib.sh"
need root sqlite3

ns=zcost-cn$$
cleanup() { ip netns del "$ns" 2>/dev/null; }
ip netns add "$ns" || skip_all "no namespaces here"

metric() { # metric NAME
	sqlite3 r/zcost.db "SELECT value FROM metric WHERE $spelled = '$1'"
}
metrics() { # metrics PATTERN: the number of matching metrics
	sqlite3 r/zcost.db "SELECT COUNT(*) FROM metric WHERE $spelled GLOB '$1'"
}
analyzed() {
	exits 0 "$zcost" analyze r && notes_of r >notes
}

# No other process sends.
ip netns exec "$ns" sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6' 2>/dev/null
for i in a b; do
	ip -n "$ns" link add ${i}0 type veth peer name ${i}1
	for k in 0 1; do ip -n "$ns" link set $i$k up; done
done
ip -n "$ns" addr add 198.51.100.1/24 dev a0
ip -n "$ns" neigh add 198.51.100.2 lladdr 02:00:00:00:00:02 dev a0
cat >work.sh <<'EOT'
packets() { for i in 1 2 3 4 5; do echo x >/dev/udp/198.51.100.2/9; done; }
readings() { grep -c ^@ r/nic.snap; }
more() { # more N: waits until there are two readings more than N
	until [ "$(readings)" -ge $(($1 + 2)) ]; do sleep 0.05; done
}
until [ -s r/nic.snap ]; do sleep 0.05; done
more "$(readings)" # the first reading is before the window
packets
more "$(readings)"
for i in a0 b0; do ip link set $i down; done # older kernels rename only an interface that is down
ip link set a0 name zz0
ip link set b0 name a0 # b0 takes the free name
ip link set zz0 name first0
for i in first0 a0; do ip link set $i up; done
until [ "$(cat /sys/class/net/first0/operstate)" = up ]; do sleep 0.05; done
ip neigh replace 198.51.100.2 lladdr 02:00:00:00:00:02 dev first0
packets
more "$(readings)"
packets
EOT
index=$(ip netns exec "$ns" cat /sys/class/net/a0/ifindex)
other=$(ip netns exec "$ns" cat /sys/class/net/b0/ifindex)
driver() { grep -c "^v	workload	$index	[^	]*	ethtool" r/nic.snap; }

ok "collect runs while two interfaces change their names" timeout 120 "$zcost" collect -o r --collect nic --warmup 0.3 -- \
	ip netns exec "$ns" bash work.sh
ok "analyze accepts a run with renamed interfaces" analyzed
ok "all packets of a renamed interface have its last name" near "$(metric nic:workload/first0/link/tx_packets)" 15 0.5
ok "a renamed interface is known for the whole window" test -z "$(metric nic_known_s:workload/first0/link/tx_packets)"
ok "an interface that takes a free name has only its own packets" near "$(metric nic:workload/a0/link/tx_packets)" 0 0.5
ok "no metric has an interface's old name" test "$(metrics 'nic:workload/b0/*')" = 0
ok "each reading has the driver's counters of the renamed interface" test "$(driver)" = "$(grep -c ^@ r/nic.snap)"
ok "the driver's counters have the interface's last name" test "$(metrics 'nic:workload/first0/ethtool/*')" -gt 0
ok "the driver's name is listed under the interface's last name" test "$(sqlite3 r/zcost.db "SELECT value FROM fact WHERE name = 'nic:workload/first0/driver'")" = veth
ok "report nic succeeds" exits 0 "$zcost" report nic r --verbose
ok "report nic lists counters and settings under one name" sh -c \
	"grep -q 'workload  *first0  *kernel .*tx_packets' out && grep -q 'workload/first0: veth' out"

# Readings that end before the new name.
awk -v OFS='\t' -F'\t' -v a="$index" -v b="$other" '$3 == a { $4 = "a0" } $3 == b { $4 = "b0" } { print }' r/nic.snap |
	awk 'BEGIN { ORS = "" } /^@/ { if (head) { print head " " length(text) "\n" text } head = $1; text = ""; next }
	{ text = text $0 "\n" } END { print head " " length(text) "\n" text }' >snap
cp snap r/nic.snap
ok "analyze accepts readings that have only the old names" analyzed
ok "packets have the new name from nic_state.tsv" near "$(metric nic:workload/first0/link/tx_packets)" 15 0.5
done_testing
