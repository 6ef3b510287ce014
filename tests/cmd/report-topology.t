#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Checks report topology and the notes on the CPUs of a side: two sockets with SMT, the fast card on the second.
. "$(dirname "$0")/../lib.sh"
. "$tests/golden.sh"

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
# A side on all CPUs is far from no card, the slow card has no warning, and an interface without a device and CPU -1 have no row.
report cap topology --all
report cap topology --variant good
report cap cpu --variant remote
rm cap/hosts/vm/host.json
"$zcost" analyze cap >log 2>&1 # golden_captures: not known

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
own_rmem() { # own_rmem VARIANT RUN FIGURE [BUSY_POLL]: the middle one of tcp_rmem in the namespace
	d=facts/runs/$1/measure-0$2/receiver
	run_json $d $1 measure $2 receiver none '{"name": "nic", "state": "ok", "why": "", "files": ["net_sysctls"]}'
	printf 'net.ipv4.%s\n' 'tcp_congestion_control = bbr' 'tcp_ehash_entries = -262144' "tcp_rmem = 4096 $3 6291456" >$d/net_sysctls
	printf 'net.%s\n' "netfilter.nf_conntrack_count = $3" "core.busy_poll = ${4:-10}" >>$d/net_sysctls
}
own_rmem host 1 131072
own_rmem host 2 131072
own_rmem low 1 65536
own_rmem low 2 65536
own_rmem both 1 131072
own_rmem both 2 65536 1 # a part of the text 10
manifest facts "host low both" host/measure/1/ok host/measure/2/ok low/measure/1/ok low/measure/2/ok both/measure/1/ok both/measure/2/ok
sed -i 's/, "sender"//' facts/manifest.json
"$zcost" analyze facts >log 2>&1
# A run whose namespace has the host's sysctl has the host's value. Counts of connections are no sysctl of the store.
compare facts host low --table settings
compare facts low both --table settings
query facts "SELECT r.variant, repeat, f.name || '=' || value FROM fact f JOIN run r ON r.id = f.run WHERE f.name LIKE 'sysctl:%'"
report facts host
rm facts/hosts/vm/host.json facts/hosts/vm/sysctls
"$zcost" analyze facts >log 2>&1
report facts host
compare facts host low --table settings

golden_captures cap/zcost.db
done_testing
