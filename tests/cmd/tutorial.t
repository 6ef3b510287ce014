#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The captures of samples/captures, without root: the tutorial's commands print what the tutorial shows, and the answers
# to the main questions.
. "$(dirname "$0")/../lib.sh"
PATH=$build:$PATH
ln -s "$top/samples" samples
host=$("$zcost" --help | grep -c '^  capture') # 0: the laptop half alone

# --- the tutorial: each command, and the lines below it that it prints ---

awk '/^ *```/ { code = !code }
	!code && /^    / {
		sub(/^    /, "")
		if (!/^zcost /) { print >n ".shown"; next }
		sub(/  +# .*/, "")
		print >++n ".command"
	}' "$top/docs/tutorial.md"
# prints COMMAND SHOWN: the command runs, and prints each line of SHOWN. Blanks at the end and lines of `...` do not count.
prints() {
	rm -f missing
	(eval "$1") >out 2>&1
	got=$?
	[ $got = 0 ] || [ $got = 4 ] || [ $got:"$1" = 1:'zcost doctor' ] || { echo "exit $got"; cat out; return 1; }
	[ ! -e "$2" ] || sed 's/ *$//' out | grep -vxFf - "$2" | grep -vx '\.\.\.' >missing || return 0
	[ ! -s missing ] || { echo "the tutorial shows:"; cat missing; echo "the command prints:"; cat out; return 1; }
}
n=0
while n=$((n + 1)) && [ -e $n.command ]; do
	read -r c <$n.command
	case $c in
	*'zcost doctor'* | *'zcost capture'*)
		[ "$host" = 1 ] || { skip "docs/tutorial.md: $c" "this zcost has no host half"; continue; } ;;
	esac
	case $c in # the output is that of a terminal of 125 columns; a capture would measure this machine
	*--html* | *--format*) more= ;;
	'zcost report '* | 'zcost compare '*) more=' --width 125' ;;
	'zcost capture '*' -o '*) more=' --dry-run' ;;
	*) more= ;;
	esac
	ok "docs/tutorial.md: $c" prints "$c$more" $n.shown
done

sed -n '/^    metric  /,/^$/s/^    //p' "$top/README.md" | sed 's/ *$//; /^$/d' >readme
"$zcost" compare baseline mmap -C mapped --side receiver --width 100 2>err | sed 's/ *$//' >out
ok "the table in README.md is that of the capture" eval '[ "$(wc -l <readme)" -gt 5 ] && ! grep -vxFf out readme'

# --- the main answers ---

ok "the tutorial has unpacked both captures" test -s mapped/zcost.db -a -s copied/zcost.db
notes() { # notes CAPTURE TABLE: prints the notes of a table
	"$zcost" report "$2" "$1" --format tsv 2>&1 >/dev/null
}
cell() { # cell COLUMN ROW COMMAND...: prints a cell of the row that begins with ROW in its first two columns
	column=$1 row=$2
	shift 2
	"$zcost" "$@" --format tsv 2>/dev/null | tsv '$1 " " $2 == row { print $at[want]; exit }' want="$column" row="$row"
}
values() { # values COLUMN: prints the cells of a column of a table on standard input
	tsv '{ print $at[want] }' want="$1"
}
sums() { # sums CAPTURE: the components of each side add up to its ns_per_kib
	"$zcost" report components "$1" --all --format tsv 2>/dev/null >components
	for side in $(awk -F'\t' 'NR > 1 { print $1 "/" $2 }' components | sort -u); do
		near "$(awk -F'\t' -v side="$side" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			$1 "/" $2 == side { s += $at["self_ns"] } END { printf "%.4f", s }' components)" \
			"$(cell ns_per_kib "${side%/*} ${side#*/}" report summary "$1")" 0.001 || return 1
	done
	[ "$(wc -l <components)" -gt 40 ]
}
for c in mapped copied; do
	"$zcost" report runs $c --format tsv 2>/dev/null | values status >states
	ok "$c: all 52 sides of runs are ok" test "$(uniq -c states | xargs)" = "52 ok"
	ok "$c: the components of each side add up to the basis of its costs" sums $c
	notes $c functions >text
	ok "$c: less than 3 % of the samples lack symbols" sh -c 'grep -q "unresolved addresses" text && ! grep -E "no symbols ([3-9]|[1-9][0-9])" text'
