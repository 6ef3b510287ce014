#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Errors about invalid plans and options, and --dry-run.
. "$(dirname "$0")/../lib.sh"
ZCOST_COLLECT=$tests/fake/collect
export ZCOST_COLLECT

cat >good.ini <<'EOT'
[plan]
repeats = 2
passes = measure, profile
warmup = 1
duration = 3
before = echo begin
[side receiver]
prefix = env A=1
[variant a]
what = the first
receiver = ${bindir}/tcpzc --rx recv
[variant b]
receiver = x
EOT
cat >bad.ini <<'EOT'
[plan]
repeats = 2
cpu = 1
EOT
printf '[plan]\n\0\n' >zero.ini
: >empty.ini
mkdir full && echo x >full/file

refuses() { # refuses CODE PATTERN COMMAND...
	code=$1 pattern=$2
	shift 2
	exits "$code" "$@" && says "$pattern" err && ! [ -e c ]
}

ok "capture refuses a missing plan" refuses 2 'nope.ini: cannot open: No such file' "$zcost" capture nope.ini -o c
ok "capture refuses an empty plan" refuses 2 'empty.ini: no \[variant NAME\] in it' "$zcost" capture empty.ini -o c
ok "capture refuses a binary file as a plan" refuses 2 'zero.ini: not a plan' "$zcost" capture zero.ini -o c
ok "the error about an unknown key has its line and the known keys" refuses 2 \
	"bad.ini:3: unknown key 'cpu' in \[plan\]; there are: name passes repeats" \
	"$zcost" capture bad.ini -o c
printf '[side receiver]\nunits = foo\n' >units.ini
printf '[side receiver]\n  units = none\n  cpus = 0\n' >indented.ini
ok "a plan with an indented first key is refused, with its line" refuses 2 \
	"indented.ini:2: a key begins at the start of its line: 'units = none'" "$zcost" capture indented.ini -o c
printf '[side reciever]\n[variant a]\nreciever = true\n' >misspelt.ini
ok "the error about a side without a role has its line and the role that is near" refuses 2 \
	"misspelt.ini:1: \[side reciever\] has no role; did you mean receiver\? add 'role = receiver'" "$zcost" capture misspelt.ini -o c
printf '[vars]\nlist = 1 2\n[setting size]\nvalues = ${list}\n' >variable.ini
ok "the values of a setting are refused with a variable" refuses 2 \
	"variable.ini:4: values: write the words: a variable has no value here" "$zcost" capture variable.ini -o c
ok "the error about an unknown adapter has its line and the known adapters" refuses 2 \
	"units.ini:2: units: no adapter 'foo'; there are tcpzc, iperf3, .*, regex:RE, nic:IF, tcp and none" \
	"$zcost" capture units.ini -o c
ok "--units refuses an unknown adapter" refuses 2 "--units: no adapter 'foo'; there are tcpzc" \
	"$zcost" capture -o c --variant a --units foo -- true
printf '[side receiver]\nunits = regex:bytes=[0-9]+\n' >group.ini
ok "the error about a regex without a group has its line" refuses 2 \
	"group.ini:2: units: regex:bytes=.*: '\[0-9\]\+' has no \(group\)" "$zcost" capture group.ini -o c
ok "--units refuses a regex that does not compile" refuses 2 "--units: regex:\(\[: .*is not an extended" \
	"$zcost" capture -o c --variant a --units 'regex:([' -- true
ok "capture refuses to run without a plan" refuses 2 'give a PLAN, or --variant' "$zcost" capture -o c
ok "capture refuses a command without --variant" refuses 2 'a COMMAND needs a name for it: --variant NAME -- true' \
	"$zcost" capture -o c -- true
ok "capture refuses two plans" refuses 2 'there can be only one PLAN' "$zcost" capture good.ini bad.ini -o c
ok "capture refuses to run without -o" refuses 2 'give -o CAPTURE' "$zcost" capture good.ini
ok "capture refuses --variant without a command" refuses 2 'give the COMMAND after --' \
	"$zcost" capture -o c --variant a
