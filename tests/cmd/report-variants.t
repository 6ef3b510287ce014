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
ok "analyze" says "16 runs" err

cat >want <<'EOT'
variant,base,mtu,gro,runs,failed_runs,what
a+mtu1500+gro-on,a,1500,on,2,0,what a+mtu1500+gro-on is
a+mtu9000+gro-on,a,9000,on,2,0,what a+mtu9000+gro-on is
b+mtu1500+gro-on,b,1500,on,2,0,what b+mtu1500+gro-on is
b+mtu9000+gro-on,b,9000,on,1,1,what b+mtu9000+gro-on is
EOT
ok "report variants" exits 0 "$zcost" report variants c --format csv
ok "  a column for each setting, in the plan's order" diff want out
ok "  of some" exits 0 "$zcost" report variants c --format csv --variant '*+mtu9000*'
ok "  alone" test "$(sed 1d out | cut -d, -f1 | tr '\n' ' ')" = "a+mtu9000+gro-on b+mtu9000+gro-on "
ok "  of none" exits 1 "$zcost" report variants c --variant 'c*'
ok "  is a mistake" says "no variant is 'c\*'" err

ok "summary of a glob" exits 0 "$zcost" report summary c --format csv --variant 'a+*'
ok "  has those variants" test "$(sed 1d out | cut -d, -f1,2 | tr '\n' ' ')" = \
	"a+mtu1500+gro-on,receiver a+mtu1500+gro-on,sender a+mtu9000+gro-on,receiver a+mtu9000+gro-on,sender "
ok "runs of a glob" exits 0 "$zcost" report runs c --format csv --variant '?+mtu1500*'
ok "  has those runs" test "$(sed 1d out | cut -d, -f2 | sort | uniq -c | tr -s ' \n' ' ')" = \
	" 4 a+mtu1500+gro-on 4 b+mtu1500+gro-on "
ok "roi of a glob" exits 0 "$zcost" report roi c --format csv --variant 'b*9000*'
ok "  has it" test "$(sed 1d out | cut -d, -f1 | sort -u)" = b+mtu9000+gro-on
ok "a glob that none is like" exits 1 "$zcost" report summary c --variant 'c+*'
ok "  is told with those there are" says "no variant 'c\+\*'; it has: a\+mtu1500\+gro-on, a" err
ok "a side is a name" exits 1 "$zcost" report summary c --side 'rec*'
ok "a comparison of two settings" exits 0 "$zcost" compare a+mtu1500+gro-on a+mtu9000+gro-on -C c

if command -v gnuplot >/dev/null; then
	ok "charts of some" exits 0 "$zcost" plot c throughput -o p --format svg --variant '*+mtu9000*'
	ok "  have them alone" test "$(grep -c mtu9000 p/throughput.tsv),$(grep -c mtu1500 p/throughput.tsv)" = 2,0
	ok "  named by what they differ in" says "^set label \"b\" at .* center" p/throughput.gp
	ok "  the rest is said below" says 'all variants: mtu9000, gro-on' p/throughput.gp
	ok "charts of none" exits 1 "$zcost" plot c -o q --variant nonesuch
	ok "  are a mistake" says "no variant is 'nonesuch'" err
else
	skip "charts of some" "needs gnuplot"
fi

measure_run d x 1 receiver 100000000 300
measure_run d x 1 sender 100000000 300
manifest d x x/measure/1/ok
"$zcost" analyze d 2>err
ok "a capture without settings" exits 0 "$zcost" report variants d --format csv
ok "  has no columns for them" test "$(head -n 1 out)" = variant,runs,failed_runs,what
done_testing
