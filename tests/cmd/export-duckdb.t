#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs the queries of docs/reference/store.md in DuckDB on the files of zcost export csv and compares with sqlite3.
. "$(dirname "$0")/../lib.sh"
. "$tests/world.sh"
need sqlite3 npm node

# DuckDB is installed once into the build folder. Without a network the test is skipped.
modules=$build/duckdb
if ! [ -d "$modules/node_modules/@duckdb/node-api" ]; then
	mkdir -p "$modules"
	HOME=$user_home timeout 60 npm install --no-audit --no-fund --prefix "$modules" @duckdb/node-api@1.5.6-r.1 >npm.log 2>&1 ||
		skip_all "npm cannot install @duckdb/node-api: $(grep -i error npm.log | head -n 1 | cut -c1-100)"
fi
cat >answer.sql <<'END'
SELECT 42 AS answer;
END
mkdir none
answer=$(timeout 60 node "$tests/tools/duckdb.mjs" "$modules" none answer.sql 2>node.log)
[ "$answer" = 42 ] || skip_all "DuckDB does not run here: $(head -n 1 node.log | cut -c1-100)"

world cap 6 baseline:1e6:100:60,40,0:40000:0:0 mmap:2e6:100:0,80,20:4000:1:0.02
# Adds the rows that analyze makes from call chains. The store of `world` lacks them.
sqlite3 cap/zcost.db "INSERT INTO function SELECT run, event, symbol, context, SUM(samples), SUM(weight), SUM(weight)
		FROM cost JOIN frame ON frame.id = cost.frame GROUP BY run, event, symbol, context;
	INSERT INTO component SELECT DISTINCT symbol, context, CASE symbol WHEN 1 THEN 'data copy' ELSE 'TCP/IP' END, 'x' FROM function;
	INSERT INTO series SELECT id, 'throughput', start_ns + k * 1000000, 10 + id + k FROM run, (SELECT 1 AS k UNION SELECT 700);"
ok "export csv exits 0" exits 0 "$zcost" export csv cap -o csv
awk '/^```sql/ { n++; f = sprintf("q%02d.sql", n); next } /^```/ { f = ""; next } f { print >f }' "$top/docs/reference/store.md"
ok "docs/reference/store.md has at least twelve questions" test "$(ls q*.sql | wc -l)" -ge 12

# same QUERY: compares the rows of both, numbers to nine digits, in any order
same() {
	sqlite3 -separator "$(printf '\t')" cap/zcost.db <"$1" >lite || return 1
	timeout 60 node "$tests/tools/duckdb.mjs" "$modules" csv "$1" >duck || return 1
	for f in lite duck; do
		awk -F'\t' '{ for (i = 1; i <= NF; i++) if ($i ~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/) $i = sprintf("%.9g", $i)
			print }' OFS='\t' $f | sort >$f.rows
	done
	diff lite.rows duck.rows
}
answered=0
for q in q*.sql; do
	ok "$(grep -B3 -F "$(head -n 1 $q)" "$top/docs/reference/store.md" | grep -v '^```' | head -n 1 | cut -c1-60)" same $q
	[ -s lite.rows ] && answered=$((answered + 1))
done
ok "at least seven questions have an answer in the test store" test $answered -ge 7
done_testing
