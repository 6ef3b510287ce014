// SPDX-License-Identifier: GPL-2.0-only
/* Where a host's parts lie. What is not told is NULL here. */
#include "analyze/store/sql.h"

#include "lib/alloc.h"

#include <math.h>

int store_topology_add(struct store *s, const struct topology_row *r, struct error *err)
{
	return sql_run(s, err,
		       "INSERT INTO topology (host, kind, name, cpus, package, node, size_kib, "
		       "distances, speed, up) VALUES (?, ?, ?, ?, NULLIF(?, -1), NULLIF(?, -1), ?, "
		       "?, ?, NULLIF(?, -1))",
		       "ssssiidsdi", r->host, r->kind, r->name, r->cpus, r->package, r->node,
		       r->size_kib, r->distances, r->speed, r->up);
}

static double real(sqlite3_stmt *q, int column)
{
	return sqlite3_column_type(q, column) == SQLITE_NULL ? NAN
							     : sqlite3_column_double(q, column);
}

static int64_t integer(sqlite3_stmt *q, int column)
{
	return sqlite3_column_type(q, column) == SQLITE_NULL ? -1 : sqlite3_column_int64(q, column);
}

int store_topology(struct store *s, const char *host, struct topology_row **rows, struct error *err)
{
	size_t n = 0, cap = 0;
	sqlite3_stmt *q;
	int rc = sql_query(s, &q, err,
			   "SELECT host, kind, name, cpus, package, node, size_kib, distances, "
			   "speed, up FROM topology WHERE host = ? ORDER BY rowid",
			   "s", host);

	*rows = NULL;
	if (rc)
		return rc;
	while ((rc = sql_next(s, q, err)) > 0) {
		array_grow(*rows, n, cap);
		(*rows)[n++] = (struct topology_row){
			.host = sql_name(s, q, 0),
			.kind = sql_name(s, q, 1),
			.name = sql_name(s, q, 2),
			.cpus = sql_text(s, q, 3),
			.package = integer(q, 4),
			.node = integer(q, 5),
			.size_kib = real(q, 6),
			.distances = sql_text(s, q, 7),
			.speed = real(q, 8),
			.up = integer(q, 9),
		};
	}
	return sql_list(rc, n, rows);
}
