#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost analyze: raw files into figures worked by hand, and what it says of folders that are not whole.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"

# 1,280,000,000 B/s = 10.24 Gbit/s = 1,250,000 KiB/s; 150 of 300 ticks busy: 50 %, 1.5 s.
mkdir cap
measure_run cap baseline 1 receiver 1280000000 150
measure_run cap baseline 1 sender 1280000000 300
manifest cap baseline baseline/measure/1/ok

ok "a whole capture is analyzed, exit 0" exits 0 "$zcost" analyze cap
ok "the store is there" test -s cap/zcost.db
ok "throughput in Gbit/s" near "$(metric cap/zcost.db baseline receiver throughput)" 10.24 1e-9
ok "bytes over the window only" near "$(metric cap/zcost.db baseline receiver bytes)" 3840000000 1
ok "KiB per second" near "$(metric cap/zcost.db baseline receiver rate_kib)" 1250000 1e-3
ok "messages" near "$(metric cap/zcost.db baseline receiver messages)" 58593.75 1
ok "CPU use in percent of one CPU" near "$(metric cap/zcost.db baseline receiver cpu_pct)" 50 1e-9
ok "busy nanoseconds" near "$(metric cap/zcost.db baseline receiver busy_ns)" 1500000000 1
ok "the other side on its own" near "$(metric cap/zcost.db baseline sender cpu_pct)" 100 1e-9
ok "the workload's evidence" near "$(metric cap/zcost.db baseline receiver rx_copied_bytes)" 1280000000 0
ok "the program's own syscall counts" near "$(metric cap/zcost.db baseline receiver workload_calls:recvfrom)" 7 0
ok "the plan's variants" test "$(sqlite3 cap/zcost.db 'SELECT what FROM variant')" = "what baseline is"
sqlite3 cap/zcost.db .dump >first.sql
ok "analyzed again, with more threads" exits 0 "$zcost" analyze -j 4 cap
sqlite3 cap/zcost.db .dump >second.sql
ok "it is the same" cmp first.sql second.sql
ok "and no temporary file stays" test "$(ls cap | tr '\n' ' ')" = "manifest.json runs zcost.db "

# One run folder without a manifest, as zcost collect leaves it.
ok "a single run" exits 0 "$zcost" analyze cap/runs/baseline/measure-01/receiver
ok "has the same figures" near "$(metric cap/runs/baseline/measure-01/receiver/zcost.db baseline receiver cpu_pct)" 50 1e-9
rm cap/runs/baseline/measure-01/receiver/zcost.db

cp -r cap nomanifest
rm nomanifest/manifest.json nomanifest/zcost.db
ok "without a manifest the folders tell, exit 4" exits 4 "$zcost" analyze nomanifest
ok "both sides found" test "$(sqlite3 nomanifest/zcost.db 'SELECT COUNT(*) FROM run')" = 2

# What is missing costs only what it would have told.
cp -r cap hole
rm hole/runs/baseline/measure-01/receiver/workload.out
ok "a missing file is a loss, exit 4" exits 4 "$zcost" analyze hole
ok "of one place" says "data is missing or lossy in 1 place; " err
ok "that is noted" sh -c "sqlite3 hole/zcost.db 'SELECT severity, kind, vals FROM note' | grep 'lossy|file_missing.*workload.out'"
ok "the other figures stand" near "$(metric hole/zcost.db baseline receiver cpu_pct)" 50 1e-9
ok "and this one is absent" test -z "$(metric hole/zcost.db baseline receiver throughput)"

cp -r cap torn
: >torn/runs/baseline/measure-01/receiver/proc_stat.snap
printf '{"type":"poi' >>torn/runs/baseline/measure-01/sender/workload.out
ok "an empty and a torn file, exit 4" exits 4 "$zcost" analyze torn
ok "no CPU figure from an empty file" test -z "$(metric torn/zcost.db baseline receiver cpu_pct)"
ok "the torn one gives what came before" near "$(metric torn/zcost.db baseline sender throughput)" 10.24 1e-9

# The workload's points end inside the window: 2.8 of 3 s are used; 1 s of 3 is too little.
cp -r cap short
{ points 1280000000 65536 9 12.8; summary receiver 0 0 0 0 1 1; } >short/runs/baseline/measure-01/receiver/workload.out
{ points 1280000000 65536 9 11; summary sender 0 0 0 0 1 1; } >short/runs/baseline/measure-01/sender/workload.out
ok "points that end early, exit 4" exits 4 "$zcost" analyze short
ok "nothing is extrapolated" near "$(metric short/zcost.db baseline receiver bytes)" 3584000000 1
ok "a rate over the covered part" near "$(metric short/zcost.db baseline receiver throughput)" 10.24 1e-9
ok "absent when too little is covered" test -z "$(metric short/zcost.db baseline sender throughput)"

