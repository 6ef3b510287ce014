-- SPDX-License-Identifier: GPL-2.0-only
-- The store: everything that zcost knows about a capture, in one SQLite file. Other programs use these
-- names, so a change of meaning raises PRAGMA user_version. A missing value is NULL or an absent row,
-- never 0. Tables have singular names and hold the data. Views have plural names and replace ids by names.

CREATE TABLE capture (
	key TEXT PRIMARY KEY,           -- name, created, zcost_version, estimator, order (of the runs)
	value TEXT
);

CREATE TABLE variant (
	id INTEGER PRIMARY KEY,         -- the order in the plan
	name TEXT NOT NULL UNIQUE,
	what TEXT,                      -- one line, for example "send -> recv"
	base TEXT                       -- its name in the plan, if settings made several variants of it
);

-- The values of the plan's settings (MTU, GRO ...) under which a variant ran, in the order of the plan.
CREATE TABLE setting (id INTEGER PRIMARY KEY, variant TEXT NOT NULL, name TEXT NOT NULL, value TEXT,
	UNIQUE (variant, name));

CREATE TABLE host (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	release TEXT, arch TEXT, cpu_model TEXT, cpus INTEGER, virtualization TEXT
);

-- The settings that compare lists. A row has a host, a variant or a run. Names of a host: those of host.json,
-- sysctl:NAME, vulnerability:NAME and CONFIG_NAME. Names of a variant: the keys of its manifest, such as
-- receiver.command. Names of a run: tool:NAME for the version of a program that measured, sysctl:NAME for a value of
-- the workload's network namespace that is not the host's, and nic:NAMESPACE/INTERFACE/KEY for words such as a driver.
CREATE TABLE fact (host TEXT, variant TEXT, run INTEGER, name TEXT NOT NULL, value TEXT);
CREATE INDEX fact_run ON fact (run);

-- One row is one side of one (variant, pass, repeat).
CREATE TABLE run (
	id INTEGER PRIMARY KEY,
	variant TEXT NOT NULL, pass TEXT NOT NULL, repeat INTEGER NOT NULL, side TEXT NOT NULL,
	host TEXT, command TEXT, cpus TEXT, ncpus INTEGER,
	start_ns INTEGER, end_ns INTEGER,       -- the window
	position INTEGER,                       -- the place in the order of the capture, from 0
	status TEXT NOT NULL, why TEXT,
	role TEXT,                              -- receiver, proxy or sender; the side's name if the plan gives none
	UNIQUE (variant, pass, repeat, side)
);

-- The state that each collector reported.
CREATE TABLE collector (run INTEGER, name TEXT, state TEXT, why TEXT, lost INTEGER);
CREATE INDEX collector_run ON collector (run);

-- One figure of a run over its window. object is what the figure speaks of: an event, a source of interrupts, a
-- counter of an interface ... cpu is NULL for a figure of all CPUs of the side, so a query for one figure of each run
-- asks for "object IS NULL AND cpu IS NULL" where the name has parts. source is measured, modelled or imported.
CREATE TABLE metric (run INTEGER NOT NULL, name TEXT NOT NULL, cpu INTEGER, object TEXT, unit TEXT, value REAL,
	source TEXT DEFAULT 'measured');
CREATE UNIQUE INDEX metric_key ON metric (run, name, IFNULL(object, ''), IFNULL(cpu, -1));
CREATE INDEX metric_name ON metric (name);
CREATE INDEX metric_cpu ON metric (cpu) WHERE cpu IS NOT NULL;

CREATE TABLE series (run INTEGER, name TEXT, t_ns INTEGER, value REAL);
CREATE INDEX series_run ON series (run, name, t_ns);

-- exact is 1 if the weights are the exact times of the frame.
CREATE TABLE event (id INTEGER PRIMARY KEY, run INTEGER, name TEXT, is_time INTEGER,
	samples INTEGER, weight INTEGER, weight2 REAL, exact INTEGER);
