#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# User stacks of `perf record --call-graph dwarf`: the chains are those that the program is known to
# have, and those of perf.
. "$(dirname "$0")/../lib.sh"

dump=$build/tests/tools/profile_dump
compare=$tests/tools/unwind-compare.pl
cc=${CC:-cc}

command -v perf >/dev/null || skip_all "no perf on this machine"
perf record -q -e cpu-clock --call-graph dwarf -o probe.data true 2>/dev/null ||
	skip_all "perf cannot record user stacks here (root, or kernel.perf_event_paranoid)"

record() { # record NAME PERF-OPTION... -- COMMAND...
	data=$1.data
	shift
	perf record -q -e cpu-clock:u -F 2000 -o "$data" "$@" >/dev/null 2>perf.err || {
		cat perf.err
		return 1
	}
}

chains() { # chains FILE: "count chain", leaf;...;root
	"$dump" costs "$1" | awk -F'\t' '{ n[$9] += $7 } END { for (i in n) print n[i], i }' | sort -rn
}

# What burns time, and what called it, down to main. The other frames depend on the C library.
known() { # known FILE [KIND...]: there are chains of each kind, and nearly all are as they must be
	file=$1
	shift
	chains "$file" | perl -e '
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
			next if !$want{$kind};
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

# No frame pointers, no debug information, built as programs are.
$cc -O2 -fomit-frame-pointer -pthread -o chains "$tests/data/chains.c" || skip_all "no C compiler"

whole() {
	record whole --call-graph dwarf -- ./chains && known whole.data && perl "$compare" whole.data "$dump"
}
ok "chains of recursion, callbacks, alloca, alignment, tail calls, signals, threads, vdso, PLT" whole

done_testing
