#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compares zcost export folded with the collapsed text of perf script, line by line.
. "$(dirname "$0")/../lib.sh"
. "$tests/perfdata.sh"

need perf taskset
perf record -q --buildid-all -e cpu-clock -o probe.data true 2>/dev/null ||
	skip_all "perf cannot record here (root, or kernel.perf_event_paranoid)"

# Prints a line per command and chain from perf script. Addresses become objects, as in stackcollapse-perf.pl.
cat >collapse.pl <<'END_PERL'
my ($event, $samples) = @ARGV;
my (%sum, @chain, $comm, $weight);
my $object = qr/((?:[^()]| \(deleted\))*)/;
sub frame {
	my ($sym, $dso) = @_;
	$sym =~ s/\+0x[0-9a-f]+$//;
	$sym = $dso eq '[unknown]' ? $dso : '[' . ($dso =~ s{.*/}{}r) . ']' if $sym eq '[unknown]';
	unshift @chain, $sym =~ tr/;/:/r;
}
sub done {
	$sum{join ';', $comm, @chain} += $weight if defined $comm && @chain;
	@chain = ();
	$comm = undef;
}
while (<STDIN>) {
	if (/^\s*(\S.*?)\s+-?\d+\s+(\d+)\s+(\S+?):\s*(?:[0-9a-f]+ (.*) \($object\))?\s*$/) {
		done();
		next if $event && $3 ne $event;
		($comm, $weight) = ($1, $samples ? 1 : $2);
		$comm =~ tr/ ;/_:/;
		frame($4, $5) if defined $4;
	} elsif (/^\s+[0-9a-f]+ (.*) \($object\)$/) {
		frame($1, $2) if defined $comm;
	}
}
done();
print map { "$_ $sum{$_}\n" } keys %sum;
END_PERL

reference() { # FILE [EVENT [samples]]
	perf script -i "$1" --no-inline -F comm,tid,period,event,ip,sym,dso 2>/dev/null |
		perl collapse.pl "${2:-}" "${3:-}" | sort
}
# perf script prints no frames of a damaged chain (it interrupts a program without frame pointers). zcost prints
# the function. So as many samples as are damaged may be in zcost's output alone, and none in perf's alone.
cat >differ.pl <<'END_PERL'
my ($samples, $damaged) = @ARGV;
my (%more, $n, $bad);
open my $f, '<', 'out';
/(.*) (\d+)$/ and $more{$1} += $2 while <$f>;
open $f, '<', 'ref';
/(.*) (\d+)$/ and $more{$1} -= $2 while <$f>;
for (sort keys %more) {
	next if !$more{$_};
	$n += $samples ? $more{$_} : 1;
	$bad = 1 if $more{$_} < 0;
	print "$more{$_} ", length > 300 ? substr($_, 0, 100) . ' ... ' . substr($_, -200) : $_, "\n";
}
print "$damaged chains are damaged\n";
exit($bad || $n > $damaged);
END_PERL
damaged() {
	grep -oE '[0-9]+ samples have a broken call chain' err | cut -d' ' -f1 | grep . || echo 0
}
same() { # FILE [EVENT [samples]]: takes the arguments of reference
	"$zcost" export folded --perf "$1" ${2:+--event "$2"} ${3:+--weight "$3"} >out 2>err || { cat err; return 1; }
	reference "$@" >ref
	test -s out && perl differ.pl "${3:-}" "$(damaged)"
}

cat >load.sh <<'END'
taskset -c 0 find /usr/share/doc 2>/dev/null | sort | cksum >/dev/null
ls -l /usr/bin >/dev/null
dd if=/dev/zero bs=64k count=400 2>/dev/null | cksum >/dev/null
perl -e '$0 = "a b;c"; sub r { my $n = shift; return $n < 2 ? $n : r($n - 1) + r($n - 2) } r(15) while times < 0.05'
END
record() { # NAME OPTIONS...
	name=$1
	shift
	lossless "$name.data" perf record -q $(buffer 32) -o "$name.data" "$@" -- sh load.sh >/dev/null 2>&1
}
alike() { # NAME OPTIONS...
	record "$@" && same "$name.data"
}

