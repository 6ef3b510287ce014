// SPDX-License-Identifier: GPL-2.0-only
/* The threads and sockets of the workload. A missing figure is NULL in SQL and NAN in C. */
#include "analyze/store/sql.h"

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
	*(struct thread_row *)row = (struct thread_row){
		.pid = sql_int(s, q, 0),
		.tid = sql_int(s, q, 1),
		.comm = sql_text(s, q, 2),
		.first_ns = (uint64_t)sql_int(s, q, 3),
		.last_ns = (uint64_t)sql_int(s, q, 4),
		.run_ns = sql_real(s, q, 5),
		.user_ns = sql_real(s, q, 6),
		.system_ns = sql_real(s, q, 7),
		.migrations = sql_real(s, q, 8),
		.allowed = sql_text(s, q, 9),
		.cpus = sql_text(s, q, 10),
		.sched_run_ns = sql_real(s, q, 11),
		.wait_ns = sql_real(s, q, 12),
		.slices = sql_real(s, q, 13),
		.voluntary = sql_real(s, q, 14),
		.involuntary = sql_real(s, q, 15),
	};
}

int store_threads(struct store *s, int64_t run, struct thread_row **rows, struct error *err)
{
	return sql_rows(
		s, rows, sizeof(**rows), thread_read_row, err,
		"SELECT pid, tid, comm, first_ns, last_ns, run_ns, user_ns, system_ns, "
		"migrations, allowed, cpus, sched_run_ns, wait_ns, slices, voluntary, involuntary "
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
