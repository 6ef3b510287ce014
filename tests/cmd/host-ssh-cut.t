#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The network between a capture and its side's host is cut: no end of anything is heard on either side,
# packets only vanish. What was started over there ends by itself.
. "$(dirname "$0")/../lib.sh"
. "$tests/ssh.sh"
command -v jq >/dev/null || skip_all "needs jq"
ssh_world || skip_all "no namespaces, or no sshd, here: $(tail -n 1 sshd.log)"

tag=64.$$ # nobody else's sleep has this length
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
		start_timeout = 4
		stop_timeout = 2
		[side receiver]
		host = ssh://root@192.0.2.2:2222
		zcost = $scratch/opt/zcost
		collect = null
		units = none
		[variant a]
		receiver = ${1:-sleep $tag}
	EOT
}

launch() { # launch PLAN CAPTURE: $pid is zcost itself
	env TMPDIR="$scratch/here" ip netns exec $here "$zcost" capture "$1" -o "$2" >out 2>err &
	pid=$!
}

soon() { # soon SECONDS COMMAND...
	n=0
	most=$(($1 * 20))
	shift
	while ! "$@" >/dev/null 2>&1; do
		n=$((n + 1))
		[ $n -lt $most ] || return 1
		sleep 0.05
	done
}

running() { # running CAPTURE REPEAT: the workload of that run is at work over there
	[ -d "$1/runs/a/.measure-0$2.tmp" ] && [ -n "$(pids_there "^sleep $tag")" ]
}

# Only sshd itself knows of nothing: until TCP gives up, or by its ClientAliveInterval.
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

plan >p.ini
launch p.ini c
ok "the network is cut in a run" soon 20 running c 1
cut
ok "  what runs over there ends by itself, and its folder goes" soon 60 nothing_there
wait $pid
ok "  exit 1: there is no way to the next run" test $? = 1
ok "  that run failed" test "$(runs c)" = "1 failed "
ok "  for the connection" says 'a/measure-01 failed: receiver: .*(connection broke|no answer)' err
ok "  and why no other comes is told" says 'ssh://root@192.0.2.2:2222: (cannot connect|not reached)' err
ok "  nothing of ours is left here" test -z "$(ls -A here)"
mend
duration=0.2 plan >q.ini
ok "the network is back: so are runs" soon 30 exits 0 in_here env TMPDIR="$scratch/here" "$zcost" capture q.ini -o d
ok "  all of them" test "$(runs d)" = "1 ok 2 ok "

# --- without a run, and while files are brought back: the agent by itself ---

TMPDIR=$scratch/tmp
export TMPDIR
agent_gone() {
	! kill -0 $agent_pid && [ ! -e tmp/zcost-k ]
}

mkfifo steer out.fifo
"$zcost" collect --agent k <steer >said &
agent_pid=$!
exec 3>steer
soon 10 test -s said
echo 'patience 0.2 1' >&3
ok "silence without a run" soon 20 agent_gone
exec 3>&-
wait $agent_pid
ok "  is an end like any other" test $? = 0

"$zcost" collect --agent k <steer >out.fifo &
agent_pid=$!
exec 3>steer 4<out.fifo
soon 10 test -d tmp/zcost-k
mkdir tmp/zcost-k/run
head -c 1000000 /dev/zero >tmp/zcost-k/run/perf.data
printf 'patience 0.5\nsend run\n' >&3
ok "files that nobody reads" soon 20 agent_gone
wait $agent_pid
ok "  are not left over there" test $? = 0 -a -z "$(ls -A tmp)"
exec 3>&- 4<&-
done_testing
