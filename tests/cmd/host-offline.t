#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# make OFFLINE=1, for laptops: it builds without the libraries of a test host, and its zcost passes the tests
# of a laptop.
. "$(dirname "$0")/../lib.sh"

cat >pkg-config <<'END'
#!/bin/sh
case "$*" in *liburing* | *libbpf*) exit 1 ;; esac
exec pkg-config "$@"
END
chmod +x pkg-config

laptop() { # laptop FOLDER ARGUMENT...
	folder=$1
	shift
	env -u MAKEFLAGS -u MAKEOVERRIDES LDFLAGS="${ZCOST_LDFLAGS-}" make -C "$top" OFFLINE=1 BUILD="$scratch/$folder" \
		CFLAGS="-O0 -fPIE" PKG_CONFIG="$scratch/pkg-config" CLANG=false WERROR=1 "$@" >made 2>&1 || { tail -n 5 made; return 1; }
}
# house.t guards that these folders include each other alone.
no_host_header() (cd "$top" && ! grep -rnE '#include [<"](liburing|bpf/|perf/)' zcost.c lib workload analyze plot)
ok "the laptop half includes no header of liburing, libbpf and libperf" no_host_header
# The objects of both halves are the same. Only zcost.c reads OFFLINE.
ok "no file but zcost.c differs between the halves" test "$(cd "$top" && grep -rl 'def OFFLINE' zcost.c lib workload analyze plot)" = zcost.c
mkdir laptop
for folder in lib workload analyze plot; do
	cp -a "$build/$folder" laptop/
done
ok "make OFFLINE=1 builds without liburing, libbpf, libperf and clang" laptop laptop all
ok "make OFFLINE=1 compiles only what differs" test "$(grep -c '^  CC' made)" = 1
[ -x laptop/zcost ] || done_testing
ok "make OFFLINE=1 builds zcost and no tcpzc" test -x laptop/zcost -a ! -e laptop/tcpzc
command_is() { # command_is not|there COMMAND
	exits 2 laptop/zcost "$2" --nonsense
	case $1 in
	not) says "^zcost: this is the laptop's half .*, without '$2'; on the test host install the package zcost, or build with 'make'$" err ;;
	there) ! says "unknown command|laptop's half" err >/dev/null ;;
	esac
}
for command in collect capture doctor; do
	ok "the offline zcost has no $command and names the package that has it" command_is not $command
done
for command in analyze report compare plot export pack unpack; do
	ok "the offline zcost has $command" command_is there $command
done
ok "make OFFLINE=1 check runs no test of a host" sh -c \
	"env -u MAKEFLAGS make -n -C '$top' OFFLINE=1 BUILD='$scratch/laptop' run-tests | grep -F 'tests/run.sh ' >prove && ! grep -q 'host[-_]' prove"

passes() {
	ZCOST_BUILD=$scratch/laptop sh "$tests/cmd/$1.t" >tap 2>&1 && ! grep '^not ok' tap || { grep -A5 '^not ok' tap; return 1; }
}
ok "options.t passes with the offline zcost" passes options

without_clang() {
	env -u MAKEFLAGS -u MAKEOVERRIDES make -n -C "$top" BUILD="$scratch/none" CLANG=no-such-clang all >plan 2>err || { cat err; return 1; }
	says 'collect/path/path\.c' plan && ! grep -F .bpf plan
}
ok "a machine without clang builds all but the programs for the kernel" without_clang

# libperf is built by the kernel's makefiles, which split a path at its spaces.
mkdir 'a b'
ln -s "$top"/* 'a b'
in_spaces() { # in_spaces CODE ARGUMENT...
	code=$1
	shift
	exits "$code" env -u MAKEFLAGS -u MAKEOVERRIDES make -n -C 'a b' PKG_CONFIG=false LIBPERF=unbuilt "$@"
}
for goal in all demo check; do
	ok "make $goal refuses a folder whose path has a space" in_spaces 2 $goal
	ok "  with one message that names the folder and the way out" eval \
		'says "libperf cannot be built in a folder whose path has a space: $scratch/a b: move the folder, or build with OFFLINE=1" err &&
		is "$(wc -l <err)" 1'
done
ok "make try works in such a folder" in_spaces 0 try
mkdir 'a b/unbuilt' && : >'a b/unbuilt/libperf.a'
ok "so does make where libperf is built already" in_spaces 0 all
ok "make OFFLINE=1 accepts it, too" in_spaces 0 OFFLINE=1 deps

done_testing
