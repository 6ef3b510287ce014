#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The network between a capture and its side's host is cut: neither end sees a connection close, because all packets
# are lost. The remote processes end without help.
. "$(dirname "$0")/../lib.sh"
. "$tests/ssh.sh"
need jq
ssh_world || skip_all "no namespaces, or no sshd, here: $(tail -n 1 sshd.log)"

tag=64.$$ # no other process sleeps this long
mkdir opt here
cp "$zcost" opt/

plan() { # plan [COMMAND]
	cat <<-EOT
		[plan]
		ssh = ssh -F $scratch/ssh_config -o ServerAliveInterval=2
		repeats = 2
		passes = measure
		warmup = 0.1
		duration = ${duration:-60}
		grace = 0.1
		start_timeout = ${start:-60}
		stop_timeout = 2
		[side receiver]
		host = ssh://root@192.0.2.2:2222
		zcost = $scratch/opt/zcost
		collect = ${collect:-null}
		units = none
		[variant a]
		receiver = ${1:-sleep $tag}
	EOT
}

launch() { # launch PLAN CAPTURE: starts zcost as $pid
	env TMPDIR="$scratch/here" ip netns exec $here "$zcost" capture "$1" -o "$2" >out 2>err &
	pid=$!
}

running() { # running CAPTURE REPEAT: the remote workload of that run runs
	[ -d "$1/runs/a/.measure-0$2.tmp" ] && [ -n "$(pids_there "^sleep $tag")" ]
}

# Only sshd stays, until TCP times out or its ClientAliveInterval passes.
nothing_there() {
	for p in $(pids_there .); do
		tr '\0' ' ' 2>/dev/null <"/proc/$p/cmdline" | grep -v '^sshd' && return 1
	done
	[ -z "$(ls -A tmp)" ]
}

cut() {
	ip -n $here link set a$$ down
}

mend() {
	ip -n $here link set a$$ up
}

runs() { # runs CAPTURE: "1 ok 2 failed "
	jq -r '.runs | sort_by(.repeat)[] | "\(.repeat) \(.status)"' "$1/manifest.json" | tr '\n' ' '
}

start=4 plan >p.ini
launch p.ini c
ok "the remote workload runs before the network is cut" soon running c 1
cut
ok "the remote processes end and their folder vanishes after the cut" soon nothing_there
wait $pid
ok "capture exits 1 when it cannot reach the host again for start_timeout" test $? = 1
ok "the run in the cut does not count" test "$(runs c)" = ""
ok "a message reports that the connection broke in the cut" says 'a/measure-01: trying again: receiver: .*(connection broke|no answer)' err
ok "the error reports that the host cannot be reached" says 'ssh://root@192.0.2.2:2222: (cannot connect|not reached)' err
ok "capture leaves no file in the local TMPDIR" test -z "$(ls -A here)"
mend

# A host that boots cannot be reached for a while, and then has another boot id.
duration=2 collect=host plan >q.ini
launch q.ini d
ok "the remote workload of the second run runs before the host vanishes" soon running d 2
cut
ok "a message reports that capture connects again" soon says '2222: connecting again' err
echo "1badc0de-0000-4000-8000-$(printf %012d $$)" >boot_id
sleep 2 # the first tries fail
mend
wait $pid
ok "capture goes on when the host is back" test $? = 0
ok "both runs are ok when the host is back" test "$(runs d)" = "1 ok 2 ok "
ok "a message reports that the host has booted" says '2222: the host has booted' err
ok "the runs before and after the boot name two hosts" sh -c '
	[ "$(jq -r .boot_id d/hosts/*/host.json | cut -c1-8 | sort | tr "\n" " ")" = "0badc0de 1badc0de " ] &&
	[ "$(jq -r .host d/runs/a/measure-0?/receiver/run.json | sort -u | wc -l)" = 2 ]'

# --- the agent alone: without a run, and while it sends files ---

TMPDIR=$scratch/tmp
export TMPDIR
agent_gone() {
	! kill -0 $agent_pid && [ ! -e tmp/zcost-k ]
}

mkfifo steer out.fifo
"$zcost" collect --agent k <steer >said &
agent_pid=$!
exec 3>steer
soon test -s said
echo 'patience 0.2 1' >&3
ok "the agent ends when its input is silent" soon agent_gone
exec 3>&-
wait $agent_pid
ok "the agent exits 0 when its input is silent" test $? = 0

"$zcost" collect --agent k <steer >out.fifo &
agent_pid=$!
exec 3>steer 4<out.fifo
soon test -d tmp/zcost-k
mkdir tmp/zcost-k/run
head -c 1000000 /dev/zero >tmp/zcost-k/run/perf.data
printf 'patience 0.5\nsend run\n' >&3
ok "the agent ends when its output is not read" soon agent_gone
wait $agent_pid
ok "the agent exits 0 and removes its folder when its output is not read" test $? = 0 -a -z "$(ls -A tmp)"
exec 3>&- 4<&-
done_testing
