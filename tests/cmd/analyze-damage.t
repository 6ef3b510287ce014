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
ok "analyze of unchanged files exits 0" exits 0 "$zcost" analyze cap
ok "the message on unchanged files says that nothing is lost" says 'cap/zcost.db: 4 runs, nothing lost' err
ok "analyze of unchanged files with one thread exits 0" exits 0 "$zcost" analyze -j 1 cap

# notes CAPTURE: what the store says of it, by run: "baseline/measure-01 receiver: text".
notes() {
	sqlite3 -separator ' ' "$1/zcost.db" "SELECT COALESCE(variant || '/' || pass || '-' || repeat || ' ' || side, 'all'),
		severity, json_extract(vals, '\$[0]') FROM note LEFT JOIN run ON run.id = note.run WHERE kind = 'files_changed'"
}
damaged() { # damaged COMMAND...: on a copy of the capture, bad, which is then analyzed with exit 4
	rm -rf bad && cp -r cap bad && "$@" && exits 4 "$zcost" analyze bad
}
receiver=runs/baseline/measure-01/receiver sender=runs/mmap/measure-02/sender

# One digit more or less is no error in any parser's eyes: the figures are there, and are wrong.
digit() { sed -i '0,/"bytes":1280/s//"bytes":1290/' "bad/$receiver/workload.out"; }
ok "analyze of a file with one altered digit exits 4" damaged digit
ok "the only note on an altered digit is that of the checksum" test "$(sqlite3 bad/zcost.db 'SELECT DISTINCT kind FROM note')" = files_changed
ok "a warning names the altered file and how it differs" says \
	"^zcost: warning: bad: $receiver/workload.out differs from its checksum in manifest.json: it was altered or cut off" err
ok "the warning says how to repair the capture" says 'put the original back and analyze again$' err
ok "only one line is about the manifest" test "$(grep -c manifest.json err)" = 1
ok "only the run of the altered file has the note" test "$(notes bad | cut -d' ' -f1-5)" = \
	"baseline/measure-1 receiver lossy workload.out differs"
ok "report runs of a capture with an altered file exits 4" exits 4 "$zcost" report runs bad --format tsv
ok "report runs shows the note with its run" says 'lossy: baseline receiver \(measure-01\): workload.out differs ' err
ok "report summary of a capture with an altered file exits 4" exits 4 "$zcost" report summary bad --format tsv
ok "report summary shows the note with its variant" says 'lossy: baseline receiver \(1 of 2 runs\): workload.out differs ' err
ok "report summary of the unchanged variant exits 0" exits 0 "$zcost" report summary bad --variant mmap --format tsv
ok "compare of a capture with an altered file exits 4" exits 4 "$zcost" compare baseline mmap -C bad
ok "report summary --from of a capture with an altered file exits 4" exits 4 "$zcost" report summary bad --from 1 --format tsv
ok "report summary --from shows the note with its variant" says 'lossy: baseline receiver \(1 of 2 runs\): workload.out differs' err
ok "report summary --from of the unchanged variant exits 0" exits 0 "$zcost" report summary bad --variant mmap --from 1 --format tsv
cp "cap/$receiver/workload.out" "bad/$receiver/workload.out"
ok "analyze exits 0 after the original file is restored" exits 0 "$zcost" analyze bad
ok "analyze of the restored file leaves no note" test -z "$(notes bad)"

# Each kind is one line, with how many and the first.
several() {
	for side in $receiver runs/baseline/measure-02/receiver; do
		head -c 200 "cap/$side/workload.out" >"bad/$side/workload.out"
		: >"bad/$side/proc_stat.snap"
	done
	rm "bad/$sender/workload.out" "bad/$sender.log"
	rm "bad/runs/mmap/measure-01/receiver/proc_stat.snap" && mkfifo "bad/runs/mmap/measure-01/receiver/proc_stat.snap"
}
ok "analyze of truncated, empty, missing and replaced files exits 4" damaged several
ok "one line counts the files that differ" says "bad: 4 files \(first $receiver/proc_stat.snap\) differ from their checksums" err
ok "one line counts the files that are missing" says "bad: 3 files \(first runs/mmap/measure-01/receiver/proc_stat.snap\) are missing, though" err
ok "there are no other lines about the manifest" test "$(grep -c manifest.json err)" = 2
ok "the note of a side counts all its files that differ" says '^baseline/measure-2 receiver lossy 2 files \(first proc_stat.snap\) differ' "$(notes bad >said; echo said)"
ok "the note on a log outside the sides belongs to the capture" says "^all lossy $sender.log is missing" said

