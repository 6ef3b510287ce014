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
	ok "compare --format commit writes table $table" exits 0 "$zcost" compare copying mapping -C cap --table $table --format commit
	ok "the commit message of table $table fits its width" fits out
done

committed copying mapping -C cap
ok "the metrics have base, new, change, interval, p and n" says '^    ns per KiB +1000 +500.0 +-50.0% +\[-50.1,-49.8\] 0.002 6\+6$' out
ok "the metrics have their units" says '^    throughput, Gbit/s +8.192 +16.38 \+100.0% ' out
ok "the metrics stand under the name of their side" says '^  receiver$' out
ok "kernel and host stand above the table" says '^receiver: Linux 6.18 on host vm$' out
ok "a command that both ends share stands once" says '^command: cmd$' out
ok "a note names the test" says '^p: exact Mann-Whitney' out
committed copying mapping -C cap --table functions
ok "the title of a list of functions says ns per KiB" says '^functions of the receiver, ns per KiB: mapping against copying$' out
ok "the title has the numbers of runs" says '^n: 6 and 6 runs$' out
ok "a function has its row" says '^  _copy_to_iter +600.00 +0.00 +-600.00 +\+-1.37  0.006$' out
ok "the total stands below the functions" says '^  total +1000.00 +500.00 +-500.00$' out
committed copying mapping -C cap
ok "a commit message has the self-test in one note" sh -c "tr -s '\\n ' ' ' <out | grep -q ' self-test: runs of one end split into halves differ .at most 5 % of the splits may.: base too few runs: takes 8; new too few runs: takes 8'"
cp -r cap mtu
sqlite3 mtu/zcost.db "INSERT INTO metric SELECT id, 'nic_state:host/eth0/mtu', '', CASE variant WHEN 'copying' THEN 1500 ELSE 9000 END, 'measured' FROM run"
committed copying mapping -C mtu
ok "a commit message begins with the settings that differ" sh -c "head -n 1 out | grep -qx 'setting: nic:host/eth0/mtu: 1500 -> 9000'"
committed copying mapping -C few
ok "too few runs have neither p nor a 95 % interval" says '^    throughput, Gbit/s +8.192 +16.38 +.100.0% +- +- +3.3$' out
committed copying mapping -C few --table functions
ok "a note says that the runs are too few" says '^p: too few runs to test 3 rows, which takes 5 a side$' out
ok "with too few runs the intervals are errors of measurement" says '^  insert_page .*\+-[0-9.]+ +-$' out
committed copying fell_back -C cap --table components
ok "a fallback to copying stands in the first line" sh -c "head -n 1 out | grep -q '^NOT ZERO COPY: fell_back receiver: 90.0 %'"
ok "a message with a fallback fits its width" fits out

# A wide interval takes room from the names, but not from the units in them.
cp -r cap wide
sqlite3 wide/zcost.db "INSERT INTO metric (run, name, unit, value) SELECT r.id, 'counter:context-switches', '1',
	m.value / 1048576 * CASE r.variant WHEN 'copying' THEN 1000 * r.repeat ELSE 20000 * (r.repeat % 4) + 43 END
	FROM run r JOIN metric m ON m.run = r.id AND m.name = 'bytes' WHERE r.pass = 'measure'"
committed copying mapping -C wide
ok "a message with a wide interval fits its width" fits out
ok "names with units stay whole" says '^    throughput, Gbit/s ' out
ok "the longest name stays whole, with its interval and p" says '^    context switches per MiB +[0-9.]+ +[0-9.]+ +\+[0-9]+.*% +\[-[0-9.]+,\+[0-9]{4,}\] [01]\.[0-9]{3}$' out
ok "a note names the column left out" says '^left out, too wide: n$' out
ok "a note has the runs of the column left out" sh -c "tr -s '\\n ' ' ' <out | grep -q 'n: runs of base and new, everywhere 6+6'"
long=$(printf '%0150d' 7 | tr 0 x)
sqlite3 wide/zcost.db "UPDATE run SET side = '$long' WHERE side = 'receiver'"
committed copying mapping -C wide
ok "a message with a long side name fits its width" fits out
ok "a long side name takes no more room than the metrics" says '^    context switches per MiB .* [01]\.[0-9]{3}$' out

if command -v git >/dev/null; then
	committed copying mapping -C cap
	ok "git commit keeps every line" sh -c 'git stripspace --strip-comments <out | cmp - out'
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
	ok "table $table with hostile names exits 0" exits 0 "$zcost" compare copying mapping -C cap --table $table --format commit
	ok "table $table with hostile names fits its width" fits out
done
committed copying mapping -C cap --table functions
ok "a shortened name keeps its start and its end" says '^  #xxxxx[x.]*xx' out
ok "non-ASCII letters of a name are escaped" says '^  gr\?\?e_u\^2-> ' out
ok "commands that differ stand once for each end" says '^new: tool --- # --rx' out
ok "kernels that differ stand once for each end" sh -c "'$zcost' compare few:copying cap:mapping --format commit >out 2>err &&
	grep -q '^receiver: base: Linux 6.18 on host vm' out && grep -q '^new: Linux' out"
ok "a message with two kernels fits its width" fits out

ok "report --format commit exits 0" exits 0 "$zcost" report functions few --format commit
ok "report --format commit fits its width" fits out
ok "a note of report names the columns left out" says '^left out, too wide: ' out
ok "report --format commit keeps the costs" says ' 600.0 ' out
ok "report of one side names the host once" sh -c "'$zcost' report components few --side receiver --format commit | grep -q '^side receiver'"
"$zcost" report components few --side receiver --format commit >out 2>err
ok "report --format commit has kernel and host" says '^Linux 6.18 on host vm$' out
ok "report --format commit has each variant's command" says '^mapping: cmd$' out

done_testing
