#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# clock-samples.pl PERIOD >FILE: writes a stream of perf record with samples of cpu-clock, each PERIOD ns. A line of
# standard input is a sample: TIME_NS CPU TID FUNCTION[;CALLER...]. All functions are in the kernel.
use strict;
use warnings;
no warnings "portable";

my $period = shift or die "usage: clock-samples.pl PERIOD\n";
my $id = 77;
my $type = 1 << 16 | 1 << 0 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 8 | 1 << 5; # identifier ip tid time cpu period chain
my (%addr, @samples);

sub record { # TYPE MISC BODY
	my ($type, $misc, $body) = @_;
	return pack("L<S<S<", $type, $misc, 8 + length $body) . $body;
}

sub trailer { # TIME
	return pack("L<L<Q<Q<Q<", 0, 0, shift, 0, $id);
}

while (<STDIN>) {
	my ($time, $cpu, $tid, $names) = split;
	my @chain = map { $addr{$_} //= 0xffffffff81000000 + 4096 * keys %addr } split /;/, $names;
	push @samples, record(9, 1, pack("Q<Q<L<L<Q<Q<Q<Q<Q<Q<*", $id, $chain[0], $tid, $tid, $time, $cpu, $period,
		1 + @chain, 0xffffffffffffff80, @chain));
}
binmode STDOUT;
print "PERFILE2", pack("Q<", 16);
print record(64, 0, pack("L<L<Q<Q<Q<Q<Q<x64Q<", 1, 112, 0, $period, $type, 4, 1 << 18 | 1 << 20, $id)); # sample_id_all, exclude_guest
print map { record(17, 0, pack("Q<L<S<S<", $addr{$_}, 4096, 1, 0) . "$_\0" . "\0" x (7 - length($_) % 8) . trailer(0)) }
	sort keys %addr;
print @samples;
