#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Hooks of a plan that hang: zcost ends each after hook_timeout with every process it started, undoes what it
# set up, and reports it. The collector is a stand-in for `zcost collect`.
. "$(dirname "$0")/../lib.sh"
ZCOST_COLLECT=$tests/fake/collect
export ZCOST_COLLECT
need jq

tag=61.$$ # no other process sleeps this long
hang="setsid sleep $tag & sleep $tag"
deaf="trap '' TERM; setsid sleep $tag & while :; do sleep $tag; done"

plan() { # plan [SED]: prints the plan, edited by a sed script
	cat <<-EOT | sed "${1:-}"
		$short_plan
		hook_timeout = 3
		before = echo begin >>hooks
		after = echo end >>hooks
		[setting gro]
		values = on off
		save = echo was
		before = echo gro \${gro} >>hooks
		after = echo gro back to \$saved >>hooks
		[side receiver]
		[variant a]
		receiver = sleep 60
	EOT
}

in_value() { # in_value KEY [HOW]: only the hook of gro=off hangs
	plan
	printf '[value gro=off]\n%s = echo hanging >>hooks; %s\n' "$1" "${2:-$hang}"
}

log() {
	tr '\n' ' ' <hooks
	: >hooks
}

nothing_hangs() {
	[ -z "$(grep -lzs "^$tag\$" /proc/[0-9]*/cmdline)" ] # grep itself fails when a process ends while it looks
}

runs() {
	jq -r '.runs[] | "\(.variant) \(.status): \(.why)"' "$1/manifest.json"
}

: >hooks
in_value before "$deaf" >p.ini
ok "capture exits 4 when one setting's 'before' hangs and ignores SIGTERM" exits 4 timeout 120 "$zcost" capture p.ini -o c
ok "only the run under the hanging 'before' fails, with the timeout as the reason" test "$(runs c | cut -c1-94)" = "a+gro-on ok: 
a+gro-off failed: setting gro=off's 'before' took more than 3 s (hook_timeout): echo hanging >"
ok "the error about the hanging 'before' is one line" test "$(grep -c 'failed: .*took more than 3 s' err)" = 1
ok "the settings and the plan's 'before' are undone after a 'before' hangs" test "$(log)" = \
	"begin gro on gro back to was hanging gro back to was end "
ok "no process of the hanging 'before' is left, not even in another session" nothing_hangs
ok "no undo state is left after a 'before' hangs" test ! -e "$(undo_state c)"

in_value save >p.ini
ok "capture exits 4 when one setting's 'save' hangs" exits 4 timeout 120 "$zcost" capture p.ini -o s
ok "only the run under the hanging 'save' fails" says "a.gro-off/measure-01 failed: setting gro=off's 'save' took more than 3 s" err
ok "a setting with a hanging 'save' is not undone" test "$(log)" = "begin gro on gro back to was hanging end "
ok "no process of the hanging 'save' is left" nothing_hangs

# A cut value would be restored in part.
: >hooks
in_value save 'yes nft | head -c 140000' >p.ini
ok "capture exits 4 when one setting's 'save' prints too much" exits 4 "$zcost" capture p.ini -o much
ok "only the run under the large 'save' fails" says "a.gro-off/measure-01 failed: setting gro=off's 'after' would be larger than 128 KiB" err
ok "a setting with a large 'save' is not set" test "$(log)" = "begin gro on gro back to was hanging end "
in_value save 'echo a; head -c 2 /dev/zero' >p.ini
ok "capture exits 4 when one setting's 'save' prints a zero byte" exits 4 "$zcost" capture p.ini -o zero
ok "only the run under the 'save' with a zero byte fails" says "a.gro-off/measure-01 failed: setting gro=off's 'save' printed a zero byte" err
in_value save 'yes nft | head -c 100000' >p.ini
ok "a 'save' may print 100 kB" exits 0 "$zcost" capture p.ini -o less

plan "s/^before = echo begin.*/&; sleep $tag/" >p.ini
: >hooks
ok "capture exits 1 when the plan's 'before' hangs" exits 1 timeout 120 "$zcost" capture p.ini -o p
ok "the error names the plan's 'before' and hook_timeout" says "zcost: the plan's 'before' took more than 3 s \(hook_timeout\): echo begin" err
ok "the plan's 'after' runs when its 'before' hangs" test "$(log)" = "begin end "
ok "no process of the plan's hanging 'before' is left" nothing_hangs

in_value after >p.ini
ok "capture exits 1 when a setting's 'after' hangs" exits 1 timeout 120 "$zcost" capture p.ini -o a
ok "the error has the command of the hanging 'after' without the journal's additions" says \
	"zcost: setting gro=off's 'after' took more than 3 s \(hook_timeout\): echo hanging" err
