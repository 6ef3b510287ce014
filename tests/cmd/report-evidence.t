#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Every table and chart names what happened to the data: a fallback, plain copying, bytes dropped unread,
# lost datagrams.
. "$(dirname "$0")/../lib.sh"
. "$tests/golden.sh"
. "$tests/world.sh"

lacks() { # lacks PATTERN FILE
	! grep -E -- "$1" "$2"
}

# side VARIANT SIDE MODE [RECEIVE [SENDS]]: makes a measured run. RECEIVE and SENDS replace the members of the
# summary that count copied bytes and copied sends.
side() {
	measure_run cap "$1" 1 "$2" 1280000000 150
	case $3 in
	msg-zerocopy | uring-send-zc | mmap) asks=',"asks_zero_copy":true' ;;
	send | recv | trunc) asks=',"asks_zero_copy":false' ;;
	*) asks= ;; # not known
	esac
	sed -i "s/\"mode\":\"x\"/\"mode\":\"$3\"$asks/${4:+; s/\"receive\":{[^\}]*\}/\"receive\":{$4\}/}${5:+; s/\"sends\":{[^\}]*\}/\"sends\":{$5\}/}" \
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
pair new a-new-mode recv
sed -i 's/"mode":"a-new-mode"/&,"asks_zero_copy":true/' "$d/workload.out"
pair unsaid msg-zerocopy recv
sed -i 's/"asks_zero_copy":true/"asks_zero_copy":null/' "$d/workload.out"
pair unlike msg-zerocopy recv
sed -i 's/"asks_zero_copy":true/"asks_zero_copy":false/' "$d/workload.out"
variants="msgzc uringzc trunc splicetrunc zctrunc mapped old splice plain new unsaid unlike"
manifest cap "$variants" $(printf '%s/measure/1/ok ' $variants)
ok "analyze exits 0 for a capture of zero-copy and copying modes" exits 0 "$zcost" analyze cap
ok "analyze says that nothing was lost" says 'nothing lost' err

# A dropped byte is neither zero copy nor copied, but an upper bound. What the workload says of its request counts before its mode.
report cap zerocopy
for table in summary roi zerocopy cpu; do
	"$zcost" report $table cap | head -n 1 >head
	ok "report $table names the fallback in its first line" says '^NOT ZERO COPY: msgzc sender: 100.0 % of sends' head
	ok "report $table names the dropped bytes in its first line" says 'splicetrunc receiver: every byte was dropped unread \(upper bound\)' head
	ok "report $table does not name variants that copy as asked in its first line" lacks 'plain|splice sender|old' head
done
"$zcost" report zerocopy cap --width 80 >out
ok "the upper bound is legible in 80 columns" says '^receiver +dropped \(upper bound\) +3840000000 ' out
run compare plain trunc -C cap

# A long caption fills several labels.
caption() { sed -n "s/^set label \"\(.*\)\" at screen .*#9c3a00.*/\1/p" "slides/$1.gp" | tr '\n' ' ' >caption; }
# A remark is soft, as are the subtitle and the axes before it, and the foot note after it.
remark() { sed -n '/^set label ".*" at screen .*#595959/!d; s/^set label "\(.*\)" at screen .*/\1/p' "slides/$1.gp" | sed '/ · zcost /d' | tr '\n' ' ' >remark; }
if command -v gnuplot >/dev/null; then
	ok "plot exits 0 for variants with fallbacks and dropped bytes" exits 0 "$zcost" plot cap throughput cpu roi_c -o slides --format svg --new uringzc --new trunc \
		--new zctrunc --new mapped --new plain
	for c in throughput cpu roi_c; do
		caption $c
		ok "$c: the caption names the base that fell back" says '^msgzc, uringzc: fell back to copying every byte \(not zero copy\)' caption
		ok "$c: the caption tells the side with zero copy from the side that fell back" says 'mapped: 94 % zero copy on the receiver, fell back to copying on the sender' caption
		ok "$c: the caption names the dropped bytes" says 'trunc: every byte was dropped unread \(upper bound\)' caption
		ok "$c: the caption names the fallback on the other side of dropped bytes" \
			says 'zctrunc: every byte was dropped unread \(upper bound\), fell back to copying on the sender' caption
		remark $c
		ok "$c: plain copying, as asked, is no warning" says 'plain: plain copying, as asked ' remark
	done
	ok "plot exits 0 for variants with evidence of one side" exits 0 "$zcost" plot cap throughput -o slides --format svg --base plain --new splice --new old
	caption throughput
	ok "no evidence of zero copy is no warning" is "$(cat caption)" ''
	remark throughput
	ok "the remark says nothing about the side without evidence" says \
		'old: no evidence of zero copy (· )?splice: plain copying, as asked ' remark
	ok "plot exits 0 for a base that copies as asked" exits 0 "$zcost" plot cap throughput -o slides --format svg --base plain --new msgzc
	caption throughput
	ok "the caption does not name a base that copies as asked" is "$(cat caption)" 'msgzc: fell back to copying every byte (not zero copy) '
	ok "plot exits 0 for a base that drops all bytes" exits 0 "$zcost" plot cap throughput -o slides --format svg --base trunc --new plain
	caption throughput
	ok "the caption names a base that drops all bytes" says '^trunc: every byte was dropped unread' caption
else
	skip "captions" "no gnuplot"
fi

