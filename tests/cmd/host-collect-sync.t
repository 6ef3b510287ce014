#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# --sync: another process opens the window through standard input and output.
. "$(dirname "$0")/../lib.sh"

mkfifo in out

# begin COMMAND...: starts collect in the background, with fd 3 as its input and fd 4 as its output
begin() {
	rm -rf r
	"$zcost" collect -o r --sync --collect null,cpu --warmup 99 --duration 99 -- "$@" <in >out 2>err &
	pid=$!
	exec 3>in 4<out
	while read -r said <&4; do
		[ "$said" != ready ] || break
	done
}

end() { # closes both and sets $code to collect's exit status
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

steered() { # the window opens at the requested time, with the requested length
	begin sleep 2
	at=$(($(now) + 300000000))
	echo "go $at 400000000" >&3
	wait $pid
	code=$?
	exec 3>&- 4<&-
	[ "$said" = ready ] && [ $code = 0 ] && jq -e ".window.start_ns - $at | . >= 0 and . < 50e6" r/run.json &&
		jq -e ".window.end_ns - $at - 4e8 | . >= 0 and . < 1e8" r/run.json
}
steady "--sync opens the window at the requested time for the requested length" steered

at_once() {
	begin sleep $again.5
	echo "go 1 0" >&3
	echo "go 5 5" >&3
	wait $pid
	end
	jq -e '.status == "ok" and .window.end_ns - .window.start_ns > 2e8' r/run.json
}
steady "a start in the past opens the window at once, and length 0 lasts until the command ends" at_once

begin sh -c 'echo $$ >pid; exec sleep 100'
echo abort >&3
wait $pid
code=$?
ok "'abort' makes collect exit 1" test $code = 1
ok "run.json marks the run as aborted through standard input" is '.status + " " + .why' "failed aborted through standard input"
ok "'abort' ends the command" sh -c '! kill -0 $(cat pid)'
end

begin sh -c 'echo $$ >pid; exec sleep 100'
end
ok "collect exits 1 when standard input is closed before the window" test $code = 1
ok "run.json gives the closed standard input as the reason" is .why "standard input was closed before the run was over"
ok "the command ends when standard input is closed before the window" sh -c '! kill -0 $(cat pid)'

begin sh -c 'echo $$ >pid; exec sleep 100'
echo "go 1 60000000000" >&3
soon test -s r/proc_stat.snap
end
ok "collect exits 1 when standard input is closed inside the window" test $code = 1
ok "the command ends when standard input is closed inside the window" sh -c '! kill -0 $(cat pid)'
ok "readings before standard input was closed are in the run" test -s r/proc_stat.snap

begin sleep 100
echo "start now" >&3
wait $pid
ok "an unknown line on standard input fails the run" is .why "standard input has neither 'go START_NS DURATION_NS' nor 'abort'"
end

begin sleep 0.2
wait $pid
ok "a command that ends before 'go' fails the run" is '.status' failed
ok "the error reports that the command ended before the window" says 'ended before the window opened' err
end

rm -rf r
"$zcost" collect -o r --sync --collect null -- no-such-program </dev/null >out.txt 2>err
ok "collect does not print 'ready' when the command cannot start" sh -c '! grep ready out.txt'
ok "the error names the command that cannot start" says 'cannot run no-such-program' err

done_testing
