#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# System calls of a process tree are counted exactly, by each method.
. "$(dirname "$0")/../lib.sh"
tracefs_before=$(grep -c tracefs /proc/mounts)

calls=$build/tests/tools/calls
[ "$(id -u)" = 0 ] || skip_all "counting system calls needs root"

collect() {
	"$zcost" collect -o r --collect syscalls --syscalls-method "$method" "$@"
}

# column NAME CALL: sum of a column over all rows of a call
column() {
	awk -F'\t' -v col="$1" -v call="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["name"] == call { n += $at[col] } END { printf "%d\n", n }' r/syscalls.tsv
}

# The workload's own count is what we must have found.
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

# Both histograms add up: times to calls, sizes to the calls that returned more than 0.
histograms() {
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		function sum(text,    n, i, part, total) {
			n = split(text, part, ",")
			for (i = 1; i <= n; i++) { sub(/.*:/, "", part[i]); total += part[i] }
			return total + 0
		}
		sum($at["time_hist"]) != $at["calls"] { print "time_hist: " $0; bad = 1 }
		sum($at["size_hist"]) > $at["calls"] - $at["errors"] { print "size_hist: " $0; bad = 1 }
		$at["name"] == "pwrite64" && $at["bytes"] && $at["size_hist"] != "6:10,12:5" { print "sizes: " $0; bad = 1 }
		END { exit bad }' r/syscalls.tsv
}

# total, min, max and deviation of the naps: five of 10 ms and a bit
naps() {
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["name"] == "nanosleep" {
			mean = $at["total_ns"] / 5
			ok = $at["min_ns"] >= 10e6 && $at["max_ns"] < 1e9 && mean >= $at["min_ns"] &&
			     mean <= $at["max_ns"]
			spread = $at["max_ns"] - $at["min_ns"]	# bounds of the sum of squares
			ok = ok && $at["m2_ns2"] >= spread ^ 2 / 2 - 1 && $at["m2_ns2"] <= 5 * spread ^ 2 / 4 + 1
		} END { exit !ok }' r/syscalls.tsv || { cat r/syscalls.tsv; return 1; }
}

# Whatever the collectors' start takes, the command's first call is in the window: the loader's brk, mmap ...
for method in bpf tracepoint; do
	ok "$method: all of a command's calls, from its first" exits 0 collect -- dd if=/dev/zero of=dd.out bs=1 count=3000
	ok "$method: each read" sh -c "[ $(column calls read) -ge 3000 ] && [ $(column calls write) -ge 3000 ] &&
		[ $(column calls execve) = 1 ] && [ $(column calls brk) -ge 1 ] && [ $(column calls arch_prctl) -ge 1 ]"
done

for method in bpf tracepoint; do
	ok "$method: a tree of threads, children, execs" exits 0 collect -- "$calls" 400
	ok "$method: the method is told" test "$(jq -r '.collectors[0].info.method' r/run.json)" = $method
	ok "$method: nothing was lost" test "$(jq -r '.collectors[0].lost' r/run.json)" = 0
	ok "$method: calls, errors, bytes are the program's own" agrees
	ok "$method: histograms add up" histograms
	ok "$method: times" naps
	ok "$method: threads under their own names" test "$(grep -c '^named	.*	getppid	500	' r/syscalls.tsv)" = 3
	ok "$method: no other process's calls" \
		test "$(cut -f 1 r/syscalls.tsv | sort -u | grep -vcE '^(comm|calls|named|exe)$')" = 0
	ok "$method: what ends a process never returned" \
		test "$(awk -F'\t' '$5 == "exit_group" { n += $13; c += $6 } END { print n "," c }' r/syscalls.tsv)" = 5,0

	ok "$method: a call that does not return in the window" exits 0 collect --warmup 0.7 --duration 2 --grace 0 -- \
		"$calls" 1200 block
	ok "$method: is unfinished" test "$(column unfinished pause)" = 1
	ok "$method: and not counted" test "$(column calls pause)" = 0
	ok "$method: nor is one that began before the window" test "$(column calls clock_nanosleep)" = 0

	ok "$method: a window over a part" exits 0 collect --warmup 1.5 --duration 0.3 --grace 0 -- \
		sh -c "sleep 0.1; $calls 0 >/dev/null; sleep 30"
	ok "$method: holds nothing from outside of it" test "$(column calls getppid)" = 0
done

