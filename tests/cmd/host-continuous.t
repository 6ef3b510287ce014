#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The script and the units of docs/howto/continuous.md: two nights, and what is left after them.
. "$(dirname "$0")/../lib.sh"
. "$tests/tcpzc.sh"
need root sqlite3

mkdir -p bin lib units
ln -s "$zcost" bin/zcost
PATH=$scratch/bin:$PATH
awk '/^`\// { split($0, part, "`"); n = split(part[2], path, "/"); file = path[n] }
	/^```./ { on = 1; next } /^```/ { on = 0 } on { print >"units/" file }' "$top/docs/howto/continuous.md"
ok "the page has a script, a service and a timer" is "$(ls units | paste -sd' ')" "zcost-nightly zcost-nightly.service zcost-nightly.timer"
cat >lib/plan.ini <<END
[plan]
name = nightly
repeats = 2
passes = measure
warmup = 0.1
duration = 1
grace = 0
[side receiver]
units = tcpzc
[side sender]
[variant send]
receiver = $tcpzc --listen --port $port
sender = $tcpzc --connect 127.0.0.1 --port $port --seconds 60
END
night() { exits 0 sh units/zcost-nightly lib 1; }
ok "the script measures a first night" night
first=$(ls lib/caps)
sleep 1 # the name of a capture has seconds
ok "the script measures a second night" night
ok "with KEEP 1 the script keeps the raw files of the second night alone" test "$(ls lib/caps | wc -l)" = 1 -a "$(ls lib/caps)" != "$first"
ok "the history has both" is "$(zcost history show -H lib/history.db --each --format tsv 2>/dev/null |
	tsv '$at["figure"] == "throughput" && $at["side"] == "receiver"' | wc -l)" 2
ok "the page of trends is there" test -s lib/trends.html
ok "nothing else is left" is "$(ls lib | paste -sd' ')" "caps history.db plan.ini trends.html"
if command -v systemd-analyze >/dev/null; then
	sed -i "s|/usr/local/bin/zcost-nightly|$scratch/units/zcost-nightly|" units/zcost-nightly.service
	chmod +x units/zcost-nightly
	ok "systemd accepts the units" exits 0 systemd-analyze verify ./units/zcost-nightly.service ./units/zcost-nightly.timer
else
	skip "systemd accepts the units" "no systemd-analyze"
fi
done_testing
