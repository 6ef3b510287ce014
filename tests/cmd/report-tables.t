#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The tables made from a capture, on folders made by hand: figures, scores, syscalls, evidence.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"

# get FILE COLUMN WHERE...: a cell of a tsv table; WHERE is column=value.
get() {
	awk -F'\t' -v want="$2" -v where="$3" 'BEGIN { n = split(where, w, ",") }
		NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		{ hit = 1
		  for (i = 1; i <= n; i++) { split(w[i], kv, "="); if ($c[kv[1]] != kv[2]) hit = 0 }
		  if (hit) { print $c[want]; exit } }' "$1"
}
report() { exits 0 "$zcost" report "$@" --format tsv; }

# Baseline: 10.24 Gbit/s, 400 ns/KiB on the receiver; mmap: twice as fast at two thirds of the CPU.
mkdir cap
for r in 1 2 3; do
	for side in receiver sender; do
		measure_run cap baseline $r $side $((1280000000 + (r - 2) * 12800000)) $([ $side = receiver ] && echo 150 || echo 300)
		measure_run cap mmap $r $side 2560000000 $([ $side = receiver ] && echo 99 || echo 201)
	done
	d=cap/runs/mmap/measure-0$r
	{ points 2560000000 65536 9 14
	  summary receiver 0 0 0 937 63 1000 | sed 's/"mode":"x"/"mode":"mmap"/'; } >$d/receiver/workload.out
	{ points 2560000000 65536 9 14
	  summary sender 200 0 200 0 0 1000 | sed 's/"mode":"x"/"mode":"msg-zerocopy"/'; } >$d/sender/workload.out
done

# One syscalls run: threads 11 and 12 of one command. 3 calls of 100, 200, 300 us: mean 200, m2 20000 us^2; 1 call of
# 600 us: together n 4, mean 300, m2 20000 + 400^2 x 3 / 4 = 140000 us^2; error of the mean 108.01 us: 36.00 %.
d=cap/runs/baseline/syscalls-01/receiver
run_json $d baseline syscalls 1 receiver tcpzc "$syscalls_collector"
{ points 1024000 1024 9 14; summary receiver 0 0 0 0 1 1; } >$d/workload.out
{
	printf 'comm\tpid\ttid\tnr\tname\tcalls\terrors\ttotal_ns\tmin_ns\tmax_ns\tm2_ns2\tbytes\tunfinished\ttime_hist\tsize_hist\n'
	printf 'tcpzc\t11\t11\t45\trecvfrom\t3\t1\t600000\t100000\t300000\t20000000000\t2000\t1\t16:1,17:1,18:1\t9:2\n'
	printf 'tcpzc\t11\t12\t45\trecvfrom\t1\t0\t600000\t600000\t600000\t0\t2000\t0\t19:1\t10:1\n'
	printf 'tcpzc\t11\t11\t16\tioctl\t0\t0\t0\t\t\t\t\t1\t\t\n'
} >$d/syscalls.tsv
mkdir -p cap/runs/baseline/syscalls-01/sender
run_json cap/runs/baseline/syscalls-01/sender baseline syscalls 1 sender none
manifest cap "baseline mmap" baseline/measure/1/ok mmap/measure/1/ok mmap/measure/2/ok baseline/measure/2/ok \
	baseline/measure/3/ok mmap/measure/3/ok baseline/syscalls/1/ok
ok "analyzed" exits 0 "$zcost" analyze cap

