#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Was it zero copy, without the program's word: the kernel's count of copied bytes equals the workload's own,
# system calls with MSG_ZEROCOPY and MSG_TRUNC have rows, and a verdict names what it rests on.
. "$(dirname "$0")/../lib.sh"
. "$tests/tcpzc.sh"

need root

# counted METHOD TX RX [OPTIONS]: a transfer over loopback with the system calls of both ends counted
counted() {
	next_port
	method=$1 tx=$2 rx=$3
	shift 3
	"$zcost" collect -o rx.d --collect syscalls --syscalls-method $method -- \
		"$tcpzc" --listen --port $port --rx $rx --accept-timeout 120 "$@" >log 2>&1 &
	pid=$!
	"$zcost" collect -o tx.d --collect syscalls --syscalls-method $method -- \
		"$tcpzc" --connect 127.0.0.1 --port $port --tx $tx --bytes 10M "$@" >>log 2>&1
	wait $pid || { cat log; return 1; }
	grep '"summary"' rx.d/workload.out >rxs
	grep '"summary"' tx.d/workload.out >txs
}
copied() { awk -F'\t' '$1 == "skb_copy_datagram_iovec" { print $3 }' "$1.d/socket_copies.tsv"; }
bytes() { # bytes END CALL
	awk -F'\t' -v call="$2" '$5 == call { n += $12 } END { printf "%d\n", n }' "$1.d/syscalls.tsv"
}
as_told() { # the kernel's count is the workload's own
	[ "$(copied rx)" = "$(jq .receive.copied_bytes rxs)" ] && [ "$(copied tx)" = 0 ] ||
		{ echo "counted $(copied rx) and $(copied tx)"; cat rxs; return 1; }
}

for pair in 'bpf send recv' 'bpf splice mmap' 'bpf msg-zerocopy recv' 'bpf uring-send-zc uring-multishot' 'bpf send trunc' \
	'tracepoint msg-zerocopy mmap'; do
	set -- $pair
	if ! here $2 || ! rx_here $3; then
		skip "$pair: the kernel counts the bytes that the receiver copied" "$why"
		continue
	fi
	ok "$pair: zcost collect counts both ends" counted $pair
	ok "$pair: the kernel counts the bytes that the receiver copied" as_told
	case $2 in
	msg-zerocopy) ok "$pair: the sends with MSG_ZEROCOPY have a row" test "$(bytes tx 'sendto (MSG_ZEROCOPY)')" -ge 10485760 ;;
	send) ok "$pair: sends without MSG_ZEROCOPY have no row with it" test "$(bytes tx sendto)/$(bytes tx 'sendto (MSG_ZEROCOPY)')" = \
		"$(bytes tx sendto)/0" ;;
	esac
	[ $3 != trunc ] || ok "$pair: bytes dropped unread have a row" test "$(bytes rx 'recvfrom (MSG_TRUNC)')" -ge 10485760
done

usable() { # usable COMMAND...: a busy machine may lose samples
	"$@" >out 2>err || [ $? = 4 ] || { cat err; return 1; }
}

# Without units, zcost knows nothing of tcpzc's account. Over loopback the kernel copies after each send. The profile is that of
# all programs, so tcpzc goes before the others.
late() {
	next_port
	cat >late.ini <<-END
		[plan]
		name = a program without an account
		repeats = 1
		passes = profile syscalls
		warmup = 0.2
		duration = 0.6
		grace = 0
		[side receiver]
		prefix = nice -n -20
		[side sender]
		prefix = nice -n -20
		[variant zc]
		receiver = $tcpzc --listen --port $port --accept-timeout 60
		sender = $tcpzc --connect 127.0.0.1 --port $port --tx msg-zerocopy --seconds 9
	END
	rm -rf late
	usable "$zcost" capture late.ini -o late && usable "$zcost" analyze late && usable "$zcost" report zerocopy late --format tsv &&
		says 'zc: the receiver copies every byte .*, the sender copies every byte after the send call .from system calls, profile.$' err &&
		usable "$zcost" report why late --format tsv && says 'zc sender: .*the kernel copies lent pages after all, for [0-9.]+ %' err &&
		usable "$zcost" report summary late && says '^NOT ZERO COPY: zc sender: 100.0 % of bytes sent, by skb_copy_ubufs in the profile' out
}
if here msg-zerocopy; then
	steady "a program that keeps no account of MSG_ZEROCOPY: its copies are in the profile" late
