#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# capture --against: the variants of an earlier capture take turns with those of the plan.
. "$(dirname "$0")/../lib.sh"
ZCOST_COLLECT=$tests/fake/collect
FAKE_LOG=$scratch/log
export ZCOST_COLLECT FAKE_LOG
need jq

plan() { # plan CPU NAME=COMMAND...: prints a plan of these variants on that CPU
	cpu=$1
	shift
	printf '[plan]\nrepeats = 2\npasses = measure\nwarmup = 0.05\nduration = 0.1\ngrace = 0\n[side receiver]\ncpus = %s\n' "$cpu"
	for v; do
		printf '[variant %s]\nwhat = the %s\nreceiver = %s\n' "${v%%=*}" "${v%%=*}" "${v#*=}"
	done
}

cp "$(command -v sleep)" program-1
cp program-1 program-2
plan 0 "a=$scratch/program-1 60" "b=sleep 60" >old.ini
plan 0 "a=$scratch/program-2 60" "b=sleep 60" >new.ini
"$zcost" capture old.ini -o old >out 2>err
ok "capture --against runs the plan and the earlier variants" exits 0 "$zcost" capture new.ini --against old -o both
ok "a note names the variant with the same commands in both" says "^zcost: b: the same commands in the plan, so not measured twice" err
ok "the earlier variant takes turns with the plan's" test \
	"$(jq -r '.runs[] | "\(.variant)-\(.repeat)"' both/manifest.json | tr '\n' ' ')" = 'b-1 a-1 old-a-1 old-a-2 a-2 b-2 '
ok "the earlier variant has the earlier command" test \
	"$(jq -r '.variants[] | select(.name == "old-a").settings["receiver.command"]' both/manifest.json)" = "$scratch/program-1 60"
ok "the same command continues the capture" exits 0 "$zcost" capture new.ini --against old -o both --repeat 3
ok "--dry-run lists the earlier variant" sh -c "'$zcost' capture new.ini --against old --dry-run | grep -q 'old-a'"

refuses() { # refuses PATTERN ARGUMENT...: with exit 2 and one line
	pattern=$1
	shift
	exits 2 "$zcost" capture "$@" -o none && says "$pattern" err && [ ! -e none ] && [ "$(wc -l <err)" = 1 ]
}
plan 1 "a=$scratch/program-2 60" >cpu.ini
ok "--against refuses other settings of a side" refuses \
	"--against old: variant 'a' was measured with receiver.cpus = '0', and now it is '1'" cpu.ini --against old
ok "--against refuses a capture without another command" refuses \
	"--against old: a, b: the same commands in the plan; keep the earlier programs under another path" old.ini --against old
ok "--against refuses a folder without a manifest" refuses \
	"--against $scratch: there is no $scratch/manifest.json; an archive needs 'zcost unpack'" new.ini --against "$scratch"
plan 0 "a=x" "old-a=y" >clash.ini
ok "--against refuses a name that the plan has" refuses "--against old: the plan has a variant 'old-a', too" clash.ini --against old
{ plan 0 "a=x"; printf '[setting mtu]\nvalues = 1 2\n'; } >matrix.ini
ok "--against refuses a plan with settings" refuses "--against old: the plan has settings" matrix.ini --against old
done_testing
