#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Modules that come behind the first run of a capture. Where one of the earlier ones has moved, the run keeps its own symbols.
. "$(dirname "$0")/../lib.sh"
need root perf

mkdir proc
list() { printf '%s 4096 %d - Live 0x%s\n' "$@" >proc/modules; }
# as_now FILE: has the symbols of /proc/kallsyms. Other tests load BPF programs.
as_now() {
	grep -v '\[bpf\]$' "$1" >saved
	grep -v '\[bpf\]$' /proc/kallsyms | cmp saved -
}
collect() { "$zcost" collect -o "$1" --host-dir hosts --collect host -- true >log 2>&1 || { cat log; return 1; }; }
collect_fake() { ( export ZCOST_PROC="$PWD/proc"; collect "$1" ); }

list veth 0 ffffffffc0001000
ok "the first run saves the symbols of the host" collect first
cp proc/modules hosts/modules
list veth 7 ffffffffc0001000
ok "a run with the same modules succeeds" collect_fake same
ok "a second run with the same modules has no kallsyms of its own" test ! -e same/kallsyms
list veth 0 ffffffffc0001000 drv 0 ffffffffc0008000
echo stale >hosts/kallsyms
ok "a run with one more module succeeds" collect_fake more
ok "the host's symbols are saved again, and serve all runs" as_now hosts/kallsyms
ok "the run has none" test ! -e more/kallsyms
list veth 0 ffffffffc0002000
ok "a run with a module at another place succeeds" collect_fake moved
ok "it has the symbols of its time" as_now moved/kallsyms
ok "it has the kernel's build-id" cmp moved/notes /sys/kernel/notes
cp proc/modules hosts/modules
: >proc/modules
ok "a run without a module that is gone succeeds" collect_fake gone
ok "the host's symbols have it" test ! -e gone/kallsyms

# The analysis takes the names of the run before those of the host.
"$zcost" collect -o r --collect perf,host,cpu --duration 1 --grace 0 -- dd if=/dev/zero of=/dev/null bs=1M >log 2>&1
sed 's/ \([tTwW]\) \([a-z]\)/ \1 own_\2/' r/hosts/*/kallsyms >r/kallsyms
cp r/hosts/*/notes r/notes
"$zcost" analyze r >log 2>&1
"$zcost" report functions r --format tsv >out 2>err
ok "functions of the kernel have the names of the run" sh -c "grep -q '^own_' out || { cat out err; exit 1; }"
done_testing
