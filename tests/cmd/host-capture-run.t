#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs, their order, what lands in the capture, failures and going on; against a stand-in for
# `zcost collect`, so that every way to fail can be had at will.
. "$(dirname "$0")/../lib.sh"
ZCOST_COLLECT=$tests/fake/collect
FAKE_LOG=$scratch/log
export ZCOST_COLLECT FAKE_LOG
command -v jq >/dev/null || skip_all "needs jq"

plan() { # plan NAME=RECEIVER...: a plan of these variants on standard output
	cat <<-EOT
		[plan]
		name = a try
		repeats = ${repeats:-1}
		passes = ${passes:-measure}
		warmup = 0.05
		duration = ${duration:-0.1}
		grace = 0
		start_timeout = ${patience:-20}
		stop_timeout = ${patience:-20}
		before = echo before >>$scratch/hooks
		after = echo after >>$scratch/hooks
		[side receiver]
		cpus = 0
		[side sender]
		units = none
	EOT
	for v in "$@"; do
		printf '[variant %s]\nwhat = the %s\nreceiver = %s\nsender = sleep 60\n' \
			"${v%%=*}" "${v%%=*}" "${v#*=}"
	done
}

runs() { # runs FILTER: "name status" of each run in the manifest
	jq -r '.runs[] | "\(.variant)/\(.pass)-\(.repeat) \(.status)"' "$1/manifest.json"
}

why() { # why CAPTURE VARIANT
	jq -r --arg v "$2" '.runs[] | select(.variant == $v) | .why' "$1/manifest.json" >why
}

sums() { # every file of every run is in the manifest, with its right sum, and no other
	(cd "$1" && find runs hosts -type f | sort | xargs sha256sum) >files
	jq -r '(.runs[] | "runs/\(.variant)/\(.pass)-0\(.repeat)/" as $d | .files | to_entries[] |
		"\(.value)  \($d)\(.key)"), (.hosts | to_entries[] | "\(.value)  hosts/\(.key)")' \
		"$1/manifest.json" | sort -k2 >listed
	diff files listed
}

repeats=2 passes=measure,syscalls plan 'a=sleep 60' 'b=sleep 60' >p.ini
ok "a whole plan" exits 0 "$zcost" capture p.ini -o c
ok "  is quiet without a terminal, but for the CPU that its sides share" test "$(grep -vc 'share CPU 0: ' err)" = 0
cat >want <<EOT
a/measure-1 ok
b/measure-1 ok
b/measure-2 ok
a/measure-2 ok
a/syscalls-1 ok
b/syscalls-1 ok
EOT
runs c >got
ok "  runs interleaved" diff want got
awk '{ print $1 }' log | uniq >order
ok "  and in that order" sh -c "sed 's/ ok//' want | diff - order"
awk '{ print $1, $3, $4 }' log | sort -u >instants
ok "  both sides of a run get one instant" test "$(wc -l <instants)" = 6
ok "  and the length of the window" test "$(awk '{ print $3 }' instants | sort -u)" = 100000000
ok "  every file has its sum" sums c
ok "  the plan is kept as given" cmp p.ini c/plan.ini
ok "  before and after ran once" test "$(tr '\n' ' ' <hooks)" = "before after "
ok "  the manifest says so" jq -e '.complete and .name == "a try" and .estimator == "median" and
	.sides == ["receiver", "sender"] and .variants[1].what == "the b" and
	.order[2] == "b/measure-02"' c/manifest.json
ok "  nothing else is left" test "$(ls -A c | tr '\n' ' ')" = "hosts manifest.json plan.ini runs "

rm -f log hooks
ok "again: nothing to do" exits 0 "$zcost" capture p.ini -o c
ok "  says so" says 'c: 6 of 6 runs are there already' err
ok "  and does nothing" test ! -e log -a ! -e hooks
repeats=3 passes=measure,syscalls plan 'a=sleep 60' 'b=sleep 60' >p3.ini
ok "more repeats go on from there" exits 0 "$zcost" capture p3.ini -o c
ok "  with the new ones alone" test "$(awk '{ print $1 }' log | uniq | tr '\n' ' ')" = \
	"a/measure-3 b/measure-3 "

