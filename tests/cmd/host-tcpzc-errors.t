#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# tcpzc's errors: one clear line, an error object, the right exit code, and no hanging.
. "$(dirname "$0")/../lib.sh"
. "$tests/tcpzc.sh"

ok "a command line without --listen and --connect is refused" usage 'either --listen or --connect'
ok "a command line with both --listen and --connect is refused" usage 'either --listen or --connect' --listen --connect ::1
ok "the error about an unknown mode lists the modes" usage "there is no mode 'teleport'; the modes are: send sendfile" \
	--connect ::1 --tx teleport
ok "a receiver refuses --tx" usage 'the listening side receives' --listen --tx send
ok "a sender refuses --rx" usage 'the connecting side sends' --connect ::1 --rx recv
ok "a size that is not a number is refused" usage "'12x'" --listen --size 12x
ok "a size of 0 is refused" usage 'not within' --listen --size 0
ok "a number beyond 64 bits is refused" usage 'not' --listen --bytes 99999999999999999999
ok "a port beyond 65535 is refused" usage 'not within' --listen --port 70000
ok "a negative number of seconds is refused" usage 'not a number of seconds' --connect ::1 --seconds -1
ok "an argument that is not an option is refused" usage "'stray'" --listen stray
ok "an unknown option is refused" usage "unrecognized option '--frobnicate'" --listen --frobnicate
for option in '--nic lo' '--queue 1' '--area 4M' '--dmabuf-fd 3'; do
	ok "$option is refused for a receiver with recv" usage "^tcpzc: ${option%% *} belongs to the mode" --listen --rx recv $option
done
for option in --plain-buffers '--nic lo' '--dmabuf-fd 3'; do
	ok "$option is refused for a sender with send" usage "^tcpzc: ${option%% *} belongs to the mode" --connect ::1 $option
done
ok "--plain-buffers is refused for uring-send" usage 'belongs to the modes uring-send-zc, uring-sendmsg-zc$' --connect ::1 --tx uring-send --plain-buffers

one_line() { # PATTERN: stderr has one line, and stdout has the same as JSON
	[ "$(wc -l <err)" = 1 ] && says "^tcpzc: $1" err && says '^\{"type":"error","what":".*"\}$' out &&
		says "$1" out
}

refused() {
	exits 1 "$tcpzc" --connect 127.0.0.1 --port $port --connect-timeout 0.3 &&
		one_line "cannot connect to 127.0.0.1 port $port within 0.3 s: Connection refused"
}
steady "nobody listens" refused
nobody_came() {
	exits 1 "$tcpzc" --listen --port $port --accept-timeout 0.3 &&
		one_line "nobody connected to port $port within 0.3 s"
}
ok "a receiver fails when nobody connects" nobody_came
ok "a sender fails when the host name does not exist" exits 1 "$tcpzc" --connect no-such-host.invalid --connect-timeout 1
ok "the error names the host" says 'no address for no-such-host.invalid' err
ok "the error has the reason of the resolver" says '^tcpzc: no address for no-such-host.invalid: (Name or service not known|Temporary failure in name resolution|No address associated with hostname)$' err
ok "a CPU that does not exist is refused" usage '^tcpzc: --cpu: this machine has no CPU 1000, only [0-9]+ CPUs$' --listen --cpu 1000
ok "--version prints the version of zcost" test "$("$tcpzc" --version | sed 's/^tcpzc/zcost/')" = "$("$zcost" --version | head -n 1)"

# stopped_early PATTERN OPTIONS: stops the program before there is a connection
stopped_early() {
	pattern=$1
	shift
	"$tcpzc" --port $port "$@" >out 2>err &
	pid=$!
	soon grep -q '^SigCgt:.*[4-7c-f]...$' /proc/$pid/status || return 1 # waits until the program catches SIGTERM
	sleep 0.5
	kill -TERM $pid
	wait $pid
	[ $? = 1 ] && one_line "$pattern" && says "$pattern\$" err
}
ok "a sender that is stopped while it connects says so" stopped_early "stopped while connecting to 127.0.0.1 port $port" --connect 127.0.0.1
ok "a receiver that is stopped while it waits says so" stopped_early "stopped while waiting for a sender on port $port" --listen
ok "a receiver with threads that is stopped while it waits says so" stopped_early "flow 0: stopped while waiting for a sender on port $port" --listen --flows 2 --threads 2

port_in_use() {
	"$tcpzc" --listen --port $port >first 2>&1 &
	pid=$!
	listening $pid && exits 1 "$tcpzc" --listen --port $port &&
		one_line "cannot listen on any port $port: Address already in use"
	rc=$?
	kill $pid
	wait $pid
	return $rc
}
ok "a receiver fails when its port is in use" port_in_use

late() {
	next_port
	{ sleep 0.5; exec "$tcpzc" --listen --port $port --accept-timeout 120 >rx; } &
	pid=$!
	exits 0 "$tcpzc" --connect 127.0.0.1 --port $port --bytes 1M
	rc=$?
	wait $pid && [ $rc = 0 ] && grep -q '"bytes":1048576' rx
}
ok "a sender waits for a receiver that starts late" late

receiver_killed() { # TX RX
	start --rx "$2" -- --tx "$1"
	kill -KILL $rxpid
	ended
	[ $txrc = 1 ] && [ "$(wc -l <tx.err)" = 1 ] && says '(Connection reset by peer|Broken pipe)' tx.err &&
		says '"type":"error"' tx && holds txs '.bytes > 0'
}
sender_killed() { # TX RX
	start --rx "$2" -- --tx "$1"
	kill -KILL $txpid
	ended
	# The data that the sender has sent arrives, and then the stream ends. That is no error.
	[ $rxrc = 0 ] || { cat rx.err tx.err; return 1; }
	holds rxs '.bytes > 0 and .receive.mapped_bytes + .receive.copied_bytes == .bytes'
}
for tx in send splice uring-send-zc; do
	here "$tx" || { skip "$tx" "$why"; continue; }
	ok "$tx: a sender fails when the receiver is killed" receiver_killed $tx recv
