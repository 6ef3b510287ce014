# SPDX-License-Identifier: GPL-2.0-only
# Compares everything that commands print with a copy in tests/data/golden: each digit, also of figures that no test names.
# The tests that name figures say why they are right. RENEW=1 writes the copies again, after a wanted change of a figure.
. "$tests/capture.sh"

golden=$(basename "$0" .t)
tables='summary variants passes functions components contexts modules syscalls cpu roi scores zerocopy limits host topology
	counters power softnet drops batches tcp idle irq nic snmp sockstat sizes sched sweep'

# run COMMAND...: adds a command with what it prints, and its notes; a table without rows is left out
run() {
	status=0
	"$zcost" "$@" >rows 2>"$golden.err" || status=$?
	cat "$golden.err" >>"$golden.notes"
	[ "$(wc -l <rows)" -le 1 ] && [ $status = 0 ] && return
	echo "## $* (exit $status)"
	cat rows
	echo
} >>"$golden.txt"
report() { # report CAPTURE TABLE [OPTION...]
	capture=$1
	shift
	run report "$@" "$capture" --format csv --verbose
}
compare() { # compare CAPTURE BASE NEW [OPTION...]
	capture=$1
	shift
	run compare "$@" -C "$capture" --format csv --verbose
}
query() { # query CAPTURE SQL
	echo "## $2"
	sqlite3 -csv "$1/zcost.db" "$2" 2>&1
	echo
} >>"$golden.txt"
report_all() { # report_all CAPTURE
	for table in $tables; do
		report "$1" $table
	done
	report "$1" timeline --limit 4
	# The figures of all runs added up: every parser of a raw file is in the sums.
	query "$1" "SELECT $spelled, unit, count(*), printf('%.9g', sum(value)) FROM metric
		WHERE value <> 0 GROUP BY 1, 2"
	query "$1" "SELECT name, count(*), printf('%.9g', sum(value)), sum(t_ns - start_ns) FROM series JOIN run ON id = run GROUP BY 1"
	query "$1" "SELECT name, state, why, count(*), sum(lost) FROM collector GROUP BY 1, 2, 3"
}
compare_all() { # compare_all CAPTURE BASE NEW
	for table in metrics components contexts modules syscalls waterfall settings; do
		compare "$@" --table $table
	done
}

# same_lines A B: the same words, and numbers within a part in 10^7
same_lines() {
	awk '
		function same(x, y, n, i, a, b) {
			n = split(x, a, /[, ]/)
			if (n != split(y, b, /[, ]/))
				return 0
			for (i = 1; i <= n; i++)
				if (a[i] != b[i] && (a[i] !~ /^-?[0-9.]+(e[-+][0-9]+)?$/ || (a[i] - b[i]) ^ 2 > a[i] ^ 2 / 1e14))
					return 0
			return 1
		}
		NR == FNR { expected[NR] = $0; lines = NR; next }
		expected[FNR] != $0 && !same(expected[FNR], $0) { print "- " expected[FNR] "\n+ " $0; if (bad++ > 10) exit }
		END { if (lines != FNR) print lines " lines, now " FNR; exit bad || lines != FNR }' "$1" "$2"
}
is_golden() { # all that run() has printed is as in tests/data/golden
	sort "$golden.notes" | uniq -c >>"$golden.txt"
	if [ -n "${RENEW-}" ]; then
		cp "$golden.txt" "$tests/data/golden/"
	else
		same_lines "$tests/data/golden/$golden.txt" "$golden.txt"
	fi
}

# golden_captures CAPTURE/zcost.db...: all tables of captures made by hand, and the comparison of the first two variants
golden_captures() {
	command -v sqlite3 >/dev/null || { skip "all tables and comparisons are as in tests/data/golden" "no sqlite3"; return; }
	for store; do
		report_all "${store%/zcost.db}"
		set -- $(sqlite3 "$store" "SELECT name FROM variant LIMIT 2")
		[ $# != 2 ] || compare_all "${store%/zcost.db}" "$@"
	done
	ok "all tables and comparisons are as in tests/data/golden/$golden.txt" is_golden
}
