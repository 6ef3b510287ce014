#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Without root: collect measures what it can, and every refusal names the way out. With root and --user: the
# workload has no right of root.
. "$(dirname "$0")/../lib.sh"

need root setpriv

chmod 755 .
cp "$zcost" zcost && chmod 755 zcost # nobody may not be able to enter the checkout
mkdir home && chown 65534 home
as_nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$@"
}
as_nobody test -x "$scratch/zcost" || skip_all "nobody may not enter $scratch: set TMPDIR"
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)

nobody() {
	(cd home && as_nobody ../zcost collect -o r "$@") >out 2>err
	got=$?
	[ "$got" = "$code" ] || { echo "exit $got, expected $code"; cat err; return 1; }
}

state() {
	jq -r ".collectors[] | select(.name == \"$1\") | .state" home/r/run.json
}

code=4
ok "collect --collect all by nobody exits 4" nobody --verbose --collect all -- sh -c 'echo hello'
ok "the run by nobody is ok" test "$(jq -r .status home/r/run.json)" = ok
ok "the command by nobody runs" says hello home/r/workload.out
ok "nobody can measure CPU time" test "$(state cpu)" = ok
ok "nobody can measure the network softirq" test "$(state softnet)" = ok
ok "nobody cannot count system calls" test "$(state syscalls)" = unsupported
ok "the warning about BPF names CAP_BPF and CAP_PERFMON" says 'syscalls: .*bpf: BPF is not permitted: run as root, or with CAP_BPF and CAP_PERFMON' err
ok "the warning about tracepoints names root" says 'tracepoint: tracepoints are not permitted: run as root' err
if [ "$paranoid" -ge 1 ]; then
	ok "nobody cannot profile" test "$(state perf)" = unsupported
	ok "the warning about perf names CAP_PERFMON and perf_event_paranoid" says "perf: .*run as root, or with CAP_PERFMON, or set kernel.perf_event_paranoid" err
	ok "the warning about counters has the current perf_event_paranoid" says "counters: .*kernel.perf_event_paranoid to -1 \(it is $paranoid\)" err
else
	skip "nobody cannot profile" "kernel.perf_event_paranoid is $paranoid"
fi
stext() { # stext FILE: the line of _stext; the first symbols may be at 0 for everybody
	grep -m 1 ' _stext$' "$1"
}
if as_nobody cat /proc/kallsyms | stext - | grep -q '^0* '; then
	ok "kernel symbols without addresses give a warning that names kptr_restrict" says 'host: .*kptr_restrict' err
	cp -r home/r/hosts/* y && ./zcost collect -o r2 --host-dir y --collect host -- true
	ok "root's next run replaces kernel symbols without addresses" test "$(stext y/kallsyms)" = "$(stext /proc/kallsyms)"
else
	ok "nobody can read the kernel symbols" test "$(state host)" = ok
fi
mkdir -p z && cp home/r/hosts/*/host.json z
# The first symbols as a kernel before 6.15 lists them.
printf '%s\n' '0000000000000000 A fixed_percpu_data' '0000000000001000 A cpu_debug_store' >z/kallsyms
./zcost collect -o r2 --host-dir z --collect host -- true
ok "kernel symbols with a first address of 0 are not replaced" grep -q fixed_percpu_data z/kallsyms

# The manual's table of rights has every collector that measures less without root.
jq -r '.collectors[] | .name + " " + .state' home/r/run.json | sort >as-nobody
"$zcost" collect -o as-root --collect all -- true 2>err
jq -r '.collectors[] | .name + " " + .state' as-root/run.json | sort | join - as-nobody |
	awk '$2 != $3 { print $1 }' >less
sed -n '/^## Rights/,/^## Examples/s/^| \([a-z, ]*\) |.*/\1/p' "$top/docs/man/collect.md" | tr -d ',' | tr ' ' '\n' | sort -u >manual
ok "some collectors measure less without root" test -s less
ok "the manual names each collector that measures less without root" test -z "$(comm -23 less manual)"
ok "every collector that the manual's table of rights names exists" \
	test "$("$zcost" collect --list | awk '{ print $1 }' | sort | comm -13 - manual)" = collector

code=0
ok "nobody can collect softnet and cpu" nobody --collect softnet,cpu -- sleep 0.1
ok "collect prints no warning for softnet and cpu" test "$(cat err)" = "zcost: r: replacing the earlier run in this folder"
ok "nobody can collect sockets until the command ends" nobody --collect tcp -- sleep 0.1
code=4
if [ "$paranoid" -ge 1 ]; then
	ok "collect --pass measure by nobody exits 4" nobody --pass measure -- sleep 0.1
	ok "one line lists what nobody cannot measure" test "$(grep -c '^zcost: not measured here: .*counters' err)" = 1
	ok "collect --pass profile by nobody exits 4" nobody --pass profile -- true
