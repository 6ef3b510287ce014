#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost plot: the numbers that are drawn are those of zcost report, and what is said of them holds.
. "$(dirname "$0")/../lib.sh"
. "$tests/plot.sh"

make_capture cap || { cat analyze.log; exit 1; }
# One profiled run has no interval, and nothing is claimed: the second and third profiles are like the first.
profiles() { # profiles CAPTURE NUMBER...: adds profiles like the first
	capture=$1
	shift
	for i; do
		sqlite3 $capture/zcost.db "INSERT INTO run SELECT id + ${i}000, variant, pass, repeat + $i, side, host, command, cpus, ncpus,
				start_ns, end_ns, position + $i, status, why, role FROM run WHERE pass = 'profile' AND id < 1000;
			INSERT INTO event SELECT id + ${i}000, run + ${i}000, name, is_time, samples, weight, weight2, exact FROM event WHERE id < 1000;
			INSERT INTO cost SELECT run + ${i}000, event + ${i}000, cpu, comm, pid, tid, context, frame, samples, weight FROM cost
				WHERE run < 1000"
	done
}
profiles cap 1 2

report() {
	"$zcost" report "$@" --format tsv 2>/dev/null
}

says_title() { # says_title PATTERN SVG
	says "<title>[^<]*$1" "$2"
}

ok "plot draws all charts of a capture" exits 0 "$zcost" plot cap -o slides --format svg --power-model idle=230,per_cpu=3.5
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
ok "the waterfall begins with the base's cost" same_figures "$(cells slides/waterfall.tsv value variant=baseline)" \
	"$(cells waterfall.tsv total_ns step=base:~baseline)"
ok "the waterfall ends with the new variant's cost" same_figures "$(cells slides/waterfall.tsv value variant=mmap)" \
	"$(cells waterfall.tsv total_ns step=new:~mmap)"
ok "the waterfall's steps are those of compare" near "$(cells slides/waterfall.tsv value variant=data~copy)" \
	"$(cells waterfall.tsv delta_ns step=data~copy)" 1e-6
ok "each step of the waterfall begins where the previous one ends" chained slides/waterfall.tsv
ok "the waterfall's title names both variants" says_title 'From baseline to mmap: ' slides/waterfall.svg
ok "the waterfall says which pair it draws and how to choose another" says \
	'One pair of 3 variants: baseline and mmap; --base and --new choose' slides/waterfall.svg
ok "the waterfall's caption does not say what the third variant copied" sh -c "! grep 'uring: every byte' slides/waterfall.svg"
ok "a message says that one variant has no profile of its sender" says 'waterfall_sender: not drawn: mmap has no profile of its sender' err

for v in baseline mmap uring; do
	ok "the chart's throughput of $v is the reported one" same_figures \
		"$(cells slides/throughput.tsv value variant=$v)" \
		"$(cells summary.tsv throughput_gbps variant=$v side=receiver)"
	ok "the chart's interval of the throughput of $v is the reported one" same_figures \
		"$(cells slides/throughput.tsv lo variant=$v) $(cells slides/throughput.tsv hi variant=$v)" \
		"$(cells summary.tsv throughput_lo variant=$v side=receiver) $(cells summary.tsv throughput_hi variant=$v side=receiver)"
	ok "the chart's CPU use of $v is the reported one" same_figures \
		"$(cells slides/cpu.tsv value variant=$v side=sender part=system)" \
		"$(cells cpu.tsv sys_pct variant=$v side=sender)"
	ok "the chart's total CPU use of $v is the reported one" same_figures \
		"$(cells slides/cpu.tsv value variant=$v side=sender part=all)" \
		"$(cells cpu.tsv busy_pct variant=$v side=sender)"
	ok "the chart's data copy of $v is the reported one" same_figures \
		"$(cells slides/components.tsv value variant=$v side=receiver part=data~copy)" \
		"$(cells components.tsv self_ns variant=$v side=receiver component=data~copy)"
	ok "the chart's cost of a function of $v is the reported one" same_figures \
		"$(cells slides/functions.tsv value variant=$v symbol=tcp_recvmsg_locked)" \
		"$(cells functions.tsv self_ns variant=$v symbol=tcp_recvmsg_locked)"
	for side in receiver sender total; do
		ok "the chart's T²/C of $v, $side, is the reported one" same_figures \
			"$(cells slides/roi_c.tsv value variant=$v side=$side)" \
			"$(cells roi.tsv roi_c variant=$v side=$side)"
		ok "the chart's T²/P of $v, $side, is the reported one" same_figures \
			"$(cells slides/roi_p.tsv value variant=$v side=$side)" \
			"$(cells roi.tsv roi_p variant=$v side=$side)"
	done
