#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# zcost push: a server on loopback takes profiles apart. Their sums are those of the store, whatever happens on the way.
. "$(dirname "$0")/../lib.sh"
. "$tests/world.sh"
need sqlite3 node
unset http_proxy HTTP_PROXY all_proxy ALL_PROXY
world cap 4 $copying $mapping
sqlite3 cap/zcost.db "INSERT INTO capture VALUES ('created', '2026-11-23T12:00:00Z')"

server= collector=
cleanup() { kill $server $collector 2>/dev/null; }
serve() { # serve LINE...: starts the server, on the port it had, with a plan of its answers
	[ -z "$server" ] || { kill $server; wait $server; } 2>/dev/null
	mkdir -p srv && printf '%s\n' "$@" >srv/plan && rm -f srv/took srv/body-*
	node "$tests/tools/push-server.mjs" srv $([ ! -e port ] || cat port) 2>srv/err &
	server=$!
	soon listening && cp srv/port port && url=http://127.0.0.1:$(cat port) || cat srv/err
}
listening() { [ "$(cat srv/pid)" = $server ]; }
push() { "$zcost" push "$@"; }
total() { # total WHAT...: the sum over what the server took
	awk -v what="  $* " 'index($0, what) == 1 { s += $NF } END { printf "%.0f\n", s }' srv/took
}
sums_hold() { # for both variants: samples and times of the store, costs of report functions
	is "$(total samples sum)" "$(sqlite3 cap/zcost.db 'SELECT SUM(samples) FROM cost')" &&
		is "$(total cpu sum)" "$(sqlite3 cap/zcost.db 'SELECT SUM(weight) FROM cost')" &&
		is "$(total cost_per_1000_KiB sum)" 1500000 && is "$(total cost_per_1000_KiB tcp_recvmsg)" 800000
}
took() { # took NUMBER: so many profiles, each once
	is "$(grep -c '^/' srv/took) $(grep '^/' srv/took | sort -u | wc -l)" "$1 $1"
}
waiting() { ls push.spool | grep -vc '\.sent$'; }

serve
ok "profiles go to Pyroscope" exits 0 push pyroscope $url cap --commit 'a,b}'
ok "the sums at Pyroscope are those of the store" sums_hold
ok "the name has the labels, the time is that of the capture" says \
	'^/ingest application/octet-stream zcost[{]variant=copying,side=receiver,host=vm,kernel=6.18,commit=a_b_[}] pprof 1795435200 1795435205$' srv/took
ok "a profile that was sent is not sent again" exits 0 push pyroscope $url cap --commit 'a,b}'
ok "the server has each profile once" took 2
ok "another label makes another profile" exits 0 push pyroscope $url/ cap --commit c
ok "it comes, too" took 4

serve
ok "profiles go to a collector of OpenTelemetry" exits 0 push otlp $url cap
ok "the sums at the collector are those of the store" sums_hold
ok "a resource has the labels; the profiles have an id each, and the time" says \
	'^/v1development/profiles application/x-protobuf service.name=zcost,variant=mapping,side=receiver,host=vm,kernel=6.18( [0-9a-f]{31}.@1795435200){3} comm=tcpzc,object=\[kernel.kallsyms\],side=receiver$' srv/took
ok "the ids differ" test "$(grep -o '[0-9a-f]*@' srv/took | sort -u | wc -l)" = 6

# A new spool sends all again, each time to a server with a fault.
again() { # again SERVER CODE LINE...: pushes to a server with this plan
	rm -rf push.spool
	to=$1 code=$2
	shift 2
	serve "$@"
	exits $code push $to $at cap
}

# A collector that speaks gRPC passes what it gets to the server. Its library is installed once into the build folder.
modules=$build/grpc
if ! [ -d "$modules/node_modules/pprof-format" ]; then
	mkdir -p "$modules"
	HOME=$user_home timeout 60 npm install --no-audit --no-fund --prefix "$modules" @grpc/grpc-js@1.14.0 pprof-format@2.3.2 >npm.log 2>&1
