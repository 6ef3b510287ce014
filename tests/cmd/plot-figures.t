#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost plot: the numbers that are drawn are those of zcost report, and what is said of them holds.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"
. "$tests/plot.sh"

make_capture cap || { cat analyze.log; exit 1; }

# cells FILE COLUMN KEY=VALUE...: a column of the rows of a tsv that match, by name.
cells() {
	f=$1
	want=$2
	shift 2
	awk -F '\t' -v want="$want" -v keys="$*" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(keys, key, " "); next }
		{ for (i = 1; i <= n; i++) { split(key[i], kv, "="); gsub("~", " ", kv[2])
			if ($at[kv[1]] != kv[2]) next }
		  print $at[want] }' "$f"
}

# same_figures DRAWN REPORTED: two columns of numbers are equal and not empty
same_figures() {
	[ -n "$1" ] && [ "$1" = "$2" ] || { printf 'drawn:\n%s\nreported:\n%s\n' "$1" "$2"; return 1; }
}

report() {
	"$zcost" report "$@" --format tsv 2>/dev/null
}

says_title() { # says_title PATTERN SVG
	says "<title>[^<]*$1" "$2"
}

ok "all charts of a capture" exits 0 "$zcost" plot cap -o slides --format svg --power-model idle=230,per_cpu=3.5
report summary cap >summary.tsv
report cpu cap >cpu.tsv
report components cap --all >components.tsv
report functions cap --side receiver --by variant,side --limit 100 >functions.tsv
report roi cap --power-model idle=230,per_cpu=3.5 >roi.tsv

"$zcost" compare baseline mmap -C cap --table waterfall --limit 8 --format tsv >waterfall.tsv 2>/dev/null
chained() { # each step stands where the one before ended, and the last bar is as high
	awk -F '\t' 'NR == 2 { at = $5 } NR > 2 { if ($4 && ($4 - at) ^ 2 > 1e-12) bad = bad " " $4; last = at; at = $5 }
		END { if (bad || NR < 5 || (last - at) ^ 2 > 1e-12) { print "broken at" bad " " last " " at; exit 1 } }' "$1"
}
ok "the waterfall begins at the base" same_figures "$(cells slides/waterfall.tsv value variant=baseline)" \
	"$(cells waterfall.tsv total_ns step=base:~baseline)"
ok "ends at the new" same_figures "$(cells slides/waterfall.tsv value variant=mmap)" \
	"$(cells waterfall.tsv total_ns step=new:~mmap)"
ok "its steps are compare's" near "$(cells slides/waterfall.tsv value variant=data~copy)" \
	"$(cells waterfall.tsv delta_ns step=data~copy)" 1e-6
ok "and are joined" chained slides/waterfall.tsv
ok "its title has both ends" says_title 'From baseline to mmap: ' slides/waterfall.svg
ok "the third variant is named as left out" says 'Not in this chart: uring' slides/waterfall.svg
ok "and is not spoken of" sh -c "! grep 'uring: every byte' slides/waterfall.svg"
ok "the sender of one variant alone has none" says 'waterfall_sender: not drawn: mmap has no profile of its sender' err

for v in baseline mmap uring; do
	ok "throughput of $v as reported" same_figures \
		"$(cells slides/throughput.tsv value variant=$v)" \
		"$(cells summary.tsv throughput_gbps variant=$v side=receiver)"
	ok "and its interval" same_figures \
		"$(cells slides/throughput.tsv lo variant=$v) $(cells slides/throughput.tsv hi variant=$v)" \
		"$(cells summary.tsv throughput_lo variant=$v side=receiver) $(cells summary.tsv throughput_hi variant=$v side=receiver)"
	ok "CPU use of $v as reported" same_figures \
		"$(cells slides/cpu.tsv value variant=$v side=sender part=system)" \
		"$(cells cpu.tsv sys_pct variant=$v side=sender)"
	ok "its whole too" same_figures \
		"$(cells slides/cpu.tsv value variant=$v side=sender part=all)" \
		"$(cells cpu.tsv busy_pct variant=$v side=sender)"
	ok "data copy of $v as reported" same_figures \
		"$(cells slides/components.tsv value variant=$v side=receiver part=data~copy)" \
		"$(cells components.tsv self_ns variant=$v side=receiver component=data~copy)"
	ok "a function of $v as reported" same_figures \
		"$(cells slides/functions.tsv value variant=$v symbol=tcp_recvmsg_locked)" \
		"$(cells functions.tsv self_ns variant=$v symbol=tcp_recvmsg_locked)"
	for side in receiver sender total; do
		ok "T²/C of $v, $side" same_figures \
			"$(cells slides/roi_c.tsv value variant=$v side=$side)" \
			"$(cells roi.tsv roi_c variant=$v side=$side)"
		ok "T²/P of $v, $side" same_figures \
			"$(cells slides/roi_p.tsv value variant=$v side=$side)" \
			"$(cells roi.tsv roi_p variant=$v side=$side)"
	done
