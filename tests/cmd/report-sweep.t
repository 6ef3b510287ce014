#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost report sweep and plot sweep: figures over the values of a setting, and where the lines cross.
. "$(dirname "$0")/../lib.sh"
. "$tests/plot.sh"
. "$tests/golden.sh"

make_capture cap || { cat analyze.log; exit 1; }

# variant NAME SIZE GRO FIRST_RUN BUSY_NS MAPPED_BYTES: a variant of the plan with six runs of 1 MiB/s, each with 1 % more CPU time.
variant() {
	name="$1+size$2+gro-$3"
	echo "INSERT INTO variant (name, what, base) VALUES ('$name', '', '$1');
		INSERT INTO setting (variant, name, value) VALUES ('$name', 'size', '$2'), ('$name', 'gro', '$3');"
	for r in 0 1 2 3 4 5; do
		id=$(($4 + r))
		echo "INSERT INTO run (id, variant, pass, repeat, side, host, command, cpus, ncpus, start_ns, end_ns, position, status,
			why) VALUES ($id, '$name', 'measure', $((r + 1)), 'receiver', 'vm', 'x', '1', 1, 10000000000, 13000000000, $id,
			'ok', '');
		INSERT INTO metric (run, name, unit, value, source) VALUES ($id, 'rate_kib', 'KiB/s', 1024, 'measured'), ($id, 'seconds', 's', 1, 'measured'),
			($id, 'throughput', 'Gbit/s', 8, 'measured'), ($id, 'cpu_pct', '%', $5 * 1024 * (1 + $r / 100.0) / 1e7, 'measured'),
			($id, 'bytes', 'B', 1048576, 'measured'), ($id, 'rx_mapped_bytes', 'B', $6, 'measured'),
			($id, 'rx_copied_bytes', 'B', 1048576 - $6, 'measured');"
	done
}
{
	echo "BEGIN; DELETE FROM run; DELETE FROM metric; DELETE FROM variant;"
	# Without GRO new costs 200, 150, 75, 50 against 100: half of the way from 4k to 16k, and there in logarithms.
	id=1000
	for c in 1k:100:200:on 4k:100:150:on 16k:100:66.6666666:on 64k:100:50:on 1k:100:40:off 4k:100:40:off 16k:100:40:off 64k:100:40:off; do
		set -- $(echo $c | tr : ' ')
		variant old $1 $4 $id $2 0
		variant new $1 $4 $((id + 10)) $3 1048576
		id=$((id + 20))
	done
	echo "COMMIT;"
} | sqlite3 -bail cap/zcost.db

sweep() {
	"$zcost" report sweep cap --setting size --format tsv "$@" 2>notes
}
report cap sweep --setting size # the lines cross at 8k, or nowhere
sweep --variant '*+gro-on' >on.tsv
sweep >sweep.tsv
ok "each value of each line has the estimate of report scores" same_figures \
	"$(cells on.tsv estimate value=4k variant=new metric=ns_per_kib)" \
	"$("$zcost" report scores cap --variant new+size4k+gro-on --format tsv 2>/dev/null | sed 1d | awk -F '\t' '$3 == "ns_per_kib" { print $4 }')"
ok "json has the crossovers as rows" sh -c "\"$zcost\" report sweep cap --setting size --format json |
	jq -e '.crossovers.rows[] | select(.metric == \"ns_per_kib\" and .under == \"gro=on\") | .kind == \"begins\" and (.words | startswith(\"new is dearer\")) and (.at | . > 8190 and . < 8194)'"
