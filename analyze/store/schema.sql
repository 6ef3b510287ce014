-- SPDX-License-Identifier: GPL-2.0-only
-- The store: everything zcost knows of a capture, in one SQLite file. Names are public; a change of
-- meaning raises PRAGMA user_version. Missing is NULL or an absent row, never 0.

CREATE TABLE capture (
	key TEXT PRIMARY KEY,           -- name, created, zcost_version, estimator, order (as run)
	value TEXT
);

CREATE TABLE variant (
	id INTEGER PRIMARY KEY,         -- the plan's order
	name TEXT NOT NULL UNIQUE,
	what TEXT                       -- one line: "send -> recv"
);

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

-- One figure of a run over its window. source: measured | modelled | imported
CREATE TABLE metric (run INTEGER, name TEXT, unit TEXT, value REAL, source TEXT DEFAULT 'measured',
	PRIMARY KEY (run, name)) WITHOUT ROWID;

CREATE TABLE series (run INTEGER, name TEXT, t_ns INTEGER, value REAL);

CREATE TABLE event (id INTEGER PRIMARY KEY, run INTEGER, name TEXT, is_time INTEGER,
	samples INTEGER, weight INTEGER, weight2 REAL);
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

CREATE TABLE syscall (run INTEGER, comm TEXT, pid INTEGER, tid INTEGER, nr INTEGER, name TEXT,
	calls INTEGER, errors INTEGER, total_ns INTEGER, min_ns INTEGER, max_ns INTEGER,
	m2 REAL,                        -- sum of squared deviations from the mean, ns^2
	bytes INTEGER, unfinished INTEGER);
-- kind: time (ns) or size (bytes); bucket b holds values v with floor(log2 v) = b
CREATE TABLE syscall_hist (run INTEGER, comm TEXT, pid INTEGER, tid INTEGER, nr INTEGER, kind TEXT, bucket INTEGER, count INTEGER);

-- severity: note | warning | lossy. The last two are said beside each table made from the run, all in `report
-- runs`. run 0: of the capture as a whole.
CREATE TABLE note (run INTEGER, severity TEXT, text TEXT);
