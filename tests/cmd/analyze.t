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

ok "analyze of a whole capture exits 0" exits 0 "$zcost" analyze cap
ok "analyze writes the store" test -s cap/zcost.db
ok "the throughput is in Gbit/s" near "$(metric cap/zcost.db baseline receiver throughput)" 10.24 1e-9
ok "the bytes are those of the window only" near "$(metric cap/zcost.db baseline receiver bytes)" 3840000000 1
ok "rate_kib is in KiB per second" near "$(metric cap/zcost.db baseline receiver rate_kib)" 1250000 1e-3
ok "the messages are those of the window" near "$(metric cap/zcost.db baseline receiver messages)" 58593.75 1
ok "CPU use is in percent of one CPU" near "$(metric cap/zcost.db baseline receiver cpu_pct)" 50 1e-9
ok "busy time is in nanoseconds" near "$(metric cap/zcost.db baseline receiver busy_ns)" 1500000000 1
ok "the sender has its own CPU use" near "$(metric cap/zcost.db baseline sender cpu_pct)" 100 1e-9
ok "the store has the workload's evidence of zero copy" near "$(metric cap/zcost.db baseline receiver rx_copied_bytes)" 1280000000 0
ok "the store has the workload's own counts of system calls" near "$(metric cap/zcost.db baseline receiver workload_calls:recvfrom)" 7 0
ok "the store has the plan's variants" test "$(sqlite3 cap/zcost.db 'SELECT what FROM variant')" = "what baseline is"
sqlite3 cap/zcost.db .dump >first.sql
ok "analyze with four threads exits 0" exits 0 "$zcost" analyze -j 4 cap
sqlite3 cap/zcost.db .dump >second.sql
ok "the store does not depend on the number of threads" cmp first.sql second.sql
ok "analyze leaves no temporary file" test "$(ls cap | tr '\n' ' ')" = "manifest.json runs zcost.db "

# One run folder without a manifest, as zcost collect leaves it.
ok "analyze of the folder of a single run exits 0" exits 0 "$zcost" analyze cap/runs/baseline/measure-01/receiver
ok "the store of a single run has the figures of the capture's store" near "$(metric cap/runs/baseline/measure-01/receiver/zcost.db baseline receiver cpu_pct)" 50 1e-9
rm cap/runs/baseline/measure-01/receiver/zcost.db

cp -r cap nomanifest
rm nomanifest/manifest.json nomanifest/zcost.db
ok "analyze of a capture without a manifest exits 1" exits 1 "$zcost" analyze nomanifest
ok "the message says what is missing" says "no capture: it has no manifest.json and no run.json" err

# A missing file costs only the figures that come out of it.
cp -r cap hole
rm hole/runs/baseline/measure-01/receiver/workload.out
ok "analyze of a capture without workload.out exits 4" exits 4 "$zcost" analyze hole
ok "the message counts one place with lost data" says "data is missing or lossy in 1 place; " err
ok "a lossy note names the missing file" sh -c "sqlite3 hole/zcost.db 'SELECT severity, kind, vals FROM note' | grep 'lossy|file_damaged.*workload.out'"
ok "a missing file does not change the figures of other files" near "$(metric hole/zcost.db baseline receiver cpu_pct)" 50 1e-9
ok "a missing workload.out gives no throughput" test -z "$(metric hole/zcost.db baseline receiver throughput)"

cp -r cap torn
: >torn/runs/baseline/measure-01/receiver/proc_stat.snap
printf '{"type":"poi' >>torn/runs/baseline/measure-01/sender/workload.out
ok "analyze of an empty and a truncated file exits 4" exits 4 "$zcost" analyze torn
ok "an empty file gives no CPU use" test -z "$(metric torn/zcost.db baseline receiver cpu_pct)"
ok "a truncated file gives the figures of its readable part" near "$(metric torn/zcost.db baseline sender throughput)" 10.24 1e-9

# The workload's points end inside the window: 2.8 of 3 s are used; 1 s of 3 is too little.
cp -r cap short
{ points 1280000000 65536 9 12.8; summary receiver 0 0 0 0 1 1; } >short/runs/baseline/measure-01/receiver/workload.out
{ points 1280000000 65536 9 11; summary sender 0 0 0 0 1 1; } >short/runs/baseline/measure-01/sender/workload.out
ok "analyze of points that end before the window exits 4" exits 4 "$zcost" analyze short
ok "bytes are not extrapolated beyond the last point" near "$(metric short/zcost.db baseline receiver bytes)" 3584000000 1
ok "the throughput is over the covered part of the window" near "$(metric short/zcost.db baseline receiver throughput)" 10.24 1e-9
ok "points that cover too little of the window give no throughput" test -z "$(metric short/zcost.db baseline sender throughput)"

# Failed runs are listed and not used.
cp -r cap failed
manifest failed "baseline mmap" baseline/measure/1/ok mmap/measure/1/failed
ok "analyze of a capture with a failed run exits 4" exits 4 "$zcost" analyze failed
ok "the store has the failed run with its reason" test \
	"$(sqlite3 failed/zcost.db "SELECT DISTINCT why FROM run WHERE status = 'failed'")" = "the workload ended too early"

cp -r cap norun
rm norun/runs/baseline/measure-01/sender/run.json
ok "analyze of a run without run.json exits 4" exits 4 "$zcost" analyze norun
ok "the reason of a run without run.json names the file" sh -c "sqlite3 norun/zcost.db 'SELECT why FROM run' | grep run.json"

