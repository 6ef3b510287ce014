#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Makes one call fail in each run of zcost: no memory, a file that cannot be opened, read, written, synced, renamed or
# mapped, no process, an error of SQLite, of bpf() or of perf_event_open(). `make faults` fails more calls.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"
. "$tests/every_row.sh"
need sqlite3
! nm "$zcost" 2>/dev/null | grep -q __asan_init || skip_all "the sanitizer's heap takes no other's place"

faults() { # BOUND COMMAND...
	perl "$tests/faults/run.pl" "$build" cap "$@"
}
tables() { # a table is printed and not closed, so its bounded test leaves out close
	kinds="alloc open stat read write mmap fork step"
	[ -z "${FAULTS:-}" ] || kinds="$kinds close"
	FAULTS_KINDS=${FAULTS_KINDS:-$kinds} perl "$tests/faults/run.pl" "$build" cap "${FAULTS:-1}"
}
ok "the test capture has rows in every table" every_row_capture cap
ok "a failed call gives the same table, or exit 1 or 4 and the reason" tables
"$zcost" pack cap -o cap.tar.zst 2>/dev/null

packs_or_fails() { # the allocations 10 to 20 of pack list the capture's folder
	for n in $(seq 10 20); do
		ZCOST_FAULT=alloc:$n LD_PRELOAD="$build/tests/faults/inject.so" "$zcost" pack cap -o listed.tar.zst 2>err
		[ $? -le 1 ] || { echo "allocation $n:"; cat err; return 1; }
	done
}
ok "pack exits 0 or 1 where there is no memory to list a capture's folder" packs_or_fails

# The exit codes and messages of single faults. A wrong command line alone is exit 2.
with_fault() { # with_fault FAULT CODE PATTERN ARGUMENT...
	fault=$1 code=$2 pattern=$3
	shift 3
	exits "$code" env ZCOST_FAULT="$fault" LD_PRELOAD="$build/tests/faults/inject.so" "$zcost" "$@" && { [ -z "$pattern" ] || says "$pattern" err; }
}

# What earlier commands left: run.pl begins each run with it.
mkdir -p old/analyze old/export/csv old/report old/compare old/plot/charts old/pack
cp -r cap old/analyze/
for f in report/x report/page.html compare/x pack/a.tar.zst pack/anonymous.tar.zst export/x export/csv/run.csv export/csv/spot.csv \
	plot/charts/throughput.svg plot/charts/throughput.tsv plot/charts/flame_mapping_receiver.svg; do
	echo old >old/$f
done
writing() { # BOUND: the commands that write a file
	set -- "$1" "analyze W/cap" "pack cap -o W/a.tar.zst" "unpack cap.tar.zst -o W/cap" "export csv cap -o W/csv" \
		"pack cap --anonymous -o W/anonymous.tar.zst" "export pprof cap --side receiver -o W/x" "report summary cap -o W/x" "compare copying mapping -C cap -o W/x"
	[ -z "${FAULTS:-}" ] || set -- "$@" "export sql cap -o W/x" "export folded cap --side receiver -o W/x" \
		"export speedscope cap --side receiver -o W/x" "export openmetrics cap -o W/x" \
		"export perf-script cap --side receiver -o W/x" "export folded-diff copying mapping -C cap --side receiver -o W/x"
	faults "$@"
}
ok "a failed call leaves the old file or the whole new one" writing "${FAULTS:-2}"
ok "a killed command leaves the old file or the whole new one" writing "kill:${FAULTS:-1}"
if command -v gnuplot >/dev/null; then
	charts="plot cap throughput flame -o W/charts --format svg"
	ok "a failed call leaves no half chart" faults "${FAULTS:-1}" "$charts"
	ok "a killed plot leaves no half chart" faults "kill:${FAULTS:-1}" "$charts"
	[ -z "${FAULTS:-}" ] || ok "a failed call leaves no half chart of a sweep" \
		faults "$FAULTS" "plot cap sweep --setting MTU -o W/charts --format svg"
	[ -z "${FAULTS:-}" ] || ok "a failed call leaves the old page, the whole new one, or one that names what it lacks" \
		faults $((FAULTS / 10 + 1)) "report --html W/page.html cap" "compare copying mapping -C cap --html W/page.html"
else
	skip "a failed call leaves no half chart" "no gnuplot"
fi

