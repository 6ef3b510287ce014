// SPDX-License-Identifier: GPL-2.0-only
/* What was measured in a run: figures, series, threads, sockets and system calls. */
#include "analyze/store/sql.h"

#include <math.h>

/* The unique index of the table has these terms, so a search by a whole key reads one row. */
#define KEY_IS "name = ?2 AND IFNULL(object, '') = IFNULL(?3, '') AND IFNULL(cpu, -1) = ?4"

struct metric_value {
	double value;
	const char *source;
};

SQL_READER(metric_read_value, struct metric_value, sql_real(s, q, 0), sql_text(s, q, 1))

/*
 * Tables ask for many metrics that no run has. So a store that is only read keeps the names of its
 * metrics in memory.
 */
static bool metric_is_known(struct store *s, const char *name)
{
	autofree const char **names = NULL;
	int n;

	if (!s->has_metric_names && !s->writable) {
		n = sql_names(
			s, &names, NULL,
			"WITH RECURSIVE names (name) AS (SELECT MIN(name) FROM metric UNION ALL "
			"SELECT (SELECT MIN(name) FROM metric WHERE name > names.name) FROM names "
			"WHERE names.name NOTNULL) SELECT name FROM names WHERE name NOTNULL");
		for (int i = 0; i < n; i++)
			intern_str(&s->metric_names, names[i]);
		s->has_metric_names = n >= 0;
	}
	return !s->has_metric_names ||
	       intern_find(&s->metric_names, name, strlen(name)) != INTERN_NONE;
}

void store_forget_metrics(struct store *s)
{
	array_free(e, s->metrics, s->nmetrics, free(e->rows), free(e->first));
	intern_free(&s->metric_runs);
	intern_free(&s->metric_names);
}

SQL_READER(metric_read_row, struct metric_row,
	   {sql_name(s, q, 0), sql_text(s, q, 1), sql_small(s, q, 2)}, sql_text(s, q, 3),
	   sql_real(s, q, 4), sql_text(s, q, 5))

static void metric_load_run(struct store *s, int64_t run, struct run_metrics *m)
{
	uint32_t n = 0, cap = 0, name = 0, names = (uint32_t)s->metric_names.n;
	sqlite3_stmt *q;
	int rc = sql_query(s, &q, NULL,
			   "SELECT name, object, IFNULL(cpu, -1), unit, value, source FROM metric "
			   "WHERE run = ? ORDER BY name, IFNULL(object, ''), IFNULL(cpu, -1)",
			   "i", run);

	m->first = xcalloc(names + 1, sizeof(*m->first));
	while (!rc && sql_next(s, q, NULL) > 0) {
		array_grow(m->rows, n, cap);
		metric_read_row(s, q, &m->rows[n]);
		while (name < names &&
		       strcmp(intern_get(&s->metric_names, name), m->rows[n].key.name) <= 0)
			m->first[name++] = n;
		n++;
	}
	while (name <= names)
		m->first[name++] = n;
}

void store_hold_metrics(struct store *s)
{
	s->holds_metrics = !s->writable;
}

/* Returns the rows with the name, and sets *n. Returns NULL if SQL has to answer. */
static const struct metric_row *metric_rows(struct store *s, int64_t run, const char *name,
					    size_t *n)
{
	uint32_t at, id = intern_find(&s->metric_names, name, strlen(name));
	struct run_metrics *m;

	if (!s->holds_metrics || id == INTERN_NONE)
		return NULL;
	at = intern_bytes(&s->metric_runs, &run, sizeof(run));
	if (at == s->nmetrics) {
		array_add(s->metrics, s->nmetrics, s->metrics_cap, (struct run_metrics){0});
		metric_load_run(s, run, &s->metrics[at]);
	}
	m = &s->metrics[at];
	*n = m->first[id + 1] - m->first[id];
	return m->rows + m->first[id];
}

