#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# make install, what it installs, and make uninstall.
. "$(dirname "$0")/../lib.sh"

root=$scratch/root
prefix=$root/opt/zcost
host=$("$zcost" --help | grep -c '^  capture') # 0: the laptop half alone
[ "$host" = 1 ] && offline= || offline=1
mkdir bin
printf '#!/bin/sh\ntouch %s/git-ran\nexit 1\n' "$scratch" >bin/git
chmod +x bin/git
make_target() {
	env -u MAKEFLAGS -u MAKELEVEL PATH="$scratch/bin:$PATH" make -s -C "$top" BUILD="${build#"$top"/}" OFFLINE=$offline \
		DESTDIR="$root" PREFIX=/opt/zcost "$1"
}
ok "make install runs" make_target install
ok "make install needs no git" test ! -e git-ran
ok "the installed zcost runs" exits 0 "$prefix/bin/zcost" --version
ok "--version begins with the number alone" says '^zcost [0-9.]+$' out
ok "--version names the features that were built in" says "^  features: [+-]host [+-]bpf [+-]io_uring [+-]c" out
ok "--version names the libraries with their versions" says '^  libraries: jansson [0-9.]+; libzstd [0-9.]+; sqlite3 [0-9.]+;' out
if [ "$host" = 1 ]; then
	ok "an installed plan is valid" exits 0 "$prefix/bin/zcost" capture "$prefix/share/zcost/samples/demo.ini" --dry-run
	ok "the plan runs the installed tcpzc" says "$prefix/bin/tcpzc --listen" out
	ok "the plan runs the installed testbed.sh" says "sh $prefix/share/zcost/samples/testbed.sh up" out
	ok "the installed tcpzc runs" exits 0 "$prefix/bin/tcpzc" --version
	ok "testbed.sh is beside the installed plan" test -s "$prefix/share/zcost/samples/testbed.sh"
fi
links() { # every relative link of the installed README leads to a file
	grep -oE '\]\([^)]+\)' "$prefix/share/doc/zcost/README.md" | sed 's/^](//; s/)$//; s/#.*//' | grep -v '^[a-z]*://' |
		(cd "$prefix/share/doc/zcost" && while read -r link; do [ -e "$link" ] || { echo "$link"; exit 1; }; done)
}
ok "every link of the installed README leads to a file" links
ok "a document that links to a plan finds it" test -s "$prefix/share/doc/zcost/samples/two-hosts.ini"
touch "$prefix/share/zcost/mine"
ok "make uninstall runs" make_target uninstall
leaves() {
	left=$(find "$root" ! -type d) && [ "$left" = "$prefix/share/zcost/mine" ] || { echo "$left"; return 1; }
}
ok "make uninstall leaves no file but one of the user" leaves
done_testing