# The word of a program is not needed: system calls, the kernel's count, and both against the program's.
mkdir told
calls_run() { # calls_run VARIANT SIDE COPIED CALL:BYTES...: CALL_with_FLAG is "CALL (FLAG)"
	d=told/runs/$1/syscalls-01/$2
	run_json $d $1 syscalls 1 $2 "${units:-regex}" "{\"name\": \"syscalls\", \"state\": \"ok\", \"why\": \"\", \"files\": [\"syscalls.tsv\", \"socket_copies.tsv\"]}"
	printf 'event\tcalls\tbytes\nskb_copy_datagram_iovec\t9\t%s\n' "$3" >$d/socket_copies.tsv
	shift 3
	{
		printf 'comm\tpid\ttid\tnr\tname\tcalls\terrors\ttotal_ns\tmin_ns\tmax_ns\tm2_ns2\tbytes\tunfinished\ttime_hist\tsize_hist\n'
		nr=0
		for call; do
			nr=$((nr + 1))
			printf 'app\t7\t7\t%d\t%s\t1000\t0\t100\t1\t1\t0\t%s\t0\t\t\n' $nr \
				"$(echo "${call%:*}" | sed 's/_with_\(.*\)/ (\1)/')" "${call#*:}"
		done
	} >$d/syscalls.tsv
	: >$d/workload.out
}
calls_run copies receiver 5000000 recvfrom:5000000
calls_run copies sender 0 sendto:5000000
calls_run shares receiver 5000000 recvfrom:5000000
calls_run shares sender 0 sendfile:5000000
calls_run asks receiver 5000000 read:5000000
calls_run asks sender 0 sendmsg_with_MSG_ZEROCOPY:5000000
calls_run datagrams receiver 0 recvfrom:5000000
calls_run datagrams sender 0 sendto:5000000
calls_run drops receiver 0 recvfrom_with_MSG_TRUNC:5000000
calls_run drops sender 0 sendto:5000000
units=tcpzc
calls_run contradicts receiver 3840000000 getsockopt:
{ points 1280000000 65536 9 14; summary receiver 0 0 0 94 6 1280000000; } >$d/workload.out
units=
calls_run contradicts sender 0 sendto:5000 splice:5000000
calls_run reverse receiver 0 write:5000000 read:400
calls_run reverse sender 5000000 read:5000000 write:400
calls_run bidir receiver 5000000 read:5000000 write:3000000
calls_run bidir sender 3000000 read:3000000 sendfile:5000000
variants="copies shares asks datagrams drops contradicts reverse bidir"
manifest told "$variants" $(printf '%s/syscalls/1/ok ' $variants)
"$zcost" analyze told >/dev/null 2>err
# The kernel does not count small datagrams. MSG_ZEROCOPY asks, and is no evidence that the sender did not copy. A receiver that writes
# sends, as that of iperf3 -R, and each direction of a side has its own verdict. Sources that disagree are shown.
report told zerocopy
for table in zerocopy summary; do
	"$zcost" report $table told --variant copies >notes 2>&1
	ok "report $table names no count of a workload that has none" lacks 'own count: the sum|whole run' notes
done

# Lost datagrams are reported, and datagrams have no score.
mkdir lossy
# --rr: responses can fall back too.
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
ok "analyze exits 0 for request-response runs" exits 0 "$zcost" analyze rr
report rr runs
# 3840000000 bytes arrive, and 479890600 do not
for end in receiver sender; do
	measure_run lossy tcp 1 $end 1280000000 150
	measure_run lossy udp 1 $end 1280000000 150
	[ $end = sender ] && bytes=4319890600 || bytes=3840000000
	sed -i "/\"summary\"/s/\"bytes\":1280000000,/\"bytes\":$bytes,\"udp\":true,/" "$d/workload.out"
done
manifest lossy "tcp udp" tcp/measure/1/ok udp/measure/1/ok
ok "analyze exits 0 for datagrams" exits 0 "$zcost" analyze lossy
# Datagrams have CPU use and throughput, but no score.
report lossy runs
for table in roi power; do
	report lossy $table
	report lossy $table --power-model idle=100,per_cpu=10
done
sqlite3 lossy/zcost.db "INSERT INTO collector SELECT id, 'power', 'unsupported', 'no meter here', 0 FROM run"
report lossy power
compare lossy tcp udp
if command -v gnuplot >/dev/null; then
	ok "plot exits 0 for roi_c of datagrams" exits 0 "$zcost" plot lossy roi_c -o slides --format svg
	remark roi_c
	ok "the remark says that roi_c is absent for datagrams" says 'n/a: the workload sent datagrams \(UDP\)' remark
fi

# The name of a histogram does not explain what it counts.
measure_run counted v 1 sender 1280000000 150
sed -i 's/"syscalls":/"histograms":{"batch":{"count":9,"p50":4},"notify_ns":{"count":9,"p50":400}},&/' "$d/workload.out"
measure_run counted v 1 receiver 1280000000 150
manifest counted v v/measure/1/ok
"$zcost" analyze counted 2>err
report counted sizes

# A workload that counts messages, no bytes.
world messages 6 $copying $mapping
sqlite3 messages/zcost.db "UPDATE symbol SET name = 'zap_pte_range' WHERE name = 'insert_page';
	INSERT INTO metric (run, name, object, unit, value) SELECT run, 'hist', 'frags:mean', '', 8 FROM metric WHERE name = 'asked_zero_copy';
	UPDATE metric SET name = 'rate_messages' WHERE name = 'rate_kib'; DELETE FROM metric WHERE name IN ('bytes', 'throughput')"
"$zcost" report why messages --format tsv >why.tsv 2>err
ok "costs of causes have the unit of the work" is "$(tsv '$at["figure"] == "unmapping_ns" { print $at["value"], $at["unit"] }' why.tsv)" "100 ns/message"
ok "the reason has the unit, too" says 'takes 20 % of the CPU time \(100 ns/message\)' err

golden_captures lossy/zcost.db
done_testing
