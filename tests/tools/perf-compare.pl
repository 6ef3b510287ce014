#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# perf-compare.pl FILE PROFILE_DUMP [OPTION...]: is our table of functions that of perf report?
#
# Self: samples and periods of every symbol, equal to the last one. Children: within the rounding of
# perf's two digits. Functions of one name in one object (overloads, static ones) are several to
# perf, each with its own children; we count a chain once for the name: there it is between the
# largest and the sum of perf's rows.
# In the PLT, perf names an entry, or _init, which it lets reach over the entries: whichever its tree
# of symbols has on the way. Both are one here.
# Children of addresses without a symbol are left out: perf counts their leaves twice, once as an
# offset in the object and once as an address, and prints the mode of another frame for callers in no mapping.
# ZC_SELF_ONLY=1: no children at all.
# User addresses in no mapping are one row [unknown], as in zcost without --addresses.
# ZC_ROWS=REGEX: only rows whose object and symbol match.
use strict;
use warnings;
no warnings 'portable'; # addresses have 64 bits

my ($file, $dump, @options) = @ARGV;
my $addresses = grep { $_ eq '--addresses' } @options;
my (%self, %children, %total, %ours, $bad);
my ($health, @functions) = '';
tr/\t// < 6 ? $health .= $_ : push @functions, $_ for `'$dump' health,functions @options '$file'`;
my ($base) = $health =~ /^kernel_base\t(.*)/m;
my $refused = join "\n", $health =~ /^dso_note\t(.*)/mg;

sub complain {
	print "# @_\n" if $bad++ < 20;
}

sub name_of {
	return $_[0] =~ /^_init$|\@plt$/ ? '_init or @plt' : $_[0];
}

sub perf_rows {
	my ($children) = @_;
	my $fields = ($children ? 'overhead_children,' : '') . 'overhead,sample,period,dso,sym';
	my $how = $children ? '--children' : '--no-children';
	my $event = '';
	my @rows;
	open(my $f, '-|', "perf report -i '$file' $how --no-group --no-inline -g none --stdio -t '\t' " .
		"-F $fields 2>/dev/null") or die;
	while (<$f>) {
		$event = $1 if /^# Samples: .* of events? '(.*)'/;
		$total{$event} = $1 if /^# Event count \(approx\.\): (\d+)/;
		next if /^#/ || /^\s*$/;
		my @c = map { s/^\s+|\s+$//gr } split /\t/;
		unshift @c, '0' unless $children;
		my $user = $c[5] =~ s/^\[(.)\] // && $1 eq '.' || $c[5] =~ /^0x0000/; # perf may print the mode of another row
		$c[5] = '[unknown]' if $user && $c[4] eq '[unknown]' && !$addresses;
		$c[5] =~ s/\+0x[0-9a-f]+$//; # of data symbols
		$c[5] = name_of($c[5]);
		push @rows, [$event, "$c[4]\t$c[5]", @c[0 .. 3]];
	}
	close($f);
	my $only = $ENV{ZC_ROWS} // '';
	return grep { $_->[1] =~ /(?:$only)/ } @rows;
}

# One run of perf gives both, unless it cannot tell children.
my @rows = perf_rows(!$ENV{ZC_SELF_ONLY});
for my $r (@rows) {
	my $s = $self{$r->[0]}{$r->[1]} //= [0, 0];
	$s->[0] += $r->[4];
	$s->[1] += $r->[5];
	next if $ENV{ZC_SELF_ONLY} || $r->[2] !~ /^[\d.]+%$/; # N/A: of a pipe's file
	$s = $children{$r->[0]}{$r->[1]} //= [0, 0, 0];
	my $share = $r->[2] =~ s/%//r;
	$s->[0] += $share;
	$s->[1]++;
	$s->[2] = $share if $share > $s->[2];
}
for (@functions) {
	chomp;
	my ($event, $dso, $symbol, $unresolved, @n) = split /\t/;
	next if $dso =~ m{^/} && index($refused, $dso) >= 0;
	$dso =~ s{.*/}{};
	$symbol = sprintf('0x%016x', hex($symbol) + ($dso =~ /^\[kernel/ ? hex($base) : 0)) if $symbol =~ /^0x/ && $unresolved;
	$symbol = name_of($symbol);
	next if $ENV{ZC_ROWS} && "$dso\t$symbol" !~ /$ENV{ZC_ROWS}/;
	my $o = $ours{$event}{"$dso\t$symbol"} //= [0, 0, 0];
	$o->[$_] += $n[$_] for 0 .. 2;
}

my ($rows, $crows) = (0, 0);
for my $event (keys %total) {
	my %all = (%{$self{$event} // {}}, %{$ours{$event} // {}});
	for my $k (sort keys %all) {
		my ($dso) = split /\t/, $k;
		next if $refused =~ m{/\Q$dso\E: };
		my $p = $self{$event}{$k} // [0, 0];
		my $o = $ours{$event}{$k} // [0, 0, 0];
		$rows++ if $p->[0];
		complain("$event self '$k': perf @$p, zcost @$o[0, 1]")
			if $p->[0] != $o->[0] || $p->[1] != $o->[1];
	}
	next unless $children{$event};
	%all = (%{$children{$event}}, %{$ours{$event} // {}});
	for my $k (sort keys %all) {
		my ($dso, $symbol) = split /\t/, $k;
		next if $symbol =~ /^((0x)?[0-9a-f]{16}|\[unknown\])$/ || $refused =~ m{/\Q$dso\E: };
		my $p = $children{$event}{$k} // [0, 1, 0];
		my $share = 100 * ($ours{$event}{$k} // [0, 0, 0])->[2] / $total{$event};
		$crows++;
		my $near = 0.005 * $p->[1] + 0.0001;
		complain("$event children '$k': perf $p->[2] to $p->[0], zcost $share")
			if $share > $p->[0] + $near || $share < $p->[2] - $near;
	}
}
print "# $rows self rows, $crows children rows, ", $bad // 0, " differ\n";
exit($bad || !$rows ? 1 : 0);
