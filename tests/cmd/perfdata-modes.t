#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compares tables with perf report for the other options of perf record. A mode that this machine cannot
# record is skipped with perf's reason.
. "$(dirname "$0")/../lib.sh"
. "$tests/perfdata.sh"

command -v perf >/dev/null || skip_all "no perf on this machine"
perf record -q --buildid-all -e cpu-clock -o probe.data true 2>/dev/null ||
	skip_all "perf cannot record here (root, or kernel.perf_event_paranoid)"

cat >short.sh <<'E2'
ls -l /usr/bin >/dev/null
perl -e 'sub r { my $n = shift; return $n < 2 ? $n : r($n - 1) + r($n - 2) } r(15) for 1 .. 8' & wait
E2

load=short.sh
clock='-g -e cpu-clock -F 3000'
ok "a recording with all sample fields matches perf report" same fat $clock -d -W -R -T -P --phys-data --data-page-size \
	--code-page-size --intr-regs --user-regs --sample-cpu --sample-identifier
ok "every sample with all fields matches perf script" each_sample fat

# Prints kernel samples without a symbol. Callers do not count: a user's frame pointer can be any value, also
# an address of the kernel.
unknown_in_kernel() {
	grep -E ' _e?text$' /proc/kallsyms | cat - "$1" | perl -ne '
		no warnings "portable";
		$text{$2} = hex $1 if /^([0-9a-f]+) . (_e?text)$/;
		print if /\t\[unknown\]\t0x([0-9a-f]{16})\t\d+\t[1-9]/ &&
			hex $1 >= $text{_text} && hex $1 < $text{_etext}' | grep .
}

# perf applies records without a time in file order, so it does not know processes that --tail-synthesize
# describes at the end. zcost applies them from the start on, so no kernel sample may be unknown.
tail_synthesized() {
	lossless tail.data perf record -q $(buffer 32) -o tail.data $clock -a --tail-synthesize -- sh short.sh >/dev/null 2>&1
	our_samples tail.data | cut -d '|' -f 1,3- | sort >ours
	perf_samples tail.data | cut -d '|' -f 1,3- | sort >perfs
	cmp ours perfs && "$dump" functions tail.data >out &&
		says 'kernel.kallsyms' out && ! unknown_in_kernel out
}
steady "a recording with --tail-synthesize names the kernel and has perf's samples" tail_synthesized
told_of_bpf() { # lib.sh adds --no-bpf-event elsewhere
	lossless bpf.data command perf record -q $(buffer 32) -o bpf.data $clock -a -- sh short.sh >/dev/null 2>&1
	perl "$compare" bpf.data "$dump"
}
steady "a recording with events of BPF programs matches perf report" told_of_bpf
ok "a recording with --overwrite matches perf report" same overwrite $clock --overwrite
ok "a recording with --synth no matches perf report" same nosynth $clock --synth no
# perf may start late on a busy machine.
printf 'sleep 0.3\n. ./short.sh\n' >late.sh
load=late.sh
steady "a recording by the raw monotonic clock after a delay matches perf report" same raw $clock -k CLOCK_MONOTONIC_RAW -D 5
load=short.sh
ok "a recording by the boot clock with --max-size matches perf report" same boot $clock -k CLOCK_BOOTTIME --max-size 100K
ok "a recording by the real-time clock without children matches perf report" same real $clock -k CLOCK_REALTIME -i
ok "a recording by the atomic clock with time boundaries matches perf report" same tai $clock -k CLOCK_TAI --timestamp-boundary
steady "a recording of one CPU matches perf report" same cpu0 $clock -a -C 0
ok "a recording with a buffer per thread matches perf report" same perthread $clock --per-thread
ok "a recording with asynchronous writes matches perf report" same aio $clock --aio=4
ok "a recording of events with names and periods matches perf report" same named -g -F 1000 \
	-e cpu-clock/name=my-clock/ -e cpu-clock/period=2000000/ -e page-faults/name=faults,period=3/
