#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The profile: samples of the window only, and the host's files that explain them.
. "$(dirname "$0")/../lib.sh"

need root perf

# A program that no other process runs: the shell under another name.
cp "$(readlink -f "$(command -v sh)")" zc-busy
cp zc-busy zc-ones
# The load never ends and enters the kernel now and then.
busy='while :; do i=0; while [ $i -lt 50 ]; do i=$((i+1)); done; : </dev/null; done'
# An empty home shows whether perf adds to a build-id cache.
HOME=$PWD/home
export HOME
mkdir home

# perf records from shortly before the window to shortly after it. The reader selects samples by time.
inside() {
	perf script -i r/perf.data -F time 2>/dev/null | tr -d ': ' >times
	jq -r '.window | "\(.start_ns) \(.end_ns)"' r/run.json >window
	awk 'NR == FNR { from = $1 / 1e9 - 0.5; to = $2 / 1e9 + 0.5; next }
		$1 < from || $1 > to { print $1 " is outside of " from " to " to; bad = 1; exit }
		{ n++ } END { if (n < 100) print n " samples"; exit bad || n < 100 }' window times
}

middle() { # a second in the middle of a run: samples lie in the window and close to it
	exits 0 "$zcost" collect -o r --pass profile --warmup 1 --duration 1 --grace 0 -- ./zc-busy -c "$busy" && inside
}
steady "a profile of one second has samples only from the window's time" middle
ok "run.json marks perf as ok" test "$(collector perf .state)" = ok
ok "run.json has the number of samples" test "$(collector perf .info.samples)" = "$(wc -l <times)"
# Kernel call chains at least: a program may be built without frame pointers.
ok "perf.data has call chains" sh -c 'perf script -i r/perf.data -F ip,sym 2>/dev/null |
	awk "NF { n++ } !NF { deep += n > 4; n = 0 } END { exit deep < 5 }"'
ok "run.json names the sampled event" says '^(cycles|cpu-clock)$' - <<-EOF
	$(collector perf .info.event)
EOF
event=$(collector perf .info.event)
if [ "$event" = cpu-clock ]; then
	from_parts() { # a busy machine switches late
		middle && awk -v late=0.01 '
		NR == FNR { if (FNR > 1) { from[++n] = $1 / 1e9; to[n] = $2 / 1e9; on += to[n] - from[n] } next }
		{ for (i = 1; i <= n && ($1 < from[i] - late || $1 > to[i] + late); i++); if (i > n) bad++ }
		END { print bad + 0 " of " FNR " samples are outside of " n " parts with " on " s"; exit bad || n < 4 || on > 0.5 }' \
			r/perf_parts.tsv times
	}
	steady "samples of a profile without a PMU are from parts of less than half of the window" from_parts
	# Most of these programs start in a pause.
	busy_ones="i=0; while [ \$i -lt 30 ]; do i=\$((i+1)); timeout 0.03 ./zc-busy -c '$busy' || :; done"
	named() {
		exits 0 "$zcost" collect -o names --pass profile --duration 1 --grace 0 -- ./zc-ones -c "$busy_ones" &&
			perf script -i names/perf.data -F comm -G 2>/dev/null | sort | uniq -c | awk '
				{ print } $2 == "zc-busy" { own = $1 } $2 == "zc-ones" || $2 == "timeout" { other += $1 }
				END { exit own < 5 * other }'
	}
	steady "a program that starts in a pause has its name" named
	covered() {
		exits 0 env ZCOST_NO_BTF=1 "$zcost" collect -o whole --pass profile --duration 2 --grace 0 -- ./zc-busy -c "$busy"
		"$zcost" analyze whole >/dev/null 2>&1
		"$zcost" report runs whole --format tsv 2>/dev/null | tsv '{ print $at["coverage_pct"]; at_all = $at["coverage_pct"] }
			END { exit at_all < 93 || at_all > 107 }'
	}
	steady "without the frame, the samples of the parts stand for the busy time of the window" covered