else
	skip "collect --pass measure by nobody exits 4" "kernel.perf_event_paranoid is $paranoid"
fi

mkdir sys sys/class sys/class/powercap sys/class/powercap/intel-rapl:0
echo 1 >sys/class/powercap/intel-rapl:0/energy_uj
chmod 400 sys/class/powercap/intel-rapl:0/energy_uj
ZCOST_SYSFS=$PWD/sys
export ZCOST_SYSFS
ok "collect exits 4 when only root may read the energy counters" nobody --collect power -- true
ok "the warning about energy counters names root" says 'power: .*not readable: run as root' err
code=0
ok "collect by nobody succeeds with a --power-command beside them" nobody --collect power --power-command 'echo 5' -- true
ok "run.json marks power as ok with a --power-command" test "$(state power)" = ok
ok "run.json notes the unreadable energy counters" says 'energy counters are there but not readable: run as root' home/r/run.json
unset ZCOST_SYSFS

# --user: the workload writes its own state, and zcost ends it.
cat >show <<-'EOF'
	#!/bin/sh
	grep -E '^(Uid|Gid|Groups|Cap|NoNewPrivs)' /proc/self/status
	tr '\0' '\n' </proc/$$/environ | sed 's/^/env /'
	(cd /proc/$$/fd && echo fds [3-9]*)
	ip -br link 2>&1
	echo pid $$
	exec sleep 20
EOF
chmod 755 show
cat >plan.ini <<-EOF
	$short_plan
	before = ip netns add zcost-user-$$ && id -u >$scratch/hook
	after = ip netns del zcost-user-$$
	[side receiver]
	collect = cpu,host
	units = regex:pid ([0-9]+)
	prefix = ip netns exec zcost-user-$$
	user = nobody
	[variant one]
	receiver = $scratch/show
EOF
cleanup() { ip netns del "zcost-user-$$" 2>/dev/null; }
run=cap/runs/one/measure-01/receiver
shown() { # shown PATTERN: the workload wrote a line like this
	says "$1" $run/workload.out
}
exec 8<"$scratch/show" # a descriptor that zcost inherits
ok "capture runs a side with a prefix that needs root as another user" exits 0 "$zcost" capture plan.ini -o cap
exec 8<&-
ok "the prefix leads the workload into its network namespace" shown '^lo .*DOWN'
ok "the workload has the ids of the user" shown '^Uid:	65534	65534	65534	65534$'
ok "the workload has the group of the user" shown '^Gid:	65534	65534	65534	65534$'
ok "the workload has no group of root" shown '^Groups:	65534 *$'
ok "the workload has no capability and can get none" test "$(grep -c '^Cap[A-Z].*:	0*$' $run/workload.out)" = 5
ok "no program brings the workload the rights of root" shown '^NoNewPrivs:	1$'
home=$(getent passwd nobody | cut -d: -f6) shell=$(getent passwd nobody | cut -d: -f7)
printf '%s\n' "HOME=$home" LC_ALL=C LOGNAME=nobody "PATH=$PATH" "SHELL=$shell" USER=nobody >want
ok "the workload has the user's variables, and of root's only PATH, LANG and LC_*" \
	test "$(sed -n 's/^env //p' $run/workload.out | grep -v '^ZCOST_RUN=\|^LANG=' | sort | diff want -)" = ""
ok "the workload has zcost's mark of the run" shown "^env ZCOST_RUN=$scratch/cap/runs/one/.measure-01.tmp/receiver#"
ok "the workload inherits no descriptor of zcost or of its caller" shown '^fds \[3-9\]\*$'
ok "zcost ends the workload of another user" test ! -e "/proc/$(sed -n 's/^pid //p' $run/workload.out)"
# What the capture knows of this host and its user must not be in an anonymous archive.
"$zcost" analyze cap 2>err && "$zcost" pack cap --anonymous -o cap.tar.zst 2>err || cat err
zstd -qdc cap.tar.zst >plain.tar
for secret in "zcost-user-$$" "$scratch" "$(cat /proc/sys/kernel/random/boot_id)" nobody; do
	ok "the capture has $secret" grep -rqF "$secret" cap
	ok "the anonymous archive does not have $secret" test "$(grep -acF "$secret" plain.tar)" = 0
