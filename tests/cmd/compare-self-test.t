#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost compare --self-test: false alarms among runs of one variant.
. "$(dirname "$0")/../lib.sh"
. "$tests/world.sh"
need_sqlite

self_test() { # as tsv, into out
	"$zcost" compare --format tsv --self-test "$@" >out 2>err
}

# of VARIANT TABLE SIDE COLUMN
of() {
	awk -F'\t' -v v="$1" -v t="$2" -v s="$3" -v column="$4" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$1 == v && $2 == t && $3 == s { print $at[column] }' out
}

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
ok "compare --self-test exits 0" exits 0 "$zcost" compare --self-test cap --format tsv
ok "the table has rows of both variants" test "$(cut -f 1 out | sort -u | tr '\n' ' ')" = 'copying mapping variant '
ok "twelve runs give all splits into six and six, each pair once" test "$(of copying metrics "" splits)" = 462
ok "a false alarm in any of the five primary figures is rarer than alpha" near "$(of copying metrics "" rate_pct)" 3.463203 1e-6 # 16 of 462
ok "the table has the rate that five exact tests can attain, 5 x 8 of 924" near "$(of copying metrics "" attainable_pct)" 4.3290043 1e-6
ok "the table has the level alpha" test "$(of copying metrics "" nominal_pct)" = 5
ok "the rate has the binomial interval of the splits" near "$(of copying metrics "" rate_lo)" 1.992 0.001
ok "the rate of claims is at most the rate of false alarms" sh -c "test $(of copying metrics "" claims_pct | cut -d. -f1) -le 4"
for table in components functions; do
	ok "a false alarm in any row of $table is at most as frequent as alpha" \
		awk -v r="$(of copying $table receiver rate_pct)" -v a="$(of copying $table receiver attainable_pct)" 'BEGIN { exit !(r != "" && r <= a && a <= 5) }'
done
ok "without drift the first and the second half differ as rarely as alternate runs" test "$(of copying metrics "" halves)" -le 1
ok "the result of a capture without drift is ok" test "$(cut -f 17 out | sort -u | tr '\n' ' ')" = 'ok result '

self_test cap --variant mapping
ok "--variant selects one variant" test "$(cut -f 1 out | sort -u | tr '\n' ' ')" = 'mapping variant '
self_test cap --variant copying --threshold 50
ok "a threshold above the noise leaves no claim" test "$(of copying metrics "" claims_pct)" = 0
ok "a threshold does not change the false alarm rate" near "$(of copying metrics "" rate_pct)" 3.463203 1e-6

for table in metrics functions contexts syscalls; do
	self_test cap --table $table
	ok "--table $table tests that table alone" test "$(cut -f 2 out | sort -u | tr '\n' ' ')" = "$(printf '%s\n' $table table | sort | tr '\n' ' ')"
done
"$zcost" compare copying mapping -C cap >out 2>err
ok "compare has the self-test of both ends in one line" sh -c "test \"\$(grep -cE '^# self-test: .*: base [0-9.]+ %, ok; new [0-9.]+ %, ok$' out)\" = 1"
"$zcost" compare copying mapping -C cap --table components >out 2>err
ok "a list of costs has the self-test of the list" says '^# self-test: .*: base [0-9.]+ %, ok; new ' out

# A machine that gets slower between the sixth run and the seventh.
world drift 12 $copying
noise drift
sqlite3 drift/zcost.db "UPDATE metric SET value = value * 0.7 WHERE name IN ('rate_kib', 'throughput') AND
	run IN (SELECT id FROM run WHERE repeat > 6)"
self_test drift
ok "a drift shows in the comparison of the halves" test "$(of copying metrics "" halves)" -ge 2
ok "a drift does not show in alternate runs" test "$(of copying metrics "" alternate)" = 0
ok "random splits cannot find a drift" near "$(of copying metrics "" rate_pct)" 2.597403 1e-6

world many 20 $copying
noise many
self_test many
ok "many runs are split at random" test "$(of copying metrics "" splits)" = 2000
ok "the rate is near the rate that 10 and 10 runs can attain" near "$(of copying metrics "" rate_pct)" "$(of copying metrics "" attainable_pct)" 1
cp out once
self_test many
ok "a second run gives the same table" cmp once out

world few 6 $copying
self_test few
ok "the result says that the runs are too few" test "$(of copying metrics "" result)" = 'needs 10 runs'
ok "too few runs have no rate" test -z "$(of copying metrics "" rate_pct)"
ok "a self-test that can test nothing exits 4" exits 4 "$zcost" compare --self-test few
ok "a self-test of too few runs says that nothing was tested" says 'lossy: nothing was tested: there are too few runs' out
world pair 6 $copying $mapping
"$zcost" compare copying mapping -C pair >out 2>err
ok "the line of the self-test says that the runs are too few" says '^# self-test: needs 10 runs an end \(base 6, new 6\)$' out
"$zcost" compare pair:copying cap:copying >out 2>err
ok "the line of the self-test names the end that has too few runs" says '^# self-test: .*: base needs 10 runs, has 6; new [0-9.]+ %, ok$' out

# A split has at most 63 runs.
world long 66 $copying
noise long
self_test long --table metrics
ok "of more than 63 runs a self-test splits the first 63" test "$(of copying metrics "" rows) $(of copying metrics "" base_runs) $(of copying metrics "" new_runs)" = '5 31 32'
ok "an unknown variant exits 1" exits 1 "$zcost" compare --self-test few --variant none
ok "--self-test with BASE and NEW is a usage error" exits 2 "$zcost" compare a b --self-test few
ok "--variant without --self-test is a usage error" exits 2 "$zcost" compare a b --variant a
ok "a missing capture exits 1" exits 1 "$zcost" compare --self-test nowhere

. "$tests/golden.sh"
for capture in cap drift few "long --table metrics" "cap --table syscalls --estimator mean --threshold 5" "cap --side sender"; do
	run compare --self-test $capture --format csv --verbose
done
run compare copying mapping -C cap
run compare copying mapping -C cap --table components --format commit
run compare pair:copying cap:copying --format commit
ok "tables of false alarms are as in tests/data/golden/$golden.txt" is_golden

done_testing
