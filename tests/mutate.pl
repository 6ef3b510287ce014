#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# Changes one token of the calculation code at a time, and looks whether a test notices.
#
#	mutate.pl WORK MUTANTS SEED [FOLDER | FILE | FILE:LINE]...
#
# A seed takes the same mutants after a change of other lines.
#
# WORK holds a copy of the sources and two builds of them without the host half: one with -O2, and one that counts
# executed lines (tests/coverage.pl). Each test runs once in the second build. A mutant then runs only the tests that
# execute its line: first those that killed a mutant of the same file before, then the others, those first that execute the
# most lines of the file in a second. A test that compares whole tables (tests/golden.sh) counts four times. The first failed
# assertion, or a test that takes too long, kills the mutant. Its file ends the program at undefined behaviour, such as an
# index beyond an array (UBSan), and malloc() at a write beyond a block: SAN=1 tests do so, too.
#
# Two kinds of mutants do not count: those that do not compile, and those with the same machine code as the original.
# A mutant that no test can kill, because the program does the same with it, counts as a survivor. Functions that free are left
# out, because SAN=1 finds what they lose, and functions that prefetch, because they change no result. Where the smaller or
# larger of two values is taken, equal values may be either. The order of two elements for qsort() is a sign, so 2 is as good
# as 1. The arguments of a comparison of two texts are not swapped unless its sign is returned: only whether they are equal
# matters elsewhere.
#
# Command tests that compare each sample with perf, drive a browser, fetch programs or take minutes do not run. unwind.t runs
# where no other test executes the line. A test that records with perf has another input each time, so it must fail twice.
#
# SIGTERM ends the sample early, with the score of the mutants until then.
use strict;
use warnings;
no warnings "portable"; # constants of 64 bits
use Digest::SHA ();
use File::Find ();
use File::Path ();
use POSIX ();

use constant {PARALLEL => 2, BUDGET => 150}; # seconds of CPU time of command tests for one mutant, in the build that counts lines
my @calculation = qw(analyze/scope analyze/probes analyze/costs analyze/evidence analyze/figures analyze/compare lib/stats analyze/perfdata);
my ($work, $mutants, $seed, @chosen) = @ARGV;
die "usage: mutate.pl WORK MUTANTS SEED [FOLDER | FILE | FILE:LINE]...\n" unless defined $seed;
$| = 1;
$work = POSIX::getcwd() . "/$work" if $work !~ m{^/};
my $tree = "$work/tree";
my ($plain, $counting) = ("$tree/build-plain", "$tree/build-lines");
$ENV{LC_ALL} = 'C';
delete @ENV{qw(MAKEFLAGS MAKEOVERRIDES MFLAGS)}; # the outer make's variables are not for the inner one

sub slurp {
	open my $in, '<', $_[0] or die "$_[0]: $!\n";
	local $/;
	return scalar <$in> // '';
}

sub spew {
	my ($path, $text) = @_;
	open my $out, '>', $path or die "$path: $!\n";
	print $out $text;
	close $out or die "$path: $!\n";
}

