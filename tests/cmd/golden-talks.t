#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compares figures of three published measurements with the tables of their listings (tests/data).
. "$(dirname "$0")/../lib.sh"
. "$tests/golden.sh"
data=$tests/data

# cell FILE KEY COLUMN FORMAT: prints a cell of the row that holds KEY in its symbol, syscall or module
cell() {
	tsv '{ for (i = 1; i <= NF; i++) if ($i == key) printf format, $at[column] }' key="$2" column="$3" format="$4" "$1"
}

cp "$data"/*.txt "$data"/*.stat .
# 24.75 % at 4574424 packets/s is 54.1 ns. 24 rows of driver 8139cp in nine commands add up to 22.15 %, at 15 % load 3.3225 % of the CPU.
run report functions --perf-report xdp-tx.txt --rate 4574424 --format csv
run report modules --perf-report 8139cp.txt --system-load 15 --format csv
run report modules --perf-report virtio-net.txt --system-load 25 --format csv
# The prose rounds: 20 % of 15 % is 3 %, 1 % of 25 % is 0.25 %, a factor of 12.
cpu_use() { printf '%s%%  x  [kernel] [k] f  [driver]\n' "$1" | "$zcost" report modules --perf-report - --system-load "$2" --format tsv >modules 2>err; cell modules driver cpu_use_pct %.2f; }
ok "20 % at 15 % system load is 3 % of the CPU" is "$(cpu_use 20.00 15)" 3.00
ok "1 % at 25 % system load is 0.25 % of the CPU" is "$(cpu_use 1.00 25)" 0.25
run report functions --perf-report 8139cp.txt --format csv
run report functions --perf-report 8139cp.txt --by comm --comm wget --format csv
run report syscalls --perf-trace devmem-syscalls.txt --format csv
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
run report functions --perf-report perf-top.txt --all --format csv
# In a German locale perf stat groups digits by points and has a comma as decimal mark.
run report counters --perf-stat ls-german.stat --format csv

ok "figures of published measurements are as in tests/data/golden/$golden.txt" is_golden
done_testing
