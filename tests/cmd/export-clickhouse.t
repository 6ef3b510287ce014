#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost export clickhouse: the views of a database of many captures have the rows of the stores' own views, in SQLite, DuckDB
# and ClickHouse.
. "$(dirname "$0")/../lib.sh"
need sqlite3
views="metrics runs functions components syscalls samples"

# Two recorded captures, and each of them again with another kernel, one on another host.
for c in copied mapped; do
	cp "$top/samples/captures/$c.tar.zst" .
	"$zcost" unpack $c.tar.zst >log 2>&1 && "$zcost" analyze $c >>log 2>&1 || cat log
done
for c in copied mapped; do
	mkdir "$c's" && cp $c/zcost.db "$c's/zcost.db"
	sqlite3 $c/zcost.db "UPDATE host SET release = '6.18.0'"
	sqlite3 "$c's/zcost.db" "UPDATE host SET release = '6.19.0';
		UPDATE metric SET value = 1.1 * value WHERE name = 'cpu_pct'; UPDATE function SET self = CAST(1.3 * self AS INTEGER) WHERE symbol % 7 = 0;
		UPDATE fact SET value = 'other' WHERE name LIKE 'nic:%/driver';
		INSERT INTO metric (run, name, object, value) VALUES (1, 'odd', 'tab	back\\slash', NULL), (2, 'odd', '', 1.0/3);"
done
sqlite3 "copied's/zcost.db" "UPDATE host SET name = 'lab2'; UPDATE run SET host = 'lab2'"
ok "export clickhouse of four captures exits 0" exits 0 "$zcost" export clickhouse copied mapped "copied's" "mapped's/zcost.db" -o lab
tables=$(sqlite3 copied/zcost.db "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'packed' ORDER BY 1")
ok "each table but packed has a file" test "$(cd lab && ls *.tsv)" = "$(for t in $tables; do echo $t.tsv; done)"
ok "the first two lines of a file are names and types" test "$(head -n 2 lab/metric.tsv)" = "capture	run	name	cpu	object	unit	value	source
String	Int64	String	Nullable(Int64)	Nullable(String)	Nullable(String)	Nullable(Float64)	Nullable(String)"
ok "tabs and backslashes are escaped, a missing value is \\N" grep -qxF "copied's	1	"'odd	\N	tab\tback\\slash	\N	\N	measured' lab/metric.tsv
ok "an empty text is an empty field, a number has all digits" grep -qx "mapped's	2	odd	.N		.N	0.3333333333333333[0-9]*	measured" lab/metric.tsv
ok "the key of a table in ClickHouse begins with the capture" grep -q '^ENGINE.*("capture", "run", "event", "symbol", "context")' lab/schema.sql
ok "a second capture of the same name is refused" exits 2 "$zcost" export clickhouse copied ./copied -o no
ok "the message says why" says "another capture has the name 'copied', too" err
for c in copied.tar.zst 2026.target-a 2026.target-b; do
	mkdir -p names/$c && cp copied/zcost.db names/$c
done
ok "a name that contains .tar is whole, an ending is cut" exits 0 "$zcost" export clickhouse names/copied.tar.zst names/2026.target-? -o names/lab
ok "the captures have their names" is "$(sed 1,2d names/lab/run.tsv | cut -f1 | sort -u | paste -sd' ')" "2026.target-a 2026.target-b copied"
ok "standard output is refused" exits 2 "$zcost" export clickhouse copied
ok "nothing is left of a refused export" test "$(ls -d no* 2>/dev/null)" = ""

# --- SQLite, from the stores and from the files ---

sed '/^ENGINE/d; /^SETTINGS/d' lab/schema.sql >plain.sql
ok "SQLite reads schema.sql without its engines, and stores.sql twice" sh -c '
	cat plain.sql lab/stores.sql lab/stores.sql | sqlite3 stores.db >log 2>&1; ! [ -s log ] || { cat log; false; }'
sqlite3 files.db <plain.sql
for t in $tables; do
	printf '.mode ascii\n.separator "\\t" "\\n"\n.import --skip 2 lab/%s.tsv %s\n' $t $t
	sqlite3 copied/zcost.db "SELECT 'UPDATE $t SET \"' || name || '\" = NULL WHERE \"' || name || '\" = ''\\N'';'
		FROM pragma_table_info('$t') WHERE NOT (\"notnull\" OR pk)"
done | sqlite3 files.db >log 2>&1
ok "SQLite reads the files without a message" test ! -s log

for v in $views; do # the rows of the stores' own views
	where=
	[ $v = metrics ] && where="WHERE name <> 'odd' AND cpu IS NULL"
	echo "SELECT * FROM $v $where;" >$v.sql
	for c in copied mapped "copied's" "mapped's"; do
		sqlite3 -separator '	' -nullvalue '\N' "$c/zcost.db" "SELECT '$(echo "$c" | sed "s/'/''/")', * FROM $v $where"
	done >$v.sql.expected
done

# same QUERY ENGINE: compares rows with those of the file QUERY.sql.expected, numbers to nine digits, in any order
same() {
	for f in expected $2; do
		awk -F'\t' '{ for (i = 1; i <= NF; i++) if ($i ~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/) $i = sprintf("%.9g", $i)
			print }' OFS='\t' $1.sql.$f | sort >$f.rows
	done
	[ -s expected.rows ] && diff expected.rows $2.rows | head -n 5 | grep . && return 1
	[ -s expected.rows ]
}
for db in stores files; do
	for v in $views; do
		sqlite3 -separator '	' -nullvalue '\N' $db.db <$v.sql >$v.sql.$db
		ok "the view $v in SQLite, from the $db" same $v $db
	done
done

# --- the questions of the page: the answers out of the stores are what the files and the engines must give ---

awk '/^```sql/ { n++; f = sprintf("q%02d.sql", n); next } /^```/ { f = ""; next } f { print >f }' "$top/docs/howto/lab.md"
questions=$(ls q*.sql | sed 's/.sql$//')
ok "docs/howto/lab.md has ten questions" test "$(echo "$questions" | wc -l)" = 10
for q in $questions; do
	sqlite3 -separator '	' -nullvalue '\N' stores.db <$q.sql >$q.sql.expected
	sqlite3 -separator '	' -nullvalue '\N' files.db <$q.sql >$q.sql.files
	ok "$q has an answer in SQLite, from the files as from the stores" same $q files
done

# --- engines of npm: export-duckdb.t installs DuckDB; ClickHouse has 540 MB and is installed by hand ---

# ClickHouse also reads a store as it is, the views, too.
in_store=
for v in $views; do
	echo "SELECT * FROM sqlite('$PWD/copied/zcost.db', '$v');" >store-$v.sql
	sqlite3 -separator '	' -nullvalue '\N' copied/zcost.db "SELECT * FROM $v" >store-$v.sql.expected
	in_store="$in_store store-$v"
done

modules=$build/duckdb/node_modules
for engine in duckdb:duckdb-lab:@duckdb/node-api clickhouse:chdb:chdb@3.4.0; do
	package=${engine##*:} tool=${engine#*:} engine=${engine%%:*}
	if ! [ -d "$modules/${package%@3*}" ]; then
		skip "the views and the questions in $engine" "not installed: npm install --prefix $build/duckdb $package"
		continue
	fi
	[ $engine = clickhouse ] && every="$views $questions$in_store" || every="$views $questions"
	ok "$engine loads the files" env TWICE=1 timeout 200 node "$tests/tools/${tool%:*}.mjs" "$build/duckdb" lab $(printf '%s.sql ' $every)
	for v in $every; do
		ok "$v in $engine" same $v $engine
	done
done
done_testing
