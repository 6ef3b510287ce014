#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# samples/nginx.ini, shortened: a real server and its client, and what a request costs on each side.
. "$(dirname "$0")/../lib.sh"
need root
[ "$(nproc)" -ge 2 ] || skip_all "the test bed needs two CPUs"
need ip jq nginx sqlite3 taskset wrk
bed=zt-nginx-$$
cleanup() {
	sh "$top/samples/testbed.sh" down $bed 2>/dev/null
	rm -rf /run/$bed
}
nothing_left() {
	[ ! -e /run/$bed ] && [ ! -e /run/netns/$bed-sender ] && [ -z "$(grep -lzs "[/]run/$bed/" /proc/[0-9]*/cmdline)" ]
}

metric() { # metric NAME VARIANT: of the receiver, in its measured run
	sqlite3 c/zcost.db "SELECT value FROM metrics WHERE name = '$1' AND variant = '$2' AND side = 'receiver' AND pass = 'measure' AND object IS NULL AND cpu IS NULL"
}
in_window() { # wrk counts for longer than the window, in which its sockets received more or less than on average
	for v in read sendfile; do
		near "$(metric bytes $v)" "$(metric tcp_socket_bytes_received $v)" 1 || return 1
		awk -v rate="$(metric rate_messages $v)" -v kib="$(metric rate_kib $v)" '
			/^Requests.sec/ { own = $2 } /^Transfer.sec/ { of = $2 * ($2 ~ /GB/ ? 1048576 : $2 ~ /MB/ ? 1024 : 1) }
			END { by = rate / kib * of / own; if (by < 0.99 || by > 1.01) { print rate, kib, own, of; exit 1 } }' \
			c/runs/$v/measure-01/receiver/workload.out || return 1
	done
}
# On a machine that stands still for most of a window, nearly all of the bytes were in the sockets before the window began: no call
# of the window sent them.
flows() {
	rm -rf c
	"$zcost" capture "$top/samples/nginx.ini" -o c --pass measure,syscalls --repeat 1 --set bed=$bed --warmup 0.2 --duration 0.6 >out 2>err
	code=$?
	[ $code = 0 ] || [ $code = 4 ] || { cat err; return 1; }
	"$zcost" analyze c >log 2>&1 || { cat log; return 1; }
	"$zcost" report zerocopy c --format tsv 2>/dev/null |
		tsv '$at["evidence"] == "bytes received, by system calls" { n++; if ($at["total"] < 64e6) { print; few = 1 } } END { exit few || n != 2 }' &&
		in_window
}
steady "the shortened plan runs, and its requests and bytes are those of the window, in the ratio of wrk's own" flows
ok "all four runs of the shortened plan are ok" jq -e '.complete and (.runs | length) == 4 and all(.runs[]; .status == "ok")' c/manifest.json
ok "the plan leaves no namespace, folder or process" nothing_left

cell() { # cell COLUMN VARIANT SIDE: of the file out
	tsv '$at["variant"] == v && $at["side"] == s { print $at[want]; exit }' want="$1" v="$2" s="$3" out
}
costs() { # each side has a cost per request
	for v in read sendfile; do
		for side in receiver sender; do
			near "$(cell rate_messages $v $side)" "$(metric rate_messages $v)" 0.1 &&
				near "$(cell ns_per_message $v $side)" "$(awk "BEGIN { print $(cell cpu_pct $v $side) * 1e7 / $(metric rate_messages $v) }")" 1000 ||
				return 1
		done
	done
}
"$zcost" report summary c --unit message --format tsv >out 2>err
ok "the requests that wrk counts divide the costs of both sides" costs
ok "report limits names a limit of each variant" sh -c "'$zcost' report limits c --format tsv | cut -f 1 | sort -u | grep -c 'read\|sendfile' | grep -qx 2"
ok "report zerocopy exits 0 or 4" sh -c "'$zcost' report zerocopy c >out 2>&1; [ \$? = 0 -o \$? = 4 ]"
ok "with sendfile off nginx copies every byte" says '^# read: .*the sender copies every byte' out
ok "with sendfile on nginx does not copy" says '^# sendfile: .*the sender does not copy' out
# per_request VARIANT CALL N: nginx makes N such calls for each request, which opens a file. The window cuts the first and the last
# request of each of the 8 connections; a busy machine makes few others.
per_request() {
	"$zcost" report syscalls c --variant $1 --side sender --format tsv 2>/dev/null |
		tsv '$at["syscall"] == call { n = $at["calls"] } $at["syscall"] == "openat" { files = $at["calls"] } END { print n " calls for " files " files"
			over = n - expected * files; exit !(files > 0 && (over < 0 ? -over : over) <= expected * (8 + 0.1 * files)) }' call="$2" expected="$3"
}
ok "with sendfile off a request for 1 MiB takes 32 reads" per_request read pread64 32
ok "with sendfile off a request takes no sendfile" per_request read sendfile 0
ok "with sendfile on a request takes no read" per_request sendfile pread64 0
ok "with sendfile on a request takes a sendfile" per_request sendfile sendfile 1
"$zcost" compare read sendfile -C c --unit message --format tsv >out 2>err
ok "compare has the cost of a request on both sides and in total" test \
	"$(awk -F'\t' '$2 == "ns_per_message" { print $1 }' out | tr '\n' ' ')" = "receiver sender total "

"$zcost" capture "$top/samples/nginx.ini" -o d --pass measure --set bed=$bed >out 2>err &
pid=$!
ok "wrk runs before SIGTERM" soon sh -c 'cat d/runs/*/.measure-01.tmp/receiver/workload.err 2>/dev/null | grep -q .'
kill -TERM $pid
wait $pid
ok "an interrupted capture leaves no namespace, folder or process" nothing_left
done_testing
