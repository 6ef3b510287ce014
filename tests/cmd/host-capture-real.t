#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A plan with the real collectors and tcpzc over loopback.
. "$(dirname "$0")/../lib.sh"
command -v jq >/dev/null || skip_all "needs jq"
[ "$(id -u)" = 0 ] || skip_all "perf of whole CPUs and BPF need root"
unset ZCOST_COLLECT
cleanup() {
	ip netns del "zc-a$$" 2>/dev/null
	ip netns del "zc-b$$" 2>/dev/null
}

next_port
cat >p.ini <<EOT
[plan]
repeats = 2
profile_repeats = 1
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

nothing_runs() {
	! grep -lzs "^$port\$" /proc/[0-9]*/cmdline
}

# Both windows of each run are within 50 ms. A busy machine's scheduler may miss that, so repeat the capture.
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

# killed SIGNAL PLAN CAPTURE FILE: signals the capture as soon as FILE is there
killed() {
	"$zcost" capture "$2" -o "$3" 2>err &
	pid=$!
	soon test -e "$4"
	in_time=$?
	kill -"$1" $pid
	wait $pid 2>/dev/null
	code=$?
	return $in_time
}

goes_on() { # completes the capture; a busy machine may lose samples
	"$zcost" capture p.ini -o c 2>err || { code=$?; cat err; [ $code = 4 ] && grep -q 'perf lost [0-9]* records' err; }
}

ok "the second run begins before SIGKILL" killed KILL p.ini c c/runs/mapped/.measure-01.tmp/sender/workload.out
ok "a killed capture leaves no process running" soon nothing_runs
there=$(jq '.runs | length' c/manifest.json)
ok "the same command completes the killed capture" goes_on
ok "the restarted capture repeats no finished run" says "c: $there of 8 runs exist already" err
ok "all runs of the restarted capture are ok" jq -e '.complete and ([.runs[].status] | all(. == "ok"))' c/manifest.json
steady "both sides of each run measure the same window within 50 ms" together
ok "the profile pass writes perf.data" test -s c/runs/mapped/profile-01/receiver/perf.data
ok "the syscalls pass writes syscall counts" test -s c/runs/mapped/syscalls-01/sender/syscalls.tsv
ok "time_one_in of a side reaches that side's syscalls collector" sh -c 'f=c/runs/mapped/syscalls-01; i=".collectors[] | select(.name == \"syscalls\") | .info.time_one_in"
	[ "$(jq "$i" $f/receiver/run.json),$(jq "$i" $f/sender/run.json)" = 1,16 ]'
ok "the measure pass writes no perf.data" sh -c '! ls c/runs/*/measure-*/*/perf.data 2>/dev/null'
ok "every workload writes its summary" sh -c \
	'for f in c/runs/*/*/*/workload.out; do tail -n 1 $f | grep -q "\"type\":\"summary\"" || exit 1; done'
for host in c/hosts/*; do
	ok "the capture describes the host in ${host##*/}" test -s "$host/kallsyms" -a -s "$host/host.json"
done
"$zcost" analyze c >out 2>err # exits 4 where the hypervisor took CPU time
ok "analyze reads all eight runs" says 'c/zcost.db: 8 runs' err

sed 's/^duration = .*/duration = 60/' p.ini >long.ini
ok "the first run begins before SIGTERM" killed TERM long.ini d d/runs/base/.measure-01.tmp/sender/workload.out
ok "capture exits 1 on SIGTERM" test $code = 1
ok "SIGTERM leaves no process running" soon nothing_runs
ok "SIGTERM leaves no file of the interrupted run" test -z "$(find d/runs -type f)"

ok "capture exits 2 when the command does not exist" exits 2 "$zcost" capture -o e --variant x --repeat 1 \
	--pass measure -- nonesuch
ok "the error names the command that does not exist" says "variant x, local: there is no program 'nonesuch' in PATH" err
ok "capture exits 2 when the collector does not exist" exits 2 "$zcost" capture -o f --variant x --repeat 1 \
	--pass measure --collect nonesuch -- true
ok "the error names the unknown collector" says "does not accept what the plan says: .*unknown collector 'nonesuch'" err

# --- two clients in one namespace send to a server in another one; the server counts nothing ---

if ip netns add "zc-a$$" 2>/dev/null; then
	ip netns add "zc-b$$"
	ip -n "zc-a$$" link add a0 type veth peer name b0 netns "zc-b$$"
	ip -n "zc-a$$" addr add 192.0.2.1/24 dev a0
	ip -n "zc-b$$" addr add 192.0.2.2/24 dev b0
	ip -n "zc-a$$" link set a0 up
	ip -n "zc-b$$" link set b0 up
	{
		printf '[plan]\npasses = measure\nrepeats = 1\nwarmup = 0.2\nduration = 0.7\ngrace = 0\n'
		printf '[side client%s]\nrole = sender\nprefix = ip netns exec zc-b%s\nunits = tcpzc\n' 1 $$ 2 $$
		printf '[side server]\nrole = receiver\nprefix = ip netns exec zc-a%s\n[variant v]\n' $$
		listen='${bindir}/tcpzc --rx recv --listen --port'
		echo "server = sh -c '$listen 5001 & $listen 5002; wait'"
		for i in 1 2; do echo "client$i = \${bindir}/tcpzc --connect 192.0.2.1 --port 500$i --seconds 60"; done
	} >many.ini
	gbps() { # gbps SIDE: its throughput by report roi
		"$zcost" report roi many --format tsv 2>err | awk -F'\t' -v side="$1" '$2 == side { print $3 }'
	}
	ok "three sides with free names are measured" exits 0 "$zcost" capture many.ini -o many
	"$zcost" analyze many >out 2>err
	ok "the server takes the sum of what its clients count" near "$(gbps server)" \
		"$(echo "$(gbps client1) $(gbps client2)" | awk '{ print $1 + $2 }')" 0.01
	ok "the total has what both clients sent" test "$(gbps total)" = "$(gbps server)"
	clients=$(gbps total)
	"$zcost" analyze many --units server=nic:a0/rx >out 2>err
	ok "the server's interface counts what the clients sent, and the headers" near "$(gbps total)" "$clients" \
		"$(echo "$clients" | awk '{ print 0.1 * $1 }')"
else
	for what in "three sides with free names are measured" "the server takes the sum of what its clients count" \
		"the total has what both clients sent" "the server's interface counts what the clients sent, and the headers"; do
		skip "$what" "no namespaces here"
	done
fi
done_testing
