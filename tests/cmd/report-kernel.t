#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The tables of what the kernel counts, on captures made by hand: the window is 3 s, S is CPU 1.
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
# kernel_run REPEAT: a receiver's run of 1 MiB/s and so many of everything
kernel_run() {
	d=cap/runs/baseline/measure-0$1/receiver
	run_json $d baseline measure $1 receiver tcpzc \
		"$cpu_collector, $(collector irq irq.snap), $(collector snmp snmp.snap)"
	{ points 1048576 65536 9 14; summary receiver 0 0 0 0 1 1; } >$d/workload.out
	proc_stat_simple 150 >$d/proc_stat.snap
	for t in 0 3; do
		irqs $t $(($1 * t)) | snap $(((10 + t) * 1000000000))
	done >$d/irq.snap
	for t in 0 3; do
		snmp $t $(($1 * t)) | snap $(((10 + t) * 1000000000))
	done >$d/snmp.snap
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

mkdir cap
for r in 1 2 3; do kernel_run $r; done
manifest cap baseline baseline/measure/1/ok baseline/measure/2/ok baseline/measure/3/ok
ok "analyzed" exits 0 "$zcost" analyze cap

ok "report irq" report irq cap --side receiver
ok "the device" test "$(get device source=36)" = eth0-rx-0
ok "the median of the runs, per second" cell per_s source=36 6
ok "least and most" test "$(get per_s_lo source=36) $(get per_s_hi source=36)" = "3 9"
ok "how many" cell count source=36 18
ok "per MiB" cell per_mib source=36 6
ok "which CPUs" test "$(get cpus source=36)" = "1: 75 %, 0: 25 %"
ok "the timer" cell per_s source=LOC 100
ok "by its name" test "$(get device source=LOC)" = "Local timer interrupts"
ok "all of them" cell per_s kind=irq,source=total 106
ok "softirqs" cell per_s source=NET_RX 40
ok "the most frequent first" test "$(awk -F'\t' 'NR > 1 && $3 == "irq" { printf "%s ", $4 }' out)" = "total LOC 36 "
ok "what never happened is left out" test -z "$(get count source=37)"
ok "which is said" says 'only counters that changed' err
ok "and shown with --all" report irq cap --side receiver --all
ok "as 0" cell per_s source=37 0
ok "by CPU" report irq cap --side receiver --by cpu
ok "the other CPU's" cell per_s source=36,cpu=0 2
ok "one CPU" report irq cap --side receiver --cpu 0
ok "alone" test "$(cut -f 6 out | sort -u | tr '\n' ' ')" = "0 cpu "
ok "one run" report irq cap --run baseline/measure-03 --side receiver
ok "its figure" cell per_s source=36 9
ok "not by comm" exits 2 "$zcost" report irq cap --by comm
ok "as text" exits 0 "$zcost" report irq cap --side receiver
ok "no word of columns that need --by" sh -c "! grep -q 'not measured' out"
ok "as json, a CPU is a number" sh -c "'$zcost' report irq cap --by cpu --side receiver --format json |
	jq -e '.rows[0].cpu | type == \"number\"'"

ok "report snmp" report snmp cap --side receiver
ok "retransmits" cell per_s name=TcpRetransSegs 4
ok "marked" test "$(get kind name=TcpRetransSegs)" = retransmit
ok "drops" test "$(get kind name=TcpExtTCPRcvQDrop)" = drop
ok "prunes" test "$(get kind name=TcpExtPruneCalled)" = prune
ok "the rest is not" test -z "$(get kind name=IpInReceives)"
ok "trouble stands first" test "$(lines) $(awk -F'\t' 'END { print $3 }' out)" = "4 IpInReceives"
ok "per MiB" cell per_mib name=IpInReceives 1000
ok "copying by the kernel, when there is none" report snmp cap --side receiver --all
ok "is 0" test "$(get kind name=TcpExtTCPRcvCollapsed) $(get count name=TcpExtTCPRcvCollapsed)" = "copy 0"
ok "the sender has not measured it" report snmp cap --side sender
ok "and says so" says "nothing of this was measured" err

done_testing
