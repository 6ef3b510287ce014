#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Variants times settings: the order of the setting changes, their undo after every failure, and what the
# manifest and the messages contain. The collector is a stand-in for `zcost collect`.
. "$(dirname "$0")/../lib.sh"
ZCOST_COLLECT=$tests/fake/collect
FAKE_LOG=$scratch/hooks # runs and hooks write to one file, to check their order
FAKE_HOLD=$scratch/hold
export ZCOST_COLLECT FAKE_LOG FAKE_HOLD
need jq

# A file named mtu in the scratch folder replaces the interface.
plan() { # plan [SED]: prints the plan, edited by a sed script
	cat <<-'EOT' | sed "${1:-}"
		[plan]
		seed = 3
		repeats = 2
		passes = measure
		warmup = 0.02
		duration = 0.05
		grace = 0
		before = echo begin >>hooks
		after = echo end >>hooks
		[vars]
		cpu = 0
		[setting mtu]
		values = 1500 9000
		save = cat mtu
		before = echo mtu ${mtu} >>hooks; echo ${mtu} >mtu
		after = echo mtu back to $saved >>hooks; echo $saved >mtu
		[value mtu=9000]
		what = jumbo
		[setting gro]
		values = on off
		before = echo gro ${gro} >>hooks
		after = echo gro back from ${gro} >>hooks
		[matrix]
		exclude = variant=b gro=off mtu=9000
		[side receiver]
		cpus = ${cpu}
		[variant a]
		what = the first
		receiver = sleep 60
		[variant b]
		receiver = sleep 60
	EOT
}

took() { # the log without timestamps: "run b+mtu9000+gro-on/measure-1"
	sed 's/^\([^ ]*\) receiver .*/run \1/' hooks
}

fresh() {
	rm -f hooks
	echo 1400 >mtu
}

plan 's/^exclude = .*/cross = mtu\nexclude = gro=off/' >p.ini
ok "capture refuses an exclude of a setting that is not in 'cross'" exits 2 "$zcost" capture --dry-run p.ini -o c
ok "the error about exclude has the plan's line" says "p.ini:[0-9]+: exclude: a line leaves out no combination" err
plan >p.ini
fresh
ok "capture runs a plan with a matrix of two settings" exits 0 "$zcost" capture p.ini -o c
cat >want <<'EOT'
begin
mtu 1500
gro on
run a+mtu1500+gro-on/measure-1
run b+mtu1500+gro-on/measure-1
gro back from on
gro off
run a+mtu1500+gro-off/measure-1
run b+mtu1500+gro-off/measure-1
gro back from off
mtu back to 1400
mtu 9000
gro on
run a+mtu9000+gro-on/measure-1
run b+mtu9000+gro-on/measure-1
gro back from on
gro off
run a+mtu9000+gro-off/measure-1
run a+mtu9000+gro-off/measure-2
gro back from off
gro on
run b+mtu9000+gro-on/measure-2
run a+mtu9000+gro-on/measure-2
gro back from on
mtu back to 1400
mtu 1500
gro off
run b+mtu1500+gro-off/measure-2
run a+mtu1500+gro-off/measure-2
gro back from off
gro on
run b+mtu1500+gro-on/measure-2
run a+mtu1500+gro-on/measure-2
gro back from on
mtu back to 1400
end
EOT
took >got
ok "each run has its settings, and each setting is undone before it changes" diff want got
ok "the saved MTU is there again after the capture" test "$(cat mtu)" = 1400
ok "no undo state is left after a whole capture" test ! -e "$(undo_state c)"
ok "the manifest has the settings of each variant" jq -e '.complete and
	(.variants[5] | .name == "b+mtu9000+gro-on" and .base == "b" and
	.matrix == {"mtu": "9000", "gro": "on"} and .what == "jumbo, gro on" and
	.settings["setting.mtu"] == "9000" and .settings["mtu.after"] != null)' c/manifest.json
ok "the manifest describes a variant by its text and its settings" jq -e \
	'.variants[0].what == "the first, mtu 1500, gro on"' c/manifest.json

