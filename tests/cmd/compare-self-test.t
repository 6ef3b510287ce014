#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost compare --self-test: false alarms among runs of one variant.
. "$(dirname "$0")/../lib.sh"
. "$tests/world.sh"
. "$tests/golden.sh"
need sqlite3

self_test() { # as tsv, into out
	"$zcost" compare --format tsv --self-test "$@" >out 2>err
}

# of VARIANT TABLE SIDE COLUMN
of() { tsv '$1 == v && $2 == t && $3 == s { print $at[column] }' v="$1" t="$2" s="$3" column="$4" out; }

# Noise of 10 % that differs by run, metric and frame, the same each time; no two runs alike.
noise() {
	sqlite3 "$1/zcost.db" "
		UPDATE metric SET value = value * (1 + 0.1 * ((run * 7919 + length(name) * 104729) * (run * 31 + unicode(name) * 1301) % 1009 - 504) / 1009.0)
			WHERE name IN ('rate_kib', 'throughput', 'cpu_pct');
		UPDATE cost SET weight = weight * (1000 + (run * 7919 + frame * 104729) % 199) / 1000;
		UPDATE event SET weight = (SELECT sum(weight) FROM cost WHERE cost.run = event.run)"
}

world cap 12 $copying $mapping
noise cap
# Twelve runs give all 462 splits into six and six. Five exact tests can attain 5 x 8 of 924, and 16 of 462 have a false alarm. A threshold
# above the noise leaves no claim.
for options in '' '--variant mapping' '--variant copying --threshold 50' '--table metrics' '--table functions' '--table contexts'; do
	run compare --self-test cap $options --format csv --verbose
done
for table in components functions; do
	self_test cap --table $table
	ok "a false alarm in any row of $table is at most as frequent as alpha" \
		awk -v r="$(of copying $table receiver rate_pct)" -v a="$(of copying $table receiver attainable_pct)" 'BEGIN { exit !(r != "" && r <= a && a <= 5) }'
done

# A machine that gets slower between the sixth run and the seventh.
world drift 12 $copying
noise drift
sqlite3 drift/zcost.db "UPDATE metric SET value = value * 0.7 WHERE name IN ('rate_kib', 'throughput') AND
	run IN (SELECT id FROM run WHERE repeat > 6)"

world many 20 $copying
noise many
self_test many
ok "many runs are split at random" test "$(of copying metrics "" splits)" = 2000
ok "the rate is near the rate that 10 and 10 runs can attain" near "$(of copying metrics "" rate_pct)" "$(of copying metrics "" attainable_pct)" 1
cp out once
self_test many
ok "a second run gives the same table" cmp once out

world few 6 $copying
ok "a self-test that can test nothing exits 4" exits 4 "$zcost" compare --self-test few
ok "a self-test of too few runs says that nothing was tested" says 'lossy: nothing was tested: there are too few runs' out

# A split has at most 63 runs.
world long 66 $copying
noise long
ok "an unknown variant exits 1" exits 1 "$zcost" compare --self-test few --variant none
ok "--self-test with BASE and NEW is a usage error" exits 2 "$zcost" compare a b --self-test few
ok "--variant without --self-test is a usage error" exits 2 "$zcost" compare a b --variant a
ok "a missing capture exits 1" exits 1 "$zcost" compare --self-test nowhere

for capture in cap drift few "long --table metrics" "cap --table syscalls --estimator mean --threshold 5" "cap --side sender"; do
	run compare --self-test $capture --format csv --verbose
done
ok "tables of false alarms are as in tests/data/golden/$golden.txt" is_golden

done_testing
