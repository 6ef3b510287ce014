#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost collect: the order of a run, all the ways it ends, and run.json.
. "$(dirname "$0")/../lib.sh"

# field PATH: a value from run.json
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

ok "collect runs a short command" exits 0 collect --collect null,cpu -- sh -c 'echo out; echo err >&2; sleep 0.2'
ok "workload.out has the command's output" says '^out$' r/workload.out
ok "workload.err has the command's errors" says '^err$' r/workload.err
ok "run.json has the status ok" is .status ok
ok "run.json has the command's exit status" is .exit.status 0
ok "run.json has the documented default names" is '[.variant,.pass,.repeat,.side]|map(tostring)|join(" ")' \
	"run all 1 local"
ok "run.json has the command with its arguments" is '.command|join("|")' "sh|-c|echo out; echo err >&2; sleep 0.2"
ok "run.json lists every collector and its files" is '[.collectors[]|.name+":"+.state+":"+(.files|join(","))]|join(" ")' \
	"cpu:ok:proc_stat.snap null:ok:"
ok "the window covers the whole command" holds '.window.end_ns - .window.start_ns > 190e6'

timely() { # the window opens after the warm-up, and is as long as asked
	exits 0 collect --collect null --warmup 0.2 --duration 1.3 -- sleep 2 &&
		holds '(.window.end_ns - .window.start_ns) / 1e9 | . >= 1.3 and . < 1.5' &&
		holds '(.window.start_ns - .started_ns) / 1e9 | . >= 0.2 and . < 0.6' && is '.collectors[0].info.snaps' 1
}
steady "--duration closes the window while the command continues, after one snapshot inside it" timely
ok "a command that continues after the window ends normally" is '[.status,.exit.status]|map(tostring)|join(" ")' "ok 0"
ok "a collector starts once and stops once" is '.collectors[0].info|[.started,.stopped]|join(" ")' "1 1"

ok "collect succeeds when a command ends before the window does" exits 0 collect --collect null --duration 30 -- sleep 0.5
ok "a message has the requested and the actual length of the window" says '^zcost: r: the command ended after 0?[.0-9]+ s of the window.s 30 s; let it run longer, or give a shorter --duration$' err
ok "run.json has the time that the window is short" holds '.window | (.early_ns + .end_ns - .start_ns) == 30e9'
"$zcost" analyze r >log 2>&1
ok "report runs accepts a run with a short window" exits 0 "$zcost" report runs r
ok "report runs warns with the requested and the actual length" says 'warning: run local .*: the workload ended after 0?[.0-9]+ s of the 30 s of the window' out
for warmup in 0 0.2; do
	ok "collect runs without --duration, warm-up $warmup s" exits 0 collect --collect null --warmup $warmup -- sleep 0.5
	ok "without --duration no message mentions a short window, warm-up $warmup s" sh -c '! grep "of the window.s" err'
	ok "without --duration run.json has no early_ns, warm-up $warmup s" holds '.window | has("early_ns") | not'
done
ok "collect stops a command after the window" exits 0 collect --collect null --duration 0.3 --grace 0 -- sleep 60
ok "run.json of a stopped command has no early_ns" holds '.window | has("early_ns") | not'

ok "a command that fails fails the run" exits 1 collect --collect cpu -- sh -c 'exit 3'
ok "the error has the command's exit status" says 'workload exited with status 3' err
ok "run.json of a failed run has the exit status" is '[.status,.exit.status]|map(tostring)|join(" ")' "failed 3"
ok "a command that a signal kills fails the run" exits 1 collect --collect cpu -- sh -c 'kill -9 $$'
ok "run.json has the signal" is .exit.signal 9
ok "collect exits 1 when the command does not exist" exits 1 collect --collect cpu -- no-such-program
ok "the error names the command that does not exist" says 'cannot run no-such-program: No such file' err
ok "run.json of a missing command has no exit status" is '[.status,.exit,.window]|map(tostring)|join(" ")' "failed null null"
ok "a command that ends in the warm-up fails the run" exits 1 collect --collect cpu --warmup 5 -- true
ok "the error says that the command must outlast the warm-up" says 'longer than the warm-up' err

