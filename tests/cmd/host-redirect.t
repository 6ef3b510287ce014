#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Root writes nothing where another user could redirect it: each folder from / down belongs to root or to the caller
# of sudo, and nobody else can write to it or has put a link on the way.
. "$(dirname "$0")/../lib.sh"
need root zstd

cat >plan.ini <<-EOF
	$short_plan
	[side receiver]
	collect = cpu
	[variant one]
	receiver = sleep 5
EOF
sed "s,^grace.*,&\nbefore = touch $scratch/hook\nafter = true," plan.ini >hooks.ini
"$zcost" capture plan.ini -o cap 2>err && "$zcost" analyze cap >out 2>>err &&
	"$zcost" pack cap -o cap.tar.zst 2>>err || { cat err; exit 1; }
cp -r cap raw && rm raw/zcost.db

writers() { # writers FOLDER: prints a command of each kind that writes below it
	cat <<-EOF
		collect -o $1/run --collect cpu -- true
		collect -o run --host-dir $1/facts --collect host -- true
		capture plan.ini -o $1/capture
		analyze $1/analyze
		pack cap -o $1/pack.tar.zst
		unpack cap.tar.zst -o $1/unpack
		plot cap cpu -o $1/plot --format svg
		export csv cap -o $1/csv
		export openmetrics cap -o $1/metrics
		report runs cap -o $1/table
		report cap --html $1/page.html
	EOF
}
each() { # each CODE FOLDER [PATTERN]: all of them exit with CODE and print a line that matches
	bad=0
	cp -r raw "$2/analyze"
	find "$2" | sort >before
	writers "$2" >commands
	while read -r words; do
		"$zcost" $words >out 2>err </dev/null
		got=$?
		[ $got = "$1" ] && { [ $# = 2 ] || grep -Eq -- "$3" err; } && continue
		echo "exit $got: zcost $words"
		cat err
		bad=1
	done <commands
	find "$2" | sort >after
	rm -rf "$2"/* run
	return $bad
}
refused() { # refused FOLDER PATTERN: all of them fail with one reason and write nothing
	each 1 "$1" "$2" || return 1
	cmp before after
}

mkdir -p sub sticky theirs/inner shared/inner open/inner real
chmod 1777 sticky
ok "root can write below folders of root" each 0 sub
ok "root can write into a new folder below a sticky one, as /tmp" each 0 sticky

chown 65534 theirs
ok "no command of root writes below a folder of another user" refused theirs/inner \
	"^zcost: $scratch/theirs: belongs to user 65534, who could redirect what zcost writes: choose another path, or call sudo zcost as that user$"
chmod 777 open
ok "no command of root writes below a folder that others can write to" refused open/inner \
	"^zcost: $scratch/open: other users can write to it: chmod o-w, or choose another path$"
chgrp 65534 shared && chmod 775 shared
ok "no command of root writes below a folder that a group can write to" refused shared/inner \
	"^zcost: $scratch/shared: its group can write to it: chmod g-w, or choose another path$"
chmod 1775 shared
ok "root can write below a sticky folder that a group can write to" each 0 shared/inner
ln -s ../real sticky/planted && chown -h 65534 sticky/planted
ok "no command of root follows a link of another user" refused sticky/planted/. \
	"^zcost: $scratch/sticky/planted: belongs to user 65534, who could redirect"
chown -h 0 sticky/planted
ok "root follows its own links" each 0 sticky/planted/.

# The path itself is a link, or a file of another user.
echo mine >victim
ln -s ../victim sticky/table && chown -h 65534 sticky/table
for words in "report runs cap -o sticky/table" "pack cap -o sticky/table" "collect -o sticky/table -- true" "plot cap cpu -o sticky/table"; do
	ok "zcost ${words%% *} of root refuses a link of another user as its output" exits 1 "$zcost" $words
done
ok "the target of the link is as before" test "$(cat victim)" = mine
ok "plot of root writes into no sticky folder that others can write to" exits 1 "$zcost" plot cap cpu -o sticky
cd theirs || exit 1
ok "no command of root writes to a relative path below a folder of another user" exits 1 "$zcost" report runs ../cap -o table
cd ..

# What is to be undone is run as root.
mkdir -m 700 theirs/state
ok "capture of root stores nothing to undo below a folder of another user" exits 1 env ZCOST_STATE="$scratch/theirs/state" \
	"$zcost" capture hooks.ini -o hooks
ok "the error names the folder and ZCOST_STATE" \
	says "theirs/state/zcost: cannot hold what is to be undone: another user owns it or can write to it: set ZCOST_STATE" err
ok "the hook did not run" test ! -e hook

# Files that a killed zcost left are removed, and no other user's.
sh -c 'exit' & dead=$!
wait $dead
mkdir "sticky/un.tmp.$dead" && chown 65534 "sticky/un.tmp.$dead"
ok "unpack of root leaves a folder of another user with the name of a remnant" \
	exits 0 "$zcost" unpack cap.tar.zst -o sticky/un
ok "the folder of the other user is still there" test -d "sticky/un.tmp.$dead"

# Under sudo the caller's folders are as good as root's.
export SUDO_UID=65534 SUDO_GID=65534
ok "root under sudo can write below folders of the caller" each 0 theirs/inner
export SUDO_UID=2 SUDO_GID=2
ok "under sudo of somebody else the folder is still refused" refused theirs/inner "$scratch/theirs: belongs to user 65534"
unset SUDO_UID SUDO_GID

# Many systems give each user a group, and let it write.
private() { # private UID GID: root, called by sudo of UID, can write below a folder of its group
	chown "$1:$2" shared && chmod 775 shared
	SUDO_UID=$1 SUDO_GID=$2 "$zcost" report runs cap -o shared/inner/table
}
ok "a group that has the name of the caller and nobody else may write" private 1 1
ok "a group with another name may not write" eval '! private 65534 65534 2>err && says "its group can write" err'
if command -v setfacl >/dev/null && setfacl -m u:65534:rwx shared 2>/dev/null; then
	ok "another user who may write by an access list is refused" eval '! private 1 1 2>err && says "its group can write" err'
fi

ok "root can write to /dev/null" exits 0 "$zcost" report runs cap -o /dev/null
"$zcost" report runs cap >want
ok "root can write to /dev/stdout" eval '"$zcost" report runs cap -o /dev/stdout | cmp - want'

# There the owner of / has no number, and root is an ordinary user elsewhere.
chmod 755 . && cp "$zcost" zcost.copy && mkdir ns && chown 65533:65533 ns
in_namespace() {
	setpriv --reuid 65533 --regid 65533 --clear-groups unshare -r "$@"
}
if in_namespace true 2>/dev/null; then
	ok "root of a user namespace can write" exits 0 in_namespace ./zcost.copy collect -o ns/r --collect null -- true
else
	skip "root of a user namespace can write" "no user namespaces here"
fi
done_testing
