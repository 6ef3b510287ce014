#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Installs the missing ones of the given packages: deps.sh full|offline 'debs' 'rpms' [no-sudo].
# Prints what it installs. Uses no network when all are installed. Without root and sudo, and with no-sudo without
# root, it only prints the command that installs them.
set -eu
kind=$1 debs=$2 rpms=$3 no_sudo=${4-}

as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# need_root COMMAND...: ends with the command that the user has to run as root, unless this script can run it
need_root() {
	[ "$(id -u)" = 0 ] && return
	[ -z "$no_sudo" ] && command -v sudo >/dev/null && return
	echo "deps: packages are missing, and installing them needs root; as root, run: $*" >&2
	exit 1
}

installed() {
	dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

offered() {
	apt-cache show "$1" >/dev/null 2>&1
}

# Ubuntu packages perf per kernel version; the kernel under a container may not be one of Ubuntu.
perf_debs() {
	if offered linux-perf; then
		echo linux-perf
	else
		echo linux-tools-generic
		! offered "linux-tools-$(uname -r)" || echo "linux-tools-$(uname -r)"
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
	# libperf has no package: any kernel source package contains it.
	if [ "$kind" = full ] && ! find /usr/src -maxdepth 2 -name 'linux-source-*.tar.*' 2>/dev/null | grep -q . &&
		! pkg-config --exists libperf 2>/dev/null; then
		newest=$(apt-cache search --names-only '^linux-source-[0-9.]+$' | sort -V | tail -n 1)
		printf '%s ' "${newest%% *}"
	fi
}

# Tries up to four times: a registry may fail once, and a machine that has just started may
# hold the lock for a minute (apt-daily).
persist() {
	for pause in 5 15 45; do
		! "$@" || return 0
		echo "deps: that failed; again in $pause s" >&2
		sleep $pause
	done
	"$@"
}

apt() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=3 -o DPkg::Lock::Timeout=120 "$@"
}

install_debs() {
	apt update || echo "deps: apt-get update failed; trying with the lists there are" >&2
	want=$(missing_debs) # some names depend on what the lists offer
	echo "  INSTALL $want"
	apt install -y --no-install-recommends $want >/dev/null
}

install_rpms() {
	as_root dnf install -y -q $want
}

# Lists the packages that could not be installed, with the reason if known.
give_up() {
	echo "deps: not installed: $want (the messages above say why)" >&2
	! command -v apt-get >/dev/null || for p in $want; do
		offered "$p" || echo "deps: apt-get knows no package '$p'" >&2
	done
	exit 1
}

if command -v apt-get >/dev/null; then
	want=$(missing_debs)
	[ -n "$want" ] || exit 0
	need_root apt-get install -y --no-install-recommends ${want% }
	persist install_debs || give_up
elif command -v dnf >/dev/null; then
	want=
	for p in $rpms; do rpm -q --quiet "$p" || want="$want $p"; done
	[ -n "$want" ] || exit 0
	need_root dnf install -y$want
	echo "  INSTALL$want"
	persist install_rpms || give_up
else
	echo "deps: neither apt-get nor dnf here; install these by hand: $debs" >&2
fi
