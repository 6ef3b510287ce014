#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Two sides run on two hosts with two clocks. The expected values are worked out by hand.
. "$(dirname "$0")/../lib.sh"
. "$tests/golden.sh"

# far START_NS FILE: moves a side to a window of 3 s there, on the host `far`.
far() {
	sed -i "s/10000000000/$1/; s/13000000000/$(($1 + 3000000000))/; s/\"host\": \"vm\"/\"host\": \"far\"/" "$2"
}

# compared FOLDER AT OFFSET ERROR AT OFFSET ERROR: writes the comparisons before and after the run, in ns
compared() {
	printf '{"schema_version": 1, "clock": "CLOCK_MONOTONIC",
		"before": {"at_ns": %s, "offset_ns": %s, "error_ns": %s, "rtt_ns": 9, "trips": 20},
		"after": {"at_ns": %s, "offset_ns": %s, "error_ns": %s, "rtt_ns": 9, "trips": 20}}\n' \
		"$2" "$3" "$4" "$5" "$6" "$7" >"$1/clock.json"
}

for r in 1 2 3; do
	measure_run cap base $r receiver 1000000000 150
	measure_run cap base $r sender 1000000000 150
	mkdir -p cap/hosts/vm cap/hosts/far
done
manifest cap base base/measure/1/ok base/measure/2/ok base/measure/3/ok
for h in vm far; do echo "{\"release\": \"6.1\", \"boot_id\": \"$h\"}" >cap/hosts/$h/host.json; done

# The receiver's clock is 1000 s ahead at 8 s and 100 us more at 18 s. The window opens at 1010.00007 s of
# that clock, so the offset is 1000 s + 20.0007 us and the window opens 49.9993 us late.
d=cap/runs/base/measure-01/receiver
far 1010000070000 $d/run.json
compared $d 8000000000 1000000000000 20000 18000000000 1000000100000 30000
# The next run is 10 s later and has the same offset. Its window is 40 ms late, 1.3 %.
d=cap/runs/base/measure-02/receiver
far 1020040100000 $d/run.json
sed -i "s/10000000000/20000000000/; s/13000000000/23000000000/" cap/runs/base/measure-02/sender/run.json
compared $d 18000000000 1000000100000 20000 28000000000 1000000100000 30000
# No comparison of the clocks exists for the third run.
far 1030000000000 cap/runs/base/measure-03/receiver/run.json

"$zcost" analyze cap >log 2>&1
# The offset is 1000.00002 s at the window's start, its error the larger one of two comparisons, and the windows are 49.9993 us
# apart. A side without a comparison has neither.
query cap "SELECT side, repeat, name, printf('%.7f', value) FROM metric JOIN run ON id = run WHERE name LIKE 'clock%' OR name = 'window_skew_us'"
report cap runs
report cap summary
report cap host

echo '{' >cap/runs/base/measure-01/receiver/clock.json
ok "analyze exits 4 when clock.json is damaged" exits 4 "$zcost" analyze cap
report cap runs
# The first run is 3.00002 s late by a clock with an error of 30 us, so the windows may overlap. 3.1 s is too late.
for r in 1:1013000040000 2:1013100000000; do
	measure_run late base ${r%:*} receiver 1000000000 150
	measure_run late base ${r%:*} sender 1000000000 150
	d=late/runs/base/measure-0${r%:*}/receiver
	far ${r#*:} $d/run.json
	compared $d 8000000000 1000000000000 20000 18000000000 1000000100000 30000
done
manifest late base base/measure/1/ok base/measure/2/ok
ok "analyze exits 4 when windows do not overlap" exits 4 "$zcost" analyze late
ok "analyze counts the runs that it leaves out, not their sides" says '1 of the runs failed and is left out' err
query late "SELECT repeat, side, status FROM run"
report late runs

golden_captures late/zcost.db
done_testing
