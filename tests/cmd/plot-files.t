#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost plot: files in all formats and sizes, drawn again by hand, and every way it can go wrong.
. "$(dirname "$0")/../lib.sh"
. "$tests/plot.sh"

make_capture cap || { cat analyze.log; exit 1; }
charts="throughput cpu components functions functions_sender waterfall roi_c"

png_size() {
	od -An -tu1 -j16 -N8 "$1" | awk '{ print $3 * 256 + $4 "x" $7 * 256 + $8 }'
}

is_xml() {
	command -v xmllint >/dev/null || { echo "xmllint is missing"; return 1; }
	xmllint --noout "$1"
}

ok "plot draws all charts in all formats" exits 0 "$zcost" plot cap -o slides --format svg,png,pdf
for c in $charts; do
	for e in svg png pdf gp tsv; do
		ok "plot writes $c.$e" test -s slides/$c.$e
	done
	ok "$c.svg is XML" is_xml slides/$c.svg
	ok "$c.svg is 1280 x 720" says 'width="1280" height="720"' slides/$c.svg
	ok "$c.svg has no outside reference" sh -c "! grep -E '(href|src)=.(http|file|/)|url\(http' slides/$c.svg"
	ok "$c.png is 1920 x 1080" test "$(png_size slides/$c.png)" = 1920x1080
	ok "$c.pdf is 16:9" sh -c "grep -a -E 'MediaBox.*\[ *0 0 960(\.[0-9]+)? 540' slides/$c.pdf"
done
ok "T²/P is not drawn without power" test ! -e slides/roi_p.svg
ok "a message says why T²/P is not drawn" says 'roi_p: not drawn: no run has a power source.*--power-csv' err
ok "T²/P is an error where the user named it" exits 1 "$zcost" plot cap roi_p -o slides
ok "the default formats are svg and png" sh -c "\"$zcost\" plot cap cpu -o two 2>/dev/null; ls two/*.svg two/*.png && ! ls two/*.pdf 2>/dev/null"

# The script alone, in its folder, with the user's hands.
by_hand() {
	cp -r slides hand
	rm hand/throughput.svg hand/throughput.png hand/throughput.pdf
	(cd hand && gnuplot throughput.gp) && cmp hand/throughput.png slides/throughput.png &&
		test -s hand/throughput.svg && test -s hand/throughput.pdf
}
ok "gnuplot draws the same picture from the .gp" by_hand

# Without gnuplot everything but the pictures is there.
mkdir empty
without_gnuplot() {
	PATH=$scratch/empty "$zcost" plot cap -o nognuplot >out 2>err
	[ $? = 1 ]
}
ok "plot exits 1 without gnuplot" without_gnuplot
ok "one message says how to install gnuplot" test "$(grep -c 'gnuplot is not installed.*gnuplot-nox' err)" = 1
for c in $charts; do
	ok "plot writes script and data of $c without gnuplot" test -s nognuplot/$c.gp -a -s nognuplot/$c.tsv
done
ok "gnuplot draws that script later" sh -c 'cd nognuplot && gnuplot cpu.gp && test -s cpu.svg'

printf '#!/bin/sh\necho "out of ink" >&2\nexit 3\n' >empty/gnuplot
chmod +x empty/gnuplot
echo old >nognuplot/cpu.svg
broken() {
	PATH=$scratch/empty:$PATH "$zcost" plot cap cpu -o nognuplot >out 2>err
	[ $? = 1 ]
}
ok "plot exits 1 when gnuplot fails" broken
ok "the error has gnuplot's message" says 'cpu.gp: gnuplot exited with status 3: out of ink' err
ok "no picture of an earlier run stays beside new data when gnuplot fails" test ! -e nognuplot/cpu.svg

printf '#!/bin/sh\nprintf "set style textbox\\n\\t^\\n\\"cpu.gp\\", line 5:\\n\\tundefined\\n" >&2\nexit 1\n' >empty/gnuplot
ok "plot exits 1 with an old gnuplot" broken
ok "the error has the old gnuplot's message on one line and says what the charts are made for" says \
	'^zcost: .*cpu.gp: gnuplot exited with status 1: set style textbox "cpu.gp", line 5: undefined; the charts are made for gnuplot 5.4 and newer$' err
printf '#!/bin/sh\necho "unknown or ambiguous terminal type" >&2\nexit 1\n' >empty/gnuplot
ok "plot exits 1 with a gnuplot that lacks a terminal" broken
ok "the error suggests --format svg" says 'terminal type; this gnuplot was built without it: .*--format svg' err

# What a full disk leaves of a picture is no picture.
printf '#!/bin/sh\nending=$(echo "$3" | cut -d "\047" -f 2); printf "<svg>" >cpu.svg$ending; printf "\\211PNG" >cpu.png$ending\n' >empty/gnuplot
ok "plot exits 1 when gnuplot writes half a picture" broken
ok "the error says that the picture is incomplete" says 'cpu.svg: gnuplot wrote a part of the picture alone' err
ok "the incomplete picture is removed" sh -c "! ls nognuplot | grep -F -e cpu.svg -e cpu.png"
rm empty/gnuplot

