#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost compare: lists of costs, which ends there are, gates, exit codes.
. "$(dirname "$0")/../lib.sh"
. "$tests/world.sh"
. "$tests/golden.sh"
need sqlite3

world cap 6 $copying $mapping again:1e6:100:60,40,0:40000:0:0 \
	fell_back:2e6:100:0,80,20:4000:1:0.9
world few 3 $copying $mapping
world one 1 $copying $mapping
world alone 6 $mapping

# copying costs 1000 ns/KiB, 60 % in _copy_to_iter; mapping 500, 20 % in insert_page. p of runs that do not overlap is 2/924, times the
# number of tests. The interval has the errors of 6 runs and the limit of 0 samples. The deltas add up to the difference of the totals.
compare cap copying mapping --table functions
compare cap copying mapping --table functions --limit 1
compare cap copying mapping --table components
# Own groups. The first: 1000 -> 500 x 80 % = 400; the second, copying alone, 600 -> 0; they overlap.
compare cap copying mapping --table groups --group 'rx=_copy_to_iter,tcp_*' --group 'copy=*copy*'
run compare copying mapping -C cap --table groups --group 'copy=*copy*' --format commit
run compare copying mapping -C cap --table groups
run compare copying mapping -C cap --table functions --group a=b

cp -r alone inlined
sqlite3 inlined/zcost.db "INSERT INTO capture VALUES ('inlines', '1')"
run compare alone inlined --table functions --format csv
cp -r inlined another
run compare inlined another --table functions --format csv

# Sides of other names: a plan's receiver and sender, and the one side of a run without a plan.
world base 6 $copying
cp -r alone local
sqlite3 local/zcost.db "DELETE FROM run WHERE side = 'sender'; UPDATE run SET side = 'local'"
cp -r base receiving
sqlite3 receiving/zcost.db "DELETE FROM run WHERE side = 'sender'"
for table in metrics components; do
	ok "table $table of ends without a common side exits 1" exits 1 "$zcost" compare base local --table $table
	ok "table $table of ends without a common side prints no table" test ! -s out
	ok "one line names the sides of both ends and the way out" sh -c "grep -c . err | grep -qx 1 && grep -qF \
		'base has the sides receiver, sender, local has local: name the side of each, as in --side receiver,local' err"
done
for options in receiver,local 'receiver,local --table functions' 'sender,local --table metrics'; do
	run compare base local --side $options --format csv
done
run compare receiving local --format csv # one side each
run compare base alone --format csv
run compare base receiving --format csv
run compare base local --side receiver
run compare base local --side a,b,c
run compare base local --side receiver,
run compare --self-test base --side receiver,sender
swapped() { # the new side is the receiver alone, which has the name of the other side's row
	"$zcost" compare copying mapping -C cap --side sender,receiver --format tsv 2>err | tsv '$at["metric"] == "cpu" { print $at["new"], $at["new_runs"] }' >new
	"$zcost" report summary cap --variant mapping --side receiver --format tsv 2>err | tsv '{ print $at["cpu_pct"], $at["runs"] }' | cmp - new
}
ok "the second side of --side is compared alone, in a capture that has both on each end" swapped

# Half a CPU for 1e6 KiB/s: 500 ns/KiB of busy time, 1000 of all time. One run does not know its CPU time.
world idle 6 half:1e6:50:60,40,0:40000:0:0 same:1e6:50:60,40,0:40000:0:0
sqlite3 idle/zcost.db "DELETE FROM metric WHERE name LIKE 'cpu_pct%' AND run IN
	(SELECT id FROM run WHERE variant = 'same' AND pass = 'measure' AND repeat = 2)"
compare idle half same --table functions
sqlite3 idle/zcost.db "DELETE FROM metric WHERE name LIKE 'cpu_pct%' AND run IN
	(SELECT id FROM run WHERE variant = 'same' AND pass = 'measure')"
compare idle half same --table functions
compare idle half same --table functions --basis wall

for args in "--table syscalls" "--table waterfall --by syscalls" "--table syscalls --format commit" "--table contexts" "--table modules" "--table functions"; do
	run compare copying mapping -C cap $args
done
ok "JSON has the movements as data" sh -c "'$zcost' compare copying mapping -C cap --table functions --format json |
	jq -e '.movements.rows[0] | .side == \"receiver\" and .what == \"_copy_to_iter\" and .real == \"yes\" and .delta_ns + .delta_ci < 0'"

