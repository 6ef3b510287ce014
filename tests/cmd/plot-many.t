#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost plot with many variants, and with names and figures that are hard to draw.
. "$(dirname "$0")/../lib.sh"
. "$tests/plot.sh"

make_capture small || { cat analyze.log; exit 1; }
profile_of 905 mmap sender 10 500 0 | sqlite3 small/zcost.db
cp -r small cap
twelve | sqlite3 -bail cap/zcost.db
rows="throughput cpu components functions functions_sender roi_c counters"

ok "plot draws twelve variants" exits 0 "$zcost" plot cap -o slides --format svg
for c in $rows; do
	ok "$c has figures of all twelve variants" test "$(cut -f 10 slides/$c.tsv | sed 1d | sort -u | wc -l)" = 12
	ok "$c names each variant once, as a row" test "$(grep -c '^set label "\(baseline\|mmap\)+size[1-6]k"' slides/$c.gp)" = 12
	ok "$c leaves no variant out" sh -c "! grep 'Not in this chart' slides/$c.gp"
	ok "$c is XML" xmllint --noout slides/$c.svg
done
ok "no panel's bars and whiskers reach the next panel" awk -F '\t' 'NR > 1 {
		if (!($9 in first)) { first[$9] = $4; order[++n] = $9 }
		end = $4 - first[$9] > 1e-9 ? 0 : $4 + $8
		if ($5 > last[$9]) last[$9] = $5
		if (end > last[$9]) last[$9] = end
	} END { for (i = 2; i <= n; i++) if (last[order[i - 1]] >= first[order[i]]) { print order[i - 1], last[order[i - 1]]; bad = 1 }
		exit bad || n < 3 }' slides/roi_c.tsv
ok "all rows stand apart" awk -F '\t' 'NR > 1 { from[$10] = $2; to[$10] = $3 } END {
		for (a in from) for (b in from) if (a != b && from[a] < to[b] && from[b] < to[a]) bad = 1; exit bad }' slides/roi_c.tsv
"$zcost" report roi cap --format tsv --side receiver >roi.tsv 2>/dev/null
ok "each T²/C of the receiver is the reported one" same_figures "$(cells slides/roi_c.tsv value side=receiver)" "$(cells roi.tsv roi_c)"

"$zcost" report --html page.html cap 2>page.err
drawn=$(grep -o '<figure id="c[0-9]*-flame">' page.html | wc -l)
ok "a page has twelve flame graphs of more" test "$drawn" = 12
ok "a page says how many flame graphs it leaves out" \
	test "$(sed -n 's,.*chart <b>flame</b>: graphs left out: \([0-9]*\);.*,\1,p' page.html)" = $((24 - drawn))
ok "a page has room for the flame graphs that it draws" sh -c '! grep "flame.*the page would be too large" page.html'
ok "variants of one variant of the plan have one colour" test "$(grep -o "boxxyerror .*fillcolor rgb '#[0-9a-f]*'" slides/roi_c.gp |
	grep -o '#[0-9a-f]*.$' | sort | uniq -c | awk '{ printf "%s ", $1 }')" = "6 6 "
ok "the waterfall says which pair it draws" says \
	'One pair of 12 variants: baseline\+size1k and mmap\+size1k; --base and --new choose' slides/waterfall.svg
ok "the waterfall draws another pair" exits 0 "$zcost" plot cap waterfall -o pair --format svg --base baseline+size6k --new mmap+size6k
ok "the title names that pair" says '<title>From baseline to mmap: ' pair/waterfall.svg
ok "the subtitle says once that no variant has a limit" sh -c "grep -q 'no known limit<' slides/throughput.svg && ! grep 'limited by' slides/throughput.svg"
for c in timeline sizes; do
	ok "$c draws six variants and counts the others" sh -c "cut -f 7 slides/$c.tsv | sed 1d | sort -u | wc -l | grep -x 6 &&
		grep 'Not in this chart: 6 more variants (--new or --variant chooses)' slides/$c.svg"
done

# Ten variants of the plan over a setting.
cp -r cap lines
for k in 3 4 5 6; do
	echo "UPDATE setting SET variant = replace(variant, '+', '$k+') WHERE variant LIKE '%+size${k}k';
		UPDATE run SET variant = replace(variant, '+', '$k+') WHERE variant LIKE '%+size${k}k';
		UPDATE variant SET base = base || '$k', name = replace(name, '+', '$k+') WHERE name LIKE '%+size${k}k';"
done | sqlite3 -bail lines/zcost.db
ok "sweep draws ten variants of the plan" exits 0 "$zcost" plot lines sweep -o lines-slides --format svg
ok "sweep draws six of them and counts the others" sh -c "cut -f 7 lines-slides/sweep.tsv | sed 1d | sort -u | wc -l | grep -x 6 &&
	grep 'Not in this chart: 4 more variants (--variant chooses)' lines-slides/sweep.svg"

# Names of 80 characters, of any script.
rename() {
	sqlite3 small/zcost.db "UPDATE variant SET name = '$2' WHERE name = '$1'; UPDATE run SET variant = '$2' WHERE variant = '$1'"
}
rename baseline "零拷贝接收 базовый é"
rename mmap "splice-from-a-memfd-by-way-of-a-pipe -> TCP_ZEROCOPY_RECEIVE with segments of 15 pages"
rename uring "io_uring_send_zc_with_registered_buffers_and_fixed_files_and_sqpoll_on_a_core_of_its_own"
ok "plot draws long names and names of other scripts" exits 0 "$zcost" plot small -o names --format svg
ok "the .tsv has the name as it is" sh -c "grep -q '零拷贝接收' names/throughput.tsv"
ok "a title with long names has its claim in full" says '<title>[^<]*\(throughput² per CPU use\)</title>' names/roi_c.svg
ok "the picture has that claim in full" says 'per CPU use\)' names/roi_c.gp

cp -r small one && sqlite3 one/zcost.db "DELETE FROM run WHERE repeat > 1"
ok "plot draws one run of each variant over time" exits 0 "$zcost" plot one timeline -o single --format svg
ok "the subtitle of one run speaks of no median" says 'Each line is the only run; the grey area is the window' single/timeline.svg
ok "the foot note of one run has no median" says 'n = 1 measured run per variant, so no median' single/timeline.svg

# Figures over four decades and without names.
sqlite3 small/zcost.db "UPDATE metric SET value = value * 1e-4 WHERE (name IN ('throughput', 'bytes') OR name LIKE 'rate_%')
	AND run IN (SELECT id FROM run WHERE variant LIKE 'splice%'); UPDATE symbol SET unresolved = 1"
ok "plot draws figures over four decades" exits 0 "$zcost" plot small throughput functions components -o decades --format svg
ok "a small ratio is not called 0" says '<title>[^<]*: 0\.0002× the throughput' decades/throughput.svg
ok "the labels of the axis tell 1.5M from 2M" says "'500k' 500000, '1M' 1000000, '1.5M' 1500000" decades/components.gp
ok "a caption says that the functions have no names" says 'code without a name: its symbols were not found' decades/functions.svg
ok "the title of one function is no plural" sh -c "! grep 'top 1 functions' decades/functions.svg"

done_testing
