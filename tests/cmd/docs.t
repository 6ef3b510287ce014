#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The documents: every zcost and tcpzc command of a page runs, every plan is valid, every link leads somewhere,
# every table and column is in the reference.
#
# A command runs in its own copy of a prepared folder, and once, even if several pages have it. Of those that measure a host, `capture` runs with
# --dry-run and `collect` with --help, which still check every option before it: the pages name hosts and
# programs that are not here. `tcpzc` and `push` run with --help. `doctor` may say that
# something is missing. Words in capitals (CAPTURE) make a line a synopsis; only the reference has synopses.
. "$(dirname "$0")/../lib.sh"
. "$tests/plot.sh"
. "$tests/world.sh"
need sqlite3
mkdir programs # --dry-run looks for the programs of a plan
ln -s /bin/true programs/r
ln -s /bin/true programs/s
ln -s /bin/true my-server
# Other tests look at pictures. This gnuplot writes the head and the end of each, which zcost reads.
cat >programs/gnuplot <<'END'
#!/bin/sh
ending=$(echo "$3" | cut -d "'" -f 2) # ending = '...'
for format in $(sed -n "s/^formats = '\(.*\)'/\1/p" "$4"); do echo '<svg><title></title></svg> IEND %%EOF' >"${4%.gp}.$format$ending"; done
END
chmod +x programs/gnuplot
PATH=$build:$scratch/programs:$PATH
pages="README.md CONTRIBUTING.md NEWS.md $(cd "$top" && find docs -name '*.md' | sort)"

# --- links ---