# Failed runs are listed and not used.
cp -r cap failed
manifest failed "baseline mmap" baseline/measure/1/ok mmap/measure/1/failed
ok "a failed run, exit 4" exits 4 "$zcost" analyze failed
ok "is in the store with its reason" test \
	"$(sqlite3 failed/zcost.db "SELECT DISTINCT why FROM run WHERE status = 'failed'")" = "the workload ended too early"

cp -r cap norun
rm norun/runs/baseline/measure-01/sender/run.json
ok "a run without run.json, exit 4" exits 4 "$zcost" analyze norun
ok "names the file" sh -c "sqlite3 norun/zcost.db 'SELECT why FROM run' | grep run.json"

# Bad input.
ok "no such capture, exit 1" exits 1 "$zcost" analyze nowhere
ok "says so" says "nowhere: no such capture" err
mkdir empty
ok "an empty folder, exit 1" exits 1 "$zcost" analyze empty
ok "says what a capture is" says "manifest.json" err
mkdir bad
echo "not json" >bad/manifest.json
ok "a damaged manifest, exit 1" exits 1 "$zcost" analyze bad
ok "with file and line" says "bad/manifest.json:1" err
ok "and leaves no store" test ! -e bad/zcost.db
ok "no capture given, exit 2" exits 2 "$zcost" analyze
ok "a bad -j, exit 2" exits 2 "$zcost" analyze -j 0 cap

# A power meter's CSV: 100 W at 9 s, 200 W at 11 s, 100 W at 13 s. Over [10, 13]: the line passes 150 W at
# 10 s; (150 + 200) / 2 x 1 + (200 + 100) / 2 x 2 = 475 J, 158.333 W.
printf 'time,volts,power (W)\n9,230,100\n11,230,200\n13,230,100\n' >meter.csv
ok "a meter's CSV" exits 0 "$zcost" analyze --power-csv receiver=meter.csv cap
ok "trapezoids over the window" near "$(metric cap/zcost.db baseline receiver energy_j:wall)" 475 1e-6
ok "mean power" near "$(metric cap/zcost.db baseline receiver power_w:wall)" 158.3333333 1e-6
ok "labelled as imported" test "$(sqlite3 cap/zcost.db "SELECT source FROM metric WHERE name = 'power_w:wall'")" = imported
ok "only on its side" test -z "$(metric cap/zcost.db baseline sender power_w:wall)"
# In milliseconds since a start of its own, 9 s later.
printf '0;1,5;100\n2000;1,5;200\n4000;1,5;100,0\n' >meter-ms.csv
ok "another unit, column, offset, decimal comma, no heading" exits 0 "$zcost" analyze --power-csv meter-ms.csv \
	--time-unit ms --column 3 --offset 9 cap
ok "the same power" near "$(metric cap/zcost.db baseline sender power_w:wall)" 158.3333333 1e-6
# Time of day: run.json says that 8 s were 12:00:00.
printf 'date,watts\n2026-01-31T12:00:01Z,100\n2026-01-31T12:00:03Z,200\n2026-01-31T12:00:05Z,100\n' >meter-date.csv
ok "dates" exits 0 "$zcost" analyze --power-csv meter-date.csv cap
ok "are tied to the host's clock" near "$(metric cap/zcost.db baseline sender power_w:wall)" 158.3333333 1e-6
printf 'time,watts\n11,200\n13,100\n' >meter-late.csv
ok "a meter that began too late, exit 4" exits 4 "$zcost" analyze --power-csv meter-late.csv cap
ok "gives no power" test -z "$(metric cap/zcost.db baseline sender power_w:wall)"
ok "a missing meter file, exit 1" exits 1 "$zcost" analyze --power-csv nofile.csv cap
ok "an unknown column, exit 4" exits 4 "$zcost" analyze --power-csv meter.csv --column amps cap
ok "a --column without a file, exit 2" exits 2 "$zcost" analyze --column amps cap
ok "a side that the capture does not have, exit 2" exits 2 "$zcost" analyze --power-csv left=meter.csv cap
ok "is named with those it has" says "no side 'left', only: receiver sender" err
ok "once more with the meter" exits 0 "$zcost" analyze --power-csv receiver=meter.csv cap
ok "and without it" exits 0 "$zcost" analyze cap
ok "analyze warns that the store lacks the power that was imported before and names the option" says \
	'imported before; .* add: --power-csv receiver=meter.csv' err

done_testing