ok "collect stops a command that never ends" exits 0 collect --collect cpu --duration 0.3 --grace 0.2 -- sleep 1000
ok "run.json of a stopped command has no exit status" is '[.status,.exit]|map(tostring)|join(" ")' "ok null"
ok "collect succeeds when the command leaves a daemon" exits 0 collect --collect cpu --duration 0.2 --grace 0 -- \
	sh -c 'setsid sh -c "echo \$\$ >left; exec sleep 1000" & wait'
ok "collect ends a daemon that the command leaves" sh -c '! kill -0 $(cat left)'

ok "a new run in the folder has no perf.data of an earlier one" test ! -e r/perf.data
touch r/perf.data
"$zcost" analyze r >log 2>&1
ok "report runs shows an analyzed run" exits 0 "$zcost" report runs r
ok "collect replaces a run in the same folder" exits 0 collect --collect null -- sh -c 'sleep 0.1'
ok "a message reports that the run is replaced" says '^zcost: r: replacing the earlier run in this folder$' err
ok "the new run has no file of the replaced one" test ! -e r/perf.data
ok "report runs refuses the replaced run's figures" exits 1 "$zcost" report runs r
ok "the error says to run analyze again" says "r/zcost.db: the run has changed since; run 'zcost analyze r' again" err
"$zcost" analyze r >log 2>&1
ok "report runs shows the new run after analyze" exits 0 "$zcost" report runs r
mkdir slides empty killed recorded
touch slides/talk.md killed/perf.data killed/workload.out
echo samples >recorded/perf.data
ok "collect exits 1 on a folder that is not a run" exits 1 "$zcost" collect -o slides --collect null -- true
ok "the error names the foreign file in the folder" says "^zcost: slides: the folder has 'talk.md', which is not part of a run: give another -o$" err
ok "collect writes nothing to a folder that is not a run" test "$(ls -A slides)" = talk.md
if [ "$(id -u)" = 0 ]; then
	ok "collect refuses the folder under sudo, too" exits 1 env SUDO_UID=65534 SUDO_GID=65534 "$zcost" collect -o slides --collect null -- true
	ok "a refused folder and its files keep their owner" test "$(stat -c %u slides slides/talk.md | tr '\n' ' ')" = "0 0 "
else
	skip "collect refuses the folder under sudo, too" "needs root"
fi
mkdir home && touch home/.bashrc
ok "collect refuses a folder with hidden files only" exits 1 "$zcost" collect -o home --collect null -- true
ok "the error names the hidden file" says "home: the folder has '.bashrc', which is not part of a run" err
ok "collect accepts an empty folder" exits 0 "$zcost" collect -o empty --collect null -- true
ok "collect reports no replaced run for an empty folder" sh -c '! grep replaced err'
ok "collect accepts the folder of a run that was killed" exits 0 "$zcost" collect -o killed --collect null -- true
ok "collect refuses a folder with the user's own perf.data" exits 1 "$zcost" collect -o recorded --collect null -- true
ok "the user's own perf.data stays" says samples recorded/perf.data
mkdir -p cap/runs && echo '{}' >cap/manifest.json
ok "collect exits 1 on the folder of a capture" exits 1 "$zcost" collect -o cap --collect null -- true
ok "an unknown collector is a usage error" exits 2 "$zcost" collect -o r2 --collect cpu,perv -- true
ok "the error about an unknown collector lists all collectors" says "unknown collector 'perv'; did you mean perf[?] there are: .*cpu .*null .*all" err
ok "an unknown collector makes no folder" test ! -e r2
ok "collect without a command is a usage error" exits 2 "$zcost" collect -o r2
ok "collect without a folder is a usage error" exits 2 "$zcost" collect -- true
ok "an invalid set of CPUs is a usage error" exits 2 collect --cpus 1-x -- true
ok "a CPU that the host lacks is a usage error" exits 2 collect --cpus 4000 -- true
ok "an invalid duration is a usage error" exits 2 collect --duration soon -- true
ok "a variant name with a slash is a usage error" exits 2 collect --variant a/b -- true
ok "an unknown pass is a usage error" exits 2 collect --pass measuer -- true
ok "an unknown adapter is a usage error" exits 2 collect --units foo -- true
ok "the error about an unknown adapter lists all adapters" says "--units: no adapter 'foo'; there are tcpzc, iperf3, .*, regex:RE, nic:IF, tcp and none" err
ok "an adapter regex: without a regex is a usage error" exits 2 collect --units regex: -- true
ok "a regex that does not compile is a usage error" exits 2 collect --units 'regex:bytes=([0-9]+' -- true
ok "the error names the regex and the reason" says "--units: regex:bytes=\(\[0-9\]\+: '\(\[0-9\]\+' is not an extended regular expression: Unmatched \(" err
ok "a regex without a group is a usage error" exits 2 collect --units 'regex:moved [0-9]+ bytes' -- true
ok "the error names the regex without a group" says "'moved \[0-9\]\+ bytes' has no \(group\) around the number to take" err
ok "a regex with a group is accepted" exits 0 collect --collect null --units 'regex:packets=([0-9]+) a second' -- echo '5 a second'
ok "an unknown --syscalls-method is a usage error" exits 2 collect --syscalls-method magic -- true
touch plain
ok "collect exits 1 when it cannot make the folder" exits 1 "$zcost" collect -o plain/r --collect cpu -- true
ok "the error names the folder that collect cannot make" says 'plain' err
ok "collect --list succeeds" exits 0 "$zcost" collect --list
ok "collect --list names perf" says '^perf ' out

