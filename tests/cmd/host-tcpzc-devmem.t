#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# tcpzc --rx devmem: this kernel's real refusals with their reasons, and the set-up as printed.
. "$(dirname "$0")/../lib.sh"
. "$tests/tcpzc.sh"

refused() { # TEXT OPTIONS...
	want=$1
	shift
	"$tcpzc" --listen=127.0.0.1 --port $port --accept-timeout 1 --rx devmem "$@" >out 2>err
	rc=$?
	[ $rc = 1 ] || { echo "exit $rc"; cat out err; return 1; }
	grep -q "$want" err && grep -q '"type":"error"' out || { cat out err; return 1; }
}

usage() { # PATTERN OPTIONS...
	pattern=$1
	shift
	exits 2 "$tcpzc" "$@" && says "$pattern" err && [ ! -s out ]
}
ok "a receiver needs an interface" usage '^tcpzc: --rx devmem: which interface\? --nic IF$' --listen --rx devmem
ok "so does a sender" usage '^tcpzc: --tx devmem: which interface\? --nic IF$' --connect ::1 --tx devmem
ok "and one of responses" usage '--tx devmem: which interface' --listen --rr --rx zcrx --no-device --tx devmem
ok "--no-device is not for it" usage '--no-device belongs to the mode zcrx$' --listen --rx devmem --no-device --nic lo
exec 7<&- # whatever was left open there
ok "a descriptor that is no dmabuf" refused 'dmabuf-fd 7 is not a dmabuf' --nic lo --dmabuf-fd 7
if [ -e /dev/udmabuf ] && [ "$(id -u)" = 0 ]; then
	ok "an interface that is not there" refused 'devmem on none0: there is no such interface' --nic none0
	ok "loopback cannot" refused 'cannot receive into device memory' --nic lo
	ok "a batch that keeps all from the NIC" refused 'larger --area' --nic lo --area 1M --dontneed-batch 1024
else
	ok "no udmabuf: what to do about it" refused 'udmabuf.*Way out: modprobe udmabuf\|Permission' --nic lo
	skip "loopback cannot" "no /dev/udmabuf, or no root"
	skip "a batch that keeps all from the NIC" "no /dev/udmabuf, or no root"
fi

# A dmabuf of another's: any file has a size to be asked for, and then the kernel's netdev family judges.
head -c 4194304 /dev/zero >plain
if [ "$(id -u)" = 0 ] && "$zcost" doctor devmem --format tsv 2>/dev/null | grep -q "^devmem	kernel	yes"; then
	given() {
		"$tcpzc" --listen=127.0.0.1 --port $port --accept-timeout 1 --rx devmem --nic lo --dmabuf-fd 9 9<>plain >out 2>err
		[ $? = 1 ] && grep -qE 'no dmabuf|cannot receive into device memory' err || { cat err; return 1; }
	}
	ok "the kernel's refusal is explained" given
else
	skip "the kernel's refusal is explained" "no devmem TCP in this kernel, or no root"
fi

"$tcpzc" --listen --rx devmem --print-setup --nic eth7 --queue 2 --port 99 >setup
ok "the set-up is printed" says '^ethtool -N eth7 flow-type tcp4 dst-port 99 action 2' setup

"$tcpzc" --connect 127.0.0.1 --tx devmem --nic lo --dmabuf-fd 7 --connect-timeout 0.1 >out 2>err
ok "a sender's too is refused with a reason" says 'dmabuf-fd 7 is not a dmabuf' err

done_testing
