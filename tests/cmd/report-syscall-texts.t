#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compares report syscalls with the texts of strace -c and perf trace -s. This machine's programs make the
# texts where they work. Texts of other versions are typed in.
. "$(dirname "$0")/../lib.sh"

table() { # table OPTION FILE...: writes the table as tsv into got and the notes into err
	"$zcost" report syscalls --all --format tsv "$@" >got 2>err
}
cell() { # cell SYSCALL COLUMN
	awk -F'\t' -v key="$1" -v column="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["syscall"] == key { print $at[column] }' got
}
is() { [ "$(cell "$1" "$2")" = "$3" ] || { echo "$1 $2: '$(cell "$1" "$2")', expected '$3'"; cat got err; return 1; }; }
total() { # total COLUMN
	awk -F'\t' -v column="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { s += $at[column] } END { print s + 0 }' got
}
refuses() { # refuses OPTION PATTERN TEXT
	printf '%b' "$3" | "$zcost" report syscalls "$1" - >out 2>err && { cat out; return 1; }
	says "$2" err
}

# --- strace -c of this machine ---

# Compares names, calls, errors and seconds with the text, for every choice of columns.
strace_says() { # strace_says OPTION...
	strace -c -o text "$@" sh -c 'ls / >/dev/null; cat missing; true' 2>/dev/null || return
	table --strace-c text || { cat err text; return 1; }
	awk '/^[- ]+$/ { if (rows++) exit; next }
		!rows { for (i = 1; i <= NF; i++) if ($i != "%") { n++; at[$i == "time" ? "pct" : $i] = n }; next }
		{ e = (NF == n) ? $at["errors"] : 0
		  shift = (NF < n)
		  sc = $(at["syscall"] - (shift && at["syscall"] > at["errors"]))
		  calls = $(at["calls"] - (shift && at["calls"] > at["errors"]))
		  s = $(at["seconds"] - (shift && at["seconds"] > at["errors"]))
		  printf "%s %d %d %.6f\n", sc, calls, e, s }' text | sort >theirs
	awk -F'\t' 'NR > 1 { printf "%s %d %d %.6f\n", $2, $3, $4, $5 / 1000 }' got | sort >ours
	[ -s theirs ] && diff theirs ours
}
if strace -c -o text true 2>/dev/null && [ -s text ]; then
	ok "strace -c is read" strace_says
	ok "a note says what the time of strace -c may be" says 'CPU time in the kernel, or with -w the elapsed time of the call' err
	ok "no note says that the time includes waiting" sh -c "! grep 'includes waiting' err"
	ok "strace -c -f is read" strace_says -f
	ok "strace -c -w is read" strace_says -w
	ok "strace -c -S calls is read" strace_says -f -S calls
	ok "the calls add up to the text's total" test "$(total calls)" = "$(awk 'END { print $4 }' text)"
	if strace -c -U name,calls -o text true 2>/dev/null; then
		ok "strace -U with another order of columns is read" strace_says -U name,calls,errors,time-total,time-avg,time-percent
		ok "strace -U with errors in the last column is read" strace_says -f -U time-total,calls,name,errors
		ok "strace -U with the shortest and longest call is read" strace_says -f -U time-total,calls,errors,time-max,time-min,name
		ok "the mean of each call lies between the shortest and the longest" awk -F'\t' 'NR > 1 && ($6 > $7 + 0.001 || $8 < $7 - 0.001) { exit 1 }' got
		strace -c -U name,calls -o text true
		ok "strace -U with calls alone exits 0" table --strace-c text
		ok "calls without times have an empty total" is execve total_ms ''
	else
		skip "strace -U" "this strace has none"
	fi
	strace -C -o text sh -c 'cat missing' 2>/dev/null
	ok "strace -C with a table below its trace is read" table --strace-c text
	ok "the table of strace -C has the calls of its trace" test "$(total calls)" = "$(grep -c '^[a-z_0-9]*(.*= [-0-9]' text)"
else
	skip "strace -c" "strace does not work here"
fi

# --- other versions of strace ---

# strace up to 4.x has no usecs/call in the total.
old='%% time     seconds  usecs/call     calls    errors syscall\n------ ----------- ----------- --------- --------- ----------------\n'
printf "$old"' 75.00    0,000030           3        10         4 read\n 25.00    0.000010          10         1           write\n------ ----------- ----------- --------- --------- ----------------\n100.00    0.000040                    11         4 total\n' >text
ok "a table of strace 4 is read" table --strace-c text
ok "a table of strace 4 gives the errors" is read errors 4
ok "an empty errors cell of strace 4 is 0" is write errors 0
ok "no note counts the tables of a text with one table" sh -c "! grep 'the text holds' err"
cat text text >texts
ok "a text with two tables of all calls is read" table --strace-c texts
ok "a note says that the figures are those of the first table" says 'the text holds 2 tables; this is the first' err
ok "the second table adds no calls" is read calls 10
printf "$old"'  -nan    0.000000           0        10           read\n------ ----------- ----------- --------- --------- ----------------\n100.00    0.000000                    10           total\n' >text
ok "a table with -nan as share is read" table --strace-c text
printf 'System call usage summary for 64 bit mode:\n%b\n 100.00  0.000030  3  10  read\n--\n100.00 0.000030 3 10 total\nSystem call usage summary for 32 bit mode:\n%b\n 100.00 0.000010 2 5 1 read\n--\n100.00 0.000010 2 5 1 total\n' "$(printf "$old")" "$(printf "$old")" >text
ok "a text with tables for 64 bit and 32 bit calls is read" table --strace-c text
ok "calls of the 64 bit and 32 bit tables add up" is read calls 15
printf "$old"' 100.00  0.000030  3  10  read\n' >text
ok "a table without a total is read" table --strace-c text
ok "a note says that missing rows are undetectable without a total" says 'no total, so zcost cannot detect missing rows' err

