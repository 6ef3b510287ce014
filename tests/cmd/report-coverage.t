#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Checks how much of the busy time the samples cover: the figure, the warnings, and the basis of wall time where idle
# samples are missing. A sample is 1 ms.
. "$(dirname "$0")/../lib.sh"
. "$tests/golden.sh"

perf_collector='{"name": "perf", "state": "ok", "why": "", "files": ["perf.data"]}'

# samples BUSY IDLE [S]: BUSY samples of a task, spread over S seconds (2), then IDLE samples of the idle task, spread over 1 s.
samples() {
	awk -v busy="$1" -v idle="$2" -v s="${3:-2}" 'BEGIN {
		for (i = 0; i < busy; i++)
			printf "%.0f 1 7 %s;do_syscall_64\n", 10e9 + i * s * 1e9 / busy, i % 4 ? "_copy_to_iter" : "tcp_recvmsg"
		for (i = 0; i < idle; i++)
			printf "%.0f 1 0 pv_native_safe_halt;do_idle\n", 12e9 + i * 1e9 / idle }'
}

# profile_run VARIANT REPEAT BUSY IDLE [CAPTURE]
profile_run() {
	d=${5:-cap}/runs/$1/profile-0$2/receiver
	run_json "$d" "$1" profile "$2" receiver tcpzc "$cpu_collector, $perf_collector"
	points 1024000000 65536 9 14 >"$d/workload.out"
	proc_stat_simple 200 >"$d/proc_stat.snap"
	samples "$3" "$4" | perl "$tests/tools/clock-samples.pl" 1000000 >"$d/perf.data"
}

for v in light dark even; do measure_run cap $v 1 receiver 1024000000 200; done
# CPU 1 is busy for 2 of 3 s.
profile_run light 1 2000 1000
profile_run dark 1 1000 0
r=1
for n in 1900 1960 1920 1940 2000 700; do profile_run even $r $n 0; r=$((r + 1)); done
manifest cap "light dark even" light/measure/1/ok dark/measure/1/ok even/measure/1/ok light/profile/1/ok dark/profile/1/ok \
	even/profile/1/ok even/profile/2/ok even/profile/3/ok even/profile/4/ok even/profile/5/ok even/profile/6/ok
sed -i 's/"receiver", "sender"/"receiver"/g' cap/manifest.json
"$zcost" analyze cap >log 2>&1

# `dark` covers half of the busy time, the sixth run of `even` far less than the others. The idle task has samples in `light` alone.
report cap runs
if command -v sqlite3 >/dev/null; then
	ok "analyze stores the component of each function in both sets" is "$(sqlite3 cap/zcost.db "SELECT DISTINCT name, fine, basic
		FROM component JOIN symbol ON symbol.id = component.symbol ORDER BY name" | tr '\n' ' ')" \
		"_copy_to_iter|data copy|data copy pv_native_safe_halt|idle|other tcp_recvmsg|TCP/IP|TCP/IP " # each is in a BPF program, but has a name that decides
fi
for table in functions components contexts modules; do
	report cap $table --variant even
done
# Of `dark` a third of the time is idle and has no sample.
for options in '--variant light --basis wall' '--variant dark --basis wall' '--variant dark --basis wall --cpu 1' '--variant dark'; do
	report cap functions $options
done

# The CPU is busy for 2.2 of 3 s by the frame, its idle task included, and for 2 s by the ticks. The samples are those of 1 s.
measure_run framed base 1 receiver 1024000000 200
profile_run base 1 1000 0 framed
jq -c '.collectors += [{name: "frame", state: "ok", why: "", files: ["frame.tsv", "due.tsv"]}]' $d/run.json >json && mv json $d/run.json
tr ' ' '\t' >$d/frame.tsv <<-EOF
	cpu pid parent comm context vector ns entries
	1 7 1 w syscall  2000000000 
	1 0 0  idle  200000000 
	1 0 0  halt  800000000 
EOF
samples 1000 0 | awk 'BEGIN { print "cpu\tat\tlate\tpid\tcontext\tvector\tchanges" } { print "1\t" $1 "\t0\t7\tsyscall\t\t0" }' >$d/due.tsv
manifest framed base base/measure/1/ok base/profile/1/ok
sed -i 's/"receiver", "sender"/"receiver"/g' framed/manifest.json
"$zcost" analyze framed >log 2>&1
report framed runs
report framed contexts
report framed functions --basis wall
printf '1\t\t\t\tdivided\t\t20000000\t\n' >>$d/frame.tsv
rm framed/zcost.db && "$zcost" analyze framed >log 2>&1
"$zcost" report functions framed >seen.txt 2>&1
ok "a frame that saw 99 % of the system calls has no note on those that it did not see" sh -c "grep -q self_ns seen.txt && ! grep -q 'divide an exact time' seen.txt"

# perf sampled in parts of the window, 1.5 of its 3 s and 0.25 s of its first second. The CPU is busy for two thirds of any time.
measure_run parts base 1 receiver 1024000000 200
profile_run base 1 1000 0 parts
sed -i 's/"perf.data"/&, "perf_parts.tsv"/' $d/run.json
printf 'from\tto\n%s\t%s\n%s\t%s\n' 9900000000 10250000000 11500000000 12750000000 >$d/perf_parts.tsv
samples 2000 0 3 | awk '$1 < 10.25e9 || $1 >= 11.5e9 && $1 < 12.75e9' | perl "$tests/tools/clock-samples.pl" 1000000 >"$d/perf.data"
manifest parts base base/measure/1/ok base/profile/1/ok
sed -i 's/"receiver", "sender"/"receiver"/g' parts/manifest.json
"$zcost" analyze parts >log 2>&1
report parts runs
report parts notes
report parts runs --from 0 --to 1
"$zcost" report functions --perf $d/perf.data --cpu 1 --rate 1e6 --format tsv >bare 2>err
ok "the samples of parts stand for the whole time in a report on perf.data alone, too" says 'samples cover 6[4-8] % of the time' err
printf 'x\ty\n' >>$d/perf_parts.tsv
rm parts/zcost.db && "$zcost" analyze parts >log 2>&1
report parts notes

if command -v gnuplot >/dev/null; then
	cp -r cap whole && sqlite3 whole/zcost.db "DELETE FROM note WHERE kind = 'workload_no_summary'" # a loss weighs more
	"$zcost" plot whole components -o charts --format svg >/dev/null 2>&1
	ok "a chart says how little of the busy time the samples cover" says 'even receiver.*: the samples cover only 35.0 to 50.0 % of the busy time' \
		charts/components.svg
	"$zcost" plot cap components --variant light -o clear --format svg >/dev/null 2>&1
	ok "a chart of a profile that covers the busy time says nothing" sh -c "! grep -Eq 'the samples cover' clear/components.svg"
fi

golden_captures cap/zcost.db
done_testing
