#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Each format of zcost export is read by the program that it is for, and has the sums of the reports.
. "$(dirname "$0")/../lib.sh"
. "$tests/world.sh"
need sqlite3

# from_debian NAME PACKAGE FILE: sets $found to the program NAME, if need be out of the Debian package, which is not
# installed: the compiler of Go takes 464 MB, and the package of promtool starts a server. It stays in the build folder.
from_debian() {
	found=$build/receivers/$1
	[ ! -x "$found" ] || return 0
	mkdir -p "$build/receivers" package
	(cd package && timeout 60 apt-get download -qq "$2") >download.log 2>&1 &&
		dpkg-deb --fsys-tarfile package/"$2"_*.deb | tar -xO --wildcards "$3" >"$1.part" &&
		[ -s "$1.part" ] && chmod +x "$1.part" && mv "$1.part" "$found" && return
	why="no $1, and apt-get cannot download $2: $(head -n 1 download.log | cut -c1-80)"
	found=
}

# The figures of world: copying costs 1000 ns per KiB, 60 % in _copy_to_iter, which tcp_recvmsg calls here. mapping
# costs 500 ns per KiB, 80 % in tcp_recvmsg.
world cap 4 $copying $mapping
sqlite3 cap/zcost.db "INSERT INTO frame VALUES (4, 2, 1); UPDATE cost SET frame = 4 WHERE frame = 1;
	UPDATE dso SET build_id = '0123456789abcdef'"
export_as() { # export_as FORMAT OPTIONS...: writes to out
	"$zcost" export "$@" >out 2>err || [ $? = 4 ] || { cat err; return 1; }
}
costs() { # costs VARIANT: prints each function of the report, with its ns per KiB
	"$zcost" report functions cap --variant "$1" --side receiver --format csv 2>/dev/null |
		awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { printf "%s %.3f\n", $1, $at["self_ns"] }' | sort
}

# --- pprof ---

# top INDEX: prints each function of out, with its own sum
top() {
	"$pprof" $pprof_first -top -nodefraction=0 -edgefraction=0 -sample_index="$1" -unit="$2" out 2>pprof.log |
		awk 'on && $1 + 0 { print $6, $1 + 0 } /flat%/ { on = 1 }' | sort
}
top_costs() { # top_costs VARIANT: pprof prints the functions and costs of the report
	export_as pprof cap --variant "$1" || return 1
	costs "$1" | awk '{ printf "%s %d\n", $1, 1000 * $2 + 0.5 }' >want
	top cost_per_1000_KiB ns | diff want -
}
raw_has() {
	"$pprof" $pprof_first -raw out >raw 2>pprof.log && says "$1" raw
}
pprof=go pprof_first='tool pprof'
if ! command -v go >/dev/null; then
	from_debian pprof "$(apt-cache depends golang-go 2>/dev/null | sed -n 's/.*Depends: \(golang-[0-9.]*-go\)$/\1/p')" '*/pkg/tool/*/pprof'
	pprof=$found pprof_first=
fi
refuses_terminal() {
	script -qec "'$zcost' export pprof cap" /dev/null </dev/null >tty 2>&1
	[ $? = 2 ] && says 'does not write pprof to a terminal; give -o FILE' tty
}
if command -v script >/dev/null; then
	ok "export does not write pprof to a terminal" refuses_terminal
else
	skip "export does not write pprof to a terminal" "no script program"
fi
if [ "$pprof" ]; then
	ok "pprof -top prints the functions and the cost per KiB of report functions" top_costs copying
	ok "pprof -top prints the costs of another variant" top_costs mapping
	ok "the default sample type of pprof is the cost" raw_has 'cost_per_1000_KiB/nanoseconds\[dflt\]'
	prints_units() { # numbers such as 600ns and 1us: pprof knows the unit
		export_as pprof cap --variant copying && "$pprof" $pprof_first -top out 2>pprof.log >top &&
			says '^ +[0-9.]+(ns|us|ms|s) .*_copy_to_iter' top && ! grep -E '[0-9](pico|nano)seconds' top
	}
	ok "pprof prints the cost in a unit that it knows" prints_units
	ok "pprof knows the build-id of the mapping" raw_has '\[kernel.kallsyms\] 0123456789abcdef'
	ok "the caller is in the chain" sh -c "'$zcost' export pprof cap --variant copying >out 2>err &&
		'$pprof' $pprof_first -raw out 2>pprof.log | grep -E '^ +[0-9]+ +[0-9]+ +[0-9]+: [0-9]+ [0-9]+ *$'"
	for label in comm:'\[tcpzc' component:'\[data copy' context:'\[syscall' host:'\[vm' pass:'\[profile' side:'\[receiver' \
		variant:'\[copying' 'run:\[4'; do
		ok "samples of pprof have the label ${label%%:*}" raw_has "$label\]"
	done
	sums() {
		export_as pprof cap && top cpu ns | awk '{ s += $2 } END { printf "%.0f\n", s }' >got &&
			top samples count | awk '{ s += $2 } END { print s }' >>got
		"$zcost" export folded cap 2>/dev/null | awk '{ s += $NF } END { printf "%.0f\n%d\n", s, s / 1000000 }' | diff - got
	}
	ok "times and numbers of samples of pprof add up to those of folded" sums
