#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Symbol for symbol, self and children are those of perf report, in every mode perf records here.
. "$(dirname "$0")/../lib.sh"

dump=$build/tests/tools/profile_dump
compare=$tests/tools/perf-compare.pl

command -v perf >/dev/null || skip_all "no perf on this machine"
perf record -q -e cpu-clock -o probe.data true 2>/dev/null ||
	skip_all "perf cannot record here (root, or kernel.perf_event_paranoid)"

# Several processes and threads, forks and execs, user and kernel work.
cat >load.sh <<'E2'
find /usr/share/doc 2>/dev/null | sort | cksum >/dev/null
for i in 1 2; do ls -l /usr/bin >/dev/null; dd if=/dev/zero bs=64k count=200 2>/dev/null | cksum >/dev/null; done
perl -e 'sub r { my $n = shift; return $n < 2 ? $n : r($n - 1) + r($n - 2) } r(15) for 1 .. 10' &
perl -e '$x{$_ % 999} .= chr(65 + $_ % 26) for 1 .. 100000'
wait
E2

same() { # same NAME PERF-RECORD-OPTIONS...
	name=$1
	shift
	perf record -q -o "$name.data" "$@" -- sh load.sh >/dev/null 2>"$name.err" || {
		cat "$name.err"
		return 1
	}
	perl "$compare" "$name.data" "$dump"
}

ok "system-wide, call graphs" same a -a -g -k CLOCK_MONOTONIC -e cpu-clock -F 2000
ok "compressed" same z -z -g -e cpu-clock -F 2000
ok "fixed period" same fixed -g -e cpu-clock -c 400000
ok "several events" same multi -g -e cpu-clock,page-faults,context-switches -F 2000
ok "a group read by its leader" same leader -g -e '{cpu-clock,page-faults,context-switches}:S' -c 1000000
ok "without call graphs" same flat -e cpu-clock -F 3000
ok "user space alone" same user -g -e cpu-clock:u -F 3000
ok "the kernel alone" same kernel -g -e cpu-clock:k -F 3000
ok "build-ids in the mappings" same mmap2 --buildid-mmap -g -e cpu-clock -F 2000
ok "no build-ids at all" same nobid -B -N -g -e cpu-clock -F 1000
ok "data mappings, switches, cgroups, namespaces" same extra -a -g -s -d --switch-events \
	--all-cgroups --namespaces -e cpu-clock -F 1000
ok "a file per thread" same threads --threads -a -g -e cpu-clock -F 1000
ok "a compressed file per thread" same threadsz --threads -z -a -g -e cpu-clock -F 1000

pipe() {
	perf record -q -o - -g -e cpu-clock -F 2000 "$@" -- sh load.sh 2>/dev/null >pipe.data
	perl "$compare" pipe.data "$dump" &&
		"$dump" functions pipe.data >file.tsv &&
		cat pipe.data | "$dump" functions - >stdin.tsv &&
		cmp file.tsv stdin.tsv
}
ok "a pipe's stream, as a file and from standard input" pipe
ok "a compressed stream" pipe -z

done_testing
