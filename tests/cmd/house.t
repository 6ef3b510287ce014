#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The house keeps its order: licences, one direction of dependency, headers that compile alone.
. "$(dirname "$0")/../lib.sh"

in_top() {
	(cd "$top" && "$@")
}

licensed() { # prints the files without an SPDX line among their first three
	find Makefile zcost.c lib workload collect capture analyze plot samples tests -name Makefile -o -name '*.[ch]' -o \
		-path 'tests/*' \( -name '*.t' -o -name '*.sh' -o -name '*.mk' \) -o -path 'samples/*.sh' | xargs awk '
		FNR == 1 { if (n && !found) print last; n++; found = 0; last = FILENAME }
		/SPDX-License-Identifier: GPL-2.0-only/ { found = 1; nextfile }
		FNR == 3 { nextfile }
		END { if (!found) print last }'
}

# The layers. Each row is a folder, then the folders that its files may include beside lib and itself.
# A row names only folders of rows above it, so that no two folders include each other. FOLDER:SYMBOL is a symbol that FOLDER
# defines for the row: the page of HTML has charts, and commands of analyze ask for it.
layers='lib
workload
collect workload
capture collect workload
analyze/model
analyze/symbols analyze/model
analyze/perfdata analyze/model analyze/symbols
analyze/texts analyze/model
analyze/archive
analyze/store analyze/model analyze/archive
analyze/scope workload analyze/model analyze/store
analyze/probes workload analyze/model analyze/symbols analyze/perfdata analyze/texts analyze/store analyze/scope
analyze/costs analyze/model analyze/perfdata analyze/texts analyze/store analyze/scope analyze/probes
analyze/evidence analyze/model analyze/store analyze/scope analyze/probes analyze/costs
analyze/figures analyze/model analyze/store analyze/scope analyze/probes analyze/costs analyze/evidence
analyze/analysis analyze/model analyze/symbols analyze/archive analyze/store analyze/scope analyze/probes analyze/costs
analyze/compare analyze/model analyze/perfdata analyze/texts analyze/store analyze/scope analyze/probes analyze/costs analyze/evidence analyze/figures analyze/analysis
analyze/export analyze/model analyze/store analyze/scope analyze/probes analyze/costs analyze/evidence analyze/figures analyze/compare
analyze/commands workload analyze/model analyze/perfdata analyze/texts analyze/archive analyze/store analyze/scope analyze/probes analyze/costs analyze/evidence analyze/figures analyze/analysis analyze/compare analyze/export plot:page_write
plot analyze/model analyze/perfdata analyze/texts analyze/store analyze/scope analyze/probes analyze/costs analyze/evidence analyze/figures analyze/analysis analyze/compare analyze/commands
zcost.c'

# Prints each row that names a folder below it, and each include that the rows do not allow.
layers_broken() {
	grep -rE '^#include "[a-z_]+/' zcost.c lib workload collect capture analyze plot --include='*.[ch]' |
		awk -F: -v layers="$layers" '
		function folder(path, part, n) {
			n = split(path, part, "/")
			return n == 1 ? path : part[1] (part[1] == "analyze" && n > 2 ? "/" part[2] : "")
		}
		BEGIN {
			n = split(layers, row, "\n")
			for (i = 1; i <= n; i++) {
				words = split(row[i], word, " ")
				allowed[word[1], word[1]] = allowed[word[1], "lib"] = 1
				for (k = 2; k <= words; k++) {
					if (word[k] ~ /:/)
						continue
					allowed[word[1], word[k]] = 1
					if (!(word[k] in known))
						print word[1] ": " word[k] " is not a row above it"
				}
				known[word[1]] = 1
			}
		}
		{
			split($2, quoted, "\"")
			if (!((folder($1), folder(quoted[2])) in allowed))
				print $1 ": " quoted[2]
		}'
}

# A note is compared by its kind and values; its sentence and its texts are for readers.
notes_searched() {
	search='(strstr|strcasestr|strn?casecmp|strn?cmp|strr?chr|strpbrk|str_starts|str_ends|fnmatch|regexec|sscanf)'
	for f in $(find lib workload collect capture analyze plot -name '*.c' ! -path lib/note.c ! -path 'lib/table*.c'); do
		grep -HnE "$search\\([^;]*(value\\[[^]]*\\]\\.text|kind->sentence|line\\[[^]]*\\]\\.text)" "$f"
		# The lines of a list of notes, by the name of the variable that holds them.
		for v in $(sed -nE 's/.*\b(\w+) = (table_note_texts|note_line_text)\(.*/\1/p' "$f" | sort -u); do
			grep -HnE "$search\\([^;]*\\b$v(\\[|[,)])" "$f"
		done
	done
}

