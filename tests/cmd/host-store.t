#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The SQL questions of the store's document on the store of a real capture; some answers are compared with zcost's tables.
. "$(dirname "$0")/../lib.sh"
command -v sqlite3 >/dev/null || skip_all "no sqlite3 to ask with"
[ "$(id -u)" = 0 ] || skip_all "perf of whole CPUs and BPF need root"
unset ZCOST_COLLECT

next_port
capture() { # another port each time, because a port may be in use
	port=$((20000 + (port + 17) % 10000))
	cat >p.ini <<EOT
[plan]
repeats = 2
profile_repeats = 1
warmup = 0.2
duration = 0.5
grace = 0
[vars]
to = --port $port
[side receiver]
cpus = 0
units = tcpzc
[side sender]
cpus = 0
units = tcpzc
[variant baseline]
receiver = \${bindir}/tcpzc --listen \${to} --rx recv
sender = \${bindir}/tcpzc --connect 127.0.0.1 \${to} --tx send --seconds 60
[variant mmap]
receiver = \${bindir}/tcpzc --listen \${to} --rx mmap
sender = \${bindir}/tcpzc --connect 127.0.0.1 \${to} --tx splice --seconds 60
EOT
	rm -rf c
	"$zcost" capture p.ini -o c
}
five_times capture >log 2>&1 || { cat log; skip_all "no capture can be made here"; }
ok "analyze makes the store" exits 0 "$zcost" analyze c
db=c/zcost.db
profiled=$(sqlite3 $db 'SELECT COUNT(*) FROM cost')
traced=$(sqlite3 $db 'SELECT COUNT(*) FROM syscall')

awk '/^```sql/ { n++; on = 1; next } /^```/ { on = 0 } on { print > "q" n ".sql" }' "$top/docs/reference/store.md"
ok "the store's document has twelve questions in SQL" test -s q12.sql -a ! -e q13.sql
# The sampled functions vary: question 8 asks for the callers of the receiver's function with the most samples from a caller
# that has a name.
top_called=$(sqlite3 $db "SELECT y.name FROM samples s JOIN frame f ON f.id = s.frame JOIN symbol y ON y.id = f.symbol
	JOIN frame p ON p.id = f.parent JOIN symbol caller ON caller.id = p.symbol
	WHERE s.variant = 'baseline' AND s.pass = 'profile' AND s.side = 'receiver' AND y.name NOT LIKE '%''%' AND caller.name NOT LIKE '0x%'
	GROUP BY y.name ORDER BY SUM(s.weight) DESC LIMIT 1")
sed -i "s/'_copy_to_iter'/'${top_called:-_copy_to_iter}'/" q8.sql
ask() { # ask N: writes the answers to outN
	sqlite3 -header -separator '	' $db <"q$1.sql" >"out$1" 2>err || { cat err; return 1; }
	[ "$(wc -l <"out$1")" -gt 1 ] || { echo "no answer"; cat "q$1.sql"; return 1; }
}
n=0
while [ $n -lt 12 ]; do
	n=$((n + 1))
	what="the store answers question $n: $(awk -v n=$n '/^```sql/ { if (++i == n) print line } NF { line = $0 }' "$top/docs/reference/store.md" | cut -c1-60)"
	case $n in
	3 | 4 | 5 | 6 | 8 | 9) [ "$profiled" -gt 0 ] || { skip "$what" "no samples: perf does not work here"; continue; } ;;
	7) [ "$traced" -gt 0 ] || { skip "$what" "no system calls: neither BPF nor tracefs here"; continue; } ;;
	esac
	ok "$what" ask $n
done
ok "question 1 lists all runs" test "$(($(wc -l <out1) - 1))" = "$(sqlite3 $db 'SELECT COUNT(*) FROM run')"
ok "the throughput of question 2 equals report summary's" near "$(awk -F'\t' '$1 == "baseline" && $2 == "receiver" { print $4 }' out2)" \
	"$("$zcost" report summary c --estimator mean --format tsv 2>/dev/null | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$1 == "baseline" && $2 == "receiver" { print $at["throughput_gbps"] }')" 1e-6

