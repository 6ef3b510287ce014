#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# --format=commit: a text of one screen that can be pasted into a patch's commit message.
. "$(dirname "$0")/../lib.sh"
. "$tests/world.sh"
. "$tests/golden.sh"
need sqlite3

world cap 6 $copying $mapping fell_back:2e6:100:0,80,20:4000:1:0.9
world few 3 $copying $mapping

# fits FILE: at most 28 lines of 72 columns of printable ASCII, nothing that git takes for its own, no blanks at an end
fits() {
	[ -s "$1" ] && awk 'NR > 28 { print "too many lines: " $0; bad = 1 }
		length > 72 { print "too long: " $0; bad = 1 }
		/[^ -~]/ { print "not ASCII: " $0; bad = 1 }
		/^#|^---|^diff |^From | $/ { print "not for git: " $0; bad = 1 }
		END { exit bad }' "$1"
}

committed() { # as a commit message, into out
	"$zcost" compare --format commit "$@" >out 2>err
}

for table in metrics functions components contexts modules syscalls waterfall; do
	ok "compare --format commit writes table $table" exits 0 "$zcost" compare copying mapping -C cap --table $table --format commit
	ok "the commit message of table $table fits its width" fits out
done

committed copying mapping -C cap
printf '%s\n' 'mapping against copying: better: throughput +100.0%' '' 'better: receiver ns/KiB -50.0%, sender ns/KiB -50.0%' '' >want
ok "the first line is complete, and the other verdicts stand below an empty line" sh -c 'head -n 4 out | diff want -'
for table in metrics functions components waterfall; do
	run compare copying mapping -C cap --table $table --format commit
done
cp -r cap wrapped
sqlite3 wrapped/zcost.db "UPDATE run SET command = 'sh -c exec taskset -c 1 /usr/bin/iperf3 -s'"
run compare copying mapping -C wrapped --format commit
cp -r cap messages
sqlite3 messages/zcost.db "INSERT INTO metric (run, name, unit, value, source) SELECT run, 'rate_messages', unit, value / 4, source FROM metric WHERE name = 'rate_kib'"
run compare copying mapping -C messages --unit message --format commit
run report summary messages --format commit --unit message
cp -r cap nic
sqlite3 nic/zcost.db "INSERT INTO metric (run, name, object, unit, value, source) SELECT id, 'nic_state', 'host/eth0/mtu', '', CASE variant WHEN 'copying' THEN 1500 ELSE 9000 END, 'measured' FROM run;
	INSERT INTO metric (run, name, object, unit, value, source) SELECT id, 'nic_state', 'host/eth0/speed_mbps', '', 100000, 'measured' FROM run;
	INSERT INTO metric (run, name, object, unit, value, source) SELECT id, 'nic', 'host/' || column1, '', column2, 'measured' FROM run, (VALUES ('eth0/link/rx_bytes', 5e9), ('eth0/link/tx_bytes', 1e7), ('lo/link/rx_bytes', 10));
	INSERT INTO fact (run, name, value) SELECT id, 'nic:host/eth0/driver', 'mlx5_core' FROM run;"
cp -r cap short
sqlite3 short/zcost.db "UPDATE metric SET value = 0.5 WHERE name = 'seconds'"
cp -r nic cards
sqlite3 nic/zcost.db "UPDATE fact SET value = 'veth' WHERE name LIKE 'nic:%/driver';
	DELETE FROM metric WHERE name LIKE 'nic%' AND run IN (SELECT id FROM run WHERE repeat > 1);
	DELETE FROM fact WHERE run IN (SELECT id FROM run WHERE repeat > 1)"
run compare copying mapping -C nic --format commit # the card is that of the first run, and a veth has no speed
cp -r few one
sqlite3 one/zcost.db "UPDATE run SET status = 'failed' WHERE variant = 'copying' AND repeat > 1"
committed copying fell_back -C cap --table components
ok "a fallback to copying stands in the first line" test "$(head -n 1 out | cut -d: -f1)" = "NOT ZERO COPY"
printf '%s\n' 'NOT ZERO COPY: fell_back against copying' '' 'components of the receiver, ns per KiB: fell_back against copying' >want
ok "title and evidence of a fallback stand below an empty line" sh -c "head -n 3 out | diff want - && sed -n 4p out | grep -q '^NOT ZERO COPY: fell_back receiver: 90.0 %'"
ok "a message with a fallback fits its width" fits out

