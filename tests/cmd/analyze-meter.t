#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The unit of a power meter's CSV is in its heading.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"
need sqlite3

for side in receiver sender; do measure_run cap baseline 1 $side 1000000000 150; done
manifest cap baseline baseline/measure/1/ok

# power HEADING VALUE: mean power of a log of that column, of one value throughout
power() {
	printf '%s\n9,230,%s\n11,230,%s\n13,230,%s\n' "$1" "$2" "$2" "$2" >meter.csv
	"$zcost" analyze --power-csv meter.csv cap >out 2>err
	metric cap/zcost.db baseline receiver power_w:wall
}

while IFS='|' read -r heading value want; do
	ok "a heading '$heading' gives watts" near "$(power "time,volts,$heading" "$value")" "$want" 1e-9
done <<'END'
power (W)|150|150
power_mW|150000|150
Power [mW]|150000|150
power_input_uW|150000000|150
total_kW|0.15|150
Watts|150|150
END
ok "a column that names a unit is preferred to one with power in its name" \
	near "$(power 'time,power factor,power_mW' 150000)" 150 1e-9
ok "analyze without the meter exits 0" exits 0 "$zcost" analyze cap
ok "the message names the options that import the meter again" says 'add: --power-csv meter.csv' err
ok "a log of which no heading names watts gives no power" test -z "$(power time,volts,POWER_MW 150000)"
notes_of cap >notes
ok "the note on it says what the first line must be" says "meter.csv: no heading names watts; the first line must name the columns" notes

mkdir other
printf 'time,watts\n9,40\n11,40\n13,40\n' >other/meter.csv
power "time,volts,power (W)" 150 >/dev/null
ok "two logs of one name are read" exits 0 "$zcost" analyze --power-csv meter.csv --power-csv other/meter.csv cap
ok "each has its own series" is "$(sqlite3 cap/zcost.db "SELECT DISTINCT name, value FROM series WHERE name LIKE 'power_w:wall/%' ORDER BY 1" | paste -sd' ')" \
	"power_w:wall/csv/meter.csv|150.0 power_w:wall/csv/meter.csv (2)|40.0"
power "time,volts,power (W)" 150 >/dev/null
. "$tests/golden.sh"
golden_captures cap/zcost.db
done_testing
