#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# --sync: somebody else opens the window, over standard input and output.
. "$(dirname "$0")/../lib.sh"

mkfifo in out

# begin COMMAND...: collect in the background, to steer through fd 3 (in) and 4 (out)
begin() {
	rm -rf r
	"$zcost" collect -o r --sync --collect null,cpu --warmup 99 --duration 99 -- "$@" <in >out 2>err &
	pid=$!
	exec 3>in 4<out
	read -r said <&4
}

end() { # exit code in $code
	exec 3>&- 4<&-
	wait $pid
	code=$?
}

now() { # CLOCK_MONOTONIC in ns: /proc/uptime also counts the time that the machine was suspended
	perl -MTime::HiRes=clock_gettime,CLOCK_MONOTONIC -e 'printf "%.0f", 1e9 * clock_gettime(CLOCK_MONOTONIC)'
}

is() {
	got=$(jq -r "$1" r/run.json)
	[ "$got" = "$2" ] || { echo "$1 is '$got', expected '$2'"; cat r/run.json err; return 1; }
}

steered() { # the window opens at the time given, and is as long as told
	begin sleep 2
	at=$(($(now) + 300000000))
	echo "go $at 400000000" >&3
	wait $pid
	code=$?
	exec 3>&- 4<&-
	[ "$said" = ready ] && [ $code = 0 ] && jq -e ".window.start_ns - $at | . >= 0 and . < 50e6" r/run.json &&
		jq -e '.window.end_ns - .window.start_ns - 4e8 | . >= 0 and . < 1e8' r/run.json
}
steady "a run steered from outside" steered

begin sleep 1.5
echo "go 1 0" >&3
echo "go 5 5" >&3
wait $pid
ok "a time that is past: at once; no length: until the command ends" \
	jq -e '.status == "ok" and .window.end_ns - .window.start_ns > 2e8' r/run.json
end

begin sh -c 'echo $$ >pid; exec sleep 100'
echo abort >&3
wait $pid
code=$?
ok "abort: exit 1" test $code = 1
ok "the run is marked" is '.status + " " + .why' "failed aborted through standard input"
ok "the command is gone" sh -c '! kill -0 $(cat pid)'
end

begin sh -c 'echo $$ >pid; exec sleep 100'
end
ok "whoever steered is gone before the window: exit 1" test $code = 1
ok "the run says so" is .why "standard input was closed before the run was over"
ok "the command is gone" sh -c '! kill -0 $(cat pid)'

begin sh -c 'echo $$ >pid; exec sleep 100'
echo "go 1 60000000000" >&3
sleep 0.3
end
ok "gone in the window: exit 1" test $code = 1
ok "the command is gone" sh -c '! kill -0 $(cat pid)'
ok "what was measured is kept" test -s r/proc_stat.snap

begin sleep 100
echo "start now" >&3
wait $pid
ok "nonsense is not taken for a go" is .why "standard input said neither 'go START_NS DURATION_NS' nor 'abort'"
end

begin sleep 0.2
wait $pid
ok "a command that ends while all wait" is '.status' failed
ok "is told" says 'ended before the window opened' err
end

rm -rf r
"$zcost" collect -o r --sync --collect null -- no-such-program </dev/null >out.txt 2>err
ok "a command that cannot start is not ready" test ! -s out.txt
ok "and is told" says 'cannot run no-such-program' err

done_testing
