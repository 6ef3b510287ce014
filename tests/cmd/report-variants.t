#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Variants under settings: which is which, and choosing among them by globs.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"
command -v jq >/dev/null || skip_all "needs jq"

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
ok "analyze counts 16 runs of a capture with settings" says "16 runs" err

cat >want <<'EOT'
variant,base,mtu,gro,runs,failed_runs,what
a+mtu1500+gro-on,a,1500,on,2,0,what a+mtu1500+gro-on is
a+mtu9000+gro-on,a,9000,on,2,0,what a+mtu9000+gro-on is
b+mtu1500+gro-on,b,1500,on,2,0,what b+mtu1500+gro-on is
b+mtu9000+gro-on,b,9000,on,1,1,what b+mtu9000+gro-on is
EOT
ok "report variants exits 0" exits 0 "$zcost" report variants c --format csv
ok "report variants has a column for each setting, in the plan's order" diff want out
ok "report variants with a glob exits 0" exits 0 "$zcost" report variants c --format csv --variant '*+mtu9000*'
ok "report variants with a glob has the matching variants" test "$(sed 1d out | cut -d, -f1 | tr '\n' ' ')" = "a+mtu9000+gro-on b+mtu9000+gro-on "
ok "report variants with an unmatched glob exits 1" exits 1 "$zcost" report variants c --variant 'c*'
ok "the message names the unmatched glob" says "no variant is 'c\*'" err

ok "report summary with a glob exits 0" exits 0 "$zcost" report summary c --format csv --variant 'a+*'
ok "report summary with a glob has the matching variants" test "$(sed 1d out | cut -d, -f1,2 | tr '\n' ' ')" = \
	"a+mtu1500+gro-on,receiver a+mtu1500+gro-on,sender a+mtu9000+gro-on,receiver a+mtu9000+gro-on,sender "
ok "report runs with a glob exits 0" exits 0 "$zcost" report runs c --format csv --variant '?+mtu1500*'
ok "report runs with a glob has the matching runs" test "$(sed 1d out | cut -d, -f2 | sort | uniq -c | tr -s ' \n' ' ')" = \
	" 4 a+mtu1500+gro-on 4 b+mtu1500+gro-on "
ok "report roi with a glob exits 0" exits 0 "$zcost" report roi c --format csv --variant 'b*9000*'
ok "report roi with a glob has the matching variants" test "$(sed 1d out | cut -d, -f1 | sort -u)" = b+mtu9000+gro-on
ok "report summary with an unmatched glob exits 1" exits 1 "$zcost" report summary c --variant 'c+*'
ok "the message lists the variants" says "no variant 'c\+\*'; it has: a\+mtu1500\+gro-on, a" err
ok "a glob does not match a side" exits 1 "$zcost" report summary c --side 'rec*'
ok "compare accepts two variants of settings" exits 0 "$zcost" compare a+mtu1500+gro-on a+mtu9000+gro-on -C c

if command -v gnuplot >/dev/null; then
	ok "plot with a glob exits 0" exits 0 "$zcost" plot c throughput -o p --format svg --variant '*+mtu9000*'
	ok "plot with a glob draws the matching variants" test "$(grep -c mtu9000 p/throughput.tsv),$(grep -c mtu1500 p/throughput.tsv)" = 2,0
	ok "the charts name the variants by their differences" says "^set label \"b\" at .* center" p/throughput.gp
	ok "the caption has the settings that the variants share" says 'all variants: mtu9000, gro-on' p/throughput.gp
	ok "plot with an unmatched glob exits 1" exits 1 "$zcost" plot c -o q --variant nonesuch
	ok "the message of plot names the unmatched glob" says "no variant is 'nonesuch'; the variants are: " err
else
	skip "charts of some" "needs gnuplot"
fi

measure_run d x 1 receiver 100000000 300
measure_run d x 1 sender 100000000 300
manifest d x x/measure/1/ok
"$zcost" analyze d 2>err
ok "report variants exits 0 for a capture without settings" exits 0 "$zcost" report variants d --format csv
ok "a capture without settings has no columns of settings" test "$(head -n 1 out)" = variant,runs,failed_runs,what
# Several captures in one table.
mkdir sub
cp -r c sub/c
cp -r c tso
sqlite3 tso/zcost.db "UPDATE setting SET name = 'tso' WHERE name = 'gro'"
"$zcost" report summary c --format tsv --variant 'a*' >one 2>err
ok "report of two captures exits as for one" exits $? "$zcost" report summary c tso --format tsv --variant 'a*'
ok "the table of several captures begins with their names" sh -c "cut -f1 out | uniq -c | tr -s ' \\n' ' ' | grep -qx ' 1 capture 4 c 4 tso '"
ok "behind the name stands the row of the capture's own table" sh -c "cut -f2- out | sed -n 2,5p >rows && sed 1d one | cmp - rows && cut -f2- out | sed -n 6,9p | cmp - rows"
"$zcost" report summary c/ sub/c tso --format tsv >out 2>err
ok "captures with one name have a longer path" test "$(sed 1d out | cut -f1 | uniq | tr '\n' ' ')" = "c sub/c tso "
"$zcost" report variants c tso --format csv >out 2>err
ok "a column that one capture lacks is empty there" sh -c "head -n 1 out | grep -qx 'capture,variant,base,mtu,gro,runs,failed_runs,what,tso' &&
	grep -qx 'tso,a+mtu1500+gro-on,a,1500,,2,0,what a+mtu1500+gro-on is,on' out"
"$zcost" report summary c tso --verbose >out 2>err
ok "a note of one variant names the capture, and a note of all stands once" sh -c "grep -q '^# .*c/b+mtu9000+gro-on' out && test \$(grep -c 'over the runs' out) = 1"
ok "a capture that is not there fails the table" exits 1 "$zcost" report summary c nowhere
ok "the same capture twice is a usage error" exits 2 "$zcost" report summary c c

. "$tests/golden.sh"
golden_captures c/zcost.db
done_testing