ok "a hanging 'after' stays in the undo state" test -s "$(undo_state a)/001"
ok "no process of the hanging 'after' is left" nothing_hangs
ok "capture --undo exits 1 when the 'after' hangs again" exits 1 timeout 120 "$zcost" capture --undo -o a
ok "capture --undo ends the 'after' at the plan's hook_timeout" says "took more than 3 s" err
ok "the error of capture --undo names the folder to remove" says "If you have undone it by hand, remove $(undo_state a)$" err
ok "no process of the 'after' that --undo ran is left" nothing_hangs

plan 's/^hook_timeout.*/hook_timeout = 0/; s/^before = echo begin/before = sleep 0.2; echo begin/' >p.ini
: >hooks
ok "capture succeeds with hook_timeout = 0" exits 0 "$zcost" capture p.ini -o z
ok "hooks may take their time with hook_timeout = 0" test "$(log)" = \
	"begin gro on gro back to was gro off gro back to was end "
plan 's,^before = .*,before = read -r _ _ _ _ _ sid _ </proc/$$/stat; echo $sid = $$ >>hooks,; /^\[setting/,/^after = echo gro/d' >p.ini
: >hooks
ok "capture succeeds with a hook that notes its session" exits 0 "$zcost" capture p.ini -o led
ok "a hook leads a session, so that it cannot wait for the terminal" awk 'NR == 1 { exit !($1 && $1 == $3) }' hooks
ok "a dry run accepts hook_timeout = 0" exits 0 "$zcost" capture --dry-run p.ini
# A plan that was copied without the files beside it.
mkdir copied
plan 's|^before = echo begin.*|before = sh ${plandir}/testbed.sh up x|' >copied/plan.ini
for way in "--dry-run" "-o missing"; do
	ok "capture $way exits 2 when the script of before is missing" exits 2 "$zcost" capture copied/plan.ini $way
	ok "the only message of capture $way names the missing script and the way out" \
		says "^zcost: the plan's 'before': there is no .*copied/testbed.sh: copy it there, or change its path in the plan \(.[{]plandir[}] is the folder of the plan; quote a path with spaces\)$" err
	ok "capture $way does not warn that after fails" test "$(wc -l <err)" = 1
done

# The plan's folder has a space in its path.
mkdir 'a b'
echo 'echo "$1" >>hooks' >'a b/testbed.sh'
plan 's|^before = echo begin.*|before = sh "${plandir}/testbed.sh" up|; s|^after = echo end.*|after = sh "${plandir}/testbed.sh" down|' >'a b/plan.ini'
: >hooks
ok "capture takes a plan whose quoted script is in a folder with a space" exits 0 "$zcost" capture 'a b/plan.ini' -o 'a b/cap'
ok "  and quotes the folder in the command to run next" says "added to a b/cap; next: zcost analyze 'a b/cap'$" err
ok "  and runs the script" test "$(log)" = "up gro on gro back to was gro off gro back to was down "
rm 'a b/testbed.sh'
ok "capture exits 2 when the quoted script is missing" exits 2 "$zcost" capture 'a b/plan.ini' --dry-run
ok "  and names the whole path" says "there is no $scratch/a b/testbed.sh: copy it there" err
ok "the samples quote every path of the plan's folder" eval \
	'! grep -rn "[$]{plandir}" "$top/samples" "$top/docs" --include="*.ini" --include="*.md" | grep -E "(sh|=) [$]{plandir}"'

# The folder of a capture is gone, and what it set up is not.
ZCOST_STATE=$scratch/state
export ZCOST_STATE
mkdir -m 700 state
: >hooks
plan 's/^after = echo end/after = test -e mended \&\& echo end/' >late.ini
ok "a capture whose 'after' fails exits 1" exits 1 timeout 120 "$zcost" capture late.ini -o late
state=$(undo_state late)
ok "the undo state has the path of the capture" says "^# capture $scratch/late$" "$state/000"
rm -rf late
: >hooks
ok "--undo of the undo state exits 1 when the 'after' fails again" exits 1 "$zcost" capture --undo -o "$state"
touch mended
ok "--undo of the undo state undoes what is left" exits 0 "$zcost" capture --undo -o "$state"
ok "the 'after' has run" test "$(log)" = "end "
ok "nothing is left" test -z "$(ls state/zcost)"
ok "--undo without a folder is wrong usage" exits 2 "$zcost" capture --undo
ok "--undo with a plan is wrong usage" exits 2 "$zcost" capture --undo -o late late.ini

done_testing
