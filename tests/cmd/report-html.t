#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The page of report --html and compare --html: one file that needs no other, figures of the tables, and a browser that runs it.
. "$(dirname "$0")/../lib.sh"
. "$tests/plot.sh"

make_capture cap || { cat analyze.log; exit 1; }
sqlite3 cap/zcost.db "UPDATE symbol SET name = '</script><b class=evil>\"x'' & ' || char(27) || '<script>evil=1</script>' WHERE id = 2"

mkdir tmp
export TMPDIR="$PWD/tmp"
ok "report --html writes a page" exits 0 "$zcost" report --html page.html cap
ok "the verdict is in words" says '<b>mmap</b> against baseline: better: throughput' page.html
ok "the verdicts stand before the charts" sh -c \
	'[ $(grep -n "id=verdicts" page.html | cut -d: -f1) -lt $(grep -n "id=charts" page.html | cut -d: -f1) ]'
ok "it says what was zero copy" says 'mmap: the receiver does not copy .*99.8 %' page.html
ok "it says what limited each variant" says '<b>uring</b>: ' page.html
ok "it has the command that made it" says '<pre>zcost report --html page.html cap' page.html
ok "below a table is its command" says "<code>zcost compare baseline mmap -C cap --table functions --side receiver --limit=60</code>" page.html
ok "the command of the table of metrics is whole" says "<code>zcost compare baseline mmap -C cap --table metrics</code>" page.html
ok "it has the commands of the runs" says '<td>receiver</td><td>tcpzc' page.html
ok "it has no address and no reference to a file" test -z "$(outside_references page.html)"
ok "control characters and markup in names are escaped" says '<td>&lt;/script&gt;&lt;b class=evil&gt;&quot;x' page.html
if command -v xmllint >/dev/null; then
	# xmllint knows HTML 4: it has no word for newer elements. It misreads long attributes of a file that it reads in parts.
	xmllint --memory --html --noout page.html 2>&1 | grep -E 'error :' | grep -vE "Tag [a-z]+ invalid" >lint
	ok "the page is HTML" test ! -s lint
else
	skip "the page is HTML" "xmllint is not installed"
fi

# The cells of a column of a table in the page, by the table's id.
figures_of() {
	awk -v id="id=\"$1\"" -v want="$2" 'index($0, id) { on = 1 } !on { next }
		/<thead>/ { n = split($0, head, "</th>"); for (i = 1; i < n; i++) { sub(".*<th[^>]*>", "", head[i])
			sub(" <i>.*", "", head[i]); if (head[i] == want) c = i } }
		/<tr><td/ { split($0, cell, "</td>"); sub(".*<td[^>]*>", "", cell[c]); sub(/ .*/, "", cell[c]); print cell[c] }
		/<\/details>/ { exit }' page.html
}
"$zcost" report roi cap --format tsv >roi.tsv 2>/dev/null
ok "the figures are those of the tables" same_figures "$(figures_of t0-roi throughput_gbps)" \
	"$(cells roi.tsv throughput_gbps | xargs printf '%.3f\n')"

ok "compare --html writes the page of two variants" exits 0 "$zcost" compare baseline mmap -C cap --html two.html
ok "it has no row of a third" sh -c "! grep -q '<td>uring<' two.html"
sqlite3 cap/zcost.db "INSERT INTO note SELECT max(id), 'lossy', 'perf_lost_records', '[1]' FROM run WHERE variant = 'uring'"
ok "a loss of a third is none of its page" exits 0 "$zcost" compare baseline mmap -C cap --html two.html
ok "it is one of the page of all" exits 4 "$zcost" report --html all.html cap
sqlite3 cap/zcost.db "DELETE FROM note WHERE severity = 'lossy'"
ok "the gate of compare works with the page" exits 3 "$zcost" compare mmap baseline -C cap --fail-on worse --html two.html
ok "a page of one variant says so" sh -c '"$1" report --html one.html cap --variant mmap && grep -q "nothing to compare it with" one.html' - "$zcost"
ok "two captures have a page, too" exits 0 "$zcost" compare cap:baseline cap:uring --html two.html
ok "a page of no capture is a usage error" exits 2 "$zcost" report --html page2.html
ok "a table has no page" exits 2 "$zcost" compare baseline mmap -C cap --html two.html --table roi
ok "patterns have no page" exits 2 "$zcost" compare 'base*' 'mma*' -C cap --html two.html
ok "--html and --format are a usage error" exits 2 "$zcost" report --html page2.html cap --format md
ok "a folder that is not there fails" exits 1 "$zcost" report --html none/page.html cap

# A page of the workload alone, of one side.
sqlite3 cap/zcost.db "INSERT INTO metric (run, name, unit, value, source) SELECT id, 'workload_cpu_pct', '%', 40, 'measured' FROM run WHERE pass = 'measure';
	INSERT OR IGNORE INTO process SELECT DISTINCT run, pid FROM cost;
	UPDATE metric SET value = 99 WHERE name = 'cpu_pct' AND cpu = 2"
ok "report --html takes --workload-only, --side and --basis" exits 0 "$zcost" report --html page.html cap --workload-only --side receiver --basis busy
ok "the top of the page says what it is of" sh -c 'sed "/<nav/,\$d" page.html | tr "\n" " " | grep -q "Only the side receiver.*Only the workload.s processes.*parts of the busy time"'
ok "the page says once that its options go with the command of a table" test 1 = "$(grep -c 'options of this page' page.html)"
ok "the CPU use in the page is that of the workload" test "$(figures_of t0-summary cpu_pct | sort -u)" = 40.0
ok "the tables of the page have the rows of the side alone" test "$(figures_of t0-summary side | sort -u) $(figures_of t0-roi side | sort -u)" = "receiver receiver"
ok "the page has the limits of the other side" says '<b>mmap</b>: sender cpu: CPU 2 is 99.0 % busy' page.html
for kind in table chart; do
	ok "the page says why it has no $kind of idle states" says "<li>$kind <b>idle</b>: an idle state is that of a CPU" page.html
