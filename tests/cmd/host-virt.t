#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What reaches a hypervisor: interrupts between CPUs, timers, halts. The collector frame counts them, and so does the
# kernel, or the program that causes them. Other programs cause more of them, and take CPU time: so many are lower bounds.
. "$(dirname "$0")/../lib.sh"

need root jq
[ "$(nproc)" -ge 2 ] || skip_all "needs two CPUs"
calls=10000
sleeps=3000

measure() {
	"$zcost" collect -o r --collect frame,irq --cpus 0-1 -- "$build/tests/tools/exits" $calls $sleeps
	"$zcost" analyze r 2>err
}
works frame measure
metrics() { # metrics NAME...: the sum of metrics of the side
	list=
	for name; do
		list="$list,'$name'"
	done
	sqlite3 r/zcost.db "SELECT IFNULL(SUM(value), 0) FROM metric WHERE $spelled IN (${list#,})"
}
entries() { metrics "frame_entries:$1"; }
least() { # least A B: A is at least B
	awk -v a="$1" -v b="$2" 'BEGIN { if (a < b) { print a " is below " b; exit 1 } }'
}

# The readings of /proc/interrupts are interpolated to the window's ends.
as_kernel() { # as_kernel CONTEXTS SOURCE...
	counted=$(for context in $1; do entries "hardirq $context"; done | awk '{ n += $1 } END { print n }')
	shift
	kernel=$(metrics "$@")
	near "$counted" "$kernel" "$(awk -v n="$kernel" 'BEGIN { print n / 20 + 20 }')"
}
again() { [ $again = 1 ] || measure >/dev/null 2>&1; "$@"; }
if [ "$(uname -m)" = x86_64 ]; then
	steady "the entries of call_function and call_function_single are as in /proc/interrupts" again as_kernel \
		"call_function call_function_single" 'irq:CAL Function call interrupts' 'irq:TLB TLB shootdowns'
	steady "the entries of reschedule are as in /proc/interrupts" again as_kernel reschedule 'irq:RES Rescheduling interrupts'
	steady "the entries of local_timer are as in /proc/interrupts" again as_kernel local_timer 'irq:LOC Local timer interrupts'
fi

ok "a barrier interrupts the CPU that runs the program's other thread" least "$(entries 'hardirq call_function_single')" $((calls * 9 / 10))
halts=$(awk -F'\t' '$1 == 0 && $5 == "halt" { ns += $7; n += $8 } $1 == 0 { all += $7 } END { if (ns > all / 2) print n + 0 }' r/frame.tsv)
if [ -n "$halts" ]; then
	ok "a sleep halts the CPU" least "$halts" $((sleeps / 2))
else
	skip "a sleep halts the CPU" "other programs take most of CPU 0's time"
fi

if grep -q '	msr		' r/frame.tsv; then
	ok "each sleep sets the timer" least "$(entries 'msr 0x6e0')" $((sleeps * 9 / 10))
	ok "an interrupt between CPUs is a write of a register" least "$(entries 'msr 0x830')" "$(metrics \
		'frame_entries:hardirq reschedule' 'frame_entries:hardirq call_function_single' | awk '{ print $1 * 0.95 }')"
	ok "the writes of all registers add up to their number" near "$(entries msr)" "$(sqlite3 r/zcost.db \
		"SELECT SUM(value) FROM metric WHERE object LIKE 'msr 0x%'")" 0
	ok "a CPU has a row of its writes also where it has none" test "$(grep -c '	msr		' r/frame.tsv)" = 2
else
	skip "each sleep sets the timer" "the kernel does not trace writes of registers"
fi

# The run did no work that zcost knows, so the table has the counts per second.
per_second() { # per_second KIND NAME METRIC
	shown=$("$zcost" report virt r --format tsv 2>/dev/null | tsv '$at["kind"] == kind && $at["name"] == name && $at["source"] == "frame" {
		print $at["per_s"] }' kind="$1" name="$2")
	near "$shown" "$(sqlite3 r/zcost.db "SELECT $(metrics "$3") / value FROM metric WHERE name = 'seconds'")" 0.01
}
ok "report virt has the interrupts of the frame" per_second interrupt local_timer 'frame_entries:hardirq local_timer'

"$zcost" collect -o r --collect irq,cpu --cpus 0-1 -- sleep 0.2 2>/dev/null && "$zcost" analyze r 2>/dev/null
without() {
	"$zcost" report virt r --verbose >out 2>&1
	says '/proc/interrupts +local_timer' out && says 'no run has the frame' out && ! grep msr_write out
}
[ "$(uname -m)" != x86_64 ] || ok "without the frame the interrupts are those of /proc/interrupts, and a note says so" without

done_testing
