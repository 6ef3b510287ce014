#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compares the tables, comparisons and exports of both captures in samples/captures with those in tests/data/captures.
# RENEW=1 writes them again: for a wanted change of a figure, and for new captures.
. "$(dirname "$0")/../lib.sh"
command -v sqlite3 >/dev/null || skip_all "no sqlite3"

# run COMMAND...: appends a command and what it prints to $name.txt, and its notes to $name.notes
run() {
	echo "## $*"
	"$zcost" "$@" 2>err || echo "exit $?"
	cat err >>"$name.notes"
	echo
} >>"$name.txt"
report() { # report TABLE [ARGUMENT...]
	run report "$@" "$name" --format csv --verbose
}
compare() { # compare [ARGUMENT...]
	run compare "baseline" "$variant" -C "$name" --format csv --verbose "$@"
}
query() { # query SQL
	printf '## %s\n' "$1"
	sqlite3 -csv "$name/zcost.db" "$1" 2>&1
	echo
} >>"$name.txt"

open_capture() { # open_capture NAME VARIANT
	name=$1 variant=$2
	"$zcost" unpack "$top/samples/captures/$name.tar.zst" -o "$name" >log 2>&1 && "$zcost" analyze "$name" >>log 2>&1
	# The figures of each run, added up: every parser of a raw file is in them.
	query "SELECT m.name, m.unit, count(*), printf('%.9g', sum(value)), printf('%.9g', max(value))
		FROM metric m WHERE value <> 0 GROUP BY 1, 2"
	query "SELECT name, count(*), printf('%.9g', sum(value)), sum(t_ns - start_ns) FROM series s JOIN run ON run.id = s.run GROUP BY 1"
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
is_as_before() { # is_as_before NAME
	sort -u "$1.notes" >>"$1.txt"
	if [ -n "${RENEW-}" ]; then
		cp "$1.txt" "$tests/data/captures/"
	else
		same_lines "$tests/data/captures/$1.txt" "$1.txt"
	fi
}

open_capture mapped mmap
for table in summary variants runs passes components contexts modules syscalls cpu roi scores zerocopy limits host topology counters \
	power softnet tcp idle irq nic snmp sockstat sizes sched; do
	report $table
done
report functions --limit 12
report functions --by cpu,context --limit 4 --unit message --side receiver
report callers _copy_to_iter
report callees tcp_recvmsg --limit 6
report hotspots _copy_to_iter --limit 10
report timeline --name 'throughput*' --limit 20
report groups --group 'copy=_copy_to_iter,_copy_from_iter' --group 'memory=*page*,*folio*'
report components --children --component-set basic --basis wall --side sender
report components --workload-only --estimator mean --side receiver
report functions --workload-only --by comm,cpu,context,module --limit 5 --side receiver
report components --system-load measured --unit message --side sender
report functions --from 0.2 --to 0.4 --limit 5
report summary --estimator middle --power-model idle=20,per_cpu=5
report roi --power-model idle=20,per_cpu=5 --roi-n 1.5 --roi-m 0.5 --estimator mean
compare
compare --power-model idle=20,per_cpu=5 --threshold 30 --estimator middle
for table in functions components contexts modules syscalls waterfall; do
	compare --table $table --side sender
done
compare --table waterfall --by functions --limit 8 --side receiver
compare --table functions --basis wall --unit message --limit 12
run compare baseline mmap -C mapped --format commit
run compare --self-test mapped --format csv
ok "every table, comparison and export of samples/captures/mapped is as in tests/data/captures" is_as_before mapped

open_capture copied zerocopy
for table in summary components syscalls zerocopy limits sizes; do
	report $table
done
compare
compare --table functions --all --side sender
run compare baseline zerocopy -C copied --format commit
ok "the tables and comparisons of samples/captures/copied are as in tests/data/captures" is_as_before copied
done_testing
