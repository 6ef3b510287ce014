#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# --workload-only: the workload is a child process of the command. Another program takes the same CPU and makes softirqs.
. "$(dirname "$0")/../lib.sh"
need jq root perl
unset ZCOST_COLLECT
other=
cleanup() { kill $other 2>/dev/null; }

cp "$(readlink -f "$(command -v awk)")" burner # a name that no other process has
PATH=$scratch:$PATH

# The command prints a rate, waits for its window and then counts in a child of a child.
cat >p.ini <<'EOT'
[plan]
passes = measure
repeats = 1
warmup = 0.1
duration = 0.6
grace = 0
[side receiver]
cpus = 0
units = regex:([0-9]+) ops
collect = host,cpu,threads,perf
[variant v]
receiver = sh -c 'echo 1000 ops; trap "kill %1" TERM; sh -c "taskset -c 0 burner \"BEGIN { for (;;) ; }\"; true" & wait'
EOT
# A server that prints its own CPU time, as the kernel counts it, beside a program that takes the same CPU.
cat >server <<'EOT'
use Time::HiRes qw(clock_gettime usleep CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID);
$| = 1, print "1000 ops\n";
open my $times, '>', "$0.$ARGV[0]";
select($times), $| = 1;
for (;;) {
	for (my $i = 0; $i < $ARGV[1]; $i++) { getppid }
	usleep 500;
	printf "%.0f %.0f\n", 1e9 * clock_gettime(CLOCK_MONOTONIC), 1e9 * clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
}
EOT
sed -e '/^\[variant/,$d' -e 's/^duration.*/duration = 1/' p.ini >s.ini
printf "[variant %s]\nreceiver = taskset -c 0 perl $PWD/server %s %s\n" few few 3000 many many 20000 >>s.ini
next_port
taskset -c 0 "$tcpzc" --listen --port $port >/dev/null &
other=$!
taskset -c 0 "$tcpzc" --connect 127.0.0.1 --port $port --seconds 60 >/dev/null & # its softirqs are nobody's
other="$other $!"
share() { # share COMM TABLE_ARGUMENT...: prints the summed share of the command's rows
	who=$1
	shift
	"$zcost" report functions c --by comm --all --format tsv "$@" 2>err |
		tsv '$at["comm"] ~ who { s += $at["self_share"] } END { printf "%.2f", s }' who="$who"
}
beside() { # on a busy machine, programs outside of the test may take most of the CPU
	rm -rf c
	"$zcost" capture p.ini -o c >log 2>&1
	"$zcost" analyze c >>log 2>&1
	[ "$(share '^tcpzc$' | cut -d. -f1)" -gt 1 ] && [ "$(share '^burner$' | cut -d. -f1)" -gt 1 ] || { cat log err; return 1; }
}
steady "without --workload-only the table has the workload and the other program" beside
ok "run.json has the processes of the workload" jq -e '.processes | length >= 3' c/runs/v/measure-01/receiver/run.json
"$zcost" capture s.ini -o s >>log 2>&1
kill $other
"$zcost" analyze s >>log 2>&1
ok "the store has the command and what it started" sh -c "[ \$(sqlite3 c/zcost.db 'SELECT COUNT(*) FROM process') -ge 3 ]"
ok "with --workload-only the table leaves out the other program" sh -c "[ '$(share '^tcpzc$' --workload-only | cut -d. -f1)' -lt '$(share '^tcpzc$' | cut -d. -f1)' ]"
column() { # column NAME COMMAND...: prints the first figure of the column
	name=$1
	shift
	"$zcost" "$@" --format tsv 2>err | tsv 'NR == 2 { print $at[name] }' name=$name
}
busy=$(column busy_pct report cpu c)
pct=$(column workload_pct report cpu c)
ok "report summary has the CPU use of the workload, as report cpu has it" near "$(column cpu_pct report summary c --workload-only)" "$pct" 1e-4
ok "a note has the busy time that the workload did not use" says "other time on softirqs elsewhere and other programs.*: v receiver $(echo "$busy $pct" | awk '{ printf "%.1f", $1 - $2 }')" err
ok "the cost of a message is the workload's CPU time" near "$(column ns_per_message report summary c --workload-only)" \
	"$(echo "$pct $(column rate_messages report summary c)" | awk '{ printf "%.6f", 1e7 * $1 / $2 }')" 1e-4
