#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A plan with the real collectors and the real workload, over loopback.
. "$(dirname "$0")/../lib.sh"
command -v jq >/dev/null || skip_all "needs jq"
[ "$(id -u)" = 0 ] || skip_all "perf of whole CPUs and BPF need root"
unset ZCOST_COLLECT

next_port
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

nothing_runs() { # within ten seconds
	i=0
	while grep -lzs "^$port\$" /proc/[0-9]*/cmdline; do
		i=$((i + 1))
		[ $i -lt 200 ] || return 1
		sleep 0.05
	done
}

# Both windows of each run within 50 ms, as good as this machine's scheduler: where it was not, once more.
from=c
together() {
	for run in $from/runs/*/*; do
		jq -se 'def near($a; $b): ($a - $b) | fabs < 5e7;
			near(.[0].window.start_ns; .[1].window.start_ns) and
			near(.[0].window.end_ns; .[1].window.end_ns)' \
			"$run/receiver/run.json" "$run/sender/run.json" >/dev/null && echo "${run#*/}"
	done >>good
	sort -u good
	[ "$(sort -u good | wc -l)" = 8 ] && return
	from=again
	rm -rf again
	"$zcost" capture p.ini -o again
	return 1
}

# killed SIGNAL PLAN CAPTURE FILE: as soon as the file is there
killed() {
	"$zcost" capture "$2" -o "$3" 2>err &
	pid=$!
	i=0
	while [ ! -e "$4" ] && [ $i -lt 400 ]; do
		i=$((i + 1))
		sleep 0.05
	done
	kill -"$1" $pid
	wait $pid 2>/dev/null
	code=$?
	[ $i -lt 400 ]
}

goes_on() { # to the end; a busy machine may lose samples
	"$zcost" capture p.ini -o c 2>err || { code=$?; cat err; [ $code = 4 ] && grep -q 'perf lost [0-9]* records' err; }
}

ok "killed outright in the second run" killed KILL p.ini c c/runs/mapped/.measure-01.tmp/sender/workload.out
ok "  nothing is left running" nothing_runs
there=$(jq '.runs | length' c/manifest.json)
ok "again: goes on to the end" goes_on
ok "  without what was there" says "c: $there of 8 runs are there already" err
ok "  everything succeeded" jq -e '.complete and ([.runs[].status] | all(. == "ok"))' c/manifest.json
steady "  the sides of a run measure the same time" together
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

sed 's/^duration = .*/duration = 60/' p.ini >long.ini
ok "SIGTERM in a run" killed TERM long.ini d d/runs/base/.measure-01.tmp/sender/workload.out
ok "  exits 1" test $code = 1
ok "  nothing is left running" nothing_runs
ok "  the half run is gone" test -z "$(find d/runs -type f)"

ok "a command that is not there" exits 1 "$zcost" capture -o e --variant x --repeat 1 \
	--pass measure -- nonesuch
ok "  is told" says 'x/measure-01 failed: local: cannot run nonesuch: No such file' err
ok "a collector that is not there" exits 2 "$zcost" capture -o f --variant x --repeat 1 \
	--pass measure --collect nonesuch -- true
ok "  is told" says "does not accept what the plan says: .*unknown collector 'nonesuch'" err
done_testing
