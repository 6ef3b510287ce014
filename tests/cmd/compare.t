#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost compare: lists of costs, which ends there are, gates, exit codes.
. "$(dirname "$0")/../lib.sh"
. "$tests/world.sh"
need_sqlite

world cap 6 $copying $mapping again:1e6:100:60,40,0:40000:0:0 \
	fell_back:2e6:100:0,80,20:4000:1:0.9
world few 3 $copying $mapping
world one 1 $copying $mapping
world alone 6 $mapping


ok "compare --table functions exits 0" exits 0 "$zcost" compare copying mapping -C cap --table functions --format tsv
ok "table functions has the documented columns" test "$(head -n 1 out)" = "$(printf 'symbol\tdso\tbase_ns\tnew_ns\tdelta_ns\tdelta_ci\tsampling_error\tverdict\tp\tstate')"
ok "the largest movement is the first row" says '^_copy_to_iter	\[kernel.kallsyms\]	600	0	-600	' out
ok "a function that costs less is better" test "$(field _copy_to_iter verdict)" = better
ok "a function without samples in NEW has the state vanished" test "$(field _copy_to_iter state)" = vanished
ok "p of runs that do not overlap in three tests is 3 x 2/924" near "$(field _copy_to_iter p)" 0.0064935 1e-6
ok "the interval of a change has the errors of 6 runs and the limit of 0 samples" near "$(field _copy_to_iter delta_ci)" 1.8570 1e-4
ok "several runs have no sampling error" test -z "$(field _copy_to_iter sampling_error)"
ok "a function without samples in BASE has the state new" test "$(field insert_page state)" = new
ok "a function without samples in BASE costs 0 there" says '^insert_page	.*	0	100	100	' out
ok "a function that costs more is worse" test "$(field insert_page verdict)" = worse
ok "a function with the same cost has a delta of 0" near "$(field tcp_recvmsg delta_ns)" 0 1e-9
ok "a function with the same cost has the verdict ~" test "$(field tcp_recvmsg verdict)" = '~'
ok "the deltas add up to the difference of the totals" near "$(sum delta_ns)" -500 1e-9
ok "the costs of BASE add up to its basis" near "$(sum base_ns)" 1000 1e-9
ok "a note has the sum" says 'sum: 1000.00 \(copying\) -500.00 = 500.00 \(mapping\) ns per KiB' err
ok "a note names the test" says 'Mann-Whitney over 6 and 6 runs, p < 0.05 after Holm' err
compared copying mapping -C cap --table functions --limit 1
ok "--limit adds the other rows up in one row" says '^\(2 other functions\)	' out
ok "with --limit the columns still add up" near "$(sum delta_ns)" -500 1e-9

compared copying mapping -C cap --table components
ok "table components has the delta of a component" near "$(field 'data copy' delta_ns)" -600 1e-9
ok "the deltas of the components add up" near "$(sum delta_ns)" -500 1e-9


# Own groups. The first: 1000 -> 500 x 80 % = 400; the second, copying alone, 600 -> 0; they overlap.
exits 0 "$zcost" compare copying mapping -C cap --table groups --group 'rx=_copy_to_iter,tcp_*' \
	--group 'copy=*copy*' --format tsv >log 2>&1
ok "table groups has the documented columns" test "$(head -n 1 out | cut -f 1-8 | tr '\t' ' ')" = \
	"group base_ns new_ns delta_ns delta_ci sampling_error base_total_ns new_total_ns"
