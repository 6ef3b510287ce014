#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# unwind-compare.pl FILE PROFILE_DUMP [TID...]: are our call chains those of perf script?
#
# Chains of a thread are compared as a whole, leaf first, as names of functions. Where they differ,
# perf must have given up: its chain is then the beginning of ours, perhaps with an address at its
# end where nothing is mapped. Its libunwind does so in epilogues (a register that was popped is not
# in the copy of the stack any more), on the last word of the copy, and behind the system call that
# ends a signal handler. Of the frame that a handler returns to, perf takes 1 off the address and
# finds nothing there. Who called a function is left out where no table says it: for _init and _fini, and for a sample in
# _Unwind_Resume or _Unwind_RaiseException, whose last instructions move the stack pointer to the handler's frame.
# With TIDs, only those threads are compared.
use strict;
use warnings;

my ($file, $dump, @tids) = @ARGV;
my %only = map { $_ => 1 } @tids;
my (%perf, %ours, $n, $equal, $short, $bad);

sub add {
	my ($to, $tid, $chain, $count) = @_;
	return if @tids && !$only{$tid};
	my ($guess) = grep { $chain->[$_] =~ /^_(init|fini)$/ } 0 .. $#$chain;
	$guess = 0 if $chain->[0] =~ /^_Unwind_(Resume|RaiseException)$/;
	$#$chain = $guess if defined $guess;
	$to->{"$tid\t" . join(';', @$chain)} += $count;
}

my ($tid, @chain);
open(my $f, '-|', "perf script -i '$file' --no-inline -F tid,ip,sym 2>/dev/null; echo") or die;
while (<$f>) {
	if (/^\s*(\d+)\s*$/) {
		($tid, @chain) = ($1);
	} elsif (/^\s+[0-9a-f]+ (.*?)\s*$/) {
		push @chain, $1 eq '__restore_rt' ? '[unknown]' : $1;
	} elsif (/^$/ && defined $tid) {
		add(\%perf, $tid, \@chain, 1);
		undef $tid;
	}
}
close($f);
open($f, '-|', "'$dump' costs '$file'") or die;
while (<$f>) {
	chomp;
	my @c = split /\t/;
	my @names = map { /^(0x[0-9a-f]+|__restore_rt)$/ ? '[unknown]' : $_ } split /;/, $c[8];
	add(\%ours, $c[4], \@names, $c[6]);
}
close($f);

for (keys %perf) {
	$n += $perf{$_};
	my $both = $perf{$_} < ($ours{$_} // 0) ? $perf{$_} : $ours{$_} // 0;
	$equal += $both;
	$perf{$_} -= $both;
	$ours{$_} -= $both if $both;
}
for my $p (sort grep { $perf{$_} } keys %perf) {
	my $start = $p =~ s/(;\[unknown\])+$//r;
	for my $o (grep { $ours{$_} && index("$_;", "$start;") == 0 } keys %ours) {
		my $both = $perf{$p} < $ours{$o} ? $perf{$p} : $ours{$o};
		$short += $both;
		$perf{$p} -= $both;
		$ours{$o} -= $both;
	}
	next unless $perf{$p};
	$bad += $perf{$p};
	print "# $perf{$p} x perf:  $p\n";
}
print "# $ours{$_} x zcost: $_\n" for sort grep { $ours{$_} } keys %ours;
printf "# %d chains: %d equal, %d that perf cut short, %d differ\n", $n // 0, $equal // 0,
	$short // 0, $bad // 0;
exit(!$n || $bad || ($short // 0) > 0.02 * $n ? 1 : 0);
