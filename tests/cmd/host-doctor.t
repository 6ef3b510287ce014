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
some=syscalls,events
for width in 30 60 80 120; do # in letters: what has no blank in it is not cut
	ok "--width $width" sh -c "'$zcost' doctor --width $width | awk -v w=$width '
		length > w && \$0 !~ /^ *(-> )?[^ ]+\$/ && !/^  [^ ].*: (yes|no|partly|note)\$/ { print; bad = 1 } END { exit bad }'"
	ok "  the same words" test "$("$zcost" doctor $some --width $width | tr -d ': \n')" = \
		"$("$zcost" doctor $some | tr -d ': \n')"
done
ok "--width 0: a line for each reason" test "$("$zcost" doctor $some --width 0 | grep -c '^  ')" = \
	"$("$zcost" doctor $some --format tsv 2>/dev/null | awk -F '\t' 'NR > 1 { n += 1 + ($5 != "") } END { print n }')"
ok "  and so in a pipe, whatever COLUMNS is" test "$(COLUMNS=60 "$zcost" doctor $some)" = "$("$zcost" doctor $some --width 0)"
"$zcost" doctor $some -o out.txt
ok "  and in a file" test "$("$zcost" doctor $some)" = "$(cat out.txt)"
if command -v script >/dev/null; then
	COLUMNS=60 script -qec "'$zcost' doctor $some" /dev/null </dev/null | tr -d '\r' >tty
	ok "on a terminal it has COLUMNS" test "$(cat tty)" = "$("$zcost" doctor $some --width 60)"
else
	skip "on a terminal" "needs script"
fi
"$zcost" doctor sysctls >out 2>&1
ok "a long name has a line of its own" sh -c "grep -A 1 -x '  net.core.netdev_max_backlog' out | grep -qE '^ {23}(yes|no|partly|note) +[^ ]'"
ok "all states stand in one column" sh -c "! grep -E '^  [^ ].{22,} (yes|no|partly|note)( |\$)' out"
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

while read -r list need why; do
	ok "doctor $list --need $need, which nobody looked at: exit 2" exits 2 "$zcost" doctor $list --need "$need"
	ok "  with what there is" says "$why" err
done <<'EOT'
power power/powr --need power/powr: there is no such check here; in power there are: [^ ]
zcrx zcrx/lo:0 --need zcrx/lo:0: .*in zcrx there are: kernel
path path --need path: without --rate and --rtt
EOT
PATH=/nonexistent "$zcost" doctor sysctls --need 'perf/perf record' >out 2>&1
ok "what is needed beside the LIST is looked at" is $? 1
ok "  and named as missing" says 'needed and missing: perf/perf record' out
for queue in --zcrx --devmem; do
	ok "$queue of none0:0: exit 1" exits 1 "$zcost" doctor --need cpus $queue none0:0
	ok "  though something else is needed" says "needed and missing: .*/none0:0" out
done
ok "a path without a rate" exits 0 "$zcost" doctor path
ok "  is not said to be there" says 'path: nothing was checked' out
ok "  " sh -c "! grep -q 'what is needed is there' out"
doctor nic
if [ "$(awk -F'\t' '$1 == "nic" && $2 == "header split" { print $3 }' tsv | sort -u)" = no ]; then
	for group in zcrx devmem; do
		ok "no interface: $group, exit 1" exits 1 "$zcost" doctor $group
		ok "  says so" says "needed and missing: .*$group/interfaces" out
	done
else
	skip "no interface: zcrx and devmem, exit 1" "one has header split, or there is none"
fi

doctor path --rate 100
ok "what is missing beside the rate" is "$(row path path why)" "the rate was given, but no round-trip time"
ok "how to give it" is "$(row path path todo)" "--rtt 0.1, in ms"
doctor path --rtt 1
ok "what is missing beside the time" is "$(row path path why)" "the round-trip time was given, but no rate"
doctor path
ok "neither" is "$(row path path why)" "rate and round-trip time were not given"
ok "an option of a check that is not looked at, exit 2" exits 2 "$zcost" doctor perf,power --rtt 1
ok "says where it belongs" says "--rtt means nothing for 'perf,power'; it goes with path" err
ok "one of several it belongs to" exits 0 "$zcost" doctor path,sysctls --rate 100

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
mkdir -p proc/sys/vm sys/kernel/mm/transparent_hugepage
echo 0 >proc/sys/vm/nr_hugepages
why_huge() { # ENABLED: what is said of huge pages then
	echo "$1" >sys/kernel/mm/transparent_hugepage/enabled
	doctor sysctls
	row sysctls hugepages why
}
ok "huge pages: the transparent ones" is "$(why_huge 'always [madvise] never')" \
	"none reserved: tcpzc --huge-pages takes transparent ones (always [madvise] never)"
ok "huge pages: none of either kind" is "$(why_huge 'always madvise [never]')" \
	"none reserved, transparent ones are off: tcpzc --huge-pages is refused"
