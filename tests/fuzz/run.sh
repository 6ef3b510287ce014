#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# run.sh PROGRAM SECONDS: one fuzz target with a corpus of its own, kept under the build folder.
# What it finds (crash-*, leak-*, timeout-*) stays beside the program; the exit status is not 0 then.
set -eu
program=$1
corpus=$program.corpus
mkdir -p "$corpus"
top=$(cd "$(dirname "$0")/../.." && pwd)

small() { # small recordings in every form that this machine writes
	for options in "" "-z" "-g" "-g --call-graph dwarf,512" "-s -d" "--buildid-mmap"; do
		name=$(echo "record$options" | tr -c 'a-z0-9\n' _)
		[ -s "$corpus/$name" ] || perf record -q -F 99 -e cpu-clock $options -o "$corpus/$name" true 2>/dev/null || true
	done
	[ -s "$corpus/pipe" ] || perf record -q -F 99 -e cpu-clock -o - true >"$corpus/pipe" 2>/dev/null || true
	rm -f "$corpus"/*.old
}
case $program in
*perfdata)
	small
	find "$top/../shared/perfdata" -name '*.data*' -size -64k -exec cp {} "$corpus" \; 2>/dev/null || true
	;;
esac
cd "$(dirname "$program")"
"./$(basename "$program")" -max_total_time="$2" -timeout=10 -rss_limit_mb=1024 -max_len=65536 \
	-print_final_stats=1 -verbosity=0 "$(basename "$corpus")"
