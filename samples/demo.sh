#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What `make demo` shows: demo.sh BUILD DEMO_DIR
#
# Captures samples/demo.ini into DEMO_DIR/capture (anew each time), explains it in DEMO_DIR/report.md,
# draws it into DEMO_DIR/charts. However it ends, the test bed is gone afterwards.
set -u

[ $# = 2 ] || { echo "usage: demo.sh BUILD DEMO_DIR" >&2; exit 2; }
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null ||
		{ echo "demo: namespaces, perf and BPF need root: run 'make demo' as root" >&2; exit 1; }
	exec sudo sh "$0" "$@"
fi

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd) || exit 1
mkdir -p "$2" && demo=$(cd "$2" && pwd) || exit 1
zcost=$build/zcost
plan=$here/demo.ini
bed=zcost-demo # as in the plan
# No meter here: T^2/P comes from this model, and says so. A server's idle and per-CPU watts.
model=idle=230,per_cpu=3.5
child=
stopped=
lossy=

say() {
	echo "demo: $*" >&2
}

# One at a time on this machine, whatever folder it was built in: there is one bed.
exec 9</run
flock -n 9 || { say "another demo is running on this machine"; exit 1; }

finish() {
	sh "$here/testbed.sh" down $bed
	[ -z "${SUDO_UID:-}" ] || chown -R "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" "$demo"
}
trap finish EXIT
trap 'stopped=1; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null' INT TERM HUP

# run COMMAND...: in the background, so that a signal to this shell reaches it at once.
run() {
	[ -z "$stopped" ] || exit 130
	"$@" 9<&- &
	child=$!
	wait "$child"
	code=$?
	while [ -n "$stopped" ] && kill -0 "$child" 2>/dev/null; do
		wait "$child"
	done
	child=
	[ -z "$stopped" ] || { say "interrupted; the test bed is removed"; exit 130; }
	return "$code"
}

# step WHAT COMMAND...: 4 is done, but incomplete, and the command has said how.
step() {
	what=$1
	shift
	run "$@"
	case $? in
	0) ;;
	4) lossy=1 ;;
	*)
		say "$what failed (the message above says why); what there is lies in $demo"
		exit 1
		;;
	esac
}

report() {
	sh "$here/report.sh" "$zcost" "$demo/capture" "$demo/charts" $model >"$demo/report.md"
}

found() { # what a reader wants first; the rest is in report.md
	"$zcost" report zerocopy "$demo/capture"
	echo
	"$zcost" report roi "$demo/capture" --power-model $model
	echo
	for v in mmap uring; do
		"$zcost" compare baseline $v -C "$demo/capture"
		echo
	done
}

sh "$here/testbed.sh" down $bed # left by a demo that was killed outright
rm -rf "$demo/capture" "$demo/charts" "$demo/report.md"
say "$("$zcost" capture "$plan" --dry-run | tail -n 1)"
step "the capture" "$zcost" capture "$plan" -o "$demo/capture"
step "the analysis" "$zcost" analyze "$demo/capture"
step "drawing" "$zcost" plot "$demo/capture" -o "$demo/charts" --format svg,png \
	--power-model $model
step "the report" report
run found

echo "report   $demo/report.md"
echo "charts   $demo/charts"
echo "capture  $demo/capture"
[ -z "$lossy" ] || say "some data is incomplete: the notes above and in report.md say which"