fi
if [ -d "$modules/node_modules/@grpc/grpc-js" ]; then
	node "$tests/tools/grpc-server.mjs" "$modules" $url >grpc.port 2>grpc.err &
	collector=$!
	soon test -s grpc.port || cat grpc.err
fi

# The .proto files of OpenTelemetry, in a package of a later Debian. The oracle reads what the server read with its own code.
package=libopentelemetry-proto-dev_1.11.0-1_all.deb descriptors=$build/grpc/opentelemetry
if ! [ -d "$descriptors.include" ]; then
	debian=$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -v security | head -n 1)
	timeout 60 /usr/lib/apt/apt-helper download-file "${debian}pool/main/o/opentelemetry-proto/$package" $package \
		SHA256:ae5604e475eeae038c5d1c396ad42dec4d992edf49c4eef9b05361af3a5b7cbb >apt.log 2>&1 &&
		dpkg-deb -x $package proto && mv proto/usr/include "$descriptors.include"
fi
decoded() { # the oracle's sums are the server's; the .proto files know each field
	node "$tests/tools/push-decode.mjs" "$modules" srv "$descriptors" >oracle 2>oracle.err || { cat oracle.err; return 1; }
	sort oracle >oracle.sums && grep '^  ' srv/took | sort | diff - oracle.sums || return 1
	[ "$(wc -l <oracle)" -gt 10 ] || { cat oracle; return 1; }
	for body in srv/body-*.otlp; do
		[ ! -e $body ] || protoc --descriptor_set_in="$descriptors" <$body >text \
			--decode=opentelemetry.proto.collector.profiles.v1development.ExportProfilesServiceRequest || return 1
		[ ! -e $body ] || { says '^dictionary' text && ! grep -nE '^ *[0-9]+(:| [{])' text; } || return 1
	done
}

for to in pyroscope otlp otlp-grpc; do
	at=$url
	if [ $to = otlp-grpc ]; then
		[ -n "$collector" ] || { skip "otlp-grpc" "npm cannot install @grpc/grpc-js: $(grep -im1 error npm.log | cut -c1-100)"; break; }
		at=http://127.0.0.1:$(cat grpc.port)
		ok "profiles go to a collector that speaks gRPC" again $to 0
		ok "the sums there are those of the store" sums_hold
	fi
	if ! [ -d "$modules/node_modules/pprof-format" ] || ! [ -d "$descriptors.include" ]; then
		skip "$to: decoders of others" "cannot install pprof-format or $package: $(tail -qn 1 npm.log apt.log 2>/dev/null | cut -c1-100)"
	else
		[ $to = otlp-grpc ] || again $to 0
		ok "$to: the decoders of the projects find the same sums, and know each field" decoded
	fi
	[ $to = otlp-grpc ] && busy=503 || busy=429
	ok "$to: 503 and $busy are tried again" again $to 0 '503 later' 200 "$busy later"
	ok "$to: a message says why and when" says '(HTTP status 503|status 14 of gRPC): later; next try in [0-9]' err
	ok "$to: all came, and once" took 2
	ok "$to: sums hold after the tries" sums_hold
	ok "$to: 400 is no reason to try again, and fails" again $to 1 '400 too old'
	ok "$to: the message has the server's words" says 'not sent: (HTTP status 400|status 3 of gRPC): too old' err
	ok "$to: the refused profile waits, the other was sent" test "$(waiting) $(grep -c '^/' srv/took)" = '1 1'
	ok "$to: a push without a capture sends it" exits 0 push $to $at
	ok "$to: nothing is lost or doubled after a refusal" took 2

	killed() { # the server dies by HOW; the push waits for the next one
		rm -rf push.spool err
		serve 200 "$1"
		"$zcost" push $to $at cap >out 2>err &
		pusher=$!
		soon grep -q 'next try' err && mv srv/took first && serve && wait $pusher || return 1
		cat srv/took >>first && mv first srv/took
	}
	ok "$to: the server is killed in the middle, and starts again" killed half
	ok "$to: nothing is lost or doubled by the kill" took 2
	ok "$to: sums hold after the kill" sums_hold
	ok "$to: the server is killed when it has a profile, before it answers" killed mute
	ok "$to: that profile comes twice" test "$(grep -c '^/' srv/took)" = 3
	ok "$to: with the same labels, time and id" test "$(grep '^/' srv/took | sort -u | wc -l)" = 2
