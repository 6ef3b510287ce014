#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Checks report limits on captures made by hand, one for each limit, and on real transfers.
. "$(dirname "$0")/../lib.sh"
. "$tests/golden.sh"
need jq
ns=zct-limits-$$
cleanup() { sh "$top/samples/testbed.sh" down "$ns" >/dev/null 2>&1; }

collectors="$cpu_collector"
for c in tcp.snap throttle.snap nic.snap,nic_state.tsv threads.snap; do
	files=$(echo "$c" | sed 's/,/", "/')
	collectors="$collectors, {\"name\": \"${c%%.*}\", \"state\": \"ok\", \"files\": [\"$files\"]}"
done

# side VARIANT SIDE USER SYSTEM SOFTIRQ: a side with this CPU use, in percent, and files that show no limit.
side() {
	d=cap/runs/$1/measure-01/$2
	measure_run cap "$1" 1 "$2" 1280000000 30
	[ "$2" = sender ] && cpu=2 || cpu=1
	on_cpu=$cpu run_json $d "$1" measure 1 "$2" tcpzc "$collectors"
	for s in 0 1 2 3; do
		stat_line $cpu $(($3 * s)) 0 $(($4 * s)) $(((100 - $3 - $4 - $5) * s)) 0 0 $(($5 * s)) 0 | snap $(((10 + s) * 1000000000))
	done >$d/proc_stat.snap
	: >$d/threads.snap
	quota $1 $2 0
	link $1 $2 mlx5_core 1000000
	[ $2 = receiver ] || sockets $1 1000000 cwnd=10
	[ $2 = sender ] || for s in 0 1 2 3; do echo little | snap $(((10 + s) * 1000000000)); done >$d/tcp.snap
}
quota() { # quota VARIANT SIDE US: a quota stops the side for so long in each second
	for s in 0 1 2 3; do
		printf '/a nr_throttled %d\n/a throttled_usec %d\n' $s $(($3 * s)) | snap $(((10 + s) * 1000000000))
	done >cap/runs/$1/measure-01/$2/throttle.snap
}
link() { # link VARIANT SIDE DRIVER BYTES: the side sends so many bytes a second in frames of 1000 on 10 Gbit/s
	d=cap/runs/$1/measure-01/$2
	for s in 0 1 2 3; do
		printf 'n\thost\t4\teth0\tlink\ttx_packets\ttx_bytes\nv\thost\t4\teth0\tlink\t%d\t%d\n' $(($4 / 1000 * s)) $(($4 * s)) |
			snap $(((10 + s) * 1000000000))
	done >$d/nic.snap
	printf 'netns\tifindex\tinterface\tkey\tvalue\nhost\t4\teth0\tspeed_mbps\t10000\nhost\t4\teth0\tdriver\t%s\n' $3 >$d/nic_state.tsv
}
sockets() { # sockets VARIANT BUSY_US FIELD=NUMBER...: a sender; busy, rwnd and sndbuf are microseconds in each second
	variant=$1
	busy=$2
	shift 2
	for s in 0 1 2 3; do
		fields=
		for f; do
			case $f in rwnd=* | sndbuf=*) f=${f%=*}=$((${f#*=} * s)) ;; esac
			fields="$fields $f"
		done
		{ echo little; socket acked=$((1000000000 * s)) busy=$((busy * s)) $fields; } | snap $(((10 + s) * 1000000000))
	done >cap/runs/$variant/measure-01/sender/tcp.snap
}
variant() { # variant NAME [USER SYSTEM SOFTIRQ of the receiver, and of the sender]
	variants="${variants-} $1"
	side $1 receiver ${2:-2} ${3:-40} ${4:-8}
	side $1 sender ${5:-2} ${6:-40} ${7:-8}
}

variant cpu 2 40 8 4 70 25
variant softirq 2 20 73
variant both 4 85 10 4 70 25
variant quota
quota quota receiver 400000
variant wire
link wire sender mlx5_core 1200000000
variant veth
link veth sender veth 1200000000
variant cwnd
sockets cwnd 1000000 cwnd=10 unacked=10 notsent=4096
variant qdisc
sockets qdisc 1000000 cwnd=10 unacked=2 notsent=4096
variant rwnd
sockets rwnd 1000000 cwnd=10 rwnd=600000
variant sndbuf
sockets sndbuf 1000000 cwnd=10 sndbuf=500000
variant application
sockets application 200000 cwnd=10
variant nothing
variant busyapp 2 40 8 4 70 25
sockets busyapp 200000 cwnd=10
manifest cap "$variants" $(for v in $variants; do echo $v/measure/1/ok; done)
ok "analyze reads the variants" exits 4 "$zcost" analyze cap

limits() { "$zcost" report limits "${2:-cap}" --format json 2>log | jq -r '.rows[] | select(.variant == "'$1'") | [.side // "-", .limit, .share // "-"] | map(tostring) | join(" ")'; }
found() { # found VARIANT ROW...: these rows and no others
	v=$1
	shift
	printf '%s\n' "$@" >want
	limits $v >rows
	diff want rows
}
ok "a busy CPU that works in system calls is the limit cpu" found cpu "sender cpu 99"
ok "a busy CPU that mostly runs softirqs is the limit softirq" found softirq "receiver softirq 95"
ok "both sides are limits when both CPUs are busy" found both "receiver cpu 99" "sender cpu 99"
ok "a CPU quota is a limit" found quota "receiver quota 40"
ok "a full link is a limit, with 24 bytes for each frame" found wire "sender wire 98.304"
ok "a virtual interface has no wire" found veth "- none -"
ok "data that wait for acknowledgements with a full cwnd show the limit cwnd" found cwnd "sender cwnd 100"
ok "data that wait although cwnd has room show the limit wire" found qdisc "sender wire 100"
ok "the peer's receive window is a limit" found rwnd "sender rwnd 60"
ok "the send buffer is a limit" found sndbuf "sender sndbuf 50"
ok "sockets without data show the limit application" found application "sender application 80"
ok "sockets without data are no limit where a CPU is busy" found busyapp "sender cpu 99"
ok "no figure above its threshold is the limit none" found nothing "- none -"
report cap limits # the evidence names the CPU and its contexts, and a variant without a limit has its largest figures
run report summary cap --variant '[nr]*'
run report summary cap --variant both

compare cap softirq cpu # the ends have different limits
compare cap both cpu # they share one
cp -r cap local
sqlite3 local/zcost.db "UPDATE run SET side = 'local', role = 'local' WHERE side = 'sender'"
run compare cap:cpu local:busyapp --side sender,local
compare cap cpu busyapp

# Other programs take 60 of the 95 % of the CPU: the workload's thread has 30 % in user mode.
variants=
rm -rf cap
variant noisy 90 5 0
variant both 4 85 10 4 70 25
variant mixed 90 5 0 4 70 25
for s in 0 1 2 3; do
	{
		echo "p $((320000000 * s)) 7 (w) R 1 1 1 0 -1 0 0 0 0 0 $((30 * s)) $((2 * s)) 0 0 20 0 1 0 42 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0"
		echo "t 7 $((320000000 * s)) 0 1 7 (w) R 1 1 1 0 -1 0 0 0 0 0 $((30 * s)) $((2 * s)) 0 0 20 0 1 0 42 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0"
	} | snap $(((10 + s) * 1000000000))
done >cap/runs/noisy/measure-01/receiver/threads.snap
cp cap/runs/noisy/measure-01/receiver/threads.snap cap/runs/mixed/measure-01/receiver/
manifest cap "$variants" $(for v in $variants; do echo $v/measure/1/ok; done)
"$zcost" analyze cap 2>log
ok "a CPU that other programs keep busy is no limit" found noisy "- none -"
echo "UPDATE thread SET wait_ns = 1.2e9" | sqlite3 cap/zcost.db
ok "a thread that waits for 40 % of the window for that CPU is limited by it" found noisy "receiver cpu 40"
ok "the limit with the largest share stands first" found mixed "sender cpu 99" "receiver cpu 40"
sqlite3 cap/zcost.db "INSERT INTO thread (run, pid, tid, run_ns, wait_ns) SELECT id, 7, 0, 9e9, 9e9 FROM run WHERE variant = 'mixed' AND side = 'receiver'"
ok "the sum of threads that ended is no busy thread" found mixed "sender cpu 99" "receiver cpu 40"
sqlite3 cap/zcost.db "DELETE FROM thread WHERE tid = 0"
compare cap both mixed # the same limits in another order
cp -r cap apart
sqlite3 apart/zcost.db "UPDATE metric SET value = 50 WHERE name = 'cpu_pct' AND cpu = 1 AND run IN (SELECT id FROM run WHERE variant = 'both')"
"$zcost" plot apart throughput --format svg -o slides >out 2>err
ok "the chart of throughput warns of variants with different limits" \
	says 'Different limits: noisy and both do not have the same bottleneck, so throughput does not' slides/throughput.svg
"$zcost" plot cap throughput --format svg -o alike --variant '[bm]*' >out 2>err
ok "the chart of throughput does not warn of variants with the same limits" sh -c "grep -q 'limited by' alike/throughput.svg && ! grep -q 'Different limits' alike/throughput.svg"

# Real transfers over veth, before all other programs, whose work would be the limit: a sender with a rate, a sender of short messages on one CPU, and a queue with a rate.
real_transfers() {
	[ "$(id -u)" = 0 ] || { skip "limits of real transfers" "network namespaces need root"; return; }
	[ -x "$tcpzc" ] || { skip "limits of real transfers" "this zcost has no host half"; return; }
	tc qdisc help 2>&1 | grep -q Usage || { skip "limits of real transfers" "there is no tc"; return; }
	cat >p.ini <<-EOT
	[plan]
	passes = measure
	repeats = 1
	warmup = 0.3
	duration = 1
	grace = 0
	before = sh $top/samples/testbed.sh up $ns
	after = sh $top/samples/testbed.sh down $ns
	[vars]
	send = \${bindir}/tcpzc --connect 192.0.2.1 --seconds 60 --tx send
	[side receiver]
	prefix = nice -n -20 ip netns exec $ns-receiver
	units = tcpzc
	[side sender]
	prefix = nice -n -20 ip netns exec $ns-sender
	units = tcpzc
	[variant rate]
	receiver = \${bindir}/tcpzc --listen --rx recv
	sender = \${send} --rate 200Mbit/s
	[variant busy]
	receiver = \${bindir}/tcpzc --listen --rx recv
	sender = \${send} --size 64
	[variant queue]
	receiver = \${bindir}/tcpzc --listen --rx recv
	sender = sh -c "tc qdisc replace dev veth0 root tbf rate 200mbit burst 256k latency 20ms || exit 1; exec \${send}"
	EOT
	cap=real
	real() {
		rm -rf real
		exits 0 "$zcost" capture p.ini -o real || return 1
		"$zcost" analyze real 2>log
		limits rate real | grep -q '^sender application ' && limits busy real | grep -q '^sender cpu ' &&
			limits queue real | grep -q '^sender \(wire\|cwnd\) ' && return
		"$zcost" report limits real
		return 1
	}
	steady "a rate, short messages and a slow qdisc show the limits application, cpu, and wire or cwnd" real
}
real_transfers

golden_captures cap/zcost.db
done_testing
