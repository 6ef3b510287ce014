#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# busy.sh COMMAND...: runs the command beside two programs that never sleep, as on a machine with other work. They end with
# the command, and after an hour in any case.
busy='while :; do :; done'
timeout 3600 sh -c "$busy" &
first=$!
timeout 3600 sh -c "$busy" &
second=$!
trap 'kill $first $second 2>/dev/null' EXIT
trap 'exit 130' INT TERM
"$@"
