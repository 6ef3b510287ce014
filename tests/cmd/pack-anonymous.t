#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# pack --anonymous: the archive has no name of a host, user, program or file, no address and no command, and gives
# the same figures.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"
. "$tests/world.sh"
need sqlite3

world cap 6 copying:1e6:100:60,40,0:1000:0:0 mapping:2e6:100:0,80,20:500:1:0
cat >cap/manifest.json <<-'EOS'
	{"schema_version": 1, "zcost_version": "test", "name": "SECRET", "created": "2026-01-31T12:00:00Z",
	 "order": ["copying/measure-01"], "sides": ["receiver", "sender"], "estimator": "median",
	 "variants": [{"name": "copying", "what": "SECRET", "settings": {"receiver.command": "SECRET"},
	  "vars": {"token": "SECRET"}, "matrix": {"peer": "SECRET"}}],
	 "runs": [{"variant": "copying", "pass": "measure", "repeat": 1, "status": "ok", "why": "SECRET",
	  "sides": ["receiver", "sender"], "files": {}}],
	 "hosts": {"SECRET/kallsyms": "00"}}
EOS
sqlite3 cap/zcost.db <<-'EOS'
	UPDATE host SET name = 'SECRET'; UPDATE run SET host = 'SECRET';
	UPDATE run SET command = '/home/SECRET/bin/app -pSECRET --key=SECRET --user SECRET 10.1.2.3 --cpu 1 --size=128k';
	UPDATE run SET why = 'SECRET failed';
	UPDATE variant SET what = 'for SECRET';
	UPDATE capture SET value = 'SECRET' WHERE key = 'name';
	INSERT INTO capture VALUES ('power_csv', '/home/SECRET/log.csv');
	INSERT INTO fact (host, variant, name, value) VALUES ('SECRET', NULL, 'hostname', 'SECRET'), ('SECRET', NULL, 'release', '6.18'),
		('SECRET', NULL, 'new_fact', 'SECRET'), ('SECRET', NULL, 'sysctl:kernel.domainname', 'SECRET'),
		('SECRET', NULL, 'sysctl:kernel.core_pattern', '/home/SECRET'), ('SECRET', NULL, 'sysctl:net.x', '10.1.2.3'),
		('SECRET', NULL, 'sysctl:net.core.rmem_max', '4194304'), ('SECRET', NULL, 'CONFIG_BUILD_SALT', '"SECRET"'),
		('SECRET', NULL, 'CONFIG_HZ', '1000'),
		(NULL, 'copying', 'receiver.command', 'SECRET --size 64k'), (NULL, 'copying', 'receiver.host', 'ssh://SECRET'),
		(NULL, 'copying', 'receiver.user', 'SECRET'), (NULL, 'copying', 'receiver.cpus', '0-3'),
		(NULL, 'copying', 'before', 'sh /home/SECRET/up'), (NULL, 'copying', 'var:token', 'SECRET');
	INSERT INTO setting VALUES (1, 'copying', 'peer', '10.1.2.3'), (2, 'copying', 'mtu', '9000');
	INSERT INTO collector VALUES (1, 'power', 'unsupported', 'SECRET', NULL);
	INSERT INTO comm VALUES (2, 'SECRETd'), (3, 'kworker/0:1'), (4, ':1234');
	INSERT INTO dso VALUES (2, '/home/SECRET/app', '5ec9e75ec9e7', 3), (3, '/usr/lib/libc.so.6', 'abcdef', 3), (4, '/home/SECRET/tcpzc', '12ab', 3),
		(9, '/opt/SECRET/tcpzc', '12ab', 3), (5, '/usr/lib/SECRET/plugin.so', 'ab5ec9e7', 3), (6, '/usr/lib/x86_64-linux-gnu/libm.so.6', 'abc123', 3), (7, '/usr/lib/SECRET-linux-gnu/SECRET/x.so', 'ab5ec9e7f', 3);
	INSERT INTO dso VALUES (8, '[waits]', NULL, 1);
	INSERT INTO symbol VALUES (4, 'app_main', 2, 0), (5, 'woken by other SECRETd', 8, 0), (6, 'woken by softirq NET_RX', 8, 0);
	INSERT INTO code VALUES (4, 'x86_64', 0, 'c0dec0de'), (1, 'x86_64', 0, '90909090');
	INSERT INTO syscall (run, comm, nr, name) VALUES (1, 'SECRETd', 0, 'read');
	INSERT INTO syscall_hist VALUES (1, 'SECRETd', 1, 1, 0, 'time', 3, 4);
	INSERT INTO thread (run, pid, tid, comm) VALUES (1, 1, 1, 'SECRETd');
	INSERT INTO socket (run, local, peer) VALUES (1, '10.1.2.3:80', '[2001:db8::5ec]:5201');
	INSERT INTO topology (host, kind, name) VALUES ('SECRET', 'node', '0');
	INSERT INTO note VALUES (1, 'info', 'run_left_out', '["/home/SECRET: no"]'),
		(1, 'info', 'work_of_side', '["sender"]'), (1, 'info', 'collector_lost', '["power",12]');
	-- Texts of zcost stay, and a text of the capture is hidden in the same place of another note.
	INSERT INTO metric (run, name, object, value) VALUES (1, 'nic', 'host/eth0/link/rx_packets', 1), (1, 'counter', 'cycles', 1),
		(1, 'power_w', 'wall/csv/SECRET.csv', 5), (1, 'waits_ns', 'SECRETd;blocked;read;other SECRETd', 6),
		(1, 'waits_ns', 'SECRETd;user', 7), (1, 'waits_ns', 'tcpzc;blocked;recvfrom;softirq NET_RX', 8),
		(1, 'waits_account_ns', 'blocked: recvfrom', 9);
	INSERT INTO fact (run, name, value) VALUES (1, 'sysctl:net.x', '10.1.2.3'), (1, 'tool:perf', '6.1');
	INSERT INTO series (run, name, t_ns, value) VALUES (1, 'power_w:wall/csv/SECRET.csv', 1, 5);
	INSERT INTO note VALUES (2, 'info', 'window_reading_far', '["power","start",6.7]'),
		(2, 'info', 'window_cut_late', '["end",1.3,"SECRETd"]'),
		(2, 'info', 'rows_unreadable', '["power",3,"power.tsv"]'),
		(2, 'info', 'collector_state', '["power","unsupported",": ","no meter on SECRET"]'),
		(2, 'info', 'known_partly', '["power","the interface eth0",1.5,2]'),
		(2, 'info', 'power_gap', '["the power meter SECRET.csv",3,1]'),
		(2, 'info', 'windows_apart', '[1,2,3," (two clocks, compared to +-0.100 ms)"]'),
		(2, 'info', 'work_of_side', '["the sides receiver and sender"]'),
		(2, 'info', 'coverage_partial', '["the workload''s account",95]'),
		(2, 'info', 'counter_reset', '["power","cycles"]'),
		(2, 'info', 'workload_error', '["and SECRET"]'), (2, 'info', 'files_changed', '["start"]'),
		(2, 'info', 'workload_error', '["СЕКРЕТ"]');
