// SPDX-License-Identifier: GPL-2.0-only
/* The capture: its facts, variants, hosts, runs, and the states of the collectors. */
#include "analyze/store/sql.h"

#include "lib/str.h"

int store_capture_put(struct store *s, const char *key, const char *value, struct error *err)
{
	return sql_run(s, err, "INSERT OR REPLACE INTO capture (key, value) VALUES (?, ?)", "st",
		       key, value);
}

const char *store_capture_value(struct store *s, const char *key)
{
	return sql_first_text(s, "SELECT value FROM capture WHERE key = ?", "s", key);
}

int store_variant_add(struct store *s, const char *name, const char *what, const char *base,
		      struct error *err)
{
	return sql_run(s, err, "INSERT INTO variant (name, what, base) VALUES (?, ?, ?)", "sss",
		       name, what, base);
}

const char *store_variant_base(struct store *s, const char *variant)
{
	return sql_first_text(s, "SELECT base FROM variant WHERE name = ?", "s", variant);
}

int store_setting_add(struct store *s, const char *variant, const char *name, const char *value,
		      struct error *err)
{
	return sql_run(s, err, "INSERT INTO setting (variant, name, value) VALUES (?, ?, ?)", "sss",
		       variant, name, value);
}

const char *store_setting(struct store *s, const char *variant, const char *name)
{
	return sql_first_text(s, "SELECT value FROM setting WHERE variant = ? AND name = ?", "ss",
			      variant, name);
}

const char *store_settings_key(struct store *s, const char *variant)
{
	const char *key =
		sql_first_text(s,
			       "SELECT GROUP_CONCAT(QUOTE(name) || QUOTE(value)) FROM "
			       "(SELECT name, value FROM setting WHERE variant = ? ORDER BY name)",
			       "s", variant);

	return key ? key : "";
}

const char *store_variant_what(struct store *s, const char *variant)
{
	return sql_first_text(s, "SELECT what FROM variant WHERE name = ?", "s", variant);
}

int store_names(struct store *s, enum store_names what, const char ***list, struct error *err)
{
	static const char *const sql[] = {
		[NAMES_HOST] =
			"SELECT host FROM run WHERE host IS NOT NULL GROUP BY host ORDER BY MIN(id)",
		[NAMES_SETTING] = "SELECT name FROM setting GROUP BY name ORDER BY MIN(id)",
		[NAMES_COMM] = "SELECT name FROM comm ORDER BY name",
		[NAMES_DSO] = "SELECT DISTINCT name FROM dso ORDER BY name",
		[NAMES_EVENT] = "SELECT DISTINCT name FROM event ORDER BY name",
		[NAMES_FUNCTION] = "SELECT DISTINCT name FROM symbol WHERE IFNULL(unresolved, 0) = "
				   "0 ORDER BY name",
		[NAMES_SERIES] = "SELECT DISTINCT name FROM series ORDER BY name",
		/* the variants of the plan first, then those that only the runs name */
		[NAMES_VARIANT] =
			"SELECT r.variant FROM run r LEFT JOIN variant v ON v.name = r.variant "
			"GROUP BY r.variant ORDER BY v.id IS NULL, v.id, MIN(r.id)",
		[NAMES_SIDE] = "SELECT side FROM run GROUP BY side ORDER BY CASE IFNULL(MAX(role), "
			       "side) WHEN 'receiver' THEN 0 WHEN 'proxy' THEN 1 WHEN 'sender' "
			       "THEN 2 ELSE 3 END, MIN(id)",
	};

	return sql_names(s, list, err, sql[what]);
}

int store_variants(struct store *s, const char ***list, struct error *err)
{
	return store_names(s, NAMES_VARIANT, list, err);
}

int store_sides(struct store *s, const char ***list, struct error *err)
{
	return store_names(s, NAMES_SIDE, list, err);
}

int store_host_add(struct store *s, const struct host_row *h, struct error *err)
{
	return sql_run(s, err,
		       "INSERT OR IGNORE INTO host (name, release, arch, cpu_model, "
		       "virtualization, cpus) VALUES (?, ?, ?, ?, ?, NULLIF(?, 0))",
		       "sssssi", h->name, h->release, h->arch, h->cpu_model, h->virtualization,
		       h->cpus);
}

SQL_READER(host_read_row, struct host_row, sql_name(s, q, 0), sql_text(s, q, 1), sql_text(s, q, 2),
	   sql_text(s, q, 3), sql_text(s, q, 4), sql_int(s, q, 5))

