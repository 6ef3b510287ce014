#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A plan with the real collectors and tcpzc over loopback, and the SQL questions of the store's document on its store; some
# answers are compared with zcost's tables.
. "$(dirname "$0")/../lib.sh"
need jq root sqlite3 taskset
unset ZCOST_COLLECT
cleanup() {
	ip netns del "zc-a$$" 2>/dev/null
	ip netns del "zc-b$$" 2>/dev/null
}

next_port
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
prefix = taskset -c 0
units = tcpzc
freq = 2999
[side sender]
cpus = 0
prefix = taskset -c 0
units = tcpzc
time_one_in = 16
[variant baseline]
receiver = \${bindir}/tcpzc --listen \${to} --rx recv
sender = \${bindir}/tcpzc --connect 127.0.0.1 \${to} --tx send --seconds 60
[variant mmap]
receiver = \${bindir}/tcpzc --listen \${to} --rx mmap
sender = \${bindir}/tcpzc --connect 127.0.0.1 \${to} --tx splice --seconds 60
EOT

captured() { # a busy machine may lose samples
	"$zcost" capture p.ini -o c 2>err || { code=$?; cat err; [ $code = 4 ] && grep -q 'perf lost [0-9]* [rs]' err; }
}

ok "the plan is captured" captured
ok "all runs are ok" jq -e '.complete and ([.runs[].status] | all(. == "ok"))' c/manifest.json
ok "the profile pass writes perf.data" test -s c/runs/mmap/profile-01/receiver/perf.data
ok "the syscalls pass writes syscall counts" test -s c/runs/mmap/syscalls-01/sender/syscalls.tsv
info() { # info PASS COLLECTOR KEY: of both sides
	jq ".collectors[] | select(.name == \"$2\") | .info.$3" c/runs/mmap/$1-01/receiver/run.json c/runs/mmap/$1-01/sender/run.json | paste -sd,
}
ok "time_one_in of a side reaches that side's syscalls collector" test "$(info syscalls syscalls time_one_in)" = 1,16
ok "freq of a side reaches that side's perf, and a side without freq is sampled at a rate of its own" \
	test "$(info profile perf frequency)" = "$([ "$(info profile perf event)" = '"cpu-clock","cpu-clock"' ] && echo 5998,4058 || echo 2999,2029)"
frames() { jq -s 'map([.collectors[].name] | index("frame") != null) == [true, false]' c/runs/mmap/$1-01/receiver/run.json c/runs/mmap/$1-01/sender/run.json; }
ok "the first side alone has a frame" is "$(frames profile) $(frames syscalls)" "true true"
if [ -e c/runs/mmap/profile-01/receiver/frame.tsv ]; then
	ok "the second side has copies of the frame's files, with the times of its own CPU" sh -c 'cd c/runs/mmap/profile-01 && cmp receiver/frame.tsv sender/frame.tsv &&
		cmp receiver/due.tsv sender/due.tsv && grep -q "^0	[0-9]" sender/frame.tsv'
fi
ok "the measure pass writes no perf.data" sh -c '! ls c/runs/*/measure-*/*/perf.data 2>/dev/null'
ok "every workload writes its summary" sh -c \
	'for f in c/runs/*/*/*/workload.out; do tail -n 1 $f | grep -q "\"type\":\"summary\"" || exit 1; done'
for host in c/hosts/*; do
	ok "the capture describes the host in ${host##*/}" test -s "$host/kallsyms" -a -s "$host/host.json"
done
"$zcost" analyze c >out 2>err # exits 4 where the hypervisor took CPU time
ok "analyze reads all eight runs" says 'c/zcost.db: 8 runs' err
if [ -e c/runs/mmap/profile-01/receiver/frame.tsv ]; then
	ok "the profiles of both sides have the exact times of the frame" is "$(sqlite3 c/zcost.db \
		"SELECT DISTINCT side, exact FROM event JOIN run ON run.id = event.run ORDER BY side" | paste -sd' ')" "receiver|1 sender|1"
fi

# --- the questions of the store's document ---

db=c/zcost.db

