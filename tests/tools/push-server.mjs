// SPDX-License-Identifier: GPL-2.0-only
// A server of profiles on loopback: push-server.mjs FOLDER [PORT]. It writes FOLDER/port and FOLDER/port.pid, and answers each request by the next
// line of FOLDER/plan: a status and a text, "half" (the process ends in the middle of the request) or "mute" (the process ends
// behind the request, without an answer). Without a line it is 200. Each request that it read whole and did not refuse
// makes lines in FOLDER/took: what, its labels, and per sample type the sum of all and of each function.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';

const [folder, port] = process.argv.slice(2);

// Takes numbers that stand without fields apart.
function numbers(bytes) {
	const list = [];
	let v = 0n, shift = 0n;
	for (const b of bytes) {
		v |= BigInt(b & 127) << shift;
		shift += 7n;
		if (b < 128) {
			list.push(Number(v));
			v = shift = 0n;
		}
	}
	return list;
}
// Takes a message of protobuf apart: of[field] is the list of its numbers and byte strings.
function message(bytes) {
	const of = new Proxy({}, { get: (o, f) => o[f] ?? [] });
	let at = 0;
	const varint = () => {
		const from = at;
		while (bytes[at++] > 127);
		return numbers(bytes.subarray(from, at))[0];
	};
	while (at < bytes.length) {
		const tag = varint(), kind = tag & 7;
		let v = kind == 1 ? Number(bytes.readBigUInt64LE(at)) : varint();
		if (kind == 1) at += 8;
		if (kind == 2) v = bytes.subarray(at, at += v);
		of[tag >> 3] = [...of[tag >> 3], v];
	}
	return of;
}
const text = (b) => (b ?? '').toString();
const packed = (list) => list.flatMap((v) => (typeof v == 'number' ? v : numbers(v)));
const sums = {};
function add(type, name, value) {
	for (const key of [`${type} sum`, `${type} ${name}`]) sums[key] = (sums[key] ?? 0) + value;
}

function pprof(body) {
	const p = message(gunzipSync(body)), strings = p[6].map(text);
	const functions = new Map(p[5].map(message).map((f) => [f[1][0], strings[f[2][0]]]));
	const locations = new Map(p[4].map(message).map((l) => [l[1][0], functions.get(message(l[4][0])[1][0])]));
	const types = p[1].map((t) => strings[message(t)[1][0]]);
	for (const s of p[2].map(message))
		packed(s[2]).forEach((v, k) => add(types[k], locations.get(packed(s[1])[0]), v));
	return '';
}

function otlp(body) {
	const request = message(body), of = message(request[1][0]), d = message(request[2][0]), strings = d[5].map(text);
	const entry = (table, i) => message(d[table][i ?? 0]), seen = new Set();
	for (const table of [1, 2, 3, 6, 7]) if (d[table][0].length) throw new Error(`place 0 of table ${table} is not empty`);
	if (strings[0]) throw new Error('string 0 is not empty');
	let line = message(of[1][0])[1].map(message).map((a) => `${text(a[1][0])}=${text(message(a[2][0])[1][0])}`).join(',');
	for (const p of message(of[2][0])[2].map(message)) {
		const type = strings[message(p[1][0])[1][0]];
		line += ` ${p[7][0].toString('hex')}@${p[3][0] / 1e9}`;
		for (const s of p[2].map(message)) {
			const leaf = packed(entry(7, s[1][0])[1])[0], l = entry(2, leaf), f = entry(3, message(l[3][0])[1][0]);
			if (!strings[entry(1, l[1][0])[4][0]]) throw new Error('a location without the name of its object');
			packed(s[2]).map((a) => entry(6, a)).forEach((a) => seen.add(`${strings[a[1][0]]}=${text(message(a[2][0])[1][0])}`));
			add(type, strings[f[1][0]], packed(s[4])[0]);
		}
	}
	return `${line} ${[...seen].filter((a) => /^(comm|side)=/.test(a)).sort()}`;
}

function next() {
	const lines = readFileSync(`${folder}/plan`, 'utf8').split('\n');
	writeFileSync(`${folder}/plan`, lines.slice(1).join('\n'));
	return lines[0] || '200';
}

const server = createServer((request, answer) => {
	const what = next(), parts = [];
	request.on('data', (part) => {
		if (what == 'half') process.exit();
		parts.push(part);
	});
	request.on('end', () => {
		const body = Buffer.concat(parts), url = new URL(request.url, 'http://x');
		const refused = parseInt(what) > 299;
		for (const key in sums) delete sums[key];
		if (!refused) {
			const q = url.searchParams, otel = url.pathname == '/v1development/profiles';
			const line = otel ? otlp(body) : pprof(body) + `${q.get('name')} ${q.get('format')} ${q.get('from')} ${q.get('until')}`;
			appendFileSync(`${folder}/took`, `${url.pathname} ${request.headers['content-type']} ${line}\n` +
				Object.keys(sums).sort().map((key) => `  ${key} ${sums[key]}\n`).join(''));
		}
		if (what == 'mute') process.exit();
		const [status, ...words] = what.split(' ');
		if (status == '503') answer.setHeader('Retry-After', '1');
		answer.writeHead(Number(status));
		answer.end(Buffer.from(words.join(' '), status == '200' ? 'hex' : 'utf8'));
	});
});
server.listen(Number(port ?? 0), '127.0.0.1', () => {
	writeFileSync(`${folder}/port`, String(server.address().port));
	writeFileSync(`${folder}/port.pid`, String(process.pid));
});