"$zcost" capture --dry-run p.ini >dry
sed -n 's/^    set \([a-z]*\)=\([a-z0-9]*\): echo .*/\1 \2/p; s/^ *[0-9]* \(.*\)-0\([12]\)$/run \1-\2/p
	s/^    undo mtu=.*/mtu back to 1400/p; s/^    undo gro=\(.*\):.*/gro back from \1/p
	s/^before: .*/begin/p; s/^after: .*/end/p' dry >got
ok "--dry-run prints the same steps in the same order" diff want got
ok "--dry-run prints each command with its variables filled in" says \
	'^    set mtu=9000: echo mtu 9000 >>hooks; echo 9000 >mtu$' dry
ok "--dry-run prints the commands that save" says '^    set mtu=1500: saved = cat mtu$' dry
ok "--dry-run counts the changes of settings" says ', 6 changes of settings: about' dry
ok "--dry-run of a complete capture succeeds" exits 0 "$zcost" capture --dry-run p.ini -o c
ok "--dry-run of a complete capture has 0 runs to do" says '^0 runs of .*: about 0:00$' out

plan 's/1500 9000/1500/; /^.value mtu=9/,+1d; /^exclude/d' >p.ini
sed 's/^repeats/order = blocks\n&/' p.ini >blocks.ini
fresh
ok "capture runs a plan with order = blocks" exits 0 "$zcost" capture blocks.ini -o b
ok "order = blocks sets up each combination once" test "$(grep -c '^gro o' hooks),$(grep -c '^mtu [19]' hooks)" = 2,1
ok "order = blocks alternates the variants within a combination" test "$(took | grep -A3 -m1 run | tr '\n' ' ')" = "run \
a+mtu1500+gro-on/measure-1 run b+mtu1500+gro-on/measure-1 run b+mtu1500+gro-on/measure-2 run \
a+mtu1500+gro-on/measure-2 "
ok "a change of order does not make another experiment" exits 0 "$zcost" capture p.ini -o b
sed 's/gro ${gro} /&again /' p.ini >other.ini
ok "a change of hooks makes another experiment, which capture refuses" exits 1 "$zcost" capture other.ini -o b
ok "the error names the hook that differs" says "'a\+mtu1500\+gro-on' was measured with gro.before = 'echo" err

# --- failures ---

plan 's/^before = echo gro.*/before = test ${gro} = on || { echo no such offload >\&2; exit 3; }/
	s/^repeats = 2/repeats = 1/' >p.ini
fresh
ok "capture exits 4 when one setting's 'before' fails" exits 4 "$zcost" capture p.ini -o f
ok "the error names the failed 'before' and its exit status" says "a\+mtu1500\+gro-off/measure-01 failed: setting gro=off's 'before' exited with \
status 3: test off" err
ok "runs under other settings succeed when one 'before' fails" test "$(jq -r '.runs[] | select(.status == "ok") |
	.variant' f/manifest.json | tr '\n' ' ')" = \
	"a+mtu1500+gro-on b+mtu1500+gro-on a+mtu9000+gro-on b+mtu9000+gro-on "
ok "a failed 'before' runs once per combination, not once per run" test "$(grep -c '^no such offload' err)" = 2
ok "a setting with a failed 'before' is undone" test "$(grep -c 'gro back from off' hooks)" = 2
ok "the other settings and the plan are undone after a failed 'before'" test "$(cat mtu),$(tail -n 1 hooks)" = 1400,end

plan 's/^after = echo gro.*/after = test ${gro} = on || test -e mended/
	s/^repeats = 2/repeats = 1/' >p.ini
fresh
ok "capture exits 1 when a setting's 'after' fails" exits 1 "$zcost" capture p.ini -o g
ok "the error has the failed 'after' without the journal's additions" says \
	"^zcost: setting gro=off's 'after' exited with status 1: test off = on \|\| test -e mended\$" err