fi
ok "collect adds nothing to perf's build-id cache" test ! -e home/.debug
ok "collect leaves no log of perf" test ! -e r/.perf.log

host=r/hosts/$(jq -r .host r/run.json)
ok "kallsyms has the kernel's symbols" says '_stext|_text' $host/kallsyms
ok "the host folder has the kernel's build-id" test -s $host/notes
ok "host.json has release, CPUs and boot id" sh -c "jq -e '.release and .online_cpus and .boot_id' $host/host.json"
ok "the copied sysctls contain no secret" sh -c "test -s $host/sysctls && ! grep -E 'key|secret' $host/sysctls"
ok "the host folder has the profiled program under its build-id" sh -c "cmp $host/dso/*/zc-busy zc-busy"
ok "perf.data has the program's build-id" sh -c "perf buildid-list -i r/perf.data |
	grep -q \"^\$(basename \$(dirname $host/dso/*/zc-busy)) .*/zc-busy\""
ok "perf script finds the program's samples" sh -c "perf script -i r/perf.data -F comm,ip,sym,dso -G 2>/dev/null |
	grep -c '^ *zc-busy .*/zc-busy' | { read n; test \$n -gt 20; }"

# zcost writes the host's files once, and does not change those of another boot.
echo mine >$host/cpuinfo
again() {
	"$zcost" collect -o r2 --host-dir "$PWD/$host" --collect host -- true
}
ok "a second run into the same host folder succeeds" exits 0 again
ok "a second run does not replace the host's files" says '^mine$' $host/cpuinfo
ok "a second run names the same host folder" test "$(jq -r .host r2/run.json)" = "$(basename $host)"
jq '.boot_id = "01234567-other"' $host/host.json >x && mv x $host/host.json
ok "a run with another boot id succeeds" exits 0 again
boot=$(cut -c 1-8 /proc/sys/kernel/random/boot_id)
ok "a run with another boot id makes another host folder" test -s "$host-$boot/kallsyms"
ok "run.json names the host folder of the other boot" test "$(jq -r .host r2/run.json)" = "$(basename $host)-$boot"
ok "the host folder of the first boot is unchanged" says '^mine$' $host/cpuinfo

steady "collect --collect perf accepts --cpus" exits 0 "$zcost" collect -o r --collect perf --cpus 0 --duration 0.5 --grace 0 -- \
	taskset -c 0 sh -c "$busy"
ok "perf.data has samples of the measured CPU only" test "$(perf script -i r/perf.data -F cpu 2>/dev/null | sort -u | tr -d ' []')" = 000

