#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# report functions --perf-report reads the columns that perf report can print, in any order, also with
# call graphs between the rows. Each text comes from this machine's perf and is compared with perf report -t.
. "$(dirname "$0")/../lib.sh"

functions() { # functions FILE OPTION...: writes the table as tsv into got
	file=$1
	shift
	"$zcost" report functions --all --perf-report "$file" --format tsv "$@" >got 2>err
}
refuses() { # refuses PATTERN TEXT
	printf '%b' "$2" | "$zcost" report functions --perf-report - >out 2>err && { cat out; return 1; }
	says "$1" err
}

# Two addresses of one object, of which one calls the other.
cat >addresses <<'END'
# Samples: 10  of event 'cycles'
# Event count (approx.): 10
#
# Children      Self  Command  Shared Object  Symbol
# ........  ........  .......  .............  ......
#
    90.00%    50.00%  x        libx.so        [.] 0x0000000000001000
    80.00%    30.00%  x        libx.so        [.] 0x0000000000002000
    70.00%    20.00%  x        libx.so        [.] known
END
totals() { "$zcost" report functions --perf-report addresses --format tsv 2>err | tsv '{ print $1, $at["self_share"], $at["total_share"] }'; }
ok "several addresses in one row have no total, for they overlap" is "$(totals | paste -sd,)" "[unresolved] 80 ,known 20 70"

# --- tables of this machine's perf ---

perf record -q -g -F 999 -e cpu-clock,page-faults -o data -- \
	perl -e 'while (((times)[2] + (times)[3]) < 0.5) { system("ls -l /usr/bin >/dev/null") && last }' >/dev/null 2>&1
report() { perf report -i data --stdio "$@" 2>/dev/null; }

# same OPTION...: compares symbol, self and children of each row with perf report -t '|'
same() {
	report "$@" >text
	report "$@" -g none -t '|' | awk -F'|' '
		function cell(i) { gsub(/^ +| +$/, "", $i); return $i }
		/^# Samples/ { if (tables++) exit; next }
		/^# .*Symbol/ { sub(/^# /, ""); for (i = 1; i <= NF; i++) at[cell(i)] = i; next }
		/^#|^$/ { next }
		{ s = cell(at["Symbol"]); sub(/^.*\[.\] */, "", s)
		  d = ("Shared Object" in at) ? cell(at["Shared Object"]) : ""
		  o = cell(("Self" in at) ? at["Self"] : at["Overhead"])
		  c = ("Children" in at) ? cell(at["Children"]) : ""
		  self[s "\t" d] += o; total[s "\t" d] += c; n[s "\t" d]++ }
		END { for (k in self) printf "%s\t%.2f\t%.2f\n", k, self[k], total[k] }' | LC_ALL=C sort >theirs
	functions text || { cat err; return 1; }
	awk -F'\t' 'NR > 1 { printf "%s\t%s\t%.2f\t%.2f\n", $1, $2, $4, $5 }' got | LC_ALL=C sort >ours
	[ "$(wc -l <theirs)" -gt 20 ] && diff theirs ours
}
if [ -s data ] && report -g none --sort symbol | grep -q '%'; then
	ok "perf report --sort symbol is read" same -g none --sort symbol
	ok "perf report --sort comm,dso,symbol is read" same -g none --sort comm,dso,symbol
	ok "perf report --sort symbol,comm,dso is read" same -g none --sort symbol,comm,dso
	ok "perf report --sort cpu,pid,symbol is read" same -g none --sort cpu,pid,symbol
	ok "perf report --sort time,comm,symbol is read" same -g none --sort time,comm,symbol
	ok "perf report with samples and periods is read" same -g none -n --no-children -F overhead,sample,period,comm,sym,dso
	ok "perf report --showcpuutilization is read" same -g none --showcpuutilization --sort symbol
	ok "perf report with call graphs between the rows is read" same --sort dso,symbol
	ok "perf report -g caller is read" same -g caller --sort symbol
	ok "perf report -g flat is read" same -g flat --sort symbol
	ok "perf report -g folded is read" same -g folded --sort symbol
	ok "perf report with counts in its chains is read" same -g graph,0.5,callee,function,count --no-children --sort comm,symbol

	report -g none --sort dso,symbol >text
	functions text
	ok "a text with two events gives the first table, and a note says so" says '^zcost: the text holds 2 tables; this is the table of cpu-clock; --event picks another \(cpu-clock, page-faults\)' err
	report -g none --sort symbol >text
	functions text --event page-faults
	ok "--event picks the second table" says 'samples of page-faults' err
	faults=$(report -g none --sort symbol | awk '/page-faults/ { on = 1 } on && /%/ { sub(/.*\[.\] /, ""); sub(/  .*/, ""); print; exit }')
	ok "--event shows the rows of the second table" says "^$faults	" got
	ok "an unknown event is refused" sh -c '! "$1" report functions --perf-report text --event cycles 2>err' - "$zcost"
	ok "the message lists the events of the text" says "text: no table of the event 'cycles'; there are: cpu-clock, page-faults" err

	report -g none --sort comm,dso >text
	ok "report functions refuses a text without a symbol column" sh -c '! "$1" report functions --perf-report text 2>err' - "$zcost"
	ok "the message says that the text has no symbol column" says 'has no Symbol column' err
	report --hierarchy -g none --sort comm,dso,symbol >text
	ok "perf report --hierarchy is refused" sh -c '! "$1" report functions --perf-report text 2>err' - "$zcost"
	ok "the message says that rows count twice with --hierarchy" says 'line [0-9]+: the rows of perf report --hierarchy include' err
	perf diff data data >text 2>/dev/null
	ok "perf diff is refused" sh -c '! "$1" report functions --perf-report text 2>err' - "$zcost"
	ok "the message says that perf diff has no shares" says 'perf diff holds differences' err
