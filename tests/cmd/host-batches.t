#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Datagrams over loopback in a network namespace, alone and in aggregates of ten: the collector batches counts each of them.
. "$(dirname "$0")/../lib.sh"
need root jq ip
unset ZCOST_COLLECT
space=zcost-batches-$$
cleanup() { ip netns del "$space" 2>/dev/null; }
ip netns add "$space" 2>err && ip -n "$space" link set lo up 2>err || skip_all "no network namespace: $(cat err)"

measure() { # measure CAUSE N
	exits 0 "$zcost" collect -o r --pass syscalls --collect host,batches --duration 1 --grace 0 -- \
		ip netns exec "$space" "$build/tests/tools/drops" "$@" || return 1
	"$zcost" analyze r 2>log
}
works batches measure none 10

metrics() { # metrics KIND: batches, segments, bytes of the namespace's loopback
	sqlite3 r/zcost.db "SELECT group_concat(CAST(value AS INT), ' ') FROM (SELECT value FROM metric
		WHERE name LIKE 'batch%' AND object = '$1 workload/lo' ORDER BY name = 'batches' DESC, name = 'batch_segments' DESC)"
}
counts() { # counts CAUSE N RECEIVED TRANSMITTED
	measure "$1" "$2" && [ "$(metrics receive)" = "$3" ] && [ "$(metrics transmit)" = "$4" ] || {
		cat r/batches.tsv && false; }
}
ok "a datagram is a batch of one segment, with its headers" counts full 60 "60 60 $((60 * 1028))" "60 60 $((60 * 1042))"
ok "an aggregate is a batch of ten segments" counts none 200 "20 200 $((20 * 1028))" "20 200 $((20 * 1042))"
polls() {
	"$zcost" report batches r --format tsv 2>err | tsv '$at["batch"] == "receive" && $at["interface"] == "workload/lo" { print $at["segments"] }' >shown
	[ "$(cat shown)" = 10 ] || { cat shown err && false; }
}
ok "the table has ten segments in a batch" polls

done_testing
