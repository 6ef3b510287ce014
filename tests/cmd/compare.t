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


ok "functions" exits 0 "$zcost" compare copying mapping -C cap --table functions --format tsv
ok "the columns" test "$(head -n 1 out)" = "$(printf 'symbol\tdso\tbase_ns\tnew_ns\tdelta_ns\tdelta_ci\tverdict\tdelta_lo\tdelta_hi\tp\tstate')"
ok "the largest movement is the first: what vanished" says '^_copy_to_iter	\[kernel.kallsyms\]	600	0	-600	' out
ok "its verdict" test "$(field _copy_to_iter verdict)" = better
ok "it vanished" test "$(field _copy_to_iter state)" = vanished
ok "p of runs fully apart, three tests: 3 x 2/924" near "$(field _copy_to_iter p)" 0.0064935 1e-6
ok "the interval leaves 0 out" sh -c "test $(field _copy_to_iter delta_hi | cut -d. -f1) -lt 0"
ok "what appeared is new" test "$(field insert_page state)" = new
ok "the interval of no change holds 0" near "$(field tcp_recvmsg delta_lo)" "-$(field tcp_recvmsg delta_hi)" 1e-9
ok "what appeared" says '^insert_page	.*	0	100	100	' out
ok "is worse" test "$(field insert_page verdict)" = worse
ok "what stayed" near "$(field tcp_recvmsg delta_ns)" 0 1e-9
ok "is no change" test "$(field tcp_recvmsg verdict)" = '~'
ok "the deltas add up to the total's" near "$(sum delta_ns)" -500 1e-9
ok "the base's costs to its basis" near "$(sum base_ns)" 1000 1e-9
ok "the sum is said" says 'sum: 1000.00 \(copying\) -500.00 = 500.00 \(mapping\) ns per KiB' err
ok "the rule is said" says 'Mann-Whitney over 6 and 6 runs, p < 0.05 after Holm' err
compared copying mapping -C cap --table functions --limit 1
ok "a limit adds the rest up in one row" says '^\(2 other functions\)	' out
ok "so that the columns still add up" near "$(sum delta_ns)" -500 1e-9

compared copying mapping -C cap --table components
ok "components" near "$(field 'data copy' delta_ns)" -600 1e-9
ok "add up, too" near "$(sum delta_ns)" -500 1e-9

ok "that a metric is judged by another rule is said" says "'data copy' is judged here as one of .* copy_ns_per_kib" err

# Own groups. The first: 1000 -> 500 x 80 % = 400; the second, copying alone, 600 -> 0; they overlap.
exits 0 "$zcost" compare copying mapping -C cap --table groups --group 'rx=_copy_to_iter,tcp_*' \
	--group 'copy=*copy*' --format tsv >log 2>&1
ok "groups: their columns" test "$(head -n 1 out | cut -f 1-8 | tr '\t' ' ')" = \
	"group base_ns new_ns delta_ns delta_ci base_total_ns new_total_ns delta_total_ns"
ok "a group's movement" near "$(field rx delta_ns)" -600 1e-9
ok "the other's, which has some of the same functions" near "$(field copy delta_ns)" -600 1e-9
ok "each with its verdict" test "$(field rx verdict) $(field copy state)" = "better vanished"
ok "p of two tests" near "$(field copy p)" 0.0043290 1e-6
ok "with what they call" near "$(field rx delta_total_ns)" -600 1e-9
ok "the overlap is said of each end" says 'copying: the groups rx and copy overlap: _copy_to_iter \(self 60.00 %\)' err
ok "where a group has nothing, too" says "warning: mapping: group 'copy': no sample has any of its functions" err
ok "the sum is not theirs" says 'sum: 1000.00 \(copying\) -500.00 = 500.00 .*groups may overlap' err
"$zcost" compare copying mapping -C cap --table groups --group 'copy=*copy*' --format commit >out 2>err
ok "in a commit message they have no total" sh -c "grep -q '(all) *1000.00  *500.00  *-500.00' out && ! grep -q total out"
ok "groups without any, exit 2" exits 2 "$zcost" compare copying mapping -C cap --table groups
ok "a group for another table, exit 2" exits 2 "$zcost" compare copying mapping -C cap --table functions --group a=b

