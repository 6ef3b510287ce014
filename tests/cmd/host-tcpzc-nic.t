#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# tcpzc --rx devmem and --rx zcrx, which need a NIC with spare queues: the real refusals of this kernel with their reasons.
. "$(dirname "$0")/../lib.sh"
. "$tests/tcpzc.sh"

rx=devmem
ok "a receiver without an interface is refused" usage '^tcpzc: --rx devmem: which interface\? --nic IF$' --listen --rx devmem
ok "a sender without an interface is refused" usage '^tcpzc: --tx devmem: which interface\? --nic IF$' --connect ::1 --tx devmem
ok "a server with devmem responses and no interface is refused" usage '--tx devmem: which interface' --listen --rr --rx recv --tx devmem
exec 7<&- # the shell may have inherited it
ok "a receiver refuses a descriptor that is not a dmabuf" refused 'dmabuf-fd 7 is not a dmabuf' --nic lo --dmabuf-fd 7
if [ -e /dev/udmabuf ] && [ "$(id -u)" = 0 ]; then
	ok "an interface that does not exist is an error" refused 'devmem on none0: there is no such interface' --nic none0
	ok "loopback is an error with the reason" refused 'cannot receive into device memory' --nic lo
	ok "memory that is too small for a NIC is an error" refused 'larger --area' --nic lo --area 1M
else
	ok "the error about a missing udmabuf says what to do" refused 'udmabuf.*Way out: modprobe udmabuf|Permission' --nic lo
	skip "loopback is an error with the reason" "no /dev/udmabuf, or no root"
fi

# An inherited dmabuf. tcpzc only asks for its size, so any file reaches the kernel's netdev family.
head -c 4194304 /dev/zero >plain
if [ "$(id -u)" = 0 ] && "$zcost" doctor devmem --format tsv 2>/dev/null | grep -q "^devmem	kernel	yes"; then
	given() {
		"$tcpzc" --listen=127.0.0.1 --port $port --accept-timeout 1 --rx devmem --nic lo --dmabuf-fd 9 9<>plain >out 2>err
		[ $? = 1 ] && grep -qE 'no dmabuf|cannot receive into device memory' err || { cat err; return 1; }
	}
	ok "the error explains the kernel's refusal" given
else
	skip "the error explains the kernel's refusal" "no devmem TCP in this kernel, or no root"
fi

"$tcpzc" --connect 127.0.0.1 --tx devmem --nic lo --dmabuf-fd 7 --connect-timeout 0.1 >out 2>err
ok "a sender refuses a descriptor that is not a dmabuf" says 'dmabuf-fd 7 is not a dmabuf' err

rx=zcrx
ok "a zcrx receiver without an interface is refused" usage '^tcpzc: --rx zcrx: which interface\? --nic IF$' --listen --rx zcrx --queue 1
why='no root'
if [ "$(id -u)" = 0 ] && rx_here uring-multishot; then
	ok "zcrx: an interface that does not exist is an error" refused 'no such interface' --nic none0
	if "$zcost" doctor zcrx --format tsv 2>/dev/null | grep -q "^zcrx	kernel	yes"; then
		ok "zcrx: loopback is an error with the reason" refused 'no hardware queue that it can hand over.*Way out: use a NIC' --nic lo
	else
		skip "zcrx: loopback is an error with the reason" "no zcrx in this kernel"
	fi
else
	skip "zcrx: an interface that does not exist is an error" "$why"
fi

done_testing
