#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Sides on other hosts, without hosts: a fake ssh runs the command here, and a fake remote zcost gives answers
# that no zcost gives. No file of a wrong answer reaches the capture or another folder.
. "$(dirname "$0")/../lib.sh"
need jq
TMPDIR=$scratch
export TMPDIR

cat >ssh <<'EOF'
#!/bin/sh
# ssh OPTION... -- HOST COMMAND
for last; do :; done
[ ! -x eight ] || case $last in *--agent*) ./eight agent ;; *--side*sender*) ./eight sender ;; esac
exec sh -c "$last"
EOF

# The file `lie` selects the wrong answer. All other answers are correct.
cat >zcost-there <<EOF
#!/bin/sh
lie=\$(cat $scratch/lie)
case "\$1 \$2" in
--version*)
	[ "\$lie" = old ] && echo zcost 0.0.7 && exit
	[ "\$lie" = noise ] && echo "Welcome to there" && echo
	exec $zcost --version ;;
"collect --agent")
	echo "\$3" >$scratch/key
	[ "\$lie" = twin ] && echo unknown option >&2 && exit 2 ;;
"collect --sync")
	echo "\$*" >>$scratch/asked
	printf 'ready\\nsettled\\nmoving\\n'
	[ "\$lie" = chatter ] && yes | tr -d '\\n'
	read -r said
	echo "\$said" >$scratch/said
	[ "\$lie" = scolds ] && yes 2>/dev/null | head -c 40000000 >&2
	exit 0 ;;
esac
run='{"schema_version": 1, "host": "there", "status": "ok", "window": {"start_ns": 1, "end_ns": 1000000000001}}'
file() { # file NAME CONTENTS [SUM]
	printf 'file %s %s\n%s' "\${#2}" "\$1" "\$2"
	echo "sum \${3:-\$(printf %s "\$2" | sha256sum | cut -d' ' -f1)}"
}
host=there
[ "\$lie" = host ] && host=../../there
if [ "\$lie" = hello ]; then echo 'hello, who is there?'
else echo '{"zcost": "x", "exe": "/there/zcost", "host": "'\$host'", "boot_id": "1", "caps": "1ffffffffff", "paranoid": -1, "folder": "/there"}'; fi
while read -r word rest; do
	case "\$word \$lie" in
	"clock clock") echo "clock soon" ;;
	"clock years") echo "clock 1000000000000000000 0" ;;
	"clock lost") exit 3 ;;
	"clock silent") sleep 60 ;;
	"clock slow") echo >>$scratch/trips; sleep 1; t=\$((\$(date +%s) * 1000000000)); echo "clock \$t \$t" ;;
	clock*) t=\$(($(date +%s) * 1000000000)); echo "clock \$t \$t" ;;
	"send parent") file ../../../../bad x; file run.json "\$run"; echo end ;;
	"send root") file $scratch/bad x; file run.json "\$run"; echo end ;;
	"send dots") file a/../../bad x; file run.json "\$run"; echo end ;;
	"send sum") file run.json "\$run" 0000; echo end ;;
	"send short") file run.json "\$run" -; echo end ;;
	"send unread") file run.json "\$run"; echo "failed run/x: Input/output error"; echo end ;;
	"send garbage") echo "file x run.json" ;;
	"send cut") printf 'file 99 run.json\nxx'; exit 3 ;;
	"send huge") printf 'file 99999999999999999999999 run.json\n'; exit 3 ;;
	"send empty") echo end ;;
	"send large") echo "file 34359738369 perf.data" ;;
	"send json") echo "file 16777217 run.json" ;;
	"send deep") file a/b/c/d/e/f/g/h/i/j x; echo end ;;
	"send many") yes 'file 0 x
sum e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' ;;
	"send failing") yes 'failed x' ;;
	"send endless") echo "file 34359738368 perf.data"; : >$scratch/begun; exec cat /dev/zero ;;
	send*) file run.json "\$run"; file workload.out ok; echo end ;;
	"news elsewhere") file vm/kallsyms x; echo end ;;
	news*) file there/host.json '{"boot_id": "1"}'; echo end ;;
	drop*) echo dropped ;;
	sweep*) echo swept 0 ;;
	esac
done
EOF
chmod +x ssh zcost-there

plan() {
	cat <<-EOT
		$short_plan
		ssh = $scratch/ssh
		start_timeout = ${start:-30}
		stop_timeout = ${stop:-30}
		[side receiver]
		host = ssh://there
		zcost = $scratch/zcost-there
		[variant a]
		receiver = \${bindir}/x '\$HOME' "a b"
	EOT
}
plan >p.ini

lies() { # lies LIE CODE: runs a capture with it, which exits CODE
	rm -rf c
	echo "$1" >lie
	exits "$2" "$zcost" capture p.ini -o c
}