ok "summary" report summary cap
cp out summary.tsv
near_cell() { near "$(get "$1" "$2" "$3")" "$4" "$5"; }
ok "median throughput" near_cell summary.tsv throughput_gbps variant=baseline,side=receiver 10.24 1e-6
ok "its interval: min..max of 3" near_cell summary.tsv throughput_lo variant=baseline,side=receiver 10.1376 1e-6
ok "ns per KiB" near_cell summary.tsv ns_per_kib variant=baseline,side=receiver 400 1e-6
ok "zero-copy share of the receiver" near_cell summary.tsv zero_copy_share variant=mmap,side=receiver 93.7 1e-6
ok "no copy cost without a profile" test -z "$(get summary.tsv copy_ns_per_kib variant=mmap,side=receiver)"
ok "what is of the whole run" says 'zero_copy_share: .*over its whole run, warm-up included' err
ok "the fallback is said" says 'NOT ZERO COPY: mmap sender: 100.0 % of sends' err
ok "in the first line of the text" sh -c "'$zcost' report summary cap | head -n 1 | grep -q '^NOT ZERO COPY: mmap sender'"
ok "unless another variant is asked for" sh -c "! '$zcost' report cpu cap --variant baseline | grep -q 'NOT ZERO'"
ok "and not one of the variant that never asked" sh -c "! grep -q 'NOT ZERO COPY: baseline' err"
ok "the report agrees with the store" near "$(sqlite3 cap/zcost.db "SELECT AVG(value) FROM metric JOIN run ON run.id = run
	WHERE name = 'throughput' AND variant = 'mmap' AND side = 'sender' AND pass = 'measure'")" \
	"$(get summary.tsv throughput_gbps variant=mmap,side=sender)" 1e-9

ok "cpu" report cpu cap
ok "system time" near_cell out sys_pct variant=mmap,side=receiver 33 1e-6
ok "idle" near_cell out idle_pct variant=mmap,side=receiver 67 1e-6
ok "busy with its interval" near_cell out busy_hi variant=mmap,side=receiver 33 1e-6

ok "roi" report roi cap
ok "receiver: 10.24^2 / 50" near_cell out roi_c variant=baseline,side=receiver 2.097152 1e-6
ok "total: 10.24^2 / 150" near_cell out roi_c variant=baseline,side=total 0.6990507 1e-6
ok "no power, no score" test -z "$(get out roi_p variant=baseline,side=total)"
ok "and the reason" says 'power_w is absent: no power source' err
ok "a model" report roi cap --power-model idle=100,per_cpu=10
ok "side: 100 W + 10 W x 0.5" near_cell out power_w variant=baseline,side=receiver 105 1e-6
ok "total on one host: idle counts once" near_cell out power_w variant=baseline,side=total 115 1e-6
ok "T^2 / P" near_cell out roi_p variant=baseline,side=total 0.9118052 1e-6
ok "labelled in the table" test "$(get out power_source variant=baseline,side=total)" = modelled
ok "and in a note" says MODELLED err
ok "other exponents" report roi cap --roi-n 1 --variant mmap
ok "T / C" near_cell out roi_c variant=mmap,side=receiver 0.6206061 1e-6
printf 'time,watts\n9,150\n14,150\n' >meter.csv
cp -r cap metered
ok "one meter of the shared host" exits 0 "$zcost" analyze --power-csv receiver=meter.csv metered
ok "roi with it" report roi metered
ok "counts once in the total" near_cell out power_w variant=baseline,side=total 150 1e-6
ok "10.24^2 / 150" near_cell out roi_p variant=baseline,side=total 0.6990507 1e-6
ok "labelled imported" test "$(get out power_source variant=baseline,side=total)" = imported

# Wall power by a meter and package power by RAPL, 30 J and 6 J in 3 s with 1.28 GB/s: beside each other, never added.
mkdir kinds
for v in a b; do
	d=kinds/runs/$v/measure-01/receiver
	run_json $d $v measure 1 receiver tcpzc "$cpu_collector, {\"name\": \"power\", \"state\": \"ok\", \"files\": [\"power.tsv\"]}"
	{ points 1280000000 65536 9 14; summary receiver 0 0 0 0 1 1; } >$d/workload.out
	proc_stat_simple 150 >$d/proc_stat.snap
	printf 'source\tdomain\tt_ns\tmicrojoules\twatts\npowercap\tpackage-0\t10000000000\t0\t\npowercap\tpackage-0\t13000000000\t6000000\t\n' >$d/power.tsv
	printf 'powercap\tpackage-0/core\t10000000000\t0\t\npowercap\tpackage-0/core\t13000000000\t3000000\t\n' >>$d/power.tsv
	printf 'hwmon\tgpu@hwmon1/power1\t10000000000\t\t7\nhwmon\tgpu@hwmon1/power1\t13000000000\t\t7\n' >>$d/power.tsv
