#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# --from and --to: a part of a recording's time has the samples that perf gives it.
. "$(dirname "$0")/../lib.sh"

need perf
perf record -q -e cpu-clock -F 4000 -o cut.data -- sh -c \
	'for i in 1 2 3; do dd if=/dev/zero bs=64k count=2000 2>/dev/null | cksum; done' >/dev/null 2>&1 ||
	skip_all "perf cannot record here (root, or kernel.perf_event_paranoid)"

perf script -i cut.data -F time 2>/dev/null | tr -d ': ' | sort -n >times
first=$(head -n 1 times)
between() { # between PART: a time when that part of the samples was taken, and none is
	awk -v part="$1" '{ t[NR] = $1 } END { for (i = int(NR * part); i < NR; i++)
		if (t[i + 1] - t[i] > 5e-6) { printf "%.6f\n", (t[i] + t[i + 1]) / 2; exit } }' times
}
from=$(between .25) to=$(between .5)

samples() { # of all rows
	"$zcost" report functions --perf "$@" --all --format tsv 2>err | tsv '{ n += $at["samples"] } END { print n + 0 }'
}
# perf's last digit is a microsecond: a sample may stand on either side of it.
expected=$(perf script -i cut.data -F time --time "$from,$to" 2>/dev/null | wc -l)
ok "the samples of a part equal those of perf report --time" near "$(samples cut.data --from "$from" --to "$to")" "$expected" 1
ok "a note counts the samples outside the part" says 'samples outside the window, left out' err
ok "the part has samples" test "$expected" -gt 10
early=$(samples cut.data --to "$from") rest=$(samples cut.data --from "$from")
ok "two parts together have all samples" test "$((early + rest))" = "$(samples cut.data)"
after=$(awk -v a="$first" -v b="$from" 'BEGIN { printf "%.9f", b - a }')
ok "--from +S counts from the first sample" near "$(samples cut.data --from "+$after")" "$rest" 1
ok "--from works with standard input" test "$(samples - --from "+$after" <cut.data)" = "$(samples cut.data --from "+$after")"
ok "a part without samples exits 1 or 2" sh -c "! '$zcost' report functions --perf cut.data --from 99999999 2>err"
ok "the message says when the samples were taken" says "no sample between --from and --to; its samples are from [0-9.]+ to [0-9.]+ s" err
ok "a word as time is a usage error" exits 2 "$zcost" report functions --perf cut.data --from soon
printf '# Samples: 1\n    50.00%%  a  b  [k] c\n' >text
ok "--from with a text is a usage error" exits 2 "$zcost" report functions --perf-report text --from 1
ok "the message says what --from goes with" says '--from does not apply .*; it applies to a capture( or|,) a perf.data' err

done_testing