steady "a recording of all processes of the load gives the stacks of perf script" alike wide --sample-cpu -g -e cpu-clock -F 2000
ok "--weight samples counts the samples of each stack" same wide.data "" samples
twice() {
	sed 's/ [0-9]*$//' out | sort | uniq -d | grep .
}
ok "each command and chain has one line" test -z "$(twice)"
"$zcost" export folded --perf wide.data --weight samples >again 2>err
ok "a second export gives the same bytes" cmp out again
ok "blanks and semicolons in a command's name are replaced" says '^a_b:c;' out
record several -g -e cpu-clock,page-faults -F 2000
ok "--event with the first event gives the stacks of that event" same several.data cpu-clock
"$zcost" export folded --perf several.data >first 2>err
ok "the default event is the first event" cmp out first
ok "--event with the second event gives the stacks of that event" same several.data page-faults
record flat -e cpu-clock -F 2000
ok "a recording without call chains gives the stacks of perf script" same flat.data
steady "a compressed recording gives the stacks of perf script" alike z -z -g -e cpu-clock -F 1000
pipe() { # has no build-ids, so another perf that links an object into its cache changes the inode
	perf record -q -o - -g -e cpu-clock -F 2000 -- sh load.sh 2>/dev/null >pipe.data
	same pipe.data
}
steady "a stream gives the stacks of perf script" pipe
"$zcost" export folded --perf - <pipe.data >stdin.out 2>err
ok "standard input gives the same lines as a file" cmp out stdin.out

"$zcost" export folded --perf wide.data >whole 2>err
# The text of export perf-script, collapsed as that of perf script is. It has no marks of deleted files.
script() { # script ARGUMENTS...: has the lines that folded has
	"$zcost" export folded "$@" 2>err | sed 's/ (deleted)\]/]/g' | sort >want
	"$zcost" export perf-script "$@" >text 2>err || [ $? = 4 ] || { cat err; return 1; }
	sed -E 's|^(\S.*) [0-9]+/([0-9]+) (\[[0-9]+\] )?[0-9]+\.[0-9]{9}: ([0-9]+ \S+:)$|\1 \2 \4|' text |
		perl collapse.pl | sort >got
	test -s got && cmp got want
}
ok "the chains and weights of perf-script are those of folded" script --perf wide.data
ok "perf-script has as many samples as the recording" test "$(grep -c '^[^[:space:]]' text)" = \
	"$("$zcost" export folded --perf wide.data --weight samples 2>err | awk '{ n += $NF } END { print n }')"