ok "a failed 'after' ends the capture before the next run" test "$(grep -c '^a+' hooks)" = 2
ok "the other settings and the plan are undone after a failed 'after'" test "$(cat mtu),$(tail -n 1 hooks)" = 1400,end
ok "a second capture exits 1 when the 'after' fails again" exits 1 "$zcost" capture p.ini -o g
ok "a second capture tries the failed 'after' again" says "^zcost: setting gro=off's 'after' exited" err
ok "the error names capture --undo and the folder to remove" says "not undone yet: .* 'zcost capture --undo -o g'. .*remove $(undo_state g)$" err
: >mended
ok "a second capture succeeds when the 'after' succeeds" exits 0 "$zcost" capture p.ini -o g
ok "that capture completes all runs" jq -e .complete g/manifest.json

# The plan's 'after' removes what the setting's 'after' would undo, as a namespace takes its interfaces along.
plan 's/^before = echo begin/before = mkdir -p bed; echo begin/; s/^after = echo end/after = rm -r bed; echo end/
	s/^before = echo gro.*/before = echo no such feature >\&2; exit 3/
	s/^after = echo gro.*/after = echo undo ${gro} >>hooks; test -d bed \&\& exit 4; echo no bed >\&2; exit 5/' >p.ini
fresh
ok "capture exits 1 when both 'before' and 'after' fail" exits 1 "$zcost" capture p.ini -o n
ok "the errors name the 'before', then the 'after', then the way out" test "$(grep '^zcost: ' err |
	sed "s/^zcost: //; s/: .*//; s/ status//" | tr '\n' '|')" = "setting gro=on's 'before' exited with 3|\
setting gro=on's 'after' exited with 4|not undone yet|"
ok "the failed 'after' runs once, before the plan's 'after'" test "$(tr '\n' ' ' <hooks)" = \
	"begin mtu 1500 undo on mtu back to 1400 end "
ok "a second capture exits 1 when the plan's 'after' has removed what to undo" exits 1 "$zcost" capture p.ini -o n
ok "capture --undo exits 1 when the 'after' fails again" exits 1 "$zcost" capture --undo -o n
ok "capture --undo reports that the setting is not undone" says "^zcost: not undone yet: the next capture into n" err
rm -r "$(undo_state n)"
plan 's/^repeats = 2/repeats = 1/' >p.ini
ok "capture succeeds in the folder without its undo state" exits 0 "$zcost" capture p.ini -o n

plan 's/^save = cat mtu/save = nonesuch-tool | sed p/; s/^repeats = 2/repeats = 1/' >p.ini
fresh
ok "capture exits 1 when a 'save' prints nothing" exits 1 "$zcost" capture p.ini -o e
ok "the error names the 'save' that printed nothing" says "a\+mtu1500\+gro-on/measure-01 failed: setting mtu=1500's \
'save' printed nothing, and \\\$saved in its 'after' would be empty: nonesuch-tool" err
ok "a setting with an empty 'save' is not set" test "$(tr '\n' ' ' <hooks),$(cat mtu)" = "begin end ,1400"
ok "an empty 'save' leaves no undo state" test ! -e "$(undo_state e)"

# --- SIGKILL ---

# ended SIGNAL CAPTURE LINE: signals the capture when it appends LINE to the hooks' log. A run named LINE lasts until then.
ended() {
	: >>hooks
	had=$(wc -l <hooks)
	echo "$3" >hold
	"$zcost" capture p.ini -o "$2" 2>err &
	pid=$!
	soon appended "$3"
	in_time=$?
	kill -"$1" $pid
	wait $pid 2>/dev/null
	rm hold
	return $in_time
}
appended() { # appended LINE
	tail -n +$((had + 1)) hooks | grep -q "^$1"
}

killed() { # killed CAPTURE LINE
	fresh
	ended KILL "$@" || return 1
	echo killed >>hooks
}

