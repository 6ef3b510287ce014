#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# --format=commit: tables that can be pasted into a patch's commit message.
. "$(dirname "$0")/../lib.sh"
. "$tests/world.sh"
need_sqlite

world cap 6 $copying $mapping fell_back:2e6:100:0,80,20:4000:1:0.9
world few 3 $copying $mapping

# fits FILE: at most 72 columns of printable ASCII, nothing that git takes for its own, no blanks at an end
fits() {
	[ -s "$1" ] && awk 'length > 72 { print "too long: " $0; bad = 1 }
		/[^ -~]/ { print "not ASCII: " $0; bad = 1 }
		/^#|^---|^diff |^From | $/ { print "not for git: " $0; bad = 1 }
		END { exit bad }' "$1"
}

committed() { # as a commit message, into out
	"$zcost" compare --format commit "$@" >out 2>err
}

for table in metrics functions components contexts modules syscalls waterfall; do
	ok "$table" exits 0 "$zcost" compare copying mapping -C cap --table $table --format commit
	ok "$table fits" fits out
done

committed copying mapping -C cap
ok "the metrics: base, new, change, interval, p, n" says '^    ns per KiB +1000 +500.0 +-50.0% +\[-50.1,-49.8\] 0.002 6\+6$' out
ok "with their units" says '^    throughput, Gbit/s +8.192 +16.38 \+100.0% ' out
ok "by side" says '^  receiver$' out
ok "kernel and host above" says '^receiver: Linux 6.18 on host vm$' out
ok "and the command, once where it is the same" says '^command: cmd$' out
ok "what the test was" says '^p: exact Mann-Whitney' out
committed copying mapping -C cap --table functions
ok "functions in ns per KiB" says '^functions of the receiver, ns per KiB: mapping against copying$' out
ok "how many runs" says '^n: 6 and 6 runs$' out
ok "a row" says '^  _copy_to_iter +600.00 +0.00 +-600.00 +\[-601.50,-598.50\]  0.006$' out
ok "the total below" says '^  total +1000.00 +500.00 +-500.00$' out
committed copying mapping -C few
ok "too few runs: neither p nor an interval of 95 %" says '^    throughput, Gbit/s +8.192 +16.38 +.100.0% +- +- +3.3$' out
committed copying mapping -C few --table functions
ok "too few runs are said" says '^p: too few runs to test 3 rows, which takes 5 a side$' out
ok "there, intervals are of the measurement" says '^  insert_page .*\+-[0-9.]+ +-$' out
committed copying fell_back -C cap --table components
ok "a fallback stands first" sh -c "head -n 1 out | grep -q '^NOT ZERO COPY: fell_back receiver: 90.0 %'"
ok "and fits" fits out

# A wide interval takes room from the names, but not from the units in them.
cp -r cap wide
sqlite3 wide/zcost.db "INSERT INTO metric (run, name, unit, value) SELECT r.id, 'counter:context-switches', '1',
	m.value / 1048576 * CASE r.variant WHEN 'copying' THEN 1000 * r.repeat ELSE 20000 * (r.repeat % 4) + 43 END
	FROM run r JOIN metric m ON m.run = r.id AND m.name = 'bytes' WHERE r.pass = 'measure'"
committed copying mapping -C wide
ok "a wide interval: fits" fits out
ok "names with units are whole" says '^    throughput, Gbit/s ' out
ok "the longest, with its interval and p" says '^    context switches per MiB +[0-9.]+ +[0-9.]+ +\+[0-9]+.*% +\[-[0-9.]+,\+[0-9]{4,}\] [01]\.[0-9]{3}$' out
ok "what is left out is named" says '^left out, too wide: n$' out
ok "and said below" sh -c "tr -s '\\n ' ' ' <out | grep -q 'n: runs of base and new, everywhere 6+6'"
long=$(printf '%0150d' 7 | tr 0 x)
sqlite3 wide/zcost.db "UPDATE run SET side = '$long' WHERE side = 'receiver'"
committed copying mapping -C wide
ok "a side of a long name: fits" fits out
ok "and takes no more room than the metrics" says '^    context switches per MiB .* [01]\.[0-9]{3}$' out

if command -v git >/dev/null; then
	committed copying mapping -C cap
	ok "git keeps every line" sh -c 'git stripspace --strip-comments <out | cmp - out'
else
	skip "git keeps every line" "no git here"
fi

# Names as they come: long ones, other alphabets, blanks, what git would cut.
long=$(printf '%0150d' 7 | tr 0 x)
sqlite3 cap/zcost.db "UPDATE symbol SET name = '#$long' WHERE id = 1;
	UPDATE symbol SET name = 'größe_µ²→' WHERE id = 2; UPDATE symbol SET name = 'a	tab' WHERE id = 3;
	UPDATE dso SET name = '/usr/lib/very/$long.so'; UPDATE comm SET name = '$long';
	UPDATE host SET release = '6.19.0-$long';
	UPDATE run SET command = '/opt/$long/tool --- # --rx $long' WHERE variant = 'mapping'"
for table in metrics functions components waterfall; do
	ok "hostile names in $table" exits 0 "$zcost" compare copying mapping -C cap --table $table --format commit
	ok "fit all the same" fits out
done
committed copying mapping -C cap --table functions
ok "both ends of a long name are kept" says '^  #xxxxx[x.]*xx' out
ok "other letters are spelled" says '^  gr\?\?e_u\^2-> ' out
ok "the commands of both, where they differ" says '^new: tool --- # --rx' out
ok "another kernel is named for each" sh -c "'$zcost' compare few:copying cap:mapping --format commit >out 2>err &&
	grep -q '^receiver: base: Linux 6.18 on host vm' out && grep -q '^new: Linux' out"
ok "which fits" fits out

ok "report, too" exits 0 "$zcost" report functions few --format commit
ok "fits" fits out
ok "what is left out is named" says '^left out, too wide: ' out
ok "costs stay" says ' 600.0 ' out
ok "report of one side says it once" sh -c "'$zcost' report components few --side receiver --format commit | grep -q '^side receiver'"
"$zcost" report components few --side receiver --format commit >out 2>err
ok "kernel and host stand above" says '^Linux 6.18 on host vm$' out
ok "and each variant's command" says '^mapping: cmd$' out

done_testing
