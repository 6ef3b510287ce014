#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A real run: a part of its window has the profile of that part; analyze --inline keeps inlined functions.
. "$(dirname "$0")/../lib.sh"

[ "$(id -u)" = 0 ] || skip_all "a profile of whole CPUs needs root"
command -v perf >/dev/null || skip_all "no perf here"
cc=${CC:-cc}

# early() for some seconds of its own clock, then late(): each holds a function that is inlined.
cat >two.c <<'END'
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
int main(void)
{
	double end = now() + 2;
	while (now() < end)
		early();
	for (end = now() + 20; now() < end;)
		late();
}
END
$cc -O2 -g -fno-omit-frame-pointer -o two two.c || skip_all "no C compiler"

# The window begins 0.3 s after the start: early until 1.7 s in it, or some more on a busy machine.
ok "a run" exits 0 "$zcost" collect -o r --collect cpu,perf --warmup 0.3 --duration 3 --grace 0 -- ./two
ok "analyzed" exits 0 "$zcost" analyze r

share() { # SYMBOL ARGUMENTS...: self percent in the program
	symbol=$1
	shift
	"$zcost" report functions r --comm two --all --format tsv "$@" 2>err | awk -F'\t' -v s="$symbol" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["symbol"] == s { n += $at["self_share"] } END { print n + 0 }'
}
above() { # A B: A > B
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b) || (a == "") }' || { echo "$1 is not above $2"; return 1; }
}
ok "the first is in the whole window" above "$(share early)" 0
ok "and the second" above "$(share late)" 0
ok "the second is not in the first second" near "$(share late --to 1)" 0 0
ok "the first is" above "$(share early --to 1)" 0
ok "and not in the last one" near "$(share early --from 2.5)" 0 0
ok "the other is" above "$(share late --from 2.5)" 0
ok "samples outside are said" sh -c "'$zcost' report runs r --from 2.5 --verbose | grep 'samples outside the window, left out'"
ok "flame graphs take it" sh -c "'$zcost' export folded r --to 1 2>/dev/null | grep -q '^two;.*early' &&
	! '$zcost' export folded r --to 1 2>/dev/null | grep '^two;.*late'"

ok "without --inline the inlined function is its callers'" near "$(share work)" 0 0
ok "and nothing is said of that" sh -c "! grep 'inlined functions' err"
ok "analyze --inline" exits 0 "$zcost" analyze --inline r
ok "it has its own row" above "$(share work)" 0
ok "what inlined it has less" near "$(share early)" 0 5
ok "the table says so" says 'inlined functions have their own rows' err
ok "a part of the window is read the same way" above "$(share work --from 2.5)" 0
ok "and says so" says 'inlined functions have their own rows' err
ok "report --inline of a capture names the way, exit 2" exits 2 "$zcost" report functions r --inline
ok "which is analyze's" says 'zcost analyze --inline CAPTURE' err

done_testing
