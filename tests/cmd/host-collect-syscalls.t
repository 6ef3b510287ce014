#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Each method counts the system calls of a process tree exactly.
. "$(dirname "$0")/../lib.sh"
tracefs_before=$(grep -c tracefs /proc/mounts)

calls=$build/tests/tools/calls
need root

collect() {
	"$zcost" collect -o r --collect syscalls --syscalls-method "$method" "$@"
}

# column NAME CALL: sum of a column over all rows of a call
column() { tsv '$at["name"] == call { n += $at[column] } END { printf "%d\n", n }' column="$1" call="$2" r/syscalls.tsv; }

# The counts must equal those that the workload prints.
agrees() {
	while read -r name n errors bytes; do
		[ "$(column calls "$name")" = "$n" ] && [ "$(column errors "$name")" = "$errors" ] &&
			[ "$(column bytes "$name")" = "${bytes:-0}" ] && continue
		echo "$name: counted $(column calls "$name") $(column errors "$name") $(column bytes "$name")," \
			"the program made $n $errors $bytes"
		cat r/syscalls.tsv
		return 1
	done <r/workload.out
	[ -s r/workload.out ]
}

# The times sum to the calls, the sizes to the calls that returned more than 0.
histograms() {
	tsv 'function sum(text,    n, i, part, total) {
			n = split(text, part, ",")
			for (i = 1; i <= n; i++) { sub(/.*:/, "", part[i]); total += part[i] }
			return total + 0
		}
		sum($at["time_hist"]) != $at["calls"] { print "time_hist: " $0; bad = 1 }
		sum($at["size_hist"]) > $at["calls"] - $at["errors"] { print "size_hist: " $0; bad = 1 }
		$at["name"] == "pwrite64" && $at["bytes"] && $at["size_hist"] != "6:10,12:5" { print "sizes: " $0; bad = 1 }
		END { exit bad }' r/syscalls.tsv
}

# checks total, min, max and deviation of five sleeps of at least 10 ms
naps() {
	tsv '$at["name"] == "nanosleep" {
			mean = $at["total_ns"] / 5
			ok = $at["min_ns"] >= 10e6 && $at["max_ns"] < 1e9 && mean >= $at["min_ns"] &&
			     mean <= $at["max_ns"]
			spread = $at["max_ns"] - $at["min_ns"]	# bounds of the sum of squares
			ok = ok && $at["m2_ns2"] >= spread ^ 2 / 2 - 1 && $at["m2_ns2"] <= 5 * spread ^ 2 / 4 + 1
		} END { exit !ok }' r/syscalls.tsv || { cat r/syscalls.tsv; return 1; }
}

# However long the collectors need to start, the command's first calls (the loader's brk, mmap) are in the window.
for method in bpf tracepoint; do
	ok "$method: collect counts dd's system calls" exits 0 collect -- dd if=/dev/zero of=dd.out bs=1 count=3000
	ok "$method: every call of a command is counted, from its execve on" sh -c "[ $(column calls read) -ge 3000 ] && [ $(column calls write) -ge 3000 ] &&
		[ $(column calls execve) = 1 ] && [ $(column calls brk) -ge 1 ] && [ $(column calls arch_prctl) -ge 1 ]"
done

for method in bpf tracepoint; do
	ok "$method: collect counts a tree of threads, children and execs" exits 0 collect -- "$calls" 400
	ok "$method: run.json names the method" test "$(jq -r '.collectors[0].info.method' r/run.json)" = $method
	ok "$method: no record of a call is lost" test "$(jq -r '.collectors[0].lost' r/run.json)" = 0
	ok "$method: calls, errors and bytes equal the program's own counts" agrees
	ok "$method: the histograms sum to the calls" histograms
	ok "$method: total, minimum, maximum and deviation of sleeps are plausible" naps
	ok "$method: named threads have separate rows" test "$(grep -c '^named	.*	getppid	500	' r/syscalls.tsv)" = 3
	ok "$method: no other process is counted" \
		test "$(cut -f 1 r/syscalls.tsv | sort -u | grep -vcE '^(comm|calls|named|exe)$')" = 0
	ok "$method: exit_group is unfinished and not a call" \
		test "$(awk -F'\t' '$5 == "exit_group" { n += $13; c += $6 } END { print n "," c }' r/syscalls.tsv)" = 5,0

	ok "$method: collect accepts a call that does not return in the window" exits 0 collect --warmup 0.7 --duration 2 --grace 0 -- \
		"$calls" 1200 block
	ok "$method: a call that does not return in the window is unfinished" test "$(column unfinished pause)" = 1
	ok "$method: an unfinished call is not counted" test "$(column calls pause)" = 0
	ok "$method: a call that began before the window is not counted" test "$(column calls clock_nanosleep)" = 0

	ok "$method: collect accepts a window that covers a part of the run" exits 0 collect --warmup 1.5 --duration 0.3 --grace 0 -- \
		sh -c "sleep 0.1; $calls 0 >/dev/null; sleep 30"
	ok "$method: a call outside of the window is not counted" test "$(column calls getppid)" = 0
done

# A random one in 8 calls is timed.
method=bpf
ok "collect --time-one-in 8 counts a tree of threads, children and execs" exits 0 collect --time-one-in 8 -- "$calls" 400
ok "calls, errors and bytes include calls that are not timed" agrees
ok "collect --time-one-in 8 counts 200,000 calls" exits 0 collect --time-one-in 8 -- "$calls" loop 200000 300
ok "one in 8 of getppid is timed: $(column timed getppid) of $(column calls getppid)" sh -c "
	[ $(column calls getppid) = 200000 ] && [ $(column timed getppid) -gt 23000 ] && [ $(column timed getppid) -lt 27000 ]"
