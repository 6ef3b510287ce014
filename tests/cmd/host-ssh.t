#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A capture with a side on another host: a real sshd in a namespace of the test's own, tcpzc between
# the two.
. "$(dirname "$0")/../lib.sh"
. "$tests/ssh.sh"
command -v jq >/dev/null || skip_all "needs jq"
ssh_world || skip_all "no namespaces, or no sshd, here: $(tail -n 1 sshd.log)"

plan() { # plan [RECEIVER [SENDER]]: on standard output; empty: tcpzc
	cat <<-EOT
		[plan]
		ssh = ssh -F $scratch/ssh_config
		repeats = ${repeats:-1}
		passes = measure
		warmup = 0.1
		duration = ${duration:-0.3}
		grace = 0.2
		start_timeout = ${start_timeout:-10}
		stop_timeout = ${stop_timeout:-10}
		[vars]
		tcpzc = \${bindir}/tcpzc
		[side receiver]
		host = ssh://root@192.0.2.2:2222
		zcost = ${remote_zcost:-$scratch/opt/zcost}
		collect = ${collect:-host,cpu}
		units = ${units:-tcpzc}
		[side sender]
		units = ${units:-tcpzc}
		collect = ${collect:-host,cpu}
		[variant a]
		receiver = ${1:-\${tcpzc\} --listen --rx recv}
		sender = ${2:-\${tcpzc\} --connect 192.0.2.2 --tx send --seconds 60}
	EOT
}

nothing_there() { # no process of a run, no agent, no folder: within some seconds
	n=0
	while ip netns pids $there | xargs -I{} tr '\0' ' ' <$proc/{}/cmdline 2>/dev/null |
		grep -v sshd | grep . || ls -d tmp/zcost-* 2>/dev/null; do
		n=$((n + 1))
		[ $n -lt 100 ] || return 1
		sleep 0.1
	done
}

capture() { # capture CODE PLAN CAPTURE [OPTION...]
	code=$1
	shift
	exits "$code" env TMPDIR="$scratch/here" ip netns exec $here "$zcost" capture "$1" -o "$2"
}

mkdir opt here # what is over there has another place
cp "$zcost" "$tcpzc" opt/
plan >p.ini
repeats=2 plan >p.ini
ok "a capture over ssh" capture 0 p.ini c
done_testing
