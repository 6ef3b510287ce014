#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `make try` runs this: try.sh ZCOST TRY_DIR
#
# For each capture in samples/captures it writes TRY_DIR/NAME (the capture, unpacked and analyzed), TRY_DIR/NAME-charts
# and TRY_DIR/NAME.html, and prints the commands that did it with their findings. It replaces those of an earlier try.
set -u

[ $# = 2 ] || { echo "usage: try.sh ZCOST TRY_DIR" >&2; exit 2; }
here=$(dirname "$0")
zcost=$1 dir=$2
mkdir -p "$dir" || exit 1

# zc ARGUMENT...: prints the command and runs it. Exit code 4 means that data is incomplete; the command has said how.
zc() {
	echo "+ zcost $*"
	"$zcost" "$@"
	code=$?
	[ $code = 0 ] || [ $code = 4 ] || { echo "try: that failed (the message above says why)" >&2; exit 1; }
}

try_capture() { # try_capture NAME VARIANT
	rm -rf "$dir/$1" "$dir/$1-charts" "$dir/$1.html"
	zc unpack "$here/captures/$1.tar.zst" -o "$dir/$1"
	zc analyze "$dir/$1"
	zc report summary "$dir/$1"
	zc compare baseline "$2" -C "$dir/$1" --format commit
	zc plot "$dir/$1" -o "$dir/$1-charts"
	zc report --html "$dir/$1.html" "$dir/$1"
	echo
}

try_capture mapped mmap
try_capture copied zerocopy

# Where the browser is not in the foreground, its messages would hide the lines above.
pages="$dir/mapped.html $dir/copied.html"
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && command -v xdg-open >/dev/null; then
	for page in $pages; do xdg-open "$page" >/dev/null 2>&1; done
fi
for name in mapped copied; do
	echo "capture  $dir/$name"
	echo "charts   $dir/$name-charts"
done
for page in $pages; do echo "page     $page  (open this in a browser)"; done