# Calls do(item, slot) for each item that next() gives, in PARALLEL processes. done() gets the item and what do() returned.
sub in_parallel {
	my ($next, $do, $done) = @_;
	my (%running, @free);
	@free = 1 .. PARALLEL;
	for (;;) {
		my $item = @free ? $next->() : undef;
		if (defined $item) {
			my $slot = shift @free;
			my $pid = fork // die "fork: $!\n";
			if (!$pid) {
				spew("$work/result.$slot", $do->($item, $slot));
				POSIX::_exit(0);
			}
			$running{$pid} = [$item, $slot];
			next;
		}
		last unless %running;
		my $pid = waitpid -1, 0;
		my ($of, $slot) = @{delete $running{$pid} // next};
		die "a worker failed\n" if $?;
		push @free, $slot;
		$done->($of, slurp("$work/result.$slot"));
	}
}

# --- the copy of the tree and its builds ---

# What make prints for a build, as lines.
sub make {
	my ($build, $cflags, $ldflags, $target) = @_;
	my @lines = `make -C '$tree' -s --no-print-directory -j@{[PARALLEL]} OFFLINE=1 BUILD=$build CFLAGS='$cflags' LDFLAGS='$ldflags' $target`;
	die "make $target in $build fails\n" if $?;
	return @lines;
}

sub copy_tree {
	File::Path::make_path($tree);
	my @parts = grep { -e } qw(Makefile install.mk zcost.c lib workload collect capture analyze plot samples tests docs);
	system('rm', '-rf', map { "$tree/$_" } @parts) and die "cannot empty $tree\n";
	system("tar -cf - @parts | tar -C '$tree' -xf -") and die "cannot copy to $tree\n";
	make('build-plain', '-O2', '', 'offline-programs');
	make('build-lines', '-O0 --coverage -fprofile-update=atomic', '--coverage', 'offline-programs');
}

# The compiler, the linker and the libraries, as the makefile calls them.
sub commands {
	my @lines = make('build-plain', '-O2', '', 'print-build');
	chomp @lines;
	return @lines;
}

# --- tests ---

sub children_seconds {
	my (undef, undef, $user, $system) = times;
	return $user + $system;
}

# Runs a test in a build, for `limit` seconds of CPU time at most. Returns the CPU time, and what failed: '' for nothing.
sub run_test {
	my ($test, $build, $scratch, $limit) = @_;
	my $from = children_seconds();
	File::Path::make_path($scratch);
	my $pid = open(my $out, '-|') // die "fork: $!\n";
	if (!$pid) {
		POSIX::setpgid(0, 0);
		chdir $tree;
		@ENV{qw(ZCOST_BUILD TMPDIR)} = ($build, $scratch);
		@ENV{qw(LD_PRELOAD MALLOC_CHECK_ MALLOC_PERTURB_)} = ('libc_malloc_debug.so.0', 3, 165); # freed and fresh memory is not 0
		open STDIN, '<', '/dev/null';
		open STDERR, '>', '/dev/null';
		# A mutant may loop, fill the memory or the disk.
		my $limits = "ulimit -t " . POSIX::ceil($limit) . "; ulimit -d 8000000; ulimit -f 2000000";
		exec 'sh', '-c', "$limits; exec \"\$0\"", $test =~ /\.t$/ ? $test : "$build/$test" or POSIX::_exit(127);
	}
	my $failed = '';
	local $SIG{ALRM} = sub { $failed = 'takes too long'; kill 'KILL', -$pid };
	alarm 60 + 20 * $limit; # it may wait for what never happens
	while (defined(my $line = <$out>)) {
		next if $failed || $line !~ /^not ok \d+ (?!# SKIP)-? ?(.*)/;
		$failed = $1;
		kill 'KILL', -$pid;
	}
	close $out;
	alarm 0;
	$failed ||= 'exit status ' . ($? >> 8 || $?) if $?;
	system 'rm', '-rf', $scratch;
	return (children_seconds() - $from, $failed);
}

# Every test with the lines that it executes: {name => {seconds, lines => {file => bits}}}
sub trace_tests {
	my @tests = map { s{^\Q$tree\E/}{}r } glob("$tree/tests/cmd/unwind.t"), # takes longest
		glob("$tree/tests/unit/*.c"), grep { !m{/unwind\.t$} } glob("$tree/tests/cmd/*.t");
	@tests = grep { !m{/(host|tcpzc)[-_]|/(docs|house|install|scaling|report-html|(export|perfdata)-(duckdb|formats|modes|lost|exact|foreign))\.t$} } @tests;
	my $sources = Digest::SHA->new(1);
	File::Find::find({no_chdir => 1, preprocess => sub { sort @_ }, wanted => sub {
		$sources->addfile($_) if -f && !m{^\Q$tree\E/(build-|tests/(cmd|unit|bench|fuzz)/|docs/)|\.pl$} }}, $tree);
	$sources = $sources->hexdigest;
	my (%trace, @stale);
	for my $test (@tests) {
		my $name = $test =~ s/\.c$//r;
		my $key = Digest::SHA::sha1_hex($sources . slurp("$tree/$test"));
		my $saved = "$work/lines/" . ($name =~ tr{/}{+}r);
		$trace{$name} = {saved => $saved, key => $key, whole_tables => scalar slurp("$tree/$test") =~ /golden\.sh/};
		push @stale, $name if !-e $saved || slurp($saved) !~ /^\Q$key\E /;
	}
	File::Path::make_path("$work/lines");
	my $all = @stale;
	in_parallel(sub { shift @stale }, sub {
		my ($name, $slot) = @_;
		my $counts = "$work/counts.$slot";
		system 'rm', '-rf', $counts;
		local @ENV{'GCOV_PREFIX', 'GCOV_PREFIX_STRIP'} = ($counts, $counting =~ tr{/}{});
		my ($seconds, $failed) = run_test($name, $counting, "$work/tmp.$slot", 300);
		delete @ENV{'GCOV_PREFIX', 'GCOV_PREFIX_STRIP'};
		($seconds, $failed) = run_test($name, $plain, "$work/tmp.$slot", 300) if $failed;
		File::Find::find({no_chdir => 1, wanted => sub {
			symlink $counting . substr($_, length $counts, -4) . 'gcno', substr($_, 0, -4) . 'gcno' if /\.gcda$/ }}, $counts) if -d $counts;
		my $lines = -d $counts ? `cd '$tree' && perl tests/coverage.pl --lines '$counts'` : '';
		spew($trace{$name}{saved}, "$trace{$name}{key} $seconds $failed\n" . join '', map { /^(\S+ \d+) [1-9]/ ? "$1\n" : () } split /^/, $lines);
		return $failed;
	}, sub {
		print "not run, because it fails without a change: $_[0] ($_[1])\n" if $_[1];
	});
	for my $name (keys %trace) {
		my ($head, @lines) = split /\n/, slurp($trace{$name}{saved});
		my (undef, $seconds, $failed) = split / /, $head, 3;
		delete $trace{$name}, next if $failed;
		$trace{$name}{seconds} = $seconds;
		vec($trace{$name}{lines}{$1} //= '', $2, 1) = 1 while defined($_ = shift @lines) && /^(\S+) (\d+)/;
	}
	printf "%d tests, %d of them run to see which lines they execute\n", scalar keys %trace, $all;
	return \%trace;
}

# --- mutants ---

my %swapped = ('<' => ['<=', '>='], '>' => ['>=', '<='], '<=' => ['<', '>'], '>=' => ['>', '<'], '==' => ['!='], '!=' => ['=='],
	       '&&' => ['||'], '||' => ['&&'], '+' => ['-'], '-' => ['+'], '*' => ['/'], '/' => ['*'], '%' => ['*'],
	       '<<' => ['>>'], '>>' => ['<<'], '&' => ['|'], '|' => ['&'], '+=' => ['-='], '-=' => ['+='], '*=' => ['/='],
	       '/=' => ['*='], '|=' => ['&='], '&=' => ['|='], '++' => ['--'], '--' => ['++'], 'true' => ['false'], 'false' => ['true']);
my $operators = join '|', map { quotemeta } sort { length $b <=> length $a } keys %swapped, '->', '<<=', '>>=';
my $nested = qr/(\((?:[^()]|(?1))*\))/;

sub blank {
	return $_[0] =~ s/[^\n]/\x01/gr;
}

# The code with nothing in place of what is not to be changed: only the bodies of functions, without comments, texts,
# messages, the left sides of declarations, and the sizes of allocations, which SAN=1 checks.
sub code_of {
	my ($text) = @_;
	$text =~ s{(/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])+')}{blank($1)}gse;
	$text =~ s/^(#(?:[^\n]*\\\n)*[^\n]*)/blank($1)/gme;
	$text =~ s/(?:\A|^\}).*?(?:^\{|\z)/blank($&)/gmse;
	$text =~ s/\b(?:error_(?:set|sys|print)|warn|print_note|fprintf|sizeof|array_size|array_grow|va_arg|x[mc]alloc|xrealloc|arena_alloc|__builtin_prefetch)\b\s*$nested/blank($&)/ge;
	$text =~ s/^\t+static\b[^;]*;/blank($&)/gme;
	$text =~ s/^\t+(?:const|struct|enum|union|unsigned|int|bool|char|double|float|long|void|s?size_t|u?int\d+_t|FILE)\b[^=;(]*(?=[=;])/blank($&)/gme;
	return $text;
}

sub number_changes {
	my ($number) = @_;
	return $number > 1000 ? ("($number * 2)", '0') : ("($number + 1)", "($number - 1)", '0') if $number =~ /[.e]/i && $number !~ /^0x/i;
	my ($digits, $suffix) = $number =~ /^(0x[0-9a-f]+|\d+)([ul]*)$/i or return;
	my $value = $digits =~ /^0/ ? oct $digits : $digits;
	return map { "$_$suffix" } $value + 1, $value > 0 ? $value - 1 : (), $value > 1 ? 0 : ();
}

# Pairs of neighbouring arguments, each as (offset, length, text) of the arguments in other order.
sub swapped_arguments {
	my ($list, $at) = @_;
	my ($depth, @args) = (0);
	for (my ($i, $from) = (1, 1); $i < length $list; $i++) {
		my $c = substr $list, $i, 1;
		$depth += $c =~ /[(\[{]/ ? 1 : $c =~ /[)\]}]/ ? -1 : 0;
		next unless $c eq ',' && !$depth || $i == length($list) - 1;
		push @args, [$from, substr $list, $from, $i - $from];
		$from = $i + 1;
	}
	return map {
		my ($l, $r) = @args[$_, $_ + 1];
		my ($space) = $r->[1] =~ /^(\s*)/;
		$l->[1] ne substr($r->[1], length $space) && "$l->[1]$r->[1]" !~ /\x01/
			? [$at + $l->[0], length("$l->[1],$r->[1]"), substr($r->[1], length $space) . ",$space$l->[1]"] : ()
	} 0 .. $#args - 1;
}

# All changes of a file, each [offset, length, replacement].
sub changes_of {
	my ($text) = @_;
	my $code = code_of($text);
	my @changes;
	while ($code =~ /(?<![\w.])(\d[\w.]*(?:(?<=e)-\d+)?|$operators|[A-Za-z_]\w*)|./gs) {
		my ($token, $at) = ($1 // next, $-[0]);
		if ($token =~ /^\d/) {
			push @changes, map { [$at, length $token, $_] } number_changes($token);
		} elsif ($swapped{$token}) { # a binary operator has blanks on both sides
			push @changes, map { [$at, length $token, $_] } @{$swapped{$token}}
				if $token =~ /^\w|\+\+|--/ || substr($code, $at - 1, length($token) + 2) =~ /^\s.*\s$/;
		}
	}
	while ($code =~ /\b(?:if|while) (?=\()/g) {
		my $from = $+[0];
		push @changes, [$from, length $1, '(!' . substr($text, $from, length $1) . ')'] if substr($code, $from) =~ /^$nested/;
	}
	push @changes, [$-[0], 1, ''] while $code =~ /!(?=[\w(*])/g;
	while ($code =~ /\b(?!if|while|for|switch|return)[a-z_]\w*(?=\()/g) {
		my $from = $+[0];
		next if substr($code, $-[0], $from - $-[0]) =~ /^(?:strn?(?:case)?cmp|memcmp|fmin|fmax)$/ && substr($code, 0, $-[0]) !~ /return\s*$/;
		push @changes, swapped_arguments("$1", $from) if substr($code, $from) =~ /^$nested/;
	}
	while ($code =~ /\breturn ([^;]+);/g) {
		my ($value, $from, $length) = ($1, $-[1], $+[1] - $-[1]);
		push @changes, [$from, $length, '0'] if $value !~ /^(?:\d+|true|false|NULL)$/ && $value !~ /\x01/;
	}
	while ($code =~ /^\t+(?!return|goto|else|case|default|if|for|while|do|switch)((?:[a-z_(*+-][^;{}]*|break|continue);)$/gm) {
		my ($statement, $from, $length) = ($1, $-[1], $+[1] - $-[1]);
		push @changes, [$from, $length, ';'] if $statement !~ /^\w*(?:free|close|unref|destroy|lock|prefetch)\w*\(/;
	}
	return @changes;
}

# Returns the line, and "FUNCTION: BEFORE -> AFTER", the changed lines with single blanks.
sub describe {
	my ($text, $at, $length, $new) = @_;
	my $from = rindex(substr($text, 0, $at), "\n") + 1;
	my $to = index $text, "\n", $at + $length;
	my $before = substr $text, $from, $to - $from;
	my $after = $before;
	substr($after, $at - $from, $length) = $new;
	s/\s+/ /g, s/^ | $//g for $before, $after;
	my ($function) = substr($text, 0, $at) =~ /.*^[a-z][^\n]*?(\w+)\(/ms;
	return (1 + (substr($text, 0, $at) =~ tr/\n//), "$function: $before -> $after");
}

# Is it a comparison that takes the smaller or larger of two values, and now the other one where they are equal?
sub takes_an_equal {
	my ($text, $at, $length, $new) = @_;
	return 0 if $new !~ /^[<>]=?$/ || substr($new, 0, 1) ne substr($text, $at, 1);
	my $operand = qr/[\w.>\[\]-]+/;
	my ($l) = substr($text, 0, $at) =~ /($operand) \z/ or return 0;
	my ($r, $rest) = substr($text, $at + $length, 300) =~ /^ ($operand)(.*)/s or return 0;
	my ($one, $other) = ("\Q$l\E\\s+: \Q$r\E", "\Q$r\E\\s+: \Q$l\E");
	return $rest =~ /^\)?\s+\? (?:$one|$other)[;,)]/ || $rest =~ /^\)\s+(?:\Q$l\E = \Q$r\E|\Q$r\E = \Q$l\E);(?!\s*else)/;
}

# Returns the mutants in the order of the sample.
sub list_mutants {
	my ($from, @places) = @_;
	my (@list, %seen);
	for my $place (@places) {
		my ($path, $line) = split /:/, $place;
		for my $source (grep { /\.c$/ } sort -d "$tree/$path" ? glob("$tree/$path/*") : glob("$tree/$path*")) {
			my $text = slurp($source);
			my $file = $source =~ s{^\Q$tree\E/}{}r;
			my %orders = map { $_ => 1 } map { /(\w+)/g } $text =~ /\bqsort\(([^;]*)\);/g;
			for my $c (changes_of($text)) {
				my ($at, $what) = describe($text, @$c);
				my $key = "$file: $what";
				next if $line && $line != $at || $what =~ /^\w*(?:_free|_prefetch\w*): / || takes_an_equal($text, @$c);
				next if $c->[2] eq '2' && $orders{$what =~ s/:.*//sr} && substr($text, 0, $c->[0] + 1) =~ /[?:] -?1\z/;
				push @list, {file => $file, line => $at, what => $what, change => $c,
					     order => Digest::SHA::sha1("$from $key " . $seen{$key}++)};
			}
		}
	}
	return sort { $a->{order} cmp $b->{order} } @list;
}

my ($compiler, $linker, $libraries);

sub compile {
	my ($file, $text, $to, $slot, $options) = @_;
	my $source = "$work/slot.$slot/$file";
	File::Path::make_path($source =~ s{/[^/]*$}{}r, $to =~ s{/[^/]*$}{}r);
	spew($source, $text);
	return !system "cd '$tree' && $compiler -g0 $options -Werror=format -Werror=int-conversion -Werror=incompatible-pointer-types -c -o '$to' '$source' 2>/dev/null";
}

sub link_program {
	my ($program, $object, $slot) = @_;
	my $to = "$work/slot.$slot/build/$program";
	File::Path::make_path($to =~ s{/[^/]*$}{}r);
	unlink $to;
	my $cmocka = $program =~ m{^tests/unit/} ? '-lcmocka' : '';
	return !system "$linker -o '$to' '$plain/$program.o' '$object' '$plain/laptop.a' '$plain/lib.a' $libraries $cmocka";
}

# Links every program of the tests' build that a command test runs.
sub link_command {
	my ($test, $object, $slot, $linked) = @_;
	my $build = "$work/slot.$slot/build";
	my $text = join '', map { slurp("$tree/$_") } $test, map { "tests/$_" } slurp("$tree/$test") =~ m{^\. "\$tests/([\w.]+)"}mg;
	for my $program ('zcost', map { s{\.c$}{}r =~ s{^\Q$tree\E/}{}r } glob "$tree/tests/tools/*.c") {
		my ($name) = $program =~ m{([^/]*)$};
		next if $program ne 'zcost' && $text !~ m{tools/(?:\S*\W)?\Q$name\E\b} || $linked->{$program}++;
		link_program($program, $object, $slot) or die "cannot link $program\n";
	}
	File::Path::make_path("$build/tests/faults");
	symlink "$plain/tests/faults/inject.so", "$build/tests/faults/inject.so";
}

# Returns what became of a mutant: "invalid", "same", "killed TEST: ASSERTION" or "survived WHY".
sub try_mutant {
	my ($m, $slot, @tests) = @_;
	my $text = slurp("$tree/$m->{file}");
	my ($original, $object) = map { "$work/slot.$slot/" . ($m->{file} =~ tr{/}{+}r) . $_ } '.o', '.mutant.o';
	-e $original && -M $original < -M "$tree/$m->{file}" or compile($m->{file}, $text, $original, $slot, '') or die "$m->{file} does not compile\n";
	substr($text, $m->{change}[0], $m->{change}[1]) = $m->{change}[2];
	compile($m->{file}, $text, $object, $slot, '') or return 'invalid';
	return 'same' if slurp($original) eq slurp($object);
	return 'survived: no test executes it' unless @tests;
	# Some constant expressions are no constants for UBSan.
	compile($m->{file}, $text, $object, $slot, '-fsanitize=undefined -fsanitize-undefined-trap-on-error') or
		compile($m->{file}, $text, $object, $slot, '') or die "$m->{file} does not compile twice\n";
	my ($spent, %linked) = (0);
	system 'rm', '-rf', "$work/slot.$slot/build";
	for my $t (@tests) {
		if ($t->{name} =~ /\.t$/) {
			$spent += $t->{seconds};
			next if $spent > BUDGET;
			link_command($t->{name}, $object, $slot, \%linked);
		} else {
			link_program($t->{name}, $object, $slot) or die "cannot link $t->{name}\n";
		}
		my @run = ($t->{name}, "$work/slot.$slot/build", "$work/tmp.$slot", 5 + 4 * $t->{seconds});
		my (undef, $failed) = run_test(@run);
		(undef, $failed) = run_test(@run) if $failed && $t->{name} =~ /\.t$/ && slurp("$tree/$t->{name}") =~ /perf record/;
		return "killed $t->{name}: $failed" if $failed;
	}
	return $spent > BUDGET ? 'survived the tests of ' . BUDGET . ' seconds' : 'survived ' . @tests . ' tests';
}

# The tests that execute the line; a line within a statement has the count of a line above.
sub tests_of {
	my ($m, $trace, $kills) = @_;
	my ($n, @tests) = ($m->{line});
	my $text = [split /^/, slurp("$tree/$m->{file}")];
	for (;; $n--) {
		@tests = grep { vec $trace->{$_}{lines}{$m->{file}} // '', $n, 1 } keys %$trace;
		last if @tests || $n <= 1 || $text->[$n - 2] =~ /[;}:]\s*$|(?:\) |else |do |^)\{\s*$|^$/;
	}
	my @quick = grep { !m{/unwind\.t$} } @tests;
	my %lines_a_second = map { $_ => unpack('%32b*', $trace->{$_}{lines}{$m->{file}}) / ($trace->{$_}{seconds} + 0.1) *
		($trace->{$_}{whole_tables} ? 4 : 1) } @tests;
	return map { {name => $_, seconds => $trace->{$_}{seconds}} } sort {
		($kills->{$m->{file}}{$b} // 0) <=> ($kills->{$m->{file}}{$a} // 0) || $lines_a_second{$b} <=> $lines_a_second{$a} } @quick ? @quick : @tests;
}

# The limits of Wilson's 95 % interval of k of n, in percent.
sub wilson {
	my ($k, $n) = @_;
	my ($p, $z2) = ($k / $n, 1.96 ** 2);
	my $half = sqrt($z2 * ($p * (1 - $p) + $z2 / (4 * $n)) / $n);
	return map { 100 * ($p + $z2 / (2 * $n) + $_) / (1 + $z2 / $n) } -$half, $half;
}

copy_tree();
($compiler, $linker, $libraries) = commands();
my $trace = trace_tests();
my @list = list_mutants($seed, @chosen ? @chosen : @calculation);
printf "seed %s, %d possible mutants\n", $seed, scalar @list;
my (%count, %kills);
$SIG{INT} = $SIG{TERM} = sub { $mutants = 0 }; # those that run now are the last
in_parallel(sub {
	return undef if ($count{killed} // 0) + ($count{survived} // 0) + ($count{running} // 0) >= $mutants;
	my $m = shift @list // return undef;
	$count{running}++;
	return $m;
}, sub {
	my ($m, $slot) = @_;
	return try_mutant($m, $slot, tests_of($m, $trace, \%kills));
}, sub {
	my ($m, $result) = @_;
	my ($what) = $result =~ /^(\w+)/;
	$count{running}--;
	$count{$what}++;
	$kills{$m->{file}}{$1}++ if $result =~ /^killed ([^:]+)/;
	print "$m->{file}:$m->{line}: $m->{what}\n\t$result\n" if $what eq 'survived' || $ENV{MUTATE_VERBOSE};
});
my ($killed, $survived) = map { $_ // 0 } @count{qw(killed survived)};
my $tried = $killed + $survived or die "no mutant was tried\n";
printf "seed %s: %d of %d mutants killed, %.1f %% (95 %% interval: %.1f to %.1f %%); not counted: %d that do not compile, %d with the " .
	"same code\n", $seed, $killed, $tried, 100 * $killed / $tried, wilson($killed, $tried),
	map { $_ // 0 } @count{qw(invalid same)};
