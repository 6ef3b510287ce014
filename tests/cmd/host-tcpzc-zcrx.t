#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# tcpzc --rx zcrx: the real refusals of this kernel with their reasons.
. "$(dirname "$0")/../lib.sh"
. "$tests/tcpzc.sh"

refused() { # TEXT OPTIONS...: tcpzc refuses them with this text
	want=$1
	shift
	"$tcpzc" --listen=127.0.0.1 --port $port --accept-timeout 1 --rx zcrx "$@" >out 2>err
	rc=$?
	[ $rc = 1 ] || { echo "exit $rc"; cat out err; return 1; }
	grep -q "$want" err && grep -q '"type":"error"' out || { cat out err; return 1; }
}

usage() { # PATTERN OPTIONS...
	pattern=$1
	shift
	exits 2 "$tcpzc" "$@" && says "$pattern" err && [ ! -s out ]
}
ok "a receiver without an interface is refused" usage '^tcpzc: --rx zcrx: which interface\? --nic IF$' --listen --rx zcrx --queue 1
why='no root'
if [ "$(id -u)" = 0 ] && rx_here uring-multishot; then
	ok "an interface that does not exist is an error" refused 'no such interface' --nic none0
	if "$zcost" doctor zcrx --format tsv 2>/dev/null | grep -q "^zcrx	kernel	yes"; then
		ok "loopback is an error with the reason" refused 'no hardware queue that it can hand over.*Way out: use a NIC' --nic lo
	else
		skip "loopback is an error with the reason" "no zcrx in this kernel"
	fi
else
	skip "an interface that does not exist is an error" "$why"
	skip "loopback is an error with the reason" "$why"
fi

done_testing
