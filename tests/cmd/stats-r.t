#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compares the statistics with R: its recorded answers, and fresh answers where R is installed.
. "$(dirname "$0")/../lib.sh"

table=$build/tests/tools/stats_table

ok "the statistics equal the recorded answers of R 4.2.2" sh -c "'$table' <'$tests/data/stats-r.tsv'"
ok "the comparison with R finds a wrong answer" sh -c "sed '7s/[0-9]\$/&1/; 7s/[0-9]*\$/777/' '$tests/data/stats-r.tsv' | '$table' | grep -q ', 1 wrong'"
seed=1
asked() { # uses new numbers each time, because R's bootstraps are random and may differ too much
	seed=$((seed + 1))
	Rscript "$tests/tools/stats.R" $seed 3 >fresh 2>err || { cat err; return 1; }
	"$table" <fresh
}
if command -v Rscript >/dev/null; then
	steady "the statistics equal R's answers for new numbers" asked
	ok "R answers as many kinds of questions as the recorded answers have" test "$(cut -f 1 fresh | sort -u | wc -l)" = "$(cut -f 1 "$tests/data/stats-r.tsv" | sort -u | wc -l)"
else
	skip "the statistics equal R's answers for new numbers" "no Rscript (Debian: r-base-core)"
fi

done_testing
