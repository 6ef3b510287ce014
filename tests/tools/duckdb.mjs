// SPDX-License-Identifier: GPL-2.0-only
// DuckDB on the files of `zcost export csv`: duckdb.mjs MODULES FOLDER QUERY.sql, rows as tsv.
import { createRequire } from 'node:module';
import { readdirSync, readFileSync } from 'node:fs';

const [modules, folder, query] = process.argv.slice(2);
const { DuckDBInstance } = createRequire(modules + '/')('@duckdb/node-api');
const db = await (await DuckDBInstance.create(':memory:')).connect();

for (const file of readdirSync(folder)) {
	const path = `${folder}/${file}`.replaceAll("'", "''");

	// an empty field is NULL, "" an empty string; every row is looked at for the columns' types
	await db.run(`CREATE TABLE "${file.replace(/\.csv$/, '')}" AS SELECT * FROM
		read_csv('${path}', header = true, delim = ',', quote = '"', sample_size = -1)`);
}
await db.run('SET integer_division = true'); // as in SQLite
const rows = (await db.runAndReadAll(readFileSync(query, 'utf8'))).getRows();
for (const row of rows)
	console.log(row.map((v) => (v === null ? '' : String(v))).join('\t'));
