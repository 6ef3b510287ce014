#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `make check-deb` runs this on the packages in build-deb: deb.t VERSION
# lintian finds no fault but the listed ones. Each package is installed in a bare Debian with its dependencies, used,
# and removed again. The bare Debian comes from the mirror of this machine.
. "$(dirname "$0")/../lib.sh"
debs=$top/build-deb
version=$1
faults="initial-upload-closes-no-bugs" # there is no bug to close

[ "$(id -u)" = 0 ] || skip_all "chroot and dpkg need root"
for package in zcost zcost-offline; do
	deb=$(echo "$debs/${package}_${version}"_*.deb)
	ok "make deb made $package" test -s "$deb"
	ok "lintian finds no fault in $package" lintian --fail-on error,warning --suppress-tags "$faults" "$deb"
done

suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
apt-get indextargets --format '$(RELEASE) $(SITE) $(COMPONENT)' 'Created-By: Packages' | grep "^$suite " >targets
mirror=$(awk 'NR == 1 { print $2 }' targets)
parts=$(awk -v m="$mirror" '$2 == m { printf "%s%s", sep, $3; sep = "," }' targets)
debootstrap --variant=minbase --include=man-db --components="$parts" "$suite" bare "$mirror" >debootstrap.log 2>&1 || {
	skip "each package is installed, used and removed in a bare $suite" "debootstrap: $(tail -n 1 debootstrap.log)"
	done_testing
}
in_bare() { # in_bare COMMAND...: the mount of /proc ends with the command
	env -u TMPDIR -u ZCOST_STATE HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
		unshare -m sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$scratch/bare" "$@"
}
files() { # without logs, caches, and what dpkg and apt write down
	(cd bare && find . ! -type d ! -path './proc/*' ! -path './var/log/*' ! -path './var/cache/*' ! -path './var/lib/dpkg/*' \
		! -path './var/lib/apt/*' | sort)
}
"$build/tests/tools/perfdata_gen" 2000 bare/root/perf.data
ok "apt of the bare $suite reads its lists" in_bare apt-get -q update
for package in zcost zcost-offline; do
	cp "$debs/${package}_${version}"_*.deb "bare/root/$package.deb"
	ok "apt installs $package and its dependencies" in_bare apt-get -qy --no-install-recommends install "/root/$package.deb"
	ok "apt removes $package" in_bare apt-get -qy purge $package
	files >before
	ok "dpkg installs $package again" in_bare dpkg -i "/root/$package.deb"
	ok "zcost --version of $package runs" exits 0 in_bare zcost --version
	[ $package = zcost ] && host=+ || host=-
	ok "$package has ${host}host" says "^  features: [$host]host" out
	ok "$package names its libraries" says "^  libraries: .*sqlite3 [0-9]" out
	for page in zcost zcost-report zcost-store; do
		ok "man shows $page of $package" exits 0 in_bare man $page
		ok "the page $page has its name" says "^ +$page - " out
	done
	ok "zcost help of $package shows a page" exits 0 in_bare zcost help compare
	ok "zcost help compare shows zcost-compare(1)" says '^ZCOST-COMPARE' out
	ok "zcost of $package reports the functions of a perf.data" exits 0 in_bare zcost report functions --perf /root/perf.data
	ok "the report has functions" says '^TOTAL|^total|100\.0' out
	ok "zcost of $package finds libarchive" exits 0 in_bare zcost export pprof --perf /root/perf.data -o -
	ok "dpkg removes $package" in_bare dpkg -P $package
	files >after
	ok "no file of $package is left" cmp before after
done
done_testing
