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
	for t in world samples records packed; do
		ZCOST_SAVE_STREAMS="$seeds" "$units/perfdata_$t" >/dev/null 2>&1 || true
	done
	find "$top/../shared/perfdata" -name '*.data*' -size -64k -exec cp {} "$seeds" \; 2>/dev/null || true
	# Not every machine records all of them.
	(cd "$seeds" && ls plain packed chains group data pipe pipe-packed *.data 2>/dev/null || true) >"$program.sweep.list"
	echo "sweep of $(wc -l <"$program.sweep.list") files"
	sed "s|^|$seeds/|" "$program.sweep.list" | xargs "$program" --sweep >"$program.sweep.log" 2>&1 ||
		{ tail -n 40 "$program.sweep.log"; exit 1; }
	;;
*ingest)
	# each raw file follows a byte of options and its name
	raw() { # raw NAME [SEED]: standard input is a raw file of that name
		{ printf '@%s\n' "$1"; cat; } >"$seeds/${2:-$1}"
	}
	snaps() { # snaps FILE TEXT: the text at both ends of the window
		printf '@10000000000 %d\n%s@13000000000 %d\n%s' ${#2} "$2" ${#2} "$2" | raw $1
	}
	stat='7 (w) R 1 1 1 0 -1 0 0 0 0 0 1 2 3 0 20 0 1 0 4242 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 1'
	snaps threads.snap "$(printf 'p 5 %s\nt 7 4 3 0-1 %s\n' "$stat" "$stat")"
	snaps sched.snap "$(printf '7 7 1 2 3 4 5 w\n7 8 1 2 3 - - w\n')"
	snaps tcp.snap "$(printf 'little\n7 0201%0140d %0560d %072d bbr\n7 0a01%0140d - - -\n' 0 0 0 0)"
	printf 'source\tdomain\tt_ns\tmicrojoules\twatts\npowercap\tpackage-0\t10000000000\t0\t\n' | raw power.tsv
	printf '@9000000000 14\n# kind: wall\n\n@10000000000 3\n7W\n' | raw power-command.snap
	printf 'time;watts\n9;7,5\n14;9\n2026-01-31T12:00:05+01:00;3\n' | raw meter
	printf 'event\tcpu\tvalue\tenabled_ns\trunning_ns\tgroup\tscope\tscale\tunit\tstate\ncycles\t1\t5\t9\t5\t1\tcpu\t\t\t\n' | raw counters.tsv
	printf 'whose\treason\tlocation\tdrops\tsegments\tbytes\nhost\tNO_SOCKET\t0x7\t1\t2\t3\n' | raw drops.tsv
	printf 'reason\tlocation\tdrops\tns\nNO_SOCKET\t0x7\t1\t900\n' | raw drop_times.tsv
	printf 'cpu\tnetns\tinterface\tkind\tbatches\tsegments\tbytes\tfull\n1\thost\teth0\tpoll\t1\t2\t\t0\n' | raw batches.tsv
	printf 'cpu\tnetns\tinterface\tkind\tbatches\tsegments\tbytes\tfull\tid\n1\t\tva\theld\t1\t0\t0\t\t7\n' | raw pools.tsv
	snaps queues.snap "$(printf 'link\tifindex=4\tname=e\nnapi\tid=5\tifindex=4\nqueue\tid=0\ttype=0\tifindex=4\tnapi-id=5\tio-uring=1\npage-pool\tid=7\tifindex=4\tnapi-id=5\tinflight=3\npage-pool-stats\tinfo=7\talloc-fast=1\n')"
	printf 'pid\ttid\tcomm\tstate\tvector\tcall\tkind\tfrom\tby\tcount\tns\thist\n1\t1\ta\twall\t\t\t\t\t\t\t9\t\n1\t1\ta\tblocked\t\tread\tS\tother\tb\t1\t5\t3:1\n' | raw waits.tsv
	# What the collectors write on this machine. Their times become those of the window.
	run=$(mktemp -d)
	"$(dirname "$program")/../../zcost" collect -o "$run/run" --duration 0.3 --warmup 0 -- sleep 1 >/dev/null 2>&1 || true
	for f in "$run"/run/*.snap "$run"/run/*.tsv; do
		[ -s "$f" ] || continue
		head -c 60000 "$f" | awk '/^@[0-9]+ [0-9]+$/ { sub(/^@[0-9]+/, "@" 10 + 3 * n++ "000000000") } 1' |
			raw "${f##*/}" "here-${f##*/}"
	done
	rm -r "$run"
	;;
*workload)
	# the units, then what the adapter of these units reads
	for d in "$top"/tests/data/workload/*; do
		units=${d##*/}
		{ echo "${units%%-*}"; cat "$d/workload.out"; } >"$seeds/$units"
	done
	{ echo 'regex:^Requests/sec: *([0-9.]+)'; cat "$top/tests/data/workload/wrk/workload.out"; } >"$seeds/regex"
	{
		echo tcpzc
		. "$top/tests/capture.sh"
		points 1000 100 9 14
		summary sender 100 0 100 0 5000 5000
	} >"$seeds/tcpzc"
	printf 'nic:eth0/rx\n@10000000000 64\nn\thost\t2\teth0\tlink\trx_packets\trx_bytes\nv\thost\t2\teth0\tlink\t10\t20\n' >"$seeds/nic"
	;;
