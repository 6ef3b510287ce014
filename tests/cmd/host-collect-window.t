#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The window's edges: the distance between the collectors' readings, perf's start and end, and CPU throttling.
. "$(dirname "$0")/../lib.sh"

holds() {
	jq -e "$1" r/run.json >/dev/null || { cat r/run.json; return 1; }
}

heat=sys/devices/system/cpu/cpu0/thermal_throttle
mkdir -p $heat
for f in core_throttle_count core_throttle_total_time_ms package_throttle_count package_throttle_total_time_ms; do
	echo 7 >$heat/$f
done
export ZCOST_SYSFS="$PWD/sys"
dated='[.collectors[] | select(.name == "cpu" or .name == "softnet")]'
brackets() { # brackets FILE: it has a reading within 0.1 s before the window and one within 0.1 s after it
	sed -n 's/^@\([0-9]*\) .*/\1/p' r/$1 | awk -v a="$(jq .window.start_ns r/run.json)" -v b="$(jq .window.end_ns r/run.json)" '
		$1 <= a { before = $1 } $1 >= b { after = $1 } END { exit !(before && after && a - before < 1e8 && after - b < 1e8) }'
}
edges() { # throttle reads at both ends; readings with timestamps are near the window
	echo 7 >$heat/core_throttle_count
	exits 0 "$zcost" collect -o r --cpus 0 --collect cpu,softnet,throttle,null --warmup 0.1 --duration 0.5 --grace 0 -- \
		sh -c "sleep 0.3; echo 19 >$heat/core_throttle_count; sleep 30" &&
		[ "$(sed -n 's/^cpu0 core_throttle_count //p' r/throttle.snap | tr '\n' ' ')" = "7 19 " ] &&
		holds "$dated | all(.read_before_ns < 1e8 and .read_after_ns < 1e8)" &&
		holds '[.collectors[] | select(.name == "throttle") | .on_after_ns, .off_after_ns] | length == 2 and all(. >= 0 and . < 1e9)' && brackets proc_stat.snap && brackets softnet.snap
}
steady "collectors read at both ends of the window" edges
ok "readings with timestamps are outside of the window" holds "$dated | length == 2 and all(.read_before_ns > 0 and .read_after_ns > 0 and (has(\"on_after_ns\") | not))"
ok "softnet reads before cpu at the window's start" test "$(collector softnet .read_before_ns)" -ge "$(collector cpu .read_before_ns)"
ok "run.json has the delay of the window's opening" holds '.window.late_ns >= 0'
rm -r sys
mkdir sys
ok "collect --pass measure exits 0 without a throttle counter" exits 0 "$zcost" collect -o r --cpus 0 --pass measure --duration 0.2 --grace 0 -- sleep 1
[ "$(collector throttle .state)" = ok ] || # a CPU quota makes the collector ok
	ok "run.json notes the missing throttle counters" says 'no thermal_throttle' r/run.json
unset ZCOST_SYSFS

# A new cgroup with a twentieth of a CPU.
group=
cleanup() { [ -z "$group" ] || rmdir "$group" 2>/dev/null; }
for root in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/cpu /sys/fs/cgroup/cpu,cpuacct; do
	mkdir "$root/zcost-test-$$" 2>/dev/null || continue
	if [ -e "$root/zcost-test-$$/cpu.stat" ] && { echo 5000 2>/dev/null >"$root/zcost-test-$$/cpu.cfs_quota_us" ||
		echo "5000 100000" 2>/dev/null >"$root/zcost-test-$$/cpu.max"; }; then
		group=$root/zcost-test-$$
		break
	fi
	rmdir "$root/zcost-test-$$"
done
if [ -n "$group" ]; then
	throttled() {
		exits 0 "$zcost" collect -o r --collect throttle --warmup $((again - 1)).3 --duration $((again - 1)).5 --grace 0 -- \
			sh -c "echo \$\$ >'$group/cgroup.procs'; while :; do :; done" &&
			awk '/ nr_throttled / { n[i++] = $3 } END { exit !(n[1] > n[0]) }' r/throttle.snap
	}
	steady "throttle counts the cgroup that the workload enters" throttled
	rmdir "$group"
	group=
else
	skip "throttle counts the cgroup that the workload enters" "no CPU quota can be set here"
fi

if command -v perf >/dev/null && [ "$(id -u)" = 0 ]; then
	# Without a PMU perf samples in parts of the window.
	steady "perf records from before the window to after it, or in parts of it" sh -c "
		'$zcost' collect -o r --pass profile --collect perf,null --warmup 0.2 --duration 0.5 --grace 0 -- sh -c 'while :; do :; done' &&
		perf script -F time -i r/perf.data 2>/dev/null | tr -d : | awk -v a=\$(jq .window.start_ns r/run.json) \
			-v b=\$(jq .window.end_ns r/run.json) -v parts=\$(grep -c . r/perf_parts.tsv) '{ t = \$1 * 1e9 } NR == 1 { first = t }
			END { exit parts > 0 ? !(parts > 2 && first >= a && t <= b + 1e7) : !(first <= a + 1e7 && t >= b - 1e7) }'"
	ok "perf has no on and off times, because its records have timestamps" test "$(collector perf 'has("on_after_ns")')" = false
else
	skip "perf records from before the window to after it, or in parts of it" "no perf, or no root"
fi

done_testing
