#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The demo, interrupted: no namespace, process or sysctl change stays behind.
. "$(dirname "$0")/../lib.sh"
need root
[ "$(nproc)" -ge 2 ] || skip_all "the test bed needs two CPUs"
need ip
flock -n /run true || skip_all "another demo is running on this machine"

settings() { # without the sysctl that the kernel lowers when its interrupts take long
	sysctl -a 2>/dev/null | grep -E '^(net\.(core|ipv4)|kernel\.(perf|kptr|numa))' |
		grep -v perf_event_max_sample_rate
}

# All processes of a run have the folder of their capture in the environment. Other tests, and other demos on the
# machine, run tcpzc from the same folder.
some_run() {
	grep -lzs "^ZCOST_RUN=$(pwd -P)/demo/" /proc/[0-9]*/environ | grep .
}

nothing_runs() {
	! some_run
}

settings >before

# The demo has written FILE, a glob.
wrote() {
	for found in demo/capture/$1; do
		test -e "$found" && return
	done
}

# interrupt SIGNAL WHO FILE: signals the demo as soon as it wrote FILE
interrupt() {
	rm -rf demo
	env --default-signal=INT setsid sh "$top/samples/demo.sh" "$build" demo >out 2>err &
	pid=$!
	ok "the demo reaches $3" soon wrote "$3"
	[ "$2" = all ] && kill -s "$1" -- "-$pid" || kill -s "$1" "$pid"
	wait $pid
	code=$?
	ok "the demo exits 130 on SIG$1 to $2" test $code = 130
	ok "the demo reports the interruption by SIG$1" says 'demo: interrupted; the test bed is removed' err
	ok "SIG$1 leaves no namespace" sh -c '! ip netns list | grep zcost-demo'
	ok "SIG$1 leaves no process" nothing_runs
	settings >after
	ok "SIG$1 leaves no changed sysctl" diff before after
}

interrupt INT all manifest.json
a_run='runs/*/.*.tmp/sender/workload.out' # of any variant: the order is random
interrupt TERM "the shell alone" "$a_run"
ok "the manifest is readable after SIGTERM" sh -c 'grep -q schema_version demo/capture/manifest.json'

rm -rf demo
env --default-signal=INT setsid sh "$top/samples/demo.sh" "$build" demo >out 2>err &
pid=$!
soon wrote "$a_run"
ok "a demo has processes" some_run
ok "a second demo at the same time exits 1" exits 1 sh "$top/samples/demo.sh" "$build" demo2
ok "the error of a second demo says that another one runs" says 'another demo is running on this machine' err
kill -s KILL -- "-$pid"
wait $pid 2>/dev/null
ok "the processes of a demo that got SIGKILL end" soon nothing_runs
sh "$top/samples/testbed.sh" down zcost-demo
ok "testbed.sh down removes the namespaces of a killed demo" sh -c '! ip netns list | grep zcost-demo'
done_testing