ok "a group has its delta" near "$(field rx delta_ns)" -600 1e-9
ok "another group with some of the same functions has its delta" near "$(field copy delta_ns)" -600 1e-9
ok "each group has a verdict and a state" test "$(field rx verdict) $(field copy state)" = "better vanished"
ok "p of a group is that of two tests" near "$(field copy p)" 0.0043290 1e-6
ok "a group has the delta of its total" near "$(field rx delta_total_ns)" -600 1e-9
ok "a note names the overlap at each end" says 'copying: the groups rx and copy overlap: _copy_to_iter \(self 60.00 %\)' err
ok "a warning names a group without samples" says "warning: mapping: group 'copy': no sample has any of its functions" err
ok "the note on the sum says that groups may overlap" says 'sum: 1000.00 \(copying\) -500.00 = 500.00 .*groups may overlap' err
"$zcost" compare copying mapping -C cap --table groups --group 'copy=*copy*' --format commit >out 2>err
ok "in a commit message groups have a row for all functions and no total" sh -c "grep -q '(all) *1000.00  *500.00  *-500.00' out && ! grep -q total out"
ok "table groups without --group is a usage error" exits 2 "$zcost" compare copying mapping -C cap --table groups
ok "--group with another table is a usage error" exits 2 "$zcost" compare copying mapping -C cap --table functions --group a=b

cp -r alone inlined
sqlite3 inlined/zcost.db "INSERT INTO capture VALUES ('inlines', '1')"
compared alone inlined --table functions
ok "a note names the end that was analyzed with --inline" says 'warning: only inlined was analyzed with --inline' err
cp -r inlined another
compared inlined another --table functions
ok "two ends with --inline have the note on inlined functions" says 'inlined functions have their own rows' err

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
compared base local --side receiver,local
ok "--side with two names compares one side with another" near "$(field 'receiver throughput' change_pct)" 100 1e-6
ok "a note names the two sides" says "sides: 'receiver' is called 'local' in local" err
ok "the table has no other side" sh -c "! grep -E '^(sender|total|local)	' out"
compared base local --side receiver,local --table functions
ok "a list of costs accepts two names of sides" near "$(field _copy_to_iter delta_ns)" -600 1e-9
compared base local --side sender,local --table metrics
ok "a list of costs accepts the two names in either order" near "$(field 'sender throughput' new)" 16.384 1e-6
compared receiving local
ok "ends with one side each are compared whatever the names" near "$(field 'receiver throughput' change_pct)" 100 1e-6
ok "a note names the sides of ends with one side each" says "sides: 'receiver' is called 'local' in local" err
compared base alone
ok "sides with the same name have no note" sh -c "! grep -E 'sides:|no side' err"
compared base receiving
ok "a note names the side that one end alone has" says "warning: receiving has no side 'sender'" err
ok "a side that one end lacks exits 1" exits 1 "$zcost" compare base local --side receiver
ok "the message says how to name two sides" says "has no side 'receiver'; it has: local .*--side BASE'S,NEW'S" err
ok "--side with three names is a usage error" exits 2 "$zcost" compare base local --side a,b,c
ok "--side with an empty name is a usage error" exits 2 "$zcost" compare base local --side receiver,
ok "--side with two sides of one capture is a usage error" exits 2 "$zcost" compare --self-test base --side receiver,sender

# Half a CPU for 1e6 KiB/s: 500 ns/KiB of busy time, 1000 of all time. One run does not know its CPU time.
world idle 6 half:1e6:50:60,40,0:40000:0:0 same:1e6:50:60,40,0:40000:0:0
sqlite3 idle/zcost.db "DELETE FROM metric WHERE name LIKE 'cpu_pct%' AND run IN
	(SELECT id FROM run WHERE variant = 'same' AND pass = 'measure' AND repeat = 2)"
compared half same -C idle --table functions
ok "a run without CPU time does not count" says 'Mann-Whitney over 6 and 5 runs' err
ok "a run without CPU time is not taken for a run without idle time" near "$(field _copy_to_iter delta_ns)" 0 1
sqlite3 idle/zcost.db "DELETE FROM metric WHERE name LIKE 'cpu_pct%' AND run IN
	(SELECT id FROM run WHERE variant = 'same' AND pass = 'measure')"