ok "capture refuses a variant name with a slash" refuses 2 "'a/b' is no name for a variant" \
	"$zcost" capture -o c --variant a/b -- true
ok "capture refuses 0 repeats" refuses 2 "'0' is not a number of repeats" \
	"$zcost" capture good.ini -o c --repeat 0
ok "capture refuses --cpus together with a plan" refuses 2 'belong to --variant' \
	"$zcost" capture good.ini -o c --cpus 1
ok "capture exits 1 on a folder that is not a capture" exits 1 "$zcost" capture good.ini -o full
ok "the error names the folder that is not a capture" says 'full: the folder has files but no manifest.json, so it is not a capture' err
ok "capture changes nothing in a folder that is not a capture" test "$(ls full)" = file
mkdir home && touch home/.bashrc
ok "capture refuses a folder with hidden files only" exits 1 "$zcost" capture good.ini -o home

ok "--dry-run succeeds without -o" exits 0 "$zcost" capture good.ini --dry-run
cat >want <<EOT
variant a: the first
  receiver env A=1 $build/tcpzc --rx recv
variant b
  receiver env A=1 x
before: echo begin
order: interleaved, seed 1
  1 b/measure-01
  2 a/measure-01
  3 b/profile-01
  4 a/profile-01
  5 a/profile-02
  6 b/profile-02
  7 a/measure-02
  8 b/measure-02
8 runs of 1 s warm-up and 3 s window: about 0:40; up to 2:00 if no workload ends by itself (grace)
EOT
ok "--dry-run prints the commands, the seed, the runs and the estimated time" diff want out
runs_in() { sed 's/^repeats/seed = '"$1"'\n&/' good.ini >seed.ini && "$zcost" capture seed.ini --dry-run 2>/dev/null | grep '/[a-z]*-0[12]$'; }
runs_in 1 >one
runs_in two >two
ok "the same seed makes the same order" sh -c "grep '/[a-z]*-0[12]$' want | cmp - one"
ok "another seed makes another order of the same runs" sh -c "! cmp one two && sed 's/.* //' one | sort >a && sed 's/.* //' two | sort | cmp - a"
{ sed 's/^receiver = x/&\nsender = true/' good.ini; echo 'sender = true'; } | sed 's/^\[variant a\]/[side sender]\n&/
	s/^what = .*/&\nsender = true/; $d' >two.ini
ok "--dry-run of a plan with two sides succeeds" exits 0 "$zcost" capture two.ini --dry-run
ok "--dry-run counts the time that a receiver waits for its sender" says \
	': about 0:40; up to 2:40 if no workload ends by itself \(grace\)$' out
ok "--dry-run of a wrapped command succeeds" exits 0 "$zcost" capture --dry-run --variant a --repeat 3 \
	--pass measure --duration 2 -- sh -c 'echo "a  b"'
ok "--dry-run prints a wrapped command with quotes" says "local    sh -c 'echo \"a  b\"'" out

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$scratch"
	cp "$zcost" zcost && chmod 755 zcost
	user='setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all'
	level=$(cat /proc/sys/kernel/perf_event_paranoid)
	if [ "$level" -gt 0 ]; then
		ok "capture exits 1 when the user may not profile" exits 1 $user ./zcost capture good.ini -o c
		ok "the error names the missing permission and --pass measure" says \
			"'profile' samples whole CPUs, which needs root.*--pass measure" err
		ok "capture makes no folder when the user may not profile" test ! -e c
	else
		skip "capture exits 1 when the user may not profile" "perf_event_paranoid is $level: everyone may"
	fi
	if [ "$level" -gt -1 ]; then
		ok "capture exits 1 when the user may not load BPF for syscalls" exits 1 $user ./zcost capture -o c --variant a \
			--pass syscalls -- true
		ok "the error about the syscalls pass says that it needs root" says "'syscalls' loads a BPF program, which needs root" err
	else
		skip "capture exits 1 when the user may not load BPF for syscalls" "perf_event_paranoid is $level: everyone may"
	fi
