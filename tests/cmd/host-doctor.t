#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost doctor: on this host, on made-up ones, with the real refusals of this kernel.
. "$(dirname "$0")/../lib.sh"

row() { # GROUP CHECK COLUMN of the last tsv
	awk -F'\t' -v g="$1" -v k="$2" -v c="$3" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$1 == g && $2 == k { print $at[c] }' tsv
}
is() { [ "$1" = "$2" ] || { echo "got '$1', expected '$2'"; cat tsv; return 1; }; }
doctor() { "$zcost" doctor --format tsv "$@" >tsv 2>notes; }

doctor
status=$?
ok "says whether what is needed is there" sh -c "test $status = 0 || grep -q 'needed and missing: ' notes"
ok "every group has findings" is "$(awk -F'\t' 'NR > 1 { print $1 }' tsv | uniq | tr '\n' ' ')" \
	"perf syscalls events power io_uring msg_zerocopy zcrx devmem nic sysctls cpus path "
ok "states are the four" sh -c "! awk -F'\t' 'NR > 1 { print \$3 }' tsv | grep -vxE 'yes|no|partly|note'"
ok "no reason is missing" sh -c "! awk -F'\t' 'NR > 1 && \$4 == \"\"' tsv | grep ."
ok "text has 80 columns at most" sh -c "COLUMNS=80 '$zcost' doctor | awk 'length > 80 { print; bad = 1 } END { exit bad }'"
ok "json" sh -c "'$zcost' doctor --format json | jq -e '.rows | length > 20' >/dev/null"

PATH=/nonexistent "$zcost" doctor perf --format tsv >tsv 2>notes
ok "without perf, exit 1" is $? 1
ok "with the reason" is "$(row perf 'perf record' state)" no
ok "and what to install" sh -c "grep -q 'linux-perf' tsv"
ok "named as missing" says 'needed and missing: perf/perf record' notes
PATH=/nonexistent "$zcost" doctor perf --need io_uring >tsv 2>&1
ok "unless it is not needed" is $? 0
ok "an unknown check, exit 2" exits 2 "$zcost" doctor bogus
ok "in --need too" exits 2 "$zcost" doctor --need bogus
ok "no rate, exit 2" exits 2 "$zcost" doctor --rate -5
ok "no queue, exit 2" exits 2 "$zcost" doctor --zcrx eth0

mkdir -p proc/sys/net/core proc/sys/net/ipv4 proc/sys/kernel sys/devices/system/cpu/cpu0/cpufreq
echo 212992 >proc/sys/net/core/rmem_max
echo 20480 >proc/sys/net/core/optmem_max
printf '4096\t131072\t6291456\n' >proc/sys/net/ipv4/tcp_rmem
echo 2 >proc/sys/kernel/kptr_restrict
echo powersave >sys/devices/system/cpu/cpu0/cpufreq/scaling_governor
export ZCOST_PROC="$PWD/proc" ZCOST_SYSFS="$PWD/sys"
doctor --rate 100 --rtt 1
ok "a small buffer" is "$(row sysctls net.core.rmem_max state)" partly
ok "one that this kernel lacks" is "$(row sysctls net.core.wmem_max state)" note
ok "few notifications in flight" is "$(row msg_zerocopy optmem_max state)" partly
ok "hidden kernel symbols" is "$(row perf 'kernel symbols' state)" no
ok "a governor that saves power" is "$(row cpus governor state)" partly
# 100e9 / 8 x 1e-3 = 12.5 MB; 25 MB twice
ok "the path's product" is "$(row path product why)" "100 Gbit/s x 1 ms = 12.500 MB in flight"
ok "a window that does not hold it" is "$(row path net.ipv4.tcp_rmem state)" partly
ok "what would" is "$(row path net.ipv4.tcp_rmem todo)" "sysctl net.ipv4.tcp_rmem='4096 131072 25065536'"
unset ZCOST_PROC ZCOST_SYSFS

doctor zcrx --zcrx lo:0
if [ "$(id -u)" = 0 ] && [ "$(row zcrx kernel state)" = yes ]; then
	ok "loopback is refused, with the reason" is "$(row zcrx lo:0 why | cut -d: -f1)" "Operation not supported"
	ok "and NICs that would do" sh -c "grep -q 'NICs known' tsv"
	doctor zcrx --zcrx none0:0
	ok "an interface that is not there" is "$(row zcrx none0:0 why | cut -d: -f1)" "No such device"
else
	for t in "loopback is refused, with the reason" "and NICs that would do" "an interface that is not there"; do
		skip "$t" "no zcrx in this kernel, or no root: $(row zcrx kernel why)"
	done
fi
doctor devmem --devmem none0:0
ok "devmem on no interface" is "$(row devmem none0:0 why | cut -d: -f1)" "No such device"

nic=zcd$$
if ip link add $nic type veth peer name ${nic}p 2>/dev/null; then
	ip link set $nic up
	doctor nic --nic $nic
	ok "an interface: its driver" is "$(row nic $nic why | cut -d, -f1)" veth
	ok "that has no header split" is "$(row nic 'header split' state)" no
	ip link del $nic
else
	skip "an interface: its driver" "no veth can be made here"
	skip "that has no header split" "no veth can be made here"
fi
doctor nic --nic none0
ok "an interface that is none" is "$(row nic interfaces state)" no

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod a+rx "$scratch"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$zcost" doctor --format tsv >tsv 2>notes
	ok "as nobody it still tells" sh -c "test \$(wc -l <tsv) -gt 20"
	ok "without rights, no accounting" is "$(row syscalls bpf state)" partly
	ok "zcrx wants CAP_NET_ADMIN, or is not there" is "$(row zcrx kernel state)" no
else
	for t in "as nobody it still tells" "without rights, no accounting" "zcrx wants CAP_NET_ADMIN, or is not there"; do
		skip "$t" "no root, or no setpriv"
	done
fi

done_testing