compared half same -C idle --table functions
ok "a note says that one end has no CPU time and so another basis" says \
	'warning: the CPU time of same is not known: .* --basis wall compares like with like' err
compared half same -C idle --table functions --basis wall
ok "ends that both lack CPU time are comparable" near "$(field _copy_to_iter delta_ns)" 0 1e-6
ok "ends that both lack CPU time have no note on the basis" sh -c "! grep 'is not known' err"

for args in "--table syscalls" "--table waterfall --by syscalls" "--table syscalls --format commit"; do
	"$zcost" compare copying mapping -C cap $args >out 2>err
	ok "compare$args says that a call's time includes waiting" sh -c "tr '\\n' ' ' <out | grep -q 'includes waiting: it *is not CPU time'"
done
ok "a list of functions has no note on the time of calls" sh -c "! '$zcost' compare copying mapping -C cap --table functions | grep blocked"
compared copying mapping -C cap --table contexts
ok "table contexts has the delta of a context" near "$(field syscall delta_ns)" -500 1e-9
compared copying mapping -C cap --table modules
ok "table modules has the delta of a module" near "$(field kernel delta_ns)" -500 1e-9

"$zcost" compare copying mapping -C cap --table functions >out 2>err
ok "a note has the largest movement with its interval and p" says '^# receiver _copy_to_iter -600.0 ns/KiB \(600.0 to 0.0\), \+-1.9, p = 0.0065: real, better' out
ok "a note says that a worse movement is real" says '^# receiver insert_page .*: real, worse' out
ok "JSON has the movements as data" sh -c "'$zcost' compare copying mapping -C cap --table functions --format json |
	jq -e '.movements.rows[0] | .side == \"receiver\" and .what == \"_copy_to_iter\" and .real == \"yes\" and .delta_ns + .delta_ci < 0'"

# Two objects without symbols: a sentence that says "[unresolved]" must say whose.
cp -r cap bare
sqlite3 bare/zcost.db "INSERT INTO dso VALUES (2, '/usr/lib/libone.so.1', NULL, 3), (3, '/opt/two', NULL, 3);
	UPDATE symbol SET name = '0x1000', unresolved = 1, dso = 2 WHERE id = 1;
	UPDATE symbol SET name = '0x2000', unresolved = 1, dso = 3 WHERE id = 3"
"$zcost" compare copying mapping -C bare --table functions >out 2>err
ok "a note names the DSO of [unresolved]" says '^# receiver \[unresolved\] of libone.so.1 -600.0 ns/KiB' out
ok "a note names the DSO of the other [unresolved]" says '^# receiver \[unresolved\] of two \+100.0 ns/KiB' out
ok "JSON has the DSOs of the movements" sh -c "'$zcost' compare copying mapping -C bare --table functions --format json |
	jq -e '.movements.rows | map(select(.what == \"[unresolved]\").dso) == [\"libone.so.1\", \"two\"]'"
sqlite3 bare/zcost.db "UPDATE symbol SET name = 'memcpy', unresolved = 0 WHERE id IN (1, 3)"
"$zcost" compare copying mapping -C bare --table functions >out 2>err
ok "a note names the DSO of a function that two DSOs have" says '^# receiver memcpy of libone.so.1 -600.0 ns/KiB' out
ok "a note does not name the DSO of a unique function" sh -c "! grep 'of .kernel' out"

compared copying mapping -C cap --table functions --symbol 'tcp_*'
ok "--symbol selects functions" test "$(tail -n +2 out | cut -f 1)" = tcp_recvmsg
ok "costs with --symbol are shares of the whole profile" near "$(field tcp_recvmsg base_ns)" 400 1e-9
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
compared one two -C thirds --table waterfall
ok "the first row of a waterfall is the base" says '^base: one		' out
ok "the first row has the base's total" near "$(field 'base: one' total_ns)" 1428.57 1e-9
ok "the last row is the new end" near "$(field 'new: two' total_ns)" 1666.67 1e-9
ok "a row has the rest of the rounding" says "^\\(rounding\\)	0.01	" out
ok "steps that got cheaper come first" test "$(sed -n 3p out | cut -f 1)" = 'page mapping'
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
ok "unknown steps are a usage error" exits 2 "$zcost" compare one two -C thirds --table waterfall --by colours
ok "--by with another table is a usage error" exits 2 "$zcost" compare one two -C thirds --table functions --by modules

