# SPDX-License-Identifier: GPL-2.0-only
# Shared by the benchmarks, which source it:
#
#   . "$(dirname "$0")/lib.sh"
#   recording            # sets $data, the recording
#   test_bed             # makes the test bed $name, which "$bed" run SIDE -n "$name" uses
#
# $dir is a scratch folder in BENCH_DIR (/var/tmp). It and the test bed are removed at the end. ROUNDS and ZCOST_BUILD
# are options.
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${ZCOST_BUILD:-$top/build}
rounds=${ROUNDS:-5}
bed=$top/samples/testbed.sh name=
dir=$(mktemp -d "${BENCH_DIR:-/var/tmp}/zcost-bench.XXXXXX")
at_end() {
	[ -z "$name" ] || "$bed" down "$name"
	rm -rf "$dir"
}
trap at_end EXIT
trap 'exit 130' INT TERM
zcost=$build/zcost timed=$build/tests/tools/timed dump=$build/tests/tools/profile_dump

need() { # need TOOL...: builds the missing tools of tests/tools
	for tool; do
		[ -x "$tool" ] || make -s -C "$top" "$tool" BUILD="$build" >/dev/null
	done
}

test_bed() {
	name=zcbench$$
	"$bed" up "$name" 2>/dev/null || { echo "SKIP: no test bed here"; exit 0; }
}

median() { # median FILE COLUMN
	sort -n -k "$2,$2" "$1" | awk -v c="$2" '{ x[NR] = $c } END { print x[int((NR + 1) / 2)] }'
}

in_turns() { # in_turns CASE...: calls `one CASE` for each, ROUNDS times, with the order reversed each round
	round=0
	while [ $round -lt "$rounds" ]; do
		for turn; do one "$turn"; done
		set -- $(printf '%s\n' "$@" | tac)
		round=$((round + 1))
	done
}

race() { # race TOOL...: prints a table of the times and the memory of `run TOOL`, once zcost has warmed the caches
	one() { run "$1" >>"$dir/$1.runs" || [ $? = 4 ]; }
	one zcost
	rm "$dir/zcost.runs"
	in_turns "$@"
	echo "                  wall s    cpu s     MB   (medians of $rounds)"
	for tool; do
		f=$dir/$tool.runs
		printf '%-15s %8.3f %8.3f %6d\n' "$tool" "$(median "$f" 1)" "$(median "$f" 2)" "$(median "$f" 3)"
	done
}

against() { # against TOOL WHAT COLUMN GOAL: prints the ratio of the medians of the tool and of zcost
	awk -v a="$(median "$dir/$1.runs" "$3")" -v b="$(median "$dir/zcost.runs" "$3")" -v w="$2" -v g="$4" \
		'BEGIN { printf "%-44s %6.1f  (%s)\n", w, a / b, g }'
}

# The recorded load: TCP over loopback, copied, mapped and through io_uring, with some short processes in between.
flow() { # SECONDS PORT RX TX
	timeout $(($1 + 10)) "$build/tcpzc" --listen=127.0.0.1 --port="$2" --rx="$3" >"$dir/rx.$2" 2>&1 &
	timeout $(($1 + 10)) "$build/tcpzc" --connect=127.0.0.1 --port="$2" --tx="$4" --seconds="$1" >"$dir/tx.$2" 2>&1 &
}
load() { # SECONDS
	flow "$1" 7993 recv send
	flow "$1" 7994 mmap sendfile-direct
	flow "$1" 7995 uring-multishot uring-send
	end=$(($(date +%s) + $1))
	while [ "$(date +%s)" -lt $end ]; do
		ls -l /usr/bin >/dev/null
		sleep 1
	done
	wait
}

seconds=${SECONDS_RECORDED:-25}

describe() { # the size of the recording $data
	"$dump" health "$data" >"$dir/health" || [ $? = 4 ]
	awk -v mb=$(($(stat -c %s "$data") / 1000000)) '
		/^event/ { for (i = 1; i < NF; i++) if ($(i + 1) == "samples,") n += $i }
		/^costs/ { rows = $2 }
		END { printf "%d samples, %d MB, %d distinct rows\n", n, mb, rows }' "$dir/health"
}

# A system-wide recording of about two million samples with call chains, or PERFDATA=FILE.
recording() {
	command -v perf >/dev/null || { echo "SKIP: no perf here"; exit 0; }
	need "$timed" "$dump"
	data=${PERFDATA:-}
	if [ -z "$data" ]; then
		data=$dir/perf.data
		load "$seconds" &
		perf record -q -a -g -k CLOCK_MONOTONIC -m 2048 -e cpu-clock -F 49999 -o "$data" -- \
			sleep "$seconds" 2>"$dir/err" ||
			{ echo "SKIP: perf cannot record: $(tail -n 1 "$dir/err")"; exit 0; }
		wait
		for flow in "$dir"/tx.*; do
			grep -q '"type":"summary"' "$flow" || { echo "SKIP: a flow failed: $(tail -n 1 "$flow")"; exit 0; }
		done
	fi
	describe
}
