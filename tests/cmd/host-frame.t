#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Programs that time their own parts, profiled with the frame and without it. tests/tools/parts.c says what the parts are.
. "$(dirname "$0")/../lib.sh"
need jq root perf taskset
unset ZCOST_COLLECT
running=
cleanup() { kill $running 2>/dev/null; }
for name in mine theirs; do cp "$build/tests/tools/parts" $name; done
cp /bin/sh busy
mkfifo a b

"$zcost" collect -o try --collect frame --duration 0.1 --grace 0 -- sleep 1 >log 2>&1
why=$(jq -r '.collectors[] | select(.name == "frame" and .state == "unsupported").why' try/run.json)
[ -z "$why" ] || ! bpf_runs || { ok "the collector frame works" is "$why" "" && done_testing; }
[ -z "$why" ] || skip_all "no frame: $why"

# capture PART...: profiles CPU 0 and a program with these parts, and ends all programs
capture() {
	rm -rf with without
	exits 0 "$zcost" collect -o with --cpus 0 --collect host,perf,cpu,frame --freq 1999 --duration 1.5 --grace 0 -- \
		taskset -c 0 sh -c 'exec ./mine "$@" 3<>a 4<>b' mine "$@" || return 1
	[ -z "$running" ] || kill $running
	wait
	running=
	cp -r with without
	rm without/frame.tsv without/due.tsv
	"$zcost" analyze with >log 2>&1
	"$zcost" analyze without >>log 2>&1
	return 0 # 4: files are missing
}
# share TABLE NAME:COLUMN RUN PATTERN OF: the rows "comm name" that match PATTERN, in percent of those that match OF
share() {
	"$zcost" report $1 $3 --by comm --all --format tsv 2>/dev/null | tsv '
		{ row = $at["comm"] " " $at[name]; n = $at[column] }
		row ~ part { a += n }
		row ~ of { b += n }
		END { if (b) printf "%.1f", 100 * a / b }' name="${2%:*}" column="${2#*:}" part="$4" of="$5"
}
# known PART... / PART...: the first parts of the program's times, in percent of all
known() {
	cat with/workload.out theirs.known 2>/dev/null | awk -v list="$*" '
		BEGIN { n = split(list, name); for (i = 1; i <= n; i++) if (name[i] == "/") slash = i; else if (slash) b[name[i]]; else a[name[i]] }
		$1 in a { x += $2 }
		$1 in b { y += $2 }
		END { if (y) printf "%.1f", 100 * x / y }'
}
# row WHAT KNOWN SHARE_ARGUMENT...: adds a line of the table; fails if the frame is off by more than 2 points
row() {
	of=$1 true=$2
	shift 2
	with=$(share "$1" "$2" with "$3" "$4") without=$(share "$1" "$2" without "$3" "$4")
	printf '%-60s %6s %6s %9s\n' "$of" "$true" "$with" "$without" >>table.new
	near "$true" "$with" 2
}

contexts='contexts context:self_share' # a table, and its columns
own='^mine (user|syscall|softirq in syscall)$'