done

# By hand: the median of six runs of 10 Gbit/s to 0.5 % more is 0.25 % more; half a CPU is 50 %.
ok "throughput in Gbit/s" near "$(cells slides/throughput.tsv value variant=baseline)" 10.025 1e-6
ok "T²/C of the receiver" near "$(cells slides/roi_c.tsv value variant=baseline side=receiver)" 2.01 0.001
ok "ns per KiB add up to the basis" near "$(cells slides/components.tsv value variant=baseline side=receiver part=all)" \
	"$(awk 'BEGIN { print 1.5e9 / (3 * 1253125000 / 1024) }')" 0.05
ok "a function that vanished has no bar" test -z "$(cells slides/functions.tsv value variant=baseline symbol=insert_page_into_pte_locked)"
ok "a side without a profile has none either" test -z "$(cells slides/components.tsv value variant=mmap side=sender)"

ok "the claim that holds is the title" says_title 'mmap: 2.0× the throughput of baseline' slides/throughput.svg
ok "also of data copy" says_title 'mmap, receiver: data copy 327 → 4.01 ns per KiB, in all 409 → 204' slides/components.svg
for c in throughput cpu components functions functions_sender roi_c roi_p; do
	ok "$c says what copied" says 'uring: every byte was copied \(not zero copy\)' slides/$c.svg
	ok "$c has its foot note" says 'n = [16] [a-z]* runs? per variant.*vm · Linux 6.18.0 · hand-made · 2026-01-31' slides/$c.svg
done
ok "modelled power is in the title" says_title 'T²/P: throughput² per watt \(power modelled, not measured\)' slides/roi_p.svg
ok "and stands beside each figure" test "$(cells slides/roi_p.tsv power_source | sort | uniq -c | awk '{ print $1 $2 }')" = 9modelled
ok "and in the foot note" says 'Power is modelled, not measured: 230 W idle [+] 3.5 W per busy CPU' slides/roi_p.gp

profile_of 910 uring receiver 700 250 0 | sed "s/'profile', 1/'profile', 2/" | sqlite3 cap/zcost.db
ok "profiles of one variant alone twice" exits 0 "$zcost" plot cap components -o twice --format svg
ok "are no n = 1" says 'n = 1 to 2 profiled runs per variant, whiskers: 95 % interval ·' twice/components.svg

evidence mmap 0 1000000 | sqlite3 cap/zcost.db
ok "drawn again after the evidence turned" exits 0 "$zcost" plot cap throughput roi_c components -o slides --format svg
ok "no gain is claimed for what copied" says_title 'Throughput by variant' slides/throughput.svg
ok "a loss is" says_title 'uring: 0.68× the T²/C of baseline' slides/roi_c.svg
ok "nor of data copy" says_title 'What one KiB costs' slides/components.svg
ok "the caption says it" says 'mmap, uring: every byte was copied' slides/roi_c.svg

# A workload that counts packets, or messages.
for unit in packet message; do
	rm -rf counted
	cp -r cap counted
	sqlite3 counted/zcost.db "DELETE FROM metric WHERE name IN ('bytes', 'throughput', 'rate_${unit}s');
		UPDATE metric SET name = 'rate_${unit}s' WHERE name = 'rate_kib'"
	ok "costs per $unit" exits 0 "$zcost" plot counted components functions throughput -o per_$unit --format svg
	ok "throughput: ${unit}s" says "label .${unit}s per second." per_$unit/throughput.gp
	ok "as reported" same_figures "$(cells per_$unit/throughput.tsv value variant=mmap)" \
		"$(report summary counted | cells - rate_${unit}s variant=mmap side=receiver)"
	ok "no gain in them for what copied" says_title 'Throughput by variant' per_$unit/throughput.svg
	ok "components: its title" says_title "What one $unit costs, by component" per_$unit/components.svg
	for c in components functions; do
		ok "$c: its axis" says "label .ns per $unit." per_$unit/$c.gp
		ok "$c: its subtitle" says "CPU time .* per $unit moved" per_$unit/$c.gp
		ok "$c: nothing of KiB" sh -c "! grep KiB per_$unit/$c.gp"
	done
done

# What a unit costs in all did change, but not for sure: two of the base's runs are as cheap.
cp -r cap unsure
{ evidence mmap 998000 2000; echo "UPDATE metric SET value = value / 3 WHERE name = 'cpu_pct' AND run IN (SELECT id FROM run
	WHERE variant = 'baseline' AND side = 'receiver' AND pass = 'measure' AND repeat < 3);"; } | sqlite3 unsure/zcost.db
