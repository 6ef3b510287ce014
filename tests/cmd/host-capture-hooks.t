#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Commands of a plan that hang: each is ended in its time with all that it started, what it had set up
# is undone, and it is said. Against a stand-in for `zcost collect`.
. "$(dirname "$0")/../lib.sh"
ZCOST_COLLECT=$tests/fake/collect
export ZCOST_COLLECT
command -v jq >/dev/null || skip_all "needs jq"

tag=61.$$ # nobody else's sleep has this length
hang="setsid sleep $tag & sleep $tag"
deaf="trap '' TERM; setsid sleep $tag & while :; do sleep $tag; done"

plan() { # plan [SED]: changed by a script of sed
	cat <<-'EOT' | sed "${1:-}"
		[plan]
		repeats = 1
		passes = measure
		warmup = 0.02
		duration = 0.05
		grace = 0
		hook_timeout = 3
		before = echo begin >>hooks
		after = echo end >>hooks
		[setting gro]
		values = on off
		save = echo was
		before = echo gro ${gro} >>hooks
		after = echo gro back to $saved >>hooks
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
	! grep -lz -- "$tag" /proc/[0-9]*/cmdline 2>/dev/null
}

runs() {
	jq -r '.runs[] | "\(.variant) \(.status): \(.why)"' "$1/manifest.json"
}

: >hooks
in_value before "$deaf" >p.ini
ok "a 'before' of a setting hangs" exits 4 timeout 60 "$zcost" capture p.ini -o c
ok "  its run alone failed, with the reason" test "$(runs c | cut -c1-94)" = "a+gro-on ok: 
a+gro-off failed: setting gro=off's 'before' took more than 3 s (hook_timeout): echo hanging >"
ok "  which is told in one line" test "$(grep -c 'failed: .*took more than 3 s' err)" = 1
ok "  what it began is undone" test "$(log)" = \
	"begin gro on gro back to was hanging gro back to was end "
ok "  nothing of it is left, its sessions included" nothing_hangs
ok "  nor to undo" test ! -e "$(undo_state c)"

in_value save >p.ini
ok "a 'save' hangs" exits 4 timeout 60 "$zcost" capture p.ini -o s
ok "  its run alone failed" says "a.gro-off/measure-01 failed: setting gro=off's 'save' took more than 3 s" err
ok "  there was nothing to undo" test "$(log)" = "begin gro on gro back to was hanging end "
ok "  nothing of it is left" nothing_hangs

plan "s/^before = echo begin.*/&; sleep $tag/" >p.ini
ok "the plan's 'before' hangs" exits 1 timeout 60 "$zcost" capture p.ini -o p
ok "  is told" says "zcost: the plan's 'before' took more than 3 s \(hook_timeout\): echo begin" err
ok "  its 'after' runs" test "$(log)" = "begin end "
ok "  nothing of it is left" nothing_hangs

in_value after >p.ini
ok "an 'after' hangs" exits 1 timeout 60 "$zcost" capture p.ini -o a
ok "  is told, without what the journal adds" says \
	"zcost: setting gro=off's 'after' took more than 3 s \(hook_timeout\): echo hanging" err
ok "  is due still" test -s "$(undo_state a)/001"
ok "  nothing of it is left" nothing_hangs
ok "  the next one tries it no longer than that" exits 1 timeout 60 "$zcost" capture --undo -o a
ok "  and says so" says "took more than 3 s" err
ok "  the message names --forget" says "If you have undone it by hand, add --forget" err
ok "  nothing of it is left" nothing_hangs

plan 's/^hook_timeout.*/hook_timeout = 0/; s/^before = echo begin/before = sleep 0.2; echo begin/' >p.ini
: >hooks
ok "without an end" exits 0 "$zcost" capture p.ini -o z
ok "  they take their time" test "$(log)" = \
	"begin gro on gro back to was gro off gro back to was end "
ok "  a dry run says so" exits 0 "$zcost" capture --dry-run p.ini
ok "  in words" says 'a save, before or after may take for ever \(hook_timeout\)' out
plan '/^hook_timeout/d' >p.ini
"$zcost" capture --dry-run p.ini >out
ok "a dry run says how long each may take" says \
	'^  each save, before and after is ended after 300 s \(hook_timeout\)$' out
plan '/hook\|before\|after\|save/d' >p.ini
"$zcost" capture --dry-run p.ini >out
ok "  but not where there is none" test "$(grep -c hook_timeout out)" = 0
done_testing