done
ok "hooks of the plan run as root" test "$(cat hook)" = 0
ok "run.json names the user" test "$(jq -r .user $run/run.json)" = nobody
ok "run.json has the command of the plan" test "$(jq -c .command $run/run.json)" \
	= "[\"ip\",\"netns\",\"exec\",\"zcost-user-$$\",\"$scratch/show\"]"
ok "the manifest records the user of the side" \
	test "$(jq -r '.variants[0].settings["receiver.user"]' cap/manifest.json)" = nobody
"$zcost" capture plan.ini --dry-run --user root >out 2>err
ok "--user of capture replaces the user of the plan" says '\[user root\]' out

# What belongs to root's session stays root's.
cp "$build/tests/tools/steal" steal && cp /usr/bin/id suid && chmod 4755 suid
stolen() { # stolen PATTERN: what steal got as the workload
	says "$1" r4/workload.out
}
[ "$(cat /proc/sys/dev/tty/legacy_tiocsti 2>/dev/null)" = 0 ] && typed=opened || typed='typed into'
ok "a workload of root runs in a terminal" exits 0 \
	"$build/tests/tools/steal" terminal "$zcost" collect -o r4 --collect null -- ./steal
ok "a workload of root can type into root's terminal, where the kernel allows that" stolen "^terminal: $typed$"
ok "collect --user succeeds in a terminal" exits 0 \
	"$build/tests/tools/steal" terminal "$zcost" collect -o r4 --collect null --user nobody -- ./steal
ok "the workload of another user cannot open root's terminal" stolen '^terminal: No such device or address$'
ok "nothing was typed into root's terminal" test "$(grep -c 'terminal: over' out) $(grep -c typed out)" = "1 0"
if "$build/tests/tools/steal" key true 2>err; then
	"$build/tests/tools/steal" key ./steal >out
	ok "a process of root's session can read root's key" says '^key: secret$' out
	ok "collect --user succeeds in a session with a key" exits 0 \
		"$build/tests/tools/steal" key "$zcost" collect -o r4 --collect null --user nobody -- ./steal
	ok "the workload of another user cannot read root's key" stolen '^key: Required key not available$'
else
	skip "the workload of another user cannot read root's key" "$(cat err)"
fi
if [ "$(as_nobody ./suid -u)" = 65534 ] && [ "$(as_nobody ./suid)" != "$(as_nobody id)" ]; then
	ok "collect --user runs a setuid program" exits 0 "$zcost" collect -o r4 --collect null --user nobody -- ./suid
	ok "a setuid program in the workload of another user does not become root" test "$(grep -c euid r4/workload.out)" = 0
else
	skip "a setuid program in the workload of another user does not become root" "$scratch is mounted with nosuid"
fi

# A command is held until the window opens. This perf never switches its events on, so that it stays held.
mkdir bin
cat >bin/perf <<-'EOF'
	#!/usr/bin/perl
	if ($ARGV[0] eq '--version') { print "perf version 6.1.0\n"; exit }
	my ($in, $out) = map { /^--control=fd:(\d+),(\d+)/ } @ARGV or exit 1;
	open my $commands, "<&=$in";
	open my $answers, ">>&=$out";
	<$commands>;
	syswrite $answers, "ack\n";
	<$commands>;
	open my $ready, '>', 'held';
	sleep 30;
EOF
chmod 755 bin/perf
PATH=$PWD/bin:$PATH "$zcost" collect -o r5 --collect perf --user nobody -- sleep "64.$$" >out 2>err &
pid=$!
soon test -e held
held=$(cat /proc/[0-9]*/stat 2>/dev/null | awk -v p=$pid '$4 == p && $3 == "T" { print $1 }')
ok "a command of another user is held until the window opens" test -n "$held"
kill -KILL $pid
ended() { ! grep '^State:	[^Z]' "/proc/$held/status"; }
ok "a held command of another user ends when collect gets SIGKILL" soon ended

ok "collect --user succeeds under another limit of locked memory" exits 0 \
	prlimit --memlock=4194304 "$zcost" collect -o r3 --collect cpu --user nobody -- sh -c 'ulimit -l'
ok "the workload of another user has zcost's limit of locked memory" says '^4096$' r3/workload.out
ok "an unknown user is an error of usage" exits 2 "$zcost" capture plan.ini -o cap2 --user no-such-user
ok "the error says that the host has no such user" says '--user no-such-user: this host has no such user' err
code=2
ok "--user without root is an error of usage" nobody --user root -- true
ok "the error about --user names sudo" says '--user root: only root can run a command as another user: use sudo' err

code=1
ok "collect exits 1 when nobody cannot write the folder" nobody -o /proc/r -- true
ok "the error names the folder that nobody cannot write" says '/proc/r: cannot make the folder' err

done_testing
