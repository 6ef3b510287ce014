#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The way of packets: a delay that the test makes is in its own stage. Other programs may delay every stage, so that quantiles and
# the largest stage count, and times have wide bounds.
. "$(dirname "$0")/../lib.sh"
need root jq ip tc taskset ethtool
unset ZCOST_COLLECT
space=zcost-path-$$ far=zcost-far-$$
cleanup() { ip netns del "$space"; ip netns del "$far"; } 2>/dev/null
ip netns add "$space" 2>err && ip netns add "$far" 2>>err && ip -n "$space" link set lo up mtu 1500 2>>err ||
	skip_all "no network namespace: $(cat err)"
inside() { nsenter --net="/run/netns/$space" "$@"; }
cpu=$(taskset -cp $$ | sed 's/.*[-, ]//')
port=7171

# follow RECEIVER SENDER DURING: 16 KiB 200 times a second over loopback, unless the sender has other options; the rows are in `table`.
# RECEIVER and DURING are shell code: RECEIVER ends with options of tcpzc, and $r is its process.
cat >workload <<'END'
set -- $where "$@"
eval "$1 &"
r=$!
eval "$3" &
sleep ${later:-0}
$tcpzc --connect=$at --port=$port --seconds=${seconds:-1} --size=16k $2
wait
END
follow() {
	at=${at:-127.0.0.1} where= tcpzc=$build/tcpzc port=$port
	export at port tcpzc seconds later
	exits ${code:-0} inside "$zcost" collect -o r --pass trace --collect host,path --warmup ${warmup:-0.2} --duration ${duration:-0.6} -- \
		sh workload "$1" "${2:---rate=200msg/s}" "${3:-:}" || return 1
	"$zcost" analyze r 2>log && "$zcost" report path r --format tsv >table 2>err
	case $? in 0 | 4) ;; *) cat log err && false ;; esac
}
listen='$tcpzc --listen=$at --port=$port'

# cell WAY STAGE COLUMN; 0 where the stage has no row
cell() {
	tsv '$at["way"] == way && $at["stage"] == stage { n += $at[column] } END { printf "%.3f", n }' way="$1" stage="$2" column="$3" table
}
# largest WAY COLUMN: the stage with the largest value
largest() {
	tsv '$at["way"] == way && $at["stage"] !~ /end_to_end|completion/ && $at[column] > most { most = $at[column]; s = $at["stage"] }
		END { print s }' way="$1" column="$2" table
}
is_in() { # is_in X LOW HIGH
	awk -v x="$1" -v low="$2" -v high="$3" 'BEGIN { if (x < low || x > high) { print x " is not in " low " to " high; exit 1 } }'
}
adds_up() {
	for way in $ways; do
		tsv '$at["way"] == way && $at["stage"] !~ /completion/ { if ($at["stage"] == "end_to_end") all = $at["mean_us"]; else sum += $at["mean_us"] }
			END { if (!all || (sum / all - 1) ^ 2 > 1e-12) { print way, sum, all; exit 1 } }' way=$way table || return 1
	done
}

follow "$listen" || { [ "$(collector path .state)" = degraded ] && code=4 && follow "$listen"; } || cat log err
why=$(collector path 'select(.state == "unsupported").why')
[ -z "$why" ] || ! bpf_runs || { ok "the collector path works" is "$why" "" && done_testing; }
[ -z "$why" ] || skip_all "$why"
ways="receive send"
case $(collector path .why) in *tcp_sendmsg_locked*) ways=receive ;; esac # before Linux 6.16
sent() { # sent TEST...: the test holds, or the kernel cannot follow what is sent
	[ "$ways" = receive ] || "$@"
}
followed() {
	is_in "$(cell receive end_to_end packets)" 40 600 && sent is_in "$(cell send end_to_end packets)" 40 600 || { cat table; return 1; }
}
# A busy machine makes TCP send again, or leaves the sender no time.
again() { [ $again = 1 ] || follow "$listen"; "$@"; }
steady "the packets of both ways are followed" again followed
ok "the stages of a way add up to its time from end to end" adds_up
attached() { # attached LOW HIGH: the programs were attached for that much of the window
	is_in "$(collector path .info.attached_ns)" "$1" "$2"
}
ok "the programs stay attached where packets are few" attached 55e7 80e7
sizes() {
	sent is_in "$(cell send end_to_end bytes)" 12000 40000 && sent is_in "$(cell send end_to_end segments)" 8 30 &&
		is_in "$(cell receive end_to_end bytes)" 12000 40000 || { cat table; return 1; }
}
steady "a packet is an aggregate of several packets of the wire" again sizes
moved() { # moved WAY: the bytes of all its packets, as estimated from the followed ones
	awk -F'\t' -v way="$1" '$1 == way && $2 == "" && $3 == "bytes" { print $6 }' r/path.tsv
}
same() { # the sender ends inside the window, so that no packet is on its way at the window's end
	(seconds=0.4 && follow "$listen" --size=128k 'sleep 1.5') && is_in "$(awk -v x="$(moved send)" -v y="$(moved receive)" 'BEGIN { print x / y }')" 0.7 1.4
}
sent ok "as many bytes are sent as received" five_times same
in_parts() { # 20,000 messages of 16 KiB a second are 197 MB in the window of 0.6 s
	(seconds=2 && follow "$listen" --rate=20000msg/s) && attached 1e7 45e7 && is_in "$(cell receive end_to_end packets)" 50 1e5 && adds_up &&
		is_in "$(moved receive)" 1e8 3e8 && sent is_in "$(moved send)" 1e8 3e8 ||
		{ collector path .info.attached_ns; cat table r/path.tsv | grep -v bucket; return 1; }
}
steady "a fast stream is followed in parts of the window, and its packets stand for all of the window" in_parts
late() { # the same rate for the last 1.2 s of 2.4
	(seconds=3 later=1.4 duration=2.4 && follow "$listen" --rate=20000msg/s) && is_in "$(moved receive)" 2e8 6e8 &&
		sent is_in "$(moved send)" 2e8 6e8 || { collector path .info.attached_ns; cat table r/path.tsv | grep -v bucket; return 1; }
}
steady "its packets do so, too, where it begins in the window" late
in_sight() { # a busy machine makes TCP send a few packets again, which the receiver has already
	awk -F'\t' '$3 == "left" { left += $6 } $3 == "followed" { n += $6 } END { if (left > n / 50) { print left, n; exit 1 } }' r/path.tsv
}
ok "no packet is lost from sight" in_sight

