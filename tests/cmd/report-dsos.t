#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Files that are not the recorded ones: a note counts and names them.
. "$(dirname "$0")/../lib.sh"

need perf
perf record -q -e cpu-clock -o probe.data true 2>/dev/null ||
	skip_all "perf cannot record here (root, or kernel.perf_event_paranoid)"

mkdir two
program() { # program FILE NUMBER: the same function, another build-id
	printf 'volatile unsigned long x, n = %s;
__attribute__((noinline)) void burn(void) { for (unsigned long i = 0; i < 40000000; i++) x += n; }
int main(void) { burn(); return 0; }\n' "$2" | ${CC:-cc} -O1 -Wl,--build-id -x c -o "$1" -
}
program two/app 2 || skip_all "no C compiler"
here=$(pwd -P)

record() { # record FILE COMMAND
	perf record -q --buildid-mmap -g -e cpu-clock:u -F 2000 -o "$1" -- sh -c "$2" >/dev/null 2>&1
}

# Six programs, none of which is what the recorded host's files hold: one line says so.
mkdir -p six
for i in 1 2 3 4 5 6; do
	program six/prog$i 1$i
	mkdir -p "files$here/six"
	cp two/app "files$here/six/prog$i"
done
record six.data './six/prog1; ./six/prog2; ./six/prog3; ./six/prog4; ./six/prog5; ./six/prog6'
mkdir -p "some$here/six"
cp two/app "some$here/six/prog1"
"$zcost" report functions --perf six.data --symfs files --verbose >out 2>err
ok "a note counts the files that differ from the recorded ones and names the first" says \
	'^# warning: symbols of 6 files are not used: files/.*/six/prog[1-6]: build-id [0-9a-f]+, recorded was [0-9a-f]+$' out
"$zcost" report functions --perf six.data --symfs some --verbose >out 2>err
ok "a note about a single file has no count" says '^# warning: some/.*/six/prog1: build-id [0-9a-f]+, recorded was [0-9a-f]+$' out

done_testing