static bool metric_has_key(const struct metric_row *m, const struct metric_key *key)
{
	return m->key.cpu == key->cpu && !isnan(m->value) &&
	       !strcmp(m->key.object ? m->key.object : "", key->object ? key->object : "");
}

bool store_metric_of(struct store *s, int64_t run, const struct metric_key *key, double *value,
		     const char **source)
{
	autofree struct metric_value *found = NULL;
	const struct metric_row *rows;
	size_t n, i = 0;

	if (!metric_is_known(s, key->name))
		return false;
	rows = metric_rows(s, run, key->name, &n);
	if (rows) {
		while (i < n && !metric_has_key(&rows[i], key))
			i++;
		if (i == n)
			return false;
		*value = rows[i].value;
		if (source)
			*source = rows[i].source;
		return true;
	}
	if (sql_rows(
		    s, &found, sizeof(*found), metric_read_value, NULL,
		    "SELECT value, source FROM metric WHERE run = ?1 AND value IS NOT NULL AND " KEY_IS,
		    "issi", run, key->name, key->object, (int64_t)key->cpu) <= 0)
		return false;
	*value = found->value;
	if (source)
		*source = found->source;
	return true;
}

bool store_metric(struct store *s, int64_t run, const char *name, double *value)
{
	return store_metric_of(s, run, &(struct metric_key){name, NULL, NO_CPU}, value, NULL);
}

double store_metric_sum(struct store *s, const struct run *like, int repeat, const char *name)
{
	autofree struct metric_value *found = NULL;
	double sum = NAN;
	int n = sql_rows(
		s, &found, sizeof(*found), metric_read_value, NULL,
		"SELECT m.value, m.source FROM run r CROSS JOIN metric m ON m.run = r.id AND "
		"m.name = ?5 AND m.object IS NULL AND m.cpu IS NULL WHERE r.variant = ?1 AND "
		"r.pass = ?2 AND r.side = ?3 AND (?4 = 0 OR r.repeat = ?4) AND r.status = 'ok'",
		"sssis", like->variant, like->pass, like->side, (int64_t)repeat, name);

	for (int i = 0; i < n; i++)
		sum = isnan(sum) ? found[i].value : sum + found[i].value;
	return sum;
}

bool store_has_metric(struct store *s, const char *name, const char *object, const char *variant)
{
	return sql_first_text(
		s,
		"SELECT 'yes' FROM metric JOIN run ON run.id = metric.run WHERE name = ?1 "
		"AND object IS ?2 AND (?3 IS NULL OR variant = ?3 OR variant GLOB ?3) "
		"LIMIT 1",
		"sss", name, object, variant);
}

/* A value that is not finite is missing, so it gets no row. */
int store_metric_put(struct store *s, int64_t run, const struct metric_row *m, struct error *err)
{
	if (!isfinite(m->value))
		return 0;
	return sql_run(
		s, err,
		"INSERT OR REPLACE INTO metric (run, name, object, cpu, unit, value, source) "
		"VALUES (?, ?, ?, NULLIF(?, -1), ?, ?, IFNULL(?, 'measured'))",
		"issisds", run, m->key.name, m->key.object, (int64_t)m->key.cpu, m->unit, m->value,
		m->source);
}

int store_metric_drop(struct store *s, int64_t run, const char *name, struct error *err)
{
	return sql_run(s, err, "DELETE FROM metric WHERE run = ? AND name = ?", "is", run, name);
}

int store_metrics(struct store *s, int64_t run, const char *name, enum metric_cpus cpus,
		  struct metric_row **rows, struct error *err)
{
	const char *objects = strchr(name, ':');
	autofree char *plain = xstrndup(name, strcspn(name, ":"));
	const struct metric_row *all;
	size_t n, kept = 0;