host() { echo "ffffffff81000010 T extra" >>bad/hosts/vm/kallsyms; }
ok "analyze of an altered file of a host exits 4" damaged host
ok "the note on a host's file belongs to the capture" test "$(notes bad | cut -d' ' -f1-4)" = "all lossy hosts/vm/kallsyms differs"
ok "report of a capture with an altered host file exits 4" exits 4 "$zcost" report summary bad --variant mmap --format tsv

description() { sed -i 's/"cpus": "1"/"cpus": "0"/' "bad/$receiver/run.json"; }
ok "analyze of an altered run.json exits 4" damaged description
ok "a warning names the altered run.json" says "$receiver/run.json differs" err

nonsense() { sed -i "s/\"receiver\/workload.out\": \"[0-9a-f]*\"/\"receiver\/workload.out\": \"12\"/" bad/manifest.json; }
ok "analyze of a manifest with an invalid checksum exits 4" damaged nonsense
failed() { sed -i '0,/"status": "ok"/s//"status": "failed"/' bad/manifest.json && rm -r bad/runs/baseline/measure-01; }
ok "analyze without the files of a failed run exits 4" damaged failed
ok "the missing files of a failed run cause no message" sh -c '! grep manifest.json err'
# Root reads everything, unless it gives that right away.
plainly() { if [ "$(id -u)" = 0 ]; then setpriv --bounding-set=-all --inh-caps=-all "$@"; else "$@"; fi; }
if plainly true 2>/dev/null; then
	unprivileged() {
		rm -rf bad && cp -r cap bad && chmod 000 "bad/$sender/workload.out" && exits 4 plainly "$zcost" analyze bad
	}
	ok "analyze of a file without read permission exits 4" unprivileged
	ok "a warning says that the file cannot be read" says "$sender/workload.out cannot be read, so it was not checked against manifest.json" err
else
	skip "a file that cannot be read" "root here cannot give up its rights"
fi

ok "pack of a capture with an altered file exits 4" sh -c "rm -rf bad && cp -r cap bad && echo >>bad/$receiver/workload.out &&
	'$zcost' pack bad 2>err; [ \$? = 4 ]"

# An archive that ends early.
cp -r cap long && head -c 1000000 /dev/urandom >long/runs/mmap/measure-02/receiver/workload.err
"$zcost" pack long 2>err
size=$(stat -c %s long.tar.zst)
broken() {
	rm -rf cut
	exits 1 "$zcost" unpack cut.tar.zst && says 'damaged' err && [ "$(wc -l <err)" = 1 ] && [ ! -e cut ]
}
ends() { # wherever it ends: in the checksums, in the first files, in its middle, a byte before its end
	for at in 5 300 $((size / 200)) $((size / 2)) $((size - 1)); do
		head -c "$at" long.tar.zst >cut.tar.zst
		broken || { echo "cut at $at"; return 1; }
	done
}
ok "unpack of a truncated archive gives exit 1, one message and no folder" ends
head -c $((size / 2)) long.tar.zst >cut.tar.zst
ok "unpack of an archive truncated in its middle exits 1" broken
ok "the message names the file, the offset and the way out" says \
	"damaged in 'long/runs/mmap/measure-02/receiver/workload.err', before byte $((size / 2)): .*; copy it again" err
