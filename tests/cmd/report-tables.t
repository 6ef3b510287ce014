#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Checks the tables of captures made by hand: figures, scores, system calls, evidence.
. "$(dirname "$0")/../lib.sh"
. "$tests/golden.sh"

# The baseline has 10.24 Gbit/s and 400 ns/KiB on the receiver. mmap is twice as fast at two thirds of the CPU.
mkdir cap
for r in 1 2 3; do
	for side in receiver sender; do
		measure_run cap baseline $r $side $((1280000000 + (r - 2) * 12800000)) $([ $side = receiver ] && echo 150 || echo 300)
		measure_run cap mmap $r $side 2560000000 $([ $side = receiver ] && echo 99 || echo 201)
	done
	d=cap/runs/mmap/measure-0$r
	{ points 2560000000 65536 9 14
	  summary receiver 0 0 0 937 63 1000 | sed 's/"mode":"x"/"mode":"mmap","asks_zero_copy":true/'; } >$d/receiver/workload.out
	{ points 2560000000 65536 9 14
	  summary sender 200 0 200 0 0 1000 | sed 's/"mode":"x"/"mode":"msg-zerocopy","asks_zero_copy":true/'; } >$d/sender/workload.out
done

# The syscalls run has threads 11 and 12 of one command. 3 calls of 100, 200 and 300 us: mean 200, m2 20000 us^2.
# 1 call of 600 us. Together: n 4, mean 300, m2 20000 + 400^2 x 3 / 4 = 140000 us^2, standard error 108.01 us: 36.00 %.
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
ok "analyze exits 0 for a capture of two variants" exits 0 "$zcost" analyze cap

# The interval of 3 runs is their minimum to maximum. Only mmap asks for zero copy: its sender fell back to copying.
report cap summary
ok "the first line of report summary's text names the fallback" sh -c "'$zcost' report summary cap | head -n 1 | grep -q '^NOT ZERO COPY: mmap sender'"
ok "report cpu --variant does not name another variant's fallback" sh -c "! '$zcost' report cpu cap --variant baseline | grep -q 'NOT ZERO'"
report cap summary --unit message # messages have 64 KiB
report cap scores --unit message
report cap cpu
# roi_c of a side is T^2 / C: 10.24^2 / 50, of the total 10.24^2 / 150. The model's power is 100 W + 10 W for each busy CPU, and the
# total counts the idle power of the one host once: 115 W.
report cap roi
report cap roi --power-model idle=100,per_cpu=10
report cap roi --roi-n 1 --variant mmap
printf 'time,watts\n9,150\n14,150\n' >meter.csv
cp -r cap metered
ok "analyze --power-csv takes one meter for a host that both sides share" exits 0 "$zcost" analyze --power-csv receiver=meter.csv metered

# A meter has 30 J of wall power and RAPL 6 J of package power, in 3 s at 1.28 GB/s. They never add up.
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
ok "analyze takes wall power and package power together" exits 0 "$zcost" analyze kinds
# The package has 6 J and contains the core: 2 W, 6 J / 3.84 GB. Wall power is preferred, and nothing is mixed in where it is missing.
report kinds power --variant a
report kinds power --variant a --power-model idle=4,per_cpu=2
report kinds roi
report kinds roi --power-kind package
run report roi kinds --power-kind cpu
report kinds scores --variant a
mkdir -p walls packages
cp -r kinds/runs kinds/manifest.json walls/
cp -r kinds/runs kinds/manifest.json packages/
sed -i 's/{"name": "power"[^}]*}/{"name": "null", "state": "ok"}/' walls/runs/a/measure-01/receiver/run.json
rm packages/runs/a/measure-01/receiver/power.csv
"$zcost" analyze walls 2>/dev/null
"$zcost" analyze packages 2>/dev/null
run compare walls:a packages:a --format csv
ok "analyze --offset exits 0 for a power log in the capture" exits 0 "$zcost" analyze --offset 0.5 kinds
report kinds power --variant a
ok "analyze without --offset names the --offset of the last analysis" sh -c "'$zcost' analyze kinds 2>&1 | grep -q 'add: --offset 0.5'"

