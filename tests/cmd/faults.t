#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Makes one call fail in each run of report and compare: no memory, a file that cannot be opened, read,
# written or mapped, an error of SQLite. `make faults` fails more calls.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"
. "$tests/every_row.sh"
command -v sqlite3 >/dev/null || skip_all "no sqlite3"
! nm "$zcost" 2>/dev/null | grep -q __asan_init || skip_all "the sanitizer's heap takes no other's place"

faults() { # BOUND COMMAND...
	perl "$tests/faults/run.pl" "$build" cap "$@"
}
ok "the test capture has rows in every table" every_row_capture cap
ok "a failed call gives the same table, or exit 1 or 4 and the reason" faults "${FAULTS:-3}"
"$zcost" pack cap -o cap.tar.zst 2>/dev/null
ok "a failed call with an archive gives the same table, or exit 1 or 4 and the reason" faults "${FAULTS:-12}" "report summary cap.tar.zst" "report runs cap.tar.zst"
cp cap/zcost.db damaged.db
dd if=/dev/zero of=damaged.db bs=512 seek=12 count=60 conv=notrunc 2>/dev/null
sees() { ! faults 3 "report runs damaged.db" >out && says 'fails undisturbed' out; }
ok "a command that fails without a fault counts as a failure of the test" sees

done_testing
