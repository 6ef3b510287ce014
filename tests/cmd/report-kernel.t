#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Checks the tables of kernel counters on captures made by hand. The window is 3 s, the side has CPU 1.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"

# get COLUMN WHERE: a cell of the tsv table in out; WHERE is column=value,...
get() {
	awk -F'\t' -v want="$1" -v where="$2" 'BEGIN { n = split(where, w, ",") }
		NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		{ hit = 1
		  for (i = 1; i <= n; i++) { split(w[i], kv, "="); if ($c[kv[1]] != kv[2]) hit = 0 }
		  if (hit) { print $c[want]; exit } }' out
}
cell() { near "$(get "$1" "$2")" "$3" 1e-6; }
report() { exits 0 "$zcost" report "$@" --format tsv; }
lines() { awk 'END { print NR - 1 }' out; }

collector() { # collector NAME FILE
	printf '{"name": "%s", "state": "ok", "why": "", "files": ["%s"]}' "$1" "$2"
}
nic_collector='{"name": "nic", "state": "ok", "why": "", "files": ["nic.snap", "nic_state.tsv"]}'
# kernel_run REPEAT: makes a receiver's run of 1 MiB/s with counters proportional to REPEAT
kernel_run() {
	d=cap/runs/baseline/measure-0$1/receiver
	run_json $d baseline measure $1 receiver tcpzc \
		"$cpu_collector, $(collector irq irq.snap), $(collector snmp snmp.snap), $(collector sockstat sockstat.snap), $(collector idle idle.snap), $(collector softnet softnet.snap), $nic_collector"
	{ points 1048576 65536 9 14; summary receiver 0 0 0 0 1 1; } >$d/workload.out
	proc_stat_simple 150 >$d/proc_stat.snap
	for t in 0 3; do
		irqs $t $(($1 * t)) | snap $(((10 + t) * 1000000000))
	done >$d/irq.snap
	for t in 0 3; do
		snmp $t $(($1 * t)) | snap $(((10 + t) * 1000000000))
	done >$d/snmp.snap
	for t in 0 3; do # 10 pages more in each run
		printf 'netns 1\nsockets: used 5\nTCP: inuse 2 orphan 0 tw 0 alloc 4 mem %d\n' $((10 * $1 * t)) |
			snap $(((10 + t) * 1000000000))
	done >$d/sockstat.snap
	for t in 0 3; do
		nic $t $(($1 * t)) | snap $(((10 + t) * 1000000000))
	done >$d/nic.snap
	nic_state $1 >$d/nic_state.tsv
	for t in 0 3; do
		softnet $t $(($1 * t)) | snap $(((10 + t) * 1000000000))
	done >$d/softnet.snap
	for t in 0 3; do # C6: 10, 20, 30 % of the time
		printf '1\t0\tPOLL\t%d\t0\n1\t2\tC7:deep\t0\t0\n1\t1\tC6\t%d\t%d\n' $t $((t * 100)) $((100000 * $1 * t)) |
			snap $(((10 + t) * 1000000000))
	done >$d/idle.snap
	mkdir -p cap/runs/baseline/measure-0$1/sender
	run_json cap/runs/baseline/measure-0$1/sender baseline measure $1 sender none
}
irqs() { # irqs T N
	cat <<-END
	           CPU0       CPU1
	 36:         $((7 + $2))        $((100 + 3 * $2))  PCI-MSIX-0000:00:02.0   1-edge      eth0-rx-0
	 37:          0          9  PCI-MSIX-0000:00:02.0   2-edge      eth0-tx-0
	LOC:        $((10 * $1))        $((100 * $1))   Local timer interrupts
	                    CPU0       CPU1
	      NET_RX:       $((50 * $2))        $((20 * $2))
	END
}
snmp() { # snmp T N
	cat <<-END
	netns 1
	Ip: Forwarding InReceives
	Ip: 1 $((1000 * $1))
	Tcp: RetransSegs InErrs
	Tcp: $((5 + 2 * $2)) 4
	TcpExt: TCPRcvQDrop PruneCalled TCPRcvCollapsed
	TcpExt: $2 $2 0
	END
}
softnet() { # softnet T N
	for c in 0 1; do
		printf '%08x %08x 00000000 0 0 0 0 0 0 00000000 00000000 %08x %08x 0 0\n' \
			$((10 * $2 * (2 * c + 1))) $((c * $2)) $1 $c
	done
}
nic() { # nic T N
	if [ "$1" = 0 ]; then
		printf 'n\thost\t4\teth0\tlink\trx_packets\trx_dropped\ttx_packets\n'
		printf 'n\thost\t4\teth0\trx-0\trx-packets\n'
		printf 'n\thost\t4\teth0\tethtool\trx3_packets\trx_64_bytes_phy\tunchanged\n'
		printf 'n\tworkload\t2\tveth0\tlink\trx_packets\n'
	fi
	printf 'v\thost\t4\teth0\tlink\t%d\t%d\t0\n' $((10 * $2)) $2
	printf 'v\thost\t4\teth0\trx-0\t%d\n' $((8 * $2))
	printf 'v\thost\t4\teth0\tethtool\t%d\t%d\t7\n' $((6 * $2)) $2
	printf 'v\tworkload\t2\tveth0\tlink\t%d\n' $2
}
nic_state() { # nic_state REPEAT: the ring grows once
	printf 'netns\tifindex\tinterface\tkey\tvalue\n'
	while read -r key value; do
		printf 'host\t4\teth0\t%s\t%s\n' "$key" "$value"
	done <<-END
	up 1
	driver mlx5_core
	mtu 9000
	rx_ring $((512 + 512 * ($1 / 3)))
	rx_ring_max 8192
	feature:rx-gro-hw 1
	tcp_data_split 1
	hds_thresh 0
	gro_max_size 65536
	END
}

