#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost export sql and csv: the store as text, whole, with what is missing told from what is empty.
. "$(dirname "$0")/../lib.sh"
. "$tests/world.sh"
need_sqlite

world cap 2 "$copying" "$mapping"
sqlite3 cap/zcost.db "INSERT INTO series VALUES (1, 'gone', 7, NULL);
	INSERT INTO metric VALUES (1, 'third', '', 1.0/3, 'measured'), (1, 'quoted', 'a \"quote\", a comma
and a line', 1, 'measured'), (1, 'single', 'it''s', 1, 'measured')"

# contents DB: every table and view, every value as SQLite itself quotes it
contents() {
	sqlite3 "$1" "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name" |
		while read -r t; do
			echo "$t"
			sqlite3 "$1" ".mode quote" "SELECT * FROM \"$t\""
		done
	sqlite3 "$1" 'PRAGMA user_version' 'PRAGMA application_id' 'SELECT sql FROM sqlite_master ORDER BY name'
}
ok "sql" exits 0 "$zcost" export sql cap -o dump.sql
ok "sqlite3 takes it" sh -c 'sqlite3 copy.db <dump.sql >log 2>&1 && ! [ -s log ]'
contents cap/zcost.db >theirs
contents copy.db >ours
ok "the same content" cmp theirs ours
ok "thirds to the last digit" says '0\.333333333333333' theirs
ok "zcost reads the copy" exits 0 "$zcost" report summary copy.db
ok "into a pipe, too" sh -c '"$1" export sql cap | cmp - dump.sql' - "$zcost"

ok "csv" exits 0 "$zcost" export csv cap -o folder
ok "a file for each table and view" test "$(ls folder | wc -l)" = \
	"$(sqlite3 cap/zcost.db "SELECT COUNT(*) FROM sqlite_master WHERE type IN ('table', 'view')")"
sqlite3 back.db ".import --csv folder/metric.csv m"
ok "every figure exactly" test "$(sqlite3 back.db "ATTACH 'cap/zcost.db' AS z" \
	'SELECT COUNT(*) FROM m JOIN z.metric k ON k.run = m.run AND k.name = m.name AND k.value = m.value + 0.0')" = \
	"$(sqlite3 cap/zcost.db 'SELECT COUNT(*) FROM metric')"
ok "quotes, commas and lines in a field" test "$(sqlite3 back.db "SELECT COUNT(*) FROM m WHERE unit = 'a \"quote\", a comma
and a line'")" = 1
"$zcost" export csv cap --table metric >metric.csv 2>err
ok "one table to standard output" cmp metric.csv folder/metric.csv
ok "an empty text is two quotes" says '^1,third,"",0\.3' metric.csv
ok "a missing value is nothing" says '^1,gone,7,$' folder/series.csv
ok "one view into a file" exits 0 "$zcost" export csv cap --table metrics -o one.csv
ok "is that view" cmp one.csv folder/metrics.csv

ok "csv needs a place" exits 2 "$zcost" export csv cap
ok "it says which" says 'give a folder with -o, or one table with --table' err
ok "a table that is not there" exits 2 "$zcost" export csv cap --table nothing
ok "names those that are" says "no table 'nothing'; there are: capture variant " err
ok "a folder that cannot be made" exits 1 "$zcost" export csv cap -o metric.csv/x
sqlite3 cap/zcost.db 'PRAGMA user_version=1'
ok "a store of another version" exits 1 "$zcost" export sql cap
ok "is refused with the way out" says "made by another version of zcost \\(1, this one reads $version\\); run 'zcost analyze cap' again" err
done_testing