repeats=2 passes=measure,syscalls plan 'a=sleep 60' 'b=sleep 61' >other.ini
ok "another plan is refused" exits 1 "$zcost" capture other.ini -o c
ok "  with the difference and the way out" says "c holds another experiment: variant 'b' was \
measured with receiver.command = 'sleep 60', and now it is 'sleep 61'; give another -o" err
plan 'a=sleep 60' >less.ini
ok "a plan with other variants is refused" exits 1 "$zcost" capture less.ini -o c
ok "  the message names the difference" says "it has a variant 'b' that the plan does not have" err
ok "  the capture is as it was" cmp p3.ini c/plan.ini

plan 'a=sleep 60' | sed 's/^\[side receiver\]/&\ncollect = bogus/' >refused.ini
ok "a plan that collect refuses" exits 2 "$zcost" capture refused.ini -o refused
plan 'b=sleep 60' >mended.ini
ok "  leaves a folder that takes the mended plan" exits 0 "$zcost" capture mended.ini -o refused
plan 'a=sleep 60' | sed 's/^cpus = 0/cpus = 0,4095/' >offline.ini
ok "CPUs that are not there" exits 2 "$zcost" capture offline.ini -o offline
ok "  are told before anything is made" says \
	'receiver: cpus = 0,4095: CPU 4095 is not online \(variant a\)' err
ok "  " test ! -e offline
ok "  by --dry-run too" exits 2 "$zcost" capture --dry-run offline.ini -o offline
ok "  in the same words" says 'receiver: cpus = 0,4095: CPU 4095 is not online \(variant a\)' err
plan 'a=sleep 60' 'b=sh -c "echo refuse me; sleep 60"' >second.ini
ok "a plan that collect refuses for its second variant" exits 2 "$zcost" capture second.ini -o second
sed 's/refuse me/take me/' second.ini >mended.ini
ok "  takes the mended one after the first" exits 0 "$zcost" capture mended.ini -o second
ok "  in the plan's order" test "$(jq -r '.variants[].name' second/manifest.json | tr '\n' ' ')" = "a b "

cat >say-a <<'EOT'
x: no such mode: 7

Usage: x [-a]
  -b  as you like
Try `x --help' or `x --usage' for more information.
EOT
cat >say-b <<'EOT'
x: bad option
x: try 'x --help' for more information
EOT
plan "a=sh -c 'cat $scratch/say-a >&2; exit 64'" "b=sh -c 'cat $scratch/say-b >&2; exit 2'" >usage.ini
ok "programs that explain their usage" exits 1 "$zcost" capture usage.ini -o usage
ok "  are quoted with the reason" says 'exited with status 64: "x: no such mode: 7"$' err
ok "  and not with an invitation" says 'exited with status 2: "x: bad option"$' err

echo "sh -c 'echo first >&2; echo no such device >&2; exit 3'" >die
plan 'good=sleep 60' "bad=$(cat die)" 'never=nonesuch' >p.ini
rm -f hooks
ok "a failing variant" exits 4 "$zcost" capture p.ini -o f
ok "  is named with the last line it said" says \
	'bad/measure-01 failed: receiver: the workload exited with status 3: "no such device"' err
ok "  so is one that cannot be started" says \
	'never/measure-01 failed: receiver: .*nonesuch: No such file' err
ok "  how to go on" says '2 of 3 runs failed; the others are safe in f; run the same command again to try' err
runs f >got
ok "  the others are kept" says 'good/measure-1 ok' got
ok "  the failed ones are marked" says 'bad/measure-1 failed' got
ok "  with the reason" sh -c 'jq -r .runs[1].why f/manifest.json | grep "no such device"'
ok "  every file has its sum" sums f
ok "  the capture is not complete" jq -e '.complete == false' f/manifest.json
ok "  after ran" test "$(tr '\n' ' ' <hooks)" = "before after "
rm -f log
ok "again: only the failed ones are tried" exits 1 "$zcost" capture p.ini -o f
ok "  the good one is not" sh -c '! grep good log'

plan 'bad=false' >p.ini
ok "nothing but failures" exits 1 "$zcost" capture p.ini -o g
ok "  is told" says 'no run of 1 succeeded; run the same command again to try once more' err