done
rings=uring-multishot
rx_here $rings || { skip $rings "$why"; rings=; }
for rx in recv mmap $rings; do
	ok "$rx: a receiver prints its summary when the sender is killed" sender_killed send $rx
done

too_short() {
	! transfer 127.0.0.1 --bytes 3M -- --bytes 2M >/dev/null && [ $rxrc = 1 ] && [ $txrc = 0 ] &&
		says '2097152 bytes arrived, but --bytes is 3145728' rx.err
}
ok "a receiver fails when fewer bytes than --bytes arrive" too_short

# silent SECONDS: starts a receiver, rxpid, and a peer, txpid, that sends nothing and leaves after SECONDS
silent() {
	next_port
	"$tcpzc" --listen --port $port >rx 2>rx.err &
	rxpid=$!
	listening $rxpid || return 1
	bash -c "exec 3<>/dev/tcp/127.0.0.1/$port && exec sleep $1" >/dev/null &
	txpid=$!
}
nothing_came() {
	silent 0
	ended
	[ $rxrc = 1 ] && holds rxs '.bytes == 0' && says '"type":"error"' rx &&
		says '^tcpzc: no data came; --flows, --rr and --size must be the same at both ends$' rx.err
}
connected() { # PID: it closes its listening socket once it has a connection
	! has_socket $1 tcp 0A
}
stopped_before() { # no data arrived before the stop, which is no error
	silent 60 && soon connected $rxpid || return 1
	kill -TERM $rxpid
	wait $rxpid
	rc=$?
	kill $txpid
	wait $txpid
	grep '"summary"' rx >rxs
	[ $rc = 0 ] && holds rxs '.bytes == 0' || { cat rx.err; return 1; }
}
if command -v bash >/dev/null; then
	ok "a receiver fails when the peer sends nothing" nothing_came
	ok "a receiver without data succeeds when it is stopped" stopped_before
else
	skip "a peer that sends nothing" "no bash to be one"
fi

for tx in $(modes sending); do
	here "$tx" || { skip "$tx" "$why"; continue; }
	ok "$tx: after SIGINT both ends have the same number of bytes" stopped INT $tx recv
done
ok "mmap: after SIGTERM both ends have the same number of bytes" stopped TERM splice mmap
[ -z "$rings" ] || ok "uring-multishot: after SIGTERM both ends have the same number of bytes" stopped TERM uring-send uring-multishot

receiver_stopped() { # RX
	start --rx "$1" -- --tx send
	kill -TERM $rxpid
	ended
	[ $rxrc = 0 ] && holds rxs '.bytes > 0'
}
for rx in recv mmap $rings; do
	ok "$rx: a receiver prints its summary after SIGTERM" receiver_stopped $rx
done

# The receiver reads nothing, so the sender's calls block forever. --seconds must still end them.
stalled() { # TX
	start --rx recv -- --tx "$1" --seconds 1.5
	kill -STOP $rxpid
	sleep 1.5
	kill -INT $txpid 2>/dev/null # makes the sender stop waiting for the receiver
	soon gone $txpid
	ended=$?
	kill -KILL $txpid 2>/dev/null
	kill -CONT $rxpid
	wait $txpid $rxpid
	[ $ended = 0 ] && says '"summary"' tx
}
ok "send: a sender ends on time when the receiver does not read" stalled send
if here uring-send-zc; then
	ok "uring-send-zc: a sender ends on time when the receiver does not read" \
		stalled uring-send-zc
else
	skip "uring-send-zc: the receiver stands still" "$why"
fi

# The limit on open files. The soft limit is raised when the flows need more, and an error names the limit.
open_here=$(ls /proc/self/fd | wc -l) # the shell may have inherited some
few_files() { # WHAT FLOWS OPTIONS: with at most 60 files
	is=$1 flows=$2 limit=$((open_here + 60))
	shift 2
	(ulimit -n $limit && exec "$tcpzc" --port $port --flows $flows "$@") >out 2>err
	[ $? = 1 ] && one_line "flow [0-9]+: $is: Too many open files \(RLIMIT_NOFILE \(ulimit -n\) is $limit: raise it, or take fewer --flows\)"
}
if here uring-send; then
	ok "the error about too many rings names the limit on files" few_files 'io_uring.*' 90 --connect ::1 --tx uring-send
else
	skip "too many rings" "$why"
fi
ok "the error about too many pipes names the limit on files" few_files 'a pipe of [0-9]+ bytes \(fs.pipe-max-size\)' 20 --connect ::1 --tx splice --size 4096
few_files_softly() {
	(
		ulimit -Sn $((open_here + 20)) && transfer 127.0.0.1 --flows 30 -- --flows 30 --bytes 10000
	) && holds rxs '.bytes == 300000'
}
ok "a soft limit on files that is too low for the flows is raised" few_files_softly

full() {
	next_port
	"$tcpzc" --listen --port $port >/dev/full 2>rx.err &
	pid=$!
	"$tcpzc" --connect 127.0.0.1 --port $port --bytes 1M >/dev/null 2>&1
	wait $pid
	[ $? = 1 ] && says 'cannot write to standard output: No space left' rx.err
}
ok "a full disk is an error" full

done_testing
