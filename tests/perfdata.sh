# SPDX-License-Identifier: GPL-2.0-only
# Compares zcost's reader with perf, for the tests of perf.data files. Source it after lib.sh.

dump=$build/tests/tools/profile_dump
compare=$tests/tools/perf-compare.pl

# Event, comm, pid, tid, time, period, address of every sample; sorted, because perf sorts by time.
our_samples() {
	"$dump" samples "$1" 2>ours.err | awk -F'\t' '{ printf "%s|%s|%d|%d|%d.%09d|%d|%s\n",
		$1, $2, $3, $4, int($6 / 1e9), $6 % 1000000000, $7, $8 }' | sort
}

perf_samples() {
	perf script -i "$1" -G --ns -F event,comm,pid,tid,time,period,ip 2>/dev/null | perl -ne '
		s/^\s*(.*?)\s+(-?\d+)\/(-?\d+)\s+([\d.]+):\s+(\d+)\s+(\S+):\s+([0-9a-f]+).*/$6|$1|$2|$3|$4|$5|$7/
		and print' | sort
}

same_samples() { # same_samples FILE [FILE-FOR-PERF]
	our_samples "$1" >ours
	perf_samples "${2:-$1}" >perfs
	[ -s perfs ] && cmp ours perfs || { diff ours perfs | head -n 20; return 1; }
}

# The addresses of every call chain. perf prints an address in user space as an offset in its file. Of these only the
# last 12 bits are compared, because a mapping does not change them.
same_chains() {
	"$dump" samples "$1" 2>/dev/null | awk -F'\t' '$9 != "" { printf "%d.%09d %s\n",
		int($6 / 1e9), $6 % 1000000000, $9 }' | page_offsets >ours
	perf script -i "${2:-$1}" --ns -F time,ip 2>/dev/null | perl -00 -ne '
		my ($head, @chain) = split /\n/;
		next unless $head =~ /^\s*([\d.]+):\s*$/;
		my $t = $1;
		print "$t ", join(",", map { /^\s*([0-9a-f]+)/ ? $1 : () } @chain), "\n" if @chain' |
		page_offsets >perfs
	cmp ours perfs || { diff ours perfs | cut -c1-300 | head -n 6; return 1; }
}

page_offsets() {
	perl -ne 's/([ ,])(?!ffff[0-9a-f]{12}\b)([0-9a-f]+)\b/$1 . hex(substr $2, -3)/ge; print' | sort
}

# Names of all events, without the one that perf adds for itself.
same_events() {
	"$dump" health "$1" 2>/dev/null | sed -n 's/^event \(.*\)\t.*/\1/p' | sort -u >ours
	perf evlist -i "${2:-$1}" 2>/dev/null | grep -v -e '^dummy' -e '^#' | sort -u >perfs
	[ -s perfs ] && cmp ours perfs || { diff ours perfs; return 1; }
}

# Samples per event, and throttle records, as perf report counts them.
our_counts() {
	"$dump" health "$1" 2>/dev/null | perl -ne '
		print "$1 $2\n" if /^event (.*)\t(\d+) samples/ && $2;
		print "throttled $1\n" if /^throttled\t(\d+)/ && $1'
}

perf_counts() {
	perf report -i "$1" --no-group --stats --stdio 2>/dev/null | perl -ne '
		$e = $1 if /^(\S.*) stats:/;
		$n{$e}{$1} = $2 if /^\s+(\w+) events:\s+(\d+)/;
		END { for (grep { $_ ne "Aggregated" } keys %n) {
			print "$_ $n{$_}{SAMPLE}\n" if $n{$_}{SAMPLE} }
		print "throttled $n{Aggregated}{THROTTLE}\n" if $n{Aggregated}{THROTTLE} }'
}

same_counts() {
	our_counts "$1" | sort >ours
	perf_counts "${2:-$1}" | sort >perfs
	[ -s perfs ] && cmp ours perfs || { diff ours perfs; return 1; }
}

