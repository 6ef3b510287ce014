#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost doctor: on this host, on fake hosts, and with this kernel's own errors.
. "$(dirname "$0")/../lib.sh"

row() { # row GROUP CHECK COLUMN: the value in the last tsv
	tsv '$1 == g && $2 == k { print $at[c] }' g="$1" k="$2" c="$3" tsv
}
doctor() { "$zcost" doctor --format tsv "$@" >tsv 2>notes; }

doctor
status=$?
ok "doctor exits 0 or names what is needed and missing" sh -c "test $status = 0 || grep -q 'needed and missing: ' notes"
ok "every group has rows" is "$(awk -F'\t' 'NR > 1 { print $1 }' tsv | uniq | tr '\n' ' ')" \
	"perf syscalls events power io_uring msg_zerocopy zcrx devmem nic sysctls cpus path "
ok "every state is yes, no, partly or note" sh -c "! awk -F'\t' 'NR > 1 { print \$3 }' tsv | grep -vxE 'yes|no|partly|note'"
ok "every row has a reason" sh -c "! awk -F'\t' 'NR > 1 && \$4 == \"\"' tsv | grep ."
some=syscalls,events
for width in 60 80 120; do # doctor does not break a word
	ok "--width $width wraps every line that has a blank" sh -c "'$zcost' doctor --width $width | awk -v w=$width '
		length > w && \$0 !~ /^ *(-> )?[^ ]+\$/  { print; bad = 1 } END { exit bad }'"
	ok "--width $width prints the same words as the default" test "$("$zcost" doctor $some --width $width | tr -d ': \n')" = \
		"$("$zcost" doctor $some | tr -d ': \n')"
done
ok "--width 0 prints one line per reason" test "$("$zcost" doctor $some --width 0 | grep -c '^  ')" = \
	"$("$zcost" doctor $some --format tsv 2>/dev/null | awk -F '\t' 'NR > 1 { n += 1 + ($5 != "") } END { print n }')"
ok "output into a pipe is not wrapped, whatever COLUMNS is" test "$(COLUMNS=60 "$zcost" doctor $some)" = "$("$zcost" doctor $some --width 0)"
"$zcost" doctor $some -o out.txt
ok "output into a file is not wrapped" test "$("$zcost" doctor $some)" = "$(cat out.txt)"
if command -v script >/dev/null; then
	COLUMNS=60 script -qec "'$zcost' doctor $some" /dev/null </dev/null | tr -d '\r' >tty
	ok "output on a terminal has the width of COLUMNS" test "$(cat tty)" = "$("$zcost" doctor $some --width 60)"
else
	skip "output on a terminal has the width of COLUMNS" "needs script"
fi
"$zcost" doctor sysctls >out 2>&1
ok "a long name has a separate line" sh -c "grep -A 1 -x '  net.core.netdev_max_backlog' out | grep -qE '^ {23}(yes|no|partly|note) +[^ ]'"
ok "all states are in one column" sh -c "! grep -E '^  [^ ].{22,} (yes|no|partly|note)( |\$)' out"
ok "--format json prints all rows" sh -c "'$zcost' doctor --format json | jq -e '.rows | length > 20' >/dev/null"

PATH=/nonexistent "$zcost" doctor perf --format tsv >tsv 2>notes
ok "doctor perf exits 1 without perf" is $? 1
ok "doctor reports perf record as missing" is "$(row perf 'perf record' state)" no
ok "doctor names the package to install" sh -c "grep -q 'linux-perf' tsv"
ok "a note lists perf record as needed and missing" says 'needed and missing: perf/perf record' notes
PATH=/nonexistent "$zcost" doctor perf --need io_uring >tsv 2>&1
ok "doctor exits 0 without perf when --need asks for io_uring only" is $? 0
ok "an unknown check is a usage error" exits 2 "$zcost" doctor bogus
ok "an unknown check in --need is a usage error" exits 2 "$zcost" doctor --need bogus
ok "a negative --rate is a usage error" exits 2 "$zcost" doctor --rate -5
ok "--zcrx without a queue is a usage error" exits 2 "$zcost" doctor --zcrx eth0

