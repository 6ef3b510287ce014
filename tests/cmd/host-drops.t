#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Packets that are dropped on purpose, in a network namespace. The collector drops and the kernel's counters count each of them.
. "$(dirname "$0")/../lib.sh"
need root jq ip
unset ZCOST_COLLECT
space=zcost-drops-$$
cleanup() { ip netns del "$space" 2>/dev/null; }
ip netns add "$space" 2>err && ip -n "$space" link set lo up 2>err || skip_all "no network namespace: $(cat err)"
inside() { nsenter --net="/run/netns/$space" "$@"; }

# measure COMMAND...: measures a program of the test; $dropped: how many datagrams it knows of
measure() {
	exits 0 "$@" || return 1
	dropped=$(cat r/workload.out)
	"$zcost" analyze r 2>log && "$zcost" report drops r --format tsv >table 2>err
	case $? in 0 | 4) ;; *) cat log err && false ;; esac
}
causes() { # causes CAUSE N: inside the namespace
	measure inside "$zcost" collect -o r --collect host,drops,snmp,nic,softnet,cpu --duration 1 --grace 0 -- \
		"$build/tests/tools/drops" "$@"
}
works drops causes closed 1

# row SOURCE REASON COLUMN: the sum of the column over the rows of the workload and its namespace
row() {
	tsv '$at["source"] == source && $at["reason"] ~ reason && $at["whose"] != "host" { n += $at[column] } END { print n + 0 }' \
		source="$1" reason="^($2)\$" column="$3" table
}
# drops CAUSE N REASON [SOURCE COUNTER]: exactly the N datagrams, and nothing else of the namespace, have the reason. The kernel's counter
# is a rate times the window: on a busy machine its readings are up to some 30 ms further apart than the window is long.
drops() {
	causes "$1" "$2" || return 1
	[ "$dropped" -gt 0 ] || { echo "no drop"; return 1; }
	near "$(row kfree_skb "$3" drops)" "$dropped" 0 && near "$(row kfree_skb '.*' drops)" "$dropped" 0 &&
		near "$(row kfree_skb "$3" segments)" "$dropped" 0 || { cat table; return 1; }
	[ $# = 3 ] || near "$(row "$4" "$5" drops)" "$dropped" $((1 + dropped / 10)) || { cat table; return 1; }
}
ok "datagrams to a port without a socket are counted" drops closed 40 NO_SOCKET socket UdpNoPorts
ok "the place is a function of the kernel" test "$(tsv '$at["reason"] == "NO_SOCKET" && $at["whose"] != "host" { print $at["place"] }' table)" = __udp4_lib_rcv
ok "the bytes are those of the datagrams with their headers" test "$(row kfree_skb NO_SOCKET bytes)" = $((40 * 1008))
ok "datagrams to a full receive buffer are counted" drops full 60 SOCKET_RCVBUFF socket UdpRcvbufErrors
ok "the drops of a full buffer are those of the workload's socket" test \
	"$(tsv '$at["whose"] == "workload" { n += $at["drops"] } END { print n + 0 }' table)" = "$dropped"
ok "datagrams with a wrong checksum are counted" drops checksum 30 UDP_CSUM socket UdpInCsumErrors

# worked CAUSE REASON: a dropped datagram takes at least 0.3 of the time that the softirq took in the program that sends it, and at most
# the time of all softirqs of the network, by the frame's exact account. Other programs may have softirqs, too.
worked() {
	exits 0 inside "$zcost" collect -o r --pass all --collect host,drops,batches,frame --duration 2 --grace 0 -- \
		"$build/tests/tools/drops" "$1" 50000 || return 1
	dropped=$(cat r/workload.out)
	"$zcost" analyze r 2>log && "$zcost" report drops r --format tsv >table 2>err
	case $? in 0 | 4) ;; *) cat log err && false ;; esac || return 1
	softirqs() { awk -F '\t' -v n="$dropped" -v of="$1" '$4 ~ of && $5 ~ /^softirq_in/ && $6 == "NET_RX" { ns += $7 } END { print ns / n / 1000 }' r/frame.tsv; }
	tsv '$at["reason"] == reason && $at["whose"] != "host" { us = $at["cpu_us"]; pct = $at["cpu_pct"]; per_s = $at["per_s"] }
		END { exit !(own > 0 && us > 0.3 * own && us < all && pct > 0.99 * us * per_s / 1e4 && pct < 1.01 * us * per_s / 1e4) }' \
		reason="$2" own="$(softirqs '^drops$')" all="$(softirqs '')" table ||
		{ echo "softirqs: $(softirqs '^drops$') of $(softirqs '') us"; cat table r/drop_times.tsv; false; }
}
steady "the CPU time of a datagram without a socket is a part of its softirq" worked closed NO_SOCKET
steady "the CPU time of a datagram to a full buffer is a part of its softirq" worked full SOCKET_RCVBUFF
if command -v nft >/dev/null && inside nft -f - 2>err <<-'END'; then
	table inet zcost {
		chain in {
			type filter hook input priority 0
			udp dport 7 drop
		}
	}
	END
	rule() {
		causes rule 50 && near "$(row kfree_skb NETFILTER_DROP drops)" 5 0 && near "$(row kfree_skb NETFILTER_DROP segments)" 50 0
	}
	ok "what a rule of the firewall drops is counted, with all segments of the aggregates" rule
	inside nft delete table inet zcost
else
	skip "what a rule of the firewall drops is counted" "no nft: $(cat err)"
fi
if inside tc qdisc add dev lo root tbf rate 8kbit burst 3000 limit 3000 2>err; then
	ok "what a short queue drops is counted" drops queue 50 'QDISC_(OVERLIMIT|DROP)' qdisc drops
	inside tc qdisc del dev lo root
else
	skip "what a short queue drops is counted" "$(cat err)"
fi

# The workload enters the namespace behind the start of the window.
entered() {
	measure "$zcost" collect -o r --collect host,drops --duration 1 --grace 0 -- \
		ip netns exec "$space" "$build/tests/tools/drops" closed 40 && near "$(row kfree_skb NO_SOCKET drops)" 40 0
}
ok "a namespace that the workload enters is its own" entered

done_testing