cp -r alone inlined
sqlite3 inlined/zcost.db "INSERT INTO capture VALUES ('inlines', '1')"
compared alone inlined --table functions
ok "two ends that were not read alike are said" says 'warning: only inlined was analyzed with --inline' err
cp -r inlined another
compared inlined another --table functions
ok "alike ones, too" says 'inlined functions have their own rows' err

# Sides of other names: a plan's receiver and sender, and the one side of a run without a plan.
world base 6 $copying
cp -r alone local
sqlite3 local/zcost.db "DELETE FROM run WHERE side = 'sender'; UPDATE run SET side = 'local'"
cp -r base receiving
sqlite3 receiving/zcost.db "DELETE FROM run WHERE side = 'sender'"
for table in metrics components; do
	ok "$table: no side in common, exit 1" exits 1 "$zcost" compare base local --table $table
	ok "and no half of a table" test ! -s out
	ok "both ends' sides and the way out are said, in one line" sh -c "grep -c . err | grep -qx 1 && grep -qF \
		'base has the sides receiver, sender, local has local: name the side of each, as in --side receiver,local' err"
done
compared base local --side receiver,local
ok "two names: one side against another" near "$(field 'receiver throughput' change_pct)" 100 1e-6
ok "which is said" says "sides: 'receiver' is called 'local' in local" err
ok "and no other side" sh -c "! grep -E '^(sender|total|local)	' out"
compared base local --side receiver,local --table functions
ok "costs, too" near "$(field _copy_to_iter delta_ns)" -600 1e-9
compared base local --side sender,local --table metrics
ok "whichever was named" near "$(field 'sender throughput' new)" 16.384 1e-6
compared receiving local
ok "one side at each end: their names do not matter" near "$(field 'receiver throughput' change_pct)" 100 1e-6
ok "but are said" says "sides: 'receiver' is called 'local' in local" err
compared base alone
ok "the same names need no words" sh -c "! grep -E 'sides:|no side' err"
compared base receiving
ok "what one end alone has is said" says "warning: receiving has no side 'sender'" err
ok "a side that an end lacks, exit 1" exits 1 "$zcost" compare base local --side receiver
ok "says how to name two" says "has no side 'receiver'; it has: local .*--side BASE'S,NEW'S" err
ok "three sides, exit 2" exits 2 "$zcost" compare base local --side a,b,c
ok "a side of nothing, exit 2" exits 2 "$zcost" compare base local --side receiver,
ok "two sides of one capture, exit 2" exits 2 "$zcost" compare --self-test base --side receiver,sender

# Half a CPU for 1e6 KiB/s: 500 ns/KiB of busy time, 1000 of all time. One run does not know its CPU time.
world idle 6 half:1e6:50:60,40,0:40000:0:0 same:1e6:50:60,40,0:40000:0:0
sqlite3 idle/zcost.db "DELETE FROM metric WHERE name LIKE 'cpu_pct%' AND run IN
	(SELECT id FROM run WHERE variant = 'same' AND pass = 'measure' AND repeat = 2)"
compared half same -C idle --table functions
ok "a run without CPU time does not count" says 'Mann-Whitney over 6 and 5 runs' err
ok "and is not taken for one that is never idle" near "$(field _copy_to_iter delta_ns)" 0 1
sqlite3 idle/zcost.db "DELETE FROM metric WHERE name LIKE 'cpu_pct%' AND run IN
	(SELECT id FROM run WHERE variant = 'same' AND pass = 'measure')"