# A workload in a network namespace: the host folder has its interfaces, and no mount stays.
if [ "$(id -u)" = 0 ] && command -v ip >/dev/null; then
	before=$(grep -c " sysfs " /proc/mounts)
	ok "collect describes the host of a workload in a network namespace" exits 0 "$zcost" collect -o r --collect host --warmup 1 --duration 0.1 \
		--grace 0 -- unshare -n sh -c 'ip link add zccoll0 type veth peer name zccoll1 && exec sleep 30'
	ok "the host folder has the interface of the workload's namespace" grep -q 'mtu = 1500' r/hosts/*/nic/zccoll0/sysfs
	ok "collect leaves no sysfs mounted" test "$(grep -c " sysfs " /proc/mounts)" = "$before"
else
	skip "collect describes the host of a workload in a network namespace" "needs root and ip"
fi

# --power-command is started when collectors are prepared, before the command.
"$zcost" collect -o early --collect power --power-command 'echo $$ >meter; exec sleep 1000' -- sleep 1000 2>err &
collect=$!
soon test -s meter
kill -KILL $collect
wait $collect 2>&1
ok "the power command of a run that was killed ends" soon eval '! kill -0 $(cat meter)'
ok "collect replaces a run that was killed early" exits 0 "$zcost" collect -o early --collect null -- true

# A signal inside the window: the run is marked as failed, and no process is left.
"$zcost" collect -o "$scratch/r" --collect all -- sh -c 'echo $$ >pid; sleep 1000 & echo $! >pid2; wait' 2>err &
collect=$!
soon test -s pid2
soon test -s r/proc_stat.snap
kill -TERM $collect
wait $collect
code=$?
ok "collect exits 1 on SIGTERM" test $code = 1
ok "run.json marks the run as failed by SIGTERM" is '[.status,.why]|join(" ")' "failed stopped by signal 15 (Terminated)"
ok "SIGTERM to collect ends the command" sh -c '! kill -0 $(cat pid)'
ok "SIGTERM to collect ends the command's children" sh -c '! kill -0 $(cat pid2)'
ok "SIGTERM to collect ends perf" test -z "$(grep -lzs "$scratch/[r]/perf.data" /proc/[0-9]*/cmdline)"

ok "-h behind -- belongs to the workload" sh -c '"$1" collect --collect null -o own -- echo -h && grep -qx -e -h own/workload.out' - "$zcost"

large() {
	(limit_memory 500000 && exits 1 "$zcost" collect -o large --collect null --units iperf3 --duration 0.2 -- \
		sh -c 'truncate -s 20G /proc/self/fd/1; sleep 1') && says 'large/workload.out: larger than 1024 MiB' err
}
ok "collect does not read a workload's output of 20 GiB into memory" large
done_testing
