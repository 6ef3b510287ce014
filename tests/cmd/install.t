#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# make install, what it installs, and make uninstall.
. "$(dirname "$0")/../lib.sh"

root=$scratch/root
prefix=$root/opt/zcost
host=$("$zcost" --help | grep -c '^  capture') # 0: the laptop half alone
[ "$host" = 1 ] && offline= || offline=1
mkdir bin
printf '#!/bin/sh\ntouch %s/git-ran\nexit 1\n' "$scratch" >bin/git
chmod +x bin/git
make_target() {
	env -u MAKEFLAGS -u MAKELEVEL PATH="$scratch/bin:$PATH" make -s -C "$top" BUILD="${build#"$top"/}" OFFLINE=$offline \
		DESTDIR="$root" PREFIX=/opt/zcost "$1"
}
ok "make install runs" make_target install
ok "make install needs no git" test ! -e git-ran
ok "the installed zcost runs" exits 0 "$prefix/bin/zcost" --version
ok "--version begins with the number alone" says '^zcost [0-9.]+$' out
ok "--version names the features that were built in" says "^  features: [+-]host [+-]bpf [+-]io_uring [+-]c" out
ok "--version names the libraries with their versions" says '^  libraries: jansson [0-9.]+; libzstd [0-9.]+; libgcrypt [0-9.]+; sqlite3 [0-9.]+;' out
if [ "$host" = 1 ]; then
	ok "an installed plan is valid" exits 0 "$prefix/bin/zcost" capture "$prefix/share/zcost/samples/demo.ini" --dry-run
	ok "the plan runs the installed tcpzc" says "$prefix/bin/tcpzc --listen" out
	ok "the plan runs the installed testbed.sh" says "sh \"$prefix/share/zcost/samples/testbed.sh\" up" out
	ok "the installed tcpzc runs" exits 0 "$prefix/bin/tcpzc" --version
	ok "testbed.sh is beside the installed plan" test -s "$prefix/share/zcost/samples/testbed.sh"
fi
hardened() { # hardened PROGRAM: moves, has a canary and checked calls, and nothing writes to its table of functions
	readelf -hldsW "$1" >elf && grep -q 'Type: *DYN' elf && grep -q GNU_RELRO elf && grep -q 'FLAGS.*NOW' elf &&
		grep -q 'GNU_STACK.* RW ' elf && grep -q __stack_chk_fail elf && grep -q '_chk@' elf
}
for program in "$prefix"/bin/*; do
	what="the installed ${program##*/} is hardened"
	case ${ZCOST_LDFLAGS-} in
	*-fsanitize* | *--coverage*) skip "$what" "built for the search of faults" ;;
	*) ok "$what" hardened "$program" ;;
	esac
done
links() { # every relative link of the installed README leads to a file
	grep -oE '\]\([^)]+\)' "$prefix/share/doc/zcost/README.md" | sed 's/^](//; s/)$//; s/#.*//' | grep -v '^[a-z]*://' |
		(cd "$prefix/share/doc/zcost" && while read -r link; do [ -e "$link" ] || { echo "$link"; exit 1; }; done)
}
ok "every link of the installed README leads to a file" links
ok "a document that links to a plan finds it" test -s "$prefix/share/doc/zcost/samples/two-hosts.ini"

# --- manual pages ---