done

# By hand: the median of six runs of 10 Gbit/s to 0.5 % more is 0.25 % more; half a CPU is 50 %.
ok "the chart has the throughput in Gbit/s" near "$(cells slides/throughput.tsv value variant=baseline)" 10.025 1e-6
ok "the chart has the T²/C of the receiver" near "$(cells slides/roi_c.tsv value variant=baseline side=receiver)" 2.01 0.001
ok "the components' ns per KiB add up to the total" near "$(cells slides/components.tsv value variant=baseline side=receiver part=all)" \
	"$(awk 'BEGIN { print 1.5e9 / (3 * 1253125000 / 1024) }')" 0.05
ok "a variant without samples in a function has no bar for it" test -z "$(cells slides/functions.tsv value variant=baseline symbol=insert_page_into_pte_locked)"
ok "a side without a profile has no bar" test -z "$(cells slides/components.tsv value variant=mmap side=sender)"

ok "the title has the gain that is significant" says_title 'mmap: 2.0× the throughput of baseline' slides/throughput.svg
ok "three profiled runs are too few for a claim on data copy" says_title 'What one KiB costs, by component<' slides/components.svg
cp -r cap six
profiles six 3 4 5
"$zcost" plot six components -o six-slides --format svg >log 2>&1
ok "the title of the components has the change of data copy" says_title 'mmap, receiver: data copy 327 → 4.01 ns per KiB, in all 409 → 204' six-slides/components.svg
# The runs of one variant lie after those of the other: a drift can explain what the intervals cannot.
cp -r six apart
sqlite3 apart/zcost.db "UPDATE run SET position = id + 10000 * (variant = 'mmap')"
"$zcost" plot apart throughput roi_c components -o apart-slides --format svg >log 2>&1
ok "compare says of runs that did not take turns that a drift may explain the throughput" sh -c "'$zcost' compare baseline mmap -C apart --format tsv 2>/dev/null |
	awk -F'\t' '\$1 == \"receiver\" && \$2 == \"throughput\" { print \$11 }' | grep -Fx 'drift?'"
ok "the title of the throughput then claims nothing" says_title 'Throughput by variant<' apart-slides/throughput.svg
for c in throughput cpu components functions functions_sender roi_c roi_p; do
	ok "the remark of $c says that uring copied every byte" says 'uring: every byte was copied( on the (receiver|sender))?' slides/$c.svg
	ok "$c has a foot note with runs, host and date" says 'n = [1-6] [a-z]* runs? per variant.*vm · Linux 6.18.0 · hand-made · 2026-01-31' slides/$c.svg
done
ok "the title says that power is modelled" says_title 'T²/P: throughput² per watt \(power modelled, not measured\)' slides/roi_p.svg
ok "each value of T²/P has its power source" test "$(cells slides/roi_p.tsv power_source | sort | uniq -c | awk '{ print $1 $2 }')" = 9modelled
ok "the foot note has the power model" says 'Power is modelled, not measured: 230 W idle [+] 3.5 W per busy CPU' slides/roi_p.gp

profile_of 910 uring receiver 700 250 0 | sed "s/'profile', 1/'profile', 4/" | sqlite3 cap/zcost.db
ok "plot draws components where one variant has more profiles than the others" exits 0 "$zcost" plot cap components -o twice --format svg
ok "the foot note has the range of profiled runs" says 'n = 3 to 4 profiled runs per variant, intervals of parts in the .tsv ·' twice/components.svg