# A wide interval takes room from the names, but not from the units in them.
cp -r cap limited
sqlite3 limited/zcost.db "INSERT INTO metric (run, name, unit, value, source) SELECT id, 'throttled_quota_s', 's', 0.4, 'measured' FROM run WHERE variant = 'copying'"
committed copying mapping -C limited
printf '%s\n' 'mapping against copying: better: receiver ns/KiB -50.0%' '' 'better: sender ns/KiB -50.0%' >want
ok "with different limits no words claim a change of throughput, but the cost" sh -c 'head -n 3 out | diff want - && grep -q "^DIFFERENT LIMITS: copying by receiver quota" out'
"$zcost" compare copying mapping -C limited --html page.html >out 2>err
ok "the page claims no change of throughput with different limits" says '</b> against copying: better: receiver ns/KiB' page.html

sqlite3 limited/zcost.db "DELETE FROM metric WHERE name IN ('cpu_pct', 'busy_ns')"
"$zcost" compare copying mapping -C limited --html page.html >out 2>err
ok "the page does not deny a throughput that it does not judge" says '</b> against copying: no cost has a value at both ends' page.html

cp -r nic full
sqlite3 full/zcost.db "INSERT INTO metric (run, name, unit, value, source) SELECT id, 'throttled_quota_s', 's', 0.4, 'measured' FROM run WHERE variant = 'copying';
	UPDATE metric SET value = 0.8 * value WHERE name = 'cpu_pct' AND run IN (SELECT id FROM run WHERE variant = 'fell_back');
	INSERT INTO note SELECT id, 'warning', 'cpu_stolen', json_array(2.0) FROM run WHERE pass = 'measure';
	INSERT INTO note SELECT id, 'warning', 'throttled_heat', json_array(3.0, 1.0) FROM run WHERE pass = 'measure'"
run compare copying fell_back -C full --format commit
cp -r cap wide
sqlite3 wide/zcost.db "INSERT INTO metric (run, name, object, unit, value) SELECT r.id, 'counter', 'context-switches', '1',
	m.value / 1048576 * CASE r.variant WHEN 'copying' THEN 1000 * r.repeat ELSE 20000 * (r.repeat % 4) + 43 END
	FROM run r JOIN metric m ON m.run = r.id AND m.name = 'bytes' WHERE r.pass = 'measure'"
committed copying mapping -C wide
ok "a message with a wide interval fits its width" fits out
ok "names with units stay whole" says '^  throughput, Gbit/s ' out
sqlite3 wide/zcost.db "UPDATE metric SET value = value * 50 WHERE name = 'counter' AND object = 'context-switches' AND run IN (SELECT id FROM run WHERE variant = 'mapping')"
sqlite3 wide/zcost.db "UPDATE metric SET value = 0 WHERE name = 'counter' AND object = 'context-switches' AND run IN (SELECT id FROM run WHERE variant = 'copying' AND repeat = 1)"
"$zcost" compare copying mapping -C wide --verbose >out 2>err
ok "a metric that is not gated can lack an interval" sh -c "grep -qE ' context_switches_per_mib .* 0[.][0-9]+ +less +- ' out && grep -q '^# no interval: ' out"
committed copying mapping -C wide
ok "a metric that is not gated stands in no verdict" sh -c "! sed '/^  metric/q' out | grep -q 'context switches'"
sqlite3 wide/zcost.db "INSERT INTO note SELECT id, 'warning', 'throttled_heat', json_array(id, 1.5) FROM run"
committed copying mapping -C wide
ok "a message names its worst warning" sh -c "tr -s '\n ' ' ' <out | grep -q 'the worst: heat throttled the CPUs'"
long=$(printf '%0150d' 7 | tr 0 x)
sqlite3 wide/zcost.db "UPDATE run SET side = '$long' WHERE side = 'receiver'"
committed copying mapping -C wide
ok "a message with a long side name fits its width" fits out
ok "a long side name leaves room for the interval" says '^  x+[.][.]x*7 ns/KiB .* \[-50.1,-49.8\]' out
committed copying mapping -C wide --table components
ok "a list of costs of a side with a long name has its conditions" says '^n: 6 and 6 runs of 1 s, in turns$' out

