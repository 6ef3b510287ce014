#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `make check-dist` runs this on the tarball in build-dist: dist.t VERSION
# The tarball builds without git, installs, and is uninstalled without a rest.
. "$(dirname "$0")/../lib.sh"
name=zcost-$1
mkdir bin
printf '#!/bin/sh\necho "$*" >>%s/git-ran\nexit 1\n' "$scratch" >bin/git
chmod +x bin/git
PATH=$scratch/bin:$PATH
unset MAKEFLAGS MAKELEVEL MAKEOVERRIDES BUILD
make_target() {
	make -s -C $name -j"$(nproc)" DESTDIR="$scratch/root" PREFIX=/opt/z "$@"
}
ok "the tarball unpacks into a folder of its name" tar -xf "$top/build-dist/$name.tar.gz"
ok "the tarball builds" make_target all
ok "the tarball installs" make_target install
ok "the installed zcost runs" exits 0 root/opt/z/bin/zcost --version
ok "the installed zcost has the version of the tarball" says "^zcost $1\$" out
ok "the installed tcpzc runs" exits 0 root/opt/z/bin/tcpzc --version
ok "the tarball is uninstalled" make_target uninstall
ok "no file is left" test -z "$(find root ! -type d)"
ok "nothing ran git" test ! -e git-ran
done_testing
