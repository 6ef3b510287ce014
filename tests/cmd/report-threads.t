#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Checks cpu --by, sched and tcp on captures made by hand: threads, sockets, and the CPU time outside threads.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"

get() { # get COLUMN WHERE: prints a cell of out. WHERE is column=value;...
	awk -F'\t' -v want="$1" -v where="$2" 'BEGIN { n = split(where, w, ";") }
		NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		{ hit = 1
		  for (i = 1; i <= n; i++) { split(w[i], kv, "="); if ($c[kv[1]] != kv[2]) hit = 0 }
		  if (hit) { print $c[want]; exit } }' out
}
cell() { near "$(get "$1" "$2")" "$3" "$4"; }
report() { exits 0 "$zcost" report "$@" --format tsv; }

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

report scores cap --side receiver >log
# 100 switches per second, 1280 MB/s
ok "report scores has the switches of the workload's threads" cell value score=workload_context_switches_per_mib 0.08192 1e-6
ok "report scores says whose switches they are" test "$(get scope score=workload_context_switches_per_mib)" = workload
sqlite3 cap/zcost.db "INSERT INTO metric (run, name, unit, value, source)
	SELECT id, 'snmp:TcpRetransSegs', '1', 36, 'measured' FROM run WHERE side = 'receiver'"
report snmp cap >log
ok "report snmp has the retransmits of the namespace and of the workload's sockets" test \
	"$(get count name=TcpRetransSegs) $(get scope name=TcpRetransSegs) $(get count name=tcp_socket_retransmits) $(get scope name=tcp_socket_retransmits)" = "36 namespace 12 workload"

