#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compares report counters --perf-stat with the figures in the text, for every layout of this machine's
# perf stat and for typed-in texts of other versions and locales.
. "$(dirname "$0")/../lib.sh"
. "$tests/golden.sh"

counters() { # counters FILE OPTION...: writes the table as tsv into got and the notes into err
	file=$1
	shift
	"$zcost" report counters --perf-stat "$file" --format tsv "$@" >got 2>err
}

# value NAME [COLUMN]: prints a cell of `got`
value() { tsv '$at["name"] == name { print $at[column] }' name="$1" column="${2:-value}" got; }
is() { [ "$(value "$1" "${3:-value}")" = "$2" ] || { echo "$1: '$(value "$1" "${3:-value}")', expected '$2'"; cat got err; return 1; }; }
refuses() { # refuses PATTERN TEXT: passes TEXT on standard input
	printf '%b' "$2" | "$zcost" report counters --perf-stat - >out 2>err && { cat out; return 1; }
	says "$1" err
}

# --- this machine's perf ---

works=$(perf stat -a -e cpu-clock true 2>&1 | grep -c 'cpu-clock')
if [ "$works" = 0 ]; then
	skip "layouts of this machine's perf stat" "perf stat does not work here"
else
	layout() { # layout OPTION...: compares perf's counts with zcost's
		perf stat -a "$@" -x\; -e cpu-clock,context-switches sleep 0.1 2>text || return
		counters text || { cat err text; return 1; }
		near "$(value counter:cpu-clock)" "$(awk -F';' '/cpu-clock/ { print $1 }' text)" 0.011 &&
			is counter:context-switches "$(awk -F';' '/context-switches/ { print $1 }' text)"
	}
	ok "perf stat -x for all CPUs together is read" layout
	refused() { # refused OPTION...
		LC_ALL=C perf stat -a "$@" -e cpu-clock,context-switches sleep 0.1 2>text || return
		! "$zcost" report counters --perf-stat text >out 2>err
	}
	for option in '-x; -A' '-x; --per-socket' '-x; -I 30' -A --per-socket '-I 30' -j; do
		ok "perf stat $option, which prints parts or JSON, is refused" refused $option
	done

	text_of() { # text_of OPTION...: compares figures that the text has in plain digits
		LC_ALL=C perf stat -a "$@" -e cpu-clock,context-switches sleep 0.1 2>text || return
		counters text || { cat err text; return 1; }
		near "$(value counter:cpu-clock)" "$(awk '{ for (i = 2; i <= NF; i++) if ($i == "cpu-clock") s += $(i - 2) } END { print s }' text)" 0.011 &&
			is counter:context-switches "$(awk '{ for (i = 2; i <= NF; i++) if ($i == "context-switches") s += $(i - 1) } END { print s }' text)"
	}
	ok "the text of perf stat is read" text_of
	ok "the text gives the elapsed time" near "$(value elapsed_ms)" "$(awk '/elapsed/ { print 1000 * $1 }' text)" 0.001
	ok "the text gives the CPU use: the clock of all CPUs / elapsed time" near "$(value cpu_pct)" \
		"$(awk '/cpu-clock/ { c = $1 } /elapsed/ { e = $1 } END { print c / e / 10 }' text)" 0.01
	perf stat -r 3 -e task-clock true 2>text
	ok "the text of perf stat -r is read" counters text
	ok "the text of perf stat -r gives the number of runs" is counter:task-clock 3 runs
	ok "the text of perf stat -r gives an interval" awk -F'\t' '$3 == "counter:task-clock" { exit !($5 <= $4 && $4 <= $6 && $5 < $6) }' got
fi

# --- other versions and places ---

printf '\302\240Performance counter stats for "ls":\n
          3\342\200\257254,38 msec task-clock                #    0,995 CPUs utilized\n  1\342\200\257208\342\200\257000\342\200\257453      cycles:u                  #    3,254 GHz                      (65,65%%)\n  1\302\240643\302\240737\302\240756      instructions:u            #    1,36  insn per cycle           (65,67%%)\n   <not counted>      branches\n
       3,270733042 seconds time elapsed\n' >french

printf "       1'234'567      cycles\n      0.50 seconds user\n" >swiss
printf '  12,34,567      cycles\n     1.001 seconds time elapsed\n' >indian
printf '  1,234 cycles\n' >grouped # the comma groups digits when no other number decides

printf ' 0.661438 task-clock (msec)         #    0.001 CPUs utilized    [33.31%%]\n 57 page-faults\n 1.000861 seconds time elapsed\n' >old
printf '12.50,Joules,power/energy-pkg/,1.50%%,1000,100.00,,\n1234,,cpu/event=0x3c,umask=0x0/,1000,50.00,,\n,,,,,0.5,metric\n' >csv
printf '100,,cpu_core/cycles/,1,100.00,,\n250,,cpu_core/instructions/,1,100.00,,\n40,,cpu_atom/LLC-loads/k,1,100.00,,\n10,,cpu_atom/LLC-load-misses/k,1,100.00,,\n' >hybrid

# --- work, and refused texts ---

for text in french swiss indian grouped old csv hybrid; do
	run report counters --perf-stat $text --format csv --verbose
done
printf '40,,cycles,1,100.00,,\n' >work
run report counters --perf-stat work --units 10 --unit packet --format csv
printf ' 4,000 cycles\n  2.0 seconds time elapsed\n' >work
run report counters --perf-stat work --rate 1000 --unit packet --format csv # by perf's elapsed time

ok "a damaged count is refused with its line" refuses 'standard input, line 1: the count is not a number' \
	' 12x4 cycles\n 0.1 seconds time elapsed\n'
ok "a row without an event is refused" refuses 'line 2: the count has no event' ' 5 cycles\n 12  # 3 GHz\n'
ok "two decimal marks in one text are refused" refuses 'line 2: a number with another decimal mark than in line 1' \
	' 1.5 msec task-clock\n 1.234,5 cycles\n'
ok "a row of -x with a decimal comma is refused" refuses 'line 1: not a row of perf stat -x' \
	'1,5,msec,task-clock,100,100,00\n2,,cycles,1,100.00,,\n'
ok "a text without a counter is refused" refuses 'no counter in its' 'hello\n'
ok "an empty file exits 1" exits 1 "$zcost" report counters --perf-stat /dev/null
ok "--cpu with --perf-stat is a usage error" exits 2 "$zcost" report counters --perf-stat old --cpu 1
ok "a table other than counters with --perf-stat is a usage error" exits 2 "$zcost" report functions --perf-stat old
ok "report counters without a source is a usage error" exits 2 "$zcost" report counters --throughput 1
ok "texts of other versions and places are as in tests/data/golden/$golden.txt" is_golden
done_testing
