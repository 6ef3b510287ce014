#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# report groups: functions that the user wants to see as one, as the author of the XDP evaluation adds
# them up by hand.
. "$(dirname "$0")/../lib.sh"
data=$tests/data

cell() { # FILE GROUP COLUMN
	tsv '$at["group"] == group { print $at[column] }' group="$2" column="$3" "$1"
}
groups() { "$zcost" report groups "$@" --format tsv >out 2>err; }

# 10.36 + 5.49 + 4.02 + 3.72 = 23.59 %, of 1e9 / 8165032 = 122.4735 ns
groups --perf-report "$data/xdp-self.txt" --rate 8165032 --group 'alloc=build_skb,__build_skb,kmem_cache_*' \
	--group 'skb=*_skb' --group 'none=no_such_function' --group 'module:nothing'
ok "the self shares of a group's functions add up" near "$(cell out alloc self_share)" 23.59 1e-6
ok "the costs of a group's functions add up" near "$(cell out alloc self_ns)" 28.89148 1e-4
ok "a note names the overlap of two groups" says 'groups alloc and skb overlap: __build_skb, build_skb \(self 15.85 %\)' err
ok "a group without samples has no row" test -z "$(cell out none self_share)"
ok "a note names the group without samples" says "warning: group '(none|module:nothing)': no sample has any of its functions" err
ok "a group from a text has no total" test -z "$(cell out alloc total_ns)"
ok "table groups without --group is a usage error" exits 2 "$zcost" report groups --perf-report "$data/xdp-self.txt"
ok "a group without a name is a usage error" exits 2 "$zcost" report groups --perf-report "$data/xdp-self.txt" --group =a
ok "the message shows the form of --group" says 'is not NAME=FUNCTION,FUNCTION' err

if command -v perf >/dev/null && perf record -q -g -e cpu-clock -F 4000 -o g.data -- \
	sh -c 'dd if=/dev/zero bs=64k count=20000 2>/dev/null | cat >/dev/null' 2>/dev/null; then
	"$zcost" report functions --perf g.data --all --format tsv >functions 2>err
	of() { awk -F'\t' -v s="$1" -v c="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$1 == s && $2 ~ /^\[kernel/ { print $at[c] }' functions; }
	groups --perf g.data --group one=vfs_write --group 'both=vfs_write,vfs_read' --group 'nested=ksys_write,vfs_write'
	ok "a group of one function has the function's total" near "$(cell out one total_share)" "$(of vfs_write total_share)" 1e-9
	ok "a group of one function has the function's self cost" near "$(cell out one self_share)" "$(of vfs_write self_share)" 1e-9
	both=$(awk -v a="$(of vfs_write total_share)" -v b="$(of vfs_read total_share)" 'BEGIN { print a + b }')
	ok "the totals of functions that never call each other add up" near "$(cell out both total_share)" "$both" 1e-4
	ok "a sample with caller and callee in the group counts once" near "$(cell out nested total_share)" \
		"$(of ksys_write total_share)" 1e-9
	groups --perf g.data --group 'copy=*copy*' --by comm
	ok "groups by command split by command" sh -c 'grep -q "^dd	copy" out && grep -q "^cat	copy" out'
else
	skip "groups in a recording" "perf cannot record here"
fi

done_testing