compared half same -C idle --table functions
ok "an end that has none is said to be of another basis" says \
	'warning: the CPU time of same is not known: .* --basis wall compares like with like' err
compared half same -C idle --table functions --basis wall
ok "of one basis they are alike" near "$(field _copy_to_iter delta_ns)" 0 1e-6
ok "and nothing is said" sh -c "! grep 'is not known' err"

for args in "--table syscalls" "--table waterfall --by syscalls" "--table syscalls --format commit"; do
	"$zcost" compare copying mapping -C cap $args >out 2>err
	ok "$args: a call's time holds waiting" sh -c "tr '\\n' ' ' <out | grep -q 'includes waiting: it *is not CPU time'"
done
ok "of samples nothing of that is said" sh -c "! '$zcost' compare copying mapping -C cap --table functions | grep blocked"
compared copying mapping -C cap --table contexts
ok "contexts" near "$(field syscall delta_ns)" -500 1e-9
compared copying mapping -C cap --table modules
ok "modules" near "$(field kernel delta_ns)" -500 1e-9

"$zcost" compare copying mapping -C cap --table functions >out 2>err
ok "the largest movements in words, with interval and p" says '^# receiver _copy_to_iter -600.0 ns/KiB \(600.0 to 0.0\), interval -601.5 .. -598.5, p = 0.0065: real, better' out
ok "and what is not real" says '^# receiver insert_page .*: real, worse' out
ok "json has them as data" sh -c "'$zcost' compare copying mapping -C cap --table functions --format json |
	jq -e '.movements.rows[0] | .side == \"receiver\" and .what == \"_copy_to_iter\" and .real == \"yes\" and .delta_hi < 0'"

# Two objects without symbols: a sentence that says "[unresolved]" must say whose.
cp -r cap bare
sqlite3 bare/zcost.db "INSERT INTO dso VALUES (2, '/usr/lib/libone.so.1', NULL, 3), (3, '/opt/two', NULL, 3);
	UPDATE symbol SET name = '0x1000', unresolved = 1, dso = 2 WHERE id = 1;
	UPDATE symbol SET name = '0x2000', unresolved = 1, dso = 3 WHERE id = 3"
"$zcost" compare copying mapping -C bare --table functions >out 2>err
ok "[unresolved] of which object" says '^# receiver \[unresolved\] of libone.so.1 -600.0 ns/KiB' out
ok "and of the other" says '^# receiver \[unresolved\] of two \+100.0 ns/KiB' out
ok "json has the objects as data" sh -c "'$zcost' compare copying mapping -C bare --table functions --format json |
	jq -e '.movements.rows | map(select(.what == \"[unresolved]\").dso) == [\"libone.so.1\", \"two\"]'"
sqlite3 bare/zcost.db "UPDATE symbol SET name = 'memcpy', unresolved = 0 WHERE id IN (1, 3)"
"$zcost" compare copying mapping -C bare --table functions >out 2>err
ok "a name in two objects, too" says '^# receiver memcpy of libone.so.1 -600.0 ns/KiB' out
ok "a name that is one needs no object" sh -c "! grep 'of .kernel' out"

compared copying mapping -C cap --table functions --symbol 'tcp_*'
ok "only some functions" test "$(tail -n +2 out | cut -f 1)" = tcp_recvmsg
ok "of the whole, not of themselves" near "$(field tcp_recvmsg base_ns)" 400 1e-9
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
	ok "waterfall by $by adds up to the last digit" adds_up 2