else
	skip "capture exits 1 when the user lacks a permission" "needs root and setpriv to become someone else"
fi

# Programs that are not there.
one() { # one COMMAND [SIDE_KEY]: a plan with this command
	printf '[plan]\npasses = measure\n[side receiver]\nunits = none\n%s\n[variant a]\nreceiver = %s\n' "${2:-}" "$1" >one.ini
}
one no-such-program
ok "capture of a plan with a program that is not in PATH exits 2" exits 2 "$zcost" capture one.ini -o gone-program
ok "capture makes no run without the program" test "$(find gone-program -name run.json | wc -l)" = 0
ok "capture names the variant, the side and the program once" test "$(grep -c "variant a, receiver: there is no program 'no-such-program' in PATH: install it" err)" = 1
echo >not-a-program
missing() { # missing PATTERN: --dry-run exits 2 and says so
	exits 2 "$zcost" capture one.ini --dry-run && says "$1" err
}
while IFS='|' read -r command prefix pattern; do
	one "$command" "${prefix:+prefix = $prefix}"
	ok "--dry-run finds what is missing in '$prefix $command'" missing "$pattern"
done <<EOT
no-such-program||variant a, receiver: there is no program 'no-such-program' in PATH: install it
no-such-program|taskset -c 0|there is no program 'no-such-program' in PATH
nice -n 5 env A=1 stdbuf -oL -e 0 no-such-program -c||there is no program 'no-such-program' in PATH
ip netns exec nowhere chrt -f 5 no-such-program||there is no program 'no-such-program' in PATH
ionice -c 2 timeout -k 1 5 no-such-program||there is no program 'no-such-program' in PATH
$scratch/gone --listen|ip netns exec x|receiver: there is no $scratch/gone: build or install it
./not-a-program||./not-a-program: not executable: chmod
EOT
while IFS='|' read -r command key; do
	one "$command" "$key"
	ok "--dry-run accepts '$command' with '$key'" exits 0 "$zcost" capture one.ini --dry-run
done <<'EOT'
nice -n 5 env A=1 stdbuf -oL -e 0 true -c|
env -S "no-such-program x"|
no-such-program|prefix = env docker exec box
no-such-program|host = ssh://far
EOT
mkdir no-perf; ln -s "$(command -v sleep)" no-perf
one "sleep 1"
sed -i 's/^passes = measure/passes = measure,profile/' one.ini
ok "--dry-run accepts a plan without perf" exits 0 env PATH="$PWD/no-perf" "$zcost" capture one.ini --dry-run
ok "the warning says that perf is missing for the profile pass" says 'warning: the profile pass will give no costs of functions: no perf program here' err
one ./built
sed 's|^\[side|before = printf "#!/bin/sh\\nexec sleep 5\\n" >built; chmod +x built\nrepeats = 1\nwarmup = 0\nduration = 0.1\ngrace = 0\n[side|' one.ini >build.ini
rm -f built
ok "--dry-run accepts a program that before may build" exits 0 "$zcost" capture build.ini --dry-run
ok "a note says that the program is missing now" says "^zcost: variant a, receiver: there is no ./built: .*, unless 'before' makes it$" err
ok "capture runs a program that before builds" exits 0 "$zcost" capture build.ini -o built-program
sed 's/^receiver_host = .*/receiver_host = me@left/; s/^sender_host = .*/sender_host = me@right/; s/^address = .*/address = 10.0.0.1/' \
	"$top/samples/two-hosts.ini" >two.ini
ok "two-hosts.ini is a plan after a change of its three values" exits 0 "$zcost" capture two.ini --dry-run
ok "two-hosts.ini then has the new values alone" sh -c "grep -q 'connect 10.0.0.1' out && ! grep -E '[.]example|192[.]0[.]2' out"
printf '[plan]\nrepeats = 6\nprofile_repeats = 1\n[side receiver]\n[variant a]\nreceiver = true\n[variant b]\nreceiver = true\n' >few.ini
ok "--dry-run accepts a plan with too few runs for a verdict" exits 0 "$zcost" capture few.ini --dry-run
ok "--dry-run names the key that a verdict on functions needs" says 'pass profile: 1 run of each variant .*set profile_repeats in .plan. to 6 or more' err
ok "--dry-run warns that no side has units" says '^zcost: warning: no side has units: there will be no throughput' err
ok "--dry-run does not warn of units where one side has them" sh -c \
	"sed 's/^.side receiver./&\nunits = tcp/' few.ini >units.ini && '$zcost' capture units.ini --dry-run >said 2>&1 && ! grep 'no side has units' said"
