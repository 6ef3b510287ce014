#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `make check-rpm` runs this on the packages in build-rpm: rpm.t VERSION
# Each package is installed in an empty root, used, and removed again. Its libraries are those of this machine.
. "$(dirname "$0")/../lib.sh"
version=$1

[ "$(id -u)" = 0 ] || skip_all "rpm needs root to install"
ok "the spec has the version of the makefile" says "^Version: +$version\$" "$top/zcost.spec"
required() { # every package of `make deps` that a build needs, without those of the tests and of the run
	sed -n 's/^BuildRequires: *//p' "$top/zcost.spec" | tr ' ' '\n' | sort >in-spec
	sed -n '/^RPMS [:+]=/,/[^\\]$/p' "$top/Makefile" | tr ' \t' '\n\n' | grep -E -- '-devel$|-compiler$|^gcc$|^clang$' | sort >in-makefile
	test -s in-makefile && comm -13 in-spec in-makefile >missing && test ! -s missing || { cat missing; return 1; }
}
ok "the spec requires what the makefile needs for a build" required
in_root() {
	rpm --root "$scratch/root" --nodeps --noscripts --notriggers "$@"
}
ok "make rpm made a source package of zcost" test -s "$(echo "$top/build-rpm/SRPMS/zcost-$version"-*.src.rpm)"
for package in zcost zcost-offline; do
	rpm=$(echo "$top/build-rpm/RPMS"/*/"$package-$version"-*.rpm)
	ok "make rpm made $package" test -s "$rpm"
	mkdir root
	ok "rpm makes a database" rpm --root "$scratch/root" --initdb
	ok "rpm installs $package" in_root -i "$rpm"
	ok "zcost --version of $package runs" exits 0 root/usr/bin/zcost --version
	[ $package = zcost ] && host=+ || host=-
	ok "$package has ${host}host" says "^  features: [$host]host" out
	ok "$package has manual pages" test -n "$(find root/usr/share/man/man1 -name 'zcost-report.1*')"
	ok "rpm removes $package" in_root -e $package
	ok "no file of $package is left" test -z "$(find root/usr ! -type d)"
	rm -r root
done
done_testing