report cap sweep --setting size --variant '*+gro-on' --power-model idle=20,per_cpu=5
"$zcost" plot cap sweep --setting size --variant '*+gro-on' --power-model idle=20,per_cpu=5 -o model --format svg >log 2>&1
ok "the chart of a sweep says that its power is modelled" says 'T²/P, power modelled' model/sweep.svg
sqlite3 cap/zcost.db "INSERT INTO metric (run, name, unit, value, source) SELECT run, 'workload_cpu_pct', unit, value / 2, source FROM metric WHERE name = 'cpu_pct'"
sweep --variant '*+gro-on' --workload-only >own.tsv
ok "the sweep of the workload alone has its CPU time" near "$(cells own.tsv estimate value=4k variant=new metric=ns_per_kib)" \
	"$(cells on.tsv estimate value=4k variant=new metric=ns_per_kib | awk '{ print $1 / 2 }')" 1e-6
report cap sweep --setting size --workload-only
"$zcost" compare 'old+*' 'new+*' -C cap --workload-only --format json >out 2>err
ok "compare of pairs takes the CPU time of the workload" jq -e '[.rows[].ns_per_kib_base | . > 51 and . < 52] | all' out
ok "a note of pairs says whose CPU time it is, for both ends" jq -e '.notes[] | select(.kind == "workload_alone") | .of | length == 2' out
run report sweep cap --setting mtu

ok "plot sweep draws one chart" exits 0 "$zcost" plot cap sweep -o slides --setting size --format svg
ok "a combination of the other settings has a panel" test "$(cut -f 6 slides/sweep.tsv | sed 1d | sort -u | tr '\n' ' ')" = "gro=off gro=on "
ok "the lines are the variants of the plan" test "$(cut -f 7 slides/sweep.tsv | sed 1d | sort -u | tr '\n' ' ')" = "new old "
ok "no caption names variants that have no line" sh -c "! grep -E '(copied|copying|zero copy)' slides/sweep.gp"
ok "the crossover is marked" says '^mark0 = "8k"' slides/sweep.gp
ok "the subtitle explains the marks of a crossing" says 'dashed: the lines cross; grey: the 95 % interval of the crossing' slides/sweep.gp
"$zcost" plot cap sweep -o apart --setting size --variant '*+gro-off' --format svg >log 2>&1
ok "the subtitle names no crossing where the lines do not cross" sh -c "grep -q 'of the runs' apart/sweep.gp && ! grep -E 'dashed|grey' apart/sweep.gp"
ok "a wide range of numbers has a log axis" says 'set logscale x' slides/sweep.gp
ok "the picture is XML" xmllint --noout slides/sweep.svg
ok "words as values have places of their own" exits 0 "$zcost" plot cap sweep -o words --setting gro --format svg
ok "words as values have no log axis" sh -c "! grep -q 'set logscale x' words/sweep.gp"
ok "a variant of one combination leaves one panel for each figure" sh -c "\"$zcost\" plot cap sweep -o one --variant '*+gro-on' --format svg 2>/dev/null;
	cut -f 6 one/sweep.tsv | grep -q '^receiver: CPU time, ns per KiB'"
ok "the title claims the crossover with its interval" says '<title>[^<]*new costs less CPU time than old from size = 8k on \(95 %: ' one/sweep.svg

cp -r cap late
sqlite3 late/zcost.db "UPDATE run SET status = 'failed' WHERE variant = 'old+size1k+gro-off'"
"$zcost" plot late sweep -o late --setting size --variant '*+gro-off' --format svg >log 2>&1
ok "the title names the base of the crossover, and the values that were compared" \
	says '<title>[^<]*new costs less CPU time than old at every compared size<' late/sweep.svg
sqlite3 late/zcost.db "DELETE FROM metric WHERE name = 'cpu_pct'; UPDATE metric SET value = 12 + run % 10 / 100.0 WHERE name = 'throughput'
	AND run IN (SELECT id FROM run WHERE variant LIKE 'new%')"
"$zcost" plot late sweep -o late --setting size --variant '*+gro-off' --format svg >log 2>&1
ok "the title claims no CPU time where only the throughput is known" sh -c "grep -q 'throughput, Gbit/s' late/sweep.gp && ! grep 'less CPU time' late/sweep.svg"

