#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The test bed, and tcpzc's counts of copies there and on loopback: it maps pages that can be mapped and
# counts copies that the kernel makes. The test bed leaves nothing behind.
. "$(dirname "$0")/../lib.sh"
. "$tests/tcpzc.sh"

bed=$top/samples/testbed.sh

# The kernel copies everything on loopback and reports it for each send.
copied() { # TX HOST
	transfer "${2:-127.0.0.1}" -- --tx "$1" --bytes 20M &&
		holds txs '.sends | .copied == .total and .total >= 160'
}
ok "msg-zerocopy over loopback: every send counts as copied" copied msg-zerocopy
if ! here uring-send-zc; then
	skip "uring-send-zc over loopback" "$why"
elif ! kernel_since 6 2; then
	skip "uring-send-zc over loopback" "the kernel does not report copies before 6.2"
else
	ok "uring-send-zc over loopback: every send counts as copied" copied uring-send-zc
fi
ok "send: every send counts as copied" copied send
unknown() {
	transfer 127.0.0.1 -- --tx "$1" --bytes 20M && holds txs '.sends | .unknown == .total'
}
ok "splice: every send counts as unknown" unknown splice
nothing_mapped() {
	transfer 127.0.0.1 --rx mmap -- --tx send --bytes 20M &&
		holds rxs '.receive.mapped_bytes == 0 and .receive.copied_bytes == 20971520 and
			(.unmapped | .fragment > 20000000 and .fragment + .remainder + .short_queue == 20971520)'
}
ok "mmap maps nothing of data from send" nothing_mapped
pages() { # pages TX PINNED [OPTIONS]: 4 MiB in messages of 16 KiB pin so many pages, of 1024 that they need
	tx=$1 pinned=$2
	shift 2
	transfer 127.0.0.1 -- --tx $tx --size 16k --bytes 4M "$@" && holds txs ".pages == {pinned: $pinned, needed: 1024}"
}
ok "msg-zerocopy pins the pages that its messages need" pages msg-zerocopy 1024
ok "--offset 100: each message reaches into one more page" pages msg-zerocopy 1280 --offset 100
waiting() { # waiting TX: each send waits for its notification
	transfer 127.0.0.1 -- --tx $1 --size 16k --bytes 1M --depth 1 &&
		holds txs '.histograms.outstanding.max == 1 and (.waits | .count > 0 and .count <= 64 and .ns > 0 and .ns <= .of_ns)'
}
steady "--depth 1: msg-zerocopy waits for notifications" waiting msg-zerocopy
if here uring-send-zc; then
	steady "--depth 1: uring-send-zc waits for notifications" waiting uring-send-zc
	ok "io_uring counts its requests and completions" holds txs '.uring == {sqes: 64, cqes: 128}'
	ok "plain buffers of io_uring are pinned for each send" pages uring-send-zc 1024 --plain-buffers
fi
files_pages() { # the file of 4 MiB still exists, so not even its last pages are mapped
	transfer 127.0.0.1 --rx mmap -- --tx sendfile --bytes 20M && holds rxs '.receive.mapped_bytes == 0'
}
cut_off() { # --verify truncates the file, so its old pages belong to no file
	transfer 127.0.0.1 --rx mmap --verify -- --tx sendfile --bytes 20M --verify &&
		holds rxs '.receive.mapped_bytes > 0 and .verify == "ok"'
}
if kernel_since 6 8; then
	ok "mmap maps no page of a file" files_pages
else
	skip "mmap maps no page of a file" "before Linux 6.8 it does"
fi
steady "mmap maps pages that were truncated off a file" cut_off
nothing_sent() {
	next_port
	"$tcpzc" --listen --port $port >rx 2>rx.err &
	pid=$!
	listening $pid && : | bash -c "cat >/dev/tcp/127.0.0.1/$port"
	wait $pid
	[ $? = 1 ] && grep '"summary"' rx >rxs &&
		holds rxs '.bytes == 0 and .seconds < 1 and .receive.calls == 0'
}
if command -v bash >/dev/null; then
	ok "a receiver fails and counts zero bytes when the sender sends nothing" nothing_sent
