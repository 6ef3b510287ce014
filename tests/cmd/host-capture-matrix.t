#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Variants times settings: what is set up when, that it is undone whatever happens, and how it is
# told and kept. Against a stand-in for `zcost collect`.
. "$(dirname "$0")/../lib.sh"
ZCOST_COLLECT=$tests/fake/collect
FAKE_LOG=$scratch/hooks # runs and hooks into one file: their order is what matters
FAKE_HOLD=$scratch/hold
export ZCOST_COLLECT FAKE_LOG FAKE_HOLD
command -v jq >/dev/null || skip_all "needs jq"

# The "interface" is a file of this folder.
plan() { # plan [SED]: changed by a script of sed
	cat <<-'EOT' | sed "${1:-}"
		[plan]
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

took() { # the log without the instants: "run b+mtu9000+gro-on/measure-1"
	sed 's/^\([^ ]*\) receiver .*/run \1/' hooks
}

fresh() {
	rm -f hooks
	echo 1400 >mtu
}

plan 's/^exclude = .*/cross = mtu\nexclude = gro=off/' >p.ini
ok "to leave out of what is not crossed" exits 2 "$zcost" capture --dry-run p.ini -o c
ok "  is refused, by its line" says "p.ini:[0-9]+: exclude: 'gro' is not in 'cross'" err
plan >p.ini
fresh
ok "a plan with a matrix" exits 0 "$zcost" capture p.ini -o c
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
ok "  each run under its settings, each undone before the next" diff want got
ok "  what was there before is there again" test "$(cat mtu)" = 1400
ok "  nothing is left to undo" test ! -e "$(undo_state c)"
ok "  the manifest tells the settings of each variant" jq -e '.complete and
	(.variants[5] | .name == "b+mtu9000+gro-on" and .base == "b" and
	.matrix == {"mtu": "9000", "gro": "on"} and .what == "jumbo, gro on" and
	.settings["setting.mtu"] == "9000" and .settings["mtu.after"] != null)' c/manifest.json
ok "  and of the others that what is said of them" jq -e \
	'.variants[0].what == "the first, mtu 1500, gro on"' c/manifest.json

"$zcost" capture --dry-run p.ini >dry
sed -n 's/^    set \([a-z]*\)=\([a-z0-9]*\): echo .*/\1 \2/p; s/^ *[0-9]* \(.*\)-0\([12]\)$/run \1-\2/p
	s/^    undo mtu=.*/mtu back to 1400/p; s/^    undo gro=\(.*\):.*/gro back from \1/p
	s/^before: .*/begin/p; s/^after: .*/end/p' dry >got
ok "--dry-run: the same, in the same order" diff want got
ok "  with every command as it would be run" says \
	'^    set mtu=9000: echo mtu 9000 >>hooks; echo 9000 >mtu$' dry
ok "  and with those that save" says '^    set mtu=1500: saved = cat mtu$' dry
ok "  and what the time is made of" says '; 6 changes of settings, 0.1 s each' dry
ok "--dry-run of a capture that is whole" exits 0 "$zcost" capture --dry-run p.ini -o c
ok "  has nothing to do" says '^0 runs, about 0:00' out

plan 's/1500 9000/1500/; /^.value mtu=9/,+1d; /^exclude/d' >p.ini
sed 's/^repeats/order = blocks\n&/' p.ini >blocks.ini
fresh
ok "order = blocks" exits 0 "$zcost" capture blocks.ini -o b
ok "  sets each combination up once" test "$(grep -c '^gro o' hooks),$(grep -c '^mtu [19]' hooks)" = 2,1
ok "  with the variants in turns" test "$(took | grep -A3 -m1 run | tr '\n' ' ')" = "run \
a+mtu1500+gro-on/measure-1 run b+mtu1500+gro-on/measure-1 run b+mtu1500+gro-on/measure-2 run \
a+mtu1500+gro-on/measure-2 "
ok "  is no other experiment" exits 0 "$zcost" capture p.ini -o b
sed 's/gro ${gro} /&again /' p.ini >other.ini
ok "other hooks are" exits 1 "$zcost" capture other.ini -o b
ok "  and the difference is told" says "'a\+mtu1500\+gro-on' was measured with gro.before = 'echo" err

# --- what may go wrong ---

plan 's/^before = echo gro.*/before = test ${gro} = on || { echo no such offload >\&2; exit 3; }/
	s/^repeats = 2/repeats = 1/' >p.ini
fresh
ok "a setting that cannot be had" exits 4 "$zcost" capture p.ini -o f
ok "  is told" says "a\+mtu1500\+gro-off/measure-01 failed: setting gro=off's 'before' exited with \
status 3: test off" err
ok "  its runs have failed, the others are kept" test "$(jq -r '.runs[] | select(.status == "ok") |
	.variant' f/manifest.json | tr '\n' ' ')" = \
	"a+mtu1500+gro-on b+mtu1500+gro-on a+mtu9000+gro-on b+mtu9000+gro-on "
ok "  it is tried once, not for each run" test "$(grep -c '^no such offload' err)" = 2
ok "  and undone all the same" test "$(grep -c 'gro back from off' hooks)" = 2
ok "  with all others" test "$(cat mtu),$(tail -n 1 hooks)" = 1400,end

plan 's/^after = echo gro.*/after = test ${gro} = on || test -e mended/
	s/^repeats = 2/repeats = 1/' >p.ini
fresh
ok "an 'after' that fails" exits 1 "$zcost" capture p.ini -o g
ok "  is told, without what we add to it" says \
	"^zcost: setting gro=off's 'after' exited with status 1: test off = on \|\| test -e mended\$" err
ok "  ends the capture: what would be measured next nobody knows" test "$(grep -c '^a+' hooks)" = 2
ok "  all else is undone" test "$(cat mtu),$(tail -n 1 hooks)" = 1400,end
ok "again" exits 1 "$zcost" capture p.ini -o g
ok "  it is tried once more" says "^zcost: setting gro=off's 'after' exited" err
ok "  the message names the way out" says "not undone yet: .* 'zcost capture --undo -o g'. .*--forget" err
: >mended
ok "and when it can be undone" exits 0 "$zcost" capture p.ini -o g
ok "  the capture goes on to its end" jq -e .complete g/manifest.json

# What is undone is gone with the plan's own 'after', as an interface is with its namespace.
plan 's/^before = echo begin/before = mkdir -p bed; echo begin/; s/^after = echo end/after = rm -r bed; echo end/
	s/^before = echo gro.*/before = echo no such feature >\&2; exit 3/
	s/^after = echo gro.*/after = echo undo ${gro} >>hooks; test -d bed \&\& exit 4; echo no bed >\&2; exit 5/' >p.ini
fresh
ok "neither 'before' nor 'after' do" exits 1 "$zcost" capture p.ini -o n
ok "  the 'before' is named first, then the 'after', then the way out" test "$(grep '^zcost: ' err |
	sed "s/^zcost: //; s/: .*//; s/ status//" | tr '\n' '|')" = "setting gro=on's 'before' exited with 3|\
setting gro=on's 'after' exited with 4|not undone yet|"
ok "  the 'after' is tried once, and before the plan's own" test "$(tr '\n' ' ' <hooks)" = \
	"begin mtu 1500 undo on mtu back to 1400 end "
