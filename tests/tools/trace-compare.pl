#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# System calls of a recording, per thread: zcost report syscalls --by tid against perf.
#
#   trace-compare.pl FILE ZCOST [stream]
#
# 1. perf script's events, paired by the rules of docs/method.md: every figure of zcost, to 1e-6 ms.
# 2. perf trace -s, row by row. It also counts returns without their entry; where it does, its rows
#    are checked against the same events, paired by perf's rules. perf trace finds no calls in a
#    pipe's stream ("stream"): there perf script alone is asked.
use strict;
use warnings;

my ($file, $zcost, $stream) = @ARGV;
my ($bad, $rows, $differ) = (0, 0, 0);
sub bad { print "@_\n"; exit 1 if ++$bad > 20 }

my %name;
open(my $h, '-|', q{printf '#include <sys/syscall.h>\n' | ${CC:-cc} -E -dM -}) or die;
while (<$h>) { $name{$2} = $1 if /^#define __NR_(\w+) (\d+)$/ }
close $h;

sub add { # a call of $ns into $$rows{tid name}
	my ($rows, $key, $ns, $failed) = @_;
	my $r = $$rows{$key} //= {calls => 0, errors => 0, total => 0, min => $ns, max => $ns, mean => 0, m2 => 0};
	my $delta = $ns - $$r{mean};
	$$r{calls}++;
	$$r{errors} += $failed;
	$$r{total} += $ns;
	$$r{min} = $ns if $ns < $$r{min};
	$$r{max} = $ns if $ns > $$r{max};
	$$r{mean} += $delta / $$r{calls};
	$$r{m2} += $delta * ($ns - $$r{mean});
}
sub stddev {
	my $r = shift;
	return 0 if $$r{calls} < 2 || !$$r{mean};
	return 100 * sqrt($$r{m2} / ($$r{calls} - 1) / $$r{calls}) / $$r{mean};
}

my (%ours, %perfs, %open, %entry, $no_entry, %forked);
$no_entry = 0;
open(my $s, '-|', "perf script --ns --show-task-events -F comm,pid,tid,time,event,trace -i $file 2>/dev/null") or die;
while (<$s>) {
	if (/PERF_RECORD_FORK\(\d+:(\d+)\)/ && !/ 0\.0{9}: /) { # the id is another thread's now
		delete $open{$1};
		delete $entry{$1};
		bad("tid $1 is used twice: this comparison cannot tell them apart") if $forked{$1}++;
		next;
	}
	m{\s\d+/(\d+)\s+(\d+)\.(\d{9}):\s+raw_syscalls:sys_(enter|exit): NR (-?\d+) (?:= (-?\d+))?} or next;
	my ($tid, $t, $what, $nr, $ret) = ($1, $2 * 1e9 + $3, $4, $5, $6);
	if ($what eq 'enter') {
		next if $nr < 0;
		$open{$tid} = [$nr, $t];
		$entry{$tid} = $t if exists $name{$nr};
		next;
	}
	my $o = delete $open{$tid};
	if ($nr < 0) {
		add(\%ours, "$tid $name{$$o[0]}", $t - $$o[1], 0) if $o;
		next;
	}
	if ($o && $$o[0] == $nr) {
		add(\%ours, "$tid " . ($name{$nr} // "syscall_$nr"), $t - $$o[1], $ret < 0);
	} else {
		$no_entry++;
	}
	add(\%perfs, "$tid $name{$nr}", $entry{$tid} ? $t - $entry{$tid} : 0, $ret < 0) if $name{$nr};
}
close $s;

my %z;
open(my $t, '-|', "$zcost report syscalls --perf $file --by tid --all --format tsv 2>/dev/null") or die;
my @columns = split /\t/, <$t> // '';
chomp @columns;
while (<$t>) {
	chomp;
	my %r;
	@r{@columns} = split /\t/, $_, -1;
	next if !$r{calls}; # never returned
	$z{"$r{tid} $r{syscall}"} = \%r;
}
close $t;

sub same { # WHAT ZCOST OTHER TOLERANCE
	my ($what, $a, $b, $within) = @_;
	bad("$what: $a, must be $b") if abs($a - $b) > $within;
}
for my $key (keys %ours) {
	my ($r, $m) = ($z{$key}, $ours{$key});
	bad("$key: not in the table"), next if !$r;
	$rows++;
	same("$key calls", $$r{calls}, $$m{calls}, 0);
	same("$key errors", $$r{errors}, $$m{errors}, 0);
	same("$key total", $$r{total_ms}, $$m{total} / 1e6, 1e-6);
	same("$key min", $$r{min_ms}, $$m{min} / 1e6, 1e-6);
	same("$key avg", $$r{avg_ms}, $$m{total} / $$m{calls} / 1e6, 1e-6);
	same("$key max", $$r{max_ms}, $$m{max} / 1e6, 1e-6);
	same("$key stddev", $$r{stddev_pct}, stddev($m), 1e-3);
}
for (keys %z) { bad("$_: no such call") if !$ours{$_} }

my ($tid, $trace_rows) = (undef, 0);
open(my $p, '-|', "perf trace -s -i $file 2>&1") or die;
while (<$p>) {
	if (/^ .* \((\d+)\), \d+ events, /) { $tid = $1; next }
	my ($call, $calls, $errors, $total, $min, $avg, $max, $stddev) =
		/^   (\w+)\s+(\d+)\s+(\d+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)%$/ or next;
	my $key = "$tid $call";
	my ($r, $m) = ($z{$key}, $perfs{$key});
	$trace_rows++;
	if (!$r || $$r{calls} != $calls) { # it counts returns without their entry
		bad("$key: perf trace has $calls calls, must be " . ($m ? $$m{calls} : 0)), next
			if !$m || $$m{calls} != $calls;
		$differ += $calls - ($r ? $$r{calls} : 0);
		same("$key total of perf", $total, $$m{total} / 1e6, 0.0011);
		next;
	}
	same("$key errors", $$r{errors}, $errors, 0);
	same("$key total", $$r{total_ms}, $total, 0.0011);
	same("$key min", $$r{min_ms}, $min, 0.0006);
	same("$key avg", $$r{avg_ms}, $avg, 0.0006);
	same("$key max", $$r{max_ms}, $max, 0.0006);
	same("$key stddev", $$r{stddev_pct}, $stddev, 0.006);
}
$differ = $no_entry if $stream && !$trace_rows++;
bad("perf trace counts $differ more calls, but $no_entry returns have no entry") if $differ != $no_entry;
bad("nothing was compared") if !$rows || !$trace_rows;
print "$rows rows as perf script's events give them, $trace_rows as perf trace -s, but for $no_entry returns\n";
exit($bad ? 1 : 0);