headers_alone() { # a header that its own .c includes first is compiled alone there
	bad=
	for h in $(find lib workload collect capture analyze plot -name '*.h' ! -name '*bpf*'); do
		! grep -sm 1 '^#include' "${h%.h}.c" | grep -qF "\"$h\"" || continue
		${CC:-gcc} -std=gnu17 -D_GNU_SOURCE -I. -isystem build/libperf/include -fsyntax-only \
			-Wall -Wextra -Werror -x c -include "$h" /dev/null || bad="$bad $h"
	done
	[ -z "$bad" ] || { echo "do not compile alone:$bad"; return 1; }
}

layers_hold() {
	broken=$(layers_broken)
	[ -z "$broken" ] || { echo "$broken"; return 1; }
}

links_hold() { # objects are linked as the rows say, and in no circle of several folders
	broken=$(echo "$layers" | perl tests/tools/links.pl "$build")
	[ -z "$broken" ] || { echo "$broken"; return 1; }
}

# zcost.c is the list of commands and their dispatch.
declares_commands_only() {
	! sed -nE '/^[a-z].*\);$/p' zcost.c | grep -vE '^int cmd_[a-z]+\(int argc, char \*\*argv\);$'
}

# How large the tree may be. What stands in tests/data is not counted: recordings, and what commands print.
most_lines=112000 most_files=500 most_test_lines=62000 most_notes=170
sizes() { # sets and prints the sizes that count
	find . \( -name 'build*' -o -path ./tests -o -path ./.git \) -prune -o -type f \( -name '*.c' -o -name '*.h' -o -name '*.def' \
		-o -name '*.awk' -o -name '*.js' -o -name '*.css' \) -print >"$scratch/product"
	files=$(wc -l <"$scratch/product")
	lines=$(xargs cat <"$scratch/product" | wc -l)
	test_lines=$(find tests -path tests/data -prune -o -type f -exec cat {} + | wc -l)
	notes=$(grep -cE '^NOTE(_BRIEF)?\(' analyze/model/notes.def)
	echo "# product: $lines lines in $files files; tests: $test_lines lines; kinds of notes: $notes"
}
in_budget() {
	[ $lines -le $most_lines ] && [ $files -le $most_files ] && [ $test_lines -le $most_test_lines ] && [ $notes -le $most_notes ]
}
cd "$top" && sizes
cd "$scratch" || exit 1
ok "product, tests and notes keep to $most_lines lines in $most_files files, $most_test_lines lines and $most_notes kinds" in_budget

ok "every test can be run" test -z "$(find "$tests/cmd" -name '*.t' ! -perm -u=x)"
ok "every source file carries its licence" test -z "$(in_top licensed)"
ok "a folder includes only lib and folders to its left" in_top layers_hold
ok "an object is linked only with lib and folders to its left, and no circle spans folders" in_top links_hold
ok "zcost.c declares no function but commands" in_top declares_commands_only
ok "only the store speaks SQL" in_top sh -c "! grep -rln 'sqlite3_' lib workload collect capture analyze plot | grep -v '^analyze/store/'"
ok "only the reader and collect know perf's records" in_top sh -c "! grep -rl PERF_RECORD_ zcost.c lib workload collect capture analyze plot | grep -v '^analyze/perfdata/\|^collect/'"
ok "no code searches in the text of a note" test -z "$(in_top notes_searched)"
ok "every header compiles alone" in_top headers_alone
ok "--version exits 0" exits 0 "$zcost" --version
ok "  and prints the number" says '^zcost [0-9]+[.][0-9.]+' out
ok "zcost without a command exits 2" exits 2 "$zcost"
ok "  and says what there is" says 'analyze' err
ok "an unknown command is a usage error" exits 2 "$zcost" frobnicate
ok "the message on an unknown command names zcost --help" says "zcost --help" err
hanging() { # each description under its own column, none beyond what argp prints
	for command in report export plot; do
		"$zcost" $command --help | awk 'length > 79 { print; bad = 1 }
			/^(Tables|Formats):$|by default:$/ { list = 1; next }
			list && /^$/ { list = 0 }
			list && !/^ / { print; bad = 1 }
			END { exit bad }' || return 1
	done
}
ok "lists of --help are wrapped under themselves" hanging
full_disk() {
	"$zcost" --help >/dev/full 2>err && return 1
	says "standard output" err
}
ok "a full disk is not taken for success" full_disk

done_testing
