#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Every place that symbols may come from, and every way in which they may not belong: names are
# right or not there. perf, nm and addr2line are the oracles.
. "$(dirname "$0")/../lib.sh"

dump=$build/tests/tools/profile_dump
compare=$tests/tools/perf-compare.pl
cc=${CC:-cc}

command -v perf >/dev/null || skip_all "no perf on this machine"
perf record -q -e cpu-clock -o probe.data true 2>/dev/null ||
	skip_all "perf cannot record here (root, or kernel.perf_event_paranoid)"
HOME=$scratch/home # whose ~/.debug perf and zcost find there is ours
export HOME
mkdir -p "$HOME"

# program FILE FUNCTION SECONDS/10 [OPTION...]: burns CPU time in FUNCTION, called from main.
program() {
	out=$1 fn=$2 tenths=$3
	shift 3
	cat >"$out.c" <<-EOF
		#include <time.h>
		volatile unsigned long x;
		static __attribute__((noinline)) void $fn(unsigned long n) { while (n--) x += n; }
		int main(void)
		{
			struct timespec t;
			long end;
			clock_gettime(CLOCK_MONOTONIC, &t);
			end = t.tv_sec * 10 + t.tv_nsec / 100000000 + $tenths;
			do { $fn(1000000); clock_gettime(CLOCK_MONOTONIC, &t);
			} while (t.tv_sec * 10 + t.tv_nsec / 100000000 < end);
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

# named FUNCTION DSO FILE OPTION...: most of the recording is in that function of that object.
named() {
	fn=$1 dso=$2 data=$3
	shift 3
	"$dump" functions "$@" "$data" | awk -F'\t' -v fn="$fn" -v dso="$dso" '
		{ all += $6 } $3 == fn && $2 ~ dso && !$4 { in_it += $6 }
		END { exit !(all && in_it > all / 2) }' ||
		{ "$dump" functions "$@" "$data" | head -n 20; "$dump" health "$@" "$data" | grep note; return 1; }
}
unnamed() { # unnamed FUNCTION FILE OPTION...: never
	fn=$1 data=$2
	shift 2
	! "$dump" functions "$@" "$data" | awk -F'\t' -v fn="$fn" '$3 == fn' | grep .
}
id_of() { readelf -n "$1" 2>/dev/null | sed -n 's/.*Build ID: //p'; }

# --- user objects ---

program plain burn_plain 3 && record plain.data ./plain || skip_all "cannot compile and record a program"
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
ok "a build-id cache as perf fills it" cache

cache_layouts() {
	for place in "debug/.build-id/$xx/$yy/debug" "elf/.build-id/$xx/$yy/elf" \
		"names$scratch/plain/$id/elf" "old/.build-id/$xx/$yy" "distro/.build-id/$xx/$yy.debug"; do
		mkdir -p "layout/${place%/*}" && cp plain "layout/$place" &&
			named burn_plain plain plain.data --foreign --buildid-dir "layout/${place%%/*}" ||
			{ echo "$place"; return 1; }
	done
	# another program under that build-id
	program other burn_other 1 && mkdir -p "layout/wrong/.build-id/$xx/$yy" &&
		cp other "layout/wrong/.build-id/$xx/$yy/elf" &&
		unnamed burn_other plain.data --foreign --buildid-dir layout/wrong &&
		"$dump" health --foreign --buildid-dir layout/wrong plain.data >out &&
		says "dso_note	.*build-id $(id_of other), recorded was $id" out
}
ok "every layout of such a folder, and a file in it that is not what its name says" cache_layouts

separate_debug() {
	program split burn_split 3 && objcopy --only-keep-debug split split.dbg &&
		objcopy --strip-all --add-gnu-debuglink=split.dbg split &&
		record split.data ./split && mkdir -p sys"$scratch"/.debug && cp split sys"$scratch"/ || return 1
	named burn_split split split.data || return 1
	perl "$compare" split.data "$dump" || return 1
	unnamed burn_split split.data --symfs sys || return 1
	cp split.dbg sys"$scratch"/.debug/ && named burn_split split split.data --symfs sys || return 1
	rm sys"$scratch"/.debug/split.dbg
	sid=$(id_of split)
	mkdir -p sys/usr/lib/debug/.build-id/"$(echo "$sid" | cut -c1-2)" &&
		cp split.dbg sys/usr/lib/debug/.build-id/"$(echo "$sid" | cut -c1-2)/$(echo "$sid" | cut -c3-)".debug &&
		named burn_split split split.data --symfs sys
}
ok "a debug file by its link, beside it, in .debug, and by its build-id" separate_debug

link_sum() { # without build-ids, the link's sum proves the debug file
	program nobid burn_nobid 3 -Wl,--build-id=none && objcopy --only-keep-debug nobid nobid.dbg &&
		objcopy --strip-all --add-gnu-debuglink=nobid.dbg nobid && record nobid.data ./nobid || return 1
	named burn_nobid nobid nobid.data || return 1
	printf 'x' >>nobid.dbg && unnamed burn_nobid nobid.data
}
ok "without a build-id, the sum in the link tells whether it is the debug file" link_sum

mini() { # as distributions make it: symbols that .dynsym has are left out of .gnu_debugdata
	program mini.o burn_mini 4 -Dmain=spin -c &&
		echo 'void spin(void); void burn_shown(void);
			volatile unsigned long y; void burn_shown(void) { for (y = 0; y < 200000000; y++) ; }
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
ok "the symbols packed in .gnu_debugdata, and the dynamic ones beside them" mini

# --- what must be refused ---

changed() {
	program victim burn_victim 3 && program after burn_after 1 && record victim.data ./victim || return 1
	cp after victim # the same path and inode, other contents
	unnamed burn_after victim.data && unnamed burn_victim victim.data &&
		"$dump" health victim.data >out &&
		says "dso_note	$scratch/victim: build-id $(id_of after), recorded was" out &&
		"$zcost" report functions --perf victim.data >out 2>&1 && says 'warning: .*victim: build-id' out
}
ok "a program that changed after it was recorded" changed

changed_without_ids() {
	program victim burn_victim 3 && perf record -q -B -N -g -e cpu-clock -F 1000 -o bare.data ./victim &&
		named burn_victim victim bare.data || return 1
	cp -p victim kept && sleep 2.1 && cp after victim && touch -d '1 hour ago' victim
	unnamed burn_after bare.data && "$dump" health bare.data >out &&
		says "dso_note	$scratch/victim: not provably the recorded file" out || return 1
	rm victim && cp -p kept victim && unnamed burn_victim bare.data && # another inode: who knows
		mkdir -p sys2"$scratch" && cp kept sys2"$scratch"/victim && named burn_victim victim bare.data --symfs sys2
}
ok "the same without build-ids in the recording: by inode and times, or the user's word" changed_without_ids

several() {
	for n in one two three; do program "m$n" "burn_$n" 2 || return 1; done
	perf record -q -g -e cpu-clock -F 1000 -o several.data sh -c './mone; ./mtwo; ./mthree' || return 1
	cp after mone && cp after mthree
	"$dump" health several.data >out && says 'dso_note	.*/mone: build-id .*/mthree: build-id' out &&
		unnamed burn_after several.data && unnamed burn_one several.data &&
		"$dump" functions several.data | awk -F'\t' '$3 == "burn_two"' | grep -q .
}
ok "several mismatches are all said, what does match is named" several

# --- inlined functions ---

cat >inl.c <<'EOF'
#include <time.h>
volatile unsigned long x;
static inline __attribute__((always_inline)) void deep(unsigned long n) { while (n--) x += n; }
static inline __attribute__((always_inline)) void middle(unsigned long n) { deep(n); x++; deep(n / 2); }
static __attribute__((noinline)) unsigned long callee(unsigned long n) { middle(n); return x; }
static inline __attribute__((always_inline)) unsigned long caller(unsigned long n)
{
	return callee(n) + x;
}
int main(void)
{
	struct timespec t;
	long end;
	clock_gettime(CLOCK_MONOTONIC, &t);
	end = t.tv_sec * 10 + t.tv_nsec / 100000000 + 4;
	do { x += caller(300000); deep(200000); clock_gettime(CLOCK_MONOTONIC, &t);
	} while (t.tv_sec * 10 + t.tv_nsec / 100000000 < end);
	return 0;
}
EOF

# What addr2line makes of each chain: self and total by function; the program is linked to lie where
# it says. A return address is looked up one before.
cat >by-addr2line.pl <<'EOF'
use strict; use warnings; no warnings 'portable';
my ($dump, $data, $program) = @ARGV;
my (@samples, %addrs, %names, %self, %total);
open(my $f, '-|', "'$dump' samples '$data'") or die;
while (<$f>) {
	chomp;
	my @c = split /\t/;
	my ($exact, @at) = (1);
	for (map { hex } split /,/, $c[8] // '') {
		next if $_ >> 63;
		push @at, $_ >> 23 ? undef : $exact ? $_ : $_ - 1; # below 8 MB: the program
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
		sub(/\.constprop.*/, "", $3) # the symbol says it, DWARF does not
		print $3 "\t" $6 "\t" $7 }' | sort >ours
	perl by-addr2line.pl "$dump" inl.data inl | grep -v '^??' | sort >theirs
	grep -q '^deep	[1-9]' ours && grep -q '^caller	0	[1-9]' ours && cmp ours theirs ||
		{ diff ours theirs; return 1; }
}
if command -v addr2line >/dev/null; then
	ok "inlined functions: self and total of each are what addr2line makes of the chains" inlined
	ok "out of DWARF 4, and of compressed sections" inlined -gdwarf-4 -gz=zlib
	clang=$(command -v clang || command -v clang-14)
	if [ -n "$clang" ]; then
		cc=$clang
		ok "as clang tells them, without .debug_aranges" inlined
		cc=${CC:-cc}
	else
		skip "as clang tells them" "no clang"
	fi
else
	skip "inlined functions" "no addr2line"
fi

inline_places() { # debug information beside the program, and none without the option
	objcopy --only-keep-debug inl inl.dbg && cp inl whole && objcopy --strip-debug --add-gnu-debuglink=inl.dbg inl &&
		record inl2.data ./inl && "$zcost" report functions --perf inl2.data --inline --all --format tsv >out 2>err &&
		says '^deep	inl' out && "$zcost" report functions --perf inl2.data --all --format tsv >out 2>err &&
		! grep '^deep' out
}
ok "debug information in a file of its own; off by default" inline_places

# perf credits a function that was inlined into the leaf with children only; ours is self as well.
# Its frames without debug information, and those where DWARF says foo and the symbol foo.cold, differ.
inline_like_perf() {
	$cc -O2 -g -no-pie -o inl inl.c &&
		perf record -q --call-graph dwarf,4096 -e cpu-clock:u -F 200 -o dwarf.data ./inl >/dev/null 2>&1 || return 1
	"$dump" functions --inline dwarf.data | awk -F'\t' '{ n += $6 }
		$2 ~ /\/inl$/ { t[$3] = $7 } END { for (f in t) printf "%s %.2f\n", f, 100 * t[f] / n }' | sort >ours
	perf report -i dwarf.data --children --inline -g none --stdio -F overhead_children,dso,sym -t '	' 2>/dev/null |
		awk -F'\t' '$2 ~ /^ *inl *$/ { sub(/%/, "", $1); sub(/.*\] /, "", $3); sub(/ *(\(inlined\))? *$/, "", $3)
			t[$3] += $1 } END { for (f in t) printf "%s %.2f\n", f, t[f] }' | sort >theirs
	grep -q ^deep theirs && grep -q ^caller ours && join ours theirs | awk '
		$2 - $3 > 0.011 || $3 - $2 > 0.011 { print; bad++ } END { exit bad || NR < 4 }' ||
		{ diff ours theirs; return 1; }
}
ok "perf report --inline of DWARF-unwound stacks gives the same totals" inline_like_perf

done_testing