report cpu cap --side receiver >log
ok "report cpu has the CPU time of the workload's processes beside that of the side's CPUs" sh -c "
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[\$i] = i } NR == 2 { exit !(\$at[\"busy_pct\"] == 50 && \$at[\"workload_pct\"] == 42) }' out"
ok "report cpu says whose CPU time it is" says 'of all that runs on the side.s CPUs.* workload_pct is of the workload' err

# 1250000 KiB/s at 42 % of a CPU
report summary cap --workload-only >log
ok "report summary --workload-only has the CPU use of the workload" cell cpu_pct side=receiver 42 1e-9
ok "report summary --workload-only has the workload's CPU time per KiB" cell ns_per_kib side=receiver 336 1e-6
ok "report summary --workload-only has no CPU use of a side without the collector" test -z "$(get cpu_pct side=sender)$(get ns_per_kib side=sender)"
ok "report summary --workload-only names the busy time that it leaves out" says 'softirqs elsewhere and other programs, in percent of one CPU: v receiver 8.0$' err
report scores cap --workload-only --verbose >log
ok "report scores --workload-only has the workload's CPU time per KiB" cell value 'side=receiver;score=ns_per_kib' 336 1e-6
ok "the scope of that score is the workload" test "$(get scope 'side=receiver;score=ns_per_kib')" = workload
ok "a total needs the CPU time of the workload on every side" test -z "$(get value 'side=total;score=ns_per_kib')"
ok "report scores --workload-only says which side lacks the CPU time of the workload" says "ns_per_kib is absent for v sender, v total: no run has the CPU time of the workload's processes" err
ok "report scores --workload-only has no score of counts by CPU" says 'context_switches_per_mib are absent: --workload-only: the counts are of all that runs' err
report roi cap --workload-only --side receiver >log
ok "roi_c --workload-only is T^2 over the CPU use of the workload" cell roi_c side=receiver 2.4966095 1e-6
cp -r cap again
exits 0 "$zcost" compare cap:v again:v --workload-only --side receiver --format tsv >log
ok "compare --workload-only has the same CPU time per KiB" cell base metric=ns_per_kib 336 1e-6
ok "compare --workload-only says that it is the workload's" test "$(get scope metric=ns_per_kib) $(get scope metric=cpu) $(get scope metric=roi_c)" = "workload workload workload"

report cpu cap --side receiver --workload-only >log
ok "report cpu --workload-only has the CPU time of the workload in user mode and in the kernel" test \
	"$(get cpu_pct side=receiver) $(get user_pct side=receiver) $(get sys_pct side=receiver)" = "42 31.5 10.5"
ok "report cpu --workload-only names the busy time that it leaves out" says 'in percent of one CPU: v receiver 8.0$' err
report cpu cap --by comm --side receiver --workload-only >log
ok "report cpu --by comm --workload-only has no row for everything else" sh -c "grep -q '^v.*helper' out && ! grep -q 'everything else' out"
ok "report cpu --by cpu --workload-only is a usage error" exits 2 "$zcost" report cpu cap --by cpu --workload-only
report timeline cap --workload-only --all >log
ok "report timeline --workload-only has the series of the workload alone" test "$(cut -f4 out | sort -u | tr '\n' ' ')" = \
	"name sched_wait_pct tcp_socket_cwnd tcp_socket_rtt_us throughput workload_cpu_pct "
report limits cap --workload-only >log
ok "report limits --workload-only has a limit of the workload's sockets" test "$(get side limit=application)" = receiver
report cpu cap --by comm --side receiver >log
ok "report cpu --by comm has a thread's CPU use" cell cpu_pct "comm=w (1)" 30 1e-6
ok "report cpu --by comm has a thread's user time" cell user_pct "comm=w (1)" 20 1e-6
ok "report cpu --by comm has a thread's share of the side's busy time" cell busy_share "comm=w (1)" 60 1e-6
ok "report cpu --by comm has the CPU use of a second command" cell cpu_pct comm=helper 10 1e-6
ok "threads that end between readings have a row" cell cpu_pct "comm=w (1) (ended threads)" 2 1e-6
ok "time outside the threads is a lower bound when threads may leave the side's CPUs" \
	cell cpu_pct "comm=(everything else, at least)" 8 1e-6
ok "report cpu notes that threads may run on other CPUs" says 'may also run on CPUs outside' err
ok "report cpu notes once that user time and CPU time use different clocks" \
	test "$(grep -c "user and sys are the kernel's ticks and cpu is the scheduler's clock" err)" = 1
report cpu cap --by comm --side receiver --run 1 >log
ok "time outside the threads is exact when the threads stay on the side's CPUs" cell cpu_pct "comm=(everything else)" 8 1e-6
report cpu cap --by thread --side receiver >log
ok "report cpu --by thread has each thread of each run" cell cpu_pct "run=2;tid=8" 10 1e-6
ok "report cpu --by thread counts a thread's moves between CPUs" cell migrations "run=1;tid=7" 3 1e-6
ok "report cpu --by thread has the CPUs that a thread ran on" test "$(get cpus "run=1;tid=7")" = 1
ok "a run confined to the side's CPUs has an exact rest" test -n "$(get cpu_pct "run=1;comm=(everything else)")"
ok "a run with threads on other CPUs has a lower bound as rest" test -n "$(get cpu_pct "run=2;comm=(everything else, at least)")"
ok "the rows of a run add up to the side's busy time" near "$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	$c["run"] == 1 { s += $c["cpu_pct"] } END { print s }' out)" 50 1e-6
report cpu cap --by process --side receiver --limit 1 >log
ok "report cpu --by process includes the process's ended threads" cell cpu_pct "run=1;pid=7" 42 1e-6
report cpu cap --by thread --side receiver --limit 1 --run 1 >log
ok "rows below --limit add up in one row" cell cpu_pct "comm=(rows left out)" 12 1e-6
report cpu cap --by cpu --side receiver >log
ok "report cpu --by cpu has the busy time of a CPU" cell busy_pct cpu=1 50 1e-6
ok "other programs' user time is unknown when threads run on other CPUs" \
	test -z "$(metric cap/zcost.db v receiver others_user_pct)"

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
others() { near "$(metric shared/zcost.db $1 receiver others_user_pct)" $2 1e-6; }
ok "other programs' user time is the side's user time minus the threads'" others crowded 48
ok "other programs' user time does not depend on the order of the collectors" others threads-first 48
ok "other programs' user time is at most the busy time outside the threads" others system 38
ok "other programs' user time is small on CPUs without other programs" others alone 2
ok "other programs' user time is absent without the threads collector" test -z "$(metric shared/zcost.db blind receiver others_user_pct)"
report summary shared >log
ok "report summary warns that other programs used the side's CPUs" \
	says "warning: crowded receiver, threads-first receiver, system receiver.*: other programs took 48 to 51 % of the side.s busy time, counting user mode alone" err
ok "the warning names the command that lists the other programs" says 'zcost report contexts --by comm' err
ok "the warning says nothing about costs without a profile" sh -c "! grep -q 'costs hold' err"
ok "the warning is one line for all runs" test "$(grep -c 'other programs took' err)" = 1

report sched cap >log
ok "report sched has the run-queue delay" cell delay_ms "run=1;tid=7" 120 1e-6
ok "report sched has the run-queue delay per time slice" cell us_per_slice "run=1;tid=7" 400 1e-6
ok "report sched has the involuntary switches" cell involuntary "run=2;tid=7" 30 1e-6
ok "report sched has no value where the kernel reports none" test -z "$(get voluntary "run=1;tid=8")"
ok "report sched says why a side has no run-queue delay" says 'v sender: run-queue delay was not measured: built without CONFIG_SCHED_INFO' err
report sched cap --by comm >log
ok "report sched --by comm has the median of the runs" cell runtime_ms "comm=w (1)" 900 1e-6

report tcp cap >log
ok "report tcp has the addresses and the congestion control of a socket" test "$(get local run=1) $(get peer run=1) $(get congestion run=1)" = "192.0.2.1:8080 192.0.2.2:51201 bbr"
ok "report tcp has the median round-trip time of the window" cell rtt_us "run=2;evidence=sock_diag" 115 1e-6
ok "report tcp has the growth of the acknowledged bytes in the window" cell acked_mb "run=1;evidence=sock_diag" 3000 1e-6
ok "report tcp has the retransmits per GB" cell retrans_per_gb "run=1;evidence=sock_diag" 4 1e-6
ok "report tcp has the share of time busy with sending" cell busy_pct "run=1;evidence=sock_diag" 50 1e-6
ok "report tcp leaves out a slow-start threshold that TCP has not set" test -z "$(get ssthresh "run=1;evidence=sock_diag")"
ok "report tcp has the delivery rate in Gbit/s" cell delivery_gbps "run=1;evidence=sock_diag" 10 1e-6
ok "report tcp says that no socket of the workload was seen" says 'v sender: no collector saw a socket of the workload' err
report tcp cap --by name >log
ok "report tcp --by name has the median of the runs" cell value name=tcp_socket_retransmits 12 1e-6

. "$tests/golden.sh"
golden_captures cap/zcost.db
done_testing
