#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A capture holds what other users of its host did: its owner alone can read it. Under sudo that is the
# user who called.
. "$(dirname "$0")/../lib.sh"

open_to_others() { # open_to_others PATH...: what is there that is not 0600, or not 0700 if a folder
	find "$@" \( -type d ! -perm 0700 -o ! -type d ! -perm 0600 \) -printf '%m %p\n'
}
private() { # private PATH...
	[ -e "$1" ] && test "$(open_to_others "$@")" = "" || { open_to_others "$@"; return 1; }
}
cat >plan.ini <<-EOF
	[plan]
	passes = measure
	repeats = 1
	warmup = 0.1
	duration = 0.3
	grace = 0
	before = umask >$scratch/umask.hook
	after = true
	[side receiver]
	units = none
	[side sender]
	units = none
	[variant one]
	receiver = sh -c "umask; sleep 5"
	sender = sleep 5
EOF
capture() {
	"$@" "$zcost" capture plan.ini -o deep/down/cap 2>err
	[ -s deep/down/cap/manifest.json ] || { cat err; return 1; }
}
[ "$(id -u)" = 0 ] && hosts=kallsyms || hosts=host.json

ok "a capture is made" capture env
ok "all of it is its owner's to read, and no one else's" private deep
ok "facts of the host are among it" test -s deep/down/cap/hosts/*/$hosts
ok "commands of the plan have the umask of who called" test "$(cat umask.hook)" = 0022
ok "workloads too" says '^0022$' deep/down/cap/runs/one/measure-01/receiver/workload.out
"$zcost" analyze deep/down/cap 2>err || cat err
ok "the store as well" private deep/down/cap/zcost.db deep
"$zcost" report runs deep/down/cap --output table.txt 2>err
ok "a table that somebody asks for is made with the umask" test "$(stat -c %a table.txt)" = 644
chmod -R go+rX deep
ok "it is packed" exits 0 "$zcost" pack deep/down/cap -o cap.tar.zst
ok "into an archive that others cannot read" private cap.tar.zst
ok "it is unpacked" exits 0 "$zcost" unpack cap.tar.zst -o again
ok "into files that others cannot read" private again

ok "a run is made" exits 0 "$zcost" collect -o r --collect cpu,host -- true
ok "all of it is private" private r
if [ "$(id -u)" = 0 ] && command -v perf >/dev/null; then
	"$zcost" collect -o p --collect perf,host -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done' 2>err
	ok "a recording, and copies of programs" test -s p/perf.data -a -n "$(find p/hosts -path '*/dso/*' -type f)"
	ok "are private" private p
else
	skip "a recording, and copies of programs" "no perf, or not root"
	skip "are private" "no perf, or not root"
fi

# Links that lie in the folder lead nowhere.
mkdir planted
for f in .perf.log run.json workload.out; do
	echo mine >victim$f
	ln -s ../victim$f planted/$f
done
"$zcost" collect -o planted --collect cpu,perf -- true 2>err
ok "links in the folder of a run are not written through" test "$(cat victim.perf.log victimrun.json victimworkload.out | grep -c mine)" = 3

[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || done_testing
as_nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$@"
}
cp "$zcost" zcost.copy && chmod 755 . zcost.copy
not_theirs() { # what does not belong to the caller
	find "$@" ! -uid 65534 -o ! -gid 65534
}
rm -r deep
ok "under sudo a capture is made" capture env SUDO_UID=65534 SUDO_GID=65534
ok "it is the caller's, with the folders made for it" test "$(not_theirs deep)" = ""
ok "and private" private deep
ok "who can analyze it" as_nobody ./zcost.copy analyze deep/down/cap
rm deep/down/cap/zcost.db
SUDO_UID=65534 SUDO_GID=65534 "$zcost" analyze deep/down/cap >out 2>err || cat err
ok "a store that root makes there is the caller's" test "$(not_theirs deep)" = ""
echo mine >victim
SUDO_UID=65534 SUDO_GID=65534 "$zcost" collect -o s --collect cpu -- \
	sh -c 'ln -s ../victim s/link; ln victim s/hard' 2>err
ok "a run is the caller's too" test "$(not_theirs s/run.json s/workload.out)" = "" -a "$(stat -c %u s)" = 65534
ok "a file that has another name elsewhere is not" test "$(stat -c %u victim)" = 0

mkdir -m 777 everybody
ok "no run is made in a folder that others can write to" exits 1 "$zcost" collect -o everybody --collect cpu -- true
ok "says why" says 'everybody: other users can write to it: chmod o-w, or give another -o' err
mkdir theirs && chown 65534 theirs
ok "nor in one of another user" exits 1 "$zcost" collect -o theirs --collect cpu -- true
ok "but in one of the caller" exits 0 env SUDO_UID=65534 SUDO_GID=65534 "$zcost" collect -o theirs --collect cpu -- true

done_testing