ok "a total that is not sure" exits 0 "$zcost" plot unsure components -o unsure-slides --format svg
ok "is not in the title" says_title 'mmap, receiver: data copy [0-9.]* → [0-9.]* ns per KiB<' unsure-slides/components.svg
ok "nor better by compare" sh -c "'$zcost' compare baseline mmap -C unsure --format tsv 2>/dev/null | awk -F'\t' '
	\$1 == \"receiver\" && \$2 == \"ns_per_kib\" { print \$11 }' | grep -Fx '~'"

# What else ran on a side's CPUs, in two runs of one side.
sqlite3 cap/zcost.db "INSERT INTO note SELECT id, 'warning', 'cpu_others', json_array(10.0 * repeat + 20)
	FROM run WHERE variant = 'mmap' AND side = 'receiver' AND pass = 'measure' AND repeat < 4"
ok "drawn with it" exits 0 "$zcost" plot cap cpu throughput roi_c components functions waterfall -o crowded --format svg
for c in cpu roi_c components functions waterfall; do
	ok "$c has it in a caption" says 'Other programs took up to 50 % of a side' crowded/$c.gp
done
ok "throughput had to do without that time" says 'Other programs took up to 50 % .*, which these figures may suffer from' crowded/throughput.gp

# A run that stood still, and one whose sides were measured at different times.
sqlite3 cap/zcost.db "INSERT INTO note SELECT id, 'warning', 'workload_stalled', json_array(0.1 * repeat, 3.0, 0.1, 1.0)
	FROM run WHERE variant = 'mmap' AND side = 'receiver' AND pass = 'measure' AND repeat < 4;
	INSERT INTO note SELECT id, 'warning', 'windows_apart', json_array(30.0, 1.0, 3.0, '')
	FROM run WHERE variant = 'uring' AND pass = 'measure' AND repeat = 2"
ok "drawn with these" exits 0 "$zcost" plot cap throughput roi_c cpu -o disturbed --format svg
for c in throughput roi_c; do
	ok "$c says what stood still" says "Disturbed: mmap receiver stood still for 0.10 s of the window's 3.00 s" disturbed/$c.svg
	ok "and whose sides are apart" says "Disturbed: uring: the windows of the two sides are 30.0 ms apart" disturbed/$c.svg
done
ok "CPU use is not the workload's account" sh -c '! grep stalled disturbed/cpu.svg'
ok "a chart without that variant" exits 0 "$zcost" plot cap throughput -o calm --format svg --new uring
ok "has nothing of it" sh -c '! grep stalled calm/throughput.svg'

# A variant of which no run succeeded, and one whose profile has no costs.
cp -r cap failed
sqlite3 failed/zcost.db "UPDATE run SET status = 'failed' WHERE variant = 'mmap';
	DELETE FROM metric WHERE name LIKE 'rate_%' AND run IN (SELECT id FROM run WHERE variant = 'uring')"
ok "a variant that never ran" exits 0 "$zcost" plot failed throughput components functions -o failed-slides --format svg
for c in throughput components functions; do
	ok "$c says so" says 'mmap: no run succeeded' failed-slides/$c.svg
	ok "and nothing of evidence" sh -c "! grep 'mmap[^·]*: no evidence' failed-slides/$c.svg"
done
ok "samples without a cost are no missing samples" says 'Profiled, but its cost per unit of work is not known: uring' failed-slides/functions.svg
ok "nor a bar" test -z "$(cells failed-slides/functions.tsv value variant=uring)"
ok "the base that never ran is said too" exits 0 "$zcost" plot failed throughput -o failed-base --format svg --base mmap
ok "by the same words" says 'mmap: no run succeeded' failed-base/throughput.svg

# Another base and one other: the same colours, in this order.
colour() {
	grep boxxyerror "$1" | grep -o "fillcolor rgb '#[0-9a-f]*'" | sed -n "$2p"
}
before=$(colour slides/throughput.gp 3)
ok "a base and one other" exits 0 "$zcost" plot cap throughput functions -o pair --format svg --base uring --new baseline
ok "two bars" test "$(wc -l <pair/throughput.tsv)" = 3
ok "in that order" test "$(cut -f 10 pair/throughput.tsv | tr '\n' ' ')" = "variant uring baseline "
ok "a variant keeps its colour" test "$(colour pair/throughput.gp 1)" = "$before"
ok "one alone" exits 0 "$zcost" plot cap throughput -o alone --format svg --variant uring
ok "keeps its colour too" test "$(colour alone/throughput.gp 1)" = "$before"
ok "the title names both" says_title 'uring against baseline' pair/functions.svg

done_testing
