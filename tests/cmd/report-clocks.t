#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Two sides run on two hosts with two clocks. The expected values are worked out by hand.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"

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
db=cap/zcost.db
of() { sqlite3 $db "SELECT printf('%.7f', value) FROM metric JOIN run ON run.id = metric.run WHERE side = '$1' AND repeat = $2 AND name = '$3'"; }
is() { [ "$1" = "$2" ] || { echo "got '$1', expected '$2'"; return 1; }; }
ok "clock_offset is the offset at the window's start" is "$(of receiver 1 clock_offset)" 1000.0000200
ok "clock_error is the larger error of two comparisons" is "$(of receiver 1 clock_error)" 0.0000300
ok "the side on the capturing host has no clock offset" is "$(of sender 1 clock_offset)" ""
ok "window_skew_us corrects the offset between two clocks" is "$(of receiver 1 window_skew_us) $(of sender 1 window_skew_us)" "49.9993000 49.9993000"
ok "window_skew_us is the distance between windows that are apart" is "$(of sender 2 window_skew_us)" 40000.0000000
"$zcost" report runs cap --format tsv >runs 2>notes
ok "report runs notes windows that are 1.3 % apart and names the precision of the clocks" says \
	"^zcost: base receiver, base sender [^:]*: the windows of the two sides are 40.0 ms apart, 1.3 % of their 3.00 s \(two clocks, compared to \+-0.030 ms\)" notes
ok "report runs has that note of one run only" test "$(grep -c 'ms apart' notes)" = 1
ok "windows by clocks that nobody compared have no window_skew_us" is "$(of receiver 3 window_skew_us)" ""
"$zcost" report summary cap >summary
ok "report summary names the largest distance between windows" says \
	'the sides ran on two hosts; their windows are at most 40 ms apart, by clocks compared to \+-30 us' summary
"$zcost" report host cap --format tsv >host
ok "report host has the offset of the other host's clock" says "^far	clock ahead of the capturing host's	1000.00002 s \+-30 us" host
ok "report host has the drift of the other host's clock" says '^far	clock drift	7.97 \+-5.98 ppm in 10 s' host
ok "report host has no clock row for the capturing host" sh -c '! grep "^vm.*clock" host'

echo '{' >cap/runs/base/measure-01/receiver/clock.json
ok "analyze exits 4 when clock.json is damaged" exits 4 "$zcost" analyze cap
"$zcost" report runs cap >runs 2>&1
ok "report runs names the damaged clock.json" says "the clock offset of the host is not known: .*clock.json:" runs
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
status() { sqlite3 late/zcost.db "SELECT DISTINCT status FROM run WHERE repeat = $1"; }
ok "a run with windows that may overlap is used" is "$(status 1)" ok
ok "a run with windows that do not overlap is failed on both sides" is "$(status 2)" failed
ok "report runs exits 4 when windows do not overlap" exits 4 "$zcost" report runs late --format tsv
ok "report runs says how far the windows are apart" says \
	"left out: the sides' windows do not overlap: they are 3099.9 ms apart, and this one is 3.00 s long" err

. "$tests/golden.sh"
golden_captures late/zcost.db
done_testing
