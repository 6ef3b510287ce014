#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compares report syscalls with the text of perf trace -s. This machine's programs make the
# texts where they work. Texts of other versions are typed in.
. "$(dirname "$0")/../lib.sh"

table() { # table OPTION FILE...: writes the table as tsv into got and the notes into err
	"$zcost" report syscalls --all --format tsv "$@" >got 2>err
}
cell() { # cell SYSCALL COLUMN
	tsv '$at["syscall"] == key { print $at[column] }' key="$1" column="$2" got
}
is() { [ "$(cell "$1" "$2")" = "$3" ] || { echo "$1 $2: '$(cell "$1" "$2")', expected '$3'"; cat got err; return 1; }; }
total() { # total COLUMN
	tsv '{ s += $at[column] } END { print s + 0 }' column="$1" got
}
refuses() { # refuses OPTION PATTERN TEXT
	printf '%b' "$3" | "$zcost" report syscalls "$1" - >out 2>err && { cat out; return 1; }
	says "$2" err
}

# --- perf trace -s of this machine ---

if perf trace -s true >/dev/null 2>text && grep -q ' events, ' text; then
	perf trace -s sh -c 'ls / >/dev/null; ls / >/dev/null' 2>text
	trace_rows() { awk 'NF == 8 && $8 ~ /%$/ { calls[$1] += $2; errors[$1] += $3; ms[$1] += $4 }
		END { for (s in calls) printf "%s %d %d %.3f\n", s, calls[s], errors[s], ms[s] }' text | sort; }
	per_syscall() {
		table --perf-trace text --by syscall || { cat err; return 1; }
		trace_rows >theirs
		awk -F'\t' 'NR > 1 { printf "%s %d %d %.3f\n", $1, $2, $3, $4 }' got | sort >ours
		[ -s theirs ] && diff theirs ours
	}
	ok "perf trace -s by system call adds up all threads" per_syscall
	ok "perf trace -s is read" table --perf-trace text
	ok "the threads of one command add up in perf trace -s" test "$(awk -F'\t' '$1 == "ls" { s += $3 } END { print s }' got)" = \
		"$(awk '/ events, / { on = $1 == "ls" } on && NF == 8 && $8 ~ /%$/ { s += $2 } END { print s }' text)"
else
	skip "perf trace -s" "perf trace does not work here: $(head -n 1 text | cut -c1-60)"
fi

# --- other versions of perf ---

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
