#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Adapters against the real programs between two network namespaces: zcost's figure against the program's own.
. "$(dirname "$0")/../lib.sh"

need root
a=zcw$$a b=zcw$$b servers=
cleanup() {
	for p in $servers; do kill "$p" 2>/dev/null; done
	ip netns del $a 2>/dev/null
	ip netns del $b 2>/dev/null
}
ip netns add $a && ip netns add $b && ip link add zcwa netns $a type veth peer name zcwb netns $b 2>err ||
	skip_all "no network namespaces with a veth pair here: $(tail -n 1 err)"
ip -n $a addr add 10.77.0.1/24 dev zcwa && ip -n $b addr add 10.77.0.2/24 dev zcwb
for n in $a $b; do ip -n $n link set lo up; done
ip -n $a link set zcwa up && ip -n $b link set zcwb up

# Where other programs are busy, iperf3 and sockperf's server stall for up to a second.
renice -n -15 $$ >/dev/null 2>&1
serve() { # serve PORT COMMAND...: starts a server in $b that listens on PORT
	port=$(printf ':%04X ' "$1")
	shift
	ip netns exec $b "$@" >server.out 2>&1 &
	servers="$servers $!"
	soon sh -c "ip netns exec $b cat /proc/net/tcp /proc/net/tcp6 | grep -q '$port'"
}
# measure RUN UNITS WARMUP DURATION COMMAND...: starts a run of the command in $a
measure() {
	run=$1 units=$2 warmup=$3 duration=$4
	shift 4
	"$zcost" collect -o "$run" --collect "${collect:-null}" --warmup "$warmup" --duration "$duration" --units "$units" -- \
		ip netns exec $a "$@" >"$run.log" 2>&1 &
	runs="$runs $run:$!"
}
again() { # again RUN UNITS: reads the run through another adapter
	"$zcost" analyze --units "$2" "$1" >log 2>&1
}
# within RUN FIGURE VALUE PERCENT: zcost's figure is as the program's own
within() {
	awk -v a="$(figure "$2" "$1")" -v b="$3" -v p="$4" 'BEGIN { print a, b
		exit !(a != "" && b > 0 && a > b * (1 - p / 100) && a < b * (1 + p / 100)) }'
}
# paced RUN FIGURE FACTOR PERCENT: zcost's figure, times FACTOR, lies between the slowest and the fastest 0.4 s of iperf3, in
# Gbit/s. A busy machine changes the rate within a run.
paced() {
	jq -r '.intervals[] | select(.sum.omitted | not) | "\(.sum.end) \(.sum.bytes + .sum_bidir_reverse.bytes)"' "$1/workload.out" |
		awk -v a="$(figure "$2" "$1")" -v f="$3" -v p="$4" '
			function sum(s,    i) { # the bytes up to the second s
				for (i = 1; s > t[i]; i++) ;
				return n[i] - (n[i] - n[i - 1]) * (t[i] - s) / (t[i] - t[i - 1])
			}
			function window(s,    rate) {
				if (s < 0 || s + 0.4 > t[NR])
					return
				rate = (sum(s + 0.4) - sum(s)) * 20e-9
				lo = lo == "" || rate < lo ? rate : lo
				hi = hi == "" || rate > hi ? rate : hi
			}
			BEGIN { t[0] = n[0] = 0 }
			{ t[NR] = $1; n[NR] = n[NR - 1] + $2 }
			END { for (i = 0; i <= NR; i++) { window(t[i]); window(t[i] - 0.4) }
				print a * f, "between", lo, "and", hi
				exit !(a != "" && lo > 0 && a * f > lo * (1 - p / 100) && a * f < hi * (1 + p / 100)) }'
}
sent() { # prints the bytes that zcwa sent in 0.4 s, at the rate between the last two readings: those of the window's ends
	awk '/^@/ { t0 = t; t = substr($1, 2) } /^v\t.*\tzcwa\tlink\t/ { n0 = n; n = $9 }
		END { printf "%.0f\n", (n - n0) / (t - t0) * 0.4e9 }' omit/nic.snap
}
have() {
	command -v "$1" >/dev/null || { skip "the figure of $1" "no $1 here"; return 1; }
}

# All at once: the programs are idle for most of the time, or their rate is their own affair.
runs=
if have iperf3; then
	serve 5301 iperf3 -s -p 5301
	serve 5302 iperf3 -s -p 5302
	collect=cpu,nic,tcp,perf measure omit iperf3 2.4 0.4 iperf3 -c 10.77.0.2 -p 5301 -J -O 1 -t 3 -i 0.1 -b 50M
	measure bidir iperf3 1.4 0.4 iperf3 -c 10.77.0.2 -p 5302 -J --bidir -t 3 -i 0.1 -b 50M
	measure refused iperf3 0 0.3 iperf3 -c 10.77.0.2 -p 5309 -J -t 1
fi
if have sockperf; then
	serve 5303 sockperf server --tcp -i 10.77.0.2 -p 5303
	measure sockperf sockperf 1.1 0.5 sockperf under-load --tcp -i 10.77.0.2 -p 5303 -t 3 --mps 1000
fi
if have python3; then
	echo hello >index.html
	serve 5304 python3 -m http.server -b 10.77.0.2 5304
	! have ab || measure ab ab 1.1 0.5 ab -q -t 3 http://10.77.0.2:5304/index.html
	! have wrk || measure wrk wrk 1.1 0.5 wrk -t 1 -c 2 -d 3 http://10.77.0.2:5304/index.html
fi
for r in $runs; do
	wait "${r#*:}"
	echo $? >"${r%:*}.rc"
	[ "${r%:*}" = refused ] || "$zcost" analyze "${r%:*}" >"${r%:*}.log" 2>&1
done

if [ -d omit ]; then
	ok "iperf3 -O is left out of the throughput" paced omit throughput 1 1
	ok "iperf3 --bidir counts both directions" paced bidir throughput 1 1
	ok "a refused iperf3 fails the run" test "$(cat refused.rc)" = 1
	ok "the reason of the failed run has the error that iperf3 prints" says 'run failed: .*: "unable to connect to server.*: Connection refused"' refused.log
	again omit nic:zcwa/tx
	ok "the interface sends the bytes of iperf3 and those of the other programs" within omit bytes "$(sent)" 5
	ok "packets of the interface are a unit of cost" sh -c "'$zcost' report functions omit --unit packet | grep -q 'ns/packet'"
	again omit tcp
	ok "the peer acknowledges the bytes of iperf3" paced omit bytes 20e-9 10 # 8 bits, in 0.4 s
	ok "--units with a side that no run has is a usage error" exits 2 "$zcost" analyze --units sender=tcp omit
	again omit local=nic:zcwx
	ok "a missing interface is named" sh -c "'$zcost' report runs omit --verbose | grep -q \"no interface 'zcwx'; there are host/lo\""
fi
[ ! -d sockperf ] || ok "sockperf's messages are counted" within sockperf rate_messages \
	"$(sed -n 's/.*Valid Duration. RunTime=\([0-9.]*\) .*Received.*=\([0-9]*\)/\2 \1/p' sockperf/workload.out | awk '{ print $1 / $2 }')" 0.1
[ ! -d ab ] || ok "ab's requests are counted" within ab rate_messages "$(awk '/^Requests per second/ { print $4 }' ab/workload.out)" 0.1
[ ! -d wrk ] || ok "wrk's requests are counted" within wrk rate_messages "$(awk '/^Requests.sec/ { print $2 }' wrk/workload.out)" 0.1
done_testing
