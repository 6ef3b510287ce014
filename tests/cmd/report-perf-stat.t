#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# report counters --perf-stat: what perf stat prints, in every layout that this machine's perf has
# and in others that it has not, against the text's own figures.
. "$(dirname "$0")/../lib.sh"

counters() { # counters FILE OPTION...: as tsv, into got; notes into err
	file=$1
	shift
	"$zcost" report counters --perf-stat "$file" --format tsv "$@" >got 2>err
}

# value NAME [COLUMN]: of a row of `got`
value() {
	awk -F'\t' -v name="$1" -v column="${2:-value}" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["name"] == name { print $at[column] }' got
}
is() { [ "$(value "$1" "${3:-value}")" = "$2" ] || { echo "$1: '$(value "$1" "${3:-value}")', expected '$2'"; cat got err; return 1; }; }
refuses() { # refuses PATTERN TEXT: given as standard input
	printf '%b' "$2" | "$zcost" report counters --perf-stat - >out 2>err && { cat out; return 1; }
	says "$1" err
}

# --- this machine's perf ---

works=$(perf stat -a -e cpu-clock true 2>&1 | grep -c 'cpu-clock')
if [ "$works" = 0 ]; then
	skip "layouts of this machine's perf" "perf stat does not work here"
else
	# Each layout says the same of one run; -I has the most rows. Both events as CPUs and intervals add up.
	layout() { # layout OPTION...: the sum of perf's own figures is ours
		perf stat -a "$@" -x\; -e cpu-clock,context-switches sleep 0.1 2>text || return
		awk -F';' '{ for (i = 1; i <= NF; i++) if ($i == "cpu-clock") ms += $(i - 2)
			else if ($i == "context-switches") n += $(i - 2) } END { printf "%.2f %d\n", ms, n }' text >sums
		counters text || { cat err text; return 1; }
		read -r ms switches <sums
		near "$(value counter:cpu-clock)" "$ms" 0.011 && is counter:context-switches "$switches"
	}
	ok "all in one" layout
	ok "each CPU" layout -A
	ok "each socket" layout --per-socket
	ok "each core" layout --per-core
	ok "each interval" layout -I 30
	ok "each CPU and interval" layout -I 30 -A
	ok "that rows are added up is said" says 'rows of CPUs, threads or intervals are added up' err

	text_of() { # text_of OPTION...: figures that the text, too, has in plain digits
		LC_ALL=C perf stat -a "$@" -e cpu-clock,context-switches sleep 0.1 2>text || return
		counters text || { cat err text; return 1; }
		near "$(value counter:cpu-clock)" "$(awk '{ for (i = 2; i <= NF; i++) if ($i == "cpu-clock") s += $(i - 2) } END { print s }' text)" 0.011 &&
			is counter:context-switches "$(awk '{ for (i = 2; i <= NF; i++) if ($i == "context-switches") s += $(i - 1) } END { print s }' text)"
	}
	ok "the text" text_of
	ok "its elapsed time" near "$(value elapsed_ms)" "$(awk '/elapsed/ { print 1000 * $1 }' text)" 0.001
	ok "CPU use is worked out: the clock of all CPUs / elapsed" near "$(value cpu_pct)" \
		"$(awk '/cpu-clock/ { c = $1 } /elapsed/ { e = $1 } END { print c / e / 10 }' text)" 0.01
	ok "the text of each CPU" text_of -A
	ok "the text of each socket" text_of --per-socket
	ok "the text of intervals" text_of -I 30
	if perf stat -j -a -e cpu-clock true 2>json; then
		ok "JSON" counters json
		ok "the clock in it" near "$(value counter:cpu-clock)" "$(sed -n 's/.*"counter-value" : "\([0-9.]*\)".*/\1/p' json)" 0.001
	else
		skip "JSON" "this perf has no -j"
	fi
	perf stat -r 3 -e task-clock true 2>text
	ok "repeats are seen" counters text
	ok "how many" is counter:task-clock 3 runs
	ok "with an interval around" awk -F'\t' '$3 == "counter:task-clock" { exit !($5 <= $4 && $4 <= $6 && $5 < $6) }' got
fi

# --- other versions and places ---

