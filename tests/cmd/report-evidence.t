#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What became of the data: a fallback, plain copying, bytes dropped unread and datagrams lost, in every
# table and chart, the first variant's too.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"

get() { # get FILE COLUMN VARIANT SIDE: a cell of a tsv table
	awk -F'\t' -v want="$2" -v v="$3" -v s="$4" 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		$c["variant"] == v && $c["side"] == s { print $c[want]; exit }' "$1"
}
is() { [ "$1" = "$2" ] || { echo "got '$1', expected '$2'"; return 1; }; }
lacks() { # lacks PATTERN FILE
	! grep -E -- "$1" "$2"
}
report() { exits 0 "$zcost" report "$@" --format tsv; }

# side VARIANT SIDE MODE [RECEIVE [SENDS]]: a measured run of it; the members that RECEIVE and SENDS name are in its
# summary, in the place of copied bytes and copied sends.
side() {
	measure_run cap "$1" 1 "$2" 1280000000 150
	sed -i "s/\"mode\":\"x\"/\"mode\":\"$3\"/${4:+; s/\"receive\":{[^\}]*\}/\"receive\":{$4\}/}${5:+; s/\"sends\":{[^\}]*\}/\"sends\":{$5\}/}" \
		"$d/workload.out"
}
pair() { # pair VARIANT TX RX [RECEIVE [SENDS]]
	side "$1" receiver "$3" "${4:-}" '"total":0,"zero_copy":0,"copied":0,"unknown":0'
	side "$1" sender "$2" '"calls":0,"mapped_bytes":0,"copied_bytes":0' "${5:-}"
}
dropped='"calls":7,"mapped_bytes":0,"copied_bytes":0,"unknown_bytes":0,"dropped_bytes":3840000000'
unknown='"total":9,"zero_copy":0,"copied":0,"unknown":9'

mkdir cap
pair msgzc msg-zerocopy recv
pair uringzc uring-send-zc recv
pair trunc send trunc "$dropped"
pair splicetrunc splice trunc "$dropped" "$unknown"
pair zctrunc msg-zerocopy trunc "$dropped"
pair mapped msg-zerocopy mmap '"calls":7,"mapped_bytes":94,"copied_bytes":6,"unknown_bytes":0'
pair old uring-send-zc recv '' "$unknown"
pair splice splice recv '' "$unknown"
pair plain send recv
# What the workload says of itself goes before what is known of the mode.
pair new a-new-mode recv
sed -i 's/"mode":"a-new-mode"/&,"asks_zero_copy":true/' "$d/workload.out"
pair unsaid msg-zerocopy recv
sed -i 's/"mode":"msg-zerocopy"/&,"asks_zero_copy":null/' "$d/workload.out"
pair unlike msg-zerocopy recv
sed -i 's/"mode":"msg-zerocopy"/&,"asks_zero_copy":false/' "$d/workload.out"
variants="msgzc uringzc trunc splicetrunc zctrunc mapped old splice plain new unsaid unlike"
manifest cap "$variants" $(printf '%s/measure/1/ok ' $variants)
ok "analyzed" exits 0 "$zcost" analyze cap
ok "nothing was lost" says 'nothing lost' err

ok "zerocopy" report zerocopy cap
ok "dropped bytes are evidence" is "$(get out evidence trunc receiver)" 'dropped (upper bound)'
ok "so many" is "$(get out total trunc receiver)" 3840000000
ok "neither copied nor not" is "$(get out zero_copy trunc receiver)$(get out copied trunc receiver)$(get out share trunc receiver)" ''
ok "also where the sender cannot say" is "$(get out evidence splicetrunc receiver)" 'dropped (upper bound)'
ok "what was asked for: to drop" is "$(get out asked trunc receiver)" drop
ok "zero copy" is "$(get out asked msgzc sender)" 'zero copy'
ok "a copy" is "$(get out asked plain sender)" copy
ok "who knows" is "$(get out asked splice sender)" ''
ok "a mode that nobody knew" is "$(get out asked new sender)" 'zero copy'
ok "one that does not say" is "$(get out asked unsaid sender)" ''
ok "or says another thing" is "$(get out asked unlike sender)" copy
for v in trunc splicetrunc zctrunc; do
	ok "$v: the verdict" says "^zcost: [a-z, ]*$v[a-z, ]*: the receiver dropped the bytes unread .*upper bound" err
	ok "and no other" lacks "$v: (is|no evidence|everything)" err
