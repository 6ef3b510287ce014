#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What a user gets told about a plan or options that cannot be; --dry-run.
. "$(dirname "$0")/../lib.sh"
ZCOST_COLLECT=$tests/fake/collect
export ZCOST_COLLECT

cat >good.ini <<'EOT'
[plan]
repeats = 2
passes = measure, profile
warmup = 1
duration = 3
before = echo begin
[side receiver]
prefix = env A=1
[variant a]
what = the first
receiver = ${bindir}/tcpzc --rx recv
[variant b]
receiver = x
EOT
cat >bad.ini <<'EOT'
[plan]
repeats = 2
cpu = 1
EOT
printf '[plan]\n\0\n' >zero.ini
: >empty.ini
mkdir full && echo x >full/file

refuses() { # refuses CODE PATTERN COMMAND...
	code=$1 pattern=$2
	shift 2
	exits "$code" "$@" && says "$pattern" err && ! [ -e c ]
}

ok "a missing plan" refuses 2 'nope.ini: cannot open: No such file' "$zcost" capture nope.ini -o c
ok "an empty plan" refuses 2 'empty.ini: no \[variant NAME\] in it' "$zcost" capture empty.ini -o c
ok "a binary file as a plan" refuses 2 'zero.ini: not a plan' "$zcost" capture zero.ini -o c
ok "an unknown key, with its place and the known ones" refuses 2 \
	"bad.ini:3: unknown key 'cpu' in \[plan\]; there are: name passes repeats" \
	"$zcost" capture bad.ini -o c
printf '[side receiver]\nunits = foo\n' >units.ini
ok "an unknown adapter, with its place and the known ones" refuses 2 \
	"units.ini:2: units: no adapter 'foo'; there are tcpzc, iperf3, pps, regex:RE and none" \
	"$zcost" capture units.ini -o c
ok "  and as an option" refuses 2 "--units: no adapter 'foo'; there are tcpzc" \
	"$zcost" capture -o c --variant a --units foo -- true
printf '[side receiver]\nunits = regex:bytes=[0-9]+\n' >group.ini
ok "a regex without a group, with its place" refuses 2 \
	"group.ini:2: units: regex:bytes=.*: '\[0-9\]\+' has no \(group\)" "$zcost" capture group.ini -o c
ok "  and as an option that cannot be compiled" refuses 2 "--units: regex:\(\[: .*is not an extended" \
	"$zcost" capture -o c --variant a --units 'regex:([' -- true
ok "no plan at all" refuses 2 'give a PLAN, or --variant' "$zcost" capture -o c
ok "a command without a name" refuses 2 'a COMMAND needs a name for it: --variant NAME -- true' \
	"$zcost" capture -o c -- true
ok "two plans" refuses 2 'one PLAN, please' "$zcost" capture good.ini bad.ini -o c
ok "no -o" refuses 2 'give -o CAPTURE' "$zcost" capture good.ini
ok "a variant without a command" refuses 2 'give the COMMAND after --' \
	"$zcost" capture -o c --variant a
ok "a bad name for a variant" refuses 2 "'a/b' is no name for a variant" \
	"$zcost" capture -o c --variant a/b -- true
ok "a bad number of repeats" refuses 2 "'0' is not a number of repeats" \
	"$zcost" capture good.ini -o c --repeat 0
ok "options of a wrapped command with a plan" refuses 2 'belong to --variant' \
	"$zcost" capture good.ini -o c --cpus 1
ok "a folder that is something else" exits 1 "$zcost" capture good.ini -o full
ok "  says so" says 'full: there are files in it, and it is no capture' err
ok "  and is left alone" test "$(ls full)" = file

ok "--dry-run" exits 0 "$zcost" capture good.ini --dry-run
cat >want <<EOT
variant a: the first
  receiver env A=1 $build/tcpzc --rx recv
variant b
  receiver env A=1 x
before: echo begin
  1 a/measure-01
  2 b/measure-01
  3 b/measure-02
  4 a/measure-02
  5 a/profile-01
  6 b/profile-01
estimated: 1 s warm-up and 3 s window a run, and around it measure 0.3 s, profile 1.6 s;
  a workload that does not end by itself after the window takes 10 s more (grace): at most 1:28;
  each save, before and after is ended after 300 s (hook_timeout)
6 runs, about 0:28
EOT
ok "  prints what would run, and how long it takes" diff want out
{ sed 's/^receiver = x/&\nsender = y/' good.ini; echo 'sender = y'; } | sed 's/^\[variant a\]/[side sender]\n&/
	s/^what = .*/&\nsender = z/; $d' >two.ini
ok "--dry-run of two sides" exits 0 "$zcost" capture two.ini --dry-run
ok "  knows that a receiver waits for its sender" says \
	' takes 15 s more \(grace of a receiver\): at most 1:58;$' out
ok "--dry-run of a wrapped command" exits 0 "$zcost" capture --dry-run --variant a --repeat 3 \
	--pass measure --duration 2 -- sh -c 'echo "a  b"'
ok "  prints it, quoted" says "local    sh -c 'echo \"a  b\"'" out

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$scratch"
	cp "$zcost" zcost && chmod 755 zcost
	user='setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all'
	level=$(cat /proc/sys/kernel/perf_event_paranoid)
	if [ "$level" -gt 0 ]; then
		ok "no permission to profile" exits 1 $user ./zcost capture good.ini -o c
		ok "  says what is missing, and how to go on" says \
			"'profile' samples whole CPUs, which needs root.*--pass measure" err
		ok "  before anything was started" test ! -e c
	else
		skip "no permission to profile" "perf_event_paranoid is $level: everyone may"
	fi
	if [ "$level" -gt -1 ]; then
		ok "no permission for syscalls" exits 1 $user ./zcost capture -o c --variant a \
			--pass syscalls -- true
		ok "  says what is missing" says "'syscalls' loads a BPF program, which needs root" err
	else
		skip "no permission for syscalls" "perf_event_paranoid is $level: everyone may"
	fi
else
	skip "no permission" "needs root and setpriv to become someone else"
fi
done_testing
