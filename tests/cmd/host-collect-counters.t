#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The collector counters on this host: software events, groups, a PMU of sysfs, tracepoints; compared with perf stat.
. "$(dirname "$0")/../lib.sh"

perf stat -a -e cpu-clock true 2>/dev/null || skip_all "perf_event_open on whole CPUs is not allowed here"

collect() {
	"$zcost" collect -o r --collect counters "$@"
}
# rows EVENT COLUMN: the column's value on every CPU
rows() { tsv '$1 == event { print $at[column] }' event="$1" column="$2" r/counters.tsv; }
sum() { # sum EVENT
	rows "$1" value | awk '{ s += $1 } END { printf "%.0f\n", s }'
}
refuses() { # refuses LIST PATTERN: exits 2 before the workload starts
	rm -rf r
	exits 2 "$zcost" collect -o r --collect counters --events "$1" -- touch ran && says "$2" err && [ ! -e ran ]
}

ok "collect counts the default events" exits 0 collect -- sleep 0.2
ok "counters.tsv has a row per CPU" test "$(rows cpu-clock cpu | wc -l)" = "$(getconf _NPROCESSORS_ONLN)"
ok "cycles and instructions are in one group where the host has them" sh -c "grep -q '^cycles.*not-supported\$' r/counters.tsv ||
	awk -F'\t' '\$1 == \"cycles\" || \$1 == \"instructions\" { g[\$6]++ } END { for (i in g) n++; exit n != 1 }' r/counters.tsv"
ok "cpu-clock counts in ns" test "$(rows cpu-clock unit | head -n 1)" = ns
ok "report counters lists cpu-clock" sh -c "'$zcost' analyze r >/dev/null 2>&1; '$zcost' report counters r | grep -q 'counter:cpu-clock'"

many=$(yes page-faults,cpu-clock,minor-faults,task-clock | head -n 10 | tr '\n' ,)
few_files() { # 40 counters on each CPU under a limit of 40 files
	(ulimit -Sn 40 && exits 0 collect --collect counters,cpu,softnet --events "${many%,}" -- sh -c 'ulimit -Sn; sleep 0.1')
}
ok "collect opens more files than its soft limit allows" few_files
ok "the collectors after counters measure, too" test -s r/softnet.snap
ok "the command has the soft limit of the caller" test "$(cat r/workload.out)" = 40

# A load with at least 40,000 page faults: it writes 20,000 small pages twice. The group counts them at once.
faults='{page-faults,minor-faults,major-faults,context-switches},cpu-clock'
touch=$build/tests/tools/calls
echo "'$touch' touch 20000; '$touch' touch 20000" >load.sh
ok "--events accepts a group and a single event" exits 0 collect --events "$faults" -- sh -c 'sleep 0.2; sh load.sh'
ok "counters.tsv has only the events of --events" test "$(sed 1d r/counters.tsv | cut -f 1 | sort -u | tr '\n' ' ')" = \
	"context-switches cpu-clock major-faults minor-faults page-faults "
ok "page-faults counts at least the load's 40,000 faults" test "$(sum page-faults)" -ge 40000
ok "events of one group count for the same time" sh -c "awk -F'\t' '\$1 == \"page-faults\" || \$1 == \"minor-faults\" {
	t[\$2] = t[\$2] \" \" \$4 \"/\" \$5 } END { for (i in t) { split(t[i], a, \" \"); if (a[1] != a[2]) exit 1 } }' r/counters.tsv"
ok "page-faults is the sum of minor-faults and major-faults" near "$(sum page-faults)" "$(($(sum minor-faults) + $(sum major-faults)))" 2000
ok "a group has a number, and a single event has 0" test "$(rows page-faults group | sort -u)$(rows cpu-clock group | sort -u)" = 10

# perf stat runs inside zcost's window. It cannot count more than zcost, nor much less.
between() { # between EVENT SLACK: its <= ours <= 4 x its + SLACK
	its=$(awk -F, -v e="$1" '$3 == e { printf "%.0f\n", $1 * ($2 == "msec" ? 1e6 : 1) }' ps.csv)
	ours=$(sum "$1")
	awk -v its="$its" -v ours="$ours" -v name="$1" -v slack="$2" 'BEGIN {
		if (its == "" || its < 0 || ours < its || ours > 4 * its + slack) {
			print name ": perf " its ", zcost " ours; exit 1 } }'
}
list=cpu-clock,page-faults,minor-faults,major-faults,context-switches,cpu-migrations,dummy
beside() {
	exits 0 collect --events "$list" -- perf stat -a -x, -o ps.csv -e "$list" sh -c "
		for i in 1 2 3 4 5; do sh load.sh; sleep 0.05; done" && between page-faults 20000 && between minor-faults 20000 &&
		between context-switches 5000 && between cpu-migrations 500 && between major-faults 500 && between cpu-clock 1000000000
}
steady "each count is at least perf stat's at the same time, and at most four times as much" beside
ok "the event 'dummy' counts 0" test "$(sum dummy)" = 0
ok "every event counts all the time that it is enabled" awk -F'\t' 'NR > 1 && $4 != $5 { exit 1 }' r/counters.tsv

