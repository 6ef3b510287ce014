#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The kernel's code from a fake /proc: the segments of kcore hold more than zcost copies.
. "$(dirname "$0")/../lib.sh"

# A core with two segments: 64 KiB of kernel, 8 KiB of modules. Each word of them is its address.
core() { # FILE
	perl -e 'my $head = pack("a4C5x7vvVQQQVvvvvvv", "\x7fELF", 2, 1, 1, 0, 0, 4, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0);
		my $byte = sub { join "", map { pack "V", $_[0] + 4 * $_ } 0 .. $_[1] / 4 - 1 };
		print $head, pack("VVQQQQQQ", 1, 7, 4096, 0xffffffff81000000, 0, 65536, 65536, 4096),
			pack("VVQQQQQQ", 1, 7, 4096 + 65536, 0xffffffffc0000000, 0, 8192, 8192, 4096);
		print "\0" x (4096 - 64 - 112), $byte->(0x81000000, 65536), $byte->(0xc0000000, 8192)' >"$1"
}
mkdir proc
core proc/kcore
printf 'ffffffff81000000 T _text\nffffffff81001000 T _stext\nffffffff81001040 T f\nffffffff81003000 T _etext\n' >proc/kallsyms
printf 'veth 4096 0 - Live 0xffffffffc0001000\nlost 4096 0 - Live 0xffffffffd0000000\n' >proc/modules
ZCOST_PROC=$scratch/proc
export ZCOST_PROC
collect() { exits "$1" "$zcost" collect -o "$2" --host-dir "$2.host" --collect kcore -- true; }

ok "collect copies the kernel's code" collect 0 r
segment() { # segment N: prints the number of segments, and address, size and first word of segment N
	perl -e 'open F, "<", "r.host/kcore" or exit 1; read F, $_, 4096; my $n = unpack "v", substr $_, 56, 2;
		my ($type, $flags, $at, $addr, undef, $size) = unpack "VVQQQQ", substr $_, 64 + 56 * $ARGV[0], 56;
		seek F, $at, 0; read F, my $first, 4; printf "%d %x %d %08x\n", $n, $addr, $size, unpack "V", $first' "$1"
}
ok "kcore has the kernel's code from _stext to _etext" test "$(segment 0)" = '2 ffffffff81001000 8192 81001000'
ok "kcore has the modules that /proc/kcore contains" test "$(segment 1)" = '2 ffffffffc0001000 4096 c0001000'
ok "only root can read the copied kcore" test "$(stat -c %a r.host/kcore)" = 600
touch -d 2001-01-01 r.host/kcore
cp -r r.host again.host
touch -d 2001-01-01 again.host/kcore
ok "collect succeeds when the host folder has a kcore" collect 0 again
ok "collect does not copy kcore twice for one host" test "$(stat -c %Y again.host/kcore)" = "$(date -d 2001-01-01 +%s)"

reason() { jq -r '.collectors[] | select(.name == "kcore") | .state + ": " + .why' "$1/run.json"; }
echo "no core" >proc/kcore
ok "collect exits 4 on a damaged kcore that was requested" collect 4 damaged
ok "run.json has the reason of the damaged kcore" sh -c "jq -r .collectors[].why damaged/run.json | grep -q 'no 64-bit core file'"
ok "no file is copied from a damaged kcore" test ! -e damaged.host/kcore
rm proc/kcore
ok "collect exits 4 on a kernel without /proc/kcore" collect 4 none
ok "run.json names CONFIG_PROC_KCORE" sh -c "jq -r .collectors[].why none/run.json | grep -q CONFIG_PROC_KCORE"

done_testing