mkdir cap
for r in 1 2 3; do kernel_run $r; done
manifest cap baseline baseline/measure/1/ok baseline/measure/2/ok baseline/measure/3/ok
ok "analyze exits 0 for a capture with kernel counters" exits 0 "$zcost" analyze cap

ok "report irq exits 0" report irq cap --side receiver
ok "report irq names the device of an interrupt" test "$(get device source=36)" = eth0-rx-0
ok "report irq has the median rate of the runs" cell per_s source=36 6
ok "report irq has the lowest and the highest rate of the runs" test "$(get per_s_lo source=36) $(get per_s_hi source=36)" = "3 9"
ok "report irq has the count of an interrupt" cell count source=36 18
ok "report irq has the interrupts per MiB" cell per_mib source=36 6
ok "report irq has each CPU's share of an interrupt" test "$(get cpus source=36)" = "1: 75 %, 0: 25 %"
ok "report irq has the rate of the timer" cell per_s source=LOC 100
ok "report irq names the timer" test "$(get device source=LOC)" = "Local timer interrupts"
ok "report irq has the total of all interrupts" cell per_s kind=irq,source=total 106
ok "report irq has the rate of a softirq" cell per_s source=NET_RX 40
ok "report irq sorts by rate, highest first" test "$(awk -F'\t' 'NR > 1 && $3 == "irq" { printf "%s ", $4 }' out)" = "total LOC 36 "
ok "report irq leaves out an interrupt that never occurs" test -z "$(get count source=37)"
ok "report irq notes that it leaves out counters that did not change" says 'only counters that changed' err
ok "report irq --all exits 0" report irq cap --side receiver --all
ok "report irq --all shows an interrupt that never occurs as 0" cell per_s source=37 0
ok "report irq --by cpu exits 0" report irq cap --side receiver --by cpu
ok "report irq --by cpu has the rate on a CPU outside the side" cell per_s source=36,cpu=0 2
ok "report irq --cpu exits 0" report irq cap --side receiver --cpu 0
ok "report irq --cpu shows that CPU alone" test "$(cut -f 6 out | sort -u | tr '\n' ' ')" = "0 cpu "
ok "report irq --run exits 0" report irq cap --run baseline/measure-03 --side receiver
ok "report irq --run has the rate of that run" cell per_s source=36 9
ok "report irq --by comm is a usage error" exits 2 "$zcost" report irq cap --by comm
ok "report irq as text exits 0" exits 0 "$zcost" report irq cap --side receiver
ok "report irq as text has no note about columns that need --by" sh -c "! grep -q 'not measured' out"
ok "report irq as JSON has a CPU as a number" sh -c "'$zcost' report irq cap --by cpu --side receiver --format json |
	jq -e '.rows[0].cpu | type == \"number\"'"

