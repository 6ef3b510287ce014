#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A capture folder that somebody else made holds data, never commands: nothing in it is run, nothing in it names a
# process to end or a file to write to. Against a stand-in for `zcost collect`.
. "$(dirname "$0")/../lib.sh"
ZCOST_COLLECT=$tests/fake/collect
export ZCOST_COLLECT
command -v jq >/dev/null || skip_all "needs jq"
command -v zstd >/dev/null || skip_all "needs zstd"

tag=61.$$ # nobody else's sleep has this length
plan() { # plan [SED]: changed by a script of sed
	cat <<-'EOT' | sed "${1:-}"
		[plan]
		repeats = 1
		passes = measure
		warmup = 0.02
		duration = 0.05
		grace = 0
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

evil() { # evil DIR: a capture to go on with, and in it what an earlier zcost would have run
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
told() { # told DIR: in one line
	says "^zcost: warning: $1/.undo: not run, because .*remove it" err && test "$(grep -c '\.undo' err)" = 1
}

evil e
ok "a folder with scripts to undo: the capture goes on" exits 0 "$zcost" capture p.ini -o e
ok "  none of them is run, and no process is ended" unharmed
ok "  one line says so, and the way out" told e
ok "--undo there" exits 0 "$zcost" capture --undo -o e
ok "  runs none of them" unharmed
ok "  says so" told e
ok "--undo --forget there" exits 0 "$zcost" capture --undo --forget -o e
ok "  runs none of them" unharmed
ok "another plan is refused there" exits 1 "$zcost" capture other.ini -o e
ok "  and runs none of them" unharmed
ok "  nor does the folder's owner lose a file" test -e e/.undo/000

evil e
ok "pack" exits 0 "$zcost" pack e
ok "  leaves out what is to be undone, and keys" sh -c \
	"zstd -dc e.tar.zst | tar -t >list && grep -q manifest.json list && ! grep -E '\.undo|\.remote' list"
tar -cf - e | zstd -q >arch.tar.zst
ok "unpack of an archive with scripts to undo" exits 0 "$zcost" unpack arch.tar.zst -o arch
ok "  leaves them out" test ! -e arch/.undo -a ! -e arch/.remote -a -e arch/manifest.json
ok "  and says so" says "^zcost: arch.tar.zst: left out: \.undo " err
ok "  the capture goes on" exits 0 "$zcost" capture p.ini -o arch
ok "  and runs none of them" unharmed

# --- what zcost itself has to undo ---

until_begun() {
	i=0
	until grep -qs begin hooks && ls "$1"/runs/a/.*.tmp >/dev/null 2>&1; do
		i=$((i + 1))
		[ $i -lt 400 ] || return 1
		sleep 0.05
	done
}
killed() { # killed DIR: a capture that set up what the plan says and was killed outright
	: >hooks
	plan 's/^duration.*/duration = 60/' >long.ini
	"$zcost" capture long.ini -o "$1" 2>first &
	pid=$!
	until_begun "$1"
	kill -KILL $pid
	wait $pid 2>/dev/null
}

killed k
state=$(undo_state k)
ok "what is to be undone is outside of the folder" test -s "$state/000" -a ! -e k/.undo
ok "  where nobody else can look or write" test "$(stat -c %a:%u "$state")" = "700:$(id -u)"
sed 's/^before.*/before = echo other >>hooks/' other.ini >bad.ini
jq '.runs = [{"variant": "a", "pass": "measure", "repeat": 1, "status": "failed", "sides": [], "files": {}}]' \
	k/manifest.json >m && cp m k/manifest.json
log >/dev/null
ok "a plan of another experiment is refused" exits 1 "$zcost" capture bad.ini -o k
ok "  before anything is undone" test -z "$(log)"
ok "  a note says that it is not undone" says "not undone yet" err
mv k moved
ok "the folder under another name: the capture" exits 0 "$zcost" capture --undo -o moved
ok "  is undone" test "$(log)" = "end "
ok "  once" test ! -e "$state"

killed b
sed -i 's/^# boot .*/# boot 00000000-0000-0000-0000-000000000000/' "$(undo_state b)/000"
log >/dev/null
ok "what was set up before the host's last boot" exits 0 "$zcost" capture --undo -o b
ok "  is not undone: the boot did that" test -z "$(log)"
ok "  is dropped" test ! -e "$(undo_state b)"
ok "  a warning says that it is dropped" says "^zcost: warning: the plan's 'after' is dropped, because this host has booted since.*: echo end" err

killed r
cp -r r copy && mkdir new && rm -rf r && cp -r copy r
log >/dev/null
ok "a copy of a folder" exits 0 "$zcost" capture --undo -o r
ok "  has nothing to undo" test -z "$(log)"

if [ "$(id -u)" = 0 ]; then
	unset ZCOST_STATE
	killed system
	ok "by default root has it in /run" test -s "$(undo_state system)/000" -a ! -e system/.undo
	ok "  where nobody else can look or write" test "$(stat -c %a:%u "$(undo_state system)" /run/zcost | tr '\n' ' ')" = "700:0 711:0 "
	cp "$zcost" zcost && chmod 755 . zcost
	if setpriv --reuid 65534 --regid 65534 --clear-groups ./zcost --version >out 2>&1; then
		ok "another user's --undo there" exits 1 setpriv --reuid 65534 --regid 65534 --clear-groups \
			./zcost capture --undo -o system
		ok "  says that it takes root" says "^zcost: system: root has something to undo here: sudo" err
	fi
	mkdir -m 777 all && chmod 777 all
	ok "in a folder that others can write to" exits 1 env ZCOST_STATE="$scratch/all" "$zcost" capture p.ini -o unsafe
	ok "  it is not looked for, and no hook runs" says "cannot hold what is to be undone: another user .*set ZCOST_STATE" err
	ok "  it is undone" exits 0 "$zcost" capture --undo -o system
	ok "  and gone" test ! -e "$(undo_state system)"
	ZCOST_STATE=$scratch/.state
	export ZCOST_STATE
fi

# --- whose folder it is ---

evil l
mkdir outside && mv l/runs l/runs.real && ln -s "$scratch/outside" l/runs && rm -r l/.undo
ok "a folder with a link in it" exits 1 "$zcost" capture p.ini -o l
ok "  is refused" says "^zcost: l/runs: a symbolic link, .*another -o" err
ok "  nothing is written to where it leads" test -z "$(ls -A outside)"
cp -r good f && rm f/manifest.json && mkfifo f/manifest.json
ok "a folder with a fifo in it is refused at once" exits 1 timeout 20 "$zcost" capture p.ini -o f
ok "  with the way out" says "^zcost: f/manifest.json: neither a file nor a folder: remove it" err
for bad in ../../x a/../.. /etc; do
	cp -r good n && jq --arg v "$bad" '.runs[0].variant = $v' good/manifest.json >n/manifest.json
	ok "a manifest with the variant '$bad'" exits 1 "$zcost" capture p.ini -o n
	ok "  is refused" says "^zcost: n/manifest.json: damaged: .*$bad" err
	rm -r n
done
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 .
	cp -r good theirs && chown -R 65534 theirs
	: >hooks
	ok "root in a folder of another user" exits 1 "$zcost" capture p.ini -o theirs
	ok "  is refused, with the way out" says "^zcost: theirs: belongs to user 65534.*another -o" err
	ok "  before anything is run" test -z "$(log)"
	ok "  under sudo it is the caller's" exits 0 env SUDO_UID=65534 SUDO_GID=65534 "$zcost" capture p.ini -o theirs
	cp -r good open && chmod 777 open
	ok "a folder that everybody can write to" exits 1 "$zcost" capture p.ini -o open
	ok "  is refused" says "^zcost: open: other users can write to it.*chmod" err

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
		ok "without root: the user's own folder holds what is to be undone" exits 0 \
			as_nobody "$scratch/mine" ../zcost capture p.ini -o c
		ok "  and is empty afterwards" test -z "$(ls -A mine/zcost)"
		for at in shared good nothing; do
			ok "one that others own, or can write to, or none ($at): refused" exits 1 \
				as_nobody "$scratch/$at" ../zcost capture p.ini -o c-$at
			ok "  with the way out" says "set XDG_RUNTIME_DIR to a folder" err
		done
		plan '/before\|after/d' >home/plain.ini
		ok "a plan without hooks needs none" exits 0 as_nobody "$scratch/nothing" ../zcost capture plain.ini -o plain
	else
		skip "without root" "nobody may not enter $scratch: set TMPDIR"
	fi
else
	skip "a folder of another user" "becoming somebody else needs root"
fi
done_testing
