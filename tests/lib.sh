# SPDX-License-Identifier: GPL-2.0-only
# The shell half of the tests: TAP, one scratch folder per test file, gone at the end.
#
#   . "$(dirname "$0")/../lib.sh"
#   ok "a and b are equal" test "$a" = "$b"
#   done_testing

set -u
# Under nohup, SIGHUP is ignored, and a shell cannot undo it. Tests send it and expect its usual action.
case $(awk '$1 == "SigIgn:" { print $2 }' /proc/self/status) in
*[13579bdf]) exec perl -e '$SIG{HUP} = "DEFAULT"; exec @ARGV' sh "$0" "$@" ;;
esac
LC_ALL=C
export LC_ALL
umask 022 # other users read some of what tests make
tests=$(cd "$(dirname "$0")/.." && pwd)
top=$(dirname "$tests")
build=${ZCOST_BUILD:-$top/build}
zcost=$build/zcost
tcpzc=$build/tcpzc
LSAN_OPTIONS=suppressions=$tests/lsan.supp:print_suppressions=0
export LSAN_OPTIONS
scratch=$(mktemp -d "${TMPDIR:-/tmp}/zcost-test.XXXXXX")
planned=0
failed=0
user_home=${HOME-}
# perf's build-id cache is below HOME: this keeps it apart from the user's and from other tests'. perf finds symbols
# of the vdso only through the cache; perf record --buildid-all adds the vdso.
HOME=$scratch/.home
export HOME
mkdir "$HOME"
ZCOST_STATE=$scratch/.state # zcost's undo state
export ZCOST_STATE
mkdir -m 700 "$ZCOST_STATE"

cleanup() { :; } # a test may define its own
trap 'cleanup; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
cd "$scratch" || exit 1

# perf record looks for BPF programs once a second, and at its end waits for the next look: nearly a second of each
# recording. Without a loaded program this wrapper disables it. Tests that load programs, and a few that check perf's
# default, use `command perf record`.
if command -v perf >/dev/null; then
	perf() {
		if [ "$1" = record ]; then
			: "${bpf_programs=$(grep -c 'bpf_prog_.*\[bpf\]$' /proc/kallsyms)}"
			[ "$bpf_programs" != 0 ] || { shift && set -- record --no-bpf-event "$@"; }
		fi
		command perf "$@"
	}
fi

# SQL: the key of a row of metric as one text, NAME[:OBJECT][:cpuN]; and a statement that types the keys of rows
# whose name was inserted as NAME:OBJECT.
spelled="name || IFNULL(':' || object, '') || IFNULL(':cpu' || cpu, '')"
typed="UPDATE OR REPLACE metric SET object = substr(name, instr(name, ':') + 1), name = substr(name, 1, instr(name, ':') - 1)
	WHERE instr(name, ':')"

# ok WHAT COMMAND...: one test; prints the command's output when it fails.
ok() {
	what=$1
	shift
	planned=$((planned + 1))
	if "$@" >.ok.log 2>&1; then
		echo "ok $planned - $what"
	else
		failed=$((failed + 1))
		echo "not ok $planned - $what"
		printf '# failed: %s\n' "$*" | head -n 5 | cut -c1-400
		sed 's/^/# /' .ok.log | tail -n 30
	fi
}

# steady WHAT COMMAND...: as ok, for a command that a busy machine may disturb: up to five tries until it succeeds.
# A fault of the program fails every try. $again is the number of the try: a window that may be too short grows with it.
steady() {
	what=$1
	shift
	ok "$what" five_times "$@"
}
five_times() {
	for again in 1 2 3 4 5; do
		"$@" && return
		echo "(time $again of 5)"
	done
	return 1
}

# soon COMMAND...: waits until it succeeds, for a minute, or longer on a busy machine
soon() {
	for _ in $(seq 1200); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.05
	done
	echo "in vain: $*"
	return 1
}

# exits CODE COMMAND...: the command exits with CODE; its output is in out and err.
exits() {
	code=$1
	shift
	"$@" >out 2>err
	got=$?
	[ "$got" = "$code" ] || { echo "exit $got, expected $code"; cat err; return 1; }
}

says() { # says PATTERN FILE: FILE has a match
	grep -Eq -- "$1" "$2" || { echo "no '$1' in:"; cat "$2"; return 1; }
}

# tsv PROGRAM [NAME=VALUE]... [FILE]: runs the awk program for each row of a table; $at["name"] is a cell of the column
tsv() {
	for_rows=$1
	shift
	awk -F'\t' "NR == 1 { for (i = 1; i <= NF; i++) at[\$i] = i; next }
		$for_rows" "$@"
}

is() { # is GOT EXPECTED
	[ "$1" = "$2" ] || { echo "got '$1', expected '$2'"; return 1; }
}

collector() { # collector NAME JQ: prints what run.json of the run r says of a collector
	jq -r ".collectors[] | select(.name == \"$1\") | $2" r/run.json
}

figure() { # figure NAME [RUN]: prints a metric of a single run, of r without RUN
	sqlite3 "${2:-r}/zcost.db" "SELECT value FROM metric WHERE $spelled = '$1'"
}

notes_of() { # notes_of CAPTURE: prints every note of its runs as "severity text"
	"$zcost" report runs "$1" --format json | jq -r '.notes[] | .severity + " " + .text'
}