ok "a command without samples exits 1" exits 1 "$zcost" compare copying mapping -C cap --table components --comm nobody
ok "the message says that no end has such samples" says 'has such a sample on its receiver' err
compared copying mapping -C cap --table syscalls --comm tcp*
ok "--comm selects the system calls of a command" near "$(field recvfrom base_ns)" 80.007 0.0001
ok "a command without system calls exits 1" exits 1 "$zcost" compare copying mapping -C cap --table syscalls --comm x
ok "--symbol with a waterfall by syscalls is a usage error" exits 2 "$zcost" compare copying mapping -C cap --table waterfall --by syscalls --symbol x
sqlite3 cap/zcost.db "INSERT INTO metric SELECT run, 'busy_ns:cpu1', unit, value, source FROM metric WHERE name = 'busy_ns'"
compared copying mapping -C cap --table functions --cpu 1
ok "--cpu gives the costs of one CPU by its busy time" near "$(field _copy_to_iter base_ns)" 600 1e-9
ok "--cpu gives the runs' costs of one CPU" near "$(field _copy_to_iter delta_ci)" 1.8570 1e-4
ok "--cpu with a CPU without samples exits 1" exits 1 "$zcost" compare copying mapping -C cap --table functions --cpu 0
ok "report --cpu with a CPU without samples exits 1" exits 1 "$zcost" report components cap --variant copying --side receiver --cpu 0
ok "the message names the CPUs with samples" says \
	'copying receiver: no samples on CPU 0: its profiles have samples of CPU 1$' err
ok "a side without a profile has a message that says so" sh -c "'$zcost' report components cap --side sender --cpu 0 2>&1 |
	grep -q 'no samples: no run was profiled'"
ok "a wrong list of CPUs is a usage error" exits 2 "$zcost" compare copying mapping -C cap --table functions --cpu x
ok "--cpu with table metrics is a usage error" exits 2 "$zcost" compare copying mapping -C cap --comm tcpzc

compared copying mapping -C few --table functions
ok "three runs are too few for a verdict" test "$(field _copy_to_iter verdict)" = 'too few runs'
ok "a note says how many runs a verdict needs" says 'too few runs: 3 and 3 .* 5 a side could' err
compared copying mapping -C one --table functions
ok "one run at each end has a difference" test "$(field _copy_to_iter delta_ns)" = -600
ok "one run at each end has no interval" test -z "$(field _copy_to_iter delta_ci)"
ok "one run at each end has a sampling error" near "$(field _copy_to_iter sampling_error)" 30.42 0.01
ok "one run at each end has no verdict" test "$(field _copy_to_iter verdict)" = 'too few runs'

ok "the gate exits 3 for a worse function" exits 3 "$zcost" compare copying mapping -C cap --table functions --fail-on worse
ok "the gate names the function that failed" says '^zcost: 1 row is worse: receiver insert_page$' err

