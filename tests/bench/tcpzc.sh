#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# tcpzc against iperf3, and against neper's tcp_stream if it is installed or NEPER names it. All have one flow, the same
# message size and pinning, over loopback and over the test bed's veth. Then mapping against copying over loopback, with
# packets of 15 pages (MTU 61512; 72 bytes of headers, so IPv6: over IPv4 each packet would end with 20 bytes of a page
# that cannot be mapped, and every other call would map nothing): a receiver's CPU time per MB (10^6 bytes), of the
# process itself, and of its whole CPU with the softirq's work (/proc/stat, which includes other load on the machine).
# The runs are interleaved, with the order reversed each round. Figures are medians of ROUNDS (5; 4 times as many for plain
# sending) runs of SECONDS_EACH (2).
set -eu
. "$(dirname "$0")/lib.sh"
seconds=${SECONDS_EACH:-2}
test_bed
neper=${NEPER:-$(command -v tcp_stream || true)}
iperf3=$(command -v iperf3) || echo "SKIP against iperf3: there is none"

on() { # SIDE COMMAND...
	side=$1
	shift
	"$bed" run "$side" -n "$name" "$@"
}

# path PATH: sets the sender's side and the address
path() {
	mtu=65536 size=128k
	case $1 in
	veth) from=sender to=192.0.2.1 ;;
	loopback) from=receiver to=127.0.0.1 ;;
	pages) from=receiver to=::1 mtu=61512 size=256k ;;
	esac
	on receiver ip link set lo mtu $mtu
}

busy_ms() { # busy_ms CPU: its time without idle and iowait
	awk -v cpu="cpu$1" '$1 == cpu { print ($2 + $3 + $4 + $7 + $8 + $9) * 10 }' /proc/stat
}

tcpzc() { # PATH TX RX: adds a line "Gbit/s process-us/MB cpu-us/MB mapped-share"
	path "$1"
	before=$(busy_ms 1)
	on receiver "$build/tcpzc" --listen --rx "$3" --cpu 1 --size $size >"$dir/out" &
	pid=$!
	on $from "$build/tcpzc" --connect $to --tx "$2" --cpu 0 --size $size --seconds "$seconds" \
		>/dev/null
	wait $pid
	tail -n 1 "$dir/out" | jq -r --argjson busy $(($(busy_ms 1) - before)) '(.bytes / 1e6) as $mb |
		"\(8 * .bytes / .seconds / 1e9) \((.cpu.user_s + .cpu.system_s) * 1e6 / $mb)" +
		" \($busy * 1e3 / $mb) \(100 * .receive.mapped_bytes / .bytes)"' >>"$dir/$1-$2-$3"
}

iperf() { # PATH
	[ "$iperf3" ] || return 0
	path "$1"
	on receiver iperf3 -s -1 -A 1 -J >"$dir/out" &
	pid=$!
	sleep 0.3
	on $from iperf3 -c $to -A 0 -l 128K -t "$seconds" >/dev/null
	wait $pid
	jq -r '.end.sum_received.bits_per_second / 1e9' "$dir/out" >>"$dir/$1-iperf3"
}

neper() { # neper PATH: tcp_stream, which writes a log into the current folder
	path "$1"
	(cd "$dir" && on receiver taskset -c 1 "$neper" -F 1 -T 1 -l "$seconds" -B 131072 >out 2>/dev/null) &
	pid=$!
	sleep 0.3
	(cd "$dir" && on $from taskset -c 0 "$neper" -c -H $to -F 1 -T 1 -l "$seconds" -B 131072 >/dev/null 2>&1)
	wait $pid
	awk -F= '$1 == "throughput" { t = $2 } $1 == "throughput_units" { u = $2 }
		END { print t / (u ~ /^M/ ? 1000 : 1) }' "$dir/out" >>"$dir/$1-neper"
}

one() { # CASE: a function and its arguments, between underscores
	$(echo "$1" | tr _ ' ')
}

# Nearly equal tools need more runs: four per round, in alternating order.
cases='tcpzc_veth_send_recv iperf_veth iperf_veth tcpzc_veth_send_recv
	tcpzc_loopback_send_recv iperf_loopback iperf_loopback tcpzc_loopback_send_recv
	iperf_veth tcpzc_veth_send_recv tcpzc_veth_send_recv iperf_veth
	iperf_loopback tcpzc_loopback_send_recv tcpzc_loopback_send_recv iperf_loopback
	tcpzc_veth_splice_recv tcpzc_veth_splice_mmap tcpzc_veth_sendfile-direct_recv
	tcpzc_veth_sendfile-direct_mmap tcpzc_pages_send_recv tcpzc_pages_msg-zerocopy_mmap
	tcpzc_pages_splice_mmap tcpzc_pages_splice_recv'
[ -z "$neper" ] || cases="$cases neper_veth neper_loopback"
in_turns $cases

cd "$dir"
for other in ${iperf3:+iperf3} ${neper:+neper}; do
	for p in loopback veth; do
		awk -v p=$p -v a="$(median $p-send-recv 1)" -v b="$(median $p-$other 1)" -v other=$other \
			-v n="$(wc -l <$p-$other)" 'BEGIN {
			printf "%-8s send/recv: tcpzc %.2f Gbit/s, %s %.2f Gbit/s, ratio %.2f (n=%d)\n",
				p, a, other, b, a / b, n }'
	done
done
for tx in splice msg-zerocopy; do
	awk -v tx=$tx -v b="$(median pages-send-recv 1)" -v m="$(median pages-$tx-mmap 1)" \
		-v bc="$(median pages-send-recv 2)" -v mc="$(median pages-$tx-mmap 2)" \
		-v share="$(median pages-$tx-mmap 4)" -v n="$rounds" 'BEGIN {
		printf "loopback, MTU 61512: send/recv %.2f Gbit/s, %s/mmap %.2f (%.2f times%s), %.2f %% mapped\n",
			b, tx, m, m / b, tx == "splice" ? "; goal 1.5" : "", share
		printf "  receiver us/MB: %.0f, mmap %.0f (%.2f) (n=%d)\n", bc, mc, mc / bc, n }'
done
# Both have the same sender. It sends the same pages again and again: recv copies them from the cache, unlike real data.
awk -v r="$(median pages-splice-recv 1)" -v c="$(median pages-splice-recv 2)" \
	-v m="$(median pages-splice-mmap 1)" -v mc="$(median pages-splice-mmap 2)" 'BEGIN {
	printf "  splice/recv of the same 256k again and again: %.2f Gbit/s, splice/mmap %.2f times; receiver us/MB %.0f, %.2f\n",
		r, m / r, c, mc / c }'
for tx in splice sendfile-direct; do
	awk -v tx=$tx -v g="$(median veth-$tx-recv 1) $(median veth-$tx-mmap 1)" \
		-v p="$(median veth-$tx-recv 2) $(median veth-$tx-mmap 2)" \
		-v c="$(median veth-$tx-recv 3) $(median veth-$tx-mmap 3)" \
		-v m="$(median veth-$tx-mmap 4)" 'BEGIN {
		split(g, G, " "); split(p, P, " "); split(c, C, " ")
		printf "veth %s: recv %.2f Gbit/s, mmap %.2f (%.2f times), %.2f %% mapped\n", tx, G[1],
			G[2], G[2] / G[1], m
		printf "  receiver us/MB: process %.0f, mmap %.0f (%.2f); whole CPU %.0f, mmap %.0f (%.2f)\n",
			P[1], P[2], P[2] / P[1], C[1], C[2], C[2] / C[1] }'
done