evidence mmap 0 1000000 | sqlite3 cap/zcost.db
ok "plot draws the charts again after the evidence changed" exits 0 "$zcost" plot cap throughput roi_c components -o slides --format svg
ok "the title claims no gain for a variant that copied" says_title 'Throughput by variant' slides/throughput.svg
ok "the title claims a loss for a variant that copied" says_title 'uring: 0.68× the T²/C of baseline' slides/roi_c.svg
ok "the title claims no change of data copy for a variant that copied" says_title 'What one KiB costs' slides/components.svg
ok "the remark says that all variants copied" says 'baseline, mmap, uring: every byte was copied' slides/roi_c.svg

# A workload that counts packets, or messages.
for unit in packet message; do
	rm -rf counted
	cp -r cap counted
	sqlite3 counted/zcost.db "DELETE FROM metric WHERE name IN ('bytes', 'throughput', 'rate_${unit}s');
		UPDATE metric SET name = 'rate_${unit}s' WHERE name = 'rate_kib'"
	ok "plot draws costs per $unit" exits 0 "$zcost" plot counted components functions throughput -o per_$unit --format svg
	ok "the axis of throughput has ${unit}s per second" says "label .${unit}s per second." per_$unit/throughput.gp
	ok "the throughput in ${unit}s per second is the reported one" same_figures "$(cells per_$unit/throughput.tsv value variant=mmap)" \
		"$(report summary counted | cells - rate_${unit}s variant=mmap side=receiver)"
	ok "the title with ${unit}s claims no gain for a variant that copied" says_title 'Throughput by variant' per_$unit/throughput.svg
	ok "the title of the components names the $unit" says_title "What one $unit costs, by component" per_$unit/components.svg
	for c in components functions; do
		ok "the axis of $c has ns per $unit" says "label .ns per $unit." per_$unit/$c.gp
		ok "the subtitle of $c names the $unit" says "CPU time .* per $unit moved" per_$unit/$c.gp
		ok "$c per $unit does not mention KiB" sh -c "! grep KiB per_$unit/$c.gp"
	done
done

# What a unit costs in all did change, but not for sure: two of the base's runs are as cheap.
cp -r cap unsure
{ evidence mmap 998000 2000; echo "UPDATE metric SET value = value / 3 WHERE name = 'cpu_pct' AND run IN (SELECT id FROM run
	WHERE variant = 'baseline' AND side = 'receiver' AND pass = 'measure' AND repeat < 3);"; } | sqlite3 unsure/zcost.db
profiles unsure 3 4 5
ok "plot draws components whose total did not change significantly" exits 0 "$zcost" plot unsure components -o unsure-slides --format svg
ok "the title leaves out a total that did not change significantly" says_title 'mmap, receiver: data copy [0-9.]* → [0-9.]* ns per KiB<' unsure-slides/components.svg
ok "compare does not call that total better either" sh -c "'$zcost' compare baseline mmap -C unsure --format tsv 2>/dev/null | awk -F'\t' '
	\$1 == \"receiver\" && \$2 == \"ns_per_kib\" { print \$11 }' | grep -Fx '~'"

# What else ran on a side's CPUs, in two runs of one side.
sqlite3 cap/zcost.db "INSERT INTO note SELECT id, 'warning', 'cpu_others', json_array(10.0 * repeat + 20)
	FROM run WHERE variant = 'mmap' AND side = 'receiver' AND pass = 'measure' AND repeat < 4"
ok "plot draws the charts of a side with other programs" exits 0 "$zcost" plot cap cpu throughput roi_c components functions waterfall -o crowded --format svg
for c in cpu roi_c components functions; do
	ok "the caption of $c says how much time other programs took" says 'mmap receiver .*: other programs took 30 to 50 % of the side' crowded/$c.gp
done

