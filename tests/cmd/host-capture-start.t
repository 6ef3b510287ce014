#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The start of a run: a client finds its server, and the window opens when data moves, however late the workload starts.
. "$(dirname "$0")/../lib.sh"
need jq
perl -MIO::Socket::INET -MTime::HiRes -e 1 2>/dev/null || skip_all "needs perl"

# Programs that need CPU time before they begin, as every program does on a busy machine.
cat >begin.pm <<'END'
use strict;
use warnings;
use IO::Socket::INET;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID);
sub burn { my ($s) = @_; 1 while clock_gettime(CLOCK_PROCESS_CPUTIME_ID) < $s }
1;
END
cat >server <<'END'
use lib $ARGV[0]; use begin;
burn(0.3);
my $s = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $ARGV[1], Listen => 5, ReuseAddr => 1) or die "listen: $!\n";
my $c = $s->accept;
1 while sysread $c, my $buf, 65536;
END
cat >client <<'END'
use lib $ARGV[0]; use begin;
$SIG{PIPE} = 'IGNORE';
$SIG{TERM} = sub { print "{\"type\":\"summary\"}\n"; exit };
my $c = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $ARGV[1]) or die "connect: $!\n";
burn($ARGV[2]);
Time::HiRes::sleep($ARGV[3] // 0);
printf "{\"type\":\"point\",\"t_ns\":%.0f,\"bytes\":0}\n", 1e9 * clock_gettime(CLOCK_MONOTONIC);
$| = 1;
my $n = 0;
while (my $w = syswrite $c, 'x' x 65536) {
	$n += $w;
	printf "{\"type\":\"point\",\"t_ns\":%.0f,\"bytes\":%d}\n", 1e9 * clock_gettime(CLOCK_MONOTONIC), $n;
	Time::HiRes::sleep(0.01);
}
END
plan() { # plan RECEIVER SENDER: the sender starts last and counts
	cat <<-END
		[plan]
		passes = measure
		repeats = ${repeats:-1}
		warmup = 0.1
		duration = ${duration:-1}
		grace = 0
		start_timeout = 120
		[side receiver]
		collect = null
		[side sender]
		collect = null
		${keys-units = tcpzc}
		[variant a]
		receiver = $1
		sender = $2
	END
}
# tries CODE CAPTURE CONDITION...: captures anew, exits with CODE, and the condition holds
tries() {
	code=$1 to=$2
	shift 2
	rm -rf "$to" tries
	exits $code "$zcost" capture p.ini -o "$to" && "$@"
}
next_port
serve="perl $scratch/server $scratch $port" send="perl $scratch/client $scratch $port"

plan "$serve" "$send 0" >p.ini
ok "a client finds a server that listens late" exits 0 "$zcost" capture p.ini -o listens
# A busy machine has other reasons to try again.
ok "no try finds that the server does not listen" jq -e '.runs[0] | .status == "ok" and all(.retried[]?; test("refused") | not)' listens/manifest.json

plan "$serve" "$send 0.3" >p.ini
ok "capture succeeds when the data begins late" exits 0 "$zcost" capture p.ini -o moves
run=moves/runs/a/measure-01/sender
first=$(jq -s 'map(.t_ns) | min' $run/workload.out)
ok "the window opens the warm-up after the first data" jq -e ".window.start_ns >= $first + 1e8" $run/run.json

# The first `sleep` ends before a window that opens after 2.5 s: 3 s are the whole seconds of 0.1 + 0.8 + 2.
repeats=2 duration=0.8 keys='units = tcpzc
[side timed]
role = receiver
collect = null' plan "$serve" "$send 0 2.5" | sed '$a timed = sleep ${seconds}' >p.ini
# On a busy machine the second run may need even longer.
steady "a program with \${seconds} that would end before its window runs longer in the next try, and in later runs, too" \
	tries 0 seconds jq -e '[.runs[] | .status, has("retried")] == ["ok", true, "ok", false]' seconds/manifest.json
ok "its window is whole" jq -es 'all(.[]; .window.end_ns - .window.start_ns > 7.9e8)' seconds/runs/a/measure-0?/timed/run.json

plan "sleep 60" "$send 0" >p.ini
steady "capture exits 1 without a server, for the sender's reason" \
	tries 1 none says 'a/measure-01 failed 3 times: sender: .*[Cc]onnection refused' err

# The account of the first try has no summary, and that of the second one ends early.
cat >counts <<'END'
use strict;
use warnings;
use Time::HiRes qw(sleep time clock_gettime CLOCK_MONOTONIC);
open my $tries, '>>', $ARGV[0] or die;
syswrite $tries, "x";
my $try = $ARGV[1] // -s $ARGV[0];
$SIG{TERM} = sub { print "{\"type\":\"summary\"}\n" if $try > 1; exit };
$| = 1;
for (my ($n, $begun) = (0, time); ; sleep 0.01) {
	printf "{\"type\":\"point\",\"t_ns\":%.0f,\"bytes\":%d}\n", 1e9 * clock_gettime(CLOCK_MONOTONIC), $n++
		if $try != 2 || time < $begun + 0.2;
}
END
counting() { # counting ARGUMENTS: a plan with one side that counts its work
	plan "" "perl $scratch/counts $*" | sed '/side receiver/,/null/d; /receiver =/d'
}
repeats=2 duration=1 counting tries >p.ini
steady "capture succeeds when a later try has the whole account, and the manifest has why those before it do not count" \
	tries 0 account jq -e '[.runs[] | .status, (.retried // [] | length)] == ["ok", 2, "ok", 0] and (.runs[0].retried |
	(.[0] | test("sender: the workload printed no summary")) and (.[1] | test("sender: the workload.s account ends [0-9.]+ s before")))' account/manifest.json
repeats=2 duration=1 counting never 1 >p.ini
steady "capture keeps a run without a summary in any try, and tries later runs of the variant once" \
	tries 0 kept jq -e '[.runs[] | .status, (.retried // [] | length)] == ["ok", 2, "ok", 0]' kept/manifest.json
ok "a message reports that the run is kept" says 'a/measure-01: kept after 3 tries: sender: the workload' err
done_testing
