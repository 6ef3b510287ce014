#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compares report hotspots with perf annotate, instruction by instruction, from a file and from a capture.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"

HOME=$scratch/home # no cache of build-ids explains what is to stay unexplained
export HOME
need perf
cat >burn.c <<'E2'
static volatile unsigned long sink; // three divisions: samples gather behind slow instructions
__attribute__((noinline)) static unsigned long hot(unsigned long n)
{
	unsigned long s = 0, i;
	for (i = 1; i < n; i++)
		s += s / i + i * i, s += (s ^ i) / (i + 3), s ^= s / (i + 7);
	return s;
}
int main(void) { int i; for (i = 0; i < 4; i++) sink += hot(10000000); return 0; }
E2
${CC:-cc} -g -O1 -o burn burn.c
perf record -q -N -g -k CLOCK_MONOTONIC -e cpu-clock -F 4000 -o burn.data ./burn 2>/dev/null ||
	skip_all "perf cannot record here (root, or kernel.perf_event_paranoid)"

columns='NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }'
"$zcost" report hotspots hot --perf burn.data --all --format tsv >hot 2>err
"$zcost" report functions --perf burn.data --symbol hot --format tsv >function 2>/dev/null

start=$(objdump -d burn | awk '/<hot>:/ { print $1 }')
annotated() { # prints "offset percent" of every instruction with 1 % and more
	perf annotate -i burn.data --stdio -s hot 2>/dev/null | perl -ne '
		printf "+0x%x %.2f\n", hex($2) - hex("'"$start"'"), $1 if /^\s*(\d+\.\d+) :\s+([0-9a-f]+):/ && $1 >= 1' | sort
}
ours() { awk -F'\t' "$columns"' sprintf("%.2f", $at["function_share"]) >= 1 { printf "%s %.2f\n", $at["offset"], $at["function_share"] }' hot | sort; }
same_as_annotate() {
	annotated >theirs
	ours >mine
	[ -s theirs ] && diff theirs mine
}
ok "the share of each instruction equals perf annotate" same_as_annotate
ok "the samples of the instructions add up to the function's samples" test \
	"$(awk -F'\t' "$columns"' { n += $at["samples"] } END { print n }' hot)" = \
	"$(awk -F'\t' "$columns"' { print $at["samples"] }' function)"
same_as_objdump() { # compares the mnemonic at each offset
	awk -F'\t' "$columns"' { print $at["offset"], $at["instruction"] }' hot | while read -r offset mnemonic _; do
		at=$(perl -e 'printf "%x", hex($ARGV[0]) + hex(substr $ARGV[1], 1)' "$start" "$offset")
		objdump -d --no-show-raw-insn burn | grep -E "^ +$at:" | awk '{ print $2 }' >there
		# objdump leaves out a size suffix that a register implies
		case $mnemonic in "$(grep . there || echo none)"*) ;; *) echo "$offset $mnemonic, objdump: $(cat there)"; exit 1 ;; esac
	done
}
ok "the instruction at each offset equals objdump" same_as_objdump
ok "each row has its source line" says '	burn\.c:[67]$' hot
ok "--limit keeps the most expensive instructions" sh -c "'$zcost' report hotspots hot --perf burn.data --format tsv --limit 2 2>err |
	awk -F'\t' 'NR > 1 { if (NR > 2 && \$7 > last) exit 1; last = \$7; n++ } END { exit n != 2 }'"
ok "--rate gives costs per packet" sh -c "'$zcost' report hotspots hot --perf burn.data --rate 1000 2>err | grep -q 'ns/packet'"
# 2e9 cycles over 1e6 units are 2000 cycles per unit. The function has its share of them.
share=$(awk -F'\t' "$columns"' { print $at["self_share"] }' function)
in_cycles() { # in_cycles FILE: prints the sum of the rows
	awk -F'\t' "$columns"' { n += $at["self_cycles"] } END { print n }' "$1"
}
cycles_of_share=$(awk -v p="$share" 'BEGIN { print p / 100 * 2000 }')
"$zcost" report hotspots hot --perf burn.data --all --in cycles --cycles 2e9 --units 1e6 --format tsv >cycles 2>err
ok "costs in cycles add up to the function's cycles" near "$(in_cycles cycles)" "$cycles_of_share" 1
ok "the sum of the function is in cycles" says 'hot: self .* cycles/packet; basis given: 2000.0 cycles/packet' err
ok "a note says which event divides the cycles" says 'cpu-clock counts no cycles; the costs divide the cycles by its samples' err
ok "--in instructions gives costs in instructions" sh -c "'$zcost' report hotspots hot --perf burn.data --in instructions --instructions 1e9 \
	--units 1e6 --format tsv 2>/dev/null | head -n 1 | grep -q self_instructions_ci"
ok "report hotspots without a function is a usage error" exits 2 "$zcost" report hotspots --perf burn.data
ok "report hotspots with an unknown function exits 1" exits 1 "$zcost" report hotspots cold --perf burn.data
ok "the message names the unknown function" says "no sample is in a function 'cold'" err
ok "report hotspots refuses --comm" exits 2 "$zcost" report hotspots hot --perf burn.data --comm burn
ok "report hotspots refuses --perf-report" sh -c "perf report -i burn.data --stdio 2>/dev/null | '$zcost' report hotspots hot --perf-report - 2>err; test \$? = 2"

