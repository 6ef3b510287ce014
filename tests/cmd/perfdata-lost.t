#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compares names with perf when records of processes, threads and mappings are lost. Real losses are rare
# and vary, so the test leaves out records of a real recording at random, from fixed seeds.
. "$(dirname "$0")/../lib.sh"
. "$tests/perfdata.sh"

need perf
perf record -q --buildid-all -e cpu-clock -o probe.data true 2>/dev/null ||
	skip_all "perf cannot record here (root, or kernel.perf_event_paranoid)"

# Forks with and without exec, and starts threads with sort. The work is measured in CPU time.
cat >load.sh <<'E2'
(sh -c 'ls -l /usr/bin; ls -l /usr/lib'; (ls -l /usr/bin)) >/dev/null
perl -e 'sub burn { 1 until (times)[0] - $_[0] > 0.05 } for (1 .. 3) {
	if (!fork) { burn((times)[0]); fork or burn((times)[0]), exec "ls", "/usr"; wait; exit } }
	1 while wait > 0' >/dev/null
seq 300000 >lines
sort --parallel=4 -S 100M -R lines >/dev/null
E2
perf record -q --buildid-all -g -e cpu-clock -F 1000 -o whole.data -- sh load.sh >/dev/null 2>&1

lose() {
	perl "$tests/tools/perf-lose.pl" whole.data "$dump" "$@"
}
ok "names match perf's when mappings are lost" lose maps 1 2
ok "names match perf's when forks are lost" lose forks 1 2
ok "names match perf's when command names are lost" lose comms 1 2
ok "names match perf's when exits are lost" lose exits 1
ok "names match perf's when records of all kinds are lost" lose any 1 2 3 4 5
ok "names match perf's when every record of a period is lost" lose burst 1 2 3
ok "names match perf's when only the start of each process is recorded" lose told 1 2 3

done_testing
