# SPDX-License-Identifier: GPL-2.0-only
# Hand-made capture folders, small enough to compute every figure by hand. Source it after lib.sh.
#
# The window is always [10 s, 13 s] of CLOCK_MONOTONIC. The side has CPU 1; a sender of measure_run has CPU 2.

# run_json DIR VARIANT PASS REPEAT SIDE [UNITS [COLLECTORS [MORE]]]: writes run.json; COLLECTORS are the items of the list.
run_json() {
	mkdir -p "$1"
	cat >"$1/run.json" <<-END
	{"schema_version": 1, "zcost_version": "test", "variant": "$2", "pass": "$3", "repeat": $4,
	 "side": "$5", "host": "vm", "command": ["tcpzc", "--rx", "$2"], "units": "${6:-tcpzc}",
	 "cpus": "${on_cpu:-1}", "warmup_s": 1, "duration_s": 3,
	 "window": {"start_ns": 10000000000, "end_ns": 13000000000, "clock": "CLOCK_MONOTONIC"},
	 "exit": {"status": 0, "signal": 0}, "started_ns": 8000000000, "ended_ns": 14000000000,
	 "wall_clock": "2026-01-31T12:00:00Z", "status": "ok", "why": "", "collectors": [${7:-}]${8:-}}
	END
}

# points BYTES_PER_SECOND MESSAGE_SIZE FROM_S TO_S: prints the points of a workload.out of tcpzc, every 100 ms.
points() {
	awk -v r="$1" -v m="$2" -v a="$3" -v b="$4" 'BEGIN {
		for (i = 0; a + i / 10 <= b + 1e-9; i++)
			printf "{\"type\":\"point\",\"t_ns\":%.0f,\"bytes\":%.0f,\"messages\":%.0f}\n",
				(a + i / 10) * 1e9, r * i / 10, r * i / 10 / m }'
}

# summary SIDE SENDS ZERO_COPY COPIED MAPPED_BYTES COPIED_BYTES BYTES
summary() {
	echo "{\"type\":\"summary\",\"side\":\"$1\",\"mode\":\"x\",\"bytes\":$7,\"messages\":1,\"seconds\":5," \
		"\"verify\":\"off\",\"sends\":{\"total\":$2,\"zero_copy\":$3,\"copied\":$4,\"unknown\":0}," \
		"\"receive\":{\"calls\":7,\"mapped_bytes\":$5,\"copied_bytes\":$6},\"recv_hist\":{\"16\":5}," \
		"\"syscalls\":{\"recvfrom\":7},\"ring_overflow\":0}"
}

# snap T_NS: prints one snapshot of the text on stdin.
snap() {
	text=$(cat; echo x)
	text=${text%x}
	printf '@%s %s\n%s' "$1" "${#text}" "$text"
}

# stat_line CPU USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL
stat_line() {
	echo "cpu$1 $2 $3 $4 $5 $6 $7 $8 $9 0 0"
}

# proc_stat_simple BUSY_TICKS [CPU]: the CPU (default 1) spends BUSY_TICKS of 300 ticks in the kernel, evenly over 3 s.
proc_stat_simple() {
	for s in 0 1 2 3; do
		{
			echo "cpu 0 0 0 0 0 0 0 0 0 0"
			stat_line 0 5 0 5 $((100 * s)) 0 0 0 0
			stat_line "${2:-1}" 0 0 $(($1 * s / 3)) $(((300 - $1) * s / 3)) 0 0 0 0
			echo "intr 1 2 3"
		} | snap $(((10 + s) * 1000000000))
	done
}

# socket FIELD=NUMBER...: a line of tcp.snap of process 7, little-endian, from 192.0.2.1:8080 to 192.0.2.2:51201.
socket() {
	echo "$*" | awk '
		function put(at, v, n) { while (n--) { b[at++] = v % 256; v = int(v / 256) } }
		function hex(n,  i, s) { for (i = 0; i < n; i++) s = s sprintf("%02x", b[i]); split("", b); return s }
		BEGIN {
			split("unacked 24 4 rtt 68 4 cwnd 80 4 retrans 100 4 acked 120 8 notsent 144 4 busy 168 8 rwnd 176 8 sndbuf 184 8", w)
			for (i = 1; i in w; i += 3) { at[w[i]] = w[i + 1]; size[w[i]] = w[i + 2] }
		}
		{
			b[0] = 2; b[1] = 1; b[4] = 31; b[5] = 144; b[6] = 200; b[7] = 1
			b[8] = 192; b[10] = 2; b[11] = 1; b[24] = 192; b[26] = 2; b[27] = 2; put(44, 77, 4)
			msg = hex(72)
			put(76, 2147483647, 4); put(148, 20, 4); put(160, 1250000000, 8)
			for (i = 1; i <= NF; i++) {
				split($i, kv, "=")
				put(at[kv[1]], kv[2], size[kv[1]])
				if (kv[1] == "acked") put(200, kv[2], 8)
			}
			print "7 " msg " " hex(232) " - bbr"
		}'
}

cpu_collector='{"name": "cpu", "state": "ok", "why": "", "files": ["proc_stat.snap"]}'
syscalls_collector='{"name": "syscalls", "state": "ok", "why": "", "files": ["syscalls.tsv"]}'

# measure_run CAPTURE VARIANT REPEAT SIDE BYTES_PER_SECOND BUSY_TICKS: writes one side of a measure run.
measure_run() {
	d=$1/runs/$2/measure-0$3/$4
	[ "$4" = sender ] && on_cpu=2 || on_cpu=1
	run_json "$d" "$2" measure "$3" "$4" tcpzc "$cpu_collector"
	{ points "$5" 65536 9 14; summary "$4" 100 0 100 0 "$5" "$5"; } >"$d/workload.out"
	proc_stat_simple "$6" $on_cpu >"$d/proc_stat.snap"
	on_cpu=1
}

# manifest CAPTURE VARIANTS RUNS...: writes manifest.json; RUNS are variant/pass/repeat/status, in order. Sides: receiver, sender.
manifest() {
	cap=$1
	variants=$2
	shift 2
	{
		printf '{"schema_version": 1, "zcost_version": "test", "name": "hand-made", "created": "2026-01-31T12:00:00Z",\n'
		printf '"complete": true, "estimator": "median", "sides": ["receiver", "sender"], "variants": ['
		sep=
		for v in $variants; do printf '%s{"name": "%s", "what": "what %s is"}' "$sep" "$v" "$v"; sep=,; done
		printf '],\n"order": ['
		sep=
		for r; do printf '%s"%s"' "$sep" "$(echo "$r" | awk -F/ '{printf "%s/%s-%02d", $1, $2, $3}')"; sep=,; done
		printf '],\n"runs": ['
		sep=
		for r; do
			echo "$r" | awk -F/ -v s="$sep" '{printf "%s{\"variant\": \"%s\", \"pass\": \"%s\", \"repeat\": %d, \"status\": \"%s\", \"why\": \"%s\", \"sides\": [\"receiver\", \"sender\"], \"files\": {}}", s, $1, $2, $3, $4, $4 == "ok" ? "" : "the workload ended too early"}'
			sep=,
		done
		printf ']}\n'
	} >"$cap/manifest.json"
}

# metric DB VARIANT SIDE NAME: prints the value in the store, read by the sqlite3 shell.
metric() {
	sqlite3 "$1" "SELECT value FROM metric JOIN run ON run.id = metric.run
		WHERE variant = '$2' AND side = '$3' AND $spelled = '$4' ORDER BY repeat LIMIT 1"
}
