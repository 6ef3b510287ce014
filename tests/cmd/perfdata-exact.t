#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compares self and children of every symbol with perf report: recordings of all CPUs. A mode that this machine
# cannot record is skipped with perf's reason.
. "$(dirname "$0")/../lib.sh"
. "$tests/perfdata.sh"

need perf
perf record -q --buildid-all -e cpu-clock -o probe.data true 2>/dev/null ||
	skip_all "perf cannot record here (root, or kernel.perf_event_paranoid)"

load=load.sh
# With -a, other programs may have symbols with several names, and perf chooses one by chance.
steady "a system-wide recording with call graphs matches perf report" same a -a -g -k CLOCK_MONOTONIC -e cpu-clock -F 2000
# perf refuses --all-cgroups where no cgroup file system is mounted, as in some containers.
cgroups=--all-cgroups
grep -q ' cgroup2\{0,1\} ' /proc/mounts || cgroups=
steady "a recording with data mappings, switches, cgroups and namespaces matches perf report" same extra -a -g -s -d --switch-events \
	$cgroups --namespaces -e cpu-clock -F 1000
steady "a recording with a file per thread matches perf report" same threads --threads -a -g -e cpu-clock -F 1000

for name in extra threads; do
	ok "every sample matches perf script: $name" each_sample $name
done

# The files of a capture explain the same addresses as the files of this host.
taken_home() {
	perf record -q -g --buildid-all -e cpu-clock -F 2000 -o taken.data -- sh load.sh >/dev/null 2>&1
	mkdir -p home/dso
	cp /proc/kallsyms home/kallsyms && cp /sys/kernel/notes home/notes || return 1
	perf buildid-list -i taken.data | while read -r id name; do
		[ -f "$name" ] || continue
		mkdir -p "home/dso/$id"
		cp "$name" "home/dso/$id/"
		debug=/usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug
		[ ! -f "$debug" ] || cp "$debug" "home/dso/$id/${name##*/}.debug"
	done
	"$dump" functions taken.data | grep -v '\[vdso\]' | sort >here
	"$dump" functions --foreign --host-dir home taken.data | grep -v '\[vdso\]' | sort >home.tsv
	[ -s here ] && cmp here home.tsv
}
ok "a capture's kallsyms and objects give the same names as the host" taken_home

mismatched() { # puts another kernel's notes beside the same kallsyms
	printf '\004\0\0\0\004\0\0\0\003\0\0\0GNU\0\001\002\003\004' >home/notes
	"$dump" health --foreign --host-dir home a.data >out
	says 'kernel_note	.*build-id [0-9a-f]*, the capture has 01020304' out &&
		"$dump" functions --foreign --host-dir home a.data >named &&
		! awk -F'\t' '$2 == "[kernel.kallsyms]" && $4 == 0' named | grep .
}
ok "kallsyms of another kernel names nothing, and a note says why" mismatched

relocated() { # writes the kallsyms of the same kernel at another address
	perl -pe 's/^(ffffffff)([0-9a-f]{8})/sprintf("%s%08x", $1, hex($2) + 0x200000)/e' /proc/kallsyms >moved
	"$dump" functions a.data | awk -F'\t' '$2 == "[kernel.kallsyms]"' | sort >here
	"$dump" functions --kallsyms moved a.data | awk -F'\t' '$2 == "[kernel.kallsyms]"' | sort >there
	[ -s here ] && cmp here there
}
ok "kallsyms of a kernel at another address gives the same names" relocated

# Two programs have the same path, one of them in a mount namespace.
burn() { # FUNCTION FILE
	printf 'volatile unsigned long x;
__attribute__((noinline)) void %s(void) { for (unsigned long i = 0; i < 30000000; i++) x += i; }
int main(void) { %s(); return 0; }\n' "$1" "$1" | ${CC:-cc} -O1 -Wl,--build-id -x c -o "$2" -
}
same_path() {
	burn alpha prog && burn beta other || return 1
	cat >both.sh <<-'E3'
		./prog &
		echo "alpha $!" >pids
		unshare -m sh -c 'mount --bind other prog && exec ./prog' &
		echo "beta $!" >>pids
		wait
	E3
	perf record -q -a -g -e cpu-clock -F 1000 -o both.data -- sh both.sh 2>/dev/null
	"$dump" costs both.data | awk -F'\t' '
		FILENAME == "pids" { split($0, w, " "); own[w[2]] = w[1]; next }
		($5 in own) && $6 == "user" {
			split($9, frame, ";")
			if (frame[1] == own[$5]) good++
			else if (frame[1] == "alpha" || frame[1] == "beta") { print; bad++ }
		}
		END { exit bad || !good }' pids -
}
if unshare -m true 2>/dev/null; then
	ok "two programs with the same path never take each other's names" same_path
else
	skip "two programs with the same path never take each other's names" "no mount namespaces here"
fi

load=short.sh

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
steady "a recording of a group with its running times on one CPU matches perf report" same times -a -C 0 -g -s --running-time -c 1000000 \
	-e '{cpu-clock,task-clock,page-faults}:S'
steady "a recording of a group at a frequency matches perf report" same groupf -a -g -F 1000 -e '{cpu-clock,page-faults,context-switches}:S'
maybe "a recording of a cgroup matches perf report" cgroup -a -e cpu-clock -G / -g -F 1000
if mount_tracefs; then
	steady "a recording of tracepoints beside a clock matches perf report" same trace -a -g -F 1000 -e sched:sched_switch,cpu-clock
	ok "every sample of a tracepoint matches perf script" each_sample trace
	traced_pipe() {
		perf record -q -o - -g -e sched:sched_switch -- sh short.sh 2>/dev/null >pipe.data
		perl "$compare" pipe.data "$dump"
	}
	steady "a stream with tracing data matches perf report" traced_pipe
else
	skip "tracepoints of all CPUs" "no tracefs"
fi

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
	[ "$lost" = 0 ] && return # a kernel before 6.0 does not count per event
	says "^lost_samples	$lost$" out &&
		"$zcost" report functions --perf lost.data 2>&1 | grep -E "perf lost ([0-9]+ records? and )?$lost samples?"
}
# Records of processes are lost too, and perf may know a process by chance that zcost does not know.
once() { lost || { lose; return 1; }; }
if lose; then
	steady "lost samples count once" once
else
	skip "lost samples count once" "perf lost nothing in ten recordings into a buffer of one page"
fi

done_testing
