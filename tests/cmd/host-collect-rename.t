#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# An interface that is renamed inside the window is read under each of its names.
. "$(dirname "$0")/../lib.sh"
need root sqlite3

ns=zcost-cn$$
cleanup() { ip netns del "$ns" 2>/dev/null; }
ip netns add "$ns" || skip_all "no namespaces here"

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
driver() { grep -c "^v	workload	$index	[^	]*	ethtool" r/nic.snap; }

ok "collect runs while two interfaces change their names" timeout 120 "$zcost" collect -o r --collect nic --warmup 0.3 -- \
	ip netns exec "$ns" bash work.sh
ok "analyze accepts a run with renamed interfaces" analyzed
ok "a renamed interface is known for a part of the window under each name" sh -c \
	"test -n '$(figure nic_known_s:workload/a0/link/tx_packets)' && test -n '$(figure nic_known_s:workload/first0/link/tx_packets)'"
ok "each reading but one has the driver's counters of the renamed interface, which may be down in one" test \
	"$(driver)" -ge $(($(grep -c ^@ r/nic.snap) - 1))
done_testing
