#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Checks that time is linear in the samples and memory is constant. The recordings of an invented host differ only in
# length (tests/tools/perfdata_gen.c): SIZES (1 4 16 64) million samples, 180 MB per million, all at once in BENCH_DIR
# (/var/tmp), as far as there is room. Each run makes the table of functions, on one and on two threads. The runs are
# interleaved. Figures are medians of ROUNDS (5) runs, or of 3 runs for 64 million samples.
#
# A part of the time does not depend on the length (reading the kernel's symbols, resolving distinct stacks). So the
# goal limits the distance from the best line a + b x samples, with equal weight for each size.
set -eu
. "$(dirname "$0")/lib.sh"
sizes=${SIZES:-1 4 16 64}
gen=$build/tests/tools/perfdata_gen
need "$timed" "$dump" "$gen"

mb_free() {
	df -Pk "$dir" | awk 'NR == 2 { print int($4 / 1024) }'
}

made=
for m in $sizes; do
	if [ "$(mb_free)" -lt $((180 * m + 4096)) ]; then
		echo "left out: $m million samples, $((180 * m + 4096)) MB of room is needed, $(mb_free) MB is free"
		continue
	fi
	"$gen" "${m}000000" "$dir/$m.data"
	made="$made $m"
done
data_mb=$(du -cm "$dir"/*.data | tail -n 1 | cut -f 1)
ram_mb=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
[ "$data_mb" -lt "$ram_mb" ] ||
	echo "note: $data_mb MB of files, $ram_mb MB of memory: not all can be read from the page cache"

one() { # SIZE
	[ "$1" -lt 64 ] || [ "$(cat "$dir/2.$1.runs" 2>/dev/null | wc -l)" -lt 3 ] || return 0
	for threads in 1 2; do
		"$timed" "$zcost" report functions --perf "$dir/$1.data" --all --format tsv -j $threads >>"$dir/$threads.$1.runs"
	done
}
for m in $made; do one "$m"; done # warm caches
rm -f "$dir"/*.runs
in_turns $made

# Reads lines "samples wall cpu MB". Prints a table, each time's distance from the line with the least squares of
# relative distances, and the growth of memory.
table() { # THREADS
	awk -v threads="$1" '
	function fit(c,   i, w, sw, sx, sy, sxx, sxy) {
		for (i = 1; i <= n; i++) {
			w = 1 / v[i, c] ^ 2
			sw += w; sx += w * v[i, 1]; sy += w * v[i, c]
			sxx += w * v[i, 1] ^ 2; sxy += w * v[i, 1] * v[i, c]
		}
		b[c] = (sw * sxy - sx * sy) / (sw * sxx - sx ^ 2)
		a[c] = (sy - b[c] * sx) / sw
	}
	function off(i, c) {
		return n < 3 ? 0 : 100 * (v[i, c] / (a[c] + b[c] * v[i, 1]) - 1)
	}
	function more(x, y) { x = x < 0 ? -x : x; return x > y ? x : y }
	{ n++; for (c = 1; c <= 4; c++) v[n, c] = $c }
	END {
		printf "%d thread%s\n%8s %9s %9s %6s %10s %10s %10s\n", threads, (threads > 1 ? "s" : ""),
			"samples", "wall s", "cpu s", "MB", "ns/sample", "wall off", "cpu off"
		if (n > 1) { fit(2); fit(3) }
		for (i = 1; i <= n; i++) {
			printf "%6d M %9.3f %9.3f %6d %10.1f %8.1f %% %8.1f %%\n", v[i, 1], v[i, 2], v[i, 3],
				v[i, 4], 1e3 * v[i, 2] / v[i, 1], off(i, 2), off(i, 3)
			wall = more(off(i, 2), wall); cpu = more(off(i, 3), cpu)
		}
		if (n < 2) exit
		printf "line: %.3f s + %.1f ns per sample; CPU time %.3f s + %.1f ns\n", a[2], 1e3 * b[2],
			a[3], 1e3 * b[3]
		if (n > 2)
			printf "furthest from it: wall %.1f %%, CPU time %.1f %%  (goal 10)\n", wall, cpu
		printf "memory: %.2f times as much for %d times the samples  (goal: does not grow)\n",
			v[n, 4] / v[1, 4], v[n, 1] / v[1, 1]
	}'
}
for threads in 1 2; do
	for m in $made; do
		f=$dir/$threads.$m.runs
		echo "$m $(median "$f" 1) $(median "$f" 2) $(median "$f" 3)"
	done | table $threads
done
