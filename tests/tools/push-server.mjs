// SPDX-License-Identifier: GPL-2.0-only
// A server of profiles on loopback: push-server.mjs FOLDER [PORT]. It writes FOLDER/port, then its pid to FOLDER/pid. It
// answers a request by the next line of FOLDER/plan, or 200: a status and a text (in hex behind 200), "half" (the process ends
// in the middle of the request) or "mute" (it ends behind the request, without an answer). A request that it read whole and did not
// refuse becomes lines of FOLDER/took: path, type and labels, then for each sample type the sum of all and of each leaf function.
// FOLDER/body-N.pprof and FOLDER/body-N.otlp keep its body.
// A statement of ClickHouse becomes one line, and changes FOLDER/TABLE.tsv, which has the rows of a table.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';

const [folder, port] = process.argv.slice(2);
const text = (b) => (b ?? '').toString();
const packed = (list) => list.flatMap((v) => (typeof v == 'number' ? v : numbers(v)));
let sums, bodies = 0;

function numbers(bytes) {
	const list = [];
	let v = 0n, shift = 0n;
	for (const b of bytes) {
		v |= BigInt(b & 127) << shift;
		shift += 7n;
		if (b < 128) v = shift = (list.push(Number(v)), 0n);
	}
	return list;
}
// Takes a message of protobuf apart: [field] is the list of its numbers and byte strings.
function message(bytes) {
	const of = new Proxy({}, { get: (o, f) => o[f] ?? [] });
	let at = 0;
	const varint = () => {
		const from = at;
		while (bytes[at++] > 127);
		return numbers(bytes.subarray(from, at))[0];
	};
	while (at < bytes.length) {
		const tag = varint();
		let v = (tag & 7) == 1 ? Number(bytes.readBigUInt64LE((at += 8) - 8)) : varint();
		if ((tag & 7) == 2) v = bytes.subarray(at, at += v);
		of[tag >> 3] = [...of[tag >> 3], v];
	}
	return of;
}
function add(type, name, value) {
	for (const key of [`${type} sum`, `${type} ${name}`]) sums[key] = (sums[key] ?? 0) + value;
}

function pprof(body) {
	const p = message(gunzipSync(body)), strings = p[6].map(text);
	const functions = new Map(p[5].map(message).map((f) => [f[1][0], strings[f[2][0]]]));
	const locations = new Map(p[4].map(message).map((l) => [l[1][0], functions.get(message(l[4][0])[1][0])]));
	for (const s of p[2].map(message))
		packed(s[2]).forEach((v, k) => add(strings[message(p[1][k])[1][0]], locations.get(packed(s[1])[0]), v));
}

function otlp(body) {
	const request = message(body), of = message(request[1][0]), d = message(request[2][0]), strings = d[5].map(text);
	const entry = (table, i) => message(d[table][i ?? 0]), value = (a) => text(message(a[2][0])[1][0]), seen = new Set();
	if ([1, 2, 3, 4, 5, 6, 7].some((table) => d[table][0].length)) throw new Error('place 0 of a table is not empty');
	let line = message(of[1][0])[1].map(message).map((a) => `${text(a[1][0])}=${value(a)}`).join(',');
	for (const p of message(of[2][0])[2].map(message)) {
		line += ` ${p[7][0].toString('hex')}@${p[3][0] / 1e9}`;
		for (const s of p[2].map(message)) {
			const l = entry(2, packed(entry(7, s[1][0])[1])[0]), f = entry(3, message(l[3][0])[1][0]);
			packed(s[2]).map((i) => entry(6, i)).forEach((a) => seen.add(`${strings[a[1][0]]}=${value(a)}`));
			seen.add(`object=${strings[entry(1, l[1][0])[4][0]]}`);
			add(strings[message(p[1][0])[1][0]], strings[f[1][0]], packed(s[4])[0]);
		}
	}
	return `${line} ${[...seen].filter((a) => /^(comm|object|side)=/.test(a)).sort()}`;
}

function clickhouse(sql, body) {
	const [what, kind, table] = sql.match(/^(CREATE TABLE IF NOT EXISTS|CREATE VIEW IF NOT EXISTS|DELETE FROM|INSERT INTO) "?(\w+)/);
	const file = `${folder}/${table}.tsv`, had = existsSync(file) ? readFileSync(file, 'utf8') : '';
	if (kind == 'DELETE FROM') {
		const name = sql.match(/ WHERE "capture" IN \('(.*)'\)$/)[1].replaceAll("''", "'");
		writeFileSync(file, had.split('\n').filter((row) => row.split('\t')[0] != name).join('\n'));
	}
	if (kind == 'INSERT INTO') writeFileSync(file, had + text(body).split('\n').slice(2).join('\n'));
	return what;
}

const server = createServer((request, answer) => {
	const [what, ...plan] = readFileSync(`${folder}/plan`, 'utf8').split('\n'), parts = [];
	const [status, ...words] = (what || '200').split(' ');
	writeFileSync(`${folder}/plan`, plan.join('\n'));
	request.on('data', (part) => (status == 'half' ? process.exit() : parts.push(part)));
	request.on('end', () => {
		const body = Buffer.concat(parts), url = new URL(request.url, 'http://x');
		const query = ['name', 'format', 'from', 'until'].map((key) => url.searchParams.get(key)).join(' ');
		sums = {};
		if (!(status > 299)) {
			const sql = url.searchParams.get('query');
			if (!sql) writeFileSync(`${folder}/body-${++bodies}.${url.pathname == '/ingest' ? 'pprof' : 'otlp'}`, body);
			const line = sql ? clickhouse(sql, body) : url.pathname == '/ingest' ? pprof(body) ?? query : otlp(body);
			appendFileSync(`${folder}/took`, `${url.pathname} ${request.headers['content-type']} ${line}\n` +
				Object.keys(sums).sort().map((key) => `  ${key} ${sums[key]}\n`).join(''));
		}
		if (status == 'mute') process.exit();
		answer.writeHead(Number(status), status == 503 ? { 'Retry-After': '1' } : {});
		answer.end(Buffer.from(words.join(' '), status == 200 ? 'hex' : 'utf8'));
	});
});
server.listen(Number(port ?? 0), '127.0.0.1', () => {
	writeFileSync(`${folder}/port`, String(server.address().port));
	writeFileSync(`${folder}/pid`, String(process.pid));
});
