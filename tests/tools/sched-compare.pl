#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# zcost report sched against perf, on one recording.
#
#   sched-compare.pl FILE ZCOST [stream]
#
# 1. By thread: the same sums made of perf script's events.
# 2. perf sched latency, by command and by thread (-p), digit for digit. perf 6.1 passes over
#    sched_waking, so zcost is told to do the same (--event sched_wakeup); and takes a task that was
#    preempted inside the kernel (R+: it reads behind its table of states) for one that sleeps: lines
#    of such tasks must be what these events give by that rule.
#    A runtime that perf 6.1 wrote twice, as it now and then does, counts twice there, once here.
# perf sched does not read a pipe's stream ("stream"): there 1 alone.
use strict;
use warnings;

my ($file, $zcost, $stream) = @ARGV;
my ($bad, $lines, $tasks) = (0, 0, 0);
sub bad { print "@_\n"; exit 1 if ++$bad > 20 }
sub same { # WHAT A B TOLERANCE
	my ($what, $a, $b, $within) = @_;
	bad("$what: $a, must be $b") if abs(($a || 0) - $b) > $within;
}

sub zcost { # OPTIONS: rows by comm, and by tid where they have one
	my %z;
	open(my $t, '-|', "$zcost report sched --perf $file --all --format tsv @_ 2>/dev/null") or die;
	my @columns = split /\t/, <$t> // '';
	chomp @columns;
	while (<$t>) {
		chomp;
		my %r;
		@r{@columns} = split /\t/, $_, -1;
		$z{defined $r{tid} ? $r{tid} : $r{comm}} = \%r;
	}
	return \%z;
}

my $recorded = `perf evlist -i $file 2>/dev/null`;
my $waking = $recorded =~ /sched_waking/ || $stream ? 'sched_waking' : 'sched_wakeup';
my %ours = (waking => $waking, runnable => qr/^R/);
my %perfs = (waking => 'sched_wakeup', runnable => qr/^R$/);
my (%preempted, %name, %seen, %twice);

sub task { # RULES TID TIME RUNNABLE
	my ($rules, $tid, $t, $runnable) = @_;
	return $$rules{task}{$tid} //= {out => $t, since => $t, where => $runnable ? 'waits' : 'sleeps',
		n => 0, delay => 0, max => 0, start => 0, runtime => 0};
}
sub event { # RULES TIME EVENT TEXT
	my ($rules, $t, $event, $text) = @_;
	if ($event eq $$rules{waking} || $event eq 'sched_wakeup_new') {
		my ($tid) = $text =~ / pid=(\d+) / or die;
		my $w = task($rules, $tid, $t, 0);
		@$w{'where', 'since'} = ('waits', $t) if $$w{where} eq 'sleeps' && $$w{out} <= $t;
	} elsif ($event eq 'sched_stat_runtime') {
		$text =~ / pid=(\d+) runtime=(\d+)/ and task($rules, $1, $t, 1)->{runtime} += $2;
	} elsif ($event eq 'sched_switch') {
		my ($prev, $state, $next) = $text =~ / prev_pid=(\d+) .*prev_state=(\S+) ==> .* next_pid=(\d+)/ or die;
		my $p = task($rules, $prev, $t, 0);
		@$p{'out', 'since', 'where'} = ($t, $t, $state =~ $$rules{runnable} ? 'waits' : 'sleeps');
		$preempted{$prev} = 1 if $state eq 'R+';
		my $n = task($rules, $next, $t, 1);
		return if $$n{where} ne 'waits';
		my $delay = $t - $$n{since};
		$$n{where} = 'runs';
		$$n{n}++;
		$$n{delay} += $delay;
		@$n{'max', 'start'} = ($delay, $$n{since}) if $delay > $$n{max};
	}
}
open(my $s, '-|', "perf script --ns -F comm,tid,time,event,trace -i $file 2>/dev/null") or die;
while (<$s>) {
	/\s(\d+)\.(\d{9}):\s+sched:(\w+): (.*)/ or next;
	if ($seen{$_}++) {
		/sched_stat_runtime: comm=(.*) pid=(\d+) runtime=(\d+)/ or next;
		$twice{$2} += $3 / 1e6;
		$name{$2} = $1;
		next;
	}
	event($_, $1 * 1e9 + $2, $3, $4) for \%ours, \%perfs;
}
close $s;