fi

[ "$(id -u)" = 0 ] || {
	exits_1() { exits 1 "$bed" up "$name" && says 'need root' err; }
	ok "the test bed says that it needs root" exits_1
	skip "the test bed" "not root"
	done_testing
}
cleanup() { "$bed" down "$name"; }

host_state() { # must not change: interfaces, addresses, routes, namespaces, sysctls
	ip -o link | sed 's/ state [A-Z]*//'
	ip -o addr | sed 's/valid_lft.*//' # the lifetime runs down
	ip route
	ip netns | sort
	sysctl -a -r '^net\.(core|ipv4|ipv6)' 2>/dev/null | grep -v '_count\|random\|gc_\|\.flush'
}
host_state | grep -v "^zc\|zcd[0-9]" >before

ok "the test bed refuses an unknown command" exits 2 "$bed" sideways
ok "the test bed refuses a bad name" exits 2 "$bed" up 'a b'
ok "run fails without a test bed" exits 1 "$bed" run receiver -n "$name" true
ok "the error says how to make the test bed" says "testbed.sh up $name" err
ok "down succeeds without a test bed" exits 0 "$bed" down "$name"
no_ip() { PATH=$scratch/empty /bin/sh "$bed" up "$name" 2>err; [ $? = 1 ] && says 'install iproute2' err; }
ok "the test bed says what to install when there is no ip command" no_ip

# Without network namespaces, the test ends here.
"$bed" up "$name" 2>err || {
	skip "the test bed" "$(head -n 1 err)"
	done_testing
}
ok "up succeeds on an existing test bed" exits 0 "$bed" up "$name"
ok "run exits with the code of its command" exits 7 "$bed" run sender -n "$name" sh -c 'exit 7'
rps() { # SIDE MASK
	[ "$("$bed" run "$1" -n "$name" sh -c 'cat /sys/class/net/veth0/queues/rx-*/rps_cpus' |
		sort -u | sed 's/^[0,]*//')" = "$2" ]
}
ok "the receiver's packets go to CPU 1" rps receiver 2
ok "the sender's packets go to CPU 0" rps sender 1

rx_prefix="$bed run receiver -n $name" tx_prefix="$bed run sender -n $name"
mapped() { # HOST TX OPTIONS
	host=$1 tx=$2
	shift 2
	transfer "$host" --rx mmap --cpu 1 -- --tx "$tx" --cpu 0 --bytes 200M "$@" &&
		holds rxs '.receive.mapped_bytes > 0.9 * .bytes and .bytes == 209715200 and
			.receive.mapped_bytes + .receive.copied_bytes == .bytes'
}
steady "mmap maps over 90 % of what splice sent" mapped 192.0.2.1 splice
if has_ipv6; then
	steady "mmap maps over 90 % of what splice sent over IPv6" mapped 2001:db8::1 splice
else
	skip "mmap maps over 90 % of what splice sent over IPv6" "no IPv6 here"
fi
verified() {
	transfer 192.0.2.1 --rx mmap --cpu 1 --verify -- --tx "$1" --cpu 0 --bytes 100M --verify &&
		holds rxs '.verify == "ok" and .receive.mapped_bytes > 0.5 * .bytes'
}
ok "splice: the mapped bytes are correct" verified splice
if here sendfile-direct; then
	steady "mmap maps over 90 % of what sendfile-direct sent" mapped 192.0.2.1 sendfile-direct
	ok "sendfile-direct: the mapped bytes are correct" verified sendfile-direct
else
	skip "sendfile-direct" "$why"
fi
ok "msg-zerocopy over veth: every send counts as copied" copied msg-zerocopy 192.0.2.1

