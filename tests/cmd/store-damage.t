#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A damaged store, or a store from a stranger, gives the right table or an error, never a wrong table.
. "$(dirname "$0")/../lib.sh"
. "$tests/world.sh"
need sqlite3

world cap 2 "$copying" "$mapping"
sqlite3 cap/zcost.db "INSERT INTO setting (variant, name, value) VALUES ('copying', 'MTU', '1500');
	INSERT INTO collector SELECT id, 'perf', 'ok', NULL, 0 FROM run;
	INSERT INTO thread (run, pid, tid, comm, run_ns) SELECT id, 7, 7, 'tcpzc', 1e9 FROM run;
	INSERT INTO topology (host, kind, name, cpus) VALUES ('vm', 'node', '0', '0-1');
	INSERT INTO function SELECT run, event, frame, context, samples, weight, weight FROM cost;
	INSERT INTO note VALUES (1, 'warning', 'file_damaged', json_array('perf', 'it ends early'))"

tables='summary scores runs variants functions components syscalls topology'
# outputs FOLDER INTO: writes the output and the exit status of each command for FOLDER's store
outputs() {
	mkdir -p "$2"
	for table in $tables; do
		"$zcost" report "$table" "$1" --format json >"$2/$table" 2>"$2/$table.err"
		echo $? >"$2/$table.code"
	done
	"$zcost" compare -C "$1" copying mapping --format json >"$2/compare" 2>"$2/compare.err"
	echo $? >"$2/compare.code"
	for format in sql folded; do
		"$zcost" export $format "$1" >"$2/$format" 2>"$2/$format.err"
		echo $? >"$2/$format.code"
	done
}
outputs cap right
ok "every command has output for the undamaged store" test "$(cat right/*.code | grep -c '^0$')" = 11

