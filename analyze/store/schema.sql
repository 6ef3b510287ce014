-- SPDX-License-Identifier: GPL-2.0-only
-- The store: everything zcost knows of a capture, in one SQLite file. Names are public; a change of
-- meaning raises PRAGMA user_version. Missing is NULL or an absent row, never 0. A table, named by one
-- of its rows, holds what was stored; a view, named by all, shows it with names. docs/reference/store.md explains.

CREATE TABLE capture (
	key TEXT PRIMARY KEY,           -- name, created, zcost_version, estimator, order (as run)
	value TEXT
);

CREATE TABLE variant (
	id INTEGER PRIMARY KEY,         -- the plan's order
	name TEXT NOT NULL UNIQUE,
	what TEXT,                      -- one line: "send -> recv"
	base TEXT                       -- its name in a plan whose settings made several of it
);

-- What a variant was measured under: the values of the plan's settings (MTU, GRO ...), in its order.
CREATE TABLE setting (id INTEGER PRIMARY KEY, variant TEXT NOT NULL, name TEXT NOT NULL, value TEXT,
	UNIQUE (variant, name));

CREATE TABLE host (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	release TEXT, arch TEXT, cpu_model TEXT, cpus INTEGER, virtualization TEXT
);

-- One side of one (variant, pass, repeat).
CREATE TABLE run (
	id INTEGER PRIMARY KEY,
	variant TEXT NOT NULL, pass TEXT NOT NULL, repeat INTEGER NOT NULL, side TEXT NOT NULL,
	host TEXT, command TEXT, cpus TEXT, ncpus INTEGER,
	start_ns INTEGER, end_ns INTEGER,       -- the window
	position INTEGER,                       -- place in the order of the capture, from 0
	status TEXT NOT NULL, why TEXT,
	UNIQUE (variant, pass, repeat, side)
);

-- What each collector said of itself.
CREATE TABLE collector (run INTEGER, name TEXT, state TEXT, why TEXT, lost INTEGER);
CREATE INDEX collector_run ON collector (run);

-- One figure of a run over its window. source: measured | modelled | imported
CREATE TABLE metric (run INTEGER, name TEXT, unit TEXT, value REAL, source TEXT DEFAULT 'measured',
	PRIMARY KEY (run, name)) WITHOUT ROWID;
CREATE INDEX metric_name ON metric (name);

CREATE TABLE series (run INTEGER, name TEXT, t_ns INTEGER, value REAL);

CREATE TABLE event (id INTEGER PRIMARY KEY, run INTEGER, name TEXT, is_time INTEGER,
	samples INTEGER, weight INTEGER, weight2 REAL);