done
at=$url
ok "a collector that takes a part: exit 4" again otlp 4 '200 0a0908021205656d707479'
ok "a message has the collector's words" says 'the server did not take all: .*empty' err
ok "an empty message is no refusal" again otlp 0 '200 0a00'

kill $server && wait $server 2>/dev/null
server=
rm -rf push.spool
ok "without a server the profiles wait" exits 1 push otlp $url cap --retry 0
ok "the message says what to do" says '0 profiles sent, 2 wait in push.spool; run the command again' err
ok "the spool is its owner's alone" is "$(stat -c %a push.spool push.spool/* | sort -u | xargs)" "600 700"
serve
ok "they do not go to a server of another kind" exits 0 push pyroscope $url
ok "the server got none" test ! -e srv/took
locked() {
	flock push.spool "$zcost" push otlp $url 2>err
	[ $? = 1 ] && says 'another push uses it' err
}
ok "two pushes do not share a spool" locked
ok "they go to their server" exits 0 push otlp $url
ok "they are all there" took 2

# --- ClickHouse: the server keeps the rows of each table ---

same_tables() { # the rows there are those that export clickhouse writes
	rm -rf lab && "$zcost" export clickhouse cap "it's" -o lab || return 1
	for t in lab/*.tsv; do
		tail -n +3 $t | sort >expected
		sort srv/${t#lab/} | diff - expected || { echo $t; return 1; }
	done
	[ "$(wc -l <srv/metric.tsv)" -gt 10 ]
}
created() { grep -o 'CREATE [TV].*' srv/took | sort | uniq -c | awk '{ print $1 }' | sort -u; }

cp -r cap "it's" # a name to quote
serve
ok "two captures go to ClickHouse" exits 0 push clickhouse $url cap "it's"
ok "the tables there have the rows of export clickhouse" same_tables
ok "each table and view is made, if it is not there, before the rows of a capture" test "$(created)" = 2 -a \
	"$(grep -c CREATE srv/took)" = $((2 * $(grep -c '^CREATE' lab/schema.sql)))
ok "the message counts captures" says '^zcost: 2 captures sent, 0 wait' err
serve
ok "a capture that was sent is not sent again" sh -c "'$zcost' push clickhouse $url cap 2>log && ! [ -e srv/took ]"
sqlite3 cap/zcost.db "UPDATE metric SET value = 2 * value WHERE name = 'cpu_pct'"
ok "a capture with other figures is sent again" exits 0 push clickhouse $url cap
ok "its rows replace the earlier ones" same_tables
sqlite3 cap/zcost.db "UPDATE metric SET value = 2 * value WHERE name = 'cpu_pct'"
serve $(yes 200 | head -n 40) half
ok "a server that dies in the middle leaves the capture in the spool" exits 1 push clickhouse $url cap --retry 0
ok "the half is there, the rest is not" test "$(grep -c . srv/took)" = 40
serve
ok "a push without a capture sends it from the start" exits 0 push clickhouse $url
ok "nothing is lost or doubled" same_tables
rm -rf "it's"

sqlite3 cap/zcost.db "DELETE FROM capture WHERE key = 'created'"
ok "a capture without a date is refused" exits 1 push otlp $url cap
for words in '' 'otlp' "zipkin $url cap" 'otlp localhost:4318 cap' "otlp http://me:secret@127.0.0.1 cap" "otlp $url cap --retry x"; do
	ok "usage error: push $words" exits 2 push $words
done
done_testing
