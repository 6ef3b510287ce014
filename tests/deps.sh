#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Installs those of the given packages that are missing: deps.sh full|offline 'debs' 'rpms'.
# Says what it installs; does nothing, and asks nobody, when nothing is missing.
set -eu
kind=$1 debs=$2 rpms=$3

as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

installed() {
	dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

# Ubuntu's perf comes with the kernel it was built for.
perf_debs() {
	if apt-cache show linux-perf >/dev/null 2>&1; then
		echo linux-perf
	else
		echo linux-tools-generic "linux-tools-$(uname -r)"
	fi
}

missing_debs() {
	for p in $debs; do
		installed "$p" && continue
		if [ "$p" != linux-perf ]; then
			printf '%s ' "$p"
		elif ! command -v perf >/dev/null; then
			printf '%s ' $(perf_debs)
		fi
	done
	# libperf has no package of its own: any kernel source package brings it.
	if [ "$kind" = full ] && ! find /usr/src -maxdepth 2 -name 'linux-source-*.tar.*' 2>/dev/null | grep -q . &&
		! pkg-config --exists libperf 2>/dev/null; then
		newest=$(apt-cache search --names-only '^linux-source-[0-9.]+$' | sort -V | tail -n 1)
		printf '%s ' "${newest%% *}"
	fi
}

if command -v apt-get >/dev/null; then
	[ -n "$(missing_debs)" ] || exit 0
	as_root apt-get update -qq || echo "deps: apt-get update failed; trying with the lists there are" >&2
	want=$(missing_debs) # some names depend on what the lists offer
	echo "  INSTALL $want"
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
