#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Variants under settings: which is which, and choosing among them by globs.
. "$(dirname "$0")/../lib.sh"
. "$tests/golden.sh"
need jq

# Gbit/s of 1e9 bytes/s: 8; each its own.
rate=1
for v in a+mtu1500+gro-on a+mtu9000+gro-on b+mtu1500+gro-on b+mtu9000+gro-on; do
	for repeat in 1 2; do
		for side in receiver sender; do
			measure_run c $v $repeat $side ${rate}00000000 300
		done
	done
	rate=$((rate + 1))
done
manifest c "a+mtu1500+gro-on a+mtu9000+gro-on b+mtu1500+gro-on b+mtu9000+gro-on" \
	a+mtu1500+gro-on/measure/1/ok a+mtu9000+gro-on/measure/1/ok \
	b+mtu1500+gro-on/measure/1/ok b+mtu9000+gro-on/measure/1/failed \
	b+mtu9000+gro-on/measure/2/ok b+mtu1500+gro-on/measure/2/ok \
	a+mtu9000+gro-on/measure/2/ok a+mtu1500+gro-on/measure/2/ok
jq '.variants[] |= (.base = .name[0:1] | .matrix = {mtu: .name[5:9], gro: "on"})' c/manifest.json >m
mv m c/manifest.json
"$zcost" analyze c >out 2>err # 4: one run failed
ok "analyze counts 8 runs of a capture with settings" says ": 8 runs$" err

report c variants --variant '*+mtu9000*'
run report variants c --variant 'c*'

report c summary --variant 'a+*'
report c runs --variant '?+mtu1500*'
report c roi --variant 'b*9000*'
run report summary c --variant 'c+*'
run report summary c --side 'rec*'
ok "compare accepts two variants of settings" exits 0 "$zcost" compare a+mtu1500+gro-on a+mtu9000+gro-on -C c

if command -v gnuplot >/dev/null; then
	ok "plot with a glob exits 0" exits 0 "$zcost" plot c throughput -o p --format svg --variant '*+mtu9000*'
	ok "plot with a glob draws the matching variants" test "$(grep -c mtu9000 p/throughput.tsv),$(grep -c mtu1500 p/throughput.tsv)" = 2,0
	ok "the charts name the variants by their differences" says "^set label \"b\" at .* center" p/throughput.gp
	ok "the caption has the settings that the variants share" says 'all variants: mtu9000, gro-on' p/throughput.gp
	ok "plot with an unmatched glob exits 1" exits 1 "$zcost" plot c -o q --variant nonesuch
	ok "the message of plot names the unmatched glob" says "has no variant 'nonesuch'; " err
else
	skip "charts of some" "needs gnuplot"
fi

measure_run d x 1 receiver 100000000 300
measure_run d x 1 sender 100000000 300
manifest d x x/measure/1/ok
"$zcost" analyze d 2>err
report d variants
# Several captures in one table.
mkdir sub
cp -r c sub/c
cp -r c tso
sqlite3 tso/zcost.db "UPDATE setting SET name = 'tso' WHERE name = 'gro'"
run report summary c tso --format csv --variant 'a*'
run report summary c/ sub/c tso --format csv # captures with one name have a longer path
run report variants c tso --format csv
"$zcost" report summary c tso --verbose >out 2>err
ok "a note names its variants with their captures, and a note of all stands once" sh -c "grep -q '^# c/a+mtu1500+gro-on, c/a' out && test \$(grep -c 'over the runs' out) = 1"
run report summary c nowhere
run report summary c c

golden_captures c/zcost.db
done_testing