# A capture copies the object, and its analysis stores instructions and code. The report needs neither file.
run_json single v profile 1 receiver none '{"name": "perf", "state": "ok", "files": ["perf.data"]}'
sed -i 's/"start_ns": [0-9]*/"start_ns": 1/; s/"end_ns": [0-9]*/"end_ns": 9000000000000000000/; s/"cpus": "1"/"cpus": ""/' single/run.json
perf record -q -N -g --buildid-mmap -k CLOCK_MONOTONIC -e cpu-clock -F 4000 -o single/perf.data ./burn 2>/dev/null
id=$(readelf -n burn | awk '/Build ID/ { print $3 }')
mkdir -p "single/hosts/vm/dso/$id"
cp burn "single/hosts/vm/dso/$id/"
cp single/perf.data bare.data
"$zcost" analyze single >log 2>&1
"$zcost" report hotspots hot --perf bare.data --all --format tsv >bare 2>/dev/null
rm -r single/hosts single/perf.data
"$zcost" report hotspots hot single --all --format tsv 2>err >stored
cells() { awk -F'\t' "$columns"' { print $at["offset"], $at["samples"], $at["function_share"], $at["instruction"], $at["source"] }' "$1"; }
ok "report hotspots of a store has rows without the recording" sh -c "test \$(wc -l <stored) -gt 1"
cells bare >bare.cells
cells stored >stored.cells
ok "a store gives the same rows as the recording, with code and lines" cmp bare.cells stored.cells
cp -r single foreign
for arch in "'vax'" NULL; do
	sqlite3 foreign/zcost.db "UPDATE code SET arch = $arch"
	"$zcost" report hotspots hot foreign --all --format tsv 2>err >unread
	ok "code of the machine $arch has offsets and samples without instructions" \
		awk -F'\t' "$columns"' $at["instruction"] != "" || !($at["samples"] >= 0) { bad = 1 } END { exit bad || NR < 2 }' unread
done
sqlite3 single/zcost.db "INSERT OR REPLACE INTO metric (run, name, object, value) VALUES (1, 'counter', 'cycles', 4e9),
	(1, 'seconds', NULL, 2), (1, 'rate_kib', NULL, 1e6)"
"$zcost" report hotspots hot single --all --in cycles --format tsv 2>err >stored
ok "counted cycles give a cost of 2000 cycles per KiB" near "$(in_cycles stored)" \
	"$(awk -F'\t' "$columns"' { n += $at["self_share"] } END { print n / 100 * 2000 }' stored)" 1
ok "the basis says that the cycles were counted" says 'basis counted: 2000.0 cycles/KiB' err
ok "the basis says that no run counted instructions" sh -c "'$zcost' report hotspots hot single --in instructions --verbose 2>&1 |
	grep -q 'basis none: no run counted both its work and the events'"

strip -o stripped burn
perf record -q -N -g -e cpu-clock -F 1000 -o lost.data ./stripped 2>/dev/null
ok "a function without a name exits 1" exits 1 "$zcost" report hotspots hot --perf lost.data
cp burn.data moved.data
mv burn burnt
ok "a function of a program that is gone exits 1" exits 1 "$zcost" report hotspots hot --perf moved.data
mv burnt burn

# Reads the kernel's code from a core file beside the recording, as perf record --kcore writes it.
perf record -q -e cpu-clock:k -F 4000 -o kernel.data -- dd if=/dev/zero of=/dev/null bs=1M count=4000 2>/dev/null
name=$("$zcost" report functions --perf kernel.data --dso '[kernel*' --format tsv 2>/dev/null | awk -F'\t' 'NR == 2 { print $1 }')
address=$(awk -v f="$name" '$3 == f && !$4 { print $1; exit }' /proc/kallsyms)
if [ -n "$address" ] && [ "$address" != 0000000000000000 ]; then
	mkdir -p kernel.dir/kcore_dir
	mv kernel.data kernel.dir/data
	cp /proc/kallsyms kernel.dir/kcore_dir/ && cp /sys/kernel/notes kernel.dir/kcore_dir/
	# writes nops; the test checks only that the core file is read
	perl -e 'print pack("a4C5x7vvVQQQVvvvvvv", "\x7fELF", 2, 1, 1, 0, 0, 4, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0),
		pack("VVQQQQQQ", 1, 5, 4096, hex $ARGV[0], 0, 1 << 20, 1 << 20, 4096), "\0" x (4096 - 120), "\x90" x (1 << 20)' \
		"$address" >kernel.dir/kcore_dir/kcore
	"$zcost" report hotspots "$name" --perf kernel.dir --format tsv >khot 2>err
	ok "kcore gives the kernel's instructions" sh -c "awk -F'\t' 'NR > 1 && \$12 == \"nop\" { n++ } END { exit !n }' khot"
	rm kernel.dir/kcore_dir/kcore
	"$zcost" report hotspots "$name" --perf kernel.dir --format tsv >khot 2>err
	ok "the kernel's rows without kcore have offsets alone" sh -c "awk -F'\t' 'NR > 1 && \$5 ~ /^\+0x/ && \$12 == \"\" { n++ } END { exit !n }' khot"
else
	skip "kcore gives the kernel's instructions" "no kernel symbols here"
	skip "the kernel's rows without kcore have offsets alone" "no kernel symbols here"
fi

done_testing