ok "plot takes --workload-only" exits 0 "$zcost" plot c components functions -o slides --workload-only --format svg
ok "the charts' foot notes name the selection" says 'the workload.{1,6}s processes only' slides/components.svg
ok "plot takes the same samples as report" exits 0 "$zcost" plot c components functions -o slides2 --cpu 0 --comm 'burn*' --unit message --format svg
ok "the foot note names the CPU and the command" says "CPU 0 only · command .*burn[*].* only" slides2/functions.svg
ok "plot of all charts leaves out those to which the selection does not apply" exits 0 "$zcost" plot c -o slides3 --workload-only --format svg
ok "plot names the charts that it leaves out, with the reason" says 'idle: not drawn: --workload-only: an idle state is that of a CPU' err
ok "plot draws the CPU use of the workload" near "$(awk -F'\t' 'NR == 2 { print $6 }' slides3/cpu.tsv)" "$(column workload_pct report cpu c)" 1e-4
ok "plot refuses a named chart to which the selection does not apply" exits 2 "$zcost" plot c idle -o slides4 --workload-only
ok "export folded takes --workload-only" exits 0 "$zcost" export folded c --variant v --workload-only
ok "the folded stacks have the workload's command" says '^burner;' out
ok "the folded stacks leave out the other program" sh -c "[ \$(grep '^tcpzc;' out | awk '{ s += \$NF } END { printf \"%d\", s }') -lt 60000000 ]"
ok "a perf.data alone has no workload" exits 2 "$zcost" report functions --perf c/runs/v/measure-01/receiver/perf.data --workload-only

# in_window FILE RUN_JSON: prints how much the counter grew in the run's window. FILE has lines of nanoseconds and the counter.
in_window() {
	awk -v from="$(jq .window.start_ns $2)" -v to="$(jq .window.end_ns $2)" '
		NR > 1 && last < from && from <= $1 { a = was + ($2 - was) * (from - last) / ($1 - last) }
		NR > 1 && last < to && to <= $1 { b = was + ($2 - was) * (to - last) / ($1 - last) }
		{ last = $1; was = $2 } END { printf "%.0f", b - a }' $1
}
server_cost() { in_window server.$1 s/runs/$1/measure-01/receiver/run.json | awk '{ print $1 / 1000, $1 / 25000 }'; } # 1000 messages, 4 %: both ends of the window lie between two readings
# On a busy machine perf may have few samples of a server that hardly runs.
kernel_agrees() {
	[ $again = 1 ] || { rm -rf s && "$zcost" capture s.ini -o s; "$zcost" analyze s; } >>log 2>&1
	alone s few many server_cost --unit message
}
steady "the rows of each table add up to the CPU time that the kernel counted" kernel_agrees

# A store without the processes.
sqlite3 c/zcost.db 'DELETE FROM process'
ok "a store without processes is refused" sh -c "! '$zcost' report functions c --workload-only 2>&1 | grep -v 'does not say which processes.*capture again'"

# A program that zcost did not start, named by the plan. The shell samples /proc/PID/stat meanwhile.
cp burner foreign
cat >q.ini <<'EOT'
[plan]
passes = measure, syscalls
repeats = 1
warmup = 0.1
duration = 0.5
grace = 0
[side receiver]
cpus = 0
processes = nothing fore*
units = regex:([0-9]+) ops
collect = host,cpu,threads
[variant v]
receiver = sh -c 'while :; do echo 1000 ops; sleep 0.05; done'
EOT
taskset -c 0 ./foreign 'BEGIN { for (;;) { for (i = 0; i < 20000; i++) ; getline <"/dev/null"; close("/dev/null") } }' &
other=$!
foreign=$other
while read -r up rest </proc/uptime && read -r stat </proc/$foreign/stat; do
	echo "$up $stat"
	sleep 0.02
