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

# The raw files of a run with samples, and what names them: --from and --perf read all of them.
raw_capture() {
	measure_run raw copying 1 receiver 1250000000 150
	d=raw/runs/copying/profile-01/receiver
	run_json $d copying profile 1 receiver none \
		'{"name": "perf", "state": "ok", "why": "", "files": ["perf.data"]}'
	"$build/tests/tools/perfdata_gen" 3000 $d/perf.data >/dev/null || return
	sed -i '/window/s/1\([03]\)000000000/100\1000000000/g; s/100\([03]\)000000000/100\1000000000/g; s/"cpus": "1"/"cpus": "0-7"/' $d/run.json
	for lib in $(ldd "$zcost" | awk '/lib(c|elf)[-.]/ { print $3 }'); do
		id=$(readelf -n "$lib" | awk '/Build ID/ { print $3 }')
		mkdir -p "raw/hosts/vm/dso/$id"
		cp "$(readlink -f "$lib")" "raw/hosts/vm/dso/$id/"
	done
	head -n 3000 /proc/kallsyms >raw/hosts/vm/kallsyms
	cp /sys/kernel/notes raw/hosts/vm/notes
	echo '{"schema_version": 1, "release": "6.18.0"}' >raw/hosts/vm/host.json
	manifest raw copying copying/measure/1/ok copying/profile/1/ok
	sed -i 's/, "sender"//g' raw/manifest.json
	exits 0 "$zcost" report functions raw --from 0 --all --format tsv && says 'libelf' out && says 'libc' out && ! grep -q lossy err
}
if [ "$(id -u)" = 0 ] && [ -x "$build/tests/tools/perfdata_gen" ]; then
	ok "the raw files of the test capture have a profile with names" raw_capture
	raw=$d/perf.data
	faults_raw() { # BOUND COMMAND...
		perl "$tests/faults/run.pl" "$build" raw "$@"
	}
	ok "a failed call in an analysis in memory gives the same table, or exit 1 or 4 and the reason" \
		faults_raw "${FAULTS:-12}" "report functions raw --from 0" "report summary raw --from 0"
	ok "a failed call with a perf.data gives the same table, or exit 1 or 4 and the reason" \
		faults_raw "${FAULTS:-8}" "report functions --perf $raw"
else
	skip "a failed call in an analysis in memory" "kernel addresses are for root alone"
fi

cp cap/zcost.db damaged.db
dd if=/dev/zero of=damaged.db bs=512 seek=12 count=60 conv=notrunc 2>/dev/null
sees() { ! faults 3 "report runs damaged.db" >out && says 'fails undisturbed' out; }
ok "a command that fails without a fault counts as a failure of the test" sees

done_testing
