#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `zcost collect --agent`, the part of a capture on another host: its commands, its folder, and that it leaves
# no file and no process behind.
. "$(dirname "$0")/../lib.sh"
need jq
TMPDIR=$scratch/tmp
export TMPDIR
mkdir tmp
tag=63.$$ # no other process sleeps this long

agent() { # agent KEY: reads its commands from standard input
	"$zcost" collect --agent "$1"
}

alive() { # judges by grep's output: grep fails when a process ends while it looks
	[ -n "$(grep -lzs "^$tag\$" /proc/[0-9]*/cmdline)" ]
}

gone() {
	! alive
}

answers() { # answers N: the agent has sent N complete answers
	[ "$(grep -cx end raw)" -ge "$1" ]
}

agent k </dev/null >out
ok "the agent's first line has its host, version, capabilities and folder" jq -e --arg f "$scratch/tmp/zcost-k" '.zcost and .host and .boot_id and .exe and
	.folder == $f and (.paranoid | type == "number") and (.caps | test("^[0-9a-f]+$"))' out
ok "the agent removes its folder when its input ends" test ! -e tmp/zcost-k

on_full_disk() {
	! agent k </dev/null 2>err >/dev/full && test "$(cat err)" = "zcost: standard output: No space left on device"
}
ok "the agent gives the reason why its first line cannot be written" on_full_disk

{ echo clock; echo clock; } | agent k >out
ok "the agent answers 'clock' with two ordered timestamps" awk '/^clock/ { n++; bad += !($2 > last && $3 >= $2); last = $3 }
	END { exit n != 2 || bad }' out

{
	soon grep -q zcost raw
	mkdir -p tmp/zcost-k/run/sub
	printf 'one\n' >tmp/zcost-k/run/a
	printf 'two' >'tmp/zcost-k/run/sub/b c'
	: >tmp/zcost-k/run/half.tmp.12
	ln -s /etc/passwd tmp/zcost-k/run/link
	echo send run; echo news run; echo news run
	soon answers 3
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
ok "the agent sends files with checksums, and with 'news' only files that changed" diff want out

mkdir -p tmp/zcost-k/run
agent k </dev/null >out
ok "an agent that was killed leaves nothing that hinders the next one" grep -q folder out
ok "the next agent removes the folder of a killed one" test ! -e tmp/zcost-k

mkfifo steer in
agent k <steer >out &
agent_pid=$!
exec 3>steer 4<>in
soon test -d tmp/zcost-k
"$zcost" collect --sync --mark $PWD/tmp/zcost-k -o tmp/zcost-k/run --collect null -- sleep $tag <in >said 2>&1 4>&- &
soon grep -q ready said
kill -STOP $!
ok "the workload of a stopped collect runs before 'sweep'" alive
echo sweep >&3
soon grep -q swept out
ok "'sweep' ends a run with a stopped collect" grep -qx 'swept 0' out
ok "'sweep' ends the workload of a stopped collect" gone
"$zcost" collect --sync --mark $PWD/tmp/zcost-k -o tmp/zcost-k/run --collect null -- sleep $tag <in >said 2>&1 4>&- &
soon grep -q ready said
echo 'patience 0.5' >&3
ok "the agent ends when its input is silent during a run" soon sh -c "! kill -0 $agent_pid"
ok "the run ends when the agent's input is silent" gone
ok "the agent removes its folder when its input is silent" test ! -e tmp/zcost-k
exec 3>&- 4>&-
wait

# Another user who holds the folder open, which needs no right, or who has its name on the command line.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 . tmp
	mkdir tmp/zcost-k # of an agent that was killed
	setpriv --reuid 65534 --regid 65534 --clear-groups perl -e '
		use Fcntl;
		sysopen my $folder, $ARGV[0], 0x200000 or exit 1; # O_PATH
		$| = 1;
		print "held\n";
		sleep 60' "$PWD/tmp/zcost-k" >holder 2>&1 &
	holder=$!
	soon grep -q held holder
	ok "another user can hold the agent's folder open" readlink /proc/$holder/fd/*
	echo sweep | agent k >out
	ok "the agent ends when another user holds the folder of a killed agent" grep -qx 'swept 0' out
	ok "the agent ends no process of another user who holds its folder" kill -0 $holder
	kill $holder
else
	skip "the agent ends no process of another user who holds its folder" "needs root and setpriv"
fi

mkdir elsewhere
echo kept >elsewhere/file
ln -s ../elsewhere tmp/zcost-k
ok "the agent exits 1 when a symbolic link is in place of its folder" exits 1 agent k
ok "the error names the link and TMPDIR" says "tmp/zcost-k: exists and is not a folder of this user: remove it, or set TMPDIR" err
ok "the agent changes no file in the link's target" test "$(cat elsewhere/file)" = kept
TMPDIR=$scratch/nonesuch
ok "the agent exits 1 when it cannot make its folder" exits 1 agent k
ok "the error names the folder and the reason" says 'nonesuch/zcost-k: cannot make the folder for runs: No such file' err
done_testing
