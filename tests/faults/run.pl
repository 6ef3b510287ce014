#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# Fails single calls of report and compare, and looks at what becomes of it.
#
#	run.pl BUILD CAPTURE BOUND [COMMAND...]
#
# COMMAND is a line of arguments, "report cpu CAPTURE"; without one, every table of both commands is
# made. Of each kind of call (inject.c) all are failed, one in each run of zcost; of more than BOUND,
# as many, spread evenly. A run must print what the undisturbed one printed and exit as it did, or
# exit 1 or 4 and say why. No run may end by a signal, take longer than LIMIT or blame its options.
# Known and only counted: libdw 0.188 prints its own line and exits, aborts or crashes where its own
# malloc() fails. zcost has no return value there to check.
use strict;
use warnings;
use POSIX ();

use constant {LIMIT => 30, KINDS => [qw(alloc open read write mmap step)]};

my ($build, $capture, $bound, @commands) = @ARGV;
my $zcost = "$build/zcost";
my $scratch = POSIX::getcwd() . "/faults.$$";
mkdir $scratch or die "$scratch: $!\n";
$ENV{LC_ALL} = 'C';

sub slurp {
	open my $in, '<', $_[0] or return '';
	local $/;
	return scalar <$in> // '';
}

# The wait status of one run, or undef where it had to be killed.
sub run {
	my ($env, @args) = @_;
	my $pid = fork // die "fork: $!\n";
	if (!$pid) {
		$ENV{$_} = $env->{$_} for keys %$env;
		open STDIN, '<', '/dev/null';
		open STDOUT, '>', "$env->{AT}/out" or POSIX::_exit(99);
		open STDERR, '>', "$env->{AT}/err" or POSIX::_exit(99);
		exec $zcost, @args or POSIX::_exit(99);
	}
	my $hung = 0;
	local $SIG{ALRM} = sub { $hung = 1; kill 'KILL', $pid };
	alarm LIMIT;
	waitpid $pid, 0;
	alarm 0;
	return $hung ? undef : $?;
}

# What is wrong with a disturbed run; '' where nothing is.
sub fault {
	my ($status, $out, $err, $good) = @_;
	return 'hangs' if !defined $status;
	return 'ends by signal ' . ($status & 127) if $status & 127;
	my $code = $status >> 8;
	return '' if $code == $good->{code} && $out eq $good->{out};
	return "exits $code with other output" if $code == $good->{code};
	return "exits $code" if $code != 1 && $code != 4;
	return $out =~ /\blossy\b/ || $err ne $good->{err} ? '' : 'exits 4 and says nothing' if $code == 4;
	return $err =~ /^zcost: [^\n]+\n\z/m ? '' : "exits $code, its last line is not zcost's";
}

sub spread {
	my ($calls) = @_;
	return 1 .. $calls if $calls <= $bound;
	my %at = map { (1 + int($_ * ($calls - 1) / ($bound - 1)) => 1) } 0 .. $bound - 1;
	return sort { $a <=> $b } keys %at;
}

# The functions of zcost that made the failed call, the innermost first.
sub callers {
	my @at = slurp($_[0]) =~ /\bzcost\(\+(0x[0-9a-f]+)\)/g;
	my @names = @at ? (`addr2line -f -e $zcost @at` =~ /^(?!\?\?|main$)(\w+)$/mg) : ();
	return @names ? ' in ' . join ' < ', @names[0 .. ($#names > 4 ? 4 : $#names)] : '';
}

# libdw met the failed malloc() itself: its frame is the one that called inject.so's.
sub in_libdw {
	my ($kind, $trace) = @_;
	return $kind eq 'alloc' && (grep { !/inject\.so|libc\.so/ } split /\n/, $trace)[0] =~ m{/libdw[-.]};
}

# Returns (runs, known crashes of libdw, lines of what is wrong).
sub disturb {
	my ($line, $at) = @_;
	my @args = split ' ', $line;
	my ($runs, $known, @wrong) = (0, 0);
	my %env = (AT => $at, LD_PRELOAD => "$build/tests/faults/inject.so", ZCOST_FAULT_TRACE => "$at/trace");
	my $status = run({%env, ZCOST_FAULT_COUNT => "$at/count"}, @args);
	my %good = (out => slurp("$at/out"), err => slurp("$at/err"), code => ($status // 255) >> 8);
	my %calls = slurp("$at/count") =~ /^(\w+) (\d+)$/mg;
	unlink "$at/count";
	return (1, 0, "$line: fails undisturbed, exit $good{code}: $good{err}")
		if !defined $status || $status & 127 || $good{code} % 4 || !%calls;
	for my $kind (@{+KINDS}) {
		for my $n (spread($calls{$kind})) {
			$status = run({%env, ZCOST_FAULT => "$kind:$n"}, @args);
			my $err = slurp("$at/err");
			my $what = fault($status, slurp("$at/out"), $err, \%good);
			$runs++;
			if ($what && $what !~ /^exits 0/ && in_libdw($kind, slurp("$at/trace"))) {
				$known++;
				next;
			}
			push @wrong, "$line: $kind $n of $calls{$kind}" . callers("$at/trace") . ": $what" .
				($err =~ /^(.+)$/m ? " ('$1')" : '') if $what;
		}
	}
	return ($runs, $known, @wrong);
}

# The tables that a command lists when it is asked for one that does not exist.
sub tables {
	my $said = `$zcost @_ 2>&1`;
	return $said =~ /tables are: (.*)/ ? split /[, ]+/, $1 : die "zcost @_: lists no tables\n";
}

sub every_table {
	my ($base, $new) = map { (split /\t/)[0] } (split /\n/, `$zcost report variants $capture --format tsv`)[1, 2];
	my %more = (rates => '--rate 1M,2M', groups => "$capture --group g=*copy*",
		    map { $_ => "_copy_to_iter $capture" } qw(callers callees hotspots));
	my @report = map { "report $_ " . ($more{$_} // $capture) } tables('report no-such-table');
	my @compare = map { "compare $base $new -C $capture --table $_" . ($_ eq 'groups' ? ' --group g=*copy*' : '') }
		tables("compare a b -C $capture --table no-such-table");
	return (@report, @compare, map { "report functions $capture --format $_" } qw(json tsv csv md));
}

@commands = every_table() unless @commands;
my $workers = `nproc` + 0 || 1;
for my $w (0 .. $workers - 1) {
	next if fork // die "fork: $!\n";
	my $at = "$scratch/$w";
	my ($all, $crashes) = (0, 0);
	mkdir $at or POSIX::_exit(99);
	open my $report, '>', "$at/report" or POSIX::_exit(99);
	for (my $i = $w; $i < @commands; $i += $workers) {
		my ($runs, $known, @wrong) = disturb($commands[$i], $at);
		$all += $runs;
		$crashes += $known;
		print $report map { "$_\n" } @wrong;
	}
	print $report "runs $all $crashes\n";
	close $report;
	POSIX::_exit(0);
}
my ($runs, $known, @wrong) = (0, 0);
1 while wait != -1;
for my $w (0 .. $workers - 1) {
	my $report = slurp("$scratch/$w/report");
	die "worker $w did not end\n" if $report !~ s/^runs (\d+) (\d+)\n\z//m;
	$runs += $1;
	$known += $2;
	push @wrong, split /\n/, $report;
}
system 'rm', '-r', $scratch;
print map { "$_\n" } @wrong;
printf "%d commands, %d runs with a failed call, %d known crashes of libdw, %d wrong\n", scalar @commands, $runs,
	$known, scalar @wrong;
exit(@wrong || !$runs ? 1 : 0);
