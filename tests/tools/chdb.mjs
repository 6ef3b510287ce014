// SPDX-License-Identifier: GPL-2.0-only
// ClickHouse in this process: chdb.mjs MODULES FOLDER QUERY.sql... loads the folder of `zcost export clickhouse` (twice with
// TWICE=1) and writes the rows of each query to QUERY.sql.clickhouse.
import { createRequire } from 'node:module';
import { readFileSync, writeFileSync } from 'node:fs';

const [modules, folder, ...queries] = process.argv.slice(2);
const { Session } = createRequire(modules + '/')('chdb');
const session = new Session();

function run(file) {
	let rows = '';
	for (const statement of readFileSync(file, 'utf8').replace(/^--.*\n/gm, '').split(/;\s*\n/))
		if (statement.trim())
			rows = session.query(statement, 'TSVRaw');
	return rows;
}

const here = process.cwd();
process.chdir(folder); // where FROM INFILE looks
run('schema.sql');
run('load.sql');
if (process.env.TWICE)
	run('load.sql');
process.chdir(here);
session.query('SET join_use_nulls = 1', 'TSVRaw');
for (const query of queries) {
	const start = Date.now();
	writeFileSync(`${query}.clickhouse`, run(query));
	console.log(`${query}\t${(Date.now() - start) / 1000}`);
}
session.close();
