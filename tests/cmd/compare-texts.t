#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost compare of two texts: perf stat, perf trace -s, strace -c.
. "$(dirname "$0")/../lib.sh"
data=$tests/data
field() { # field KEY COLUMN
	awk -F'\t' -v key="$1" -v column="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$1 == key { print $at[column] }' out
}
ok "compare reads two texts of perf stat" exits 0 "$zcost" compare "$data/xdp-drop.stat" "$data/xdp-tx.stat" --format tsv
ok "instructions per cycle fall from 2.01 to 1.51" test "$(field ipc:k base_value | cut -c1-4) $(field ipc:k new_value | cut -c1-4)" = '2.00 1.50'
ok "the difference of instructions per cycle is 0.5" near "$(field ipc:k delta_value)" -0.501047 0.000001
ok "counts are whole numbers" test "$(field counter:cache-references:k delta_value)" = 62734534
ok "a ratio has its unit" test "$(field ipc:k unit)" = 1/cycle
ok "a note says that one run at each end gives no verdict" says 'differences and no verdicts' err
ok "compare reads two texts of perf trace -s" exits 0 "$zcost" compare "$data/devmem-syscalls.txt" "$data/talk-syscalls.txt" --format tsv
ok "the calls of all threads add up" test "$(field setsockopt delta_calls)" = $((530116 + 294394 - 313019))
ok "one note says that a call's time includes waiting" sh -c "test \$(grep -c 'includes waiting' err) = 1"
ok "a note of one text alone names its file" says 'devmem-syscalls.txt: [0-9]+ events' err
ok "a call of one text alone has a row" test "$(field io_uring_enter new_calls)" = 1087324
ok "a call of one text alone has no difference" test -z "$(field io_uring_enter delta_calls)"
head='% time seconds usecs/call calls errors syscall\n'
printf "${head#%}"'100.00 0.000030 3 10 4 read\n100.00 0.000030 3 10 4 total\n' | sed 's/^ time/% time/' >old.txt
printf "${head#%}"'100.00 0.000060 3 20 read\n100.00 0.000060 3 20 total\n' | sed 's/^ time/% time/' >new.txt
ok "compare reads two texts of strace -c" exits 0 "$zcost" compare old.txt new.txt --format tsv
ok "the errors of the base vanish" test "$(field read delta_errors)" = -4
ok "compare reads a text of strace -c and a text of perf trace -s" exits 0 "$zcost" compare old.txt "$data/devmem-syscalls.txt"
ok "two texts of different kinds exit 1" exits 1 "$zcost" compare old.txt "$data/xdp-tx.stat" --rate 1e6
ok "--fail-on with two texts is a usage error" exits 2 "$zcost" compare old.txt new.txt --fail-on worse

. "$tests/golden.sh"
cp "$data/xdp-drop.stat" "$data/xdp-tx.stat" "$data/devmem-syscalls.txt" "$data/talk-syscalls.txt" .
run compare xdp-drop.stat xdp-tx.stat --format csv
run compare xdp-drop.stat xdp-tx.stat
run compare devmem-syscalls.txt talk-syscalls.txt --format csv
run compare devmem-syscalls.txt talk-syscalls.txt
run compare old.txt new.txt --format csv
ok "comparisons of texts are as in tests/data/golden/$golden.txt" is_golden
done_testing