done
ok "a fallback" says 'msgzc, uringzc, new: is not zero copy: everything was copied, although zero copy was asked for' err
ok "plain copying" says 'plain, [a-z, ]*: is not zero copy: everything was copied, as asked' err
ok "what one side alone says" says "old, splice: the receiver copied everything; the workload does not report how the other side" err
for table in summary roi zerocopy cpu; do
	"$zcost" report $table cap | head -n 1 >head
	ok "$table: first the fallback" says '^NOT ZERO COPY: msgzc sender: 100.0 % of sends' head
	ok "and what was dropped" says 'splicetrunc receiver: every byte was dropped unread \(upper bound\)' head
	ok "not what copies as asked" lacks 'plain|splice sender|old' head
done
"$zcost" report zerocopy cap --width 80 >out
ok "the bound can be read in 80 columns" says '^receiver +dropped \(upper bound\) +3840000000 ' out
ok "compared" exits 0 "$zcost" compare plain trunc -C cap
ok "with the bound first" says 'NOT ZERO COPY: trunc receiver: every byte was dropped unread \(upper bound\): no speed-up' out

# Captions stand in several labels where they are long.
caption() { sed -n "s/^set label \"\(.*\)\" at screen .*#9c3a00.*/\1/p" "slides/$1.gp" | tr '\n' ' ' >caption; }
if command -v gnuplot >/dev/null; then
	ok "drawn" exits 0 "$zcost" plot cap throughput cpu roi_c -o slides --new uringzc --new trunc \
		--new zctrunc --new mapped --new plain
	for c in throughput cpu roi_c; do
		caption $c
		ok "$c: the base fell back" says '^msgzc, uringzc: fell back to copying every byte \(not zero copy\)' caption
		ok "one side did" says 'mapped: 94 % zero copy on the receiver, fell back to copying on the sender' caption
		ok "a bound" says 'trunc: every byte was dropped unread \(upper bound\)' caption
		ok "and what fell back beside it" \
			says 'zctrunc: every byte was dropped unread \(upper bound\), fell back to copying on the sender' caption
		ok "plain copying is no fallback" says 'plain: plain copying, as asked $' caption
	done
	ok "of one side alone" exits 0 "$zcost" plot cap throughput -o slides --base plain --new splice --new old
	caption throughput
	ok "nothing is said of the other" is "$(cat caption)" \
		'old: no evidence of zero copy · splice: every byte was copied on the receiver '
	ok "a base of another kind" exits 0 "$zcost" plot cap throughput -o slides --base plain --new msgzc
	caption throughput
	ok "needs no words" is "$(cat caption)" 'msgzc: fell back to copying every byte (not zero copy) '
	ok "a base that drops" exits 0 "$zcost" plot cap throughput -o slides --base trunc --new plain
	caption throughput
	ok "needs some" says '^trunc: every byte was dropped unread' caption
else
	skip "captions" "no gnuplot"
fi

# Datagrams: what was lost on the way is told, and there is no score of them.
mkdir lossy
# --rr: the responses' own way.
rr() { # rr VARIANT SIDE ASKS SENDS-COPIED BYTES-COPIED
	d=rr/runs/$1/measure-01/$2
	run_json $d $1 measure 1 $2 tcpzc ''
	{ points 1280000000 65536 9 14; summary $2 0 0 0 0 1 1 |
		sed "s/}\$/,\"rr\":{\"bytes\":5000,\"asks_zero_copy\":$3,\"sends\":{\"total\":40,\"copied\":$4},\"receive\":{\"copied_bytes\":$5}}}/"; } >$d/workload.out
}
for side in receiver sender; do
	rr fell $side true $([ $side = receiver ] && echo 30 0 || echo 0 5000)
	rr plain $side false 40 5000
	rr zero $side true 0 0
done
manifest rr "fell plain zero" fell/measure/1/ok plain/measure/1/ok zero/measure/1/ok
ok "responses" exits 0 "$zcost" analyze rr
"$zcost" report runs rr --width 0 >out 2>err
ok "a fallback of their sends is told" says 'fell receiver .measure-01.: the responses asked for zero copy, and the kernel copied 30 of 40 sends' out
ok "and of their receiving" says 'fell sender .*: .*and the kernel copied 5000 of 5000 bytes' out
ok "not of those that copy as asked, or did not" test "$(grep -c 'responses asked for zero copy' out)" = 2

