#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Interrupted and killed captures: nothing is left running, nothing measured is lost.
. "$(dirname "$0")/../lib.sh"
ZCOST_COLLECT=$tests/fake/collect
FAKE_LOG=$scratch/log
FAKE_HOLD=$scratch/hold
export ZCOST_COLLECT FAKE_LOG FAKE_HOLD
command -v jq >/dev/null || skip_all "needs jq"

tag=61.$$ # nobody else's sleep has this length
cat >p.ini <<EOF2
[plan]
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

nothing_runs() { # within ten seconds
	i=0
	while grep -lzs "^$tag\$" /proc/[0-9]*/cmdline; do
		i=$((i + 1))
		[ $i -lt 200 ] || return 1
		sleep 0.05
	done
}

launch() { # launch CAPTURE RUN: $pid is zcost itself; that run lasts until it is stopped
	rm -f log hooks
	: >log
	echo "$2" >hold
	"$zcost" capture p.ini -o "$1" 2>err &
	pid=$!
}

until_run() { # until_run N: so many sides have been let go
	i=0
	while [ "$(wc -l <log)" -lt "$1" ]; do
		i=$((i + 1))
		[ $i -lt 400 ] || return 1
		sleep 0.05
	done
}

stop_with() { # stop_with SIGNAL: leaves the exit status in $code
	kill -"$1" $pid
	wait $pid 2>/dev/null
	code=$?
	rm hold
}

whole() { # the manifest and what lies there agree
	jq -r '.runs[] | "\(.variant)/\(.pass)-0\(.repeat)"' "$1/manifest.json" | sort >listed
	(cd "$1/runs" && find . -mindepth 2 -maxdepth 2 | sed 's,^\./,,' | sort) >there
	diff listed there && jq -e '[.runs[].status] | all(. == "ok")' "$1/manifest.json"
}

for sig in INT TERM HUP; do
	launch c$sig b/measure-1
	ok "SIG$sig in the second run" until_run 3
	stop_with $sig
	ok "  exits 1" test "$code" = 1
	ok "  says what is kept, and how to go on" says \
		"interrupted: 1 run was added to c$sig and is safe; run the same command again to go on" err
	ok "  leaves nothing running" nothing_runs
	ok "  runs after" test "$(tr '\n' ' ' <hooks)" = "before after "
	ok "  the capture holds together" whole c$sig
	ok "  nothing else is left" test "$(ls -A c$sig | tr '\n' ' ')" = \
		"hosts manifest.json plan.ini runs "
done
ok "again: goes on" exits 0 "$zcost" capture p.ini -o cINT
ok "  with what is missing" says 'cINT: 1 of 4 runs are there already' err
ok "  to the end" jq -e '.complete and (.runs | length == 4)' cINT/manifest.json
ok "  the capture holds together" whole cINT

launch d a/measure-1
ok "a capture at work" until_run 1
ok "another one in its folder" exits 1 "$zcost" capture p.ini -o d
ok "  is refused" says "d: another zcost capture \(pid $pid\) is at work here; wait for it" err
ok "  and is not sent to --undo, which would not be for it" test "$(grep -c undo err)" = 0
ok "--undo there is refused alike" exits 1 "$zcost" capture --undo -o d
ok "  in one line" test "$(wc -l <err)" = 1
stop_with TERM
ok "  the first one is not disturbed" test "$code" = 1

for when in 1 3; do
	[ $when = 1 ] && launch k1 a/measure-1 || launch k3 b/measure-1
	ok "killed outright, $when sides on" until_run $when
	stop_with KILL
	ok "  leaves nothing running" nothing_runs
	mkdir -p k$when/runs/a/profile-07 k$when/runs/a/notes # a run nobody names, a user's own
	: >k$when/manifest.json.tmp.1
	mkdir elsewhere
	ok "  again, from another folder: goes on" exits 0 env -C elsewhere "$zcost" capture ../p.ini -o ../k$when
	cat elsewhere/hooks >>hooks # where it ran its own; the killed one's stood where that had been
	rm -r elsewhere
	ok "  leaves what is not its own" rmdir k$when/runs/a/notes
	ok "  removes what was half done" test ! -e k$when/manifest.json.tmp.1
	ok "  undoes first what it had set up" test "$(tr '\n' ' ' <hooks)" = \
		"before after before after "
	ok "  says so" says "an earlier capture here was killed, or an 'after' failed: undoing" err
	ok "  to the end" jq -e '.complete and (.runs | length == 4)' k$when/manifest.json
	ok "  the capture holds together" whole k$when
done

sed "s/^sender = .*/sender = sh -c 'sleep $tag; : slow-stop'/; /variant b/,\$ d" p.ini >slow.ini
mv slow.ini p.ini
launch s a/measure-1
ok "killed outright, with a side that ends slowly" until_run 2
stop_with KILL
ok "  again: goes on" exits 0 "$zcost" capture p.ini -o s
ok "  when that side has ended" sh -c "sed -n 3p log | grep stopped"

echo '{"schema_version": 1, "runs"' >k1/manifest.json
ok "a damaged manifest" exits 1 "$zcost" capture p.ini -o k1
ok "  says where, and the way out" says 'k1/manifest.json:.: damaged: .*give another -o' err
echo '{"schema_version": 7}' >k1/manifest.json
ok "a manifest of the future" exits 1 "$zcost" capture p.ini -o k1
ok "  is told" says 'k1/manifest.json: schema_version 7 is not known' err
done_testing
