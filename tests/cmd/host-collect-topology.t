#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# CPUs, caches and memory nodes, from the fake sysfs of another host: two sockets, SMT, a CPU offline.
. "$(dirname "$0")/../lib.sh"

# Sockets of four cores. CPUs n and n + 8 are one core. CPU 15 is offline. Each core has an L2, each socket an L3.
cpu() { # cpu N PACKAGE CORE SIBLINGS SOCKET_CPUS
	d=sys/devices/system/cpu/cpu$1
	mkdir -p $d/topology $d/node$2 $d/cache/index0 $d/cache/index1 $d/power
	echo $2 >$d/topology/physical_package_id
	echo 0 >$d/topology/die_id
	echo $3 >$d/topology/core_id
	echo $4 >$d/topology/thread_siblings_list
	echo 2 >$d/cache/index0/level; echo Unified >$d/cache/index0/type
	echo 1024K >$d/cache/index0/size; echo $4 >$d/cache/index0/shared_cpu_list
	echo 3 >$d/cache/index1/level; echo Unified >$d/cache/index1/type
	echo 16384K >$d/cache/index1/size; echo $5 >$d/cache/index1/shared_cpu_list
}
for c in 0 1 2 3; do
	cpu $c 0 $c $c,$((c + 8)) 0-3,8-11
	cpu $((c + 8)) 0 $c $c,$((c + 8)) 0-3,8-11
	[ $c = 3 ] && continue
	cpu $((c + 4)) 1 $c $((c + 4)),$((c + 12)) 4-7,12-14
	cpu $((c + 12)) 1 $c $((c + 4)),$((c + 12)) 4-7,12-14
done
cpu 7 1 3 7 4-7,12-14
echo 0-14 >sys/devices/system/cpu/online
for n in 0 1; do
	d=sys/devices/system/node/node$n
	mkdir -p $d
	[ $n = 0 ] && echo 0-3,8-11 >$d/cpulist || echo 4-7,12-15 >$d/cpulist
	[ $n = 0 ] && echo 10 21 >$d/distance || echo 21 10 >$d/distance
	printf 'Node %d MemTotal:       65536000 kB\nNode %d MemFree: 1 kB\n' $n $n >$d/meminfo
done
ZCOST_SYSFS=$PWD/sys
export ZCOST_SYSFS

json() { jq -er "$1" r/hosts/*/host.json; }
is() { # is EXPECTED JQ
	got=$(json "$2")
	[ "$got" = "$1" ] || { echo "got '$got', expected '$1'"; json '.topology, .caches, .nodes'; return 1; }
}
ok "collect reads the fake sysfs of a host with two sockets" sh -c "'$zcost' collect -o r --collect host -- true; test -e r/run.json"
ok "host.json lists the 15 online CPUs" is 15 '.topology | length'
ok "host.json has socket, die, node, core and siblings of a CPU" is "1 0 1 2 6,14" \
	'.topology[14] | [.package, .die, .node, .core, .siblings] | join(" ")'
ok "host.json lists each cache once" is "8 of 2, 2 of 3" '[.caches | group_by(.level)[] | "\(length) of \(.[0].level)"] | join(", ")'
ok "host.json has the CPUs that share a cache" is "4-7,12-14" '.caches[] | select(.level == "3" and (.cpus | startswith("4"))) | .cpus'
ok "host.json has the CPUs, memory and distances of a node" is "4-7,12-15 65536000 kB 21 10" '.nodes[1] | [.cpus, .memory, .distances] | join(" ")'

rm -r sys/devices/system/node sys/devices/system/cpu/cpu*/cache
rm -r r
ok "collect reads a sysfs without caches and nodes" sh -c "'$zcost' collect -o r --collect host -- true; test -e r/run.json"
ok "host.json has empty lists for missing caches and nodes" is "[] [] null" '[(.caches | tostring), (.nodes | tostring), (.topology[0].size | tostring)] | join(" ")'
unset ZCOST_SYSFS

rm -r r
ok "collect reads this host's sysfs" exits 0 "$zcost" collect -o r --collect host -- true
ok "host.json lists this host's online CPUs" is "$(getconf _NPROCESSORS_ONLN)" '.topology | length'
ok "analyze accepts this host's topology" exits 0 "$zcost" analyze r
ok "report topology succeeds" exits 0 "$zcost" report topology r
ok "report topology shows which CPUs the side has" says 'side +run local .*all CPUs' out
done_testing
