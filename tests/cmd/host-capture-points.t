#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A capture of all passes with the real collectors over loopback, interrupted at one point after the other: by
# SIGINT and SIGTERM, by SIGKILL, by SIGKILL to all its processes at once, and by SIGKILL to one side. Each time
# no process stays behind. The next capture undoes the settings, cleans up and continues until all runs are there.
. "$(dirname "$0")/../lib.sh"
need jq root
unset ZCOST_COLLECT

next_port
cat >p.ini <<EOT
[plan]
seed = 75
repeats = 1
warmup = 0.05
duration = 0.4
grace = 0
[vars]
to = --port $port
[setting lamp]
values = on
save = cat lamp
before = sleep 0.1; echo \${lamp} >lamp; echo \${lamp} >>log
after = echo \$saved >lamp; echo \$saved >>log
[side receiver]
cpus = 0
units = tcpzc
[side sender]
cpus = 0
units = tcpzc
[variant a]
receiver = \${bindir}/tcpzc --listen \${to} --rx recv
sender = \${bindir}/tcpzc --connect 127.0.0.1 \${to} --tx send --seconds 60
[variant b]
receiver = sh -c '\${bindir}/tcpzc --listen \${to} --rx mmap; exit \$\$?'
sender = sh -c 'setsid sleep 61.$port & exec \${bindir}/tcpzc --connect 127.0.0.1 \${to} --tx send --seconds 60'
EOT
sed -i 's/\$\$?/$?/' p.ini
echo off >lamp
: >log

# Every run in the manifest has its files with the recorded checksums. A damaged manifest fails.
sound() {
	[ -e c/manifest.json ] || return 0
	jq -r '.runs[] | "runs/\(.variant)/\(.pass)-0\(.repeat)/" as $d | .files | to_entries[] |
		"\(.value)  \($d)\(.key)"' c/manifest.json >sums || return 1
	[ ! -s sums ] || (cd c && sha256sum --quiet -c ../sums)
}

launch() {
	in_family "$zcost" capture p.ini -o c 2>err &
	pid=$!
}

# until_it CONDITION...: fails when the capture ends first
until_it() {
	until "$@" 2>/dev/null; do
		kill -0 $pid 2>/dev/null || return 1
		sleep 0.02
	done
}

is() { # is GLOB: a file matches
	for f in $1; do [ -e "$f" ] && return 0; done
	return 1
}

filled() { # filled GLOB: a matching file is not empty
	for f in $1; do [ -s "$f" ] && return 0; done
	return 1
}

strike() { # strike HOW
	case $1 in
	INT | TERM | KILL) kill -"$1" $pid ;;
	all) for i in 1 2 3; do kill -KILL $(family) 2>/dev/null; done ;; # three times, for processes that were just forked
	esac
	wait $pid 2>/dev/null
}

on() {
	grep -c on log
}

# An earlier capture's files are gone when the setting is made. Until then they could pass for this capture's.
set_up() {
	[ "$(on)" -gt "$before" ]
}

reached() { # reached CONDITION...
	{ [ -n "${early-}" ] || until_it set_up; } && until_it "$@" && { [ "$how" != side ] || kill_side; }
}

point() { # point HOW WHEN CONDITION...: interrupts a capture HOW when CONDITION holds
	how=$1 when=$2
	shift 2
	for try in 1 2 3 4 5; do
		before=$(on)
		launch
		reached "$@" && break
		wait $pid # a busy machine missed the point: start over
		rm -rf c
		try=
	done
	[ "$try" ] || { ok "a capture reaches the point where $when" false; return; }
	[ "$how" != side ] || one_side
	strike "$how"
	ok "no process is left running ($when, $how)" gone
	ok "every run in the manifest has its recorded checksums ($when)" sound
}

was_made_again() {
	jq -e '.runs[] | select(.variant == "b+lamp-on" and .pass == "profile" and .status == "ok") | .retried[0] | test("signal 9")' \
		c/manifest.json
}

# Kills one side: its run is made again, and the capture continues with the next.
kill_side() {
	kill -KILL $(grep -ls "^PPid:	$pid\$" /proc/[0-9]*/status | sed -n '1s/[^0-9]//gp') 2>/dev/null
	until_it is $a/.syscalls-01.tmp && was_made_again
} >/dev/null

one_side() {
	ok "the run is made again and the capture continues when one side is killed ($when)" was_made_again
	ok "no process of the failed run is left, perf included ($when)" \
		test -z "$(grep -lzs "^ZCOST_RUN=$scratch/c/runs/.*/.profile-01" /proc/[0-9]*/environ)"
	how=KILL
}

made() {
	grep -q on log && [ -s "$(undo_state c)/001" ] && [ ! -e "$(undo_state c)/running" ]
}

being_made() {
	is "$(undo_state c)/running $a"
}

# Each point names a second, later file, for a busy machine that misses the first.
a=c/runs/a+lamp-on b=c/runs/b+lamp-on
early=1
point KILL "the folder is there" is c/manifest.json
point KILL "a setting is being made" being_made
early=
point INT "a setting was made" made
point KILL "a run begins" is "$a/.measure-01.tmp $a/measure-01"
point all "the first side starts" is "$a/.measure-01.tmp/receiver/workload.out $a/measure-01"
point KILL "both sides have started" is "$a/.measure-01.tmp/sender/workload.out $a/measure-01"
point TERM "the window is open" filled "$a/.measure-01.tmp/receiver/proc_stat.snap $a/measure-01"
point all "the first run is over" is $a/measure-01
point KILL "the second run begins" is "$b/.measure-01.tmp $b/measure-01"
point KILL "a workload with a daemon runs" filled \
	"$b/.measure-01.tmp/sender/proc_stat.snap $b/measure-01"
point KILL "perf starts" is "$a/.profile-01.tmp/receiver $a/profile-01"
point all "perf records" filled "$a/.profile-01.tmp/receiver/perf.data $a/profile-01"
point side "another perf records" filled $b/.profile-01.tmp/receiver/perf.data
point KILL "syscalls are counted" is "$b/.syscalls-01.tmp/sender/workload.out"
point INT "the last one runs" is "$b/.profile-01.tmp $b/profile-01"
ok "at least three runs survive the interruptions" test "$(jq '[.runs[] | select(.status == "ok")] | length' c/manifest.json)" -ge 3

goes_on() { # completes the capture; a busy machine may lose samples
	env FAMILY="$scratch" "$zcost" capture p.ini -o c 2>err ||
		{ code=$?; cat err; [ $code = 4 ] && grep -q 'perf lost [0-9]* [rs]' err; }
}
ok "the capture completes when nothing interrupts it" goes_on
ok "all six runs of the completed capture are ok" jq -e '.complete and (.runs | length) == 6 and ([.runs[].status] | all(. == "ok"))' \
	c/manifest.json
ok "every file of the completed capture has its recorded checksum" sound
ok "no temporary file is left in the completed capture" test -z "$(find c -name '.*' ! -name . -o -name '*.tmp*')"
ok "no process is left after the completed capture" gone
ok "the setting has its saved value after the completed capture" test "$(cat lamp)" = off
ok "each setting is undone before it is set again" awk '
	$1 == last && $1 == "on" { exit 1 } { last = $1 } END { exit last != "off" }' log
"$zcost" analyze c >out 2>err # exits 4 where the hypervisor took CPU time
ok "analyze reads all runs of the completed capture" says 'c/zcost.db: 6 runs' err
done_testing