# Prints "PAGE: what" for each relative link that leads to no file or to no heading in it, for each page without a link from
# another one, and for each section that the list at the top of docs/method.md lacks. Anchors are those that GitHub makes.
cat >links.pl <<'END'
use Cwd 'abs_path';
my (%anchor, %links, %listed, %sections, %to);
for my $page (@ARGV) {
	my $code = 0;
	open my $f, '<', $page or die "$page: $!";
	while (<$f>) {
		$code ^= 1 if /^ *```/;
		next if $code;
		if (my ($level, $name) = /^(#+) (.*)/) {
			$name = lc($name) =~ tr/ /-/r =~ s/[^a-z0-9_-]//gr;
			$anchor{abs_path($page)}{$name} = 1;
			$sections{$page}{$name} = 1 if $level eq '##';
		}
		my @here = grep { !m{^[a-z]*://} } /\]\(([^)]+)\)/g;
		push @{$links{$page}}, @here;
		$listed{$page}{s/^#//r} = 1 for $sections{$page} ? () : @here;
	}
}
for my $page (@ARGV) {
	for (@{$links{$page}}) {
		my ($file, $at) = /([^#]*)#?(.*)/;
		my $path = abs_path($file ne '' ? $page =~ s{[^/]*$}{}r . $file : $page);
		print "$page: $_ leads nowhere\n" if !-e $path || $at ne '' && !$anchor{$path}{$at};
		$to{$path}{$page} = 1;
	}
}
for my $page (@ARGV) {
	print "$page: no page links to it\n" if $page ne 'README.md' && !grep { $_ ne $page } keys %{$to{abs_path($page)}};
}
print "docs/method.md: its list lacks $_\n" for grep { !$listed{'docs/method.md'}{$_} } sort keys %{$sections{'docs/method.md'}};
END
(cd "$top" && perl "$scratch/links.pl" $pages) >bad 2>&1
for page in $pages; do
	ok "every link of $page leads somewhere, and a page links to it" sh -c "! grep '^$page: ' bad"
done
ok "the list at the top of docs/method.md has every section" test ! -s bad
named_pages() { # the code names no page that is not there
	bad=
	for page in $(cd "$top" && grep -rhoE 'docs/[a-z/-]+\.md' Makefile zcost.c lib collect capture analyze plot samples \
		tests/cmd tests/tools tests/unit tests/*.sh | sort -u); do
		[ -e "$top/$page" ] || bad="$bad $page"
	done
	[ -z "$bad" ] || { echo "no such page:$bad"; return 1; }
}
ok "every page that the code names is there" named_pages

# --- plans ---

# plans PAGE: its ini blocks in plan-1.ini, plan-2.ini ..., with the sections that a fragment leaves out.
plans() {
	rm -f plan-*.ini
	awk '/^ *```ini/ { n++; on = 1; next } /^ *```/ { on = 0 } on { sub(/^   /, ""); print >"plan-" n ".ini" }' "$top/$1"
	for f in plan-*.ini; do
		[ -e "$f" ] || continue
		grep -q '^\[side' $f || printf '[side receiver]\n' >>$f
		! grep -q '^sender = ' $f || printf '[side sender]\n' >>$f
		! grep -q '{receive}' $f || sed -i '1i [vars]\nreceive = r\nsend = s' $f
		sed -i 's/^cpus = .*/cpus = 0/' $f # those of the page may not be here
		grep -q '^\[variant' $f || printf '[variant a]\nreceiver = r\n' >>$f
	done
}
valid_plans() {
	plans "$1"
	mkdir -p plans # the tutorial's plan is in a folder below testbed.sh
	ln -sf "$top/samples/testbed.sh" .
	for f in plan-*.ini; do
		cp $f plans && exits 0 "$zcost" capture plans/$f --dry-run || { cat $f; return 1; }
	done
}
host=$("$zcost" --help | grep -c '^  capture') # 0: the laptop half alone
for page in $pages; do
	grep -q '```ini' "$top/$page" || continue
	if [ "$host" = 1 ]; then
		ok "every plan of $page is valid" valid_plans "$page"
	else
		skip "every plan of $page is valid" "this zcost has no host half"
	fi
done

# --- a folder with all files that the pages name ---

ln -s "$top/samples" samples
mkdir caps
make_capture caps/demo || { cat analyze.log; exit 1; }
renamed() { # renamed CAPTURE SQL
	cp -r caps/demo "$1" && sqlite3 "$1/zcost.db" "$2"
}
rename() { # rename EXPRESSION: an SQL expression of name
	echo "UPDATE variant SET name = $1; UPDATE run SET variant = $(echo "$1" | sed 's/name/variant/g');"
}
profile_of 905 mmap sender 10 500 0 | sqlite3 caps/demo/zcost.db
sqlite3 caps/demo/zcost.db "INSERT INTO metric (run, name, object, unit, value, source) SELECT id, 'power_w', 'wall', 'W', 250, 'imported' FROM run WHERE pass = 'measure'"
sqlite3 caps/demo/zcost.db "INSERT INTO metric (run, name, object, unit, value) SELECT id, column1, 'receive ' || column2, 'ns', column3 FROM run,
	(VALUES ('path_mean_ns', 'tcp', 900), ('path_mean_ns', 'end_to_end', 900), ('path_passed', 'tcp', 9), ('path_passed', 'end_to_end', 9)) WHERE pass = 'measure'"
sqlite3 caps/demo/zcost.db "INSERT INTO metric (run, name, unit, value) SELECT id, 'asked_zero_copy', '1', 1 FROM run WHERE variant = 'mmap'"
renamed caps/mine "$(rename "replace(name, 'mmap', 'zerocopy')")"
renamed caps/matrix "$(rename "name || '+mtu9000'")"
renamed caps/wire ''
renamed caps/sweep "$(rename "replace(replace(replace(name, 'baseline', 'plain+size1k'), 'mmap', 'zero-copy+size1k'), 'uring', 'plain+size4k')")
	UPDATE variant SET base = substr(name, 1, instr(name, '+') - 1);
	INSERT INTO setting (variant, name, value) SELECT name, 'size', substr(name, instr(name, '+size') + 5) FROM variant"
for c in nginx nginx-16k live; do
	renamed caps/$c "$(rename "replace(replace(name, 'baseline', 'read'), 'mmap', 'sendfile')")
		INSERT INTO process SELECT DISTINCT run, pid FROM cost; INSERT OR IGNORE INTO metric (run, name, unit, value) SELECT run, 'workload_cpu_pct', unit, value FROM metric WHERE name = 'cpu_pct'"
done
renamed caps/iperf3 "$(rename "replace(replace(name, 'baseline', 'plain'), 'mmap', 'zerocopy')")"
renamed caps/requests "INSERT INTO metric (run, name, unit, value) SELECT id, 'waits_wall_ns', 'ns', 1e9 FROM run;
	UPDATE event SET name = 'wall'; UPDATE symbol SET name = 'sk_wait_data' WHERE id = 1; UPDATE run SET side = 'client' WHERE side = 'sender'"
for c in before after; do
	renamed caps/$c "DELETE FROM variant WHERE name <> 'baseline'; DELETE FROM run WHERE variant <> 'baseline'"
done
cp -r caps/demo their
"$zcost" pack their >pack.log 2>&1
cp -r caps/before base
"$zcost" pack base >>pack.log 2>&1
for f in perf.data old.data new.data before.data after.data; do
	"$build/tests/tools/perfdata_gen" 20000 $f
done
cp "$tests/data/xdp-self.txt" report.txt
cp report.txt old.txt
cp report.txt new.txt
cp "$tests/data/talk-syscalls.txt" trace.txt
cp "$tests/data/xdp-drop.stat" stat.txt
for n in 100 900; do
	printf 'NIC statistics:\n     rx_packets: %s\n     rx_bytes: %s00\n' $n $n
done >ethtool.txt
awk 'BEGIN { print "time,watts"; for (i = 0; i < 20; i++) print i ",250" }' >meter.csv
plans docs/howto/compare-variants.md
mv plan-1.ini mine.ini
cp mine.ini plan.ini
rm -f plan-*.ini
record() { # record FILE EVENTS: recordings of tracepoints need root and perf
	[ "$(id -u)" = 0 ] && command -v perf >/dev/null && perf record -q -e "$2" -o $1 -- sh -c 'ls; sleep 0.01; ls' >record.log 2>&1
}
record trace.data 'raw_syscalls:*'
record sched.data 'sched:sched_switch,sched:sched_wakeup'

"$zcost" history add caps/demo 2>history.log || cat history.log

mkdir world
cp -r samples caps their their.tar.zst base base.tar.zst my-server ./*.data ./*.txt ./*.csv ./*.ini history.db world
sums() {
	find world -type f -exec sha256sum {} + | sort
}
sums >before
: >done

# --- samples of tables ---

# Prints "TABLE COLUMN..." for each sample of a table of zcost report: a line of names behind its command.
samples_of() {
	awk '$1 == "zcost" { table = $2 == "report" ? $3 : ""; next }
		table && /^    [a-z]/ && NF > 3 && !/[^a-z0-9_ ]/ { print table, $0; table = "" }' "$top/$1"
}
in_order() { # the columns of each sample stand in the order of the table; a sample may leave some out
	samples_of "$1" >samples.txt
	while read -r table columns; do
		"$zcost" report $table caps/demo --format csv 2>err | head -n 1 | tr , '\n' >header
		for c in $columns; do grep -nx $c header; done >found
		[ "$(wc -l <found)" -ge 3 ] && sort -nc found || { echo "$table: $columns" && return 1; }
	done <samples.txt
}
for page in $pages; do
	[ -z "$(samples_of $page)" ] || ok "$page: the samples of tables have the columns in order" in_order $page
done
rm -f samples.txt

# --- commands ---

# Prints the commands of a page: indented lines outside of fenced blocks, without their comments.
commands() {
	awk '/^ *```/ { code = !code } !code && /^    / { sub(/^ +/, ""); sub(/  +# .*/, ""); print }' "$top/$1" |
		grep -E '^(zcost|tcpzc) [a-z-]|\| zcost [a-z]'
}
synopsis() {
	echo "$1" | grep -qE '(^| |=)[A-Z][A-Z]+( |$|:)'
}
runs() { # runs COMMAND
	# No command writes into a file that is there; a test below checks it. Most commands make no file, and leave the folder as it is.
	if ! [ -d there ] || [ -n "$(find there -newer copied -print -quit)" ]; then
		rm -rf there && cp -rl world there && sleep 0.01 && : >copied
	fi
	command=$1
	case $command in
	*'| zcost'*--perf-report*) command="zcost${command##*| zcost} <report.txt" ;;
	*'| zcost'*--perf-stat*) command="zcost${command##*| zcost} <stat.txt" ;;
	*'| zcost'*--ethtool*) command="zcost${command##*| zcost} <ethtool.txt" ;;
	*'zcost capture '*--undo*) ;;
	'zcost unpack '*) rm -r there/their there/base ;;
	'zcost history add '*) rm there/history.db ;;
	'zcost pack '*' -o base.tar.zst') rm there/base.tar.zst ;;
	'zcost capture '*' -- '*) rm -r there/caps && command="${command%% -- *} --dry-run -- ${command#* -- }" ;;
	'zcost capture '*) rm -r there/caps && command="${command% --dry-run} --dry-run" ;;
	'zcost collect '*) command="${command%% -- *} --help" ;;
	'zcost push '* | 'tcpzc '*) command="$command --help" ;;
	esac
	(cd there && sh -c "$command") >out 2>err
	got=$?
	case $got:$command in
	0:* | 4:* | 1:'zcost doctor'*) ;;
	*) echo "exit $got: $command"; head -n 5 out; cat err; return 1 ;;
	esac
}
for page in $pages; do
	[ $page != docs/tutorial.md ] || continue # tutorial.t compares what its commands print
	commands "$page" >commands
	while read -r c; do
		if synopsis "$c"; then
			case $page in
			docs/reference/*) ;;
			*) ok "$page: '$c' is a command, no synopsis" false ;;
			esac
			continue
		fi
		case $c in
		*'zcost capture '* | *'zcost collect '* | 'zcost doctor'* | 'tcpzc '*)
			[ "$host" = 1 ] || { skip "$page: $c" "this zcost has no host half"; continue; } ;;
		*--perf\ trace.data* | *--perf\ sched.data*)
			[ -s world/trace.data ] && [ -s world/sched.data ] ||
				{ skip "$page: $c" "perf cannot record tracepoints here"; continue; } ;;
		esac
		grep -qxF -- "$c" done || ok "$page: $c" runs "$c"
		echo "$c" >>done
	done <commands
done
sums >after
ok "no command writes into a file that another one reads" cmp before after

# --- the reference is whole ---

named() { # named PAGE WORD...: each stands in the page, as it is or with a suffix
	page=$top/$1
	shift
	[ $# != 0 ] || { echo "nothing to look for"; return 1; }
	missing=$(perl -e 'open my $f, "<", shift; local $/; $_ = <$f>;
		for my $w (@ARGV) { print " $w" if !/(^|[^a-z_])$w(_[a-z]+)?([^a-z_]|$)/m }' "$page" "$@")
	[ -z "$missing" ] || { echo "not in $page:$missing"; return 1; }
}
"$zcost" report --help >help
tables=$(sed -n '/^Tables:/,/^$/s/^  \([a-z_]*\) .*/\1/p' help)
ok "docs/reference/tables.md has every table" named docs/reference/tables.md $tables
for t in $tables; do
	case $t in
	groups) set -- caps/demo --group a=tcp_recvmsg_locked ;;
	callers | callees) set -- tcp_recvmsg_locked caps/demo ;;
	hotspots) continue ;;
	rates) set -- --rate 1,2 ;;
	sweep) set -- caps/sweep ;;
	*) set -- caps/demo ;;
	esac
	"$zcost" report $t "$@" --format tsv 2>/dev/null | head -n 1 | tr '\t' '\n' |
		sed -E 's/_(lo|hi|ci)$//; s/^(ns|copy_ns|rate)_(per_)?(kib|packets?|messages?)$/\1_per_kib/' >columns
	ok "  and every column of $t" named docs/reference/tables.md $(grep -vx 'rate_per_kib' columns)
