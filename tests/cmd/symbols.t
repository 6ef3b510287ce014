#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Symbols come from many places, and each place may belong to another program. A name is right or absent.
# The expected names are those of perf, nm and addr2line.
. "$(dirname "$0")/../lib.sh"

dump=$build/tests/tools/profile_dump
compare=$tests/tools/perf-compare.pl
cc=${CC:-cc}

need perf
perf record -q -e cpu-clock -o probe.data true 2>/dev/null ||
	skip_all "perf cannot record here (root, or kernel.perf_event_paranoid)"
HOME=$scratch/home # whose ~/.debug perf and zcost find there is ours
export HOME
mkdir -p "$HOME"

# program FILE FUNCTION SECONDS/10 [OPTION...]: compiles a program that burns CPU time in FUNCTION.
program() {
	out=$1 fn=$2 tenths=$3
	shift 3
	cat >"$out.c" <<-EOF
		#include <time.h>
		volatile unsigned long x;
		static __attribute__((noinline)) void $fn(unsigned long n) { while (n--) x += n; }
		int main(void)
		{
			clock_t end = clock() + $tenths * CLOCKS_PER_SEC / 10;
			do $fn(1000000); while (clock() < end);
			return 0;
		}
	EOF
	$cc -O1 -g -fno-omit-frame-pointer -Wl,--build-id "$@" -o "$out" "$out.c"
}

record() { # record FILE COMMAND...
	data=$1
	shift
	perf record -q -g -e cpu-clock -F 1000 -o "$data" "$@" >/dev/null 2>record.err || {
		cat record.err
		return 1
	}
}

# named FUNCTION DSO FILE OPTION...: FUNCTION of DSO has most of the samples.
named() {
	fn=$1 dso=$2 data=$3
	shift 3
	"$dump" functions "$@" "$data" | awk -F'\t' -v fn="$fn" -v dso="$dso" '
		{ all += $6 } $3 == fn && $2 ~ dso && !$4 { in_it += $6 }
		END { exit !(all && in_it > all / 2) }' ||
		{ "$dump" functions "$@" "$data" | head -n 20; "$dump" health "$@" "$data" | grep note; return 1; }
}
unnamed() { # unnamed FUNCTION FILE OPTION...: FUNCTION has no sample
	fn=$1 data=$2
	shift 2
	! "$dump" functions "$@" "$data" | awk -F'\t' -v fn="$fn" '$3 == fn' | grep .
}
id_of() { readelf -n "$1" 2>/dev/null | sed -n 's/.*Build ID: //p'; }

# --- user objects ---

program plain burn_plain 1 && record plain.data ./plain || skip_all "cannot compile and record a program"
id=$(id_of plain)
xx=$(echo "$id" | cut -c1-2)
yy=$(echo "$id" | cut -c3-)

cache() {
	record cached.data ./plain || return 1
	# perf record has put the program into ~/.debug
	[ -e "$HOME/.debug/.build-id/$xx/$yy/elf" ] || { find "$HOME"; return 1; }
	named burn_plain plain cached.data --foreign --buildid-dir "$HOME/.debug" &&
		unnamed burn_plain cached.data --foreign &&
		"$zcost" report functions --perf cached.data --buildid-dir "$HOME/.debug" --format tsv >out 2>err &&
		says '^burn_plain	plain' out
}
ok "--buildid-dir reads a build-id cache that perf fills" cache

cache_layouts() {
	for place in "debug/.build-id/$xx/$yy/debug" "elf/.build-id/$xx/$yy/elf" \
		"names$scratch/plain/$id/elf" "distro/.build-id/$xx/$yy.debug"; do
		mkdir -p "layout/${place%/*}" && cp plain "layout/$place" &&
			named burn_plain plain plain.data --foreign --buildid-dir "layout/${place%%/*}" ||
			{ echo "$place"; return 1; }
	done
	# puts another program under that build-id
	program other burn_other 1 && mkdir -p "layout/wrong/.build-id/$xx/$yy" &&
		cp other "layout/wrong/.build-id/$xx/$yy/elf" &&
		unnamed burn_other plain.data --foreign --buildid-dir layout/wrong &&
		"$dump" health --foreign --buildid-dir layout/wrong plain.data >out &&
		says "dso_note	.*build-id $(id_of other), recorded was $id" out
}
ok "--buildid-dir reads every layout of a cache and refuses a file with another build-id" cache_layouts