ok "tar extracts what is left of a truncated archive" sh -c 'mkdir out.d && { zstd -dcq cut.tar.zst 2>/dev/null | tar -C out.d -xf - 2>/dev/null; :; } &&
	cmp out.d/long/manifest.json long/manifest.json'
middle() { # bytes gone from the middle
	for gone in 1 2 3 700 5000 99999; do
		{ head -c $((size / 2)) long.tar.zst; tail -c +$((size / 2 + gone + 1)) long.tar.zst; } >cut.tar.zst
		broken || { echo "$gone bytes gone"; return 1; }
	done
}
ok "unpack of an archive without a piece of its middle exits 1" middle
frames() { # several frames, one that is to be skipped among them, as other packers write them
	zstd -dcq long.tar.zst >long.tar && split -b 300000 long.tar piece. && { for f in piece.*; do
		zstd -qc "$f"; printf 'P*M\030\004\000\000\000skip'; done; } >frames.tar.zst
	exits 0 "$zcost" unpack frames.tar.zst && diff -r frames long || return
	head -c -30 frames.tar.zst >cut.tar.zst
	broken
}
ok "an archive of several frames is whole only with all frames" frames
"$zcost" report summary long --format tsv >right 2>/dev/null

# What is no capture at all.
: >void.tar.zst
for file in void.tar.zst right /dev/null; do
	ok "report of $file as a capture exits 1" exits 1 "$zcost" report summary $file
	ok "the message on $file says what a capture can be" says "$file: neither a capture's folder nor a zcost.db" err
done
mkfifo fifo
ok "report of a FIFO as a capture exits 1" exits 1 timeout 120 "$zcost" report summary fifo
ok "report of a capture with a FIFO as its store exits 1" sh -c "cp -r cap piped && rm piped/zcost.db && mkfifo piped/zcost.db; timeout 120 '$zcost' report summary piped 2>err; [ \$? = 1 ]"
cp -r cap torn
for bytes in 0 100 5000; do
	head -c $bytes cap/zcost.db >torn/zcost.db
	ok "report of a store of $bytes bytes exits 1" exits 1 "$zcost" report summary torn
	ok "the message on a store of $bytes bytes says to analyze again" says "torn/zcost.db: .*run 'zcost analyze" err
done
ok "analyze replaces a truncated store and exits 0" exits 0 "$zcost" analyze torn

# What is no file where one is looked for: nobody waits for who writes into a fifo, nothing is replaced.
for file in manifest.json $receiver/run.json; do
	cp -r cap pipes && rm pipes/$file && mkfifo pipes/$file
	timeout 120 "$zcost" analyze pipes 2>err
	ok "analyze with a FIFO as $file exits 1 for the manifest and 4 for others" test $? = "$([ $file = manifest.json ] && echo 1 || echo 4)"
	rm -r pipes
done
# Each file of each collector in turn is what one could wait for, or read, for ever.
endless() { # endless COMMAND...: it makes the file "$1"
	# power.csv is the log of a meter, which the capture may hold.
	for file in $receiver/power.csv $(cd cap && find runs hosts -type f ! -name run.json); do
		rm -rf pipes && cp -r cap pipes && rm -f pipes/zcost.db pipes/$file && "$@" pipes/$file || return
		(limit_memory 4000000 && timeout 120 "$zcost" analyze pipes) 2>err
		[ $? = 4 ] || { echo "$file"; cat err; return 1; }
	done
}
ok "analyze ends where any file of a capture is a FIFO" endless mkfifo
ok "analyze ends where any file of a capture is a link to a device" endless ln -s /dev/zero
mkfifo texts
ok "a table reads a FIFO that the user names" sh -c "{ echo 'not a report' >texts & } ; timeout 120 '$zcost' report functions --perf-report texts 2>err; [ \$? = 1 ] && ! grep 'regular' err"
long_line() { # long_line UNITS
	rm -rf long && cp -r cap long && sed -i "s|\"units\": *\"[a-z0-9]*\"|\"units\": \"$1\"|" long/$receiver/run.json
	head -c 4000000 /dev/zero | tr '\0' 1 >long/$receiver/workload.out
	timeout 120 "$zcost" analyze long >said 2>&1
	[ $? = 4 ] && sqlite3 long/zcost.db 'SELECT vals FROM note' | grep 'a line of 4000000 bytes; a rate is looked for'
}
ok "pps refuses a line of 4 MB" long_line pps
ok "a regex refuses a line of 4 MB" long_line 'regex:([0-9.]+) x'