# The host half. tests/fake/collect is in the place of `zcost collect`.
host() { "$zcost" help | grep -q '^  capture'; }
cat >plan.ini <<'END'
[plan]
repeats = 1
passes = measure
warmup = 0.02
duration = 0.05
grace = 0
before = echo up >>$ZCOST_STATE/hooks
after = echo down >>$ZCOST_STATE/hooks
[side receiver]
[variant a]
receiver = sleep 60
END
far_fails() { # far_fails FAULT: the run of the fault fails, and its new try may succeed
	far --agent "$1"
	says 'zcost: .*(failed|trying again): .*' err
}
out_of_memory() { # out_of_memory PERCENT...: of the allocations of a capture; at least one is between before and after
	injected() { # injected VARIABLE: a capture with one failed call
		rm -rf memory hooks.state && mkdir -m 700 hooks.state
		env "$1" ZCOST_STATE="$scratch/hooks.state" LD_PRELOAD="$build/tests/faults/inject.so" \
			"$zcost" capture plan.ini -o memory 2>err || test $? = 1 || return
		hooks=$(tr '\n' ' ' 2>/dev/null <hooks.state/hooks)
		case $hooks in
		"" | "down " | "up down " | "up down down ") ;; # twice: it failed after the undoing
		*) grep -q 'not undone yet' err || { cat err hooks.state/hooks; return 1; } ;;
		esac
	}
	undone=
	injected ZCOST_FAULT_COUNT="$scratch/calls" || return
	for percent; do
		injected ZCOST_FAULT="alloc:$(awk -v p="$percent" '$1 == "alloc" { print int($2 * p / 100) }' calls)" || return
		! grep -q '^zcost: out of memory$' err || undone=$undone$hooks
	done
	test -n "$undone" || return
	said=
	for n in 6 7 8 9 10 11; do # the undo state cannot be looked for
		injected ZCOST_FAULT=statx:$n || return
		! grep -q 'not undone yet' err || said=1
	done
	test -n "$said"
}
measuring() { # BOUND
	set -- "$1" "collect -o W/run --grace 0 --collect cpu,softnet,tcp,threads,counters --duration 0.02 -- sleep 60"
	[ -z "${FAULTS:-}" ] || set -- "$@" \
		"collect -o W/run --grace 0 --collect host,irq,idle,nic,snmp,sockstat,sched --duration 0.05 -- sleep 60" \
		"collect -o W/run --grace 0 --collect syscalls --duration 0.05 -- sleep 60" \
		"collect -o W/run --grace 0 --collect perf --duration 0.05 -- sleep 60"
	faults "$@"
}
meters() { # BOUND: power, heat and the kernel's code from fake trees
	zone=sys/class/powercap/intel-rapl:0
	heat=sys/devices/system/cpu/cpu0/thermal_throttle
	mkdir -p $zone $heat proc
	echo package-0 >$zone/name && echo 262143328850 >$zone/max_energy_range_uj && echo 5000 >$zone/energy_uj
	echo 3 >$heat/core_throttle_count
	printf 'ffffffff81001000 T _stext\nffffffff81001040 T f\nffffffff81003000 T _etext\n' >proc/kallsyms
	: >proc/modules
	perl -e 'print pack("a4C5x7vvVQQQVvvvvvv", "\x7fELF", 2, 1, 1, 0, 0, 4, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0),
		pack("VVQQQQQQ", 1, 7, 4096, 0xffffffff81000000, 0, 65536, 65536, 4096), "\0" x (65536 + 4096 - 64 - 56)' >proc/kcore
	printf '#!/bin/sh\necho 20 W\n' >watts && chmod +x watts
	ZCOST_PROC=$scratch/proc ZCOST_SYSFS=$scratch/sys faults "$1" \
		"collect -o W/run --grace 0 --collect kcore,power,throttle --power-command wall=$scratch/watts --duration 0.02 -- sleep 60"
}
# A side on another host: the plan's ssh and zcost are scripts, which run the commands of the other host here.
cat >ssh <<'END'
#!/bin/sh
while [ "$1" != -- ]; do shift; done
shift 2
exec sh -c "$*"
END
cat >there <<'END'
#!/bin/sh
case $* in
*" $FAULTS_THERE"*)
	exec env LD_PRELOAD="${THERE_LD_PRELOAD-}" ZCOST_FAULT="${THERE_ZCOST_FAULT-}" ZCOST_FAULT_TRACE="${THERE_ZCOST_FAULT_TRACE-}" \
		ZCOST_FAULT_COUNT="${THERE_ZCOST_FAULT_COUNT-}" "$@" ;;