else
	skip "texts of this machine's perf report" "perf record does not work here"
fi

# --- perf top ---

printf '\033[H\033[J   PerfTop:     247 irqs/sec  kernel:57.5%%  exact:  0.0%% lost: 0/0 drop: 0/0 [4000Hz cpu-clock],  (all, 2 CPUs)\n-------------------------------------------------------------------------------\n\n    13.77%%  [kernel]                 [k] handle_softirqs\n     9.01%%  libc.so.6                [.] __strcmp_avx2\n' >top
printf '\033[H\033[J   PerfTop:     301 irqs/sec  kernel:60.0%%  exact:  0.0%% lost: 0/0 drop: 0/0 [4000Hz cpu-clock],  (all, 2 CPUs)\n-------------------------------------------------------------------------------\n\n    12.00%%  [kernel]                 [k] handle_softirqs\n' >>top
ok "a text of perf top is read" functions top
ok "a text with two lists of perf top gives the first list" test "$(awk -F'\t' 'NR > 1 { print $1, $2, $4 }' got)" = 'handle_softirqs [kernel] 13.77
__strcmp_avx2 libc.so.6 9.01'
ok "a note says that the text has two lists" says 'the text holds 2 tables; this is the first' err

# --- source lines: typed in, because perf is slow to resolve them ---

printf '# Overhead  Source:Line                     Symbol\n# ........  ..............................  ......\n#\n     2.00%%  pv_native_safe_halt+11          [k] pv_native_safe_halt\n     1.00%%  a file.c:12                     [.] f\n' >lines
ok "a table with source lines is read" functions lines
ok "source lines between the columns do not change the symbols" test "$(awk -F'\t' 'NR > 1 { print $1, $4 }' got)" = 'pv_native_safe_halt 2
f 1'

# --- damaged tables ---

above='# Children  Self  Command  Symbol\n# ........  ....  .......  ......\n#\n   111.54%  0.00%  ls       [k] 0x1\n'
printf '%b' "$above" >text
ok "a share of children above 100 % is taken, as perf counts some chains twice" sh -c "'$zcost' report functions --all --perf-report text --format tsv 2>err | grep -q '111.54'"
ok "a self share above 100 % is refused" refuses 'line 5: the share is above 100' "$above    11.54%  103.00%  ls       [k] 0x2\n"
done_testing