# A name in run.json or manifest.json that leads out of the capture.
mkdir -p other/hosts/elsewhere && echo '{"cpu_model": "of another capture"}' >other/hosts/elsewhere/host.json
host_outside() { # host_outside NAME
	rm -rf other/cap && cp -r cap other/cap && rm -f other/cap/zcost.db
	sed -i "s|\"host\": \"vm\"|\"host\": \"$1\"|" other/cap/runs/*/*/*/run.json
	"$zcost" analyze other/cap 2>err
	[ $? = 4 ] || { cat err; return 1; }
	! sqlite3 other/cap/zcost.db .dump | grep 'of another capture' &&
		sqlite3 other/cap/zcost.db 'SELECT kind, vals FROM note' | grep '^file_damaged|.*run.json.*host .* is not the name of a folder'
}
for name in ../../hosts/elsewhere .. . '\\u001b[31m'; do
	ok "host '$name' in run.json is refused" host_outside "$name"
done
for key in variant pass; do
	rm -rf other/cap && cp -r cap other/cap && sed -i "s|\"$key\": \"[a-z]*\"|\"$key\": \"..\"|" other/cap/manifest.json
	"$zcost" analyze other/cap >said 2>&1
	sqlite3 other/cap/zcost.db 'SELECT kind, vals FROM note' >said
	ok "$key '..' in manifest.json is refused" says '^file_damaged.*manifest.json.*run [0-9]+.* is left out' said
done
mkdir list && echo '{"schema_version": 1, "runs": 5}' >list/manifest.json
ok "analyze of a manifest without a list of runs exits 1" exits 1 "$zcost" analyze list
ok "the message says that the manifest is damaged" says 'list/manifest.json: damaged: it has no list of runs' err
out_of_fifo() {
	rm -f fifo && mkfifo fifo && "$zcost" pack cap -o plain.tar.zst 2>err || return
	timeout 120 cat fifo >fifo.out &
	reader=$!
	timeout 120 "$zcost" pack cap -o fifo 2>err && wait $reader && [ -p fifo ] && cmp fifo.out plain.tar.zst
}
ok "pack writes into a FIFO and does not replace it" out_of_fifo
ok "pack into a folder exits 1" exits 1 "$zcost" pack cap -o torn
ok "the message says that the output is a folder" says 'torn: cannot write: Is a directory' err

# A profile without a sample where one is looked for: never an empty result without a word.
cat >busy.c <<'END'
#include <time.h>
__attribute__((noinline)) unsigned long hot(unsigned long s)
{
	for (int i = 1; i < 1000000; i++)
		s += s / i;
	return s;
}
int main(void) { unsigned long s = 1; while (clock() < CLOCKS_PER_SEC / 3) s = hot(s); return s == 0; }
END
${CC:-cc} -O1 -o busy busy.c
# On one CPU: its ring has all in order, and what a cut leaves has the program's mapping.
one=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
command -v perf >/dev/null && taskset -c "$one" perf record -q -N --buildid-mmap -k CLOCK_MONOTONIC -e cpu-clock:u,page-faults:u -F 1000 -o some.data \
	./busy 2>/dev/null || { skip "profiles without samples" "perf cannot record here"; done_testing; }
