#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The way of packets out of a recorded path.tsv: the table, the comparison, the chart. Of the variant late, packets wait three times
# as long for their reader, and each run a little longer than the one before.
. "$(dirname "$0")/../lib.sh"
. "$tests/golden.sh"
need sqlite3

path_run() { # path_run VARIANT REPEAT FACTOR
	d=cap/runs/$1/trace-0$2/receiver
	run_json "$d" "$1" trace "$2" receiver tcpzc '{"name": "path", "state": "ok", "why": "", "files": ["path.tsv"]}'
	{ points 1048576 65536 9 14; summary receiver 0 0 0 0 1 1; } >"$d/workload.out"
	awk -F'\t' -v OFS='\t' -v f="$3" '$2 == "reader" && $3 == "bucket" { $4 = int($4 * f); $5 = int($5 * f) + 1 }
		$2 == "reader" && $3 == "ns" { more = $6 * (f - 1); $6 *= f } $1 == "receive" && $2 == "end_to_end" && $3 == "ns" { $6 += more }
		{ print }' "$tests/data/path.tsv" >"$d/path.tsv"
	mkdir -p "cap/runs/$1/trace-0$2/sender"
	run_json "cap/runs/$1/trace-0$2/sender" "$1" trace "$2" sender none
}
for r in 1 2 3 4 5 6 7 8; do
	path_run baseline $r 1.00$r
	path_run late $r 3.00$r
	runs="${runs-} baseline/trace/$r/ok late/trace/$r/ok"
done
manifest cap "baseline late" $runs
ok "analyze reads path.tsv" exits 0 "$zcost" analyze cap

report cap path
report cap path --all --variant baseline
compare cap baseline late --table path
ok "the table and the comparison are as in tests/data/golden/$golden.txt" is_golden

"$zcost" report path cap --format tsv >table 2>err
adds_up() {
	tsv '$at["stage"] == "completion" { next } $at["stage"] == "end_to_end" { if ((sum / $at["mean_us"] - 1) ^ 2 > 1e-12) exit 1; sum = 0; n++; next }
		{ sum += $at["mean_us"] } END { exit n != 4 }' table
}
ok "the means of the stages add up to the mean from end to end" adds_up

"$zcost" compare baseline late -C cap --table path --format tsv >out 2>err
verdicts() { # only the stage that changed has a verdict
	is "$(tsv '{ printf "%s %s %s,", $at["way"], $at["stage"], $at["verdict"] }' out | tr , '\n' | grep -v '~$' | tr '\n' ,)" \
		"receive reader worse,receive end_to_end worse," || { cat out; return 1; }
}
ok "the comparison finds the stage that changed, and no other" verdicts
ok "--fail-on worse fails for it" exits 3 "$zcost" compare baseline late -C cap --table path --fail-on worse
ok "a rule names a stage of a side" exits 3 "$zcost" compare baseline late -C cap --table path --fail-on "receiver receive end_to_end>5%"

if command -v gnuplot >/dev/null; then
	ok "the chart is drawn" exits 0 "$zcost" plot cap path -o slides
	parts() {
		is "$(tsv '$at["variant"] == "late" && $at["group"] == "receiver: receive" && $at["part"] == "reader" { printf "%.0f", $at["value"] / 1000 }' slides/path.tsv)" 90 || { cat slides/path.tsv; return 1; }
	}
	ok "a part of its stack is the stage" parts
else
	skip "the chart" "no gnuplot"
fi

mkdir -p udp && run_json udp run trace 1 local none '{"name": "path", "state": "ok", "why": "", "files": ["path.tsv"]}'
head -n 1 "$tests/data/path.tsv" >udp/path.tsv
"$zcost" analyze udp >log 2>&1
"$zcost" report path udp >out 2>err
says_tcp() { grep -q "only TCP packets with data are followed" out || { cat log out err; return 1; }; }
ok "a run without TCP packets says that only those are followed" says_tcp

done_testing
