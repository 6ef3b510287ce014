#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost collect: the order of a run, its end however it comes, and run.json.
. "$(dirname "$0")/../lib.sh"

# field PATH: a value out of run.json
field() {
	jq -r "$1" r/run.json
}

is() { # is JQ VALUE
	got=$(field "$1")
	[ "$got" = "$2" ] || { echo "$1 is '$got', expected '$2'"; cat r/run.json; return 1; }
}

holds() { # holds JQ: a condition that is true
	jq -e "$1" r/run.json >/dev/null || { cat r/run.json; return 1; }
}

collect() {
	"$zcost" collect -o r "$@"
}

ok "a short command is a run" exits 0 collect --collect null,cpu -- sh -c 'echo out; echo err >&2; sleep 0.2'
ok "its output is kept" says '^out$' r/workload.out
ok "its errors too" says '^err$' r/workload.err
ok "status ok" is .status ok
ok "exit 0" is .exit.status 0
ok "named as documented when nothing is said" is '[.variant,.pass,.repeat,.side]|map(tostring)|join(" ")' \
	"run all 1 local"
ok "the command as given" is '.command|join("|")' "sh|-c|echo out; echo err >&2; sleep 0.2"
ok "every collector is there, its file too" is '[.collectors[]|.name+":"+.state+":"+(.files|join(","))]|join(" ")' \
	"cpu:ok:proc_stat.snap null:ok:"
ok "the window holds the command" holds '.window.end_ns - .window.start_ns > 190e6'

timely() { # the window opens after the warm-up, and is as long as asked
	exits 0 collect --collect null --warmup 0.2 --duration 1.3 -- sleep 2 &&
		holds '(.window.end_ns - .window.start_ns) / 1e9 | . >= 1.3 and . < 1.5' &&
		holds '(.window.start_ns - .started_ns) / 1e9 | . >= 0.2 and . < 0.6'
}
steady "--duration closes the window, the command goes on" timely
ok "it did" is '[.status,.exit.status]|map(tostring)|join(" ")' "ok 0"
ok "one snapshot in between" is '.collectors[0].info.snaps' 1
ok "started and stopped once" is '.collectors[0].info|[.started,.stopped]|join(" ")' "1 1"

ok "a command that ends before the window is over" exits 0 collect --collect null --duration 30 -- sleep 0.5
ok "is a run, and told" says '^zcost: r: 30 s were asked for, the command ended after 0?[.0-9]+ s$' err
ok "and noted" holds '.window | (.early_ns + .end_ns - .start_ns) == 30e9'
"$zcost" analyze r >log 2>&1
ok "each report warns of it" exits 0 "$zcost" report runs r
ok "  in the same words" says 'warning: run local .*: the command ended after 0?[.0-9]+ s of the 30 s of the window' out
jq 'del(.window.early_ns)' r/run.json >old && mv old r/run.json
"$zcost" analyze r >log 2>&1
ok "  also where run.json does not say it yet" sh -c "'$zcost' report runs r 2>&1 | grep -q 'of the 30 s of the window'"
for warmup in 0 0.2; do
	ok "where no length was asked for nothing is, warm-up $warmup" exits 0 collect --collect null --warmup $warmup -- sleep 0.5
	ok "  not told" sh -c '! grep "asked for" err'
	ok "  nor noted" holds '.window | has("early_ns") | not'
done
ok "nor of a command that was stopped after it" exits 0 collect --collect null --duration 0.3 --grace 0 -- sleep 60
ok "  not noted" holds '.window | has("early_ns") | not'

ok "a command that fails fails the run" exits 1 collect --collect cpu -- sh -c 'exit 3'
ok "the message says how" says 'workload exited with status 3' err
ok "run.json is there all the same" is '[.status,.exit.status]|map(tostring)|join(" ")' "failed 3"
ok "killed by a signal" exits 1 collect --collect cpu -- sh -c 'kill -9 $$'
ok "the signal is told" is .exit.signal 9
ok "a command that is not there" exits 1 collect --collect cpu -- no-such-program
ok "says so" says 'cannot run no-such-program: No such file' err
ok "in run.json as well, without an exit status" is '[.status,.exit,.window]|map(tostring)|join(" ")' "failed null null"
ok "gone before the warm-up is over" exits 1 collect --collect cpu --warmup 5 -- true
ok "says what to do" says 'longer than the warm-up' err

ok "a command that never ends is stopped" exits 0 collect --collect cpu --duration 0.3 --grace 0.2 -- sleep 1000
ok "and has no exit status" is '[.status,.exit]|map(tostring)|join(" ")' "ok null"
ok "what it left behind is ended" exits 0 collect --collect cpu --duration 0.2 --grace 0 -- \
	sh -c 'setsid sh -c "echo \$\$ >left; exec sleep 1000" & wait'
ok "really" sh -c '! kill -0 $(cat left)'