	*rows = NULL;
	if (!metric_is_known(s, plain))
		return 0;
	all = metric_rows(s, run, plain, &n);
	if (all) {
		*rows = xcalloc(n + 1, sizeof(**rows));
		for (const struct metric_row *m = all; m < all + n; m++)
			if ((cpus == OF_ALL || (m->key.cpu != NO_CPU) == cpus) &&
			    (!objects ||
			     (m->key.object && !sqlite3_strglob(objects + 1, m->key.object))))
				(*rows)[kept++] = *m;
		return (int)kept;
	}
	/* The index has this order and these terms. SQLite reads only the rows that they leave. */
	return sql_rows(
		s, rows, sizeof(**rows), metric_read_row, err,
		"SELECT name, object, IFNULL(cpu, -1), unit, value, source FROM metric WHERE "
		"run = ?1 AND name = ?2 AND (?3 = 2 OR (IFNULL(cpu, -1) <> -1) = ?3) "
		"AND (?4 IS NULL OR IFNULL(object, '') GLOB ?4) AND (?4 IS NULL OR object NOTNULL) "
		"ORDER BY IFNULL(object, ''), IFNULL(cpu, -1)",
		"isis", run, plain, (int64_t)cpus, objects ? objects + 1 : NULL);
}

int store_series_put(struct store *s, int64_t run, const char *name, uint64_t t_ns, double value,
		     struct error *err)
{
	return sql_run(s, err, "INSERT INTO series (run, name, t_ns, value) VALUES (?, ?, ?, ?)",
		       "isid", run, name, (int64_t)t_ns, value);
}

SQL_READER(series_read_size, struct series_size, sql_name(s, q, 0), (uint64_t)sql_int(s, q, 1),
	   (uint64_t)sql_int(s, q, 2), sql_int(s, q, 3))

int store_series_sizes(struct store *s, int64_t run, struct series_size **rows, struct error *err)
{
	return sql_rows(s, rows, sizeof(**rows), series_read_size, err,
			"SELECT name, MIN(t_ns), MAX(t_ns), COUNT(*) FROM series WHERE run = ? "
			"GROUP BY name ORDER BY name",
			"i", run);
}

SQL_READER(series_read_row, struct series_row, (uint64_t)sql_int(s, q, 0), sql_real(s, q, 1),
	   sql_real(s, q, 2), sql_real(s, q, 3))

int store_series(struct store *s, int64_t run, const char *name, int64_t most,
		 struct series_row **rows, struct error *err)
{
	return sql_rows(s, rows, sizeof(**rows), series_read_row, err,
			"SELECT t_ns, value, value, value FROM series WHERE run = ? AND name = ? "
			"ORDER BY t_ns LIMIT ?",
			"isi", run, name, most);
}

int store_series_parts(struct store *s, int64_t run, const struct series_size *of, int parts,
		       struct series_row **rows, struct error *err)
{
	int64_t width = (int64_t)((of->last - of->first) / (uint64_t)parts + 1);

	return sql_rows(s, rows, sizeof(**rows), series_read_row, err,
			"SELECT ?3 + CAST(AVG(t_ns - ?3) AS INTEGER), AVG(value), MIN(value), "
			"MAX(value) FROM series WHERE run = ?1 AND name = ?2 "
			"GROUP BY (t_ns - ?3) / ?4 ORDER BY 1",
			"isii", run, of->name, (int64_t)of->first, width);
}

/* --- the threads and sockets of the workload; a missing figure is NULL in SQL and NAN in C --- */

int store_thread_add(struct store *s, int64_t run, const struct thread_row *r, struct error *err)
{
	return sql_run(s, err,
		       "INSERT INTO thread (run, pid, tid, comm, first_ns, last_ns, run_ns, "
		       "user_ns, system_ns, migrations, allowed, cpus, sched_run_ns, wait_ns, "
		       "slices, voluntary, "
		       "involuntary) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		       "iiisiiddddssddddd", run, r->pid, r->tid, r->comm, (int64_t)r->first_ns,
		       (int64_t)r->last_ns, r->run_ns, r->user_ns, r->system_ns, r->migrations,
		       r->allowed, r->cpus, r->sched_run_ns, r->wait_ns, r->slices, r->voluntary,
		       r->involuntary);
}