else
	skip "a program that keeps no account of MSG_ZEROCOPY: its copies are in the profile" "$why"
fi

if ! command -v iperf3 >/dev/null; then
	skip "iperf3" "no iperf3"
	done_testing
	exit
fi
bed=zc-${scratch##*.}
cleanup() { sh "$top/samples/testbed.sh" down "$bed" >/dev/null 2>&1; }
# Not at full speed, which keeps two CPUs busy for the seconds that iperf3 needs. Where other programs are busy, a profile of
# few samples is theirs, so each try has more. iperf3 gets less than the two seconds that ${seconds} has for a late start: zcost
# makes a run again if its start was too late.
short() { # short CAPTURE PASSES SECONDS [OPTION]: a capture of samples/iperf3.ini with an option of iperf3
	rm -rf "$1"
	usable "$zcost" capture "$top/samples/iperf3.ini" -o "$1" --pass "$2" --repeat 1 --set bed=$bed --warmup 0.2 --duration "$3" \
		--set "send=iperf3 -c 192.0.2.1 -b $((2 * $3))G -J -i 0.2 -l 128K -t $(($3 + again)) ${4-}" && usable "$zcost" analyze "$1"
}
verdicts() {
	short c profile,syscalls $((2 * again)) &&
		usable "$zcost" report zerocopy c --format tsv && cp out table && cp err notes || return 1
	says 'plain: the receiver copies every byte .from the kernel.s own count, system calls., the sender copies every byte .from system calls' notes &&
		says 'zerocopy: the receiver copies every byte .from the kernel.s own count.*, the sender does not copy .from system calls, profile' notes
}
# The client, side sender, only says what is to be done. Of every variant, --bidir makes the server send, too.
directions() {
	short ways syscalls $again --bidir && usable "$zcost" report zerocopy ways --format tsv || return 1
	calls='.from system calls.' kernel='.from the kernel.s own count, system calls.'
	reads="the sender copies every byte that it receives $kernel"
	says "plain: the receiver copies every byte that it receives $kernel, the receiver copies every byte that it sends $calls, $reads, the sender copies every byte that it sends $calls\$" err &&
		says "zerocopy: the receiver copies every byte that it receives $kernel, the receiver does not copy a byte that it sends $calls, $reads, the sender does not copy a byte that it sends $calls\$" err
}
cell() { # cell COLUMN VARIANT SIDE EVIDENCE
	tsv '$1 == v && $2 == s && index($3, e) == 1 { print $at[want]; exit }' want="$1" v="$2" s="$3" e="$4" table
}
if [ "$(nproc)" -lt 2 ] || ! command -v taskset >/dev/null; then
	skip "iperf3 -Z" "needs two CPUs and taskset"
else
	steady "samples/iperf3.ini: a verdict on iperf3 -Z rests on the kernel's count, system calls and the profile" verdicts
	ok "the receiver's bytes by system calls are those that the kernel copied" near "$(cell copied zerocopy receiver 'bytes received, by system')" \
		"$(cell copied zerocopy receiver 'bytes received, by the kernel')" 1000000
	ok "sendfile shares the sender's bytes" test "$(cell share zerocopy sender 'bytes sent, by system calls (sendfile)' | cut -c 1-3)" -ge 99
	steady "iperf3 --bidir: a verdict on each direction rests on what the calls of each side did" directions
	ok "samples/iperf3.ini leaves no namespace" test ! -e /run/netns/$bed-receiver -a ! -e /run/netns/$bed-sender
	ok "without a measure pass, which lists the threads, the profile's row has all programs and names the cost in the base" test -n "$(cell copied zerocopy sender '_copy_from_iter of all programs with callees and interrupts, ns/KiB (plain: ')"
fi

done_testing