ok "  again: the bed is gone" exits 1 "$zcost" capture p.ini -o n
ok "  the message names --forget" says "If you have undone it by hand, add --forget" err
ok "--undo does not help" exits 1 "$zcost" capture --undo -o n
ok "  a note says that it is not undone" says "^zcost: not undone yet: the next capture into n" err
ok "--undo --forget" exits 0 "$zcost" capture --undo --forget -o n
ok "  says what it drops" says "warning: setting gro=on's 'after' exited with status 5: .*; forgotten" err
ok "  the folder is as good as new" test ! -e "$(undo_state n)"
plan 's/^repeats = 2/repeats = 1/' >p.ini
ok "  and takes captures" exits 0 "$zcost" capture p.ini -o n
ok "--forget alone" exits 2 "$zcost" capture p.ini -o n --forget

plan 's/^save = cat mtu/save = nonesuch-tool | sed p/; s/^repeats = 2/repeats = 1/' >p.ini
fresh
ok "a 'save' that prints nothing" exits 1 "$zcost" capture p.ini -o e
ok "  is told as what went wrong" says "a\+mtu1500\+gro-on/measure-01 failed: setting mtu=1500's \
'save' printed nothing, and \\\$saved in its 'after' would be empty: nonesuch-tool" err
ok "  before anything of it is set" test "$(tr '\n' ' ' <hooks),$(cat mtu)" = "begin end ,1400"
ok "  or left to undo" test ! -e "$(undo_state e)"

# --- killed outright ---

