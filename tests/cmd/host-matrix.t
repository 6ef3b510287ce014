#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# samples/matrix.ini as it is shipped, made shorter: each of its settings has the effect that it is for.
. "$(dirname "$0")/../lib.sh"
[ "$(id -u)" = 0 ] || skip_all "network namespaces need root"
[ "$(nproc)" -ge 2 ] || skip_all "the test bed needs two CPUs"
for tool in ip ethtool jq; do
	command -v $tool >/dev/null || skip_all "needs $tool"
done
bed=zt-matrix-$$
cp "$top/samples/testbed.sh" .
cleanup() { sh testbed.sh down $bed 2>/dev/null; }

ok "the plan as it is" exits 0 "$zcost" capture "$top/samples/matrix.ini" --dry-run
ok "  two variants under twelve combinations" says '^24 runs, about 0:' out
ok "  program and softirq on one CPU" test "$(grep -c '^  receiver \[cpus 1\] .* --cpu 1 ' out)" = 12
ok "  or on two" test "$(grep -c '^  receiver \[cpus 0-1\] .* --cpu 0 ' out)" = 12

sed "s/^bed = .*/bed = $bed/; s/^warmup = .*/warmup = 0.1/; s/^duration = .*/duration = 0.4/
	s/^cross = .*/cross = mtu gro big/" "$top/samples/matrix.ini" >m.ini

# What the plan needs, and all but ethtool.
mkdir bin
for tool in sh ip id; do ln -s "$(command -v $tool)" bin/; done
ok "without ethtool" exits 1 env PATH="$scratch/bin" "$zcost" capture m.ini -o none
ok "  that is what is told" test "$(head -n 1 err)" = "testbed.sh: there is no 'ethtool': install it"
ok "  and the plan's 'before' has failed" says "^zcost: the plan's 'before' exited with status 1: " err
ok "  in no more lines than these" test "$(wc -l <err)" = 2
ok "  nothing is set up, or left to undo" test ! -e /run/netns/$bed-receiver -a ! -e "$(undo_state none)"

"$zcost" capture m.ini -o m 2>err
code=$?
ok "shortened, it runs" test $code = 0 -o $code = 4
ok "  all of it" jq -e '.complete and (.runs | length) == 12 and all(.runs[]; .status == "ok")' m/manifest.json
ok "  the bed is gone" test ! -e /run/netns/$bed-receiver -a ! -e "$(undo_state m)"
"$zcost" analyze m >/dev/null 2>&1
"$zcost" report nic m --side receiver --format tsv >nic 2>/dev/null
"$zcost" report snmp m --side receiver --format tsv >snmp 2>/dev/null

# mean FILE BYTES PACKETS VARIANT: one counter by the other
mean() {
	awk -F '\t' -v b="$2" -v p="$3" -v v="$4" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		$1 == v && (!at["netns"] || $at["netns"] == "workload") { c[$at["name"]] = $at["count"] }
		END { if (c[p]) printf "%.0f", c[b] / c[p] }' "$1"
}
crossing() { mean nic rx_bytes rx_packets "$1"; }	  # with 14 bytes of Ethernet
made() { mean snmp Ip6InOctets Ip6InReceives "$1"; } # by GRO, if it is on
within() { # within LEAST MOST BYTES
	[ "${3:-0}" -ge "$1" ] && [ "$3" -le "$2" ] || { echo "'$3' is not in $1..$2"; return 1; }
}

for v in baseline mmap; do
	ok "$v, MTU 4168: so large packets cross" within 3500 4182 "$(crossing $v+mtu4k+gro-off+big-off)"
	ok "  whatever GRO does later" within 3500 4182 "$(crossing $v+mtu4k+gro-on+big-on)"
	ok "  MTU 61512: larger ones" within 15000 61526 "$(crossing $v+mtu60k+gro-off+big-off)"
	ok "  GRO off: TCP has them as they crossed" within 3500 4168 "$(made $v+mtu4k+gro-off+big-off)"
	ok "  GRO on: as many in one as 64 KiB hold" within 10000 65575 "$(made $v+mtu4k+gro-on+big-off)"
	ok "  BIG TCP: no smaller" within 10000 185040 "$(made $v+mtu4k+gro-on+big-on)"
done
ok "BIG TCP: more than 64 KiB in one" within 65576 185040 "$(made baseline+mtu4k+gro-on+big-on)"
ok "  of large packets, too" within 65576 185040 "$(made baseline+mtu60k+gro-on+big-on)"
done_testing