esac
exec "$@"
END
chmod +x ssh there
sed "s|^duration.*|&\nssh = $scratch/ssh|; /^\[side/a host = ssh://there\nzcost = $scratch/there $zcost\ncollect = cpu" plan.ini >far.ini
far() { # far PROCESS FAULT: fails a call of a process on the other host
	rm -rf far
	FAULTS_THERE=$1 THERE_ZCOST_FAULT=$2 THERE_LD_PRELOAD=$build/tests/faults/inject.so "$zcost" capture far.ini -o far >out 2>err
}
if host; then
	ZCOST_COLLECT=$tests/fake/collect
	export ZCOST_COLLECT
	capture="capture plan.ini -o W/cap"
	ok "a failed call gives the same dry run, or exit 1 or 4 and the reason" faults "${FAULTS:-4}" "capture plan.ini --dry-run"
	ok "a failed call leaves a capture that is whole or says what it lacks" faults "${FAULTS:-1}" "$capture"
	ok "a killed capture is whole or says what it lacks" faults "kill:${FAULTS:-1}" "$capture"
	ok "a capture without memory undoes what its plan did; one that cannot find its undo state says so" out_of_memory 60 85 90
	ok "a capture with a side on another host succeeds" far --agent "" # the process has no fault
	for fault in scandir:1 scandir:2; do
		ok "a run fails when the other host cannot list all of its files ($fault)" far_fails $fault
		ok "a capture fails when its folder cannot be listed to the end ($fault)" \
			with_fault $fault 1 '^zcost: unlisted.*: cannot read' capture plan.ini -o unlisted
	done
	grep -v '^before\|^after' plan.ini >unwatched.ini
	unwatched() { # its first system call of these is the pidfd_open() of the side
		exits 1 timeout 120 env ZCOST_FAULT=syscall:1 LD_PRELOAD="$build/tests/faults/inject.so" \
			"$zcost" capture unwatched.ini -o unwatched && says 'cannot watch a child: ' err
	}
	ok "a capture that cannot watch its side ends the side at once" unwatched
	broken() { far --agent write:1; test $? = 1; }
	ok "an agent that ends early makes a failed run and no wrong plan" broken
	ok "a plan that cannot be read is no wrong plan" with_fault read:1 1 '^zcost: plan.ini: cannot read' capture plan.ini --dry-run
	ok "CPUs that cannot be read are no wrong usage" with_fault fstat:1 1 '/online: cannot read' collect -o r --collect cpu -- true
	if [ -n "${FAULTS:-}" ]; then
		for process in --agent --sync; do
			ok "a failed call of $process on another host leaves a capture that is whole or says what it lacks" \
				env FAULTS_THERE=$process perl "$tests/faults/run.pl" "$build" cap "$FAULTS" "capture far.ini -o W/cap"
		done
		ok "a failed call leaves a capture with another host that is whole or says what it lacks" faults "$FAULTS" "capture far.ini -o W/cap"
	fi
	if [ "$(id -u)" = 0 ]; then
		ok "a failed call leaves a run that is whole or says what it lacks" measuring "${FAULTS:-1}"
		ok "a counter that is not opened for want of memory makes a run lossy" with_fault perf:1 4 '' collect -o r --collect counters -- true
		ok "a failed call leaves a run with meters that is whole or says what it lacks" meters "${FAULTS:-1}"
		ok "run.json names the counter and the reason" says '"not counted: [a-z-]+ \(Cannot allocate memory\)' r/run.json
	fi
fi

