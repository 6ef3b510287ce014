#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The script of docs/howto/bisect.md on a repository in which one commit makes a transfer many times slower.
. "$(dirname "$0")/../lib.sh"
. "$tests/tcpzc.sh"
need root git

mkdir bin tmp
TMPDIR=$scratch/tmp
export TMPDIR
ln -s "$zcost" bin/zcost
PATH=$scratch/bin:$PATH
awk '/^```sh/ { on = 1; next } /^```/ { on = 0 } on' "$top/docs/howto/bisect.md" >bisect.sh
cat >plan.ini <<END
[plan]
name = a repository
repeats = 6
passes = measure
warmup = 0.1
duration = 0.5
grace = 0
[side receiver]
collect = cpu
units = tcpzc
[side sender]
collect = cpu
[variant a]
receiver = $tcpzc --listen --port $port
sender = sh $scratch/repo/built --connect 127.0.0.1 --port $port --seconds 60
END

# The program is a script. Commit 6 makes the writes small, commit 4 does not build.
git init -q repo
git() { command git -C repo -c user.name=a -c user.email=a@b -c init.defaultBranch=main "$@"; }
for n in 1 2 3 4 5 6 7 8; do
	case $n in
	4) echo broken ;;
	6 | 7 | 8) echo "exec $tcpzc --size 64 \"\$@\"" ;;
	*) echo "exec $tcpzc --size 64k \"\$@\"" ;;
	esac >repo/program
	echo $n >repo/number
	git add . && git commit -qm "commit $n" && git tag c$n
done
build="! grep -q broken $scratch/repo/program && cp $scratch/repo/program $scratch/repo/built"
gate="receiver throughput>80%" # a busy machine may halve it
judge() { # judge COMMIT EXIT [GATE]
	git checkout -q "$1"
	exits "$2" sh bisect.sh base plan.ini "$build" --fail-on "${3:-$gate}"
}

# Where other programs are busy, runs of one commit may lie too far apart for a verdict.
search() {
	rm -rf base
	git bisect reset -q 2>/dev/null
	git checkout -q c1
	sh -c "$build" && "$zcost" capture plan.ini -o base >log 2>&1 && "$zcost" analyze base >>log 2>&1 || { cat log; return 1; }
	git bisect start c8 c1 >/dev/null 2>&1
	exits 0 command git -C repo bisect run sh -c 'cd "$0" && sh bisect.sh base plan.ini "$1" --fail-on "$2"' "$scratch" "$build" "$gate" &&
		says '^[0-9a-f]+ is the first bad commit' out && is "$(git rev-parse refs/bisect/bad)" "$(git rev-parse c6)" || { cat out; return 1; }
}
steady "git bisect run finds the commit that made the writes small" search
ok "a commit that does not build cannot be judged" judge c4 125
ok "a gate without a row stops the search" judge c2 128 "no such row>5%"
ok "the script leaves no folder behind" test -z "$(ls tmp)"
done_testing