"$zcost" compare copying fell_back -C cap --table functions >out 2>err
ok "a fallback stands in the first line" sh -c 'head -n 1 out | grep -q "NOT ZERO COPY: fell_back receiver: 90.0 %.*no speed-up is claimed"'
ok "a row that would be better has the verdict copied" says '^_copy_to_iter .* copied  ' out
compared copying fell_back -C cap --table functions
ok "in tsv the line about the fallback is on stderr" says 'NOT ZERO COPY' err
"$zcost" compare fell_back copying -C cap >out 2>err
ok "a fallback of BASE alone forbids no speed-up" sh -c 'head -n 1 out | grep -q "^NOT ZERO COPY: fell_back receiver: 90.0 %.*fell back to copying$"'
world both 4 one:1e6:100:60,40,0:40000:1:0.8 two:2e6:100:0,80,20:4000:1:0.9
"$zcost" compare one two -C both >out 2>err
ok "fallbacks of both ends stand in one line" sh -c 'head -n 1 out | grep -q "^NOT ZERO COPY: one receiver: 80.0 %.*; .*two receiver: 90.0 %.*: no speed-up is claimed$"'

ok "compare accepts two CAPTURE:VARIANT" exits 0 "$zcost" compare cap:copying few:mapping --table functions --format tsv
ok "CAPTURE:VARIANT gives the same table as -C" test "$(field _copy_to_iter delta_ns)" = -600
ok "a capture with one variant needs no name of the variant" exits 0 "$zcost" compare cap:copying alone --table functions
ok "a capture with several variants needs a name and exits 1 or 2" exits 2 "$zcost" compare cap:copying cap
ok "the message lists the variants" says 'cap has 4 variants: copying, mapping, again, fell_back; name one as cap:VARIANT' err
cp -r alone empty
sqlite3 empty/zcost.db "DELETE FROM variant; DELETE FROM run"
ok "a capture without variants needs a name, too" exits 2 "$zcost" compare cap:copying empty
ok "the message says that it has none" says 'empty has 0 variants: none; name one as empty:VARIANT' err
ok "an unknown variant of a capture without variants exits 1" exits 1 "$zcost" compare cap:copying empty:x
ok "its message says that the capture has none" says "empty has no variant 'x'; it has: none" err
ok "an unknown variant exits 1" exits 1 "$zcost" compare copying maping -C cap
ok "the message for an unknown variant lists the variants" says "cap has no variant 'maping'; did you mean mapping[?] it has: copying, mapping, again, fell_back" err
ok "a variant without a capture exits 1" exits 1 "$zcost" compare copying mapping
ok "the message says how to name the capture" says '-C CAPTURE or CAPTURE:copying' err
ok "an unknown side exits 1" exits 1 "$zcost" compare copying mapping -C cap --table functions --side left
ok "the message lists the sides" says "it has: receiver, sender" err
ok "a side without a profile exits 1" exits 1 "$zcost" compare copying mapping -C cap --table functions --side sender
ok "the message says which pass to capture" says "copying has no profile of its sender; .*'profile'" err
ok "BASE without NEW is a usage error" exits 2 "$zcost" compare copying -C cap
ok "an unknown table is a usage error" exits 2 "$zcost" compare copying mapping -C cap --table colours
ok "an unknown gate is a usage error" exits 2 "$zcost" compare copying mapping -C cap --fail-on slower
ok "an unknown estimator is a usage error" exits 2 "$zcost" compare copying mapping -C cap --estimator modus

sqlite3 cap/zcost.db "INSERT INTO note SELECT id, 'lossy', 'perf_lost', '[0.0, 7.0]' FROM run WHERE pass = 'profile' AND repeat = 1"
ok "compare of lossy data exits 4" exits 4 "$zcost" compare copying mapping -C cap --table functions
ok "one note has the loss of both variants" test "$(grep -c 'perf lost .* and 7 samples' out)" = 1
ok "the note on the loss names both variants" says '^# lossy: copying receiver, mapping receiver .2 of 12 runs.: perf lost 0 records and 7 samples' out
sqlite3 few/zcost.db "INSERT INTO note SELECT id, 'warning', 'cpu_others', json_array(40.0 + id) FROM run WHERE pass = 'measure'"
"$zcost" report summary few >out 2>err
ok "a note on many sides has the first names and the number of the others" says \
	'^# warning: copying receiver, copying sender, mapping receiver and 1 more: other programs took [0-9]+ to [0-9]+ % of' out