done >samples 2>/dev/null &
other="$other $!"
foreign() { # its CPU time is that of /proc/PID/stat and most of the workload's, and it has system calls
	rm -rf q
	"$zcost" capture q.ini -o q --duration $((again - 1)).5 >log 2>&1
	"$zcost" analyze q >>log 2>&1
	awk '{ printf "%.0f %.9f\n", $1 * 1e9, ($15 + $16) / 100 * 1e9 }' samples >ticks
	own=$(in_window ticks q/runs/v/measure-01/receiver/run.json | awk '{ print $1 / 1e9 }')
	ran=$(sqlite3 q/zcost.db "SELECT SUM(run_ns) / 1e9 FROM thread WHERE comm = 'foreign'")
	near "$ran" "$own" 0.08 && [ "$(sqlite3 q/zcost.db "SELECT $ran > 0.8 * value / 1e9 FROM metric WHERE name = 'workload_cpu_ns'")" = 1 ] &&
		"$zcost" report syscalls q --workload-only --comm foreign --format tsv 2>err |
		tsv '$at["syscall"] == "openat" && $at["calls"] > 0 { found = 1 } END { exit !found }'
}
steady "a program that zcost did not start has its CPU time and its system calls" foreign
ok "a program that zcost did not start still runs after the capture" kill -0 $foreign
kill $other
wait $other 2>/dev/null # until it has ended, which takes long beside programs of a higher priority
pct=$(column workload_pct report cpu q)
ok "report summary --workload-only has the CPU use with the program of the plan" near "$(column cpu_pct report summary q --workload-only)" "$pct" 1e-4
ok "report scores --workload-only has its cost of a message" near "$(column value report scores q --workload-only)" \
	"$(echo "$pct $(column rate_messages report summary q)" | awk '{ printf "%.6f", 1e7 * $1 / $2 }')" 1e-3
ok "run.json has the process and the names" jq -e --argjson pid $foreign '.named == "nothing fore*" and (.processes | index($pid))' \
	q/runs/v/measure-01/receiver/run.json

# A zombie, and a process in the middle of execve(), have a name but cannot show who started them.
perl -e 'if (!fork) { exec "./foreign", "BEGIN { exit }" } sleep 60' &
parent=$!
other="$other $parent"
until [ "$(ps -o state= --ppid $parent)" = Z ]; do sleep 0.02; done
ok "a zombie with a name of the plan is no process of the workload" sh -c \
	"'$zcost' collect -o z --collect threads --processes 'fore*' -- true; [ \$? = 4 ] && grep -q 'no process is named .fore' z/run.json"
kill $parent
ok "the tracepoint method says that it counts only what zcost starts" sh -c \
	"'$zcost' collect -o tp --collect syscalls --syscalls-method tracepoint --processes 'fore*' -- true; [ \$? = 4 ] && grep -q 'counts only processes that zcost starts' tp/run.json"

# The only process with the name of the plan belongs to the other side.
cp burner thesender
cat >o.ini <<'EOT'
[plan]
passes = measure
repeats = 1
warmup = 0.1
duration = 0.3
grace = 0
[side receiver]
processes = thesend*
units = regex:([0-9]+) ops
[side sender]
[variant v]
receiver = sh -c 'while :; do echo 1000 ops; sleep 0.05; done'
sender = ${plandir}/thesender "BEGIN { for (;;) ; }"
EOT
ok "a capture exits 4 when no process has the name of the plan" exits 4 "$zcost" capture o.ini -o o
ok "the capture says that no process has the name" says "receiver: collector threads is degraded: no process is named 'thesend\*'" err
"$zcost" analyze o >log 2>&1
ok "the CPU time of a workload without a process is missing" test "$(column cpu_pct report summary o --workload-only)" = ''
ok "the cost of a workload without a process is missing" test "$(column ns_per_message report summary o --workload-only)" = ''
done_testing
