#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A full disk: each command says so once, leaves nothing that looks like a result, and a capture undoes
# all the same what it had set up.
. "$(dirname "$0")/../lib.sh"
. "$tests/world.sh"
need_sqlite
cleanup() { umount "$scratch/small" 2>/dev/null; }
[ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=2m nodev small 2>mount.err ||
	skip_all "needs a file system of its own: root, $(head -n 1 mount.err 2>/dev/null)"
world cap 6 $copying $mapping

fill() { # what is left of the disk, to the last byte
	rm -f small/ballast
	dd if=/dev/zero of=small/ballast bs=4k 2>/dev/null
	! sh -c 'echo x >small/x' 2>/dev/null
}
full() { # full COMMAND...: on a disk on which there is no room for a byte
	fill || { echo "the disk is not full"; rm -f small/x; df small; }
	rm -f small/x
	exits 1 "$zcost" "$@" && says '^zcost: (small|standard output).*: No space left on device$' err &&
		test "$(grep -c 'No space' err)" = 1 && ! grep 'Input/output' err
}
nothing() { # nothing is left beside the ballast
	test "$(ls -A small)" = ballast || { ls -lR small; return 1; }
}

ok "a table" full report functions cap -o small/t
ok "  leaves no file" nothing
ok "a table that exceeds what a stream keeps" full report functions cap --format json --all -o small/t
ok "  leaves none" nothing
ok "SQL" full export sql cap -o small/x.sql
ok "  leaves none" nothing
ok "stacks" full export folded cap --side receiver -o small/x.folded
ok "  leave none" nothing
ok "a table as csv" full export csv cap --table run -o small/x.csv
ok "  leaves none" nothing
mkdir small/csv
ok "all of them" full export csv cap -o small/csv
ok "  leave none" sh -c '! ls -A small/csv | grep .'
rmdir small/csv
to_full() { # into standard output, of which nothing is looked at here
	"$zcost" "$@" >/dev/full 2>err
	test $? = 1
}
for asked in "report summary" "export sql" "export folded --side receiver" doctor; do
	[ "$asked" = doctor ] && of= || of=cap
	ok "$asked: on standard output" to_full $asked $of
	ok "  is told once" test "$(grep -c '^zcost: standard output: .*No space left on device$' err) $(grep -c 'standard output' err)" = '1 1'
done
plot() { exits 1 "$zcost" plot cap --format svg -o small/charts && says 'No space left' err; }
fill
ok "charts" plot
ok "  leave no folder" test ! -e small/charts
ok "what is no file stays" sh -c "ln -s /dev/full link; ! '$zcost' report summary cap -o link 2>err && test -L link"

# --- a capture ---

empty() {
	find small -mindepth 1 -maxdepth 1 ! -name state -exec rm -rf {} +
}
empty
ZCOST_STATE=$scratch/small/state # on the full disk, too
mkdir -m 700 "$ZCOST_STATE"
cat >p.ini <<'END'
[plan]
repeats = 1
passes = measure
warmup = 0.05
duration = 0.1
grace = 0
before = echo up >>state
after = echo down >>state
[side receiver]
[variant a]
receiver = sh -c 'dd if=/dev/zero of=small/ballast bs=4k 2>/dev/null; sleep 60'
END
ZCOST_COLLECT=$tests/fake/collect
export ZCOST_COLLECT
: >state
ok "a capture that fills its disk fails" exits 1 "$zcost" capture p.ini -o small/c
ok "  what was set up is undone" test "$(tr '\n' ' ' <state)" = "up down "
ok "  a warning says that the journal cannot be written" says "^zcost: warning: .*/small/state/zcost/.*/running: cannot write: No space left on device: running the plan's 'after' all the same$" err
ok "  nothing is left to undo" test -z "$(ls -A small/state/zcost)"

# One that was killed: what it had set up is written down, and the disk is full by now.
sed 's/^receiver = .*/receiver = sleep 60/; s/^duration.*/duration = 60/' p.ini >long.ini
empty && : >state
"$zcost" capture long.ini -o small/c 2>log &
pid=$!
tries=0
until grep -q up state && ls small/c/runs/a/.*.tmp/*/workload.out >/dev/null 2>&1; do
	tries=$((tries + 1))
	[ $tries -lt 300 ] || { cat log; break; }
	sleep 0.1
done
kill -9 $pid
wait $pid 2>/dev/null
fill
ok "--undo on a full disk" exits 0 "$zcost" capture --undo -o small/c
ok "  undoes" test "$(tr '\n' ' ' <state)" = "up down "
ok "  a warning says that the journal cannot be written" says "running the plan's 'after' all the same" err
done_testing
