#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Checks report topology and the notes on the CPUs of a side: two sockets with SMT, the fast card on the second.
. "$(dirname "$0")/../lib.sh"
. "$tests/capture.sh"

mkdir -p cap/hosts/vm/nic/eth0 cap/hosts/vm/nic/eth2 cap/hosts/vm/nic/lo
awk 'BEGIN {
	printf "{\"schema_version\": 1, \"online_cpus\": \"0-15\", \"topology\": ["
	for (c = 0; c < 16; c++)
		printf "%s{\"cpu\": %d, \"package\": \"%d\", \"die\": \"0\", \"core\": \"%d\", \"node\": \"%d\", \"siblings\": \"%d,%d\"}",
			c ? ", " : "", c, c % 8 / 4, c % 4, c % 8 / 4, c % 8, c % 8 + 8
	printf ", {\"package\": \"9\"}, {\"cpu\": -1, \"package\": \"9\"}, {\"cpu\": 99999, \"package\": \"9\"}], \"caches\": ["
	for (c = 0; c < 8; c++)
		printf "{\"level\": \"2\", \"type\": \"Unified\", \"size\": \"1024K\", \"cpus\": \"%d,%d\"}, ", c, c + 8
	printf "{\"level\": \"3\", \"type\": \"Unified\", \"size\": \"16M\", \"cpus\": \"0-3,8-11\"}, "
	printf "{\"level\": \"3\", \"type\": \"Unified\", \"size\": \"16M\", \"cpus\": \"4-7,12-15\"}], "
	printf "\"nodes\": [{\"node\": 0, \"cpus\": \"0-3,8-11\", \"memory\": \"65536 kB\", \"distances\": \"10 21\"}, "
	print "{\"node\": 1, \"cpus\": \"4-7,12-15\", \"distances\": \"21 10\"}]}" }' >cap/hosts/vm/host.json
printf 'mtu = 1500\noperstate = up\nspeed = 1000\ndevice/numa_node = 0\ndevice/local_cpulist = 0-3,8-11\ndevice/vendor = 0x8086\n' >cap/hosts/vm/nic/eth0/sysfs
printf 'mtu = 9000\noperstate = up\nspeed = 200000\ndevice/numa_node = 1\ndevice/local_cpulist = 4-7,12-15\ndevice/vendor = 0x15b3\n' >cap/hosts/vm/nic/eth2/sysfs
printf 'mtu = 65536\noperstate = unknown\n' >cap/hosts/vm/nic/lo/sysfs

place() { # place VARIANT RECEIVER_CPUS SENDER_CPUS
	for side in receiver sender; do
		d=cap/runs/$1/measure-01/$side
		run_json $d $1 measure 1 $side none
		[ $side = receiver ] && cpus=$2 || cpus=$3
		sed -i "s/\"cpus\": \"1\"/\"cpus\": \"$cpus\"/" $d/run.json
	done
}
place good 4-5 6-7
place remote 0 2
place smt 4,12 5-7
place shared 4 12
place wide 0-15 0-15
place split 3-4 5
manifest cap "good remote smt shared wide split" good/measure/1/ok remote/measure/1/ok smt/measure/1/ok \
	shared/measure/1/ok wide/measure/1/ok split/measure/1/ok