first=$(perf script -i some.data -F time 2>/dev/null | tr -d ': ' | sort -n | head -n 1)
profile_run() { # profile_run VARIANT FILE: its window is from 5 s before the first sample to 20 s after it
	d=prof/runs/$1/profile-01/receiver
	run_json "$d" "$1" profile 1 receiver none '{"name": "perf", "state": "ok", "files": ["perf.data"]}'
	from=$(awk -v t="$first" 'BEGIN { printf "%.0f", (t - 5) * 1e9 }') to=$(awk -v t="$first" 'BEGIN { printf "%.0f", (t + 20) * 1e9 }')
	sed -i "s/\"start_ns\": [0-9]*/\"start_ns\": $from/; s/\"end_ns\": [0-9]*/\"end_ns\": $to/; s/\"cpus\": \"1\"/\"cpus\": \"\"/" "$d/run.json"
	cp "$2" "$d/perf.data"
}
perf record -q -N -k CLOCK_MONOTONIC -e page-faults -c 1000000 -o none.data true 2>/dev/null
mkdir prof
profile_run full some.data
profile_run bare none.data
manifest prof "full bare" full/profile/1/ok bare/profile/1/ok
sed -i 's/\["receiver", "sender"\]/["receiver"]/g' prof/manifest.json
"$zcost" analyze prof 2>err

fails() { # fails PATTERN COMMAND...: exit 1, nothing on standard output, and why as the last line
	pattern=$1
	shift
	exits 1 "$@" && [ ! -s out ] && tail -n 1 err >last && says "$pattern" last
}
hot="$zcost report hotspots nowhere"
ok "export folded of a part without samples fails" fails \
	'nothing to export: no sample; .*--from and --to give another part' "$zcost" export folded prof --variant full --to 4
ok "report hotspots of a part without samples fails" fails "'nowhere': there are no samples at all; .*--from and --to give another" $hot prof --variant full --to 4
ok "the message says what happened to the profile" says 'full receiver: no samples: the profile of 1 run has none that can be used' err
ok "report functions of a part without samples exits 4" exits 4 "$zcost" report functions prof --variant full --to 4 --format tsv
ok "folded refuses a profile without samples" fails \
	"nothing to export: no sample; 'zcost report runs' shows why" "$zcost" export folded prof --variant bare
ok "report hotspots refuses a profile without samples" fails "there are no samples at all; 'zcost report runs' shows" $hot prof --variant bare
ok "export folded of a command without samples fails" fails \
	"no sample of cpu-clock:u that --cpu and --comm select; 'zcost report functions --by cpu,comm' lists" "$zcost" export folded prof --variant full --comm ghost
ok "export folded of a CPU without samples fails" fails 'no sample of cpu-clock:u that --cpu and --comm select;' "$zcost" export folded prof --variant full --cpu 4000
ok "the command that the message names exits 0" exits 0 "$zcost" report functions --by cpu,comm prof --variant full --format tsv
ok "report hotspots of a function without samples fails" fails \
	"no sample is in a function 'nowhere' itself, or" $hot prof --variant full
ok "the message counts the samples that were searched" says 'full receiver: none of [0-9]+ samples of cpu-clock:u is in the function itself' err
ok "export folded of two sides prints the side that has samples" sh -c "'$zcost' export folded prof >out 2>err; [ -s out ] && ! grep -v '^full/receiver;' out"
ok "a note says that the other side has no sample" says 'bare receiver: no sample matches' err
ok "export folded of a perf.data without samples fails" fails 'no sample; record again' "$zcost" export folded --perf none.data
ok "report hotspots of a perf.data without samples fails" fails 'there are no samples at all; record again' $hot --perf none.data
# Its header has, from byte 40 on, where the records begin and how many bytes they are.
head -c "$(od -An -j40 -N16 -t u8 some.data | awk '{ printf "%d", $1 + $2 * 0.9 }')" some.data >half.data
ok "report hotspots of an unknown function in a truncated perf.data fails" fails "'nowhere' itself" $hot --perf half.data
ok "the message says that the file is truncated" says 'lossy: half.data: the file ends before its data does' err
ok "report hotspots of a truncated perf.data exits 4" exits 4 "$zcost" report hotspots hot --perf half.data --format tsv
ok "a note beside the figures says that the file is truncated" says 'lossy: half.data: the file ends before its data does' err

done_testing
