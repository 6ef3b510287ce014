#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A capture with a side on another host: a real sshd in a namespace of the test's own, tcpzc between
# the two; and everything that can break on the way.
. "$(dirname "$0")/../lib.sh"
. "$tests/ssh.sh"
command -v jq >/dev/null || skip_all "needs jq"
ssh_world || skip_all "no namespaces, or no sshd, here: $(tail -n 1 sshd.log)"

tag=62.$$ # nobody else's sleep has this length
plan() { # plan [RECEIVER [SENDER]]: on standard output; without: tcpzc on both
	cat <<-EOT
		[plan]
		ssh = ssh -F $scratch/ssh_config
		repeats = ${repeats:-1}
		passes = measure
		warmup = 0.1
		duration = ${duration:-0.2}
		grace = 0.1
		start_timeout = 30
		stop_timeout = ${stop_timeout:-30}
		[vars]
		tcpzc = \${bindir}/tcpzc
		[side receiver]
		host = ssh://root@192.0.2.2:${port:-2222}
		zcost = ${remote:-$scratch/opt/zcost}
		collect = ${collect:-cpu}
		units = ${units:-none}
	EOT
	[ -z "${2:-}" ] || printf '[side sender]\ncollect = %s\nunits = %s\n' "${collect:-cpu}" "${units:-none}"
	printf '[variant a]\nreceiver = %s\n' "${1:-sleep $tag}"
	[ -z "${2:-}" ] || echo "sender = $2"
}

capture() { # capture CODE PLAN CAPTURE
	exits "$1" env TMPDIR="$scratch/here" ip netns exec $here "$zcost" capture "$2" -o "$3"
}

launch() { # launch PLAN CAPTURE: $pid is zcost itself
	env TMPDIR="$scratch/here" ip netns exec $here "$zcost" capture "$1" -o "$2" >out 2>err &
	pid=$!
}

soon() { # soon COMMAND...: within twenty seconds
	n=0
	while ! "$@" >/dev/null 2>&1; do
		n=$((n + 1))
		[ $n -lt 400 ] || return 1
		sleep 0.05
	done
}

running() { # running CAPTURE REPEAT: the workload of that run is at work over there
	[ -d "$1/runs/a/.measure-0$2.tmp" ] && [ -n "$(pids_there "^sleep $tag")" ]
}

begun() { # begun CAPTURE REPEAT: soon; else what zcost said of it
	soon running "$@" || { cat err; return 1; }
}

nothing_there() { # no agent, no run, no folder
	[ -z "$(pids_there .)" ] && [ -z "$(ls -A tmp)" ]
}

nothing_left() { # nor here
	soon nothing_there && [ -z "$(ls -A here)" ] && [ ! -e "$(undo_state "$1")" ] && return
	pids_there . | while read -r p; do tr '\0' ' ' <"/proc/$p/cmdline"; echo; done
	ls -A tmp here "$1"
	return 1
}

runs() { # runs CAPTURE: "1 ok 2 failed "
	jq -r '.runs | sort_by(.repeat)[] | "\(.repeat) \(.status)"' "$1/manifest.json" | tr '\n' ' '
}

sums() { # every file of every run is in the manifest, with its right sum, and no other
	(cd "$1" && find runs hosts -type f | sort | xargs sha256sum) >files
	jq -r '(.runs[] | "runs/\(.variant)/\(.pass)-0\(.repeat)/" as $d | .files | to_entries[] |
		"\(.value)  \($d)\(.key)"), (.hosts | to_entries[] | "\(.value)  hosts/\(.key)")' \
		"$1/manifest.json" | sort -k2 >listed
	diff files listed
}

mkdir opt here # over there it has another place
cp "$zcost" "$tcpzc" opt/

# --- as it should be ---

repeats=2 collect=host,cpu units=tcpzc plan '${tcpzc} --listen --rx recv' \
	'${tcpzc} --connect 192.0.2.2 --tx send --seconds 60' >p.ini
