#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# perf-older.pl NEW OLD: a copy of a little-endian perf.data that perf 6.1 reads, so that it can be
# the oracle of a file that it refuses. Events are described in 128 bytes, COMPRESSED2 becomes
# COMPRESSED, records of types that it has not are left out, and a stream ends where its records do.
# Samples are not touched.
use strict;
use warnings;

use constant { ATTR => 64, COMPRESSED => 81, LAST => 82, COMPRESSED2 => 83, KEPT => 128 };

local $/;
open(my $in, '<:raw', $ARGV[0]) or die;
my $d = <$in>;
open(my $out, '>:raw', $ARGV[1]) or die;

sub attr { # the description, no longer than perf 6.1 knows it
	my ($a) = @_;
	my $size = unpack('V', substr($a, 4, 4));
	return ($a, $size) if $size <= KEPT;
	substr($a, 4, 4) = pack('V', KEPT);
	return (substr($a, 0, KEPT), $size);
}

sub older_file {
	my ($entry, $at, $len) = unpack('x16 Q<3', $d);
	my $table = '';
	for (my $i = 0; $i < $len; $i += $entry) {
		my ($a) = attr(substr($d, $at + $i, $entry - 16));
		$table .= $a . substr($d, $at + $i + $entry - 16, 16);
	}
	substr($d, 16, 8) = pack('Q<', length($table) / ($len / $entry));
	substr($d, 32, 8) = pack('Q<', length $table);
	substr($d, $at, length $table) = $table;
	print $out $d;
}

sub older_record {
	my ($type, $misc, $body) = @_;
	if ($type == ATTR) {
		my ($a, $size) = attr($body);
		$body = $a . substr($body, $size);
	} elsif ($type == COMPRESSED2) {
		$type = COMPRESSED;
		$body = substr($body, 8, unpack('Q<', $body));
	} elsif ($type > LAST) {
		return;
	}
	print $out pack('Vvv', $type, $misc, 8 + length $body), $body;
}

sub older_stream {
	print $out substr($d, 0, 16);
	for (my $o = 16; $o + 8 <= length $d;) {
		my ($type, $misc, $size) = unpack('Vvv', substr($d, $o, 8));
		last if $size < 8 || $type > 100 || $o + $size > length $d;
		older_record($type, $misc, substr($d, $o + 8, $size - 8));
		$o += $size;
	}
}

unpack('x8 Q<', $d) == 16 ? older_stream() : older_file();
close($out) or die;
