#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compares the user stacks of `perf record --call-graph dwarf` with the program's known chains and with
# perf's chains.
. "$(dirname "$0")/../lib.sh"
. "$tests/perfdata.sh"

compare=$tests/tools/unwind-compare.pl
cc=${CC:-cc}

need perf
perf record -q --buildid-all -e cpu-clock --call-graph dwarf -o probe.data true 2>/dev/null ||
	skip_all "perf cannot record user stacks here (root, or kernel.perf_event_paranoid)"

m=$(buffer 64)
record() { # record NAME PERF-OPTION... -- COMMAND...
	data=$1.data
	shift
	lossless "$data" perf record -q $m -N -e cpu-clock:u -F 2000 -o "$data" "$@" >/dev/null 2>perf.err || {
		cat perf.err
		return 1
	}
}

chains() { # chains FILE [CONTEXT]: "count chain", leaf;...;root
	"$dump" costs "$1" | awk -F'\t' -v in_="${2:-}" 'in_ == "" || $6 == in_ { n[$9] += $7 }
		END { for (i in n) print n[i], i }' | sort -rn
}

# Checks the chain from the function that burns time up to main. Frames above main depend on the C library.
# Samples in interrupts are ignored, because their number depends on the machine.
known() { # known FILE [KIND...]: each kind has chains, and at least 80 % of them are right
	file=$1
	shift
	chains "$file" user | perl -e '
		my %want = (
			recursion => "(recurse;){21}",
			callback => "compare;(msort_with_tmp[^;]*;)*(__GI_)?_*qsort(_r)?;(qsort;)?",
			alloca => "variable_frame;",
			aligned => "aligned_frame;",
			tail => "tail_target;",
			signal => "handler;(__restore_rt|__kernel_rt_sigreturn);([^;]*;)*raise;interrupted;",
			vdso => "(__vdso_|__kernel_)clock_gettime;[^;]*clock_gettime[^;]*;",
			plt => "((__random_r;)?__random;)?rand;",
		);
		$_ = "^(burn;)?${_}do_" for values %want;
		$want{$_} .= "$_;main;(__libc_start_call_main;)?__libc_start_main[^;]*;_start\$" for keys %want;
		$want{deep} = "^burn;(recurse;){125}recurse\$";
		$want{thread} = "^burn;worker;start_thread;(clone3?|thread_start)\$";
		my (%n, %good, %others, $bad);
		while (<STDIN>) {
			my ($n, $chain) = split;
			my $kind = $chain =~ /;do_([a-z]+);/ ? $1 : $chain =~ /start_thread/ ? "thread" : "deep";
			next if !$want{$kind} || $chain =~ /^(do_|[^;]*\@plt;do_)/;
			$n{$kind} += $n;
			$good{$kind} += $n if $chain =~ $want{$kind};
			$others{$kind} .= "  $n $chain\n" if $chain !~ $want{$kind};
		}
		for (@ARGV ? @ARGV : sort keys %want) {
			next if ($n{$_} // 0) >= 20 && ($good{$_} // 0) >= 0.8 * $n{$_};
			printf "%s: %d of %d are as expected, but not:\n%s", $_, $good{$_} // 0, $n{$_} // 0,
				$others{$_} // "";
			$bad = 1;
		}
		exit($bad // 0)' "$@"
}

# The program has no frame pointers and no debug information, like most programs.
$cc -O2 -fomit-frame-pointer -pthread -o chains "$tests/data/chains.c" || skip_all "no C compiler"

same() { perl "$compare" "$1" "$dump"; }

whole() { record whole --call-graph dwarf -- ./chains && known whole.data && same whole.data; }
ok "chains through callbacks, alloca, tail calls, signals, threads, vdso and PLT are right" whole

# A chain of a system call or a page fault has the kernel's part first. Self and children match perf report.
# A sample in _init is possible, and perf guesses its callers.
kernel_part() {
	lossless kernel.data perf record -q $m -N -e cpu-clock -F 2000 --call-graph dwarf -o kernel.data -- \
		perl -e 'for (1 .. 200000) { stat "/usr/bin/perl"; $x{$_} = "x" x 60 }' >/dev/null 2>&1
	same kernel.data && perl "$tests/tools/perf-compare.pl" kernel.data "$dump" || return
	chains kernel.data | grep -q 'entry_SYSCALL_64[^ ]*;.*;__libc_start_main' || [ "$(uname -m)" != x86_64 ]
}
steady "chains from the kernel into user space match perf, self and children" kernel_part

threads() { # each thread unwinds some of the chunks
	record many --call-graph dwarf -F 5000 -- ./chains || return 1
	"$dump" functions --threads 1 many.data | sort >one
	"$dump" functions --threads 2 many.data | sort >two
	[ -s one ] && cmp one two
}
ok "two threads unwind the same chains as one thread" threads

# These two recordings have no build-ids at the end. The kernel's address identifies the vdso, and the mappings
# identify the objects. Inodes do not, because another test's perf may link an object into its cache.
compressed() { record z -z --buildid-mmap -e cpu-clock --call-graph dwarf -- ./chains && known z.data && same z.data; }
if perf version --build-options 2>/dev/null | grep -q 'zstd: \[ on'; then
	steady "chains of a compressed recording match perf" compressed
else
	skip "chains of a compressed recording" "this perf has no zstd"
fi

stream() { perf record -q $m --buildid-mmap -e cpu-clock -F 2000 --call-graph dwarf -o - -- ./chains >pipe.data 2>/dev/null; }
pipe() {
	lossless pipe.data stream
	known pipe.data && same pipe.data && "$dump" functions pipe.data >file.tsv &&
		"$dump" functions - <pipe.data >stdin.tsv && cmp file.tsv stdin.tsv
}
steady "chains of a stream match perf" pipe

several() { # one event has stacks, the other has none
	lossless two.data perf record -q $m -N -e cpu-clock/call-graph=dwarf/u -e page-faults/call-graph=no/u -F 2000 \
		-o two.data -- ./chains >/dev/null 2>&1 && known two.data recursion callback
}
ok "an event with stacks beside an event without stacks has the right chains" several

# perf takes an object's tables from the lowest address of any mapping, also of the shell that starts the
# program. So the program's known chains are the reference here, not perf's.
started() {
	lossless started.data perf record -q $m -N -e cpu-clock:u -F 2000 --call-graph dwarf -o started.data -- \
		sh -c './chains & wait; ./chains' >/dev/null 2>&1
	known started.data
}
ok "a program that a shell starts has the right chains" started

too_short() { # only the shallowest stacks fit in the copies
	record short --call-graph dwarf,512 -- ./chains && known short.data alloca tail &&
		"$dump" health short.data >out && says '^unwound	[0-9]+ stacks, [1-9][0-9]+ cut, ' out &&
		says '^unwind_note	[0-9.]+ % of [0-9]+ user stacks end before their root: [0-9]+ are longer' out &&
		"$zcost" report functions --perf short.data >out 2>&1 &&
		says 'warning: [0-9.]+ % of [0-9]+ user stacks' out
}
ok "stack copies that are too short give partial chains and a note" too_short

deep() { # code of crtstuff.c has no tables
	"$dump" health whole.data >out
	says '^unwound	[0-9]+ stacks, 0 cut, [0-2] lost, [1-9][0-9]* deep' out &&
		says 'have more than 127 frames' out
}
ok "health counts stacks with more than 127 frames" deep

stripped() { # a stripped program still has its tables
	$cc -O2 -fomit-frame-pointer -pthread -s -o stripped "$tests/data/chains.c" &&
		record stripped --call-graph dwarf -- ./stripped && same stripped.data &&
		chains stripped.data | grep -q ';__libc_start_main[^;]*;0x'
}
ok "chains of a stripped program match perf" stripped

static() {
	$cc -O2 -fomit-frame-pointer -pthread -static -o static "$tests/data/chains.c" &&
		record static --call-graph dwarf -- ./static && known static.data recursion alloca signal tail
}
ok "a static program has the right chains" static

# Only .debug_frame has tables, in the program or in its debug file.
frames='-O2 -g -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables'
debug_frame() {
	$cc $frames -pthread -o debug "$tests/data/chains.c" && readelf -S debug | grep -q '\.debug_frame' &&
		record debug --call-graph dwarf -- ./debug && known debug.data recursion alloca aligned tail
}
split_frame() {
	id=$(readelf -n debug | sed -n 's/.*Build ID: //p')
	place=home/.debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)
	cp debug split && mkdir -p "$place" && objcopy --only-keep-debug split "$place/elf" && strip split &&
		record split --call-graph dwarf -- ./split && (HOME=$PWD/home && known split.data recursion alloca aligned tail)
}
ok "unwind tables in .debug_frame give the right chains" debug_frame
ok "unwind tables in a separate debug file give the right chains" split_frame

no_tables() { # without tables the chain is the leaf alone, and a note says why
	$cc ${frames%-g*} ${frames#*-g} -pthread -s -o none "$tests/data/chains.c" &&
		record none --call-graph dwarf -- ./none && "$dump" health none.data >out &&
		says '^unwind_note	.* reach code without unwind tables, most in .*/none' out
}
ok "a note names an object without unwind tables" no_tables

foreign() { # another host's stacks without its files give no chain
	"$dump" health --foreign whole.data >out
	says '^unwound	([0-9]+) stacks, 0 cut, [1-9][0-9]* lost, 0 deep' out &&
		! "$dump" costs --foreign whole.data | cut -f9 | grep -q ';'
}
ok "without the recorded files no stack is unwound" foreign

home() { # a folder holds that host's files
	mkdir -p root && perf buildid-list -i whole.data | while read -r id name; do
		[ ! -f "$name" ] || install -D "$name" "root$name"
	done
	"$dump" costs --symfs root whole.data | cut -f9 >out && says '^burn;worker;[^;]*;[^;]*$' out &&
		says '^burn;(recurse;){21}do_recursion;main;' out
}
ok "--symfs unwinds with another host's files" home

cat >throw.cc <<'E2'
#include <cstdlib>
#include <ctime>
volatile unsigned long sink;
struct guard { ~guard() { for (int i = 0; i < 500; i++) sink += i; } };
static double now() { return (double)clock() / CLOCKS_PER_SEC; }
__attribute__((noinline)) void thrower(int n) { guard g; if (!n) throw n; thrower(n - 1); sink++; }
__attribute__((noinline)) void catcher() { try { thrower(10); } catch (int) { sink++; } }
int main() { for (double until = now() + 0.3; now() < until;) catcher(); }
E2
exceptions() {
	record throw --call-graph dwarf -- ./throw && same throw.data &&
		chains throw.data | grep -q '_Unwind_RaiseException;__cxa_throw;thrower;.*;thrower;catcher;main'
}
if ${CXX:-c++} -O2 -fomit-frame-pointer -o throw throw.cc 2>/dev/null; then
	# perf 6.1 names a sample in a PLT stub _init and finds no callers. Most recordings have no such sample.
	steady "chains through C++ exceptions match perf" exceptions
else
	skip "chains through C++ exceptions" "no C++ compiler"
fi

done_testing
