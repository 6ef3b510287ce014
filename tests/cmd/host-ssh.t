#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A capture with a side on another host: a real sshd in a namespace that the test makes, tcpzc between the two;
# and everything that can break.
. "$(dirname "$0")/../lib.sh"
. "$tests/ssh.sh"
need jq
ssh_world || skip_all "no namespaces, or no sshd, here: $(tail -n 1 sshd.log)"

tag=62.$$ # no other process sleeps this long
plan() { # plan [RECEIVER [SENDER]]: prints a plan; without a SENDER it has one side
	cat <<-EOT
		[plan]
		ssh = ssh -F $scratch/ssh_config
		repeats = ${repeats:-1}
		passes = measure
		warmup = 0.1
		duration = ${duration:-0.2}
		grace = 0.1
		start_timeout = 120
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

launch() { # launch PLAN CAPTURE: starts zcost as $pid
	env TMPDIR="$scratch/here" ip netns exec $here "$zcost" capture "$1" -o "$2" >out 2>err &
	pid=$!
}

running() { # running CAPTURE REPEAT: the remote workload of that run runs
	[ -d "$1/runs/a/.measure-0$2.tmp" ] && [ -n "$(pids_there "^sleep $tag")" ]
}

begun() { # begun CAPTURE REPEAT: waits until that run runs, or prints zcost's errors
	soon running "$@" || { cat err; return 1; }
}

nothing_there() { # the remote host has no agent, no run, no folder
	[ -z "$(pids_there .)" ] && [ -z "$(ls -A tmp)" ]
}

nothing_left() { # nothing_left CAPTURE: and this host has no temporary file and no undo state
	soon nothing_there && [ -z "$(ls -A here)" ] && [ ! -e "$(undo_state "$1")" ] && return
	pids_there . | while read -r p; do tr '\0' ' ' <"/proc/$p/cmdline"; echo; done
	ls -A tmp here "$1"
	return 1
}

runs() { # runs CAPTURE: "1 ok 2 failed "
	jq -r '.runs | sort_by([.repeat, .variant])[] | "\(.repeat) \(.status)"' "$1/manifest.json" | tr '\n' ' '
}

mkdir opt here # the remote zcost has another path
cp "$zcost" "$tcpzc" opt/

# --- without failures ---

repeats=2 collect=host,cpu units=tcpzc plan '${tcpzc} --listen --rx recv' \
	'${tcpzc} --connect 192.0.2.2 --tx send --seconds 60' >p.ini
ok "capture succeeds with a receiver on another host" capture 0 p.ini c
ok "both runs with a remote receiver are ok" test "$(runs c)" = "1 ok 2 ok "
ok "the manifest has the checksum of every file" sums c
ok "only the owner can read and write the capture" test "$(find c -type d ! -perm 0700 -o ! -type d ! -perm 0600)" = ""
ok "capture opens one ssh connection" test "$(grep -c Accepted sshd.log)" = 1
ok "the remote side's files are in the capture" test -s c/runs/a/measure-02/receiver/proc_stat.snap
ok "\${bindir} is the remote folder on the remote side only" jq -e --arg d "$scratch/opt" --arg h "$build" \
	'.variants[0].settings | (."receiver.command" | startswith($d)) and (."sender.command" | startswith($h))' \
	c/manifest.json
ok "capture leaves no remote process and no temporary file" nothing_left c
mkdir 'a b'
printf '#!/bin/sh\nexec sleep %s\n' $tag >'a b/work'
chmod +x 'a b/work'
plan '"${plandir}/work"' >'a b/p.ini'
ok "a remote side runs a quoted path with a space" capture 0 'a b/p.ini' spaced
hosts=$(jq -r .host c/runs/a/measure-01/*/run.json | tr '\n' ' ')
name=$(uname -n)
ok "two hosts of one name have different folders" test "$hosts" = "$name-0badc0de $name "
ok "each host's folder has its boot id" test "$(jq -r .boot_id "c/hosts/$name-0badc0de/host.json")" = "$(cat boot_id)"
ok "each host's folder has its interfaces" test -d "c/hosts/$name-0badc0de/nic/b$$" -a -d "c/hosts/$name/nic/a$$"

clock=c/runs/a/measure-01/receiver/clock.json
ok "the measured clock offset is right within its error" jq -e --argjson s "${ahead:-0}" '.before, .after |
	(.offset_ns - $s * 1e9 | fabs) <= .error_ns and .error_ns > 0 and .error_ns <= .rtt_ns' $clock
[ -n "$ahead" ] || skip "the measured offset of a clock that is 100 s ahead is above 99 s" "this kernel has no time namespaces"
[ -z "$ahead" ] || ok "the measured offset of a clock that is 100 s ahead is above 99 s" jq -e '.before.offset_ns > 99e9' $clock
start() { jq .window.start_ns "c/runs/a/measure-01/$1/run.json"; }
ok "the windows of both sides open together" near "$(start receiver)" "$(($(start sender) + ${ahead:-0} * 1000000000))" 2000000000
"$zcost" analyze c >log 2>&1
"$zcost" report host c >host
[ -z "$ahead" ] || ok "report host shows the clock offset" says "clock ahead of the capturing host's +(100|99\.9+[0-9]*|100\.0[0-9]*) s \+-" host
"$zcost" report summary c --verbose >summary
ok "report summary shows the distance between the windows" says 'on two hosts; their windows are at most .*compared to \+-' summary
ok "a local side has no clock.json" test ! -e c/runs/a/measure-01/sender/clock.json
ok "the same command succeeds on the complete capture" capture 0 p.ini c
sed 's/0.2.2:2222/0.2.2:22/' p.ini >q.ini
plan '${tcpzc} --listen --rx recv' '${tcpzc} --connect localhost --tx send --seconds 60' |
	sed "s,^\[side sender\],&\nhost = ssh://192.0.2.2:2222\nzcost = $scratch/opt/zcost," >both.ini
ok "capture succeeds with both sides on another host" capture 0 both.ini both
ok "both remote sides have their files" test -s both/runs/a/measure-01/sender/clock.json -a -s both/runs/a/measure-01/receiver/clock.json
ok "capture leaves no process and no file with two remote sides" nothing_left both
ok "--dry-run succeeds with an unreachable host" exits 0 "$zcost" capture --dry-run q.ini
ok "--dry-run prints \${bindir} of a remote side unexpanded" says 'receiver ssh://root@192.0.2.2:22 \$\{bindir\}/tcpzc --listen' out

# --- failures before the first run ---

remote=/nonesuch/zcost plan >p.ini
ok "capture exits 1 when the remote host has no zcost" capture 1 p.ini n
ok "the error names the missing zcost and the key in the plan" says "ssh://root@192.0.2.2:2222: there is no '/nonesuch/zcost' that could be run: install \
zcost .* or name it by 'zcost = /path/to/zcost' in \[side receiver\]" err
port=2223 plan >p.ini
ok "capture exits 1 when no sshd listens" capture 1 p.ini n
ok "the error quotes ssh and gives the command to try" says "cannot connect: .*refused.*try it by hand: ssh .*BatchMode" err
remote="$scratch/opt/zcost" plan '${bindir}/nonesuch' >p.ini
ok "capture exits 1 when the remote workload does not exist" capture 1 p.ini n2
ok "the error has the path of the missing workload" says "receiver: cannot run $scratch/opt/nonesuch: No such file" err
sed 's/^collect = .*/collect = bogus/' p.ini >q.ini
ok "capture exits 2 when the remote collect refuses the plan" capture 2 q.ini n3
ok "the error quotes the remote collect that refuses the plan" says "receiver: zcost collect does not accept what the plan says: .*bogus" err
plan | sed 's/^passes = .*/passes = syscalls/; s,^zcost = ,&setpriv --bounding-set=-all --inh-caps=-all ,' >q.ini
ok "capture exits 1 without rights on the remote host" capture 1 q.ini n4
ok "the error names the pass and sudo" says "2222: the pass 'syscalls' loads a BPF program, .*zcost = sudo -n zcost" err
ok "failed captures leave no remote process and no folder" soon nothing_there

# --- failures inside a run: the run is made again ---

retried() { # retried CAPTURE: prints the runs that were made again, and why
	jq -r '.runs[] | select(has("retried")) | "\(.variant)/\(.repeat): \(.retried[])"' "$1/manifest.json"
}

repeats=3 duration=2 plan >p.ini
launch p.ini k
ok "the second run begins before its sshd is killed" begun k 2
kill -KILL $(pids_there '^sshd')
wait $pid
ok "capture succeeds when the connection breaks in the second run" test $? = 0
ok "all runs are ok after a broken connection" test "$(runs k)" = "1 ok 2 ok 3 ok "
retried k >again
ok "the manifest has that the connection broke in the second run" says '^a/2: receiver: .*connection' again
ok "only the second run was made again" test "$(wc -l <again)" = 1
ok "a message reports that capture connects again" says 'ssh://root@192.0.2.2:2222: connecting again' err
ok "a broken connection leaves no process and no file" nothing_left k

repeats=2 duration=1.5 stop_timeout=4 plan >p.ini
launch p.ini s
ok "the first run begins before its remote collect is stopped" begun s 1
kill -STOP $(pids_there 'collect --sync')
wait $pid
ok "capture succeeds when a remote collect stops in one run" test $? = 0
ok "the run of the stopped collect is made again" test "$(runs s)" = "1 ok 2 ok "
retried s >again
ok "the manifest has what the stopped collect was doing" says '^a/1: receiver: still not done .*, while measuring$' again
ok "a stopped collect leaves no process and no file" nothing_left s

launch p.ini h
ok "the first run begins before its sshd is stopped" begun h 1
silent=$(pids_there '^sshd')
kill -STOP $silent
wait $pid
ok "capture succeeds when the connection is silent in one run" test $? = 0
ok "the run with the silent connection is made again" test "$(runs h)" = "1 ok 2 ok "
kill -KILL $silent
ok "a silent connection leaves no process and no file" nothing_left h

duration=2 plan "sh -c 'head -c 4000000 /dev/zero; sleep $tag'" | sed "s,^zcost = ,&env TMPDIR=$scratch/tiny ," >p.ini
ok "capture exits 1 when the remote disk is full" capture 1 p.ini f
ok "the error reports the full remote disk" says 'measure-01 failed 3 times: receiver: .*No space left' err
ok "a full remote disk leaves no process and no file" nothing_left f
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
ok "capture exits 4 when the local disk is full" exits 4 unshare -m sh small.sh p.ini
ok "the error reports that the files do not fit" says 'b/measure-01 failed 3 times: receiver: cannot fetch the files: .*No space left' err
ok "only the run that does not fit is failed" test "$(runs l)" = "1 ok 1 failed "
ok "a full local disk leaves no process and no file" nothing_left l

# --- signals ---

duration=20 plan >p.ini
launch p.ini i
ok "the remote run begins before SIGINT" begun i 1
kill -INT $pid
wait $pid
ok "capture exits 1 on SIGINT in a remote run" test $? = 1
ok "SIGINT leaves no process and no file" nothing_left i
duration=6 plan >p.ini
launch p.ini d
ok "the remote run begins before SIGKILL" begun d 1
kill -KILL $pid
wait $pid 2>/dev/null
ok "SIGKILL to capture leaves no remote process and no folder" soon nothing_there
launch p.ini d
ok "the remote run begins before SIGKILL to capture and agent" begun d 1
agent=$(pids_there 'collect --agent')
kill -KILL $pid $agent
wait $pid 2>/dev/null
ok "SIGKILL to capture and agent leaves a remote folder" test -n "$(ls tmp)"
ok "the same command completes the capture after both were killed" capture 0 p.ini d
ok "the completed capture leaves no process and no file" nothing_left d
plan 'sh -c "id -u; readlink /proc/$$/fd/*; exec sleep 62.1"' | sed 's/^collect = .*/&\nuser = nobody/' >user.ini
ok "a side on another host runs its command as another user" capture 0 user.ini user
ok "the command there has the user's id" says '^65534$' user/runs/a/measure-01/receiver/workload.out
ok "the command there inherits no descriptor of zcost but its output" \
	test "$(sed -n '/^\//s|.*/||p' user/runs/a/measure-01/receiver/workload.out | sort | tr '\n' ' ')" = "null workload.err workload.out "
ok "nothing of the other user's command is left there" nothing_left user
sed -i 's/^user = .*/user = no-such-user/' user.ini
ok "a user that the other host does not know is an error of usage" capture 2 user.ini user2
ok "the error of the other host names the user" says 'receiver: zcost collect does not accept what the plan says: .*no-such-user: this host has no such user' err

# --- single calls of capture that fail ---

duration=0.1 plan >far.ini
kinds="read write fork"
[ -z "${FAULTS:-}" ] || kinds="alloc open stat $kinds sync close rename exec"
ok "a failed call leaves a capture over ssh that is whole or says what it lacks" env FAULTS_KINDS="${FAULTS_KINDS:-$kinds}" \
	ip netns exec $here perl "$tests/faults/run.pl" "$build" none "${FAULTS:-1}" "capture far.ini -o W/cap"
ok "a failed call leaves no process and no file on the other host" soon nothing_there

done_testing