# Two objects without symbols: a sentence that says "[unresolved]" must say whose.
cp -r cap bare
sqlite3 bare/zcost.db "INSERT INTO dso VALUES (2, '/usr/lib/libone.so.1', NULL, 3), (3, '/opt/two', NULL, 3);
	UPDATE symbol SET name = '0x1000', unresolved = 1, dso = 2 WHERE id = 1;
	UPDATE symbol SET name = '0x2000', unresolved = 1, dso = 3 WHERE id = 3"
run compare copying mapping -C bare --table functions
ok "JSON has the DSOs of the movements" sh -c "'$zcost' compare copying mapping -C bare --table functions --format json |
	jq -e '.movements.rows | map(select(.what == \"[unresolved]\").dso) == [\"libone.so.1\", \"two\"]'"
sqlite3 bare/zcost.db "UPDATE symbol SET name = 'memcpy', unresolved = 0 WHERE id IN (1, 3)"
run compare copying mapping -C bare --table functions

compare cap copying mapping --table functions --symbol 'tcp_*' # shares of the whole profile
# adds_up DIGITS: in the table of steps each total is the one before plus the step, to the last digit printed
adds_up() {
	awk -F'\t' -v scale="1e$1" '
		function whole(x) { if (x * scale != sprintf("%.0f", x * scale) && (x * scale - sprintf("%.0f", x * scale)) ^ 2 > 1e-12)
			bad = bad " " x " has more digits;"; return sprintf("%.0f", x * scale) + 0 }
		NR == 2 { at = whole($4) }
		NR > 2 && $2 != "" { at += whole($2); if (at != whole($4)) bad = bad " " $1 " leads to " $4 ";" }
		{ last = $4; steps += $2 != "" }
		END { if (at != whole(last) || !steps || bad) { print "not to " last ":" bad; exit 1 } }' out
}
world thirds 6 one:7e5:100:33,33,34:40000:0:0 two:6e5:100:10,80,10:40000:0:0
for by in components functions contexts modules syscalls; do
	compared one two -C thirds --table waterfall --by $by
	ok "the steps of a waterfall by $by add up to the last digit" adds_up 2
done
compare thirds one two --table waterfall # steps that got cheaper come first
compared one two -C thirds --table waterfall --by functions --limit 1
ok "--limit adds the other steps up in one step" says '^\(2 other functions\)	' out
ok "a waterfall with --limit still adds up" adds_up 2
world ten 4 one:1e8:100:30,70,0:1:0:0 two:99e6:100:30,70,0:1:0:0 ten:1e9:100:30,70,0:1:0:0
digits() { # digits BASE NEW: after the point of a cost
	"$zcost" compare $1 $2 -C ten --table components --format md 2>err | sed -n 's/^| *TCP.IP *| *[0-9]*\.\([0-9]*\) .*/\1/p' | tr -d '\n' | wc -c | tr -d ' '
}
ok "a total of 10 ns has two digits after the point" test "$(digits one two)" = 2
ok "a total of 1 ns has three digits after the point" test "$(digits one ten) $(digits ten one)" = "3 3"
world tiny 6 one:3e9:100:33,33,34:40000:0:0 two:7e9:100:10,80,10:40000:0:0
compared one two -C tiny --table waterfall
ok "small costs have more digits" adds_up 4
"$zcost" compare one two -C tiny --table waterfall >out 2>err
ok "small costs have more digits in a commit message" says '^base: one +- +0.3333 ' out
ok "the gate exits 3 for a worse step" exits 3 "$zcost" compare copying mapping -C cap --table waterfall --fail-on worse
run compare one two -C thirds --table waterfall --by colours
run compare one two -C thirds --table functions --by modules

run compare copying mapping -C cap --table components --comm nobody
compare cap copying mapping --table syscalls --comm tcp*
run compare copying mapping -C cap --table syscalls --comm x
run compare copying mapping -C cap --table waterfall --by syscalls --symbol x
sqlite3 cap/zcost.db "INSERT INTO metric (run, name, cpu, unit, value, source) SELECT run, 'busy_ns', 1, unit, value, source FROM metric WHERE name = 'busy_ns'"
compare cap copying mapping --table functions --cpu 1
run compare copying mapping -C cap --table functions --cpu 0
run report components cap --variant copying --side receiver --cpu 0
ok "a side without a profile has a message that says so" sh -c "'$zcost' report components cap --side sender --cpu 0 2>&1 |
	grep -q 'no samples: no run was profiled'"