done
# Each section of a table has another head, and one part.
sections() {
	"$zcost" report "$1" copied --width 80 >out 2>err
	awk 'BEGIN { RS = "" } { sub(/\n.*/, "") } seen[$0]++ || (NR > 1 && !/^(NOT|variant) .*[^ ] / ) { print "again: " $0; bad = 1 } END { exit bad }' out
}
for t in virt batches limits; do ok "copied: $t has whole sections at 80 columns" sections $t; done
ok "copied: limits has a line of columns" says '^variant +limit +side +share +evidence$' out
# more TABLE: the number of notes that a table does not show is that of its notes, and `report notes` has as many as it says.
"$zcost" report notes copied --format json | jq '[.rows[].kind]' >kinds
more() {
	"$zcost" report "$@" copied --width 0 >out 2>err
	said=$(sed -n 's/^# \([0-9]*\) more: .*report notes has \([0-9]*\) of.*/\1 \2/p; s/^# \([0-9]*\) more: zcost report notes, or.*/\1 \1/p; s/^# \([0-9]*\) more: --verbose$/\1 0/p' out)
	"$zcost" report "$@" copied --format json 2>err | jq -r --slurpfile kinds kinds '
		def doubts: map(select(.severity == "warning" or .severity == "lossy"));
		.notes | map(select(.severity != "result")) | (doubts | length | if . > 0 then 1 else 0 end) as $doubt |
		(map(select(.severity == "method" or .severity == "info")) | length | if . > 0 then 1 else 0 end) as $how |
		"\(length - $doubt - $how) \(map(select(.kind as $k | $kinds[0] | index($k))) | length - $doubt)"' >real
	echo "$*: $said of $(cat real)" >>said
	echo "${said:-0 0} $(cat real)" | awk '{ exit !($1 == $3 && $2 <= $4) }' || { cat out; return 1; }
}
all_more() {
	for t in $("$zcost" report --help | sed -n '/^Tables:/,/^$/s/^  \([a-z_]*\) .*/\1/p'); do
		"$zcost" report $t copied >out 2>err || [ $? = 4 ] || continue
		more $t || return 1
	done
	[ "$(wc -l <said)" -gt 25 ] && grep -q ': [1-9][0-9]* [1-9]' said
}
ok "copied: each table counts the notes that it does not show" all_more
# Interrupts: by name in both tables, and together in a third.
interrupts() {
	"$zcost" report virt mapped --format tsv 2>/dev/null | tsv '$at["source"] == "frame" && $at["kind"] == "interrupt" {
		print $1, $2, $at["name"], $at["ns_per_unit"] }' | sort >virt
	"$zcost" report functions mapped --all --symbol '[[]hardirq*' --format tsv 2>/dev/null | tsv '{
		split($at["symbol"], name, /[] ]/)
		print $1, $2, name[2], $at["self_ns"] }' | sort >functions
	"$zcost" report contexts mapped --format tsv 2>/dev/null | tsv '$at["context"] == "hardirq" { print $1, $2, $at["self_ns"] }' >contexts
	awk '{ n[$1 " " $2] += $4 } END { for (side in n) print side, n[side] }' functions >sums
	[ "$(wc -l <virt)" -gt 8 ] && diff virt functions && join -j 9 contexts sums | awk '$1 == $4 && $2 == $5 { same += ($3 - $6) ^ 2 < 1e-6 } END { exit same != 4 }'
}
ok "mapped: virt, functions and contexts have the same costs of interrupts" interrupts
notes mapped zerocopy >text
ok "mapped: mmap is zero copy on the receiver" says ' mmap: the receiver does not copy 9[5-9]' text
notes copied zerocopy >text
ok "copied: zerocopy copied everything that it asked not to copy" says 'zerocopy: .*Zero copy was asked for: the kernel copied' text
ok "copied: the sources do not contradict each other" test "$(grep -c contradict text)" = 0
for row in "receiver throughput" "receiver ns_per_kib" "total roi_c"; do
	ok "mapped: $row is better" test "$(cell verdict "$row" compare baseline mmap -C mapped)" = better
done
"$zcost" compare baseline mmap -C mapped --format commit 2>/dev/null | head -n 1 >first
ok "mapped: the commit message begins with the gain" says '^mmap against baseline: better: throughput' first
"$zcost" compare baseline zerocopy -C copied --format commit 2>/dev/null | head -n 1 >first
ok "copied: the commit message begins with the fallback" says '^NOT ZERO COPY: zerocopy against baseline' first
ok "copied: a KiB costs the receiver more" test "$(cell verdict "receiver ns_per_kib" compare baseline zerocopy -C copied)" = worse
. "$tests/plot.sh"
ok "mapped: the page has no address and no reference to a file" test -z "$(outside_references mapped.html)"
done_testing
