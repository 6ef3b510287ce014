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
done_testing
