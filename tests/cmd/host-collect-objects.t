#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Root copies programs and libraries of other users' processes, and only the files that were mapped.
. "$(dirname "$0")/../lib.sh"

need root setpriv perf

as() { # as UID COMMAND...
	uid=$1
	shift
	setpriv --reuid "$uid" --regid "$uid" --clear-groups --inh-caps=-all "$@"
}
chmod 755 .
as 65534 test -x "$scratch" || skip_all "nobody may not enter $scratch: set TMPDIR"

mkdir -m 777 world
echo root-secret >secret && chmod 600 secret
mkdir theirs && cp "$(command -v env)" theirs/private && echo mine >>theirs/private && chmod 700 theirs/private && chown 65533 theirs theirs/private
export scratch
sh=$(readlink -f "$(command -v sh)")
export sh

# An unprivileged user's programs: 60 in a folder that the user exchanges, while zcost copies them, with a folder
# of links to a root file; and one that the user replaces by a link to another user's program.
cat >attack <<'EOF2'
cd "$scratch/world" || exit
mkdir -p libs links mine
for i in $(seq 60); do
	cp "$sh" libs/$i
	ln -s "$scratch/secret" links/$i
done
cp "$sh" mine/program
cp "$sh" kept
for i in libs/* mine/program kept; do # perf samples a fifth of the time where there is no PMU
	n=20000
	[ "$i" != kept ] || n=800000
	"$PWD/$i" -c "i=0; while [ \$i -lt $n ]; do i=\$((i+1)); done"
done
mv mine gone
mkdir mine
ln -s "$scratch/theirs/private" mine/program
: >go
EOF2
cat >exchange <<'EOF2'
chdir "$ENV{scratch}/world" or die;
my ($tries, $swap) = (3000, {x86_64 => 316, aarch64 => 276}->{`uname -m` =~ s/\s//r});
select undef, undef, undef, .01 until -e "go" || !$tries--;
my $end = time + 120;
syscall $swap // 276, -100, my $a = "libs", -100, my $b = "links", 2 until time > $end;
EOF2
(exec setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all perl exchange) &
exchange=$!
cleanup() { kill $exchange 2>/dev/null; }
exits 0 "$zcost" collect -o r --collect perf,host -- setpriv --reuid 65534 --regid 65534 --clear-groups sh attack || cat err
ok "the attacker exchanges the folders until collect ends" kill -0 $exchange
kill $exchange 2>/dev/null
wait $exchange 2>/dev/null
host=r/hosts/$(jq -r .host r/run.json)
find $host/dso -type f >copies
ok "collect copies a program that stays in its place" cmp $host/dso/*/kept "$sh"
ok "collect copies no root file through an exchanged folder" sh -c "! grep -l root-secret \$(cat copies)"
ok "collect copies no other user's program through a symbolic link" test "$(find $host/dso -type f -exec cmp -s {} theirs/private \; -print)" = ""
ok "run.json counts the programs that were not copied and gives a reason" jq -e '.collectors[] | select(.name == "perf") |
	.info.dsos_not_kept > 0 and (.info.dso_not_kept_why | test("world/[^:]*: (cannot open|not )"))' r/run.json

# zcost copies a program that only its owner may run: others cannot read the capture.
own() {
	as 65533 cp "$sh" theirs/their-shell && chmod 700 theirs/their-shell
	"$zcost" collect -o r --collect perf -- setpriv --reuid 65533 --regid 65533 --clear-groups \
		"$scratch/theirs/their-shell" -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'
	cmp r/hosts/*/dso/*/their-shell theirs/their-shell
}
steady "collect copies a program that only its owner may run" own
hidden() { # others may run it but not read it
	chmod 711 theirs/their-shell
	"$zcost" collect -o r2 --collect perf -- "$scratch/theirs/their-shell" -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'
	set -- r2/hosts/*/dso/*/their-shell
	[ ! -e "$1" ] && says 'their-shell: not readable by the users who may run it' r2/run.json
}
steady "collect does not copy a program that others may run but not read" hidden

sparse() { # a program of 20 GiB, all holes but its first part
	cp "$sh" world/sparse && truncate -s 20G world/sparse || return
	"$zcost" collect -o r3 --collect perf -- "$scratch/world/sparse" -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'
	grep -q world/sparse: r3/run.json || { cat r3/run.json; return 1; }
	jq -e '.collectors[] | select(.name == "perf") | .state == "ok" and
		(.why | test("world/sparse: not copied: the copies of a run take 20 s, 4096 files and 4 GiB at most.*; their symbols are found on this host only"))' r3/run.json &&
		[ -z "$(find r3 -name sparse)" ]
}
steady "collect copies no program of 20 GiB and says so in run.json" sparse

done_testing
