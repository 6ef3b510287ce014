#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# tcpzc --rx zcrx: the real refusals of this kernel with their reasons, and the output of --print-setup.
. "$(dirname "$0")/../lib.sh"
. "$tests/tcpzc.sh"

refused() { # TEXT OPTIONS...: tcpzc refuses them with this text
	want=$1
	shift
	"$tcpzc" --listen=127.0.0.1 --port $port --accept-timeout 1 --rx zcrx "$@" >out 2>err
	rc=$?
	[ $rc = 1 ] || { echo "exit $rc"; cat out err; return 1; }
	grep -q "$want" err && grep -q '"type":"error"' out || { cat out err; return 1; }
}

usage() { # PATTERN OPTIONS...
	pattern=$1
	shift
	exits 2 "$tcpzc" "$@" && says "$pattern" err && [ ! -s out ]
}
ok "a receiver without an interface is refused" usage '^tcpzc: --rx zcrx: which interface\? --nic IF$' --listen --rx zcrx --queue 1
why='no root'
if [ "$(id -u)" = 0 ] && rx_here uring-multishot; then
	ok "an interface that does not exist is an error" refused 'no such interface' --nic none0
	if "$zcost" doctor zcrx --format tsv 2>/dev/null | grep -q "^zcrx	kernel	yes"; then
		ok "loopback is an error with the reason" refused 'no hardware queue that it can hand over.*Way out: use a NIC' --nic lo
	else
		skip "loopback is an error with the reason" "no zcrx in this kernel"
	fi
else
	skip "an interface that does not exist is an error" "$why"
	skip "loopback is an error with the reason" "$why"
fi

"$tcpzc" --listen --rx zcrx --print-setup --nic eth7 --queue 5 --port 4711 >setup
ok "--print-setup sets up header split" says '^ethtool -G eth7 tcp-data-split on hds-thresh 0$' setup
ok "--print-setup leads the flow to the queue" says '^ethtool -N eth7 flow-type tcp4 dst-port 4711 action 5' setup
ok "--print-setup leads other traffic past the queue" says '^ethtool -X eth7 equal 5' setup
ok "--print-setup prints the undo" says '^ethtool -X eth7 default$' setup
"$tcpzc" --listen --rx zcrx --print-setup --nic eth7 --queue 5 --flows 4 >setup
ok "--print-setup makes an RSS context for several flows" says 'context new start 5 equal 4' setup
ok "--print-setup leads IPv4 and IPv6 to the context" test "$(grep -cE '^ethtool -N eth7 flow-type tcp[46] dst-port 7077 context ID' setup)" = 2
"$tcpzc" --listen --rx zcrx --print-setup --nic eth7 --queue 0 --flows 2 >setup
ok "--print-setup prints at most 80 columns" sh -c '! grep -E "^.{81}" setup'
grep -q 'equal 0' setup
ok "--print-setup uses no queue below queue 0" test $? = 1

# Runs the printed commands with a fake ethtool, which logs its arguments and shows a NIC of 8 queues.
mkdir -p bin
cat >bin/ethtool <<'END'
#!/bin/sh
case $1 in
-g) printf 'HDS thresh:\t\t1023\nCurrent hardware settings:\nTCP data split:\toff\nHDS thresh:\t\t256\n' ;;
-k) echo 'ntuple-filters: off' ;;
*) echo "$*" >>told ;;
esac
END
printf '#!/bin/sh\nseq 8\n' >bin/ls
chmod +x bin/ethtool bin/ls
PATH=$PWD/bin:$PATH sh -e setup
ok "--print-setup leads other traffic above queues 0 and 1" says '^-X eth7 start 2 equal 6$' told
ok "the undo restores the threshold of header split" test "$(grep -o 'hds-thresh .*' told | tr '\n' ,)" = 'hds-thresh 0,hds-thresh 256,'
ok "the undo restores ntuple" test "$(grep -o 'ntuple .*' told | tr '\n' ,)" = 'ntuple on,ntuple off,'

done_testing
