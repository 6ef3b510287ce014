#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# Reads what programs built with --coverage counted.
#
#	coverage.pl BUILD           prints the executed share of the lines of each folder, and of all
#	coverage.pl --lines BUILD   prints each line of code: FILE LINE COUNT
#
# gcov runs in the current folder, which the paths of the sources start from. Only .c files outside tests/ and BUILD count.
use strict;
use warnings;
use File::Find ();

my $lines = @ARGV && $ARGV[0] eq '--lines' ? shift : '';
my ($build) = @ARGV;
die "usage: coverage.pl [--lines] BUILD\n" unless defined $build;

# gcov finds the counts beside its notes; without counts no line was executed. Counts of an older object do not fit.
my (@notes, $counted);
sub find_notes {
	my $counts = s/\.gcno$/.gcda/r;
	return if $counts eq $_;
	unlink $counts if -e $counts && -M $counts > -M $_;
	$counted = 1 if -e $counts;
	push @notes, $_;
}
File::Find::find({no_chdir => 1, wanted => \&find_notes}, $build);
die "$build: no program left its counts: run tests of a build with --coverage\n" unless $counted;
open my $gcov, '-|', 'sh', '-c', 'exec gcov --stdout "$@" 2>/dev/null', 'gcov', sort @notes or die "gcov: $!\n";
my ($file, %count);
while (<$gcov>) {
	if (/^\s+-:\s+0:Source:(.*)/) {
		$file = $1;
		$file = undef unless $file =~ m{^(?!/|tests/|\Q$build\E)[^.]*\.c$};
	} elsif ($file && /^\s*(?:(\d+)\*?|[#=]{5}):\s*([1-9]\d*):/) {
		$count{$file}[$2] += $1 // 0;
	}
}
close $gcov or die "gcov failed\n";

my (%all, %executed);
for my $f (sort keys %count) {
	my ($folder) = $f =~ m{(.*)/} ? $1 : '.';
	for my $n (grep { defined $count{$f}[$_] } 1 .. $#{$count{$f}}) {
		print "$f $n $count{$f}[$n]\n" if $lines;
		for my $of ($folder, 'all') {
			$all{$of}++;
			$executed{$of} += $count{$f}[$n] > 0;
		}
	}
}
exit if $lines;
printf "%-24s %6s %8s %7s\n", 'folder', 'lines', 'executed', 'percent';
printf "%-24s %6d %8d %7.1f\n", $_, $all{$_}, $executed{$_}, 100 * $executed{$_} / $all{$_}
	for (sort grep { $_ ne 'all' } keys %all), 'all';
