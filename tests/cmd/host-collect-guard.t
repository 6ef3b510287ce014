#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A collect that gets SIGKILL: every process that it started ends, also a daemon that left the process group.
. "$(dirname "$0")/../lib.sh"
need root

# A workload with a daemon in another session, which closed all files, ignores SIGTERM and has lost its parent;
# and with a grandchild in the workload's group.
cat >workload <<'EOT'
#!/usr/bin/perl
use POSIX;
if (!fork) {
	exit if fork;
	POSIX::setsid();
	POSIX::close($_) for 0 .. 63;
	$SIG{TERM} = 'IGNORE';
	if (!fork) { $SIG{TERM} = 'IGNORE'; sleep 60; exit }
	sleep 60;
	exit;
}
open my $ready, '>', $ARGV[0];
system 'sleep 60; true';
EOT
chmod 755 workload

launch() { # launch DIR: starts collect as $pid in a new process group and waits for the whole workload
	rm -f ready
	in_family setsid "$zcost" collect -o "$1" --duration 60 --pass "${pass:-profile}" -- \
		"$scratch/workload" "$scratch/ready" >out 2>err &
	pid=$!
	soon complete
}
complete() {
	[ -e ready ] && [ "$(family | wc -l)" -ge "${many:-7}" ]
}

guard_of() { # prints the pid of collect's guard
	for p in $(family); do
		[ "$(cat /proc/$p/comm)" != zcost-guard ] || echo $p
	done
}

ok "collect starts perf and a workload with daemons, before SIGTERM" launch a
kill -TERM $pid
wait $pid
ok "SIGTERM fails the run" grep -q 'stopped by signal 15' a/run.json
ok "SIGTERM leaves no process" gone

ok "collect starts perf and a workload with daemons, before SIGKILL" launch b
kill -KILL $pid
wait $pid 2>/dev/null
ok "perf, the workload and its daemons end when collect gets SIGKILL" gone

ok "collect starts perf and a workload with daemons, before SIGKILL to its group" launch c
kill -KILL -$pid
wait $pid 2>/dev/null
ok "perf, the workload and its daemons end when collect's group gets SIGKILL" gone
ok "SIGKILL leaves no temporary file" test -z "$(find . -name '*.tmp.*')"

ok "collect starts perf and a workload with daemons, before SIGKILL to its guard too" launch d
guards=$(guard_of)
ok "collect has exactly one guard" test "$(echo "$guards" | wc -w)" = 1
kill -KILL $pid $guards
wait $pid 2>/dev/null
sleep 0.2
ok "the daemons stay when collect and its guard get SIGKILL" test -n "$(family)"
ok "the next collect in the same folder succeeds" exits 0 "$zcost" collect -o d --pass measure -- true
ok "the next collect reports that it ended an earlier run's processes" says 'd: ended [0-9]+ processes of an earlier run that was killed' err
ok "the next collect ends the daemons of the killed one" gone

pass=syscalls many=6
ok "collect starts the syscalls pass" launch e
ids=$(grep -hs '^prog_id' /proc/$pid/fdinfo/* | awk '{ print $2 }' | sort -u)
maps=$(grep -hs '^map_id' /proc/$pid/fdinfo/* | awk '{ print $2 }' | sort -u)
if [ -n "$ids" ] || bpf_runs; then
	ok "the BPF programs of the syscalls pass are loaded" sh -c 'test -n "$2" && exec $1 $2' - "$build/tests/tools/bpf_left" "$ids"
	kill -KILL $pid
	wait $pid 2>/dev/null
	ok "no process is left when collect with BPF gets SIGKILL" gone
	unloaded() { ! "$build/tests/tools/bpf_left" $ids -- $maps; }
	ok "no BPF program or map is left when collect gets SIGKILL" soon unloaded
else
	kill -KILL $pid
	skip "the BPF programs of the syscalls pass are loaded" "no BPF here"
fi
done_testing