ok "report snmp exits 0" report snmp cap --side receiver
ok "report snmp has the rate of retransmits" cell per_s name=TcpRetransSegs 4
ok "report snmp marks retransmits" test "$(get kind name=TcpRetransSegs)" = retransmit
ok "report snmp marks drops" test "$(get kind name=TcpExtTCPRcvQDrop)" = drop
ok "report snmp marks prunes" test "$(get kind name=TcpExtPruneCalled)" = prune
ok "report snmp does not mark a harmless counter" test -z "$(get kind name=IpInReceives)"
ok "report snmp lists drops, prunes and retransmits first" test "$(lines) $(awk -F'\t' 'END { print $3 }' out)" = "4 IpInReceives"
ok "report snmp has the counts per MiB" cell per_mib name=IpInReceives 1000
ok "report snmp --all exits 0" report snmp cap --side receiver --all
ok "report snmp --all shows that the kernel collapsed no receive buffers" test "$(get kind name=TcpExtTCPRcvCollapsed) $(get count name=TcpExtTCPRcvCollapsed)" = "copy 0"
ok "report snmp exits 0 for a side without the collector" report snmp cap --side sender
ok "report snmp says that no run measured the side" says "no run measured this" err

ok "report nic exits 0" report nic cap --side receiver
ok "report nic has the packets of an interface" cell per_s interface=eth0,name=rx_packets 20
ok "report nic has the packets of a queue from the kernel" cell per_s source=queue,queue=rx-0,name=rx-packets 16
ok "report nic finds the queue in the name of a driver's counter" cell per_s source=driver,queue=rx-3,name=rx3_packets 12
ok "report nic does not take a packet size for a queue" test -z "$(get queue name=rx_64_bytes_phy)"
ok "report nic marks drops" test "$(get kind name=rx_dropped)" = drop
ok "report nic has interfaces of the workload's namespace" cell count netns=workload,interface=veth0 6
ok "report nic has the packets per MiB" cell per_mib netns=workload,interface=veth0 2
ok "report nic notes how it cuts counters and workload data to the window" says "counters are interpolated between readings, and the workload's bytes .* between its points" err
ok "report nic leaves out counters that did not change" test -z "$(get name name=unchanged)$(get name name=tx_packets)"
ok "report nic --all exits 0" report nic cap --side receiver --all
ok "report nic --all shows a counter that did not change as 0" test "$(get count name=unchanged)" = 0
ok "report nic --by interface exits 0" report nic cap --side receiver --by interface
ok "report nic --by interface has the kernel's counters alone" test "$(cut -f 5 out | sort -u | tr '\n' ' ')" = "kernel source "
ok "report nic --by queue exits 0" report nic cap --side receiver --by queue
ok "report nic --by queue has a row for each queue" test "$(lines)" = 2
ok "report nic --by comm is a usage error" exits 2 "$zcost" report nic cap --by comm
ok "report nic describes the card's settings in words" sh -c "'$zcost' report nic cap --side receiver | grep -q \
	'^# baseline receiver: host/eth0: mlx5_core, mtu 9000, rx ring 512|1024 of 8192, hw-gro on, header split on, hds-thresh 0$'"
ok "report nic has the card's settings in JSON" sh -c "'$zcost' report nic cap --side receiver --format json |
	jq -e '.interfaces.rows | map(select(.setting == \"rx_ring\"))[0].value == \"512|1024\"'"
ok "report nic has the card's driver in JSON" sh -c "'$zcost' report nic cap --side receiver --format json |
	jq -e '.interfaces.rows | map(select(.setting == \"driver\"))[0].value == \"mlx5_core\"'"