else
	skip "pprof -top prints the functions and the cost per KiB of report functions" "$why"
fi
# --- speedscope ---

# The schema and its validator are installed once into the build folder.
modules=$build/speedscope
why=
if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
	why="no npm to install the schema with"
elif ! [ -d "$modules/node_modules/speedscope" ]; then
	mkdir -p "$modules"
	HOME=$user_home timeout 60 npm install --no-audit --no-fund --prefix "$modules" speedscope@1.25.0 ajv@8.20.0 >npm.log 2>&1 ||
		why="npm cannot install speedscope: $(grep -i error npm.log | head -n 1 | cut -c1-100)"
fi
valid() { # valid OPTIONS...: the schema accepts the export; leaf sums in leaves
	export_as speedscope "$@" && node "$tests/tools/speedscope.mjs" "$modules" out >leaves
}
leaf_costs() {
	valid cap || return 1
	for v in copying mapping; do
		costs $v | sed "s/^/$v\/receiver, ns per KiB nanoseconds /"
	done | sort >want
	tr '\t' ' ' <leaves | sort | diff want -
}
if [ -z "$why" ]; then
	ok "speedscope's schema accepts the export; the weights are the costs of report functions" leaf_costs
	ok "the stack of speedscope goes from the command to the leaf" test "$(jq -c '[.shared.frames[.profiles[0].samples[1][]].name]' out)" = \
		'["tcpzc","tcp_recvmsg","_copy_to_iter"]'
	sqlite3 cap/zcost.db "UPDATE symbol SET name = 'quote\" back\\ line' || char(10) || 'byte' || CAST(x'ff' AS TEXT) WHERE id = 1"
	ok "speedscope's schema accepts names with quotes and bytes that are no text" valid cap
	sqlite3 cap/zcost.db "UPDATE symbol SET name = '_copy_to_iter' WHERE id = 1"
else
	skip "speedscope's schema accepts the export; the weights are the costs of report functions" "$why"
fi

# --- folded-diff ---

# As flamegraph.pl reads it: the stack, then two numbers behind blanks. Prints each leaf with the sums of both.
diffs() {
	perl -ne '/^(?:.*;)?([^;]+) (\d+) (\d+)$/ or die "no line of two numbers: $_"; $base{$1} += $2; $new{$1} += $3;
		END { printf "%s\t%.3f\t%.3f\n", $_, $base{$_} / 1000, $new{$_} / 1000 for sort keys %base }' out
}
leaf_diffs() {
	export_as folded-diff "$@" && diffs >got && "$zcost" compare --table functions --format csv "$@" 2>/dev/null |
		awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			$1 { printf "%s\t%.3f\t%.3f\n", $1, $at["base_ns"], $at["new_ns"] }' | sort >want && diff want got
}
ok "folded-diff has the costs of compare functions, vanished stacks included" leaf_diffs copying mapping -C cap
ok "the stack of folded-diff goes from the command to the leaf" says '^tcpzc;tcp_recvmsg;_copy_to_iter 600000 0$' out
cp -r cap old
sqlite3 old/zcost.db "UPDATE cost SET samples = samples * 3, weight = weight * 3; UPDATE event SET samples = samples * 3, weight = weight * 3"
ok "another sampling rate changes no cost" exits 0 "$zcost" export folded-diff old:copying cap:copying
ok "equal costs have equal numbers" test "$(awk '$(NF - 1) != $NF' out | wc -l)" = 0 -a "$(wc -l <out)" = 2
sqlite3 old/zcost.db "UPDATE capture SET value = 'mean' WHERE key = 'estimator';
	UPDATE metric SET value = value * 2 WHERE name = 'busy_ns' AND run = (SELECT min(run) FROM metric WHERE name = 'busy_ns');
	UPDATE metric SET value = value * 2 WHERE name = 'cpu_pct' AND run = (SELECT min(run) FROM metric WHERE name = 'busy_ns')"