# A pinned workload starts on one CPU and moves to another: perf on that CPU sees no event of its start.
elsewhere() {
	exits 0 taskset -c 0 "$zcost" collect -o r --collect perf --cpus 1 --warmup 0.4 \
		--duration 0.5 --grace 0 -- sh -c "taskset -pc 1 \$\$ >/dev/null; $busy" &&
		perf script -i r/perf.data -F comm,dso,ip -G 2>/dev/null >samples && grep -q '^ *sh ' samples
}
if [ "$(getconf _NPROCESSORS_ONLN)" -gt 1 ]; then
	steady "perf.data has the name of a workload that moves to the measured CPU" elsewhere
	ok "perf.data has the program of the moved workload" grep -qE '^ *sh .*/(dash|bash|sh)' samples

	# The shell's exec is on the measured CPU, the workload's on the other one. Only the end of the file has the
	# workload's name. perf report applies that name to all samples after its first reading of the buffers.
	exec_elsewhere() {
		exits 0 taskset -c 1 "$zcost" collect -o moved --collect perf --cpus 1 --warmup 0.4 --duration 0.5 --grace 0 -- \
			sh -c "taskset -pc 0 \$\$ >/dev/null; exec ./zc-busy -c 'taskset -pc 1 \$\$ >/dev/null; $busy'" || return
		perf script -i moved/perf.data --show-task-events -F comm,tid 2>/dev/null >tasks
		says 'COMM exec: sh:' tasks && says 'COMM: zc-busy:' tasks && ! grep 'COMM exec: zc-busy:' tasks
	}
	steady "perf.data lacks the exec of a workload on another CPU" exec_elsewhere
	busy_pid=$(sed -n 's|.*COMM: zc-busy:.*/||p' tasks)
	comms() { # OPTION...: samples and names of the workload
		"$zcost" report contexts --all --by tid,comm --perf moved/perf.data --format json "$@" |
			jq -r "[.rows[] | select(.tid == \"$busy_pid\")] | group_by(.comm)[] | \"\(map(.samples) | add) \(.[0].comm)\""
	}
	all_named() { # perf names the samples before that reading "sh"
		perf script -i moved/perf.data -F tid,ip -G 2>/dev/null | awk -v tid="$busy_pid" '$1 == tid { n++ } END { print n, "zc-busy" }' >want
		comms >got
		says '^[0-9][0-9]+ zc-busy$' got && cmp want got || { cat want got; return 1; }
	}
	ok "--by comm gives the name after the missed exec to all samples that perf script has" all_named
	ok "--comm finds the samples after the missed exec" test "$(comms --comm zc-busy)" = "$(cat want)"
	ok "--comm does not find them under the name before the missed exec" test -z "$(comms --comm sh)"
	"$zcost" export folded --perf moved/perf.data -o folded 2>err
	ok "folded stacks have the name after the missed exec" says '^zc-busy;' folded
else
	skip "perf.data has the name of a workload that moves to the measured CPU" "one CPU here"
fi

# User stacks in the samples: the host folder suffices to unwind them, without the host's files.
${CC:-cc} -O2 -fomit-frame-pointer -pthread -o zc-chains "$tests/data/chains.c"
# Beside them a process of a container has another C library under the same path.
libc=$(readlink -f "$(ldd zc-chains | sed -n 's/.* => \(.*libc\.so[^ ]*\) .*/\1/p')")
cp "$libc" other.so # another inode suffices
unshare -m sh -c "mount --bind other.so $libc && exec sleep 60" &
container=$!
ok "a process of a container has another C library under the same path" soon grep -q "$(stat -c %i other.so) .*$libc" /proc/$container/maps
"$zcost" collect -o dwarf --pass profile --call-graph dwarf,4096 --freq 500 -- ./zc-chains 0.3 2>err
ok "collect --call-graph dwarf completes the run" test $? = 0 -o $? = 4 # a busy machine may lose some
ok "run.json has the call-graph method" test dwarf,4096 = \
	"$(jq -r '.collectors[] | select(.name == "perf") | .info.callgraph' dwarf/run.json)"
kill $container
"$build/tests/tools/profile_dump" costs --foreign --host-dir "$(echo dwarf/hosts/*)" dwarf/perf.data |
	awk -F'\t' '$3 == "zc-chains" { print $9 }' >stacks
ok "the host folder suffices to unwind a callback from the C library" says '^burn;compare;.*;do_callback;main;.*libc_start_main.*;_start$' stacks
ok "the host folder suffices to unwind a thread" says '^burn;worker;.+;.+' stacks
ok "the host folder suffices to unwind a signal handler" says '^burn;handler;.*;interrupted;do_signal;main;' stacks

# Without perf in PATH the other collectors run.
mkdir bin
ln -s "$(command -v sh)" "$(command -v sleep)" bin/
ok "collect exits 4 without perf in PATH" exits 4 env PATH="$PWD/bin" "$zcost" collect -o r --collect perf,cpu -- sleep 0.1
ok "the warning says how to get perf" says 'no perf program here; install' err
ok "a run without perf is ok" test "$(jq -r .status r/run.json)" = ok

