#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost compare --fail-on and the formats of test runners: which rows fail, and how a job reads it.
. "$(dirname "$0")/../lib.sh"
. "$tests/world.sh"
need sqlite3

world cap 6 $copying $mapping slower:1e6:103:60,40,0:40000:0:0
world few 3 $copying $mapping

gate() { # gate CODE BASE NEW OPTION...: compares two variants of cap
	code=$1 base=$2 new=$3
	shift 3
	exits $code "$zcost" compare $base $new -C cap "$@"
}

# slower takes 3 % more CPU time for the same rate.
ok "a row that is worse by less than its threshold passes" gate 0 copying slower --fail-on 'ns_per_kib>4%'
ok "a row that is worse by its threshold fails" gate 3 copying slower --fail-on 'ns_per_kib>2.9%'
ok "each row that failed is named with figure, change and interval" says \
	'^zcost: failed: receiver ns_per_kib: 1000 -> 1030 ns/KiB, \+3\.0 % \[\+[0-9.]+, \+[0-9.]+\], worse$' err
ok "a name without a side gates that row on every side" test "$(grep -c '^zcost: failed: .* ns_per_kib' err)" = 3
ok "a name with its side is one row" gate 3 copying slower --fail-on 'sender ns_per_kib>2%'
ok "the other sides are not gated" test "$(grep -c '^zcost: failed: ' err)" = 1
ok "a glob gates every row that it matches" gate 3 copying slower --fail-on 'total *>2%'
ok "worse and thresholds go together" gate 3 copying slower --fail-on 'ns_per_kib>50%' --fail-on worse
# A baseline in a repository: an anonymous archive, which the job unpacks.
echo '{"schema_version": 1, "sides": ["receiver", "sender"], "variants": [], "runs": []}' >cap/manifest.json
"$zcost" pack cap --anonymous -o base.tar.zst 2>pack.log && "$zcost" unpack base.tar.zst -o base 2>>pack.log || cat pack.log
ok "an unpacked baseline without a slowdown passes" exits 0 "$zcost" compare base:copying cap:copying --fail-on worse
ok "an unpacked baseline fails a slowdown" exits 3 "$zcost" compare base:copying cap:slower --fail-on 'ns_per_kib>2.9%'
ok "the failed row has the figures of the baseline" says '^zcost: failed: receiver ns_per_kib: 1000 -> 1030 ns/KiB' err
ok "a packed baseline is an error" exits 1 "$zcost" compare base.tar.zst:copying cap:slower --fail-on worse
ok "the error says how to unpack it" says 'zcost unpack base.tar.zst$' err
rm cap/manifest.json

ok "a change for the better passes every threshold" gate 0 copying mapping --fail-on '*_per_kib>2%'
ok "a threshold without runs for a verdict exits 4" exits 4 "$zcost" compare mapping copying -C few --fail-on 'ns_per_kib>2%'

# mapping has 400 ns/KiB of tcp_recvmsg, 100 of insert_page; copying has 600 of _copy_to_iter.
ok "a function that is worse fails beside the metrics" gate 3 mapping copying --fail-on 'ns_per_kib>500%' --fail-on '_copy_to_iter>2%'
ok "the function is named with figure and change" says '^zcost: failed: receiver _copy_to_iter: 0 -> 600 ns/KiB, worse$' err
ok "a page gates a function as the table does" gate 3 mapping copying --html page.html --fail-on '_copy_to_iter>2%'
ok "functions without a rule are not gated" test "$(grep -c '^zcost: failed: ' err)" = 1
ok "a function that did not change passes" gate 0 mapping copying --fail-on 'tcp_recvmsg>2%'
ok "a row of the chosen table has a threshold" gate 3 mapping copying --table components --fail-on 'data copy>2%'
ok "a name that no row has is an error" gate 1 copying slower --fail-on 'ns_per_kbi>2%'
ok "the error names it" says "no row with a verdict has the name 'ns_per_kbi'" err
ok "one wrong name of several is an error" gate 1 copying slower --fail-on worse --fail-on 'tcp_sendmgs>2%'
ok "a threshold below that of verdicts is refused" gate 2 copying slower --fail-on 'ns_per_kib>1%'
ok "the refusal says what to add" says 'add --threshold 1' err
ok "with that threshold it is taken" gate 3 copying slower --fail-on 'ns_per_kib>1%' --threshold 1
for wrong in slower 'ns_per_kib>' 'ns_per_kib>2' '>2%' 'ns_per_kib>-2%' 'ns_per_kib>nan%'; do
	ok "--fail-on '$wrong' is refused" gate 2 copying slower --fail-on "$wrong"