ok "report softnet exits 0" report softnet cap --side receiver
ok "report softnet counts the packets" cell value name=softnet_processed 180
ok "report softnet reads the hexadecimal counters as rates" cell per_s name=softnet_processed 60
ok "report softnet has the packets per MiB" cell per_mib name=softnet_processed 60
ok "report softnet has each CPU's share of the packets" test "$(get cpus name=softnet_processed)" = "1: 75 %, 0: 25 %"
ok "report softnet has the rate of drops" cell per_s name=softnet_dropped 2
ok "report softnet shows that no time squeeze occurred" cell value name=softnet_squeezed 0
ok "report softnet has the longest backlog and no rate for the backlog" test "$(get value name=softnet_waiting_max)$(get per_s name=softnet_waiting_max)" = 3
ok "report softnet leaves out RPS when RPS moves no packet" test -z "$(get value name=softnet_received_rps)"
ok "report softnet --all exits 0" report softnet cap --side receiver --all
ok "report softnet --all shows RPS as 0" cell value name=softnet_received_rps 0
ok "report softnet --by cpu exits 0" report softnet cap --side receiver --by cpu
ok "report softnet --by cpu has the packets of a CPU outside the side" cell per_s name=softnet_processed,cpu=0 20
ok "report softnet --by cpu has the drops of the side's CPU" cell per_s name=softnet_dropped,cpu=1 2

ok "report idle exits 0" report idle cap --side receiver
ok "report idle has the share of time in an idle state" cell time_pct cpu=1,state=C6 20
ok "report idle has the interval of the share of time" test "$(get time_lo cpu=1,state=C6) $(get time_hi cpu=1,state=C6)" = "10 30"
ok "report idle has the entries per second" cell entries_per_s cpu=1,state=C6 100
ok "report idle has the mean time of an entry" cell mean_us cpu=1,state=C6 2000
ok "report idle has a row for all CPUs of the side" cell time_pct cpu=all,state=C6 20
ok "report idle has the idle time of /proc/stat" cell time_pct cpu=1,state=idle 50
ok "report idle has iowait apart from idle time" cell time_pct cpu=1,state=iowait 0
ok "report idle sorts from the shallowest state to the deepest" test "$(awk -F'\t' '$3 == 1 { printf "%s ", $5 }' out)" = "busy idle iowait POLL C6 C7:deep "
ok "report idle has a row for all CPUs of a state with a colon in its name" cell time_pct cpu=all,state=C7:deep 0
ok "report idle --by cpu exits 0" report idle cap --side receiver --by cpu
ok "report idle --by cpu has no row for all CPUs" test -z "$(get cpu cpu=all)"
ok "report idle --cpu with a CPU outside the side exits 1" exits 1 "$zcost" report idle cap --side receiver --cpu 0
ok "report idle says that no row matches the CPU" says 'nothing matches --cpu 0' err
ok "report idle --by comm is a usage error" exits 2 "$zcost" report idle cap --by comm
ok "report idle exits 0 for a side without the collector" report idle cap --side sender
ok "report idle says that no run measured the side" says 'no run measured this' err

# --- texts of ethtool ---

