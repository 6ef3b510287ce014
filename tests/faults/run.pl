#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# Fails single calls of zcost, or kills it there, and looks at what becomes of it.
#
#	run.pl BUILD CAPTURE BOUND [COMMAND...]
#
# COMMAND is a line of arguments, "report cpu CAPTURE"; without one, every table of report and compare
# is made. Of each kind of call (inject.c) all are failed, one in each run of zcost; of more than BOUND,
# as many, spread with the fixed seed $FAULTS_SEED. $FAULTS_KINDS names the kinds, all by default. BOUND kill:N
# kills zcost at the calls that change files, and at N moments.
#
# A word that begins with W/ is a file or folder that the command may change. Each run gets a new W, a
# copy of the folder old/NAME, where NAME is the command's name: what an earlier run of zcost left.
#
# $FAULTS_THERE: the call fails in another process of the command. It gets the variables as THERE_NAME.
#
# The rules. A run must print what the undisturbed one printed, leave the same files and exit as it did,
# or exit 1 or 4 and say why. No run may end by a signal, take longer than LIMIT or blame its options.
# Each file is then the old or the new one, whole, unless what zcost wrote itself names the loss (%admits).
# A killed run leaves such files, too. Names as x.tmp.123 and .x.tmp are those of half files, which zcost ignores.
# The names of files in hosts/ are compared and not their texts: a fact that the kernel or a driver does not give
# has no line. An empty log may stay in a run. Copies of programs (dso) are those of the moment. A capture undoes what its plan did.
# Known and only counted: where their own malloc() fails, libarchive prints its own line and exits, and libdw
# 0.188 does so, aborts or crashes. zcost has no return value there to check.
use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
use File::Find ();
use JSON::PP ();
use POSIX ();
use Time::HiRes qw(time ualarm);

