#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# capture-many.pl CAPTURE OUT VARIANTS MEASURE PROFILE SYSCALLS: makes a capture of many runs out of the runs of a small
# one. Variant i and its runs are copies of the variants and runs of CAPTURE in turn. Files that stay the same are hard
# links. The windows of the copies follow each other, because runs at the same time would be one run.
use strict;
use warnings;
use File::Path qw(make_path);
use JSON::PP;

my ($from, $to, $variants, %runs);
($from, $to, $variants, @runs{qw(measure profile syscalls)}) = @ARGV;
die "usage: capture-many.pl CAPTURE OUT VARIANTS MEASURE PROFILE SYSCALLS\n" unless defined $runs{syscalls};

sub slurp { local (@ARGV, $/) = @_; return scalar <> }
sub spew { my ($path, $text) = @_; open my $f, '>', $path or die "$path: $!\n"; print $f $text; close $f or die "$path: $!\n" }

my $json = JSON::PP->new->canonical;
my $m = $json->decode(slurp("$from/manifest.json"));
my %old;
push @{$old{$_->{variant}}{$_->{pass}}}, $_ for grep { $_->{status} eq 'ok' } @{$m->{runs}};

# copy_side RUN NEW SIDE: links the files of a side. run.json is new, because it names the run.
sub copy_side {
	my ($run, $new, $side) = @_;
	my $source = sprintf '%s/runs/%s/%s-%02d/%s', $from, $run->{variant}, $run->{pass}, $run->{repeat}, $side;
	my $folder = sprintf '%s/runs/%s/%s-%02d/%s', $to, $new->{variant}, $new->{pass}, $new->{repeat}, $side;
	make_path($folder);
	for my $path (glob "$source/*") {
		my ($name) = $path =~ m{([^/]+)$};
		link $path, "$folder/$name" or die "$folder/$name: $!\n" unless $name eq 'run.json';
	}
	my $text = $json->decode(slurp("$source/run.json"));
	@$text{qw(variant pass repeat)} = @$new{qw(variant pass repeat)};
	spew("$folder/run.json", $json->encode($text));
}

make_path($to);
system('cp', '-al', "$from/hosts", "$from/plan.ini", $to) == 0 or exit 1;
my @bases = @{$m->{variants}};
my (@variants, @new);
for my $v (1 .. $variants) {
	my $base = $bases[($v - 1) % @bases];
	my %variant = (%$base, name => $v > @bases ? sprintf('%s-%02d', $base->{name}, $v) : $base->{name}, planned => {%runs});
	push @variants, \%variant;
	for my $pass (qw(measure profile syscalls)) {
		my $list = $old{$base->{name}}{$pass} || [];
		for my $repeat (1 .. ($list && @$list ? $runs{$pass} : 0)) {
			my $run = $list->[($repeat - 1) % @$list];
			my %new = (%$run, variant => $variant{name}, pass => $pass, repeat => $repeat, files => {});
			copy_side($run, \%new, $_) for @{$run->{sides}};
			push @new, \%new;
		}
	}
}
$m->{variants} = \@variants;
@new = sort { $a->{pass} cmp $b->{pass} || $a->{repeat} <=> $b->{repeat} } @new; # variants take turns
$m->{runs} = \@new;
$m->{order} = [map { sprintf '%s/%s-%02d', $_->{variant}, $_->{pass}, $_->{repeat} } @new];
delete $m->{files};
spew("$to/manifest.json", $json->encode($m));