static void thread_read_row(struct store *s, sqlite3_stmt *q, void *row)
{
	struct thread_row *r = row;

	*r = (struct thread_row){
		.pid = sql_int(s, q, 0),
		.tid = sql_int(s, q, 1),
		.comm = sql_text(s, q, 2),
		.first_ns = (uint64_t)sql_int(s, q, 3),
		.last_ns = (uint64_t)sql_int(s, q, 4),
		.allowed = sql_text(s, q, 5),
		.cpus = sql_text(s, q, 6),
	};
	for (int i = 0; i < THREAD_FIGURES; i++)
		r->f[i] = sql_real(s, q, 7 + i);
}

int store_threads(struct store *s, int64_t run, struct thread_row **rows, struct error *err)
{
	return sql_rows(
		s, rows, sizeof(**rows), thread_read_row, err,
		"SELECT pid, tid, comm, first_ns, last_ns, allowed, cpus, run_ns, user_ns, "
		"system_ns, migrations, sched_run_ns, wait_ns, slices, voluntary, involuntary "
		"FROM thread WHERE run = ? ORDER BY run_ns DESC, pid, tid",
		"i", run);
}

/* --- sockets --- */

#define SOCKET_COLUMNS	   "pid, local, peer, congestion, state, first_ns, last_ns, readings"
#define SOCKET_NAME(name)  ", " #name
#define SOCKET_PLACE(name) ", ?"
#define SOCKET_TYPE(name)  "d"
#define SOCKET_VALUE(name) , r->f[SOCKET_##name]

int store_socket_add(struct store *s, int64_t run, const struct socket_row *r, struct error *err)
{
	return sql_run(
		s, err,
		"INSERT INTO socket (run, " SOCKET_COLUMNS
			SOCKET_FIGURES(SOCKET_NAME) ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?" SOCKET_FIGURES(
				SOCKET_PLACE) ")",
		"iissssiii" SOCKET_FIGURES(SOCKET_TYPE), run, r->pid, r->local, r->peer,
		r->congestion, r->state, (int64_t)r->first_ns, (int64_t)r->last_ns,
		r->readings SOCKET_FIGURES(SOCKET_VALUE));
}

static void socket_read_row(struct store *s, sqlite3_stmt *q, void *row)
{
	struct socket_row *r = row;

	*r = (struct socket_row){
		.pid = sql_int(s, q, 0),
		.local = sql_text(s, q, 1),
		.peer = sql_text(s, q, 2),
		.congestion = sql_text(s, q, 3),
		.state = sql_text(s, q, 4),
		.first_ns = (uint64_t)sql_int(s, q, 5),
		.last_ns = (uint64_t)sql_int(s, q, 6),
		.readings = sql_int(s, q, 7),
	};
	for (int i = 0; i < SOCKET_NFIGURES; i++)
		r->f[i] = sql_real(s, q, 8 + i);
}

int store_sockets(struct store *s, int64_t run, struct socket_row **rows, struct error *err)
{
	return sql_rows(
		s, rows, sizeof(**rows), socket_read_row, err,
		"SELECT " SOCKET_COLUMNS SOCKET_FIGURES(
			SOCKET_NAME) " FROM socket WHERE run = ? "
				     "ORDER BY IFNULL(bytes_acked, 0) + IFNULL(bytes_received, 0) DESC, "
				     "local, peer",
		"i", run);
}

/* System calls. Their histograms are rows of syscall_hist, found by (comm, pid, tid, nr). */

static int syscall_write_hist(struct store *s, int64_t run, const struct syscall_row *r,
			      const char *kind, const uint64_t hist[64], struct error *err)
{
	int rc = 0;

	for (int b = 0; b < 64 && !rc; b++)
		if (hist[b])
			rc = sql_run(s, err,
				     "INSERT INTO syscall_hist (run, comm, pid, tid, nr, kind, "
				     "bucket, count) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
				     "isiiisii", run, r->comm, r->pid, r->tid, r->nr, kind,
				     (int64_t)b, (int64_t)hist[b]);
	return rc;
}

