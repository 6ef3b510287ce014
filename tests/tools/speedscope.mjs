// SPDX-License-Identifier: GPL-2.0-only
// Validates a file with the schema that speedscope publishes: speedscope.mjs MODULES FILE. Prints a line for each
// profile and leaf: profile, unit, function and the sum of its weights, with tabs between them.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const [modules, path] = process.argv.slice(2);
const Ajv = createRequire(modules + '/')('ajv');
const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
const schema = read(modules + '/node_modules/speedscope/dist/release/file-format-schema.json');
const check = new Ajv({ strict: false }).compile(schema);
const file = read(path);

if (!check(file)) {
	console.error(check.errors);
	process.exit(1);
}
for (const profile of file.profiles) {
	const sums = new Map();

	profile.samples.forEach((stack, i) => {
		const leaf = file.shared.frames[stack.at(-1)].name;
		sums.set(leaf, (sums.get(leaf) ?? 0) + profile.weights[i]);
	});
	for (const [leaf, sum] of sums)
		console.log([profile.name, profile.unit, leaf, sum.toFixed(3)].join('\t'));
}