# A perf that dies in the window costs the profile, not the run.
cat >bin/perf <<-'EOF'
	#!/usr/bin/perl
	if ($ARGV[0] eq '--version') { print "perf version 6.1.0\n"; exit }
	my ($fd) = "@ARGV" =~ /--control=fd:(\d+)/;
	open(my $control, '+<&=', $fd) or die;
	for (1, 2) { sysread($control, my $command, 64); syswrite($control, "ack\n"); }
	print STDERR "the ring buffer is on fire\n";
	exit 3;
EOF
chmod +x bin/perf
ok "collect exits 4 when perf dies in the window" exits 4 env PATH="$PWD/bin:$PATH" "$zcost" collect -o r --collect perf,cpu --duration 0.5 -- sleep 0.6
ok "the warning quotes the last line of perf" says 'ended before the window did: the ring buffer is on fire' err
ok "run.json marks perf as degraded and the other collector as ok" test "$(jq -r '[.collectors[].state] | join(" ")' r/run.json)" = "degraded ok"
printf '#!/bin/sh\necho perf version 5.10.1\n' >bin/perf
ok "collect exits 4 on a perf that is too old" exits 4 env PATH="$PWD/bin:$PATH" "$zcost" collect -o r --collect perf -- true
ok "the warning names the version of perf" says 'perf version 5.10.1 is too old' err
printf '#!/bin/sh\necho WARNING: perf not found for this kernel >&2; exit 2\n' >bin/perf # as on Ubuntu
ok "collect exits 4 on a perf that prints no version" exits 4 env PATH="$PWD/bin:$PATH" "$zcost" collect -o r --collect perf,cpu -- sleep 0.1
ok "the warning about a perf without a version names the package" says 'prints no version: on Ubuntu install linux-tools-' err
ok "doctor exits 1 where perf prints no version" exits 1 env PATH="$PWD/bin:$PATH" "$zcost" doctor perf
printf '#!/bin/sh\n[ "$1" != --version ] || exec echo perf version 6.1.0\necho no way >&2; exit 1\n' >bin/perf
ok "collect exits 4 on a perf that does not start" exits 4 env PATH="$PWD/bin:$PATH" "$zcost" collect -o r --collect perf,cpu -- sleep 0.1
ok "the warning quotes the error of perf" says 'did not start: no way' err

# A program with known parts: getrandom with interrupts on, ioctl with interrupts off for about 0.5 ms at a time, which is
# longer than a period of 0.2 ms. Without the frame the part of ioctl in both is too small.
part() {
	"$zcost" report functions "$@" --all --format tsv 2>/dev/null | tsv '$1 ~ /_sys_ioctl$/ { off = $at["total_share"] }
		$1 ~ /_sys_getrandom$/ { on = $at["total_share"] }
		END { if (on + off) printf "%.1f", 100 * off / (on + off) }'
}
rt= # other programs leave the program too little of the window to have its parts there
chrt -f 1 true 2>/dev/null && rt="chrt -f 1"
known() {
	rm -rf late
	exits 0 "$zcost" collect -o late --cpus 0 --collect host,perf,frame --freq 4999 --warmup 1 --duration 1.5 --grace 1 -- \
		$rt taskset -c 0 "$build/tests/tools/parts" user random off=2000 || return 1
	"$zcost" analyze late >/dev/null 2>&1
	awk -v with="$(part late)" -v without="$(part --perf late/perf.data)" '
		{ ns[$1] = $2 }
		END { known = 100 * ns["off"] / (ns["off"] + ns["random"])
		print "known " known ", with the frame " with ", without " without
		off = with - known; if (off < 0) off = -off
		exit !(known - without > 3 && off < (known - without) / 2) }' late/workload.out
}
if [ "$event" = cpu-clock ]; then
	steady "the frame gives code with interrupts off its part of the time" known
else
	skip "the frame gives code with interrupts off its part of the time" "the event is not cpu-clock"
fi

done_testing
