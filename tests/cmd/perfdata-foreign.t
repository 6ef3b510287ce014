#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Files of other perf versions and machines: every sample as perf script prints it, with its event,
# comm, process, time, period and call chain; counts and objects as perf report has them.
. "$(dirname "$0")/../lib.sh"
. "$tests/perfdata.sh"

foreign=$top/../shared/perfdata
[ -d "$foreign" ] || skip_all "no foreign perf.data files here ($foreign)"
ls "$foreign"/perf.data.* >/dev/null || skip_all "no foreign files in $foreign"

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

# The three that perf 6.1 refuses (events described in more bytes than it knows, COMPRESSED2), with
# these bytes cut off: the samples are not touched.
older() {
	perl "$tests/tools/perf-older.pl" "$foreign/$1" older.data && same_samples "$foreign/$1" older.data &&
		same_chains "$foreign/$1" older.data
}

if command -v perf >/dev/null; then
	for f in "$foreign"/perf.data.*; do
		case $f in *corrupted*) continue ;; esac
		name=${f##*/perf.data.}
		ok "samples: $name" same_samples "$f"
		ok "call chains: $name" same_chains "$f"
		ok "counts per event, throttling: $name" same_counts "$f"
		# perf evlist sees nothing of a stream without ids
		case $f in *header_features* | *no_attr_ids*) ;; *) ok "events: $name" same_events "$f" ;; esac
		case $f in *branch*) continue ;; esac # perf counts its branches, not its samples
		ok "objects: $name" same_objects "$f"
	done
	for f in sleep.data sleep.compressed.data sleep.compressed2.pipe.data; do
		ok "samples, as perf sees them in an older form: $f" older $f
	done
else
	skip "perf agrees" "no perf on this machine"
fi

count() { # count FILE EXIT-CODE NAME SAMPLES
	exits "$2" "$dump" health "$foreign/$1" &&
		says "^event $3	$4 samples" out
}
ok "a larger attr than ours" count sleep.data 0 cycles:Pu 7
ok "compressed" count sleep.compressed.data 0 cycles:P 8
ok "compressed with sizes, in a pipe; perf's own words at the end are said to be no record" \
	count sleep.compressed2.pipe.data 4 cycles:P 7

lost() { # what perf report -D prints of them: two records, one sample each
	"$dump" health "$foreign/perf.data.$1" >out
	says '^lost_records	0$' out && says '^lost_samples	2$' out
}
ok "samples that the PMU dropped" lost lost_samples-4.4
ok "and in a stream" lost piped.lost_samples-4.4

# Periods 1, 1, 11, 318, ... before the usual: said beside the table.
starts() {
	"$zcost" report functions --perf "$foreign/sleep.compressed.data" >out 2>&1
	says 'periods below a 16th of the usual, as at the start of a stream' out
}
ok "a stream's first periods are said" starts

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

ok "nothing on standard input" exits 1 sh -c ": | '$zcost' report functions --perf -"
ok "  is told as every reader does" says '^zcost: standard input is empty$' err
ok "nor in its file" exits 1 sh -c "'$zcost' report functions --perf - </dev/null"
ok "  neither" says '^zcost: standard input is empty$' err
: >nothing.data
ok "an empty file on it" exits 1 sh -c "'$zcost' report functions --perf - <nothing.data"
ok "  as well" says '^zcost: standard input is empty$' err
ok "an empty file has its own reason" sh -c "! '$zcost' report functions --perf nothing.data 2>err && grep -q 'nothing.data: is empty: perf record' err"
ok "text on standard input" exits 1 sh -c "echo text | '$zcost' report functions --perf -"
ok "  is told by that name" says '^zcost: standard input: is not a perf.data file' err

done_testing