ok "doctor path without a rate is a usage error" exits 2 "$zcost" doctor path
ok "the error asks for rate and round-trip time" says 'path: this group needs --rate and --rtt' err
PATH=/nonexistent "$zcost" doctor sysctls --need perf >out 2>&1
ok "--need checks a group that is not in the list" is $? 1
ok "a note lists the check of --need as missing" says 'needed and missing: perf/perf record' out
for queue in --zcrx --devmem; do
	ok "doctor $queue none0:0 exits 1" exits 1 "$zcost" doctor --need cpus $queue none0:0
	ok "doctor $queue none0:0 fails also when --need asks for another group" says "needed and missing: .*/none0:0" out
done
doctor nic
if [ "$(awk -F'\t' '$1 == "nic" && $2 == "header split" { print $3 }' tsv | sort -u)" = no ]; then
	for group in zcrx devmem; do
		ok "doctor $group exits 1 without an interface with header split" exits 1 "$zcost" doctor $group
		ok "a note lists $group/interfaces as missing" says "needed and missing: .*$group/interfaces" out
	done
else
	skip "doctor zcrx and devmem exit 1 without an interface with header split" "one has header split, or there is none"
fi

ok "an option of a group that is not checked is a usage error" exits 2 "$zcost" doctor perf,power --rtt 1
ok "the error names the group of the option" says "--rtt does not apply to 'perf,power'; it applies to path" err
ok "an option is accepted when one of the groups has it" exits 0 "$zcost" doctor path,sysctls --rate 100 --rtt 1

mkdir -p proc/sys/net/core proc/sys/net/ipv4 proc/sys/kernel sys/devices/system/cpu/cpu0/cpufreq
echo 212992 >proc/sys/net/core/rmem_max
echo 20480 >proc/sys/net/core/optmem_max
printf '4096\t131072\t6291456\n' >proc/sys/net/ipv4/tcp_rmem
echo 2 >proc/sys/kernel/kptr_restrict
echo powersave >sys/devices/system/cpu/cpu0/cpufreq/scaling_governor
export ZCOST_PROC="$PWD/proc" ZCOST_SYSFS="$PWD/sys"
doctor --rate 100 --rtt 1
ok "a small rmem_max is partly enough" is "$(row sysctls net.core.rmem_max state)" partly
ok "a sysctl that the kernel lacks is a note" is "$(row sysctls net.core.wmem_max state)" note
ok "a small optmem_max is partly enough" is "$(row msg_zerocopy optmem_max state)" partly
echo 131072 >proc/sys/net/core/optmem_max
doctor msg_zerocopy
ok "a large optmem_max is enough" is "$(row msg_zerocopy optmem_max state)" yes
doctor --rate 100 --rtt 1
ok "hidden kernel symbols are reported as missing" is "$(row perf 'kernel symbols' state)" no
ok "the governor powersave is partly suitable" is "$(row cpus governor state)" partly
# 100e9 / 8 x 1e-3 = 12.5 MB; 25 MB twice
ok "the path's product is 12.5 MB at 100 Gbit/s and 1 ms" is "$(row path product why)" "100 Gbit/s x 1 ms = 12.500 MB in flight"
ok "a tcp_rmem below the path's product is partly enough" is "$(row path net.ipv4.tcp_rmem state)" partly
ok "doctor proposes a tcp_rmem for the path" is "$(row path net.ipv4.tcp_rmem todo)" "sysctl net.ipv4.tcp_rmem='4096 131072 25065536'"
printf '8192\t65536\t4194304\n' >proc/sys/net/ipv4/tcp_wmem
doctor path --rate 100 --rtt 1
ok "the proposal leaves the minimum and the default of tcp_wmem unchanged" is "$(row path net.ipv4.tcp_wmem todo)" \
	"sysctl net.ipv4.tcp_wmem='8192 65536 25065536'"
# 1e9 / 8 x 10 s = 1.25 GB, twice that is above INT_MAX
doctor path --rate 1 --rtt 10000
ok "the proposed tcp_rmem is at most the kernel's maximum" is "$(row path net.ipv4.tcp_rmem todo)" \
	"sysctl net.ipv4.tcp_rmem='4096 131072 2147483647'"
ok "doctor reports that the kernel's maximum is too small" sh -c "grep -q '2500.00 MB, more than the kernel accepts (2147.48 MB)' tsv"
printf '4096\t131072\t2147483647\n' >proc/sys/net/ipv4/tcp_rmem
doctor path --rate 1 --rtt 10000
ok "doctor does not propose a value that is already set" is "$(row path net.ipv4.tcp_rmem todo)" ""
unset ZCOST_PROC ZCOST_SYSFS

