#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Writes one page of Markdown about a capture: report.sh ZCOST CAPTURE CHARTS_DIR POWER_MODEL >report.md
# Each table is the output of a zcost command. The page shows the command above it.
set -u
zcost=$1 capture=$2 charts=$3 model=$4

table() { # table HEADING ARGS...: a section with the command and its output
	printf '\n## %s\n\n    zcost' "$1"
	shift
	printf ' %s' "$@"
	printf '\n\n'
	"$zcost" "$@" --format md
	code=$?
	# 4 means that data is incomplete; the notes under the table say what is missing.
	[ "$code" = 0 ] || [ "$code" = 4 ] || echo "(failed, exit $code)"
}

# Each note once: a line below a table that stood below an earlier one is left out. Table notes has them all.
notes_once() {
	awk '/^\(failed, exit/ { failed = 1 }
		/^[|#!]/ || /^    / || /^$/ { print; next }
		/^\*\*/ { title = 1 }
		title { print; title = !/\*\*$/; next }
		{ line = $0; sub(/ +$/, "", line) }
		line ~ /^[0-9]+ more: / || seen[line]++ { next }
		{ print }
		END { exit failed }'
}

chart() { # chart NAME TEXT
	[ -f "$charts/$1.svg" ] && printf '\n![%s](%s/%s.svg)\n' "$2" "$(basename "$charts")" "$1"
}

variants=$("$zcost" report summary "$capture" --format tsv 2>/dev/null |
	awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "variant") c = i }
		NR > 1 && !seen[$c]++ { print $c }')
base=$(echo "$variants" | head -n 1)

{
echo "# $(basename "$(dirname "$(cd "$capture" && pwd)")"): $(echo "$variants" | paste -sd, | sed 's/,/, /g')"
table 'What it costs' report summary "$capture"
chart throughput 'Throughput per variant'
chart cpu 'CPU use per variant and side'
table 'Was it zero copy?' report zerocopy "$capture"
table 'Why zero copy paid, or did not' report why "$capture"
table 'Where the packets wait' report path "$capture"
table 'Where the threads wait' report waits "$capture" --limit 12
table 'Where the time goes, by component' report components "$capture"
chart components 'Components in ns per KiB'
for v in $variants; do
	[ "$v" = "$base" ] && continue
	table "$base against $v" compare "$base" "$v" -C "$capture"
	table "$base against $v: step by step on the receiver" compare "$base" "$v" -C "$capture" \
		--table waterfall --side receiver
	table "$base against $v: functions of the receiver" compare "$base" "$v" -C "$capture" \
		--table functions --side receiver --limit 15
done
chart waterfall 'From one total to the other'
chart functions 'Functions that changed most'
table 'Return on investment' report roi "$capture" --power-model "$model"
echo
echo "Power is MODELLED here ($model): this host has no power source; T²/P below is arithmetic, not a measurement."
chart roi_c 'T²/C'
chart roi_p 'T²/P, modelled power'
table 'System calls of the receiver' report syscalls "$capture" --side receiver
table 'CPU use' report cpu "$capture"
table 'Runs' report runs "$capture"
table 'Notes' report notes "$capture"
} | notes_once
