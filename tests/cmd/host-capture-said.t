#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Messages of a capture before its first run. The collector is a stand-in for `zcost collect`.
. "$(dirname "$0")/../lib.sh"
ZCOST_COLLECT=$tests/fake/collect
export ZCOST_COLLECT

plan() { # plan [RECEIVER'S CPUS [SENDER'S]]
	printf '[plan]\nrepeats = 2\npasses = measure\nwarmup = 0.02\nduration = 0.05\ngrace = 0\n'
	printf '[side receiver]\n%s\n[side sender]\n%s\n' "${1:+cpus = $1}" "${2:+cpus = $2}"
	printf '[variant a]\nreceiver = sleep 60\nsender = sleep 60\n'
}

# --- a plan and a command exclude each other ---

plan >p.ini
plan >plan.txt
printf '#!/bin/sh\nsleep 60\n' >job
chmod +x job
hint='is a plan, which has its variants in it: leave out --variant a; a command of your own comes after --: --variant a -- COMMAND$'
ok "--variant with a plan is a usage error" exits 2 "$zcost" capture p.ini -o c --variant a
ok "the error explains --variant with a plan and with a command" says "zcost capture: p.ini $hint" err
ok "a file named .txt that contains a plan is a usage error after --variant" exits 2 "$zcost" capture -o c --variant a plan.txt
ok "the error recognizes a plan in a file named .txt" says "plan.txt $hint" err
ok "--variant with a plan and a command is a usage error" exits 2 "$zcost" capture p.ini -o c --variant a -- sleep 1
ok "a usage error makes no folder" test ! -e c
ok "capture wraps a command without -- before it" exits 0 "$zcost" capture -o c --variant a --pass measure --repeat 1 \
	--duration 0.05 --grace 0 ./job

# --- two sides on the same CPUs ---

shares() { # shares WHAT: a capture and a dry run each print the note once
	exits 0 "$zcost" capture s.ini -o "c$planned" && test "$(grep -c "share $1 in variant ${2:-a}: per-CPU figures .* of each side include the others" err)" = 1 &&
		exits 0 "$zcost" capture --dry-run s.ini && test "$(grep -c "share $1 in variant ${2:-a}: per-CPU figures" err)" = 1
}
alone() {
	exits 0 "$zcost" capture "$@" --dry-run s.ini && ! grep -q share err
}
plan 0 0 >s.ini
ok "capture and --dry-run report once that the sides share CPU 0" shares 'CPU 0'
ok "the note about shared CPUs names the key 'cpus'" says "receiver and sender share .*'cpus' in \[side\] separates the sides" err
plan >s.ini
ok "capture and --dry-run report that sides without 'cpus' share all CPUs" shares 'all CPUs'
plan '' 0 >s.ini
ok "a side on all CPUs shares CPU 0 with a side on CPU 0" shares 'CPU 0'
ok "capture succeeds when all runs are there" exits 0 "$zcost" capture s.ini -o "c$planned"
ok "a complete capture does not mention shared CPUs" sh -c '! grep -q share err'
plan 0 0 | sed '/^\[side sender\]/,/^\[variant/ s/^cpus/host = ssh:\/\/elsewhere\n&/' >s.ini
ok "sides on two hosts do not share a CPU of the same number" alone
if grep -q ^0- /sys/devices/system/cpu/online; then
	plan 0 1 >s.ini
	ok "sides with different CPUs do not share any" alone
	plan 0 '${cpu}' | sed '/^\[side receiver\]/i [vars]\ncpu = 1\n[setting place]\nvalues = one two\n[value place=one]\ncpu = 0' >s.ini
	ok "the note names the first variant with shared CPUs" shares 'CPU 0' a+place-one
else
	skip "sides with different CPUs do not share any" "CPUs 0 and 1 are not there"
fi

ok "capture --help succeeds" exits 0 "$zcost" capture --help
ok "capture --help names the document with the keys of a plan" says 'docs/reference/plan.md lists all its keys' out
done_testing