sums() { # sums CAPTURE: the manifest lists exactly the files of all runs and hosts, with the right checksums
	(cd "$1" && find runs hosts -type f | sort | xargs sha256sum) >files
	jq -r '(.runs[] | "runs/\(.variant)/\(.pass)-0\(.repeat)/" as $d | .files | to_entries[] |
		"\(.value)  \($d)\(.key)"), (.hosts | to_entries[] | "\(.value)  hosts/\(.key)")' \
		"$1/manifest.json" | sort -k2 >listed
	diff files listed
}

# next_port: sets $port to an unused port below the kernel's ephemeral ports.
next_port() {
	port=$((${port:-20000 + $$ % 10000} + 1))
	while grep -qsi ":$(printf %04x $port) " /proc/net/tcp /proc/net/tcp6 /proc/net/udp /proc/net/udp6; do
		port=$((port + 1))
	done
}

# The head of a plan of one short run, which other keys of [plan] may follow.
short_plan='[plan]
repeats = 1
seed = 2
passes = measure
warmup = 0.05
duration = 0.1
grace = 0'

# in_family COMMAND...: becomes the command, which has a mark in its environment, as all processes that it starts have
in_family() {
	FAMILY=$scratch exec "$@"
}
family() { # prints the pids of these processes
	grep -lzs "^FAMILY=$scratch\$" /proc/[0-9]*/environ | sed 's,/proc/\([0-9]*\)/.*,\1,'
}
no_family() {
	[ -z "$(family)" ]
}
gone() { # waits until all of them have ended
	soon no_family && return
	for p in $(family); do tr '\0' ' ' </proc/$p/cmdline; echo; done
	return 1
}

# undo_state CAPTURE: prints the folder of its undo state
undo_state() {
	born=$(stat -c %w "$1" 2>/dev/null) || { echo /nowhere; return; }
	[ "$born" = - ] && born=0 || born=$(date -d "$born" +%s%N)
	echo "${ZCOST_STATE-/run}/zcost/$(stat -c '%d-%i' "$1")-$born"
}

# limit_memory KIB: limits the commands that follow. The sanitizers reserve terabytes, so no limit applies to them.
limit_memory() {
	grep -qE '__[at]san_init' "$zcost" || ulimit -v "$1"
}

# near A B TOLERANCE: A and B differ by at most TOLERANCE
near() {
	awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; if (d < 0) d = -d
		if (a == "" || b == "" || d > t) { print a " is not within " t " of " b; exit 1 } }'
}

# alone CAPTURE BASE NEW COST ARGUMENT...: with --workload-only each table adds up to the cost, with a tolerance, that COST VARIANT prints
alone() {
	capture=$1 base=$2 new=$3 cost_of=$4
	shift 4
	for end in base:$base new:$new; do
		for table in contexts components functions modules compare:contexts compare:components compare:functions; do
			case $table in
			compare:*) words="compare $base $new -C $capture --table ${table#*:}" ;;
			*) words="report $table $capture --variant ${end#*:}" ;;
			esac
			"$zcost" $words --workload-only --all --format tsv "$@" >out 2>err
			near "$(tsv '{ s += $at["self_ns" in at ? "self_ns" : end "_ns"] } END { print s }' end=${end%:*} out)" $($cost_of ${end#*:}) ||
				{ echo "of $words" && return 1; }
		done
	done
}

skip_all() {
	echo "1..0 # SKIP $*"
	exit 0
}

need() { # need NAME...: the test needs root, or a program of that name
	for needed; do
		case $needed in
		root) [ "$(id -u)" = 0 ] || skip_all "needs root" ;;
		*) command -v "$needed" >/dev/null || skip_all "needs $needed" ;;
		esac
	done
}

skip() { # skip WHAT WHY: one test that this machine cannot run
	planned=$((planned + 1))
	echo "ok $planned - $1 # SKIP $2"
}

# bpf_runs: this machine has all that the collectors with BPF need. There a collector that is unsupported has a fault.
bpf_runs() {
	[ "$(id -u)$(uname -m)" = 0x86_64 ] && [ -r /sys/kernel/btf/vmlinux ] && grep -q ' bpf_raw_tp_link_attach$' /proc/kallsyms &&
		[ $((0x$(awk '/^CapEff/ { print $2 }' /proc/self/status) >> 39 & 1)) = 1 ] && # CAP_BPF
		[ "$(stat -Lc %i /proc/self/ns/pid)" = 4026531836 ] && # the first PID namespace
		printf '6.6\n%s\n' "$(uname -r)" | sort -CV
}

# works COLLECTOR COMMAND...: one test: the command measures the run r, in which the collector is ok. A machine that cannot have the
# collector skips the file.
works() {
	of=$1
	shift
	rm -rf r
	"$@" >.measured 2>&1
	why=$(collector "$of" 'select(.state == "unsupported").why')
	[ -z "$why" ] || bpf_runs || skip_all "$why"
	steady "the collector $of works" works_again "$@"
}
works_again() {
	[ $again = 1 ] || "$@" >.measured 2>&1
	is "$(collector "$of" .state)" ok || { collector "$of" .why; cat .measured; return 1; }
}

done_testing() {
	echo "1..$planned"
	[ "$failed" = 0 ]
	exit
}
