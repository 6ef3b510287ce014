#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# run.sh PROGRAM SECONDS: runs one fuzz target. Its corpus stays under the build folder.
# Its findings (crash-*, leak-*, timeout-*) stay in the program's folder, and the exit status is then not 0.
set -eu
program=$1
corpus=$program.corpus
seeds=$program.seeds
mkdir -p "$corpus" "$seeds"
top=$(cd "$(dirname "$0")/../.." && pwd)
units=$(dirname "$program")/../unit

recorded() { # recorded NAME OPTIONS...: a small recording of this machine
	[ -s "$seeds/$1" ] && return
	name=$1
	shift
	perf record -q -F 99 -e cpu-clock -o "$seeds/$name" "$@" -- true 2>/dev/null || true
	rm -f "$seeds/$name.old"
}

streamed() {
	[ -s "$seeds/$1" ] && return
	name=$1
	shift
	perf record -q -F 99 -e cpu-clock -o - "$@" -- true >"$seeds/$name" 2>/dev/null || true
}

traced() { # small recordings of few events
	recorded trace -e raw_syscalls:sys_enter,raw_syscalls:sys_exit
	recorded trace-sched -a -e sched:sched_switch,sched:sched_wakeup
	recorded trace-packed -z -e raw_syscalls:sys_exit
	streamed pipe-trace -e raw_syscalls:sys_enter
}

case $program in
*perfdata)
	if command -v perf >/dev/null; then
		recorded plain
		recorded packed -z
		recorded chains -g
		recorded dwarf --call-graph dwarf,512 -F 2000
		recorded data -s -d -W --namespaces --switch-events --buildid-mmap
		recorded regs --user-regs --intr-regs -R -g
		recorded group -e '{page-faults,context-switches}:S' -g
		traced
		streamed pipe -g
		streamed pipe-packed -z -g
	fi
	# the streams that the unit tests write
	for t in world samples records; do
		ZCOST_SAVE_STREAMS="$seeds" "$units/perfdata_$t" >/dev/null 2>&1 || true
	done
	find "$top/../shared/perfdata" -name '*.data*' -size -64k -exec cp {} "$seeds" \; 2>/dev/null || true
	# Not every machine records all of them.
	(cd "$seeds" && ls plain packed chains group data pipe pipe-packed *.data 2>/dev/null || true) >"$program.sweep.list"
	echo "sweep of $(wc -l <"$program.sweep.list") files"
	sed "s|^|$seeds/|" "$program.sweep.list" | xargs "$program" --sweep >"$program.sweep.log" 2>&1 ||
		{ tail -n 40 "$program.sweep.log"; exit 1; }
	;;
*power)
	[ -s "$seeds/power" ] || {
		printf '\000source\tdomain\tt_ns\tmicrojoules\twatts\npowercap\tpackage-0\t10000000000\t0\t\n' >"$seeds/power"
		printf '@9000000000 2\n#\n@10000000000 45\nInstantaneous power reading:   220 Watts    \n\n' | sed '1s/^/\x01/' >"$seeds/ipmi"
		printf '@9000000000 14\n# kind: wall\n\n@10000000000 3\n7W\n' | sed '1s/^/\x02/' >"$seeds/command"
		printf '\003time;watts\n9;7,5\n14;9\n2026-01-31T12:00:05+01:00;3\n' >"$seeds/meter"
		printf '\004event\tcpu\tvalue\tenabled_ns\trunning_ns\tgroup\tscope\tscale\tunit\tstate\ncycles\t1\t5\t9\t5\t1\tcpu\t\t\t\n' >"$seeds/counters"
	}
	;;
*texts)
	# each text follows the letter of its reader
	as() { # as LETTER FILE...
		letter=$1
		shift
		for f; do { printf '%s' "$letter"; cat "$f"; } >"$seeds/$letter-${f##*/}"; done
	}
	data=$top/tests/data
	as r "$data"/xdp-*.txt "$data/8139cp.txt" "$data/perf-top.txt"
	as t "$data"/*-syscalls.txt
	as s "$data"/*.stat
	strace -c -f -o "$seeds/c" sh -c 'ls /; cat missing' >/dev/null 2>&1 && as c "$seeds/c" || true
	perf stat -a -A -x, -o "$seeds/csv" true >/dev/null 2>&1 && as s "$seeds/csv" || true
	perf stat -j -o "$seeds/json" true >/dev/null 2>&1 && as s "$seeds/json" || true
	;;
*snaps)
	snaps() { # snaps FILE LETTER TEXT: the text at both ends of the window
		printf '%s@10000000000 %d\n%s@13000000000 %d\n%s' "$2" ${#3} "$3" ${#3} "$3" >"$seeds/$1"
	}
	stat='7 (w) R 1 1 1 0 -1 0 0 0 0 0 1 2 3 0 20 0 1 0 4242 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 1'
	snaps threads c "$(printf 'p 5 %s\nt 7 4 3 0-1 %s\n' "$stat" "$stat")"
	snaps sched d "$(printf '7 7 1 2 3 4 5 w\n7 8 1 2 3 - - w\n')"
	snaps tcp e "$(printf 'little\n7 0201%0140d %0560d %072d bbr\n7 0a01%0140d - - -\n' 0 0 0 0)"
	;;
*store | *archive)
	zcost=$(dirname "$program")/../../zcost
	. "$top/tests/capture.sh"
	. "$top/tests/every_row.sh"
	rm -rf "$program.capture"
	if command -v sqlite3 >/dev/null; then
		every_row_capture "$program.capture"
		store=$program.capture/zcost.db
		case $program in
		*store)
			# The sentences of all notes would make it larger than a seed may be.
			sqlite3 "$store" "DELETE FROM note_kind WHERE name NOT IN (SELECT kind FROM note); VACUUM"
			mv "$store" "$seeds/every-row"
			;;
		*)
			echo "too short for a store" >"$store" # a small file keeps the archive small
			rm -r "$program.capture/runs/mapping"
			"$zcost" pack "$program.capture" -o "$seeds/packed.zst" 2>/dev/null
			ln -s manifest.json "$program.capture/link"
			{ printf z; cat "$seeds/packed.zst"; } >"$seeds/packed"
			{ printf t; tar -cf - "$program.capture"; } >"$seeds/tar"
			! command -v zstd >/dev/null || { printf t; zstd -dc "$seeds/packed.zst"; } >"$seeds/unpacked"
			rm "$seeds/packed.zst"
			;;
		esac
	fi
	;;
*tracepoints)
	! command -v perf >/dev/null || traced
	;;
esac
find "$seeds" -size +63k -delete
case $program in
*store | *archive)
	[ -n "$(ls "$seeds")" ] || { echo "$seeds: no seed of at most 63 KiB" >&2; exit 1; }
	;;
esac
cd "$(dirname "$program")"
program=$(basename "$program")
"./$program" -max_total_time="$2" -timeout=10 -rss_limit_mb=1024 -max_len=65536 -print_final_stats=1 \
	-verbosity=0 "$program.corpus" "$program.seeds"