# ended SIGNAL CAPTURE LINE: as soon as the hooks' log has it (anew); if it is a run, that lasts until then.
ended() {
	: >>hooks
	had=$(wc -l <hooks)
	echo "$3" >hold
	"$zcost" capture p.ini -o "$2" 2>err &
	pid=$!
	i=0
	until tail -n +$((had + 1)) hooks | grep -q "^$3"; do
		i=$((i + 1))
		[ $i -lt 1000 ] || break
		sleep 0.02
	done
	kill -"$1" $pid
	wait $pid 2>/dev/null
	rm hold
	[ $i -lt 1000 ]
}

killed() { # killed CAPTURE LINE
	fresh
	ended KILL "$@" || return 1
	echo killed >>hooks
}

plan 's/^repeats = 2/repeats = 1/' >p.ini
ok "killed in a run" killed k 'b+mtu1500+gro-off/measure-1'
ok "  again: goes on to the end" exits 0 "$zcost" capture p.ini -o k
ok "  says what it does first" says "an earlier capture here was killed, or an 'after' failed: undoing" err
ok "  the last that was set up is undone first" test "$(sed -n '/killed/,/begin/p' hooks |
	tr '\n' ' ')" = "killed gro back from off mtu back to 1400 end begin "
ok "  all is as it was" test "$(cat mtu)" = 1400 -a ! -e "$(undo_state k)"
ok "  the capture is whole" jq -e '.complete and (.runs | length) == 7' k/manifest.json

plan 's/^before = echo mtu.*/&; sleep 63.${mtu}/; s/^repeats = 2/repeats = 1/' >p.ini
ok "killed in a 'before'" killed l 'mtu 1500'
ok "  what was begun is undone at the next start, which a signal ends" ended INT l 'mtu 1500'
ok "  before anything else" test "$(sed -n '/killed/,$p' hooks | head -n 4 | tr '\n' ' ')" = \
	"killed mtu back to 1400 end begin "
ok "  and so it is after a signal" test "$(tail -n 3 hooks | tr '\n' ' '),$(cat mtu)" = \
	"mtu 1500 mtu back to 1400 end ,1400"

plan 's/^repeats = 2/repeats = 1/' >p.ini
ok "killed, and to be left at that" killed u 'b+mtu1500+gro-on/measure-1'
ok "--undo" exits 0 "$zcost" capture --undo -o u
ok "  undoes it, and no more" test "$(sed -n '/killed/,$p' hooks | tr '\n' ' ')" = \
	"killed gro back from on mtu back to 1400 end "
ok "  a note says that it undoes" says 'undoing what it set up' err
ok "  all is as it was" test "$(cat mtu)" = 1400 -a ! -e "$(undo_state u)"
ok "  again: there is nothing to do" exits 0 "$zcost" capture --undo -o u
ok "  and nothing is said" test ! -s err
ok "  of nothing" exits 1 "$zcost" capture --undo -o nonesuch
ok "  with a plan" exits 2 "$zcost" capture --undo p.ini -o u

plan 's/^after = echo gro.*/&; test -e quick || sleep 61.'$$'/; s/^repeats = 2/repeats = 1/' >p.ini
ok "killed in an 'after'" killed v 'gro back'
: >quick
ok "  --undo" exits 0 "$zcost" capture --undo -o v
ok "  runs it once more, and then the others" test "$(sed -n '/killed/,$p' hooks | tr '\n' ' ')" = \
	"killed gro back from on mtu back to 1400 end "
ok "  what was left of it is ended" sh -c "! grep -lzs '^61.$$\$' /proc/[0-9]*/cmdline"

# --- the line of a terminal ---

if command -v script >/dev/null; then
	plan 's/^repeats = 2/repeats = 1/; s/1500 9000/1500/; /^.value mtu=9/,+1d; /^exclude/d
		s/^\[variant a\]/[variant a-name-that-is-longer-than-others-are-31]/' >p.ini
	fresh
	script -qec "stty cols 60; '$zcost' capture p.ini -o t" /dev/null </dev/null >tty 2>&1
	tr '\r' '\n' <tty | sed 's/\x1b\[K//g' >lines
	ok "on a terminal: where it stands, and the time left" says '^\[1/4\] .*, 0:[01][0-9] left$' lines
	ok "  in lines that fit" awk 'length > 59 { print; bad = 1 } END { exit bad }' lines
	ok "  which tell the settings, too" says '^\[3/4\] settings of .*gro-off' lines
else
	skip "on a terminal" "needs script"
fi
done_testing