ok "analyze exits 0 for a host with two sockets" exits 0 "$zcost" analyze cap
ok "report topology exits 0" exits 0 "$zcost" report topology cap --format tsv
cell() { # cell KIND NAME COLUMN
	awk -F'\t' -v k="$1" -v n="$2" -v want="$3" 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		$c["kind"] == k && $c["name"] == n { print $c[want]; exit }' out
}
ok "report topology has the CPUs and cores of a package" test "$(cell package 1 cpus) $(cell package 1 cores)" = "4-7,12-15 4"
ok "a CPU without a number that can be is left out" test -z "$(cell package 9 cpus)"
ok "report topology has the distances and the memory of a node" test "$(cell node 0 distances) $(cell node 0 size_kib)" = "10 21 65536"
ok "a node without a memory size has an empty cell" test -z "$(cell node 1 size_kib)"
ok "caches of the same kind share one row" test "$(cell cache L2 count) $(cell cache L3 count) $(cell cache L3 size_kib)" = "8 2 16384"
ok "report topology has the node and the speed of a network card" test "$(cell nic eth2 nodes) $(cell nic eth2 speed_gbps)" = "1 200"
ok "an interface without a device has no row" test -z "$(cell nic lo name)"
ok "a side's row says which network cards are near" test "$(cell side 'good receiver' detail)" = "SMT siblings 12-13 are not the side's; eth0 on node 0; eth2 near"
ok "a side's row has its nodes and cores" test "$(cell side 'split receiver' nodes) $(cell side 'split receiver' cores)" = "0-1 2"
ok "a side's row says that both threads of a core are used" says 'both threads of 1 core;' out
ok "a side on all CPUs has all cores" test "$(cell side 'wide sender' cores)" = 8

"$zcost" report topology cap --verbose >out 2>err
ok "a warning names a side that is far from the fast network card" says 'warning: remote receiver.*: CPUs 0 are on NUMA node 0 and network card eth2 is on node 1' out
ok "no warning names the slow network card" sh -c "! grep -q 'network card eth0' out"
ok "no warning names a side near its network card" sh -c "! grep -Eq '(note|warning): good' out"
ok "a note names a side that uses both threads of a core" says 'smt receiver.*: CPUs 4,12: both SMT threads are in use on 1 of the cores' out
ok "a warning names a receiver that shares a core with the sender" says 'warning: shared receiver .*: CPUs 4 share cores with CPUs 12 of the sender' out
ok "a warning names a sender that shares a core with the receiver" says 'warning: shared sender .*: CPUs 12 share cores with CPUs 4 of the receiver' out
ok "a note names a side on both nodes" says 'split receiver.*: CPUs 3-4 are on NUMA nodes 0-1 and network card eth2 is on node 1; some of its memory' out
ok "no warning names a side on all CPUs" sh -c "! grep -Eq '(note|warning): wide' out"
"$zcost" report cpu cap --variant remote >out 2>err
ok "report cpu shows the warning of the topology" says 'warning: remote receiver.*: CPUs 0 are on NUMA node 0' out
"$zcost" report topology cap --all >out 2>err
ok "report topology --all has a row for each core" says 'core +1/0/3 +7,15' out
ok "report topology --variant exits 0" exits 0 "$zcost" report topology cap --variant good
ok "report topology --variant leaves out other variants" sh -c "! grep -q remote out"
sed -i 's/, "node": "[01]"//g; s/"nodes": \[.*\]/"numa_nodes": {"0": "0-3,8-11", "1": "4-7,12-15"}/' cap/hosts/vm/host.json
"$zcost" analyze cap >log 2>&1
"$zcost" report topology cap --format tsv >out 2>err
ok "an older host.json has the nodes of CPUs in its list of nodes" test "$(cell node 1 cpus) $(cell node 1 nodes)" = "4-7,12-15 1"
ok "a side's row has its nodes out of this list" test "$(cell side 'split receiver' nodes) $(cell side 'good receiver' nodes)" = "0-1 1"
rm cap/hosts/vm/host.json
"$zcost" analyze cap >log 2>&1
ok "report topology exits 0 without a host.json" exits 0 "$zcost" report topology cap
ok "a note says that the topology is unknown" says "the host's topology is not known" out

