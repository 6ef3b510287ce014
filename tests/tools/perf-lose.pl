#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# perf-lose.pl FILE PROFILE_DUMP KIND SEED...: what is left of a perf.data file (little-endian, not
# compressed) after a loss: does each sample have the comm and the functions that perf script names?
#
# Kinds: maps, forks, comms, exits, any of these, at random; burst: a run of records, samples among
# them; told: the process with most threads starts while perf looks through /proc. perf tells of it
# and of its threads, and the kernel's own records are lost, but its FORK and some others. Then perf knows
# less of its first thread than of the others, and that one is left out.
use strict;
use warnings;

use constant { MMAP => 1, COMM => 3, EXIT => 4, FORK => 7, SAMPLE => 9, MMAP2 => 10, TRACING => 66 };
use constant { MISC_KERNEL => 1, MISC_FORK_EXEC => 1 << 13, OWN_TYPES => 64, RUN => 100 };

my ($file, $dump, $kind, @seeds) = @ARGV;
my %types = (maps => [MMAP, MMAP2], forks => [FORK], comms => [COMM], exits => [EXIT],
	any => [MMAP, MMAP2, FORK, COMM, EXIT], told => [MMAP2, FORK, COMM], burst => []);
my %mine = map { $_ => 1 } @{$types{$kind} // die "no kind $kind\n"};
my ($data, @records, $from, $len, $back, $told);

# [type, misc, bytes, time, pid, tid] of each; perf's own have no time.
sub take_record {
	my ($at) = @_;
	my ($type, $misc, $size) = unpack('L<S<S<', substr($data, $at, 8));
	die "size $size at $at\n" if $size < 8;
	my $r = substr($data, $at, $size);
	$r .= substr($data, $at + $size, unpack('x8L<', $r) + 7 & ~7) if $type == TRACING;
	my $time = $type < OWN_TYPES && $type != SAMPLE ? unpack('Q<', substr($r, -$back)) : 0;
	my ($pid, $second, $third) = $type < OWN_TYPES && $size >= 20 ? unpack('x8L<3', $r) : ();
	push @records, [$type, $misc, $r, $time, $pid, $type == FORK ? $third : $second];
	return $at + length $r;
}

sub read_file {
	local $/;
	open(my $f, '<:raw', $file) or die;
	$data = <$f>;
	my $attrs = unpack('x24Q<', $data);
	($from, $len) = unpack('x40Q<2', $data);
	my $sampled = unpack('Q<', substr($data, $attrs + 24, 8));
	$back = 8 + 8 * grep { $sampled & 1 << $_ } 6, 9, 7, 16; # behind the time: id, stream, CPU, id
	for (my $at = $from; $at < $from + $len;) {
		$at = take_record($at);
	}
}

sub write_file { # the features behind the data move
	my $body = join '', @_;
	my $shift = $len - length $body;
	my $rest = substr($data, $from + $len);
	my $features = unpack('%32b*', substr($data, 72, 32));
	for my $i (0 .. $features - 1) {
		substr($rest, 16 * $i, 8) = pack('Q<', unpack('Q<', substr($rest, 16 * $i, 8)) - $shift);
	}
	my $head = substr($data, 0, $from);
	substr($head, 48, 8) = pack('Q<', length $body);
	open(my $f, '>:raw', 'lost.data') or die;
	print $f $head, $body, $rest;
	close($f) or die;
}

sub lose {
	my ($rate) = @_;
	my $run = 0;
	return map { $_->[2] } grep {
		my ($type, $misc) = @$_;
		$run = int(rand(RUN)) + 1 if $kind eq 'burst' && !$run && rand() < $rate / RUN;
		$run-- if $run;
		!(($misc & 7) == MISC_KERNEL && $type != SAMPLE) &&
			($run && $type < OWN_TYPES || $mine{$type} && rand() < $rate) ? 0 : 1
	} @records;
}

sub told_copy { # as perf tells it: with no time
	my ($type, $misc, $r) = @{$_[0]};
	substr($r, length($r) - $back, 8) = pack('Q<', 0);
	substr($r, 4, 2) = pack('S<', $misc | MISC_FORK_EXEC) if $type == FORK;
	return $r;
}

sub told_early {
	my ($rate) = @_;
	my (%threads, @before, @after);
	$threads{$_->[4]}++ for grep { $_->[0] == FORK && $_->[4] != $_->[5] } @records;
	($told) = sort { $threads{$b} <=> $threads{$a} || $a <=> $b } keys %threads;
	die "no threads\n" unless defined $told;
	my @its = sort { $a->[3] <=> $b->[3] } grep { $mine{$_->[0]} && $_->[3] && $_->[4] == $told } @records;
	my %lost = map { $_ => 1 } grep { $_->[0] == FORK ? $_->[5] != $told : rand() < $rate } @its;
	push @{$_->[3] || @after ? \@after : \@before}, $_ for @records;
	return ((map { $_->[2] } @before), (map { told_copy($_) } @its),
		map { $_->[2] } grep { !$lost{$_} } @after);
}

# Both give {"pid/tid comm leaf;...;root"} = samples.
sub ours {
	my %n;
	open(my $f, '-|', "'$dump' costs lost.data 2>/dev/null") or die;
	while (<$f>) {
		chomp;
		my (undef, undef, $comm, $pid, $tid, undef, $samples, undef, $stack) = split /\t/;
		$stack = join ';', map { s/^0x[0-9a-f]+$/[unknown]/r } split /;/, $stack;
		$n{"$pid/$tid $comm $stack"} += $samples;
	}
	return %n;
}

sub perfs {
	my %n;
	local $/ = '';
	open(my $f, '-|', "perf script -i lost.data -F comm,pid,tid,ip,sym --no-inline 2>/dev/null") or die;
	while (<$f>) {
		my ($head, @chain) = split /\n/;
		my ($comm, $whose) = $head =~ m{^\s*(.*?)\s+(-?\d+/-?\d+)\s*$} or die "perf script: $head\n";
		$n{join ' ', $whose, $comm, join ';', map { s/^\s*[0-9a-f]+ //r } @chain}++;
	}
	return %n;
}

# Where a chain is damaged, perf prints none, and we keep the leaf.
sub compare {
	my ($seed) = @_;
	my %our = ours();
	my %perf = perfs();
	my ($bad, $samples, $threads, %leaf) = (0, 0, 0);
	for my $k (sort keys %{{%our, %perf}}) {
		my ($pid, $tid) = $k =~ m{^(-?\d+)/(-?\d+) };
		my ($o, $p) = ($our{$k} // 0, $perf{$k} // 0);
		next if defined $told && $tid eq $told;
		$samples += $p;
		$threads += $p if defined $told && $pid eq $told && $k !~ / \[unknown\]/;
		$leaf{"$pid/$tid"} += $p if $k =~ / $/;
		next if $o == $p || $k =~ / $/;
		next if $o > $p && $k !~ /;/ && ($leaf{"$pid/$tid"} // 0) >= $o - $p;
		print "# seed $seed: perf $p, zcost $o: $k\n" if $bad++ < 10;
	}
	print "# seed $seed: $samples samples, $threads named in threads, $bad differ\n";
	return !$bad && $samples && (!defined $told || $threads);
}

read_file();
my $bad = 0;
for my $seed (@seeds) {
	srand($seed);
	my $rate = 0.1 + rand(0.6);
	write_file($kind eq 'told' ? told_early($rate + 0.3) : lose($rate));
	$bad++ unless compare($seed);
}
exit($bad ? 1 : 0);
