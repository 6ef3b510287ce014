#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A plan with the real collectors and the real workload, over loopback.
. "$(dirname "$0")/../lib.sh"
command -v jq >/dev/null || skip_all "needs jq"
[ "$(id -u)" = 0 ] || skip_all "perf of whole CPUs and BPF need root"
unset ZCOST_COLLECT

port=$((20000 + $$ % 10000)) # below those that the kernel gives out
cat >p.ini <<EOT
[plan]
repeats = 2
warmup = 0.2
duration = 0.5
grace = 0
[vars]
to = --port $port
[side receiver]
cpus = 0
units = tcpzc
[side sender]
cpus = 0
units = tcpzc
time_one_in = 16
[variant base]
receiver = \${bindir}/tcpzc --listen \${to} --rx recv
sender = \${bindir}/tcpzc --connect 127.0.0.1 \${to} --tx send --seconds 60
[variant mapped]
receiver = \${bindir}/tcpzc --listen \${to} --rx mmap
sender = \${bindir}/tcpzc --connect 127.0.0.1 \${to} --tx splice --seconds 60
EOT

nothing_runs() { # within three seconds
	i=0
	while grep -lzs "^$port\$" /proc/[0-9]*/cmdline; do
		i=$((i + 1))
		[ $i -lt 60 ] || return 1
		sleep 0.05
	done
}

together() { # both windows of each run within 50 ms, as good as this machine's scheduler
	for run in c/runs/*/*; do
		jq -se 'def near($a; $b): ($a - $b) | fabs < 5e7;
			near(.[0].window.start_ns; .[1].window.start_ns) and
			near(.[0].window.end_ns; .[1].window.end_ns)' \
			"$run/receiver/run.json" "$run/sender/run.json" || return 1
	done
}

"$zcost" capture p.ini -o c 2>err &
pid=$!
i=0
while [ ! -e c/runs/base/measure-01 ] && [ $i -lt 200 ]; do
	i=$((i + 1))
	sleep 0.05
done
sleep 0.3
kill -9 $pid
wait $pid 2>/dev/null
ok "killed outright in the second run: nothing is left running" nothing_runs
ok "again: goes on to the end" exits 0 "$zcost" capture p.ini -o c

ok "  without the run that was there" says 'c: 1 of 8 runs are there already' err
ok "  everything succeeded" jq -e '.complete and ([.runs[].status] | all(. == "ok"))' c/manifest.json
ok "  the sides of a run measure the same time" together
ok "  the profile pass has profiles" test -s c/runs/mapped/profile-01/receiver/perf.data
ok "  the syscalls pass has counts" test -s c/runs/mapped/syscalls-01/sender/syscalls.tsv
ok "  as the side has it: all timed, or one in 16" sh -c 'f=c/runs/mapped/syscalls-01; i=".collectors[] | select(.name == \"syscalls\") | .info.time_one_in"
	[ "$(jq "$i" $f/receiver/run.json),$(jq "$i" $f/sender/run.json)" = 1,16 ]'
ok "  the measure pass has neither" sh -c '! ls c/runs/*/measure-*/*/perf.data 2>/dev/null'
ok "  the workload ended well" sh -c \
	'for f in c/runs/*/*/*/workload.out; do tail -n 1 $f | grep -q "\"type\":\"summary\"" || exit 1; done'
for host in c/hosts/*; do
	ok "  the host is described" test -s "$host/kallsyms" -a -s "$host/host.json"
done
"$zcost" analyze c >out 2>err # 4 where the machine lost CPU time to others
ok "the laptop reads every side of every run" says 'c/zcost.db: 16 runs' err

"$zcost" capture p.ini -o d 2>err &
pid=$!
i=0
while [ ! -e d/runs/base/.measure-01.tmp/sender/workload.out ] && [ $i -lt 200 ]; do
	i=$((i + 1))
	sleep 0.05
done
kill -TERM $pid
wait $pid
code=$?
ok "SIGTERM: exits 1" test $code = 1
ok "  nothing is left running" nothing_runs
ok "  the half run is gone" test -z "$(find d/runs -type f)"

ok "a command that is not there" exits 1 "$zcost" capture -o e --variant x --repeat 1 \
	--pass measure -- nonesuch
ok "  is told" says 'x/measure-01 failed: local: cannot run nonesuch: No such file' err
ok "a collector that is not there" exits 2 "$zcost" capture -o f --variant x --repeat 1 \
	--pass measure --collect nonesuch -- true
ok "  is told" says "does not accept what the plan says: .*unknown collector 'nonesuch'" err
done_testing