printf '\302\240Performance counter stats for "ls":\n
          3\342\200\257254,38 msec task-clock                #    0,995 CPUs utilized\n  1\342\200\257208\342\200\257000\342\200\257453      cycles:u                  #    3,254 GHz                      (65,65%%)\n  1\302\240643\302\240737\302\240756      instructions:u            #    1,36  insn per cycle           (65,67%%)\n   <not counted>      branches\n
       3,270733042 seconds time elapsed\n' >french
ok "groups apart by narrow and by wide no-break spaces" counters french
ok "a French count" is counter:cycles:u 1208000453
ok "a French time" is counter:task-clock 3254.38
ok "under the same modifier: IPC" near "$(value ipc:u)" 1.360709 0.00001
ok "what was not counted has no figure" is counter:branches ''
ok "but its state" is counter:branches "<not counted>" state
ok "and it is named" says 'not counted, or only in part: branches' err

printf "       1'234'567      cycles\n      0.50 seconds user\n" >swiss
ok "apostrophes" counters swiss
ok "a Swiss count" is counter:cycles 1234567
printf '  12,34,567      cycles\n     1.001 seconds time elapsed\n' >indian
ok "lakhs" counters indian
ok "an Indian count" is counter:cycles 1234567
printf '  1,234 cycles\n' | "$zcost" report counters --perf-stat - --format tsv >got 2>err
ok "a count is whole where nothing tells" is counter:cycles 1234

printf ' 0.661438 task-clock (msec)         #    0.001 CPUs utilized    [33.31%%]\n 57 page-faults\n 1.000861 seconds time elapsed\n' >old
ok "perf 3 and 4" counters old
ok "their clock" is counter:task-clock 0.661438
ok "their share of the time" is counter:task-clock 33.31 running_pct
printf '12.50,Joules,power/energy-pkg/,1.50%%,1000,100.00,,\n1234,,cpu/event=0x3c,umask=0x0/,1000,50.00,,\n,,,,,0.5,metric\n' >csv
ok "a unit, a spread, and an event with commas" counters csv
ok "joules" is counter:power/energy-pkg/ J unit
ok "the event in one" is counter:cpu/event=0x3c,umask=0x0/ 1234
printf '            bash-42         1.50 msec task-clock\n      Web Content-43         0.50 msec task-clock\n\n 0.1 seconds time elapsed\n' >threads
ok "threads" counters threads
ok "add up" is counter:task-clock 2
printf 'CPU0  10 cycles\nCPU1  <not counted>  cycles\nCPU0 5 instructions\nCPU1 5 instructions\n' >part
ok "a sum that lacks a part" counters part
ok "is none" is counter:cycles ''
ok "the other is one" is counter:instructions 10

# --- work, and what is refused ---

printf '40,,cycles,1,100.00,,\n' >work
ok "per unit of work" counters work --units 10 --unit packet
ok "cycles per packet" is cycles_per_packet 4
printf ' 4,000 cycles\n  2.0 seconds time elapsed\n' >work
ok "by a rate and perf's time" counters work --rate 1000 --unit packet
ok "the same" is cycles_per_packet 2

ok "a damaged count is refused by its line" refuses 'standard input, line 1: a count that cannot be read' \
	' 12x4 cycles\n 0.1 seconds time elapsed\n'
ok "a row without an event" refuses 'line 2: a count without an event' ' 5 cycles\n 12  # 3 GHz\n'
ok "two decimal marks in one output" refuses 'line 2: a number with another decimal mark than in line 1' \
	' 1.5 msec task-clock\n 1.234,5 cycles\n'
ok "-x, in a locale with a comma" refuses 'line 1: not a row of perf stat -x' \
	'1,5,msec,task-clock,100,100,00\n2,,cycles,1,100.00,,\n'
ok "-j in such a locale" refuses 'line 1: .*LC_ALL=C' '{"counter-value" : "1,5", "event" : "cycles", "metric-value" : 0,5}\n'
ok "no counter at all" refuses 'no counter in its' 'hello\n'
ok "an empty file" exits 1 "$zcost" report counters --perf-stat /dev/null
ok "split by CPU" exits 2 "$zcost" report counters --perf-stat old --cpu 1
ok "another table" exits 2 "$zcost" report functions --perf-stat old
ok "and without a file" exits 2 "$zcost" report counters --throughput 1
done_testing
