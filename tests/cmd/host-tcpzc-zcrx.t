#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# tcpzc --rx zcrx: the real refusals of this kernel with their reasons.
. "$(dirname "$0")/../lib.sh"
. "$tests/tcpzc.sh"

rx=zcrx
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