done
world calls 1 $copying $mapping
for t in metrics functions components contexts modules path waterfall syscalls; do
	case $t in syscalls) set -- copying mapping -C calls ;; *) set -- baseline mmap -C caps/demo ;; esac
	"$zcost" compare "$@" --table $t --format tsv 2>/dev/null | head -n 1 | tr '\t' '\n' >columns
	ok "  and every column of compare's $t" named docs/reference/tables.md $(cat columns)
	case $t in metrics | functions | components) ;; *) continue ;; esac
	"$zcost" compare baseline mmap -C caps/demo --table $t --format commit >out 2>err
	ok "the commit message of the demo's $t fits 24 lines of 80 columns" awk 'length > 80 { bad = 1 } END { exit bad || NR < 10 || NR > 24 }' out
done
ok "docs/reference/charts.md has every chart" named docs/reference/charts.md $("$zcost" plot --list | awk '{ print $1 }')
ok "docs/reference/exports.md has every format" named docs/reference/exports.md \
	$("$zcost" export --help | sed -n '/^Formats:/,/^$/s/^  \([a-z]*\) .*/\1/p')
# --- metrics: those of two recorded captures and those that the code names ---

for c in mapped copied; do
	"$zcost" unpack "$top/samples/captures/$c.tar.zst" -o metrics.$c >log 2>&1 && "$zcost" analyze metrics.$c >>log 2>&1
	sqlite3 metrics.$c/zcost.db 'SELECT DISTINCT name FROM metric'
