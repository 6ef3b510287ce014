#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost plot flame: the sums are those of the tables, the picture works in a browser, and odd names break nothing.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"
. "$tests/plot.sh"

make_capture cap || { cat analyze.log; exit 1; }

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
		profile mmap $r 7:100 14:$((300 + r)) 9:100 15:50 11:$((120 + r)) 12:$((80 + r % 4)) 13:40 16:9
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

# What a person does, in a real browser.
want=$(awk -F '\t' '$3 == "_copy_to_iter" && !n++ || $3 == "do_softirq" { s += $8 } $2 == 0 && NR > 1 { all += $8 }
	END { printf "matched: %.2f %% = %.1f ns per KiB", 100 * s / all, s }' $tsv)
{
	sed "s|<desc>|<desc data-want=\"$want\">|; s|^</svg>\$||" $svg
	echo '<script><![CDATA['
	cat "$tests/tools/flame-check.js"
	echo ']]></script></svg>'
} >person.svg
if command -v chromium >/dev/null; then
	timeout 60 chromium --headless --no-sandbox --disable-gpu --enable-logging=stderr --dump-dom "file://$PWD/person.svg" \
		>dom 2>console
	grep -o 'data-answers="[^"]*"' dom | sed 's/.*="//; s/"$//' | tr ';' '\n' | sed 's/&gt/>/; s/&lt/</' >answers
	ok "the script answered" test "$(wc -l <answers)" -gt 10
	ok "the browser's console has no message" sh -c '! grep CONSOLE console'
	while IFS= read -r line; do
		ok "${line#*ok }" test "${line%%ok *}" = ""
	done <answers
else
	skip "the picture works in a browser" "chromium is not installed"
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
ok "--comm selects samples, and the title says of how many" sh -c "\"$zcost\" plot cap flame -o x --comm tcpzc && ls x/*.svg"

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
