#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Without root: what can be measured is, and every refusal names the way out.
. "$(dirname "$0")/../lib.sh"

[ "$(id -u)" = 0 ] || skip_all "becoming somebody else needs root"
command -v setpriv >/dev/null || skip_all "no setpriv here"

chmod 755 .
cp "$zcost" zcost && chmod 755 zcost # the checkout may be out of bounds
mkdir home && chown 65534 home
as_nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$@"
}
as_nobody test -x "$scratch/zcost" || skip_all "nobody may not enter $scratch: set TMPDIR"
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)

nobody() {
	(cd home && as_nobody ../zcost collect -o r "$@") >out 2>err
	got=$?
	[ "$got" = "$code" ] || { echo "exit $got, expected $code"; cat err; return 1; }
}

state() {
	jq -r ".collectors[] | select(.name == \"$1\") | .state" home/r/run.json
}

code=4
ok "the default as nobody: done, but degraded" nobody --verbose --collect all -- sh -c 'echo hello'
ok "the run is complete" test "$(jq -r .status home/r/run.json)" = ok
ok "the command ran" says hello home/r/workload.out
ok "CPU time is measured" test "$(state cpu)" = ok
ok "the network softirq too" test "$(state softnet)" = ok
ok "system calls are not" test "$(state syscalls)" = unsupported
ok "BPF: the way out" says 'syscalls: .*bpf: BPF is not permitted: run as root, or with CAP_BPF and CAP_PERFMON' err
ok "tracepoints: the way out" says 'tracepoint: tracepoints are not permitted: run as root' err
if [ "$paranoid" -ge 1 ]; then
	ok "the profile is not" test "$(state perf)" = unsupported
	ok "perf: the way out" says "perf: .*run as root, or with CAP_PERFMON, or set kernel.perf_event_paranoid" err
	ok "counters: the way out" says "counters: .*kernel.perf_event_paranoid to -1 \(it is $paranoid\)" err
else
	skip "the profile is not" "kernel.perf_event_paranoid is $paranoid"
fi
stext() { # stext FILE: its line; the first symbols may be at 0 for everybody
	grep -m 1 ' _stext$' "$1"
}
if as_nobody cat /proc/kallsyms | stext - | grep -q '^0* '; then
	ok "symbols without addresses are no symbols" says 'host: .*kptr_restrict' err
	cp -r home/r/hosts/* y && ./zcost collect -o r2 --host-dir y --collect host -- true
	ok "they are saved again once they can be" test "$(stext y/kallsyms)" = "$(stext /proc/kallsyms)"
else
	ok "symbols are readable here" test "$(state host)" = ok
fi
mkdir -p z && cp home/r/hosts/*/host.json z
# As a kernel before 6.15 lists them.
printf '%s\n' '0000000000000000 A fixed_percpu_data' '0000000000001000 A cpu_debug_store' >z/kallsyms
./zcost collect -o r2 --host-dir z --collect host -- true
ok "a first symbol at 0 does not make them such" grep -q fixed_percpu_data z/kallsyms

code=0
ok "what needs no right" nobody --collect softnet,cpu -- sleep 0.1
ok "is measured without a word" test "$(cat err)" = "zcost: r: the run that was in it is replaced"
code=4
if [ "$paranoid" -ge 1 ]; then
	ok "the measure pass" nobody --pass measure -- sleep 0.1
	ok "says what it left out, once" test "$(grep -c '^zcost: not measured here: .*counters' err)" = 1
	ok "asked for a profile, and could not" nobody --pass profile -- true
else
	skip "the measure pass" "kernel.perf_event_paranoid is $paranoid"
fi

mkdir sys sys/class sys/class/powercap sys/class/powercap/intel-rapl:0
echo 1 >sys/class/powercap/intel-rapl:0/energy_uj
chmod 400 sys/class/powercap/intel-rapl:0/energy_uj
ZCOST_SYSFS=$PWD/sys
export ZCOST_SYSFS
ok "energy counters that only root may read" nobody --collect power -- true
ok "say so" says 'power: .*not readable: run as root' err
mkdir -p sys/class/hwmon/hwmon0
echo power_meter >sys/class/hwmon/hwmon0/name
echo 231500000 >sys/class/hwmon/hwmon0/power1_average
code=0
ok "beside a meter that everyone may read" nobody --collect power -- true
ok "it is measured" test "$(state power)" = ok
ok "and what was left out is told" says 'energy counters are there but not readable: run as root' home/r/run.json
unset ZCOST_SYSFS

code=1
ok "a folder one may not write" nobody -o /proc/r -- true
ok "is named" says '/proc/r: cannot make the folder' err

done_testing