EOS
for table in $(sqlite3 cap/zcost.db "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"); do
	echo "SELECT count(*), '$table' FROM $table;"
done >counts.sql

ok "pack --anonymous exits 0" exits 0 "$zcost" pack cap --anonymous
ok "pack counts the files of the archive" says "^zcost: cap-anonymous.tar.zst: 2 files$" err
ok "the archive has another name than that of the whole capture" test -s cap-anonymous.tar.zst -a ! -e cap.tar.zst
zstd -qdc cap-anonymous.tar.zst >plain.tar
for secret in SECRET 10.1.2.3 2001:db8 5ec9e7 c0dec0de token=; do
	ok "the archive does not contain $secret" test "$(grep -acF "$secret" plain.tar)" = 0
done
ok "the archive has the store and a manifest alone" test \
	"$(tar -tf plain.tar | tr '\n' ' ')" = "capture/ capture/SHA256SUMS capture/manifest.json capture/zcost.db "
ok "unpack restores an anonymous capture" exits 0 "$zcost" unpack cap-anonymous.tar.zst -o an
db() { # db SQL: a value of the anonymous store
	sqlite3 an/zcost.db "$1"
}
ok "options and numbers of a command stay" \
	test "$(db "SELECT DISTINCT command FROM run" | sed 's/word-[0-9a-f]\{8\}/W/g')" = "W W --key=W --user W W --cpu 1 --size=128k"
