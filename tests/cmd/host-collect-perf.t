#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The profile: only samples of the window, and all that explains them beside it.
. "$(dirname "$0")/../lib.sh"

[ "$(id -u)" = 0 ] || skip_all "a profile of whole CPUs needs root"
command -v perf >/dev/null || skip_all "no perf here"

# A program that runs nowhere else: an interpreter under a name of its own.
cp "$(readlink -f "$(command -v sh)")" zc-busy
# It never ends by itself, and is in the kernel now and then.
busy='while :; do i=0; while [ $i -lt 50 ]; do i=$((i+1)); done; : </dev/null; done'
# A home of its own shows whether perf leaves anything in a build-id cache.
HOME=$PWD/home
export HOME
mkdir home

# Perf is on from a little before the window to a little after it: the reader cuts by the samples' times.
inside() {
	perf script -i r/perf.data -F time 2>/dev/null | tr -d ': ' >times
	jq -r '.window | "\(.start_ns) \(.end_ns)"' r/run.json >window
	awk 'NR == FNR { from = $1 / 1e9 - 0.5; to = $2 / 1e9 + 0.5; next }
		$1 < from || $1 > to { print $1 " is outside of " from " to " to; bad = 1; exit }
		{ n++ } END { if (n < 100) print n " samples"; exit bad || n < 100 }' window times
}

info() {
	jq -r ".collectors[] | select(.name == \"perf\") | $1" r/run.json
}

middle() { # a second in the middle of a run: samples lie in the window and close to it
	exits 0 "$zcost" collect -o r --pass profile --warmup 1 --duration 1 --grace 0 -- ./zc-busy -c "$busy" && inside
}
steady "a profile of a second in the middle of the run" middle
ok "perf is ok" test "$(info .state)" = ok
ok "as many as run.json says" test "$(info .info.samples)" = "$(wc -l <times)"
# The kernel's at least: a program may be built without frame pointers.
ok "call graphs are there" sh -c 'perf script -i r/perf.data -F ip,sym 2>/dev/null |
	awk "NF { n++ } !NF { deep += n > 4; n = 0 } END { exit deep < 5 }"'
ok "an event that this host has" says '^(cycles|cpu-clock)$' - <<-EOF
	$(info .info.event)
EOF
ok "nothing is left in a cache of perf's" test ! -e home/.debug
ok "nor a log of perf's" test ! -e r/.perf.log

host=r/hosts/$(jq -r .host r/run.json)
ok "kernel symbols" says '_stext|_text' $host/kallsyms
ok "the kernel's build-id" test -s $host/notes
ok "host.json" sh -c "jq -e '.release and .online_cpus and .boot_id' $host/host.json"
ok "no secret is kept" sh -c "! grep -E 'key|secret' $host/sysctls"
ok "the program that ran, by its build-id" sh -c "cmp $host/dso/*/zc-busy zc-busy"
ok "perf.data names the same build-id" sh -c "perf buildid-list -i r/perf.data |
	grep -q \"^\$(basename \$(dirname $host/dso/*/zc-busy)) .*/zc-busy\""
ok "its samples are found in it" sh -c "perf script -i r/perf.data -F comm,ip,sym,dso -G 2>/dev/null |
	grep -c '^ *zc-busy .*/zc-busy' | { read n; test \$n -gt 20; }"

# Facts are taken once; another boot's are not touched.
echo mine >$host/cpuinfo
again() {
	"$zcost" collect -o r2 --host-dir "$PWD/$host" --collect host -- true
}
ok "a second run leaves the host's facts alone" exits 0 again
ok "really" says '^mine$' $host/cpuinfo
ok "under the same name" test "$(jq -r .host r2/run.json)" = "$(basename $host)"
jq '.boot_id = "01234567-other"' $host/host.json >x && mv x $host/host.json
ok "facts of another boot" exits 0 again
boot=$(cut -c 1-8 /proc/sys/kernel/random/boot_id)
ok "make a folder of their own" test -s "$host-$boot/kallsyms"
ok "which run.json names" test "$(jq -r .host r2/run.json)" = "$(basename $host)-$boot"
ok "and the old are as they were" says '^mine$' $host/cpuinfo