# Usage.
ok "an unknown chart is a usage error" exits 2 "$zcost" plot cap througput -o x
ok "the error about an unknown chart is one line and names the command that lists the charts" test "$(cat err)" = \
	"zcost: there is no chart 'througput'; did you mean throughput? 'zcost plot --list' lists the charts"
ok "plot --list succeeds" exits 0 "$zcost" plot --list
ok "plot --list prints the charts on standard output" says '^ +roi_p ' out
ok "plot exits 1 for an unknown variant" exits 1 "$zcost" plot cap -o x --base bsaeline
ok "the error about an unknown variant lists the variants" says 'baseline, mmap, uring' err
ok "an unknown format is a usage error" exits 2 "$zcost" plot cap -o x --format gif
ok "a missing -o is a usage error" exits 2 "$zcost" plot cap
ok "plot exits 1 for a missing capture" exits 1 "$zcost" plot nowhere -o x
ok "the error names the missing capture" says 'nowhere' err
ok "plot exits 1 for a capture that is not analyzed, and suggests zcost analyze" sh -c "mkdir -p bare/runs; \"$zcost\" plot bare -o x 2>err; [ \$? = 1 ] && grep -q 'zcost analyze' err"
ok "plot takes the capture from -C" exits 0 "$zcost" plot cpu -C cap -o minus-c
ok "plot exits 1 for a folder that cannot be made" exits 1 "$zcost" plot cap -o cap/manifest.json
ok "the error names the folder that cannot be made" says 'cap/manifest.json' err

# Names from anywhere run nothing and break nothing.
hostile="it''s \`touch pwned\` \$(touch pwned) {/=99 @x}_^&~\\ <b> %s \"q"
sqlite3 cap/zcost.db "UPDATE run SET variant = '$hostile' WHERE variant = 'mmap';
	UPDATE variant SET name = '$hostile' WHERE name = 'mmap';
	UPDATE symbol SET name = 'x''; system(\"touch pwned\") # <i>' WHERE id = 2"
ok "plot draws a capture with hostile names" exits 0 "$zcost" plot cap -o hostile --format svg
ok "hostile names run no command" sh -c '! find . -name pwned | grep .'
for c in $charts; do
	ok "$c.svg with hostile names is XML" is_xml hostile/$c.svg
done
ok "the chart shows a hostile name unchanged" says "it's .touch pwned. .*&lt;b&gt; %s" hostile/throughput.svg
ok "the .tsv has a hostile name unchanged" sh -c "grep -F '{/=99 @x}_^&~\\ <b> %s \"q' hostile/throughput.tsv"

# gnuplot 5.4 takes a doubled quote in quotes for an end, and writes ]]> as it is.
odd_names() { # odd_names VARIANT FUNCTION, as SQL has them
	sqlite3 cap/zcost.db "UPDATE run SET variant = '$1' WHERE variant = '$was';
		UPDATE variant SET name = '$1' WHERE name = '$was'; UPDATE symbol SET name = '$2' WHERE id = 2"
	was=$1
	rm -rf odd
	"$zcost" plot cap throughput functions -o odd --format svg,png || return
	for c in throughput functions; do is_xml odd/$c.svg && [ -s odd/$c.png ] || return; done
}
was=$hostile
ok "plot draws names with quotes" odd_names "5'''' pipe" "''lambda''()"
ok "the chart shows all quotes of a variant's name" says "5'' pipe" odd/throughput.svg
ok "the chart shows all quotes of a function's name" says "'lambda'\(\)" odd/functions.svg
ok "plot draws names with ]]> as XML" odd_names 'cdata]]>' 'f<]]>>'
ok "the chart shows ]]> in a variant's name" says 'cdata\]\]&gt;' odd/throughput.svg
ok "plot draws names with characters that are special to gnuplot" odd_names 'a\"%@x{}_^' '\134 #$x'
ok "the chart shows the special characters of a variant's name" says 'a\\"%@x\{\}_\^' odd/throughput.svg

# every_mark: all characters that gnuplot or XML may read, each before a digit, in the names of a variant, a function and a side
every_mark() {
	marks='@1^2_3{4}5&6~7\8"9'"''1%2#3\$4\`5<6>7]]>8
9	1"
	sqlite3 cap/zcost.db "UPDATE run SET side = 's$marks' WHERE role = 'receiver'"
	odd_names "v${marks}b" "f${marks}b"
}
ok "plot draws each mark of gnuplot and XML before a digit, in all names" every_mark
ok "plot draws a name with a number" odd_names 'v#1' 'f#1'
ok "the chart shows the number in a variant's name" says '>v#1<' odd/throughput.svg

# One variant, one side.
mkdir one
measure_run one alone 1 receiver 1250000000 150
manifest one alone alone/measure/1/ok
"$zcost" analyze one >/dev/null 2>&1
ok "plot draws one run of one side" sh -c "\"$zcost\" plot one throughput cpu -o alone --format svg 2>err; [ \$? = 0 -o \$? = 4 ]"
ok "the foot note says that one run gives no interval" says 'no interval from one run' alone/throughput.svg

done_testing
