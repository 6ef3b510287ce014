#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost plot syscalls: its figures are those of zcost report syscalls, and its words hold.
. "$(dirname "$0")/../lib.sh"
. "$tests/plot.sh"

make_capture cap || { cat analyze.log; exit 1; }

# counted RUN VARIANT SIDE: a run of the pass syscalls that moved 1 MiB.
counted() {
	echo "INSERT INTO run (id, variant, pass, repeat, side, host, command, cpus, ncpus, start_ns, end_ns, position,
		status, why) VALUES ($1, '$2', 'syscalls', 1, '$3', 'vm', 'x', '1', 1, 10000000000, 13000000000, $1, 'ok', '');
		INSERT INTO metric (run, name, unit, value, source) VALUES ($1, 'bytes', 'B', 1048576, 'measured'),
			($1, 'rate_kib', 'KiB/s', 1024.0 / 3, 'measured'), ($1, 'seconds', 's', 3, 'measured');"
}

# calls RUN COMM NAME CALLS NS: so many calls of NS each, with a standard error of the mean of 1 %.
calls() {
	echo "INSERT INTO syscall VALUES ($1, '$2', 7, 7, $(echo "$3" | cksum | cut -c 1-4), '$3', $4, 0, $4 * $5, $5, $5,
		($5 * 0.01) * ($5 * 0.01) * $4 * ($4 - 1), 0, 0);"
}

# draw NAME ARGUMENT...: the chart of cap, into the folder NAME.
draw() {
	name=$1
	shift
	"$zcost" plot cap syscalls -o "$name" --format svg "$@"
}

# cell FOLDER GROUP VARIANT COLUMN: of the chart's .tsv.
cell() {
	tsv '$at["syscall"] == group && $at["variant"] == variant { print $at[want] }' group="$2" variant="$3" want="$4" "$1/syscalls.tsv"
}

# groups FOLDER: the chart's groups, from the top down.
groups() {
	awk -F '\t' 'NR > 1 && !seen[$9]++ { printf "%s%s", n++ ? " | " : "", $9 }' "$1/syscalls.tsv"
}

title() { # title FOLDER PATTERN
	says "<title>[^<]*$2" "$1/syscalls.svg"
}

ok "without counted system calls the chart is not drawn, exit 1" exits 1 draw none
ok "the message names the pass that counts them" says 'not drawn: no run counted system calls.*passes measure and syscalls' err

{
	counted 921 baseline receiver
	calls 921 tcpzc recvfrom 20 10240
	calls 921 helper recvfrom 10 10240
	counted 922 mmap receiver
	calls 922 tcpzc recvfrom 2 5120
	calls 922 tcpzc getsockopt 10 10240
	calls 922 tcpzc close 1 2
	counted 923 baseline sender
	calls 923 tcpzc sendto 8 20480
} | sqlite3 -bail cap/zcost.db

# 30 calls of 10240 ns in 1024 KiB are 300 ns per KiB; 1 % of each row, 1.96 times.
ok "the chart is drawn in all formats" exits 0 draw slides --format svg,png,pdf
for e in svg png pdf gp tsv; do
	ok "syscalls.$e is written" test -s slides/syscalls.$e
done
ok "the receiver's calls come first, the longest on top" test "$(groups slides)" = \
	"receiver: recvfrom | receiver: getsockopt | sender: sendto"
ok "the commands of one side are added up" near "$(cell slides 'receiver: recvfrom' baseline value)" 300 1e-6
ok "the interval is that of the mean call" near "$(cell slides 'receiver: recvfrom' baseline hi)" \
	"$(awk 'BEGIN { print 300 + 1.96 * sqrt(2 ^ 2 + 1) }')" 1e-3
ok "the calls per MiB are in the .tsv" test "$(cell slides 'receiver: recvfrom' baseline calls_per_mib)" = 30
ok "the calls per MiB stand beside each bar" says '300 · 30[.]0 calls' slides/syscalls.svg
ok "time and calls are those of report syscalls" test "$("$zcost" report syscalls cap --variant mmap --format tsv 2>/dev/null |
	awk -F '\t' '$2 == "receiver" && $4 == "getsockopt" { print $NF, $(NF - 1) }')" = \
	"$(cell slides 'receiver: getsockopt' mmap value) $(cell slides 'receiver: getsockopt' mmap calls_per_mib)"
