// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of each function in a run, by event and context, and its component. It is computed when
 * the profile is written. Each cost climbs its chain once, and a function that occurs in the chain
 * several times counts once.
 */
#include "analyze/store/sql.h"
#include "lib/hash.h"

#include <stdlib.h>
#include <string.h>

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

/* Samples by instruction, and the code of the functions that have them. */

static int spot_write(struct store *s, int64_t run, const struct profile *p,
		      const struct profile_spot *spot, const int64_t *events,
		      const uint32_t *symbols, struct error *err)
{
	const char *line = spot->line == PROFILE_NONE ? NULL : intern_get(&p->strings, spot->line);

	return sql_run(s, err,
		       "INSERT INTO spot (run, event, symbol, offset, line, samples, weight) "
		       "VALUES (?, ?, ?, ?, ?, ?, ?)",
		       "iiiisii", run, events[spot->event], (int64_t)symbols[spot->symbol] + 1,
		       (int64_t)spot->offset, line, (int64_t)spot->samples, (int64_t)spot->weight);
}

/* If another run stored the code of the symbol, that code stays: it is from the same object. */
static int code_write(struct store *s, const struct profile *p, const struct profile_code *c,
		      const uint32_t *symbols, struct error *err)
{
	char *hex = xmalloc(2 * c->size + 1);
	size_t i;
	int rc;

	for (i = 0; i < c->size; i++) {
		hex[2 * i] = "0123456789abcdef"[c->bytes[i] >> 4];
		hex[2 * i + 1] = "0123456789abcdef"[c->bytes[i] & 15];
	}
	hex[2 * c->size] = '\0';
	rc = sql_run(s, err,
		     "INSERT OR IGNORE INTO code (symbol, arch, at, bytes) VALUES (?, ?, ?, ?)",
		     "isit", (int64_t)symbols[c->symbol] + 1,
		     p->arch == PROFILE_NONE ? NULL : intern_get(&p->strings, p->arch),
		     (int64_t)c->at, hex);
	free(hex);
	return rc;
}

int spots_write(struct store *s, int64_t run, const struct profile *p, const int64_t *events,
		const uint32_t *symbols, struct error *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < p->nspots && !rc; i++)
		rc = spot_write(s, run, p, &p->spots[i], events, symbols, err);
	for (i = 0; i < p->ncodes && !rc; i++)
		rc = code_write(s, p, &p->codes[i], symbols, err);
	return rc;
}

static void spot_read_row(struct store *s, sqlite3_stmt *q, void *row)
{
	*(struct store_spot *)row = (struct store_spot){
		.symbol = sql_name(s, q, 0),
		.dso = sql_name(s, q, 1),
		.offset = (uint64_t)sql_int(s, q, 2),
		.line = sql_text(s, q, 3),
		.samples = sql_count(s, q, 4),
		.weight = sql_count(s, q, 5),
		.id = sql_int(s, q, 6),
	};
}

int store_spots(struct store *s, int64_t run, const char *event, const char *symbol,
		struct store_spot **rows, struct error *err)
{
	return sql_rows(
		s, rows, sizeof(**rows), spot_read_row, err,
		"SELECT symbol.name, dso.name, spot.offset, spot.line, spot.samples, "
		"spot.weight, symbol.id FROM spot JOIN symbol ON symbol.id = spot.symbol "
		"JOIN dso ON dso.id = symbol.dso JOIN event ON event.id = spot.event "
		"WHERE spot.run = ?1 AND event.name = ?2 AND (symbol.name = ?3 OR symbol.name GLOB ?3) "
		"ORDER BY symbol.id, spot.offset",
		"iss", run, event, symbol);
}

static int code_nibble(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

int store_code(struct store *s, int64_t id, struct store_code *code, struct error *err)
{
	sqlite3_stmt *q;
	const char *hex;
	size_t n, i;
	int high, low,
		rc = sql_query(s, &q, err, "SELECT arch, at, bytes FROM code WHERE symbol = ?", "i",
			       id);

	*code = (struct store_code){0};
	if (rc)
		return rc;
	while ((rc = sql_next(s, q, err)) > 0) {
		hex = sql_column(s, q, 2, SIZE_MAX);
		n = hex ? strlen(hex) / 2 : 0;
		code->arch = sql_text(s, q, 0);
		code->at = (uint64_t)sql_int(s, q, 1);
		free(code->bytes);
		code->bytes = xmalloc(n + 1);
		for (i = 0; i < n; i++) {
			high = code_nibble(hex[2 * i]);
			low = code_nibble(hex[2 * i + 1]);
			if (high < 0 || low < 0)
				break;
			code->bytes[i] = (uint8_t)(high << 4 | low);
		}
		code->size = i;
	}
	return rc;
}
