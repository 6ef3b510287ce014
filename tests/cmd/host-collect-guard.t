#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A collect that is killed outright: what it had started ends all the same, wherever that had gone.
. "$(dirname "$0")/../lib.sh"
[ "$(id -u)" = 0 ] || skip_all "perf of whole CPUs needs root"
FAMILY=$scratch.$$ # in the environment of all that belongs to one collect

# A workload that leaves: a daemon in a session of its own that closed all files, ignores SIGTERM and
# lost its parent; and a child of a child in the workload's group.
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

family() { # pids of all of them
	grep -lzs "^FAMILY=$FAMILY\$" /proc/[0-9]*/environ | sed 's,/proc/\([0-9]*\)/.*,\1,'
}

gone() { # within some seconds
	i=0
	while [ -n "$(family)" ]; do
		i=$((i + 1))
		if [ $i -gt 200 ]; then
			for p in $(family); do tr '\0' ' ' </proc/$p/cmdline; echo; done
			return 1
		fi
		sleep 0.05
	done
}

launch() { # launch DIR: collect in a group of its own, until all of the workload runs; $pid
	rm -f ready
	FAMILY=$FAMILY setsid "$zcost" collect -o "$1" --duration 60 --pass "${pass:-profile}" -- \
		"$scratch/workload" "$scratch/ready" >out 2>err &
	pid=$!
	i=0
	until [ -e ready ] && [ "$(family | wc -l)" -ge "${many:-7}" ]; do
		i=$((i + 1))
		[ $i -lt 200 ] || return 1
		sleep 0.05
	done
}

guard_of() { # the child of ours that waits
	for p in $(family); do
		[ "$(cat /proc/$p/comm)" != zcost-guard ] || echo $p
	done
}

ok "collect with perf and a workload that leaves" launch a
kill -TERM $pid
wait $pid
ok "  told to end: a failed run" grep -q 'stopped by signal 15' a/run.json
ok "  nothing is left" gone

ok "collect again" launch b
kill -KILL $pid
wait $pid 2>/dev/null
ok "  killed alone: perf, the workload and its daemons go" gone

ok "once more" launch c
kill -KILL -$pid
wait $pid 2>/dev/null
ok "  killed with its whole group: they go" gone
ok "  no file of ours is left open or half removed" test -z "$(find . -name '*.tmp.*')"

ok "and with its guard" launch d
guards=$(guard_of)
ok "  of which there is one" test "$(echo "$guards" | wc -w)" = 1
kill -KILL $pid $guards
wait $pid 2>/dev/null
sleep 0.2
ok "  the daemons stay" test -n "$(family)"
ok "  until the next collect in that folder" exits 0 "$zcost" collect -o d --pass measure -- true
ok "  says so" says 'd: ended [0-9]+ processes of an earlier run that was killed' err
ok "  and all are gone" gone

pass=syscalls many=6
ok "collect with BPF programs" launch e
ids=$(grep -hs '^prog_id' /proc/$pid/fdinfo/* | awk '{ print $2 }' | sort -u)
maps=$(grep -hs '^map_id' /proc/$pid/fdinfo/* | awk '{ print $2 }' | sort -u)
if [ -n "$ids" ]; then
	ok "  which are loaded" "$build/tests/tools/bpf_left" $ids
	kill -KILL $pid
	wait $pid 2>/dev/null
	ok "  killed: nothing is left running" gone
	unloaded() {
		i=0
		while "$build/tests/tools/bpf_left" $ids -- $maps; do
			i=$((i + 1))
			[ $i -lt 200 ] || return 1
			sleep 0.05
		done
	}
	ok "  nor loaded" unloaded
else
	kill -KILL $pid
	skip "  which are loaded" "no BPF here"
fi
done_testing
