#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Any number of threads makes the same profile of a recording, row by row.
. "$(dirname "$0")/../lib.sh"

dump=$build/tests/tools/profile_dump

# Gives several of 30 chunks and of 20 groups of stacks to every thread.
"$build/tests/tools/perfdata_gen" 200000 long.data

same() { # same N: compares the profile from N threads with the profile from one thread
	for part in costs functions health; do
		"$dump" $part --threads "$1" long.data >$part
		[ -s $part ] && cmp $part $part.1 || return 1
	done
}

threads() { # threads N: prints the number of threads that all steps start
	# LeakSanitizer cannot run in a traced process
	ASAN_OPTIONS=detect_leaks=0 strace -f -qq -e trace=clone,clone3 -o calls "$dump" health --threads "$1" long.data >/dev/null
	grep -c 'clone' calls
}

for part in costs functions health; do
	"$dump" $part --threads 1 long.data >$part.1
done
for n in 2 3 4 16; do
	ok "$n threads give the same profile as one thread, in the same order" same $n
done
if strace -o /dev/null true 2>/dev/null; then
	ok "--threads 1 starts no thread" test "$(threads 1)" = 0
	ok "--threads 4 starts at least six threads for two steps" test "$(threads 4)" -ge 6
else
	skip "--threads starts threads" "strace cannot trace here"
fi

"$zcost" report functions --perf long.data --all --format tsv -j 1 >one 2>one.err
"$zcost" report functions --perf long.data --all --format tsv -j 4 >four 2>four.err
ok "report functions gives the same table with one thread and with four" sh -c "[ -s one ] && cmp one four && cmp one.err four.err"
ok "zero threads are a usage error" exits 2 "$zcost" report functions --perf long.data -j 0

done_testing