separate_debug() {
	program split burn_split 1 && objcopy --only-keep-debug split split.dbg && objcopy --strip-all split &&
		record split.data ./split && mkdir -p sys"$scratch" && cp split sys"$scratch"/ || return 1
	unnamed burn_split split.data --symfs sys || return 1
	sid=$(id_of split)
	mkdir -p sys/usr/lib/debug/.build-id/"$(echo "$sid" | cut -c1-2)" &&
		cp split.dbg sys/usr/lib/debug/.build-id/"$(echo "$sid" | cut -c1-2)/$(echo "$sid" | cut -c3-)".debug &&
		named burn_split split split.data --symfs sys
}
ok "a debug file is found by its build-id" separate_debug

lone_debug() { # objcopy changed the offsets in its program headers
	"$dump" functions --foreign --symfs lone split.data >out && ! grep /split out | awk -F'\t' '!$4' | grep . &&
		"$dump" health --foreign --symfs lone split.data >out && says 'dso_note	.*/split: only its debug file was found' out
}
mkdir -p lone && cp -r sys/usr lone/
ok "a debug file without its program names nothing, and a note says why" lone_debug

mini() { # as in distributions, .gnu_debugdata leaves out symbols of .dynsym
	program mini.o burn_mini 2 -Dmain=spin -c &&
		echo 'void spin(void); void burn_shown(void);
			volatile unsigned long y; void burn_shown(void) { for (y = 0; y < 100000000; y++) ; }
			int main(void) { spin(); burn_shown(); return 0; }' |
		$cc -g -O1 -rdynamic -x c - -x none mini.o -o mini &&
		nm -D mini --format=posix --defined-only | awk '{ print $1 }' | sort >dynamic &&
		nm mini --format=posix --defined-only | awk '$2 == "T" || $2 == "t" { print $1 }' | sort | comm -13 dynamic - >keep &&
		objcopy --only-keep-debug mini mini.dbg &&
		objcopy -S --remove-section .gdb_index --remove-section .comment --keep-symbols=keep mini.dbg mini.sym &&
		objcopy --strip-all mini && xz -c mini.sym >mini.xz &&
		objcopy --add-section .gnu_debugdata=mini.xz mini && record mini.data ./mini || return 1
	grep burn_mini keep && ! grep burn_shown keep && "$dump" functions mini.data >out &&
		says '/mini	burn_mini	0' out && says '/mini	burn_shown	0' out
}
ok "symbols in .gnu_debugdata and dynamic symbols both name functions" mini

# --- files that must be refused ---

changed() {
	program victim burn_victim 1 && program after burn_after 1 && record victim.data ./victim || return 1
	cp after victim # the same path and inode, other contents
	unnamed burn_after victim.data && unnamed burn_victim victim.data &&
		"$dump" health victim.data >out &&
		says "dso_note	$scratch/victim: build-id $(id_of after), recorded was" out &&
		"$zcost" report functions --perf victim.data >out 2>&1 && says 'warning: .*victim: build-id' out
}
ok "a program that changed after its recording names nothing, and a note says why" changed

changed_without_ids() {
	program victim burn_victim 1 && perf record -q -B -N -g -e cpu-clock -F 1000 -o bare.data ./victim &&
		named burn_victim victim bare.data || return 1
	cp -p victim kept && sleep 2.1 && cp after victim && touch -d '1 hour ago' victim
	unnamed burn_after bare.data && "$dump" health bare.data >out && # a library may have a sample, too
		says "dso_note	(symbols of . files are not used: )?$scratch/victim: nothing proves that it is the recorded file" out || return 1
	rm victim && cp -p kept victim && unnamed burn_victim bare.data && # another inode: who knows
		mkdir -p sys2"$scratch" && cp kept sys2"$scratch"/victim && named burn_victim victim bare.data --symfs sys2
}
ok "without build-ids a changed inode or time refuses a program unless --symfs names it" changed_without_ids

several() {
	for n in one two three; do program "m$n" "burn_$n" 1 || return 1; done
	perf record -q -g -e cpu-clock -F 1000 -o several.data sh -c './mone; ./mtwo; ./mthree' || return 1
	cp after mone && cp after mthree
	"$dump" health several.data >out && says 'dso_note	symbols of 2 files are not used: .*/(mone|mthree): build-id .*$' out &&
		unnamed burn_after several.data && unnamed burn_one several.data &&
		"$dump" functions several.data | awk -F'\t' '$3 == "burn_two"' | grep -q .
}
ok "a note lists several mismatches, and the matching program still has its names" several

# --- the kernel ---

kernel_rows() { "$dump" functions "$@" kernel.data | awk -F'\t' '$2 ~ /^\[kernel/' | sort; }