plan 's/^repeats = 2/repeats = 1/' >p.ini
ok "the fourth run begins before SIGKILL" killed k 'b+mtu1500+gro-off/measure-1'
ok "the same command completes a capture that was killed in a run" exits 0 "$zcost" capture p.ini -o k
ok "the next capture reports that it undoes a killed one" says "an earlier capture here was killed, or an 'after' failed: undoing" err
ok "the next capture undoes the killed one's settings in reverse order" test "$(sed -n '/killed/,/begin/p' hooks |
	tr '\n' ' ')" = "killed gro back from off mtu back to 1400 end begin "
ok "no setting and no undo state is left after the restart" test "$(cat mtu)" = 1400 -a ! -e "$(undo_state k)"
ok "the restarted capture has all seven runs" jq -e '.complete and (.runs | length) == 7' k/manifest.json

plan 's/^before = echo mtu.*/&; sleep 63.${mtu}/; s/^repeats = 2/repeats = 1/' >p.ini
ok "a setting's 'before' begins before SIGKILL" killed l 'mtu 1500'
ok "the next capture begins the same 'before' and gets SIGINT" ended INT l 'mtu 1500'
ok "the next capture first undoes what the killed 'before' began" test "$(sed -n '/killed/,$p' hooks | head -n 4 | tr '\n' ' ')" = \
	"killed mtu back to 1400 end begin "
ok "SIGINT in a 'before' undoes that setting" test "$(tail -n 3 hooks | tr '\n' ' '),$(cat mtu)" = \
	"mtu 1500 mtu back to 1400 end ,1400"

plan 's/^repeats = 2/repeats = 1/' >p.ini
ok "the second run begins before SIGKILL" killed u 'b+mtu1500+gro-on/measure-1'
ok "capture --undo succeeds after a kill" exits 0 "$zcost" capture --undo -o u
ok "capture --undo undoes the settings and starts no run" test "$(sed -n '/killed/,$p' hooks | tr '\n' ' ')" = \
	"killed gro back from on mtu back to 1400 end "
ok "capture --undo reports that it undoes" says 'undoing what it set up' err
ok "capture --undo restores the MTU and leaves no undo state" test "$(cat mtu)" = 1400 -a ! -e "$(undo_state u)"
ok "a second capture --undo succeeds" exits 0 "$zcost" capture --undo -o u
ok "a second capture --undo prints no message" test ! -s err
ok "capture --undo of a missing folder exits 1" exits 1 "$zcost" capture --undo -o nonesuch
ok "capture --undo with a plan is a usage error" exits 2 "$zcost" capture --undo p.ini -o u

plan 's/^after = echo gro.*/&; test -e quick || sleep 61.'$$'/; s/^repeats = 2/repeats = 1/' >p.ini
ok "a setting's 'after' begins before SIGKILL" killed v 'gro back'
: >quick
ok "capture --undo succeeds after a kill in an 'after'" exits 0 "$zcost" capture --undo -o v
ok "capture --undo repeats the killed 'after', then runs the others" test "$(sed -n '/killed/,$p' hooks | tr '\n' ' ')" = \
	"killed gro back from on mtu back to 1400 end "
ok "no process of the killed 'after' is left" test -z "$(grep -lzs "^61.$$\$" /proc/[0-9]*/cmdline)"

# --- the progress line on a terminal ---

if command -v script >/dev/null; then
	plan 's/^repeats = 2/repeats = 1/; s/1500 9000/1500/; /^.value mtu=9/,+1d; /^exclude/d
		s/^\[variant a\]/[variant a-name-that-is-longer-than-others-are-31]/' >p.ini
	fresh
	script -qec "stty cols 60; '$zcost' capture p.ini -o t" /dev/null </dev/null >tty 2>&1
	tr '\r' '\n' <tty | sed 's/\x1b\[K//g' >lines
	ok "a terminal shows the progress and the time left" says '^\[1/4\] .*, 0:[01][0-9] left$' lines
	ok "the progress lines fit a terminal of 60 columns" awk 'length > 59 { print; bad = 1 } END { exit bad }' lines
else
	skip "a terminal shows the progress and the time left" "needs script"
fi
done_testing
