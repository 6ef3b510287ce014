# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# A capture with rows in every table of its store, for `make faults` and `make fuzz`, which disturb its readers.
# The figures are arbitrary. Source it after capture.sh, with $zcost set.

# every_row SQL: runs it for every run of the measure pass
every_row() {
	echo "INSERT OR REPLACE INTO $1 FROM run WHERE pass = 'measure';"
}

# Each line is NAME, OBJECT, CPU and VALUE of a metric; "-" is none.
every_metric() {
	while read -r name object cpu value; do
		every_row "metric SELECT id, '$name', nullif('$cpu', '-'), nullif('$object', '-'), '1', $value, 'measured'"
	done <<-'END'
	counter cycles - 3e9
	counter instructions - 4e9
	counter cycles 1 3e9
	counter_not_supported branches - 1
	cpu_user_pct - 1 40
	cstate_entries 0/POLL - 7
	cstate_pct 0/POLL - 60
	hist frags:log2:2 - 4
	irq 24/eth0 - 5
	irq 24/eth0 1 5
	softirq NET_RX - 900
	softirq NET_RX 1 900
	asked_zero_copy - - 1
	nic vm/eth0/ethtool/rx0_drops - 3
	nic_state vm/eth0/mtu - 1500
	power_w wall - 100
	power_w wall/csv/meter - 100
	energy_j wall - 300
	recv_size_log2 14 - 3
	sched_run_ns - - 1e9
	sched_wait_ns - - 1e8
	sched_slices - - 400
	snmp TcpRetransSegs - 2
	softnet processed - 15000
	softnet processed 1 15000
	softnet squeezed - 3
	tcp_retransmits - - 19
	tcp_socket_rtt_us - - 19
	tcp_sockets - - 1
	workload_cpu_ns - - 1e9
	workload_calls recvfrom - 30000
	END
}

# The same for metrics whose object has blanks: NAME|OBJECT|VALUE.
every_object() {
	while IFS='|' read -r name object value; do
		every_row "metric SELECT id, '$name', NULL, '$object', '1', $value, 'measured'"
	done <<-'END'
	batches|receive host/eth0|100
	batch_segments|receive host/eth0|900
	batch_bytes|receive host/eth0|90000
	drops|total|2
	drops|host NO_SOCKET __udp4_lib_rcv|2
	drops_segments|host NO_SOCKET __udp4_lib_rcv|2
	drops_bytes|host NO_SOCKET __udp4_lib_rcv|200
	drops_timed|NO_SOCKET __udp4_lib_rcv|1
	drops_ns|NO_SOCKET __udp4_lib_rcv|900
	latency_source|tcpzc|1
	latency_us|p50|20
	page_pool|eth0/rx-0/held|300
	queue_owner_pct|eth0/rx-0/none|100
	path_mean_ns|receive tcp|2000
	path_mean_ns|receive end_to_end|2000
	path_passed|receive tcp|90
	path_followed|receive|90
	waits_ns|tcpzc;wall|1e9
	waits_ns|tcpzc;blocked;recvfrom;softirq NET_RX|6e8
	waits|tcpzc;blocked;recvfrom;softirq NET_RX|500
	END
}

# Costs of three functions that call each other in a row.
every_cost() {
	cat <<-'END'
	INSERT INTO comm VALUES (1, 'tcpzc');
	INSERT INTO dso VALUES (1, '[kernel.kallsyms]', NULL, 1);
	INSERT INTO symbol VALUES (1, 'tcp_recvmsg', 1, 0), (2, '_copy_to_iter', 1, 0), (3, 'main', 1, 0);
	INSERT INTO frame VALUES (1, NULL, 3), (2, 1, 1), (3, 2, 2);
	INSERT INTO code VALUES (2, 'x86_64', 4096, '9090c3');
	INSERT INTO component VALUES (2, 2, 'data copy', 'copy');
	END
	every_row "event SELECT id, id, 'cpu-clock', 1, 1000, 1000000000, 1e15, 0"
	for frame in 1 2 3; do
		every_row "cost SELECT id, id, 1, 1, 7, 7, $((frame % 3 + 1)), $frame, 300, 300000000"
		every_row "function SELECT id, id, $frame, 2, 300, 300000000, 300000000"
	done
	every_row "spot SELECT id, id, 2, 1, 'copy.c:7', 300, 300000000"
}

every_thing() {
	every_metric
	every_object
	every_row "fact (run, name, value) SELECT id, 'nic:vm/eth0/driver', 'virtio_net'"
	every_cost
	every_row "syscall SELECT id, 'tcpzc', 7, 7, 45, 'recvfrom', 40, 0, 80000, 1000, 9000, 1e9, 655360, 0"
	every_row "syscall_hist SELECT id, 'tcpzc', 7, 7, 45, 'time', 10, 40"
	every_row "syscall_hist SELECT id, 'tcpzc', 7, 7, 45, 'size', 14, 40"
	every_row "series SELECT id, 'throughput', start_ns, 10"
	every_row "thread SELECT id, 7, 7, 'tcpzc', start_ns, end_ns, 1e9, 1e8, 9e8, 2, '0-1', '1',
		1e9, 1e8, 400, 30, 40"
	every_row "socket (run, pid, local, peer, congestion, state, readings, rtt_us, cwnd, retrans)
		SELECT id, 7, '127.0.0.1:1', '127.0.0.1:2', 'cubic', 'established', 2, 19, 10, 1"
	every_row "note SELECT id, 'info', 'collector_state', json_array('counters', 'unsupported', ': ', 'no PMU')"
	cat <<-'END'
	INSERT OR REPLACE INTO setting (variant, name, value) SELECT name, 'MTU',
		CASE name WHEN 'copying' THEN '1500' ELSE '9000' END FROM variant;
	INSERT OR IGNORE INTO host (name) VALUES ('vm');
	UPDATE host SET release = '6.18.0', arch = 'x86_64', cpu_model = 'cpu', cpus = 2;
	INSERT INTO topology VALUES ('vm', 'package', '0', '0-1', 0, NULL, NULL, NULL, NULL, NULL),
		('vm', 'node', '0', '0-1', NULL, 0, 4e6, '10', NULL, NULL),
		('vm', 'core', '0/0/0', '0', 0, 0, NULL, NULL, NULL, NULL),
		('vm', 'cache', 'L2', '0', NULL, NULL, 1024, NULL, NULL, NULL),
		('vm', 'nic', 'eth0', NULL, NULL, NULL, NULL, NULL, 25000, 1);
	END
}

# every_row_capture DIR: variants copying and mapping; the smallest possible pages of the store
every_row_capture() {
	mkdir "$1" || return
	for side in receiver sender; do
		measure_run "$1" copying 1 $side 1250000000 150
		measure_run "$1" mapping 1 $side 2500000000 120
	done
	manifest "$1" "copying mapping" copying/measure/1/ok mapping/measure/1/ok
	"$zcost" analyze "$1" >"$1.log" 2>&1 || return
	{ echo "BEGIN;"; every_thing; echo "COMMIT; PRAGMA page_size = 512; VACUUM;"; } |
		sqlite3 -bail "$1/zcost.db"
}