int store_hosts(struct store *s, struct host_row **rows, struct error *err)
{
	return sql_rows(s, rows, sizeof(**rows), host_read_row, err,
			"SELECT name, release, arch, cpu_model, virtualization, cpus FROM host "
			"ORDER BY id",
			"");
}

int store_fact_add(struct store *s, const struct fact_row *f, struct error *err)
{
	return sql_run(s, err,
		       "INSERT INTO fact (host, variant, run, name, value) VALUES (?, ?, "
		       "NULLIF(?, 0), ?, ?)",
		       "ssiss", f->host, f->variant, f->run, f->name, f->value);
}

SQL_READER(fact_read_row, struct fact_row, sql_text(s, q, 0), sql_text(s, q, 1), sql_int(s, q, 2),
	   sql_name(s, q, 3), sql_text(s, q, 4))

#define FACT_COLUMNS "SELECT host, variant, IFNULL(run, 0), name, value FROM fact WHERE "

int store_facts(struct store *s, const char *host, const char *variant, struct fact_row **rows,
		struct error *err)
{
	return sql_rows(s, rows, sizeof(**rows), fact_read_row, err,
			FACT_COLUMNS "host = ?1 OR variant = ?2 ORDER BY rowid", "ss", host,
			variant);
}

int store_run_facts(struct store *s, int64_t run, struct fact_row **rows, struct error *err)
{
	return sql_rows(s, rows, sizeof(**rows), fact_read_row, err,
			FACT_COLUMNS "run = ? ORDER BY name", "i", run);
}

const char *store_run_fact(struct store *s, int64_t run, const char *name)
{
	return sql_first_text(s, "SELECT value FROM fact WHERE run = ? AND name = ?", "is", run,
			      name);
}

int store_run_add(struct store *s, struct run *r, struct error *err)
{
	int rc = sql_run(
		s, err,
		"INSERT INTO run (variant, pass, repeat, side, host, command, cpus, ncpus, "
		"start_ns, end_ns, position, status, why, role) "
		"VALUES (?, ?, ?, ?, ?, ?, ?, NULLIF(?, 0), NULLIF(?, 0), NULLIF(?, 0), ?, "
		"?, ?, ?)",
		"ssissssiiiisss", r->variant, r->pass, (int64_t)r->repeat, r->side, r->host,
		r->command, r->cpus, (int64_t)r->ncpus, (int64_t)r->start_ns, (int64_t)r->end_ns,
		(int64_t)r->position, r->status, r->why, r->role ? r->role : r->side);

	if (!rc)
		r->id = sqlite3_last_insert_rowid(s->db);
	return rc;
}

int store_run_fail(struct store *s, int64_t run, const char *why, struct error *err)
{
	return sql_run(s, err, "UPDATE run SET status = 'failed', why = ? WHERE id = ?", "si", why,
		       run);
}

static void run_read_row(struct store *s, sqlite3_stmt *q, void *row)
{
	*(struct run *)row = (struct run){
		.id = sql_int(s, q, 0),
		.variant = sql_name(s, q, 1),
		.pass = sql_name(s, q, 2),
		.repeat = sql_small(s, q, 3),
		.side = sql_name(s, q, 4),
		.host = sql_text(s, q, 5),
		.command = sql_text(s, q, 6),
		.cpus = sql_text(s, q, 7),
		.ncpus = sql_small(s, q, 8),
		.start_ns = (uint64_t)sql_int(s, q, 9),
		.end_ns = (uint64_t)sql_int(s, q, 10),
		.position = sql_small(s, q, 11),
		.status = sql_name(s, q, 12),
		.why = sql_text(s, q, 13),
		.role = sql_name(s, q, 14),
	};
}

/* A store that is being made may get more runs, and runs that fail. */
static int runs_read(struct store *s, struct error *err)
{
	int n;

	if (s->runs && !s->writable)
		return 0;
	free(s->runs);
	n = sql_rows(
		s, &s->runs, sizeof(*s->runs), run_read_row, err,
		"SELECT id, variant, pass, repeat, side, host, command, cpus, ncpus, start_ns, "
		"end_ns, position, status, why, IFNULL(role, side) FROM run "
		"ORDER BY position, id",
		"");
	s->nruns = n < 0 ? 0 : (size_t)n;
	return n < 0 ? n : 0;
}

/* Returns the store's own pointer to a text that a run may have. */
static const char *run_text(const struct store *s, const char *text)
{
	uint32_t id = text ? intern_find(&s->strings, text, strlen(text)) : INTERN_NONE;

	return id == INTERN_NONE ? text : intern_get(&s->strings, id);
}

