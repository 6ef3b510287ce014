#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Checks that unpack restores what pack read, that damaged and malicious archives are refused, and that
# every command reads an archive.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"

# sums CAPTURE: fills in the manifest's checksums of its only run.
sums() {
	(cd "$1/runs/baseline/measure-01" && find . -type f | sort | while read -r f; do
		printf '"%s": "%s"\n' "${f#./}" "$(sha256sum "$f" | cut -c1-64)"
	done) | paste -sd, | tr -d '\n' >list
	printf '"vm/kallsyms": "%s"' "$(sha256sum "$1/hosts/vm/kallsyms" | cut -c1-64)" >hosts
	perl -e 'my ($m, @l) = map { local (@ARGV, $/) = $_; <> } @ARGV;
		$m =~ s/"files": \{\}/"files": {$l[0]}/; $m =~ s/\}\s*$/, "hosts": {$l[1]}}\n/; print $m' \
		"$1/manifest.json" list hosts >manifest.new && mv manifest.new "$1/manifest.json"
}

mkdir -p cap/hosts/vm cap/empty
echo "ffffffff81000000 T _text" >cap/hosts/vm/kallsyms
measure_run cap baseline 1 receiver 1280000000 150
measure_run cap baseline 1 sender 1280000000 300
: >cap/hosts/vm/nothing
echo odd >"cap/hosts/vm/a name with 'blanks' and \\"
printf odd >"cap/hosts/vm/$(printf 'stra\303\237e \377')"
mkdir "cap/hosts/vm/$(printf '%0150d' 7)"
echo long >"cap/hosts/vm/$(printf '%0150d' 7)/$(printf '%0150d' 8)"
manifest cap baseline baseline/measure/1/ok
sums cap
truncate -s 4M cap/hosts/vm/sparse
printf tail >>cap/hosts/vm/sparse
cp -r cap raw
"$zcost" analyze cap 2>err || cat err

ok "pack exits 0" exits 0 "$zcost" pack cap
ok "pack counts the files that match the manifest" says 'cap.tar.zst: 14 files, 7 with the checksums of manifest.json$' err
ok "pack leaves one file beside the capture" test "$(ls -d cap.* | tr '\n' ' ')" = "cap.tar.zst "
mkdir none && : >none/libarchive.so.13
ok "pack without libarchive exits 1" exits 1 env LD_LIBRARY_PATH=none "$zcost" pack cap -o none/cap.tar.zst
ok "pack names the missing library" says '^zcost: none/libarchive.so.13: file too short; install this library$' err
ok "tar and sha256sum read the archive" sh -c 'mkdir t && zstd -qdc cap.tar.zst | tar -xf - -C t && cd t/cap && sha256sum --quiet -c SHA256SUMS'
quiet_tar() { # ignores the message about the name that is not ASCII, because tar knows no charset
	zstd -qdc cap.tar.zst | tar -tf - >list 2>err && [ "$(wc -l <err)" -le 1 ] && ! grep -v hdrcharset err
}
ok "tar prints no warning about ASCII names" quiet_tar
ok "unpack exits 0" exits 0 "$zcost" unpack cap.tar.zst -o again
ok "unpack counts the files that match the manifest" says 'again: 14 files, 7 with the checksums of manifest.json$' err
ok "unpack restores the same folder" diff -r cap again
ok "unpack writes zeros as holes" test "$(du -k again/hosts/vm/sparse | cut -f1)" -lt 1024
ok "unpack into an existing folder exits 1" exits 1 "$zcost" unpack cap.tar.zst -o again
ok "the message names the existing folder" says 'again: exists already' err
mkdir vacant
ok "unpack into an empty folder exits 0" exits 0 "$zcost" unpack cap.tar.zst -o vacant/
ok "unpack fills an empty folder" test -s vacant/manifest.json

