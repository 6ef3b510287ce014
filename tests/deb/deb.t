#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `make check-deb` runs this on the packages in build-deb: deb.t VERSION
# lintian finds no fault but the listed ones, and each package is installed in an empty root and removed again.
. "$(dirname "$0")/../lib.sh"
debs=$top/build-deb
version=$1
faults="initial-upload-closes-no-bugs" # there is no bug to close

command -v lintian >/dev/null || skip_all "no lintian"
[ "$(id -u)" = 0 ] || skip_all "dpkg needs root to install"
in_root() { # dpkg with its database in the root; the libraries are those of this machine
	dpkg --root="$scratch/root" --force-depends --force-not-root --force-script-chrootless "$@"
}
for package in zcost zcost-offline; do
	deb=$(echo "$debs/${package}_${version}"_*.deb)
	ok "make deb made $package" test -s "$deb"
	ok "lintian finds no fault in $package" lintian --fail-on error,warning --suppress-tags "$faults" "$deb"
	mkdir -p root/var/lib/dpkg/info root/var/lib/dpkg/updates
	: >root/var/lib/dpkg/status
	ok "$package is installed in an empty root" in_root -i "$deb"
	ok "the zcost of $package runs" exits 0 root/usr/bin/zcost --version
	ok "the zcost of $package has a manual page" test -s root/usr/share/man/man1/zcost-report.1.gz
	ok "$package is removed" in_root --purge "$package"
	ok "no file of $package is left" test -z "$(find root/usr ! -type d 2>/dev/null)"
	rm -rf root
done
done_testing
