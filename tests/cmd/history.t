#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost history: figures over many captures. Copies of a made-up capture have a date each, noise of 2 %, and one has a step.
. "$(dirname "$0")/../lib.sh"
. "$tests/world.sh"
need sqlite3

days=50 step=30
world base 6 $copying $mapping
sqlite3 base/zcost.db "INSERT INTO fact (variant, name, value) SELECT name, 'receiver.command', 'prog --size 64k' FROM variant;
	INSERT INTO fact (host, name, value) VALUES ('vm', 'cpu_model', 'model A'), ('vm', 'release', '6.18')"
# day_sql DAY: the variant copying has 8 % more CPU time from day 30 on; mapping has noise alone, and a throughput that scatters more from then on.
day_sql() {
	awk -v d="$1" -v step=$step -v q="'" '
	function noise(z, i) {
		z = -6
		for (i = 0; i < 12; i++)
			z += rand()
		return 1 + 0.02 * z
	}
	function slow(variant, k) {
		printf "UPDATE metric SET value = value * %.6f WHERE name IN (%scpu_pct%s, %sbusy_ns%s) AND run IN (SELECT id FROM run WHERE variant = %s%s%s);\n",
			k, q, q, q, q, q, variant, q
	}
	BEGIN {
		srand(1000 + 17 * d)
		slow("copying", noise() * (d < step ? 1 : 1.08))
		slow("mapping", noise())
		printf "UPDATE metric SET value = value * %.6f WHERE name = %sthroughput%s AND run IN (SELECT id FROM run WHERE variant = %smapping%s);\n",
			1 + (noise() - 1) * (d < step ? 0.01 : 3), q, q, q, q
		print "INSERT OR REPLACE INTO capture VALUES (" q "created" q ", STRFTIME(" q "%Y-%m-%dT06:00:00Z" q ", " q "2026-01-01" q ", " q "+" d " days" q "));"
		printf "INSERT INTO fact (variant, name, value) SELECT name, %svar:commit%s, %sc0ffee%02d%s FROM variant;\n", q, q, q, d, q
	}'
}
mkdir day
for d in $(seq -w 0 $((days - 1))); do
	cp base/zcost.db "day/$d.db"
	day_sql "$d" | sqlite3 "day/$d.db"
done

history() {
	"$zcost" history "$@" -H h.db
}
# of VARIANT SIDE FIGURE COLUMN: the cells of the series in out, from the first segment on
of() {
	tsv '$1 == v && $2 == s && $3 == f { print $at[column] }' v="$1" s="$2" f="$3" column="$4" out | paste -sd' '
}

