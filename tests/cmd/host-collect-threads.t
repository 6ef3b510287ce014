#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The workload's threads: their CPU time and run-queue delay; threads that start, end, and leave the process group.
. "$(dirname "$0")/../lib.sh"

holds() { # holds SQL: a condition that is true
	got=$(sqlite3 r/zcost.db "SELECT $1")
	[ "$got" = 1 ] || { echo "$1: $got"; sqlite3 -header r/zcost.db 'SELECT * FROM thread; SELECT * FROM metric'; return 1; }
}
cat >burn.c <<'EOT'
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
static double seconds(clockid_t c) { struct timespec t; clock_gettime(c, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static double s, rest;
static void *burn(void *a) { while (seconds(CLOCK_THREAD_CPUTIME_ID) < s) ; if (!s) usleep(rest * 1e6); return a; }
/* burn NAME THREADS CPU_SECONDS SLEEP: each thread uses so much CPU time, then the main thread sleeps. */
int main(int c, char **v)
{
	int i, n = atoi(v[2]);
	pthread_t t[2048];
	s = atof(v[3]);
	rest = atof(v[4]);
	prctl(PR_SET_NAME, v[1]);
	for (i = 0; i < n; i++) pthread_create(&t[i], 0, burn, &s);
	for (i = 0; i < n; i++) pthread_join(t[i], 0);
	usleep(atof(v[4]) * 1e6);
	return c < 5;
}
EOT
${CC:-cc} -O2 -pthread burn.c -o burn 2>log || skip_all "no C compiler: $(head -n 1 log)"

# A thread of 0.3 s that stays; one in another session and group; a child that starts and ends between readings.
several() {
	./burn other 1 0.6 0 & # a load that is not the workload's, for a quiet machine
	exits 0 "$zcost" collect -o r --collect threads,sched,cpu -- sh -c '
		setsid ./burn left 1 0.2 1.6 &
		./burn gone 2 0.1 0
		./burn "a) b (c" 1 0.3 1.3
		wait' && exits 0 "$zcost" analyze r || return
	! sqlite3 r/zcost.db .tables >/dev/null 2>&1 || # CPU time of all, ended ones too: 0.7 s and the shells
		holds "value BETWEEN 0.68e9 AND 1.2e9 FROM metric WHERE name = 'workload_cpu_ns'"
}
steady "the CPU time of several processes is 0.68 s to 1.2 s" several
ok "threads has readings at both ends and once a second, less those skipped for cost" \
	test "$(collector threads '.info | .readings + (.skipped // 0)')" -ge 3
ok "sched finds at least three threads" test "$(collector sched .info.threads)" -ge 3
if sqlite3 r/zcost.db .tables >/dev/null 2>&1; then
	ok "the threads' CPU times sum to the workload's" holds "ABS(SUM(run_ns) - (SELECT value FROM metric WHERE name = 'workload_cpu_ns')) < 1e6 FROM thread"
	ok "a process in another session belongs to the workload" holds \
		"MAX(run_ns) BETWEEN 0.01e9 AND 0.4e9 FROM thread WHERE comm LIKE 'left%'"
	ok "a thread's name may contain brackets and spaces" holds "COUNT(*) > 0 FROM thread WHERE comm = 'a) b (c'"
	ok "the threads have a run-queue delay" holds "COUNT(*) > 0 FROM thread WHERE wait_ns >= 0 AND slices > 0"
	ok "the threads have voluntary switches" holds "SUM(voluntary) > 0 FROM thread"
	ok "workload_confined is 1 when the side has all CPUs" test "$(figure workload_confined)" = 1.0
fi
ok "report cpu --by comm succeeds" exits 0 "$zcost" report cpu r --by comm
ok "report cpu --by comm has the rest as '(everything else)'" says '\(everything else\)' out
ok "report cpu --by process succeeds" exits 0 "$zcost" report cpu r --by process
ok "report cpu --by thread succeeds" exits 0 "$zcost" report cpu r --by thread --format tsv
sum=$(tsv '{ s += $at["cpu_pct"] } END { if (s > 0) print s }' out)
busy=$("$zcost" report cpu r --format tsv 2>/dev/null | tsv 'NR == 2 { print $at["busy_pct"] }')
ok "the rows of report cpu --by thread have CPU time, and sum to the side's busy time" near "$sum" "$busy" 0.01
ok "report cpu --by cpu succeeds" exits 0 "$zcost" report cpu r --by cpu
ok "report cpu --by with an unknown key is a usage error" exits 2 "$zcost" report cpu r --by dso
ok "the error about an unknown key of --by lists the keys" says 'it has: cpu comm process pid thread tid' err
ok "report cpu --by comm --cpu is a usage error" exits 2 "$zcost" report cpu r --by comm --cpu 0
ok "report cpu --by cpu --cpu succeeds" exits 0 "$zcost" report cpu r --by cpu --cpu 0
ok "report sched succeeds" exits 0 "$zcost" report sched r
ok "report sched --by comm succeeds" exits 0 "$zcost" report sched r --by comm
ok "report sched without a capture is a usage error" exits 2 "$zcost" report sched

mkdir -p proc/thread-self
ok "collect exits 4 on a kernel without schedstat" exits 4 env ZCOST_PROC="$PWD/proc" "$zcost" collect -o r2 --collect sched -- true
echo "0 0 0" >proc/thread-self/schedstat
ok "collect exits 4 on a kernel with schedstat switched off" exits 4 env ZCOST_PROC="$PWD/proc" "$zcost" collect -o r2 --collect sched -- true
ok "the warning about a disabled schedstat names the boot parameter delayacct" says "boot with 'delayacct'" err
"$zcost" analyze r2 >log 2>&1
exits 0 "$zcost" report sched r2 --verbose >log
ok "report sched gives the reason for its empty table" says 'no figures: .*counts nothing' out

# Many threads: run.json has the cost of a reading.
ok "collect measures 600 threads" exits 0 "$zcost" collect -o r --collect threads,sched --duration 1.2 --warmup 0.5 --grace 0 -- \
	./burn many 600 0 30
ok "threads finds all 601 threads" test "$(collector threads .info.threads)" = 601
ok "run.json has the cost of a reading of 600 threads" test "$(collector threads .info.reading_us)" -gt 0

# Many processes, of which each has the name that the user gave.
cat >swarm <<'EOT'
#!/usr/bin/perl
$0 = "swarm";
for (1 .. 8300) { fork // last or do { sleep 600; exit } }
open my $f, '>', 'swarms';
sleep 600;
EOT
chmod 755 swarm
setsid ./swarm &
swarm=$!
cleanup() { kill -KILL -$swarm 2>/dev/null; }
soon test -e swarms
ok "collect reads many processes" exits 4 "$zcost" collect -o r --collect threads --processes swarm --duration 0.2 --grace 0 -- sleep 60
ok "a message says that it reads 8192 at most" says 'more than 8192 processes or threads: zcost did not read the rest' err
ok "collect reads 8192 processes" test "$(jq '.matched | length' r/run.json)" = 8192
cleanup

# Affinity: threads that may leave the side's CPUs.
if [ "$(nproc)" -ge 2 ]; then
	"$zcost" collect -o r --collect threads,cpu --cpus 0 -- ./burn free 1 0.3 0.1 >log 2>&1
	"$zcost" analyze r >log 2>&1
	exits 0 "$zcost" report cpu r --by comm --verbose >log
	ok "report cpu notes threads that may run outside of the side's CPUs" says 'may also run on CPUs outside' out
	"$zcost" collect -o r --collect threads,cpu --cpus 0 -- taskset -c 0 ./burn bound 1 0.3 0.1 >log 2>&1
	"$zcost" analyze r >log 2>&1
	exits 0 "$zcost" report cpu r --by comm --verbose >log
	ok "report cpu has no such note for a thread bound to the side's CPU" sh -c '! grep -q "may also run" out'
fi
done_testing
