# SPDX-License-Identifier: GPL-2.0-only
# A small invented store, without a capture, with figures that can be computed by hand.
# The basis is CPU / rate. A variant `copying` that takes 100 % of a CPU for 1e6 KiB/s costs
# 1000 ns/KiB, 60 % of it in _copy_to_iter (data copy), 40 % in tcp_recvmsg; `mapping` takes 100 %
# for 2e6 KiB/s, 500 ns/KiB, 80 % in tcp_recvmsg and 20 % in insert_page.

version=$(sed -n 's/.*STORE_VERSION = \([0-9]*\).*/\1/p' "$top/analyze/store/store.c")

# world FOLDER RUNS VARIANT...: writes FOLDER/zcost.db with RUNS runs of each pass. A variant is
# name:rate:cpu:copy,tcp,map:calls per run:asked:copied
world() {
	dir=$1 runs=$2
	shift 2
	mkdir -p "$dir"
	rm -f "$dir/zcost.db"
	{
		cat "$top/analyze/store/schema.sql"
		echo "BEGIN;"
		printf '%s\n' "$@" | awk -F: -v runs="$runs" -v version="$version" -f world.awk
		echo "COMMIT;"
	} | sqlite3 "$dir/zcost.db"
}

cat >world.awk <<'END'
function sql(s) { print s ";" }
function run(variant, pass, repeat, side) {
	sql("INSERT INTO run VALUES (" ++id ", '" variant "', '" pass "', " repeat ", '" side \
	    "', 'vm', 'cmd', '" (side == "sender" ? 2 : 1) "', 1, 0, 1000000000, " repeat * 1000 + id ", 'ok', '', '" side "')") # variants take turns
	return id
}
function metric(r, name, value) {
	sql(sprintf("INSERT INTO metric (run, name, unit, value, source) VALUES (%d, '%s', '', %.10g, 'measured')", r, name, value))
}
function cost(r, frame, samples) {
	if (samples > 0)
		sql("INSERT INTO cost VALUES (" r ", " r ", 1, 1, 7, 7, 2, " frame ", " samples ", " samples * 1000000 ")")
}
BEGIN {
	sql("PRAGMA user_version=" version "; PRAGMA application_id=" 2053336947)
	sql("INSERT INTO capture VALUES ('name', 'world'), ('estimator', 'median')")
	sql("INSERT INTO host VALUES (1, 'vm', '6.18', 'x86_64', 'cpu', 2, NULL)")
	sql("INSERT INTO dso VALUES (1, '[kernel.kallsyms]', NULL, 1)")
	sql("INSERT INTO symbol VALUES (1, '_copy_to_iter', 1, 0), (2, 'tcp_recvmsg', 1, 0), (3, 'insert_page', 1, 0)")
	sql("INSERT INTO frame VALUES (1, NULL, 1), (2, NULL, 2), (3, NULL, 3)")
	sql("INSERT INTO comm VALUES (1, 'tcpzc')")
}
{
	sql("INSERT INTO variant (name, what) VALUES ('" $1 "', '')")
	split($4, share, ",")
	for (k = 1; k <= runs; k++) {
		place = (k * ((runs + 1) % 5 ? 5 : 3)) % (runs + 1) # 1 .. runs in another order: no trend
		wobble = 1 + (place - (runs + 1) / 2) * 0.001 # symmetric: does not move the median
		for (s = 0; s < 2; s++) {
			r = run($1, "measure", k, s ? "sender" : "receiver")
			metric(r, "seconds", 1)
			metric(r, "bytes", $2 * 1024)
			metric(r, "throughput", $2 * 8192 / 1e9)
			metric(r, "rate_kib", $2)
			metric(r, "cpu_pct", $3 * wobble)
			metric(r, "busy_ns", $3 * wobble * 1e7)
			if (!s && $6) {
				metric(r, "asked_zero_copy", 1)
				metric(r, "rx_mapped_bytes", $2 * 1024 * (1 - $7))
				metric(r, "rx_copied_bytes", $2 * 1024 * $7)
			}
		}
		r = run($1, "profile", k, "receiver")
		sql("INSERT INTO event VALUES (" r ", " r ", 'cpu-clock', 1, 1000, 1000000000, 1e15, 0)")
		for (f = 1; f <= 3; f++)
			cost(r, f, share[f] * 10)
		r = run($1, "syscalls", k, "receiver")
		metric(r, "bytes", $2 * 1024)
		metric(r, "rate_kib", $2)
		metric(r, "seconds", 1)
		sql("INSERT INTO syscall VALUES (" r ", 'tcpzc', 7, 7, 45, 'recvfrom', " $5 + k ", 0, " \
		    ($5 + k) * 2000 ", 1000, 9000, 1e9, " $2 * 1024 ", 0)")
	}
}
END

copying=copying:1e6:100:60,40,0:40000:0:0
mapping=mapping:2e6:100:0,80,20:4000:1:0.02

# compared ARGUMENT...: runs zcost compare and writes tsv to out
compared() {
	"$zcost" compare --format tsv "$@" >out 2>err
}

# field KEY COLUMN: prints the COLUMN of the row of `out` with KEY in its first field or first two fields
field() {
	tsv '$1 == key || $1 " " $2 == key { print $at[column] }' key="$1" column="$2" out
}

sum() { # sum COLUMN
	tsv '{ s += $at[column] } END { printf "%.9f", s }' column="$1" out
}