ok "captures are added" exits 0 history add day/*.db
ok "a message counts them" says "h.db: $days of $days captures added" err
ok "the changes are shown" exits 0 history show --format tsv
ok "a planted step divides its series" is "$(of copying receiver ns_per_kib captures)" "$step $((days - step))"
ok "it is worse" is "$(of copying receiver ns_per_kib verdict)" " worse"
ok "its range has the commits on both sides" is "$(of copying receiver ns_per_kib range)" " c0ffee29..c0ffee30"
ok "its interval holds the planted 8 %" test "$(of copying receiver ns_per_kib change_lo | awk '{ print $1 < 8 }')" = 1
ok "its interval does not reach 3 % or 13 %" \
	awk -v lo="$(of copying receiver ns_per_kib change_lo)" -v hi="$(of copying receiver ns_per_kib change_hi)" 'BEGIN { exit !(lo > 3 && lo < 8 && hi > 8 && hi < 13) }'
ok "its p is below the level" awk -v p="$(of copying receiver ns_per_kib p)" 'BEGIN { exit !(p > 0 && p <= 0.05 / 365) }'
ok "a score falls where the cost rises" is "$(of copying total roi_c verdict)" " worse"
ok "a series without a step has one segment" is "$(of mapping receiver ns_per_kib captures)" "$days"
ok "a figure that never varies has no change" is "$(of copying receiver throughput captures)" "$days"
ok "a series that only scatters more is neither better nor worse" is "$(of mapping receiver throughput verdict)" " spread"
ok "the spread between captures is the planted 2 %" near "$(of copying receiver ns_per_kib between_pct | cut -d' ' -f1)" 2 0.1
ok "the spread of the runs within a capture is 0.19 %" near "$(of copying receiver ns_per_kib within_pct | cut -d' ' -f1)" 0.19 0.01
ok "secondary figures are not shown" is "$(of copying receiver cpu captures)" ""
ok "a pattern shows them" exits 0 history show '*' --variant copying --side receiver --format tsv
ok "a figure without a better direction is higher or lower" is "$(of copying receiver cpu verdict)" " higher"
ok "the cost of copying is a figure" is "$(of copying receiver copy_ns_per_kib captures | cut -d' ' -f1)" "$step"
cp day/00.db uneven.db
sqlite3 uneven.db "UPDATE cost SET weight = 5 * weight WHERE frame = 1 AND run = (SELECT MIN(run) FROM cost)"
ok "a capture is added whose profile runs differ" exits 0 "$zcost" history add uneven.db -H uneven.h
cost=$("$zcost" report summary uneven.db --variant copying --side receiver --format tsv | tsv '{ print $at["copy_ns_per_kib"] }')
ok "its cost of copying is shown" exits 0 "$zcost" history show copy_ns_per_kib --each --variant copying --side receiver -H uneven.h --format tsv
ok "it is that of the summary" near "$(of copying receiver copy_ns_per_kib value)" "$cost" 1e-6
ok "each capture has a row" exits 0 history show ns_per_kib --each --variant copying --side receiver --format tsv
ok "in the order of the days" is "$(of copying receiver ns_per_kib since | tr ' ' '\n' | sort -c && tsv 'END { print NR - 1 }' out)" "$days"

# Four of nine captures before day 25 have 120, and of those after it 80. The median rises by 1 %, and most ratios fall.
cp h.db states.db
sqlite3 states.db "INSERT INTO series VALUES (1000, 'states', 'receiver', 'ns_per_kib', 'ns', -1, 1);
	INSERT INTO value SELECT 1000, capture, 0, CASE WHEN day < 25 THEN CASE WHEN day % 9 % 2 THEN 120 ELSE 100 END
		WHEN day % 9 % 2 THEN 80 ELSE 101 END
	FROM (SELECT id AS capture, ROW_NUMBER() OVER (ORDER BY created) - 1 AS day FROM capture)"
ok "a series of two states is shown" exits 0 "$zcost" history show --variant states -H states.db --format tsv
ok "its change of 1 % upwards has no verdict that says the opposite" \
	is "$(of states receiver ns_per_kib change_pct) $(of states receiver ns_per_kib verdict)" " 1  spread"

# The same capture again, with a label; then what does not belong here.
cp h.db before.db
ok "a capture that the history has is replaced" exits 0 history add day/07.db --label commit=abcdef1 --label 'who=me'
ok "the number of captures stays" is "$(sqlite3 h.db 'SELECT COUNT(*) FROM capture')" $days
ok "the number of values stays" is "$(sqlite3 h.db 'SELECT COUNT(*) FROM value')" "$(sqlite3 before.db 'SELECT COUNT(*) FROM value')"
ok "the label commit goes before the plan's variable" is "$(sqlite3 h.db 'SELECT "commit", labels FROM capture WHERE labels IS NOT NULL')" 'abcdef1|who=me'
refused() { # refused NAME SQL: a capture with this change
	cp day/49.db "$1.db"
	sqlite3 "$1.db" "UPDATE capture SET value = '2026-03-01T06:00:00Z' WHERE key = 'created'; $2"
	exits 1 history add "$1.db"
}
ok "another plan is refused" refused plan "UPDATE fact SET value = 'prog --size 1M' WHERE name = 'receiver.command'"
ok "with the reason" says "plan.db: not added: .*copying receiver command 'prog --size 64k' -> 'prog --size 1M'" err
ok "a key of the plan that is gone is refused" refused gone "DELETE FROM fact WHERE name = 'receiver.command'"
ok "another class of host is refused" refused host "UPDATE fact SET value = 'model B' WHERE name = 'cpu_model'"
ok "with the reason" says "cpu_model 'model A' -> 'model B'" err
ok "a refused capture leaves nothing" is "$(sqlite3 h.db 'SELECT COUNT(*) FROM capture')" $days
cp day/49.db kernel.db
sqlite3 kernel.db "UPDATE capture SET value = '2026-03-02T06:00:00Z' WHERE key = 'created'; DELETE FROM fact WHERE name = 'var:commit';
	UPDATE host SET release = '6.19.0-rc1-gdeadbeef1234'; UPDATE fact SET value = '6.19.0-rc1' WHERE name = 'release'"
ok "another kernel is not refused, and the others are added" exits 1 history add plan.db kernel.db
ok "a kernel's name has its commit" is "$(sqlite3 h.db "SELECT \"commit\" FROM capture WHERE created LIKE '2026-03-02%'")" deadbeef1234
cp kernel.db hosts.db
sqlite3 hosts.db "UPDATE capture SET value = '2026-03-03T06:00:00Z' WHERE key = 'created'; UPDATE host SET name = 'vm10', release = '6.12.0';
	INSERT INTO host (name, release) VALUES ('vm1', '6.1')"
ok "a capture of two hosts is added" exits 0 history add hosts.db
ok "a name that is part of another is in the list" \
	is "$(sqlite3 h.db "SELECT host, kernel FROM capture WHERE created LIKE '2026-03-03%'" | tr '|,' '\n' | sort | paste -sd' ')" "6.1 6.12.0 vm1 vm10"
ok "two writers wait for each other" sh -c "
	'$zcost' history add day/0*.db -H both.db 2>one & '$zcost' history add day/1*.db -H both.db 2>two; wait
	test \"\$(sqlite3 both.db 'SELECT COUNT(*) FROM capture')\" = 20"

# Charts and the page.
if command -v gnuplot >/dev/null; then
	ok "charts and a page are made" exits 0 history show --charts charts --html page.html
	ok "a chart has its data" says '^1	.*capture' charts/history_ns_per_kib.tsv
	ok "the page has a chart of each figure and the table" is "$(grep -c '<svg' page.html) $(grep -c '<table' page.html)" "$(ls charts/*.svg | wc -l) 1"
	cp h.db evil.db
	sqlite3 evil.db "UPDATE series SET figure = 'x''; system(''touch pwned''); y=''' || char(34) || '><script>' WHERE figure = 'ns_per_kib'"
	ok "a history of others is drawn" exits 0 "$zcost" history show --charts evil --html evil.html -H evil.db
	ok "the name of a figure is no command and no markup" sh -c '! [ -e pwned ] && ! [ -e evil/pwned ] && ! grep -q "<script" evil.html'
	ok "the page has a command with its history" says '<code>zcost history show --history h.db</code>' page.html
	ok "the page asks nobody for anything" sh -c '! grep -E "(src|href)=.?http" page.html'
else
	skip "charts and a page are made" "no gnuplot"
fi

ok "an unknown figure is no empty table" exits 1 history show nonsense
ok "a missing history names the way out" exits 1 "$zcost" history show -H none.db
ok "it says how to make one" says 'none.db: no such history; .zcost history add. makes one' err
ok "a store of a capture is no history" exits 1 "$zcost" history show -H day/00.db
ok "a capture is not overwritten by a history" exits 1 "$zcost" history add day/01.db -H day/00.db
sqlite3 h.db 'CREATE VIEW extra AS SELECT 1'
ok "a file with foreign tables is refused" exits 1 history show
for words in '' add 'show a b' frobnicate 'show --label a=b' 'add day/00.db --each' 'add day/00.db --label x' 'show --false-alarms 0' 'show --false-alarms 0.003' \
	'show --html page.html --each' 'show --html page.html -o x.json' 'show --charts charts --format tsv'; do
	ok "usage error: history $words" exits 2 history $words
done

done_testing