# The runs of all variants take turns.
sqlite3 cap/zcost.db "UPDATE metric SET value = value * 1e7 / 2048 WHERE name = 'cpu_pct'; UPDATE run SET position = 100 * repeat + id"
pairs() {
	"$zcost" compare "$@" -C cap --format tsv
}
ok "two patterns compare the variants with the same settings" exits 0 pairs 'old+*' 'new+*'
cp out pairs.tsv
ok "each combination of settings has a row" test "$(cut -f 1,2 pairs.tsv | sed 1d | tr '\t\n' ': ')" = \
	"1k:on 4k:on 16k:on 64k:on 1k:off 4k:off 16k:off 64k:off "
for size in 1k 64k; do
	"$zcost" compare old+size$size+gro-on new+size$size+gro-on -C cap --format tsv >alone.tsv 2>/dev/null
	for x in base new change_pct; do
		ok "$x of $size is that of a comparison of the two variants" same_figures \
			"$(cells pairs.tsv ns_per_kib_$x size=$size gro=on)" "$(cells alone.tsv $x metric=ns_per_kib)"
	done
	ok "the throughput of $size is that of the two variants" same_figures \
		"$(cells pairs.tsv throughput_new size=$size gro=on)" "$(cells alone.tsv new metric=throughput)"
done
ok "p is corrected for the eight rows by Holm's method" near "$(cells pairs.tsv ns_per_kib_p size=64k gro=on)" \
	"$(echo "$(cells alone.tsv p metric=ns_per_kib)" | awk '{ print 8 / 3 * $1 }')" 1e-6 # alone: one of three figures
# Five runs below all of the base and one among them: p is 0.015 alone, and 0.12 as one of eight.
cp -r cap near
sqlite3 near/zcost.db "UPDATE metric SET value = (SELECT (99.0 + repeat) / 200 * iif(repeat = 6, 97.6, 90) FROM run WHERE id = metric.run)
	WHERE name = 'cpu_pct' AND run IN (SELECT id FROM run WHERE variant LIKE 'new%')"
"$zcost" compare 'old+*' 'new+*' -C near --format tsv >near.tsv 2>/dev/null
ok "an interval is corrected as p is: p above 0.05, and 0 inside" sh -c "echo '$(cells near.tsv ns_per_kib_p size=64k gro=off) $(cells near.tsv ns_per_kib_change_lo size=64k gro=off) $(cells near.tsv ns_per_kib_change_hi size=64k gro=off)' |
	awk '{ exit !(NF == 3 && \$1 > 0.12 && \$1 < 0.13 && \$2 < 0 && \$3 > 0) }'"
ok "no row of pairs has an interval that contradicts its p" tsv '{ out = $at["ns_per_kib_change_lo"] > 0 || $at["ns_per_kib_change_hi"] < 0; if (out != ($at["ns_per_kib_p"] < 0.05)) exit 1; rows++ } END { exit rows != 8 }' near.tsv
compare cap 'old+*' 'new+*'
pairs 'old+*' 'new+*' 2>err >out
ok "no note speaks of limits where all rows have the same" sh -c "! grep 'different limits' err"
ok "the gate of two patterns fails where a row is worse" exits 3 pairs 'old+*' 'new+*' --fail-on worse
ok "the gate of two patterns names the metric and the variant that failed" says '^zcost: failed: receiver [a-z_]+ of new' err
ok "the gate of two patterns passes where no row is worse" exits 0 pairs 'old+*gro-off' 'new+*' --fail-on worse
"$zcost" compare 'old+*' 'new+*' -C cap >rows
ok "text has the rows under the columns of the settings" grep -qE '^ *1k +on +[0-9.]+ ' rows
ok "json has the rows with their intervals" sh -c "\"$zcost\" compare 'old+*' 'new+*' -C cap --format json |
	jq -e '.rows[3] | .size == \"64k\" and .ns_per_kib_change_hi < 0 and .ns_per_kib_verdict == \"better\"'"
