#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Files of other perf versions and machines: every sample as perf script prints it.
. "$(dirname "$0")/../lib.sh"

dump=$build/tests/tools/profile_dump
foreign=$top/../shared/perfdata
[ -d "$foreign" ] || skip_all "no foreign perf.data files here ($foreign)"

# Event, comm, pid, tid, time, period, address; sorted, since perf sorts by time.
ours() {
	"$dump" samples "$1" 2>ours.err | awk -F'\t' '{ printf "%s|%s|%d|%d|%d.%09d|%d|%s\n",
		$1, $2, $3, $4, int($6 / 1e9), $6 % 1000000000, $7, $8 }' | sort
}

perfs() {
	perf script -i "$1" -G --ns -F event,comm,pid,tid,time,period,ip 2>/dev/null | perl -ne '
		s/^\s*(.*?)\s+(-?\d+)\/(-?\d+)\s+([\d.]+):\s+(\d+)\s+(\S+):\s+([0-9a-f]+).*/$6|$1|$2|$3|$4|$5|$7/
		and print' | sort
}

same_samples() {
	ours "$1" >ours
	perfs "$1" >perfs
	[ -s perfs ] && cmp ours perfs || { diff ours perfs | head -n 20; return 1; }
}

# Samples per object: the maps, without any symbol.
same_objects() {
	"$dump" functions --foreign "$1" | awk -F'\t' '$5 > 0 { sub(/.*\//, "", $2); n[$2] += $5 }
		END { for (d in n) print n[d], d }' | sort >ours
	perf report -i "$1" --no-group --no-children -g none --stdio -F sample,dso -t '	' 2>/dev/null |
		awk -F'\t' '/^#/ || NF < 2 { next }
			{ gsub(/^ +| +$/, "", $1); gsub(/^ +| +$/, "", $2); n[$2] += $1 }
			END { for (d in n) print n[d], d }' | sort >perfs
	[ -s perfs ] && cmp ours perfs || { diff ours perfs | head -n 20; return 1; }
}

if command -v perf >/dev/null; then
	for f in "$foreign"/perf.data.*; do
		case $f in *corrupted*) continue ;; esac
		ok "perf script agrees: ${f##*/}" same_samples "$f"
		case $f in *branch*) continue ;; esac # perf counts its branches, not its samples
		ok "perf report agrees on objects: ${f##*/}" same_objects "$f"
	done
else
	skip "perf script agrees" "no perf on this machine"
fi

# perf 6.1 refuses the following. Their samples were counted apart: records of type 9 in the data
# section, behind zstd -d for the compressed ones.
count() { # count FILE EXIT-CODE NAME SAMPLES
	exits "$2" "$dump" health "$foreign/$1" &&
		says "^event $3	$4 samples" out
}
ok "a larger attr than ours" count sleep.data 0 cycles:Pu 7
ok "compressed" count sleep.compressed.data 0 cycles:P 8
ok "compressed with sizes, in a pipe; perf's own words at the end are said to be no record" \
	count sleep.compressed2.pipe.data 4 cycles:P 7

broken() {
	exits 4 "$dump" health "$foreign/perf.data.piped.corrupted.zero_size_sample-3.2" &&
		says "impossible size at offset 49104" out
}
ok "a record of size 0 ends the reading there, and is said" broken

refused() {
	"$dump" health "$foreign/perf.data.forkexit-3.8" >out &&
		says "kernel_note	.*(not resolved|build-id)" out &&
		says "dso_note	.*build-id .* recorded was" out &&
		! "$dump" functions "$foreign/perf.data.forkexit-3.8" | awk -F'\t' '$4 == 0' | grep .
}
ok "another host's addresses are never explained by this host's files" refused

done_testing