/*
 * `variant` is the filter's, but NULL if it is a glob, which takes longer. The texts of both are
 * those of run_text().
 */
static bool run_is_selected(const struct run *r, const struct run_filter *f, const char *variant)
{
	return (!variant || variant == r->variant) && (!f->repeat || r->repeat == f->repeat) &&
	       (!f->pass || f->pass == r->pass) && (!f->side || f->side == r->side) &&
	       (f->failed || !strcmp(r->status, "ok")) &&
	       (variant || str_matches(f->variant, r->variant));
}

int store_runs(struct store *s, const struct run_filter *f, struct run **runs, struct error *err)
{
	const char *variant = f->variant && strpbrk(f->variant, "*?[\\") ? NULL : f->variant;
	size_t n = 0, cap = 0;
	int rc = runs_read(s, err);
	struct run_filter own = *f;

	own.pass = run_text(s, f->pass);
	own.side = run_text(s, f->side);
	variant = run_text(s, variant);
	*runs = NULL;
	for (size_t i = 0; i < s->nruns && !rc; i++)
		if (run_is_selected(&s->runs[i], &own, variant))
			array_add(*runs, n, cap, s->runs[i]);
	return rc ? rc : (int)n;
}

bool store_side_is(struct store *s, const char *side, const char *role)
{
	if (runs_read(s, NULL))
		return false;
	return array_find(r, s->runs, s->nruns, !strcmp(r->side, side) && !strcmp(r->role, role));
}

int store_collector_add(struct store *s, int64_t run, const struct collector_row *c,
			struct error *err)
{
	return sql_run(s, err,
		       "INSERT INTO collector (run, name, state, why, lost) VALUES (?, ?, ?, ?, "
		       "NULLIF(?, -1))",
		       "isssi", run, c->name, c->state, c->why, c->lost);
}

SQL_READER(collector_read_row, struct collector_row, sql_name(s, q, 0), sql_name(s, q, 1),
	   sql_text(s, q, 2), sql_int(s, q, 3))

int store_collectors(struct store *s, int64_t run, struct collector_row **rows, struct error *err)
{
	return sql_rows(s, rows, sizeof(**rows), collector_read_row, err,
			"SELECT name, state, why, IFNULL(lost, -1) FROM collector WHERE run = ? "
			"ORDER BY rowid",
			"i", run);
}

bool store_has_collector(struct store *s, int64_t run, const char *name)
{
	autofree struct collector_row *rows = NULL;
	int n = store_collectors(s, run, &rows, NULL);
	bool found = false;

	for (int i = 0; i < n; i++)
		found |= !strcmp(rows[i].name, name) && strcmp(rows[i].state, "unsupported") != 0;
	return found;
}

/* --- topology of a host --- */

int store_topology_add(struct store *s, const struct topology_row *r, struct error *err)
{
	return sql_run(s, err,
		       "INSERT INTO topology (host, kind, name, cpus, package, node, size_kib, "
		       "distances, speed, up) VALUES (?, ?, ?, ?, NULLIF(?, -1), NULLIF(?, -1), ?, "
		       "?, ?, NULLIF(?, -1))",
		       "ssssiidsdi", r->host, r->kind, r->name, r->cpus, r->package, r->node,
		       r->size_kib, r->distances, r->speed, r->up);
}

static int64_t topology_integer(struct store *s, sqlite3_stmt *q, int column)
{
	return sqlite3_column_type(q, column) == SQLITE_NULL ? -1 : sql_int(s, q, column);
}

static void topology_read_row(struct store *s, sqlite3_stmt *q, void *row)
{
	*(struct topology_row *)row = (struct topology_row){
		.host = sql_name(s, q, 0),
		.kind = sql_name(s, q, 1),
		.name = sql_name(s, q, 2),
		.cpus = sql_text(s, q, 3),
		.package = topology_integer(s, q, 4),
		.node = topology_integer(s, q, 5),
		.size_kib = sql_real(s, q, 6),
		.distances = sql_text(s, q, 7),
		.speed = sql_real(s, q, 8),
		.up = topology_integer(s, q, 9),
	};
}

int store_topology(struct store *s, const char *host, struct topology_row **rows, struct error *err)
{
	return sql_rows(s, rows, sizeof(**rows), topology_read_row, err,
			"SELECT host, kind, name, cpus, package, node, size_kib, distances, "
			"speed, up FROM topology WHERE host = ? ORDER BY rowid",
			"s", host);
}
