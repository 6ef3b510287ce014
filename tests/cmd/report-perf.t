#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compares the tables of a recording with its samples, self and total share of every symbol, and with perf script.
. "$(dirname "$0")/../lib.sh"
. "$tests/perfdata.sh"

need perf taskset
perf record -q -e cpu-clock -o probe.data true 2>/dev/null ||
	skip_all "perf cannot record here (root, or kernel.perf_event_paranoid)"

cat >load.sh <<'END'
taskset -c 0 find /usr/share/doc 2>/dev/null | sort | cksum >/dev/null
dd if=/dev/zero bs=64k count=400 2>/dev/null | cksum >/dev/null
perl -e 'sub r { my $n = shift; return $n < 2 ? $n : r($n - 1) + r($n - 2) } r(18)'
perl -MSocket -e 'socket(S, AF_INET, SOCK_DGRAM, 0) && bind(S, pack_sockaddr_in(0, INADDR_LOOPBACK)); $to = getsockname S;
	while (((times)[1]) < 0.1) { send(S, "x", 0, $to); recv(S, $_, 9, 0) }'
perl -e 'while (((times)[1]) < 0.05) { $x = "x" x 5e7; undef $x }'
perl -e 'while (((times)[2] + (times)[3]) < 0.2) { system("ls -l /usr/bin >/dev/null") && last }'
END
record() { lossless perf.data perf record -q $(buffer 32) --sample-cpu -g -F 2000 -e cpu-clock -o perf.data -- sh load.sh >/dev/null 2>&1; }
ok "perf records the load" record
# perfdata-exact.t compares these sums over all samples with perf report. Names of addresses are left out.
"$dump" functions perf.data >dump.tsv
exits 0 "$zcost" report functions --perf perf.data --all --format tsv && mv out ours.tsv
as_dump() {
	awk -F'\t' '
		function key(symbol, dso) { sub(/ \([0-9a-f]+\)$/, "", dso); sub(/.*\//, "", dso); return symbol "\t" dso }
		function differ(x, y) { return (x - y) ^ 2 > 1e-12 }
		NR == FNR { sum += $6; if (!$4 || $3 == "[unknown]") { k = key($3, $2); n[k] += $5; self[k] += $6; total[k] += $7 } next }
		FNR > 1 && $1 !~ /^(.*[+])?0x[0-9a-f]+$/ { k = key($1, $2); n[k] -= $3; share[k] += $4; all[k] += $5 }
		END { for (k in n) if (n[k] || differ(share[k], 100 * self[k] / sum) || differ(all[k], 100 * total[k] / sum)) { print k; bad++ }
			exit bad || length(n) < 100 }' dump.tsv ours.tsv
}
ok "report functions has every symbol of the samples, self and total, and no other" as_dump
"$zcost" report functions --perf perf.data --all --addresses --format tsv >each.tsv 2>/dev/null
in_no_mapping() { awk -F'\t' -v row="$1" '$2 == "[unknown]" && $1 ~ row { s += $3 } END { print s + 0 }' "$2"; }
ok "--addresses has the samples of [unknown] by address" test "$(in_no_mapping . each.tsv) $(in_no_mapping '^\[' each.tsv)" = "$(in_no_mapping . ours.tsv) 0"
ok "with --addresses all rows are those of perf report" perl "$compare" perf.data "$dump" --addresses
ok "self shares add up to 100 %" near "$(awk -F'\t' 'NR > 1 { s += $4 } END { print s }' ours.tsv)" 100 1e-4
"$zcost" report functions --perf perf.data --all --rate 1e6 --cpu 0 --format tsv >cpu0.tsv 2>/dev/null
ok "self costs add up to the basis" near "$(awk -F'\t' 'NR > 1 { s += $6 } END { print s }' cpu0.tsv)" 1000 1e-3
exits 0 "$zcost" report functions --perf perf.data --all --rate 1e6 --cpu 0,4000-4002 --format tsv
ok "--cpu ignores CPUs without samples" cmp out cpu0.tsv
ok "a note names the CPUs without samples" says 'CPU 4000-4002 has no sample' err
ok "--cpu with no CPU that has samples exits 1" exits 1 "$zcost" report functions --perf perf.data --cpu 4000
ok "the message lists the CPUs with samples" says 'its CPUs are 0' err
for by in comm module cpu context component; do
	"$zcost" report functions --perf perf.data --by $by --all --format tsv >by.tsv 2>/dev/null
	ok "self shares with --by $by add up to 100 %" near "$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "self_share") c = i
		next } { s += $c } END { print s }' by.tsv)" 100 1e-4
	"$zcost" report components --perf perf.data --by $by --format tsv >by.tsv 2>/dev/null
	ok "component shares with --by $by add up to 100 %" near "$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "self_share") c = i
		next } { s += $c } END { print s }' by.tsv)" 100 1e-4
