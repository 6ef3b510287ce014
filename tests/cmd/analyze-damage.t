#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Captures and archives that are not as they were made: raw files altered, cut off or gone since, and
# archives that end early. What is said, where, and the exit code; figures never as if nothing were.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"

# sums CAPTURE: the manifest with the checksums of all files, as capture writes it.
sums() {
	(cd "$1" && find runs hosts -type f -exec sha256sum {} +) >sums.list
	perl -e 'my ($path) = @ARGV; my (%of, $hosts);
		open my $list, "<", "sums.list" or die;
		while (<$list>) {
			my ($hex, $name) = /^(\w+)  (.*)/ or die;
			if ($name =~ s!^hosts/!!) { push @$hosts, "\"$name\": \"$hex\"" }
			elsif ($name =~ m!^runs/(.+?)/(\w+)-0*(\d+)/(.*)!) { push @{$of{"$1 $2 $3"}}, "\"$4\": \"$hex\"" }
		}
		local $/;
		open my $in, "<", $path or die;
		$_ = <$in>;
		s!("variant": "([^"]*)", "pass": "([^"]*)", "repeat": (\d+).*?"files": )\{\}!
			"$1\{" . join(", ", @{$of{"$2 $3 $4"} || []}) . "\}"!ge;
		s!\}\s*$!", \"hosts\": {" . join(", ", @{$hosts || []}) . "}}\n"!e;
		open my $out, ">", $path or die;
		print $out $_' "$1/manifest.json"
}

mkdir -p cap/hosts/vm
echo "ffffffff81000000 T _text" >cap/hosts/vm/kallsyms
for variant in baseline mmap; do
	for repeat in 1 2; do
		measure_run cap $variant $repeat receiver 1280000000 150
		measure_run cap $variant $repeat sender 1280000000 300
	done
done
echo "what collect said" >cap/runs/mmap/measure-02/sender.log
manifest cap "baseline mmap" baseline/measure/1/ok mmap/measure/1/ok mmap/measure/2/ok baseline/measure/2/ok
sums cap
ok "the manifest names every file" test "$(grep -oE '"[0-9a-f]{64}"' cap/manifest.json | wc -l)" = \
	"$(find cap/runs cap/hosts -type f | wc -l)"
ok "files as capture left them, exit 0" exits 0 "$zcost" analyze cap
ok "nothing is said of them" says 'cap/zcost.db: 8 runs, nothing lost' err
ok "at one thread neither" exits 0 "$zcost" analyze -j 1 cap

# notes CAPTURE: what the store says of it, by run: "baseline/measure-01 receiver: text".
notes() {
	sqlite3 -separator ' ' "$1/zcost.db" "SELECT COALESCE(variant || '/' || pass || '-' || repeat || ' ' || side, 'all'),
		severity, text FROM note LEFT JOIN run ON run.id = note.run WHERE text LIKE '%manifest.json%'"
}
damaged() { # damaged COMMAND...: on a copy of the capture, bad, which is then analyzed with exit 4
	rm -rf bad && cp -r cap bad && "$@" && exits 4 "$zcost" analyze bad
}
receiver=runs/baseline/measure-01/receiver sender=runs/mmap/measure-02/sender

# One digit more or less is no error in any parser's eyes: the figures are there, and are wrong.
digit() { sed -i '0,/"bytes":1280/s//"bytes":1290/' "bad/$receiver/workload.out"; }
ok "a digit altered, exit 4" damaged digit
ok "no parser saw it" sh -c "! sqlite3 bad/zcost.db 'SELECT text FROM note' | grep -v manifest.json"
ok "it is told, what and where" says \
	"^zcost: warning: bad: $receiver/workload.out differs from its checksum in manifest.json: altered or cut off" err
ok "with the way out" says 'put the original back and analyze again$' err
ok "nothing else is" test "$(grep -c manifest.json err)" = 1
ok "the run has it, and no other" test "$(notes bad | cut -d' ' -f1-5)" = \
	"baseline/measure-1 receiver lossy workload.out differs"