done
ok "the chart of the CPU use is that of the workload" says 'CPU use of the workload' page.html
ok "compare --html takes --workload-only and --side" exits 0 "$zcost" compare baseline mmap -C cap --html two.html --workload-only --side receiver
ok "the page of compare names the side and the workload" says 'class=scope>Only the workload' two.html
ok "a page of an unknown side fails" exits 1 "$zcost" report --html none.html cap --side nosuch
ok "a page of the total is refused" exits 2 "$zcost" report --html none.html cap --side total
ok "a page of one command is refused" exits 2 "$zcost" report --html none.html cap --comm tcpzc

mkdir bare
for tool in awk; do ln -s "$(command -v $tool)" bare/; done
ok "without gnuplot the page comes, too" env PATH="$PWD/bare" "$zcost" report --html bare.html cap
ok "it says that charts are missing" says 'gnuplot is not installed, so the page lacks' bare.html

sqlite3 cap/zcost.db "CREATE TEMP TABLE more AS SELECT * FROM run WHERE variant = 'uring' LIMIT 1;
	WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
	INSERT INTO run (id, variant, pass, repeat, side, host, command, status) SELECT 10000 + i, variant, 'other', i, side, host, 'command ' || i, status FROM more, n"
env PATH="$PWD/bare" "$zcost" report --html bare.html cap 2>err
ok "the page has the commands of many runs" is "$(grep -c '<td>command [0-9]*<' bare.html)" 250
sqlite3 cap/zcost.db "DELETE FROM run WHERE pass = 'other'"

printf '#!/bin/sh\nexit 3\n' >bare/gnuplot && chmod +x bare/gnuplot
ok "report --html exits 4 when gnuplot fails" exits 4 env PATH="$PWD/bare" "$zcost" report --html bare.html cap
ok "a warning names each chart that the page lacks" says '^zcost: warning: the page lacks the chart throughput: .*throughput.gp: gnuplot exited with status 3.*make it again$' err
ok "the page lists the charts that it lacks" says '<li>chart <b>throughput</b>: .*gnuplot exited with status 3' bare.html

# gnuplot waits until zcost has its signal.
cat >bare/gnuplot <<'END'
#!/bin/sh
: >drawing
while [ ! -e stopped ] && [ -d /proc/$PPID ]; do sleep 0.02; done
END
ln -s "$(command -v sleep)" bare/
stopped() {
	PATH="$PWD/bare" "$zcost" report --html stopped.html cap 2>err &
	pid=$!
	soon sh -c 'ls tmp/zcost-page.*/*/drawing'
	kill $pid
	for drawing in tmp/zcost-page.*/*/drawing; do : >"${drawing%drawing}stopped"; done
	wait $pid
	test $? = 143 && test ! -e stopped.html && test -z "$(ls tmp)"
}
ok "a page that is stopped by SIGTERM leaves no temporary folder and no page" stopped

no_folder() { # the error of the process that draws the charts
	TMPDIR=$PWD/absent "$zcost" report --html absent.html cap 2>err
	test $? = 1 && test ! -e absent.html && grep -q "absent/zcost-page.*: No such file or directory" err
}
ok "a page whose folder for charts cannot be made says so" no_folder
ignored() {
	"$zcost" report --html usual.html cap 2>err
	(trap '' CHLD && exec "$zcost" report --html ignored.html cap) 2>err
	sed 's,ignored.html,usual.html,' ignored.html | cmp - usual.html
}
ok "a caller that ignores SIGCHLD gets the same page" ignored

# in_browser PAGE: shows the page until the flame graph in its frame has answered, at most two minutes.
# `answers` gets the answers that page-check.js writes to the browser's console. The browser runs no frame outside its
# window, so the window is as high as the page.
in_browser() {
	{ cat "$1" && echo "<script>" && cat "$tests/tools/page-check.js" && echo "</script>"; } >person.html
	: >browser.log
	timeout 120 chromium --headless --no-sandbox --disable-gpu --enable-logging=stderr --remote-debugging-port=0 \
		--window-size=1280,12000 "file://$PWD/person.html" >>browser.log 2>&1 &
	browser=$!
	until grep -q '"answer: ok the flame graph has answered"' browser.log; do
		kill -0 $browser 2>/dev/null || break
		sleep 0.1
	done
	kill $browser 2>/dev/null
	wait $browser
	sed -n 's/.*CONSOLE[^"]*"answer: \([^"]*\)".*/\1/p' browser.log >answers
}
if command -v chromium >/dev/null; then
	in_browser page.html
	ok "the page works in a browser" sh -c '[ -s answers ] && ! grep -v "^ok " answers'
	ok "a flame graph of the page zooms at a click, and the reset undoes it" says "^ok the flame graph has answered" answers
	ok "the browser has nothing to complain about" sh -c "! grep CONSOLE browser.log | grep -v '\"answer: '"
else
	skip "the page works in a browser" "chromium is not installed"
fi
ok "the temporary folder of the charts is gone" test -z "$(ls -d tmp/zcost-page.* 2>/dev/null)"
done_testing
