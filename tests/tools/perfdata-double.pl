#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# Writes a perf.data in which each sample stands twice: perfdata-double.pl IN OUT
use strict;
use warnings;

my ($in, $out) = @ARGV;
open(my $fh, '<:raw', $in) or die "$in: $!";
my $file = do { local $/; <$fh> };
my ($at, $size) = unpack('Q<2', substr($file, 40, 16));
my @bits = unpack('Q<4', substr($file, 72, 32));
my $data = '';
for (my $p = $at; $p < $at + $size;) {
	my ($type, undef, $len) = unpack('L<S<S<', substr($file, $p, 8));
	my $record = substr($file, $p, $len);
	die "compressed\n" if $type == 81;
	$data .= $type == 9 ? $record x 2 : $record;
	$p += $len;
}
my $more = length($data) - $size;
my $table = substr($file, $at + $size);
my $n = 0;
for my $word (@bits) {
	$n += ($word >> $_) & 1 for 0 .. 63;
}
for my $i (0 .. $n - 1) { # the sections behind the data move
	my $offset = unpack('Q<', substr($table, 16 * $i, 8));
	substr($table, 16 * $i, 8) = pack('Q<', $offset + $more);
}
substr($file, 48, 8) = pack('Q<', length($data));
open(my $to, '>:raw', $out) or die "$out: $!";
print $to substr($file, 0, $at), $data, $table;
