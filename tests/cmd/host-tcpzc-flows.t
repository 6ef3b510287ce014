#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Many flows on one thread and on several, requests and responses, and a rate. Every byte is compared.
. "$(dirname "$0")/../lib.sh"
. "$tests/tcpzc.sh"

n=5 bytes=700001

# The sums over the flows are the totals, in both directions.
adds_up='. as $s | def all(f): [.flows[] | f] | add;
	all(.bytes) == .bytes and all(.messages) == .messages and all(.sends.total) == .sends.total and
	all(.receive.calls) == .receive.calls and ([.flows[].start_ns] | min) == .start_ns and
	([.flows[].end_ns] | max) == .end_ns and ([.flows[].flow] == [range(5)]) and
	([.threads[].flows] | add) == 5'
many() { # TX RX RX-THREADS TX-THREADS
	transfer 127.0.0.1 --rx "$2" --verify --bytes $bytes --size 30000 --flows $n --threads "$3" -- \
		--tx "$1" --verify --bytes $bytes --size 30000 --flows $n --threads "$4" || return 1
	holds rxs "$adds_up and .bytes == $n * $bytes and .verify == \"ok\" and
		([.flows[].verify] | unique) == [\"ok\"] and (.threads | length) == $3 and
		.receive.mapped_bytes + .receive.copied_bytes == .bytes" &&
		holds txs "$adds_up and .bytes == $n * $bytes and (.threads | length) == $4"
}
for tx in $(modes sending); do
	here "$tx" || { skip "$tx" "$why"; continue; }
	ok "$tx: two threads receive $n flows of one thread" many $tx recv 2 1
done
for rx in $(seeing_modes); do
	rx_here "$rx" || { skip "$rx" "$why"; continue; }
	ok "$rx: one thread receives $n flows of three threads" many send $rx 1 3
done

last_point() { # the last point counts all flows
	jq -es 'map(select(.type == "point")) as $p | map(select(.type == "summary"))[0] as $s |
		$p[0].bytes == 0 and $p[-1] == {type: "point", t_ns: $s.end_ns, bytes: $s.bytes,
		messages: $s.messages} and $p[0].t_ns == $s.start_ns' "$1" >/dev/null || { cat "$1"; return 1; }
}
timed() {
	transfer 127.0.0.1 --flows 3 --threads "$1" -- --flows 3 --threads "$2" --seconds 0.35 &&
		last_point rx && last_point tx &&
		[ "$(jq .bytes rxs)" = "$(jq .bytes txs)" ]
}
often() { # there are about ten points a second
	timed "$1" "$2" && has_points 4 rx
}
ok "the points of one thread count all its flows" timed 1 1
ok "the points of several threads count all flows" timed 3 2
steady "points of one thread come often" often 1 1
steady "points of several threads come often" often 3 2

fewer() {
	next_port
	"$tcpzc" --listen --port $port --flows 3 --accept-timeout 1.5 >rx 2>rx.err &
	pid=$!
	listening $pid && bash -c "exec 3<>/dev/tcp/127.0.0.1/$port 4<>/dev/tcp/127.0.0.1/$port && exec sleep 2"
	wait $pid
	[ $? = 1 ] && says '2 of 3 connections came to port' rx.err
}
command -v bash >/dev/null && steady "a receiver fails when fewer flows come than it waits for" fewer

more() {
	! transfer_here 127.0.0.1 -- --flows 3 --bytes 3M --connect-timeout 0.5 >/dev/null && [ $rxrc$txrc = 11 ] &&
		says '^tcpzc: no data came; --flows, --rr and --size must be the same at both ends$' rx.err &&
		says "^tcpzc: flow [12]: cannot connect to 127.0.0.1 port $port within 0.5 s: Connection (refused|timed out)\$" tx.err
}
ok "both ends fail when the sender has more flows" more
unanswered() {
	! transfer_here 127.0.0.1 -- --rr --size 500 --seconds 0.5 >/dev/null && [ $txrc = 1 ] &&
		says '^tcpzc: only 0 responses to 1 requests came$' tx.err
}
ok "a client fails when the receiver does not answer" unanswered
ok "more threads than flows are refused" exits 2 "$tcpzc" --listen --flows 2 --threads 3
ok "a list of CPUs in the wrong order is refused" exits 2 "$tcpzc" --listen --cpu 3-1
pinned() { # the second CPU of two is one that this shell may use
	cpu=$(taskset -cp $$ | sed 's/.*[:,-] *//')
	transfer 127.0.0.1 --flows 2 --cpu "$cpu" -- --flows 2 --bytes 1M && holds rxs '(.threads | length) == 1'
}
command -v taskset >/dev/null && ok "flows of one CPU share a thread" pinned

rr() { # TX RX RX-OPTIONS -- TX-OPTIONS: both ends use these modes
	tx=$1 rx=$2 rxo2=
	shift 2
	while [ "$1" != -- ]; do
		rxo2="$rxo2 $1"
		shift
	done
	shift
	transfer 127.0.0.1 --rr --size 3000 --response 5000 --verify --rx $rx --tx $tx $rxo2 -- \
		--rr --size 3000 --response 5000 --verify --rx $rx --tx $tx "$@" || return 1
	holds txs '.verify == "ok" and .rr.requests == .messages and .rr.responses == .rr.requests and
		.rr.requests > 0 and .histograms.latency_ns.count == .rr.responses and
		(.rr | .receive.mapped_bytes + .receive.copied_bytes == .bytes) and .rr.bytes == 5000 * .rr.responses and
		.receive.calls == 0 and (.histograms.latency_ns |
			.min > 0 and .min <= .p50 and .p50 <= .p90 and .p90 <= .p99 and .p99 <= .p999 and
			.p999 <= .max and .mean >= .min and .mean <= .max)' &&
		holds rxs ".verify == \"ok\" and .rr.requests == .rr.responses and
			.rr.requests == $(jq .rr.requests txs)"
}
ok "each request gets its response" rr send recv -- --bytes 900000
ok "several requests in flight get their responses" rr send recv -- --bytes 900000 --outstanding 7
ok "several flows and threads exchange requests for a time" \
	rr send recv --flows 3 -- --seconds 0.3 --outstanding 3 --flows 3 --threads 2
ok "msg-zerocopy and mmap exchange requests" rr msg-zerocopy mmap --flows 2 -- --bytes 300000 --flows 2 --outstanding 2
for tx in uring-send uring-send-zc; do
	here $tx || { skip "$tx both ways" "$why"; continue; }
	ok "$tx and uring-multishot exchange requests" rr $tx uring-multishot -- --bytes 900000
	ok "$tx and uring-multishot exchange requests on several flows" rr $tx uring-multishot --flows 2 -- \
		--bytes 300000 --flows 2 --outstanding 4
done
half_server() { # stops the receiver in the middle; the error has the requests and the responses
	start --rr --size 500 -- --rr --size 500
	kill -TERM $rxpid
	ended
	[ $rxrc$txrc = 01 ] && says '(responses to [0-9]+ requests came|Connection reset|Broken pipe)' tx.err
}
ok "a client fails when the server is stopped" half_server
ok "--bytes that is not a multiple of --size is refused with --rr" exits 2 "$tcpzc" --connect ::1 --rr --size 300 --bytes 1000
ok "--outstanding without --rr is refused" exits 2 "$tcpzc" --connect ::1 --outstanding 3

# A sender sends at most the rate and one message. It may send less.
rate() { # BYTES-PER-SECOND OPTIONS
	limit=$1
	shift
	transfer 127.0.0.1 --size 1000 -- --size 1000 --seconds 0.3 "$@" &&
		holds txs ".bytes > 0 and .bytes <= $limit * .seconds + 9000 and .syscalls.ppoll > 0"
}
ok "a sender does not exceed a rate in bytes" rate 2000000 --rate 2M
ok "a sender does not exceed a rate in bits" rate 1000000 --rate 8Mbit/s --tx msg-zerocopy
ok "a sender does not exceed a rate in messages" rate 500000 --rate 500msg/s
sleeps() { # makes one or two calls per message, no busy loop
	rate 500000 --rate 500msg/s &&
		holds txs '.syscalls.ppoll <= 2 * .messages + 2 and .cpu.user_s + .cpu.system_s < 0.5 * .seconds'
}
steady "sleeping between" sleeps
if here uring-send-zc; then
	ok "io_uring does not exceed a rate" rate 2000000 --rate 2M --tx uring-send-zc
fi
paced_rr() {
	transfer 127.0.0.1 --rr --size 100 -- --rr --size 100 --rate 1000msg --seconds 0.4 &&
		holds txs '.messages > 0 and .messages <= 1000 * .seconds + 2 and .rr.responses == .messages'
}
ok "requests do not exceed a rate" paced_rr
ok "a rate with an unknown unit is refused" exits 2 "$tcpzc" --connect ::1 --rate 5parsecs

done_testing