run compare copying mapping -C cap --table functions --cpu x
run compare copying mapping -C cap --comm tcpzc

compare few copying mapping --table functions
compare one copying mapping --table functions
ok "the gate exits 3 for a worse function" exits 3 "$zcost" compare copying mapping -C cap --table functions --fail-on worse
ok "the gate names the function that failed" says '^zcost: failed: receiver insert_page: .*, worse$' err

run compare copying fell_back -C cap --table functions
compare cap copying fell_back --table functions
"$zcost" compare fell_back copying -C cap >out 2>err
ok "a fallback of BASE alone forbids no speed-up" sh -c 'head -n 1 out | grep -q "^NOT ZERO COPY: fell_back receiver: 90.0 %.*fell back to copying$"'
world both 4 one:1e6:100:60,40,0:40000:1:0.8 two:2e6:100:0,80,20:4000:1:0.9
"$zcost" compare one two -C both >out 2>err
ok "fallbacks of both ends stand in one line" sh -c 'head -n 1 out | grep -q "^NOT ZERO COPY: one receiver: 80.0 %.*; .*two receiver: 90.0 %.*: no speed-up is claimed$"'

ok "compare accepts two CAPTURE:VARIANT" exits 0 "$zcost" compare cap:copying few:mapping --table functions --format tsv
ok "CAPTURE:VARIANT gives the same table as -C" test "$(field _copy_to_iter delta_ns)" = -600
ok "a capture with one variant needs no name of the variant" exits 0 "$zcost" compare cap:copying alone --table functions
run compare cap:copying cap
cp -r alone empty
sqlite3 empty/zcost.db "DELETE FROM variant; DELETE FROM run"
run compare cap:copying empty
run compare cap:copying empty:x
run compare copying maping -C cap
run compare copying mapping
run compare copying mapping -C cap --table functions --side left
run compare copying mapping -C cap --table functions --side sender
run compare copying -C cap
run compare copying mapping -C cap --table colours
run compare copying mapping -C cap --fail-on slower
run compare copying mapping -C cap --estimator modus

sqlite3 cap/zcost.db "INSERT INTO note SELECT id, 'lossy', 'perf_lost_samples', '[7.0]' FROM run WHERE pass = 'profile' AND repeat = 1"
ok "compare of lossy data exits 4" exits 4 "$zcost" compare copying mapping -C cap --table functions
ok "one note has the loss of both variants" test "$(grep -c 'perf lost 7 samples' out)" = 1
ok "the note on the loss names both variants" says '^# lossy: copying receiver, mapping receiver .2 of 12 runs.: perf lost 7 samples' out
sqlite3 few/zcost.db "INSERT INTO note SELECT id, 'warning', 'cpu_others', json_array(40.0 + id) FROM run WHERE pass = 'measure'"
run report summary few
world many 2 $copying $mapping third:1e6:100:60,40,0:40000:0:0
sqlite3 many/zcost.db "INSERT INTO note SELECT id, 'warning', 'cpu_others', json_array(40.0 + id) FROM run WHERE pass = 'measure';
	INSERT INTO note SELECT id, 'warning', 'topology_remote_nic', json_array('' || (side = 'sender'), '0', 'eth0', 1.0) FROM run WHERE pass = 'measure'"
run report summary many
ok "a failed gate takes precedence over a loss" exits 3 "$zcost" compare copying mapping -C cap --table functions --fail-on worse
ok "JSON has the notes" sh -c "'$zcost' compare copying mapping -C cap --table functions --format json | jq -e '.lossy and (.rows | length == 3)'"

run compare copying copying -C cap

# Settings that differ: facts of hosts and variants, and network cards.
world settings 4 $copying $mapping
sqlite3 settings/zcost.db "INSERT INTO fact (host, variant, name, value) VALUES (NULL, 'copying', 'receiver.command', 'server --size 1 --rx recv'),
	(NULL, 'mapping', 'receiver.command', 'server --size 1 --rx mmap'), (NULL, 'copying', 'sender.cpus', '2'), (NULL, 'mapping', 'sender.cpus', '2'),
	('vm', NULL, 'release', '6.18'), ('vm', NULL, 'sysctl:net.core.rmem_max', '212992');
	INSERT INTO metric (run, name, object, unit, value, source) SELECT id, 'nic_state', 'host/eth0/mtu', '', 1500, 'measured' FROM run;
	INSERT INTO metric (run, name, object, unit, value, source) SELECT id, 'nic_state', 'host/eth0/feature:rx-gro', '', variant = 'copying', 'measured' FROM run"
