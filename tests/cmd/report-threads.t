#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Checks cpu --by, sched and tcp on captures made by hand: threads, sockets, and the CPU time outside threads.
. "$(dirname "$0")/../lib.sh"
. "$tests/golden.sh"

stat() { # stat ID NAME USER SYSTEM CPU: a line of /proc/PID/stat
	echo "$1 ($2) R 1 1 1 0 -1 0 0 0 0 0 $3 $4 0 0 20 0 1 0 42 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 $5 0 0"
}
# threads_at SECOND CPUS: in three seconds 7 runs 0.9 s on CPU 1, 8 runs 0.3 s, and an ended thread 0.06 s.
threads_at() {
	{
		echo "p $((420000000 * $1)) $(stat 7 'w (1)' $((30 * $1)) $((10 * $1)) 1)"
		echo "t 7 $((300000000 * $1)) $1 $2 $(stat 7 'w (1)' $((20 * $1)) $((10 * $1)) 1)"
		echo "t 7 $((100000000 * $1)) 0 $2 $(stat 8 helper $((10 * $1)) 0 1)"
	} | snap $(((10 + $1) * 1000000000))
}
sched_at() { # sched_at SECOND
	{
		echo "7 7 $((300000000 * $1)) $((40000000 * $1)) $((100 * $1)) $((90 * $1)) $((10 * $1)) w (1)"
		echo "7 8 $((100000000 * $1)) 0 $((5 * $1)) - - helper"
	} | snap $(((10 + $1) * 1000000000))
}
tcp_at() { # tcp_at SECOND RTT
	{ echo little; socket rtt=$2 cwnd=10 acked=$((1000000000 * $1)) retrans=$((4 * $1)) busy=$((500000 * $1)); } | snap $(((10 + $1) * 1000000000))
}
collectors="$cpu_collector, "'{"name": "threads", "state": "ok", "files": ["threads.snap"]}, {"name": "sched", "state": "ok", "files": ["sched.snap"]},
	{"name": "tcp", "state": "ok", "files": ["tcp.snap"]}'

for r in 1 2; do
	d=cap/runs/v/measure-0$r/receiver
	measure_run cap v $r receiver 1280000000 150
	run_json $d v measure $r receiver tcpzc "$collectors"
	for s in 0 1 2 3; do
		threads_at $s $([ $r = 1 ] && echo 1 || echo 0-1) >>$d/threads.snap
		sched_at $s >>$d/sched.snap
		tcp_at $s $((100 + 10 * s)) >>$d/tcp.snap
	done
	run_json cap/runs/v/measure-0$r/sender v measure $r sender none \
		'{"name": "sched", "state": "unsupported", "why": "built without CONFIG_SCHED_INFO", "files": []}'
done
manifest cap v v/measure/1/ok v/measure/2/ok
ok "analyze exits 0 or 4 for a capture with threads and sockets" sh -c "'$zcost' analyze cap 2>log; case \$? in 0 | 4) ;; *) false ;; esac"

# 100 switches per second of the workload, 1280 MB/s. Threads have run=1: 30 % of CPU 1 (7, 20 % of it in user mode), 10 % (8) and
# 2 % (ended): 42 of 50 % busy. In the second run they may leave the CPU, so what is left is a lower bound.
report cap scores --side receiver
sqlite3 cap/zcost.db "INSERT INTO metric (run, name, object, unit, value)
	SELECT id, 'snmp', 'TcpRetransSegs', '1', 36 FROM run WHERE side = 'receiver'"
for table in summary scores 'roi --side receiver' 'cpu --side receiver' 'cpu --by comm --side receiver' 'cpu --by cpu' 'timeline --name *sock* --limit 4'; do
	report cap $table --workload-only
done
for table in 'cpu --by comm' 'cpu --by comm --run 1' 'cpu --by thread' 'cpu --by process --limit 1' 'cpu --by thread --limit 1 --run 1' \
	'cpu --by cpu' 'sched --by comm'; do
	report cap $table --side receiver
done
cp -r cap again
run compare cap:v again:v --workload-only --side receiver --format csv
query cap "SELECT count(*) FROM metric WHERE name = 'others_user_pct'"

# The threads' user time is 32 % of CPU 1: 20 and 10, and 2 of an ended thread.
user_and_system() { # user_and_system USER SYSTEM: ticks a second of CPU 1
	for s in 0 1 2 3; do
		stat_line 1 $(($1 * s)) 0 $(($2 * s)) $(((100 - $1 - $2) * s)) 0 0 0 0 | snap $(((10 + s) * 1000000000))
	done
}
shared_run() { # shared_run VARIANT USER SYSTEM COLLECTORS
	d=shared/runs/$1/measure-01/receiver
	measure_run shared $1 1 receiver 1280000000 150
	run_json $d $1 measure 1 receiver tcpzc "$4"
	user_and_system $2 $3 >$d/proc_stat.snap
	for s in 0 1 2 3; do threads_at $s 1; done >$d/threads.snap
	run_json shared/runs/$1/measure-01/sender $1 measure 1 sender none
}
threads='{"name": "threads", "state": "ok", "files": ["threads.snap"]}'
shared_run crowded 80 15 "$cpu_collector, $threads"
shared_run threads-first 80 15 "$threads, $cpu_collector"
shared_run system 80 0 "$cpu_collector, $threads"
shared_run alone 34 60 "$cpu_collector, $threads"
shared_run blind 80 15 "$cpu_collector, "'{"name": "threads", "state": "unsupported", "why": "not here", "files": []}'
manifest shared "crowded threads-first system alone blind" crowded/measure/1/ok threads-first/measure/1/ok system/measure/1/ok alone/measure/1/ok blind/measure/1/ok
ok "analyze exits 0 or 4 for runs on shared CPUs" sh -c "'$zcost' analyze shared 2>log; case \$? in 0 | 4) ;; *) false ;; esac"
# Of CPU 1 others took 80 - 32 % in user mode. It is busy for 80 % in all in `system`, of which the threads ran 42 %.
query shared "SELECT variant, printf('%.6f', value) FROM metric JOIN run ON id = run WHERE name = 'others_user_pct'"
report shared summary

# Threads that tests/tools/waiter followed: naps, turns at a futex, a pipe. 1,000 messages of 1,000 bytes a second.
d=followed/runs/v/trace-01/receiver
run_json $d v trace 1 receiver tcpzc '{"name": "waits", "state": "ok", "files": ["waits.tsv", "waits_stacks.tsv"]}'
cp "$tests"/data/waits/*.tsv $d
mkdir -p followed/hosts/vm
cp "$tests/data/waits/kallsyms" followed/hosts/vm
{ points 1000000 1000 9 14; summary receiver 100 0 100 0 1000000 1000000; } >$d/workload.out
run_json followed/runs/v/trace-01/sender v trace 1 sender none
manifest followed v v/trace/1/ok
ok "analyze exits 0 or 4 for threads that were followed" sh -c "'$zcost' analyze followed 2>log; case \$? in 0 | 4) ;; *) false ;; esac"
for table in 'waits --all --unit message' latency 'contexts --event wall' 'components --event wall' 'functions --event wall --unit message --limit 12'; do
	report followed $table --side receiver
done
run export folded followed --wall

golden_captures cap/zcost.db
done_testing