patience=3 plan 'never=sh -c "sleep 60; : never-ready"' 'good=sleep 60' >p.ini
ok "a side that is never ready" exits 4 "$zcost" capture p.ini -o h
ok "  is given up" says 'never/measure-01 failed: receiver: not ready after 3 s' err
patience=3 plan 'never=sh -c "sleep 60; : never-done"' 'good=sleep 60' >p.ini
ok "a side that never ends" exits 4 "$zcost" capture p.ini -o i
ok "  is given up" says 'never/measure-01 failed: receiver: still not done 3 s after' err
plan 'gone=sh -c "sleep 60; : crash-collect"' 'good=sleep 60' >p.ini
ok "a collect that is killed" exits 4 "$zcost" capture p.ini -o j
ok "  is a failed run" says 'gone/measure-01 failed: receiver: zcost collect was killed by signal 9' err
duration=20 plan 'early=sh -c "sleep 0.4; exit 1"' 'good=true' >p.ini
ok "a side that dies early does not hold up the other" exits 1 timeout 15 "$zcost" capture p.ini -o k
plan 'a=sh -c "sleep 60; : lossy"' >p.ini
ok "lost data" exits 4 "$zcost" capture p.ini -o l
ok "  is told" says 'receiver: cpu is degraded: as it was told' err
ok "  and is no failure" test "$(runs l)" = 'a/measure-1 ok'

cat >talk <<'EOT'
{"type":"point","t_ns":1,"bytes":0,"messages":0}
{"type":"error","what":"connect: Connection refused"}
EOT
cat >silent <<'EOT'
{"type":"point","t_ns":1,"bytes":0,"messages":0}
EOT
cat >busy <<'EOT'
{"type":"point","t_ns":1,"bytes":4096,"messages":1}
EOT
cat >refused.json <<'EOT'
{"intervals": [], "error": "unable to connect to server: Connection refused"}
EOT
cat >cut.json <<'EOT'
{"intervals": [{"sum": {"end": 1, "bytes": 9}}], "error": "interrupt - the server has terminated"}
EOT
echo "no words" >words
working() { # working UNITS FILE: a receiver that prints the file and is stopped after the window
	plan "a=sh -c 'cat $scratch/$2; echo of it >&2; sleep 60'" | sed "s/^cpus = 0/units = $1/"
}
for units in none tcpzc; do
	working $units talk >p.ini
	rm -rf r
	[ $units = none ]
	ok "an error in the output, units = $units" exits $? "$zcost" capture p.ini -o r
done
ok "  is quoted" says \
	'failed: receiver: the workload reports an error: "connect: Connection refused"$' err
ok "  the run has failed" test "$(runs r)" = 'a/measure-1 failed'
working tcpzc busy >p.ini
ok "  so that it is tried again" exits 1 "$zcost" capture p.ini -o r
rm -rf r
ok "some work" exits 0 "$zcost" capture p.ini -o r
while read -r units file rc why; do
	working "$units" "$file" >p.ini
	rm -rf r
	ok "units = $units that print $file" exits "$rc" "$zcost" capture p.ini -o r
	[ -z "$why" ] || ok "  $why" says "$why" err
done <<'EOT'
tcpzc silent 1 the workload did nothing: there is no work in its output \(units = tcpzc\): "of it"
tcpzc words 1 the workload did nothing
iperf3 refused.json 1 reports an error: "unable to connect to server: Connection refused"
iperf3 words 1 the workload did nothing
iperf3 cut.json 0
pps words 0
EOT

duration=0.5 plan 'a=sh -c "sleep 60; : late-503"' >p.ini
rm -rf r
ok "windows that do not overlap" exits 1 "$zcost" capture p.ini -o r
ok "  are no run, by how much" says "a/measure-01 failed: the sides' windows do not overlap: the \
receiver's began 503.0 ms after the sender's, which was 500.0 ms long" err
ok "  it fails after three tries" test "$(grep -c '^zcost: a/measure-01: trying again: .*not overlap' err)" = 2
duration=0.5 plan 'a=sh -c "sleep 60; : late-26"' >p.ini
ok "windows that do, but are farther apart than 5 %" exits 1 "$zcost" capture p.ini -o far
ok "  are no run either, by how much" says "a/measure-01 failed: the sides' windows are 26.0 ms apart, 5.2 % of the \
shorter one's 0.5 s \(at most 5 %\): the cost of one does not belong to the bytes of the other$" err
ok "  it was tried again twice" test "$(grep -c ': trying again' err)" = 2
duration=0.5 plan 'a=sh -c "sleep 60; : late-26-once"' >p.ini
ok "the next try may go well" exits 0 env FAKE_ONCE="$scratch/done-once" "$zcost" capture p.ini -o once
ok "  a note says that it was tried again" test "$(grep -c ': trying again' err)" = 1
ok "  every file has its sum" sums once
duration=0.5 plan 'a=sh -c "sleep 60; : early-300"' >p.ini
ok "a command that ends before the other's window" exits 1 "$zcost" capture p.ini -o alone
ok "  is not tried again: why, and the way out" says "failed: the sides' windows are 300.0 ms apart, 150.0 % .*; the \
receiver's command ended 0.3 s before the window was to: let it run longer, or give a shorter duration" err
ok "  it is not tried again" test "$(grep -c ': trying again' err)" = 0
duration=0.5 plan 'a=sh -c "sleep 60; : late-24"' >p.ini
ok "windows that are a little apart" exits 0 "$zcost" capture p.ini -o rr