man=$prefix/share/man
lint() {
	mandoc -Tlint "$man"/man1/* "$man"/man5/*
}
if command -v mandoc >/dev/null; then
	ok "mandoc finds no fault in the manual pages" test -z "$(lint)"
else
	skip "mandoc finds no fault in the manual pages" "no mandoc"
fi
unroff() { # prints a page without requests and escapes, and joins lines that a backslash breaks
	sed -E ':more; /\\$/ { N; s/\\\n//; b more }; s/\\f[BP]|\\&//g; s/\\-/-/g' "$1"
}
whole() { # whole PAGE COMMAND...: the page has every option of --help, and three examples
	unroff "$man/man1/$1.1" >page
	shift
	"$@" --help | grep -oE '^ +(-[a-z], )?--[a-z-]+' | sed 's/.*--/--/' | grep -vxE -- '--(help|usage|version)' >options
	test -s options || return 1
	while read -r o; do
		grep -qE -- "(^|, )$o(\$|[=[])" page || { echo "no $o"; return 1; }
	done <options
	[ "$(awk '/^\.SH/ { on = /EXAMPLES/ } on && /^(.* [|] )?(zcost|tcpzc) /' page | wc -l)" -ge 3 ] || { echo "few examples"; return 1; }
}
commands=$("$zcost" --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
ok "zcost --help lists commands" test -n "$commands"
for c in $commands; do
	ok "the page of $c has all of its options and three examples" whole "zcost-$c" "$zcost" $c
done
has_list() { # has_list PAGE HEADING COMMAND...: the page has every item of that list of --help
	unroff "$man/man1/$1.1" >page
	heading=$2
	shift 2
	"$@" --help | sed -n "/^$heading/,/^\$/s/^  \([a-z][a-z_-]*\) .*/\1/p" >items
	test -s items || return 1
	while read -r i; do
		grep -qxF "$i" page || { echo "no $i"; return 1; }
	done <items
}
ok "the page of report has every table" has_list zcost-report Tables: "$zcost" report
ok "the page of plot has every chart" has_list zcost-plot Charts "$zcost" plot
ok "the page of export has every format" has_list zcost-export Formats: "$zcost" export
if [ "$host" = 1 ]; then
	ok "the page of tcpzc has all of its options and three examples" whole tcpzc "$tcpzc"
	ok "the page of tcpzc has every mode of sending" has_list tcpzc "Ways of sending" "$tcpzc"
	ok "the page of tcpzc has every mode of receiving" has_list tcpzc "Ways of receiving" "$tcpzc"
	ok "the page of doctor has every group of checks" has_list zcost-doctor "Groups of checks" "$zcost" doctor
fi
has_schema() {
	unroff "$man/man5/zcost-store.5" >page
	sqlite3 :memory: -cmd ".read $top/analyze/store/schema.sql" \
		"SELECT m.name FROM sqlite_master m WHERE type IN ('table', 'view') UNION
		SELECT c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c" >names
	test -s names || return 1
	while read -r n; do
		grep -qwF "$n" page || { echo "no $n"; return 1; }
	done <names
}
if command -v sqlite3 >/dev/null; then
	ok "zcost-store(5) has every table, view and column of the schema" has_schema
else
	skip "zcost-store(5) has every table, view and column of the schema" "no sqlite3"
fi
ok "the page of zcost has every command" sh -c 'for c; do grep -qF "zcost $c" "$0" || exit 1; done' "$man/man1/zcost.1" $commands
for page in plan.ini zcost-capture zcost-store; do
	ok "$page(5) is a page of files" grep -q "^.SH DESCRIPTION" "$man/man5/$page.5"
done
printf '#!/bin/sh\necho "man $1"\n' >bin/man
chmod +x bin/man
help_shows() { # help_shows NAME PAGE
	shown=$(PATH="$scratch/bin:$PATH" "$prefix/bin/zcost" help "$1") && [ "$shown" = "man $prefix/bin/../share/man/$2" ] ||
		{ echo "$shown"; return 1; }
}
ok "the page of compare explains verdicts in one section" sh -c \
	'[ "$(grep -ci "^[.]SH.*verdict" "$1")" = 0 ] && [ "$(grep -c "A verdict is better" "$1")" = 1 ]' - "$man/man1/zcost-compare.1"
ok "zcost help COMMAND shows the page of the command" help_shows report man1/zcost-report.1
ok "zcost help plan.ini shows the page of the file" help_shows plan.ini man5/plan.ini.5
ok "zcost help zcost-report shows the page by its name" help_shows zcost-report man1/zcost-report.1
gzip -n "$man/man1/zcost-plot.1"
ok "zcost help finds a compressed page" help_shows plot man1/zcost-plot.1.gz
gunzip "$man/man1/zcost-plot.1.gz"
ok "zcost help without man prints --help" exits 0 env PATH=/nowhere "$prefix/bin/zcost" help report
ok "the help has the options" says '--variant=' out
ok "zcost help of an unknown command is a usage error" exits 2 "$prefix/bin/zcost" help frobnicate

# --- completion, in each shell ---

