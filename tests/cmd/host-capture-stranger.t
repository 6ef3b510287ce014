#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A capture folder from somebody else is data. zcost runs no command from it, ends no process that it names and
# writes to no file that it names. The collector is a stand-in for `zcost collect`.
. "$(dirname "$0")/../lib.sh"
ZCOST_COLLECT=$tests/fake/collect
export ZCOST_COLLECT
need jq zstd

tag=61.$$ # no other process sleeps this long
plan() { # plan [SED]: prints the plan, edited by a sed script
	cat <<-EOT | sed "${1:-}"
		$short_plan
		before = echo begin >>hooks
		after = echo end >>hooks
		[side receiver]
		[variant a]
		receiver = sleep 60
	EOT
}
log() {
	tr '\n' ' ' <hooks
	: >hooks
}
plan >p.ini
plan 's/^\[variant a\]/[variant other]/' >other.ini
: >hooks
"$zcost" capture p.ini -o good >out 2>err || { cat err; exit 1; }
: >hooks

ZCOST_HOOK=victim MARKED=$tag setsid sleep 600 &
bystander=$!
cleanup() { kill $bystander 2>/dev/null; }

evil() { # evil DIR: a capture to continue, with scripts that an earlier zcost would run
	rm -rf "$1" && cp -r good "$1" && mkdir "$1/.undo"
	printf '# the plan\n# boot %s\n# timeout 5\ntouch %s/canary\n# undo:\ntouch canary\n' \
		"$(cat /proc/sys/kernel/random/boot_id)" "$scratch" | tee "$1/.undo/000" >"$1/.undo/001"
	echo 0123456789abcdef >"$1/.remote"
	printf ZCOST_HOOK=victim >"$1/.undo/running"
}
unharmed() {
	[ ! -e canary ] || { rm canary; echo "a script of the folder was run"; return 1; }
	kill -0 $bystander || { echo "the bystander was ended"; return 1; }
}
evil e
ok "capture continues in a folder that contains undo scripts" exits 0 "$zcost" capture p.ini -o e
ok "capture runs no undo script of the folder and ends no process" unharmed
ok "capture --undo succeeds in a folder with undo scripts" exits 0 "$zcost" capture --undo -o e
ok "capture --undo runs no undo script of the folder" unharmed
ok "another plan is refused in a folder with undo scripts" exits 1 "$zcost" capture other.ini -o e
ok "a refused plan runs no undo script of the folder" unharmed
ok "capture removes no undo script from the folder" test -e e/.undo/000

# --- zcost's undo state ---

begun() {
	grep -qs begin hooks && ls "$1"/runs/a/.*.tmp
}
killed() { # killed DIR: a capture that ran the plan's 'before' and got SIGKILL
	: >hooks
	plan 's/^duration.*/duration = 60/' >long.ini
	"$zcost" capture long.ini -o "$1" 2>first &
	pid=$!
	soon begun "$1"
	kill -KILL $pid
	wait $pid 2>/dev/null
}

killed k
state=$(undo_state k)
ok "the undo state is outside of the capture's folder" test -s "$state/000" -a ! -e k/.undo
ok "only the user can read and write the undo state" test "$(stat -c %a:%u "$state")" = "700:$(id -u)"
sed 's/^before.*/before = echo other >>hooks/' other.ini >bad.ini
jq '.runs = [{"variant": "a", "pass": "measure", "repeat": 1, "status": "failed", "sides": [], "files": {}}]' \
	k/manifest.json >m && cp m k/manifest.json
log >/dev/null
ok "a plan of another experiment is refused when undo state exists" exits 1 "$zcost" capture bad.ini -o k
ok "a refused plan undoes nothing" test -z "$(log)"
ok "a note reports that the settings are not undone" says "not undone yet" err
mv k moved
ok "capture --undo succeeds after the folder is renamed" exits 0 "$zcost" capture --undo -o moved
ok "capture --undo runs the 'after' of a renamed folder" test "$(log)" = "end "
ok "capture --undo removes the undo state of a renamed folder" test ! -e "$state"

killed b
sed -i 's/^# boot .*/# boot 00000000-0000-0000-0000-000000000000/' "$(undo_state b)/000"
log >/dev/null
ok "capture --undo succeeds after the host has booted again" exits 0 "$zcost" capture --undo -o b
ok "capture --undo runs no 'after' of before the boot" test -z "$(log)"
ok "capture --undo removes undo state of before the boot" test ! -e "$(undo_state b)"
ok "a warning names the 'after' that the boot makes void" says "^zcost: warning: the plan's 'after' is dropped, because this host has booted since.*: echo end" err

killed r
cp -r r copy && mkdir new && rm -rf r && cp -r copy r
log >/dev/null
ok "capture --undo succeeds on a copy of a folder" exits 0 "$zcost" capture --undo -o r
ok "a copy of a folder has nothing to undo" test -z "$(log)"

