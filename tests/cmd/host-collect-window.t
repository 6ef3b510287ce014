#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The window's edges: how far apart the collectors cut, that perf is on before and off after, and what held the CPUs back.
. "$(dirname "$0")/../lib.sh"

collector() { # NAME JQ
	jq -r ".collectors[] | select(.name == \"$1\") | $2" r/run.json
}
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
brackets() { # FILE: two readings at least, the window between the first after the rehearsal and the last
	sed -n 's/^@\([0-9]*\) .*/\1/p' r/$1 | awk -v a="$(jq .window.start_ns r/run.json)" -v b="$(jq .window.end_ns r/run.json)" '
		$1 <= a { before = $1 } $1 >= b { after = $1 } END { exit !(before && after && a - before < 1e8 && after - b < 1e8) }'
}
edges() { # the CPU's heat is read at both ends; readings with times are near the window
	echo 7 >$heat/core_throttle_count
	exits 0 "$zcost" collect -o r --cpus 0 --collect cpu,softnet,throttle,null --warmup 0.1 --duration 0.5 --grace 0 -- \
		sh -c "sleep 0.3; echo 19 >$heat/core_throttle_count; sleep 30" &&
		[ "$(sed -n 's/^cpu0 core_throttle_count //p' r/throttle.snap | tr '\n' ' ')" = "7 19 " ] &&
		holds "$dated | all(.read_before_ns < 1e8 and .read_after_ns < 1e8)" && brackets proc_stat.snap && brackets softnet.snap
}
steady "a run" edges
ok "a total says when it was on and off" holds '[.collectors[] | select(.name == "throttle") | .on_after_ns, .off_after_ns] | length == 2 and all(. >= 0 and . < 1e9)'
ok "readings with times are outside of the window" holds "$dated | length == 2 and all(.read_before_ns > 0 and .read_after_ns > 0 and (has(\"on_after_ns\") | not))"
ok "one after the other" test "$(collector softnet .read_before_ns)" -ge "$(collector cpu .read_before_ns)"
ok "how late the window opened" holds '.window.late_ns >= 0'
rm -r sys
mkdir sys
ok "no counter of it is no failure" exits 0 "$zcost" collect -o r --cpus 0 --pass measure --duration 0.2 --grace 0 -- sleep 1
[ "$(collector throttle .state)" = ok ] || # a quota can be anywhere
	ok "but said" says 'no thermal_throttle' r/run.json
unset ZCOST_SYSFS

# A group of its own with a fifth of a CPU.
group=
cleanup() { [ -z "$group" ] || rmdir "$group" 2>/dev/null; }
for root in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/cpu /sys/fs/cgroup/cpu,cpuacct; do
	mkdir "$root/zcost-test-$$" 2>/dev/null || continue
	if [ -e "$root/zcost-test-$$/cpu.stat" ] && { echo 20000 2>/dev/null >"$root/zcost-test-$$/cpu.cfs_quota_us" ||
		echo "20000 100000" 2>/dev/null >"$root/zcost-test-$$/cpu.max"; }; then
		group=$root/zcost-test-$$
		break
	fi
	rmdir "$root/zcost-test-$$"
done
if [ -n "$group" ]; then
	ok "a workload that goes into a group" exits 0 "$zcost" collect -o r --collect throttle --warmup 0.3 --duration 0.7 --grace 0 -- \
		sh -c "echo \$\$ >'$group/cgroup.procs'; while :; do :; done"
	ok "is counted as that group's" sh -c "awk '/ nr_throttled / { n[i++] = \$3 } END { exit !(n[1] > n[0]) }' r/throttle.snap"
	rmdir "$group"
	group=
else
	skip "a workload that goes into a group" "no CPU quota can be set here"
	skip "is counted as that group's" "no CPU quota can be set here"
fi

if command -v perf >/dev/null && [ "$(id -u)" = 0 ]; then
	steady "perf is on before the window and off after it" sh -c "
		'$zcost' collect -o r --pass profile --collect perf,null --warmup 0.2 --duration 0.5 --grace 0 -- sh -c 'while :; do :; done' &&
		perf script -F time -i r/perf.data 2>/dev/null | tr -d : | awk -v a=\$(jq .window.start_ns r/run.json) \
			-v b=\$(jq .window.end_ns r/run.json) '{ t = \$1 * 1e9 } NR == 1 { first = t } END { exit !(first <= a + 1e7 && t >= b - 1e7) }'"
	ok "its records carry their own times" test "$(collector perf 'has("on_after_ns")')" = false
else
	skip "perf is on before the window and off after it" "no perf, or no root"
	skip "its records carry their own times" "no perf, or no root"
fi

done_testing
