#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Threads that sleep, take turns, read a pipe and share a CPU: the collector waits has their wall time and what woke them.
. "$(dirname "$0")/../lib.sh"
need root jq perf
unset ZCOST_COLLECT
n=100
# On some virtual machines perf has no events of a CPU's idle task, so none of the switch that ends a sleep. Loops that run only
# where nothing else does keep the CPUs from the idle task.
never_idle() {
	loops=
	for cpu in $(seq 0 $(($(nproc) - 1))); do
		timeout 60 taskset -c $cpu chrt --idle 0 sh -c 'while :; do :; done' &
		loops="$loops $!"
	done
}
follow() { # follow COMMAND...: the events of the scheduler beside it
	never_idle
	command perf record -q -a -k CLOCK_MONOTONIC -o p.data -e sched:sched_switch -- "$zcost" collect -o r --pass trace \
		--collect host,waits,cpu --warmup 0 --duration 0 -- "$@" >log 2>&1
	code=$?
	kill $loops
	wait $loops 2>/dev/null
	[ $code = 0 ] || { cat log && false; }
}
works waits follow "$build/tests/tools/waiter" $n

# rows PATTERN: those of waits.tsv whose comm, state, call, kind, from and by match; COLUMN adds up a column of them
rows() { tsv '{ row = $3 " " $4 " " $6 " " $7 " " $8 " " $9 } row ~ "^(" want ")$" { n += $at[column] } END { print n + 0 }' want="$1" column="$2" r/waits.tsv; }
waited() { # waited PATTERN N: so many waits, or up to five less: a thread may be woken before it sleeps
	got=$(rows "$1" count)
	[ "$got" -ge $(($2 - 5)) ] && [ "$got" -le "$2" ] || { echo "$got waits"; cut -f 1-11 r/waits.tsv; return 1; }
}
again() { "$@" || { follow "$build/tests/tools/waiter" $n && "$@"; }; }

whole() { # the parts of each thread are its wall time, within 1 %
	tsv '{ $at["state"] == "wall" ? wall[$2] += $11 : sum[$2] += $11 }
		END { for (t in wall) { n++; if ((sum[t] / wall[t] - 1) ^ 2 > 1e-4) { print t, sum[t], wall[t]; bad = 1 } } exit bad || n != 8 }' r/waits.tsv
}
ok "the parts of each thread are its wall time" whole
clock() { # WALL of the program's own clock, within 5 % and 3 ms: perf delays it
	awk 'NR == FNR { wall[$1] = $2; next } $4 == "wall" && $3 in wall { n++; d = $11 / 1e3 - wall[$3]; if (d < -100 || d > 3000 + 0.05 * wall[$3]) { print; bad = 1 } }
		END { exit bad || n != 7 }' r/workload.out FS='\t' r/waits.tsv
}
steady "the wall time is that of the program's clock" again clock
compared() {
	perf script -i p.data --ns -F time,event,trace >events 2>/dev/null
	awk -f "$tests/tools/waits-compare.awk" r/waits.tsv FS=' ' events
}
steady "perf counts the same waits, with the same time" again compared
steady "a timer ends the naps" again waited 'naps blocked clock_nanosleep S hardirq local_timer ' $n
reader() { waited 'reads blocked read S workload writes' $n; }
follow_naps() { "$zcost" collect -o r --pass trace --collect host,waits --duration 0.5 --grace 0 -- "$build/tests/tools/waiter" 1000000 2>log; }
named() { # the stacks of the naps have the program's functions, which share the time
	follow_naps && "$zcost" analyze r 2>log && exits 0 "$zcost" export folded r --wall -o lines || return 1
	awk '/^naps;/ { all += $NF } /;even_naps;/ { even += $NF } /;odd_naps;/ { odd += $NF }
		END { exit !(even + odd > 0.9 * all && even / odd > 0.8 && even / odd < 1.25) }' lines || { grep '^naps' lines; cat r/waits_stacks.tsv; false; }
}
steady "stacks have the functions of the program" named
follow "$build/tests/tools/waiter" $n
steady "the writer of a pipe wakes the reader" again reader
turns() {
	woken=$(($(rows 'left blocked futex S workload right' count) + $(rows 'right blocked futex S workload left' count)))
	[ "$woken" -gt $((n / 5)) ] || { echo "$woken"; return 1; }
}
steady "threads wake each other at a futex" again turns
shared() { # two threads that spin on one CPU wait for it half of the time, or longer where others want it too
	for spinner in spins hogs; do
		tsv '$3 == who { if ($4 == "wall") wall = $11; if ($4 == "waiting") off += $11 } END { print off / wall; exit !(off / wall > 0.4) }' \
			who=$spinner r/waits.tsv || return 1
	done
}
steady "threads that share a CPU wait on the run queue" again shared
table() {
	exits 0 "$zcost" analyze r && exits 0 "$zcost" report waits r --all --format tsv || return 1
	tsv '{ sum[$at["comm"]] += $at["wall_pct"] } END { for (c in sum) if ((sum[c] - 100) ^ 2 > 1) { print c, sum[c]; bad = 1 } exit bad }' out
	says '^run	local	reads	blocked	read	workload writes	' out
}
ok "the table has parts that add up to 100 %" table

