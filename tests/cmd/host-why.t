#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Why zero copy does not pay: variants of tcpzc with one fault each, and report why names the fault of each.
. "$(dirname "$0")/../lib.sh"
. "$tests/tcpzc.sh"
need root ip tc
unset ZCOST_COLLECT
here msg-zerocopy || skip_all "$why"

# Datagrams out of an ifb device are not copied: it drops them. Out of the second device they wait for a slow queue before.
cleanup() { ip netns del "$name" 2>/dev/null; }
space() {
	ip netns add $name && ip -n $name link set lo mtu 61492 up &&
		for i in 0 1; do
			ip -n $name link add ifb$i type ifb && ip -n $name link set ifb$i mtu 60000 up &&
				ip -n $name addr add 192.0.2.$((16 * i + 1))/28 dev ifb$i &&
				ip -n $name neigh add 192.0.2.$((16 * i + 2)) lladdr 02:00:00:00:00:02 dev ifb$i || return 1
		done
	ip netns exec $name tc qdisc add dev ifb1 root tbf rate 2gbit burst 64k latency 100ms
}
space 2>err || skip_all "no network namespace with ifb and tbf: $(head -n 1 err)"

head='[plan]
repeats = 1
passes = measure
warmup = 0.1
duration = 0.4
grace = 0
[side sender]
units = tcpzc
prefix = ip netns exec '$name
udp="$tcpzc --udp --tx msg-zerocopy --seconds 60 --connect"
cat >alone.ini <<END
$head
[variant good]
sender = $udp 192.0.2.2 --size 32k
[variant waits]
sender = $udp 192.0.2.18 --size 32k --depth 1
[variant small]
sender = $udp 192.0.2.2 --size 1k
[variant unaligned]
sender = $udp 192.0.2.2 --size 16k --offset 2048
END
tcp="$tcpzc --connect 127.0.0.1 --port $port --seconds 60 --tx"
cat >both.ini <<END
$head
[side receiver]
units = tcpzc
prefix = ip netns exec $name
[variant pages]
receiver = $tcpzc --listen --port $port --rx mmap
sender = $tcp splice
[variant copied]
receiver = $tcpzc --listen --port $port --rx mmap
sender = $tcp msg-zerocopy
[variant fragments]
receiver = $tcpzc --listen --port $port --rx mmap
sender = $tcp send
END

reasons() { # reasons CAPTURE: measures it anew and writes its reasons, the first ones of each side to CAPTURE.says
	rm -rf "$1"
	"$zcost" capture "$1.ini" -o "$1" >log 2>&1 && "$zcost" analyze "$1" >>log 2>&1 || [ $? = 4 ] || { cat log; return 1; }
	"$zcost" report why "$1" --format tsv >"$1.tsv" 2>"$1.says"
}
tells() { # tells CAPTURE VARIANT SIDE REASON
	says "^zcost: $2 $3: .*$4" "$1.says" || { cat "$1.says" "$1.tsv"; return 1; }
}
of_senders() {
	reasons alone &&
		tells alone good sender 'No cause reaches its threshold' &&
		tells alone waits sender 'each send waits for its own notification, [0-9]+ % of the transfer' &&
		tells alone small sender 'a send has only 1024 B' &&
		tells alone unaligned sender 'buffers begin inside a page, so that a send pins 1.2 times the pages'
}
steady "a sender that waits, one with small messages, one with unaligned buffers and a good one are told apart" of_senders
of_pairs() {
	reasons both &&
		tells both pages receiver 'No cause reaches its threshold' &&
		tells both copied sender 'the kernel copies 100 % of the sends after all: their packets stay on this host' &&
		tells both copied receiver 'No cause reaches its threshold' &&
		tells both fragments receiver 'the receiver copies [0-9]+ % of the bytes, which came in fragments that are no whole pages'
}
steady "sends that the kernel copies and pages that it cannot map are told apart from mapped pages" of_pairs

figure() { # figure CAPTURE VARIANT SIDE FIGURE: its value
	tsv '$1 == v && $2 == s && $at["figure"] == f { print $at["value"] }' v="$2" s="$3" f="$4" "$1.tsv"
}
ok "a message of 1 KiB pins a page" is "$(figure alone small sender pinned_per_kib)" 1
ok "an aligned message of 32 KiB pins eight pages" is "$(figure alone good sender pinned_per_kib)" 0.25
ok "a sender with --depth 1 has one message in flight" is "$(figure alone waits sender in_flight_most)" 1
ok "no datagram out of ifb is copied" is "$(figure alone small sender copied_sends)" 0
ok "a sender without zero copy has no row" test -z "$(figure both fragments sender copied_sends)"
"$zcost" report why both --width 80 >out
ok "the table fits 80 columns" test "$(awk 'length > 80' out | wc -l)" = 0

done_testing
