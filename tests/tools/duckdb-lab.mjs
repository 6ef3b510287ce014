// SPDX-License-Identifier: GPL-2.0-only
// DuckDB on the folder of `zcost export clickhouse`: duckdb-lab.mjs MODULES FOLDER QUERY.sql... writes the rows of each
// query to QUERY.sql.duckdb.
import { createRequire } from 'node:module';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const [modules, folder, ...queries] = process.argv.slice(2);
const { DuckDBInstance } = createRequire(modules + '/')('@duckdb/node-api');
const db = await (await DuckDBInstance.create(':memory:')).connect();

await db.run(readFileSync(`${folder}/schema.sql`, 'utf8').replace(/^(ENGINE|SETTINGS).*\n/gm, ''));
for (const file of readdirSync(folder).filter((f) => f.endsWith('.tsv')))
	await db.run(`COPY "${file.slice(0, -4)}" FROM '${folder}/${file}' (DELIM '\t', HEADER false, SKIP 2, NULLSTR '\\N', QUOTE '', ESCAPE '', AUTO_DETECT false)`);
for (const query of queries) {
	const start = Date.now();
	const rows = (await db.runAndReadAll(readFileSync(query, 'utf8'))).getRows();
	writeFileSync(`${query}.duckdb`, rows.map((r) => r.map((v) => (v === null ? '\\N' : String(v))).join('\t') + '\n').join(''));
	console.log(`${query}\t${(Date.now() - start) / 1000}`);
}
