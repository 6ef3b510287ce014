#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Objects of one base name: a table tells them apart, by path or, of one path, by build-id.
. "$(dirname "$0")/../lib.sh"

command -v perf >/dev/null || skip_all "no perf on this machine"
perf record -q -e cpu-clock -o probe.data true 2>/dev/null ||
	skip_all "perf cannot record here (root, or kernel.perf_event_paranoid)"

mkdir one two
program() { # program FILE NUMBER: the same function, another build-id
	printf 'volatile unsigned long x, n = %s;
__attribute__((noinline)) void burn(void) { for (unsigned long i = 0; i < 40000000; i++) x += n; }
int main(void) { burn(); return 0; }\n' "$2" | ${CC:-cc} -O1 -Wl,--build-id -x c -o "$1" -
}
program one/app 1 && program two/app 2 || skip_all "no C compiler"
here=$(pwd -P)

table() { # table FILE OPTIONS...: "dso" of each row of burn, by name
	file=$1
	shift
	"$zcost" report functions --perf "$file" --all --format tsv "$@" >out 2>err || [ $? = 4 ] || return 1
	awk -F'\t' '$1 == "burn" { print $2 }' out | sort
}

record() { # record FILE COMMAND
	perf record -q --buildid-mmap -g -e cpu-clock:u -F 2000 -o "$1" -- sh -c "$2" >/dev/null 2>&1
}

record single.data './one/app'
ok "a DSO whose base name is unique has its base name" test "$(table single.data)" = app

record both.data './one/app; ./two/app'
ok "two DSOs with one base name have their paths" test "$(table both.data | tr '\n' ' ')" = "$here/one/app $here/two/app "
ok "the shares of all DSOs add up" near "$(awk -F'\t' 'NR > 1 { n += $4 } END { print n }' out)" 100 0.1
ok "--dso with a base name selects both DSOs" test "$(table both.data --dso app | wc -l)" = 2
ok "--dso with a path selects one DSO" test "$(table both.data --dso '*/two/app')" = "$here/two/app"

# One path, first one program and then the other.
id() {
	perf buildid-list -i "$1" 2>/dev/null | awk -v f="$2" '$2 == f { print substr($1, 1, 8); exit }'
}
first=$(id both.data "$here/one/app")
second=$(id both.data "$here/two/app")
record moved.data 'cd one && ./app && cp ../two/app new && mv new app && ./app'
ok "two DSOs with one path have their build-ids" sh -c "printf '%s\n' '$here/one/app ($first)' '$here/one/app ($second)' |
	sort | cmp - /dev/fd/3" 3<<END
$("$zcost" report functions --perf moved.data --all --format tsv 2>/dev/null | cut -f 2 | grep "^$here/one/app" | sort -u)
END
ok "compare uses base names" sh -c "
	'$zcost' compare both.data single.data --rate 1,1 --format tsv 2>err | cut -f 2 | grep -x app"

# Six programs, none of which is what the recorded host's files hold: one line says so.
mkdir -p six
for i in 1 2 3 4 5 6; do
	program six/prog$i 1$i
	mkdir -p "files$here/six"
	cp two/app "files$here/six/prog$i"
done
record six.data './six/prog1; ./six/prog2; ./six/prog3; ./six/prog4; ./six/prog5; ./six/prog6'
mkdir -p "some$here/six"
cp one/app "some$here/six/prog1"
"$zcost" report functions --perf six.data --symfs files --verbose >out 2>err
ok "a note counts the files that differ from the recorded ones and names the first" says \
	'^# warning: symbols of 6 files are not used: files/.*/six/prog[1-6]: build-id [0-9a-f]+, recorded was [0-9a-f]+; also prog[1-6], prog[1-6], prog[1-6] and 2 more$' out
"$zcost" report functions --perf six.data --symfs some --verbose >out 2>err
ok "a note about a single file has no count" says '^# warning: some/.*/six/prog1: build-id [0-9a-f]+, recorded was [0-9a-f]+$' out

done_testing