done | sort -u >metrics
ok "docs/reference/metrics.md has every metric of the captures in samples/captures" named docs/reference/metrics.md $(cat metrics)
ok "  and each that the code names" named docs/reference/metrics.md \
	$(cd "$top" && grep -rhoE 'ingest_metric[a-z_]*[(]in, "[a-z0-9_]+"' analyze | cut -d '"' -f 2 | sort -u)
exist() { # each name of the page is in a store or in the code
	perl -ne 'last if /^## Series/; next unless s/^\| //; s/ \|.*//s; next if /^(name$|-)/;
		for (split /, /) { s/:.*//; print "$_\n" if /^[a-z_]+/ }' "$top/docs/reference/metrics.md" | sort -u >listed
	[ "$(wc -l <listed)" -gt 100 ] || { echo "few names"; return 1; }
	for word in $(comm -23 listed metrics); do
		grep -rqwF "$word" --include='*.[ch]' --include='*.def' "$top/analyze" || { echo "no such metric: $word"; return 1; }
	done
}
ok "each name in docs/reference/metrics.md is in a store or in the code" exist
if [ "$host" = 1 ]; then
	ok "docs/reference/capture-folder.md has every collector" named docs/reference/capture-folder.md \
		$("$zcost" collect --list | awk '{ print $1 }')
	has_keys() {
		test -s keys && named docs/reference/plan.md $(cat keys)
	}
	# zcost lists the keys of a section when it finds an unknown one there.
	for section in plan 'side receiver' 'variant a' 'setting mtu' matrix; do
		printf '[side receiver]\n[variant a]\nreceiver = r\n[setting mtu]\nvalues = 1\n' >k.ini
		grep -qF "[$section]" k.ini || echo "[$section]" >>k.ini
		sed -i "s/^\[$section\]/&\nnosuch = 1/" k.ini
		"$zcost" capture k.ini --dry-run >out 2>err
		sed -n 's/.*; there are: //p' err >keys
		ok "docs/reference/plan.md has every key of [${section%% *}]" has_keys
	done
fi
done_testing