# An export streams rows, so its output may end early; a table is all or nothing.
right_or_failed() { # right_or_failed FOLDER
	for name in $tables compare sql folded; do
		code=$(cat "$1/$name.code")
		if [ "$code" = 1 ]; then
			[ -s "$1/$name.err" ] && { [ $name = sql ] || [ $name = folded ] || [ ! -s "$1/$name" ]; } && continue
		elif [ "$code" = "$(cat "right/$name.code")" ] && cmp -s "$1/$name" "right/$name"; then
			continue
		fi
		echo "$name: exit $code"
		cat "$1/$name.err"
		diff "$1/$name" "right/$name" | head
		return 1
	done
}
page=$(sqlite3 cap/zcost.db 'PRAGMA page_size')
pages=$(sqlite3 cap/zcost.db 'PRAGMA page_count')
mkdir bad
every_page() {
	n=0
	failures=0
	while [ $n -lt "$pages" ]; do
		cp cap/zcost.db bad/zcost.db
		dd if=/dev/zero of=bad/zcost.db bs="$page" seek=$n count=1 conv=notrunc status=none
		outputs bad got
		right_or_failed got || { echo "page $((n + 1)) of $pages"; return 1; }
		failures=$((failures + $(cat got/*.code | grep -c '^1$')))
		n=$((n + 5))
	done
	[ $failures -gt "$((pages / 5))" ] || { echo "only $failures commands failed"; return 1; }
}
ok "every fifth page of zeros gives the right output or an error" every_page
cut_anywhere() {
	for n in 1 2 $((pages / 2)) $((pages - 1)); do
		head -c $((n * page)) cap/zcost.db >bad/zcost.db
		outputs bad got
		right_or_failed got && [ "$(cat got/*.code | sort -u)" = 1 ] || { echo "$n pages left"; return 1; }
	done
}
ok "a truncated store gives an error in every command" cut_anywhere

changed() { # changed SQL: makes bad a copy of the store after SQL, which may change the schema
	cp cap/zcost.db bad/zcost.db
	sqlite3 bad/zcost.db ".dbconfig defensive off" "PRAGMA writable_schema=ON" "$1" >log
}
refused() { # every command fails, names the store and writes no table
	outputs bad got
	[ "$(cat got/*.code | sort -u)" = 1 ] && ! cat got/*.err | grep -v '^zcost: bad/zcost.db: ' &&
		for table in $tables compare folded sql; do [ ! -s got/$table ] || { echo "$table has output"; return 1; }; done
}
changed 'CREATE TABLE "../escaped" (x); INSERT INTO "../escaped" VALUES (1)'
ok "a store with a table named ../escaped is refused" refused
ok "the message names the table" says "are not those that zcost makes \(see '../escaped'\); run 'zcost analyze'" got/summary.err
: >escaped.csv
ok "export csv refuses the store" exits 1 "$zcost" export csv bad -o folder
ok "export csv touches no file outside its folder" test -e escaped.csv -a ! -s escaped.csv -a ! -e folder
changed 'CREATE TABLE "x"" VALUES(1);
.shell touch canary
" (x); INSERT INTO "x"" VALUES(1);
.shell touch canary
" VALUES (1)'
ok "a store with a table named as a command of the sqlite3 shell is refused" refused
sqlite3 :memory: <got/sql >log 2>&1
ok "export sql hands the sqlite3 shell no command" test ! -e canary
changed 'DROP TABLE note; CREATE VIEW note AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
	SELECT i AS run, '"'note' AS severity, 'x' AS text FROM n"
ok "a store with an endless view in place of a table is refused" timeout 120 sh -c '
	"$1" report summary bad >out 2>err; [ $? = 1 ] && [ ! -s out ]' - "$zcost"
changed 'CREATE TRIGGER t AFTER INSERT ON note BEGIN DELETE FROM run; END'
ok "a store with a trigger is refused" refused
changed 'DROP TABLE topology'
ok "a store without one of the tables is refused" refused
changed 'CREATE INDEX extra ON metric (name)'
ok "a store with an index of another maker is refused" refused
changed "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'comm') WHERE name = 'context'"
if chown 12345 bad/zcost.db 2>/dev/null; then
	ok "two tables in the same pages are refused in a store of another user" refused
	ok "the message says what is damaged" says 'damaged: 2nd reference to page .*; run' got/summary.err
else
	skip "a store of another user" "chown needs root"
fi

named() { # named LENGTH TABLE COLUMN: gives the first row a text of that length
	changed "UPDATE $2 SET $3 = printf('%.*c', $1, 'n') WHERE rowid = 1"
}
named 4096 symbol name
ok "report functions shows a symbol of 4096 bytes" sh -c '"$1" report functions bad --all --format tsv 2>err | grep -q "n\{4096\}"' - "$zcost"
named 4000000 symbol name
ok "a symbol of 4 MB exits 1" exits 1 timeout 120 "$zcost" report functions bad --all
ok "the message names the length of the symbol" says 'a text of 4000000 bytes, zcost writes at most 65536' err
named 4000000 variant what
ok "a description of 4 MB exits 1" exits 1 timeout 120 "$zcost" report variants bad
ok "a report that does not read the long text exits 0" exits 0 "$zcost" report topology bad
nothing_named() { # every report that reads the column fails
	for change in collector.name:summary collector.state:summary note.kind:summary note.vals:summary note.severity:runs topology.kind:topology; do
		report=${change#*:} column=${change%:*}
		changed "UPDATE ${column%.*} SET ${column#*.} = NULL"
		exits 1 "$zcost" report "$report" bad && says "damaged: ${column#*.} is missing; run" err || { echo "$change"; return 1; }
	done
}
ok "a missing name exits 1 and the message names the column" nothing_named
# Numbers. SQLite takes a text for 0, or for the number that it begins with.
numbers() { # every fifth of the columns with numbers that zcost reads, and metric.cpu, by which it selects
	sqlite3 -separator . cap/zcost.db "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND c.type IN ('INTEGER', 'REAL') AND c.pk = 0 AND
		m.name NOT IN ('function', 'spot', 'code', 'syscall_hist', 'context', 'dso_kind')" | awk 'NR % 5 == 2 || /^metric.cpu$/'
}
right_or_failed_number() { # right_or_failed_number VALUE: every command has the right table or names the store's damage
	failures=0
	for column in $(numbers); do
		changed "UPDATE OR IGNORE ${column%.*} SET ${column#*.} = $1"
		for command in summary runs functions syscalls topology compare; do
			set -- "$1" report $command bad
			[ $command != compare ] || set -- "$1" compare -C bad copying mapping
			shift_value=$1
			shift
			timeout 120 "$zcost" "$@" --format json >now 2>err
			code=$?
			set -- "$shift_value"
			if [ $code = 1 ]; then
				failures=$((failures + 1))
				grep -q 'damaged' err && continue
			elif [ $code = "$(cat right/$command.code)" ] && cmp -s now right/$command; then
				continue
			fi
			echo "$column = $1: $command: exit $code"
			cat err
			return 1
		done
	done
	[ $failures -gt 7 ] || { echo "only $failures commands failed"; return 1; }
}
ok "a text in place of a number gives the right output or an error" right_or_failed_number "'12abc'"
endless() { # endless CHANGE TABLE: no export of samples is endless, and the error names TABLE
	changed "$1"
	for format in perf-script folded pprof speedscope; do
		exits 1 timeout 120 "$zcost" export $format bad --variant copying --side receiver -o never &&
			says "damaged" err || { echo "$format"; return 1; }
	done
}
ok "a row with more samples than its event has ends an export" endless "UPDATE cost SET samples = 9223372036854775807"
ok "an event with more samples than a recording holds ends an export" endless \
	"UPDATE cost SET samples = 9223372036854775807; UPDATE event SET samples = 9223372036854775807"
ok "a negative weight ends an export" endless "UPDATE cost SET weight = -1"
sqlite3 cap/zcost.db "PRAGMA application_id = -7"
ok "a store with a negative application_id exits 1" exits 1 "$zcost" report runs cap
ok "the message says that the file is no store of zcost" says 'not a store of zcost' err

done_testing
