#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost collect --pid: processes that already run, in a network namespace of their own.
. "$(dirname "$0")/../lib.sh"
. "$tests/tcpzc.sh"

need root
pids= ns=zcost-cp$$
cleanup() {
	[ -z "$pids" ] || kill $pids 2>/dev/null
	ip netns del "$ns" 2>/dev/null
}
ip netns add "$ns" 2>err && ip -n "$ns" link set lo up 2>err || skip_all "no network namespace: $(cat err)"

ip netns exec "$ns" sysctl -qw net.ipv4.tcp_notsent_lowat=54321 net.ipv4.tcp_congestion_control=reno

# A receiver of two threads, and a shell whose child sends.
ip netns exec "$ns" "$tcpzc" --listen --port $port --flows 2 --threads 2 >rx 2>&1 &
rx=$!
ip netns exec "$ns" sh -c "'$tcpzc' --connect 127.0.0.1 --port $port --flows 2 --seconds 100 --rate 200M; true" >tx 2>&1 &
shell=$!
pids="$rx $shell"
ok "the workload runs" soon has_points 3 rx
tx=$(tr -d ' ' <"/proc/$shell/task/$shell/children")
pids="$tx $pids"

# The kernel's symbols and notes take a second, and are not needed here.
ok "collect --pid measures" exits 0 "$zcost" collect --pid $rx,$shell -o r --duration 1 --units tcp --collect threads,tcp,snmp,nic,syscalls,perf,cpu,host,waits
ok "no process was ended" test "$(grep -hc '^State:.[^Z]' $(printf "/proc/%s/status " $pids) | xargs)" = "1 1 1"
ok "run.json lists both processes by name" is "$(jq -c .matched r/run.json)" "[\"$rx tcpzc\",\"$shell sh\"]"
ok "a child counts as workload" is "$(jq -c '.processes | sort' r/run.json)" "$(printf '%s\n' $pids | jq -sc sort)"
ok "there is no command and no exit status" is "$(jq -c '[.command, .exit, .status]' r/run.json)" '[[],null,"ok"]'
ok "snmp reads the namespace of the processes" is "$(collector snmp .info.netns)" workload
ok "nic reads it too" is "$(collector nic .info.netns)" host,workload
ok "analyze reads the run" exits 0 "$zcost" analyze r
ok "the threads of all processes have CPU time" is "$("$zcost" report cpu r --by comm --all --format tsv 2>/dev/null | tsv '$at["comm"] == "tcpzc" { print $at["threads"] }')" 4
"$zcost" report syscalls r --by pid --all --format tsv >out 2>err
called() { # called PID CALL: the table has its calls
	test "$(tsv '$at["pid"] == pid && $at["syscall"] == call { n += $at["calls"] } END { print n + 0 }' pid="$1" call="$2" out)" -gt 10
}
ok "system calls of the receiver are counted" called $rx recvfrom
ok "system calls of the child are counted" called "$tx" sendto
ok "the waits of the receiver and of the child are followed" is "$(cut -f1 r/waits.tsv | sort -u | grep -cxE "$rx|$tx")" 2
own() { # prints the Gbit/s of the window by the points of both ends
	for end in rx tx; do
		jq -nr 'inputs | select(.type == "point") | "\(.t_ns) \(.bytes)"' $end | awk -v from="$(jq .window.start_ns r/run.json)" -v to="$(jq .window.end_ns r/run.json)" '
			$1 < from { a = $2 } $1 < to { b = $2 } END { printf "%.6f\n", (b - a) * 8 / (to - from) }'
	done | awk '{ n += $1 } END { print n, 0.15 * n }' # a point every 100 ms, later on a busy machine
}
ok "tcp counts the bytes of both ends" near "$(figure throughput)" $(own)
"$zcost" report functions r --workload-only --all --format tsv >out 2>err
ok "report functions has the costs of the processes alone" near "$(tsv '{ s += $at["self_ns"] } END { print s }' out)" \
	"$("$zcost" report summary r --workload-only --format tsv 2>/dev/null | tsv '{ print $at["ns_per_kib"] }')" 0.5

# The namespace's settings take the place of the host's.
"$zcost" report host r --format tsv >out 2>err
ok "report host has the sysctl of the namespace" says "	net.ipv4.tcp_notsent_lowat	54321$" out
ok "report host has its congestion control" says "	congestion control	reno$" out
ok "a sysctl that a namespace does not have is the host's" says "	net.core.netdev_budget	$(cat /proc/sys/net/core/netdev_budget)$" out
ok "report host has the qdisc of the workload's interface" says "	qdisc of lo, local	noqueue$" out
"$zcost" collect -o here --collect host,nic,cpu --duration 0.1 --grace 0 -- sleep 60 >log 2>&1 && "$zcost" analyze here >log 2>&1
"$zcost" compare here r --table settings --format tsv >out 2>err
ok "compare has the sysctl that differs from the host's" says "	sysctl:net.ipv4.tcp_notsent_lowat	$(cat /proc/sys/net/ipv4/tcp_notsent_lowat)	54321$" out
"$zcost" report host here --format tsv >out 2>err
ok "report host of a run on the host has the host's" says "	net.ipv4.tcp_notsent_lowat	$(cat /proc/sys/net/ipv4/tcp_notsent_lowat)$" out

nobody() {
	chmod 755 . && mkdir -p -m 777 theirs
	exits 1 setpriv --reuid 65534 --regid 65534 --clear-groups "$zcost" collect --pid $rx -o theirs/r --collect threads --duration 0.1 &&
		says '^zcost: --pid [0-9]+: cannot look into this process: run as root, or as its user: Permission denied$' err
}
if setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$zcost"; then
	ok "the error about another user's process names the way out" nobody
else
	skip "the error about another user's process names the way out" "other users cannot run $zcost"
fi
for words in "-- true|either --pid or COMMAND" "--units iperf3|take tcp or nic:IF" "--user root|--user belongs to COMMAND" "--pid 0|from 1 to"; do
	ok "${words%|*} is refused" exits 2 "$zcost" collect --pid $rx -o x --duration 1 ${words%|*}
	ok "... with the reason" says "${words#*|}" err
done
ok "a run without an end is refused" exits 2 "$zcost" collect --pid $rx -o x

"$zcost" collect --pid $rx,$shell -o short --collect threads,cpu --duration 60 >log 2>&1 &
zcost_pid=$!
soon sh -c '[ "$(grep -c ^@ short/threads.snap)" -ge 3 ]' && kill "$tx" # the rehearsal, the first second, the next
wait $zcost_pid
ok "a process that ends before the window makes the run incomplete" is $? 4
ok "a message says how long the window was" says "^zcost: short: a process of --pid ended after [0-9.]+ s of the window's 60 s" log
ok "the figures of the shorter window stand" sh -c "'$zcost' analyze short && '$zcost' report cpu short"
wait
pids=
ok "a process that is gone is an error" exits 1 "$zcost" collect --pid $rx -o r --duration 1
ok "the error says so" says "^zcost: --pid $rx: cannot watch this process: No such process" err

done_testing
