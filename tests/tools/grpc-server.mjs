// SPDX-License-Identifier: GPL-2.0-only
// A collector of OpenTelemetry on loopback that speaks gRPC: grpc-server.mjs MODULES URL. It passes each message that it gets to the
// server of profiles at URL (push-server.mjs), whose status and words become those of its own answer. Prints its port.
import { createRequire } from 'node:module';

const [modules, url] = process.argv.slice(2);
const grpc = createRequire(`${modules}/`)('@grpc/grpc-js');
const path = '/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export';
const codes = { 400: grpc.status.INVALID_ARGUMENT, 503: grpc.status.UNAVAILABLE };
const server = new grpc.Server({ 'grpc.max_receive_message_length': -1 });
const raw = (bytes) => bytes;

async function pass(call, done) {
	try {
		const answer = await fetch(`${url}/v1development/profiles`, {
			method: 'POST', body: call.request, headers: { 'Content-Type': 'application/x-protobuf' },
		});
		const body = Buffer.from(await answer.arrayBuffer());
		if (answer.ok) done(null, body);
		else done({ code: codes[answer.status], details: body.toString() });
	} catch (e) {
		done({ code: grpc.status.UNAVAILABLE, details: 'the server behind is gone' });
	}
}
server.addService(
	{ Export: { path, requestStream: false, responseStream: false, requestDeserialize: raw, requestSerialize: raw, responseDeserialize: raw, responseSerialize: raw } },
	{ Export: pass });
server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (e, port) => console.log(port));
