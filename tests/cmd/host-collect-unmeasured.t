#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# One line names what a host cannot measure. The reasons are in run.json, in reports and behind --verbose.
. "$(dirname "$0")/../lib.sh"
need jq sqlite3

mkdir sys
ZCOST_SYSFS=$PWD/sys # no power, no topology, no idle states
export ZCOST_SYSFS
reason='no power source: .* on this host; --power-command'

ok "collect --pass measure succeeds when the host cannot measure power" exits 0 "$zcost" collect -o r --pass measure -- sleep 0.1
ok "one line lists what collect cannot measure" test "$(grep -c 'not measured' err)" = 1
ok "the line names the collectors and where the reasons are" says '^zcost: not measured here: .*power.* \(why: --verbose, or r/run.json\)$' err
ok "the line has no reason" sh -c "! grep -q 'power source' err"
ok "run.json has the reason" sh -c \
	"jq -r '.collectors[] | select(.name == \"power\") | .why' r/run.json | grep -q '$reason'"
ok "the store has the reason" sh -c "'$zcost' analyze r 2>/dev/null
	sqlite3 r/zcost.db 'SELECT vals FROM note' | grep -q '$reason'"
ok "report runs --verbose has the reason" sh -c "'$zcost' report runs r --verbose | grep -q '$reason'"
ok "collect --verbose succeeds when the host cannot measure power" exits 0 "$zcost" collect -o r -v --pass measure -- sleep 0.1
ok "collect --verbose prints the reason" says "^zcost: power: not measured: $reason" err
ok "collect --verbose does not print the one-line list" sh -c "! grep -q 'not measured here' err"
ok "collect exits 4 when it cannot measure a requested collector" exits 4 "$zcost" collect -o asked --collect cpu,power -- sleep 0.1
ok "collect prints the reason for a requested collector" says "^zcost: power: not measured: $reason" err
ok "collect prints only the reason for a requested collector" test "$(wc -l <err)" = 1

# A capture prints the line once for all of its runs.
short="--pass measure --repeat 2 --warmup 0 --duration 0.1 --grace 0"
ok "capture succeeds when the host cannot measure power" exits 0 "$zcost" capture -o c --variant a $short -- sleep 60
ok "one line lists what the capture cannot measure" test "$(grep -Ec 'not measured|cannot be measured' err)" = 1
ok "the line names the run.json files with the reasons" says ': not measured: (.*, )?power.* \(why: --verbose, or c/runs/\*/\*/local/run.json\)$' err
ok "the run.json files of the capture have the reason" sh -c "jq -r '.collectors[].why' c/runs/*/*/local/run.json | grep -q '$reason'"
ok "capture --verbose succeeds when the host cannot measure power" exits 0 "$zcost" capture -o d -v --variant a $short -- sleep 60
ok "capture --verbose prints the reason once" test "$(grep -Ec "^zcost: .*: power cannot be measured: $reason" err)" = 1
ok "capture --verbose does not print the one-line list" sh -c "! grep -q ': not measured:' err"
ok "capture exits 4 when it cannot measure a requested collector" exits 4 "$zcost" capture -o e --variant a $short --collect cpu,power -- sleep 60
ok "capture prints the reason for a requested collector" says "^zcost: .*: power cannot be measured: $reason" err
done_testing
