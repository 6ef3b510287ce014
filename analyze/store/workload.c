// SPDX-License-Identifier: GPL-2.0-only
/* The threads and sockets of the workload. A missing figure is NULL in SQL and NAN in C. */
#include "analyze/store/sql.h"

#include <stdlib.h>
#include <string.h>

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
	int i;

	*r = (struct thread_row){
		.pid = sql_int(s, q, 0),
		.tid = sql_int(s, q, 1),
		.comm = sql_text(s, q, 2),
		.first_ns = (uint64_t)sql_int(s, q, 3),
		.last_ns = (uint64_t)sql_int(s, q, 4),
		.allowed = sql_text(s, q, 5),
		.cpus = sql_text(s, q, 6),
	};
	for (i = 0; i < THREAD_FIGURES; i++)
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
	int i;

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
	for (i = 0; i < SOCKET_NFIGURES; i++)
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
	int b, rc = 0;

	for (b = 0; b < 64 && !rc; b++)
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

	if (!rc)
		rc = syscall_write_hist(s, run, r, "time", r->time_hist, err);
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
	size_t i;

	for (i = 0; i < n; i++)
		if (rows[i].tid == tid && rows[i].nr == nr && rows[i].pid == pid &&
		    rows[i].comm == comm)
			return &rows[i];
	return NULL;
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
	return sql_exists(s, "SELECT 1 FROM syscall WHERE run = ? LIMIT 1", "i", run);
}