use constant {
	LIMIT => 120,
	KINDS => [split ' ', $ENV{FAULTS_KINDS} // 'alloc open stat read write sync close rename mmap fork exec ioctl bpf perf step'],
	CHANGING => [qw(open write sync rename)],
};

my ($build, $capture, $bound, @commands) = @ARGV;
my $zcost = "$build/zcost";
my $scratch = POSIX::getcwd() . "/faults.$$";
my $seed = $ENV{FAULTS_SEED} // 1;
my $there = $ENV{FAULTS_THERE} ? 'THERE_' : '';
my $kill = $bound =~ s/^kill:// ? ':kill' : '';
mkdir $scratch or die "$scratch: $!\n";
$ENV{LC_ALL} = 'C';
$ENV{TMPDIR} = $scratch; # a killed page leaves its folder there

sub slurp {
	open my $in, '<', $_[0] or return '';
	local $/;
	return scalar <$in> // '';
}

# The wait status of one run, or undef where it had to be ended. It gets SIGKILL after $ms.
sub run {
	my ($env, $ms, @args) = @_;
	my $pid = fork // die "fork: $!\n";
	if (!$pid) {
		$ENV{$_} = $env->{$_} for keys %$env;
		open STDIN, '<', '/dev/null';
		open STDOUT, '>', "$env->{AT}/out" or POSIX::_exit(99);
		open STDERR, '>', "$env->{AT}/err" or POSIX::_exit(99);
		exec $zcost, @args or POSIX::_exit(99);
	}
	my $hung = 0;
	local $SIG{ALRM} = sub { $hung = !$ms; kill 'KILL', $pid };
	$ms ? ualarm(1000 * $ms) : alarm LIMIT;
	waitpid $pid, 0;
	alarm 0;
	return $hung ? undef : $?;
}

# --- files ---

# Returns what a file says, without what differs from one undisturbed run to the next.
sub file_words {
	my ($name, $bytes) = @_;
	return length $bytes ? 'there' : 'empty' if $name =~ m{(^|/)(hosts/.*|workload\.\w+|\w+\.log)$};
	if ($name =~ /\.snap$/) {
		my $n = 0;
		$n++ while $bytes =~ s/^\@\d+ (\d+)\n//a && length $bytes >= $1 && defined substr $bytes, 0, $1, '';
		return length $bytes ? 'torn' : $name =~ /power-command/ && $n > 3 ? '3 snapshots' : "$n snapshots"; # a poll more in a slow run
	}
	if ($name eq 'anonymous.tar.zst' && $bytes ne "old\n") { # the names in it are random
		open my $test, '|-', 'zstd -qt' or die "zstd: $!\n";
		print $test $bytes;
		return close $test ? 'whole' : 'torn';
	}
	return substr $bytes, 0, 8 if $name =~ /perf\.data$/;
	return 'rows' if $name =~ /nic_state|syscalls\.tsv$/ && $bytes =~ /\n./; # as many as the driver or the kernel answers
	return $bytes =~ s/-?\d+//gr if $name =~ m{^run/.*\.tsv$|clock\.json$};
	my $o = $name =~ /(run|manifest)\.json$/ ? eval { JSON::PP::decode_json($bytes) } : undef;
	return sha256_hex($bytes) if !$o;
	my @runs = map { "$_->{variant}/$_->{pass}-$_->{repeat} $_->{status} " . join ',', sort grep { !/\.log$/ } keys %{$_->{files}} }
		$1 eq 'run' ? () : @{$o->{runs}};
	return join "\n", $o->{status} // $o->{complete}, @runs,
		map { "$_->{name} $_->{state} @{$_->{files} // []}" } @{$o->{collectors} // []};
}

# Returns the files below a folder, without half files.
sub tree {
	my ($dir) = @_;
	my %tree;
	File::Find::find({no_chdir => 1, wanted => sub {
		my $name = -f && !(/\.log$/ && -z) && substr $_, 1 + length $dir;
		$tree{$name} = file_words($name, slurp($_)) if $name && "/$name" !~ m{\.tmp\.\d+(/|$)|/\.[^/]*\.tmp/|/dso/};
	}}, $dir) if -d $dir;
	return \%tree;
}

# Commands whose files may have less than those of an undisturbed run, when a file says so.
my %admits = (
	analyze => sub { system("$zcost report runs $_[0]/$_[1] >/dev/null 2>&1") >> 8 == 4 },
	collect => sub {
		my $text = slurp("$_[0]/run/run.json");
		my $o = $text && eval { JSON::PP::decode_json($text) };
		return !$text || $o && ($o->{status} ne 'ok' || grep { $_->{state} ne 'ok' } @{$o->{collectors}});
	},
	plot => sub { !-e "$_[0]/$_[1]" }, # a chart that fails removes the picture of an earlier one
	report => sub { slurp("$_[0]/page.html") =~ m{>Not in this page<.*</html>\n\z}s },
	capture => sub {
		my $code = system("$zcost analyze $_[0]/cap >$_[0]/analyze.log 2>&1") >> 8;
		unlink "$_[0]/analyze.log", "$_[0]/cap/zcost.db";
		return $code == 4 || $code == 1 || grep { slurp($_) =~ /"state": "(?!ok")/ } glob "$_[0]/cap/runs/*/*/*/run.json";
	},
);

$admits{compare} = $admits{report};

# Returns what is wrong with the host after a disturbed capture: what its plan did must be undone. --undo does it
# after a kill, or where the message names --undo.
sub host_fault {
	my ($at, $err) = @_;
	my $hooks = "$at/W/.state.tmp/hooks";
	system "$zcost capture --undo -o $at/W/cap >/dev/null 2>&1" if -d "$at/W/cap" && $kill || $err =~ /not undone yet/;
	return slurp($hooks) =~ /up\n\z/ ? 'does not undo what the plan did' : '';
}

# Returns what is wrong with the files of a disturbed run.
sub files_fault {
	my ($command, $at, $code, $err, $old, $good) = @_;
	my $now = tree("$at/W");
	my %names = (%$old, %{$good->{files}}, %$now);
	my (%as_old, %as_new, @odd);
	for my $name (sort keys %names) {
		my ($was, $is, $new) = map { $_->{$name} // 'absent' } $old, $now, $good->{files};
		push @odd, $name if $is ne $new && ($is ne $was || $code == $good->{code});
		$as_old{$name}++ if $is eq $was && $is ne $new;
		$as_new{$name}++ if $is ne $was && $is eq $new;
	}
	return 'leaves a part of the folder' if $command eq 'unpack' && %as_old && %as_new;
	return '' if !@odd;
	return "exits $code, but $odd[0] is not as without the fault"
		if $code == $good->{code} && ($code != 4 || $err eq $good->{err});
	return $admits{$command} && $admits{$command}->("$at/W", $odd[0]) ? '' : "leaves neither the old nor the new $odd[0]";
}

# --- one run ---

# What is wrong with the exit and the words of a disturbed run; '' where nothing is.
sub fault {
	my ($status, $out, $err, $good) = @_;
	return 'hangs' if !defined $status;
	return '' if $kill;
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
	return map { 1 + int(($_ + rand) * $calls / $bound) } 0 .. $bound - 1;
}

# The functions of zcost that made the failed call, the innermost first.
sub callers {
	my @at = slurp($_[0]) =~ /\bzcost\(\+(0x[0-9a-f]+)\)/g;
	my @names = @at ? (`addr2line -f -e $zcost @at` =~ /^(?!\?\?|main$)(\w+)$/mg) : ();
	return @names ? ' in ' . join ' < ', @names[0 .. ($#names > 4 ? 4 : $#names)] : '';
}

# A library that ends the process met the failed call itself: its frame is the one that called inject.so's. libgcrypt ends a
# process that has no file descriptor left for /proc/sys/crypto/fips_enabled.
sub in_library {
	my ($kind, $trace) = @_;
	my $caller = (grep { !/inject\.so|libc\.so/ } split /\n/, $trace)[0] // '';
	return $kind eq 'alloc' && $caller =~ m{/lib(dw|archive|gcrypt)[-.]} || $kind eq 'open' && $caller =~ m{/libgcrypt[-.]};
}

# Makes the files of an earlier run. Each run begins with them.
sub renew {
	my ($command, $at) = @_;
	system 'rm', '-rf', "$at/W", "$at/trace";
	-d "old/$command" ? system 'cp', '-a', "old/$command", "$at/W" : mkdir "$at/W";
	mkdir "$at/W/.state.tmp", 0700;
}

# Returns the result of a run without a fault, and the numbers of its calls by kind.
sub undisturbed {
	my ($at, $env, @args) = @_;
	my $began = time;
	my $status = run({%$env, "${there}ZCOST_FAULT_COUNT" => "$at/count"}, 0, @args);
	my %good = (out => slurp("$at/out"), err => slurp("$at/err"), code => ($status // 255) >> 8, files => tree("$at/W"));
	my %calls = slurp("$at/count") =~ /^(\w+) (\d+)$/mg;
	unlink "$at/count";
	$good{failed} = !defined $status || $status & 127 || $good{code} % 4 || !%calls;
	$calls{time} = int(1000 * (time - $began));
	return (\%good, \%calls);
}

# Returns (runs, known ends of libraries, lines of what is wrong).
sub disturb {
	my ($line, $at) = @_;
	my @args = map { s{^W/}{$at/W/}r } split ' ', $line;
	my ($runs, $known, @wrong) = (0, 0);
	my %env = (AT => $at, "${there}LD_PRELOAD" => "$build/tests/faults/inject.so", "${there}ZCOST_FAULT_TRACE" => "$at/trace");
	local $ENV{ZCOST_STATE} = "$at/W/.state.tmp";
	renew($args[0], $at);
	my $old = tree("$at/W");
	my ($good, $calls) = undisturbed($at, \%env, @args);
	return (1, 0, "$line: fails undisturbed, exit $good->{code}: " . $good->{err} =~ s/\n/ /gr) if $good->{failed};
	for my $kind ($kill ? (@{+CHANGING}, 'time') : @{+KINDS}) {
		for my $n (spread($calls->{$kind})) {
			renew($args[0], $at) if $line =~ m{ W/};
			my $status = run({%env, "${there}ZCOST_FAULT" => "$kind:$n$kill"}, $kind eq 'time' ? $n : 0, @args);
			my $err = slurp("$at/err");
			my $what = fault($status, slurp("$at/out"), $err, $good);
			$what ||= host_fault($at, $err) if $args[0] eq 'capture';
			$what ||= files_fault($args[0], $at, $status & 127 ? -1 : $status >> 8, $err, $old, $good);
			$runs++;
			if ($what && $what !~ /^exits 0/ && in_library($kind, slurp("$at/trace"))) {
				$known++;
				next;
			}
			push @wrong, "$line: $kind $n of $calls->{$kind}" . callers("$at/trace") . ": $what" .
				($err =~ /^(.+)$/m ? " ('$1')" : '') if $what;
		}
	}
	return ($runs, $known, @wrong);
}

# --- all runs ---

# The tables that a command proposes to a shell.
sub tables {
	my @names = `$zcost @_` =~ /^([\w-]+)/mg;
	return @names ? @names : die "zcost @_: lists no tables\n";
}

sub every_table {
	my ($base, $new) = map { (split /\t/)[0] } (split /\n/, `$zcost report variants $capture --format tsv`)[1, 2];
	my %more = (rates => '--rate 1M,2M', groups => "$capture --group g=*copy*",
		    map { $_ => "_copy_to_iter $capture" } qw(callers callees hotspots));
	my @report = map { "report $_ " . ($more{$_} // $capture) } tables("report --complete ''");
	my @compare = map { "compare $base $new -C $capture --table $_" . ($_ eq 'groups' ? ' --group g=*copy*' : '') }
		tables("compare --complete a b -C $capture --table ''");
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
		srand $seed + $i;
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
printf "%d commands, %d runs with a failed call, %d known ends of libraries, %d wrong\n", scalar @commands, $runs,
	$known, scalar @wrong;
exit(@wrong || !$runs ? 1 : 0);
