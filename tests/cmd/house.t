#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The house keeps its order: licences, one direction of dependency, headers that compile alone.
. "$(dirname "$0")/../lib.sh"

in_top() {
	(cd "$top" && "$@")
}

sources() {
	find zcost.c lib collect capture analyze plot samples tests -name '*.[ch]'
}

licensed() {
	missing=
	for f in $(sources) $(find tests samples -name '*.t' -o -name '*.sh' -o -name '*.mk') Makefile; do
		head -n 3 "$f" | grep -q 'SPDX-License-Identifier: GPL-2.0-only' || missing="$missing $f"
	done
	[ -z "$missing" ] || { echo "no SPDX line:$missing"; return 1; }
}

# knows_not FOLDER FOLDERS: no file of the first includes anything of the others.
knows_not() {
	! grep -rnE "#include \"($2)/" "$1" --include='*.[ch]'
}

# knows_only FOLDER FOLDERS: its files include nothing of analyze but the other folders named.
knows_only() {
	! grep -rnE '#include "analyze/' "$1" --include='*.[ch]' | grep -vE "#include \"analyze/($2)/"
}

# A note is compared by its kind and values; its sentence and its texts are for readers.
notes_searched() {
	search='(strstr|strcasestr|strn?casecmp|strn?cmp|strr?chr|strpbrk|str_starts|str_ends|fnmatch|regexec|sscanf)'
	for f in $(find lib collect capture analyze plot -name '*.c' ! -path lib/note.c ! -path 'lib/table*.c'); do
		grep -HnE "$search\\([^;]*(value\\[[^]]*\\]\\.text|kind->sentence|line\\[[^]]*\\]\\.text)" "$f"
		# The lines of a list of notes, by the name of the variable that holds them.
		for v in $(sed -nE 's/.*\b(\w+) = (table_note_texts|note_line_text)\(.*/\1/p' "$f" | sort -u); do
			grep -HnE "$search\\([^;]*\\b$v(\\[|[,)])" "$f"
		done
	done
}

headers_alone() {
	bad=
	for h in $(find lib collect capture analyze plot -name '*.h' ! -name '*bpf*'); do
		${CC:-gcc} -std=gnu17 -D_GNU_SOURCE -I. -isystem build/libperf/include -fsyntax-only \
			-Wall -Wextra -Werror -x c -include "$h" /dev/null || bad="$bad $h"
	done
	[ -z "$bad" ] || { echo "do not compile alone:$bad"; return 1; }
}

ok "every test can be run" test -z "$(find "$tests/cmd" -name '*.t' ! -perm -u=x)"
ok "every source file carries its licence" in_top licensed
ok "lib knows no other folder" in_top knows_not lib 'collect|capture|analyze|plot'
ok "collect never includes analyze, capture or plot" in_top knows_not collect 'analyze|capture|plot'
ok "capture never includes analyze or plot" in_top knows_not capture 'analyze|plot'
ok "analyze never includes collect, capture or plot" in_top knows_not analyze 'collect|capture|plot'
ok "analyze/model includes nothing else of analyze" in_top knows_only analyze/model model
ok "analyze/symbols includes only model and itself" in_top knows_only analyze/symbols 'model|symbols'
ok "analyze/perfdata includes only model, symbols and itself" in_top knows_only analyze/perfdata 'model|symbols|perfdata'
ok "analyze/ingest includes only model, perfdata, symbols and itself" in_top knows_only analyze/ingest 'model|perfdata|symbols|ingest'
ok "analyze/texts includes nothing else of analyze" in_top knows_only analyze/texts texts
ok "analyze/archive includes nothing else of analyze" in_top knows_only analyze/archive archive
ok "analyze/store includes only model, archive and itself" in_top knows_only analyze/store 'model|archive|store'
ok "analyze/measures includes only layers to its left" in_top knows_only analyze/measures 'model|perfdata|symbols|texts|store|measures'
ok "analyze/analysis includes no comparison, export or command" in_top knows_only analyze/analysis 'model|archive|ingest|store|measures|analysis'
ok "analyze/compare includes no command" in_top knows_only analyze/compare 'model|perfdata|texts|store|measures|analysis|compare'
ok "analyze/export includes no command" in_top knows_only analyze/export 'model|store|measures|export'
ok "plot never includes collect or capture" in_top knows_not plot 'collect|capture'
ok "only the store speaks SQL" in_top sh -c "! grep -rln 'sqlite3_' lib collect capture analyze plot | grep -v '^analyze/store/'"
ok "only lib, through the cursor, and the reader touch perf.data" in_top sh -c "! grep -rln 'PERF_RECORD_' lib analyze/measures analyze/store plot"
ok "no code searches in the text of a note" test -z "$(in_top notes_searched)"
ok "every header compiles alone" in_top headers_alone
ok "--version prints the number" exits 0 "$zcost" --version
ok "zcost without a command says what there is, exit 2" exits 2 "$zcost"
ok "an unknown command is a usage error" exits 2 "$zcost" frobnicate
ok "and the message names the way out" says "zcost --help" err
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
