#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Idle states from fake /sys trees: a server's four, a CPU that vanishes, no driver; then this host's states.
. "$(dirname "$0")/../lib.sh"

root=$PWD/sys/devices/system/cpu
cpus=$(cat /sys/devices/system/cpu/online)
cpu=${cpus%%[-,]*} # the first online CPU: the fake tree has it and CPU 4000
state() { # state CPU NUMBER NAME USAGE TIME
	mkdir -p "$root/cpu$1/cpuidle/state$2"
	echo "$3" >"$root/cpu$1/cpuidle/state$2/name"
	echo "$4" >"$root/cpu$1/cpuidle/state$2/usage"
	echo "$5" >"$root/cpu$1/cpuidle/state$2/time"
}
collect() { "$zcost" collect -o r --collect idle --cpus "$cpu" "$@"; }
# rows STATE: "entries us" of each reading that differs from the one before. A busy machine may need a second for a
# run and then has one more reading.
rows() {
	awk -F'\t' -v c="$cpu" -v s="$1" '$1 == c && $3 == s && $4 " " $5 != last { last = $4 " " $5; printf "%s%s", sep, last; sep = ", " }
		END { print "" }' r/idle.snap
}

state "$cpu" 0 POLL 10 200
state "$cpu" 1 C1 100 10000
state "$cpu" 2 C1E 50 20000
state "$cpu" 3 C6 7 18446744073709000000
state 4000 0 POLL 1 1
echo intel_idle | tee "$(mkdir -p "$root/cpuidle" && echo "$root/cpuidle")/current_driver" >/dev/null
ZCOST_SYSFS=$PWD/sys
export ZCOST_SYSFS

ok "collect reads a server's four idle states" exits 0 collect -- sh -c "sleep 0.3
	echo 110 >$root/cpu$cpu/cpuidle/state1/usage; echo 12000 >$root/cpu$cpu/cpuidle/state1/time"
ok "idle.snap has a state's counters before and after a change" test "$(rows C1)" = "100 10000, 110 12000"
ok "idle.snap has the counters of an unchanged state" test "$(rows C1E)" = "50 20000"
ok "idle.snap has a counter near 2^64 exactly" test "$(rows C6)" = "7 18446744073709000000"
ok "idle.snap has a reading at each end of the window" test "$(grep -c '^@' r/idle.snap)" -ge 2
ok "idle.snap has no CPU that is not measured" test "$(cut -f 1 r/idle.snap | grep -v '^@' | sort -u)" = "$cpu"
ok "run.json has the cost of a reading" test "$(collector idle .info.reading_us)" -ge 0
ok "analyze accepts the idle states" exits 0 "$zcost" analyze r
# The window gets the part of a change that matches its part of the time between two readings.
parts=$(sed -n 's/^@\([0-9]*\).*/\1/p' r/idle.snap | awk -v from="$(jq .window.start_ns r/run.json)" \
	-v to="$(jq .window.end_ns r/run.json)" 'NR > 1 { print 10 * ((t = $1 < to ? $1 : to) - (last > from ? last : from)) / ($1 - last) } { last = $1 }')
entries() {
	for part in $parts; do
		near "$(figure 'cstate_entries:1 C1')" "$part" 0.001 && return
	done
	return 1
}
ok "the store has the entries of a state within the window" entries

ln -sf /proc/self/mem "$root/cpu$cpu/cpuidle/state1/name" # a read of it at 0 fails with EIO
ok "collect exits 4 when the name of an idle state cannot be read" exits 4 collect -- true
ok "the warning names the file of the state's name" says 'state1/name: .*Input/output error' err
echo C1 >"$root/cpu$cpu/cpuidle/new" && mv -f "$root/cpu$cpu/cpuidle/new" "$root/cpu$cpu/cpuidle/state1/name"

ok "collect exits 4 when a CPU's idle states vanish" exits 4 collect --duration 2.5 -- sh -c \
	"sleep 0.4; mv $root/cpu$cpu/cpuidle $root/gone; for f in $root/gone/*/*; do : >\$f; done; sleep 2"
ok "the warning reports that no CPU's idle states are readable" says 'no CPU.s idle states can be read any more' err
ok "the readings before the states vanish are in idle.snap" test -n "$(rows C1)"
rm -rf "$root/cpu$cpu"

ok "collect exits 4 when no CPU has idle states" exits 4 collect -- true
ok "the warning names the driver that reports no states" says 'the cpuidle driver intel_idle reports no states' err
ok "run.json marks idle as unsupported without a driver" test "$(collector idle .state)" = unsupported
ok "collect --pass measure exits 0 without a cpuidle driver" exits 0 "$zcost" collect -o r --pass measure -- true
unset ZCOST_SYSFS

if [ -d "/sys/devices/system/cpu/cpu$cpu/cpuidle/state0" ]; then
	ok "collect reads this host's idle states" exits 0 collect -- sleep 3.2
	ok "idle.snap has the name of this host's first state" test "$(sed -n "s/^$cpu	0	\([^	]*\)	.*/\1/p" r/idle.snap | head -n 1)" = \
		"$(cat /sys/devices/system/cpu/cpu"$cpu"/cpuidle/state0/name)"
	ok "idle.snap has at least three readings of this host" test "$(grep -c "^$cpu	0	" r/idle.snap)" -ge 3
	ok "analyze accepts this host's idle states" exits 0 "$zcost" analyze r
	ok "the shares of this host's idle states sum to at most 100 %" sh -c "sqlite3 r/zcost.db \"SELECT SUM(value) FROM metric WHERE
		name = 'cstate_pct' AND cpu = $cpu\" | awk '{ exit !(\$1 >= 0 && \$1 <= 100.5) }'"
else
	skip "collect reads this host's idle states" "no cpuidle driver here"
fi

done_testing
