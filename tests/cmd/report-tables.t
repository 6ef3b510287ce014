#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Checks the tables of captures made by hand: figures, scores, system calls, evidence.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"

# get FILE COLUMN WHERE...: prints a cell of a tsv table. WHERE is column=value.
get() {
	awk -F'\t' -v want="$2" -v where="$3" 'BEGIN { n = split(where, w, ",") }
		NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		{ hit = 1
		  for (i = 1; i <= n; i++) { split(w[i], kv, "="); if ($c[kv[1]] != kv[2]) hit = 0 }
		  if (hit) { print $c[want]; exit } }' "$1"
}
report() { exits 0 "$zcost" report "$@" --format tsv; }

# The baseline has 10.24 Gbit/s and 400 ns/KiB on the receiver. mmap is twice as fast at two thirds of the CPU.
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

ok "report summary exits 0" report summary cap
cp out summary.tsv
near_cell() { near "$(get "$1" "$2" "$3")" "$4" "$5"; }
ok "report summary has the median throughput of the runs" near_cell summary.tsv throughput_gbps variant=baseline,side=receiver 10.24 1e-6
ok "the throughput interval of 3 runs is their minimum to maximum" near_cell summary.tsv throughput_lo variant=baseline,side=receiver 10.1376 1e-6
ok "report summary has the CPU time per KiB" near_cell summary.tsv ns_per_kib variant=baseline,side=receiver 400 1e-6
ok "report summary has the receiver's zero-copy share" near_cell summary.tsv zero_copy_share variant=mmap,side=receiver 93.7 1e-6
ok "report summary has no copy cost without a profile" test -z "$(get summary.tsv copy_ns_per_kib variant=mmap,side=receiver)"
ok "report summary names the columns that count over the whole run" says "zero_copy_share by the workload's own count: the sum over [0-9]+ whole runs, warm-up included" err
ok "report summary names the side that fell back to copying" says 'NOT ZERO COPY: mmap sender: 100.0 % of sends' err
ok "the first line of report summary's text names the fallback" sh -c "'$zcost' report summary cap | head -n 1 | grep -q '^NOT ZERO COPY: mmap sender'"
ok "report cpu --variant does not name another variant's fallback" sh -c "! '$zcost' report cpu cap --variant baseline | grep -q 'NOT ZERO'"
ok "NOT ZERO COPY does not name a variant that does not ask for zero copy" sh -c "! grep -q 'NOT ZERO COPY: baseline' err"
ok "report summary's throughput equals the mean in the store" near "$(sqlite3 cap/zcost.db "SELECT AVG(value) FROM metric JOIN run ON run.id = run
	WHERE name = 'throughput' AND variant = 'mmap' AND side = 'sender' AND pass = 'measure'")" \
	"$(get summary.tsv throughput_gbps variant=mmap,side=sender)" 1e-9

"$zcost" report summary cap --unit message --format tsv >messages.tsv 2>err # messages have 64 KiB
ok "report summary --unit message has the CPU time per message" near_cell messages.tsv ns_per_message variant=baseline,side=receiver 25600 1
ok "report summary --unit message keeps the CPU time per KiB" near_cell messages.tsv ns_per_kib variant=baseline,side=receiver 400 1e-6
report scores cap --unit message >/dev/null
ok "report scores --unit message has the CPU time per message" near_cell out value variant=baseline,side=receiver,score=ns_per_message 25600 1
ok "report cpu exits 0" report cpu cap
ok "report cpu has the system time" near_cell out sys_pct variant=mmap,side=receiver 33 1e-6
ok "report cpu has the idle time" near_cell out idle_pct variant=mmap,side=receiver 67 1e-6
ok "report cpu has the interval of the busy time" near_cell out busy_hi variant=mmap,side=receiver 33 1e-6