ok "a variant without a call has no bar" test -z "$(cell slides 'receiver: getsockopt' baseline value)"
ok "the chart says that it made no such call" says 'no calls' slides/syscalls.svg
ok "a side that was not counted is n/a" says '>n/a<' slides/syscalls.svg
ok "a variant that was not counted is named" says 'No system calls with known work: uring' slides/syscalls.svg
ok "one run of each variant gives no claim" title slides 'System calls: the 3 of 4 that take most time'
ok "the foot note has the number of runs and the interval" says \
	'n = 1 syscall-counting run per variant, whiskers: 95 % interval of the mean call alone' slides/syscalls.svg
ok "a call too short to be seen is left out" test -z "$(cell slides 'receiver: close' mmap value)"
ok "--limit shows a call too short to be seen" exits 0 draw limit --limit 12
ok "the bar of a single call has no interval" test "$(cell limit 'receiver: close' mmap value) $(cell limit 'receiver: close' mmap lo)" = "0.001953125 "

ok "one side is drawn alone" exits 0 draw side --side sender
ok "its groups have no side" test "$(groups side)" = sendto
ok "the title then says what is drawn" title side 'System calls: time per KiB and calls per MiB'
ok "one variant is drawn alone" exits 0 draw alone --variant mmap
ok "the title names the calls that were left out" title alone 'System calls: the 2 of 3 that take most time'

for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
	calls 922 tcpzc "landlock_restrict_self_and_a_name_that_never_ends_$i" $i 9000
done | sqlite3 -bail cap/zcost.db
ok "15 calls with long names are drawn" exits 0 draw many
ok "two variants have room for ten calls" test "$(awk -F '\t' 'NR > 1 { print $9 }' many/syscalls.tsv | sort -u | wc -l)" = 10
ok "long names are cut by an ellipsis" says 'landlock_[a-z_]*…' many/syscalls.svg

evidence mmap 0 1000000 | sqlite3 cap/zcost.db
ok "the chart of a variant that copied is drawn" exits 0 draw copied
ok "no saving is claimed for it" title copied 'System calls: the 10 of'
ok "the caption says that it copied" says 'mmap, uring: every byte was copied' copied/syscalls.svg

sqlite3 cap/zcost.db "DELETE FROM metric WHERE run > 920 AND name IN ('bytes', 'rate_kib')"
ok "calls of a workload without bytes are not drawn, exit 1" exits 1 draw bare

# 16 messages in each run: 30 calls of 10240 ns are 19200 ns per message.
sqlite3 cap/zcost.db "INSERT INTO metric (run, name, unit, value, source) SELECT id, 'rate_messages', '1/s', 16.0 / 3, 'measured' FROM run WHERE id > 920"
ok "--unit message draws them per message" exits 0 draw messages --unit message
ok "the bar is the time per message" near "$(cell messages 'receiver: recvfrom' baseline value)" 19200 1e-6
ok "the calls per message are in the .tsv" test "$(cell messages 'receiver: recvfrom' baseline calls_per_message)" = 1.875
ok "the axis has the unit" says 'ns per message' messages/syscalls.svg
ok "report syscalls has the same figures" is "$("$zcost" report syscalls cap --side receiver --variant baseline --by syscall --unit message --format tsv 2>/dev/null |
	tsv '{ print $at["ns_per_message"], $at["calls_per_message"], ("calls_per_mib" in at) }')" "19200 1.875 0"
ok "compare --table syscalls takes the unit" exits 0 "$zcost" compare baseline mmap -C cap --table syscalls --side receiver --unit message --format tsv
ok "its costs and calls are per message" is "$(tsv '$at["syscall"] == "recvfrom" { print $at["base_ns"], $at["base_calls"], $at["new_ns"], $at["new_calls"] }' out)" "19200 1.875 640 0.125"
"$zcost" compare baseline mmap -C cap --table syscalls --side receiver --unit message >out 2>&1
ok "the sum names the unit" says 'sum: .* ns per message' out
ok "a unit that no run counts is an error" exits 1 "$zcost" report syscalls cap --unit packet
ok "other charts are drawn per system call" sh -c "'$zcost' plot cap -o other --unit syscall --format svg; [ -s other/cpu.svg ] && [ -s other/timeline.svg ]"
ok "system calls per system call are refused" exits 1 "$zcost" report syscalls cap --unit syscall
ok "the message lists the units" says 'system calls have costs per packet, message, KiB' err
done_testing
