#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# tcp_info of the workload's sockets and no others, in the host's namespace and in the workload's.
. "$(dirname "$0")/../lib.sh"
ns=zct-tcp-$$
cleanup() {
	kill ${listener-} ${sender-} 2>/dev/null
	ip netns del "$ns" 2>/dev/null
}
need sqlite3

ask() { sqlite3 r/zcost.db "SELECT $1"; }
holds() { # holds SQL: a condition that is true
	got=$(ask "$1")
	[ "$got" = 1 ] || { echo "$1: $got"; sqlite3 -line r/zcost.db 'SELECT * FROM socket'; return 1; }
}

# A connection of another process must not appear.
next_port
other=$((port + 1))
# listen.sh PORT: waits for a listener on PORT
cat >listen.sh <<'EOT'
i=0
until grep -qi "^ *[0-9]*: [0-9A-F]*:$(printf %04X $1) [0-9A-F]*:0000 0A" /proc/net/tcp /proc/net/tcp6 2>/dev/null || [ $i = 500 ]; do
	i=$((i + 1))
	sleep 0.02
done
EOT
# pair.sh PORT ADDRESS [SECONDS]: a transfer
cat >pair.sh <<EOT
"$tcpzc" --listen --port \$1 --rx recv >/dev/null &
sh listen.sh \$1
"$tcpzc" --connect \$2 --port \$1 --tx send --seconds \${3:-60}
wait
EOT
"$tcpzc" --listen --port $other --rx recv >/dev/null 2>&1 &
listener=$!
sh listen.sh $other
"$tcpzc" --connect 127.0.0.1 --port $other --tx send --size 4k --rate 10M --seconds 60 >/dev/null 2>&1 &
sender=$!

pair() {
	exits 0 "$zcost" collect -o r --collect tcp,cpu --warmup $((again - 1)).9 --duration 1.3 --units tcpzc -- sh pair.sh $port 127.0.0.1 $((again + 1)).8 &&
		exits 0 "$zcost" analyze r && holds \
			"ABS(MAX(bytes_received) - (SELECT value FROM metric WHERE name = 'bytes')) < 0.05 * MAX(bytes_received) + 2e7 FROM socket"
}
steady "bytes_received of a socket is within 5 % of the workload's own bytes" pair
ok "tcp finds the workload's two sockets and no others" test "$(collector tcp .info.sockets)" = 2
kill $listener $sender 2>/dev/null
listener= sender=
wait 2>/dev/null
ok "the store has two sockets" holds "COUNT(*) = 2 FROM socket"
ok "each socket is the other's peer" holds "COUNT(*) = 2 FROM socket a JOIN socket b ON a.local = b.peer AND a.peer = b.local"
ok "one socket has the listener's port" holds "COUNT(*) = 1 FROM socket WHERE local = '127.0.0.1:$port'"
ok "bytes_acked of the sender is above 1 MB" holds "MAX(bytes_acked) > 1000000 FROM socket"
ok "both sockets have a round-trip time and a congestion control" holds "COUNT(*) = 2 FROM socket WHERE rtt_us > 0 AND congestion <> ''"
ok "each socket has at least two readings" holds "MIN(readings) >= 2 FROM socket"
ok "the sender's busy time is at most the window" holds \
	"MAX(busy_us) BETWEEN 1 AND (SELECT 1.1e6 * value FROM metric WHERE name = 'seconds') FROM socket"
ok "report tcp succeeds" exits 0 "$zcost" report tcp r
ok "report tcp lists the socket by address" says "127.0.0.1:$port" out
ok "report tcp names sock_diag as its evidence" says ' sock_diag ' out
ok "the store has a series of round-trip times" holds "COUNT(*) >= 2 FROM series WHERE name = 'tcp_socket_rtt_us'"

if ip -6 addr show lo 2>/dev/null | grep -q ::1; then
	pair6() {
		exits 0 "$zcost" collect -o r --collect tcp --warmup $((again - 1)).7 --duration 0.3 --grace 0 -- sh pair.sh $((port + 1 + again)) ::1 &&
			exits 0 "$zcost" analyze r && holds "COUNT(*) = 1 FROM socket WHERE local = '[::1]:$((port + 1 + again))'"
	}
	steady "the store has IPv6 addresses in brackets" pair6
else
	skip "the store has IPv6 addresses in brackets" "no IPv6 here"
fi

ok "collect succeeds with a workload without sockets" exits 0 "$zcost" collect -o r --collect tcp -- sleep 0.2
"$zcost" analyze r >log 2>&1
ok "report tcp succeeds without sockets" exits 0 "$zcost" report tcp r
ok "report tcp notes that the workload has no socket" says 'no collector saw a socket of the workload' out

crowd() { # a workload with 70,000 open files: a reading looks at 65,536 of them
	ulimit -n 80000 2>/dev/null || return 0
	exits 4 "$zcost" collect -o r --collect tcp --duration $((again - 1)).3 --grace 0 -- \
		perl -e 'open $f[$_], "<", "/dev/null" or die for 1 .. 70000; sleep 60' &&
		[ "$(collector tcp .state)" = degraded ] && says 'more than 65536 open files: sockets among the rest were left out' err
}
steady "a reading of tcp looks at 65,536 open files at most" crowd

if [ "$(id -u)" = 0 ] && ip netns add "$ns" 2>/dev/null && ip -n "$ns" link set lo up; then
	inside() {
		exits 0 "$zcost" collect -o r --collect tcp --warmup $((again - 1)).8 --duration 0.5 --grace 0 -- \
			ip netns exec "$ns" sh pair.sh $port 127.0.0.1 && [ "$(collector tcp .info.netns) $(collector tcp .info.sockets)" = "workload 2" ]
	}
	steady "tcp finds two sockets in the workload's namespace, and run.json names it" inside
else
	skip "collect measures sockets in the workload's network namespace" "no namespaces can be made here"
fi
done_testing
