#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs: their order, their files in the capture, failures, and continuing. The collector is a stand-in for
# `zcost collect` that fails in every way on demand.
. "$(dirname "$0")/../lib.sh"
ZCOST_COLLECT=$tests/fake/collect
FAKE_LOG=$scratch/log
export ZCOST_COLLECT FAKE_LOG
need jq

plan() { # plan NAME=RECEIVER...: prints a plan of these variants
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

runs() { # runs CAPTURE: prints "name status" of each run in the manifest
	jq -r '.runs[] | "\(.variant)/\(.pass)-\(.repeat) \(.status)"' "$1/manifest.json"
}

why() { # why CAPTURE VARIANT
	jq -r --arg v "$2" '.runs[] | select(.variant == $v) | .why' "$1/manifest.json" >why
}

repeats=2 passes=measure,syscalls plan 'a=sleep 60' 'b=sleep 60' >p.ini
ok "capture runs a whole plan" exits 0 "$zcost" capture p.ini -o c
ok "without a terminal capture prints only the note about the shared CPU, its progress and the next command" \
	test "$(sed '/share CPU 0 in /d; s/, about .*//' err | tr '\n' ',')" = "$(seq 1 5 | sed 's/.*/zcost: & of 6 runs made/' | tr '\n' ',')zcost: 6 runs were added to c; next: zcost analyze c,"
cat >want <<EOT
a/syscalls-1 ok
b/measure-1 ok
b/syscalls-1 ok
a/measure-1 ok
a/measure-2 ok
b/measure-2 ok
EOT
runs c >got
ok "the manifest lists variants and passes in turns, each second round in reverse" diff want got
awk '{ print $1 }' log | uniq >order
ok "the collectors run in the manifest's order" sh -c "sed 's/ ok//' want | diff - order"
awk '{ print $1, $3, $4 }' log | sort -u >instants
ok "both sides of a run start at one instant" test "$(wc -l <instants)" = 6
ok "both sides get the plan's duration" test "$(awk '{ print $3 }' instants | sort -u)" = 100000000
ok "the manifest has the checksum of every file" sums c
ok "the capture has an exact copy of the plan" cmp p.ini c/plan.ini
ok "the plan's 'before' and 'after' run once each" test "$(tr '\n' ' ' <hooks)" = "before after "
ok "the manifest has the plan's name, sides, variants, seed and order" jq -e '.complete and .name == "a try" and .estimator == "median" and
	.sides == ["receiver", "sender"] and .variants[1].what == "the b" and
	.seed == "1" and .order[3] == "a/measure-01"' c/manifest.json
ok "the capture has no other files" test "$(ls -A c | tr '\n' ' ')" = "hosts manifest.json plan.ini runs "

rm -f log hooks
ok "the same command succeeds on a complete capture" exits 0 "$zcost" capture p.ini -o c
ok "the message on a complete capture counts the finished runs and names two ways out" \
	says '^zcost: c: 6 of 6 runs exist already; another -o makes them again; next: zcost analyze c$' err
ok "a complete capture runs no hook and no collector" test ! -e log -a ! -e hooks
repeats=11 passes=measure plan 'a=sleep 60' >eleven.ini
ok "a capture of eleven runs succeeds" exits 0 "$zcost" capture eleven.ini -o eleven --duration 0.01
seq 2 10 | sed 's/.*/zcost: & of 11 runs made, about 0:00 left/' >want
echo 'zcost: 11 runs were added to eleven; next: zcost analyze eleven' >>want
ok "a log gets a line at each tenth of the runs, and the next command at the end" sh -c \
	"sed '/share CPU/d; s/0:[0-9][0-9] left/0:00 left/' err | diff want -"
rm -f log
repeats=3 passes=measure,syscalls plan 'a=sleep 60' 'b=sleep 60' >p3.ini
ok "a plan with more repeats continues the capture" exits 0 "$zcost" capture p3.ini -o c
ok "only the new repeats run" test "$(awk '{ print $1 }' log | uniq | tr '\n' ' ')" = \
	"a/measure-3 b/measure-3 "

repeats=2 passes=measure,syscalls plan 'a=sleep 60' 'b=sleep 61' >other.ini
ok "a plan with another command is refused" exits 1 "$zcost" capture other.ini -o c
ok "the error names the command that differs and another -o" says "c holds another experiment: variant 'b' was \
measured with receiver.command = 'sleep 60', and now it is 'sleep 61'; give another -o" err
plan 'a=sleep 60' >less.ini
ok "a plan without one of the variants is refused" exits 1 "$zcost" capture less.ini -o c
ok "the error names the variant that the plan does not have" says "it has a variant 'b' that the plan does not have" err
ok "a refused plan does not replace the capture's plan" cmp p3.ini c/plan.ini

plan 'a=sleep 60' | sed 's/^\[side receiver\]/&\ncollect = bogus/' >refused.ini
ok "capture exits 2 when collect refuses the plan" exits 2 "$zcost" capture refused.ini -o refused
plan 'b=sleep 60' >mended.ini
ok "the folder of a refused plan accepts the corrected plan" exits 0 "$zcost" capture mended.ini -o refused
plan 'a=sleep 60' | sed 's/^cpus = 0/cpus = 0,4095/' >offline.ini
ok "capture exits 2 on a plan with a CPU that is not online" exits 2 "$zcost" capture offline.ini -o offline
ok "the error names the CPU that is not online" says \
	'receiver: cpus = 0,4095: CPU 4095 is not online \(variant a\)' err
ok "capture makes no folder when a CPU is not online" test ! -e offline
ok "--dry-run exits 2 on a CPU that is not online" exits 2 "$zcost" capture --dry-run offline.ini -o offline
ok "--dry-run names the CPU that is not online" says 'receiver: cpus = 0,4095: CPU 4095 is not online \(variant a\)' err
plan 'a=sleep 60' 'b=sh -c "echo refuse me; sleep 60"' >second.ini
ok "capture exits 2 when collect refuses the second variant" exits 2 "$zcost" capture second.ini -o second
sed 's/refuse me/take me/' second.ini >mended.ini
ok "the folder accepts the corrected second variant after the first" exits 0 "$zcost" capture mended.ini -o second
ok "the manifest has the variants in the plan's order" test "$(jq -r '.variants[].name' second/manifest.json | tr '\n' ' ')" = "a b "

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
ok "capture exits 1 when the programs reject their options" exits 1 "$zcost" capture usage.ini -o usage
ok "the reason quotes the error line, not the usage text" says 'exited with status 64: "x: no such mode: 7"$' err
ok "the reason does not quote a hint to try --help" says 'exited with status 2: "x: bad option"$' err

echo "sh -c 'echo first >&2; echo no such device >&2; exit 3'" >die
plan 'good=sleep 60' "bad=$(cat die)" 'never=env -S nonesuch' >p.ini
rm -f hooks
ok "capture exits 4 when one variant fails" exits 4 "$zcost" capture p.ini -o f
ok "the error quotes the last line of the failed workload" says \
	'bad/measure-01 failed 3 times: receiver: the workload exited with status 3: "no such device"' err
ok "the error names a command that does not exist" says \
	'never/measure-01 failed 3 times: receiver: .*nonesuch.*: No such file' err
ok "the summary counts the failed runs and says how to go on" says '2 of 3 runs failed; the others are safe in f; run the same command again to try' err
runs f >got
ok "the run of the good variant is ok" says 'good/measure-1 ok' got
ok "the manifest marks the run of the bad variant as failed" says 'bad/measure-1 failed' got
ok "the manifest has the reason of the failure" sh -c 'jq -r .runs[].why f/manifest.json | grep "no such device"'
ok "the manifest has the checksum of every file after failures" sums f
ok "a capture with a failed run is not complete" jq -e '.complete == false' f/manifest.json
ok "the plan's 'after' runs after failures" test "$(tr '\n' ' ' <hooks)" = "before after "
rm -f log
ok "the same command exits 1 when the failed runs fail again" exits 1 "$zcost" capture p.ini -o f
ok "the same command does not repeat the good run" sh -c '! grep good log'

plan 'bad=false' >p.ini
ok "capture exits 1 when all runs fail" exits 1 "$zcost" capture p.ini -o g
ok "the error reports that no run succeeded" says 'no run of 1 succeeded; remove the cause, then run the same command again' err

repeats=5 plan 'bad=false' 'worse=false' >p.ini
ok "capture exits 1 when every run fails" exits 1 "$zcost" capture p.ini -o hopeless
ok "capture ends after three runs if all have failed" test "$(runs hopeless | wc -l)" = 3
ok "the error reports the runs that were not tried" says 'no run of 3 succeeded, so the others were not tried; remove the cause, then run the same command again' err

# These two wait for the end of a time, beside the captures that follow.
patience=3 plan 'never=sh -c "sleep 60; : never-ready"' 'good=sleep 60' | sed '/^before\|^after/d' >h.ini
"$zcost" capture h.ini -o h 2>h.err &
h=$!
# The receiver has 5 s of grace, because it ends after the sender.
plan 'never=sh -c "sleep 60; : never-done"' 'good=sleep 60' | sed 's/^stop_timeout.*/stop_timeout = 0.5/; /^before\|^after/d' >i.ini
"$zcost" capture i.ini -o i 2>i.err &
i=$!
plan 'gone=sh -c "sleep 60; : crash-collect"' 'good=sleep 60' >p.ini
ok "capture exits 4 when a zcost collect is killed" exits 4 "$zcost" capture p.ini -o j
ok "the run of a killed zcost collect fails" says 'gone/measure-01 failed 3 times: receiver: zcost collect was killed by signal 9' err
duration=100 plan 'early=sh -c "sleep 0.4; exit 1"' 'good=true' >p.ini
ok "a side that dies early does not hold up the other" exits 1 timeout 90 "$zcost" capture p.ini -o k
plan 'a=sh -c "sleep 60; : lossy"' >p.ini
ok "capture exits 4 when a collector loses data" exits 4 "$zcost" capture p.ini -o l
ok "a warning names the collector that loses data" says 'receiver: collector cpu is degraded: as it was told' err
ok "a run with lost data is ok" test "$(runs l)" = 'a/measure-1 ok'

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
sed 's/has terminated/& by signal Terminated(15)/' cut.json >new.json # since iperf 3.19
{ # iperf3 --json-stream --json-stream-full-output
	echo '{"event": "start", "data": {}}'
	echo '{"event": "interval", "data": {"sum": {"end": 1, "bytes": 9}}}'
	cat cut.json
} >full.json
echo "no words" >words
working() { # working UNITS FILE: a plan of a receiver that prints FILE and, without a sender, is stopped after the window
	plan "a=sh -c 'cat $scratch/$2; echo of it >&2; sleep 60'" |
		sed "/^\[side sender\]/d; /^units = none/d; /^sender = /d; s/^cpus = 0/units = $1\ncollect = null/"
}
unset ZCOST_COLLECT # zcost collect itself looks for the work
working tcpzc talk >p.ini
rm -rf r
ok "an error line in the output fails the run" exits 1 "$zcost" capture p.ini -o r
ok "the reason quotes the error that the workload reports" says \
	'failed 3 times: receiver: the workload reports an error: "connect: Connection refused"$' err
ok "the manifest marks the run with a reported error as failed" test "$(runs r)" = 'a/measure-1 failed'
working tcpzc busy >p.ini
ok "capture repeats the run with a reported error" exits 1 "$zcost" capture p.ini -o r
rm -rf r
ok "capture succeeds when the workload's output has some work" exits 0 "$zcost" capture p.ini -o r
while read -r units file rc why; do
	working "$units" "$file" >p.ini
	rm -rf r
	ok "capture exits $rc when units = $units print $file" exits "$rc" "$zcost" capture p.ini -o r
	[ -z "$why" ] || ok "the error for units = $units and $file gives the reason" says "$why" err
done <<'EOT'
tcpzc silent 1 the workload did nothing: there is no work in its output \(units = tcpzc\): "of it"
tcpzc words 1 the workload did nothing
iperf3 refused.json 1 reports an error: "unable to connect to server: Connection refused"
iperf3 words 1 no work was counted \(units = iperf3\): workload.out:1: not JSON .*run iperf3 with -J: "of it"
iperf3 cut.json 0
iperf3 new.json 0
iperf3 full.json 0
nic:lo words 1 --units nic:lo needs the collector 'nic': add it to --collect
pps words 1 no work was counted \(units = pps\): workload.out: no line with a rate in it: "of it"
EOT
export ZCOST_COLLECT=$tests/fake/collect

duration=0.5 plan 'a=sh -c "sleep 60; : late-503"' >p.ini
rm -rf r
ok "capture exits 1 when the sides' windows do not overlap" exits 1 "$zcost" capture p.ini -o r
ok "the error has the distance between the windows" says "a/measure-01 failed 3 times: the sides' windows do not overlap: the \
receiver's began 503.0 ms after the sender's, which was 500.0 ms long" err
ok "windows that do not overlap fail after three tries" test "$(grep -c '^zcost: a/measure-01: trying again: .*not overlap' err)" = 2
duration=0.5 plan 'a=sh -c "sleep 60; : late-26"' >p.ini
ok "capture exits 1 when the windows are more than 5 % apart" exits 1 "$zcost" capture p.ini -o far
ok "the error has the distance in ms and in percent" says "a/measure-01 failed 3 times: the sides' windows are 26.0 ms apart, 5.2 % of the \
shorter one's 0.5 s \(at most 5 %\): the cost of one does not belong to the bytes of the other$" err
ok "windows that are too far apart fail after three tries" test "$(grep -c ': trying again' err)" = 2
duration=0.5 plan 'a=sh -c "sleep 60; : late-26-once"' >p.ini
ok "capture succeeds when the second try has good windows" exits 0 env FAKE_ONCE="$scratch/done-once" "$zcost" capture p.ini -o once
ok "a message reports that the run was tried again" test "$(grep -c ': trying again' err)" = 1
ok "the manifest has the checksum of every file after a second try" sums once
ok "the manifest has why the first try failed" jq -e '.runs[0] | .status == "ok" and (.retried | length == 1 and (.[0] | test("26.0 ms apart")))' once/manifest.json
ok "the manifest says nothing of tries where the first one succeeded" jq -e '.runs[0] | has("retried") | not' l/manifest.json
repeats=2 plan 'bad=sh -c "sleep 60; : early-50"' 'good=sleep 60' >p.ini
rm -rf tries
ok "capture exits 4 when a variant's command always ends early" exits 4 "$zcost" capture p.ini -o tries
ok "only the first run of a variant and pass that always fails is tried again" sh -c "grep -c 'bad/measure-01: trying again' err && ! grep 'bad/measure-02: trying again' err"
duration=0.5 plan 'a=sh -c "sleep 60; : early-300"' >p.ini
ok "capture exits 1 when a command ends before the other's window" exits 1 "$zcost" capture p.ini -o alone
ok "the error says how far the windows are apart" says "failed 3 times: the sides' windows are 300.0 ms apart, 150.0 % " err
ok "a command that ends before the other's window fails after three tries" test "$(grep -c ': trying again' err)" = 2
duration=0.5 plan 'a=sh -c "sleep 60; : late-24"' >p.ini
ok "capture accepts windows that are less than 5 % apart" exits 0 "$zcost" capture p.ini -o rr

plan 'a=sh -c "sleep 60; : lossy"' >p.ini
sed 's/cpus = 0/collect = bogus/' p.ini >q.ini
ok "capture exits 2 on a collector that collect does not know" exits 2 "$zcost" capture q.ini -o m
ok "the error quotes collect's message about the unknown collector" says "receiver: zcost collect does not accept what the plan says: .*unknown \
collector 'bogus'" err
plan 'a=sleep 60' | sed 's/^before = .*/before = echo setting up; exit 5/' >p.ini
rm -f hooks
ok "capture exits 1 when the plan's 'before' fails" exits 1 "$zcost" capture p.ini -o n
ok "the error names the 'before' and its exit status" says "the plan's 'before' exited with status 5: echo setting up; exit 5" err
ok "the plan's 'after' runs when its 'before' fails" test "$(cat hooks)" = after
plan 'a=sleep 60' | sed 's/^after = .*/after = exit 6/' >p.ini
ok "capture exits 1 when the plan's 'after' fails" exits 1 "$zcost" capture p.ini -o o
ok "the error names the 'after' and its exit status" says "the plan's 'after' exited with status 6" err
ok "the run before a failed 'after' is ok" test "$(runs o)" = 'a/measure-1 ok'

if [ "$(id -u)" = 0 ]; then
	plan 'a=sleep 60' >p.ini
	ok "capture succeeds under sudo" exits 0 env SUDO_UID=65534 SUDO_GID=65534 "$zcost" capture p.ini -o s
	ok "under sudo the capture belongs to the calling user" test -z "$(find s ! -uid 65534 -o ! -gid 65534)"
	plan 'a=sleep 60' | sed 's/^after = .*/after = exit 6/' >p.ini
	ok "capture exits 1 under sudo when the plan's 'after' fails" exits 1 env SUDO_UID=65534 SUDO_GID=65534 "$zcost" capture p.ini -o u
	ok "under sudo the runs before the error belong to the calling user" test -s u/runs/a/measure-01/receiver/run.json -a -z "$(find u ! -uid 65534 -o ! -gid 65534)"
else
	skip "under sudo the capture belongs to the calling user" "needs root"
fi

wait $h
ok "capture exits 4 when a side is never ready" is $? 4
ok "a side that is never ready fails after start_timeout" says 'never/measure-01 failed 3 times: receiver: not ready after 3 s' h.err
wait $i
ok "capture exits 4 when a side never ends" is $? 4
ok "a side that never ends fails after its grace time and stop_timeout" says 'never/measure-01 failed 3 times: receiver: still not done 5.5 s after .*, while measuring$' i.err

# The fake sender is ready when it has written to its standard error.
slow="sh -c 'sleep 1.5; echo ready >\&2; sleep 60'"
repeats=2 patience=8 plan 'a=sh -c "echo ${seconds}; exec sleep 60"' | sed "s/^sender = .*/sender = $slow/" >p.ini
ok "a plan with \${seconds} and a sender that starts late runs" exits 0 "$zcost" capture p.ini -o seconds
seconds() { cat seconds/runs/a/measure-0$1/receiver/workload.out; }
ok "\${seconds} is the warm-up, the window and a margin in whole seconds" test "$(seconds 1)" = 3
ok "in the next run \${seconds} has the time of the late start, but not more than start_timeout" \
	test "$(seconds 2)" -ge 4 -a "$(seconds 2)" -le 11
ok "a dry run shows the seconds" exits 0 "$zcost" capture p.ini --dry-run
ok "a dry run has no \${seconds}" says 'receiver .*echo 3; exec sleep 60' out

FAKE_LOG=$scratch/log2
ok "capture wraps a command without a plan" exits 0 "$zcost" capture -o w --variant base --repeat 2 --pass measure \
	--cpus 0 --duration 0.1 -- sleep 60
ok "a capture of a wrapped command has one side" jq -e '.sides == ["local"] and .complete' w/manifest.json
ok "a capture of a wrapped command has no plan.ini" test ! -e w/plan.ini
ok "capture wraps a command without --duration" exits 0 "$zcost" capture -o w --variant 'short' --repeat 1 \
	--pass measure -- sh -c 'sleep 1'
ok "without --duration the window has no end" says 'short/measure-1 local [0-9]+ 0$' log2
ok "several wrapped commands share one capture" test "$(runs w | tr '\n' ' ')" = \
	"base/measure-1 ok base/measure-2 ok short/measure-1 ok "
ok "the manifest has the checksum of every file of wrapped commands" sums w
ok "another command under the same variant name is refused" exits 1 "$zcost" capture -o w --variant base \
	--repeat 2 --pass measure --cpus 0 --duration 0.1 -- sleep 61
ok "the error names the command that differs" says "variant 'base' was measured with local.command = 'sleep 60'" err

# The real collector: a note reports commands that end before the window, once, and their runs are ok.
unset ZCOST_COLLECT
ok "capture accepts commands that end before the window does" exits 0 "$zcost" capture -o early --variant a --repeat 2 --pass measure \
	--collect null --duration 30 -- sleep 0.5
ok "a note has the requested and the actual length of the window" says '^zcost: a/measure-01: local: the command ended after 0?[.0-9]+ s of the window.s 30 s; let it run longer, or set a shorter duration$' err
ok "the note about short windows appears once" test "$(grep -c "of the window's" err)" = 1
ok "runs with short windows are ok" test "$(runs early | tr '\n' ' ')" = "a/measure-1 ok a/measure-2 ok "
"$zcost" analyze early >log 2>&1
ok "report warns of both runs with short windows" sh -c "'$zcost' report runs early 2>&1 | grep -q 'warning: .*[(]2 runs, first measure-01.*of the 30 s of the window'"
done_testing
