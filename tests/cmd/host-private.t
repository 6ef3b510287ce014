#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A capture has data about other users of its host: only its owner can read it. Under sudo the owner is the
# calling user.
. "$(dirname "$0")/../lib.sh"

open_to_others() { # open_to_others PATH...: prints files that are not 0600 and folders that are not 0700
	find "$@" \( -type d ! -perm 0700 -o ! -type d ! -perm 0600 \) -printf '%m %p\n'
}
private() { # private PATH...
	[ -e "$1" ] && test "$(open_to_others "$@")" = "" || { open_to_others "$@"; return 1; }
}
mkfifo ends # the receiver ends with its sender
cat >plan.ini <<-EOF
	$short_plan
	before = umask >$scratch/umask.hook
	after = true
	[side receiver]
	units = none
	[side sender]
	units = none
	[variant one]
	receiver = sh -c "umask; cat $scratch/ends"
	sender = sh -c "exec sleep 5 >$scratch/ends"
EOF
capture() {
	"$@" "$zcost" capture plan.ini -o deep/down/cap 2>err
	[ -s deep/down/cap/manifest.json ] || { cat err; return 1; }
}
[ "$(id -u)" = 0 ] && hosts=kallsyms || hosts=host.json

ok "capture succeeds in a new folder below new folders" capture env
ok "only the owner can read and write the capture" private deep
ok "the capture has files about the host" test -s deep/down/cap/hosts/*/$hosts
ok "hooks of the plan have the caller's umask" test "$(cat umask.hook)" = 0022
ok "workloads have the caller's umask" says '^0022$' deep/down/cap/runs/one/measure-01/receiver/workload.out
"$zcost" analyze deep/down/cap 2>err || cat err
ok "only the owner can read and write the store" private deep/down/cap/zcost.db deep
"$zcost" report runs deep/down/cap --output table.txt 2>err
ok "a table that --output writes has the caller's umask" test "$(stat -c %a table.txt)" = 644
chmod -R go+rX deep
ok "pack archives a capture that others can read" exits 0 "$zcost" pack deep/down/cap -o cap.tar.zst
ok "others cannot read the archive" private cap.tar.zst
ok "unpack extracts the archive" exits 0 "$zcost" unpack cap.tar.zst -o again
ok "others cannot read the unpacked files" private again

ok "collect makes a run" exits 0 "$zcost" collect -o r --collect cpu,host -- true
ok "only the owner can read and write the run" private r
if [ "$(id -u)" = 0 ] && command -v perf >/dev/null; then
	"$zcost" collect -o p --collect perf,host -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done' 2>err
	ok "a run with perf has perf.data and copies of programs" test -s p/perf.data -a -n "$(find p/hosts -path '*/dso/*' -type f)"
	ok "only the owner can read perf.data and the copies of programs" private p
else
	skip "a run with perf has perf.data and copies of programs" "no perf, or not root"
fi

if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --regid 65534 --clear-groups "$zcost" --version >out 2>&1; then
	for command in analyze 'report runs'; do
		ok "$command says that another user may not read the capture" \
			sh -c "! setpriv --reuid 65534 --regid 65534 --clear-groups '$zcost' $command '$scratch/deep/down/cap' 2>err && grep -q 'cannot open.*Permission denied' err || { cat err; false; }"
	done
else
	skip "another user may not read the capture" "not root, or other users cannot run this zcost"
fi

# zcost follows no symbolic link in the folder.
mkdir planted
for f in .perf.log run.json workload.out; do
	echo mine >victim$f
	ln -s ../victim$f planted/$f
done
"$zcost" collect -o planted --collect cpu,perf -- true 2>err
ok "collect does not write through symbolic links in the run's folder" test "$(cat victim.perf.log victimrun.json victimworkload.out | grep -c mine)" = 3

[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || done_testing
as_nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$@"
}
cp "$zcost" zcost.copy && chmod 755 . zcost.copy
not_theirs() { # prints files that do not belong to the caller
	find "$@" \( ! -uid 65534 -o ! -gid 65534 \)
}
rm -r deep
ok "capture succeeds under sudo" capture env SUDO_UID=65534 SUDO_GID=65534
ok "under sudo the capture and its new folders belong to the caller" test "$(not_theirs deep)" = ""
ok "under sudo only the caller can read and write the capture" private deep
ok "the caller of sudo can analyze the capture" as_nobody ./zcost.copy analyze deep/down/cap
mkdir -m 777 own
for words in "report runs deep/down/cap -o own/table" "report --html own/page.html deep/down/cap" "plot deep/down/cap cpu -o own/charts" \
	"export csv deep/down/cap -o own/csv" "pack deep/down/cap -o own/cap.tar.zst" "unpack own/cap.tar.zst -o own/cap" \
	"pack own/cap --anonymous -o own/an.tar.zst"; do
	ok "an ordinary user can run zcost ${words%% deep*}" exits 0 as_nobody env HOME=own ./zcost.copy $words
done
export SUDO_UID=65534 SUDO_GID=65534
mkdir roots
for words in "report runs deep/down/cap -o roots/table" "report --html roots/page.html deep/down/cap" \
	"plot deep/down/cap cpu -o roots/charts --format svg,png" "export csv deep/down/cap -o roots/csv" \
	"pack deep/down/cap --anonymous -o roots/an.tar.zst" "unpack roots/an.tar.zst -o roots/an"; do
	"$zcost" $words >out 2>err || cat err
done
unset SUDO_UID SUDO_GID
ok "under sudo what report, plot, export, pack and unpack write belongs to the caller" \
	test "$(not_theirs roots -mindepth 1)" = "" -a "$(find roots -type f | wc -l)" -gt 20
rm deep/down/cap/zcost.db
SUDO_UID=65534 SUDO_GID=65534 "$zcost" analyze deep/down/cap >out 2>err || cat err
ok "a store that root writes in the caller's capture belongs to the caller" test "$(not_theirs deep)" = ""
echo mine >victim
SUDO_UID=65534 SUDO_GID=65534 "$zcost" collect -o s --collect cpu -- \
	sh -c 'ln -s ../victim s/link; ln victim s/hard' 2>err
ok "under sudo a run belongs to the caller" test "$(not_theirs s/run.json s/workload.out)" = "" -a "$(stat -c %u s)" = 65534
ok "under sudo a hard link to a file elsewhere does not change its owner" test "$(stat -c %u victim)" = 0

done_testing