# Makes an ELF kernel of the running kernel's functions, linked 32 MB higher; $1 is its build-id. perf would take a
# file that is called vmlinux.
make_vmlinux() {
	[ -s vm.o ] || kernel_object || return 1
	ld -e 0 --build-id="0x$1" -Ttext="0x$(perl -e 'no warnings "portable"; printf "%x", hex(shift) + 0x2000000' "$from")" \
		-o kernel.elf vm.o 2>/dev/null
}
kernel_object() {
	awk '$3 == "_text" { base = $1 } $3 == "_etext" { end = $1 }
		END { print base, end }' /proc/kallsyms >limits
	read -r from to <limits
	perl -e 'use strict; no warnings "portable"; my ($from, $to) = map { hex } @ARGV; my @s;
		open my $k, "<", "/proc/kallsyms"; while (<$k>) { my ($a, $t, $n, $m) = split;
			push @s, [hex($a), $t, $n] if !$m && $t =~ /[tTwW]/ && $n =~ /^[\w.\$]+$/ && $n !~ /^\$/ &&
				hex($a) >= $from && hex($a) <= $to }
		@s = sort { $a->[0] <=> $b->[0] } @s;
		print ".section .text,\"ax\",\@nobits\nzc_base: .skip ", $to - $from + 64, "\n";
		my %seen;
		for my $s (@s) { my $n = $seen{$s->[2]}++ ? "$s->[2].zc$seen{$s->[2]}" : $s->[2];
			print $s->[1] =~ /w/i ? ".weak" : $s->[1] eq "T" ? ".globl" : ".local", " \"$n\"\n";
			printf ".type \"%s\",\@function\n.set \"%s\", zc_base + %d\n", $n, $n, $s->[0] - $from }
		' "$from" "$to" >vm.s && as vm.s -o vm.o
}
kernel_id=$(perf buildid-list -k 2>/dev/null)
vmlinux() { # of all CPUs, for the chains of idle ones; other tests' programs may be gone when it comes to naming them
	perf record -q -a -g --kernel-callchains -e cpu-clock:k -F 1000 -o kernel.data -- \
		perl -e 'while (((times)[0] + (times)[1]) < 0.3) { stat "/usr/bin/perl" for 1 .. 99; `true` }' >/dev/null 2>&1
	kernel_rows >by-kallsyms && [ -s by-kallsyms ] && make_vmlinux "$kernel_id" || return 1
	kernel_rows --foreign --vmlinux kernel.elf >by-vmlinux
	# Names that share an address and addresses that share a name may take each other's samples. The file has the
	# text without the start code, where chains of idle CPUs end.
	perl -e 'no warnings "portable"; my ($from, $to) = map { hex } @ARGV; my (%at, %of, %row, $n, $bad);
		open my $f, "<", "/proc/kallsyms"; while (<$f>) { my ($a, undef, $name) = split; $of{$a}{$name} = $at{$name}{$a} = 1 }
		my %not = map { $_ => 1 } grep { my $s = $_; keys %{$at{$s}} > 1 ||
			grep { keys %{$of{$_}} > 1 || hex $_ >= $to } keys %{$at{$s}} } keys %at;
		for my $file ("by-kallsyms", "by-vmlinux") { open $f, "<", $file;
			while (<$f>) { my @c = split /\t/; $c[2] =~ s/\.zc\d+$//;
				next if $not{$c[2]} || $c[3] && hex $c[2] >= $to - $from;
				$row{$_} += $file eq "by-kallsyms" ? 1 : -1; $n += !$c[3] } }
		$row{$_} and $bad = print for sort keys %row; exit($bad || $n < 50)' "$from" "$to" ||
		{ diff by-kallsyms by-vmlinux | head; return 1; }
	"$zcost" report functions --perf kernel.data --vmlinux kernel.elf >out 2>&1 && ! grep 'not resolved' out
}
wrong_vmlinux() {
	make_vmlinux 0102030405060708090a0b0c0d0e0f1011121314 && "$dump" health --foreign --vmlinux kernel.elf kernel.data >out &&
		says "kernel_note	.*recorded on the kernel with build-id $kernel_id, kernel.elf has 0102" out &&
		! kernel_rows --foreign --vmlinux kernel.elf | awk -F'\t' '!$4' | grep . &&
		"$zcost" report functions --perf kernel.data --vmlinux kernel.elf --verbose >out 2>&1 && says 'not the recorded file [0-9.]+ %' out
}
kernel_cache() {
	dir="kcache/[kernel.kallsyms]/$kernel_id"
	mkdir -p "$dir" && cp /proc/kallsyms "$dir/kallsyms" && kernel_rows --foreign --buildid-dir kcache >there &&
		cmp by-kallsyms there || return 1
	mv "$dir" "kcache/[kernel.kallsyms]/0102030405060708090a0b0c0d0e0f1011121314"
	! kernel_rows --foreign --buildid-dir kcache | awk -F'\t' '!$4' | grep .
}
kernel_saved() { # perf record saved the kernel's names, which get a mark here
	saved="$HOME/.debug/[kernel.kallsyms]/$kernel_id/kallsyms"
	[ -s "$saved" ] || { find "$HOME"; return 1; }
	sed '/ _s*text$/!s/ \([tT]\) / \1 saved_/' /proc/kallsyms >marked && cp marked "$saved" &&
		kernel_rows | awk -F'\t' '{ n++ } $3 ~ /^saved_/ { s++ } END { exit s < n / 2 }' && touch -d @1 "$saved" || return 1
	! kernel_rows | grep saved_
}
kernel_offsets() { # offsets count from _text, so they are the same after each boot
	mkdir -p nothing && kernel_rows --foreign | awk -F'\t' '$5 > 0 && $3 ~ /^0x[0-9a-f]+$/ && length($3) < 12 { n++ }
		$5 > 0 && $3 ~ /^0xffff/ { bad++ } END { exit bad || !n }' &&
		"$zcost" report functions --perf kernel.data --symfs nothing --all --format tsv >out 2>&1 &&
		says '^\[kernel.kallsyms\]\+0x[0-9a-f]+	\[kernel.kallsyms\]' out
}
if [ -n "$kernel_id" ] && ! grep -q '^0* T _text' /proc/kallsyms && grep -q ' _etext$' /proc/kallsyms; then
	ok "an ELF kernel linked at another address gives the same names as kallsyms" vmlinux
	ok "an ELF kernel with another build-id names nothing, and a note says why" wrong_vmlinux
	ok "kallsyms in a build-id cache names functions of that build-id only" kernel_cache
	ok "the kernel's names come from what perf saved since the boot, and not from an older copy" kernel_saved
	ok "kernel addresses without symbols are offsets from _text" kernel_offsets
