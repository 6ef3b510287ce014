// SPDX-License-Identifier: GPL-2.0-only
// push-decode.mjs MODULES FOLDER DESCRIPTORS: an oracle for push-server.mjs. It decodes the bodies that the server kept (FOLDER/body-*),
// those of OpenTelemetry by its own .proto files with protobufjs, pprof with pprof-format, and prints the sums in the server's way.
// Debian has the .proto files as C++ code (/usr/include/opentelemetry): the descriptors are strings there. They are written to the
// file DESCRIPTORS from the folder DESCRIPTORS.include.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gunzipSync } from 'node:zlib';

const [modules, folder, descriptors] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const { Profile } = require('pprof-format'), protobuf = require('protobufjs'), { FileDescriptorSet } = require('protobufjs/ext/descriptor');

// Returns the serialized FileDescriptorProto in the C++ code of a .proto file.
function descriptor_of(code) {
	const strings = code.match(/descriptor_table_protodef\w+\[\][^=]*=\n((?: {2}".*"\n)+)/)[1];
	const bytes = [...strings.matchAll(/^ {2}"(.*)"$/gm)].map((m) => new Function(`return "${m[1]}"`)()).join('');
	return Buffer.from(bytes, 'latin1');
}
function varint(n) {
	return n < 128 ? [n] : [(n & 127) | 128, ...varint(n >> 7)];
}
const files = ['common/v1/common', 'resource/v1/resource', 'profiles/v1development/profiles', 'collector/profiles/v1development/profiles_service'];
const set = Buffer.concat(files.flatMap((f) => {
	const d = descriptor_of(readFileSync(`${descriptors}.include/opentelemetry/proto/${f}.pb.cc`, 'latin1'));
	return [Buffer.from([10, ...varint(d.length)]), d];
}));
writeFileSync(descriptors, set);
const Request = protobuf.Root.fromDescriptor(FileDescriptorSet.decode(set))
	.lookupType('opentelemetry.proto.collector.profiles.v1development.ExportProfilesServiceRequest');

let sums;
function add(type, name, value) {
	for (const key of [`${type} sum`, `${type} ${name}`]) sums[key] = (sums[key] ?? 0) + Number(value);
}
function otlp(body) {
	const request = Request.decode(body), d = request.dictionary, strings = d.string_table;
	for (const p of request.resource_profiles.flatMap((r) => r.scope_profiles).flatMap((s) => s.profiles))
		for (const s of p.samples) {
			const leaf = d.location_table[d.stack_table[s.stack_index].location_indices[0]];
			add(strings[p.sample_type.type_strindex], strings[d.function_table[leaf.lines[0].function_index].name_strindex], s.values[0]);
		}
}
function pprof(body) {
	const p = Profile.decode(gunzipSync(body)), { strings } = p.stringTable;
	const by_id = (list) => new Map(list.map((entry) => [entry.id, entry])), locations = by_id(p.location), functions = by_id(p.function);
	for (const s of p.sample)
		s.value.forEach((v, k) => add(strings[p.sampleType[k].type], strings[functions.get(locations.get(s.locationId[0]).line[0].functionId).name], v));
}
for (const f of readdirSync(folder).filter((f) => f.startsWith('body-')).sort()) {
	sums = {};
	(f.endsWith('.pprof') ? pprof : otlp)(readFileSync(`${folder}/${f}`));
	process.stdout.write(Object.keys(sums).sort().map((key) => `  ${key} ${sums[key]}\n`).join(''));
}
