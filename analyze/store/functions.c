// SPDX-License-Identifier: GPL-2.0-only
/*
 * What each function costs in a run, by event and context: worked out while its profile is at hand.
 * Every cost climbs its chain once; a function that stands in it several times counts once.
 */
#include "analyze/store/sql.h"

#include "lib/alloc.h"
#include "lib/hash.h"

#include <stdlib.h>

struct row {
	uint32_t event, symbol, context;
	uint64_t samples, self, total;
};

struct sums {
	struct row *rows;
	size_t n, cap;
	struct map ids; /* (event, context, symbol) -> index + 1 */
};

static struct row *row_of(struct sums *f, const struct profile_cost *c, uint32_t symbol)
{
	uint64_t *id =
		map_at(&f->ids, (uint64_t)c->event << 40 | (uint64_t)c->context << 32 | symbol);

	if (!*id) {
		array_grow(f->rows, f->n, f->cap);
		f->rows[f->n] =
			(struct row){.event = c->event, .symbol = symbol, .context = c->context};
		*id = ++f->n;
	}
	return &f->rows[*id - 1];
}

/* `seen`: the last cost that had the symbol in its chain, from 1. */
static void add_cost(struct sums *f, const struct profile *p, size_t cost, size_t *seen)
{
	const struct profile_cost *c = &p->costs[cost];
	uint32_t frame;
	struct row *row = row_of(f, c, p->frames[c->frame].symbol);

	row->samples += c->samples;
	row->self += c->weight;
	for (frame = c->frame; frame != PROFILE_NONE; frame = p->frames[frame].parent) {
		uint32_t symbol = p->frames[frame].symbol;

		if (seen[symbol] == cost + 1)
			continue;
		seen[symbol] = cost + 1;
		row_of(f, c, symbol)->total += c->weight;
	}
}

static int put_row(struct store *s, int64_t run, const struct row *r, const int64_t *events,
		   const uint32_t *symbols, struct error *err)
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
	struct sums f = {0};
	int rc = 0;

	for (i = 0; i < p->ncosts; i++)
		add_cost(&f, p, i, seen);
	for (i = 0; i < f.n && !rc; i++)
		rc = put_row(s, run, &f.rows[i], events, symbols, err);
	free(seen);
	free(f.rows);
	map_free(&f.ids);
	return rc;
}
