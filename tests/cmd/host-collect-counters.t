#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The collector of counters on this host: software events, groups, a PMU of sysfs, tracepoints; beside perf stat.
. "$(dirname "$0")/../lib.sh"

perf stat -a -e cpu-clock true 2>/dev/null || skip_all "perf_event_open on whole CPUs is not allowed here"

collect() {
	"$zcost" collect -o r --collect counters "$@"
}
# rows EVENT COLUMN: of every CPU
rows() {
	awk -F'\t' -v e="$1" -v want="$2" 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		$1 == e { print $c[want] }' r/counters.tsv
}
sum() { # sum EVENT
	rows "$1" value | awk '{ s += $1 } END { printf "%.0f\n", s }'
}
refuses() { # refuses LIST PATTERN: before anything is started
	rm -rf r
	exits 2 "$zcost" collect -o r --collect counters --events "$1" -- touch ran && says "$2" err && [ ! -e ran ]
}

ok "the usual events" exits 0 collect -- sleep 0.2
ok "a row per CPU" test "$(rows cpu-clock cpu | wc -l)" = "$(getconf _NPROCESSORS_ONLN)"
ok "in groups, where the host has them" sh -c "grep -q '^cycles.*not-supported\$' r/counters.tsv ||
	awk -F'\t' '\$1 == \"cycles\" || \$1 == \"instructions\" { g[\$6]++ } END { for (i in g) n++; exit n != 1 }' r/counters.tsv"
ok "the clock is in ns" test "$(rows cpu-clock unit | head -n 1)" = ns
ok "read in a table" sh -c "'$zcost' analyze r >/dev/null 2>&1; '$zcost' report counters r | grep -q 'counter:cpu-clock'"

# A load whose faults are known, at least: 20000 small pages written, twice. The group counts them at the same time.
faults='{page-faults,minor-faults,major-faults,context-switches},cpu-clock'
touch=$build/tests/tools/calls
echo "'$touch' touch 20000; '$touch' touch 20000" >load.sh
ok "events of one's own" exits 0 collect --events "$faults" -- sh -c 'sleep 0.2; sh load.sh'
ok "are those counted" test "$(sed 1d r/counters.tsv | cut -f 1 | sort -u | tr '\n' ' ')" = \
	"context-switches cpu-clock major-faults minor-faults page-faults "
ok "all the load's faults" test "$(sum page-faults)" -ge 40000
ok "the same in both counters of the group" sh -c "awk -F'\t' '\$1 == \"page-faults\" || \$1 == \"minor-faults\" {
	t[\$2] = t[\$2] \" \" \$4 \"/\" \$5 } END { for (i in t) { split(t[i], a, \" \"); if (a[1] != a[2]) exit 1 } }' r/counters.tsv"
ok "no fault is missing in one of them" near "$(sum page-faults)" "$(($(sum minor-faults) + $(sum major-faults)))" 2000
ok "a group has a number, an event by itself has 0" test "$(rows page-faults group | sort -u)$(rows cpu-clock group | sort -u)" = 10

# perf stat inside our window: it cannot count more than we do, and not much less.
beside() { # beside EVENT: perf's figure into $its, ours into $ours
	its=$(awk -F, -v e="$1" '$3 == e { printf "%.0f\n", $1 * ($2 == "msec" ? 1e6 : 1) }' ps.csv)
	ours=$(sum "$1")
}
between() { # between EVENT: its <= ours <= 4 x its and a bit
	beside "$1"
	awk -v its="$its" -v ours="$ours" -v name="$1" -v slack="$2" 'BEGIN {
		if (its == "" || its < 0 || ours < its || ours > 4 * its + slack) {
			print name ": perf " its ", zcost " ours; exit 1 } }'
}
list=cpu-clock,page-faults,minor-faults,major-faults,context-switches,cpu-migrations,dummy
ok "beside perf stat" exits 0 collect --events "$list" -- perf stat -a -x, -o ps.csv -e "$list" sh -c "
	for i in 1 2 3 4 5; do sh load.sh; sleep 0.05; done"
cp r/counters.tsv beside.tsv
for e in page-faults minor-faults; do ok "$e agree" between $e 20000; done
ok "context-switches agree" between context-switches 5000
ok "cpu-migrations agree" between cpu-migrations 500
ok "major-faults agree" between major-faults 500
ok "the clock agrees: wall time on every CPU" between cpu-clock 1000000000
ok "what never counts is 0 in both" test "$(sum dummy)" = 0
ok "all of it was counted all the time" sh -c "awk -F'\t' 'NR > 1 && \$4 != \$5 { exit 1 }' beside.tsv"

