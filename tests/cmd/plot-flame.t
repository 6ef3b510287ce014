#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost plot flame and flame-diff: the sums are those of the tables, the pictures work in a browser, and odd names
# break nothing.
. "$(dirname "$0")/../lib.sh"
. "$tests/plot.sh"

make_capture cap || { cat analyze.log; exit 1; }
ok "plot draws samples without call chains" exits 0 "$zcost" plot cap flame -o flat --variant uring
ok "a caption says that there are none" says 'have no call chains, so that all functions are on one level' flat/flame_uring_receiver.svg

long="std::map<std::string, std::vector<int>>::emplace_hint<char const (&) [12], überlange \"Größe\" & ]]> 'x'>(int)"
# frame ID PARENT NAME DSO: adds a frame of a function of its own
frame() {
	echo "INSERT INTO symbol VALUES ($1, '$3', $4, 0); INSERT INTO frame VALUES ($1, $2, $1);"
}
# same ID PARENT SYMBOL: adds a frame of another frame's function
same() {
	echo "INSERT INTO frame VALUES ($1, $2, $3);"
}
# profile VARIANT REPEAT FRAME:SAMPLES...: adds a profiled run of the receiver
profile() {
	id=$(($2 + 1000 * ${#1}))
	echo "INSERT INTO run (id, variant, pass, repeat, side, host, command, cpus, ncpus, start_ns, end_ns,
		position, status, why) VALUES ($id, '$1', 'profile', $2, 'receiver', 'vm', 'x', '1', 1, 10000000000,
		13000000000, $id, 'ok', '');"
	shift 2
	sum=0
	for n; do
		sum=$((sum + ${n#*:}))
		echo "INSERT INTO cost VALUES ($id, $id, 1, 1, 7, 7, 2, ${n%:*}, ${n#*:}, ${n#*:} * 1000000);"
	done
	echo "INSERT INTO event (id, run, name, is_time, samples, weight, weight2)
		VALUES ($id, $id, 'cpu-clock', 1, $sum, $sum * 1000000, $sum * 1e12);"
}
chains() {
	echo "BEGIN; DELETE FROM run WHERE pass = 'profile'; DELETE FROM cost; DELETE FROM event;
		INSERT INTO dso VALUES (2, '/usr/bin/tcpzc', NULL, 3);"
	frame 4 NULL main 2
	frame 5 4 entry_SYSCALL_64_after_hwframe 1
	frame 6 5 do_syscall_64 1
	frame 7 6 tcp_recvmsg 1
	frame 8 7 do_softirq 1
	frame 9 8 net_rx_action 1
	frame 10 7 vanished_fn 1
	frame 11 7 new_fn 1
	frame 12 6 sock_poll 1
	frame 13 4 "$(echo "$long" | sed "s/'/''/g")" 2
	same 14 7 1
	same 15 9 1
	same 16 15 7
	for r in 1 2 3 4 5 6 7 8; do
		profile baseline $r 7:100 14:$((700 + r)) 9:100 15:50 10:$((60 + r)) 12:$((80 + r % 3)) 13:40 16:9
		profile mmap $r 7:100 14:$((300 + r)) 9:100 15:50 11:$((120 + r)) 12:$((116 + r % 4)) 13:40 16:9
	done
	echo "COMMIT;"
}
chains | sqlite3 -bail cap/zcost.db

ok "plot draws a flame graph of each variant and side with a profile" exits 0 "$zcost" plot cap flame -o slides
ok "each is a file with its variant's and side's name" test "$(ls slides)" = "flame_baseline_receiver.svg
flame_baseline_receiver.tsv
flame_mmap_receiver.svg
flame_mmap_receiver.tsv"
svg=slides/flame_baseline_receiver.svg
tsv=slides/flame_baseline_receiver.tsv
ok "the title has the sum and the unit" says '<title>Where the receiver&?.*s [0-9.]+ ns per KiB go: baseline</title>' $svg
ok "the line below has n and the kernel" says '<desc>n = 8 profiled runs · [0-9]+ samples of cpu-clock · Linux 6.18.0' $svg
ok "the picture says what was zero copy" says 'mmap: 99.80 % zero copy on the receiver' slides/flame_mmap_receiver.svg
ok "softirqs in system calls are marked" says '>\[softirq in sysc.*' $svg
ok "it is XML" xmllint --noout $svg
ok "it has no outside reference" sh -c "! grep -E '(href|src)=.(http|file|/)|url\\(|@import' $svg"

cp -r cap nameless
sqlite3 -bail nameless/zcost.db "INSERT INTO comm (name) VALUES (':123'), (':-1');
	UPDATE cost SET comm = (SELECT MAX(id) FROM comm) - run % 2"
ok "plot draws a flame graph of threads without a known command" exits 0 "$zcost" plot nameless flame -o nameless/slides --variant mmap
ok "these threads have one frame" test "$(awk -F '\t' '$2 == 0 { print $3 }' nameless/slides/flame_mmap_receiver.tsv)" = "[unknown]"

# Adds up the outermost frames of each function, as report functions counts a total.
totals_of() {
	awk -F '\t' 'NR > 1 { up[$1] = $2; name[$1] = $3; if ($4 == "") next; seen = 0
			for (a = $2; a; a = up[a]) seen += name[a] == $3
			if (!seen) sum[$3] += $8 }
		END { for (f in sum) printf "%s\t%.4f\n", f, sum[f] }' "$1" | sort
}
functions_of() {
	"$zcost" report functions cap --variant "$1" --all --format json | jq -r '.rows[] | [.symbol, .total_ns] | @tsv' |
		awk -F '\t' '{ printf "%s\t%.4f\n", $1, $2 }' | sort
}
for v in baseline mmap; do
	totals_of slides/flame_${v}_receiver.tsv >of-flame
	functions_of $v >of-report
	ok "the frames of each function of $v add up to its total in report functions" cmp of-flame of-report
done
ok "they are more than one frame for a function in two places" test "$(cut -f 3 $tsv | grep -c '^_copy_to_iter$')" = 2

# The difference.
ok "plot draws the difference of base and new" exits 0 "$zcost" plot cap flame-diff -o slides --new mmap
diff=slides/flame-diff_baseline_mmap_receiver
ok "its files have both variants' names and the side's" test -s $diff.svg -a -s $diff.tsv
ok "it is XML" xmllint --noout $diff.svg
rows() { # rows CONDITION COLUMN: adds up a column of the difference
	awk -F '\t' "NR == 1 { for (i = 1; i <= NF; i++) at[\$i] = i; next } $1 { s += \$at[\"$2\"] } END { printf \"%.6f\", s }" $diff.tsv
}
sum_of() {
	"$zcost" compare baseline mmap -C cap --table functions --all --format json | jq ".rows | map(.$1) | add"
}
for c in base_ns new_ns delta_ns; do
	ok "the roots' $c add up to the sum of compare --table functions" near "$(rows '$2 == 0' $c)" "$(sum_of $c)" 1e-5
done
printed() { # the numbers of the line below the title: in both, vanished, new, together
	sed -n 's/.*<desc>\(.*\) ns per KiB.*/\1/p' $diff.svg | sed 's/−/-/g' | grep -oE '[-+][0-9.]+' | tr '\n' ' '
}
ok "the printed changes of the regions add up to the printed change of the total" sh -c \
	"echo \"$(printed)\" | awk '{ d = \$1 + \$2 + \$3 - \$4; exit NF != 4 || d > 0.001 || d < -0.001 }'"
ok "the change of the total is that of compare" near "$(printed | cut -d ' ' -f 4)" "$(sum_of delta_ns)" 0.011
region_of() {
	awk -F '\t' -v f="$1" 'NR > 1 && $4 == f { print $3 }' $diff.tsv | sort -u | tr '\n' ' '
}
ok "a function that NEW has no sample of is among the vanished stacks" test "$(region_of vanished_fn)" = "vanished "
ok "a function that BASE has no sample of is among the new stacks" test "$(region_of new_fn)" = "new "
ok "their callers are in all regions" test "$(region_of main)" = "new shared or too rare vanished "
ok "a vanished function has its cost, and none in NEW" test "$(rows '$4 == "vanished_fn"' new_ns)" = 0.000000
verdict_of() {
	awk -F '\t' -v f="$1" -v r="$2" 'NR > 1 && $4 == f && $3 == r { print $12 }' $diff.tsv | sort -u | tr '\n' ' '
}
ok "a change in all runs is told apart from chance" test "$(verdict_of do_syscall_64 'shared or too rare')" = "better "
ok "new stacks are told apart from chance" test "$(verdict_of new_fn new)" = "worse "
ok "the same cost in all runs is not told apart from chance" test "$(verdict_of sock_poll 'shared or too rare')" = "~ "
ok "the picture says how many tests found a change" says '[0-9]+ of [0-9]+ tests found a change' $diff.svg
ok "the difference of variants of two captures is drawn" sh -c \
	"cp -r cap later && \"$zcost\" plot cap flame-diff -o two --base baseline --new later:mmap"
figures() {
	cut -f 1-11 "$1"
}
figures two/flame-diff_cap_baseline_later_mmap_receiver.tsv >of-two
figures $diff.tsv >of-one
cp two/flame-diff_cap_baseline_later_mmap_receiver.tsv of-all
ok "its figures are those of one capture" cmp of-two of-one
ok "a change that a drift can explain is none" sh -c "cut -f 12 of-all | grep drift && ! cut -f 12 of-all | grep -E 'better|worse'"
ok "the picture says that the runs of two captures did not take turns" says 'did not take turns: a drift.*drift' two/flame-diff_cap_baseline_later_mmap_receiver.svg
equal=equal/flame-diff_cap_baseline_later_baseline_receiver
ok "the difference of equal runs is drawn" exits 0 "$zcost" plot cap flame-diff -o equal --base baseline --new later:baseline
ok "a frame whose parent did not pass says so" says 'not tested, because its parent main did not pass' $equal.svg
ok "it has no verdict, and its parent has one" test "main=~ entry_SYSCALL_64_after_hwframe= " = "$(awk -F '\t' \
	'$1 == 2 || $1 == 3 { printf "%s=%s ", $4, $12 }' $equal.tsv)"
ok "another chart refuses a variant of another capture" exits 1 "$zcost" plot cap functions -o x --new later:mmap
ok "an unknown variant is an error" exits 1 "$zcost" plot cap flame-diff -o x --new mmpa
ok "the message names the variants" says "has no variant 'mmpa'; it has: baseline, mmap, uring" err
sqlite3 later/zcost.db "DELETE FROM run WHERE pass = 'profile' AND repeat > 1"
ok "one run is drawn" exits 0 "$zcost" plot later flame-diff -o alone --new mmap
ok "a caption says that one run allows no test" says 'No change can be told from chance: 1 and 1 runs' alone/flame-diff_baseline_mmap_receiver.svg
# Two recordings: shares of the time without a rate, costs with one.
"$build/tests/tools/perfdata_gen" 20000 base.data >/dev/null
"$build/tests/tools/perfdata_gen" 30000 new.data >/dev/null
for perf in "" --perf; do
	rm -rf files
	ok "plot $perf FILE flame-diff --new FILE draws the difference of two recordings" exits 0 \
		"$zcost" plot $perf base.data flame-diff --new new.data -o files
	ok "its roots add up to the whole time of each end" test "100.00 100.00" = "$(awk -F '\t' '
		$2 == 0 && NR > 1 { a += $8; b += $9 } END { printf "%.2f %.2f", a, b }' files/flame-diff_base.data_new.data.tsv)"
done
ok "the difference of two recordings is XML" xmllint --noout files/flame-diff_base.data_new.data.svg
ok "a caption says that the widths are shares" says "shares of each recording's time, not costs; --rate gives costs" files/flame-diff_base.data_new.data.svg
ok "flame-diff takes a rate for each recording" exits 0 "$zcost" plot base.data flame-diff --new new.data -o files --rate 1e6,2e6
ok "the title has the costs of both recordings" says 'From base.data to new.data: [0-9.]+ → [0-9.]+ ns per packet<' files/flame-diff_base.data_new.data.svg
ok "flame-diff of one recording asks for the other" exits 1 "$zcost" plot base.data flame-diff -o files
ok "the message names the option" says 'there is no second perf.data: name it with --new' err
ok "flame-diff of a recording and a capture is an error" exits 1 "$zcost" plot base.data flame-diff --new later:mmap -o files
ok "the message says what each end is" says 'base.data is a file, and later:mmap is a capture' err
cp "$tests/data/xdp-self.txt" report.txt
ok "flame-diff of a text is an error" exits 1 "$zcost" plot base.data flame-diff --new report.txt --rate 1e6 -o files
ok "the message says that a text has no call chains" says 'report.txt is a text without call chains; give a perf.data' err
# Of ten runs, vanished_fn lacks samples in one, and new_fn in two.
cp -r cap rare
{
	echo "BEGIN; DELETE FROM run WHERE pass = 'profile'; DELETE FROM cost; DELETE FROM event;"
	for r in 1 2 3 4 5 6 7 8 9 10; do
		profile baseline $r 7:900 $([ $r -gt 9 ] || echo 10:90)
		profile mmap $r 7:900 $([ $r -gt 8 ] || echo 11:90)
	done
	echo "COMMIT;"
} | sqlite3 -bail rare/zcost.db
"$zcost" plot rare flame-diff -o rare --new mmap >log 2>&1
region_in_rare() {
	awk -F '\t' -v f="$1" 'NR > 1 && $4 == f { print $3 }' rare/flame-diff_baseline_mmap_receiver.tsv
}
ok "a stack of one end is vanished or new if nine of ten runs have it" test "$(region_in_rare vanished_fn)" = vanished
ok "a stack of one end is rare if eight of ten runs have it" test "$(region_in_rare new_fn)" = "shared or too rare"
. "$tests/golden.sh"
for figures in $diff.tsv alone/flame-diff_baseline_mmap_receiver.tsv; do
	tr '\t' , <$figures >>"$golden.txt"
done
: >"$golden.notes"
ok "the frames of differences are as in tests/data/golden/$golden.txt" is_golden
coloured() { # the colours of its frames
	sed -n '/class="frames"/,/<.g>/p' "$1" | grep -o '^<rect[^>]*fill="#[0-9a-f]*' | sed 's/.*"#//' | sort -u | tr '\n' ' '
}
ok "all its frames are grey" test "$(coloured alone/flame-diff_baseline_mmap_receiver.svg)" = "cfd4da e8e8e8 ececec "

# What a person does, in a real browser. The second page holds two pictures.
want=$(awk -F '\t' '$3 == "_copy_to_iter" && !n++ || $3 == "do_softirq" { s += $8 } $2 == 0 && NR > 1 { all += $8 }
	END { printf "matched: %.2f %% = %.1f ns per KiB", 100 * s / all, s }' $tsv)
moved=$(rows '$4 == "vanished_fn" || $4 == "new_fn"' delta_ns | awk '{ printf "%s%.1f", $1 < 0 ? "−" : "+", $1 < 0 ? -$1 : $1 }')
person() { # person NAME FILE: shows the file to a browser; its answers are in NAME.answers
	timeout 120 chromium --headless --no-sandbox --disable-gpu --enable-logging=stderr --user-data-dir="$PWD/$1.user" \
		--dump-dom "file://$PWD/$2" >$1.dom 2>$1.console
	grep -o 'data-answers="[^"]*"' $1.dom | sed 's/.*="//; s/"$//' | tr ';' '\n' >$1.answers
}
answered() { # answered NAME NUMBER
	ok "the script of $1 answered" test "$(wc -l <$1.answers)" = $2
	ok "the browser's console has no message about $1" sh -c "! grep CONSOLE $1.console"
	while IFS= read -r line; do
		ok "$1: ${line#*ok }" test "${line%%ok *}" = ""
	done <$1.answers
}
{
	sed "s|<desc>|<desc data-want=\"$want\">|; s|^</svg>\$||" $svg
	echo '<script><![CDATA['
	cat "$tests/tools/flame-check.js"
	echo ']]></script></svg>'
} >person.svg
{
	echo "<!doctype html><meta charset=utf-8><body data-want=\"$moved\">"
	cat $diff.svg $svg
	echo "<script>"
	cat "$tests/tools/flame-diff-check.js"
	echo "</script>"
} >person.html
if command -v chromium >/dev/null; then
	person picture person.svg &
	person page person.html
	wait
	answered picture 16
	answered page 6
else
	skip "the pictures work in a browser" "chromium is not installed"
fi

# Choices.
ok "--reverse begins with the functions that the time is in" exits 0 "$zcost" plot cap flame -o reverse --reverse --icicle
ok "the lowest row is then the function's self cost" test "$(awk -F '\t' '$2 == 0 && $3 == "_copy_to_iter" { printf "%.3f", $8 }' \
	reverse/flame_baseline_receiver.tsv)" = "$("$zcost" report functions cap --variant baseline --format json |
	jq -r '.rows[] | select(.symbol == "_copy_to_iter").self_ns' | awk '{ printf "%.3f", $1 }')"
ok "--side without a profile is an error" exits 1 "$zcost" plot cap flame -o x --side sender
ok "--format png is refused" exits 1 "$zcost" plot cap flame -o x --format png
ok "the message says what to do instead" says 'flame: not drawn: it is drawn as SVG only; a browser' err
ok "an option of other charts is a usage error" exits 2 "$zcost" plot cap flame -o x --limit 3
ok "--comm selects samples" sh -c "\"$zcost\" plot cap flame -o x --comm tcpzc && cmp x/flame_mmap_receiver.tsv slides/flame_mmap_receiver.tsv"
ok "a message names the variants and sides without a profile" sh -c "\"$zcost\" plot cap flame -o x 2>&1 | grep -q 'no profile of baseline sender, mmap sender'"

ok "a command without a sample is an error" exits 1 "$zcost" plot cap flame -o x --comm nosuch
ok "the message names the option" says 'no sample matches --comm nosuch' err
cp -r cap stripped
sqlite3 stripped/zcost.db "UPDATE symbol SET unresolved = 1, name = printf('0x%x', id) WHERE id > 1"
ok "addresses without symbols are drawn" exits 0 "$zcost" plot stripped flame -o nameless --variant baseline
ok "a caption says how many samples they have" says '[0-9]+ % of the samples are in addresses without a symbol' nameless/flame_baseline_receiver.svg
ok "addresses of one object that call each other are one frame" test "$(cut -f 3 nameless/flame_baseline_receiver.tsv |
	grep -c unresolved)" = 3

# A tall stack of frames that are less than a pixel wide.
cp -r cap tall
{
	echo "BEGIN;"
	for n in 0 1 2 3 4 5 6 7; do
		echo "INSERT INTO symbol VALUES ($((14 + n)), 'thin_$n', 1, 0);"
		same $((17 + n)) $([ $n = 0 ] && echo 6 || echo $((16 + n))) $((14 + n))
	done
	echo "INSERT INTO cost VALUES (8001, 8001, 1, 1, 7, 7, 2, 24, 5, 5000000); COMMIT;"
} | sqlite3 -bail tall/zcost.db
ok "plot draws a tall thin stack" exits 0 "$zcost" plot tall flame -o tall --variant baseline
top_of() { # the distance of the first row of frames from the top of their place, in pixels
	sed -n 's/.*"top":\([0-9]*\).*/\1/p' "$1"
	sed -n '/class="frames"/,/<.g>/p' "$1" | grep -o '<rect[^>]*' | sed 's/.* y="\([0-9.]*\)".*/\1/' | sort -n
}
tall=tall/flame_baseline_receiver.svg
ok "no empty band is above the frames that are wide enough to see" test \
	"$(top_of $tall | awk 'NR == 1 { top = $1 } NR == 2 { print $1 - top }')" = 0
ok "the frame on top of the thin stack is not in the picture" sh -c "! sed -n '/class=\"frames\"/,/<.g>/p' $tall | grep thin_7"
if command -v chromium >/dev/null; then
	{
		sed 's|^</svg>$||' $tall
		cat <<-'END'
		<script><![CDATA[
		const titled = text => [...document.querySelectorAll(".frames g")].filter(g => g.textContent.startsWith(text));
		const before = titled("thin_7").length, answers = [];
		titled("thin_0")[0].dispatchEvent(new MouseEvent("click", { bubbles: true }));
		const place = data => Number(titled(data)[0].querySelector("rect").getAttribute("y"));
		const edge = JSON.parse(document.querySelector("script[type='application/json']").textContent).top;
		answers.push((before === 0 ? "" : "not ") + "ok the picture begins with the rows of wide frames");
		answers.push((place("thin_7") >= edge && place("thin_0") > place("thin_7") ? "" : "not ") +
			"ok a zoom moves the rows until the thin stack is in the picture");
		document.documentElement.dataset.answers = answers.join(";");
		]]></script></svg>
		END
	} >thin.svg
	person thin thin.svg
	answered thin 2
else
	skip "a zoom shows a tall thin stack" "chromium is not installed"
fi

# Many functions: narrow ones are drawn together, and the sum stays.
{
	echo "BEGIN; WITH RECURSIVE n (i) AS (VALUES (14) UNION ALL SELECT i + 1 FROM n WHERE i < 63013)
		INSERT INTO symbol SELECT i, 'function_with_a_long_name_' || i, 1, 0 FROM n;
		INSERT INTO frame SELECT id + 3, 6, id FROM symbol WHERE id >= 14;
		INSERT INTO cost SELECT 8001, 8001, 1, 1, 7, 7, 2, id, 1, 1000000 * (1 + id % 7) FROM frame WHERE id >= 17;
		DELETE FROM cost WHERE run <> 8001; COMMIT;"
} | sqlite3 -bail cap/zcost.db
ok "plot draws 63,000 functions" exits 0 "$zcost" plot cap flame -o many --variant baseline
ok "the file is under 1 MB" test "$(wc -c <many/flame_baseline_receiver.svg)" -lt 1000000
ok "it says how much is drawn together" says '[0-9]+ frames narrower than [0-9.]+ % are drawn together, in [0-9]+ places' many/flame_baseline_receiver.svg
data_sums() { # the frames above each frame are together no wider than it, and the first row is as wide as the root
	sed -n '/<script type="application.json">/,/<.script>/p' "$1" | sed 's/<[^>]*>//g' | jq -e '.stride as $s | .frames as $f |
		reduce range(0; $f | length; $s) as $i ({open: [], bad: 0, row: 0};
			.open[$f[$i]] = {left: $f[$i + 2]} | if $f[$i] > 0 then .open[$f[$i] - 1].left -= $f[$i + 2] |
			if .open[$f[$i] - 1].left < -20 then .bad += 1 else . end else . end |
			if $f[$i] == 1 then .row += $f[$i + 2] else . end) |
		.bad == 0 and (.row - $f[2] | fabs) < 20' >/dev/null
}
ok "no frame is narrower than those above it, and the first row is as wide as the root" data_sums many/flame_baseline_receiver.svg
ok "so it is in a picture without folded frames" data_sums $svg
done_testing
