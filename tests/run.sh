#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# run.sh OPTION... TEST...: runs the tests with prove. What else the machine does can spoil a test that measures it. So a test of the
# host half or with perf record that failed runs once more, and nothing runs beside it. Other failures are final, and so are
# more than four.
set -u
state=$ZCOST_BUILD/prove.state
rm -f "$state"
prove --state=save --statefile="$state" --exec '' --timer --failures --comments --directives "$@" && exit
failed=$(prove --state=failed --statefile="$state" --dry) && [ -n "$failed" ] && [ "$(echo "$failed" | wc -l)" -le 4 ] || exit 1
for t in $failed; do
	case $t in
	*/host-*.t) ;;
	*.t) grep -q 'perf record' "$t" ;;
	*) false ;;
	esac || exit 1
done
echo "Once more, because these measure the machine:" $failed
prove --exec '' --timer --failures --comments --directives $failed || exit 1
echo "Passed at the second try:" $failed
