// SPDX-License-Identifier: GPL-2.0-only
/* The workload's threads. A figure that was not measured is NULL here and NAN outside. */
#include "analyze/store/sql.h"

#include "lib/alloc.h"

#include <math.h>

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

static double real(sqlite3_stmt *q, int column)
{
	return sqlite3_column_type(q, column) == SQLITE_NULL ? NAN
							     : sqlite3_column_double(q, column);
}

static struct thread_row row_of(struct store *s, sqlite3_stmt *q)
{
	return (struct thread_row){
		.pid = sqlite3_column_int64(q, 0),
		.tid = sqlite3_column_int64(q, 1),
		.comm = sql_text(s, q, 2),
		.first_ns = (uint64_t)sqlite3_column_int64(q, 3),
		.last_ns = (uint64_t)sqlite3_column_int64(q, 4),
		.run_ns = real(q, 5),
		.user_ns = real(q, 6),
		.system_ns = real(q, 7),
		.migrations = real(q, 8),
		.allowed = sql_text(s, q, 9),
		.cpus = sql_text(s, q, 10),
		.sched_run_ns = real(q, 11),
		.wait_ns = real(q, 12),
		.slices = real(q, 13),
		.voluntary = real(q, 14),
		.involuntary = real(q, 15),
	};
}

int store_threads(struct store *s, int64_t run, struct thread_row **rows, struct error *err)
{
	size_t n = 0, cap = 0;
	sqlite3_stmt *q;
	int rc = sql_query(
		s, &q, err,
		"SELECT pid, tid, comm, first_ns, last_ns, run_ns, user_ns, system_ns, "
		"migrations, allowed, cpus, sched_run_ns, wait_ns, slices, voluntary, involuntary "
		"FROM thread WHERE run = ? ORDER BY run_ns DESC, pid, tid",
		"i", run);

	*rows = NULL;
	if (rc)
		return rc;
	while ((rc = sql_next(s, q, err)) > 0) {
		array_grow(*rows, n, cap);
		(*rows)[n++] = row_of(s, q);
	}
	return sql_list(rc, n, rows);
}
