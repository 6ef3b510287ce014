#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Checks zcost export sql and csv: the whole store as text. Missing values differ from empty texts.
. "$(dirname "$0")/../lib.sh"
. "$tests/world.sh"
need sqlite3

world cap 2 "$copying" "$mapping"
sqlite3 cap/zcost.db "INSERT INTO series VALUES (1, 'gone', 7, NULL);
	INSERT INTO metric (run, name, unit, value, source) VALUES (1, 'third', '', 1.0/3, 'measured'), (1, 'quoted', 'a \"quote\", a comma
and a line', 1, 'measured'), (1, 'single', 'it''s', 1, 'measured')"

# contents DB: prints every table and view, every value as SQLite quotes it
contents() {
	sqlite3 "$1" "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name" |
		while read -r t; do
			echo "$t"
			sqlite3 "$1" ".mode quote" "SELECT * FROM \"$t\""
		done
	sqlite3 "$1" 'PRAGMA user_version' 'PRAGMA application_id' 'SELECT sql FROM sqlite_master ORDER BY name'
}
ok "export sql exits 0" exits 0 "$zcost" export sql cap -o dump.sql
ok "sqlite3 reads the export without a message" sh -c 'sqlite3 copy.db <dump.sql >log 2>&1 && ! [ -s log ]'
contents cap/zcost.db >theirs
contents copy.db >ours
ok "a store made from the export has the same content" cmp theirs ours
ok "export sql keeps every digit of a number" says '0\.333333333333333' theirs
ok "zcost report reads a store made from the export" exits 0 "$zcost" report summary copy.db
ok "export sql to a pipe gives the same bytes" sh -c '"$1" export sql cap | cmp - dump.sql' - "$zcost"

ok "export csv exits 0" exits 0 "$zcost" export csv cap -o folder
ok "export csv writes a file for each table and view" test "$(ls folder | wc -l)" = \
	"$(sqlite3 cap/zcost.db "SELECT COUNT(*) FROM sqlite_master WHERE type IN ('table', 'view')")"
sqlite3 back.db ".import --csv folder/metric.csv m"
ok "export csv has every value exactly" test "$(sqlite3 back.db "ATTACH 'cap/zcost.db' AS z" \
	'SELECT COUNT(*) FROM m JOIN z.metric k ON k.run = m.run AND k.name = m.name AND k.value = m.value + 0.0')" = \
	"$(sqlite3 cap/zcost.db 'SELECT COUNT(*) FROM metric')"
ok "export csv quotes fields with quotes, commas and line breaks" test "$(sqlite3 back.db "SELECT COUNT(*) FROM m WHERE unit = 'a \"quote\", a comma
and a line'")" = 1
"$zcost" export csv cap --table metric >metric.csv 2>err
ok "export csv --table writes one table to standard output" cmp metric.csv folder/metric.csv
ok "an empty text in CSV is two quotes" says '^1,third,,,"",0\.3' metric.csv
ok "a missing value in CSV is an empty field" says '^1,gone,7,$' folder/series.csv
sqlite3 cap/zcost.db "INSERT INTO series VALUES (1, '=1+1', -5, -1.5)"
ok "a formula in CSV begins with an apostrophe, and a number does not" sh -c '
	"$1" export csv cap --table series | grep -xF "1,'"'"'=1+1,-5,-1.5"' - "$zcost"
ok "export csv --table -o exits 0 for a view" exits 0 "$zcost" export csv cap --table metrics -o one.csv
ok "export csv --table -o writes the view to the file" cmp one.csv folder/metrics.csv

ok "export csv without -o and --table is a usage error" exits 2 "$zcost" export csv cap
ok "the message names -o and --table" says 'give a folder with -o, or one table with --table' err
ok "an unknown table is a usage error" exits 2 "$zcost" export csv cap --table nothing
ok "the message lists the tables" says "no table 'nothing'; the tables are: capture variant " err
ok "a folder that cannot be made exits 1" exits 1 "$zcost" export csv cap -o metric.csv/x
sqlite3 cap/zcost.db 'PRAGMA user_version=1'
ok "a store of another version exits 1" exits 1 "$zcost" export sql cap
ok "the message for a store of another version says to analyze again" says "made by another version of zcost \\(1, this one reads $version\\); run 'zcost analyze cap' again" err
done_testing
