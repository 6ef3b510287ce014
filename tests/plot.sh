# SPDX-License-Identifier: GPL-2.0-only
# A capture to draw: three variants with six measure runs each and one profile.
#
# zcost analyzes one run of each variant from files. SQL adds the other repeats and the profiles to the store. Each
# repeat has 0.1 % more throughput than the one before.
. "$tests/capture.sh"

# repeats: adds repeats 2 to 6 of each run; bytes, rates and throughput grow, busy time is constant.
repeats() {
	for r in 2 3 4 5 6; do
		echo "INSERT INTO run (variant, pass, repeat, side, host, command, cpus, ncpus, start_ns, end_ns,
			position, status, why) SELECT variant, pass, $r, side, host, command, cpus, ncpus, start_ns,
			end_ns, position + 10 * $r, status, why FROM run WHERE repeat = 1;
		INSERT INTO metric SELECT new.id, name, cpu, object, unit, CASE WHEN name IN ('bytes', 'throughput') OR
			name LIKE 'rate_%' THEN value * (1 + ($r - 1) / 1000.0) ELSE value END, source
			FROM metric JOIN run old ON old.id = metric.run JOIN run new ON new.variant = old.variant AND
			new.side = old.side AND new.repeat = $r WHERE old.repeat = 1;"
	done
}

# evidence VARIANT MAPPED COPIED: sets the receiver's bytes in every run of the variant.
evidence() {
	for m in "rx_mapped_bytes $2" "rx_copied_bytes $3"; do
		echo "INSERT OR REPLACE INTO metric (run, name, unit, value, source) SELECT id, '${m% *}', 'B', ${m#* }, 'measured' FROM run
			WHERE variant = '$1' AND side = 'receiver' AND pass = 'measure';"
	done
}

# symbol ID NAME: adds a function of the kernel.
symbol() {
	echo "INSERT INTO symbol VALUES ($1, '$2', 1, 0); INSERT INTO frame VALUES ($1, NULL, $1);"
}

# profile_of RUN VARIANT SIDE N...: adds a profile run with N samples of 1 ms in function 1, 2, ...
profile_of() {
	id=$1
	echo "INSERT INTO run (id, variant, pass, repeat, side, host, command, cpus, ncpus, start_ns, end_ns,
		position, status, why) VALUES ($id, '$2', 'profile', 1, '$3', 'vm', 'x', '1', 1, 10000000000,
		13000000000, $id, 'ok', '');"
	shift 3
	f=0 all=0
	for n; do
		f=$((f + 1)) all=$((all + n))
		[ "$n" = 0 ] || echo "INSERT INTO cost VALUES ($id, $id, 1, 1, 7, 7, 2, $f, $n, $n * 1000000);"
	done
	echo "INSERT INTO event (id, run, name, is_time, samples, weight, weight2)
		VALUES ($id, $id, 'cpu-clock', 1, $all, $all * 1000000, $all * 1e12);"
}

# make_capture DIR: 10, 20 and 10.4 Gbit/s; half a CPU for the first two, four fifths for the last.
make_capture() {
	mkdir "$1"
	for side in receiver sender; do
		measure_run "$1" baseline 1 $side 1250000000 150
		measure_run "$1" mmap 1 $side 2500000000 150
		measure_run "$1" uring 1 $side 1300000000 240
	done
	manifest "$1" "baseline mmap uring" baseline/measure/1/ok mmap/measure/1/ok uring/measure/1/ok
	"$zcost" analyze "$1" >analyze.log 2>&1 || return 1
	{
		echo "BEGIN; UPDATE host SET release = '6.18.0' WHERE name = 'vm';
			INSERT OR IGNORE INTO host (name) VALUES ('vm'); UPDATE host SET release = '6.18.0';
			DELETE FROM metric WHERE (name LIKE 'sends%' AND run IN (SELECT id FROM run WHERE side = 'receiver'))
				OR (name LIKE 'rx_%' AND run IN (SELECT id FROM run WHERE side = 'sender'));"
		repeats
		evidence baseline 0 1000000
		evidence mmap 998000 2000
		evidence uring 0 1000000
		echo "INSERT INTO comm VALUES (1, 'tcpzc'); INSERT INTO dso VALUES (1, '[kernel.kallsyms]', NULL, 1);"
		symbol 1 _copy_to_iter
		symbol 2 tcp_recvmsg_locked
		symbol 3 insert_page_into_pte_locked
		profile_of 901 baseline receiver 800 200 0
		profile_of 902 mmap receiver 10 200 300
		profile_of 903 uring receiver 700 250 0
		profile_of 904 baseline sender 500 500 0
		echo "COMMIT;"
	} | sqlite3 -bail "$1/zcost.db"
}

# twelve: prints SQL that makes baseline and mmap under six sizes of the three variants; each size is faster than the one before.
twelve() {
	echo "BEGIN;"
	for k in 1 2 3 4 5 6; do
		for v in baseline mmap; do
			echo "INSERT INTO variant (name, what, base) VALUES ('$v+size${k}k', '', '$v');
			INSERT INTO setting (variant, name, value) VALUES ('$v+size${k}k', 'size', '${k}k');
			INSERT INTO run (id, variant, pass, repeat, side, host, command, cpus, ncpus, start_ns, end_ns, position, status, why, role)
				SELECT id + ${k}0000, '$v+size${k}k', pass, repeat, side, host, command, cpus, ncpus, start_ns, end_ns, position, status,
				why, role FROM run WHERE variant = '$v';"
		done
		for t in metric:run,name,cpu,object,unit,value,source series:run,name,t_ns,value cost:run,event,cpu,comm,pid,tid,context,frame,samples,weight \
			event:id,run,name,is_time,samples,weight,weight2; do
			columns=$(echo ${t#*:} | sed "s/\<run\>/run + ${k}0000/; s/\<id\>/id + ${k}0000/; s/\<event\>/event + ${k}0000/")
			echo "INSERT INTO ${t%:*} (${t#*:}) SELECT $columns FROM ${t%:*} WHERE run < 10000;"
		done
		echo "UPDATE metric SET value = value * $k WHERE run BETWEEN ${k}0000 AND ${k}9999
			AND (name IN ('throughput', 'bytes') OR name LIKE 'rate_%');"
	done
	echo "DELETE FROM run WHERE id < 10000; DELETE FROM variant WHERE name NOT LIKE '%+%'; COMMIT;"
}

# cells FILE COLUMN KEY=VALUE...: a column of the rows of a tsv that match, by name.
cells() {
	f=$1
	want=$2
	shift 2
	awk -F '\t' -v want="$want" -v keys="$*" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(keys, key, " "); next }
		{ for (i = 1; i <= n; i++) { split(key[i], kv, "="); gsub("~", " ", kv[2])
			if ($at[kv[1]] != kv[2]) next }
		  print $at[want] }' "$f"
}

# same_figures DRAWN REPORTED: two columns of numbers are equal and not empty
same_figures() {
	[ -n "$1" ] && [ "$1" = "$2" ] || { printf 'drawn:\n%s\nreported:\n%s\n' "$1" "$2"; return 1; }
}

# outside_references PAGE: prints each address and each reference to a file. A namespace of SVG in a script looks like
# an address.
outside_references() {
	sed "s#http://www.w3.org/[0-9a-z/]*##g; s/&\#39;/'/g" "$1" |
		grep -oiE '[a-z]+://|[ "]src *=|@import|url\([^#]|href=[^ "#>'"'"'][^ >]*|href=["'"'"'][^#]'
}