*symbols)
	{ printf k; printf 'ffffffff81000000 T _text\nffffffff81000200 T do_syscall_64\nffffffffc0000000 t f\t[m]\n'; } >"$seeds/kallsyms"
	{ printf n; cat /sys/kernel/notes 2>/dev/null || true; } >"$seeds/notes"
	printf 'd_ZNSt6vectorIiSaIiEE9push_backERKi' >"$seeds/cxx"
	printf 'd_RNvCs5hr0kDmJjBZ_4main3run' >"$seeds/rust"
	printf 'int f(int x) { return x * 3; }\nint main(int n, char **v) { (void)v; return f(n) + f(2); }\n' >"$program.c"
	for flags in -O0 -O2 -gz -s; do
		${CC:-cc} -g $flags -o "$program.elf" "$program.c" && { printf e; cat "$program.elf"; } >"$seeds/elf$flags" || true
	done
	;;
*capture)
	. "$top/tests/capture.sh"
	rm -rf "$program.capture"
	mkdir -p "$program.capture/hosts/vm"
	measure_run "$program.capture" copying 1 receiver 1250000000 150
	manifest "$program.capture" copying copying/measure/1/ok copying/trace/1/ok
	d=$program.capture/runs/copying/trace-01/receiver
	run_json "$d" copying trace 1 receiver tcpzc \
		'{"name": "waits", "state": "ok", "files": ["waits.tsv", "waits_stacks.tsv", "waits_files.tsv"]}'
	cp "$top"/tests/data/waits/* "$d"
	awk -F'\t' -v OFS='\t' '{ $10 = NR == 1 ? "program" : "00ab0000+11 +7f01 ../x+21"; print }' \
		"$top/tests/data/waits/waits_stacks.tsv" >"$d/waits_stacks.tsv"
	printf 'build_id\tpath\n00ab\t/x/prog\n' >"$d/waits_files.tsv"
	echo '{"schema_version": 1, "before": {"at_ns": 1, "offset_ns": 2, "error_ns": 3}}' \
		>"$program.capture/runs/copying/measure-01/receiver/clock.json"
	echo '{"schema_version": 1, "release": "6.1", "numa_nodes": {"0": "0-1"}, "memory": "8 kB", "topology": [{"cpu": 0,
		"package": "0", "node": "0", "die": "0", "core": "0"}], "nics": [{"name": "eth0", "speed": "1000"}]}' \
		>"$program.capture/hosts/vm/host.json"
	(cd "$program.capture" && find . -type f -size -60k) | sed 's|^\./||' | while read -r f; do
		{ echo "$f"; cat "$program.capture/$f"; } >"$seeds/$(echo "$f" | tr / -)"
	done
	;;
*host_plan)
	for f in "$top"/samples/*.ini; do
		{ printf p; cat "$f"; } >"$seeds/${f##*/}"
	done
	printf 'm{"schema_version": 1, "variants": [{"name": "old", "what": "x", "settings": {"local.command": "true"}}]}' >"$seeds/manifest"
	;;
*host_remote)
	printf 'cmotd\nzcost fuzz\n  features\n{"exe": "/x/zcost", "host": "far", "boot_id": "b", "folder": "/tmp/x", "caps": "ff", "paranoid": 2}\n' >"$seeds/hello"
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo 'clock 5 6'; done | { printf o; cat; } >"$seeds/clock"
	printf 'ffile 2 a/b\nx\nsum 73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac\nend\nfile 0 far/c\nsum e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\nend\ndropped\n' >"$seeds/files"
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
	as e "$data/ethtool-stats.txt"
	printf 'eNIC statistics:\n     rx_packets: 7\nNIC statistics:\n     rx_packets: 9\n' >"$seeds/ethtool"
	as m "$top/analyze/costs/components.rules"
	printf 'gcopy=*copy*,memcpy' >"$seeds/group"
	printf 'n0-3,8' >"$seeds/cpus"
	printf 'n+0.25' >"$seeds/time"
	perf stat -a -A -x, -o "$seeds/csv" true >/dev/null 2>&1 && as s "$seeds/csv" || true
	perf stat -j -o "$seeds/json" true >/dev/null 2>&1 && as s "$seeds/json" || true
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
find "$seeds" -size +96k -delete
case $program in
*store | *archive | *ingest | *workload | *capture | *symbols)
	[ -n "$(ls "$seeds")" ] || { echo "$seeds: no seed of at most 96 KiB" >&2; exit 1; }
	;;
esac
cd "$(dirname "$program")"
program=$(basename "$program")
"./$program" -max_total_time="$2" -timeout=10 -rss_limit_mb=1024 -max_len=98304 -print_final_stats=1 \
	-verbosity=0 "$program.corpus" "$program.seeds"