CREATE INDEX event_run ON event (run);
CREATE TABLE comm (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE dso (id INTEGER PRIMARY KEY, name TEXT NOT NULL, build_id TEXT, kind INTEGER,
	UNIQUE (name, build_id));
CREATE TABLE symbol (id INTEGER PRIMARY KEY, name TEXT NOT NULL, dso INTEGER NOT NULL, unresolved INTEGER);
-- unresolved is 0 for a symbol with a name. Otherwise the name is an offset in the dso, because 1: the dso has
-- no symbols, 2: the file is not the recorded one, 3: the address lies between symbols, 4: nothing was mapped
-- there (all user addresses are "[unknown]"), 5: the code was generated, 6: it is a guest's.
CREATE TABLE frame (id INTEGER PRIMARY KEY, parent INTEGER, symbol INTEGER NOT NULL);
-- The samples of one thread with one call chain on one CPU. frame is the leaf of the chain.
CREATE TABLE cost (run INTEGER, event INTEGER, cpu INTEGER, comm INTEGER, pid INTEGER, tid INTEGER,
	context INTEGER, frame INTEGER, samples INTEGER, weight INTEGER);
CREATE INDEX cost_run ON cost (run);
-- The rows of cost of a run as one text, which zcost reads in a tenth of the time. analyze writes it after the rows.
-- A program that changes the rows drops the text, and zcost reads the rows then.
CREATE TABLE packed (run INTEGER PRIMARY KEY, costs TEXT NOT NULL);
CREATE TRIGGER packed_insert AFTER INSERT ON cost BEGIN DELETE FROM packed WHERE run = NEW.run; END;
CREATE TRIGGER packed_update AFTER UPDATE ON cost BEGIN DELETE FROM packed WHERE run IN (OLD.run, NEW.run); END;
CREATE TRIGGER packed_delete AFTER DELETE ON cost BEGIN DELETE FROM packed WHERE run = OLD.run; END;
-- The processes of the workload in a profiled run: the command, all that it started, and those that the plan names.
CREATE TABLE process (run INTEGER, pid INTEGER, PRIMARY KEY (run, pid)) WITHOUT ROWID;

-- The names of cost.context and dso.kind.
CREATE TABLE context (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
INSERT INTO context VALUES (0, 'unknown'), (1, 'user'), (2, 'syscall'), (3, 'softirq'), (4, 'hardirq'),
	(5, 'idle'), (6, 'kthread'), (7, 'exception'), (8, 'softirq in syscall'), (9, 'idle task'), (10, 'blocked'),
	(11, 'run queue');
CREATE TABLE dso_kind (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
INSERT INTO dso_kind VALUES (0, 'unknown'), (1, 'kernel'), (2, 'module'), (3, 'user'), (4, 'bpf'), (5, 'guest');

-- Computed from cost and frame, because SQL needs seconds for it. self is the weight of the samples in the
-- function itself, and samples is their number. total is the weight of the samples with the function anywhere
-- in the chain, once per sample.
CREATE TABLE function (run INTEGER, event INTEGER, symbol INTEGER, context INTEGER, samples INTEGER,
	self INTEGER, total INTEGER, PRIMARY KEY (run, event, symbol, context)) WITHOUT ROWID;
-- The component of each function that has samples of its own, by the rules inside zcost. NULL is unclassified.
CREATE TABLE component (symbol INTEGER, context INTEGER, fine TEXT, basic TEXT,
	PRIMARY KEY (symbol, context)) WITHOUT ROWID;

-- The samples of one instruction, for functions with at least a thousandth of the weight of an event. line is
-- file.c:123. code holds the bytes of such functions in hexadecimal digits, where zcost could read them, and at
-- is the address of the first byte.
CREATE TABLE spot (run INTEGER, event INTEGER, symbol INTEGER, offset INTEGER, line TEXT, samples INTEGER,
	weight INTEGER);
CREATE INDEX spot_run ON spot (run);
CREATE TABLE code (symbol INTEGER PRIMARY KEY, arch TEXT, at INTEGER, bytes TEXT);

CREATE TABLE syscall (run INTEGER, comm TEXT, pid INTEGER, tid INTEGER, nr INTEGER, name TEXT,
	calls INTEGER, errors INTEGER, total_ns INTEGER, min_ns INTEGER, max_ns INTEGER,
	m2 REAL,                        -- sum of squared deviations from the mean, ns^2
	bytes INTEGER, unfinished INTEGER);
CREATE INDEX syscall_run ON syscall (run);
-- kind is time (ns) or size (bytes). Bucket b counts the values v with floor(log2 v) = b.
CREATE TABLE syscall_hist (run INTEGER, comm TEXT, pid INTEGER, tid INTEGER, nr INTEGER, kind TEXT, bucket INTEGER, count INTEGER);
CREATE INDEX syscall_hist_run ON syscall_hist (run);

-- The threads of the workload in the window. The row with tid 0 sums the threads of a process that ended between
-- two readings. The row with pid 0 sums the processes that ended so, with their threads. NULL is not measured.
-- allowed is the set of CPUs that the thread may use, cpus the set on which a reading found it. first_ns and
-- last_ns are its first and its last reading.
CREATE TABLE thread (run INTEGER, pid INTEGER, tid INTEGER, comm TEXT, first_ns INTEGER, last_ns INTEGER,
	run_ns REAL, user_ns REAL, system_ns REAL, migrations REAL, allowed TEXT, cpus TEXT,
	sched_run_ns REAL, wait_ns REAL, slices REAL, voluntary REAL, involuntary REAL);
CREATE INDEX thread_run ON thread (run);

-- The TCP sockets of the workload in the window. rtt_us to sndbuf are medians over the readings, except
-- min_rtt_us, which is the minimum. app_limited_pct is a share of the readings. Rates are bytes per second. From
-- bytes_acked on, a column is the growth of a counter. NULL is a value that the kernel did not report.
CREATE TABLE socket (run INTEGER, pid INTEGER, local TEXT, peer TEXT, congestion TEXT, state TEXT,
	first_ns INTEGER, last_ns INTEGER, readings INTEGER,
	rtt_us REAL, rttvar_us REAL, min_rtt_us REAL, cwnd REAL, ssthresh REAL,
	mss REAL, delivery_rate REAL, pacing_rate REAL, rcv_rtt_us REAL, rcv_space REAL,
	snd_wnd REAL, unacked REAL, notsent REAL, rmem REAL, rcvbuf REAL,
	wmem REAL, sndbuf REAL, app_limited_pct REAL,
	bytes_acked REAL, bytes_received REAL, bytes_sent REAL, bytes_retrans REAL, segs_out REAL,
	segs_in REAL, retrans REAL, busy_us REAL, rwnd_limited_us REAL, sndbuf_limited_us REAL,
	reordered REAL, dsacks REAL, out_of_order REAL, drops REAL);
CREATE INDEX socket_run ON socket (run);

-- The CPUs, caches, memory and network cards of the hosts. kind is package, node, core, cache or nic. cpus are the
-- CPUs in it, that share it, or that are near it. package and node are its place, or NULL if the host does not
-- report it. size_kib is the size of a cache or of the memory of a node. speed is that of a card in Mbit/s, and
-- up is 1 or 0.
CREATE TABLE topology (host TEXT, kind TEXT, name TEXT, cpus TEXT, package INTEGER, node INTEGER, size_kib REAL,
	distances TEXT, speed REAL, up INTEGER);

-- What a reader must know about a figure. run 0 is the whole capture. severity is info, warning or lossy.
-- vals is a JSON array with the values of the sentence, in their order.
CREATE TABLE note (run INTEGER, severity TEXT, kind TEXT, vals TEXT);
CREATE INDEX note_run ON note (run);
-- The kinds of notes. concerns is the collector with the figures to distrust (NULL: all figures, '*': the first
-- value names it). sentence is a printf format.
CREATE TABLE note_kind (name TEXT PRIMARY KEY, concerns TEXT, sentence TEXT NOT NULL);

-- --- views ---

CREATE VIEW metrics AS
	SELECT m.run, r.variant, r.side, r.pass, r.repeat, m.name, m.object, m.cpu, m.value, m.unit, m.source
	FROM metric m JOIN run r ON r.id = m.run;

-- One row per run with its main figures. NULL is not measured. power_w is of the first kind that was measured: wall,
-- platform, package.
CREATE VIEW runs AS
	SELECT r.id AS run, r.variant, r.side, r.pass, r.repeat, r.position, r.host, r.status,
		(r.end_ns - r.start_ns) / 1e9 AS seconds,
		MAX(m.value) FILTER (WHERE m.name = 'throughput') AS throughput_gbps,
		MAX(m.value) FILTER (WHERE m.name = 'rate_kib') AS rate_kib,
		MAX(m.value) FILTER (WHERE m.name = 'rate_messages') AS rate_messages,
		MAX(m.value) FILTER (WHERE m.name = 'rate_packets') AS rate_packets,
		MAX(m.value) FILTER (WHERE m.name = 'cpu_pct') AS cpu_pct,
		MAX(m.value) FILTER (WHERE m.name = 'workload_cpu_pct') AS workload_cpu_pct,
		COALESCE(MAX(m.value) FILTER (WHERE m.name = 'power_w' AND m.object = 'wall'),
			MAX(m.value) FILTER (WHERE m.name = 'power_w' AND m.object = 'platform'),
			MAX(m.value) FILTER (WHERE m.name = 'power_w' AND m.object = 'package')) AS power_w
	FROM run r LEFT JOIN metric m ON m.run = r.id AND m.cpu IS NULL
		AND (m.object IS NULL OR m.name = 'power_w')
	GROUP BY r.id;

-- self_pct and total_pct are percentages of all samples of the event in the run, with the idle ones.
CREATE VIEW functions AS
	SELECT f.run, r.variant, r.side, r.pass, r.repeat, e.name AS event, e.is_time, y.name AS function,
		d.name AS dso, x.name AS context, f.samples, f.self, f.total,
		100.0 * f.self / e.weight AS self_pct, 100.0 * f.total / e.weight AS total_pct
	FROM function f JOIN run r ON r.id = f.run JOIN event e ON e.id = f.event
		JOIN symbol y ON y.id = f.symbol JOIN dso d ON d.id = y.dso JOIN context x ON x.id = f.context;

CREATE VIEW components AS
	SELECT f.run, r.variant, r.side, r.pass, r.repeat, e.name AS event, e.is_time,
		IFNULL(k.fine, 'unclassified') AS component, IFNULL(k.basic, 'unclassified') AS basic,
		x.name AS context, SUM(f.samples) AS samples, SUM(f.self) AS self,
		100.0 * SUM(f.self) / e.weight AS self_pct
	FROM function f JOIN run r ON r.id = f.run JOIN event e ON e.id = f.event
		JOIN context x ON x.id = f.context
		LEFT JOIN component k ON k.symbol = f.symbol AND k.context = f.context
	WHERE f.self > 0 GROUP BY f.run, f.event, k.fine, k.basic, f.context;

-- The sums over all threads of a command.
CREATE VIEW syscalls AS
	SELECT s.run, r.variant, r.side, r.pass, r.repeat, s.comm, s.name, SUM(s.calls) AS calls,
		SUM(s.errors) AS errors, SUM(s.total_ns) AS total_ns, MIN(s.min_ns) AS min_ns,
		1.0 * SUM(s.total_ns) / NULLIF(SUM(s.calls), 0) AS mean_ns, MAX(s.max_ns) AS max_ns,
		SUM(s.bytes) AS bytes, SUM(s.unfinished) AS unfinished
	FROM syscall s JOIN run r ON r.id = s.run GROUP BY s.run, s.comm, s.name;

-- The rows of cost with names. function is the leaf of the chain.
CREATE VIEW samples AS
	SELECT c.run, r.variant, r.side, r.pass, r.repeat, e.name AS event, c.cpu, o.name AS comm, c.pid,
		c.tid, x.name AS context, y.name AS function, d.name AS dso, c.frame, c.samples, c.weight
	FROM cost c JOIN run r ON r.id = c.run JOIN event e ON e.id = c.event
		JOIN context x ON x.id = c.context JOIN frame f ON f.id = c.frame
		JOIN symbol y ON y.id = f.symbol JOIN dso d ON d.id = y.dso LEFT JOIN comm o ON o.id = c.comm;