# buffer MB: prints perf record's option for a buffer of MB over all CPUs, so that a busy machine loses no record.
# Only root may have it.
buffer() {
	mb=2
	while [ $((mb * 2 * $(getconf _NPROCESSORS_ONLN))) -le "$1" ]; do mb=$((mb * 2)); done
	[ "$(id -u)" != 0 ] || echo "-m ${mb}M"
}

# --stats is quick, but prints nothing for a stream of tracepoints.
anything_lost() {
	perf report -i "$1" --stats --stdio 2>/dev/null >.lost
	[ -s .lost ] || perf report -D -i "$1" 2>/dev/null | grep -aE 'RECORD_LOST' >.lost
	grep -qE 'LOST(_SAMPLES)?(:| events:)' .lost
}

# When its last compressed record is full, perf 6.1 may leave the end of the recording in the compressor, and does not say so.
end_may_be_lost() {
	perl -0777 -ne '
		my ($p, $end) = unpack("x8Q<", $_) == 16 ? (16, length) : unpack("x40Q<2", $_);
		for ($end += $p == 16 ? 0 : $p; $p + 8 <= $end; $p += $len || last) {
			(my $type, $len) = unpack("x${p}L<x2S<", $_);
			$last = $len if $type == 81;
			$len += unpack("x${p}x8L<", $_) + 7 & ~7 if $type == 66; # the tracing data of a stream
		}
		exit(($last // 0) != 65535)' "$1"
}

# lossless FILE COMMAND...: the command records into FILE, up to five times until no record is lost. With lost records
# the two readers cannot be compared.
lossless() {
	recorded=$1
	shift
	for attempt in 1 2 3 4 5; do
		"$@" || return
		anything_lost "$recorded" || { [ -f "$recorded" ] && end_may_be_lost "$recorded"; } || return 0
	done
	echo "each time something was lost" >&2
	return 1
}

# same NAME PERF-RECORD-OPTIONS...: records $load, and compares the tables.
same() {
	name=$1
	shift
	lossless "$name.data" perf record -q $(buffer 32) -o "$name.data" "$@" -- sh $load >/dev/null 2>"$name.err" || {
		cat "$name.err"
		return 1
	}
	perl "$compare" "$name.data" "$dump"
}

# Also compares each sample's event, comm, process, time, period and chain, and each event's count.
each_sample() {
	same_samples "$1.data" && same_chains "$1.data" && same_counts "$1.data" && same_events "$1.data"
}

# The loads: load.sh runs several processes and threads, with forks and execs, in user space and the kernel.
cat >load.sh <<'E2'
find /usr/share/doc/lib* 2>/dev/null | sort | cksum >/dev/null
ls -l /usr/bin >/dev/null; dd if=/dev/zero bs=64k count=100 2>/dev/null | cksum >/dev/null
perl -e 'sub r { my $n = shift; return $n < 2 ? $n : r($n - 1) + r($n - 2) } r(15) for 1 .. 5' &
perl -e '$x{$_ % 999} .= chr(65 + $_ % 26) for 1 .. 40000'
wait
E2
cat >short.sh <<'E2'
ls -l /usr/bin >/dev/null
perl -e 'sub r { my $n = shift; return $n < 2 ? $n : r($n - 1) + r($n - 2) } r(15) for 1 .. 8' & wait
E2
clock='-g -e cpu-clock -F 3000'

mount_tracefs() { # stays mounted, because other tests may use it
	[ -e /sys/kernel/tracing/events/sched ] || mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null
	[ -e /sys/kernel/tracing/events/sched ] || [ -e /sys/kernel/debug/tracing/events/sched ]
}

# maybe WHAT NAME OPTION OPTIONS...: runs `same` when perf can record OPTION here.
maybe() {
	what=$1
	name=$2
	asked=$3
	shift 3
	if perf record -o maybe.data "$asked" "$@" -- true >/dev/null 2>maybe.err &&
		! perf record -h 2>&1 | grep -A 1 -e "$asked"  | grep -q 'not built'; then
		steady "$what" same "$name" "$asked" "$@"
	else
		skip "$what" "perf: $(grep . maybe.err | head -n 2 | tr '\n' ' ' | cut -c1-120)"
	fi
}