my $by_tid = zcost('--by tid');
for my $tid (grep { $_ && $ours{task}{$_}{n} } keys %{$ours{task}}) {
	my ($m, $r) = ($ours{task}{$tid}, $$by_tid{$tid});
	bad("$tid: not in the table"), next if !$r;
	$tasks++;
	same("$tid runtime", $$r{runtime_ms}, $$m{runtime} / 1e6, 1e-6);
	same("$tid switches", $$r{switches}, $$m{n}, 0);
	same("$tid avg", $$r{avg_delay_ms}, $$m{delay} / $$m{n} / 1e6, 1e-6);
	same("$tid max", $$r{max_delay_ms}, $$m{max} / 1e6, 1e-6);
	same("$tid max start", $$r{max_start_s}, $$m{start} / 1e9, 2e-8) if $$m{max};
}
bad("$tasks tasks have switches, the table has " . keys %$by_tid) if $tasks != keys %$by_tid;

sub perf_by_rule { # a line of -p for a task that was preempted
	my ($tid, $switches, $avg, $max) = @_;
	my $m = $perfs{task}{$tid};
	same("$tid switches of perf", $switches, $$m{n}, 0);
	same("$tid avg of perf", $avg, $$m{delay} / $$m{n} / 1e6, 0.00051);
	same("$tid max of perf", $max, $$m{max} / 1e6, 0.00051);
}
sub lines { # OPTIONS, ROWS, BY-TID: perf sched latency against zcost's rows
	my ($options, $z, $by_tid) = @_;
	my ($seen, %odd) = (0);
	$odd{$by_tid ? $_ : $name{$_} // ''} = 1 for keys %preempted;
	open(my $p, '-|', "perf sched latency $options -i $file 2>/dev/null") or die;
	while (<$p>) {
		my ($comm, $n, $runtime, $switches, $avg, $max, $start, $end) =
			/^  (.+):\(?(\d+)\)? +\| *([\d.]+) ms \| *(\d+) \| avg: *([\d.]+) ms \| max: *([\d.]+) ms \| max start: *([\d.]+) s \| max end: *([\d.]+) s/
			or next;
		my $key = $by_tid ? $n : $comm;
		my $r = $$z{$key};
		bad("$key: not in the table"), next if !$r;
		my $more = 0;
		$more += $twice{$_} for grep { ($by_tid ? $_ : $name{$_} // '') eq $key } keys %twice;
		same("$key runtime", $$r{runtime_ms} + $more, $runtime, 0.00051);
		if ($odd{$key}) {
			perf_by_rule($key, $switches, $avg, $max) if $by_tid;
			next;
		}
		$seen++;
		same("$key switches", $$r{switches}, $switches, 0);
		same("$key avg", $$r{avg_delay_ms}, $avg, 0.00101); # a quotient of integers there
		same("$key max", $$r{max_delay_ms}, $max, 0.00051);
		next if !$$r{max_delay_ms};
		same("$key max start", $$r{max_start_s}, $start, 0.0000011);
		same("$key max end", $$r{max_end_s}, $end, 0.0000011);
	}
	my $even = grep { !$odd{$_} } keys %$z;
	bad("perf sched latency has $seen tasks, the table $even") if $seen != $even;
	$lines += $seen;
}
if (!$stream) {
	my $z = zcost('--event sched_wakeup --by tid');
	$name{$_} = $$z{$_}{comm} for keys %$z;
	lines('-p', $z, 1);
	lines('', zcost('--event sched_wakeup'), 0);
}
bad("nothing was compared") if !$tasks || !($lines || $stream);
print "$tasks tasks of perf script's events, $lines lines of perf sched latency\n";
exit($bad ? 1 : 0);