done
compared one two -C thirds --table waterfall
ok "from the base" says '^base: one		' out
ok "is its total" near "$(field 'base: one' total_ns)" 1428.57 1e-9
ok "to the new" near "$(field 'new: two' total_ns)" 1666.67 1e-9
ok "what rounding leaves is a row" says "^\\(rounding\\)	0.01	" out
ok "what got cheaper comes first" test "$(sed -n 3p out | cut -f 1)" = 'page mapping'
compared one two -C thirds --table waterfall --by functions --limit 1
ok "a limit adds the rest up in a step" says '^\(2 other functions\)	' out
ok "and it still adds up" adds_up 2
world tiny 6 one:3e9:100:33,33,34:40000:0:0 two:7e9:100:10,80,10:40000:0:0
compared one two -C tiny --table waterfall
ok "small costs have more digits" adds_up 4
"$zcost" compare one two -C tiny --table waterfall >out 2>err
ok "also on paper" says '^base: one +- +0.3333 ' out
ok "gate: a worse step" exits 3 "$zcost" compare copying mapping -C cap --table waterfall --fail-on worse
ok "steps of nothing, exit 2" exits 2 "$zcost" compare one two -C thirds --table waterfall --by colours
ok "--by is the waterfall's, exit 2" exits 2 "$zcost" compare one two -C thirds --table functions --by modules

ok "a command that never ran, exit 1" exits 1 "$zcost" compare copying mapping -C cap --table components --comm nobody
ok "is said" says 'has a sample of that in its receiver' err
compared copying mapping -C cap --table syscalls --comm tcp*
ok "system calls of a command" near "$(field recvfrom base_ns)" 80.007 0.0001
ok "of another there are none, exit 1" exits 1 "$zcost" compare copying mapping -C cap --table syscalls --comm x
ok "system calls have no symbols, exit 2" exits 2 "$zcost" compare copying mapping -C cap --table waterfall --by syscalls --symbol x
sqlite3 cap/zcost.db "INSERT INTO metric SELECT run, 'busy_ns:cpu1', unit, value, source FROM metric WHERE name = 'busy_ns'"
compared copying mapping -C cap --table functions --cpu 1
ok "samples of one CPU, per unit of work by its busy time" near "$(field _copy_to_iter base_ns)" 600 1e-9
ok "run by run, too" near "$(field _copy_to_iter delta_lo)" -601.5 1e-6
ok "another CPU has none, exit 1" exits 1 "$zcost" compare copying mapping -C cap --table functions --cpu 0
ok "a report of that CPU has no row, exit 1" exits 1 "$zcost" report components cap --variant copying --side receiver --cpu 0
ok "says which CPUs there are, not that nothing was profiled" says \
	'copying receiver: no samples on CPU 0: its profiles have samples of CPU 1$' err
ok "what was not profiled is said to be so" sh -c "'$zcost' report components cap --side sender --cpu 0 2>&1 |
	grep -q 'no samples: no run was profiled'"
ok "a bad set of CPUs, exit 2" exits 2 "$zcost" compare copying mapping -C cap --table functions --cpu x
ok "metrics are of whole sides, exit 2" exits 2 "$zcost" compare copying mapping -C cap --comm tcpzc

compared copying mapping -C few --table functions
ok "three runs can give no verdict" test "$(field _copy_to_iter verdict)" = 'too few runs'
ok "how many could is said" says 'too few runs: 3 and 3 .* 5 a side could' err
compared copying mapping -C one --table functions
ok "one run: still the difference" test "$(field _copy_to_iter delta_ns)" = -600
ok "with its sampling error" near "$(field _copy_to_iter delta_ci)" 30.37 0.05
ok "and no verdict" test "$(field _copy_to_iter verdict)" = 'too few runs'

ok "gate: a worse function" exits 3 "$zcost" compare copying mapping -C cap --table functions --fail-on worse

"$zcost" compare copying fell_back -C cap --table functions >out 2>err
ok "a fallback stands on the first line" sh -c 'head -n 1 out | grep -q "NOT ZERO COPY: fell_back receiver: 90.0 %.*no speed-up is claimed"'
ok "what would be better is said to have copied" says '^_copy_to_iter .* copied  ' out
compared copying fell_back -C cap --table functions
ok "in tsv the line is on stderr" says 'NOT ZERO COPY' err