# Reads the document's rates of ethtool_stats.pl, and the same rates as two outputs of ethtool -S 2 s apart.
eth() { exits 0 "$zcost" report nic --ethtool "$@" --format tsv; }
rates() { awk -F'\t' 'NR > 1 { print $7, $10 }' out; }
sed -n 's/^Ethtool.* stat: *\([0-9]*\) .*<= \([^ ]*\) .sec/\2 \1/p' "$tests/data/ethtool-stats.txt" >want
ok "report nic --ethtool reads the output of ethtool_stats.pl" eth "$tests/data/ethtool-stats.txt"
ok "report nic --ethtool has the rates of ethtool_stats.pl" sh -c "$(command -v cmp) want - <<-END
$(rates)
END"
ok "report nic --ethtool names the interface" test "$(get interface name=rx_bytes)" = mlx5p2
ok "report nic --ethtool marks drops" test "$(get kind name=rx_discards_phy) $(get kind name=rx_out_of_buffer)" = "drop drop"
ok "report nic --ethtool has a row for each of 13 counters" test "$(lines)" = 13
{ cat "$tests/data/ethtool-stats.txt"; sed 's/8179636/8179646/; /rx_bytes /d' "$tests/data/ethtool-stats.txt"; } >two
ok "report nic --ethtool reads two rounds of ethtool_stats.pl" eth two
ok "a counter of two rounds has the mean rate" test "$(get per_s name=rx3_cache_reuse)" = 8179641
ok "a counter of one round alone counts as unchanged in the other round" test "$(get per_s name=rx_bytes)" = 245388902.5
{
	printf 'root# ethtool -S mlx5p2\nNIC statistics:\n     still: 4\n'
	awk '{ printf "     %s: %.0f\n", $1, 1e13 + NR }' want
	printf 'NIC statistics:\n     still: 4\n'
	awk '{ printf "     %s: %.0f\n", $1, 1e13 + NR + 2 * $2 }' want
} >twice
ok "report nic --ethtool reads two outputs of ethtool -S" eth twice --seconds 2
ok "two outputs of ethtool -S have the rates of ethtool_stats.pl" sh -c "$(command -v cmp) want - <<-END
$(rates)
END"
ok "report nic --ethtool --all exits 0" eth twice --seconds 2 --all
ok "report nic --ethtool --all shows a counter that did not change as 0" test "$(get per_s name=still)" = 0
ok "report nic --ethtool reads a pipe without --seconds" sh -c "'$zcost' report nic --ethtool - --format tsv <twice >out"
ok "report nic --ethtool has counts without --seconds" test "$(get count name=rx_bytes)" = 981555610
ok "report nic --ethtool has no rates without --seconds" test -z "$(get per_s name=rx_bytes)"
ok "report nic --ethtool --by queue exits 0" eth twice --seconds 2 --by queue
ok "report nic --ethtool --by queue has a row for each queue" test "$(lines)" = 2
ok "report nic --ethtool --by interface is a usage error" exits 2 "$zcost" report nic --ethtool "$tests/data/ethtool-stats.txt" --by interface
printf 'NIC statistics:\n a: 1\n [0]: b c: 2\n' >once
ok "one output of ethtool -S alone exits 1" exits 1 "$zcost" report nic --ethtool once
ok "the message asks for a later output of ethtool -S" says 'append a later one' err
{ cat once; printf 'NIC statistics:\n a: 0\n [0]: b c: 7\n new: 1\n'; } >back
ok "report nic --ethtool exits 4 when a counter goes backwards or appears" exits 4 "$zcost" report nic --ethtool back --seconds 1 --format tsv
ok "report nic --ethtool names the counters that went backwards or appeared" says '2 counters went backwards or are missing in some outputs.*: a, new' err
ok "report nic --ethtool has the rates of the other counters" test "$(get per_s 'name=[0]: b c')" = 5
{ cat once; echo "oops"; } >bad
ok "a line that is no counter exits 1" exits 1 "$zcost" report nic --ethtool bad
ok "the message names the line that is no counter" says 'bad, line 4: neither a counter' err
ok "a text that is not from ethtool exits 1" exits 1 "$zcost" report nic --ethtool want
ok "--ethtool with a table other than nic is a usage error" exits 2 "$zcost" report irq --ethtool twice


ok "report sockstat of a capture exits 0" report sockstat cap --side receiver
ok "report sockstat has the mean of TCP memory, the median over the runs" near \
	"$(awk -F'\t' '$3 == "TCP.mem" { print $6 }' out)" 30 1e-6
ok "report sockstat has the maximum of TCP memory, the median over the runs" near \
	"$(awk -F'\t' '$3 == "TCP.mem" { print $9 }' out)" 60 1e-6
ok "report sockstat says that TCP memory is the host's" test \
	"$(awk -F'\t' '$3 == "TCP.mem" { print $4, $5 }' out)" = "pages host"
ok "report sockstat leaves out a gauge that was 0 in all runs" sh -c "! grep -q TCP.orphan out"
ok "report sockstat --all exits 0" report sockstat cap --side receiver --all
ok "report sockstat --all has a gauge that was 0 in all runs" says TCP.orphan out

. "$tests/golden.sh"
golden_captures cap/zcost.db
done_testing