steady "one CPU only" exits 0 "$zcost" collect -o r --collect perf --cpus 0 --duration 0.5 --grace 0 -- \
	taskset -c 0 sh -c "$busy"
ok "has samples of that CPU only" test "$(perf script -i r/perf.data -F cpu 2>/dev/null | sort -u | tr -d ' []')" = 000

# Started on one CPU, moved to another, as a pinned workload is: perf sees no event of its start.
elsewhere() {
	exits 0 taskset -c 0 "$zcost" collect -o r --collect perf --cpus 1 --warmup 0.5 \
		--duration 1 --grace 0 -- sh -c "taskset -pc 1 \$\$ >/dev/null; $busy"
}
if [ "$(getconf _NPROCESSORS_ONLN)" -gt 1 ]; then
	steady "a workload that came from another CPU" elsewhere
	perf script -i r/perf.data -F comm,dso,ip -G 2>/dev/null >samples
	ok "has its name" sh -c 'test $(grep -c "^ *sh " samples) -gt 20'
	ok "and its program" sh -c 'test $(grep -cE "^ *sh .*/(dash|bash|sh)" samples) -gt 20'
else
	skip "a workload that came from another CPU" "one CPU here"
fi

# Stacks in the samples: what the run keeps of this host unwinds them, without its own files.
${CC:-cc} -O2 -fomit-frame-pointer -pthread -o zc-chains "$tests/data/chains.c"
"$zcost" collect -o dwarf --pass profile --call-graph dwarf,4096 --freq 500 -- ./zc-chains 0.1 2>err
ok "user stacks, unwound later" test $? = 0 -o $? = 4 # a busy machine may lose some
ok "run.json says how callers are found" test dwarf,4096 = \
	"$(jq -r '.collectors[] | select(.name == "perf") | .info.callgraph' dwarf/run.json)"
"$build/tests/tools/profile_dump" costs --foreign --host-dir "$(echo dwarf/hosts/*)" dwarf/perf.data |
	awk -F'\t' '$3 == "zc-chains" { print $9 }' >stacks
ok "a call back from the C library" says '^burn;compare;.*;do_callback;main;.*libc_start_main.*;_start$' stacks
ok "a thread" says '^burn;worker;.+;.+' stacks
ok "a signal's handler" says '^burn;handler;.*;interrupted;do_signal;main;' stacks

# Without perf in PATH everything else goes on.
mkdir bin
ln -s "$(command -v sh)" "$(command -v sleep)" bin/
ok "no perf program" exits 4 env PATH="$PWD/bin" "$zcost" collect -o r --collect perf,cpu -- sleep 0.1
ok "says how to get it" says 'no perf program here; install' err
ok "the run is complete" test "$(jq -r .status r/run.json)" = ok

# One that dies in the window costs the profile, not the run.
cat >bin/perf <<-'EOF'
	#!/bin/sh
	[ "$1" = --version ] && exit
	for a; do case $a in --control=fd:*) a=${a#*fd:}; in=${a%,*} out=${a#*,} ;; esac; done
	for i in 1 2; do read x </proc/$$/fd/$in; echo ack >/proc/$$/fd/$out; done # dash knows no >&10
	echo "the ring buffer is on fire" >&2
	exit 3
EOF
chmod +x bin/perf
ok "a perf that dies" exits 4 env PATH="$PWD/bin:$PATH" "$zcost" collect -o r --collect perf,cpu --duration 0.5 -- sleep 0.6
ok "in its own words" says 'ended before the window did: the ring buffer is on fire' err
ok "degraded, the others ok" test "$(jq -r '[.collectors[].state] | join(" ")' r/run.json)" = "degraded ok"
printf '#!/bin/sh\necho perf version 5.10.1\n' >bin/perf
ok "a perf that is too old" exits 4 env PATH="$PWD/bin:$PATH" "$zcost" collect -o r --collect perf -- true
ok "is named" says 'perf version 5.10.1 is too old' err
printf '#!/bin/sh\necho no way >&2; exit 1\n' >bin/perf
ok "a perf that does not start" exits 4 env PATH="$PWD/bin:$PATH" "$zcost" collect -o r --collect perf,cpu -- sleep 0.1
ok "in its own words" says 'did not start: no way' err

done_testing