world many 2 $copying $mapping third:1e6:100:60,40,0:40000:0:0
sqlite3 many/zcost.db "INSERT INTO note SELECT id, 'warning', 'cpu_others', json_array(40.0 + id) FROM run WHERE pass = 'measure';
	INSERT INTO note SELECT id, 'warning', 'topology_remote_nic', json_array('' || (side = 'sender'), '0', 'eth0', 1.0) FROM run WHERE pass = 'measure'"
"$zcost" report summary many >out 2>err
ok "a note on several sides has at most three names" says '^# warning: copying receiver, copying sender, mapping receiver and 3 more: other programs' out
ok "a note on several sides is one line" test "$(grep -c 'other programs took' out)" = 1
ok "notes that differ in a CPU number merge" says 'copying sender, mapping sender, third sender: CPUs 1 are on NUMA node' out
ok "a failed gate takes precedence over a loss" exits 3 "$zcost" compare copying mapping -C cap --table functions --fail-on worse
ok "JSON has the notes" sh -c "'$zcost' compare copying mapping -C cap --table functions --format json | jq -e '.lossy and (.rows | length == 3)'"

ok "a variant against itself is a usage error" exits 2 "$zcost" compare copying copying -C cap
ok "the message names --self-test" says 'self-test cap --variant copying measures how often' err

# Settings that differ: facts of hosts and variants, and network cards.
world settings 4 $copying $mapping
sqlite3 settings/zcost.db "INSERT INTO fact VALUES (NULL, 'copying', 'receiver.command', 'server --size 1 --rx recv'),
	(NULL, 'mapping', 'receiver.command', 'server --size 1 --rx mmap'), (NULL, 'copying', 'sender.cpus', '2'), (NULL, 'mapping', 'sender.cpus', '2'),
	('vm', NULL, 'release', '6.18'), ('vm', NULL, 'sysctl:net.core.rmem_max', '212992');
	INSERT INTO metric SELECT id, 'nic_state:host/eth0/mtu', '', 1500, 'measured' FROM run;
	INSERT INTO metric SELECT id, 'nic_state:host/eth0/feature:rx-gro', '', variant = 'copying', 'measured' FROM run"
compared copying mapping -C settings --table settings
printf 'side\tname\tbase\tnew\nreceiver\tcommand\tserver --size 1 --rx recv\tserver --size 1 --rx mmap\n\tnic:host/eth0/feature:rx-gro\t1\t0\n' >want
ok "--table settings has the card's feature and the command that differ, and nothing else" diff want out
"$zcost" compare copying mapping -C settings >out 2>err
ok "compare begins with the settings that differ, the command first" sh -c "head -n 2 out | tr '\n' ' ' | grep -q '^setting: receiver command: ... --rx recv -> ... --rx mmap setting: nic:host/eth0/feature:rx-gro: 1 -> 0 '"
world single 1 $copying $mapping
sqlite3 single/zcost.db "UPDATE run SET cpus = '7' WHERE variant = 'mapping' AND side = 'receiver'"
compared copying mapping -C single --table settings
ok "a single run has the CPUs of its side among the settings" says '^receiver	[a-z_]*cpus	1	7$' out
cp -r settings later
sqlite3 later/zcost.db "UPDATE fact SET value = '7.0' WHERE name = 'release'; UPDATE fact SET value = 1 WHERE name LIKE 'sysctl:%';
	UPDATE fact SET value = '3' WHERE name = 'sender.cpus'; UPDATE metric SET value = 9000 WHERE name LIKE 'nic_state:%mtu' AND run IN (SELECT id FROM run WHERE repeat = 1)"
compared settings:copying later:mapping --table settings
ok "two captures differ in plan, kernel, card and sysctl, in this order" test "$(cut -f 2 out | tr '\n' ' ')" = \
	"name command cpus kernel nic:host/eth0/feature:rx-gro nic:host/eth0/mtu sysctl:net.core.rmem_max "