compare settings copying mapping --table settings
run compare copying mapping -C settings # begins with the settings that differ, the command first
world single 1 $copying $mapping
sqlite3 single/zcost.db "UPDATE run SET cpus = '7' WHERE variant = 'mapping' AND side = 'receiver'"
compare single copying mapping --table settings # the CPUs of the side
cp -r settings later
sqlite3 later/zcost.db "UPDATE fact SET value = '7.0' WHERE name = 'release'; UPDATE fact SET value = 1 WHERE name LIKE 'sysctl:%';
	UPDATE fact SET value = '3' WHERE name = 'sender.cpus'; UPDATE metric SET value = 9000 WHERE name = 'nic_state' AND object LIKE '%mtu' AND run IN (SELECT id FROM run WHERE repeat = 1)"
run compare settings:copying later:mapping --table settings --format csv # in the order plan, kernel, card, sysctl
run compare settings:copying later:mapping
ok "--side leaves out the settings of the other side" sh -c "'$zcost' compare settings:copying later:mapping --table settings --side receiver --format tsv >out && ! cut -f 2 out | grep cpus"
sqlite3 later/zcost.db "DELETE FROM metric WHERE name = 'nic_state'"
ok "a capture without the cards' settings does not differ in them" sh -c "'$zcost' compare settings:copying later:mapping --table settings >out && ! grep nic: out"
cp -r settings tools
sqlite3 tools/zcost.db "INSERT INTO fact (run, name, value) SELECT id, 'tool:perf', '6.1.9' FROM run WHERE pass = 'profile' AND variant = 'copying';
	INSERT INTO fact (run, name, value) SELECT id, 'tool:perf', '6.6.1' FROM run WHERE pass = 'profile' AND variant = 'mapping';
	INSERT INTO setting VALUES (1, 'copying', 'mtu', '1500'), (2, 'mapping', 'mtu', '9000');
	INSERT INTO fact (host, variant, name, value) VALUES (NULL, 'copying', 'setting.mtu', '1500'), (NULL, 'mapping', 'setting.mtu', '9000');
	INSERT INTO dso VALUES (7, '/opt/a/server', 'aa', 3), (8, '/opt/b/server', 'bb', 3), (9, '/lib/old.so', 'cc', 3), (10, '/a/other', 'dd', 3), (11, '/b/other', 'ee', 3);
	INSERT INTO symbol VALUES (7, 'main', 7, 0), (8, 'main', 8, 0), (9, 'f', 9, 0), (10, 'main', 10, 0), (11, 'main', 11, 0);
	INSERT INTO frame SELECT id, NULL, id FROM symbol WHERE id >= 7;
	INSERT INTO frame VALUES (12, 7, 1), (13, 8, 1);
	INSERT INTO process SELECT id, 7 FROM run;
	INSERT INTO cost SELECT run.id, event.id, 1, 1, 7, 7, 2, CASE variant WHEN 'copying' THEN 12 ELSE 13 END, 1, 1 FROM run JOIN event ON event.run = run.id;
	INSERT INTO cost SELECT run.id, event.id, 1, 1, 8, 8, 2, CASE variant WHEN 'copying' THEN 10 ELSE 11 END, 1, 1 FROM run JOIN event ON event.run = run.id;
	INSERT INTO cost SELECT run.id, event.id, 1, 1, 7, 7, 2, 9, 1, 1 FROM run JOIN event ON event.run = run.id WHERE variant = 'copying'"
compared copying mapping -C tools --table settings
grep -E 'tool:|build-id:|mtu' out | cut -f2- >got
printf '%s\t%s\t%s\n' set:mtu 1500 9000 tool:perf 6.1.9 6.6.1 build-id:server aa bb >want
ok "settings that differ have the plan's settings once, the version of perf, and the build-id of a program that the workloads of both ends ran" diff want got
# The same settings in two captures, with other values.
sqlite3 tools/zcost.db "INSERT INTO capture VALUES ('zcost_version', '1'); UPDATE fact SET variant = 'both', value = '2' WHERE name = 'sender.cpus';
	INSERT INTO fact (host, variant, name, value) SELECT iif(column1 = 'vm', 'vm', NULL), iif(column1 = 'vm', NULL, 'both'), column2, 1 FROM
		(VALUES ('vm', 'CONFIG_HZ'), ('vm', 'boot'), ('', 'sender.duration'), ('', 'units'), ('', 'sender.command'), ('', 'var:z'), ('', 'runs'))"
