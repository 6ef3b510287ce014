#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What a capture says before it begins. Against a stand-in for `zcost collect`.
. "$(dirname "$0")/../lib.sh"
ZCOST_COLLECT=$tests/fake/collect
export ZCOST_COLLECT

plan() { # plan [RECEIVER'S CPUS [SENDER'S]]
	printf '[plan]\nrepeats = 2\npasses = measure\nwarmup = 0.02\nduration = 0.05\ngrace = 0\n'
	printf '[side receiver]\n%s\n[side sender]\n%s\n' "${1:+cpus = $1}" "${2:+cpus = $2}"
	printf '[variant a]\nreceiver = sleep 60\nsender = sleep 60\n'
}

# --- a plan and a command are two things ---

plan >p.ini
plan >plan.txt
printf '#!/bin/sh\nsleep 60\n' >job
chmod +x job
hint='is a plan, which has its variants in it: leave out --variant a; a command of your own comes after --: --variant a -- COMMAND$'
ok "--variant with a plan" exits 2 "$zcost" capture p.ini -o c --variant a
ok "  says what is meant" says "zcost capture: p.ini $hint" err
ok "  by whatever name" exits 2 "$zcost" capture -o c --variant a plan.txt
ok "  all the same" says "plan.txt $hint" err
ok "  and with a command, too" exits 2 "$zcost" capture p.ini -o c --variant a -- sleep 1
ok "  makes nothing" test ! -e c
ok "a command without -- is one still" exits 0 "$zcost" capture -o c --variant a --pass measure --repeat 1 \
	--duration 0.05 --grace 0 ./job

# --- two sides on the same CPUs ---

shares() { # shares WHAT: by a capture, once, and by a dry run
	exits 0 "$zcost" capture s.ini -o "c$planned" && test "$(grep -c "share $1: per-CPU figures .* of each side include both" err)" = 1 &&
		exits 0 "$zcost" capture --dry-run s.ini && test "$(grep -c "share $1: per-CPU figures" err)" = 1
}
alone() {
	exits 0 "$zcost" capture "$@" --dry-run s.ini && ! grep -q share err
}
plan 0 0 >s.ini
ok "sides that share a CPU" shares 'CPU 0'
ok "  the note names the way out" says "receiver and sender share .*'cpus' in \[side\] separates the sides" err
plan >s.ini
ok "sides without CPUs of their own" shares 'all CPUs'
plan '' 0 >s.ini
ok "one of all CPUs, and one of some" shares 'CPU 0'
ok "a capture with nothing left to do" exits 0 "$zcost" capture s.ini -o "c$planned"
ok "  says nothing of it" sh -c '! grep -q share err'
plan 0 0 | sed '/^\[side sender\]/,/^\[variant/ s/^cpus/host = ssh:\/\/elsewhere\n&/' >s.ini
ok "on two hosts a number is two CPUs" alone
if grep -q ^0- /sys/devices/system/cpu/online; then
	plan 0 1 >s.ini
	ok "a CPU each" alone
	plan 0 '${cpu}' | sed '/^\[side receiver\]/i [vars]\ncpu = 1\n[setting place]\nvalues = one two\n[value place=one]\ncpu = 0' >s.ini
	ok "where some variants share" shares 'CPU 0 in 1 of 2 variants (a+place-one first)'
else
	skip "a CPU each" "CPUs 0 and 1 are not there"
	skip "where some variants share" "CPUs 0 and 1 are not there"
fi

ok "--help" exits 0 "$zcost" capture --help
ok "  says where a plan's keys are" says 'docs/reference/plan.md lists all its keys' out
done_testing