head='% time seconds usecs/call calls errors syscall\n'
ok "a missing row is refused, because the total does not match" refuses --strace-c 'standard input, line 3: the total is not the sum' \
	"${head}75.00 0.000030 3 10 4 read\n100.00 0.000040 3 11 4 total\n"
ok "a damaged time is refused, because the mean does not match" refuses --strace-c 'line 2: seconds / calls is not usecs/call' \
	"${head}75.00 0.000930 3 10 4 read\n"
ok "fused columns are refused" refuses --strace-c 'line 2: the row does not fit the columns' "${head}75.00 0.000030 310 read\n"
ok "a row with an extra column is refused" refuses --strace-c 'line 2: the row has more columns than the heading' "${head}1 0.000030 3 10 4 5 read\n"
ok "a row with more errors than calls is refused" refuses --strace-c 'line 2: the row has more errors than calls' "${head}75.00 0.000030 3 10 44 read\n"
ok "a table without the calls column is refused" refuses --strace-c 'line 1: the table needs the columns calls and syscall' 'seconds syscall\n1 read\n'
ok "a text without a table is refused" refuses --strace-c 'no table of system calls in its' 'read(3) = 0\n'

# --- perf trace -s of this machine ---

if perf trace -s true >/dev/null 2>text && grep -q ' events, ' text; then
	perf trace -s sh -c 'ls / >/dev/null; ls / >/dev/null' 2>text
	trace_rows() { awk 'NF == 8 && $8 ~ /%$/ { calls[$1] += $2; errors[$1] += $3; ms[$1] += $4 }
		END { for (s in calls) printf "%s %d %d %.3f\n", s, calls[s], errors[s], ms[s] }' text | sort; }
	per_syscall() {
		table --perf-trace text --by syscall || { cat err; return 1; }
		trace_rows >theirs
		awk -F'\t' 'NR > 1 { printf "%s %d %d %.3f\n", $2, $3, $4, $5 }' got | sort >ours
		[ -s theirs ] && diff theirs ours
	}
	ok "perf trace -s by system call adds up all threads" per_syscall
	ok "perf trace -s is read" table --perf-trace text
	ok "the threads of one command add up in perf trace -s" test "$(awk -F'\t' '$1 == "ls" { s += $3 } END { print s }' got)" = \
		"$(awk '/ events, / { on = $1 == "ls" } on && NF == 8 && $8 ~ /%$/ { s += $2 } END { print s }' text)"
	ok "perf trace -s --by comm exits 0" table --perf-trace text --by comm
	ok "perf trace -s --by comm has a row for each command" test "$(tail -n +2 got | wc -l)" = \
		"$(awk '/ events, / { print $1 }' text | sort -u | wc -l)"
else
	skip "perf trace -s" "perf trace does not work here: $(head -n 1 text | cut -c1-60)"
fi

# --- other versions of perf ---

printf ' Summary of events:\n\n dd (worker 2) (28432), 6 events, 0.0%%, 1.204 msec\n\n   syscall            calls      min       avg       max      stddev\n                               (msec)    (msec)    (msec)        (%%)\n   --------------- --------  -------- --------- ---------     ------\n   read                   2     0.002     0.003     0.004     31.11%%\n   close                  1     0.001     0.001     0.001      0.00%%\n' >text
ok "a table of perf 3 without totals and errors is read" table --perf-trace text
ok "a command name with brackets stays whole" awk -F'\t' '$2 == "read" && $1 == "dd (worker 2)" { found = 1 } END { exit !found }' got
ok "the errors of a table without an errors column are unknown" is read errors ''
new='   syscall            calls  errors  total       min       avg       max       stddev\n                                     (msec)    (msec)    (msec)    (msec)        (%)\n   --------------- --------  ------ -------- --------- --------- ---------     ------\n'
printf ' total, 6 events\n\n%b   read  3  1  0.009  0.002  0.003  0.004  19.25%%\n                                  EAGAIN: 1\n\n' "$(printf "%s" "$new")" >text
ok "a table of perf 6 for all threads with errors by name is read" table --perf-trace text
ok "a table for all threads has no command" awk -F'\t' '$2 == "read" && $1 == "" { found = 1 } END { exit !found }' got
printf ' /system.slice/a, 6 events\n\n%b   read  3  1  0.009  0.002  0.003  0.004  19.25%%\n' "$(printf "%s" "$new")" >text
ok "a table of a control group is read" table --perf-trace text
ok "the name of the control group stands in place of the command" awk -F'\t' '$1 == "/system.slice/a" { found = 1 } END { exit !found }' got
ok "a damaged mean is refused" refuses --perf-trace 'line 4: total / calls is not avg' "${new}   read  3  1  0.909  0.002  0.003  0.004  19.25%\n"
ok "a missing column is refused" refuses --perf-trace 'line 4: the row has fewer columns' "${new}   read  3  1  0.002  0.003  0.004  19.25%\n"
ok "--by cpu with --perf-trace is a usage error" exits 2 "$zcost" report syscalls --perf-trace text --by cpu
done_testing