else
	skip "the kernel's symbols" "its addresses are hidden (root, or kernel.kptr_restrict)"
fi

# Writes a stream of samples in a module at 0xffffffffc0500000, because a host may have no module.
cat >module.pl <<'EOF'
use strict; use warnings; no warnings 'portable';
my ($name, $id, @ips) = @ARGV;
sub rec { my ($type, $misc, $body) = @_; return pack('LSS', $type, $misc, 8 + length $body) . $body }
sub str { my $s = shift; return $s . "\0" x (8 - length($s) % 8) }
my $attr = pack('LLQQQQQ', 1, 64, 0, 1000, 1 | 2 | 256, 0, 0);
$attr .= "\0" x (64 - length $attr);
print 'PERFILE2', pack('Q', 16), rec(64, 0, $attr);
print rec(80, 0, pack('QL', 4, 8) . "6.6.6\0\0\0");
print rec(1, 1, pack('LLQQQ', 0xffffffff, 0, 0xffffffff81000000, 0x1000000, 0xffffffff81000000) . str('[kernel.kallsyms]_text'));
print rec(1, 1, pack('LLQQQ', 0xffffffff, 0, 0xffffffffc0500000, 0x4000, 0) . str($name));
print rec(67, 1, pack('L', 0xffffffff) . pack('H40', $id) . "\0" x 4 . str($name)) if $id;
print rec(9, 1, pack('QLLQ', hex($_), 7, 7, 1000)) for @ips;
EOF
cat >mod.c <<'EOF'
int value;
__attribute__((section(".init.text"))) int at_first(void) { return value; }
int first_function(void) { return value + 1; }
int second_function(int n) { while (n--) value += n; return value; }
__attribute__((section(".text.unlikely"), aligned(32))) int cold_function(void) { return value + 2; }
EOF
module_id=00112233445566778899aabbccddeeff00112233
make_module() {
	$cc -O1 -fno-pic -fcf-protection=none -c mod.c -o mod.o &&
		ld -r --build-id=0x$module_id mod.o -o fake-mod.ko || return 1
	second=$(nm fake-mod.ko | awk '$3 == "second_function" { print $1 }')
	size=$(readelf -SW fake-mod.ko | sed -n 's/.* \.text  *PROGBITS  *[0-9a-f]* [0-9a-f]* \([0-9a-f]*\) .*/\1/p')
	cold=$(printf %x $((0xc0500000 + (0x$size + 31) / 32 * 32)))
	in_second=$(printf %x $((0xc0500000 + 0x$second + 1)))
}
in_module() { # in_module DATA OPTION...: both functions have names and belong to [fake_mod]
	data=$1
	shift
	"$dump" functions --foreign "$@" "$data" >out && says '\[fake_mod\]	second_function	0	1' out &&
		says '\[fake_mod\]	cold_function	0	1' out && ! grep at_first out
}
module_file() {
	make_module || return 1
	path=/lib/modules/6.6.6/kernel/fake-mod.ko
	perl module.pl $path.xz $module_id "ffffffff$in_second" "ffffffff$cold" >mod.data
	mkdir -p modfs"${path%/*}"
	for pack in cat xz 'zstd -q' gzip bzip2; do
		command -v "${pack%% *}" >/dev/null || continue
		case $pack in cat) end= ;; xz) end=.xz ;; zstd*) end=.zst ;; gzip) end=.gz ;; *) continue ;; esac
		rm -f modfs$path* && $pack <fake-mod.ko >modfs$path$end && in_module mod.data --symfs modfs &&
			in_module mod.data --host-dir modfs || { echo "$pack"; return 1; }
	done
	mkdir -p modcache/.build-id/00/112233445566778899aabbccddeeff00112233 &&
		xz <fake-mod.ko >modcache/.build-id/00/112233445566778899aabbccddeeff00112233/elf &&
		in_module mod.data --buildid-dir modcache
}
ok "a module's file names its functions without kallsyms, also when compressed" module_file