# Newer kernels have optmem_max per namespace. Older ones have one for the host, which must not change.
optmem() {
	"$bed" run sender -n "$name" sh -c "echo $1 >/proc/sys/net/core/optmem_max" 2>/dev/null
}
if optmem 1000; then
	waited_out() {
		copied msg-zerocopy 192.0.2.1 && holds txs '.send_retries.optmem_max > 0 and
			.send_retries.memlock == 0 and .syscalls.sendto > .sends.total'
	}
	ok "a sender with a small optmem_max waits after ENOBUFS" waited_out
	optmem 10
	no_optmem() {
		! transfer 192.0.2.1 -- --tx msg-zerocopy --bytes 1M >/dev/null && [ $txrc = 1 ] &&
			says 'MSG_ZEROCOPY of 131072 bytes: raise a limit \(net.core.optmem_max is ' tx.err
	}
	ok "the error of a sender without optmem_max names the limit" no_optmem
else
	skip "small optmem_max" "not per namespace in this kernel (before 6.7)"
fi
rx_prefix= tx_prefix=

# The limit on locked memory is that of another user, who may be unable to reach the program's folder.
exec 9<"$tcpzc"
locking='setpriv --reuid 61234 --regid 61234 --clear-groups --bounding-set=-ipc_lock --inh-caps=-ipc_lock'
locks() { # KIB TX OPTIONS
	(
		tcpzc=/proc/self/fd/9 tx=$2 tx_prefix=$locking
		ulimit -l $1 && shift 2 && transfer 127.0.0.1 -- --tx $tx "$@"
	)
}
no_memlock() { # TX
	! locks 64 "$1" --connect-timeout 5 --bytes 1M >/dev/null &&
		says 'RLIMIT_MEMLOCK \(ulimit -l\) is 65536' tx.err
}
# The receiver stands still before it reads anything, so the kernel acknowledges only what fits its
# socket. The limit has room for two messages and the send buffer for three: the sender can sleep
# with bytes in its queue only after a send that failed with ENOBUFS.
asleep_with_bytes() { # SENDER
	grep -qs '^State:.S' /proc/"$1"/status &&
		awk -v to=":$(printf %04X "$port")" 'substr($3, 9) == to && $5 !~ /^0*:/ { n++ }
			END { exit !n }' /proc/net/tcp
}
memlock_waited_out() {
	next_port
	"$tcpzc" --listen --port $port >rx 2>rx.err &
	rxpid=$!
	listening $rxpid || return 1
	kill -STOP $rxpid
	(
		ulimit -l 300
		exec $locking /proc/self/fd/9 --connect 127.0.0.1 --port $port --tx msg-zerocopy \
			--sndbuf 500k --bytes 20M
	) >tx 2>tx.err &
	txpid=$!
	soon asleep_with_bytes $txpid
	slept=$?
	kill -CONT $rxpid
	wait $txpid && wait $rxpid || { cat tx.err rx.err; return 1; }
	grep '"summary"' tx >txs
	[ $slept = 0 ] && holds txs '.send_retries.memlock > 0 and .send_retries.optmem_max == 0 and
		.sends.copied > 0'
}
if command -v setpriv >/dev/null; then
	ok "a sender with little memory to lock waits after ENOBUFS" memlock_waited_out
	ok "msg-zerocopy without memory to lock names the limit" no_memlock msg-zerocopy
	accept_timeout=1
	if here uring-send-zc; then
		ok "uring-send-zc without memory to lock names the limit" no_memlock uring-send-zc
	else
		skip "uring-send-zc without memory to lock" "$why"
	fi
	accept_timeout=
else
	skip "locked memory" "no setpriv"
fi

"$bed" run receiver -n "$name" sleep 1000 &
sleeper=$!
runs_inside() { [ -n "$(ip netns pids "$name-receiver")" ]; }
soon runs_inside
ok "down succeeds while a command runs inside" exits 0 "$bed" down "$name"
gone $sleeper && wait $sleeper 2>/dev/null
ok "down ends the command that runs inside" gone $sleeper
ok "down succeeds twice" exits 0 "$bed" down "$name"
host_state | grep -v "^zc\|zcd[0-9]" >after
ok "the test bed leaves the host as it was" diff before after
no_namespace() { ! ip netns | grep "$name"; }
ok "the test bed leaves no namespace" no_namespace

done_testing