ok "all calls are timed where there are at most 16" tsv '$at["calls"] <= 16 { few++; bad += $at["timed"] != $at["calls"] } END { exit bad || few < 3 }' r/syscalls.tsv
ok "run.json has time_one_in" test "$(jq -r '.collectors[0].info.time_one_in' r/run.json)" = 8
"$zcost" analyze r >log 2>&1
"$zcost" report syscalls r --format tsv >table 2>notes
ok "report notes that times are estimates from random samples" says 'one call in [0-9.]* was timed, drawn at random: total and average times are estimates' notes
# The first calls of each task are all timed. The random sample estimates the others.
first=$(column first getppid) first_ns=$(column first_ns getppid)
estimate=$(awk -v n="$(column timed getppid)" -v ns="$(column total_ns getppid)" -v f="$first" -v f_ns="$first_ns" \
	'BEGIN { printf "%.0f", f_ns + (ns - f_ns) * (200000 - f) / (n - f) }')
ok "the estimated total time includes the calls that are not timed" near "$(tsv '$at["syscall"] == "getppid" { printf "%.0f", $at["total_ms"] * 1e6 }' table)" "$estimate" $((estimate / 100))
method=tracepoint
ok "--time-one-in with the method tracepoint is a usage error" exits 2 collect --time-one-in 8 -- true
ok "--time-one-in without the syscalls collector is a usage error" exits 2 "$zcost" collect -o r --collect cpu --time-one-in 8 -- true

# The programs of zcost run when a call begins and when it ends, also for other processes of the host.
cost() {
	exits 0 "$zcost" collect -o r --pass syscalls --collect syscalls,cpu --warmup 0.1 --duration 0.4 --grace 0 -- "$build/tests/tools/parts" calls &&
		"$zcost" analyze r >log 2>&1
	"$zcost" report passes r --format tsv 2>err | tsv '$at["measured"] == "programs" && $at["collector"] == "syscalls" {
		printf "%.0f %s %s\n", $at["per_s"], $at["us_each"], $at["busy_pct"] }' >shown
	awk -v calls="$(column calls getppid)" '{ print calls, $0 > "/dev/stderr"; ok = $1 > calls / 0.4 && $2 > 0.005 && $2 < 5 && $3 > 0 } END { exit !ok }' shown
}
steady "report passes has the runs of the programs and what each takes" cost

# More threads than there is room for.
method=bpf
ok "collect counts 30,000 threads and 5,000 processes" exits 0 collect -- "$calls" many 30000 5000
ok "no record of a call is lost with 35,000 tasks" test "$(jq -r '.collectors[0].lost' r/run.json)" = 0
ok "calls, errors and bytes of 35,000 tasks are exact" agrees
ok "the histograms of 35,000 tasks sum to the calls" histograms
ok "ended threads are summed by process, and ended processes by name" awk -F'\t' '
	$5 != "getppid" { next } $1 != "calls" { bad = 1 } $3 { threads++; next } $2 { processes++ } !$2 { names++ }
	END { exit !(!bad && threads > 100 && threads < 9000 && processes + names < 9000 && names) }' r/syscalls.tsv
ok "each of 30,000 ended threads has one unfinished exit" test "$(column unfinished exit)" = 30000
"$zcost" analyze r >log 2>&1
"$zcost" report syscalls r --by tid --all --format tsv >table 2>notes
ok "report notes that calls of ended threads are summed" says 'calls of ended threads are added up' notes
ok "report lists all calls of ended threads and no thread 0" sh -c "awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[\$i] = i; next }
	\$at[\"syscall\"] == \"getppid\" { n += \$at[\"calls\"] } \$at[\"tid\"] == \"0\" { bad = 1 }
	END { exit bad || n != 35000 }' table"

if "$calls" crowd 8500 >log; then
	ok "collect exits 4 when more threads run at once than it has room for" exits 4 collect -- "$calls" crowd 8500
	ok "run.json counts the lost calls" test "$(jq -r '.collectors[0].lost' r/run.json)" -ge "$((8500 - $(column calls getppid)))"
	ok "calls are missing when more threads run than there is room for" test "$(column calls getppid)" -lt 8500
else
	skip "collect exits 4 when more threads run at once than it has room for" "8500 cannot be had here (threads-max, pids.max, ulimit -u)"
fi

# Linux 7.3 may preempt a program of a system call, and skips it for other threads meanwhile.
shared() {
	exits 0 collect -- sh -c 'for i in 1 2 3; do taskset -c 0 dd if=/dev/zero of=/dev/null bs=1 count=30000 status=none & done; wait' &&
		is "$(tsv '$at["comm"] == "dd" && $at["name"] == "write" { n += $at["calls"] } END { print n }' r/syscalls.tsv)" 90000
}
method=bpf
ok "no call of programs that share a CPU is lost" shared

without_btf() {
	ZCOST_NO_BTF=1 exits 0 "$zcost" collect -o r --collect syscalls -- "$calls" 400
}
ok "collect succeeds on a kernel without BTF" without_btf
ok "run.json says why it uses tracepoints" test "$(jq -r '.collectors[0] | .info.method + ": " + .why' r/run.json)" = \
	"tracepoint: bpf: the environment has ZCOST_NO_BTF"

ok "collect leaves no tracefs mounted" test "$(grep -c tracefs /proc/mounts)" = "$tracefs_before"

done_testing
