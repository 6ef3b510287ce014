#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# samples/matrix.ini, shortened: each of its settings has the intended effect.
. "$(dirname "$0")/../lib.sh"
need root
[ "$(nproc)" -ge 2 ] || skip_all "the test bed needs two CPUs"
need ip ethtool jq
bed=zt-matrix-$$
cp "$top/samples/testbed.sh" .
cleanup() { sh testbed.sh down $bed 2>/dev/null; }

ok "--dry-run accepts samples/matrix.ini" exits 0 "$zcost" capture "$top/samples/matrix.ini" --dry-run
ok "the plan has two variants under twelve combinations" says '^24 runs of .*, 11 changes of settings: about 0:' out
ok "half of the receivers have their softirq on the same CPU" test "$(grep -c '^  receiver \[cpus 1\] .* --cpu 1 ' out)" = 12
ok "half of the receivers have their softirq on another CPU" test "$(grep -c '^  receiver \[cpus 0-1\] .* --cpu 0 ' out)" = 12

sed "s/^bed = .*/bed = $bed/; s/^warmup = .*/warmup = 0.1/; s/^duration = .*/duration = 0.4/
	s/^cross = .*/cross = mtu gro big/" "$top/samples/matrix.ini" >m.ini

# The tools that the plan needs, without ethtool.
mkdir bin
for tool in sh ip id; do ln -s "$(command -v $tool)" bin/; done
ok "capture exits 1 without ethtool" exits 1 env PATH="$scratch/bin" "$zcost" capture m.ini -o none
ok "the first error names ethtool" test "$(head -n 1 err)" = "testbed.sh: there is no 'ethtool': install it"
ok "the second error names the plan's 'before'" says "^zcost: the plan's 'before' exited with status 1: " err
ok "capture without ethtool prints two errors" test "$(wc -l <err)" = 2
ok "capture without ethtool leaves no namespace and no undo state" test ! -e /run/netns/$bed-receiver -a ! -e "$(undo_state none)"

"$zcost" capture m.ini -o m 2>err
code=$?
ok "the shortened plan runs" test $code = 0 -o $code = 4
ok "all twelve runs of the shortened plan are ok" jq -e '.complete and (.runs | length) == 12 and all(.runs[]; .status == "ok")' m/manifest.json
ok "the plan's 'after' removes the test bed" test ! -e /run/netns/$bed-receiver -a ! -e "$(undo_state m)"
"$zcost" analyze m >/dev/null 2>&1
"$zcost" report nic m --side receiver --format tsv >nic 2>/dev/null
"$zcost" report snmp m --side receiver --format tsv >snmp 2>/dev/null

# mean FILE BYTES PACKETS VARIANT: bytes per packet
mean() {
	tsv '$1 == v && (!at["netns"] || $at["netns"] == "workload") { c[$at["name"]] = $at["count"] }
		END { if (c[p]) printf "%.0f", c[b] / c[p] }' b="$2" p="$3" v="$4" "$1"
}
crossing() { mean nic rx_bytes rx_packets "$1"; }	  # includes 14 bytes of Ethernet
made() { mean snmp Ip6InOctets Ip6InReceives "$1"; } # after GRO, if it is on
within() { # within LEAST MOST BYTES
	[ "${3:-0}" -ge "$1" ] && [ "$3" -le "$2" ] || { echo "'$3' is not in $1..$2"; return 1; }
}

for v in baseline mmap; do
	ok "$v: MTU 4168 makes packets of about 4 KiB on the wire" within 3500 4182 "$(crossing $v+mtu4k+gro-off+big-off)"
	ok "$v: GRO does not change the packets on the wire" within 3500 4182 "$(crossing $v+mtu4k+gro-on+big-on)"
	ok "$v: MTU 61512 makes packets of at least 15,000 bytes on the wire" within 15000 61526 "$(crossing $v+mtu60k+gro-off+big-off)"
	ok "$v: without GRO IP receives packets of the wire's size" within 3500 4168 "$(made $v+mtu4k+gro-off+big-off)"
	ok "$v: GRO merges packets up to 64 KiB" within 10000 65575 "$(made $v+mtu4k+gro-on+big-off)"
	ok "$v: with BIG TCP GRO merges at least 10,000 bytes" within 10000 185040 "$(made $v+mtu4k+gro-on+big-on)"
done
ok "with BIG TCP and MTU 4168 GRO merges more than 64 KiB" within 65576 185040 "$(made baseline+mtu4k+gro-on+big-on)"
ok "with BIG TCP and MTU 61512 GRO merges more than 64 KiB" within 65576 185040 "$(made baseline+mtu60k+gro-on+big-on)"
done_testing
