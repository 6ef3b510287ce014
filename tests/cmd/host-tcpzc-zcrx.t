#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# tcpzc --rx zcrx: this kernel's real refusals with their reasons, the set-up as printed; and where a kernel
# offers zcrx without a device, a transfer.
. "$(dirname "$0")/../lib.sh"
. "$tests/tcpzc.sh"

refused() { # TEXT OPTIONS...: what it says to them
	want=$1
	shift
	"$tcpzc" --listen=127.0.0.1 --port $port --accept-timeout 1 --rx zcrx "$@" >out 2>err
	rc=$?
	[ $rc = 1 ] || { echo "exit $rc"; cat out err; return 1; }
	grep -q "$want" err && grep -q '"type":"error"' out || { cat out err; return 1; }
}

ok "an interface is needed" refused 'which interface' --queue 1
if [ "$(id -u)" = 0 ]; then
	ok "one that is not there" refused 'no such interface' --nic none0
	if "$ZCOST_BUILD/zcost" doctor zcrx --format tsv 2>/dev/null | grep -q "^zcrx	kernel	yes"; then
		ok "loopback has no queues to hand over" refused 'no hardware queues.*Way out: NICs known' --nic lo
	else
		skip "loopback has no queues to hand over" "no zcrx in this kernel"
	fi
else
	skip "one that is not there" "no root"
	skip "loopback has no queues to hand over" "no root"
fi

"$tcpzc" --listen --rx zcrx --print-setup --nic eth7 --queue 5 --port 4711 >setup
ok "header split is set up" says '^ethtool -G eth7 tcp-data-split on hds-thresh 0$' setup
ok "the flow is led to the queue" says '^ethtool -N eth7 flow-type tcp4 dst-port 4711 action 5' setup
ok "the rest keeps off it" says '^ethtool -X eth7 equal 5' setup
ok "and all of it is undone" says '^ethtool -X eth7 default$' setup
"$tcpzc" --listen --rx zcrx --print-setup --nic eth7 --queue 5 --flows 4 >setup
ok "several flows have a context of their own" says 'context new start 5 equal 4' setup

bytes=3000001
if transfer 127.0.0.1 --rx zcrx --no-device --verify --bytes $bytes -- --tx send --verify --bytes $bytes --connect-timeout 1 >log; then
	ok "without a device: every byte as sent" holds rxs ".bytes == $bytes and .verify == \"ok\""
	ok "what was copied is not known" holds rxs ".receive.unknown_bytes == $bytes"
else
	ok "without a device: refused, with the version that has it" says 'zcrx without a device .Linux 7.1' rx.err
	skip "what was copied is not known" "this kernel has no zcrx without a device"
fi

done_testing