ok "a recording of a group without counter reads matches perf report" same group -g -F 1000 -e '{cpu-clock,page-faults,context-switches}'
steady "a recording of a group with its running times on all CPUs matches perf report" same times -a -g -s --running-time -c 1000000 \
	-e '{cpu-clock,task-clock,page-faults}:S'
steady "a recording of a group at a frequency matches perf report" same groupf -a -g -F 1000 -e '{cpu-clock,page-faults,context-switches}:S'

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

mount_tracefs() { # stays mounted, because other tests may use it
	[ -e /sys/kernel/tracing/events/sched ] || mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null
	[ -e /sys/kernel/tracing/events/sched ] || [ -e /sys/kernel/debug/tracing/events/sched ]
}
if mount_tracefs; then
	steady "a recording of tracepoints beside a clock matches perf report" same trace -a -g -F 1000 -e sched:sched_switch,cpu-clock
	ok "every sample of a tracepoint matches perf script" each_sample trace
	ok "a tracepoint with the run time as period matches perf report" same runtime -g -e sched:sched_stat_runtime
	traced_pipe() {
		perf record -q -o - -g -e sched:sched_switch -- sh short.sh 2>/dev/null >pipe.data
		perl "$compare" pipe.data "$dump"
	}
	steady "a stream with tracing data matches perf report" traced_pipe
	ok "a recording of system calls with a filter matches perf report" same calls -g -e raw_syscalls:sys_exit \
		-e syscalls:sys_enter_openat --filter 'dfd != 0'
else
	for what in "in a stream" "beside a clock" "that count" "of system calls"; do
		skip "tracepoints $what" "no tracefs"
	done
fi

# maybe WHAT NAME OPTION OPTIONS...: runs `same` when perf can record OPTION here.
maybe() {
	what=$1
	name=$2
	asked=$3
	shift 3
	if perf record -o maybe.data "$asked" "$@" -- true >/dev/null 2>maybe.err &&
		! perf record -h 2>&1 | grep -A 1 -e "$asked"  | grep -q 'not built'; then
		steady "$what" same "$name" "$asked" "$@"
	else
		skip "$what" "perf: $(grep . maybe.err | head -n 2 | tr '\n' ' ' | cut -c1-120)"
	fi
}
maybe "a recording with branch stacks matches perf report" branches -b $clock
maybe "a recording of a cgroup matches perf report" cgroup -a -e cpu-clock -G / -g -F 1000
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

# A buffer of one page loses samples. zcost has the samples that are left and counts the lost ones. perf
# counts the losses of its dummy event as samples, zcost counts them as records.
lose() { # retries until perf loses something
	tries=0
	while [ $tries -lt 10 ]; do
		tries=$((tries + 1))
		perf record -q -a -g -m 1 -R -d -e cpu-clock -F 20000 -o lost.data -- sh -c 'sh short.sh & sh short.sh; wait' >/dev/null 2>&1
		perf report -D -i lost.data 2>/dev/null | grep -qaE 'RECORD_LOST(_SAMPLES)?:' && return
	done
	return 1
}
lost() {
	lost=$(perf report -i lost.data --stats --stdio 2>/dev/null | awk '
		/^cpu-clock stats/ { mine = 1 } /^dummy/ { mine = 0 }
		mine && /LOST_SAMPLES/ { n += $3 } END { print n + 0 }')
	perl "$compare" lost.data "$dump" && "$dump" health lost.data >out || return 1
	perf report -D -i lost.data 2>/dev/null | grep -a 'RECORD_LOST:' >records
	[ "$lost" = 0 ] && return # a kernel before 6.0 does not count per event
	says "^lost_samples	$lost$" out &&
		"$zcost" report functions --perf lost.data 2>&1 | grep "perf lost [0-9]* records and $lost samples"
}
# Records of processes are lost too, and perf may know a process by chance that zcost does not know.
once() { lose && lost; }
if lose; then
	steady "lost samples count once" once
else
	skip "lost samples count once" "perf lost nothing in ten recordings into a buffer of one page"
fi

done_testing
