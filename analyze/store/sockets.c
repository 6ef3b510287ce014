// SPDX-License-Identifier: GPL-2.0-only
/* The workload's sockets. A figure that was not told is NULL here and NAN outside. */
#include "analyze/store/sql.h"

#include "lib/alloc.h"

#include <math.h>

#define HEAD	    "pid, local, peer, congestion, state, first_ns, last_ns, readings"
#define NAME(name)  ", " #name
#define PLACE(name) ", ?"
#define TYPE(name)  "d"
#define VALUE(name) , r->f[SOCKET_##name]

int store_socket_add(struct store *s, int64_t run, const struct socket_row *r, struct error *err)
{
	return sql_run(
		s, err,
		"INSERT INTO socket (run, " HEAD SOCKET_FIGURES(
			NAME) ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?" SOCKET_FIGURES(PLACE) ")",
		"iissssiii" SOCKET_FIGURES(TYPE), run, r->pid, r->local, r->peer, r->congestion,
		r->state, (int64_t)r->first_ns, (int64_t)r->last_ns,
		r->readings SOCKET_FIGURES(VALUE));
}

static struct socket_row row_of(struct store *s, sqlite3_stmt *q)
{
	struct socket_row r = {
		.pid = sqlite3_column_int64(q, 0),
		.local = sql_text(s, q, 1),
		.peer = sql_text(s, q, 2),
		.congestion = sql_text(s, q, 3),
		.state = sql_text(s, q, 4),
		.first_ns = (uint64_t)sqlite3_column_int64(q, 5),
		.last_ns = (uint64_t)sqlite3_column_int64(q, 6),
		.readings = sqlite3_column_int64(q, 7),
	};
	int i;

	for (i = 0; i < SOCKET_NFIGURES; i++)
		r.f[i] = sqlite3_column_type(q, 8 + i) == SQLITE_NULL
				 ? NAN
				 : sqlite3_column_double(q, 8 + i);
	return r;
}

int store_sockets(struct store *s, int64_t run, struct socket_row **rows, struct error *err)
{
	size_t n = 0, cap = 0;
	sqlite3_stmt *q;
	int rc = sql_query(
		s, &q, err,
		"SELECT " HEAD SOCKET_FIGURES(
			NAME) " FROM socket WHERE run = ? "
			      "ORDER BY IFNULL(bytes_acked, 0) + IFNULL(bytes_received, 0) DESC, "
			      "local, peer",
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
