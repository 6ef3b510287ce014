#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Installs those of the given packages that are missing: deps.sh full|offline 'debs' 'rpms'.
# Says what it installs; does nothing, and asks nobody, when nothing is missing.
set -eu
kind=$1 debs=$2 rpms=$3

as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

missing_debs() {
	for p in $debs; do
		dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || printf '%s ' "$p"
	done
	# libperf has no package of its own: any kernel source package brings it.
	if [ "$kind" = full ] && ! ls /usr/src/linux-source-*.tar.xz >/dev/null 2>&1 &&
		! pkg-config --exists libperf 2>/dev/null; then
		newest=$(apt-cache search --names-only '^linux-source-[0-9.]+$' | sort -V | tail -n 1)
		printf '%s ' "${newest%% *}"
	fi
}

if command -v apt-get >/dev/null; then
	want=$(missing_debs)
	[ -n "$want" ] || exit 0
	echo "  INSTALL $want"
	as_root apt-get update -qq || echo "deps: apt-get update failed; trying with the lists there are" >&2
	want=$(missing_debs)
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $want \
		>/dev/null
elif command -v dnf >/dev/null; then
	want=
	for p in $rpms; do rpm -q --quiet "$p" || want="$want $p"; done
	[ -n "$want" ] || exit 0
	echo "  INSTALL$want"
	as_root dnf install -y -q $want
else
	echo "deps: neither apt-get nor dnf here; install these by hand: $debs" >&2
fi