done

# Other programs may have impossible addresses in their chains. perf script leaves these chains out.
perf script --no-inline --comms perl -i perf.data -F comm,ip,sym >script 2>/dev/null
# From the leaf on: a softirq, and then a system call or the program before any interrupt.
softirqs_as_perf() {
	perl -00 -ne '
		my ($softirq, $outer) = (0, "");
		for (/^\s+([0-9a-f]+ \S+)/gm) {
			if (/ (__do_softirq|handle_softirqs|do_softirq.*)$/) { $softirq = 1 }
			elsif (/^(?!ffff)|(do_syscall_64$| asm_| sysvec_| common_interrupt$)/) { $outer = $1 // "program"; last }
		}
		$n{$outer =~ /do_syscall_64|program/ ? "softirq in syscall" : "softirq"}++ if $softirq;
		END { print "$_\t$n{$_}\n" for sort keys %n }' script >perf.softirqs
	"$zcost" report contexts --perf perf.data --comm perl --format tsv 2>err | grep ^softirq | cut -f 1,2 | sort >our.softirqs
	grep -q in.syscall perf.softirqs && cmp our.softirqs perf.softirqs
}
if [ "$(uname -m)" = x86_64 ]; then
	ok "contexts tells softirqs in system calls from others, as the call chains of perf script do" softirqs_as_perf
else
	skip "contexts tells softirqs in system calls from others, as the call chains of perf script do" "names of x86_64"
fi

# Of several matches in a chain, the outermost has the caller and the innermost the callee.
relatives_as_perf() { # relatives_as_perf TABLE FUNCTION
	table=$1 of=$2 perl -00 -ne '
		my @chain = /^\s+[0-9a-f]+ (\S+)/gm;
		my @at = grep { $chain[$_] eq $ENV{of} } 0 .. $#chain or next;
		$n{$ENV{table} eq "callers" ? $chain[$at[-1] + 1] // "[no caller]" : $at[0] ? $chain[$at[0] - 1] : "[self]"}++;
		END { print "$_\t$n{$_}\n" for keys %n }' script | sort >perf.relatives
	"$zcost" report "$@" --perf perf.data --comm perl --format tsv --all 2>err | awk -F'\t' '
		NR > 1 { n[$1 ~ /^(.*[+])?0x[0-9a-f]+$/ ? "[unknown]" : $1] += $3 } END { for (k in n) print k "\t" n[k] }' | sort >our.relatives
	[ -s perf.relatives ] && cmp our.relatives perf.relatives
}
for f in handle_mm_fault udp_sendmsg __local_bh_enable_ip; do
	for table in callers callees; do
		ok "$table of $f has the samples of perf script" relatives_as_perf $table $f
	done
done

# SQL on the store of a capture gives the same shares as the report.
. "$tests/capture.sh"
run_json run v profile 1 receiver none '{"name": "perf", "state": "ok", "files": ["perf.data"]}'
sed -i 's/"start_ns": [0-9]*/"start_ns": 1/; s/"end_ns": [0-9]*/"end_ns": 9000000000000000000/; s/"cpus": "1"/"cpus": ""/' run/run.json
cp perf.data run/
ok "analyze of the recording as a run exits 0" exits 0 "$zcost" analyze run
exits 0 "$zcost" report functions run --all --basis wall --format tsv
awk -F'\t' 'NR > 1 && $3 > 0 && $1 !~ /^(.*[+])?0x[0-9a-f]+$/ { printf "%s\t%d\t%.6f\n", $1, $3, $4 }' out | sort >report.tsv
sqlite3 -separator "$(printf '\t')" run/zcost.db "SELECT s.name, SUM(c.samples),
	printf('%.6f', 100.0 * SUM(c.weight) / (SELECT SUM(weight) FROM cost))
	FROM cost c JOIN frame f ON f.id = c.frame JOIN symbol s ON s.id = f.symbol
	WHERE NOT s.unresolved OR s.name = '[unknown]' GROUP BY s.name, s.dso" | sort >sql.tsv
ok "self shares from SQL equal report functions" cmp report.tsv sql.tsv
bare_argument() { # a perf.data as argument is that of --perf
	"$zcost" report functions --perf perf.data --all --format tsv >named 2>/dev/null &&
		"$zcost" report functions perf.data --all --format tsv 2>/dev/null | cmp - named &&
		"$zcost" export folded --perf perf.data >named 2>/dev/null && "$zcost" export folded perf.data 2>/dev/null | cmp - named &&
		exits 2 "$zcost" report functions perf.data run
}
ok "report and export take a perf.data as argument, and no capture beside it" bare_argument
ok "callers without a function is a usage error" exits 2 "$zcost" report callers --perf perf.data
ok "the message asks for the function" says 'callers of which function' err

# A truncated profile is a loss in every table that reads it.
truncate -s 500 run/perf.data
ok "analyze of a truncated profile exits 4" exits 4 "$zcost" analyze run
for table in functions components summary zerocopy; do
	ok "report $table of a truncated profile exits 4" exits 4 "$zcost" report $table run --format tsv
	ok "report $table names the truncated file" says '^zcost: lossy: v receiver: .*the file ends before its data does|lossy: perf: .*ends before' err
done
exits 4 "$zcost" report functions run --format tsv
ok "report functions says that the profile has no usable samples" says 'no samples: the profile of 1 run has none that can be used' err
sed -i 's/"state": "ok", "files": \["perf.data"\]/"state": "unsupported", "files": []/' run/run.json
rm run/perf.data
"$zcost" analyze run >/dev/null 2>&1
ok "report functions exits 0 for a run without a profile" exits 0 "$zcost" report functions run --format tsv
ok "report functions says that no run was profiled" says 'no samples: no run was profiled' err

# Names as tables print them are filters too, though they look like globs.
of() { exits 0 "$zcost" report functions --perf perf.data "$@" --format tsv && [ "$(wc -l <out)" -gt 1 ]; }
ok "--dso takes the name of an object in brackets" of --dso '[kernel.kallsyms]'
ok "--dso takes a glob" of --dso '*kallsyms*'
ok "--comm with an unknown command exits 1" exits 1 "$zcost" report functions --perf perf.data --comm nosuch
ok "the message names the unknown command" says 'has no row: nothing matches --comm nosuch' err
mkdir -p nofile
folder() { exits 1 "$zcost" report functions --perf nofile && says "nofile: has no file 'data', .* without --perf" err; }
ok "--perf with a folder that is no recording says that a capture needs no --perf" folder
for option in --kallsyms --vmlinux --symfs --buildid-dir; do
	ok "$option with a missing path exits 1" exits 1 "$zcost" report functions --perf perf.data $option nowhere
done
ok "the message names the missing path" says 'buildid-dir nowhere: No such file' err

# A truncated file has a message, and the samples before the cut count.
head -c "$(($(wc -c <perf.data) * 2 / 3))" perf.data >torn.data
"$zcost" report functions --perf torn.data >out 2>err
code=$?
ok "a truncated file exits 4 or 1" test $code = 4 -o $code = 1
ok "a truncated file has a message" sh -c "cat out err | grep -Eq 'torn.data|truncated|ends'"

done_testing