cp -r tools kinds
sqlite3 kinds/zcost.db "UPDATE capture SET value = 2 WHERE key = 'zcost_version'; UPDATE fact SET value = 3 WHERE value IN ('1', '6.18', '2', '212992')"
for capture in tools kinds; do
	sqlite3 $capture/zcost.db "UPDATE fact SET variant = iif('$capture' = 'tools', 'copying', 'mapping') WHERE variant = 'both'"
done
compared tools:copying kinds:mapping --table settings
printf '%s	%s
' receiver command sender command '' units sender duration '' var:z '' runs '' set:mtu sender cpus '' boot '' kernel \
	'' nic:host/eth0/feature:rx-gro '' sysctl:net.core.rmem_max '' CONFIG_HZ '' zcost_version receiver tool:perf receiver build-id:server >want
ok "settings stand in the order command, units, duration, the plan's other keys, host, card, sysctl, kernel configuration, zcost, tools, programs" \
	sh -c "sed 1d out | cut -f 1,2 | diff want -"
# A side with a free name: its keys are those of the side, not of the plan.
cp -r settings named
sqlite3 named/zcost.db "DELETE FROM fact; UPDATE run SET side = 'server' WHERE side = 'receiver';
	INSERT INTO fact (host, variant, name, value) VALUES (NULL, 'copying', 'server.command', 'server --size 1'), (NULL, 'mapping', 'server.command', 'server --size 2')"
run compare copying mapping -C named
# Two sides of three on one host: its settings are those of the two alone.
cp -r settings proxy
sqlite3 proxy/zcost.db "INSERT INTO run SELECT id + 1000, variant, pass, repeat, 'proxy', 'other', command, cpus, ncpus, start_ns, end_ns, position, status, why, 'proxy'
		FROM run WHERE side = 'receiver' AND pass = 'measure';
	DELETE FROM metric WHERE name = 'nic_state';
	INSERT INTO fact (host, variant, name, value) VALUES (NULL, 'copying', 'var:z', '1'), (NULL, 'mapping', 'var:z', '2');
	INSERT INTO metric (run, name, object, unit, value, source) SELECT id, 'nic_state', 'host/eth0/mtu', '', iif(side <> 'proxy' AND variant = 'mapping', 9000, 1500), 'measured' FROM run"
compared copying mapping -C proxy --table settings
ok "a setting that two of three sides share names them" is "$(tsv '$at["name"] ~ "mtu" { print $at["side"] }' out)" "receiver, sender"
ok "a setting of all three sides names none" is "$(tsv '$at["name"] == "var:z" { print "(" $at["side"] ")" }' out)" "()"
# Values above a table: at most 60 letters, from the word on in which they differ.
letters=$(printf '%060d' 0)
world values 1 $copying $mapping
differ() { # differ BASE NEW: the line of a setting with these values
	sqlite3 values/zcost.db "DELETE FROM fact; INSERT INTO fact (host, variant, name, value) VALUES (NULL, 'copying', 'var:a', '$1'), (NULL, 'mapping', 'var:a', '$2')"
	"$zcost" compare copying mapping -C values 2>err | head -n 1
}
ok "a value of 60 letters is whole, and a longer one is cut" test "$(differ $letters 1$letters)" = "setting: var:a: $letters -> 1$(printf '%059d' 0) ..."
ok "an empty value is named" test "$(differ '' 1)" = "setting: var:a: (empty) -> 1"
ok "words in common are left out but the last" test "$(differ 'a --b 1 --c' 'a --b 2 --c')" = "setting: var:a: ... --b 1 --c -> ... --b 2 --c"
ok "a value that ends within the other's words has its last words" test "$(differ 'a b' 'a b c')" = "setting: var:a: a b -> a b c"
ok "a line break becomes a blank" test "$(differ "1
2" 3)" = "setting: var:a: 1 2 -> 3"
sqlite3 values/zcost.db "INSERT INTO fact (host, variant, name, value) VALUES (NULL, 'mapping', 'var:b', '1')"
"$zcost" compare copying mapping -C values >out 2>err
ok "a setting that one end lacks has no value there" says '^setting: var:b: \(none\) -> 1$' out
ok "the table of settings has every format" sh -c "for f in text json md csv commit; do '$zcost' compare copying mapping -C settings --table settings --format \$f || exit; done"

golden_captures bare/zcost.db
done_testing