if [ "$profiled" -gt 0 ]; then
	"$zcost" report functions c --variant baseline --side receiver --all --format tsv >functions 2>err
	same() { # same FILE COLUMN OURS: equal for each of the ten functions; zcost has one row for addresses without a name
		awk -F'\t' -v column="$2" -v ours="$3" '{ sub(/.*\//, "", $2) } NR == FNR { if (FNR == 1) { for (i = 1; i <= NF; i++) at[$i] = i; next }
				v[$1 FS $2] = $at[ours]; next }
			FNR == 1 { for (i = 1; i <= NF; i++) in2[$i] = i; next }
			$1 ~ /^0x/ { next }
			{ k = $1 FS $2; d = $in2[column] - v[k]; if (d < 0) d = -d
			  if (!(k in v) || d > 1e-5 * v[k] + 1e-7) { print k, $in2[column], v[k]; bad = 1 } n++ }
			END { exit bad || !n }' functions "$1"
	}
	ok "the shares of question 3 equal report functions's" same out3 self_pct self_share
	ok "the self times of question 4 equal report functions's" same out4 self_ns self_ns
	ok "the total times of question 4 equal report functions's" same out4 total_ns total_ns
	"$zcost" report components c --variant baseline --side receiver --format tsv >components 2>err
	ok "the components of question 5 equal report components's" sh -c 'awk -F"\t" "NR == FNR { v[\$1] = \$3; next } FNR > 1 && \$2 != \"\" {
		d = \$2 - v[\$1]; if (d > 1e-4 || d < -1e-4) { print \$1, \$2, v[\$1]; exit 1 } n++ } END { if (!n) exit 1 }" components out5'
	# The outermost call of the function in each chain. An interrupt of the function may call it again.
	sqlite3 -separator '	' $db "WITH RECURSIVE up(id, frame, depth, n) AS (
			SELECT ROW_NUMBER() OVER (), frame, 0, samples FROM samples
			WHERE variant = 'baseline' AND pass = 'profile' AND side = 'receiver'
			UNION ALL SELECT up.id, parent, depth + 1, n FROM up JOIN frame ON frame.id = up.frame WHERE parent IS NOT NULL),
		call AS (SELECT MAX(depth), f.parent, n FROM up JOIN frame f ON f.id = up.frame JOIN symbol y ON y.id = f.symbol
			WHERE y.name = '$top_called' GROUP BY up.id)
		SELECT y.name, SUM(n) FROM call JOIN frame f ON f.id = call.parent JOIN symbol y ON y.id = f.symbol GROUP BY y.name" |
		sort | grep -v ^0x >callers
	"$zcost" report callers "$top_called" c --variant baseline --side receiver --basis wall --all --format tsv 2>err |
		awk -F'\t' 'NR > 1 && $1 !~ /0x|^\[no caller\]/ { n[$1] += $3 } END { for (k in n) print k "\t" n[k] }' | sort >our.callers
	ok "the callers in the store equal report callers's" cmp our.callers callers
	ok "the store has callers" test -s callers
fi

# --- other programs, where they are installed ---

"$zcost" export csv c -o csv
rows=$(sqlite3 $db 'SELECT COUNT(*) FROM metrics')
if command -v duckdb >/dev/null; then
	ok "DuckDB reads the exported csv" test "$(duckdb -csv -noheader -c "SELECT COUNT(*) FROM 'csv/metrics.csv'")" = "$rows"
	if duckdb -c 'LOAD sqlite' >/dev/null 2>&1; then
		ok "DuckDB reads the store" test "$(duckdb -csv -noheader -c "ATTACH '$db' AS z (TYPE sqlite); SELECT COUNT(*) FROM z.metric")" = "$rows"
	else
		skip "DuckDB reads the store" "its sqlite extension is not installed, and it fetches it from the net"
	fi
else
	skip "DuckDB reads the exported csv and the store" "no duckdb here"
fi
if command -v clickhouse-local >/dev/null; then
	ok "ClickHouse reads the exported csv" test "$(clickhouse-local --query "SELECT COUNT(*) FROM file('csv/metrics.csv', CSVWithNames)")" = "$rows"
else
	skip "ClickHouse reads the exported csv" "no clickhouse-local here"
fi
done_testing