ok "report roi exits 0" report roi cap
ok "roi_c of a side is T^2 / C: 10.24^2 / 50" near_cell out roi_c variant=baseline,side=receiver 2.097152 1e-6
ok "roi_c of the total is T^2 over both sides' CPU use: 10.24^2 / 150" near_cell out roi_c variant=baseline,side=total 0.6990507 1e-6
ok "roi_p is empty without a power source" test -z "$(get out roi_p variant=baseline,side=total)"
ok "report roi says that no power source was measured" says 'power_w is absent: no power source' err
ok "report roi --power-model exits 0" report roi cap --power-model idle=100,per_cpu=10
ok "modelled power of a side is idle power plus busy CPUs: 100 W + 10 W x 0.5" near_cell out power_w variant=baseline,side=receiver 105 1e-6
ok "modelled power of the total counts one host's idle power once" near_cell out power_w variant=baseline,side=total 115 1e-6
ok "roi_p of the total is T^2 / P" near_cell out roi_p variant=baseline,side=total 0.9118052 1e-6
ok "report roi labels modelled power in the table" test "$(get out power_source variant=baseline,side=total)" = modelled
ok "report roi notes that power is modelled" says MODELLED err
ok "report roi --roi-n exits 0" report roi cap --roi-n 1 --variant mmap
ok "roi_c with --roi-n 1 is T / C" near_cell out roi_c variant=mmap,side=receiver 0.6206061 1e-6
printf 'time,watts\n9,150\n14,150\n' >meter.csv
cp -r cap metered
ok "analyze --power-csv takes one meter for a host that both sides share" exits 0 "$zcost" analyze --power-csv receiver=meter.csv metered
ok "report roi of a metered capture exits 0" report roi metered
ok "the total counts the meter of a shared host once" near_cell out power_w variant=baseline,side=total 150 1e-6
ok "roi_p with a meter is T^2 / P: 10.24^2 / 150" near_cell out roi_p variant=baseline,side=total 0.6990507 1e-6
ok "report roi labels metered power as imported" test "$(get out power_source variant=baseline,side=total)" = imported

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
ok "report power exits 0" report power kinds --variant a
ok "report power has the wall power" near_cell out power_w kind=wall,domain=total 10 1e-9
ok "the package total leaves out the core domain that the package contains" near_cell out power_w kind=package,domain=total 2 1e-9
ok "report power has a row for the core domain" near_cell out power_w "kind=package,domain=powercap package-0/core" 1 1e-9
ok "report power has the energy in joules" near_cell out energy_j kind=package,domain=total 6 1e-9
ok "j_per_gb is energy over data: 6 J / 3.84 GB" near_cell out j_per_gb kind=package,domain=total 1.5625 1e-6
ok "report power has roi_p of the package power" near_cell out roi_p kind=package,domain=total 52.4288 1e-6
ok "report power has roi_p of the wall power" near_cell out roi_p kind=wall,domain=total 10.48576 1e-6
ok "a domain that belongs to no total has its own row" near_cell out power_w "kind=other,domain=hwmon gpu@hwmon1/power1" 7 1e-9
ok "a domain that belongs to no total has no roi_p" test -z "$(get out roi_p kind=other)"
ok "report power tells imported sources from measured sources" test "$(get out source kind=wall)$(get out source kind=package)" = importedmeasured
ok "report power --power-model exits 0" report power kinds --variant a --power-model idle=4,per_cpu=2
ok "report power labels the model's row as a model" near_cell out power_w kind=model,source=model 5 1e-9
ok "report power notes the watts of the model" says 'MODELLED, not measured: 4 W' err
ok "report roi of a capture with two kinds of power exits 0" report roi kinds --verbose
ok "report roi prefers wall power" test "$(get out power_kind variant=a)" = wall
ok "report roi does not mix in package power where wall power is missing" test -z "$(get out power_w variant=b)"
ok "report roi names the kind of power that it uses and the other kinds" says 'power is wall power; also measured: package \(--power-kind' err
ok "report roi --power-kind exits 0" report roi kinds --power-kind package
ok "--power-kind package gives both variants a power" near_cell out power_w variant=b 2 1e-9
ok "--power-kind with an unknown kind is a usage error" exits 2 "$zcost" report roi kinds --power-kind cpu
ok "report scores names the kind of power of j_per_gb" sh -c "'$zcost' report scores kinds --variant a | grep -q 'j_per_gb is that of wall power'"
mkdir -p walls packages
cp -r kinds/runs kinds/manifest.json walls/
cp -r kinds/runs kinds/manifest.json packages/
sed -i 's/{"name": "power"[^}]*}/{"name": "null", "state": "ok"}/' walls/runs/a/measure-01/receiver/run.json
rm packages/runs/a/measure-01/receiver/power.csv
"$zcost" analyze walls 2>/dev/null
"$zcost" analyze packages 2>/dev/null
ok "compare exits 0 when the sides have different kinds of power" exits 0 "$zcost" compare walls:a packages:a --format tsv
ok "compare says why it does not compare wall power with package power" says 'power is not compared: .*walls.* has wall power, .*packages.* has package power' err
ok "compare shows no pair of roi_p of different kinds of power" sh -c "! awk -F'\t' '\$2 == \"roi_p\" && \$4 != \"\" && \$5 != \"\"' out | grep -q ."

