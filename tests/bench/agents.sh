#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What a capture with many hosts takes: COUNTS (20 100 200) senders, each on a host of its own, which is a network namespace on
# this machine, and a receiver here. Agents and `zcost collect` are the real ones, ssh is a script that enters the namespace, and
# the workload sleeps. Prints for a capture with one run of 1 s: wall time, CPU time and peak memory of `zcost capture` itself.
set -eu
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || { echo "SKIP: needs root"; exit 0; }
hosts=
trap 'for h in $hosts; do ip netns del "$h"; done; at_end' EXIT
cat >"$dir/ssh" <<'EOT'
#!/bin/sh
for last; do host=${this:-} this=$last; done
exec ip netns exec "${host#ssh://}" sh -c "$last"
EOT
chmod +x "$dir/ssh"
echo "hosts  wall s  ms/host  cpu s   MB"
for count in ${COUNTS:-20 100 200}; do
	{
		printf '[plan]\nssh = %s\npasses = measure\nrepeats = 1\nwarmup = 0.1\nduration = 1\ngrace = 0\n' "$dir/ssh"
		printf 'start_timeout = 120\n[side receiver]\ncollect = cpu\nunits = none\n'
		for n in $(seq "$count"); do
			host=zcb$$x$n
			[ -e "/run/netns/$host" ] || { ip netns add "$host" && hosts="$hosts $host"; }
			printf '[side sender%s]\nrole = sender\nhost = ssh://%s\nzcost = %s\n' "$n" "$host" "$zcost"
			printf 'collect = cpu\nunits = none\n'
		done
		printf '[variant v]\nreceiver = sleep 100\n'
		seq -f 'sender%g = sleep 100' "$count"
	} >"$dir/plan.ini"
	rm -rf "$dir/c"
	begun=$(date +%s%N)
	"$zcost" capture "$dir/plan.ini" -o "$dir/c" 2>"$dir/err" &
	pid=$!
	while kill -0 $pid && peak=$(awk '/^VmHWM/ { print $2 / 1000 }' "/proc/$pid/status") && [ -n "$peak" ]; do
		mb=$peak
		cpu=$(awk '{ sub(/.*\) /, ""); print ($12 + $13) / 100 }' "/proc/$pid/stat")
		sleep 0.05
	done 2>"$dir/gone"
	wait $pid || { cat "$dir/err"; exit 1; }
	wall=$((($(date +%s%N) - begun) / 1000000))
	echo "$count $wall $cpu $mb" | awk '{ printf "%5d %7.1f %8.0f %6.2f %4.0f\n", $1, $2 / 1000, $2 / $1, $3, $4 }'
done