plt_entries() { # compares with objdump, which follows the jumps; $1 is their section, the rest are options for cc
	section=$1
	shift
	echo 'int fileno(void *), getppid(void), getpgrp(void); extern void *stdin;
		int main(void) { return getppid() + getpgrp() + fileno(stdin); }' >plt.c
	mkdir -p plt && $cc -O1 -no-pie "$@" -Wl,-z,lazy plt.c -o plt/calls || return 1
	objdump -d -j "$section" plt/calls | sed -n 's/^0*\([0-9a-f]*\) <\(.*@plt\)>:/\1	\2/p' >theirs
	perl -e 'my ($addr, $off) = `readelf -SW plt/calls` =~ / \Q$ARGV[0]\E +PROGBITS +(\w+) (\w+)/ or die;
		sub rec { my ($type, $misc, $body) = @_; pack("LSS", $type, $misc, 8 + length $body) . $body }
		print "PERFILE2", pack("Q", 16), rec(64, 0, pack("LLQQQQQx16", 1, 64, 0, 1000, 259, 0, 0));
		print rec(1, 2, pack("LLQQQa8", 7, 7, 1 << 28, 1 << 24, 0, "/calls"));
		print rec(9, 2, pack("QLLQ", (1 << 28) + 5 + hex($_) - hex($addr) + hex($off), 7, 7, 1)) for @ARGV[1 .. $#ARGV]
		' "$section" $(cut -f1 theirs) >plt.data
	cut -f2 theirs | sort >expected
	"$dump" functions --foreign --symfs plt plt.data | cut -f3 | sort >ours
	[ "$(wc -l <expected)" -ge 3 ] && cmp ours expected || { cat ours theirs; return 1; }
}
if command -v clang >/dev/null && command -v ld.lld >/dev/null; then
	cc=clang
	ok "entries of the PLT of lld, which has no entry size, have names" plt_entries .plt -fuse-ld=lld
	cc=${CC:-cc}
else
	skip "the PLT of lld" "no clang or no lld"
fi
case $(uname -m) in
x86_64) ok "entries of the second PLT have names" plt_entries .plt.sec -fcf-protection -Wl,-z,ibtplt ;;
*) skip "the second PLT" "only x86 has one" ;;
esac

other_module() { # addresses are offsets in the module
	perl module.pl $path.xz ffffffffffffffffffffffffffffffffffffffff "ffffffff$in_second" >other.data
	"$dump" functions --foreign --symfs modfs other.data >out && ! grep second_function out &&
		says "\[fake_mod\]	0x$(printf %x $((0x$second + 1)))	2" out &&
		"$dump" health --foreign --symfs modfs other.data >out && says 'dso_note	.*fake-mod.ko.*recorded was ffffffff' out
}
ok "another module's file is refused, and addresses are offsets in the module" other_module

other_boot() { # kallsyms comes from a boot with another module at that address
	printf 'ffffffff81000000 T _text\nffffffffc0500000 t not_mine\t[other]\nffffffffc0500001 t mine\t[fake_mod]\n' >boot
	"$dump" functions --foreign --kallsyms boot mod.data >out && says 'fake_mod\]	mine	0' out || return 1
	grep -v fake_mod boot >boot2 && "$dump" functions --foreign --kallsyms boot2 mod.data >out && ! grep not_mine out
}
ok "kallsyms of a boot with another module at that address names nothing" other_boot

# --- addresses without a name ---