ok "ports stay" test "$(db "SELECT local || ' ' || peer FROM socket" | sed 's/-[0-9a-f]\{8\}//g')" = "address:80 address:5201"
ok "equal names stay equal" test "$(db "SELECT COUNT(DISTINCT comm) FROM (SELECT comm FROM thread UNION ALL
	SELECT comm FROM syscall UNION ALL SELECT comm FROM syscall_hist UNION ALL SELECT name FROM comm WHERE id = 2) WHERE comm <> 'tcpzc'")" = 1
ok "names of threads in metrics of waits are hidden, and what they did stays" test \
	"$(db "SELECT object FROM metric WHERE name = 'waits_ns' ORDER BY value" | sed 's/-[0-9a-f]\{8\}//g' | tr '\n' ' ')" = \
	'program;blocked;read;other program program;user tcpzc;blocked;recvfrom;softirq NET_RX '
ok "what a wait is for stays" test "$(db "SELECT object FROM metric WHERE name = 'waits_account_ns'")" = 'blocked: recvfrom'
ok "one program below two folders stays two" test "$(db "SELECT COUNT(DISTINCT build_id) FROM dso WHERE name = 'tcpzc' AND id IN (4, 9)")" = 2
ok "names of threads at the tips of waits are hidden" test "$(db "SELECT name FROM symbol WHERE dso = 8 ORDER BY id" |
	sed 's/-[0-9a-f]\{8\}//g' | tr '\n' ' ')" = 'woken by other program woken by softirq NET_RX '
ok "names of the kernel's threads and of unknown threads stay" test "$(db "SELECT name FROM comm WHERE id > 2" | tr '\n' ' ')" = "kworker/0:1 :1234 "
ok "the name of a program that every reader knows stays, without its folder" \
	test "$(db "SELECT name FROM dso WHERE id = 4")" = tcpzc
db "SELECT name || ' ' || build_id FROM dso WHERE id = 5" >deeper
ok "a library in a folder of an architecture stays" test "$(db "SELECT name || build_id FROM dso WHERE id = 6")" = /usr/lib/x86_64-linux-gnu/libm.so.6abc123
ok "a library in a deeper folder, which may name a product, is hidden" says '^object-[0-9a-f]{8} build-[0-9a-f]{8}$' deeper
ok "paths of the system's libraries stay" test "$(db "SELECT name || build_id FROM dso WHERE id = 3")" = /usr/lib/libc.so.6abcdef
ok "code of the kernel stays" test "$(db "SELECT bytes FROM code")" = 90909090
ok "kernel settings with numbers and settings of the plan stay" test \
	"$(db "SELECT value FROM fact WHERE name IN ('CONFIG_HZ', 'sysctl:net.core.rmem_max', 'release', 'receiver.cpus')
	UNION ALL SELECT value FROM setting WHERE id = 2" | tr '\n' ' ')" = "6.18 4194304 1000 0-3 9000 "
ok "names of sides and collectors in notes stay" test "$(db "SELECT vals FROM note WHERE run = 1 AND kind <> 'run_left_out'" | tr '\n' ' ')" \
	= '["sender"] ["power",12] '
