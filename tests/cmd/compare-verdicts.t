#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost compare: what is claimed where a figure is 0, where runs are few, where costs are small.
. "$(dirname "$0")/../lib.sh"
. "$tests/world.sh"
need_sqlite

world four 4 $copying $mapping

# per_mib CAPTURE METRIC VARIANT A B C D: the receiver's count in each measured run, per MiB of its work
per_mib() {
	capture=$1 metric=$2 variant=$3 repeat=0
	shift 3
	for n; do
		repeat=$((repeat + 1))
		sqlite3 "$capture/zcost.db" "INSERT INTO metric (run, name, unit, value) SELECT r.id, '$metric', '1', m.value / 1048576 * $n
			FROM run r JOIN metric m ON m.run = r.id AND m.name = 'bytes'
			WHERE r.pass = 'measure' AND r.side = 'receiver' AND r.variant = '$variant' AND r.repeat = $repeat"
	done
}

# Retransmits: a run of the base without any has no ratio, so that no interval is known; never one below -100 %.
per_mib four snmp:TcpRetransSegs copying 3 1 0 1
per_mib four snmp:TcpRetransSegs mapping 0 0 2 0
compared copying mapping -C four
ok "a change to nothing is -100 %" near "$(field 'receiver retransmits_per_mib' change_pct)" -100 1e-9
ok "without an interval, since one run of the base had 0" test -z \
	"$(field 'receiver retransmits_per_mib' change_lo)$(field 'receiver retransmits_per_mib' change_hi)"
ok "the test is of the runs all the same" near "$(field 'receiver retransmits_per_mib' p)" 0.3714286 1e-6
ok "why is said" says 'no interval: a run of the base had 0' err
below() { # lines of `out` with a change below -100 %
	awk -F'\t' 'NR > 1 && ($6 < -100.0000001 || $7 != "" && $7 < -100.0000001)' out
}
ok "no figure falls by more than 100 %" test -z "$(below)"
for format in csv json; do
	"$zcost" compare copying mapping -C four --format $format >out 2>err
	ok "nor in $format" sh -c "grep -q retransmits out && ! grep -q -e '-325' out"
done
"$zcost" compare copying mapping -C four --format commit >out 2>err
ok "nor in a commit message, which says why, too" sh -c "grep -qE '^    retransmits per MiB +1.000 +0 +-100.0% +- +0.371 ' out && grep -q 'no interval: a run of the base' out"
"$zcost" compare copying mapping -C four >out 2>err
ok "nor in text" says '^receiver +retransmits_per_mib .* -100.0 +0.3714 ' out
compared mapping copying -C four
ok "from nothing there is no ratio at all" test -z "$(field 'receiver retransmits_per_mib' change_pct)"
per_mib four irq:total copying 4 5 6 7
per_mib four irq:total mapping 0 0 1 0
compared copying mapping -C four
ok "zeros in the new alone: an interval that ends at -100 %" near "$(field 'receiver interrupts_per_mib' change_lo)" -100 1e-9
ok "and leaves 0 out" test "$(field 'receiver interrupts_per_mib' verdict) $(below)" = "better "
world three 3 $copying $mapping
per_mib three snmp:TcpRetransSegs copying 3 1 0
per_mib three snmp:TcpRetransSegs mapping 1 1 2
compared copying mapping -C three
ok "too few runs: no bootstrap over such ratios" test "$(field 'receiver retransmits_per_mib' verdict)$(field 'receiver retransmits_per_mib' change_lo)" = 'too few runs'

done_testing
