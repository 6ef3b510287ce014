#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What a host cannot measure is named in one line; why is for those who ask.
. "$(dirname "$0")/../lib.sh"
command -v jq >/dev/null || skip_all "needs jq"
command -v sqlite3 >/dev/null || skip_all "needs sqlite3"

mkdir sys bin
printf '#!/bin/sh\necho no controller here >&2\nexit 1\n' >bin/ipmitool
chmod +x bin/ipmitool
PATH=$scratch/bin:$PATH
ZCOST_SYSFS=$PWD/sys # no power, no topology, no idle states
export ZCOST_SYSFS
reason='no power source: .*no controller here; --power-command'

ok "the measure pass" exits 0 "$zcost" collect -o r --pass measure -- sleep 0.1
ok "says in one line what it could not measure" test "$(grep -c 'not measured' err)" = 1
ok "  by name, and how to know why" says '^zcost: not measured here: .*power.* \(why: --verbose, or r/run.json\)$' err
ok "  and no reason" sh -c "! grep -q 'power source' err"
ok "the reason is in the run" sh -c \
	"jq -r '.collectors[] | select(.name == \"power\") | .why' r/run.json | grep -q '$reason'"
ok "  in the store" sh -c "'$zcost' analyze r 2>/dev/null
	sqlite3 r/zcost.db 'SELECT vals FROM note' | grep -q '$reason'"
ok "  and in reports" sh -c "'$zcost' report runs r | grep -q '$reason'"
ok "--verbose" exits 0 "$zcost" collect -o r -v --pass measure -- sleep 0.1
ok "  says it" says "^zcost: power: not measured: $reason" err
ok "  and not twice" sh -c "! grep -q 'not measured here' err"
ok "what was asked for" exits 4 "$zcost" collect -o asked --collect cpu,power -- sleep 0.1
ok "  has its reason at once" says "^zcost: power: not measured: $reason" err
ok "  and alone" test "$(wc -l <err)" = 1

# A capture: once for all of its runs.
short="--pass measure --repeat 2 --warmup 0 --duration 0.1 --grace 0"
ok "a capture" exits 0 "$zcost" capture -o c --variant a $short -- sleep 60
ok "says in one line what it could not measure" test "$(grep -Ec 'not measured|cannot be measured' err)" = 1
ok "  and where the reasons are" says ': not measured: (.*, )?power.* \(why: --verbose, or c/runs/\*/\*/local/run.json\)$' err
ok "  which are there" sh -c "jq -r '.collectors[].why' c/runs/*/*/local/run.json | grep -q '$reason'"
ok "--verbose" exits 0 "$zcost" capture -o d -v --variant a $short -- sleep 60
ok "  says it once" test "$(grep -Ec "^zcost: .*: power cannot be measured: $reason" err)" = 1
ok "  and not twice" sh -c "! grep -q ': not measured:' err"
ok "what was asked for" exits 4 "$zcost" capture -o e --variant a $short --collect cpu,power -- sleep 60
ok "  has its reason at once" says "^zcost: .*: power cannot be measured: $reason" err
done_testing
