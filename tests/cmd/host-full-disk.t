#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A full disk and a read-only one: each command reports it once, leaves no partial result and keeps the earlier one. A capture
# still undoes its settings.
. "$(dirname "$0")/../lib.sh"
. "$tests/world.sh"
need sqlite3
cleanup() { umount "$scratch/small" 2>/dev/null; }
[ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=2m nodev small 2>mount.err ||
	skip_all "needs a file system of its own: root, $(head -n 1 mount.err 2>/dev/null)"
. "$tests/capture.sh"
world cap 6 $copying $mapping
sqlite3 cap/zcost.db "INSERT INTO setting (variant, name, value) VALUES ('copying', 'size', '1k'), ('mapping', 'size', '4k')"
mkdir hand
for side in receiver sender; do
	measure_run hand copying 1 $side 1250000000 150
done
manifest hand copying copying/measure/1/ok
"$zcost" pack hand -o hand.tar.zst 2>/dev/null
cp -r hand analyzed && "$zcost" analyze analyzed 2>/dev/null

fill() { # fills the disk to the last byte
	rm -f small/ballast
	dd if=/dev/zero of=small/ballast bs=4k 2>/dev/null
	! sh -c 'echo x >small/x' 2>/dev/null
}
full() { # full COMMAND...: fails on a full disk with one error
	fill || { echo "the disk is not full"; rm -f small/x; df small; }
	rm -f small/x
	exits 1 "$zcost" "$@" && says '^zcost: (small|standard output).*: (No space left on device|database or disk is full)$' err &&
		test "$(grep -c 'No space\|is full' err)" = 1 && ! grep 'Input/output' err
}
nothing() { # the disk has only the ballast
	test "$(ls -A small)" = ballast || { ls -lR small; return 1; }
}
keeps() { # keeps FILE...: each has the text that it had before the commands, and no temporary file is beside it
	for f; do
		test "$(cat "$f")" = old || { echo "$f:"; head -c 300 "$f"; return 1; }
	done
	! find small -name '*.tmp.*' | grep .
}

# A table larger than a stream's buffer, one file and a folder of files, a page, an archive, and charts with and without gnuplot.
for asked in "report functions cap" "report functions cap --format json --all" "export sql cap" "export folded cap --side receiver" \
	"export csv cap --table run" "export csv cap" "report cap --html" "pack hand" "unpack hand.tar.zst" "export pprof cap" \
	"export speedscope cap" "export openmetrics cap" "export perf-script cap" "export folded-diff copying mapping -C cap --side receiver" \
	"compare copying mapping -C cap --html" "pack analyzed --anonymous" "plot cap flame" "plot cap sweep --setting size"; do
	case $asked in *--html) to= ;; *) to=-o ;; esac
	ok "$asked exits 1 on a full disk" full $asked $to small/new
	ok "$asked leaves nothing on a full disk" nothing
done
ok "collect exits 1 on a full disk" full collect -o small/run --collect cpu -- sleep 0.1
ok "collect leaves no run.json on a full disk" test ! -e small/run/run.json