if [ "$(id -u)" = 0 ]; then
	unset ZCOST_STATE
	killed system
	ok "root's undo state is in /run by default" test -s "$(undo_state system)/000" -a ! -e system/.undo
	ok "only root can read and write the undo state in /run" test "$(stat -c %a:%u "$(undo_state system)" /run/zcost | tr '\n' ' ')" = "700:0 711:0 "
	cp "$zcost" zcost && chmod 755 . zcost
	if setpriv --reuid 65534 --regid 65534 --clear-groups ./zcost --version >out 2>&1; then
		ok "capture --undo by another user exits 1" exits 1 setpriv --reuid 65534 --regid 65534 --clear-groups \
			./zcost capture --undo -o system
		ok "the error reports that only root can undo" says "^zcost: system: root has something to undo here: sudo" err
	fi
	mkdir -m 777 all && chmod 777 all
	ok "capture refuses a ZCOST_STATE folder that others can write to" exits 1 env ZCOST_STATE="$scratch/all" "$zcost" capture p.ini -o unsafe
	ok "the error about an unsafe ZCOST_STATE folder names the variable" says "cannot hold what is to be undone: another user .*set ZCOST_STATE" err
	ok "capture --undo by root succeeds" exits 0 "$zcost" capture --undo -o system
	ok "capture --undo removes the undo state in /run" test ! -e "$(undo_state system)"
	ZCOST_STATE=$scratch/.state
	export ZCOST_STATE
fi

# --- the owner of the folder ---

evil l
mkdir outside && mv l/runs l/runs.real && ln -s "$scratch/outside" l/runs && rm -r l/.undo
ok "capture exits 1 on a folder that contains a symbolic link" exits 1 "$zcost" capture p.ini -o l
ok "the error names the symbolic link in the capture's folder" says "^zcost: l/runs: a symbolic link, .*another -o" err
ok "capture writes nothing to the link's target" test -z "$(ls -A outside)"
cp -r good f && rm f/manifest.json && mkfifo f/manifest.json
ok "capture refuses a fifo in place of the manifest without reading it" exits 1 timeout 120 "$zcost" capture p.ini -o f
ok "the error names the fifo and says to remove it" says "^zcost: f/manifest.json: neither a file nor a folder: remove it" err
for bad in ../../x a/../.. /etc; do
	cp -r good n && jq --arg v "$bad" '.runs[0].variant = $v' good/manifest.json >n/manifest.json
	ok "capture exits 1 on a manifest with the variant '$bad'" exits 1 "$zcost" capture p.ini -o n
	ok "the error names the manifest and '$bad'" says "^zcost: n/manifest.json: damaged: .*$bad" err
	rm -r n
done
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 .
	cp -r good theirs && chown -R 65534 theirs
	: >hooks
	ok "root exits 1 in a folder of another user" exits 1 "$zcost" capture p.ini -o theirs
	ok "the error names the folder, its owner and the way out" says "^zcost: $scratch/theirs: belongs to user 65534.*another path" err
	ok "root runs no hook in a folder of another user" test -z "$(log)"
	ok "root under sudo accepts a folder of the calling user" exits 0 env SUDO_UID=65534 SUDO_GID=65534 "$zcost" capture p.ini -o theirs
	cp -r good open && chmod 777 open
	ok "capture exits 1 in a folder that everybody can write to" exits 1 "$zcost" capture p.ini -o open
	ok "the error says to change the folder's mode" says "^zcost: $scratch/open: other users can write to it.*chmod" err

	mkdir -m 777 home && cp "$zcost" zcost && chmod 755 zcost && mkdir -m 755 fake && cp "$ZCOST_COLLECT" fake/
	chown 65534 home && chmod 700 home
	as_nobody() { # as_nobody RUNTIME_DIR COMMAND...
		XDG_RUNTIME_DIR=$1 ZCOST_COLLECT=$scratch/fake/collect
		shift
		(cd home && exec env -u ZCOST_STATE XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR" ZCOST_COLLECT="$ZCOST_COLLECT" \
			setpriv --reuid 65534 --regid 65534 --clear-groups "$@")
	}
	cp p.ini home/
	if as_nobody / test -x "$scratch/zcost"; then
		mkdir -m 700 mine && chown 65534 mine
		mkdir -m 777 shared && chmod 777 shared && chown 65534 shared
		ok "a user without root stores undo state in XDG_RUNTIME_DIR" exits 0 \
			as_nobody "$scratch/mine" ../zcost capture p.ini -o c
		ok "no undo state is left in XDG_RUNTIME_DIR after the capture" test -z "$(ls -A mine/zcost)"
		for at in shared good nothing; do
			ok "a user without root exits 1 with an unsafe XDG_RUNTIME_DIR ($at)" exits 1 \
				as_nobody "$scratch/$at" ../zcost capture p.ini -o c-$at
			ok "the error about an unsafe XDG_RUNTIME_DIR names the variable ($at)" says "set XDG_RUNTIME_DIR to a folder" err
		done
		plan '/before\|after/d' >home/plain.ini
		ok "a plan without hooks needs no XDG_RUNTIME_DIR" exits 0 as_nobody "$scratch/nothing" ../zcost capture plain.ini -o plain
	else
		skip "a user without root stores undo state in XDG_RUNTIME_DIR" "nobody may not enter $scratch: set TMPDIR"
	fi
else
	skip "root refuses a folder of another user" "becoming somebody else needs root"
fi
done_testing
