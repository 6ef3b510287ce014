#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# How long reports take on a store of RUNS (1000) runs. SQL copies the runs of a capture, CAPTURE=DIR or
# samples/captures/mapped.tar.zst, until each of 25 variants has 20 measured, 15 profiled and 5 syscalls runs. Equal runs would give
# equal figures, so the copies of a figure spread by up to 2 % to each side. WHAT names some of the commands. KEEP=DIR keeps the store.
set -eu
. "$(dirname "$0")/lib.sh"
runs=${RUNS:-1000}
need "$timed"
if [ -n "${CAPTURE:-}" ]; then
	cp -a "$CAPTURE" "$dir/many"
else
	"$zcost" unpack "$top/samples/captures/mapped.tar.zst" -o "$dir/many" >"$dir/log" 2>&1
fi
"$zcost" analyze "$dir/many" >"$dir/log" 2>&1 || [ $? = 4 ] || { cat "$dir/log"; exit 1; }
echo "store: $(stat -c %s "$dir/many/zcost.db") bytes of $(ls "$dir/many/runs" | wc -l) variants"
# copies: the old and the new id of a run. event_copies: the same of an event.
{
	cat <<-SQL
	.dbconfig enable_trigger off
	PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;
	CREATE TEMP TABLE have AS SELECT r.*, v.id AS of_variant, DENSE_RANK() OVER (
		PARTITION BY r.variant, r.pass ORDER BY r.repeat) AS nth FROM run r JOIN variant v ON v.name = r.variant;
	CREATE TEMP TABLE want AS WITH RECURSIVE
		v (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM v WHERE n < 25),
		k (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < $runs / 50),
		p (pass, most) AS (VALUES ('measure', $runs / 50), ('profile', $runs / 200 * 3), ('syscalls', $runs / 200))
		SELECT v.n AS variant, p.pass, k.n AS repeat FROM v, k, p WHERE k.n <= p.most ORDER BY k.n, v.n, p.pass;
	CREATE TEMP TABLE copies AS SELECT h.id AS old, w.rowid * 100 + h.id % 2 + 1000000 AS new, w.variant, w.repeat, w.rowid AS place
		FROM want w JOIN have h ON h.of_variant = 1 + (w.variant - 1) % (SELECT COUNT(*) FROM variant) AND h.pass = w.pass
		AND h.nth = 1 + (w.repeat - 1) % (SELECT MAX(nth) FROM have x WHERE x.variant = h.variant AND x.pass = h.pass);
	CREATE INDEX copies_old ON copies (old);
	INSERT INTO run SELECT c.new, 'v' || c.variant, r.pass, c.repeat, r.side, r.host, r.command, r.cpus, r.ncpus, r.start_ns,
		r.end_ns, c.place, r.status, r.why, r.role FROM copies c JOIN run r ON r.id = c.old;
	CREATE TEMP TABLE event_copies AS SELECT e.id AS old, c.new AS run, c.new * 100 + e.id - (SELECT MIN(id) FROM event o WHERE o.run = c.old) AS new
		FROM copies c JOIN event e ON e.run = c.old;
	INSERT INTO event SELECT x.new, x.run, e.name, e.is_time, e.samples, e.weight, e.weight2, e.exact
		FROM event_copies x JOIN event e ON e.id = x.old ORDER BY x.run;
	INSERT INTO metric SELECT c.new, m.name, m.cpu, m.object, m.unit, m.value * CASE WHEN m.name IN ('throughput', 'cpu_pct',
		'workload_cpu_pct', 'power_w', 'cycles', 'instructions') OR m.name LIKE 'rate_%' OR m.name LIKE 'cpu_ns%'
		THEN 1 + ((c.new * 7919 + LENGTH(m.name)) % 40009 - 20004) / 1000000.0 ELSE 1 END, m.source
		FROM copies c JOIN metric m ON m.run = c.old ORDER BY c.new, m.rowid;
	SQL
	columns() { sqlite3 "$dir/many/zcost.db" "SELECT GROUP_CONCAT('t.' || name, ', ') FROM pragma_table_info('$1') WHERE name NOT IN ('run', 'event')"; }
	for table in $(sqlite3 "$dir/many/zcost.db" "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) p
		WHERE m.type = 'table' AND p.name = 'run' AND m.name NOT IN ('run', 'event', 'metric')"); do
		rest=$(columns "$table") names=$(columns "$table" | sed 's,t[.],,g')
		if sqlite3 "$dir/many/zcost.db" "SELECT 'yes' FROM pragma_table_info('$table') WHERE name = 'event'" | grep -q yes; then
			echo "INSERT INTO $table (run, event, $names) SELECT x.run, x.new, $rest FROM event_copies x JOIN $table t ON
				t.event = x.old AND t.run = (SELECT run FROM event e WHERE e.id = x.old) ORDER BY x.run;"
		else
			echo "INSERT INTO $table (run, $names) SELECT c.new, $rest FROM copies c JOIN $table t ON t.run = c.old ORDER BY c.new;"
		fi
		echo "DELETE FROM $table WHERE run > 0 AND run < 1000000;"
	done
	cat <<-SQL
	DELETE FROM event WHERE run < 1000000; DELETE FROM metric WHERE run < 1000000; DELETE FROM run WHERE id < 1000000;
	CREATE TEMP TABLE was AS SELECT * FROM variant; DELETE FROM variant;
	INSERT INTO variant SELECT DISTINCT c.variant, 'v' || c.variant, w.what, NULL FROM copies c
		JOIN was w ON w.id = 1 + (c.variant - 1) % (SELECT COUNT(*) FROM was);
	INSERT INTO fact SELECT f.host, v.name, NULL, f.name, f.value FROM variant v JOIN was w ON w.what IS v.what
		JOIN fact f ON f.variant = w.name;
	COMMIT; VACUUM;
	SQL
} >"$dir/many.sql"
sqlite3 "$dir/many/zcost.db" <"$dir/many.sql" >"$dir/log"
echo "store: $(stat -c %s "$dir/many/zcost.db") bytes of $runs runs"
[ -z "${KEEP:-}" ] || cp -a "$dir/many" "$KEEP"

what=${WHAT:-summary notes functions limits zerocopy components runs compare page}
one() { # COMMAND
	case $1 in
	compare) set -- "$1" compare v1 v2 -C "$dir/many" ;;
	page) set -- "$1" report --html "$dir/page.html" "$dir/many" ;;
	*) set -- "$1" report "$1" "$dir/many" ;;
	esac
	name=$1
	shift
	"$timed" "$zcost" "$@" >>"$dir/$name.runs" || [ $? = 4 ]
}
one summary
rm "$dir/summary.runs"
in_turns $what
echo "            wall s    cpu s     MB   (medians of $rounds)"
for name in $what; do
	f=$dir/$name.runs
	printf '%-10s %7.3f %8.3f %6d\n' "$name" "$(median "$f" 1)" "$(median "$f" 2)" "$(median "$f" 3)"
done
