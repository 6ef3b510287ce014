-- SPDX-License-Identifier: GPL-2.0-only
-- A history: the figures of many captures, in one SQLite file. It outlives the stores of its captures and their versions.
-- Other programs use these names, so a change of meaning raises PRAGMA user_version. A missing value is NULL or has no row.

CREATE TABLE capture (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL, created TEXT NOT NULL, host TEXT NOT NULL,  -- created: UTC, as 2026-11-23T06:00:00Z
	kernel TEXT, nic TEXT, "commit" TEXT,
	labels TEXT,                    -- what --label gave: NAME=VALUE ...
	UNIQUE (created, name, host)
);

-- The settings that all captures share. Those with the name plan are checksums of all keys of the plan.
CREATE TABLE setting (variant TEXT NOT NULL, side TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
	PRIMARY KEY (variant, side, name)) WITHOUT ROWID;

-- better is 1 where more is better, -1 where less is, else 0. main is 1 for figures that compare judges.
CREATE TABLE series (
	id INTEGER PRIMARY KEY,
	variant TEXT NOT NULL, side TEXT NOT NULL, figure TEXT NOT NULL,
	unit TEXT NOT NULL, better INTEGER NOT NULL, main INTEGER NOT NULL,
	UNIQUE (variant, side, figure)
);

-- A figure of each run, in the order of the runs.
CREATE TABLE value (series INTEGER NOT NULL, capture INTEGER NOT NULL REFERENCES capture ON DELETE CASCADE,
	run INTEGER NOT NULL, value REAL NOT NULL, PRIMARY KEY (series, capture, run)) WITHOUT ROWID;
CREATE INDEX value_capture ON value (capture);