echo 12 >proc/sys/vm/nr_hugepages
ok "huge pages: some" is "$(why_huge 'always madvise [never]')" "12 reserved"
doctor --rate 100 --rtt 1
ok "few notifications in flight" is "$(row msg_zerocopy optmem_max state)" partly
echo 131072 >proc/sys/net/core/optmem_max
doctor msg_zerocopy
ok "enough of them" is "$(row msg_zerocopy optmem_max state)" yes
doctor --rate 100 --rtt 1
ok "hidden kernel symbols" is "$(row perf 'kernel symbols' state)" no
ok "a governor that saves power" is "$(row cpus governor state)" partly
# 100e9 / 8 x 1e-3 = 12.5 MB; 25 MB twice
ok "the path's product" is "$(row path product why)" "100 Gbit/s x 1 ms = 12.500 MB in flight"
ok "a window that does not hold it" is "$(row path net.ipv4.tcp_rmem state)" partly
ok "what would" is "$(row path net.ipv4.tcp_rmem todo)" "sysctl net.ipv4.tcp_rmem='4096 131072 25065536'"
printf '8192\t65536\t4194304\n' >proc/sys/net/ipv4/tcp_wmem
doctor path --rate 100 --rtt 1
ok "the host's own least and usual size stay" is "$(row path net.ipv4.tcp_wmem todo)" \
	"sysctl net.ipv4.tcp_wmem='8192 65536 25065536'"
# 12.5e6 / 4096 = 3051.8 pages in flight; at 10 ms 30518, at 11 ms 33570
ok "memory for it" is "$(row path 'zcrx area' state)" note
ok "in pages" says 'at least 3052 pages' tsv
doctor path --rate 100 --rtt 10
ok "one refill ring of 32768 holds 30518" is "$(row path 'zcrx area' state)" note
doctor path --rate 100 --rtt 11
ok "but not 33570" is "$(row path 'zcrx area' why | cut -d' ' -f1)" 33570
ok "which is no fit" is "$(row path 'zcrx area' state)" partly
# 1e9 / 8 x 10 s = 1.25 GB, twice that is above INT_MAX
doctor path --rate 1 --rtt 10000
ok "no more than the kernel takes" is "$(row path net.ipv4.tcp_rmem todo)" \
	"sysctl net.ipv4.tcp_rmem='4096 131072 2147483647'"
ok "  is said not to do" sh -c "grep -q '2500.00 MB, more than the kernel takes (2147.48 MB)' tsv"
printf '4096\t131072\t2147483647\n' >proc/sys/net/ipv4/tcp_rmem
doctor path --rate 1 --rtt 10000
ok "  and is not proposed twice" is "$(row path net.ipv4.tcp_rmem todo)" ""
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
cleanup() { ip link del $nic 2>/dev/null; }
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
ok "by its name, with those there are" says "no interface 'none0' in this network namespace; there are: (.*, )?lo" tsv
for need in "" "--need perf" "nic"; do
	ok "it was asked for, exit 1 ($need)" sh -c "'$zcost' doctor --nic none0 $need >out 2>&1; test \$? = 1"
	ok "and is named as missing ($need)" says 'needed and missing: .*nic/interfaces' out
done

ok "the path of an interface that is none, exit 1" exits 1 "$zcost" doctor path --nic none0 --rate 1 --rtt 1
"$zcost" doctor devmem --format tsv >tsv 2>notes
ok "receiving into device memory: there, or why not" sh -c "grep -E '^devmem	kernel	(yes|no)	' tsv | grep -Eq 'the kernel has it|CONFIG_NET_DEVMEM|6\.3|CAP_NET_ADMIN'"
ok "sending out of it" sh -c "grep -E '^devmem	sending	(yes|no)	' tsv | grep -Eq 'the kernel has it|CONFIG_NET_DEVMEM|6\.16|CAP_NET_ADMIN'"
ok "no sending where there is no receiving" sh -c "! grep -q '^devmem	kernel	no' tsv || grep -q '^devmem	sending	no' tsv"

for bad in 0 -1 x inf nan 1e3x ''; do
	ok "a rate of '$bad', exit 2" exits 2 "$zcost" doctor --rate "$bad"
	ok "says so" says "'$bad' is not a number" err
done

as_nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$@"
}
chmod a+rx "$scratch"
cp "$zcost" zcost && chmod a+rx zcost # the checkout may be out of bounds
if [ "$(id -u)" = 0 ] && as_nobody test -x "$scratch/zcost"; then
	as_nobody ./zcost doctor --format tsv >tsv 2>notes
	ok "as nobody it still tells" sh -c "test \$(wc -l <tsv) -gt 20"
	ok "without rights, no accounting" is "$(row syscalls bpf state)" partly
	ok "zcrx wants CAP_NET_ADMIN, or is not there" is "$(row zcrx kernel state)" no
else
	for t in "as nobody it still tells" "without rights, no accounting" "zcrx wants CAP_NET_ADMIN, or is not there"; do
		skip "$t" "no root, no setpriv, or nobody may not enter $scratch"
	done
fi

done_testing