# Bad input.
ok "analyze of a capture that does not exist exits 1" exits 1 "$zcost" analyze nowhere
ok "the message says that the capture does not exist" says "nowhere: no such capture; 'zcost capture' makes one, and 'zcost unpack' makes one of an archive$" err
mkdir empty
ok "analyze of an empty folder exits 1" exits 1 "$zcost" analyze empty
ok "the message on an empty folder names manifest.json" says "manifest.json" err
mkdir bad
echo "not json" >bad/manifest.json
ok "analyze of a damaged manifest exits 1" exits 1 "$zcost" analyze bad
ok "the message on a damaged manifest has the file and the line" says "bad/manifest.json:1" err
ok "analyze of a damaged manifest leaves no store" test ! -e bad/zcost.db
ok "analyze without a capture exits 2" exits 2 "$zcost" analyze
ok "analyze -j 0 exits 2" exits 2 "$zcost" analyze -j 0 cap

# A power meter's CSV: 100 W at 9 s, 200 W at 11 s, 100 W at 13 s. Over [10, 13]: the line passes 150 W at
# 10 s; (150 + 200) / 2 x 1 + (200 + 100) / 2 x 2 = 475 J, 158.333 W.
printf 'time,volts,power (W)\n9,230,100\n11,230,200\n13,230,100\n' >meter.csv
ok "analyze --power-csv exits 0" exits 0 "$zcost" analyze --power-csv receiver=meter.csv cap
ok "the energy is the sum of trapezoids over the window" near "$(metric cap/zcost.db baseline receiver energy_j:wall)" 475 1e-6
ok "the power is the mean over the window" near "$(metric cap/zcost.db baseline receiver power_w:wall)" 158.3333333 1e-6
ok "the power of a meter is labelled as imported" test "$(sqlite3 cap/zcost.db "SELECT source FROM metric WHERE name = 'power_w' AND object = 'wall'")" = imported
ok "the meter of one side gives the other side no power" test -z "$(metric cap/zcost.db baseline sender power_w:wall)"
# Since a start of its own, 9 s later.
printf 'time;volts;power (W)\n0;1,5;100\n2,0;1,5;200\n4;1,5;100,0\n' >meter-later.csv
ok "analyze reads a CSV with decimal commas and an offset" exits 0 "$zcost" analyze --power-csv meter-later.csv --offset 9 cap
ok "the other form of the CSV gives the same power" near "$(metric cap/zcost.db baseline sender power_w:wall)" 158.3333333 1e-6
# Time of day: run.json says that 8 s were 12:00:00.
printf 'date,watts\n2026-01-31T12:00:01Z,100\n2026-01-31T12:00:03Z,200\n2026-01-31T12:00:05Z,100\n' >meter-date.csv
ok "analyze reads a CSV with dates" exits 0 "$zcost" analyze --power-csv meter-date.csv cap
ok "dates of a CSV are related to the host's clock" near "$(metric cap/zcost.db baseline sender power_w:wall)" 158.3333333 1e-6
printf 'time,watts\n11,200\n13,100\n' >meter-late.csv
ok "analyze of a meter that began too late exits 4" exits 4 "$zcost" analyze --power-csv meter-late.csv cap
ok "a meter that began too late gives no power" test -z "$(metric cap/zcost.db baseline sender power_w:wall)"
ok "analyze of a meter's file that does not exist exits 1" exits 1 "$zcost" analyze --power-csv nofile.csv cap
ok "analyze --offset without a file exits 2" exits 2 "$zcost" analyze --offset 1 cap
ok "analyze --power-csv of an unknown side exits 2" exits 2 "$zcost" analyze --power-csv left=meter.csv cap
ok "the message on an unknown side lists the sides" says "no side 'left', only: receiver sender" err
ok "analyze with the meter again exits 0" exits 0 "$zcost" analyze --power-csv receiver=meter.csv cap
ok "analyze without the meter exits 0" exits 0 "$zcost" analyze cap
ok "the message names the meter that is left out and the option that restores it" says \
	'imported before; .* add: --power-csv receiver=meter.csv' err

# The plan's before failed, so that the capture has no run.
mkdir nobegin
manifest nobegin baseline
ok "analyze of a capture without a run exits 0" exits 0 "$zcost" analyze nobegin
for table in summary runs variants functions; do
	ok "report $table of it exits 0" exits 0 "$zcost" report $table nobegin
	ok "  and says why the table has no row" says '^# this table has no figures: the capture has no run$' out
done

# A hint that prints a command quotes its words, so that it can be pasted.
odd="it's a \$cap" # in a hint: 'it'\\''s a $cap'
cp -r cap "$odd"
rm "$odd/zcost.db"
pasted() { # pasted CODE BEFORE AFTER: runs the command between the two in err
	command=$(sed -n "s/^.*$2\(zcost .*\)$3.*/\1/p" err)
	[ -n "$command" ] || { cat err && return 1; }
	exits "$1" env PATH="$build:$PATH" sh -c "$command"
}
ok "a capture that is not analyzed is refused" exits 1 "$zcost" report summary "$odd"
ok "  with a command that analyzes it" pasted 0 "run '" "' first"
ok "compare with three words exits 2" exits 2 "$zcost" compare 'base*' baseline "$odd"
ok "  with a command that compares" pasted 1 '-C: ' ''
ok "    these words" says "^zcost: no variant of 'baseline' has the settings of a variant of 'base[*]';" err
ok "report callers without a function exits 2" exits 2 "$zcost" report callers "$odd"
ok "  with a command that names the capture" pasted 1 'capture: ' ''
ok "    and that command reads this capture" says "no sample of these runs|no .*profile" err
ok "an archive is refused" eval '"$zcost" pack "$odd" -o "$odd.tar.zst" && exits 1 "$zcost" report summary "$odd.tar.zst"'
mkdir away
ok "  with a command that unpacks it" eval '(mv "$odd.tar.zst" err away && cd away && pasted 0 "unpack it first: " "" && test -d "$odd")'

done_testing