ok "the times of perf-script rise to the sum of the weights" sh -c "awk '/^[^\t]/ && match(\$0, /[0-9]+\.[0-9]+:/) {
	t = substr(\$0, RSTART, RLENGTH - 1); if (t < last) exit 1; last = t } END { printf \"%.9f\\n\", last }' text >last &&
	awk '{ n += \$NF } END { printf \"%.9f\\n\", n / 1e9 }' want | cmp - last"
# The scheduler may run find and ls on one CPU alone: take a CPU that ran one of them.
cpu=$(perf script -i wide.data -F comm,cpu 2>/dev/null | sed -nE 's/^ *[fl][is].*\[0*([0-9]+)\].*/\1/p' | head -1)
ok "perf-script takes --comm and --cpu" script --perf wide.data --comm '[fl][is]*' --cpu "$cpu"
filtered() {
	"$zcost" export folded --perf wide.data --comm '[fl][is]*' >out 2>err && test -s out &&
		grep '^[fl][is][^;]*;' whole | cmp - out
}
ok "--comm exports the lines of the matching commands" filtered
cpus() {
	ncpus=$(getconf _NPROCESSORS_CONF)
	"$zcost" export folded --perf wide.data --cpu 0 >part 2>err
	"$zcost" export folded --perf wide.data --cpu "1-$((ncpus - 1))" >>part 2>err
	awk '{ n = $NF; sub(/ [0-9]+$/, ""); s[$0] += n } END { for (k in s) printf "%s %.0f\n", k, s[k] }' part | sort >sum
	sort whole | cmp - sum
}
[ "$(getconf _NPROCESSORS_ONLN)" = 1 ] && skip "the exports of all CPUs add up to the whole" "one CPU" || ok "--cpu: the parts add up" cpus

# A name with a semicolon would read as two frames.
printf 'volatile unsigned long x;
__attribute__((noinline)) void semi(void) { for (unsigned long i = 0; i < 300000000; i++) x += i; }
int main(void) { semi(); return 0; }\n' | ${CC:-cc} -O1 -x c -c -o semi.o -
objcopy --redefine-sym 'semi=semi;co lon' semi.o && ${CC:-cc} -o semi semi.o
perf record -q -g -e cpu-clock -F 500 -o semi.data ./semi 2>/dev/null
"$zcost" export folded --perf semi.data >out 2>err
ok "a semicolon in a function's name is replaced" says ';semi:co lon [0-9]+$' out

# A loop in memory is code that no file holds, as a JIT compiler makes it.
if [ "$(uname -m)" = x86_64 ]; then
	printf '#include <string.h>
	#include <sys/mman.h>
	int main(void) {
		void *p = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memcpy(p, "\\xb9\\x00\\x00\\x00\\x20\\xff\\xc9\\x75\\xfc\\xc3", 10);
		((void (*)(void))p)();
		return 0; }\n' | ${CC:-cc} -O1 -x c -o jit -
	perf record -q -g -e cpu-clock -F 2000 -o jit.data ./jit 2>/dev/null
	ok "code without a file gives the stacks of perf script" same jit.data
	ok "code without a file has the name of perf's map file" says '\[perf-[0-9]+\.map\] [0-9]+$' out
	ok "perf-script has the same chains of code without a file" script --perf jit.data
	perf script -i jit.data -F ip,sym,dso 2>/dev/null | grep -o '(/tmp/perf-.*)' | sort -u >maps
	ok "perf-script has the path of perf's map file" test "$(grep -o '(/tmp/perf-.*)' text | sort -u)" = "$(cat maps)" -a -s maps
else
	skip "code without a file gives the stacks of perf script" "its loop is x86_64's"
fi

"$zcost" export folded --perf wide.data -o file 2>err
ok "-o FILE writes the export to the file" cmp whole file
"$zcost" export folded --perf wide.data -o - >out 2>err
ok "-o - writes the export to standard output" cmp whole out
ok "an unknown event exits 1" exits 1 "$zcost" export folded --perf wide.data --event nonsense -o file
ok "the message names the unknown event" says "no event 'nonsense'" err
ok "an unknown event leaves the output file alone" cmp whole file
ok "an unknown command exits 1" exits 1 "$zcost" export folded --perf wide.data --comm nonsense
ok "an unknown format is a usage error" exits 2 "$zcost" export nonsense --perf wide.data
ok "the message names the command that lists the formats" says "no format 'nonsense'; 'zcost export --help' lists the formats$" err
ok "export without a source is a usage error" exits 2 "$zcost" export folded
ok "an unknown --weight is a usage error" exits 2 "$zcost" export folded --perf wide.data --weight x
head -c "$(($(wc -c <wide.data) * 9 / 10))" wide.data >torn.data
ok "a truncated file exits 4" exits 4 "$zcost" export folded --perf torn.data
ok "a truncated file gives the stacks before the cut" test -s out
ok "the message names the offset of the cut" says 'torn.data: .*at offset' err

# The store of a capture gives the same lines as the file.
. "$tests/capture.sh"
run() { # DIR VARIANT SIDE
	run_json "$1" "$2" profile 1 "$3" none '{"name": "perf", "state": "ok", "files": ["perf.data"]}'
	sed -i 's/"start_ns": [0-9]*/"start_ns": 1/; s/"end_ns": [0-9]*/"end_ns": 9000000000000000000/; s/"cpus": "1"/"cpus": ""/' "$1/run.json"
	cp wide.data "$1/perf.data"
}
run single v receiver
mkdir -p single/hosts/vm
cp /proc/kallsyms single/hosts/vm/
cp /sys/kernel/notes single/hosts/vm/notes
"$zcost" analyze single >log 2>&1
"$zcost" export folded single 2>err | grep -v '\[vdso\]' >store.out
mkdir -p none
"$zcost" export folded --perf wide.data --kallsyms /proc/kallsyms --symfs "$PWD/none" 2>err |
	grep -v '\[vdso\]' >file.out
ok "the store gives the same lines as the file" cmp store.out file.out
ok "the store has names of kernel functions" says '_syscall_64;' store.out

run cap/runs/v/profile-01/receiver v receiver
run cap/runs/v/profile-01/sender v sender
manifest cap v v/profile/1/ok
"$zcost" analyze cap >log 2>&1
"$zcost" export folded cap >out 2>err
sed -n 's/^v\/receiver;//p' out >receiver.out
ok "each line of a capture with two sides begins with the variant and the side" test "$(grep -c '^v/sender;' out)" -gt 10 -a \
	"$(wc -l <out)" = "$((2 * $(wc -l <receiver.out)))"
"$zcost" export folded cap --side receiver >out 2>err
ok "--side exports one side without a prefix" cmp out receiver.out
script_sides() { # the outermost frame is the variant and the side; in folded it stands before the command
	"$zcost" export perf-script cap 2>err | sed -nE '/^\s+0 v\/(receiver|sender) \(zcost\)$/p' | sort | uniq -c >got
	test "$(wc -l <got)" = 2
}
ok "perf-script of two sides has the variant and the side as the outermost frame" script_sides
ok "an unknown variant exits 1" exits 1 "$zcost" export folded cap --variant w

done_testing