. "$tests/capture.sh"
need_completion() { # need_completion SHELL: skips the tests of a shell that is not here
	command -v "$1" >/dev/null || { skip "$1 completes commands, tables, values and variants" "no $1"; return 1; }
}
share=$prefix/share
PATH=$prefix/bin:$PATH
capture() { # a capture with the variants base and other
	for side in receiver sender; do
		measure_run cap base 1 $side 1280000000 150
		measure_run cap other 1 $side 1280000000 150
	done
	manifest cap 'base other' base/measure/1/ok other/measure/1/ok
	exits 0 zcost analyze cap
}
ok "a capture of two variants is analyzed" capture
completes() { # completes COMMAND-LINE WORD...: COMPLETER prints the WORDs and no other line
	"$completer" "$1" | sed 's/[ \t].*//' >out
	shift
	printf '%s\n' "$@" | cmp -s - out || { echo "completed to:"; cat out; return 1; }
}
in_bash() {
	bash --norc -c '. "$0"
		COMP_WORDS=(${1//:/ : })
		[[ $1 != *" " ]] || COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_zcost
		printf "%s\n" "${COMPREPLY[@]}"' "$share/bash-completion/completions/zcost" "$1"
}
in_fish() {
	fish -c 'source $argv[1]; complete -C $argv[2]' "$share/fish/vendor_completions.d/zcost.fish" "$1"
}
for completer in in_bash in_fish; do
	shell=${completer#in_}
	need_completion $shell || continue
	ok "$shell completes a command" completes "zcost rep" report
	ok "$shell completes a table" completes "zcost report funct" functions
	ok "$shell completes an option" completes "zcost report cpu --estim" --estimator=
	ok "$shell completes the value of an option" completes "zcost report cpu --estimator mi" middle
	ok "$shell completes a chart" completes "zcost plot cap roi_" roi_c roi_p
	ok "$shell completes a format" completes "zcost export fol" folded folded-diff
	ok "$shell completes a variant of the capture" completes "zcost report cpu cap --variant " base other
	ok "$shell completes a side of the capture" completes "zcost report cpu cap --side r" receiver
	ok "$shell completes a variant of compare" completes "zcost compare -C cap o" other
	ok "$shell completes a variant behind a format that takes two" completes "zcost export folded-diff -C cap o" other
	ok "$shell completes a chart after -C and its capture" completes "zcost plot -C cap roi_" roi_c roi_p
	ok "$shell completes a chart after --perf and its file" completes "zcost plot --perf perf.data throughp" throughput
	ok "$shell completes a series of the capture" completes "zcost report timeline cap --name thr" throughput
	[ $shell = bash ] || before=cap: # bash replaces only what is behind the colon
	ok "$shell completes the variant of CAPTURE:VARIANT" completes "zcost compare cap:base cap:o" ${before-}other
	[ "$host" = 1 ] || continue
	ok "$shell completes a collector" completes "zcost collect --collect sof" softnet
	ok "$shell completes the last collector of a list" completes "zcost capture --collect cpu,sof" cpu,softnet
	ok "$shell completes a group of checks" completes "zcost doctor io" io_uring
	ok "$shell completes the last group of a list" completes "zcost doctor --need perf,io" perf,io_uring
	ok "$shell completes a mode of sending" completes "tcpzc --tx uring-sendm" uring-sendmsg-zc
	ok "$shell completes a mode of receiving" completes "tcpzc --rx mm" mmap
done
cat >zsh.pty <<'EOF'
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PS1=; fpath=($1 \$fpath); autoload -U compinit; compinit -D -u; bindkey '^I' complete-word; print READ''Y"
zpty -r -m z seen "*READY*"
zpty -n -w z "$2"$'\t'
zpty -r -m z seen "*$3*"
print $3
zpty -d z
EOF
zsh_completes() { # zsh_completes COMMAND-LINE WORD: after a tab the line has the WORD
	[ "$(timeout 120 zsh -f zsh.pty "$share/zsh/site-functions" "$1" "$2")" = "$2" ]
}
if need_completion zsh; then
	ok "zsh completes a table" zsh_completes "zcost report funct" functions
	ok "zsh completes a variant of the capture" zsh_completes "zcost report cpu cap --variant oth" other
	ok "zsh completes the variant of CAPTURE:VARIANT" zsh_completes "zcost compare cap:oth" cap:other
	ok "zsh completes a chart after -C and its capture" zsh_completes "zcost plot -C cap throughp" throughput
	[ "$host" != 1 ] || ok "zsh completes the last collector of a list" zsh_completes "zcost collect --collect cpu,sof" cpu,softnet
	[ "$host" != 1 ] || ok "zsh completes a mode of receiving" zsh_completes "tcpzc --rx mm" mmap
fi
ok "zcost help completes the pages that are no command" test "$(zcost --complete help '' | cut -f 1 | grep -c -x -e plan.ini -e tcpzc -e zcost-store)" = 3
ok "no word completes to nothing, and the shell takes file names" test -z "$(zcost --complete analyze ca)"

# --- uninstall ---

touch "$prefix/share/zcost/mine"
ok "make uninstall runs" make_target uninstall
leaves() {
	left=$(find "$root" ! -type d) && [ "$left" = "$prefix/share/zcost/mine" ] || { echo "$left"; return 1; }
}
ok "make uninstall leaves no file but one of the user" leaves
done_testing