int store_syscall_add(struct store *s, int64_t run, const struct syscall_row *r, struct error *err)
{
	int rc = sql_run(s, err,
			 "INSERT INTO syscall (run, comm, pid, tid, nr, name, calls, errors, "
			 "total_ns, min_ns, max_ns, m2, bytes, unfinished) "
			 "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULLIF(?, -1), ?)",
			 "isiiisiiiiidii", run, r->comm, r->pid, r->tid, r->nr, r->name,
			 (int64_t)r->calls, (int64_t)r->errors, (int64_t)r->total_ns,
			 (int64_t)r->min_ns, (int64_t)r->max_ns, r->m2,
			 r->has_bytes ? (int64_t)r->bytes : -1, (int64_t)r->unfinished);

	rc = rc ?: syscall_write_hist(s, run, r, "time", r->time_hist, err);
	return rc ? rc : syscall_write_hist(s, run, r, "size", r->size_hist, err);
}

static void syscall_read_row(struct store *s, sqlite3_stmt *q, void *row)
{
	*(struct syscall_row *)row = (struct syscall_row){
		.comm = sql_name(s, q, 0),
		.pid = sql_int(s, q, 1),
		.tid = sql_int(s, q, 2),
		.nr = sql_int(s, q, 3),
		.name = sql_name(s, q, 4),
		.calls = sql_count(s, q, 5),
		.errors = sql_count(s, q, 6),
		.total_ns = sql_count(s, q, 7),
		.min_ns = sql_count(s, q, 8),
		.max_ns = sql_count(s, q, 9),
		.m2 = sql_real(s, q, 10),
		.bytes = sql_count(s, q, 11),
		.has_bytes = sqlite3_column_type(q, 11) != SQLITE_NULL,
		.unfinished = sql_count(s, q, 12),
	};
}

static struct syscall_row *syscall_find_row(struct syscall_row *rows, size_t n, const char *comm,
					    int64_t pid, int64_t tid, int64_t nr)
{
	return array_find(r, rows, n,
			  r->tid == tid && r->nr == nr && r->pid == pid && r->comm == comm);
}

static int syscall_read_hists(struct store *s, int64_t run, struct syscall_row *rows, size_t n,
			      struct error *err)
{
	sqlite3_stmt *q;
	int rc = sql_query(s, &q, err,
			   "SELECT comm, pid, tid, nr, kind, bucket, count FROM syscall_hist "
			   "WHERE run = ?",
			   "i", run);

	if (rc)
		return rc;
	while ((rc = sql_next(s, q, err)) > 0) {
		struct syscall_row *r =
			syscall_find_row(rows, n, sql_text(s, q, 0), sql_int(s, q, 1),
					 sql_int(s, q, 2), sql_int(s, q, 3));
		const char *kind = sql_column(s, q, 4, TEXT_MOST);
		bool time = kind && !strcmp(kind, "time");
		int b = sql_small(s, q, 5);

		if (r && b >= 0 && b < 64)
			(time ? r->time_hist : r->size_hist)[b] += sql_count(s, q, 6);
	}
	return rc;
}

int store_syscalls(struct store *s, int64_t run, struct syscall_row **rows, struct error *err)
{
	int n = sql_rows(s, rows, sizeof(**rows), syscall_read_row, err,
			 "SELECT comm, pid, tid, nr, name, calls, errors, total_ns, min_ns, "
			 "max_ns, m2, bytes, unfinished FROM syscall WHERE run = ? "
			 "ORDER BY total_ns DESC, nr, comm, tid",
			 "i", run);
	int rc = n < 0 ? n : syscall_read_hists(s, run, *rows, (size_t)n, err);

	if (!rc)
		return n;
	free(*rows);
	*rows = NULL;
	return rc;
}

bool store_has_syscalls(struct store *s, int64_t run)
{
	return sql_first_text(s, "SELECT 'yes' FROM syscall WHERE run = ? LIMIT 1", "i", run);
}
