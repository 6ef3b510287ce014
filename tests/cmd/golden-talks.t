#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Figures of three published measurements, from their own listings (tests/data), through the commands.
. "$(dirname "$0")/../lib.sh"
data=$tests/data

# cell FILE KEY COLUMN FORMAT: of the row of a tsv table that holds KEY in its symbol, syscall or module
cell() {
	awk -F'\t' -v key="$2" -v column="$3" -v format="$4" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ for (i = 1; i <= NF; i++) if ($i == key) printf format, $at[column] }' "$1"
}
is() { [ "$1" = "$2" ] || { echo "'$1', expected '$2'"; return 1; }; }

"$zcost" report functions --perf-report "$data/xdp-tx.txt" --rate 4574424 --format tsv >tx 2>err
ok "24.75 % of 218.6 ns" is "$(cell tx mlx5e_handle_rx_cqe self_ns %.1f)" 54.1
ok "16.95 %" is "$(cell tx __build_skb self_ns %.2f)" 37.05
ok "10.72 %" is "$(cell tx mlx5e_xmit self_ns %.2f)" 23.43
ok "all 29 rows, with and without a +" is "$(wc -l <tx)" 30

"$zcost" report modules --perf-report "$data/8139cp.txt" --format tsv >modules 2>err
ok "24 rows of one driver in nine commands are 22.15 %" is "$(cell modules 8139cp self_share %.2f)" 22.15
"$zcost" report functions --perf-report "$data/8139cp.txt" --format tsv >functions 2>err
ok "over all commands a function has one row" is "$(cell functions cp_start_xmit self_share %.2f)" 10.62
"$zcost" report functions --perf-report "$data/8139cp.txt" --by comm --comm wget --format tsv >wget 2>err
ok "of one command, its own" is "$(cell wget cp_start_xmit self_share %.2f)" 3.23

"$zcost" report syscalls --perf-trace "$data/devmem-syscalls.txt" --format tsv >syscalls 2>err
ok "avg is total / calls: setsockopt" is "$(cell syscalls setsockopt avg_ms %.3f)" 0.203
ok "recvmsg" is "$(cell syscalls recvmsg avg_ms %.3f)" 0.159
ok "its errors" is "$(cell syscalls recvmsg errors %d)" 1391
ok "ioctl" is "$(cell syscalls ioctl avg_ms %.3f)" 0.005
ok "epoll_wait" is "$(cell syscalls epoll_wait avg_ms %.3f)" 0.520
ok "stddev as printed" is "$(cell syscalls epoll_wait stddev_pct %.2f)" 25.99
ok "the events are about twice the calls" says '1627807 events: enters and exits' err

sed 's/26726.717/26726.717	9/' "$data/devmem-syscalls.txt" >fused
ok "a damaged row is refused, not guessed" exits 1 "$zcost" report syscalls --perf-trace fused
ok "by its line" says 'fused, line 6: ' err

done_testing