ok "two captures, CAPTURE:VARIANT" exits 0 "$zcost" compare cap:copying few:mapping --table functions --format tsv
ok "compare alike" test "$(field _copy_to_iter delta_ns)" = -600
ok "a capture of one variant needs no name" exits 0 "$zcost" compare cap:copying alone --table functions
ok "one of several does, exit 2" exits 2 "$zcost" compare cap:copying cap
ok "and says which there are" says 'cap has 4 variants: copying, mapping, again, fell_back; name one as cap:VARIANT' err
ok "an unknown variant, exit 1" exits 1 "$zcost" compare copying maping -C cap
ok "lists those there are" says "cap has no variant 'maping'; it has: copying, mapping, again, fell_back" err
ok "a variant without its capture, exit 1" exits 1 "$zcost" compare copying mapping
ok "says how to name it" says '-C CAPTURE or CAPTURE:copying' err
ok "an unknown side, exit 1" exits 1 "$zcost" compare copying mapping -C cap --table functions --side left
ok "lists the sides" says "it has: receiver, sender" err
ok "a side without a profile, exit 1" exits 1 "$zcost" compare copying mapping -C cap --table functions --side sender
ok "says what to capture" says "copying has no profile of its sender; .*'profile'" err
ok "one BASE is too few, exit 2" exits 2 "$zcost" compare copying -C cap
ok "an unknown table, exit 2" exits 2 "$zcost" compare copying mapping -C cap --table colours
ok "an unknown gate, exit 2" exits 2 "$zcost" compare copying mapping -C cap --fail-on slower
ok "an unknown estimator, exit 2" exits 2 "$zcost" compare copying mapping -C cap --estimator modus

sqlite3 cap/zcost.db "INSERT INTO note SELECT id, 'lossy', 'perf_lost', '[0.0, 7.0]' FROM run WHERE pass = 'profile' AND repeat = 1"
ok "lost data: exit 4" exits 4 "$zcost" compare copying mapping -C cap --table functions
ok "said once for both variants" test "$(grep -c 'perf lost .* and 7 samples' out)" = 1
ok "with their names" says '^# lossy: copying receiver, mapping receiver .2 of 12 runs.: perf lost 0 records and 7 samples' out
sqlite3 few/zcost.db "INSERT INTO note SELECT id, 'warning', 'cpu_others', json_array(40.0 + id) FROM run WHERE pass = 'measure'"
"$zcost" report summary few >out 2>err
ok "all sides of all variants: the first names, and how many more" says \
	'^# warning: copying receiver, copying sender, mapping receiver and 1 more: other programs took [0-9]+ to [0-9]+ % of' out
world many 2 $copying $mapping third:1e6:100:60,40,0:40000:0:0
sqlite3 many/zcost.db "INSERT INTO note SELECT id, 'warning', 'cpu_others', json_array(40.0 + id) FROM run WHERE pass = 'measure';
	INSERT INTO note SELECT id, 'warning', 'topology_remote_nic', json_array('' || (side = 'sender'), '0', 'eth0', 1.0) FROM run WHERE pass = 'measure'"
"$zcost" report summary many >out 2>err
ok "with three names at most" says '^# warning: copying receiver, copying sender, mapping receiver and 3 more: other programs' out
ok "in one line" test "$(grep -c 'other programs took' out)" = 1
ok "which CPU it is, is no figure" says 'copying sender, mapping sender, third sender: CPUs 1 are on NUMA node' out
ok "a failed gate comes before" exits 3 "$zcost" compare copying mapping -C cap --table functions --fail-on worse
ok "json holds it" sh -c "'$zcost' compare copying mapping -C cap --table functions --format json | jq -e '.lossy and (.rows | length == 3)'"

ok "a variant against itself, exit 2" exits 2 "$zcost" compare copying copying -C cap
ok "  the way out" says 'self-test cap --variant copying says how often' err

done_testing