datagrams() { # datagrams VARIANT LOST: 3840000000 bytes came of those that were sent
	for end in receiver sender; do
		measure_run lossy "$1" 1 $end 1280000000 150
		[ $end = sender ] && bytes=4319890600 || bytes=3840000000
		sed -i "/\"summary\"/s/\"bytes\":1280000000,/\"bytes\":$bytes,\"lost_bytes\":$2,/" "$d/workload.out"
	done
}
for end in receiver sender; do measure_run lossy tcp 1 $end 1280000000 150; done
datagrams udp 479890600
datagrams none 0
datagrams unheard null
manifest lossy "tcp udp none unheard" tcp/measure/1/ok udp/measure/1/ok none/measure/1/ok unheard/measure/1/ok
ok "a workload that lost datagrams: no fault of the capture" exits 0 "$zcost" analyze lossy
ok "but told" says "datagrams \(UDP\) were lost in 2 places; 'zcost report runs lossy' lists them" err
ok "and not that nothing was lost" lacks 'nothing lost' err
ok "in the store" is "$(metric lossy/zcost.db udp receiver lost_bytes)" 479890600.0
ok "nothing of TCP" is "$(metric lossy/zcost.db tcp receiver lost_bytes)" ''
ok "nor where nobody knows" is "$(metric lossy/zcost.db unheard receiver lost_bytes)" ''
ok "runs" report runs lossy
ok "has how much: the same at both ends" says \
	'warning: udp receiver, udp sender .2 runs, first measure-01.: 479890600 of 4319890600 bytes were lost on the way as datagrams' err
ok "and where it is not known" says 'warning: unheard [a-z]+, unheard [a-z]+ .*: the number of lost datagrams is not known' err
ok "not where none was" lacks 'first none' err
ok "roi" report roi lossy --power-model idle=100,per_cpu=10
for v in udp none unheard; do
	ok "$v: no score" is "$(for s in receiver sender total; do get out roi_c $v $s; get out roi_p $v $s; done)" ''
	ok "of what is known" test -n "$(get out cpu_pct $v sender)" -a -n "$(get out throughput_gbps $v receiver)"
done
ok "TCP has its own" near "$(get out roi_c tcp receiver)" 2.097152 1e-6
ok "and this is why" says 'roi_c, roi_p are absent for udp receiver, udp sender, udp total, none .*: the workload sent datagrams \(UDP\)' err
ok "roi without power" report roi lossy --verbose
ok "the same of T²/C" says '^[^,]*roi_c is absent for udp receiver, .*: the workload sent datagrams \(UDP\)' err
ok "of T²/P that there is no power" says 'roi_p is absent: it needs throughput and power' err
ok "power" report power lossy --power-model idle=100,per_cpu=10
ok "has no score either" is "$(get out roi_p udp receiver)" ''
ok "but of TCP" test -n "$(get out roi_p tcp receiver)"
ok "and says why" says 'roi_p is absent for udp receiver, .*: the workload sent datagrams \(UDP\)' err
"$zcost" compare tcp udp -C lossy >out 2>err
ok "no gain is claimed of a score" lacks ' roi_[cp] +[^ ]+ +[0-9.]+ +[0-9.]' out
if command -v gnuplot >/dev/null; then
	ok "drawn" exits 0 "$zcost" plot lossy roi_c -o slides
	caption roi_c
	ok "it says why there is no bar" says 'roi_c is absent for udp receiver, .*: the workload sent datagrams \(UDP\)' caption
fi

# The first histogram's name says little.
measure_run counted v 1 sender 1280000000 150
sed -i 's/"syscalls":/"histograms":{"batch":{"count":9,"p50":4},"notify_ns":{"count":9,"p50":400}},&/' "$d/workload.out"
measure_run counted v 1 receiver 1280000000 150
manifest counted v v/measure/1/ok
"$zcost" analyze counted 2>err
ok "sizes" report sizes counted
ok "what a batch is" says 'hist:batch: sends per notification' err

done_testing
