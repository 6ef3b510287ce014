#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Checks the precision of the window and the warnings about stalls, stolen time, throttling and windows that are
# apart. The expected values are worked out by hand.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"

throttle_collector='{"name": "throttle", "state": "ok", "why": "", "files": ["throttle.snap"], "on_after_ns": 2500000, "off_after_ns": 40000}'
threads_collector='{"name": "threads", "state": "ok", "why": "", "files": [], "read_before_ns": 40000000, "read_after_ns": 900000}'
for r in 1 2; do
	measure_run cap base $r receiver 1000000000 150
	measure_run cap base $r sender 1000000000 150
done
manifest cap base base/measure/1/ok base/measure/2/ok

d=cap/runs/base/measure-01/receiver
# No byte moves from 10.5 to 11.2 s. Points are missing for another 0.4 s, but bytes move meanwhile.
awk 'BEGIN { for (t = 90; t <= 140; t++) {
	b = t <= 105 ? (t - 90) / 10 : t <= 112 ? 1.5 : 1.5 + (t - 112) / 10
	if (t > 120 && t < 124) continue
	printf "{\"type\":\"point\",\"t_ns\":%d00000000,\"bytes\":%.0f,\"messages\":1}\n", t, b * 1e9 } }' >"$d/workload.out"
run_json "$d" base measure 1 receiver tcpzc "$cpu_collector, $throttle_collector, $threads_collector"
sed -i 's/"clock"/"late_ns": 7000, "clock"/' "$d/run.json"
{
	printf 'cpu1 core_throttle_count 7\ncpu1 package_throttle_count 5\n/a/b nr_throttled 1\n/a/b throttled_usec 100\n/a nr_throttled 9\n/a throttled_usec 5\n' | snap 10000000000
	printf 'cpu1 core_throttle_count 9\ncpu1 package_throttle_count 4\n/a/b nr_throttled 4\n/a/b throttled_usec 500100\n/a nr_throttled 9\n/a throttled_usec 5\n' | snap 13000000000
} >"$d/throttle.snap"
d=cap/runs/base/measure-01/sender
sed -i 's/"start_ns": 10000000000, "end_ns": 13000000000/"start_ns": 10000000000, "end_ns": 13200000000/' "$d/run.json"
d=cap/runs/base/measure-02/receiver
{ for s in 0 3; do stat_line 1 0 0 $((20 * s)) $((70 * s)) 0 0 0 $((10 * s)) | snap $(((10 + s) * 1000000000)); done; } >"$d/proc_stat.snap"

"$zcost" analyze cap >log 2>&1
db=cap/zcost.db
is() { [ "$1" = "$2" ] || { echo "got '$1', expected '$2'"; return 1; }; }
of() { sqlite3 $db "SELECT round(value, 6) FROM metric JOIN run ON run.id = metric.run WHERE variant = 'base' AND side = '$1' AND repeat = $2 AND name = '$3'"; }

