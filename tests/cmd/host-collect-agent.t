#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `zcost collect --agent`, what a capture has on another host: its language, its folder, and that it
# leaves nothing behind.
. "$(dirname "$0")/../lib.sh"
command -v jq >/dev/null || skip_all "needs jq"
TMPDIR=$scratch/tmp
export TMPDIR
mkdir tmp
tag=63.$$ # nobody else's sleep has this length

agent() { # agent KEY: what it is told comes on standard input
	"$zcost" collect --agent "$1"
}

wait_for() { # wait_for COMMAND...: within ten seconds
	n=0
	while ! "$@" >/dev/null 2>&1; do
		n=$((n + 1))
		[ $n -lt 200 ] || return 1
		sleep 0.05
	done
}

alive() { # by what is found: grep fails where a process ends while it looks
	[ -n "$(grep -lzs "^$tag\$" /proc/[0-9]*/cmdline)" ]
}

gone() {
	! alive
}

answers() { # answers N: so many were given whole
	[ "$(grep -cx end raw)" -ge "$1" ]
}

agent k </dev/null >out
ok "says what it is" jq -e --arg f "$scratch/tmp/zcost-k" '.zcost and .host and .boot_id and .exe and
	.folder == $f and (.paranoid | type == "number") and (.caps | test("^[0-9a-f]+$"))' out
ok "removes its folder when it hears no more" test ! -e tmp/zcost-k

{ echo clock; echo clock; } | agent k >out
ok "tells the time" awk '/^clock/ { n++; bad += !($2 > last && $3 >= $2); last = $3 }
	END { exit n != 2 || bad }' out

{
	wait_for grep -q zcost raw
	mkdir -p tmp/zcost-k/run/sub
	printf 'one\n' >tmp/zcost-k/run/a
	printf 'two' >'tmp/zcost-k/run/sub/b c'
	: >tmp/zcost-k/run/half.tmp.12
	ln -s /etc/passwd tmp/zcost-k/run/link
	echo send run; echo news run; echo news run
	wait_for answers 3
	echo more >>tmp/zcost-k/run/a
	printf '%s\n' 'news run' forget 'news run' 'drop run' 'send run' 'send ../zcost-k' 'send /etc' bogus
} | agent k >raw
sed 1d raw >out
a="file 4 a
one
sum $(echo one | sha256sum | cut -d' ' -f1)"
b="file 3 sub/b c
twosum $(printf two | sha256sum | cut -d' ' -f1)"
a2="file 9 a
one
more
sum $(printf 'one\nmore\n' | sha256sum | cut -d' ' -f1)"
printf '%s\n' "$a" "$b" end "$a" "$b" end end "$a2" end "$a2" "$b" end dropped end \
	'failed not understood: send ../zcost-k' 'failed not understood: send /etc' \
	'failed not understood: bogus' >want
ok "sends files with sums, new ones alone where asked" diff want out

mkdir -p tmp/zcost-k/run
agent k </dev/null >out
ok "what an agent that was killed has left is no hindrance" grep -q folder out
ok "  and goes with it" test ! -e tmp/zcost-k

mkfifo steer in
agent k <steer >out &
agent_pid=$!
exec 3>steer 4<>in
wait_for test -d tmp/zcost-k
"$zcost" collect --sync --hold tmp/zcost-k -o tmp/zcost-k/run --collect null -- sleep $tag <in >said 2>&1 4>&- &
wait_for grep -q ready said
kill -STOP $!
echo sweep >&3
ok "a run that is stopped" alive
wait_for grep -q swept out
ok "  is swept away" grep -qx 'swept 0' out
ok "  with its workload" gone
"$zcost" collect --sync --hold tmp/zcost-k -o tmp/zcost-k/run --collect null -- sleep $tag <in >said 2>&1 4>&- &
wait_for grep -q ready said
echo 'patience 0.5' >&3
ok "silence, while a run goes on," wait_for sh -c "! kill -0 $agent_pid"
ok "  is its end" gone
ok "  and the agent's" test ! -e tmp/zcost-k
exec 3>&- 4>&-
wait

mkdir elsewhere
echo kept >elsewhere/file
ln -s ../elsewhere tmp/zcost-k
ok "a link in the folder's place" exits 1 agent k
ok "  is refused" says "tmp/zcost-k: is there, and is not ours: remove it, or set TMPDIR" err
ok "  what it names is not touched" test "$(cat elsewhere/file)" = kept
TMPDIR=$scratch/nonesuch
ok "no place for the folder" exits 1 agent k
ok "  is told" says 'nonesuch/zcost-k: cannot make the folder for runs: No such file' err
done_testing
