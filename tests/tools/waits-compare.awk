# SPDX-License-Identifier: GPL-2.0-only
# Compares waits.tsv with the events of the scheduler that perf recorded beside it:
#
#   awk -f waits-compare.awk waits.tsv FS=' ' EVENTS     EVENTS: perf script --ns -F time,event,trace
#
# By thread: the number of waits is the same, and their time within 3 %. A new thread's first wait has no switch.
function field(name) { return match($0, " " name "=[^ ]*") ? substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 2) : "" }
BEGIN { FS = "\t" }
FS == "\t" && $4 == "wall" { comm[$2] = $3 }
FS == "\t" && ($4 == "waiting" || $4 == "blocked") && $6 !~ /^(clone|execve)/ {
	off[$2] += $11
	if ($4 == "waiting") n[$2] += $10
}
FS == "\t" { next }
!/sched_switch:/ { next }
{
	at = $1 * 1e9
	p = field("next_pid")
	if (p in left) { switches[p]++; perf[p] += at - left[p] }
	left[field("prev_pid")] = at
}
END {
	for (p in comm) {
		if (comm[p] == "waiter") continue # zcost holds it until the window opens
		threads++
		ratio = perf[p] ? off[p] / perf[p] : 0
		good = n[p] == switches[p] && (ratio > 0.97 && ratio < 1.03 || (off[p] - perf[p]) ^ 2 < 1e12)
		bad += !good
		printf "%s%s: %d waits, %.3f ms; perf: %d, %.3f ms\n", good ? "" : "# wrong: ", comm[p], n[p], off[p] / 1e6, switches[p], perf[p] / 1e6
	}
	exit bad || threads != 7
}