ok "stalled_s is the time without progress, 10.5 to 11.2 s" is "$(of receiver 1 stalled_s)" 0.7
ok "stalled_s is 0 for a steady run" is "$(of receiver 2 stalled_s)" 0.0
ok "the window's error is that of the slowest collector" is "$(of receiver 1 window_start_error_us) $(of receiver 1 window_end_error_us)" "2500.0 40.0"
ok "the store has the delay of the window's start" is "$(of receiver 1 window_late_us)" 7.0
ok "a run without collector delays has no window error" is "$(of receiver 2 window_start_error_us)" ""
ok "the store has the reading that is farthest from the window" is "$(of receiver 1 window_first_reading_us) $(of receiver 1 window_last_reading_us)" "40000.0 900.0"
ok "throttled_heat counts cores and packages, not a counter that went backwards" is "$(of receiver 1 throttled_heat)" 2.0
ok "throttled_quota is that of the most throttled control group" is "$(of receiver 1 throttled_quota) $(of receiver 1 throttled_quota_s)" "3.0 0.5"
ok "both sides have the difference between their windows" is "$(of receiver 1 window_skew_us) $(of sender 1 window_skew_us)" "200000.0 200000.0"
ok "the difference between equal windows is 0" is "$(of receiver 2 window_skew_us)" 0.0
"$zcost" report runs cap --verbose --format tsv >runs 2>notes
row() { awk -F'\t' -v r="$1" -v s="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$at["repeat"] == r && $at["side"] == s { print $at["window_error_us"], $at["readings_us"], $at["skew_us"], $at["stalled_s"], $at["steal_pct"], $at["throttled"] }' runs; }
ok "report runs has the window's errors and the throttling" is "$(row 1 receiver)" "2500 40000 200000 0.7 0 3"
ok "report runs has the stolen time" is "$(row 2 receiver)" "  0 0 10 "
ok "report runs warns of a stall" says 'warning: .*moved less than a tenth of its usual rate for 0\.70 s .* 0\.50 s after' notes
ok "report runs warns of stolen time" says 'warning: .*the hypervisor took 10\.0 % of the side' notes
ok "report runs warns of throttling by heat" says 'warning: .*heat throttled the side.s CPUs 2 times' notes
ok "report runs warns of throttling by a quota" says 'warning: .*quota .* 3 times, 0\.50 s in all' notes
ok "report runs warns of sides' windows that are more than 5 % apart" says "warning: base receiver, base sender .*: the windows of the two sides are 200\.0 ms apart, 6\.7 % of the shorter \
window of 3\.00 s; above 5 % the figures of the two sides describe different times; measure this run again" notes
ok "report runs notes a collector that cut the window's start late" says 'the window.s start is accurate to 2\.5 ms, because throttle was late' notes
ok "report runs notes a reading that is 1.3 % of the window away from its start" \
	says '^zcost: base .*threads: the reading nearest to the window.s start is 40\.0 ms away' notes
sed -i 's/13200000000/13149000000/' cap/runs/base/measure-01/sender/run.json
"$zcost" analyze cap >log 2>&1
ok "report runs warns of sides' windows that are 4.7 to 5.0 % apart" sh -c "'$zcost' report runs cap --verbose --format tsv 2>&1 |
	grep 'warning: .*windows of the two sides are 149.0 ms apart, 4.7 to 5.0 % of their 3.00 to 3.15 s'"
ok "report summary warns of a stall" sh -c "'$zcost' report summary cap 2>&1 | grep -q 'less than a tenth'"

# Measures the cost of a pass: six measured runs of 10 to 10.5 GB/s, six profiled runs at nine tenths of that.
from=cost/runs/base
for r in 1 2 3 4 5 6; do
	measure_run cost base $r receiver $((10000000000 + (r - 1) * 100000000)) 150
	measure_run cost base $r sender 10000000000 150
	for side in receiver sender; do
		mkdir -p $from/profile-0$r
		cp -r $from/measure-0$r/$side $from/profile-0$r/
		points $((9000000000 + (r - 1) * 90000000)) 65536 9 14 >$from/profile-0$r/$side/workload.out
		sed -i 's/"pass": "measure"/"pass": "profile"/' $from/profile-0$r/$side/run.json
	done
done
manifest cost base base/measure/1/ok base/measure/2/ok base/measure/3/ok base/measure/4/ok base/measure/5/ok base/measure/6/ok \
	base/profile/1/ok base/profile/2/ok base/profile/3/ok base/profile/4/ok base/profile/5/ok base/profile/6/ok
"$zcost" analyze cost >log 2>&1
"$zcost" report passes cost --side receiver --format tsv >passes 2>notes
cell() { awk -F'\t' -v p="$1" -v c="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["pass"] == p { printf "%.1f\n", $at[c] }' passes; }
ok "report passes has the throughput that profiling costs" is "$(cell profile cost_pct)" 10.0
ok "report passes has an interval of the cost" sh -c "test '$(cell profile cost_lo)' '!=' '$(cell profile cost_hi)'"
ok "report passes has the throughput of each pass" is "$(cell measure throughput_gbps) $(cell profile throughput_gbps)" "82.0 73.8"
ok "report summary names the cost of profiling" sh -c "'$zcost' report summary cost 2>&1 | grep -q 'on the worst side: profile: 10.0 % (see'"
rm -r $from/profile-0[2-6]
manifest cost base base/measure/1/ok base/measure/2/ok base/profile/1/ok
"$zcost" analyze cost >log 2>&1
ok "report summary does not know the cost of one run" sh -c "'$zcost' report summary cost 2>&1 | grep -q 'worst side: profile: not known (n = 1) (see'"

# Six profiled runs are as fast as the measured runs, so the interval holds 0. Later they are a tenth faster.
for r in 1 2 3 4 5 6; do
	for side in receiver sender; do
		mkdir -p $from/profile-0$r
		cp -r $from/measure-0$r/$side $from/profile-0$r/
		sed -i 's/"pass": "measure"/"pass": "profile"/' $from/profile-0$r/$side/run.json
	done
done
manifest cost base base/measure/1/ok base/measure/2/ok base/measure/3/ok base/measure/4/ok base/measure/5/ok base/measure/6/ok \
	base/profile/1/ok base/profile/2/ok base/profile/3/ok base/profile/4/ok base/profile/5/ok base/profile/6/ok
"$zcost" analyze cost >log 2>&1
ok "report summary does not call an insignificant cost 0.0 %" sh -c "'$zcost' report summary cost 2>&1 | grep -q 'worst side: profile: no measurable loss (n = 6) (see'"
sqlite3 cost/zcost.db "UPDATE metric SET value = 1.1 * value WHERE name = 'throughput' AND run IN (SELECT id FROM run WHERE pass = 'profile')"
ok "report summary shows a significant gain as a negative cost" sh -c "'$zcost' report summary cost 2>&1 | grep -q 'worst side: profile: -10.0 % (see'"
# The sender is a fifth slower, and six runs show it. The receiver has one profiled run.
sqlite3 cost/zcost.db "UPDATE metric SET value = 0.8 / 1.1 * value WHERE name = 'throughput' AND run IN
	(SELECT id FROM run WHERE pass = 'profile' AND side = 'sender');
	UPDATE metric SET value = 0.5 * value WHERE name = 'throughput' AND run IN
	(SELECT id FROM run WHERE pass = 'profile' AND side = 'receiver');
	DELETE FROM metric WHERE name = 'throughput' AND run IN (SELECT id FROM run WHERE pass = 'profile' AND side = 'receiver' AND repeat > 1)"
ok "report summary prefers a side with a significant cost to a side with one run" sh -c "'$zcost' report summary cost 2>&1 | grep -q 'worst side: profile: 20.0 % (see'"

# One of six runs of the sender has figures.
sqlite3 cost/zcost.db "DELETE FROM metric WHERE name IN ('throughput', 'rate_kib', 'cpu_pct') AND run IN
	(SELECT id FROM run WHERE side = 'sender' AND repeat > 1 AND NOT (name = 'cpu_pct' AND repeat = 2))"
runs_of() { "$zcost" report summary cost --format tsv 2>notes |
	awk -F'\t' -v s=$1 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["side"] == s { print $at["runs"] }'; }
ok "the number of runs counts the runs with a value" is "$(runs_of receiver) $(runs_of sender)" "6 2"
ok "report summary notes how many runs have each value" says 'base sender: runs with a value: throughput_gbps 1, cpu_pct 2, ns_per_kib 1, of 6' notes
ok "report summary does not note the runs of a side with all values" sh -c "! grep -q 'base receiver: runs that have it' notes"
sqlite3 cost/zcost.db "UPDATE run SET status = 'failed'"
ok "report summary says that no run can be used" sh -c "'$zcost' report summary cost >out 2>&1; grep -q 'base receiver, base sender: no run can be used' out"
ok "report summary does not count zero runs as one run" sh -c "! grep -q 'one run each' out"

. "$tests/golden.sh"
golden_captures cost/zcost.db
done_testing
