#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Power from fake /sys trees, commands and logs: counters that wrap, meters, no source.
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

# values SOURCE DOMAIN COLUMN: the column of each reading that differs from the one before, in order. There is one
# reading a second, and a busy machine may need another second.
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

mkdir -p sys/class/powercap/intel-rapl # the control type itself has no counter
zone intel-rapl:0 package-0 262143328850 262143328000
zone intel-rapl:0:0 core 262143328850 5000
zone intel-rapl:0:1 dram 65712999613 100
zone intel-rapl:1 package-1 262143328850 7000000
zone intel-rapl-mmio:0 package-0 262143328850 9
ZCOST_SYSFS=$PWD/sys
export ZCOST_SYSFS

# Package 0's counter wraps once within the window, package 1's does not.
ok "collect reads powercap" exits 0 collect -- sh -c "
	sleep 0.3; echo 500 >sys/class/powercap/intel-rapl:0/energy_uj
	sleep 1; echo 9000000 >sys/class/powercap/intel-rapl:1/energy_uj"
ok "a counter that wraps continues above its maximum" \
	is "262143328000 262143329350" values powercap package-0 4
ok "power.tsv has the readings of a counter that only grows" is "7000000 9000000" values powercap package-1 4
ok "a domain inside a package has the package's name in front" is 5000 values powercap package-0/core 4
ok "each domain is read once a second" test "$(grep -c '	package-0/core	' r/power.tsv)" -ge 3
ok "the DRAM domain has its package's name in front" is 100 values powercap package-0/dram 4
ok "power.tsv omits the same package's counter in other registers" \
	test "$(cut -f 2 r/power.tsv | sort -u | wc -l)" = 5 # heading included
ok "run.json names the source powercap" is powercap collector power .info.source
outside() {
	exits 0 collect -- sleep 0.1 && awk -v a="$(jq .window.start_ns r/run.json)" -v b="$(jq .window.end_ns r/run.json)" '
		NR > 1 && $3 <= a { before = $3 } NR > 1 && $3 >= b && !after { after = $3 }
		END { exit !(before && after && a - before < 50e6 && after - b < 50e6) }' r/power.tsv
}
steady "power is read just before and just after the window" outside

echo 3000 >sys/class/powercap/intel-rapl:0/max_energy_range_uj # impossible: the counter is above it
echo 9000 >sys/class/powercap/intel-rapl:0/energy_uj
ok "collect exits 4 when an energy counter is set back" exits 4 collect -- sh -c "sleep 0.2; echo 1 >sys/class/powercap/intel-rapl:0/energy_uj"
ok "the warning names the counter that was set back" says 'package-0: the energy counter was set back' err
ok "power.tsv has no further reading of the counter that was set back" is 9000 values powercap package-0 4
ok "the other counters have all their readings" is 9000000 values powercap package-1 4

# Here a wrap is possible, but no package uses 257 kJ in less than a second.
zone intel-rapl:0 package-0 262143328850 5000000000
ok "collect exits 4 when a counter is set back far from its maximum" exits 4 collect -- sh -c \
	"sleep 0.2; echo 1000 >sys/class/powercap/intel-rapl:0/energy_uj"
ok "a counter that is set back far from its maximum does not count as wrapped" says 'package-0: the energy counter was set back' err
ok "power.tsv has no reading of that counter after it was set back" is 5000000000 values powercap package-0 4

# A read of /proc/self/mem at 0 fails with EIO.
zone intel-rapl:1 package-1 262143328850 7000000
ln -sf /proc/self/mem sys/class/powercap/intel-rapl:0/name
ok "collect exits 4 when the name of an energy counter cannot be read" exits 4 collect -- true
ok "the warning names the file of the name" says 'powercap/intel-rapl:0/name: .*Input/output error' err
ok "the other counters are read beside one whose name cannot be read" is 7000000 values powercap package-1 4

rm -r sys/class/powercap
printf 'time,watts\n1,2\n' >meter.csv
ok "collect accepts a --power-csv file as the only source" exits 0 collect --power-csv meter.csv -- sleep 0.1
ok "the --power-csv file is copied byte for byte" cmp meter.csv r/power.csv
ok "run.json names the source csv" is csv collector power .info.source
ok "collect exits 4 when a --power-csv file is missing" exits 4 collect --power-csv absent.csv -- true
ok "the warning names the missing --power-csv file" says 'absent.csv' err