ok "a receiver on another host" capture 0 p.ini c
ok "  both runs are there" test "$(runs c)" = "1 ok 2 ok "
ok "  every file has its sum" sums c
ok "  its owner alone can read them" test "$(find c -type d ! -perm 0700 -o ! -type d ! -perm 0600)" = ""
ok "  over one connection" test "$(grep -c Accepted sshd.log)" = 1
ok "  its files came back" test -s c/runs/a/measure-02/receiver/proc_stat.snap
ok "  \${bindir} is the one over there, on that side alone" jq -e --arg d "$scratch/opt" --arg h "$build" \
	'.variants[0].settings | (."receiver.command" | startswith($d)) and (."sender.command" | startswith($h))' \
	c/manifest.json
ok "  nothing is left" nothing_left c
hosts=$(jq -r .host c/runs/a/measure-01/*/run.json | tr '\n' ' ')
name=$(uname -n)
ok "  two machines of one name are told apart" test "$hosts" = "$name-0badc0de $name "
ok "  each with its own boot" test "$(jq -r .boot_id "c/hosts/$name-0badc0de/host.json")" = "$(cat boot_id)"
ok "  and its interfaces" test -d "c/hosts/$name-0badc0de/nic/b$$" -a -d "c/hosts/$name/nic/a$$"

clock=c/runs/a/measure-01/receiver/clock.json
ok "the clocks' offset is what it is, within its error" jq -e --argjson s "${ahead:-0}" '.before, .after |
	(.offset_ns - $s * 1e9 | fabs) <= .error_ns and .error_ns > 0 and .error_ns <= .rtt_ns' $clock
[ -n "$ahead" ] || skip "  of a clock that is ahead" "this kernel has no time namespaces"
[ -z "$ahead" ] || ok "  of a clock that is ahead" jq -e '.before.offset_ns > 99e9' $clock
start() { jq .window.start_ns "c/runs/a/measure-01/$1/run.json"; }
ok "  and the windows open together" near "$(start receiver)" "$(($(start sender) + ${ahead:-0} * 1000000000))" 2000000000
"$zcost" analyze c >log 2>&1
"$zcost" report host c >host
[ -z "$ahead" ] || ok "  reports tell it" says "clock ahead of the capturing host's +(100|99\.9+[0-9]*|100\.0[0-9]*) s \+-" host
"$zcost" report summary c >summary
ok "  and how far the windows are apart" says 'on two hosts; their windows are at most .*compared to \+-' summary
ok "  a side that is here has no such file" test ! -e c/runs/a/measure-01/sender/clock.json
ok "again: nothing to do" capture 0 p.ini c
sed 's/0.2.2:2222/0.2.2:22/' p.ini >q.ini
plan '${tcpzc} --listen --rx recv' '${tcpzc} --connect localhost --tx send --seconds 60' |
	sed "s,^\[side sender\],&\nhost = ssh://192.0.2.2:2222\nzcost = $scratch/opt/zcost," >both.ini
ok "both sides on other hosts" capture 0 both.ini both
ok "  are both there" test -s both/runs/a/measure-01/sender/clock.json -a -s both/runs/a/measure-01/receiver/clock.json
ok "  nothing is left" nothing_left both
ok "a dry run asks nobody" exits 0 "$zcost" capture --dry-run q.ini
ok "  and leaves open what is over there" says 'receiver ssh://root@192.0.2.2:22 \$\{bindir\}/tcpzc --listen' out

# --- what is wrong from the start ---

remote=/nonesuch/zcost plan >p.ini
ok "no zcost over there" capture 1 p.ini n
ok "  the way out" says "ssh://root@192.0.2.2:2222: there is no '/nonesuch/zcost' that could be run: install \
zcost .* or name it by 'zcost = /path/to/zcost' in \[side receiver\]" err
port=2223 plan >p.ini
ok "nobody listens" capture 1 p.ini n
ok "  ssh's own words, and how to try" says "cannot connect: .*refused.*try it by hand: ssh .*BatchMode" err
remote="$scratch/opt/zcost" plan '${bindir}/nonesuch' >p.ini
ok "a workload that is not there" capture 1 p.ini n2
ok "  is named with its place" says "receiver: cannot run $scratch/opt/nonesuch: No such file" err
sed 's/^collect = .*/collect = bogus/' p.ini >q.ini
ok "what collect there does not accept" capture 2 q.ini n3
ok "  is quoted" says "receiver: zcost collect does not accept what the plan says: .*bogus" err
plan | sed 's/^passes = .*/passes = syscalls/; s,^zcost = ,&setpriv --bounding-set=-all --inh-caps=-all ,' >q.ini
ok "no rights over there" capture 1 q.ini n4
ok "  are told" says "2222: the pass 'syscalls' loads a BPF program, .*zcost = sudo -n zcost" err
ok "nothing is left" soon nothing_there

# --- what breaks in the middle: that run is lost, no other ---

repeats=3 duration=2 plan >p.ini
launch p.ini k
ok "the connection breaks in the second run" begun k 2
kill -KILL $(pids_there '^sshd')
wait $pid
ok "  exit 4" test $? = 4
ok "  that run alone failed" test "$(runs k)" = "1 ok 2 failed 3 ok "
ok "  is told" says 'a/measure-02 failed: receiver: .*connection' err
ok "  a note says that it connects again" says 'ssh://root@192.0.2.2:2222: connecting again' err
ok "  nothing is left" nothing_left k

repeats=2 duration=1.5 stop_timeout=4 plan >p.ini
launch p.ini s
ok "a run over there is stopped" begun s 1
kill -STOP $(pids_there 'collect --sync')
wait $pid
ok "  exit 4" test $? = 4
ok "  that run alone failed" test "$(runs s)" = "1 failed 2 ok "
ok "  for its silence" says 'measure-01 failed: receiver: still not done' err
ok "  nothing is left" nothing_left s

launch p.ini h
ok "the whole connection falls silent" begun h 1
silent=$(pids_there '^sshd')
kill -STOP $silent
wait $pid
ok "  exit 4" test $? = 4
ok "  that run alone failed" test "$(runs h)" = "1 failed 2 ok "
kill -KILL $silent
ok "  nothing is left" nothing_left h

duration=2 plan "sh -c 'head -c 4000000 /dev/zero; sleep $tag'" | sed "s,^zcost = ,&env TMPDIR=$scratch/tiny ," >p.ini
ok "a full disk over there" capture 1 p.ini f
ok "  is told" says 'measure-01 failed: receiver: .*No space left' err
ok "  nothing is left" nothing_left f
cat >small.sh <<EOF
mount -t tmpfs -o size=2m none $scratch/small
export TMPDIR=$scratch/here
ip netns exec $here $zcost capture "\$1" -o $scratch/small/c
code=\$?
cp -r small/c l
exit \$code
EOF
mkdir small
duration=2 plan "sleep $tag" >p.ini
printf '[variant b]\nreceiver = %s\n' "sh -c 'head -c 8000000 /dev/zero; sleep $tag'" >>p.ini
ok "a full disk here" exits 4 unshare -m sh small.sh p.ini
ok "  is told" says 'b/measure-01 failed: receiver: the files cannot be brought back: .*No space left' err
ok "  the others are kept" test "$(runs l)" = "1 ok 1 failed "
ok "  nothing is left" nothing_left l

# --- killed ---

duration=20 plan >p.ini
launch p.ini i
ok "SIGINT in a run" begun i 1
kill -INT $pid
wait $pid
ok "  exit 1" test $? = 1
ok "  nothing is left" nothing_left i
duration=3 plan >p.ini
launch p.ini d
ok "killed outright" begun d 1
kill -KILL $pid
wait $pid 2>/dev/null
ok "  nothing is left over there" soon nothing_there
launch p.ini d
ok "everybody killed outright" begun d 1
agent=$(pids_there 'collect --agent')
kill -KILL $pid $agent
wait $pid 2>/dev/null
ok "  leaves a folder" test -n "$(ls tmp)"
ok "  again: goes on" capture 0 p.ini d
ok "  nothing is left" nothing_left d
done_testing