done
printf 'time,watts\n9,10\n14,10\n' >kinds/runs/a/measure-01/receiver/power.csv
for v in a b; do run_json kinds/runs/$v/measure-01/sender $v measure 1 sender none; done
manifest kinds "a b" a/measure/1/ok b/measure/1/ok
ok "two kinds of power" exits 0 "$zcost" analyze kinds
ok "power" report power kinds --variant a
ok "at the wall" near_cell out power_w kind=wall,domain=total 10 1e-9
ok "of the package, without its core" near_cell out power_w kind=package,domain=total 2 1e-9
ok "the core by itself" near_cell out power_w "kind=package,domain=powercap package-0/core" 1 1e-9
ok "joules" near_cell out energy_j kind=package,domain=total 6 1e-9
ok "joules per GB: 6 J / 3.84 GB" near_cell out j_per_gb kind=package,domain=total 1.5625 1e-6
ok "T^2 / P of each kind" near_cell out roi_p kind=package,domain=total 52.4288 1e-6
ok "the other" near_cell out roi_p kind=wall,domain=total 10.48576 1e-6
ok "what no total is made of" near_cell out power_w "kind=other,domain=hwmon gpu@hwmon1/power1" 7 1e-9
ok "no score of it" test -z "$(get out roi_p kind=other)"
ok "imported or measured" test "$(get out source kind=wall)$(get out source kind=package)" = importedmeasured
ok "with a model" report power kinds --variant a --power-model idle=4,per_cpu=2
ok "that is labelled" near_cell out power_w kind=model,source=model 5 1e-9
ok "in a note too" says 'MODELLED, not measured: 4 W' err
ok "roi of the first kind" report roi kinds --verbose
ok "is that of the wall" test "$(get out power_kind variant=a)" = wall
ok "and of no other where there is none" test -z "$(get out power_w variant=b)"
ok "which is said" says 'power is wall power; also measured: package \(--power-kind' err
ok "of another kind" report roi kinds --power-kind package
ok "both have it" near_cell out power_w variant=b 2 1e-9
ok "a kind that there is not, exit 2" exits 2 "$zcost" report roi kinds --power-kind cpu
ok "scores say which" sh -c "'$zcost' report scores kinds --variant a | grep -q 'j_per_gb is that of wall power'"
mkdir -p walls packages
cp -r kinds/runs kinds/manifest.json walls/
cp -r kinds/runs kinds/manifest.json packages/
sed -i 's/{"name": "power"[^}]*}/{"name": "null", "state": "ok"}/' walls/runs/a/measure-01/receiver/run.json
rm packages/runs/a/measure-01/receiver/power.csv
"$zcost" analyze walls 2>/dev/null
"$zcost" analyze packages 2>/dev/null
ok "wall is not held against package" exits 0 "$zcost" compare walls:a packages:a --format tsv
ok "and why" says 'power is not compared: .*walls.* has wall power, .*packages.* has package power' err
ok "no score of both" sh -c "! awk -F'\t' '\$2 == \"roi_p\" && \$4 != \"\" && \$5 != \"\"' out | grep -q ."

ok "options for the log that the capture keeps" exits 0 "$zcost" analyze --offset 0.5 kinds
ok "are used" report power kinds --variant a
ok "and told when they are forgotten" sh -c "'$zcost' analyze kinds 2>&1 | grep -q 'add: --offset 0.5'"