ok "the ends have one estimator, that of compare" leaf_diffs old:copying cap:copying
ok "with the ends in the other order, too" leaf_diffs cap:copying old:copying
if command -v flamegraph.pl >/dev/null; then
	flamegraph=$(command -v flamegraph.pl)
else
	from_debian flamegraph.pl libdevel-nytprof-perl '*/flamegraph.pl'
	flamegraph=$found
fi
drawn() { # drawn NAME COST CHANGE: the picture has a frame with these, in numbers of flamegraph.pl
	sed -n 's/^<title>\(.*\)<\/title>.*/\1/p' flame.svg | tr -d , >titles
	grep -E "^$1 \\($2 samples( 100(\.00)?%)?.*$3\\)" titles || { cat titles; return 1; }
}
if [ "$flamegraph" ]; then
	export_as folded-diff mapping copying -C cap && perl "$flamegraph" out >flame.svg 2>flame.log
	ok "flamegraph.pl draws the new costs of folded-diff" drawn all 1000000 100%
	ok "flamegraph.pl draws the change of a new stack" drawn _copy_to_iter 600000 '\+60.00%'
	ok "flamegraph.pl draws no change where the cost is equal" drawn tcp_recvmsg 1000000 ' 0.00%'
else
	skip "flamegraph.pl draws the new costs of folded-diff" "$why"
fi
ok "folded-diff with one end is a usage error" exits 2 "$zcost" export folded-diff copying -C cap
ok "folded-diff of a variant and itself is a usage error" exits 2 "$zcost" export folded-diff copying copying -C cap
ok "-C with another format is a usage error" exits 2 "$zcost" export folded cap -C cap

# --- perf-script ---

# Firefox Profiler's own importer, in its command line program. It counts samples. It keeps a server, with files below
# HOME. A slow machine may not have the server ready when `load` ends.
profiler=$build/profiler-cli
why=
if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
	why="no npm to install Firefox Profiler with"
elif ! [ -x "$profiler/node_modules/.bin/profiler-cli" ]; then
	mkdir -p "$profiler"
	HOME=$user_home timeout 60 npm install --no-audit --no-fund --prefix "$profiler" @firefox-devtools/profiler-cli@0.10.0 >npm.log 2>&1 ||
		why="npm cannot install profiler-cli: $(grep -i error npm.log | head -n 1 | cut -c1-100)"
fi
profiler() {
	timeout 120 "$profiler/node_modules/.bin/profiler-cli" "$@" --session "zcost$$" 2>>profiler.log
}
imported_samples() { # prints each function with its samples, of all threads
	export_as perf-script "$@" && profiler load out >/dev/null
	for pause in 1 2 4; do
		profiler thread list --json >threads && break
		sleep $pause
	done
	for t in $(jq -r '.threads[].threadHandle' threads); do
		profiler thread functions --json --include-idle --thread "$t"
	done | jq -r '.functions[] | "\(.name) \(.selfSamples) \(.totalSamples)"' >functions
	awk '$2 { n[$1] += $2 } END { for (k in n) print k, n[k] }' functions | sort >got
	timeout 120 "$profiler/node_modules/.bin/profiler-cli" stop "zcost$$" >/dev/null 2>&1
	"$zcost" export folded --weight samples "$@" 2>/dev/null | awk '{ sub(/.*;/, ""); n[$1] += $2 }
		END { for (k in n) print k, n[k] }' | sort | diff - got
}
if [ -z "$why" ]; then
	ok "Firefox Profiler imports perf-script with the samples of each function" imported_samples cap --variant copying
	ok "Firefox Profiler counts a caller's samples with those of its callee" test \
		"$(awk '{ n += $2 } END { print n }' got)" = "$(awk '$1 == "tcp_recvmsg" { print $3 }' functions)"
else
	skip "Firefox Profiler imports perf-script with the samples of each function" "$why"
fi

# --- openmetrics ---

