// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of each function in a run, by event and context, and its component. It is computed when
 * the profile is written. Each cost climbs its chain once, and a function that occurs in the chain
 * several times counts once.
 */
#include "analyze/store/sql.h"

#include "lib/hash.h"

#include <stdlib.h>

struct function_row {
	uint32_t event, symbol, context;
	uint64_t samples, self, total;
};

struct function_rows {
	struct function_row *rows;
	size_t n, cap;
	struct map ids; /* maps (event, context, symbol) to index + 1 */
};

static struct function_row *function_row_find(struct function_rows *f, const struct profile_cost *c,
					      uint32_t symbol)
{
	uint64_t *id =
		map_at(&f->ids, (uint64_t)c->event << 40 | (uint64_t)c->context << 32 | symbol);

	if (!*id) {
		array_grow(f->rows, f->n, f->cap);
		f->rows[f->n] = (struct function_row){
			.event = c->event, .symbol = symbol, .context = c->context};
		*id = ++f->n;
	}
	return &f->rows[*id - 1];
}

/* seen[symbol] is the last cost with the symbol in its chain, counted from 1. */
static void function_rows_add_cost(struct function_rows *f, const struct profile *p, size_t cost,
				   size_t *seen)
{
	const struct profile_cost *c = &p->costs[cost];
	uint32_t frame;
	struct function_row *row = function_row_find(f, c, p->frames[c->frame].symbol);

	row->samples += c->samples;
	row->self += c->weight;
	for (frame = c->frame; frame != PROFILE_NONE; frame = p->frames[frame].parent) {
		uint32_t symbol = p->frames[frame].symbol;

		if (seen[symbol] == cost + 1)
			continue;
		seen[symbol] = cost + 1;
		function_row_find(f, c, symbol)->total += c->weight;
	}
}

static int function_row_write(struct store *s, int64_t run, const struct function_row *r,
			      const int64_t *events, const uint32_t *symbols, struct error *err)
{
	return sql_run(s, err,
		       "INSERT INTO function (run, event, symbol, context, samples, self, total) "
		       "VALUES (?, ?, ?, ?, ?, ?, ?)",
		       "iiiiiii", run, events[r->event], (int64_t)symbols[r->symbol] + 1,
		       (int64_t)r->context, (int64_t)r->samples, (int64_t)r->self,
		       (int64_t)r->total);
}

int functions_write(struct store *s, int64_t run, const struct profile *p, const int64_t *events,
		    const uint32_t *symbols, struct error *err)
{
	size_t *seen = xcalloc(p->nsymbols + 1, sizeof(*seen)), i;
	struct function_rows f = {0};
	int rc = 0;

	for (i = 0; i < p->ncosts; i++)
		function_rows_add_cost(&f, p, i, seen);
	for (i = 0; i < f.n && !rc; i++)
		rc = function_row_write(s, run, &f.rows[i], events, symbols, err);
	free(seen);
	free(f.rows);
	map_free(&f.ids);
	return rc;
}

/* --- components --- */

static void leaf_read_row(struct store *s, sqlite3_stmt *q, void *row)
{
	const struct profile *all = dictionary_profile(s->dictionary);
	uint32_t symbol = (uint32_t)sql_int(s, q, 0) - 1,
		 module = intern_str(&s->strings, profile_module(all, symbol));

	*(struct leaf_row *)row =
		(struct leaf_row){.symbol = (int64_t)symbol + 1,
				  .context = (enum context)sql_small(s, q, 1),
				  .name = profile_symbol_name(all, symbol),
				  .module = intern_get(&s->strings, module),
				  .kind = all->dsos[all->symbols[symbol].dso].kind};
}

int store_leaves(struct store *s, struct leaf_row **rows, struct error *err)
{
	return sql_rows(s, rows, sizeof(**rows), leaf_read_row, err,
			"SELECT DISTINCT symbol, context FROM function WHERE self > 0 "
			"ORDER BY symbol, context",
			"");
}

int store_component_put(struct store *s, const struct leaf_row *leaf, const char *fine,
			const char *basic, struct error *err)
{
	return sql_run(s, err,
		       "INSERT INTO component (symbol, context, fine, basic) VALUES (?, ?, ?, ?)",
		       "iiss", leaf->symbol, (int64_t)leaf->context, fine, basic);
}

static void object_read_row(struct store *s, sqlite3_stmt *q, void *row)
{
	*(struct object_row *)row = (struct object_row){sql_name(s, q, 0), sql_text(s, q, 1)};
}

int store_objects(struct store *s, const char *variant, const char *side, struct object_row **rows,
		  struct error *err)
{
	return sql_rows(s, rows, sizeof(**rows), object_read_row, err,
			"WITH RECURSIVE chain (id) AS (SELECT cost.frame FROM run JOIN cost ON "
			"cost.run = run.id JOIN process ON process.run = run.id AND process.pid = "
			"cost.pid WHERE run.variant = ?1 AND run.side = ?2 UNION SELECT "
			"frame.parent FROM chain JOIN frame ON frame.id = chain.id WHERE "
			"frame.parent IS NOT NULL) "
			"SELECT DISTINCT dso.name, dso.build_id FROM chain JOIN frame ON "
			"frame.id = chain.id JOIN symbol ON symbol.id = frame.symbol "
			"JOIN dso ON dso.id = symbol.dso JOIN dso_kind ON dso_kind.id = dso.kind "
			"WHERE dso_kind.name = 'user' AND dso.build_id IS NOT NULL "
			"ORDER BY dso.name, dso.build_id",
			"ss", variant, side);
}