ok "patterns of which no variant has the settings of another exit 1" exits 1 pairs 'old+*gro-on' 'new+*gro-off'
ok "the message says where the settings are" says "^zcost: no variant of 'new.*'zcost report variants' lists the settings" err
sqlite3 cap/zcost.db "UPDATE run SET status = 'failed' WHERE variant = 'new+size1k+gro-off';
	INSERT INTO variant (name, what, base) VALUES ('newer+size4k+gro-on', '', 'newer');
	INSERT INTO run (variant, pass, repeat, side, host, command, cpus, ncpus, position, status, why)
		VALUES ('newer+size4k+gro-on', 'measure', 1, 'receiver', 'vm', 'x', '1', 1, 9999, 'failed', '');
	INSERT INTO setting (variant, name, value) VALUES ('newer+size4k+gro-on', 'size', '4k'), ('newer+size4k+gro-on', 'gro', 'on')"
ok "a variant that failed is compared" exits 0 pairs 'old+*' 'new+*'
cp out failed.tsv
ok "its row has no figure of it and no verdict" test "$(cells failed.tsv ns_per_kib_new size=1k gro=off)$(cells failed.tsv ns_per_kib_verdict size=1k gro=off)" = ""
ok "the other rows have seven tests" near "$(cells failed.tsv ns_per_kib_p size=64k gro=on)" \
	"$(echo "$(cells alone.tsv p metric=ns_per_kib)" | awk '{ print 7 / 3 * $1 }')" 1e-6
cp -r cap copied
sqlite3 copied/zcost.db "UPDATE metric SET value = CASE name WHEN 'rx_mapped_bytes' THEN 0 ELSE 1048576 END WHERE name IN ('rx_mapped_bytes', 'rx_copied_bytes');
	INSERT INTO metric (run, name, unit, value, source) SELECT id, 'asked_zero_copy', '', 1, 'measured' FROM run WHERE variant LIKE 'new+size4k%'"
run report sweep copied --setting size
cp -r cap stopped
sqlite3 stopped/zcost.db "INSERT INTO metric (run, name, unit, value, source) SELECT id, 'throttled_quota_s', 's', 0.4, 'measured' FROM run WHERE variant IN ('old+size1k+gro-on', 'new+size4k+gro-on')"
compare stopped 'old+*' 'new+*' # a row without a run has no test
ok "a pattern that matches two variants of the same settings is a usage error" exits 2 pairs 'old+*' 'new*'
ok "the message names both" says "'new\*' matches new\+size4k\+gro-on and newer\+size4k\+gro-on, which have the same settings" err
ok "patterns with a list of costs are a usage error" exits 2 pairs 'old+*' 'new+*' --table functions

make_capture plain >/dev/null
run report sweep plain

run compare 'old+*' 'new+*' -C stopped
golden_captures cap/zcost.db

# The crossing of ln 1.5 at 2k and -ln 1.5 at the other end: the middle up to a range of 8, then the middle of the logarithms.
{
	id=2000
	for c in 2k:150:near 15k:66.6666667:near 2k:150:far 16k:66.6666667:far; do
		set -- $(echo $c | tr : ' ')
		variant old $1 $3 $id 100 0
		variant new $1 $3 $((id + 10)) $2 0
		id=$((id + 20))
	done
} | sqlite3 -bail cap/zcost.db
crossing() { "$zcost" report sweep cap --setting size --variant "*+gro-$1" --format json 2>/dev/null |
	jq ".crossovers.rows[] | select(.metric == \"ns_per_kib\") | .at"; }
ok "lines over less than a factor of 8 cross on a linear scale" near "$(crossing near)" 8704 1
ok "lines over a factor of 8 cross on a logarithmic scale" near "$(crossing far)" 5792.6 1
done_testing
