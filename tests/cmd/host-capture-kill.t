#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Interrupted and killed captures: no process stays behind, and no finished run is lost.
. "$(dirname "$0")/../lib.sh"
ZCOST_COLLECT=$tests/fake/collect
FAKE_LOG=$scratch/log
FAKE_HOLD=$scratch/hold
export ZCOST_COLLECT FAKE_LOG FAKE_HOLD
need jq

tag=61.$$ # no other process sleeps this long
cat >p.ini <<EOF2
[plan]
seed = 2
repeats = 2
passes = measure
warmup = 0.05
duration = 0.3
before = echo before >>hooks
after = echo after >>hooks
[side receiver]
[side sender]
[variant a]
receiver = sleep $tag
sender = sleep $tag
[variant b]
receiver = sleep $tag
sender = sleep $tag
EOF2

nothing_runs() {
	[ -z "$(grep -lzs "^$tag\$" /proc/[0-9]*/cmdline)" ] # grep itself fails when a process ends while it looks
}

launch() { # launch CAPTURE RUN [OPTION...]: starts zcost as $pid; RUN lasts until stop_with
	rm -f log hooks
	: >log
	echo "$2" >hold
	into=$1
	shift 2
	"$zcost" capture p.ini -o "$into" "$@" 2>err &
	pid=$!
}

started() { # started N: N sides have started
	[ "$(wc -l <log)" -ge "$1" ]
}

stop_with() { # stop_with SIGNAL: sets $code to the exit status
	kill -"$1" $pid
	wait $pid 2>/dev/null
	code=$?
	rm hold
}

whole() { # the manifest lists exactly the run folders, all ok
	jq -r '.runs[] | "\(.variant)/\(.pass)-0\(.repeat)"' "$1/manifest.json" | sort >listed
	(cd "$1/runs" && find . -mindepth 2 -maxdepth 2 | sed 's,^\./,,' | sort) >there
	diff listed there && jq -e '[.runs[].status] | all(. == "ok")' "$1/manifest.json"
}

for sig in INT TERM HUP; do
	launch c$sig b/measure-1
	ok "the second run begins before SIG$sig" soon started 3
	stop_with $sig
	ok "capture exits 1 on SIG$sig" test "$code" = 1
	ok "after SIG$sig the message names what is safe and how to go on" says \
		"interrupted: 1 run was added to c$sig; run the same command again to go on" err
	ok "SIG$sig leaves no process running" soon nothing_runs
	ok "the plan's 'after' runs on SIG$sig" test "$(tr '\n' ' ' <hooks)" = "before after "
	ok "after SIG$sig the manifest and the run folders agree" whole c$sig
	ok "SIG$sig leaves no other file in the capture" test "$(ls -A c$sig | tr '\n' ' ')" = \
		"hosts manifest.json plan.ini runs "
done
ok "the same command continues an interrupted capture" exits 0 "$zcost" capture p.ini -o cINT
ok "a continued capture reports how many runs exist already" says 'cINT: 1 of 4 runs exist already' err
ok "a continued capture completes all runs" jq -e '.complete and (.runs | length == 4)' cINT/manifest.json
ok "the manifest and the run folders of a continued capture agree" whole cINT

launch cINT a/measure-3 --repeat 3
ok "more repeats of a complete capture begin" soon started 1
ok "a complete capture is incomplete while more repeats are made" jq -e '.complete | not' cINT/manifest.json
stop_with TERM

trap '' HUP # as nohup does
launch n a/measure-1
trap - HUP
ok "a capture begins that ignores SIGHUP" soon started 1
kill -HUP $pid
rm hold
ok "a capture that ignores SIGHUP, as below nohup, goes on to its end" wait $pid

launch d a/measure-1
ok "the first capture begins its run" soon started 1
ok "a second capture in the same folder exits 1" exits 1 "$zcost" capture p.ini -o d
ok "the error says that another capture is at work" says "d: another zcost capture is at work here; wait for it" err
ok "the error about a busy folder does not suggest --undo" test "$(grep -c undo err)" = 0
ok "capture --undo in a busy folder exits 1" exits 1 "$zcost" capture --undo -o d
ok "the error of --undo in a busy folder is one line" test "$(wc -l <err)" = 1
ok "a refused second capture does not disturb the first" grep -q '^State:.[^Z]' /proc/$pid/status
stop_with TERM

for when in 1 3; do
	[ $when = 1 ] && launch k1 a/measure-1 || launch k3 b/measure-1
	ok "$when sides start before SIGKILL" soon started $when
	stop_with KILL
	ok "a capture killed after $when sides leaves no process running" soon nothing_runs
	mkdir -p k$when/runs/a/profile-07 k$when/runs/a/notes # a run that no manifest lists, and a user's folder
	: >k$when/manifest.json.tmp.1
	mkdir elsewhere
	ok "the same plan continues the killed capture from another folder ($when sides)" exits 0 env -C elsewhere "$zcost" capture ../p.ini -o ../k$when
	cat elsewhere/hooks >>hooks # hooks run in the current folder, which differs between the two captures
	rm -r elsewhere
	ok "the continued capture keeps a user's folder ($when sides)" rmdir k$when/runs/a/notes
	ok "the continued capture removes a partly written manifest ($when sides)" test ! -e k$when/manifest.json.tmp.1
	ok "the continued capture first undoes what the killed one set up ($when sides)" test "$(tr '\n' ' ' <hooks)" = \
		"before after before after "
	ok "the continued capture reports that it undoes an earlier one ($when sides)" says "an earlier capture here was killed, or an 'after' failed: undoing" err
	ok "the continued capture completes all runs ($when sides)" jq -e '.complete and (.runs | length == 4)' k$when/manifest.json
	ok "the manifest and the run folders agree after the restart ($when sides)" whole k$when
done

sed "s/^sender = .*/sender = sh -c 'sleep $tag; : slow-stop'/; /variant b/,\$ d" p.ini >slow.ini
mv slow.ini p.ini
launch s a/measure-1
ok "two sides start before SIGKILL, one of which ends slowly" soon started 2
stop_with KILL
ok "the same command continues a capture with a side that ends slowly" exits 0 "$zcost" capture p.ini -o s
ok "the continued capture starts after the slow side has ended" sh -c "sed -n 3p log | grep stopped"

echo '{"schema_version": 1, "runs"' >k1/manifest.json
ok "capture exits 1 on a damaged manifest" exits 1 "$zcost" capture p.ini -o k1
ok "the error about a damaged manifest names the file and another -o" says 'k1/manifest.json:.: damaged: .*give another -o' err
echo '{"schema_version": 7}' >k1/manifest.json
ok "capture exits 1 on a manifest with an unknown schema_version" exits 1 "$zcost" capture p.ini -o k1
ok "the error names the unknown schema_version" says 'k1/manifest.json: schema_version 7 is not known' err
done_testing