# In parts of the window, zcost sees system calls. They divide the time on a CPU.
divided() {
	exits 0 "$zcost" collect -o d --pass trace --collect host,waits --warmup 0 --duration 2 --grace 2 -- timeout --preserve-status 3 "$build/tests/tools/parts" sleep user random udp || return 1
	awk 'NR == FNR { sum += $2; of[$1] += $2; next } FNR > 1 && $3 == "parts" && $4 ~ /^(user|syscall|softirq_in_syscall)$/ { got[$4] += $11; all += $11 }
		END { all += !all; sum += !sum; split("user syscall softirq_in_syscall", name, " "); of["syscall"] = of["sleep"] + of["random"] + of["udp"]; of["softirq_in_syscall"] = of["softirq"]
			for (i in name) { d = 100 * (got[name[i]] / all - of[name[i]] / sum); print name[i], got[name[i]] / all, of[name[i]] / sum; bad += d < -4 || d > 4 }
			exit bad > 0 }' d/workload.out FS='\t' d/waits.tsv
}
steady "the time on a CPU divides into user, kernel and softirq as by the program's clock" divided

attached() { # to threads that run already: those that sleep, too
	"$build/tests/tools/waiter" 100000000 >/dev/null &
	pid=$!
	soon sh -c "[ \$(cat /proc/$pid/task/*/comm | sort -u | wc -l) = 8 ]"
	exits 0 "$zcost" collect -o r --pass trace --collect host,waits --duration 0.3 --pid $pid
	kill $pid
	whole && [ "$(rows 'naps blocked clock_nanosleep S hardirq local_timer ' count)" -gt 20 ] &&
		[ "$(rows 'waiter blocked futex S  ' ns)" -gt 250000000 ] || { cut -f 1-11 r/waits.tsv && false; }
}
steady "threads that run already are followed" attached

# Requests over loopback, profiled and followed.
next_port
cat >rr <<-END
	$tcpzc -l -p $port --rr -s 64 >/dev/null &
	exec $tcpzc -c 127.0.0.1 -p $port --rr -s 64 --seconds 2
	END
cat >plan.ini <<-END
	[plan]
	passes = measure profile trace
	repeats = 1
	warmup = 0.2
	duration = 0.5
	[side both]
	role = sender
	units = tcpzc
	collect = cpu,threads
	[variant rr]
	both = sh $scratch/rr
	END
captured() {
	rm -rf cap
	exits 0 "$zcost" capture plan.ini -o cap && "$zcost" analyze cap 2>err || { cat err && false; }
}
steady "a capture with the pass trace" captured
requests() { # the percentiles of the client; the parts of the wall time add up to it
	"$zcost" report latency cap --format tsv >table 2>err
	tsv '$at["source"] == "tcpzc" { n++ } $at["source"] != "waits" { next } $at["figure"] == "wall" { wall = $at["us"]; next } { sum += $at["us"] }
		END { exit !(n == 5 && wall > 0 && (sum / wall - 1) ^ 2 < 1e-4) }' table || { cat table && false; }
}
ok "a request has its percentiles, and the parts of its wall time" requests
folded() { # the lines are the wall time of the threads, within 1 % as in the parts that are measured
	exits 0 "$zcost" export folded cap --wall -o lines
	wall=$(sqlite3 cap/zcost.db "SELECT SUM(value) FROM metric WHERE name = 'waits_wall_ns'")
	awk -v wall="$wall" '{ n += $NF } END { print n, wall; exit (n / wall - 1) ^ 2 > 1e-4 }' lines &&
		says '^tcpzc;.*tcp_recvmsg.*;woken by softirq NET_RX [0-9]+$' lines
}
ok "export folded --wall has the wall time, with the waker at the tip of a stack" folded
flames() {
	exits 0 "$zcost" plot cap flame --wall --unit message -o charts --format svg || return 1
	says 'Where .* [0-9.]+ ns of wall time per message go: rr' charts/flame_wall_rr_both.svg &&
		says 'n = 1 profiled and 1 traced run ' charts/flame_wall_rr_both.svg &&
		tsv '$at["parent"] == 0 { roots++ } $at["symbol"] == "woken by softirq NET_RX" { woken += $at["total_ns"] }
			$at["symbol"] == "main" { ran += $at["total_ns"] } END { print roots, woken, ran; exit !(woken > 0 && ran > 0) }' \
			charts/flame_wall_rr_both.tsv &&
		near "$(tsv '!$at["parent"] { n += $at["total_ns"] } END { print n }' charts/flame_wall_rr_both.tsv)" \
			"$("$zcost" report contexts cap --event wall --unit message --all --format tsv 2>/dev/null |
				tsv '{ n += $at["self_ns"] } END { print n }')" 1
}
ok "flame --wall has the chains of the profile beside those of the waits" flames
functions() { # without --wall the samples of the profile are the costs, as ever
	"$zcost" report functions cap --format tsv --all >table 2>err
	says "(^|	)tcp_sendmsg	" table && ! grep "woken by" table
}
ok "tables of costs leave the waits alone" functions

done_testing