# The raw files of a run with samples, and what names them: --from and --perf read all of them.
raw_capture() {
	measure_run raw copying 1 receiver 1250000000 150
	d=raw/runs/copying/profile-01/receiver
	run_json $d copying profile 1 receiver none \
		'{"name": "perf", "state": "ok", "why": "", "files": ["perf.data"]}'
	"$build/tests/tools/perfdata_gen" 3000 $d/perf.data >/dev/null || return
	sed -i '/window/s/1\([03]\)000000000/100\1000000000/g; s/100\([03]\)000000000/100\1000000000/g; s/"cpus": "1"/"cpus": "0-7"/' $d/run.json
	for lib in $(ldd "$zcost" | awk '/lib(c|elf)[-.]/ { print $3 }'); do
		id=$(readelf -n "$lib" | awk '/Build ID/ { print $3 }')
		mkdir -p "raw/hosts/vm/dso/$id"
		cp "$(readlink -f "$lib")" "raw/hosts/vm/dso/$id/"
	done
	head -n 3000 /proc/kallsyms >raw/hosts/vm/kallsyms
	cp /sys/kernel/notes raw/hosts/vm/notes
	echo '{"schema_version": 1, "release": "6.18.0"}' >raw/hosts/vm/host.json
	manifest raw copying copying/measure/1/ok copying/profile/1/ok
	sed -i 's/, "sender"//g' raw/manifest.json
	exits 0 "$zcost" report functions raw --from 0 --all --format tsv && says 'libelf' out && says 'libc' out && ! grep -q lossy err
}
if [ "$(id -u)" = 0 ] && [ -x "$build/tests/tools/perfdata_gen" ]; then
	ok "the raw files of the test capture have a profile with names" raw_capture
	raw=$d/perf.data
	faults_raw() { # BOUND COMMAND...
		perl "$tests/faults/run.pl" "$build" raw "$@"
	}
	ok "a failed call in an analysis in memory gives the same table, or exit 1 or 4 and the reason" \
		faults_raw "${FAULTS:-3}" "report functions raw --from 0" "report summary raw --from 0"
	ok "an analysis reports that there is no memory for a line of kallsyms" with_fault __getdelim:1 4 '' report functions --perf $raw
	ok "a note has the reason" says 'lossy.*kallsyms: cannot read: Cannot allocate memory' out
	ok "a failed call with a perf.data gives the same table, or exit 1 or 4 and the reason" \
		faults_raw "${FAULTS:-3}" "report functions --perf $raw"
else
	skip "a failed call in an analysis in memory" "kernel addresses are for root alone"
fi

# Call chains out of copies of the stack, and inlined functions: libdw reads unwind tables, debug information and lines.
dwarf_recording() {
	mkdir -p dwarf && cat >dwarf/d.c <<-'EOF' || return
		#include <time.h>
		volatile unsigned long x;
		static inline __attribute__((always_inline)) void inner(unsigned long n) { while (n--) x += n; }
		__attribute__((noinline)) void middle(unsigned long n) { inner(n); x++; }
		__attribute__((noinline)) void outer(unsigned long n) { middle(n); x++; }
		int main(void)
		{
			clock_t end = clock() + CLOCKS_PER_SEC / 10;
			do outer(100000); while (clock() < end);
			return 0;
		}
	EOF
	${CC:-cc} -O1 -g -gz -static -fomit-frame-pointer -fno-asynchronous-unwind-tables -Wl,--build-id -o dwarf/d dwarf/d.c &&
		HOME=$scratch/dwarf perf record -q -e cpu-clock:u -F 200 --call-graph dwarf,2048 -o dwarf/d.data dwarf/d >/dev/null 2>&1 &&
		exits 0 env HOME="$scratch/dwarf" "$zcost" report functions --perf dwarf/d.data --inline --all --format tsv &&
		says '^inner	d	' out && says '^outer	d	[0-9]	' out
}
dwarf_alloc() { # BOUND
	dwarf_report="report functions --perf dwarf/d.data --inline --all --format tsv"
	HOME=$scratch/dwarf FAULTS_KINDS="alloc open read mmap" perl "$tests/faults/run.pl" "$build" cap "$1" "$dwarf_report"
}
if perf record -q -e cpu-clock:u -o probe.data true 2>/dev/null; then
	ok "a recording with copies of the stack has a profile with inlined functions" dwarf_recording
	ok "a failed call inside libdw gives the same table, or exit 1 or 4 and the reason" dwarf_alloc "${FAULTS:-20}"
else
	skip "a failed call inside libdw gives the same table, or exit 1 or 4 and the reason" "perf cannot record here"
fi

cp cap/zcost.db damaged.db
dd if=/dev/zero of=damaged.db bs=512 seek=12 count=60 conv=notrunc 2>/dev/null
sees() { ! faults 3 "report runs damaged.db" >out && says 'fails undisturbed' out; }
ok "a command that fails without a fault counts as a failure of the test" sees

done_testing
