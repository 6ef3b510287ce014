#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compares figures of three published measurements with the tables of their listings (tests/data).
. "$(dirname "$0")/../lib.sh"
data=$tests/data

# cell FILE KEY COLUMN FORMAT: prints a cell of the row that holds KEY in its symbol, syscall or module
cell() {
	awk -F'\t' -v key="$2" -v column="$3" -v format="$4" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ for (i = 1; i <= NF; i++) if ($i == key) printf format, $at[column] }' "$1"
}
is() { [ "$1" = "$2" ] || { echo "'$1', expected '$2'"; return 1; }; }

"$zcost" report functions --perf-report "$data/xdp-tx.txt" --rate 4574424 --format tsv >tx 2>err
ok "24.75 % at 4574424 packets/s is 54.1 ns" is "$(cell tx mlx5e_handle_rx_cqe self_ns %.1f)" 54.1
ok "16.95 % at 4574424 packets/s is 37.05 ns" is "$(cell tx __build_skb self_ns %.2f)" 37.05
ok "10.72 % at 4574424 packets/s is 23.43 ns" is "$(cell tx mlx5e_xmit self_ns %.2f)" 23.43
ok "all 29 rows are read, with and without a plus sign" is "$(wc -l <tx)" 30

"$zcost" report modules --perf-report "$data/8139cp.txt" --format tsv >modules 2>err
ok "24 rows of driver 8139cp in nine commands add up to 22.15 %" is "$(cell modules 8139cp self_share %.2f)" 22.15
"$zcost" report modules --perf-report "$data/8139cp.txt" --system-load 15 --format tsv >modules 2>err
ok "driver 8139cp uses 3.3225 % of the CPU at 15 % system load" is "$(cell modules 8139cp cpu_use_pct %.4f)" 3.3225
"$zcost" report modules --perf-report "$data/virtio-net.txt" --system-load 25 --format tsv >modules 2>err
ok "15 rows of driver virtio_net add up to 0.38 %" is "$(cell modules virtio_net self_share %.2f)" 0.38
ok "driver virtio_net uses 0.095 % of the CPU at 25 % system load" is "$(cell modules virtio_net cpu_use_pct %.4f)" 0.0950
# The prose rounds: 20 % of 15 % is 3 %, 1 % of 25 % is 0.25 %, a factor of 12.
cpu_use() { printf '%s%%  x  [kernel] [k] f  [driver]\n' "$1" | "$zcost" report modules --perf-report - --system-load "$2" --format tsv >modules 2>err; cell modules driver cpu_use_pct %.2f; }
ok "20 % at 15 % system load is 3 % of the CPU" is "$(cpu_use 20.00 15)" 3.00
ok "1 % at 25 % system load is 0.25 % of the CPU" is "$(cpu_use 1.00 25)" 0.25
"$zcost" report functions --perf-report "$data/8139cp.txt" --format tsv >functions 2>err
ok "a function has one row for all commands" is "$(cell functions cp_start_xmit self_share %.2f)" 10.62
"$zcost" report functions --perf-report "$data/8139cp.txt" --by comm --comm wget --format tsv >wget 2>err
ok "--by comm --comm shows one command's share" is "$(cell wget cp_start_xmit self_share %.2f)" 3.23

"$zcost" report syscalls --perf-trace "$data/devmem-syscalls.txt" --format tsv >syscalls 2>err
ok "avg of setsockopt is total / calls" is "$(cell syscalls setsockopt avg_ms %.3f)" 0.203
ok "avg of recvmsg is total / calls" is "$(cell syscalls recvmsg avg_ms %.3f)" 0.159
ok "recvmsg has 1391 errors" is "$(cell syscalls recvmsg errors %d)" 1391
ok "avg of ioctl is total / calls" is "$(cell syscalls ioctl avg_ms %.3f)" 0.005
ok "avg of epoll_wait is total / calls" is "$(cell syscalls epoll_wait avg_ms %.3f)" 0.520
ok "stddev equals the printed stddev" is "$(cell syscalls epoll_wait stddev_pct %.2f)" 25.99
ok "a note explains that events count enters and exits" says '1627807 events \(enters and exits' err

# The other legible tables have the columns of perf 4. They lack errors, because the slides fuse that column.
"$zcost" report syscalls --perf-trace "$data/talk-syscalls.txt" --format tsv >talk 2>err
ok "nine rows of three threads are read" is "$(wc -l <talk)" 10
every_mean() {
	awk 'NF == 7 && $1 ~ /^[a-z_]+$/ && $2 + 0 { print $1, $2, $3, $5, $7 }' "$data/talk-syscalls.txt" | sort >printed
	awk -F'\t' 'NR > 1 { printf "%s %d %.3f %.3f %.2f%%\n", $2, $3, $5, $7, $9 }' talk | sort >ours
	[ "$(wc -l <printed)" = 9 ] && diff printed ours
}
ok "calls, total, avg and stddev of each row equal the printed values" every_mean
"$zcost" report syscalls --perf-trace "$data/talk-syscalls.txt" --by syscall --format tsv >talk 2>err
ok "--by syscall adds up the calls of all threads" is "$(cell talk setsockopt calls %d)" $((530116 + 294394))
ok "--by syscall has the mean of all threads' calls" is "$(cell talk setsockopt avg_ms %.6f)" "$(awk 'BEGIN { printf "%.6f", (22841.143 + 60365.027) / (530116 + 294394) }')"

sed 's/26726.717/26726.717	9/' "$data/devmem-syscalls.txt" >fused
ok "a row with two fused columns exits 1" exits 1 "$zcost" report syscalls --perf-trace fused
ok "the message names the line with the fused columns" says 'fused, line 6: ' err

# A list of perf top
"$zcost" report functions --perf-report "$data/perf-top.txt" --all --format tsv >top 2>err
ok "a list of perf top has thirty rows" is "$(wc -l <top)" 31
ok "a note says that the shares of perf top add up to 70.03 %" says 'all 30 rows: 70\.03 %' err

# In a German locale perf stat groups digits by points and has a comma as decimal mark.
counter() {
	awk -F'\t' -v name="$1" -v format="$2" -v column="${3:-value}" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["name"] == name { printf format, $at[column] }' german
}
"$zcost" report counters --perf-stat "$data/ls-german.stat" --format tsv >german 2>err
ok "371,191921 in a German locale is 371.191921 ms" is "$(counter counter:task-clock %.6f)" 371.191921
ok "1.208.000.453 in a German locale is 1208000453 cycles" is "$(counter counter:cycles %d)" 1208000453
ok "65,65 % in a German locale is a running share of 65.65 %" is "$(counter counter:cycles %.2f running_pct)" 65.65
ok "the CPU use of 0,995 CPUs is 99.5 %" is "$(counter cpu_pct %.1f)" 99.5
ok "the instructions per cycle of a German text are 1.361" is "$(counter ipc %.3f)" 1.361
ok "the branch miss rate of a German text is 2.641 %" is "$(counter branch_miss_pct %.3f)" 2.641

done_testing