# The same folder gives the same bytes.
mkdir copy && cp -r cap copy/ && touch -d 2001-01-01 copy/cap/hosts/vm/* && touch copy/cap/manifest.json
ok "pack -j 1 packs a copy with other file times" "$zcost" pack -j 1 copy/cap
ok "an archive of a copy from one thread has the same bytes" cmp cap.tar.zst copy/cap.tar.zst
ok "pack -j 3 packs the copy" "$zcost" pack -j 3 copy/cap/ -o three
ok "an archive from three threads has the same bytes" cmp cap.tar.zst three
ok "pack -l 19 exits 0" "$zcost" pack -l 19 cap -o small
ok "an archive of level 19 is smaller" test "$(stat -c %s small)" -lt "$(stat -c %s cap.tar.zst)"
ok "pack -l 20 is a usage error" exits 2 "$zcost" pack -l 20 cap

piped() {
	"$zcost" pack cap -o - 2>err1 | cat | "$zcost" unpack - -o piped 2>err2 && diff -r cap piped
}
ok "pack and unpack work through a pipe" piped
ok "pack . names the archive after the folder" sh -c "cd copy/cap && rm -f ../cap.tar.zst && '$zcost' pack . && cmp ../cap.tar.zst ../../cap.tar.zst"

# A capture that does not match its manifest.
cp -r cap sick
echo more >>sick/runs/baseline/measure-01/receiver/workload.out
rm sick/runs/baseline/measure-01/sender/proc_stat.snap
ln -s /etc/passwd sick/link
mkfifo sick/fifo
ok "pack exits 4 when files differ from the manifest" exits 4 "$zcost" pack sick
ok "pack names the file that differs" says 'measure-01/receiver/workload.out: differs' err
ok "pack names the file that is missing" says 'measure-01/sender/proc_stat.snap: is missing' err
ok "pack names the symbolic link that it leaves out" says 'link: left out: a symbolic link' err
ok "pack names the fifo that it leaves out" says 'fifo: left out: a fifo' err
ok "pack counts the files that differ from the manifest" says 'sick.tar.zst: 13 files, 5 with the checksums of manifest.json, 1 that differs$' err
ok "unpack exits 4 when files differ from the manifest" exits 4 "$zcost" unpack sick.tar.zst -o sick.out
ok "unpack names the file that differs" says 'workload.out: differs from the checksum in manifest.json' err
ok "unpack restores the file that differs" cmp sick.out/runs/baseline/measure-01/receiver/workload.out sick/runs/baseline/measure-01/receiver/workload.out
mkdir nothing
ok "pack of a folder without a capture exits 1" exits 1 "$zcost" pack nothing
ok "pack of a missing folder exits 1" exits 1 "$zcost" pack nowhere

# An archive with damage at any place is refused or gives the very same folder.
refused() { # refused ARCHIVE PATTERN
	rm -rf r
	exits 1 "$zcost" unpack "$1" -o r && says "$2" err && leaves_nothing
}
leaves_nothing() {
	[ -z "$(ls -d r r.* 2>/dev/null)" ] || { ls -d r r.*; return 1; }
}
size=$(stat -c %s cap.tar.zst)
cuts() {
	for at in 0 1 3 100 $((size / 2)) $((size - 10)) $((size - 1)); do
		head -c "$at" cap.tar.zst >cut
		refused cut 'damaged|no capture' || { echo "cut at $at"; return 1; }
		refused - 'damaged|no capture' <cut || { echo "piped, cut at $at"; return 1; }
	done
}
ok "an archive cut at any place is refused" cuts
flips() {
	kept=0
	for i in $(seq 20); do
		perl -e 'local $/; $_ = <STDIN>; my $at = int($ARGV[0] * length() / 21);
			substr($_, $at, 1) ^= "\x10"; print' "$i" <cap.tar.zst >flipped
		rm -rf r
		"$zcost" unpack flipped -o r 2>err
		case $? in
		0) diff -r cap r || return 1; kept=$((kept + 1)) ;;
		1) leaves_nothing || return 1 ;;
		*) cat err; return 1 ;;
		esac
	done
	[ $kept -lt 10 ]
}
ok "an archive with a flipped bit is refused or gives the same folder" flips
changed() { # changes one byte of a file in a well-formed archive
	rm -rf t2 && cp -r t t2 && printf X | dd of=t2/cap/hosts/vm/kallsyms conv=notrunc 2>dd.err &&
		tar -C t2 -cf - cap | zstd -q >changed.tar.zst
}
ok "an archive with a changed file is made" changed
ok "an archive with a changed file is refused" refused changed.tar.zst 'hosts/vm/kallsyms: differs from the checksum in SHA256SUMS'
ok "an archive with an extra file is made" sh -c 'echo x >t/cap/added; tar -C t -cf - cap | zstd -q >added.tar.zst; rm t/cap/added'
ok "an archive with an extra file is refused" refused added.tar.zst 'added: SHA256SUMS does not name it'
ok "an archive without one of its files is made" sh -c 'tar -C t --exclude=kallsyms -cf - cap | zstd -q >less.tar.zst'
ok "an archive without one of its files is refused" refused less.tar.zst 'hosts/vm/kallsyms: is missing'

# Archives that another program made are taken when they hold a capture.
ok "tar makes an archive of a capture" sh -c 'tar -C cap -cf - . | zstd -q >hand.tar.zst'
ok "unpack takes an archive from tar" exits 0 "$zcost" unpack hand.tar.zst -o hand
ok "a note says that an archive from tar has no checksums" says "no checksums: 'zcost pack' did not make this archive" err
ok "unpack of an archive from tar restores the same folder" diff -r cap hand
ok "unpack of a sparse archive from tar restores the same folder" sh -c "tar -S -cf - cap | zstd -q >holes.tar.zst && '$zcost' unpack holes.tar.zst -o holes && diff -r cap holes"
ok "tar makes an archive without a capture" sh -c 'mkdir x; echo 1 >x/y; tar -cf - x | zstd -q >other.tar.zst'
ok "an archive without a capture is refused" refused other.tar.zst 'no capture'
ok "a file that is no tar is refused" refused /etc/passwd 'damaged'
tar -cf plain.tar cap/manifest.json
ok "an uncompressed tar without some files exits 4" exits 4 "$zcost" unpack plain.tar -o plain
ok "unpack names the file missing from the uncompressed tar" says 'hosts/vm/kallsyms: is missing' err

# Malicious archives. evil FILE NAME TYPE LINK [SIZE [DATA]]: makes a capture with one more member.
cat >evil.pl <<'END'
my ($file, @members) = @ARGV;
sub header {
	my ($name, $type, $link, $size) = @_;
	my $h = pack "a100 a8 a8 a8 a12 a12 A8 a1 a100 a6 a2 a32 a32 a8 a8 a155 x12", $name, "0000644", "0000000",
		"0000000", ref $size ? $$size : sprintf("%011o", $size), "00000000000", "", $type, $link,
		"ustar", "00", "", "", "0000000", "0000000", "";
	substr $h, 148, 8, sprintf "%06o\0 ", unpack "%32C*", $h;
	return $h;
}
sub member {
	my ($name, $type, $link, $data) = @_;
	return header($name, $type, $link, length $data) . $data . "\0" x (-length($data) % 512);
}
sub pax { my $r = " $_[0]=$_[1]\n"; my $n = length $r; $n++ while length($n) + length($r) != $n; return "$n$r" }
open my $out, "|-", "zstd -q -f -o $file" or die;
binmode $out;
print $out member("c/run.json", 0, "", "{}");
while (@members) {
	my ($name, $type, $link) = splice @members, 0, 3;
	$name =~ s/\\([n0])/$1 eq "n" ? "\n" : "\0"/ge;
	if ($type eq "huge") {
		print $out header($name, 0, "", \("\x80\0\0\0\x3f" . "\xff" x 7));
	} elsif ($type eq "zeros") { # takes less space in the archive than on disk
		print $out header($name, 0, "", 16 << 20), "";
		print $out "\0" x (1 << 20) for 1 .. 16;
	} elsif ($type eq "folders") {
		print $out member("$name/$_" . "/0" x 28 . "/f", 0, "", "") for 1 .. 3600;
	} elsif ($type eq "pax") {
		print $out member("p", "x", "", pax("path", $name)), member("short", 0, "", "x\n");
	} else {
		print $out member($name, $type, $link, $type eq "0" ? "x\n" : "");
	}
}
print $out "\0" x 1024;
close $out;
END
evil() { perl evil.pl evil.tar.zst "$@"; }
tricks() { # tricks PATTERN MEMBER...
	pattern=$1
	shift
	evil "$@" && refused evil.tar.zst "$pattern" && [ ! -e "$scratch/../escaped" ] && [ ! -e escaped ] &&
		[ ! -e /tmp/zcost-escaped ]
}
evil c/good 0 ""
ok "unpack takes an archive with a harmless member" exits 0 "$zcost" unpack evil.tar.zst -o good
ok "a member with an absolute name is refused" tricks "refused: an absolute name" /tmp/zcost-escaped 0 ""
ok "a member with .. in its name is refused" tricks "refused: '\.\.'" c/../../escaped 0 ""
ok "a member with .. at the start of its name is refused" tricks "refused: '\.\.'" ../escaped 0 ""
ok "a member with .. at the end of its name is refused" tricks "refused: '\.\.'" c/.. 5 ""
ok "a member with an empty part in its name is refused" tricks "refused: an empty part" c//x 0 ""
ok "a symbolic link that leads outside is refused" tricks "c/l': refused: a symbolic link" c/l 2 ../.. c/l/escaped 0 ""
ok "a symbolic link that stays inside is refused" tricks "refused: a symbolic link" c/l 2 run.json
ok "a hard link that stays inside is refused" tricks "refused: a hard link" c/l 1 c/run.json
ok "a hard link that leads outside is refused" tricks "refused: a hard link" c/l 1 /etc/passwd
ok "a character device is refused" tricks "refused: a device" c/null 3 ""
ok "a block device is refused" tricks "refused: a device" c/sda 4 ""
ok "a fifo is refused" tricks "refused: a fifo" c/fifo 6 ""
ok "two members with the same name are refused" tricks "c/run.json': refused: the archive has it twice" c/run.json 0 ""
ok "a file with the name of a folder is refused" tricks "x" c/x/y 0 "" c/x 0 ""
ok "a folder with the name of a file is refused" tricks "cannot|refused" c/x 0 "" c/x/y 0 ""
ok "a member with a newline in its name is refused" tricks "refused: a control character" 'c/a\nb' 0 ""
ok "a part of a name longer than 255 bytes is refused" tricks "refused: a part of more than 255" "c/$(printf '%0300d' 1)" pax ""
ok "a name longer than 1024 bytes is refused" tricks "refused: a name of more than 1024" "c$(printf '/%0100d' 1 2 3 4 5 6 7 8 9 10 11)" pax ""
ok "a member more than 32 folders deep is refused" tricks "more than 32 folders deep" "c$(printf '/%d' $(seq 40))" pax ""
ok "a pax name with .. is refused" tricks "refused: '\.\.'" "c/../../escaped" pax ""
many_folders() { # 3600 members with 29 folders each, in memory because a disk takes minutes
	shm=$(mktemp -d /dev/shm/zcost-XXXXXX) && evil c folders "" || return 1
	"$zcost" unpack evil.tar.zst -o "$shm/r" 2>err
	code=$?
	left=$(ls "$shm")
	rm -rf "$shm"
	[ "$code" = 1 ] && [ -z "$left" ] && says 'refused: more than 100000 folders' err
}
ok "members that need more than 100,000 folders are refused" many_folders
ok "a member with an absurd size is refused" tricks "damaged|refused|more than" c/huge huge ""
nul() {
	evil 'c/a\0/../../escaped' pax ""
	rm -rf r
	"$zcost" unpack evil.tar.zst -o r 2>err
	[ $? -le 1 ] && [ ! -e escaped ] && [ -z "$(find r -name '*escaped*' 2>/dev/null)" ] || { find r; return 1; }
}
ok "a zero byte in a name ends the name or refuses the archive" nul
evil c/zeros zeros ""
rm -rf r
ok "unpack --max-size refuses an archive that unpacks to more" exits 1 "$zcost" unpack --max-size 12M evil.tar.zst -o r
ok "the message names --max-size" says "max-size allows more" err
ok "unpack --max-size with less than 1 MB exits 1" exits 1 "$zcost" unpack --max-size 1K evil.tar.zst -o r
ok "the message has the limit in kB" says "more than 1.0 kB; zcost unpack --max-size" err
ok "pack of no folder exits 1" exits 1 "$zcost" pack nosuch
ok "pack of no folder prints one error" test "$(cat err)" = \
	"zcost: nosuch: no such capture; 'zcost capture' makes one, and 'zcost unpack' makes one of an archive"
ok "report of a folder that is no capture exits 1" exits 1 "$zcost" report summary .home
ok "the message says that it is no capture" says "^zcost: .home: no capture: it has no manifest.json" err
ok "an archive larger than --max-size leaves nothing" leaves_nothing
ok "unpack --max-size takes an archive that unpacks to less" exits 0 "$zcost" unpack --max-size 1G evil.tar.zst -o zeros
ok "zeros take no room on the disk" test "$(du -k zeros/zeros | cut -f1)" -lt 1024

# Zeros pack 10,000 times smaller, a capture at most 50 times.
mkdir -p bomb && echo '{}' >bomb/manifest.json && truncate -s 300M bomb/zcost.db
tar -cf - bomb | zstd -qf -o bomb.tar.zst
rm -rf bomb
ok "unpack refuses an archive that unpacks to 100 times its size" exits 1 "$zcost" unpack bomb.tar.zst
ok "the message names the option" says "zcost.db': refused: the files would take more than 268 MB; zcost unpack --max-size allows more" err
ok "unpack from a pipe refuses an archive that unpacks to 100 times its size" sh -c "'$zcost' unpack - -o r <bomb.tar.zst 2>err; [ \$? = 1 ] && grep -q 'max-size allows more' err"
ok "the refused archive leaves nothing" leaves_nothing
ok "unpack --max-size 1G unpacks the refused archive" exits 0 "$zcost" unpack --max-size 1G bomb.tar.zst
rm -rf bomb bomb.tar.zst
perl -e 'print pack "V V", 0xfd2fb528, 0; print "\xff" x 5000' >nonsense.tar.zst
ok "bytes that begin as zstd does are refused" refused nonsense.tar.zst damaged

ok "unpack to a folder that cannot be made exits 1" exits 1 "$zcost" unpack cap.tar.zst -o nowhere/deep/r

# killed SIGNAL: sends the signal while unpack waits for the rest of its input.
killed() {
	signal=$1
	rm -rf r r.* feed && mkfifo feed
	"$zcost" unpack - -o r <feed 2>err &
	pid=$!
	exec 9>feed
	head -c $((size / 2)) cap.tar.zst >&9
	soon test -d "r.tmp.$pid" || { exec 9>&-; return 1; }
	sleep 0.2
	kill "-$signal" "$pid"
	wait "$pid"
	got=$?
	exec 9>&-
	[ $got -gt 128 ] || { echo "exit $got"; return 1; }
}
ok "SIGTERM ends unpack" killed TERM
ok "unpack leaves nothing after SIGTERM" leaves_nothing
ok "SIGKILL ends unpack" killed KILL
ok "the next unpack removes what SIGKILL left" sh -c "'$zcost' unpack cap.tar.zst -o r && ! ls -d r.tmp.* 2>/dev/null"
stopped() { # sends SIGTERM while pack writes into a pipe that nobody reads
	rm -rf feed big && mkfifo feed
	cp -r cap big && head -c 1000000 /dev/urandom >big/runs/noise # does not fit into the pipe
	sleep 60 <feed &
	reader=$!
	"$zcost" pack -l 1 big -o - >feed 2>err &
	pid=$!
	sleep 0.3
	kill -TERM $pid
	wait $pid
	got=$?
	kill $reader
	[ $got = 143 ]
}
ok "SIGTERM ends pack" stopped
halves() { # sends SIGTERM at several moments: the result is the whole archive or no file
	for i in 0.01 0.03 0.1 0.2 0.4; do
		rm -f half.tar.zst*
		"$zcost" pack -l 12 cap -o half.tar.zst 2>err &
		pid=$!
		sleep $i
		kill -TERM $pid 2>/dev/null
		wait $pid
		[ -z "$(ls half.tar.zst.* 2>/dev/null)" ] || { ls half*; return 1; }
		[ ! -e half.tar.zst ] || "$zcost" unpack half.tar.zst -o "half.$i" 2>err || { cat err; return 1; }
	done
}
ok "pack leaves a whole archive or none after SIGTERM at any moment" halves

# Only unpack reads archives.
mkdir solo && cp cap.tar.zst solo/a.tar.zst
for command in "report runs" analyze "export sql" "report runs --from 1" "compare cap"; do
	ok "$command refuses an archive" exits 1 "$zcost" $command solo/a.tar.zst
	ok "the message of $command names unpack" says "zcost unpack" err
done
ok "no command unpacks the archive beside it" test "$(ls solo)" = a.tar.zst
cp -r cap stale && echo ' ' >>stale/manifest.json
ok "pack of a capture with an outdated store exits 0" exits 0 "$zcost" pack stale -o solo/stale.tar.zst
ok "pack warns of an outdated store and names the command that renews it" says "^zcost: warning: stale/zcost.db: the capture has changed since; run 'zcost analyze stale' again, and then pack again: reports refuse this store$" err
ok "pack does not warn of a store that is up to date or absent" sh -c "'$zcost' pack cap -o solo/fresh.tar.zst 2>err && ! grep -q warning err && '$zcost' pack raw -o solo/fresh.tar.zst 2>err && ! grep -q warning err"

done_testing