if [ "$ways" = receive ]; then
	skip "a queueing discipline" "this kernel has no tracepoint tcp_sendmsg_locked"
elif inside tc qdisc add dev lo root tbf rate 40mbit burst 3k limit 1m 2>err; then
	queued() { # 12 packets of the wire and an ACK now and then, at 40 Mbit/s: the last one leaves after 3.5 ms
		follow "$listen" || return 1
		is_in "$(cell send qdisc p50_us)" 1000 10000 && is "$(largest send p50_us)" qdisc &&
			is_in "$(cell send xmit p50_us)" 0 500 && is_in "$(cell send build p50_us)" 0 500 &&
			is_in "$(cell receive end_to_end p50_us)" 0 1000 || { cat table; return 1; }
	}
	ok "a queueing discipline that is slow delays packets in the stage qdisc" five_times queued
	inside tc qdisc change dev lo root tbf rate 8mbit burst 3k limit 4k
	dropped() {
		follow "$listen" || return 1
		is_in "$(cell send qdisc left)" 1 1000 || { cat table; return 1; }
	}
	ok "packets that it drops are counted where they were last seen" five_times dropped
	inside tc qdisc del dev lo root
else
	skip "a queueing discipline" "$(cat err)"
fi

stopped() { # about 20 packets find room in the receive buffer
	follow "$listen" --rate=200msg/s 'sleep 0.4; kill -STOP $r; sleep 0.3; kill -CONT $r' || return 1
	all=$(awk -v n="$(cell receive end_to_end packets)" -v us="$(cell receive reader mean_us)" 'BEGIN { print n * us / 1e6 }')
	is_in "$all" 0.5 20 && is "$(largest receive mean_us)" reader && sent is "$(largest send mean_us)" queue &&
		is_in "$(cell receive reader share_pct)" 90 100 || { cat table; return 1; }
}
ok "a receiver that was stopped delays packets in the stage reader" five_times stopped
ok "the stages add up with packets that waited long" adds_up

hogged() {
	hog='taskset -c $cpu timeout 1.5 sh -c "while :; do :; done"'
	export cpu
	follow "nice -n 10 taskset -c \$cpu $listen" --rate=200msg/s "sleep 0.2; $hog & $hog & $hog" || return 1
	is_in "$(cell receive wake_up mean_us)" 1000 1e6 && is "$(largest receive mean_us)" wake_up &&
		is_in "$(cell receive wake_up share_pct)" 80 100 || { cat table; return 1; }
}
steady "programs on the receiver's CPU delay packets in the stage wake_up" hogged

small() {
	follow "$listen --rcvbuf=4k" --size=64k || return 1
	is "$(largest send mean_us)" queue && is_in "$(cell send sndbuf mean_us)" 1 1e6 &&
		is_in "$(cell send queue share_pct)" 50 100 && is "$(cell send qdisc mean_us)" 0.000 || { cat table; return 1; }
}
sent ok "a small receive buffer delays packets in the sender's socket" five_times small

# Without GSO on the way, the receiver's GRO makes aggregates again.
ip -n "$space" link add v0 type veth peer name v1 netns "$far" 2>err && {
	for side in "$space v0 1" "$far v1 2"; do
		set -- $side
		ip -n "$1" addr add "10.231.9.$3/24" dev "$2"
		ip -n "$1" link set "$2" up
	done
	inside ethtool -K v0 tso off gso off && nsenter --net="/run/netns/$far" ethtool -K v1 gro on
} >>err 2>&1
merged() {
	at=10.231.9.2 warmup=0.5 seconds=1.3 # the receiver enters its namespace
	follow "nsenter --net=/run/netns/$far $listen" --size=64k || return 1
	is_in "$(cell receive gro packets)" 20 5000 && is_in "$(cell receive end_to_end segments)" 5 64 &&
		sent is_in "$(cell send end_to_end segments)" 1 64 && adds_up || { cat table; return 1; }
}
steady "packets that GRO merges are followed in their aggregate" merged

done_testing