ok "--dry-run does not name a pass with enough runs" sh -c "! grep -q 'pass measure' err"
ok "--dry-run makes as many profiles as measured runs" exits 0 "$zcost" capture good.ini --dry-run --repeat 3
ok "--dry-run names 'repeats' where the profiles follow it" says 'pass profile: 3 runs of .*set repeats in .plan. to 6 or more' err
ok "--dry-run names the runs that a verdict on a metric needs" says 'pass measure: 3 runs of .* a verdict of .*set repeats in .plan. to 5 or more' err
exits 0 "$zcost" capture good.ini --dry-run --repeat 5
ok "--dry-run says that five profiles are too few for a list of functions" says \
	'^zcost: pass profile: 5 runs of .* lists of functions or components .*set repeats in .plan. to 6 or more$' err
ok "--dry-run does not name the measure pass with five runs" sh -c "! grep -q 'pass measure' err"
sed '/repeats/d' good.ini >default.ini
ok "the default of repeats gives a verdict on metrics and lists" sh -c \
	"'$zcost' capture default.ini --dry-run >said 2>&1 && ! grep 'too few for' said"

cat >vars.ini <<'EOT'
[plan]
passes = measure
repeats = ${runs}
warmup = 0
duration = 0.05
grace = 0
[vars]
size = 128k
# the command
run = sleep
	60
	# which ends with the run
[side receiver]
[variant a]
receiver = ${run} ${size}
EOT
sed -i '1i [vars]\nruns = 1' vars.ini
ok "--set replaces a variable of [vars]" exits 0 "$zcost" capture vars.ini --dry-run --set size=64k --set run='sleep 30 1'
ok "--dry-run shows each --set with the value in the plan" says '^set size = 64k \(128k in the plan\)$' out
ok "--set replaces all lines of a value" says '^  receiver sleep 30 1 64k$' out
ok "--set of an unknown variable lists the plan's variables" refuses 2 \
	'^zcost: --set siez: vars.ini has no such variable; \[vars\] has: runs size run$' "$zcost" capture vars.ini -o c --set siez=64k
ok "--set without a value is a usage error" refuses 2 "^zcost: --set 'size' is not NAME=VALUE" "$zcost" capture vars.ini -o c --set size
ok "--set with --variant is a usage error" refuses 2 'changes a variable of a plan' "$zcost" capture -o c --variant a --set size=1 -- true
ok "capture --set measures the changed plan" exits 0 "$zcost" capture vars.ini -o v --set size=0.1
ok "plan.ini of the capture is the plan as used" sh -c "sed 's/^size = .*/size = 0.1/' vars.ini | diff - v/plan.ini"
ok "the same --set continues the capture" exits 0 "$zcost" capture vars.ini -o v --set size=0.1 --set runs=2
ok "another --set is refused like another plan" exits 1 "$zcost" capture vars.ini -o v --set size=0.2
ok "the refusal names the command that the variable changes" says "v holds another experiment: variant 'a' was measured with receiver.command = 'sleep" err
ok "capture --set measures another value in another folder" exits 0 "$zcost" capture vars.ini -o w --set size=0.2
for c in v w; do "$zcost" analyze $c >log 2>&1; done
"$zcost" compare v:a w:a --table settings --format tsv >out 2>err
ok "compare lists the variables that differ" sh -c "grep '	var:' out | cut -f 2-4 | tr '\t\n' '  ' | grep -qx 'var:runs 2 1 var:size 0.1 0.2 '"
done_testing
