#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# tcp_info of the workload's sockets: those it holds and no others, here and in a namespace of its own.
. "$(dirname "$0")/../lib.sh"
ns=zct-tcp-$$
cleanup() {
	kill ${listener-} ${sender-} 2>/dev/null
	ip netns del "$ns" 2>/dev/null
}
command -v sqlite3 >/dev/null || skip_all "no sqlite3 to ask the store with"

info() { jq -r ".collectors[] | select(.name == \"tcp\") | $1" r/run.json; }
ask() { sqlite3 r/zcost.db "SELECT $1"; }
holds() { # holds SQL: a condition that is true
	got=$(ask "$1")
	[ "$got" = 1 ] || { echo "$1: $got"; sqlite3 -line r/zcost.db 'SELECT * FROM socket'; return 1; }
}

# A connection that is not the workload's stays out.
next_port
other=$((port + 1))
# listen.sh PORT: as soon as there is a listener there
cat >listen.sh <<'EOT'
i=0
until grep -qi "^ *[0-9]*: [0-9A-F]*:$(printf %04X $1) [0-9A-F]*:0000 0A" /proc/net/tcp /proc/net/tcp6 2>/dev/null || [ $i = 500 ]; do
	i=$((i + 1))
	sleep 0.02
done
EOT
# pair.sh PORT ADDRESS: much longer than a window is open
cat >pair.sh <<EOT
"$tcpzc" --listen --port \$1 --rx recv >/dev/null &
sh listen.sh \$1
"$tcpzc" --connect \$2 --port \$1 --tx send --seconds 2.8
wait
EOT
"$tcpzc" --listen --port $other --rx recv >/dev/null 2>&1 &
listener=$!
sh listen.sh $other
"$tcpzc" --connect 127.0.0.1 --port $other --tx send --size 4k --seconds 60 >/dev/null 2>&1 &
sender=$!

pair() {
	exits 0 "$zcost" collect -o r --collect tcp,cpu --warmup 0.9 --duration 1.3 --units tcpzc -- sh pair.sh $port 127.0.0.1 &&
		exits 0 "$zcost" analyze r && holds \
			"ABS(MAX(bytes_received) - (SELECT value FROM metric WHERE name = 'bytes')) < 0.05 * MAX(bytes_received) + 2e7 FROM socket"
}
steady "a sender and its receiver: received are the workload's own bytes in the window, to 5 % and a few MB" pair
ok "both sockets, and only they" test "$(info .info.sockets)" = 2
kill $listener $sender 2>/dev/null
listener= sender=
wait 2>/dev/null
ok "two rows" holds "COUNT(*) = 2 FROM socket"
ok "each is the other's peer" holds "COUNT(*) = 2 FROM socket a JOIN socket b ON a.local = b.peer AND a.peer = b.local"
ok "one is the port's" holds "COUNT(*) = 1 FROM socket WHERE local = '127.0.0.1:$port'"
ok "what was sent was acknowledged" holds "MAX(bytes_acked) > 1000000 FROM socket"
ok "it has a round-trip time and a congestion control" holds "COUNT(*) = 2 FROM socket WHERE rtt_us > 0 AND congestion <> ''"
ok "medians of several readings" holds "MIN(readings) >= 2 FROM socket"
ok "the sender was busy" holds \
	"MAX(busy_us) BETWEEN 1 AND (SELECT 1.1e6 * value FROM metric WHERE name = 'seconds') FROM socket"
ok "the table" exits 0 "$zcost" report tcp r
ok "names the socket" says "127.0.0.1:$port" out
ok "and both kinds of evidence" sh -c 'grep -q sock_diag out && grep -q workload out'
ok "a series" holds "COUNT(*) >= 2 FROM series WHERE name = 'tcp_socket_rtt_us'"

if ip -6 addr show lo 2>/dev/null | grep -q ::1; then
	ok "IPv6" exits 0 "$zcost" collect -o r --collect tcp --warmup 0.7 --duration 0.3 --grace 5 -- sh pair.sh $((port + 2)) ::1
	"$zcost" analyze r >log 2>&1
	ok "its addresses" holds "COUNT(*) = 1 FROM socket WHERE local = '[::1]:$((port + 2))'"
else
	skip "its addresses" "no IPv6 here"
fi

ok "no sockets at all" exits 0 "$zcost" collect -o r --collect tcp -- sleep 0.2
"$zcost" analyze r >log 2>&1
ok "is said" exits 0 "$zcost" report tcp r
ok "in words" says 'no collector saw a socket of the workload' out

if [ "$(id -u)" = 0 ] && ip netns add "$ns" 2>/dev/null && ip -n "$ns" link set lo up; then
	ok "a namespace of the workload's own" exits 0 "$zcost" collect -o r --collect tcp --warmup 0.8 --duration 0.5 \
		--grace 5 -- ip netns exec "$ns" sh pair.sh $port 127.0.0.1
	ok "is entered" test "$(info .info.netns)" = workload
	ok "sockets were found there" test "$(info .info.sockets)" = 2
else
	skip "a namespace of the workload's own" "no namespaces can be made here"
fi
done_testing