# Two sides of one host with CPUs in common. CPU 1 is half busy, and CPU 0 where a sender says so: 10 %.
on_cpus() { # on_cpus VARIANT RECEIVER'S SENDER'S
	set_of=$2
	for side in receiver sender; do
		measure_run doubled $1 1 $side 1280000000 150
		proc_stat_simple 150 >$d/proc_stat.snap
		sed -i "s/\"cpus\": \"[12]\"/\"cpus\": \"$set_of\"/" $d/run.json
		printf 'event\tcpu\tvalue\tenabled_ns\trunning_ns\ninstructions\t1\t300\t100\t100\ncycles\t1\t100\t100\t100\n' \
			>$d/counters.tsv
		sed -i 's/"collectors": \[/&{"name": "counters", "state": "ok", "files": ["counters.tsv"]}, /' $d/run.json
		set_of=$3
	done
	awk '/^cpu0/ { $5 = 90 * s; $2 = 5 + 10 * s++ } 1' $d/proc_stat.snap >snap
	sizes_again <snap >$d/proc_stat.snap
}
sizes_again() { # snapshots with their sizes set right
	awk 'function put() { if (head) printf "@%s %d\n%s", head, length(text), text; text = "" }
		/^@/ { put(); head = substr($1, 2); next } { text = text $0 "\n" } END { put() }'
}
on_cpus whole "" ""
on_cpus within 0-1 1
on_cpus beyond 1 0-1
on_cpus apart 1 0
manifest doubled "whole within beyond apart" whole/measure/1/ok within/measure/1/ok beyond/measure/1/ok apart/measure/1/ok
"$zcost" analyze doubled 2>/dev/null
ok "of sides that share CPUs" report roi doubled
ok "each CPU counts once" near_cell out cpu_pct variant=within,side=total 50 1e-6
ok "also of the other side" near_cell out cpu_pct variant=beyond,side=total 60 1e-6
ok "all of them" near_cell out cpu_pct variant=whole,side=total 50 1e-6
ok "T^2 over that: 10.24^2 / 60" near_cell out roi_c variant=beyond,side=total 1.7476267 1e-6
ok "and it is said" says 'beyond total: receiver and sender share CPU 1: cpu_pct and roi_c count each CPU once' err
ok "which CPUs" says 'whole total: receiver and sender share all CPUs: ' err
ok "not of sides that have their own" sh -c "! grep -q 'apart total' err"
ok "whose use is added up" near_cell out cpu_pct variant=apart,side=total 60 1e-6
ok "modelled power" report roi doubled --power-model idle=100,per_cpu=10
ok "is of each CPU once" near_cell out power_w variant=beyond,side=total 106 1e-6
ok "scores" report scores doubled
ok "costs have no total" test -z "$(get out value score=ns_per_kib,variant=beyond,side=total)"
ok "nor have counters" test -z "$(get out value score=cycles_per_byte,variant=within,side=total)"
ok "nor their ratios" test -z "$(get out value score=ipc,variant=within,side=total)"
ok "though each side has them" near_cell out value score=ipc,variant=within,side=sender 3 1e-9
ok "and the reason is said" says 'ns_per_kib, .* absent for .*beyond total: receiver and sender share CPU 1: their sum would count them twice: give each side its own cpus' err
ok "with CPUs of their own they have" near_cell out value score=ns_per_kib,variant=apart,side=total 480 1e-6
ok "a comparison" exits 0 "$zcost" compare apart beyond -C doubled --format tsv
total() { awk -F'\t' -v m="$1" -v c="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$at["side"] == "total" && $at["metric"] == m { print $at[c] }' out; }
ok "has the total of one end" near "$(total ns_per_kib base)" 480 1e-6
ok "and none of the other" test -z "$(total ns_per_kib new)"
ok "CPU use of both" test "$(total cpu base) $(total cpu new)" = "60 60"
ok "why" says 'beyond: .*receiver and sender share CPU 1; in total these CPUs count once in cpu and roi_c, and ns_per_kib and copy_ns_per_kib are absent' err
sqlite3 doubled/zcost.db "DELETE FROM metric WHERE name LIKE 'cpu_pct:cpu%'"
ok "of CPUs that are not told apart" report roi doubled
ok "there is no sum" test -z "$(get out cpu_pct variant=beyond,side=total)$(get out roi_c variant=beyond,side=total)"
ok "and it is said why" says 'beyond total: receiver and sender share CPU 1: there is no cpu_pct and no score, because CPU time is not known for each CPU' err
ok "not that there was none" sh -c "! grep -q 'CPU time was not collected' err"
ok "of all CPUs it is that of a side" near_cell out cpu_pct variant=whole,side=total 50 1e-6

ok "given numbers: 10 Gbit/s at 200 %" report roi --throughput 10 --cpu-pct 200
ok "0.5" test "$(get out roi_c variant=given)" = 0.5
ok "5 Gbit/s at 100 %" report roi --throughput 5 --cpu-pct 100 --power 50
ok "0.25" test "$(get out roi_c variant=given)" = 0.25
ok "25 / 50 W" test "$(get out roi_p variant=given)" = 0.5

ok "given watts are neither measured nor imported" test "$(get out power_source variant=given)" = given
ok "throughput alone is no score, exit 2" exits 2 "$zcost" report roi --throughput 10
ok "the missing options are named" says '--cpu-pct gives roi_c, --power .* roi_p' err
ok "half of them" report roi --throughput 10 --power 50
ok "what the other half takes" says 'roi_c is absent: it needs --cpu-pct' err
ok "without the throughput, exit 2" exits 2 "$zcost" report roi --cpu-pct 100 --power 50
ok "is named too" says 'need --throughput' err

ok "zerocopy" report zerocopy cap
ok "mapped bytes of three runs" test "$(get out zero_copy variant=mmap,side=receiver)" = 2811
ok "copied sends" test "$(get out copied variant=mmap,side=sender)" = 600
ok "share" near_cell out share variant=mmap,side=receiver 93.7 1e-6
ok "the verdict" says 'mmap: is zero copy on the receiver: 93.7 %' err
ok "counts of the whole run are said to be" says '^zcost: sends and bytes: .*over its whole run, warm-up included; other figures are those of the window' err
ok "and of the other" says 'baseline: is not zero copy: everything was copied' err

ok "syscalls" report syscalls cap --variant baseline --side receiver
ok "the binding columns" test "$(head -n 1 out)" = "$(printf \
	'comm\tsyscall\tcalls\terrors\ttotal_ms\tmin_ms\tavg_ms\tmax_ms\tstddev_pct\tp50_ms\tp99_ms\tbytes_per_call\tcalls_per_mib\tns_per_kib')"
ok "threads of one command added" test "$(get out calls syscall=recvfrom)" = 4
ok "errors" test "$(get out errors syscall=recvfrom)" = 1
ok "minimum" near_cell out min_ms syscall=recvfrom 0.1 1e-9
ok "mean" near_cell out avg_ms syscall=recvfrom 0.3 1e-9
ok "that a call's time holds waiting" says "a call's time runs from its entry to its return and includes waiting" err
ok "maximum" near_cell out max_ms syscall=recvfrom 0.6 1e-9
ok "standard error of the mean, merged" near_cell out stddev_pct syscall=recvfrom 36.0041 1e-3
# The second of four lies at the end of the second bucket, [131072, 262144).
ok "median by buckets" near_cell out p50_ms syscall=recvfrom 0.262144 1e-9
ok "bytes per call" near_cell out bytes_per_call syscall=recvfrom 1000 1e-9
ok "ns per KiB of 3000 KiB" near_cell out ns_per_kib syscall=recvfrom 400 1e-6
ok "calls per MiB" near_cell out calls_per_mib syscall=recvfrom 1.365333 1e-5
ok "a call that never returned has no times" test -z "$(get out avg_ms syscall=ioctl)"
ok "and is named" says 'not returned at the window.s end: .*ioctl 1' err

ok "runs" report runs cap
ok "all of them" test "$(grep -c '' out)" = 15
ok "in the order made" test "$(awk -F'\t' 'NR > 1 {print $1}' out | uniq | tr '\n' ' ')" = "0 1 2 3 4 5 6 "
ok "one run" report runs cap --run mmap/measure-03
ok "both its sides" test "$(grep -c mmap out)" = 2
ok "no such run, exit 1" exits 1 "$zcost" report summary cap --run mmap/measure-09
ok "no such variant, exit 1" exits 1 "$zcost" report summary cap --variant mmapp
ok "lists those there are" says 'baseline, mmap' err
ok "no such estimator, exit 2" exits 2 "$zcost" report summary cap --estimator best
ok "a table that needs a capture, exit 2" exits 2 "$zcost" report summary --perf nofile.data

# Tables of metrics of one kind. 3 s x 1.28 GB/s: 3.84e9 bytes; cycles ran half of the time: 2 x 3.84e9.
mkdir counted
d=counted/runs/v/measure-01/receiver
run_json $d v measure 1 receiver tcpzc '{"name": "counters", "state": "ok", "files": ["counters.tsv"]}'
{ points 1280000000 65536 9 14
  summary receiver 0 0 0 0 1 1000000000 | sed 's/"ring_overflow"/"tcp_info":{"retransmits":3,"rtt_us":40},"ring_overflow"/'; } >$d/workload.out
printf 'event\tcpu\tvalue\tenabled_ns\trunning_ns\ncycles\t1\t3840000000\t100\t50\ninstructions\t1\t11520000000\t100\t100\nbranches\t1\t2000\t100\t100\nbranch-misses\t1\t50\t100\t100\n' >$d/counters.tsv
run_json counted/runs/v/measure-01/sender v measure 1 sender none
manifest counted v v/measure/1/ok
"$zcost" analyze counted 2>/dev/null
ok "sizes: what io_uring's ring had no room for" report sizes counted
ok "among them" near_cell out value name=ring_overflow 0 0
ok "what an older workload does not say is absent" test -z "$(get out value name=dropped_completions)"
ok "counters" report counters counted
ok "scaled for multiplexing" near_cell out value name=counter:cycles 7680000000 1
ok "cycles per byte" near_cell out value name=cycles_per_byte 2 1e-9
ok "instructions per cycle" near_cell out value name=ipc 1.5 1e-9
ok "no ratio without its parts" test -z "$(get out value name=cache_miss_pct)"
ok "scores" report scores counted
ok "cycles per byte among them" near_cell out value score=cycles_per_byte 2 1e-9
ok "instructions per cycle" near_cell out value score=ipc 1.5 1e-9
ok "mispredicted branches" near_cell out value score=branch_miss_pct 2.5 1e-9
ok "of which more is better" test "$(get out better score=ipc)" = higher
ok "what has no source is absent" test -z "$(get out value score=j_per_gb)"
ok "and why, with the way out" says 'j_per_gb is absent: no power source: .*--power-csv' err
ok "where one side lacks it, which" says 'ipc, branch_miss_pct are absent for v sender, v total: these events were not counted' err
ok "of the whole capture" report scores cap
# 4 calls in 3 x 1024000 bytes
ok "system calls per MiB of their own pass" near_cell out value score=syscalls_per_mib 1.3653333333 1e-6
ok "ns per KiB, as the summary has it" near_cell out value score=ns_per_kib,variant=baseline,side=receiver 400 1e-6
# baseline: 400 ns/KiB and what the sender takes, in the same repeats
receiver=$(get out value score=ns_per_kib,variant=baseline,side=receiver)
sender=$(get out value score=ns_per_kib,variant=baseline,side=sender)
ok "the total of both sides is their sum" near_cell out value score=ns_per_kib,variant=baseline,side=total \
	"$(awk -v a="$receiver" -v b="$sender" 'BEGIN { print a + b }')" 1e-3
ok "of one side no total" report scores cap --side receiver
ok "is made" test -z "$(get out value side=total)"
ok "by the estimator that is asked for" report scores cap --estimator mean
ok "and it says so" says 'over the runs: mean' err
ok "joules from a model" report scores cap --power-model idle=100,per_cpu=100 --variant baseline
# 100 W + 0.5 CPUs x 100 W, 3 s, 3.84 GB
ok "per GB" near_cell out value score=j_per_gb,side=receiver 117.1875 1e-6
ok "are said to be one" says 'baseline receiver, .*: j_per_gb uses MODELLED' err
ok "a host that both sides share counts once" near_cell out value score=j_per_gb,side=total 195.3125 1e-6
# Four runs, of which one alone had a receive of that size; and one that kept no histogram.
for r in 1 2 3 4 5; do
	for side in receiver sender; do measure_run buckets v $r $side 1000000000 150; done
done
sed -i 's/"recv_hist":{"16":5}/"recv_hist":{"16":4,"18":1}/' buckets/runs/v/measure-01/receiver/workload.out
sed -i 's/"recv_hist":{"16":5}/"recv_hist":{}/' buckets/runs/v/measure-05/receiver/workload.out
for r in 1 2 3 4; do
	buckets='"1":2'
	[ $r = 2 ] && buckets='"1":2,"3":6'
	sed -i "s/\"ring_overflow\":0/\"ring_overflow\":0,\"histograms\":{\"frags\":{\"count\":2,\"log2\":{$buckets}}}/" \
		buckets/runs/v/measure-0$r/receiver/workload.out
done
manifest buckets v v/measure/1/ok v/measure/2/ok v/measure/3/ok v/measure/4/ok v/measure/5/ok
"$zcost" analyze buckets 2>/dev/null
ok "sizes of several runs" report sizes buckets --side receiver
bucket() { # NAME COLUMN: of the receiver
	awk -F'\t' -v name="$1" -v c="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["name"] == name { print $at[c] }' out
}
ok "a bucket that one of four has is 0 at the median" test "$(bucket recv_size_log2:18 value) $(bucket recv_size_log2:18 runs)" = "0 4"
ok "up to 1" test "$(bucket recv_size_log2:18 value_hi)" = 1
ok "its share, too" test "$(bucket recv_pct_log2:18 value) $(bucket recv_pct_log2:18 value_hi) $(bucket recv_pct_log2:18 runs)" = "0 20 4"
ok "what all have stays" test "$(bucket recv_size_log2:16 value) $(bucket recv_size_log2:16 runs)" = "5 4"
ok "so it is of other histograms" test "$(bucket hist:frags:log2:3 value) $(bucket hist:frags:log2:3 value_hi) $(bucket hist:frags:log2:3 runs)" = "0 6 4"
ok "and of their buckets alone" test "$(bucket hist:frags:count value) $(bucket hist:frags:count runs)" = "2 4"

# The same counters, but nobody says how much was done.
cp -r counted wordless
rm wordless/zcost.db
sed -i 's/"units": "tcpzc"/"units": "none"/' wordless/runs/v/measure-01/receiver/run.json
"$zcost" analyze wordless 2>/dev/null
ok "scores without bytes" report scores wordless
ok "cycles were counted, bytes were not" says \
	'cycles_per_byte, instructions_per_byte are absent for v receiver, v total: the workload gave no account of its bytes' err
ok "what needs no bytes is there" near_cell out value score=ipc,side=receiver 1.5 1e-9
ok "tcp by name" report tcp counted --by name
ok "retransmits per GB" near_cell out value name=retransmits_per_gb 3 1e-9
ok "of the whole run" says 'tcp_retransmits, retransmits_per_gb: .*over its whole run' err
ok "tcp without sockets: the workload's own word" report tcp counted
ok "is named so" near_cell out retrans_per_gb evidence=workload 3 1e-9
ok "a key that is none, exit 2" exits 2 "$zcost" report tcp counted --by thread
ok "sizes" report sizes counted
ok "a bucket" near_cell out value name=recv_size_log2:16 5 1e-9
ok "of the whole run, too" says 'sizes: .*over its whole run, warm-up included; other figures are those of the window' err
ok "nothing measured is said, not an error" report softnet counted
ok "why" says 'no run measured this' err

rm cap/runs/mmap/measure-02/receiver/proc_stat.snap
ok "something lost" exits 4 "$zcost" analyze cap
ok "makes every table of it exit 4" exits 4 "$zcost" report summary cap
ok "that says what" says 'lossy: mmap receiver \([0-9]+ of [0-9]+ runs\): cpu: the file proc_stat.snap is missing' out
ok "but not one of other variants" exits 0 "$zcost" report summary cap --variant baseline
echo >>cap/manifest.json
ok "a capture that went on, exit 1" exits 1 "$zcost" report summary cap
ok "is to be analyzed again" says "run 'zcost analyze cap' again" err

done_testing