parts_of_one_program() {
	capture user random udp || return 1
	kinds='open user random udp softirq'
	row "user code" "$(known user / $kinds)" $contexts '^mine user$' "$own" &&
		row "system calls" "$(known open random udp / $kinds)" $contexts '^mine syscall$' "$own" &&
		row "softirqs in system calls" "$(known softirq / $kinds)" $contexts '^mine softirq in syscall$' "$own"
}
sleeper() {
	capture sleep user random || return 1
	row "wakes a thousand times a second: user code" "$(known user / user random)" $contexts '^mine user$' "$own"
}
turns() {
	taskset -c 0 ./theirs pass wait random 3<>b 4<>a >theirs.known &
	running=$!
	capture wait user pass || return 1
	row "takes turns with another program: user code of both" "$(known user / user random wait pass)" $contexts \
		'^mine user$' '^(mine|theirs) (user|syscall)$'
}
beside() {
	taskset -c 0 ./busy -c 'while :; do :; done' &
	running=$!
	capture user random || return 1
	row "another program is busy: user code" "$(known user / user random)" $contexts '^mine user$' "$own" &&
		row "the busy program, without system calls: user code" 100 $contexts '^busy user$' '^busy (user|syscall)$'
}
# The times of a CPU are those between the moments in which it began and ended to count.
adds_up() {
	[ $again = 1 ] || capture user random udp || return 1
	awk -F'\t' 'NR > 1 && $2 != "" { ns += $7 } END { print ns }' with/frame.tsv >sum
	jq -r '(.window.end_ns - .window.start_ns), (.collectors[] | select(.name == "frame") | .on_after_ns + .off_after_ns)' with/run.json |
		paste -s - | awk -v sum="$(cat sum)" '{ print sum " of " $1 " ns"; d = sum - $1; if (d < 0) d = -d; exit !(d < $1 / 1000 + $2) }'
}
covered() { # perf loses samples on a busy machine
	[ $again = 1 ] || capture user random udp || return 1
	near 100 "$("$zcost" report runs with --format tsv 2>/dev/null | tsv '{ print $at["coverage_pct"] }')" 2
}
# A program that reads single bytes comes to a CPU that another program keeps busy, too late for a part there.
moves() {
	cat >move <<-END
		taskset -c 0 dd if=/dev/zero of=/dev/null bs=1 count=100000000 2>/dev/null &
		p=\$!
		sleep 0.15
		taskset -cp 1 \$p >/dev/null
		sleep 1
		kill \$p
	END
	taskset -c 1 timeout 5 sh -c 'while :; do :; done' &
	running=$!
	"$zcost" collect -o moved --pass profile --collect host,frame --warmup 0 --duration 0.3 --grace 5 -- sh move >log 2>&1
	kill $running
	running=
	awk -F'\t' '$1 == 1 && $4 == "dd" && $5 == "user" { u += $7 } $1 == 1 && $4 == "dd" && $5 == "syscall" { s += $7 }
		$1 == 0 && $5 == "divided" { d += $7 } $1 == 0 && $4 == "dd" { all += $7 }
		END { print u, s, d, all; exit !(u + s > 0 && u / (u + s) > 0.3 && u / (u + s) < 0.7 && d > all / 2) }' moved/frame.tsv
}
# All calls are seen where they are rare. Beside other tests they are frequent, as perf then says, and 90 % of the time lies
# between two samples.
seen() {
	perf stat -x, -a -A -e raw_syscalls:sys_enter -o calls -- sleep 1 2>/dev/null &
	running=$!
	"$zcost" collect -o seen --cpus 0 --pass profile --collect frame --warmup 0.2 --duration 0.5 --grace 0 -- \
		timeout 5 taskset -c 0 sh -c 'while :; do :; done' >log 2>&1
	wait $running
	running=
	most=$(awk -F, '$2 > most { most = $2 + 0 } END { print most + 0 }' calls)
	[ "$most" != 0 ] || most=5000 # perf cannot tell
	awk -F'\t' -v most="$most" '$5 == "user" || $5 == "syscall" { all += $7 } $5 == "divided" { d += $7; n++ }
		END { print all, d, n, most; exit !(n == 1 && all > 1e8 && (d < all * 0.8 || most > 4000)) }' seen/frame.tsv
}
# scenario FUNCTION: tries it, and keeps the table of the last try
scenario() {
	[ -z "$running" ] || kill $running
	running=
	rm -f table.new theirs.known
	"$@"
	status=$?
	cat table.new
	return $status
}
measured() {
	five_times scenario "$1" >said 2>&1
	status=$?
	cat table.new >>table
	[ $status = 0 ] || cat said
	return $status
}
ok "contexts of one program have their parts of its time" measured parts_of_one_program
steady "the times of a CPU add up to the window" adds_up
steady "the samples cover the busy time of a CPU" covered
ok "a program that sleeps has its parts" measured sleeper
ok "two programs that take turns have their parts" measured turns
ok "a program beside a busy one has its parts" measured beside
[ "$(nproc)" = 1 ] || steady "a process divides its time on a CPU without a part as on the others" moves
steady "all system calls are seen unless they are frequent" seen
printf '# %-60s %6s %6s %9s\n' 'percent' known frame 'no frame'
sed 's/^/# /' table

ok "a host without BTF captures" exits 4 env ZCOST_NO_BTF=1 "$zcost" collect -o old --cpus 0 --collect perf,cpu,frame --duration 0.2 --grace 0 -- sleep 1
ok "run.json says why it has no frame" jq -e '.collectors[] | select(.name == "frame") | .state == "unsupported" and (.why | contains("BTF"))' \
	old/run.json
ok "the profile is there" sh -c "'$zcost' analyze old >/dev/null 2>&1; '$zcost' report contexts old --all --format tsv | sed 1d | grep -q ."
done_testing