# Two sides of one host share CPUs. CPU 1 is 50 % busy. CPU 0 is 10 % busy where the sender has it.
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
sizes_again() { # sets the sizes in the heads of snapshots
	awk 'function put() { if (head) printf "@%s %d\n%s", head, length(text), text; text = "" }
		/^@/ { put(); head = substr($1, 2); next } { text = text $0 "\n" } END { put() }'
}
on_cpus whole "" ""
on_cpus within 0-1 1
on_cpus beyond 1 0-1
on_cpus apart 1 0
manifest doubled "whole within beyond apart" whole/measure/1/ok within/measure/1/ok beyond/measure/1/ok apart/measure/1/ok
"$zcost" analyze doubled 2>/dev/null
# The total counts CPU 1 once: of `beyond` 60 % in all, and 100 W + 10 W x 0.6. A sum of costs would count it twice, so there is none.
report doubled roi
report doubled roi --power-model idle=100,per_cpu=10
report doubled scores
compare doubled apart beyond
sqlite3 doubled/zcost.db "DELETE FROM metric WHERE name = 'cpu_pct' AND cpu IS NOT NULL"
run report roi --throughput 10 --cpu-pct 200 --format csv
run report roi --throughput 5 --cpu-pct 100 --power 50 --format csv
run report roi --throughput 10 --power 50 --format csv
run report roi --throughput 10
run report roi --cpu-pct 100 --power 50

report cap zerocopy
# The second of four calls is in the second bucket, [131072, 262144).
report cap syscalls --variant baseline --side receiver
report cap runs
report cap runs --run mmap/measure-03
run report summary cap --run mmap/measure-09
run report summary cap --variant mmapp
run report summary cap --estimator best
run report summary --perf nofile.data

# The run has 3 s x 1.28 GB/s = 3.84e9 bytes. cycles was counted half of the time, so 2 x 3.84e9 cycles.
mkdir counted
d=counted/runs/v/measure-01/receiver
run_json $d v measure 1 receiver tcpzc '{"name": "counters", "state": "ok", "files": ["counters.tsv"]}'
{ points 1280000000 65536 9 14
  summary receiver 0 0 0 0 1 1000000000; } >$d/workload.out
printf 'event\tcpu\tvalue\tenabled_ns\trunning_ns\ncycles\t1\t3840000000\t100\t50\ninstructions\t1\t11520000000\t100\t100\nbranches\t1\t2000\t100\t100\nbranch-misses\t1\t50\t100\t100\n' >$d/counters.tsv
run_json counted/runs/v/measure-01/sender v measure 1 sender none
manifest counted v v/measure/1/ok
"$zcost" analyze counted 2>/dev/null
report counted sizes
report counted counters
report counted scores
# 4 calls in 3 x 1024000 bytes
report cap scores
report cap scores --side receiver
report cap scores --estimator mean
# 100 W + 0.5 CPUs x 100 W, 3 s, 3.84 GB; the total counts the host that both sides share once
report cap scores --power-model idle=100,per_cpu=100 --variant baseline
# Only one of four runs has receives of one size. A fifth run has no histogram.
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
report buckets sizes --side receiver

# The counters are the same, but the workload does not report its bytes.
cp -r counted wordless
rm wordless/zcost.db
sed -i 's/"units": "tcpzc"/"units": "none"/' wordless/runs/v/measure-01/receiver/run.json
"$zcost" analyze wordless 2>/dev/null
report wordless scores
report counted tcp
ok "a table without measurements exits 0" exits 0 "$zcost" report softnet counted
report counted softnet # no run measured this

rm cap/runs/mmap/measure-02/receiver/proc_stat.snap
ok "analyze exits 4 when a file of a run is missing" exits 4 "$zcost" analyze cap
ok "report summary exits 4 when a file of a run was missing" exits 4 "$zcost" report summary cap
ok "report summary names the missing file" says 'lossy: mmap receiver \([0-9]+ of [0-9]+ runs\): cpu: the file proc_stat.snap is missing' out
ok "report summary --variant exits 0 for a variant without losses" exits 0 "$zcost" report summary cap --variant baseline
echo >>cap/manifest.json
run report summary cap

golden_captures doubled/zcost.db metered/zcost.db walls/zcost.db packages/zcost.db
done_testing