CREATE INDEX event_run ON event (run);
CREATE TABLE comm (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE dso (id INTEGER PRIMARY KEY, name TEXT NOT NULL, build_id TEXT, kind INTEGER,
	UNIQUE (name, build_id));
CREATE TABLE symbol (id INTEGER PRIMARY KEY, name TEXT NOT NULL, dso INTEGER NOT NULL, unresolved INTEGER);
-- unresolved: 0 no; an offset in the dso, because 1 it has no symbols, 2 the file is not the recorded one,
-- 3 it lies between symbols, 4 nothing was mapped, 5 generated code, 6 a guest
CREATE TABLE frame (id INTEGER PRIMARY KEY, parent INTEGER, symbol INTEGER NOT NULL);
-- context: 0 unknown 1 user 2 syscall 3 softirq 4 hardirq 5 idle 6 kthread 7 exception
CREATE TABLE cost (run INTEGER, event INTEGER, cpu INTEGER, comm INTEGER, pid INTEGER, tid INTEGER,
	context INTEGER, frame INTEGER, samples INTEGER, weight INTEGER);
CREATE INDEX cost_run ON cost (run);

-- Names of cost.context and dso.kind.
CREATE TABLE context (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
INSERT INTO context VALUES (0, 'unknown'), (1, 'user'), (2, 'syscall'), (3, 'softirq'), (4, 'hardirq'),
	(5, 'idle'), (6, 'kthread'), (7, 'exception');
CREATE TABLE dso_kind (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
INSERT INTO dso_kind VALUES (0, 'unknown'), (1, 'kernel'), (2, 'module'), (3, 'user'), (4, 'bpf'), (5, 'guest');

-- Worked out of cost and frame, which takes SQL seconds: weights of samples in the function itself, and
-- with it anywhere in the chain, once per sample. samples: those of self.
CREATE TABLE function (run INTEGER, event INTEGER, symbol INTEGER, context INTEGER, samples INTEGER,
	self INTEGER, total INTEGER, PRIMARY KEY (run, event, symbol, context)) WITHOUT ROWID;
-- What the rules inside zcost made of each function that a sample was taken in; NULL: unclassified.
CREATE TABLE component (symbol INTEGER, context INTEGER, fine TEXT, basic TEXT,
	PRIMARY KEY (symbol, context)) WITHOUT ROWID;

-- Samples of one instruction, of functions with a thousandth of an event's weight and more; line: file.c:123.
-- code: the bytes of such functions, in hexadecimal digits, where they were at hand; at: address of the first.
CREATE TABLE spot (run INTEGER, event INTEGER, symbol INTEGER, offset INTEGER, line TEXT, samples INTEGER,
	weight INTEGER);
CREATE INDEX spot_run ON spot (run);
CREATE TABLE code (symbol INTEGER PRIMARY KEY, arch TEXT, at INTEGER, bytes TEXT);

CREATE TABLE syscall (run INTEGER, comm TEXT, pid INTEGER, tid INTEGER, nr INTEGER, name TEXT,
	calls INTEGER, errors INTEGER, total_ns INTEGER, min_ns INTEGER, max_ns INTEGER,
	m2 REAL,                        -- sum of squared deviations from the mean, ns^2
	bytes INTEGER, unfinished INTEGER);
CREATE INDEX syscall_run ON syscall (run);
-- kind: time (ns) or size (bytes); bucket b holds values v with floor(log2 v) = b
CREATE TABLE syscall_hist (run INTEGER, comm TEXT, pid INTEGER, tid INTEGER, nr INTEGER, kind TEXT, bucket INTEGER, count INTEGER);
CREATE INDEX syscall_hist_run ON syscall_hist (run);

-- The workload's threads, what they did in the window. tid 0: threads of the process that ended between two
-- readings; pid 0: such processes, and their threads. NULL: not measured. allowed: CPUs it might use, cpus:
-- those it was seen on; first_ns, last_ns: when it was seen.
CREATE TABLE thread (run INTEGER, pid INTEGER, tid INTEGER, comm TEXT, first_ns INTEGER, last_ns INTEGER,
	run_ns REAL, user_ns REAL, system_ns REAL, migrations REAL, allowed TEXT, cpus TEXT,
	sched_run_ns REAL, wait_ns REAL, slices REAL, voluntary REAL, involuntary REAL);
CREATE INDEX thread_run ON thread (run);

-- TCP sockets that the workload held in the window: medians over the readings (min_rtt_us the least,
-- app_limited_pct a share of them), rates in bytes per second; behind them what counters grew by. NULL: not told.
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

-- Where the hosts' CPUs, caches, memory and network cards lie. kind: package, node, core, cache, nic. cpus: those
-- in it, that share it, or that are near it; package, node: where it is, NULL where that is not told; size in KiB
-- of a cache or of a node's memory; speed of a card in Mbit/s, up: 1 or 0.
CREATE TABLE topology (host TEXT, kind TEXT, name TEXT, cpus TEXT, package INTEGER, node INTEGER, size_kib REAL,
	distances TEXT, speed REAL, up INTEGER);

-- What a reader must know of a figure. run 0: of the whole capture. severity: info, warning, lossy, result.
-- vals: a JSON array, the values of the kind's sentence in their order.
CREATE TABLE note (run INTEGER, severity TEXT, kind TEXT, vals TEXT);
CREATE INDEX note_run ON note (run);
-- The kinds of notes: concerns is the collector of the figures to distrust (NULL: all figures), sentence
-- a format of printf.
CREATE TABLE note_kind (name TEXT PRIMARY KEY, concerns TEXT, sentence TEXT NOT NULL);

-- --- views ---

CREATE VIEW metrics AS
	SELECT m.run, r.variant, r.side, r.pass, r.repeat, m.name, m.value, m.unit, m.source
	FROM metric m JOIN run r ON r.id = m.run;

-- pct: of all samples of the event in that run, idle included.
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

-- Of all threads of a command.
CREATE VIEW syscalls AS
	SELECT s.run, r.variant, r.side, r.pass, r.repeat, s.comm, s.name, SUM(s.calls) AS calls,
		SUM(s.errors) AS errors, SUM(s.total_ns) AS total_ns, MIN(s.min_ns) AS min_ns,
		1.0 * SUM(s.total_ns) / NULLIF(SUM(s.calls), 0) AS mean_ns, MAX(s.max_ns) AS max_ns,
		SUM(s.bytes) AS bytes, SUM(s.unfinished) AS unfinished
	FROM syscall s JOIN run r ON r.id = s.run GROUP BY s.run, s.comm, s.name;

-- Samples with equal chains of one thread, by where they were taken; frame: the chain's leaf.
CREATE VIEW samples AS
	SELECT c.run, r.variant, r.side, r.pass, r.repeat, e.name AS event, c.cpu, o.name AS comm, c.pid,
		c.tid, x.name AS context, y.name AS function, d.name AS dso, c.frame, c.samples, c.weight
	FROM cost c JOIN run r ON r.id = c.run JOIN event e ON e.id = c.event
		JOIN context x ON x.id = c.context JOIN frame f ON f.id = c.frame
		JOIN symbol y ON y.id = f.symbol JOIN dso d ON d.id = y.dso LEFT JOIN comm o ON o.id = c.comm;
