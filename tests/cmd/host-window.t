#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A real run: a part of its window has the profile of that part, and analyze --inline separates inlined functions.
. "$(dirname "$0")/../lib.sh"

need root perf
cc=${CC:-cc}

# early() for some seconds, then late(). Each has an inlined function.
cat >two.c <<'END'
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sink;
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}
static inline __attribute__((always_inline)) void work(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink = sink * 31 + i;
}
__attribute__((noinline)) static void early(void) { work(200000); __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) static void late(void) { work(200001); __asm__ volatile("" ::: "memory"); }
int main(int n, char **seconds)
{
	double end = now() + atoi(seconds[n - 1]);
	while (now() < end)
		early();
	for (end = now() + 20; now() < end;)
		late();
}
END
$cc -O2 -g -fno-omit-frame-pointer -o two two.c || skip_all "no C compiler"

share() { # share SYMBOL ARGUMENTS...: the symbol's self percent in the program
	symbol=$1
	shift
	"$zcost" report functions r --comm two --all --format tsv "$@" 2>err |
		tsv '$at["symbol"] == s { n += $at["self_share"] } END { print n + 0 }' s="$symbol"
}
above() { # A B: A > B
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b) || (a == "") }' || { echo "$1 is not above $2"; return 1; }
}
# The window begins 0.3 s after the start, or later on a busy machine: early() lasts beyond its first second.
parts() {
	exits 0 "$zcost" collect -o r --collect cpu,perf --warmup 0.3 --duration $((again + 2)) --grace 0 -- ./two $((again + 1)) &&
		exits 0 "$zcost" analyze r && near "$(share late --to 1)" 0 0 && above "$(share early --to 1)" 0 &&
		near "$(share early --from $((again + 1)).5)" 0 0 && above "$(share late --from $((again + 1)).5)" 0
}
steady "a part of the window has the samples of that part" parts
ok "the whole window has samples of early()" above "$(share early)" 0
ok "the whole window has samples of late()" above "$(share late)" 0
ok "report runs --from notes the samples outside of that part" sh -c "'$zcost' report runs r --from 2.5 --verbose | grep 'samples outside the window, left out'"
ok "export folded --to 1 has stacks of early() only" sh -c "'$zcost' export folded r --to 1 2>/dev/null | grep -q '^two;.*early' &&
	! '$zcost' export folded r --to 1 2>/dev/null | grep '^two;.*late'"

ok "without --inline an inlined function has no row" near "$(share work)" 0 0
ok "without --inline no note mentions inlined functions" sh -c "! grep 'inlined functions' err"
ok "analyze --inline succeeds" exits 0 "$zcost" analyze --inline r
ok "with --inline an inlined function has a row" above "$(share work)" 0
ok "with --inline the caller loses the inlined function's share" near "$(share early)" 0 5
ok "report functions notes that inlined functions have rows" sh -c "'$zcost' report functions r --verbose 2>&1 | grep 'inlined functions have their own rows'"
ok "--from applies to inlined functions" above "$(share work --from 2.5)" 0
ok "report functions --from notes that inlined functions have rows" sh -c "'$zcost' report functions r --from 2.5 --verbose 2>&1 | grep 'inlined functions have their own rows'"
ok "report functions --inline on a capture is a usage error" exits 2 "$zcost" report functions r --inline
ok "the error about report --inline names analyze --inline" says 'zcost analyze --inline CAPTURE' err

done_testing
