#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# tests/run.sh gives a second try to a test that measures the machine, and to no other.
. "$(dirname "$0")/../lib.sh"

tries() { # tries FILE N: makes a test that fails until its Nth run
	printf '#!/bin/sh\necho 1..1\necho x >>%s.runs\n[ $(wc -l <%s.runs) -ge %s ] && echo ok 1 || echo not ok 1\n' "$1" "$1" "$2" >"$1"
	chmod +x "$1"
	rm -f "$1.runs"
}
run() { env -u HARNESS_RULESFILE ZCOST_BUILD="$PWD" sh "$tests/run.sh" -j2 "$@" >out 2>&1; }

mkdir t
tries t/good.t 1
tries t/host-a.t 2
ok "a test of the host half that fails once passes" run t/good.t t/host-a.t
ok "the last line names it" says '^Passed at the second try: t/host-a.t$' out
ok "the others do not run again" test "$(wc -l <t/good.t.runs)" = 1
tries t/host-a.t 3
ok "a test that fails twice fails" exits 1 run t/good.t t/host-a.t
ok "it does not run a third time" test "$(wc -l <t/host-a.t.runs)" = 2
tries t/plain.t 2
tries t/host-a.t 2
ok "the failure of a test that measures nothing is final" exits 1 run t/plain.t t/host-a.t
ok "then no test runs again" test "$(cat t/*.runs | wc -l)" = 4
tries t/record.t 2
echo '# perf record' >>t/record.t
ok "a test with perf record has a second try" run t/record.t
for i in 1 2 3 4 5; do tries t/host-$i.t 2; done
ok "five failures are final" exits 1 run t/host-?.t
done_testing