ok "analyze --offset exits 0 for a power log in the capture" exits 0 "$zcost" analyze --offset 0.5 kinds
ok "report power exits 0 after analyze --offset" report power kinds --variant a
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
ok "report roi exits 0 when the sides share CPUs" report roi doubled
ok "the total counts a CPU that the sides share once when the sender's CPUs are a subset" near_cell out cpu_pct variant=within,side=total 50 1e-6
ok "the total counts a shared CPU once when the receiver's CPUs are a subset" near_cell out cpu_pct variant=beyond,side=total 60 1e-6
ok "the total counts each CPU once when both sides have all CPUs" near_cell out cpu_pct variant=whole,side=total 50 1e-6
ok "roi_c of the total uses each CPU once: 10.24^2 / 60" near_cell out roi_c variant=beyond,side=total 1.7476267 1e-6
ok "report roi notes that shared CPUs count once" says 'beyond total: receiver and sender share CPU 1: cpu_pct and roi_c count each CPU once' err
ok "report roi notes that the sides share all CPUs" says 'whole total: receiver and sender share all CPUs: ' err
ok "report roi does not note shared CPUs for sides with separate CPUs" sh -c "! grep -q 'apart total' err"
ok "the total adds up the CPU use of sides with separate CPUs" near_cell out cpu_pct variant=apart,side=total 60 1e-6
ok "report roi --power-model exits 0 when the sides share CPUs" report roi doubled --power-model idle=100,per_cpu=10
ok "modelled power of the total counts a shared CPU once" near_cell out power_w variant=beyond,side=total 106 1e-6
ok "report scores exits 0 when the sides share CPUs" report scores doubled
ok "a cost has no total when the sides share a CPU" test -z "$(get out value score=ns_per_kib,variant=beyond,side=total)"
ok "a counter score has no total when the sides share a CPU" test -z "$(get out value score=cycles_per_byte,variant=within,side=total)"
ok "a ratio of counters has no total when the sides share a CPU" test -z "$(get out value score=ipc,variant=within,side=total)"
ok "a ratio of counters exists for each side when the sides share a CPU" near_cell out value score=ipc,variant=within,side=sender 3 1e-9
ok "report scores says why the totals are absent when the sides share a CPU" says 'ns_per_kib, .* absent for .*beyond total: receiver and sender share CPU 1: their sum would count them twice; give each side separate CPUs' err
ok "costs of sides with separate CPUs have a total" near_cell out value score=ns_per_kib,variant=apart,side=total 480 1e-6
ok "compare exits 0 when the sides of one variant share a CPU" exits 0 "$zcost" compare apart beyond -C doubled --format tsv
total() { awk -F'\t' -v m="$1" -v c="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$at["side"] == "total" && $at["metric"] == m { print $at[c] }' out; }
ok "compare has the total cost of the variant with separate CPUs" near "$(total ns_per_kib base)" 480 1e-6
ok "compare has no total cost of the variant that shares a CPU" test -z "$(total ns_per_kib new)"
ok "compare has the total CPU use of both variants" test "$(total cpu base) $(total cpu new)" = "60 60"
ok "compare says which totals are absent for the variant that shares a CPU" says 'beyond: .*receiver and sender share CPU 1; in total these CPUs count once in cpu and roi_c, and ns_per_kib and copy_ns_per_kib are absent' err
sqlite3 doubled/zcost.db "DELETE FROM metric WHERE name LIKE 'cpu_pct:cpu%'"
ok "report roi exits 0 for shared CPUs without CPU time of each CPU" report roi doubled
ok "the total of shared CPUs is empty without CPU time of each CPU" test -z "$(get out cpu_pct variant=beyond,side=total)$(get out roi_c variant=beyond,side=total)"
ok "report roi says that the total needs CPU time of each CPU" says 'beyond total: receiver and sender share CPU 1: there is no cpu_pct and no score, because CPU time is not known for each CPU' err
ok "report roi does not claim that CPU time was not collected" sh -c "! grep -q 'CPU time was not collected' err"
ok "two sides on all CPUs have the CPU use of one side as total" near_cell out cpu_pct variant=whole,side=total 50 1e-6

ok "report roi takes --throughput and --cpu-pct: 10 Gbit/s at 200 %" report roi --throughput 10 --cpu-pct 200
ok "roi_c of 10 Gbit/s at 200 % is 0.5" test "$(get out roi_c variant=given)" = 0.5
ok "report roi takes --throughput, --cpu-pct and --power: 5 Gbit/s, 100 %, 50 W" report roi --throughput 5 --cpu-pct 100 --power 50
ok "roi_c of 5 Gbit/s at 100 % is 0.25" test "$(get out roi_c variant=given)" = 0.25
ok "roi_p of 5 Gbit/s at 50 W is 0.5" test "$(get out roi_p variant=given)" = 0.5

ok "the power source of --power is neither measured nor imported" test "$(get out power_source variant=given)" = given
ok "report roi with --throughput alone is a usage error" exits 2 "$zcost" report roi --throughput 10
ok "the message names the options that --throughput needs" says '--cpu-pct for roi_c, --power .* for roi_p' err
ok "report roi takes --throughput with --power alone" report roi --throughput 10 --power 50
ok "report roi names the option that roi_c needs" says 'roi_c is absent: it needs --cpu-pct' err
ok "report roi without --throughput is a usage error" exits 2 "$zcost" report roi --cpu-pct 100 --power 50
ok "the message names --throughput" says 'or --throughput for numbers' err

ok "report zerocopy exits 0" report zerocopy cap
ok "report zerocopy adds up the mapped bytes of three runs" test "$(get out zero_copy variant=mmap,side=receiver)" = 2811
ok "report zerocopy counts the copied sends" test "$(get out copied variant=mmap,side=sender)" = 600
ok "report zerocopy has the zero-copy share" near_cell out share variant=mmap,side=receiver 93.7 1e-6
ok "report zerocopy says that mmap is zero copy on the receiver" says 'mmap: the receiver is zero copy for 93.7 %' err
ok "report zerocopy notes that it counts over the whole run" says "^zcost: sends and bytes by the workload's own count: the sum over 3 whole runs, warm-up included; other figures are those of the window" err
ok "report zerocopy says that the baseline is not zero copy" says 'baseline: copied everything' err

ok "report syscalls exits 0" report syscalls cap --variant baseline --side receiver
ok "report syscalls has the documented columns in their order" test "$(head -n 1 out)" = "$(printf \
	'comm\tsyscall\tcalls\terrors\ttotal_ms\tmin_ms\tavg_ms\tmax_ms\tstddev_pct\tp50_ms\tp99_ms\tbytes_per_call\tcalls_per_mib\tns_per_kib')"
ok "report syscalls adds up the threads of one command" test "$(get out calls syscall=recvfrom)" = 4
ok "report syscalls adds up the errors" test "$(get out errors syscall=recvfrom)" = 1
ok "report syscalls has the shortest call" near_cell out min_ms syscall=recvfrom 0.1 1e-9
ok "report syscalls has the mean time of a call" near_cell out avg_ms syscall=recvfrom 0.3 1e-9
ok "report syscalls notes that a call's time includes waiting" says "a call's time runs from its entry to its return and includes waiting" err
ok "report syscalls has the longest call" near_cell out max_ms syscall=recvfrom 0.6 1e-9
ok "report syscalls merges the threads' standard error of the mean" near_cell out stddev_pct syscall=recvfrom 36.0041 1e-3
# The second of four calls is in the second bucket, [131072, 262144).
ok "report syscalls takes the median from the buckets" near_cell out p50_ms syscall=recvfrom 0.262144 1e-9
ok "report syscalls has the bytes per call" near_cell out bytes_per_call syscall=recvfrom 1000 1e-9
ok "report syscalls has the time per KiB of data" near_cell out ns_per_kib syscall=recvfrom 400 1e-6
ok "report syscalls has the calls per MiB of data" near_cell out calls_per_mib syscall=recvfrom 1.365333 1e-5
ok "a call that never returned has no times" test -z "$(get out avg_ms syscall=ioctl)"
ok "report syscalls names the calls that do not return before the window ends" says 'not returned at the window.s end: .*ioctl 1' err

ok "report runs exits 0" report runs cap
ok "report runs has a row for each side of each run" test "$(grep -c '' out)" = 15
ok "report runs lists the runs in the order of measurement" test "$(awk -F'\t' 'NR > 1 {print $1}' out | uniq | tr '\n' ' ')" = "0 1 2 3 4 5 6 "
ok "report runs --run exits 0" report runs cap --run mmap/measure-03
ok "report runs --run shows both sides of the run" test "$(grep -c mmap out)" = 2
ok "an unknown run exits 1" exits 1 "$zcost" report summary cap --run mmap/measure-09
ok "an unknown variant exits 1" exits 1 "$zcost" report summary cap --variant mmapp
ok "the message lists the capture's variants" says 'baseline, mmap' err
ok "an unknown estimator is a usage error" exits 2 "$zcost" report summary cap --estimator best
ok "a table that needs a capture refuses --perf" exits 2 "$zcost" report summary --perf nofile.data

# The run has 3 s x 1.28 GB/s = 3.84e9 bytes. cycles was counted half of the time, so 2 x 3.84e9 cycles.
mkdir counted
d=counted/runs/v/measure-01/receiver
run_json $d v measure 1 receiver tcpzc '{"name": "counters", "state": "ok", "files": ["counters.tsv"]}'
{ points 1280000000 65536 9 14
  summary receiver 0 0 0 0 1 1000000000 | sed 's/"ring_overflow"/"tcp_info":{"retransmits":3,"rtt_us":40},"ring_overflow"/'; } >$d/workload.out
printf 'event\tcpu\tvalue\tenabled_ns\trunning_ns\ncycles\t1\t3840000000\t100\t50\ninstructions\t1\t11520000000\t100\t100\nbranches\t1\t2000\t100\t100\nbranch-misses\t1\t50\t100\t100\n' >$d/counters.tsv
run_json counted/runs/v/measure-01/sender v measure 1 sender none
manifest counted v v/measure/1/ok
"$zcost" analyze counted 2>/dev/null
ok "report sizes exits 0 for a capture with an io_uring ring" report sizes counted
ok "report sizes has the ring overflows" near_cell out value name=ring_overflow 0 0
ok "report sizes has no value that an older workload does not report" test -z "$(get out value name=dropped_completions)"
ok "report counters exits 0" report counters counted
ok "report counters scales a count for multiplexing" near_cell out value name=counter:cycles 7680000000 1
ok "report counters has the cycles per byte" near_cell out value name=cycles_per_byte 2 1e-9
ok "report counters has the instructions per cycle" near_cell out value name=ipc 1.5 1e-9
ok "report counters leaves out a ratio without its parts" test -z "$(get out value name=cache_miss_pct)"
ok "report scores exits 0" report scores counted
ok "report scores has the cycles per byte" near_cell out value score=cycles_per_byte 2 1e-9
ok "report scores has the instructions per cycle" near_cell out value score=ipc 1.5 1e-9
ok "report scores has the share of mispredicted branches" near_cell out value score=branch_miss_pct 2.5 1e-9
ok "report scores says that more instructions per cycle are better" test "$(get out better score=ipc)" = higher
ok "report scores leaves out j_per_gb without a power source" test -z "$(get out value score=j_per_gb)"
ok "report scores names the option that adds a power source" says 'j_per_gb is absent: no power source: .*--power-csv' err
ok "report scores names the side without the events" says 'ipc, branch_miss_pct are absent for v sender, v total: these events were not counted' err
ok "report scores exits 0 for a capture of several passes" report scores cap
# 4 calls in 3 x 1024000 bytes
ok "report scores takes system calls per MiB from the syscalls pass" near_cell out value score=syscalls_per_mib 1.3653333333 1e-6
ok "ns_per_kib in report scores equals report summary" near_cell out value score=ns_per_kib,variant=baseline,side=receiver 400 1e-6
# The total is the baseline's 400 ns/KiB plus the sender's cost in the same repeats.
receiver=$(get out value score=ns_per_kib,variant=baseline,side=receiver)
sender=$(get out value score=ns_per_kib,variant=baseline,side=sender)
ok "the total ns_per_kib is the sum of both sides" near_cell out value score=ns_per_kib,variant=baseline,side=total \
	"$(awk -v a="$receiver" -v b="$sender" 'BEGIN { print a + b }')" 1e-3
ok "report scores --side exits 0" report scores cap --side receiver
ok "report scores --side has no total" test -z "$(get out value side=total)"
ok "report scores --estimator exits 0" report scores cap --estimator mean
ok "report scores names the estimator" says 'over the runs: mean' err
ok "report scores --power-model exits 0" report scores cap --power-model idle=100,per_cpu=100 --variant baseline
# 100 W + 0.5 CPUs x 100 W, 3 s, 3.84 GB
ok "report scores has joules per GB from the model" near_cell out value score=j_per_gb,side=receiver 117.1875 1e-6
ok "the unit of j_per_gb says that it is modelled" test "$(get out unit score=j_per_gb,side=receiver)" = "J/GB, modelled"
ok "report scores notes that j_per_gb uses a model" says 'baseline receiver, .*: j_per_gb uses MODELLED' err
ok "the total j_per_gb counts a host that both sides share once" near_cell out value score=j_per_gb,side=total 195.3125 1e-6
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
ok "report sizes exits 0 for five runs" report sizes buckets --side receiver
bucket() { # NAME COLUMN: of the receiver
	awk -F'\t' -v name="$1" -v c="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["name"] == name { print $at[c] }' out
}
ok "a bucket that only one of four runs has is 0 at the median" test "$(bucket recv_size_log2:18 value) $(bucket recv_size_log2:18 runs)" = "0 4"
ok "a bucket that only one of four runs has reaches that run's count" test "$(bucket recv_size_log2:18 value_hi)" = 1
ok "a bucket's share counts the runs without the bucket as 0" test "$(bucket recv_pct_log2:18 value) $(bucket recv_pct_log2:18 value_hi) $(bucket recv_pct_log2:18 runs)" = "0 20 4"
ok "a bucket of every run has the runs' median" test "$(bucket recv_size_log2:16 value) $(bucket recv_size_log2:16 runs)" = "5 4"
ok "buckets of a workload histogram count the runs without the bucket as 0" test "$(bucket hist:frags:log2:3 value) $(bucket hist:frags:log2:3 value_hi) $(bucket hist:frags:log2:3 runs)" = "0 6 4"
ok "a run without the histogram does not count" test "$(bucket hist:frags:count value) $(bucket hist:frags:count runs)" = "2 4"

# The counters are the same, but the workload does not report its bytes.
cp -r counted wordless
rm wordless/zcost.db
sed -i 's/"units": "tcpzc"/"units": "none"/' wordless/runs/v/measure-01/receiver/run.json
"$zcost" analyze wordless 2>/dev/null
ok "report scores exits 0 when the workload does not report its bytes" report scores wordless
ok "report scores says that scores per byte need the workload's bytes" says \
	'cycles_per_byte, instructions_per_byte are absent for v receiver, v total: the workload did not report its bytes' err
ok "report scores has the scores that need no bytes" near_cell out value score=ipc,side=receiver 1.5 1e-9
ok "report tcp --by name exits 0" report tcp counted --by name
ok "report tcp has the retransmits per GB" near_cell out value name=retransmits_per_gb 3 1e-9
ok "report tcp notes that retransmits count over the whole run" says 'tcp_retransmits, retransmits_per_gb: .*over its whole run' err
ok "report tcp exits 0 without a socket collector" report tcp counted
ok "report tcp labels the workload's own figures" near_cell out retrans_per_gb evidence=workload 3 1e-9
ok "report tcp with an unknown key is a usage error" exits 2 "$zcost" report tcp counted --by thread
ok "report sizes exits 0 for a run with a receive histogram" report sizes counted
ok "report sizes has the buckets of the receive histogram" near_cell out value name=recv_size_log2:16 5 1e-9
ok "report sizes notes that it counts over the whole run" says 'sizes: .*over its whole run, warm-up included; other figures are those of the window' err
ok "a table without measurements exits 0" report softnet counted
ok "a table without measurements says that no run measured it" says 'no run measured this' err

rm cap/runs/mmap/measure-02/receiver/proc_stat.snap
ok "analyze exits 4 when a file of a run is missing" exits 4 "$zcost" analyze cap
ok "report summary exits 4 when a file of a run was missing" exits 4 "$zcost" report summary cap
ok "report summary names the missing file" says 'lossy: mmap receiver \([0-9]+ of [0-9]+ runs\): cpu: the file proc_stat.snap is missing' out
ok "report summary --variant exits 0 for a variant without losses" exits 0 "$zcost" report summary cap --variant baseline
echo >>cap/manifest.json
ok "report exits 1 when the capture changed after its analysis" exits 1 "$zcost" report summary cap
ok "the message says to run zcost analyze again" says "run 'zcost analyze cap' again" err

. "$tests/golden.sh"
golden_captures doubled/zcost.db metered/zcost.db walls/zcost.db packages/zcost.db
done_testing
