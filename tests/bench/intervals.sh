#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# How often the intervals of costs hold the truth: a capture of RUNS (48) runs of one variant, of which each draw takes
# six. It takes four minutes. CAPTURE=FOLDER takes the capture from there, or puts it there.
set -eu
. "$(dirname "$0")/lib.sh"
runs=${RUNS:-48}
capture=${CAPTURE:-$dir/capture}
need "$build/tests/tools/intervals"
[ -d "$capture" ] || test_bed

cat >"$dir/plan.ini" <<END
[plan]
name = intervals
passes = measure profile
repeats = $runs
warmup = 0.3
duration = 1.2
grace = 0
before = sh $bed up $name
after = sh $bed down $name

[side receiver]
cpus = 1
prefix = ip netns exec $name-receiver
units = tcpzc

[side sender]
cpus = 0
prefix = ip netns exec $name-sender
units = tcpzc

[variant baseline]
receiver = $build/tcpzc --listen --cpu 1 --size 128k --rx recv
sender = $build/tcpzc --connect 192.0.2.1 --cpu 0 --size 128k --seconds 60 --tx send
END
[ -d "$capture" ] || "$zcost" capture "$dir/plan.ini" -o "$capture" >/dev/null
"$zcost" analyze "$capture" 2>/dev/null || [ $? = 4 ]
"$build/tests/tools/intervals" "$capture" "${DRAWN:-6}" "${DRAWS:-1000}"