# One call in 8 timed, by lot.
method=bpf
ok "few of the calls timed" exits 0 collect --time-one-in 8 -- "$calls" 400
ok "calls, errors, bytes are of all" agrees
ok "many calls" exits 0 collect --time-one-in 8 -- "$calls" loop 200000 300
ok "one in 8 is timed: $(column timed getppid) of $(column calls getppid)" sh -c "
	[ $(column calls getppid) = 200000 ] && [ $(column timed getppid) -gt 23000 ] && [ $(column timed getppid) -lt 27000 ]"
ok "few calls are exact" awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$at["calls"] <= 16 { few++; bad += $at["timed"] != $at["calls"] } END { exit bad || few < 3 }' r/syscalls.tsv
ok "it is told" test "$(jq -r '.collectors[0].info.time_one_in' r/run.json)" = 8
"$zcost" analyze r >log 2>&1
"$zcost" report syscalls r --format tsv >table 2>notes
ok "and by the table" says 'one call in [0-9.]* was timed, drawn at random: total and average times are estimates' notes
# Those that were drawn stand for all but the first, which are not drawn.
first=$(column first getppid) first_ns=$(column first_ns getppid)
estimate=$(awk -v n="$(column timed getppid)" -v ns="$(column total_ns getppid)" -v f="$first" -v f_ns="$first_ns" \
	'BEGIN { printf "%.0f", f_ns + (ns - f_ns) * (200000 - f) / (n - f) }')
ok "the total is of all calls" near "$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$at["syscall"] == "getppid" { printf "%.0f", $at["total_ms"] * 1e6 }' table)" "$estimate" $((estimate / 100))
method=tracepoint
ok "tracepoints time all: told, exit 2" exits 2 collect --time-one-in 8 -- true
ok "nor does what counts no calls take it" exits 2 "$zcost" collect -o r --collect cpu --time-one-in 8 -- true

# More threads than there is room for at a time; of the last ones each is still known.
method=bpf
# So many in so short a time are lost, and told, where ours does not come to run for a quarter of a second.
steady "threads and processes by the ten thousand" exits 0 collect -- "$calls" many 30000 5000
ok "nothing was lost" test "$(jq -r '.collectors[0].lost' r/run.json)" = 0
ok "calls, errors, bytes of all" agrees
ok "histograms of all" histograms
ok "threads that ended are added up by process, and processes" awk -F'\t' '
	$5 != "getppid" { next } $3 { threads++; next } $2 { processes++ } !$2 { names++ }
	$6 > 1000 { big = big ($2 ? "p" : "n") }
	END { exit !(threads > 100 && threads < 9000 && processes < 2000 && names == 1 && big == "pn") }' r/syscalls.tsv
ok "each was entered once more than it returned: its end" test "$(column unfinished exit)" = 30000
"$zcost" analyze r >log 2>&1
"$zcost" report syscalls r --by tid --all --format tsv >table 2>notes
ok "report shows them" says 'calls of ended threads are added up' notes
ok "and all of their calls" sh -c "awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[\$i] = i; next }
	\$at[\"syscall\"] == \"getppid\" { n += \$at[\"calls\"] } \$at[\"tid\"] == \"0\" { bad = 1 }
	END { exit bad || n != 35000 }' table"

steady "calls of some drawn by lot to be timed, of many processes" exits 0 collect --time-one-in 8 -- "$calls" many 9000 3000
ok "all that were not drawn are told" awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$at["first"] > $at["timed"] || $at["timed"] > $at["calls"] { print; bad = 1 }
	$at["name"] == "getppid" { calls += $at["calls"]; first += $at["first"] }
	END { exit bad || calls != 12000 || first != calls }' r/syscalls.tsv

if "$calls" crowd 8500 >log; then
	ok "more threads at once than there is room for" exits 4 collect -- "$calls" crowd 8500
	ok "calls that were lost are told" test "$(jq -r '.collectors[0].lost' r/run.json)" -ge "$((8500 - $(column calls getppid)))"
	ok "and were lost" test "$(column calls getppid)" -lt 8500
else
	skip "more threads at once than there is room for" "8500 cannot be had here (threads-max, pids.max, ulimit -u)"
fi

ZCOST_NO_BTF=1
export ZCOST_NO_BTF
ok "bpf on a kernel without BTF" exits 0 collect -- "$calls" 400
ok "counts the same" agrees
unset ZCOST_NO_BTF

ok "tracefs is as it was" test "$(grep -c tracefs /proc/mounts)" = "$tracefs_before"

done_testing
