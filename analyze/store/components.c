// SPDX-License-Identifier: GPL-2.0-only
/* Functions that samples were taken in, and the components that the rules put them into. */
#include "analyze/store/sql.h"

#include "lib/alloc.h"

#include <stdlib.h>

int store_leaves(struct store *s, struct leaf_row **rows, struct error *err)
{
	const struct profile *all = dictionary_profile(s->dictionary);
	size_t n = 0, cap = 0;
	sqlite3_stmt *q;
	int rc;

	*rows = NULL;
	if (!all)
		return 0;
	rc = sql_query(s, &q, err,
		       "SELECT DISTINCT symbol, context FROM function WHERE self > 0 "
		       "ORDER BY symbol, context",
		       "");
	while (!rc && (rc = sql_next(s, q, err)) > 0) {
		uint32_t symbol = (uint32_t)sqlite3_column_int64(q, 0) - 1, module;

		module = intern_str(&s->strings, profile_module(all, symbol));
		array_grow(*rows, n, cap);
		(*rows)[n++] = (struct leaf_row){.symbol = (int64_t)symbol + 1,
						 .context = (enum context)sqlite3_column_int(q, 1),
						 .name = profile_symbol_name(all, symbol),
						 .module = intern_get(&s->strings, module),
						 .kind = all->dsos[all->symbols[symbol].dso].kind};
		rc = 0;
	}
	return sql_list(rc, n, rows);
}

int store_component_put(struct store *s, const struct leaf_row *leaf, const char *fine,
			const char *basic, struct error *err)
{
	return sql_run(s, err,
		       "INSERT INTO component (symbol, context, fine, basic) VALUES (?, ?, ?, ?)",
		       "iiss", leaf->symbol, (int64_t)leaf->context, fine, basic);
}
