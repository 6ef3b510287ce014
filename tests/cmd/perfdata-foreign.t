#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compares files of other perf versions and machines with perf: samples, events, call chains, counts and
# objects.
. "$(dirname "$0")/../lib.sh"
. "$tests/perfdata.sh"

foreign=${ZCOST_FOREIGN:-$top/../shared/perfdata}
[ -d "$foreign" ] || skip_all "no foreign perf.data files here ($foreign)"
ls "$foreign"/perf.data.* >/dev/null || skip_all "no foreign files in $foreign"

# Compares the samples of each object. The symbols do not matter.
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
		name=${f##*/perf.data.}
		ok "samples match perf script: $name" same_samples "$f"
		ok "call chains match perf script: $name" same_chains "$f"
		ok "counts per event and throttling match perf report: $name" same_counts "$f"
		# perf evlist sees no event of a stream without ids
		case $f in *header_features* | *no_attr_ids*) ;; *) ok "events: $name" same_events "$f" ;; esac
		case $f in *branch*) continue ;; esac # perf counts its branches, not its samples
		ok "objects match perf report: $name" same_objects "$f"
	done
else
	skip "foreign files match perf" "no perf on this machine"
fi

count() { # count FILE EXIT-CODE NAME SAMPLES
	exits "$2" "$dump" health "$foreign/$1" &&
		says "^event $3	$4 samples" out
}
ok "a file with a larger attr than zcost knows has all samples" count sleep.data 0 cycles:Pu 7
ok "a compressed file has all samples" count sleep.compressed.data 0 cycles:P 8
ok "a compressed stream ends, exit 4, at text that is no record" \
	count sleep.compressed2.pipe.data 4 cycles:P 7

lost() { # perf report -D prints two records, one sample each
	"$dump" health "$foreign/perf.data.$1" >out
	says '^lost_records	0$' out && says '^lost_samples	2$' out
}
ok "samples that the PMU dropped count as lost" lost lost_samples-4.4
ok "samples that the PMU dropped count as lost in a stream" lost piped.lost_samples-4.4

broken() {
	exits 4 "$dump" health "$foreign/perf.data.piped.corrupted.zero_size_sample-3.2" &&
		says "impossible size at offset 49104" out
}
ok "a record of size 0 ends the reading with exit 4 and its offset" broken

refused() {
	"$dump" health "$foreign/perf.data.forkexit-3.8" >out &&
		says "kernel_note	.*(not resolved|build-id)" out &&
		says "dso_note	.*build-id .* recorded was" out &&
		! "$dump" functions "$foreign/perf.data.forkexit-3.8" | awk -F'\t' '$4 == 0' | grep .
}
ok "this host's files never explain another host's addresses" refused

done_testing