ok "an old run's files are gone" test ! -e r/perf.data
touch r/perf.data
"$zcost" analyze r >log 2>&1
ok "what was analyzed is shown" exits 0 "$zcost" report runs r
ok "another run in its place" exits 0 collect --collect null -- sh -c 'sleep 0.1'
ok "  is told" says '^zcost: r: the run that was in it is replaced$' err
ok "  leaves nothing of the first" test ! -e r/perf.data
ok "  is not shown by the first one's figures" exits 1 "$zcost" report runs r
ok "  with the way out" says "r/zcost.db: the run has changed since; run 'zcost analyze r' again" err
"$zcost" analyze r >log 2>&1
ok "  but by its own" exits 0 "$zcost" report runs r
mkdir slides empty killed
touch slides/talk.md killed/perf.data
ok "a folder of something else" exits 1 "$zcost" collect -o slides --collect null -- true
ok "  is left alone, and named" says "^zcost: slides: there is 'talk.md' in it, which is no run's: give another -o$" err
ok "  nothing was made" test "$(ls -A slides)" = talk.md
ok "an empty one will do" exits 0 "$zcost" collect -o empty --collect null -- true
ok "  and nothing was replaced" sh -c '! grep replaced err'
ok "one of a run that was killed too" exits 0 "$zcost" collect -o killed --collect null -- true
mkdir -p cap/runs && echo '{}' >cap/manifest.json
ok "a capture's is not a run's" exits 1 "$zcost" collect -o cap --collect null -- true
ok "unknown collector" exits 2 "$zcost" collect -o r2 --collect cpu,perv -- true
ok "the message lists all" says "unknown collector 'perv'; there are: .*cpu .*null .*all" err
ok "nothing was made" test ! -e r2
ok "no command" exits 2 "$zcost" collect -o r2
ok "no folder" exits 2 "$zcost" collect -- true
ok "a bad set of CPUs" exits 2 collect --cpus 1-x -- true
ok "a CPU that is not there" exits 2 collect --cpus 4000 -- true
ok "a bad duration" exits 2 collect --duration soon -- true
ok "a name that is no name" exits 2 collect --variant a/b -- true
ok "an unknown pass" exits 2 collect --pass measuer -- true
ok "an unknown adapter" exits 2 collect --units foo -- true
ok "  and those there are" says "--units: no adapter 'foo'; there are tcpzc, iperf3, pps, regex:RE and none" err
ok "a regex without the RE" exits 2 collect --units regex: -- true
ok "one that cannot be compiled" exits 2 collect --units 'regex:bytes=([0-9]+' -- true
ok "  which, and why" says "--units: regex:bytes=\(\[0-9\]\+: '\(\[0-9\]\+' is not an extended regular expression: Unmatched \(" err
ok "one without a group" exits 2 collect --units 'regex:moved [0-9]+ bytes' -- true
ok "  says so" says "'moved \[0-9\]\+ bytes' has no \(group\) around the number to take" err
ok "a group is enough" exits 0 collect --collect null --units 'regex:packets=([0-9]+) a second' -- true
ok "an unknown method" exits 2 collect --syscalls-method magic -- true
touch plain
ok "a folder that cannot be" exits 1 "$zcost" collect -o plain/r --collect cpu -- true
ok "names it" says 'plain' err
ok "--list names what there is" exits 0 "$zcost" collect --list
ok "perf is there" says '^perf ' out

# A workload in a network of its own: its interfaces are kept, nothing is mounted for good.
if [ "$(id -u)" = 0 ] && command -v ip >/dev/null; then
	before=$(grep -c " sysfs " /proc/mounts)
	ok "a workload in a network namespace" exits 0 "$zcost" collect -o r --collect host --warmup 1 --duration 0.1 \
		--grace 0 -- unshare -n sh -c 'ip link add zccoll0 type veth peer name zccoll1 && exec sleep 30'
	ok "its interface is known" grep -q 'mtu = 1500' r/hosts/*/nic/zccoll0/sysfs
	ok "nothing more is mounted" test "$(grep -c " sysfs " /proc/mounts)" = "$before"
else
	skip "a workload in a network namespace" "needs root and ip"
fi

# A signal in mid-run: marked failed, nothing left.
"$zcost" collect -o "$scratch/r" --collect all -- sh -c 'echo $$ >pid; sleep 1000 & echo $! >pid2; wait' 2>err &
collect=$!
i=0
until [ -s pid2 ] || [ $i = 200 ]; do
	i=$((i + 1))
	sleep 0.1
done
sleep 0.5
kill -TERM $collect
wait $collect
code=$?
ok "SIGTERM: exit 1" test $code = 1
ok "the run is marked" is '[.status,.why]|join(" ")' "failed stopped by signal 15 (Terminated)"
ok "the command is gone" sh -c '! kill -0 $(cat pid)'
ok "and its children" sh -c '! kill -0 $(cat pid2)'
ok "and perf" sh -c "! grep -lz '$scratch/[r]/perf.data' /proc/[0-9]*/cmdline"

done_testing