if [ -r /sys/bus/event_source/devices/msr/events/tsc ] && perf stat -a -e msr/tsc/ true 2>/dev/null; then
	tsc() {
		exits 0 collect --events 'msr/tsc/,msr/event=0x00/' -- sleep 0.2 &&
			near "$(sum msr/tsc/)" "$(sum msr/event=0x00/)" "$(sum msr/tsc/ | awk '{ print $1 / 10 }')"
	}
	steady "an event of a PMU, by its name and by its code: the same" tsc
else
	skip "an event of a PMU" "no PMU msr here"
fi
if perf stat -a -e sched:sched_process_exec true 2>/dev/null; then
	ok "a tracepoint" exits 0 collect --events sched:sched_process_exec -- sh -c 'sleep 0.2; for i in 1 2 3 4 5 6 7; do /bin/true; done'
	ok "counts each exec" test "$(sum sched:sched_process_exec)" -ge 7
else
	skip "a tracepoint" "perf has no tracepoints here"
fi
ok "modifiers" exits 0 collect --events '{page-faults,faults}:u,page-faults:k' -- sh -c 'sleep 0.2; sh load.sh'
ok "tell user from kernel" test "$(sum page-faults:u)" -ge 1
ok "of a group, for all in it" test "$(rows faults:u value | wc -l)" = "$(getconf _NPROCESSORS_ONLN)"
ok "only the measured CPUs" exits 0 collect --cpus 0 --events cpu-clock -- true
ok "are counted" test "$(rows cpu-clock cpu)" = 0
ok "the workload inherits no counter" exits 0 collect --events cpu-clock -- sh -c 'ls -l /proc/self/fd >fds'
ok "not one" sh -c '! grep -q perf_event fds'

if grep -q '^cycles.*not-supported' r/counters.tsv || ! perf stat -e cycles true 2>&1 | grep -q '[0-9] .*cycles'; then
	ok "an event that this host does not have, asked for" exits 4 collect --events cycles,page-faults -- true
	ok "is a row that says so" test "$(rows cycles state)" = not-supported
	ok "and is said" says 'not supported on this host: cycles' err
	ok "nothing else" exits 4 collect --events '{cycles,instructions}' -- true
	ok "is told, with the usual cause" says 'this host has none of cycles, instructions \(a virtual machine may have no PMU\)' err
else
	skip "an event that this host does not have" "it has a PMU"
fi

ok "a name that nobody knows" refuses cyles "unknown event 'cyles'; there are cycles instructions"
ok "a PMU that is not here" refuses uncore_moon/x/ "no PMU 'uncore_moon' on this host; this host has: .*software"
ok "a tracepoint that is not here" refuses no:such 'no tracepoint no/such on this kernel'
ok "an unknown modifier" refuses cycles:z "no modifier 'z'; there are u \(user\)"
ok "an open group" refuses '{cycles,instructions' "the '}' of a group is missing"
ok "a stray brace" refuses 'cycles}' 'comma is missing'
ok "an open PMU" refuses msr/tsc "'msr/tsc': the '/' behind its terms is missing"
ok "a comma too much" refuses cycles, 'an event is missing before .the end'
ok "an event twice in a group" refuses '{faults,faults}' "'faults' is there twice"
ok "events without counters" exits 2 "$zcost" collect -o r --collect cpu --events cycles -- true
ok "are told what for" says "of the collector 'counters', which is not asked for" err

cat >plan.ini <<END
[plan]
name = c
passes = measure
repeats = 1
warmup = 0
duration = 0.1
[side receiver]
collect = counters
events = {page-faults,context-switches},dummy
power_command = echo 7
[variant v]
receiver = sleep 5
END
ok "a plan's events" exits 0 "$zcost" capture plan.ini -o cap
ok "are counted" sh -c "cut -f 1 cap/runs/v/measure-01/receiver/counters.tsv | sort -u | grep -c . | grep -qx 4"
ok "and kept in its settings" sh -c "jq -e '.variants[0].settings[\"receiver.events\"] == \"{page-faults,context-switches},dummy\"' cap/manifest.json"
sed -i 's/^events = .*/events = {page-faults/' plan.ini
ok "a slip in a plan is told with its line" exits 2 "$zcost" capture plan.ini -o other
ok "and what is wrong" says "plan.ini:9: events: the '}' of a group is missing" err

done_testing