ok "a setting that changed between runs has both values" says '	nic:host/eth0/mtu	1500	(1500.9000|9000.1500)$' out
"$zcost" compare settings:copying later:mapping >out 2>err
ok "at most three settings stand above a table, with the number of the others" sh -c "test \"\$(grep -c '^setting: ' out)\" = 3 && grep -q '^3 more in --table settings$' out"
ok "--side leaves out the settings of the other side" sh -c "'$zcost' compare settings:copying later:mapping --table settings --side receiver --format tsv | cut -f 2 | grep -c cpus | grep -qx 0"
sqlite3 later/zcost.db "DELETE FROM metric WHERE name LIKE 'nic_state:%'"
ok "a capture without the cards' settings does not differ in them" sh -c "'$zcost' compare settings:copying later:mapping --table settings | grep -c nic: | grep -qx 0"
cp -r settings tools
sqlite3 tools/zcost.db "INSERT INTO metric SELECT id, 'tool:perf=6.1.9', '1', 1, 'measured' FROM run WHERE pass = 'profile' AND variant = 'copying';
	INSERT INTO metric SELECT id, 'tool:perf=6.6.1', '1', 1, 'measured' FROM run WHERE pass = 'profile' AND variant = 'mapping';
	INSERT INTO setting VALUES (1, 'copying', 'mtu', '1500'), (2, 'mapping', 'mtu', '9000');
	INSERT INTO fact VALUES (NULL, 'copying', 'setting.mtu', '1500'), (NULL, 'mapping', 'setting.mtu', '9000');
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
	INSERT INTO fact SELECT iif(column1 = 'vm', 'vm', NULL), iif(column1 = 'vm', NULL, 'both'), column2, 1 FROM
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
	INSERT INTO fact VALUES (NULL, 'copying', 'server.command', 'server --size 1'), (NULL, 'mapping', 'server.command', 'server --size 2')"
"$zcost" compare copying mapping -C named >out 2>err
ok "the setting of a side with a free name has the name of the side once" says '^setting: server command: ... --size 1 -> ... --size 2$' out
# Values above a table: at most 60 letters, from the word on in which they differ.
letters=$(printf '%060d' 0)
world values 1 $copying $mapping
differ() { # differ BASE NEW: the line of a setting with these values
	sqlite3 values/zcost.db "DELETE FROM fact; INSERT INTO fact VALUES (NULL, 'copying', 'var:a', '$1'), (NULL, 'mapping', 'var:a', '$2')"
	"$zcost" compare copying mapping -C values 2>err | head -n 1
}
ok "a value of 60 letters is whole, and a longer one is cut" test "$(differ $letters 1$letters)" = "setting: var:a: $letters -> 1$(printf '%059d' 0) ..."
ok "an empty value is named" test "$(differ '' 1)" = "setting: var:a: (empty) -> 1"
ok "words in common are left out but the last" test "$(differ 'a --b 1 --c' 'a --b 2 --c')" = "setting: var:a: ... --b 1 --c -> ... --b 2 --c"
ok "a value that ends within the other's words has its last words" test "$(differ 'a b' 'a b c')" = "setting: var:a: a b -> a b c"
ok "a line break becomes a blank" test "$(differ "1
2" 3)" = "setting: var:a: 1 2 -> 3"
sqlite3 values/zcost.db "INSERT INTO fact VALUES (NULL, 'mapping', 'var:b', '1')"
"$zcost" compare copying mapping -C values >out 2>err
ok "a setting that one end lacks has no value there" says '^setting: var:b: \(none\) -> 1$' out
ok "the table of settings has every format" sh -c "for f in text json md csv commit; do '$zcost' compare copying mapping -C settings --table settings --format \$f || exit; done"

. "$tests/golden.sh"
golden_captures bare/zcost.db
done_testing
