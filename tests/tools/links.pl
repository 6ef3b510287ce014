#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# Checks by linked symbols which folders use which: links.pl BUILD <ROWS
#
# Each row of standard input is a folder, then the folders that its objects may use beside lib and itself, and single symbols as
# FOLDER:SYMBOL. Prints each symbol that is defined elsewhere, and each circle of objects that spans several folders. All may use what
# zcost.c defines, the table of commands and the version, and zcost.c may use every command.
use strict;
use warnings;

my $build = shift // die "usage: links.pl BUILD <ROWS\n";
my (%allowed, %defined_in, %uses);
while (<STDIN>) {
	my ($folder, @others) = split;
	$allowed{$folder}{$_} = 1 for $folder, 'lib', 'zcost.c', @others;
}

# The folder of a source file, as a row calls it: the longest row that it is below.
sub folder_of {
	my ($file) = @_;
	my ($row) = sort { length $b <=> length $a } grep { $file eq $_ || index($file, "$_/") == 0 } keys %allowed;
	return $row // die "$file: no row has its folder\n";
}

my @objects = grep { m{^\Q$build\E/(zcost|(lib|workload|collect|capture|analyze|plot)/)} } split /\n/,
	`find '$build' -name '*.o' ! -name '*.bpf.o'`;
open my $symbols, '-|', 'nm', '-A', @objects or die "nm: $!\n";
while (<$symbols>) {
	my ($file, $type, $symbol) = m{^\Q$build\E/(\S+)\.o:.*([A-Za-z]) (\S+)$} or next;
	$file .= '.c';
	next unless -e $file || $file =~ /\.pb-c\.c$/; # an object of a file that is gone
	$defined_in{$symbol} = $file if $type =~ /[TDRBCVW]/;
	$uses{$file}{$symbol} = 1 if $type eq 'U';
}

my %edges;
for my $file (sort keys %uses) {
	for my $symbol (sort keys %{$uses{$file}}) {
		my $to = $defined_in{$symbol} // next;
		next if $to eq $file || $to eq 'zcost.c' || $file eq 'zcost.c' && $symbol =~ /^cmd_/;
		my $row = $allowed{folder_of($file)};
		print "$file: $symbol of $to\n" unless $row->{folder_of($to)} || $row->{folder_of($to) . ":$symbol"};
		$edges{$file}{$to} = $symbol;
	}
}

# Circles: the strongly connected components, after Tarjan.
my (%index, %low, %on, @stack);
my $next = 1;
sub visit {
	my ($file) = @_;
	$index{$file} = $low{$file} = $next++;
	push @stack, $file;
	$on{$file} = 1;
	for my $to (sort keys %{$edges{$file}}) {
		if (!$index{$to}) {
			visit($to);
			$low{$file} = $low{$to} if $low{$to} < $low{$file};
		} elsif ($on{$to}) {
			$low{$file} = $index{$to} if $index{$to} < $low{$file};
		}
	}
	return if $low{$file} != $index{$file};
	my @circle;
	do { push @circle, pop @stack; delete $on{$circle[-1]} } until $circle[-1] eq $file;
	my %folders = map { folder_of($_) => 1 } @circle;
	print "circle: @circle\n" if keys %folders > 1;
}
no warnings 'recursion';
$index{$_} or visit($_) for sort keys %edges;
