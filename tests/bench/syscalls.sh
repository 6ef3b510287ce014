#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The cost of counting a system call: a loop of getppid, the cheapest call, bare and under each tool. The tools run
# interleaved, with the order reversed each round. Figures are medians of ROUNDS (5) runs, in ns per call. Then two such loops
# run at once: calls per second of both, and the number of calls that were not counted. Last, the time in the BPF
# programs themselves, by the kernel's statistics (kernel.bpf_stats_enabled, restored at the end).
set -eu
. "$(dirname "$0")/lib.sh"
calls=$build/tests/tools/calls
need "$calls"
[ "$(id -u)" = 0 ] || { echo "SKIP: needs root"; exit 0; }

counted() { # METHOD N OPTIONS
	method=$1 n=$2
	shift 2
	"$zcost" collect -o "$dir/run" --collect syscalls --syscalls-method "$method" "$@" -- "$calls" loop "$n" ||
		[ $? = 4 ] # lossy: reported below
	cat "$dir/run/workload.out"
	sed -n 's/.*"lost": \([0-9]*\).*/\1/p' "$dir/run/run.json" >>"$dir/$method.lost"
}

# Slow tools get fewer calls, because only the loop is timed.
one() {
	case $1 in
	none) "$calls" loop 2000000 ;;
	bpf) counted bpf 2000000 ;;
	bpf-1-in-16) counted bpf 2000000 --time-one-in 16 ;;
	tracepoint) counted tracepoint 500000 ;;
	perf-trace) perf trace -s -o /dev/null "$calls" loop 30000 ;;
	strace) strace -f -c -o /dev/null "$calls" loop 30000 ;;
	esac 2>"$dir/err" >"$dir/out" || { echo "$1 failed:" >&2; cat "$dir/err" >&2; return 1; }
	tail -n 1 "$dir/out" >>"$dir/$1.ns"
}

all='none bpf bpf-1-in-16 tracepoint'
for tool in 'perf perf-trace' 'strace strace'; do
	if command -v "${tool% *}" >/dev/null; then
		all="$all ${tool#* }"
	else
		echo "SKIP ${tool#* }: no ${tool% *} here"
	fi
done
in_turns $all

bare=$(median "$dir/none.ns" 1)
echo "per getppid  median ns     min       max   added ns  (n=$rounds)"
for tool in $all; do
	sort -n "$dir/$tool.ns" | awk -v t="$tool" -v bare="$bare" '{ x[NR] = $1 } END {
		m = x[int((NR + 1) / 2)]
		printf "%-12s %9.1f %9.1f %9.1f  %9.1f\n", t, m, x[1], x[NR], m - bare }'
done
for m in bpf bpf-1-in-16; do
	awk -v m=$m -v bare="$bare" -v with="$(median "$dir/$m.ns" 1)" 'BEGIN {
		printf "%s adds %.0f ns to a call of %.0f ns, %.2f of it; goal 150 ns to one of 70\n",
			m, with - bare, bare, (with - bare) / bare }'
done
for m in bpf tracepoint; do
	echo "$m lost: $(sort -n "$dir/$m.lost" | tail -n 1) at most"
done

# both [COMMAND...]: adds "calls/s" of two loops at once, each on another CPU
n=4000000
both() {
	"$@" sh -c "taskset -c 0 '$calls' loop $n & taskset -c 1 '$calls' loop $n & wait" >"$dir/out" 2>"$dir/err"
	[ ! -d "$dir/run" ] || cp "$dir/run/workload.out" "$dir/out"
	awk '{ n += 1e9 / $1 } END { printf "%.0f\n", n }' "$dir/out"
}
under() { # CASE OPTIONS
	case=$1
	shift
	both "$zcost" collect -o "$dir/run" --collect syscalls --syscalls-method bpf "$@" -- >>"$dir/$case.rate"
	awk -F'\t' -v n=$n '$1 == "calls" && $5 == "getppid" { c += $6 } END { print 2 * n - c }' "$dir/run/syscalls.tsv" >>"$dir/$case.missing"
	rm -rf "$dir/run"
}

# Prints ns per run of the programs of the zcost process $1 that ran at least 1000 times: in the order of their
# load, the first two are at a call's entry and exit, the seventh is at a copy.
program_times() {
	for fd in $(ls "/proc/$1/fdinfo" | sort -n); do
		awk '/^prog_type/ { program = 1 } /^run_time_ns/ { t = $2 } /^run_cnt/ { n = $2 }
			END { if (program) print (n >= 1000 ? t / n : "-") }' "/proc/$1/fdinfo/$fd" 2>/dev/null
	done
}
watched() { # watched COMMAND...: the last times before the command's collector ends
	rm -rf "$dir/run"
	"$zcost" collect -o "$dir/run" --collect syscalls --syscalls-method bpf -- "$@" >/dev/null 2>&1 &
	watched=$!
	while kill -0 $watched 2>/dev/null; do
		program_times $watched >"$dir/now" 2>/dev/null || :
		[ "$(wc -l <"$dir/now")" -lt 7 ] || mv "$dir/now" "$dir/times"
		sleep 0.05
	done
}
stats=/proc/sys/kernel/bpf_stats_enabled
stats_before=$(cat $stats)
trap 'echo $stats_before >$stats; at_end' EXIT
echo 1 >$stats
i=0
while [ $i -lt "$rounds" ]; do
	watched "$calls" loop 1500000
	sed -n 1p "$dir/times" >>"$dir/entry.ns"
	sed -n 2p "$dir/times" >>"$dir/exit.ns"
	(sleep 0.3; exec "$build/tcpzc" --connect 127.0.0.1 --port 17171 --seconds 1 >/dev/null) &
	watched "$build/tcpzc" --listen --port 17171
	wait
	sed -n 7p "$dir/times" >>"$dir/copy.ns"
	i=$((i + 1))
done
echo "in the BPF programs, ns (n=$rounds): entry of a call $(median "$dir/entry.ns" 1), exit $(median "$dir/exit.ns" 1)," \
	"copy from a socket $(median "$dir/copy.ns" 1)"
echo "$stats_before" >$stats
[ "$(nproc)" -ge 2 ] || exit 0
rm -rf "$dir/run"
i=0
while [ $i -lt "$rounds" ]; do
	both >>"$dir/none.rate"
	under bpf
	under bpf-1-in-16 --time-one-in 16
	i=$((i + 1))
done
echo "two threads, calls a second (n=$rounds): bare $(median "$dir/none.rate" 1), bpf $(median "$dir/bpf.rate" 1)," \
	"one in 16 timed $(median "$dir/bpf-1-in-16.rate" 1); goal 5000000"
echo "calls that were not counted: $(sort -n "$dir/bpf.missing" | tail -n 1) and" \
	"$(sort -n "$dir/bpf-1-in-16.missing" | tail -n 1) at most, of $((2 * n)) each"