# --- a command that prints watts ---

wall() { # wall [KIND]: its watts in the store. A pause of the machine is a gap in them: analyze exits 4.
	"$zcost" analyze r >/dev/null 2>err || [ $? = 4 ] || return
	sqlite3 r/zcost.db "SELECT round(value, 3) FROM metric WHERE $spelled = 'power_w:${1:-wall}'"
}
ok "collect accepts a --power-command that prints one reading" exits 0 collect --power-command 'echo watts 42.5' --duration 0.2 --grace 0 -- sleep 5
ok "a --power-command that prints one reading runs several times" sh -c "test \$(grep -c '^watts 42.5' r/power-command.snap) -ge 2"
ok "the watts of a --power-command are the wall power" is 42.5 wall
ok "collect accepts a --power-command that keeps printing" exits 0 collect --duration 0.3 \
	--power-command 'package=echo PkgWatt; while echo 7 W; do sleep 0.05; done' --grace 0 -- sleep 5
ok "a --power-command that keeps printing runs once" is 1 grep -c '^PkgWatt' r/power-command.snap
ok "'package=' before a --power-command sets its kind" is 7.0 wall package
ok "a heading of a --power-command is not a reading and only a note of level info" sh -c "sqlite3 r/zcost.db 'SELECT severity, vals FROM note WHERE kind = \"rows_unreadable\"' |
	grep -q '^info|.*power-command.snap'"
long=100$$ # seconds; no other test sleeps this long
ok "collect exits 4 when a --power-command hangs after its first reading" exits 4 collect --duration 0.1 \
	--power-command "echo 5; sleep ${long}1 & sleep ${long}2; true" --grace 0 -- sleep 5
ok "the warning reports that readings are missing" says 'no reading for' err
ok "no process of the hanging --power-command is left" sh -c "! ps -eo args | grep -q '^sleep ${long}[12]'"
ok "analyze exits 4 without enough power readings" exits 4 "$zcost" analyze r
ok "a note gives the reason for the missing power" test "$(sqlite3 r/zcost.db "SELECT COUNT(*) FROM note WHERE kind = 'coverage_too_small'")" -ge 1
ok "collect exits 4 when a --power-command fails" exits 4 collect --power-command 'echo no such meter >&2; exit 3' -- true
ok "the warning quotes the error of the --power-command" says 'power: .*exited with status 3: no such meter' err
ok "collect exits 4 when a --power-command prints words" exits 4 collect --power-command 'echo hello' -- true
ok "the warning quotes the words and names the expected format" says "'hello' is not a reading; a line is to hold a number" err
ok "collect exits 4 when a --power-command fails after its first reading" exits 4 collect --duration 2.5 --power-command 'test -e once && exit 1; touch once; echo 5' --grace 0 -- sleep 5
ok "the warning has the exit status of the --power-command" says 'exited with status 1.*' err
ok "an empty --power-command is a usage error" exits 2 collect --power-command 'wall= ' -- true
if [ "$(nproc)" -gt 1 ]; then
	ok "a --power-command runs while CPU 0 is measured" exits 0 collect --cpus 0 --duration 0.1 \
		--power-command 'grep Cpus_allowed_list /proc/self/status >cpus; echo 5' --grace 0 -- sleep 5
	ok "a --power-command does not run on the measured CPUs" sh -c "! grep -Eq '[[:space:]](0|0[-,].*)\$' cpus"
else
	skip "a --power-command does not run on the measured CPUs" "there is one CPU"
fi

ok "collect --collect power exits 4 without a power source" exits 4 collect -- true
ok "the warning names --power-command and --power-csv" says 'no power source: .*--power-command.*--power-csv' err
ok "run.json marks power as unsupported and lists no file" is 'unsupported ' collector power '.state + " " + (.files|join(","))'
ok "collect --pass measure exits 0 without a power source" exits 0 "$zcost" collect -o r --pass measure -- true

done_testing