# A run that stood still, and one whose sides were measured at different times.
sqlite3 cap/zcost.db "INSERT INTO note SELECT id, 'warning', 'workload_stalled', json_array(0.1 * repeat, 3.0, 0.1, 1.0)
	FROM run WHERE variant = 'mmap' AND side = 'receiver' AND pass = 'measure' AND repeat < 4;
	INSERT INTO note SELECT id, CASE repeat WHEN 1 THEN 'info' ELSE 'warning' END, 'windows_apart',
	json_array(1.0 + 60 * (repeat - 1), 0.1 + 2 * (repeat - 1), 3.0, '')
	FROM run WHERE variant = 'uring' AND pass = 'measure' AND repeat < 3"
ok "plot draws the charts of disturbed runs" exits 0 "$zcost" plot cap throughput roi_c cpu -o disturbed --format svg
for c in throughput roi_c; do
	ok "the caption of $c says which side stood still" says "mmap receiver .*: the workload moved less than a tenth of its usual rate for 0.10 to 0.30 s" disturbed/$c.svg
	ok "the caption of $c counts the other doubts" says "of the window's 3.00 s; [0-9] more: zcost report notes" disturbed/$c.svg
done
ok "the CPU chart has no caption about a side that stood still" sh -c "! grep 'less than a tenth' disturbed/cpu.svg"
ok "plot draws a chart without the disturbed variant" exits 0 "$zcost" plot cap throughput -o calm --format svg --new uring
ok "the caption says that the sides' windows are far apart, and leaves out windows that are 0.1 % apart" says \
	"uring .*: the windows of the two sides are 61.0 ms apart" calm/throughput.svg
ok "a chart without the disturbed variant has no caption about it" sh -c "! grep 'less than a tenth' calm/throughput.svg"

# A variant of which no run succeeded, and one whose profile has no costs.
cp -r cap failed
sqlite3 failed/zcost.db "UPDATE run SET status = 'failed' WHERE variant = 'mmap';
	DELETE FROM metric WHERE name LIKE 'rate_%' AND run IN (SELECT id FROM run WHERE variant = 'uring')"
ok "plot draws charts with a variant that has no successful run" exits 0 "$zcost" plot failed throughput components functions -o failed-slides --format svg
for c in throughput components functions; do
	ok "$c says that no run of mmap succeeded" says 'mmap: no run succeeded' failed-slides/$c.svg
	ok "$c does not say that mmap has no evidence" sh -c "! grep 'mmap[^·]*: no evidence' failed-slides/$c.svg"
done
ok "a profile without a known cost is named" says 'No profile with a cost per unit of work: uring' failed-slides/functions.svg
ok "a profile without a known cost has no bar" test -z "$(cells failed-slides/functions.tsv value variant=uring)"
ok "plot draws a chart whose base has no successful run" exits 0 "$zcost" plot failed throughput -o failed-base --format svg --base mmap
ok "the chart says that no run of the base succeeded" says 'mmap: no run succeeded' failed-base/throughput.svg

# Another base and one other: the same colours, in this order.
colour() {
	grep boxxyerror "$1" | grep -o "fillcolor rgb '#[0-9a-f]*'" | sed -n "$2p"
}
before=$(colour slides/throughput.gp 3)
ok "plot draws a base and one other variant" exits 0 "$zcost" plot cap throughput functions -o pair --format svg --base uring --new baseline
ok "the chart of two variants has two bars" test "$(wc -l <pair/throughput.tsv)" = 3
ok "the base's bar comes first" test "$(cut -f 10 pair/throughput.tsv | tr '\n' ' ')" = "variant uring baseline "
ok "a variant keeps its colour among fewer variants" test "$(colour pair/throughput.gp 1)" = "$before"
ok "plot draws one variant alone" exits 0 "$zcost" plot cap throughput -o alone --format svg --variant uring
ok "a variant alone keeps its colour" test "$(colour alone/throughput.gp 1)" = "$before"
ok "the title names both variants" says_title 'uring against baseline' pair/functions.svg

done_testing
