#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `make demo` runs this: demo.sh BUILD DEMO_DIR
#
# It captures samples/demo.ini into DEMO_DIR/capture, writes DEMO_DIR/report.md and DEMO_DIR/page.html, and draws the
# charts in DEMO_DIR/charts. It replaces those of an earlier demo, and it always removes the test bed.
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
# Most machines have no power meter, so T^2/P uses this model: watts of an idle server and per CPU.
model=idle=230,per_cpu=3.5
child=
stopped=
lossy=

say() {
	echo "demo: $*" >&2
}

# There is one test bed, so only one demo runs on a machine at a time, from any build folder.
exec 9</run
flock -n 9 || { say "another demo is running on this machine"; exit 1; }

finish() {
	sh "$here/testbed.sh" down $bed
	[ -z "${SUDO_UID:-}" ] || chown -R "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" "$demo"
}
trap finish EXIT
trap 'stopped=1; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null' INT TERM HUP

# run COMMAND...: runs it in the background, so that a signal to this shell reaches it at once.
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

# step WHAT COMMAND...: exit code 4 means that the data is incomplete; the command has said how.
step() {
	what=$1
	shift
	run "$@"
	case $? in
	0) ;;
	4) lossy=1 ;;
	*)
		say "$what failed (the message above says why); see $demo for the files so far"
		exit 1
		;;
	esac
}

report() {
	sh "$here/report.sh" "$zcost" "$demo/capture" "$demo/charts" $model >"$demo/report.md"
}

found() { # prints the main results; report.md has all
	"$zcost" report zerocopy "$demo/capture"
	echo
	"$zcost" report roi "$demo/capture" --power-model $model
	echo
	for v in mmap uring; do
		"$zcost" compare baseline $v -C "$demo/capture"
		echo
	done
	"$zcost" report why "$demo/capture"
}

sh "$here/testbed.sh" down $bed # a demo that was killed may have left it
rm -rf "$demo/capture" "$demo/charts" "$demo/report.md" "$demo/page.html"
say "$("$zcost" capture "$plan" --dry-run | tail -n 1)"
step "the capture" "$zcost" capture "$plan" -o "$demo/capture"
step "the analysis" "$zcost" analyze "$demo/capture"
step "drawing" "$zcost" plot "$demo/capture" -o "$demo/charts" --format svg,png \
	--power-model $model
step "the report" report
step "the page" "$zcost" report --html "$demo/page.html" "$demo/capture" --power-model $model
run found

echo "report   $demo/report.md"
echo "charts   $demo/charts"
echo "capture  $demo/capture"
echo "page     $demo/page.html"
[ -z "$lossy" ] || say "some data is incomplete: the notes above and in report.md say which"
