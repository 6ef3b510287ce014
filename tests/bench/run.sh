#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# make bench: each ratio compares interleaved runs, and is a ratio of medians of five. Run as root.
#   run.sh BUILD [NAME...]     NAME: a script in this folder, without .sh; default all
set -eu
here=$(cd "$(dirname "$0")" && pwd)
ZCOST_BUILD=$(cd "$1" && pwd)
export ZCOST_BUILD
shift
[ $# -gt 0 ] || set -- perfdata reports linear folded tracetable syscalls waits tcpzc measure attach agents lab intervals changes
failed=
for name; do
	echo "== $name"
	sh "$here/$name.sh" || failed="$failed $name"
done
[ -z "$failed" ] || { echo "bench: failed:$failed" >&2; exit 1; }
