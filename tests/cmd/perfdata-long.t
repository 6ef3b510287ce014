#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Checks the generator of the benchmarks (tests/tools/perfdata_gen.c): zcost reads its recordings as perf
# does, and a longer recording adds samples but hardly any rows.
. "$(dirname "$0")/../lib.sh"

gen=$build/tests/tools/perfdata_gen dump=$build/tests/tools/profile_dump

"$gen" 100000 short.data
"$gen" 500000 long.data
"$gen" 1000000 longer.data
ok "the generator writes the same bytes each time" sh -c "'$gen' 100000 again.data && cmp short.data again.data"
ok "a longer file begins with the records of a shorter file" cmp -i 1000 -n 80000000 long.data longer.data

"$dump" health long.data >long
"$dump" health longer.data >longer
ok "a file of a million samples has all samples" says '^event cpu-clock	1000000 samples' longer
ok "a generated file has no lost, unknown or bad records" sh -c "grep -E '^(lost|unknown|bad|truncated)' longer | awk '\$2 != \"0\" && NF > 1 { exit 1 }'"
same() {
	grep -E "^$1	" long && test "$(grep -E "^$1	" long)" = "$(grep -E "^$1	" longer)"
}
ok "twice the samples add no stack" same frames
ok "more samples add rows only for short processes" near "$(awk '/^costs/ { print $2 }' long)" \
	"$(awk '/^costs/ { print $2 }' longer)" 200

if command -v perf >/dev/null; then
	ok "perf report gives the same table of a generated file" perl "$tests/tools/perf-compare.pl" short.data "$dump"
else
	skip "perf report gives the same table of a generated file" "no perf on this machine"
fi

"$zcost" report functions --perf short.data --format tsv >of_file 2>err
piped() {
	cat short.data | "$zcost" report functions --perf - --format tsv >of_pipe 2>err && cmp of_file of_pipe
}
ok "standard input has the table of its file" piped
ok "a file as standard input has this table too" sh -c "'$zcost' report functions --perf - --format tsv <short.data 2>err | cmp of_file -"
ok "an empty pipe exits 1" exits 1 sh -c ": | '$zcost' report functions --perf -"
ok "the message says that standard input is empty" says 'standard input is empty' err
: >nothing.data
echo text >text
while IFS='|' read -r given message; do
	ok "report functions --perf $given exits 1" exits 1 sh -c "'$zcost' report functions --perf $given"
	ok "the message on --perf $given is: $message" says "^zcost: $message" err
done <<'END'
- </dev/null|standard input is empty
- <nothing.data|standard input is empty
- <text|standard input: is not a perf.data file
nothing.data|nothing.data: is empty: perf record
END
ok "report syscalls of a recording without tracepoints exits 1" exits 1 "$zcost" report syscalls --perf short.data
ok "the message says what to record" says 'has no system calls; record them with perf record -e raw_syscalls:sys_enter' err

# Memory grows with distinct stacks, not with samples.
"$build/tests/tools/timed" "$dump" health --threads 1 long.data >a
"$build/tests/tools/timed" "$dump" health --threads 1 longer.data >b
ok "twice the samples need no more memory" awk 'NR == FNR { m = $3; next } $3 > 1.1 * m { print m, $3; exit 1 }' a b

done_testing