done
sqlite3 cap/zcost.db "INSERT INTO symbol VALUES (4, 'rare<&\"', 1, 0); INSERT INTO frame VALUES (4, NULL, 4);
	INSERT INTO cost SELECT DISTINCT run, run, 1, 1, 7, 7, 2, 4, 2, 2000000 FROM cost"
ok "a named row that is too small for a test exits 4" gate 4 copying slower --fail-on 'rare*>2%'
ok "the gate says that the row is not tested" says "no row of 'rare\*' is tested; choose one that costs more" err
ok "the gate counts the small row" says 'not gated: 1 row of less than 1 % of the total, which is not tested' err
ok "a rule that also has tested rows leaves the small one out" gate 0 mapping copying --table functions --fail-on '[tr][ca][pr]*>2%'
ok "the gate counts what it leaves out" says 'not gated: 1 row of less than 1 %' err

# KTAP, as the kernel's documentation has it: a version, a plan, one line for each test, no # in names.
ok "ktap has the exit status of the gate" gate 3 copying slower --format ktap --fail-on worse
sed '/^#/d' out >points
ok "ktap begins with its version and a plan" sh -c 'head -n 2 out | tr "\n" ";" | grep -qxE "KTAP version 1;1..[0-9]+;"'
ok "ktap has as many test points as planned" test "$(sed -n 's/^1\.\.//p' points)" = "$(sed 1,2d points | grep -cE '^(not )?ok [0-9]+ [^#]+ # ')"
ok "ktap numbers its points" sh -c "sed 1,2d points | sed -E 's/^(not )?ok ([0-9]+) .*/\\2/' | awk '\$1 != NR { exit 1 }'"
ok "a point has figure, change and interval" says '^not ok [0-9]+ receiver ns_per_kib # 1000 -> 1030 ns/KiB, .3.0 % \[' out
ok "a row that did not change is ok" says '^ok [0-9]+ receiver throughput # .*, ~$' out
ok "ktap without a gate exits 0" gate 0 copying slower --format ktap
ok "ktap without a gate says what is worse" says '^not ok .* total ns_per_kib # ' out
ok "rows without a verdict are skipped" sh -c "'$zcost' compare mapping copying -C few --format ktap | grep -q '^ok 1 receiver throughput # SKIP .*, too few runs\$'"
ok "ktap of named rows has these alone" sh -c "'$zcost' compare copying slower -C cap --format ktap --fail-on 'sender ns_per_kib>2%' 2>/dev/null |
	sed '/^#/d' | tail -n +2 | tr '\n' ';' | grep -qE '^1..1;not ok 1 sender ns_per_kib # [^;]*;\$'"
if command -v prove >/dev/null; then
	"$zcost" compare copying slower -C cap --format ktap >gate.tap
	ok "a reader of TAP finds the failures" sh -c "prove -e cat gate.tap 2>&1 | grep -qE 'Failed [0-9]+/[0-9]+ subtests'"
fi
if command -v xmllint >/dev/null; then
	valid() { # valid COMPARE'S ARGUMENT...
		"$zcost" compare "$@" --format junit >junit.xml 2>err
		xmllint --noout --schema "$tests/data/junit.xsd" junit.xml
	}
	count() { # count XPATH: in junit.xml
		xmllint --xpath "count($1)" junit.xml
	}
	ok "junit is valid" valid copying slower -C cap
	ok "junit counts its tests" is "$(count '//testcase')" "$(xmllint --xpath 'string(//@tests)' junit.xml)"
	ok "junit counts its failures" is "$(count '//testcase/failure')" "$(xmllint --xpath 'string(//@failures)' junit.xml)"
	ok "junit has a row as a test of its side" is "$(count '//testcase[@classname="receiver"][@name="ns_per_kib"]/failure[contains(@message, "+3.0 %")]')" 1
	ok "junit of skipped rows is valid" valid mapping copying -C few
	ok "junit skips rows without a verdict" is "$(count '//skipped')" "$(count '//testcase')"
	ok "junit with marks in names is valid" valid copying slower -C cap --table functions --fail-on 'rare*>2%'
else
	skip "junit is valid" "no xmllint here"
fi
ok "other commands refuse the formats" exits 2 "$zcost" report summary cap --format ktap
ok "a table without verdicts refuses the formats" gate 2 copying slower --table settings --format junit
ok "a self-test refuses the formats" exits 2 "$zcost" compare --self-test cap --format ktap
ok "json has what a gate reads" sh -c "'$zcost' compare copying slower -C cap --format json 2>/dev/null |
	jq -e '.rows[] | select(.side == \"total\" and .metric == \"ns_per_kib\") | .verdict == \"worse\" and .p < 0.05 and .change_lo > 2 and .change_hi < 4'"
done_testing