awk '/^```sql/ { n++; on = 1; next } /^```/ { on = 0 } on { print > "q" n ".sql" }' "$top/docs/reference/store.md"
ok "the store's document has twelve questions in SQL" test -s q12.sql -a ! -e q13.sql
# The sampled functions vary: question 8 asks for the callers of the function in which the receiver's program has the most
# samples from a caller that has a name. Other programs have functions whose outermost call has no caller with a name.
top_called=$(sqlite3 $db "SELECT y.name FROM samples s JOIN frame f ON f.id = s.frame JOIN symbol y ON y.id = f.symbol
	JOIN frame p ON p.id = f.parent JOIN symbol caller ON caller.id = p.symbol
	WHERE s.variant = 'baseline' AND s.pass = 'profile' AND s.side = 'receiver' AND s.comm = 'tcpzc' AND y.name NOT LIKE '%''%' AND caller.name NOT LIKE '0x%' AND caller.name NOT LIKE '[%'
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
	ok "$what" ask $n
done
ok "question 1 lists all runs" test "$(($(wc -l <out1) - 1))" = "$(sqlite3 $db 'SELECT COUNT(*) FROM run')"
ok "the throughput of question 2 equals report summary's" near "$(awk -F'\t' '$1 == "baseline" && $2 == "receiver" { print $4 }' out2)" \
	"$("$zcost" report summary c --estimator mean --format tsv 2>/dev/null | tsv '$1 == "baseline" && $2 == "receiver" { print $at["throughput_gbps"] }')" 1e-6

"$zcost" report functions c --variant baseline --side receiver --all --format tsv >functions 2>err
# same FILE COLUMN OURS: equal for each of the ten functions; zcost has one row for addresses without a name, and one for
# the functions of a name in files of a name, such as two copies of a program
same() {
	sqlite3 $db "SELECT name FROM dso" | sed 's,.*/,,' | sort | uniq -d >twice
	awk -F'\t' -v column="$2" -v ours="$3" 'FILENAME == "twice" { twice[$0]; next } { sub(/.*\//, "", $2) } FILENAME == "functions" { if (FNR == 1) { for (i = 1; i <= NF; i++) at[$i] = i; next }
			v[$1 FS $2] = $at[ours]; next }
		FNR == 1 { for (i = 1; i <= NF; i++) in2[$i] = i; next }
		$1 ~ /^0x/ || $2 in twice { next }
		{ k = $1 FS $2; d = $in2[column] - v[k]; if (d < 0) d = -d
		  if (!(k in v) || d > 1e-5 * v[k] + 1e-7) { print k, $in2[column], v[k]; bad = 1 } n++ }
		END { exit bad || !n }' twice functions "$1"
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

# --- two clients in one namespace send to a server in another one; the server counts nothing ---

if ip netns add "zc-a$$" 2>/dev/null; then
	ip netns add "zc-b$$"
	ip -n "zc-a$$" link add a0 type veth peer name b0 netns "zc-b$$"
	ip -n "zc-a$$" addr add 192.0.2.1/24 dev a0
	ip -n "zc-b$$" addr add 192.0.2.2/24 dev b0
	ip -n "zc-a$$" link set a0 up
	ip -n "zc-b$$" link set b0 up
	{
		printf '[plan]\npasses = measure\nrepeats = 1\nwarmup = 0.2\nduration = 0.7\ngrace = 0\n'
		printf '[side client%s]\nrole = sender\nprefix = ip netns exec zc-b%s\nunits = tcpzc\n' 1 $$ 2 $$
		printf '[side server]\nrole = receiver\nprefix = ip netns exec zc-a%s\n[variant v]\n' $$
		listen='${bindir}/tcpzc --rx recv --listen --port'
		echo "server = sh -c '$listen 5001 & $listen 5002; wait'"
		for i in 1 2; do echo "client$i = \${bindir}/tcpzc --connect 192.0.2.1 --port 500$i --seconds 60"; done
	} >many.ini
	gbps() { # gbps SIDE: its throughput by report roi
		"$zcost" report roi many --format tsv 2>err | awk -F'\t' -v side="$1" '$2 == side { print $3 }'
	}
	ok "three sides with free names are measured" exits 0 "$zcost" capture many.ini -o many
	"$zcost" analyze many >out 2>err
	ok "the server takes the sum of what its clients count" near "$(gbps server)" \
		"$(echo "$(gbps client1) $(gbps client2)" | awk '{ print $1 + $2 }')" 0.01
	ok "the total has what both clients sent" test "$(gbps total)" = "$(gbps server)"
	by_interface() { # a busy machine may read the interface late, of a window of 0.7 s
		"$zcost" analyze many >out 2>err
		clients=$(gbps total)
		"$zcost" analyze many --units server=nic:a0/rx >out 2>err
		near "$(gbps total)" "$clients" "$(echo "$clients" | awk '{ print 0.1 * $1 }')" && return
		rm -rf many && "$zcost" capture many.ini -o many 2>err
		return 1
	}
	steady "the server's interface counts what the clients sent, and the headers" by_interface
else
	skip "three sides with free names are measured" "no namespaces here"
fi
done_testing