shares_by_cause() { # one program has no symbols, the other one changed
	program bare burn_bare 1 && strip bare && program gone burn_gone 1 &&
		perf record -q -e cpu-clock:u -F 1000 -o causes.data sh -c './bare; ./gone' && cp after gone || return 1
	"$zcost" report functions --perf causes.data --format tsv >out 2>err || return 1
	says '^\[unresolved\]	bare' out && says '^\[unresolved\]	gone' out &&
		says 'unresolved addresses [0-9.]+ % \(no symbols [0-9.]+ %, not the recorded file [0-9.]+ %' err || return 1
	# the offset of the loop is the offset in the program's file
	"$zcost" report functions --perf causes.data --all --format tsv >out 2>err
	at=$(sed -n 's/^bare+0x\([0-9a-f]*\)	bare	.*/\1/p' out | head -n 1)
	objdump -d bare | grep -q "^ *$at:" && says '^gone\+0x[0-9a-f]+	gone' out &&
		! grep -v '\[unknown\]' out | grep '^0x' || { cat out; return 1; }
	# the parts add up to the whole
	perl -ne 'if (/unresolved addresses ([\d.]+) % \((.*?)\)/) { my ($all, $parts) = ($1, $2);
		my $sum = 0; $sum += $1 while $parts =~ /([\d.]+) %/g; exit(abs($all - $sum) > 0.03) }' err
}
ok "unresolved addresses are offsets in their object, with their share by cause" shares_by_cause
of_all() { # the note below a filtered table counts all samples
	"$zcost" report functions --perf causes.data --verbose >out 2>err
	share=$(cat out err | sed -n 's/.*unresolved addresses \([0-9.]* %\) (.*/\1/p')
	"$zcost" report functions --perf causes.data --comm bare --verbose >out 2>err && cat out >>err &&
		test -n "$share" && says "unresolved addresses $share of all samples \(.*unclassified functions [0-9.]+ % of all samples" err
}
ok "a filtered table has the share of unresolved addresses of all samples" of_all

resolved_all() {
	"$zcost" report functions --perf plain.data --symbol 'burn*' >out 2>&1 && ! grep 'no symbols' out
}
ok "a table without unresolved addresses has no note about them" resolved_all

long_name() {
	name=$(printf '%5000s' | tr ' ' n)
	echo "volatile long x; __attribute__((noinline)) void $name(void) { for (long i = 0; i < 100000000; i++) x++; }
		int main(void) { $name(); }" | $cc -O1 -x c - -o long && record long.data ./long &&
		"$zcost" report functions --perf long.data --format tsv >out 2>err &&
		says "(^|[^n])n{4093}[.]{3}" out
}
ok "a name longer than 4096 bytes is cut" long_name

# --- C++ and Rust ---

cat >names.cc <<'EOF'
#include <ctime>
#include <map>
#include <string>
#include <vector>
volatile unsigned long x;
#define BURN for (clock_t end = clock() + CLOCKS_PER_SEC / 50; clock() < end;) \
	for (int i = 0; i < 100000; i++) x += i
namespace ns {
template <class T> struct Foo {
	__attribute__((noinline)) T operator()(T a) const { BURN; return a; }
	template <class U> __attribute__((noinline)) U operator<<(U a) { BURN; return a; }
	__attribute__((noinline)) operator bool() const { BURN; return true; }
	__attribute__((noinline)) ~Foo() { BURN; }
};
}
namespace { __attribute__((noinline)) void hidden() { BURN; } }
struct [[gnu::abi_tag("tag1")]] Tagged {};
__attribute__((noinline)) Tagged tagged(std::string s) { BURN; return {}; }
template <class... A> __attribute__((noinline)) void pack(A... a) { BURN; }
#define LABELLED(n, label) extern "C" __attribute__((noinline)) void n() __asm__(label); void n() { BURN; }
LABELLED(legacy, "_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE")
LABELLED(generic, "_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$4drop17hfedcba9876543210E")
LABELLED(v0, "_RNvNtCs1234_7mycrate3foo3bar")
LABELLED(v0generic, "_RINvNtC3std3mem8align_ofdE")
LABELLED(v0closure, "_RNCNvC7mycrate4main0B3_")
int main()
{
	ns::Foo<std::map<std::string, std::vector<int>> *> f;
	f(nullptr); f << 3; x += (bool)f;
	auto l = [](int k) __attribute__((noinline)) { BURN; return k; };
	l(3); hidden(); tagged("a"); pack(1, 2.0, "c");
	legacy(); generic(); v0(); v0generic(); v0closure();
}
EOF
demangled() {
	${CXX:-g++} -O1 -g -o names names.cc && record names.data ./names && perl "$compare" names.data "$dump" || return 1
	"$dump" functions names.data >out &&
		says 'main::[{]lambda\(int\)#1[}]::operator\(\)' out && says '	tagged\[abi:tag1\]	' out &&
		says '	core::fmt::Formatter::write_str	' out && says '	mycrate::foo::bar	' out &&
		says '<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop' out && ! says '_ZN|_RNv|_RINv' out >/dev/null
}
if command -v "${CXX:-g++}" >/dev/null; then
	ok "C++ and Rust names match perf's demangled names" demangled
