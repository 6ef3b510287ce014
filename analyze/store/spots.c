// SPDX-License-Identifier: GPL-2.0-only
/* Samples by instruction, and the code of the functions that have them. */
#include "analyze/store/sql.h"

#include <stdlib.h>
#include <string.h>

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
