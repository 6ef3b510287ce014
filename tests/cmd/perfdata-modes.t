#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compares tables with perf report for recordings of one process, by option of perf record. A mode that this machine
# cannot record is skipped with perf's reason.
. "$(dirname "$0")/../lib.sh"
. "$tests/perfdata.sh"

need perf
perf record -q --buildid-all -e cpu-clock -o probe.data true 2>/dev/null ||
	skip_all "perf cannot record here (root, or kernel.perf_event_paranoid)"

load=load.sh
ok "a recording with a fixed period by the real-time clock with a buffer per thread matches perf report" same fixed -g -e cpu-clock \
	-c 400000 -k CLOCK_REALTIME --per-thread
ok "a recording of several events, with build-ids in the mappings, matches perf report" same multi --buildid-mmap -g -e cpu-clock,page-faults,context-switches -F 2000
ok "a recording without call graphs by the atomic clock with time boundaries and asynchronous writes matches perf report" same flat \
	-e cpu-clock -F 3000 -k CLOCK_TAI --timestamp-boundary --aio=4
ok "a recording of user space and of the kernel by an event each matches perf report" same user -g -e cpu-clock:u,cpu-clock:k -F 2000
ok "every sample of several events matches perf script" each_sample multi
# The inode identifies an object without a build-id, as in a stream, and another test's perf changes the inode when it
# links the object into its cache. So these tests may run again.
steady "a compressed recording without build-ids matches perf report" same z -z -B -N -g -e cpu-clock -F 2000
steady "a recording with a compressed file per thread matches perf report" same threadsz --threads -z -g -e cpu-clock -F 1000

stream() { command perf record -q $(buffer 32) -o - -g -e cpu-clock -F 2000 "$@" -- sh $load 2>/dev/null >pipe.data; }
pipe() {
	lossless pipe.data stream "$@"
	perl "$compare" pipe.data "$dump" &&
		"$dump" functions pipe.data >file.tsv &&
		cat pipe.data | "$dump" functions - >stdin.tsv &&
		cmp file.tsv stdin.tsv
}
steady "a stream matches perf report, read from a file or from standard input" pipe
steady "a compressed stream matches perf report" pipe -z

load=short.sh
ok "a recording with all sample fields matches perf report" same fat $clock -d -W -R -T -P --phys-data --data-page-size \
	--code-page-size --intr-regs --user-regs --sample-cpu --sample-identifier
ok "every sample with all fields matches perf script" each_sample fat
ok "a recording with --overwrite matches perf report" same overwrite $clock --overwrite
# perf may start late on a busy machine.
printf 'sleep 0.3\n. ./short.sh\n' >late.sh
load=late.sh
steady "a recording by the raw monotonic clock after a delay matches perf report" same raw $clock -k CLOCK_MONOTONIC_RAW -D 5
load=short.sh
ok "a recording by the boot clock with --max-size and --synth no matches perf report" same boot $clock -k CLOCK_BOOTTIME \
	--max-size 100K --synth no
ok "a recording of events with names and periods matches perf report" same named -g -F 1000 \
	-e cpu-clock/name=my-clock/ -e cpu-clock/period=2000000/ -e page-faults/name=faults,period=3/
ok "a recording of a group without counter reads matches perf report" same group -g -F 1000 -e '{cpu-clock,page-faults,context-switches}'

cat >ran.sh <<'E2'
ran() { awk '{ print $14 + $15 + $16 + $17 }' /proc/$1/stat; } # with its children; in ticks
from=$(ran $1) more=200
while [ $(($(ran $1) - from)) -lt 20 ] && [ $((more -= 1)) -gt 0 ]; do sleep 0.1; done
E2
attached() {
	sh -c 'while :; do ls -l /usr/bin >/dev/null; done' &
	busy=$!
	lossless pid.data perf record -q $(buffer 32) -o pid.data $clock -p $busy -- sh ran.sh $busy 2>pid.err
	kill $busy
	wait $busy 2>/dev/null
	perl "$compare" pid.data "$dump" && same_samples pid.data
}
ok "a recording of a running process matches perf report" attached

# perf 6.1 shows the chain of the previous sample for events without call chains, because it does not
# reset its cursor. Its column of children is wrong, so only self is compared.
ok "an event with call chains beside an event without matches perf report's self" env ZC_SELF_ONLY=1 "perl=$compare" sh -c '
	perf record --no-bpf-event -q -F 1000 -o mixed.data -e cpu-clock/call-graph=no/,page-faults/call-graph=fp/ \
		-- sh short.sh >/dev/null 2>&1 && perl "$perl" mixed.data '"$dump"

switched() { # writes one file per signal
	rm -f part.data*
	perf record -q -o part.data $clock --switch-output=signal -- sh -c 'kill -USR2 $PPID; sh short.sh' >/dev/null 2>&1
	n=0
	for f in part.data.*; do
		[ -s "$f" ] || continue
		"$dump" functions "$f" | grep -q . || continue # between two signals nothing may happen
		perl "$compare" "$f" "$dump" || return 1
		n=$((n + 1))
	done
	[ $n -gt 0 ]
}
steady "each file of a recording with --switch-output matches perf report" switched

if mount_tracefs; then
	ok "a tracepoint with the run time as period matches perf report" same runtime -g -e sched:sched_stat_runtime
	ok "a recording of system calls with a filter matches perf report" same calls -g -e raw_syscalls:sys_exit \
		-e syscalls:sys_enter_openat --filter 'dfd != 0'
else
	skip "tracepoints of a process" "no tracefs"
fi

maybe "a recording with branch stacks matches perf report" branches -b $clock
maybe "a recording with --kcore matches perf report" kcore --kcore $clock
maybe "a recording with --off-cpu matches perf report" offcpu --off-cpu $clock

# Makes the folder of --kcore by hand: the data and the kernel's files.
kcore_folder() {
	perf record -q -o flat.data -g -F 3000 -e cpu-clock -- sh short.sh >/dev/null 2>&1
	mkdir -p folder.data/kcore_dir && cp flat.data folder.data/data &&
		cp /proc/kallsyms folder.data/kcore_dir/ || return 1
	"$dump" functions flat.data | awk -F'\t' '$2 == "[kernel.kallsyms]" && $4 == 0' | sort >here
	"$dump" functions --foreign folder.data | awk -F'\t' '$2 == "[kernel.kallsyms]" && $4 == 0' | sort >there
	[ -s here ] && cmp here there && perl "$compare" folder.data "$dump"
}
ok "a folder with the kernel's files gives the same names as the host" kcore_folder

done_testing