doctor zcrx --zcrx lo:0
if [ "$(id -u)" = 0 ] && [ "$(row zcrx kernel state)" = yes ]; then
	ok "zcrx on loopback fails with the kernel's reason" is "$(row zcrx lo:0 why | cut -d: -f1)" "Operation not supported"
	ok "zcrx on loopback names NICs that support zcrx" sh -c "grep -q 'use a NIC that is known' tsv"
	doctor zcrx --zcrx none0:0
	ok "zcrx on a missing interface fails with the kernel's reason" is "$(row zcrx none0:0 why | cut -d: -f1)" "No such device"
else
	skip "zcrx on loopback fails with the kernel's reason" "no zcrx in this kernel, or no root: $(row zcrx kernel why)"
fi
doctor devmem --devmem none0:0
ok "devmem on a missing interface fails with the kernel's reason" is "$(row devmem none0:0 why | cut -d: -f1)" "No such device"

nic=zcd$$
cleanup() { ip link del $nic 2>/dev/null; }
if ip link add $nic type veth peer name ${nic}p 2>/dev/null; then
	ip link set $nic up
	doctor nic --nic $nic
	ok "doctor nic names the driver of a veth" is "$(row nic $nic why | cut -d, -f1)" veth
	ok "a veth has no header split" is "$(row nic 'header split' state)" no
	ip link del $nic
else
	skip "a veth has no header split" "no veth can be made here"
fi
doctor nic --nic none0
ok "--nic with a missing interface gives the state no" is "$(row nic interfaces state)" no
ok "doctor names the missing interface and those there are" says "no interface 'none0' in this network namespace; there are: (.*, )?lo" tsv
for need in "" "--need perf" "nic"; do
	ok "doctor --nic none0 $need exits 1" sh -c "'$zcost' doctor --nic none0 $need >out 2>&1; test \$? = 1"
	ok "doctor --nic none0 $need lists nic/interfaces as missing" says 'needed and missing: .*nic/interfaces' out
done

ok "doctor path on a missing interface exits 1" exits 1 "$zcost" doctor path --nic none0 --rate 1 --rtt 1
"$zcost" doctor devmem --format tsv >tsv 2>notes
ok "doctor reports whether devmem can receive, with a reason" sh -c "grep -E '^devmem	kernel	(yes|no)	' tsv | grep -Eq 'the kernel has it|net_devmem_bind_dmabuf: it is older than 6\.12|6\.3|CAP_NET_ADMIN'"
what="doctor says that this kernel can receive by devmem: CONFIG_NET_DEVMEM=y"
if [ "$(id -u)" = 0 ] && { zcat /proc/config.gz || cat "/boot/config-$(uname -r)"; } 2>/dev/null | grep -q '^CONFIG_NET_DEVMEM=y'; then
	ok "$what" grep -q '^devmem	kernel	yes' tsv
else
	skip "$what" "root and a kernel with it"
fi
ok "doctor reports whether devmem can send, with a reason" sh -c "grep -E '^devmem	sending	(yes|no)	' tsv | grep -Eq 'the kernel has it|CONFIG_NET_DEVMEM|6\.16|CAP_NET_ADMIN'"
ok "devmem cannot send where it cannot receive" sh -c "! grep -q '^devmem	kernel	no' tsv || grep -q '^devmem	sending	no' tsv"

for bad in 0 -1 x inf nan 1e3x ''; do
	ok "--rate '$bad' is a usage error" exits 2 "$zcost" doctor --rate "$bad"
	ok "the error about --rate '$bad' says that it is not a number" says "'$bad' is not a number" err
done

as_nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$@"
}
chmod a+rx "$scratch"
cp "$zcost" zcost && chmod a+rx zcost # nobody may not be able to enter the checkout
if [ "$(id -u)" = 0 ] && as_nobody test -x "$scratch/zcost"; then
	as_nobody ./zcost doctor --format tsv >tsv 2>notes
	ok "doctor reports as nobody" sh -c "test \$(wc -l <tsv) -gt 20"
	ok "nobody has BPF only partly" is "$(row syscalls bpf state)" partly
	ok "nobody has no zcrx" is "$(row zcrx kernel state)" no
else
	skip "doctor reports as nobody" "no root, no setpriv, or nobody may not enter $scratch"
fi

done_testing
