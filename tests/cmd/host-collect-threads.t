#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The workload's threads: their CPU time and run-queue delay, those that come, go, and leave the group.
. "$(dirname "$0")/../lib.sh"

info() { # info COLLECTOR JQ
	jq -r ".collectors[] | select(.name == \"$1\") | $2" r/run.json
}
figure() { # figure NAME: a metric of the one run
	sqlite3 r/zcost.db "SELECT value FROM metric WHERE name = '$1'"
}
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
/* burn NAME THREADS CPU_SECONDS SLEEP: so many threads, each so long on a CPU, then the first sleeps. */
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

# One thread of 0.3 s that lives on; one that left session and group; a child that came and went unseen.
several() {
	./burn other 1 0.6 0 & # on a quiet machine nothing else might run
	exits 0 "$zcost" collect -o r --collect threads,sched,cpu -- sh -c '
		setsid ./burn left 1 0.2 1.6 &
		./burn gone 2 0.1 0
		./burn "a) b (c" 1 0.3 1.3
		wait' && exits 0 "$zcost" analyze r || return
	! sqlite3 r/zcost.db .tables >/dev/null 2>&1 || # CPU time of all, dead and alive: 0.7 s and the shells
		holds "value BETWEEN 0.68e9 AND 1.2e9 FROM metric WHERE name = 'workload_cpu_ns'"
}
steady "a workload of several processes" several
ok "readings at both ends and once a second, or as a reading's cost lets" \
	test "$(info threads '.info | .readings + (.skipped // 0)')" -ge 3
ok "threads were there" test "$(info sched .info.threads)" -ge 3
if sqlite3 r/zcost.db .tables >/dev/null 2>&1; then
	ok "rows add up to it" holds "ABS(SUM(run_ns) - (SELECT value FROM metric WHERE name = 'workload_cpu_ns')) < 1e6 FROM thread"
	ok "a process in a session of its own is the workload's" holds \
		"MAX(run_ns) BETWEEN 0.01e9 AND 0.4e9 FROM thread WHERE comm LIKE 'left%'"
	ok "a name with brackets is a name" holds "COUNT(*) > 0 FROM thread WHERE comm = 'a) b (c'"
	ok "waiting was measured" holds "COUNT(*) > 0 FROM thread WHERE wait_ns >= 0 AND slices > 0"
	ok "switches too" holds "SUM(voluntary) > 0 FROM thread"
	ok "the threads might run on all CPUs, which are the side's" test "$(figure workload_confined)" = 1.0
fi
ok "cpu --by comm" exits 0 "$zcost" report cpu r --by comm
ok "has what the threads do not explain" says '\(everything else\)' out
ok "cpu --by process" exits 0 "$zcost" report cpu r --by process
ok "cpu --by thread" exits 0 "$zcost" report cpu r --by thread --format tsv
ok "rows add up to the side's busy time" awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "cpu_pct") c = i }
	NR > 1 { s += $c } END { getline b <"busy"; exit !(s > 0) }' out
awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "cpu_pct") c = i } NR > 1 { s += $c } END { print s }' out >sum
"$zcost" report cpu r --format tsv 2>/dev/null | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } NR == 2 { print $c["busy_pct"] }' >busy
ok "to the last digit" near "$(cat sum)" "$(cat busy)" 0.01
ok "cpu --by cpu" exits 0 "$zcost" report cpu r --by cpu
ok "a key that is none, exit 2" exits 2 "$zcost" report cpu r --by dso
ok "names those there are" says 'keys cpu, comm, process and thread' err
ok "--cpu of threads, exit 2" exits 2 "$zcost" report cpu r --by comm --cpu 0
ok "--cpu of CPUs" exits 0 "$zcost" report cpu r --by cpu --cpu 0
ok "sched" exits 0 "$zcost" report sched r
ok "by command" exits 0 "$zcost" report sched r --by comm
ok "of nothing, exit 2" exits 2 "$zcost" report sched

mkdir -p proc/thread-self
ok "a kernel without schedstat, exit 4" exits 4 env ZCOST_PROC="$PWD/proc" "$zcost" collect -o r2 --collect sched -- true
ok "says what it lacks" says 'built without CONFIG_SCHED_INFO' err
echo "0 0 0" >proc/thread-self/schedstat
ok "one that counts nothing, exit 4" exits 4 env ZCOST_PROC="$PWD/proc" "$zcost" collect -o r2 --collect sched -- true
ok "says how it would" says "boot with 'delayacct'" err
"$zcost" analyze r2 >log 2>&1
exits 0 "$zcost" report sched r2 >log
ok "the table says why it is empty" says 'was not measured: .*counts nothing' out

# A lot of threads: what a reading costs is said, and bounded.
ok "600 threads" exits 0 "$zcost" collect -o r --collect threads,sched --duration 1.2 --warmup 0.5 --grace 0 -- \
	./burn many 600 0 30
ok "all of them seen" test "$(info threads .info.threads)" = 601
ok "the cost is told" test "$(info threads .info.reading_us)" -gt 0

# Affinity: threads that may leave the side's CPUs.
if [ "$(nproc)" -ge 2 ]; then
	"$zcost" collect -o r --collect threads,cpu --cpus 0 -- ./burn free 1 0.3 0.1 >log 2>&1
	"$zcost" analyze r >log 2>&1
	exits 0 "$zcost" report cpu r --by comm >log
	ok "CPUs outside the side's are said" says 'may also run on CPUs outside' out
	"$zcost" collect -o r --collect threads,cpu --cpus 0 -- taskset -c 0 ./burn bound 1 0.3 0.1 >log 2>&1
	"$zcost" analyze r >log 2>&1
	exits 0 "$zcost" report cpu r --by comm >log
	ok "not of one bound to the side's CPU" sh -c '! grep -q "may also run" out'
fi
done_testing