plan 'a=sh -c "sleep 60; : lossy"' >p.ini
sed 's/cpus = 0/collect = bogus/' p.ini >q.ini
ok "what collect does not accept" exits 2 "$zcost" capture q.ini -o m
ok "  is quoted, once" says "receiver: zcost collect does not accept what the plan says: .*unknown \
collector 'bogus'" err
plan 'a=sleep 60' | sed 's/^before = .*/before = echo setting up; exit 5/' >p.ini
rm -f hooks
ok "a 'before' that fails" exits 1 "$zcost" capture p.ini -o n
ok "  is told" says "the plan's 'before' exited with status 5: echo setting up; exit 5" err
ok "  after is run all the same" test "$(cat hooks)" = after
plan 'a=sleep 60' | sed 's/^after = .*/after = exit 6/' >p.ini
ok "an 'after' that fails" exits 1 "$zcost" capture p.ini -o o
ok "  is told" says "the plan's 'after' exited with status 6" err
ok "  the run is kept" test "$(runs o)" = 'a/measure-1 ok'

if [ "$(id -u)" = 0 ]; then
	plan 'a=sleep 60' >p.ini
	ok "under sudo" exits 0 env SUDO_UID=65534 SUDO_GID=65534 "$zcost" capture p.ini -o s
	ok "  the capture belongs to who called" test -z "$(find s ! -uid 65534 -o ! -gid 65534)"
else
	skip "under sudo" "needs root"
fi

FAKE_LOG=$scratch/log2
ok "a wrapped command" exits 0 "$zcost" capture -o w --variant base --repeat 2 --pass measure \
	--cpus 0 --duration 0.1 -- sleep 60
ok "  has one side" jq -e '.sides == ["local"] and .complete' w/manifest.json
ok "  and no plan" test ! -e w/plan.ini
ok "  until the command ends" exits 0 "$zcost" capture -o w --variant 'short' --repeat 1 \
	--pass measure -- sh -c 'sleep 1'
ok "  is a window without end" says 'short/measure-1 local [0-9]+ 0$' log2
ok "  in the same capture" test "$(runs w | tr '\n' ' ')" = \
	"base/measure-1 ok base/measure-2 ok short/measure-1 ok "
ok "  every file has its sum" sums w
ok "  another command under the same name is refused" exits 1 "$zcost" capture -o w --variant base \
	--repeat 2 --pass measure --cpus 0 --duration 0.1 -- sleep 61
ok "  with the difference" says "variant 'base' was measured with local.command = 'sleep 60'" err

# The real one: commands that end before the window is over are told once, and are no failure.
unset ZCOST_COLLECT
ok "commands that end by themselves, too soon" exits 0 "$zcost" capture -o early --variant a --repeat 2 --pass measure \
	--collect null --duration 30 -- sleep 0.5
ok "  are told" says '^zcost: a/measure-01: local: 30 s were asked for, the command ended after 0?[.0-9]+ s$' err
ok "  once" test "$(grep -c 'asked for' err)" = 1
ok "  are runs" test "$(runs early | tr '\n' ' ')" = "a/measure-1 ok a/measure-2 ok "
"$zcost" analyze early >log 2>&1
ok "  reports warn of both" sh -c "'$zcost' report runs early 2>&1 | grep -q 'warning: .*[(]2 runs, first measure-01.*of the 30 s of the window'"
done_testing
