#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Checks the tables of kernel counters on captures made by hand. The window is 3 s, the side has CPU 1.
. "$(dirname "$0")/../lib.sh"
. "$tests/golden.sh"

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
		printf 'n\thost\t4\teth0\tethtool\trx3_packets\trx_64_bytes_phy\tunchanged\trx3_bytes\n'
		printf 'n\tworkload\t2\tveth0\tlink\trx_packets\n'
	fi
	printf 'v\thost\t4\teth0\tlink\t%d\t%d\t0\n' $((10 * $2)) $2
	printf 'v\thost\t4\teth0\trx-0\t%d\n' $((8 * $2))
	printf 'v\thost\t4\teth0\tethtool\t%d\t%d\t7\t%d\n' $((6 * $2)) $2 $((600 * $2))
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

# The counters of three runs are as 1 : 2 : 3. Of interrupt 36, 3 a second are on CPU 1 and 1 on CPU 0 in the first. 37 never occurs.
for table in irq snmp nic softnet idle sockstat; do
	report cap $table --side receiver --all
done
for options in 'irq --by cpu' 'irq --cpu 0' 'irq --run baseline/measure-03' 'nic --by interface' 'nic --by queue' 'softnet --by cpu' 'idle --by cpu'; do
	report cap $options --side receiver
done
for options in 'irq --by comm' 'nic --by comm' 'idle --by comm' 'idle --side receiver --cpu 0' 'snmp --side sender' 'idle --side sender'; do
	report cap $options # usage errors, no row for the CPU, and no run that measured the side
done
ok "report irq as text has no note about columns that need --by" sh -c "! '$zcost' report irq cap --side receiver 2>&1 | grep -q 'not measured'"
ok "report irq as JSON has a CPU as a number" sh -c "'$zcost' report irq cap --by cpu --side receiver --format json |
	jq -e '.rows[0].cpu | type == \"number\"'"
# --- texts of ethtool ---

# Reads the document's rates of ethtool_stats.pl, and the same rates as two outputs of ethtool -S 2 s apart.
eth() { run report nic --ethtool "$@" --format csv --verbose; }
sed -n 's/^Ethtool.* stat: *\([0-9]*\) .*<= \([^ ]*\) .sec/\2 \1/p' "$tests/data/ethtool-stats.txt" >want
cp "$tests/data/ethtool-stats.txt" .
eth ethtool-stats.txt
ok "report nic --ethtool has the rates of ethtool_stats.pl" sh -c "'$zcost' report nic --ethtool ethtool-stats.txt --format tsv 2>err |
	awk -F'\t' 'NR > 1 { print \$7, \$10 }' | cmp - want"
# A counter of two rounds has the mean rate, and one of one round alone counts as unchanged in the other.
{ cat ethtool-stats.txt; sed 's/8179636/8179646/; /rx_bytes /d' ethtool-stats.txt; } >two
eth two
{
	printf 'root# ethtool -S mlx5p2\nNIC statistics:\n     still: 4\n'
	awk '{ printf "     %s: %.0f\n", $1, 1e13 + NR }' want
	printf 'NIC statistics:\n     still: 4\n'
	awk '{ printf "     %s: %.0f\n", $1, 1e13 + NR + 2 * $2 }' want
} >twice
eth twice --seconds 2 --all
eth twice --seconds 2 --by queue
eth twice # counts, and no rates
ok "report nic --ethtool reads a pipe without --seconds" sh -c "'$zcost' report nic --ethtool - --format tsv <twice >out"
run report nic --ethtool twice --by interface
printf 'NIC statistics:\n a: 1\n [0]: b c: 2\n' >once
run report nic --ethtool once
{ cat once; printf 'NIC statistics:\n a: 0\n [0]: b c: 7\n new: 1\n'; } >back
eth back --seconds 1
{ cat once; echo "oops"; } >bad
run report nic --ethtool bad
run report nic --ethtool want
run report irq --ethtool twice

golden_captures cap/zcost.db
done_testing
