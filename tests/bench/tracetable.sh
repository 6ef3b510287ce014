#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The table of system calls from a recording of raw_syscalls, about 1.3 million events: zcost report syscalls --perf,
# which has one thread, against perf trace -s -i. The tools run interleaved. Figures are medians of ROUNDS (5) runs.
# PERFDATA=FILE uses that recording.
set -eu
. "$(dirname "$0")/lib.sh"
calls=$build/tests/tools/calls
need "$timed" "$dump" "$calls"
command -v perf >/dev/null || { echo "SKIP: no perf here"; exit 0; }

data=${PERFDATA:-}
if [ -z "$data" ]; then
	data=$dir/perf.data
	perf record -q -m 4096 -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -o "$data" -- sh -c '
		"$1" loop 400000 &
		dd if=/dev/zero of=/dev/null bs=512 count=150000 &
		dd if=/dev/zero of="$2/file" bs=4k count=50000 &
		find /usr/share /usr/lib -type f &
		wait' sh "$calls" "$dir" >/dev/null 2>"$dir/err" ||
		{ echo "SKIP: perf cannot record system calls (is tracefs mounted?): $(tail -n 1 "$dir/err")"; exit 0; }
	rm -f "$dir/file"
fi
"$dump" health "$data" >"$dir/health" || [ $? = 4 ]
echo "$(awk -F '\t' '/^event/ { n += $2 } END { print n }' "$dir/health") events," \
	"$(($(stat -c %s "$data") / 1000000)) MB; lost $(awk '/^lost_samples/ { print $2 }' "$dir/health")"

run() {
	case $1 in
	zcost) "$timed" "$zcost" report syscalls --perf "$data" --all --format tsv ;;
	perf-trace) "$timed" perf trace -s -i "$data" ;;
	esac
}

race zcost perf-trace
against perf-trace "perf trace -s -i / zcost, wall" 1 "goal 5"
against perf-trace "perf trace -s -i / zcost, CPU time" 2 "goal 5"
