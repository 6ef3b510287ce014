#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Idle states out of recorded /sys trees: a server's four, a CPU that goes, no driver; then this host's own.
. "$(dirname "$0")/../lib.sh"

root=$PWD/sys/devices/system/cpu
cpus=$(cat /sys/devices/system/cpu/online)
cpu=${cpus%%[-,]*} # the first that is online: the tree has it and a far one
state() { # state CPU NUMBER NAME USAGE TIME
	mkdir -p "$root/cpu$1/cpuidle/state$2"
	echo "$3" >"$root/cpu$1/cpuidle/state$2/name"
	echo "$4" >"$root/cpu$1/cpuidle/state$2/usage"
	echo "$5" >"$root/cpu$1/cpuidle/state$2/time"
}
collect() { "$zcost" collect -o r --collect idle --cpus "$cpu" "$@"; }
# rows STATE: "entries us" of all readings that are not as the one before: a busy machine may need a second for a run,
# and then has one more
rows() {
	awk -F'\t' -v c="$cpu" -v s="$1" '$1 == c && $3 == s && $4 " " $5 != last { last = $4 " " $5; printf "%s%s", sep, last; sep = ", " }
		END { print "" }' r/idle.snap
}
info() { jq -r ".collectors[0]$1" r/run.json; }
metric() { sqlite3 r/zcost.db "SELECT value FROM metric WHERE name = '$1'"; }

state "$cpu" 0 POLL 10 200
state "$cpu" 1 C1 100 10000
state "$cpu" 2 C1E 50 20000
state "$cpu" 3 C6 7 18446744073709000000
state 4000 0 POLL 1 1
echo intel_idle | tee "$(mkdir -p "$root/cpuidle" && echo "$root/cpuidle")/current_driver" >/dev/null
ZCOST_SYSFS=$PWD/sys
export ZCOST_SYSFS

ok "a server's states" exits 0 collect -- sh -c "sleep 0.3
	echo 110 >$root/cpu$cpu/cpuidle/state1/usage; echo 12000 >$root/cpu$cpu/cpuidle/state1/time"
ok "as they are at both ends" test "$(rows C1)" = "100 10000, 110 12000"
ok "an unchanged one" test "$(rows C1E)" = "50 20000"
ok "as large as they get" test "$(rows C6)" = "7 18446744073709000000"
ok "before the window and after it" test "$(grep -c '^@' r/idle.snap)" -ge 2
ok "no other CPU's" test "$(cut -f 1 r/idle.snap | grep -v '^@' | sort -u)" = "$cpu"
ok "what a reading cost" test "$(info .info.reading_us)" -ge 0
ok "analyzed" exits 0 "$zcost" analyze r
# What changes between two readings belongs to the window by the part of the time between them that is in it.
parts=$(sed -n 's/^@\([0-9]*\).*/\1/p' r/idle.snap | awk -v from="$(jq .window.start_ns r/run.json)" \
	-v to="$(jq .window.end_ns r/run.json)" 'NR > 1 { print 10 * ((t = $1 < to ? $1 : to) - (last > from ? last : from)) / ($1 - last) } { last = $1 }')
entries() {
	for part in $parts; do
		near "$(metric 'cstate_entries:1 C1')" "$part" 0.001 && return
	done
	return 1
}
ok "entries" entries

ok "a state that vanishes, with its CPU" exits 4 collect --duration 2.5 -- sh -c \
	"sleep 0.4; mv $root/cpu$cpu/cpuidle $root/gone; for f in $root/gone/*/*; do : >\$f; done; sleep 2"
ok "is said" says 'the idle states of no CPU can be read any more' err
ok "what was read is kept" test -n "$(rows C1)"
rm -rf "$root/cpu$cpu"

ok "states of none of the CPUs" exits 4 collect -- true
ok "name the driver" says 'the cpuidle driver intel_idle reports no states' err
echo none >"$root/cpuidle/current_driver"
ok "no driver" exits 4 collect -- true
ok "why, and what to do" says 'no cpuidle driver in use: in a virtual machine .*cpuidle.off=1' err
ok "unsupported" test "$(info .state)" = unsupported
ok "is no loss where it is only usual" exits 0 "$zcost" collect -o r --pass measure -- true
unset ZCOST_SYSFS

if [ -d "/sys/devices/system/cpu/cpu$cpu/cpuidle/state0" ]; then
	ok "this host" exits 0 collect -- sleep 3.2
	ok "its states" test "$(sed -n "s/^$cpu	0	\([^	]*\)	.*/\1/p" r/idle.snap | head -n 1)" = \
		"$(cat /sys/devices/system/cpu/cpu"$cpu"/cpuidle/state0/name)"
	ok "three readings" test "$(grep -c "^$cpu	0	" r/idle.snap)" -ge 3
	ok "analyzed" exits 0 "$zcost" analyze r
	ok "shares of the CPU's time" sh -c "sqlite3 r/zcost.db \"SELECT SUM(value) FROM metric WHERE
		name LIKE 'cstate_pct:%:cpu$cpu'\" | awk '{ exit !(\$1 >= 0 && \$1 <= 100.5) }'"
else
	skip "this host's own states" "no cpuidle driver here"
fi

done_testing