if command -v git >/dev/null; then
	committed copying mapping -C cap
	ok "git commit keeps every line" sh -c 'git stripspace --strip-comments <out | cmp - out'
else
	skip "git keeps every line" "no git here"
fi

# Whole messages: nic has cards, wide has warnings.
. "$tests/golden.sh"
messages() { # messages BASE NEW OPTION...: the commit messages of some tables
	for table in metrics components waterfall; do
		run compare "$@" --table $table --format commit
	done
}
messages copying mapping -C nic
messages copying fell_back -C cap
messages copying mapping -C few
messages copying mapping -C one
messages copying mapping -C wide
messages cap:copying short:mapping
cp -r few noted
sqlite3 noted/zcost.db "INSERT INTO note SELECT id, 'lossy', 'perf_lost_samples', '[7.0]' FROM run WHERE pass = 'profile' AND repeat = 1;
	INSERT INTO note SELECT id, 'warning', 'cpu_others', json_array(40.0 + repeat) FROM run WHERE pass = 'measure' AND side = 'receiver'"
messages copying mapping -C noted
run compare copying mapping -C cap --table components --limit 1 --format commit
run compare mapping copying -C cap --power-model idle=230,per_cpu=3.5 --format commit
run compare copying mapping -C cap --table syscalls --format commit
run compare copying mapping -C cap --side sender --format commit
run compare copying mapping -C cap --table groups --group c=_copy_to_iter --format commit
ok "whole messages are as in tests/data/golden/$golden.txt" is_golden

# Names as they come: long ones, other alphabets, blanks, what git would cut.
long=$(printf '%0150d' 7 | tr 0 x)
sqlite3 cap/zcost.db "UPDATE symbol SET name = '#$long' WHERE id = 1;
	UPDATE symbol SET name = 'größe_µ²→' WHERE id = 2; UPDATE symbol SET name = 'a	tab' WHERE id = 3;
	UPDATE dso SET name = '/usr/lib/very/$long.so'; UPDATE comm SET name = '$long';
	UPDATE host SET release = '6.19.0-$long';
	UPDATE run SET command = '/opt/$long/tool --- # --rx $long' WHERE variant = 'mapping'"
for table in metrics functions components waterfall; do
	ok "table $table with hostile names exits 0" exits 0 "$zcost" compare copying mapping -C cap --table $table --format commit
	ok "table $table with hostile names fits its width" fits out
done
committed copying mapping -C cap --table functions
ok "a shortened name keeps its start and its end" says '^  #xxxxx[x.]*' out
ok "non-ASCII letters of a name are escaped" says '^  gr\?\?e_u\^2-> ' out
ok "programs that differ stand once for each end" says 'workload: cmd -> tool; ' out
ok "kernels that differ stand once for each end" sh -c "'$zcost' compare few:copying cap:mapping --format commit >out 2>err &&
	tr -s '\\n ' ' ' <out | grep -q 'Linux 6.18 on host vm -> Linux 6.19.0-x'"
ok "a message with two kernels fits its width" fits out

ok "report --format commit exits 0" exits 0 "$zcost" report functions few --format commit
ok "report --format commit fits its width" fits out
ok "a note of report names the columns left out" says '^left out, too wide: ' out
ok "report --format commit keeps the costs" says ' 600.0 ' out
for columns in 'copy_ns_per_kib' ' ns_per_kib '; do
	ok "a summary that is too wide for a commit message has$columns in a block below" sh -c \
		"'$zcost' report summary cap --format commit >out 2>err && grep -qE '^  variant +side .*$columns' out && ! grep -q '^left out.*ns_per' out"
done
ok "a summary in a commit message fits its width" awk 'length > 72 { exit 1 }' out
ok "report of one side names the host once" sh -c "'$zcost' report components few --side receiver --format commit | grep -q '^side receiver'"
"$zcost" report components few --side receiver --format commit >out 2>err
ok "report --format commit has kernel and host" says '^Linux 6.18 on host vm$' out
ok "report --format commit has each variant's command" says '^mapping: cmd$' out

done_testing
