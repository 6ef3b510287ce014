#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The unit of a power meter's CSV: by its heading, or by an option.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"
command -v sqlite3 >/dev/null || skip_all "needs sqlite3"

for side in receiver sender; do measure_run cap baseline 1 $side 1000000000 150; done
manifest cap baseline baseline/measure/1/ok

# power HEADING VALUE [OPTION...]: mean power of a log of that column, of one value throughout
power() {
	printf '%s\n9,230,%s\n11,230,%s\n13,230,%s\n' "$1" "$2" "$2" "$2" >meter.csv
	shift 2
	"$zcost" analyze --power-csv meter.csv "$@" cap >out 2>err
	metric cap/zcost.db baseline receiver power_w:wall
}

notes() {
	notes_of cap >notes
	cat notes
}

while IFS='|' read -r heading value want unit; do
	ok "$heading" near "$(power "time,volts,$heading" "$value")" "$want" 1e-9
	notes >/dev/null
	ok "  is noted" says "^info .*power meter meter.csv: column '.*' is read as $unit" notes
done <<'END'
power (W)|150|150|W
power_mW|150000|150|mW
Power [mW]|150000|150|mW
power_input_uW|150000000|150|uW
total_kW|0.15|150|kW
Watts|150|150|Watts
END
ok "a column that names a unit is preferred to one with power in its name" \
	near "$(power 'time,power factor,power_mW' 150000)" 150 1e-9

ok "--power-unit overrides the heading" near "$(power time,volts,power_mW 0.15 --power-unit kW)" 150 1e-9
ok "--power-unit applies to a file without a heading" near "$(power 9,230,150000 150000 --power-unit mW --column 3)" 150 1e-9
notes >/dev/null
ok "the note names a column without a heading by its number" says "column 3 is read as mW" notes
ok "analyze without the meter exits 0" exits 0 "$zcost" analyze cap
ok "the message names the options that import the meter again" says 'add: --power-csv meter.csv --column 3 --power-unit mW' err

ok "a log of which no heading names watts gives no power" test -z "$(power time,volts,POWER_MW 150000)"
notes >/dev/null
ok "the note on it asks for --column" says "meter.csv: no heading names watts; name the column with --column" notes
ok "a column without a unit gives no power" test -z "$(power time,volts,POWER_MW 150000 --column POWER_MW)"
notes >/dev/null
ok "the note on it asks for --power-unit" says "meter.csv: the heading 'POWER_MW' names no unit of power; give --power-unit W, mW, uW or kW" notes
ok "--power-unit mW reads such a column" near "$(power time,volts,POWER_MW 150000 --column POWER_MW --power-unit mW)" 150 1e-9
ok "an unknown power unit exits 2" exits 2 "$zcost" analyze --power-csv meter.csv --power-unit hp cap
ok "the message on an unknown power unit lists the units" says "power-unit 'hp' is none of: W mW uW kW" err

. "$tests/golden.sh"
golden_captures cap/zcost.db
done_testing