else
	skip "C++ and Rust names match perf's demangled names" "no C++ compiler"
fi

# --- inlined functions ---

cat >inl.c <<'EOF'
#include <time.h>
volatile unsigned long x;
static inline __attribute__((always_inline)) void deep(unsigned long n) { while (n--) x += n; }
static inline __attribute__((always_inline)) void middle(unsigned long n) { deep(n); x++; deep(n / 2); }
static __attribute__((noinline)) unsigned long callee(unsigned long n)
{
	x += !__builtin_frame_address(0); /* it keeps a frame, though it calls nothing */
	middle(n);
	return x;
}
static inline __attribute__((always_inline)) unsigned long caller(unsigned long n)
{
	return callee(n) + x;
}
int main(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC * 2 / 10;
	do { x += caller(300000); deep(200000); } while (clock() < end);
	return 0;
}
EOF

# Computes self and total of each function from addr2line. The program is linked to run at its addresses. A
# return address is looked up one byte before. addr2line knows no names in the PLT and would name data, which
# frames of the dynamic linker may point to, so only addresses in .text are looked up.
cat >by-addr2line.pl <<'EOF'
use strict; use warnings; no warnings 'portable';
my ($dump, $data, $program) = @ARGV;
my (@samples, %addrs, %names, %self, %total);
my ($from, $size) = `objdump -h '$program'` =~ /\.text +([0-9a-f]+) +([0-9a-f]+)/ ? (hex $2, hex $1) : die;
open(my $f, '-|', "'$dump' samples '$data'") or die;
while (<$f>) {
	chomp;
	my @c = split /\t/;
	my ($exact, @at) = (1);
	for (map { hex } split /,/, $c[8] // '') {
		next if $_ >> 63;
		my $called = $exact ? $_ : $_ - 1;
		push @at, $called >= $from && $called < $from + $size ? $called : undef;
		$exact = 0;
	}
	$addrs{$_} = 1 for grep { defined } @at;
	push @samples, [$c[6], hex((split /,/, $c[8] // '0')[0]) >> 63, @at];
}
open(my $list, '>', 'addrs') or die;
printf $list "%x\n", $_ for keys %addrs;
close($list);
open(my $a, '-|', "addr2line -a -f -i -e '$program' <addrs") or die;
my ($at, $n);
while (<$a>) {
	chomp;
	if (/^0x([0-9a-f]+)$/) { $at = hex $1; $n = 0; next }
	push @{$names{$at}}, $_ unless $n++ & 1;
}
for (@samples) {
	my ($period, $kernel, @chain) = @$_;
	my %seen;
	for my $i (0 .. $#chain) {
		next unless defined $chain[$i];
		my @fn = @{$names{$chain[$i]}};
		$self{$fn[0]} += $period if !$i && !$kernel;
		$total{$_} += $seen{$_}++ ? 0 : $period for @fn;
	}
}
printf "%s\t%d\t%d\n", $_, $self{$_} // 0, $total{$_} for sort keys %total;
EOF

inlined() {
	$cc -O2 -g -fno-omit-frame-pointer -no-pie "$@" -o inl inl.c && record inl.data ./inl || return 1
	"$dump" functions --inline inl.data | awk -F'\t' '$2 ~ /\/inl$/ {
		sub(/\.constprop.*/, "", $3) # the symbol has the suffix, DWARF does not
		if ($3 !~ /^_(init|fini)$|@plt$/) # outside .text
			print $3 "\t" $6 "\t" $7 }' | sort >ours
	perl by-addr2line.pl "$dump" inl.data inl | grep -v '^??' | sort >theirs
	grep -q '^deep	[1-9]' ours && grep -q '^caller	' ours && cmp ours theirs ||
		{ cat ours; diff ours theirs; return 1; }
}
if command -v addr2line >/dev/null; then
	ok "self and total of inlined functions match addr2line" inlined
	ok "inlined functions match addr2line with DWARF 4 in compressed sections" inlined -gdwarf-4 -gz=zlib
	clang=$(command -v clang || command -v clang-14)
	if [ -n "$clang" ]; then
		cc=$clang
		ok "inlined functions match addr2line in a program from clang without .debug_aranges" inlined
		cc=${CC:-cc}
	else
		skip "inlined functions of clang" "no clang"
	fi
else
	skip "inlined functions" "no addr2line"
fi

inline_places() { # the debug file is in a build-id cache, and the option is off by default
	id=$(id_of inl) && xx=$(echo "$id" | cut -c1-2) && yy=$(echo "$id" | cut -c3-) && mkdir -p "inlcache/.build-id/$xx/$yy" &&
		objcopy --only-keep-debug inl "inlcache/.build-id/$xx/$yy/debug" && cp inl whole && objcopy --strip-debug inl &&
		record inl2.data ./inl &&
		"$zcost" report functions --perf inl2.data --inline --buildid-dir inlcache --all --format tsv >out 2>err &&
		says '^deep	inl' out && "$zcost" report functions --perf inl2.data --all --format tsv >out 2>err &&
		! grep '^deep' out
}
ok "--inline reads a separate debug file, and the default shows no inlined functions" inline_places

# perf credits a function inlined into the leaf with children only, zcost also with self. Frames without debug
# information differ, and frames where DWARF says foo and the symbol foo.cold.
inline_like_perf() {
	$cc -O2 -g -no-pie -o inl inl.c &&
		perf record -q --call-graph dwarf,4096 -e cpu-clock:u -F 400 -o dwarf.data ./inl >/dev/null 2>&1 || return 1
	"$dump" functions --inline dwarf.data | awk -F'\t' '{ n += $6 }
		$2 ~ /\/inl$/ { t[$3] = $7 } END { for (f in t) printf "%s %.2f\n", f, 100 * t[f] / n }' | sort >ours
	perf report -i dwarf.data --children --inline -g none --stdio -F overhead_children,dso,sym -t '	' 2>/dev/null |
		awk -F'\t' '$2 ~ /^ *inl *$/ { sub(/%/, "", $1); sub(/.*\] /, "", $3); sub(/ *(\(inlined\))? *$/, "", $3)
			t[$3] += $1; n[$3]++ } END { for (f in t) printf "%s %.2f %d\n", f, t[f], n[f] }' | sort >theirs
	grep -q ^deep theirs && grep -q ^caller ours && join ours theirs | awk '
		($2 - $3) ^ 2 > (0.006 + 0.005 * $4) ^ 2 { print; bad++ } END { exit bad || NR < 4 }' ||
		{ cat ours; diff ours theirs; return 1; }
}
ok "totals of inlined functions in DWARF-unwound stacks match perf report --inline" inline_like_perf

# 260 MB of zeros as a section that libelf, libdw or xz unpacks.
program big burn_big 1 || exit 1
# A full flush ends a MB of zeros so that it can be repeated; the checksum of n zeros is n modulo a prime, and 1.
cat >swell.pl <<'EOF'
use Compress::Zlib;
my $form = shift;
my ($z) = deflateInit(-Level => 1);
my ($head, $mb, $last) = ($z->deflate("") . $z->flush(Z_FULL_FLUSH), $z->deflate("\0" x (1 << 20)) . $z->flush(Z_FULL_FLUSH), $z->flush);
print $form eq "gnu" ? "ZLIB" . pack("Q>", 260 << 20) : pack("LLQQ", 1, 0, 260 << 20, 1);
print $head, $mb x 260, substr($last, 0, -4), pack "nn", (260 << 20) % 65521, 1;
EOF
cat >flag.pl <<'EOF'
open my $f, "+<", $ARGV[0] or die;
read $f, my $head, 64;
my ($at, $size, $n) = (unpack("Q", substr $head, 40), unpack("SS", substr $head, 58));
for (0 .. $n - 1) {
	seek $f, $at + $_ * $size, 0;
	read $f, my $s, 64;
	my @s = unpack "LLQQQQ", $s;
	next if $s[1] != 1 || $s[5] != -s $ARGV[1];
	seek $f, $at + $_ * $size + 8, 0;
	print $f pack "Q", 0x800;
}
EOF
swells() { # swells SECTION FORM: zcost refuses a file, because its SECTION takes 260 MB
	case $2 in xz) head -c 260M /dev/zero | xz -0c ;; *) perl swell.pl "$2" ;; esac >swell || return 1
	rm -rf "$HOME/.debug" # it has one file per build-id
	strip=$([ "$2" = xz ] && echo --strip-all || echo --strip-debug)
	objcopy $strip --add-section "$1=swell" big big.swollen && { [ "$2" != flag ] || perl flag.pl big.swollen swell; } &&
		record swollen.data ./big.swollen || return 1
	exits 4 "$zcost" report functions --perf swollen.data --inline --verbose || { cat err; return 1; }
	says "refused: unpacked, it takes more than 256 MB" out
}
if perl -MCompress::Zlib -e 1 2>/dev/null && [ "$(uname -m)" = x86_64 ]; then
	ok "a compressed section that fills the memory is refused" swells .debug_info flag
	ok "a section compressed as GNU did it is refused, too" swells .zdebug_info gnu
fi
ok "a packed symbol table that fills the memory is refused" swells .gnu_debugdata xz .gnu_debugdata

done_testing