ok "report runs shows it, exit 4" exits 4 "$zcost" report runs bad --format tsv
ok "with the run" says 'lossy: workload.out differs .*\(1 side, first baseline/measure-01 receiver\)' err
ok "its figures stand with the note, exit 4" exits 4 "$zcost" report summary bad --format tsv
ok "of that variant" says 'lossy: baseline receiver: workload.out differs .*\(1 of 2 runs\)' err
ok "the other variant's are as measured, exit 0" exits 0 "$zcost" report summary bad --variant mmap --format tsv
ok "compare does not hide it, exit 4" exits 4 "$zcost" compare baseline mmap -C bad
ok "neither does a part of the window, exit 4" exits 4 "$zcost" report summary bad --from 1 --format tsv
ok "analyzed for it alone" says 'lossy: baseline receiver: workload.out differs' err
ok "of another variant it does not matter" exits 0 "$zcost" report summary bad --variant mmap --from 1 --format tsv
cp "cap/$receiver/workload.out" "bad/$receiver/workload.out"
ok "with the original back all is well again, exit 0" exits 0 "$zcost" analyze bad
ok "and no note stays" test -z "$(notes bad)"

# Each kind is one line, with how many and the first.
several() {
	for side in $receiver runs/baseline/measure-02/receiver; do
		head -c 200 "cap/$side/workload.out" >"bad/$side/workload.out"
		: >"bad/$side/proc_stat.snap"
	done
	rm "bad/$sender/workload.out" "bad/$sender.log"
	rm "bad/runs/mmap/measure-01/receiver/proc_stat.snap" && mkfifo "bad/runs/mmap/measure-01/receiver/proc_stat.snap"
}
ok "cut off, emptied, gone, and no file any more, exit 4" damaged several
ok "those that differ are one line" says "bad: 4 files \(first $receiver/proc_stat.snap\) differ from their checksums" err
ok "those that are gone another" says "bad: 3 files \(first runs/mmap/measure-01/receiver/proc_stat.snap\) are missing, though" err
ok "no more lines" test "$(grep -c manifest.json err)" = 2
ok "of a side, all its files" says '^baseline/measure-2 receiver lossy 2 files \(first proc_stat.snap\) differ' "$(notes bad >said; echo said)"
ok "of a log beside the sides, the capture" says "^all lossy $sender.log is missing" said

host() { echo "ffffffff81000010 T extra" >>bad/hosts/vm/kallsyms; }
ok "what explains a host is checked too, exit 4" damaged host
ok "and said of the capture" test "$(notes bad | cut -d' ' -f1-4)" = "all lossy hosts/vm/kallsyms differs"
ok "with every table, exit 4" exits 4 "$zcost" report summary bad --variant mmap --format tsv

description() { sed -i 's/"cpus": "1"/"cpus": "0"/' "bad/$receiver/run.json"; }
ok "run.json itself, exit 4" damaged description
ok "is named" says "$receiver/run.json differs" err

nonsense() { sed -i "s/\"receiver\/workload.out\": \"[0-9a-f]*\"/\"receiver\/workload.out\": \"12\"/" bad/manifest.json; }
ok "a checksum that is none agrees with nothing, exit 4" damaged nonsense
failed() { sed -i '0,/"status": "ok"/s//"status": "failed"/' bad/manifest.json && rm -r bad/runs/baseline/measure-01; }
ok "a failed run may be gone, exit 4" damaged failed
ok "its files are not missed" sh -c '! grep manifest.json err'
if command -v setpriv >/dev/null; then
	# Root reads everything, unless it gives that right away.
	locked() { chmod 000 "bad/$sender/workload.out"; }
	unprivileged() {
		rm -rf bad && cp -r cap bad && locked && exits 4 setpriv --bounding-set=-all --inh-caps=-all "$zcost" analyze bad
	}
	ok "a file that cannot be read, exit 4" unprivileged
	ok "is a kind of its own" says "$sender/workload.out cannot be read, nor checked against manifest.json" err
fi

# Packed and unpacked, the same is said once, of whichever is analyzed.
ok "a damaged capture is packed, exit 4" sh -c "rm -rf bad && cp -r cap bad && echo >>bad/$receiver/workload.out &&
	'$zcost' pack bad 2>err; [ \$? = 4 ]"
rm -rf bad
ok "analyzed out of its archive, exit 4" exits 4 "$zcost" analyze bad.tar.zst
ok "it is told once" test "$(grep -c 'workload.out.*manifest.json' err)" = 1
rm -rf bad
ok "a part of the window, exit 4" exits 4 "$zcost" report summary bad.tar.zst --from 1 --format tsv
ok "it is told with the table" says 'lossy: baseline receiver: workload.out differs' err

done_testing
