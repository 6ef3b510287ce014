#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost compare of two texts: perf stat, perf trace -s, strace -c.
. "$(dirname "$0")/../lib.sh"
data=$tests/data
field() { # field KEY COLUMN
	awk -F'\t' -v key="$1" -v column="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$1 == key { print $at[column] }' out
}
ok "perf stat: counters" exits 0 "$zcost" compare "$data/xdp-drop.stat" "$data/xdp-tx.stat" --format tsv
ok "instructions per cycle fell from 2.01 to 1.51" test "$(field ipc:k base_value | cut -c1-4) $(field ipc:k new_value | cut -c1-4)" = '2.00 1.50'
ok "by 0.5" near "$(field ipc:k delta_value)" -0.501047 0.000001
ok "counts are whole" test "$(field counter:cache-references:k delta_value)" = 62734534
ok "that nothing is judged, is said" says 'differences and no verdicts' err
ok "system calls" exits 0 "$zcost" compare "$data/devmem-syscalls.txt" "$data/talk-syscalls.txt" --format tsv
ok "of all threads" test "$(field setsockopt delta_calls)" = $((530116 + 294394 - 313019))
ok "that a call's time holds waiting, once for both" sh -c "test \$(grep -c 'includes waiting' err) = 1"
ok "what one of them says has its name" says 'devmem-syscalls.txt: [0-9]+ events' err
ok "a call that one text lacks" test "$(field io_uring_enter new_calls)" = 1087324
ok "has no difference" test -z "$(field io_uring_enter delta_calls)"
head='% time seconds usecs/call calls errors syscall\n'
printf "${head#%}"'100.00 0.000030 3 10 4 read\n100.00 0.000030 3 10 4 total\n' | sed 's/^ time/% time/' >old.txt
printf "${head#%}"'100.00 0.000060 3 20 read\n100.00 0.000060 3 20 total\n' | sed 's/^ time/% time/' >new.txt
ok "strace -c against strace -c" exits 0 "$zcost" compare old.txt new.txt --format tsv
ok "errors that went away" test "$(field read delta_errors)" = -4
ok "strace -c against perf trace -s" exits 0 "$zcost" compare old.txt "$data/devmem-syscalls.txt"
ok "two texts of different kinds" exits 1 "$zcost" compare old.txt "$data/xdp-tx.stat" --rate 1e6
ok "no gate without a verdict" exits 2 "$zcost" compare old.txt new.txt --fail-on worse
done_testing