ok "capture succeeds when the agent answers correctly" lies none 0
ok "the capture has the files and the host of the remote side" test "$(cat c/runs/a/measure-01/receiver/workload.out)" = ok -a -s c/hosts/there/host.json
ok "the capture has clock.json with 20 trips" jq -e '.before.error_ns >= 0 and .after.trips == 20' c/runs/a/measure-01/receiver/clock.json
ok "\${bindir} is the remote host's folder" jq -e '.variants[0].settings."receiver.command" | startswith("/there/x ")' c/manifest.json
ok "the window opens by the remote host's clock" awk '{ exit !($2 > 1.6e18 && $3 == 100000000) }' said
cp -r c stranger && echo 0123456789abcdef >stranger/.remote
ok "capture succeeds into a capture that contains a key" exits 0 "$zcost" capture p.ini -o stranger
ok "capture uses a new key instead of the folder's" sh -c 'grep -qx "[0-9a-f]\{16\}-0" key && ! grep 0123456789abcdef key'
ok "capture ignores text that a login prints" lies noise 0
refused() { # refused LIE PATTERN
	lies "$1" 1 && says "$2" err
}
while IFS='|' read -r lie pattern; do
	ok "capture refuses a wrong answer and names it ($lie)" refused "$lie" "$pattern"
done <<'EOF'
twin|ssh://there: zcost there has the same version but is another build: unknown option
host|ssh://there: unreadable answer of zcost there
hello|ssh://there: unreadable answer of zcost there: install the same build
clock|unexpected answer of zcost there: 'clock soon'
years|unexpected answer of zcost there: 'clock 1000000000000000000 0'
sum|receiver: cannot fetch the files: run.json: the checksum is wrong
short|run.json: cannot be read completely on that host
unread|run/x: Input/output error
deep|it sends a file outside of its folder
garbage|receiver: ssh://there: unexpected answer of zcost there
huge|receiver: ssh://there: (unexpected answer of zcost there|the connection broke|sends more than 32 GiB)
empty|a/measure-01 failed 3 times: receiver: zcost collect exited with status 0
cut|receiver: ssh://there: the connection broke
lost|receiver: ssh://there: the connection broke
old|ssh://there: has zcost 0.0.7, and this is [0-9.]*: install the same version there, or
elsewhere|it sends a file outside of its folder
EOF
ok "the refusal of the last one leaves no undo state and no files of another host" test ! -e "$(undo_state c)" -a ! -e c/hosts/vm
for lie in parent root dots; do
	ok "capture exits 1 when the agent sends a file outside of its folder ($lie)" lies $lie 1
	ok "the error reports a file outside of the folder ($lie)" says 'receiver: cannot fetch the files: it sends a file outside of its folder' err
	ok "capture writes no file outside of its folder ($lie)" test -z "$(find "$scratch" -name bad)"
	ok "capture discards the other files of that run ($lie)" test ! -e c/runs/a/measure-01/receiver
done
limit() { # limit LIE MESSAGE
	ok "capture exits 1 when the agent sends too much ($1)" lies $1 1
	ok "the error names the host and the limit ($1)" says "receiver: ssh://there: $2" err
	ok "capture leaves no file of a run that was too much ($1)" test -z "$(find c -name .incoming -o -name perf.data -o -name x)"
}
limit large 'sends more than 32 GiB for one run, with perf.data: make the run shorter'
limit json 'sends a run.json of 16 MiB; the limit is 16 MiB, and no zcost writes more: look at that host'
limit many 'sends more than 10000 files for one run: no zcost does that; look at that host'
limit failing 'sends more than 10000 files for one run: no zcost does that; look at that host'
ok "the log of a side keeps 16 MiB of what another host prints" sh -c 'echo scolds >lie; rm -rf c; "$1" capture p.ini -o c 2>err;
	n=$(find c -name receiver.log -size +1M -printf %s); [ "$n" = 16777216 ] || { find c -ls; cat err; exit 1; }' - "$zcost"
ok "capture succeeds when another host prints too much" jq -e '.runs[0].status == "ok"' c/manifest.json