notes_are() { # the values of the notes of run 2, where H is a hash
	db "SELECT kind || ' ' || vals FROM note WHERE run = 2 ORDER BY rowid" | sed 's/"text-[0-9a-f]\{8\}"/H/g' >values
	diff - values <<-'EOS'
		window_reading_far ["power","start",6.7000000000000002]
		window_cut_late ["end",1.3,H]
		rows_unreadable ["power",3,"power.tsv"]
		collector_state ["power","unsupported",": ",H]
		known_partly ["power","the interface eth0",1.5,2]
		power_gap [H,3,1]
		windows_apart [1,2,3," (two clocks, compared to +-0.100 ms)"]
		work_of_side ["the sides receiver and sender"]
		coverage_partial ["the workload's account",95]
		counter_reset ["power","cycles"]
		workload_error [H]
		files_changed [H]
		workload_error [H]
	EOS
}
ok "notes keep zcost's own texts and names that the copy has, and hide all other texts" notes_are
same_counts() { # the code of the own program is the only row that is left out
	sqlite3 cap/zcost.db <counts.sql | sed 's/^2|code$/1|code/; s/.*|\(capture\|note_kind\)$/\1/' >whole
	sqlite3 an/zcost.db <counts.sql | sed 's/.*|\(capture\|note_kind\)$/\1/' | diff whole -
}
ok "every table keeps its rows" same_counts
"$zcost" pack cap --anonymous -o again.tar.zst 2>err && "$zcost" unpack again.tar.zst 2>err
ok "another archive has other hashes" test "$(sqlite3 again/zcost.db "SELECT name FROM host")" != "$(db "SELECT name FROM host")"

same() { # same COMMAND...: CAPTURE stands for the whole capture and for the anonymous one
	for c in cap an; do
		"$zcost" "$@" -C $c --format tsv >$c.table 2>$c.err || { cat $c.err; return 1; }
	done
	cmp cap.table an.table
}
reports() { # reports TABLE: the same figures
	for c in cap an; do
		"$zcost" report "$1" $c --format tsv >$c.table 2>$c.err || { cat $c.err; return 1; }
	done
	diff cap.table an.table
}
for table in functions components contexts summary scores zerocopy; do
	ok "report $table of the anonymous capture gives the same figures" reports $table
done
for table in metrics functions components; do
	ok "compare --table $table of the anonymous capture gives the same figures" same compare copying mapping --table $table
done
ok "plot draws the anonymous capture" exits 0 "$zcost" plot an components -o charts --format svg
before=$(sha256sum <an/zcost.db)
ok "analyze of the anonymous capture exits 0" exits 0 "$zcost" analyze an
ok "analyze says that there is nothing to do" says 'an: anonymous: its store is complete, and there is nothing to analyze' err
ok "analyze leaves the anonymous store as it is" test "$before" = "$(sha256sum <an/zcost.db)"
ok "analyze with an option that needs raw files exits 1" exits 1 "$zcost" analyze an --inline
ok "the error says that the raw files were left out" says "an: 'zcost pack --anonymous' left out the raw files" err
ok "a failed analyze leaves the anonymous store as it is" test "$before" = "$(sha256sum <an/zcost.db)"

# A new column of the schema needs a rule.
insert_everywhere() { # prints an INSERT with a text in every text column of every table
	for t in $(cut -d"'" -f2 counts.sql); do
		case $t in context | dso_kind | note_kind) continue ;; esac
		sqlite3 cap/zcost.db "SELECT group_concat(CASE WHEN type <> 'TEXT' THEN '987' WHEN name = 'vals' THEN '''[]''' ELSE '''x''' END, ', ')
			FROM pragma_table_info('$t')" | sed "s/.*/INSERT INTO $t VALUES (&);/"
	done
}
insert_everywhere >everywhere.sql
sqlite3 cap/zcost.db <everywhere.sql
ok "every text column of the schema has a rule" exits 0 "$zcost" pack cap --anonymous -o all.tar.zst

mkdir raw && cp cap/manifest.json raw
ok "pack --anonymous of a capture without a store exits 1" exits 1 "$zcost" pack raw --anonymous
ok "the error says to analyze first" says "raw: not analyzed yet; run 'zcost analyze raw' first" err
ok "pack --anonymous leaves no scratch folder" test -z "$(TMPDIR=$scratch/t; mkdir t; export TMPDIR; "$zcost" pack cap --anonymous -o x 2>/dev/null; ls t)"

done_testing