if [ -r /sys/bus/event_source/devices/msr/events/tsc ] && perf stat -a -e msr/tsc/ true 2>/dev/null; then
	tsc() {
		exits 0 collect --events 'msr/tsc/,msr/event=0x00/' -- sleep 0.2 &&
			near "$(sum msr/tsc/)" "$(sum msr/event=0x00/)" "$(sum msr/tsc/ | awk '{ print $1 / 10 }')"
	}
	steady "an event of a PMU counts the same by name and by code" tsc
else
	skip "an event of a PMU counts the same by name and by code" "no PMU msr here"
fi
if perf stat -a -e sched:sched_process_exec true 2>/dev/null; then
	ok "--events accepts a tracepoint" exits 0 collect --events sched:sched_process_exec -- sh -c 'sleep 0.2; for i in 1 2 3 4 5 6 7; do /bin/true; done'
	ok "the tracepoint counts each exec" test "$(sum sched:sched_process_exec)" -ge 7
else
	skip "--events accepts a tracepoint" "perf has no tracepoints here"
fi
ok "--events accepts modifiers" exits 0 collect --events '{page-faults:u,faults:u},page-faults:k' -- sh -c 'sleep 0.2; sh load.sh'
ok "the modifier u counts events in user space" test "$(sum page-faults:u)" -ge 1
ok "--cpus limits the counters to the measured CPUs" exits 0 collect --cpus 0 --events cpu-clock -- true
ok "counters.tsv has no row of an unmeasured CPU" test "$(rows cpu-clock cpu)" = 0
ok "collect counts while the workload lists its descriptors" exits 0 collect --events cpu-clock -- sh -c 'ls -l /proc/self/fd >fds'
ok "the workload inherits no counter" sh -c '! grep -q perf_event fds'

if grep -q '^cycles.*not-supported' r/counters.tsv || ! perf stat -e cycles true 2>&1 | grep -q '[0-9] .*cycles'; then
	ok "collect exits 4 when the host lacks one requested event" exits 4 collect --events cycles,page-faults -- true
	ok "counters.tsv marks the missing event as not-supported" test "$(rows cycles state)" = not-supported
	ok "the warning names the event that the host lacks" says 'not supported on this host: cycles' err
	ok "collect exits 4 when the host lacks all requested events" exits 4 collect --events '{cycles,instructions}' -- true
	ok "the warning suggests that a virtual machine may have no PMU" says 'this host has none of cycles, instructions \(a virtual machine may have no PMU\)' err
else
	skip "collect exits 4 when the host lacks one requested event" "it has a PMU"
fi

ok "--events refuses an unknown event" refuses cyles "unknown event 'cyles'; there are cycles instructions"
ok "--events refuses a PMU that the host lacks" refuses uncore_moon/x/ "no PMU 'uncore_moon' on this host; this host has: .*software"
ok "--events refuses a tracepoint that the kernel lacks" refuses no:such 'no tracepoint no/such on this kernel'
ok "--events without the collector 'counters' is a usage error" exits 2 "$zcost" collect -o r --collect cpu --events cycles -- true
ok "the error about --events names the collector 'counters'" says "belongs to the collector 'counters', which is not among those chosen" err

cat >plan.ini <<END
$short_plan
[side receiver]
collect = counters
events = {page-faults,context-switches},dummy
power_command = echo 7
[variant v]
receiver = sleep 5
END
ok "a plan sets the events of a side" exits 0 "$zcost" capture plan.ini -o cap
ok "a plan's events are in counters.tsv" sh -c "cut -f 1 cap/runs/v/measure-01/receiver/counters.tsv | sort -u | grep -c . | grep -qx 4"
ok "the manifest has the events of the plan" sh -c "jq -e '.variants[0].settings[\"receiver.events\"] == \"{page-faults,context-switches},dummy\"' cap/manifest.json"
sed -i 's/^events = .*/events = {page-faults/' plan.ini
ok "a plan with an invalid event list is a usage error" exits 2 "$zcost" capture plan.ini -o other
ok "the error has the line of the event list" says "plan.ini:$(sed -n '/^events/=' plan.ini): events: the '}' of a group is missing" err

done_testing