# interrupt LIE FILE: sends SIGINT to a capture with that lie when FILE is there. It has ended a minute later.
interrupt() {
	rm -rf c begun trips
	echo "$1" >lie
	"$zcost" capture p.ini -o c 2>err &
	pid=$!
	soon test -e "$2"
	sleep 0.2
	kill -INT $pid
	timeout 60 tail --pid=$pid -f /dev/null || { kill -KILL $pid; return 1; }
	wait $pid
	[ $? = 1 ] && says 'interrupted: 0 runs' err
}
ok "SIGINT ends a capture while a host sends without end" interrupt endless begun
ok "SIGINT leaves no file of that host" test -z "$(find c -name .incoming -o -name perf.data)"
ok "SIGINT ends a capture while it compares clocks" interrupt slow trips
stop=2 plan >p.ini
ok "SIGINT ends a capture while a side prints without end" interrupt chatter c/runs/a/.measure-01.tmp/receiver.log
stop=2 plan | sed 's/^repeats.*/repeats = 2/; s/\$HOME/${seconds}/' >p.ini
rm asked
ok "capture succeeds when each clock takes a second" lies slow 0
ok "\${seconds} of the second run includes the comparison of the clocks" sh -c 'set -- $(sed "s/.* -- [^ ]* \([0-9]*\) .*/\1/" asked); [ $2 -gt $1 ]'
ok "capture makes fewer trips to a slow clock" test "$(wc -l <trips)" -lt 20
stop=2 plan >p.ini
ok "capture exits 1 when the agent does not answer" lies silent 1
ok "the error reports no answer within stop_timeout" says 'receiver: ssh://there: no answer for 2 s \(stop_timeout\)' err
plan >p.ini
# The real zcost over slow connections: lines of the clock with a number (from 0) that matches $there or $back take
# 40 ms. A trip that is slow in one direction gives an offset that is wrong by 20 ms, with an error of 20 ms.
cat >slow <<'EOF'
#!/bin/sh
for last; do :; done
late() { perl -ne 'BEGIN { $| = 1; $at = shift } select undef, undef, undef, .04 if /^clock/ && $n++ =~ $at; print' "$1"; }
case $last in
*--agent*) late "$there" | sh -c "$last" | late "$back" ;;
*) exec sh -c "$last" ;;
esac
EOF
chmod +x slow
sed "s,^ssh = .*,ssh = $scratch/slow,; s,^zcost = .*,zcost = $scratch/real/zcost\ncollect = cpu,
	s,^receiver = .*,receiver = sleep 62.$$," p.ini >slow.ini
mkdir real
ln -s "$zcost" real/zcost
slow() { # slow THERE BACK CONDITION: of the first comparison of the clocks
	rm -rf c
	there=$1 back=$2 exits 0 "$zcost" capture slow.ini -o c &&
		jq -e ".before | .rtt_ns >= 4e7 and (.offset_ns | fabs) <= .error_ns and $3" c/runs/a/measure-01/receiver/clock.json
}
export there back
ok "slow answers increase the error of the clock offset and stay within it" slow never . '.error_ns >= 2e7 and .offset_ns <= -1e7'
steady "slow trips in turns do not increase the error of the clock offset" slow '[02468]$' '[13579]$' '.error_ns < 2e7'

# Each of the ten connections, and of the eight senders that start together, waits until seven others have begun.
cat >eight <<'EOF'
#!/bin/sh
# eight NAME: waits until eight processes have called it with the name; those after the eighth do not wait
mkdir -p "$0.$1" && : >"$0.$1/$$"
until [ "$(ls "$0.$1" | wc -l)" -ge 8 ]; do sleep 0.05; done
EOF
chmod +x eight
{
	plan | sed '/^\[variant/,$d'
	seq -f '[side sender%g]' 9 | sed "s,$,\nrole = sender\nhost = ssh://there\nzcost = $scratch/zcost-there,"
	printf '[variant a]\nreceiver = x\n'
	seq -f 'sender%g = x' 9
} >many.ini
echo none >lie
many() { # the limit of open files is below what ten connections and ten sides need
	rm -rf m eight.*
	exits 0 sh -c "ulimit -Sn 40; exec '$zcost' capture many.ini -o m"
}
ok "eight hosts are connected at a time, and eight senders start together" many
ok "all ten sides have their files" test "$(cat m/runs/a/measure-01/*/workload.out)" = "$(yes ok | head -n 10 | tr -d '\n')"
rm eight

sed "s,^ssh = .*,ssh = $scratch/nonesuch," p.ini >q.ini
ok "capture exits 1 when the ssh command does not exist" exits 1 "$zcost" capture q.ini -o d
ok "the error names the missing ssh command" says 'cannot run .*nonesuch: No such file' err
printf '#!/bin/sh\nsleep 60\n' >ssh
start=3 plan >p.ini
ok "capture exits 1 when ssh does not connect" lies none 1
ok "the error reports that the host is not reached within start_timeout" says 'ssh://there: not reached in 3 s \(start_timeout\)' err
plan >p.ini
"$zcost" capture p.ini -o e 2>err &
pid=$!
connecting() { test -e "$(undo_state e)/remote"; }
soon connecting
kill -INT $pid
ok "SIGINT ends a capture while ssh connects" sh -c "timeout 120 tail --pid=$pid -f /dev/null"
ok "the message reports the interruption and 0 runs" says 'interrupted: 0 runs' err
ok "capture leaves no folder of an ssh connection" test -z "$(ls -d zcost-ssh* 2>/dev/null)"
done_testing
