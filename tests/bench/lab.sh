#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The ten questions of docs/howto/lab.md over CAPTURES (1400) captures, which have ten million rows of functions: seconds in
# SQLite, DuckDB and ClickHouse, and whether the answers agree. The captures are the two recorded ones under two kernels, again
# and again, each time with other figures, on ten hosts. An engine of npm that is not in BUILD/duckdb is left out.
set -eu
. "$(dirname "$0")/lib.sh"
captures=${CAPTURES:-1400}
cd "$dir"
for kernel in 6.18.0 6.19.0; do
	for c in copied mapped; do
		"$zcost" unpack "$top/samples/captures/$c.tar.zst" -o $c-$kernel >log 2>&1
		"$zcost" analyze $c-$kernel >>log 2>&1 || [ $? = 4 ]
		sqlite3 $c-$kernel/zcost.db "UPDATE host SET release = '$kernel'; UPDATE function
			SET self = CAST(self * (1 + ($([ $kernel = 6.19.0 ] && echo symbol || echo 0)) % 7 / 50.0) AS INTEGER)"
	done
done
"$zcost" export clickhouse ./*.0 -o lab
sed '/^ENGINE/d; /^SETTINGS/d' lab/schema.sql >plain.sql
tables=$(sqlite3 copied-6.18.0/zcost.db "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'packed' ORDER BY 1")
for t in $tables; do # each statement reads the rows of the four captures that were loaded
	columns=$(sqlite3 copied-6.18.0/zcost.db "SELECT ', ' || CASE '$t.' || name WHEN 'host.name' THEN 'name || ''-'' || (n % 10)'
			WHEN 'run.host' THEN 'host || ''-'' || (n % 10)' WHEN 'function.self' THEN 'self * (1000 + n * 7919 % 100)'
			WHEN 'metric.value' THEN 'CASE name WHEN ''cpu_pct'' THEN value * (100 + n % 13) / 100.0 ELSE value END'
			ELSE '\"' || name || '\"' END FROM pragma_table_info('$t')" | tr -d '\n')
	echo "INSERT INTO \"$t\" WITH RECURSIVE numbers AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < $((captures / 4 - 1)))
		SELECT \"capture\" || '-' || n$columns FROM \"$t\", numbers;" >many-$t.sql
done
awk '/^```sql/ { n++; f = sprintf("q%02d.sql", n); next } /^```/ { f = ""; next } f { print >f }' "$top/docs/howto/lab.md"

echo "SQLite: load"
{ echo 'PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;'; cat plain.sql lab/stores.sql many-*.sql; } | sqlite3 lab.db >log
sqlite3 lab.db "SELECT COUNT(DISTINCT capture) || ' captures, ' || COUNT(*) || ' rows of functions' FROM function"
for q in q??.sql; do
	begun=$(date +%s%N)
	sqlite3 -separator '	' -nullvalue '\N' lab.db <$q >$q.sqlite
	echo "$q	$(((($(date +%s%N) - begun) / 1000000))) ms" >>sqlite.times
done
rm lab.db
for tool in duckdb-lab:@duckdb/node-api chdb:chdb; do
	[ -d "$build/duckdb/node_modules/${tool#*:}" ] || { echo "${tool#*:} is not installed"; continue; }
	echo "${tool#*:}: load"
	node "$top/tests/tools/${tool%:*}.mjs" "$build/duckdb" lab many-*.sql q??.sql >"${tool%:*}.times"
done
for f in q??.sql.*; do # numbers to nine digits, and differences of equal numbers as 0
	awk -F'\t' '{ for (i = 1; i <= NF; i++) if ($i ~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/) $i = $i ^ 2 < 1e-20 ? 0 : sprintf("%.9g", $i)
		print }' OFS='\t' $f >$f.rows
done
for q in q??.sql; do
	grep -h "^$q" ./*.times | cut -f 2 | tr '\n' ' '
	for f in $q.*.rows; do
		cmp -s $q.sqlite.rows $f || printf '%s differs ' $f
	done
	echo "$q"
done