# Prometheus itself reads the file into a database. It wants a time behind each figure.
imported() {
	"$promtool" check metrics <out || return 1
	awk '!/^#/ { $0 = $0 " 1700000000" } 1' out >timed && rm -rf blocks && mkdir -p blocks/wal &&
		"$promtool" tsdb create-blocks-from openmetrics timed blocks >promtool.log &&
		"$promtool" tsdb dump blocks >dump 2>promtool.log || { cat promtool.log; return 1; }
	test "$(wc -l <dump)" = "$(grep -vc '^#' out)"
}
accepted() {
	export_as openmetrics "$@" && imported
}
has_figure() { # has_figure LABELS... FIGURE: the database has it
	awk -v n=$# 'BEGIN { for (i = 1; i < n; i++) want[i] = ARGV[i]; figure = ARGV[n]; ARGC = 1; ARGV[1] = "dump"; ARGC = 2 }
		{ for (i = 1; i < n; i++) if (!index($0, want[i])) next; found = 1; if ($(NF - 1) - figure > 1e-15 || figure - $(NF - 1) > 1e-15) bad = $0 }
		END { if (bad || !found) { print "found: " bad; exit 1 } }' "$@"
}
if command -v promtool >/dev/null; then promtool=promtool; else from_debian promtool prometheus '*/bin/promtool'; promtool=$found; fi
if [ "$promtool" ]; then
	ok "Prometheus imports every figure of openmetrics, and promtool finds no fault" accepted cap
	ok "openmetrics has the cost of report summary, in seconds" has_figure zcost_cost_seconds '"copying"' '"receiver"' '"KiB"' 1e-6
	ok "openmetrics has the throughput in bytes" has_figure zcost_throughput_bytes_per_second '"mapping"' '"sender"' 2048000000
	ok "openmetrics has the cost of each component" has_figure zcost_component_cost_seconds '"data copy"' '"copying"' 6e-7
	ok "openmetrics has the bounds of an interval" has_figure zcost_cost_high_seconds '"copying"' '"sender"' 1.0015e-6
	ok "openmetrics has the name of the capture" has_figure zcost_capture 'name="world"' 1
	sqlite3 cap/zcost.db "UPDATE variant SET name = 'a \"b\\c' WHERE name = 'mapping'; UPDATE run SET variant = 'a \"b\\c' WHERE variant = 'mapping'"
	ok "Prometheus imports names with quotes and backslashes" accepted cap
	ok "a capture with one variant and side has their labels" accepted cap --variant copying --side receiver
	ok "components of one variant and side have labels" has_figure zcost_component_cost_seconds '"data copy"' '"copying"' '"receiver"' 6e-7
	world cap 4 $copying $mapping
else
	skip "Prometheus imports every figure of openmetrics, and promtool finds no fault" "$why"
fi
cp -r cap both_units
sqlite3 both_units/zcost.db "INSERT INTO metric (run, name, unit, value, source) SELECT run, 'rate_messages', unit, value / 4, source FROM metric WHERE name = 'rate_kib'"
costs_by() { "$zcost" export openmetrics both_units --variant copying --unit $1 2>err | sed -n 's/^zcost_component_cost_seconds{.*"receiver".*"data copy".*work="\([A-Za-z]*\)"} /\1 /p'; }
for f in pprof speedscope openmetrics; do
	ok "a unit that no run counts ends $f with 1" exits 1 "$zcost" export $f cap --unit message -o counted
	ok "the message of $f says what the runs count" says "^zcost: --unit message: the runs count only KiB" err
done
ok "openmetrics takes --unit: costs of components per KiB and per message of 4 KiB" test "$(costs_by KiB) $(costs_by message)" = "KiB 6e-07 message 2.4e-06"
ok "openmetrics ends with the mark of the end" test "$("$zcost" export openmetrics cap 2>err | tail -n 1)" = "# EOF"

sqlite3 cap/zcost.db "UPDATE metric SET name = 'rate_packets' WHERE name = 'rate_kib' AND run IN (SELECT id FROM run WHERE variant = 'mapping')" 2>/dev/null
ok "variants with different units of work are refused" exits 2 "$zcost" export pprof cap
ok "the message names --unit" says 'copying/receiver costs ns per KiB, mapping/receiver ns per packet: give --unit' err
world cap 4 $copying $mapping
ok "a second export gives the same bytes" sh -c "'$zcost' export pprof cap >1 2>err; '$zcost' export pprof cap >2 2>err; cmp 1 2"

done_testing
