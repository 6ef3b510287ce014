#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Power from fake /sys trees: counters that wrap, meters, an external log, nothing at all.
. "$(dirname "$0")/../lib.sh"

collect() {
	"$zcost" collect -o r --collect power "$@"
}

zone() { # ZONE NAME MAX ENERGY
	mkdir -p "sys/class/powercap/$1"
	echo "$2" >"sys/class/powercap/$1/name"
	echo "$3" >"sys/class/powercap/$1/max_energy_range_uj"
	echo "$4" >"sys/class/powercap/$1/energy_uj"
}

# values SOURCE DOMAIN COLUMN: of all readings, in order
values() {
	awk -F'\t' -v s="$1" -v d="$2" -v c="$3" '$1 == s && $2 == d { printf "%s%s", sep, $c; sep = " " }
		END { print "" }' r/power.tsv
}

is() { # is EXPECTED COMMAND...
	want=$1
	shift
	got=$("$@")
	[ "$got" = "$want" ] || { echo "got '$got', expected '$want'"; cat r/power.tsv; return 1; }
}

info() {
	jq -r ".collectors[0]$1" r/run.json
}

mkdir -p sys/class/powercap/intel-rapl # the control type itself has no counter
zone intel-rapl:0 package-0 262143328850 262143328000
zone intel-rapl:0:0 core 262143328850 5000
zone intel-rapl:0:1 dram 65712999613 100
zone intel-rapl:1 package-1 262143328850 7000000
zone intel-rapl-mmio:0 package-0 262143328850 9
mkdir -p sys/class/hwmon/hwmon2 sys/class/hwmon/hwmon10
echo power_meter >sys/class/hwmon/hwmon2/name
echo 231500000 >sys/class/hwmon/hwmon2/power1_average
echo nvme >sys/class/hwmon/hwmon10/name # no power there
ZCOST_SYSFS=$PWD/sys
export ZCOST_SYSFS

# The package's counter goes round once within the window, the other package's not at all.
ok "powercap and hwmon" exits 0 collect -- sh -c "
	sleep 0.3; echo 500 >sys/class/powercap/intel-rapl:0/energy_uj
	sleep 1; echo 9000000 >sys/class/powercap/intel-rapl:1/energy_uj"
ok "a wrap goes on upwards: to the domain's maximum and from 0 again" \
	is "262143328000 262143329350 262143329350" values powercap package-0 4
ok "a counter that only grows" is "7000000 7000000 9000000" values powercap package-1 4
ok "a part is named inside its package" is "5000 5000 5000" values powercap package-0/core 4
ok "so is the memory" is "100 100 100" values powercap package-0/dram 4
ok "a meter in watts" is "231.500000 231.500000 231.500000" values hwmon power_meter@hwmon2/power1 5
ok "what does not apply is empty" is "  " values hwmon power_meter@hwmon2/power1 4
ok "the same package through other registers is left out" \
	test "$(cut -f 2 r/power.tsv | sort -u | wc -l)" = 6 # heading included
ok "the sources are told" is powercap,hwmon info .info.source
ok "readings at the window's ends" sh -c "jq -e --argjson t \$(awk 'NR == 2 { print \$3 }' r/power.tsv) \
	'.window.start_ns <= \$t and \$t - .window.start_ns < 50e6' r/run.json"

echo 3000 >sys/class/powercap/intel-rapl:0/max_energy_range_uj # cannot be: the counter is beyond it
echo 9000 >sys/class/powercap/intel-rapl:0/energy_uj
ok "a counter that is set back" exits 4 collect -- sh -c "sleep 0.2; echo 1 >sys/class/powercap/intel-rapl:0/energy_uj"
ok "is said" says 'package-0: the energy counter was set back' err
ok "no reading of it is made up" is 9000 values powercap package-0 4
ok "the others are kept" is "9000000 9000000" values powercap package-1 4

rm -r sys/class/powercap
printf 'time,watts\n1,2\n' >meter.csv
ok "a meter's log beside it" exits 0 collect --power-csv meter.csv --power-csv meter.csv -- sleep 0.1
ok "is copied raw" cmp meter.csv r/power.csv
ok "the second as well" cmp meter.csv r/power-2.csv
ok "files are listed" is 'power.tsv power.csv power-2.csv' info '.files|join(" ")'
ok "a log that is not there is a loss, not a failure" exits 4 collect --power-csv absent.csv -- true
ok "that names it" says 'absent.csv' err

rm -r sys/class/hwmon
ok "a log alone" exits 0 collect --power-csv meter.csv -- true
ok "is a source" is csv info .info.source
ok "nothing at all, and asked for" exits 4 collect -- true
ok "the reason names the way out" says 'no power source: .*--power-csv' err
ok "unsupported in run.json, no file" is 'unsupported ' info '|.state + " " + (.files|join(","))'
ok "nothing at all where it is only usual" exits 0 "$zcost" collect -o r --pass measure -- true
ok "too many logs" exits 2 collect --power-csv a --power-csv b --power-csv c --power-csv d --power-csv e -- true

done_testing
