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

# values SOURCE DOMAIN COLUMN: of all readings, in order, but for those like the one before: there is one a second, and
# a busy machine may need another second
values() {
	awk -F'\t' -v s="$1" -v d="$2" -v c="$3" '$1 == s && $2 == d && (!n++ || $c != last) { last = $c; printf "%s%s", sep, $c; sep = " " }
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
	is "262143328000 262143329350" values powercap package-0 4
ok "a counter that only grows" is "7000000 9000000" values powercap package-1 4
ok "a part is named inside its package" is 5000 values powercap package-0/core 4
ok "once a second" test "$(grep -c '	package-0/core	' r/power.tsv)" -ge 3
ok "so is the memory" is 100 values powercap package-0/dram 4
ok "a meter in watts" is 231.500000 values hwmon power_meter@hwmon2/power1 5
ok "what does not apply is empty" is "" values hwmon power_meter@hwmon2/power1 4
ok "the same package through other registers is left out" \
	test "$(cut -f 2 r/power.tsv | sort -u | wc -l)" = 6 # heading included
ok "the sources are told" is powercap,hwmon info .info.source
outside() {
	exits 0 collect -- sleep 0.1 && awk -v a="$(jq .window.start_ns r/run.json)" -v b="$(jq .window.end_ns r/run.json)" '
		NR > 1 && $3 <= a { before = $3 } NR > 1 && $3 >= b && !after { after = $3 }
		END { exit !(before && after && a - before < 50e6 && after - b < 50e6) }' r/power.tsv
}
steady "readings just outside of the window" outside

echo 3000 >sys/class/powercap/intel-rapl:0/max_energy_range_uj # cannot be: the counter is beyond it
echo 9000 >sys/class/powercap/intel-rapl:0/energy_uj
ok "a counter that is set back" exits 4 collect -- sh -c "sleep 0.2; echo 1 >sys/class/powercap/intel-rapl:0/energy_uj"
ok "is said" says 'package-0: the energy counter was set back' err
ok "no reading of it is made up" is 9000 values powercap package-0 4
ok "the others are kept" is 9000000 values powercap package-1 4

# Where it could have gone round: 257 kJ in less than a second is no power that a package draws.
zone intel-rapl:0 package-0 262143328850 5000000000
ok "a counter that is set back far from its end" exits 4 collect -- sh -c \
	"sleep 0.2; echo 1000 >sys/class/powercap/intel-rapl:0/energy_uj"
ok "is no wrap" says 'package-0: the energy counter was set back' err
ok "no reading of it is made up either" is 5000000000 values powercap package-0 4

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

# --- perf's energy events: a PMU in a fake /sys that is in truth the kernel's CPU clock, which runs at 1e9 a second on
# every CPU, idle or not. Counted in nanojoules that is one watt.
pmu=sys/bus/event_source/devices/power
mkdir -p $pmu/events $pmu/format sys/devices/system/cpu/cpu0/topology
echo 1 >$pmu/type
echo config:0-7 >$pmu/format/event
echo 0 >$pmu/cpumask
echo 3 >sys/devices/system/cpu/cpu0/topology/physical_package_id
for e in pkg cores psys; do
	echo event=0x00 >$pmu/events/energy-$e
	echo 1.0e-9 >$pmu/events/energy-$e.scale
	echo Joules >$pmu/events/energy-$e.unit
done
echo 2.0e-9 >$pmu/events/energy-psys.scale
echo event=0x00 >$pmu/events/energy-ram # no unit: of what?
if ! perf stat -C 0 -e cpu-clock true 2>/dev/null; then
	skip "perf's energy events" "perf_event_open is not allowed here"
else
	watts() { # watts NAME: from the store
		sqlite3 r/zcost.db "SELECT round(value, 2) FROM metric WHERE name = 'power_w:$1'"
	}
	energy() { # what is read takes its time after the clock, on a busy machine
		exits 0 collect -- sleep 0.3 && exits 0 "$zcost" analyze r && near "$(watts package)" 1 0.03 &&
			near "$(watts platform)" 2 0.06
	}
	steady "perf's energy events: one watt by scale and time, two by the other scale" energy
	ok "its core is not added to the package" near "$(watts package/perf/package-3/core)" "$(watts package)" 0.03
	ok "they are the source" is perf info .info.source
	ok "their domains are named by socket" is "package-3 package-3/core psys " \
		sh -c "awk -F'\t' 'NR > 1 { print \$2 }' r/power.tsv | sort -u | tr '\n' ' '"
	echo event=0x100 >$pmu/events/energy-pkg # more bits than the field has
	ok "a damaged event" exits 0 collect -- true
	ok "is left out" sh -c "! grep -q 'package-3	' r/power.tsv"
	echo event=0x00 >$pmu/events/energy-pkg
	zone intel-rapl:0 package-0 262143328850 1000
	ok "powercap has the same counters" exits 0 collect -- true
	ok "and then perf is not asked" is powercap info .info.source
	rm -r sys/class/powercap
fi
rm -r sys/bus

# --- the board's controller, by a fake ipmitool that says what real ones say ---

mkdir bin
fake() { # fake STATUS: ipmitool prints what stands on stdin
	{ echo '#!/bin/sh'; echo 'echo "$*" >ipmi.args'; echo "cat <<'END'"; cat; echo END; echo "exit $1"; } >bin/ipmitool
	chmod +x bin/ipmitool
}
reading() { # reading WATTS STATE
	printf '\n    Instantaneous power reading:                   %s Watts\n' "$1"
	printf '    Minimum during sampling period:                 18 Watts\n    Maximum during sampling period:                436 Watts\n'
	printf '    Average power reading over sample period:      208 Watts\n    IPMI timestamp:                           Thu Sep 26 15:27:13 2013\n'
	printf '    Sampling period:                          00000005 Seconds.\n    Power reading state is:                   %s\n\n\n' "$2"
}
refuses() { # refuses PATTERN: with the fake as it is
	exits 4 collect -- true && says "$1" err && [ ! -e r/power-ipmi.snap ]
}
PATH=$scratch/bin:$PATH
reading 231 activated | fake 0
ok "ipmitool" exits 0 collect --duration 0.2 --grace 0 -- sleep 5
ok "was asked for dcmi" is "dcmi power reading" cat ipmi.args
ok "a source" is ipmi info .info.source
ok "before and after the window" sh -c "test \$(grep -c '^@' r/power-ipmi.snap) -ge 3"
ok "analyzed" exits 0 "$zcost" analyze r
ok "the instantaneous reading, as wall power" near "$(sqlite3 r/zcost.db "SELECT value FROM metric WHERE name = 'power_w:wall'")" 231 1e-9
ok "doctor knows it too" sh -c "'$zcost' doctor --format tsv power | grep -q '^power	power	yes	ipmi'"
ok "asking whether a program answers leaves /dev/null a device" test -c /dev/null
reading 231 deactivated | fake 0
ok "and why not" sh -c "'$zcost' doctor --format tsv power | grep -q '^power	power	no	.*reading is deactivated'"
ok "a reading that is switched off" refuses "no power source: .*BMC's power reading is deactivated"
reading 0 activated | fake 0
ok "a board that reads nothing" refuses 'reads 0 W: it has no power meter'
echo 'Could not open device at /dev/ipmi0 or /dev/ipmi/0 or /dev/ipmidev/0: No such file or directory' | fake 1
ok "no controller" refuses 'exited with status 1: Could not open device at /dev/ipmi0'
printf '\n    DCMI request failed because: Invalid command (c1)\n' | fake 1
ok "a controller without dcmi" refuses 'DCMI request failed because: Invalid command'
printf '\n    A valid DCMI command was not returned! (0)\n' | fake 0
ok "one that says so without a failure" refuses 'A valid DCMI command was not returned'
fake 0 </dev/null
ok "one that says nothing" refuses 'it prints nothing'
ok "beside another source it is no fault" exits 0 collect --power-csv meter.csv -- true
ok "but told" is 'ipmitool dcmi power reading: it prints nothing' info .info.ipmi
rm bin/ipmitool

# --- a command that prints watts ---

wall() { # wall [KIND]: its watts in the store; a pause of the machine is a gap in them, exit 4
	"$zcost" analyze r >/dev/null 2>err || [ $? = 4 ] || return
	sqlite3 r/zcost.db "SELECT round(value, 3) FROM metric WHERE name = 'power_w:${1:-wall}'"
}
ok "a command that prints one reading" exits 0 collect --power-command 'echo watts 42.5' --duration 0.2 --grace 0 -- sleep 5
ok "is run again" sh -c "test \$(grep -c '^watts 42.5' r/power-command.snap) -ge 2"
ok "its watts" is 42.5 wall
ok "a command that goes on" exits 0 collect --duration 0.3 \
	--power-command 'package=echo PkgWatt; while echo 7 W; do sleep 0.05; done' --grace 0 -- sleep 5
ok "was run once" is 1 grep -c '^PkgWatt' r/power-command.snap
ok "of the kind it was said to be" is 7.0 wall package
ok "a heading is no reading, and no fault" sh -c "sqlite3 r/zcost.db 'SELECT severity, vals FROM note WHERE kind = \"power_bad_answers\"' |
	grep -q \"^info|.*power by the command.*,1\.0,.*PkgWatt\""
long=100$$ # seconds, of this test alone
ok "a command that hangs after its first reading, in a child" exits 4 collect --duration 0.1 \
	--power-command "echo 5; sleep ${long}1 & sleep ${long}2; true" --grace 0 -- sleep 5
ok "is told" says 'no reading for' err
ok "and nothing of it is left" sh -c "! ps -eo args | grep -q '^sleep ${long}[12]'"
ok "there is no figure of it" exits 4 "$zcost" analyze r
ok "and the reason is" test "$(sqlite3 r/zcost.db "SELECT COUNT(*) FROM note WHERE kind IN ('power_few_readings', 'power_not_covered')")" -ge 1
ok "a command that fails" exits 4 collect --power-command 'echo no such meter >&2; exit 3' -- true
ok "with what it said" says 'power: .*exited with status 3: no such meter' err
ok "one that prints words" exits 4 collect --power-command 'echo hello' -- true
ok "is told what is wanted" says "'hello' is not a reading; a line is to hold a number" err
ok "one that gives up" exits 4 collect --duration 2.5 --power-command 'test -e once && exit 1; touch once; echo 5' --grace 0 -- sleep 5
ok "is said" says 'exited with status 1.*' err
ok "two commands, of two kinds" exits 0 collect --duration 0.3 --power-command 'echo 300' \
	--power-command 'package=while echo 7; do sleep 0.05; done' --grace 0 -- sleep 5
ok "are both in the run" is '["power-command.snap","power-command-2.snap"]' info '|.files|tostring'
ok "each of its kind" is "300.0 7.0" echo "$(wall) $(wall package)"
ok "by its own name" is "power_w:package/command/power power_w:wall/command/power " sh -c "sqlite3 r/zcost.db \"SELECT name
	FROM metric WHERE name LIKE 'power_w:%/command/%' ORDER BY name\" | tr '\n' ' '"
ok "the second one fails" exits 4 collect --power-command 'echo 300' --power-command 'other=exit 3' -- true
ok "and is named" says 'power: exit 3: exited with status 3' err
ok "two of one kind, exit 2" exits 2 collect --power-command 'echo 1' --power-command 'wall=echo 2' -- true
ok "are both told" says "two commands of wall power: 'echo 1' and 'echo 2'; one of each kind may be given" err
ok "of a capture there is one" exits 2 "$zcost" capture -o c --variant a --power-command 'echo 1' --power-command 'package=echo 2' -- true
ok "and it says so" says "power-command twice: a capture takes one \('echo 1' or 'package=echo 2'\)" err
ok "no command, exit 2" exits 2 collect --power-command 'wall= ' -- true
if [ "$(nproc)" -gt 1 ]; then
	ok "it keeps off the measured CPUs" exits 0 collect --cpus 0 --duration 0.1 \
		--power-command 'grep Cpus_allowed_list /proc/self/status >cpus; echo 5' --grace 0 -- sleep 5
	ok "as the kernel tells" sh -c "! grep -Eq '[[:space:]](0|0[-,].*)\$' cpus"
else
	skip "it keeps off the measured CPUs" "there is one CPU"
fi

ok "nothing at all, and asked for" exits 4 collect -- true
ok "the reason names the ways out" says 'no power source: .*ipmitool .*--power-command.*--power-csv' err
ok "unsupported in run.json, no file" is 'unsupported ' info '|.state + " " + (.files|join(","))'
ok "nothing at all where it is only usual" exits 0 "$zcost" collect -o r --pass measure -- true
ok "too many logs" exits 2 collect --power-csv a --power-csv b --power-csv c --power-csv d --power-csv e -- true

done_testing