# The results of earlier commands.
earlier() {
	rm -rf small/* && mkdir small/csv small/charts && cp -r hand analyzed small/
	for f in small/t small/csv/run.csv small/csv/variant.csv small/a.tar.zst small/page.html small/hand/zcost.db; do
		echo old >$f
	done
}
earlier
for asked in "report functions cap -o small/t" "compare copying mapping -C cap -o small/t" "export sql cap -o small/t" \
	"export csv cap -o small/csv" "report --html small/page.html cap" "compare copying mapping -C cap --html small/page.html" \
	"pack hand -o small/a.tar.zst" "pack analyzed --anonymous -o small/a.tar.zst" "analyze small/hand"; do
	ok "$asked exits 1 on a full disk with an earlier result" full $asked
	ok "$asked keeps the earlier result on a full disk" keeps small/t small/csv/run.csv small/csv/variant.csv \
		small/a.tar.zst small/page.html small/hand/zcost.db
done
read_only() { # read_only COMMAND...: fails on a read-only disk with one line
	exits 1 "$zcost" "$@" && says '^zcost: small/.*Read-only file system' err && test "$(grep -c Read-only err)" = 1
}
mount -o remount,ro small
for asked in "report functions cap -o small/t" "report functions cap -o small/new" "compare copying mapping -C cap -o small/t" \
	"export sql cap -o small/t" "export csv cap -o small/csv" "export csv cap -o small/new" \
	"export pprof cap -o small/t" "export openmetrics cap -o small/new" "export perf-script cap -o small/t" \
	"export folded-diff copying mapping -C cap --side receiver -o small/new" "plot cap sweep --setting size -o small/new" "compare copying mapping -C cap --html small/page.html" \
	"report --html small/page.html cap" "plot cap throughput -o small/charts" "plot cap throughput -o small/new" \
	"plot cap flame -o small/charts" "pack analyzed --anonymous -o small/new" "pack hand -o small/a.tar.zst" "unpack hand.tar.zst -o small/new" "analyze small/hand" \
	"collect -o small/run --collect cpu -- true" "capture -o small/cap --variant a -- true"; do
	ok "$asked exits 1 on a read-only disk" read_only $asked
done
for asked in "report summary small/analyzed" "report summary small/analyzed --from 0" "export sql small/analyzed" \
	"pack small/analyzed -o copy.tar.zst" "plot small/analyzed throughput -o charts --format svg" "capture --undo -o small/analyzed"; do
	ok "$asked only reads and succeeds on a read-only disk" exits 0 "$zcost" $asked
done
mount -o remount,rw small
rm -rf small/*

# A limit for the size of files.
limited() { # limited CODE COMMAND...: fails at a limit of 1 KiB with a message
	code=$1
	shift
	rm -rf limited && mkdir limited
	(ulimit -f 2 && exec "$zcost" "$@") >out 2>err
	test $? = "$code" && says '^zcost: .*File (too large|size limit exceeded)' err && ! find limited -name '*.tmp*' | grep .
}
for asked in "report functions cap --all --format json -o limited/t" "export sql cap -o limited/x" "export csv cap -o limited/csv" \
	"export perf-script cap -o limited/x" "pack hand -o limited/a" "unpack hand.tar.zst -o limited/hand" "report --html limited/page.html cap" \
	"capture -o limited/cap --variant a --pass measure -- true"; do
	ok "$asked exits 1 at the limit for the size of files" limited 1 $asked
done
ok "collect is incomplete at the limit for the size of files" limited 4 collect -o limited/run --collect host -- true
ok "the workload of collect begins with the usual action of SIGXFSZ" exits 0 \
	"$zcost" collect -o xfsz --collect cpu -- sh -c '! grep -q "^SigIgn:.*[13579bdf]......$" /proc/self/status'
to_full() { # standard output is /dev/full
	"$zcost" "$@" >/dev/full 2>err
	test $? = 1
}
for asked in "report summary" "export sql" "export folded --side receiver" doctor; do
	[ "$asked" = doctor ] && of= || of=cap
	ok "$asked exits 1 when standard output is full" to_full $asked $of
	ok "$asked reports a full standard output once" test "$(grep -c '^zcost: standard output: .*No space left on device$' err) $(grep -c 'standard output' err)" = '1 1'
done
plot() { exits 1 "$zcost" plot cap --format svg -o small/charts && says 'No space left' err; }
fill
ok "plot exits 1 on a full disk" plot
ok "plot leaves no folder on a full disk" test ! -e small/charts
ok "report does not remove an output that is not a regular file" sh -c "ln -s /dev/full link; ! '$zcost' report summary cap -o link 2>err && test -L link"

# --- a capture ---

empty() {
	find small -mindepth 1 -maxdepth 1 ! -name state -exec rm -rf {} +
}
empty
ZCOST_STATE=$scratch/small/state # the undo state is on the full disk as well
mkdir -m 700 "$ZCOST_STATE"
cat >p.ini <<END
$short_plan
before = echo up >>state
after = echo down >>state
[side receiver]
[variant a]
receiver = sh -c 'dd if=/dev/zero of=small/ballast bs=4k 2>/dev/null; sleep 60'
END
ZCOST_COLLECT=$tests/fake/collect
export ZCOST_COLLECT
: >state
ok "a capture that fills its disk exits 1" exits 1 "$zcost" capture p.ini -o small/c
ok "a capture that fills its disk runs the plan's 'after'" test "$(tr '\n' ' ' <state)" = "up down "
ok "a warning reports that the journal cannot be written" says "^zcost: warning: .*/small/state/zcost/.*/running: cannot write: No space left on device: running the plan's 'after' anyway$" err
ok "no undo state is left on the full disk" test -z "$(ls -A small/state/zcost)"

# The real collector, and a workload that cannot write its reason. It needs a part of the window to fill the disk.
unset ZCOST_COLLECT
for how in "exit 1" "sleep 60"; do
	empty && : >state
	sed "s/sleep 60'/$how'/; s/^duration.*/duration = 2/" p.ini >fills.ini
	ok "a capture whose workload fills the disk exits 1 ($how)" exits 1 "$zcost" capture fills.ini -o small/c
	ok "the error has the path and that the disk is full ($how)" says "^zcost: (warning: a/measure-01 failed.*)?.*small/c.*: No space left on device" err
	ok "no error has the exit status of collect ($how)" sh -c '! grep "zcost collect exited with" err'
done
ZCOST_COLLECT=$tests/fake/collect
export ZCOST_COLLECT

# A killed capture: its undo state is on the disk, which is full before --undo.
sed 's/^receiver = .*/receiver = sleep 60/; s/^duration.*/duration = 60/' p.ini >long.ini
empty && : >state
"$zcost" capture long.ini -o small/c 2>log &
pid=$!
soon sh -c 'grep -q up state && ls small/c/runs/a/.*.tmp/*/workload.out' || cat log
kill -9 $pid
wait $pid 2>/dev/null
fill
ok "capture --undo succeeds on a full disk" exits 0 "$zcost" capture --undo -o small/c
ok "capture --undo runs the plan's 'after' on a full disk" test "$(tr '\n' ' ' <state)" = "up down "
ok "a warning of --undo reports that the journal cannot be written" says "running the plan's 'after' anyway" err
done_testing
