#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Addresses in BPF programs: zcost counts system calls with two BPF programs, which run while perf records.
. "$(dirname "$0")/../lib.sh"
. "$tests/perfdata.sh"

need perf
perf record -q -a -e cpu-clock -o probe.data true 2>/dev/null || skip_all "perf cannot record here"
[ "$(cat /proc/sys/net/core/bpf_jit_enable 2>/dev/null)" != 0 ] || skip_all "BPF is not compiled here"
"$zcost" collect -o probe --collect syscalls --syscalls-method bpf -- true >probe.log 2>&1 ||
	skip_all "no BPF here: $(tail -n 1 probe.log)"

# On all CPUs: only there perf records that another process unloads a program, and perf uses a program's name for
# the next one at its address. User space of other processes is not compared.
record() { command perf record -q $(buffer 32) -a -g -e cpu-clock -F 5000 "$@"; }
alike() { ZC_ROWS='^(bpf_prog|\[unknown\]	0xffffffffc)' perl "$compare" "$1" "$dump"; }

named() { # named FILE: both programs have the same rows as in perf
	alike "$1" && "$dump" functions "$1" >out &&
		says 'bpf_prog_[0-9a-f]{16}_zcost_enter	bpf_prog_[0-9a-f]{16}_zcost_enter	0	[1-9]' out &&
		says 'bpf_prog_[0-9a-f]{16}_zcost_exit	bpf_prog_[0-9a-f]{16}_zcost_exit	0	[1-9]' out
}

# The programs are loaded after perf starts and gone before the file is read: only the recording has them.
loaded_later() {
	rm -rf later
	record -o later.data -- "$zcost" collect -o later --collect syscalls --syscalls-method bpf -- \
		dd if=/dev/zero of=/dev/null bs=1 count=400000 >later.log 2>&1 || { cat later.log; return 1; }
	named later.data
}
steady "BPF programs that are loaded while perf records have perf's names" loaded_later

# The programs are there before: perf records them at its start.
loaded_before() {
	rm -rf before
	"$zcost" collect -o before --collect syscalls --syscalls-method bpf -- perf record -q $(buffer 32) -a -g \
		-e cpu-clock -F 5000 -o before.data -- dd if=/dev/zero of=/dev/null bs=1 count=400000 >before.log 2>&1 ||
		{ cat before.log; return 1; }
	named before.data
}
steady "BPF programs that are loaded before perf starts have perf's names" loaded_before

# perf does not record the programs, and they are gone: addresses without an object.
untold() {
	rm -rf untold
	record --no-bpf-event -o untold.data -- "$zcost" collect -o untold --collect syscalls --syscalls-method bpf \
		-- dd if=/dev/zero of=/dev/null bs=1 count=200000 >untold.log 2>&1 || { cat untold.log; return 1; }
	alike untold.data
}
steady "BPF programs without perf's records have the same symbols as in perf" untold

done_testing
