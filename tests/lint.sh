#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lint.sh BUILD CFLAGS [FILE...]: gcc -fanalyzer, clang-tidy and cppcheck over the product, or over the files. Exit 0: no
# findings but the exceptions in analyzer.supp, .clang-tidy and cppcheck.supp. BUILD has the generated headers.
set -u
build=$1 cflags=$2
shift 2
[ $# -gt 0 ] || set -- $(find zcost.c lib workload collect capture analyze plot samples -name '*.c' ! -name '*.bpf.c' | sort)
work=$build/lint
mkdir -p "$work/cppcheck"

# A line of the list is FILE CATEGORY; the comment above it says why.
excepted() {
	awk 'NR == FNR { if (!/^#/ && NF) known[$1 " [" $2 "]"] = 1; next }
		{ file = $1; sub(/:.*/, "", file) }
		!((file " " $NF) in known)' tests/analyzer.supp -
}

# Runs a command for each file, as many at a time as there are CPUs. error.c defines what lint.h redefines.
each() {
	xargs -P "$(nproc)" -I{} sh -c "facts=; [ {} = lib/error.c ] || facts='-include tests/lint.h'; $1"
}

echo "gcc -fanalyzer: $# files"
printf '%s\n' "$@" | each "gcc \$facts $cflags -O1 -fanalyzer -fanalyzer-verbosity=0 \
	-fdiagnostics-plain-output -c -o /dev/null {} 2>&1" | grep -E '(warning|error):' | sort -u | excepted >"$work/analyzer"
cat "$work/analyzer"

echo "clang-tidy: $# files"
printf '%s\n' "$@" | each "clang-tidy --quiet {} -- \$facts $cflags" >"$work/tidy" 2>"$work/tidy-errors"
tidy=$?
grep -E '(warning|error):' "$work/tidy" | sed "s|^$PWD/||" | sort -u >"$work/tidy-findings"
cat "$work/tidy-findings"
[ $tidy = 0 ] || [ -s "$work/tidy-findings" ] || cat "$work/tidy-errors"

echo "cppcheck: $# files"
cppcheck --quiet --std=c11 --enable=warning,performance,portability --library=tests/cppcheck.cfg \
	--suppressions-list=tests/cppcheck.supp --cppcheck-build-dir="$work/cppcheck" --error-exitcode=1 \
	--template='{file}:{line}: {severity}: {message} [{id}]' -D_GNU_SOURCE -DZCOST_VERSION='""' -I. "$@"
cppcheck=$?
[ ! -s "$work/analyzer" ] && [ $tidy = 0 ] && [ $cppcheck = 0 ] && echo "no findings"
