#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Sides on other hosts, without hosts: what stands for ssh runs the command here, and what stands for
# zcost over there says what no zcost would. Nothing of it gets into the capture, or anywhere else.
. "$(dirname "$0")/../lib.sh"
command -v jq >/dev/null || skip_all "needs jq"
TMPDIR=$scratch
export TMPDIR

cat >ssh <<'EOF'
#!/bin/sh
# ssh OPTION... -- HOST COMMAND
for last; do :; done
exec sh -c "$last"
EOF

# What is asked for is answered as the file `lie` says, else well.
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
	echo ready
	read -r said
	echo "\$said" >$scratch/said
	exit 0 ;;
esac
run='{"schema_version": 1, "host": "there", "status": "ok", "window": {"start_ns": 1, "end_ns": 2}}'
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
	"clock lost") exit 3 ;;
	"clock silent") sleep 60 ;;
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
		[plan]
		ssh = $scratch/ssh
		passes = measure
		repeats = 1
		warmup = 0
		duration = 0.05
		grace = 0
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

lies() { # lies LIE CODE: a capture with it
	rm -rf c
	echo "$1" >lie
	exits "$2" "$zcost" capture p.ini -o c
}

ok "good answers" lies none 0
ok "  make a capture" test "$(cat c/runs/a/measure-01/receiver/workload.out)" = ok -a -s c/hosts/there/host.json
ok "  with a clock" jq -e '.before.error_ns >= 0 and .after.trips == 20' c/runs/a/measure-01/receiver/clock.json
ok "  \${bindir} is there" jq -e '.variants[0].settings."receiver.command" | startswith("/there/x ")' c/manifest.json
ok "  the window opens by that clock" awk '{ exit !($2 > 1.6e18 && $3 == 50000000) }' said
mkdir stranger && echo 0123456789abcdef >stranger/.remote
ok "a key in a folder, which may be the key of another capture" exits 0 "$zcost" capture p.ini -o stranger
ok "  is not used" sh -c 'grep -qx "[0-9a-f]\{16\}r" key && ! grep 0123456789abcdef key'
ok "a login that prints something" lies noise 0
ok "another version over there" lies old 1
ok "  both are told" says "ssh://there: has zcost 0.0.7, and this is [0-9.]*: install the same version there, or" err
ok "  nothing is kept for next time" test ! -e "$(undo_state c)"
ok "another build of the version" lies twin 1
ok "  is told" says "ssh://there: zcost there has the same version but is another build: unknown option" err
for lie in parent root dots; do
	ok "a file that belongs elsewhere ($lie)" lies $lie 1
	ok "  is told" says 'receiver: the files cannot be brought back: it sends a file outside of its folder' err
	ok "  and gets nowhere" test -z "$(find "$scratch" -name bad)"
	ok "  nor does the rest" test ! -e c/runs/a/measure-01/receiver
done
ok "facts of another host" lies elsewhere 1
ok "  get nowhere" test ! -e c/hosts/vm
ok "a wrong sum" lies sum 1
ok "  is told" says 'receiver: the files cannot be brought back: run.json: the checksum is wrong' err
ok "a file that got shorter" lies short 1
ok "  is told" says 'run.json: could not be read whole on that host' err
ok "a file that cannot be read" lies unread 1
ok "  is told with its reason" says 'run/x: Input/output error' err
for lie in garbage huge; do
	ok "an odd answer ($lie)" lies $lie 1
	ok "  is told" says 'receiver: ssh://there: (unexpected answer of zcost there|the connection broke)' err
done
ok "no files at all" lies empty 1
ok "  is told" says 'a/measure-01 failed: receiver: zcost collect exited with status 0' err
for lie in cut lost; do
	ok "an end in the middle ($lie)" lies $lie 1
	ok "  is told" says 'receiver: ssh://there: the connection broke' err
done
stop=2 plan >p.ini
ok "silence" lies silent 1
ok "  is told" says 'receiver: ssh://there: no answer for 2 s \(stop_timeout\)' err
plan >p.ini
ok "no time" lies clock 1
ok "  is told" says "unexpected answer of zcost there: 'clock soon'" err
ok "a host without a proper name" lies host 1
ok "  is refused" says 'ssh://there: unreadable answer of zcost there' err
ok "an unreadable answer" lies hello 1
ok "  is told" says 'ssh://there: unreadable answer of zcost there: install the same build' err
# The real one, by slow ways: the lines of the clock that match $there or $back, counted from 0, take
# 40 ms. Of a trip that is slow one way the offset, which is 0, is known to 20 ms, and wrong by as much.
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
ok "a slow way back" env there=never back=. "$zcost" capture slow.ini -o slow1
ok "  makes the clocks' offset less certain, not wrong" jq -e '.before | .rtt_ns >= 4e7 and .error_ns >= 2e7 and
	.offset_ns <= -1e7 and (.offset_ns | fabs) <= .error_ns' slow1/runs/a/measure-01/receiver/clock.json
ok "ways that are slow by turns" env there='[02468]$' back='[13579]$' "$zcost" capture slow.ini -o slow2
ok "  do not matter: each has its quickest trip" jq -e '.before | .rtt_ns >= 4e7 and .error_ns < 2e7 and
	(.offset_ns | fabs) <= .error_ns' slow2/runs/a/measure-01/receiver/clock.json

sed "s,^ssh = .*,ssh = $scratch/nonesuch," p.ini >q.ini
ok "no ssh" exits 1 "$zcost" capture q.ini -o d
ok "  is told" says 'cannot run .*nonesuch: No such file' err
printf '#!/bin/sh\nsleep 60\n' >ssh
start=3 plan >p.ini
ok "a connection that takes for ever" lies none 1
ok "  is given up" says 'ssh://there: not reached in 3 s \(start_timeout\)' err
plan >p.ini
"$zcost" capture p.ini -o e 2>err &
pid=$!
n=0
until [ -e "$(undo_state e)/remote" ] || [ $n -gt 400 ]; do n=$((n + 1)); sleep 0.05; done
kill -INT $pid
ok "SIGINT while it does" sh -c "timeout 20 tail --pid=$pid -f /dev/null"
ok "  ends it" says 'interrupted: 0 runs' err
ok "nothing is left here" test -z "$(ls -d zcost-ssh* 2>/dev/null)"
done_testing