# Facts of the host, and sysctls of the workload's network namespace: lines as a host with a namespace wrote them.
mkdir -p facts/hosts/vm
cat >facts/hosts/vm/host.json <<-'EOS'
	{"schema_version": 1, "release": "6.18.44", "cpufreq_driver": "intel_pstate", "governor": "powersave",
	 "transparent_hugepage": "always [madvise] never",
	 "vulnerabilities": {"spectre_v1": "Mitigation: usercopy/swapgs barriers and __user pointer sanitization",
	  "retbleed": "Mitigation: Enhanced IBRS", "mds": "Vulnerable: Clear CPU buffers attempted, no microcode",
	  "meltdown": "Not affected", "srbds": "Unknown: Dependent on hypervisor status"}}
EOS
cat >facts/hosts/vm/sysctls <<-'EOS'
	net.core.bpf_jit_enable = 1
	net.core.default_qdisc = fq
	net.ipv4.tcp_congestion_control = bbr
	net.ipv4.tcp_ehash_entries = 262144
	net.ipv4.tcp_rmem = 4096 131072 6291456
	net.netfilter.nf_conntrack_count = 4
EOS
own_rmem() { # own_rmem VARIANT RUN FIGURES: the middle one of tcp_rmem in the namespace
	d=facts/runs/$1/measure-0$2/receiver
	run_json $d $1 measure $2 receiver none '{"name": "nic", "state": "ok", "why": "", "files": ["net_sysctls"]}'
	printf 'net.ipv4.%s\n' 'tcp_congestion_control = bbr' 'tcp_ehash_entries = -262144' "tcp_rmem = 4096 $3 6291456" >$d/net_sysctls
	echo "net.netfilter.nf_conntrack_count = $3" >>$d/net_sysctls
}
own_rmem host 1 131072
own_rmem host 2 131072
own_rmem low 1 65536
own_rmem low 2 65536
own_rmem both 1 131072
own_rmem both 2 65536
"$zcost" analyze facts >log 2>&1
differs() { "$zcost" compare $1 $2 -C facts --table settings --format tsv | sed 1d >out; }
differs host low
ok "a sysctl of the workload's namespace that differs from the host's is a setting that differs" test "$(cat out)" = \
	"receiver	sysctl:net.ipv4.tcp_rmem	4096 131072 6291456	4096 65536 6291456"
differs low both
ok "a run whose namespace has the host's sysctl has the host's value" grep -qE \
	'rmem	4096 65536 6291456	(4096 65536 6291456.4096 131072 6291456|4096 131072 6291456.4096 65536 6291456)$' out
ok "the store has the sysctls that differ from the host's, and no count of connections" test "$(sqlite3 facts/zcost.db \
	"SELECT group_concat(name) FROM metric JOIN run ON run.id = run WHERE variant = 'low' AND repeat = 1 AND name LIKE 'sysctl:%'")" = \
	"sysctl:net.ipv4.tcp_ehash_entries=-262144,sysctl:net.ipv4.tcp_rmem=4096 65536 6291456"
printf 'vm\t%s\t%s\n' kernel 6.18.44 'CPU frequency driver' intel_pstate 'CPU frequency governor' powersave \
	'transparent huge pages' 'always [madvise] never' 'congestion control' bbr 'default qdisc' fq \
	'CPU mitigations' 'vulnerable: mds; mitigated: spectre_v1, retbleed; unknown: srbds; not affected: meltdown' >want
"$zcost" report host facts --format tsv 2>err | sed 1d >out
ok "report host has governor, huge pages, congestion control, qdisc and mitigations" diff want out
rm facts/hosts/vm/host.json facts/hosts/vm/sysctls
"$zcost" analyze facts >log 2>&1
"$zcost" report host facts --format tsv 2>err | sed 1d >out
ok "report host has no row for a fact that the capture did not save" test ! -s out
differs host low
ok "without the host's sysctls those of the namespaces are compared" test "$(cat out)" = \
	"receiver	sysctl:net.ipv4.tcp_rmem	4096 131072 6291456	4096 65536 6291456"

. "$tests/golden.sh"
golden_captures cap/zcost.db
done_testing
