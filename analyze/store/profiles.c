// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiles in the store. All runs share DSOs, symbols, frames and comms. The dictionary is a
 * profile with the shared entries: index i is the row with id i + 1. A store that is being made
 * adds the entries of each run. A store for reading loads the dictionary once.
 */
#include "analyze/store/sql.h"

#include "lib/str.h"

#define SAMPLES_MOST UINT32_MAX /* an event has no more in a run: they take 100 GB of perf.data */

struct dictionary {
	struct profile all; /* the events and costs are those of one run */
	struct intern comms;
	struct map comm_strings; /* maps the index of a comm to its string in `all` + 1 */
	struct map events; /* maps the ids of events of the run that is being read to their index +
			      1 */
	int64_t first_event; /* the lowest id of an event of that run */
	bool loaded;
};

void dictionary_free(struct dictionary *d)
{
	if (!d)
		return;
	profile_free(&d->all);
	intern_free(&d->comms);
	map_free(&d->comm_strings);
	map_free(&d->events);
	free(d);
}

static struct dictionary *dictionary_of(struct store *s)
{
	if (!s->dictionary)
		s->dictionary = xcalloc(1, sizeof(*s->dictionary));
	return s->dictionary;
}

static const char *profile_string(const struct profile *p, uint32_t id)
{
	return id == PROFILE_NONE ? NULL : intern_get(&p->strings, id);
}

/* --- writing --- */

static int dso_write(struct store *s, const struct profile *p, uint32_t dso, uint32_t *id,
		     struct error *err)
{
	struct profile *all = &s->dictionary->all;
	const struct profile_dso *d = &p->dsos[dso];
	const char *name = intern_get(&p->strings, d->name);
	const char *build_id = profile_string(p, d->build_id);
	size_t before = all->ndsos;

	*id = profile_dso(all, name, build_id, d->kind);
	if (all->ndsos == before)
		return 0;
	return sql_run(s, err, "INSERT INTO dso (id, name, build_id, kind) VALUES (?, ?, ?, ?)",
		       "issi", (int64_t)*id + 1, name, build_id, (int64_t)d->kind);
}

static int symbol_write(struct store *s, const struct profile *p, uint32_t symbol, uint32_t *id,
			struct error *err)
{
	struct profile *all = &s->dictionary->all;
	const struct profile_symbol *y = &p->symbols[symbol];
	const char *name = profile_symbol_name(p, symbol);
	size_t before = all->nsymbols;
	uint32_t dso;
	int rc = dso_write(s, p, y->dso, &dso, err);

	if (rc)
		return rc;
	*id = profile_symbol(all, dso, name, y->unresolved);
	if (all->nsymbols == before)
		return 0;
	return sql_run(s, err, "INSERT INTO symbol (id, name, dso, unresolved) VALUES (?, ?, ?, ?)",
		       "isii", (int64_t)*id + 1, name, (int64_t)dso + 1, (int64_t)y->unresolved);
}

/* Parents come before their children in a profile, so one pass over the frames is enough. */
static int frames_write(struct store *s, const struct profile *p, uint32_t *ids, struct error *err)
{
	struct profile *all = &s->dictionary->all;
	int rc = 0;

	for (size_t i = 0; i < p->nframes && !rc; i++) {
		uint32_t parent = p->frames[i].parent, symbol;
		size_t before = all->nframes;

		rc = symbol_write(s, p, p->frames[i].symbol, &symbol, err);
		if (rc)
			break;
		if (parent != PROFILE_NONE)
			parent = ids[parent];
		ids[i] = profile_frame(all, parent, symbol);
		if (all->nframes > before)
			rc = sql_run(s, err,
				     "INSERT INTO frame (id, parent, symbol) VALUES (?, NULLIF(?, "
				     "0), ?)",
				     "iii", (int64_t)ids[i] + 1,
				     parent == PROFILE_NONE ? (int64_t)0 : (int64_t)parent + 1,
				     (int64_t)symbol + 1);
	}
	return rc;
}

static int events_write(struct store *s, int64_t run, const struct profile *p, int64_t *ids,
			struct error *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < p->nevents && !rc; i++) {
		const struct profile_event *e = &p->events[i];

		rc = sql_run(
			s, err,
			"INSERT INTO event (run, name, is_time, samples, weight, weight2, exact) "
			"VALUES (?, ?, ?, ?, ?, ?, ?)",
			"isiiidi", run, intern_get(&p->strings, e->name), (int64_t)e->is_time,
			(int64_t)e->samples, (int64_t)e->weight, e->weight2, (int64_t)e->exact);
		ids[i] = sqlite3_last_insert_rowid(s->db);
	}
	return rc;
}

static int comm_write(struct store *s, const char *name, int64_t *id, struct error *err)
{
	struct intern *comms = &s->dictionary->comms;
	size_t before = comms->n;

	*id = (int64_t)intern_str(comms, name) + 1;
	if (comms->n == before)
		return 0;
	return sql_run(s, err, "INSERT INTO comm (id, name) VALUES (?, ?)", "is", *id, name);
}

/* --- packed costs: each number in digits of five bits, the lowest digit first --- */

enum { COST_EVENT, COST_CPU, COST_COMM, COST_PID, COST_TID, COST_CONTEXT, COST_FRAME };
enum { COST_SAMPLES = COST_FRAME + 1, COST_WEIGHT, COST_COLUMNS };

static void packed_add(struct str *to, uint64_t n)
{
	for (; n > 31; n >>= 5)
		str_putc(to, (char)('`' + n % 32));
	str_putc(to, (char)('@' + n));
}

/* Returns -1 behind the last number. */
static int64_t packed_next(const char **at)
{
	uint64_t n = 0;

	for (int shift = 0; **at && shift < 64; shift += 5) {
		char digit = *(*at)++;

		n |= (uint64_t)(digit & 31) << shift;
		if (digit < '`')
			return (int64_t)n;
	}
	return -1;
}

/* Adds the set of columns up to COST_CONTEXT that differ from the row before, then the numbers. */
static void packed_add_cost(struct str *to, const int64_t v[COST_COLUMNS],
			    const int64_t before[COST_COLUMNS])
{
	uint64_t differ = 0;

	for (int i = 0; i < COST_FRAME; i++)
		differ |= (uint64_t)(v[i] != before[i]) << i;
	packed_add(to, differ);
	for (int i = 0; i < COST_COLUMNS; i++)
		if (i >= COST_FRAME || differ >> i & 1)
			packed_add(to, (uint64_t)v[i]);
}

/*
 * Fills the columns. The first event of the run is 0. An unknown CPU or comm is 0; a known CPU is
 * its number + 1.
 */
static int cost_fill(struct store *s, const struct profile *p, const struct profile_cost *c,
		     const int64_t *events, const uint32_t *frames, int64_t v[COST_COLUMNS],
		     struct error *err)
{
	int64_t comm = 0;
	int rc = c->comm == PROFILE_NONE
			 ? 0
			 : comm_write(s, intern_get(&p->strings, c->comm), &comm, err);

	v[COST_EVENT] = events[c->event] - events[0];
	v[COST_CPU] = c->cpu == PROFILE_NONE ? 0 : (int64_t)c->cpu + 1;
	v[COST_COMM] = comm;
	v[COST_PID] = c->pid;
	v[COST_TID] = c->tid;
	v[COST_CONTEXT] = c->context;
	v[COST_FRAME] = (int64_t)frames[c->frame] + 1;
	v[COST_SAMPLES] = (int64_t)c->samples;
	v[COST_WEIGHT] = (int64_t)c->weight;
	return rc;
}

static int costs_write(struct store *s, int64_t run, const struct profile *p, const int64_t *events,
		       const uint32_t *frames, struct error *err)
{
	int64_t row[2][COST_COLUMNS] = {0}; /* this one and the one before, in turns */
	freed(str_free) struct str packed = {0};
	int rc = 0;

	for (size_t i = 0; i < p->ncosts && !rc; i++) {
		int64_t *v = row[i % 2];

		rc = cost_fill(s, p, &p->costs[i], events, frames, v, err);
		packed_add_cost(&packed, v, row[(i + 1) % 2]);
		if (!rc)
			rc = sql_run(s, err,
				     "INSERT INTO cost (run, event, cpu, comm, pid, tid, context, "
				     "frame, samples, weight) VALUES (?, ?, NULLIF(?, 0) - 1, "
				     "NULLIF(?, 0), ?, ?, ?, ?, ?, ?)",
				     "iiiiiiiiii", run, events[0] + v[0], v[1], v[2], v[3], v[4],
				     v[5], v[6], v[7], v[8]);
	}
	return rc || !p->ncosts ? rc
				: sql_run(s, err, "INSERT INTO packed (run, costs) VALUES (?, ?)",
					  "it", run, packed.buf);
}

/*
 * The cost of each function, by event and context. Each cost climbs its chain once, and a function
 * that occurs in the chain several times counts once.
 */

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
		array_add(f->rows, f->n, f->cap,
			  (struct function_row){
				  .event = c->event, .symbol = symbol, .context = c->context});
		*id = f->n;
	}
	return &f->rows[*id - 1];
}

/* seen[symbol] is the last cost with the symbol in its chain, counted from 1. */
static void function_rows_add_cost(struct function_rows *f, const struct profile *p, size_t cost,
				   size_t *seen)
{
	const struct profile_cost *c = &p->costs[cost];
	struct function_row *row = function_row_find(f, c, p->frames[c->frame].symbol);

	row->samples += c->samples;
	row->self += c->weight;
	for (uint32_t frame = c->frame; frame != PROFILE_NONE; frame = p->frames[frame].parent) {
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

static int functions_write(struct store *s, int64_t run, const struct profile *p,
			   const int64_t *events, const uint32_t *symbols, struct error *err)
{
	autofree size_t *seen = xcalloc(p->nsymbols + 1, sizeof(*seen));
	struct function_rows f = {0};
	int rc = 0;

	for (size_t i = 0; i < p->ncosts; i++)
		function_rows_add_cost(&f, p, i, seen);
	for (size_t i = 0; i < f.n && !rc; i++)
		rc = function_row_write(s, run, &f.rows[i], events, symbols, err);
	free(f.rows);
	map_free(&f.ids);
	return rc;
}

/* Samples by instruction, and the code of the functions that have them. */

static int spot_write(struct store *s, int64_t run, const struct profile *p,
		      const struct profile_spot *spot, const int64_t *events,
		      const uint32_t *symbols, struct error *err)
{
	return sql_run(s, err,
		       "INSERT INTO spot (run, event, symbol, offset, line, samples, weight) "
		       "VALUES (?, ?, ?, ?, ?, ?, ?)",
		       "iiiisii", run, events[spot->event], (int64_t)symbols[spot->symbol] + 1,
		       (int64_t)spot->offset, profile_string(p, spot->line), (int64_t)spot->samples,
		       (int64_t)spot->weight);
}

/* If another run stored the code of the symbol, that code stays: it is from the same object. */
static int code_write(struct store *s, const struct profile *p, const struct profile_code *c,
		      const uint32_t *symbols, struct error *err)
{
	autofree char *hex = xmalloc(2 * c->size + 1);

	for (size_t i = 0; i < c->size; i++) {
		hex[2 * i] = "0123456789abcdef"[c->bytes[i] >> 4];
		hex[2 * i + 1] = "0123456789abcdef"[c->bytes[i] & 15];
	}
	hex[2 * c->size] = '\0';
	return sql_run(s, err,
		       "INSERT OR IGNORE INTO code (symbol, arch, at, bytes) VALUES (?, ?, ?, ?)",
		       "isit", (int64_t)symbols[c->symbol] + 1, profile_string(p, p->arch),
		       (int64_t)c->at, hex);
}

static int spots_write(struct store *s, int64_t run, const struct profile *p, const int64_t *events,
		       const uint32_t *symbols, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < p->nspots && !rc; i++)
		rc = spot_write(s, run, p, &p->spots[i], events, symbols, err);
	for (size_t i = 0; i < p->ncodes && !rc; i++)
		rc = code_write(s, p, &p->codes[i], symbols, err);
	return rc;
}

/*
 * Writes the run's functions. The shared frames lead from each symbol of the profile to the symbol
 * in the dictionary.
 */
static int profile_write_functions(struct store *s, int64_t run, const struct profile *p,
				   const int64_t *events, const uint32_t *frames, struct error *err)
{
	autofree uint32_t *symbols = xcalloc(p->nsymbols + 1, sizeof(*symbols));
	int rc;

	for (size_t i = 0; i < p->nframes; i++)
		symbols[p->frames[i].symbol] = s->dictionary->all.frames[frames[i]].symbol;
	rc = functions_write(s, run, p, events, symbols, err);
	return rc ?: spots_write(s, run, p, events, symbols, err);
}

int store_profile_write(struct store *s, int64_t run, const struct profile *p, struct error *err)
{
	autofree uint32_t *frames = xcalloc(p->nframes + 1, sizeof(*frames));
	autofree int64_t *events = xcalloc(p->nevents + 1, sizeof(*events));
	int rc;

	dictionary_of(s)->loaded = true;
	rc = events_write(s, run, p, events, err);
	rc = rc ?: frames_write(s, p, frames, err);
	rc = rc ?: costs_write(s, run, p, events, frames, err);
	for (size_t i = 0; i < p->nown && !rc; i++)
		rc = sql_run(s, err, "INSERT INTO process (run, pid) VALUES (?, ?)", "ii", run,
			     (int64_t)p->own[i]);
	return rc ?: profile_write_functions(s, run, p, events, frames, err);
}

/* --- reading --- */

static int profile_damaged(struct store *s, const char *table, struct error *err)
{
	return sql_damaged(s, err, "table '%s' is damaged", table);
}

static int64_t dso_load(struct store *s, sqlite3_stmt *q)
{
	return profile_dso(&s->dictionary->all, sql_name(s, q, 1), sql_text(s, q, 2),
			   (enum dso_kind)sql_small(s, q, 3));
}

/* A cause that only a later version knows counts as UNRESOLVED_NO_SYMBOLS. */
static int64_t symbol_load(struct store *s, sqlite3_stmt *q)
{
	struct profile *all = &s->dictionary->all;
	const char *name = sql_column(s, q, 1, TEXT_MOST);
	int64_t dso = sql_int(s, q, 2) - 1;
	int cause = sql_small(s, q, 3);

	if (!name || dso < 0 || (size_t)dso >= all->ndsos)
		return -1;
	return profile_symbol(all, (uint32_t)dso, name,
			      cause < 0 || cause >= UNRESOLVED_N ? UNRESOLVED_NO_SYMBOLS
								 : (enum unresolved)cause);
}

static int64_t frame_load(struct store *s, sqlite3_stmt *q)
{
	struct profile *all = &s->dictionary->all;
	int64_t parent = sql_int(s, q, 1), symbol = sql_int(s, q, 2) - 1;

	if (parent < 0 || (size_t)parent > all->nframes || symbol < 0 ||
	    (size_t)symbol >= all->nsymbols)
		return -1;
	return profile_frame(all, parent ? (uint32_t)parent - 1 : PROFILE_NONE, (uint32_t)symbol);
}

static int64_t comm_load(struct store *s, sqlite3_stmt *q)
{
	const char *name = sql_column(s, q, 1, TEXT_MOST);

	return name ? (int64_t)intern_str(&s->dictionary->comms, name) : -1;
}

/* Each function adds a row and returns its index. The ids are 1, 2, 3 ... */
static int dictionary_load(struct store *s, struct error *err)
{
	static const struct {
		const char *table, *sql;
		int64_t (*load)(struct store *s, sqlite3_stmt *q);
	} parts[] = {
		{"dso", "SELECT id, name, build_id, kind FROM dso ORDER BY id", dso_load},
		{"symbol", "SELECT id, name, dso, unresolved FROM symbol ORDER BY id", symbol_load},
		{"frame", "SELECT id, IFNULL(parent, 0), symbol FROM frame ORDER BY id",
		 frame_load},
		{"comm", "SELECT id, name FROM comm ORDER BY id", comm_load},
	};
	struct dictionary *d = dictionary_of(s);
	sqlite3_stmt *q;
	int rc = 0;

	for (size_t i = 0; i < array_size(parts) && !rc && !d->loaded; i++) {
		rc = sql_query(s, &q, err, parts[i].sql, "");
		while (!rc && (rc = sql_next(s, q, err)) > 0)
			rc = parts[i].load(s, q) == sql_int(s, q, 0) - 1
				     ? 0
				     : profile_damaged(s, parts[i].table, err);
	}
	d->loaded |= !rc;
	return rc;
}

static int profile_read_events(struct store *s, int64_t run, struct error *err)
{
	struct dictionary *d = s->dictionary;
	struct profile *p = &d->all;
	sqlite3_stmt *q;
	int rc = sql_query(s, &q, err,
			   "SELECT id, name, is_time, samples, weight, weight2, exact FROM event "
			   "WHERE run = ? ORDER BY id",
			   "i", run);

	p->nevents = 0;
	map_free(&d->events);
	d->first_event = 0;
	if (rc)
		return rc;
	while ((rc = sql_next(s, q, err)) > 0) {
		const char *name = sql_text(s, q, 1);
		uint32_t id = profile_event(p, name ? name : "?", sql_small(s, q, 2));
		struct profile_event *e = &p->events[id];

		e->samples += sql_count(s, q, 3);
		if (e->samples > SAMPLES_MOST)
			return profile_damaged(s, "event", err);
		e->weight += sql_count(s, q, 4);
		e->weight2 += sql_real(s, q, 5);
		e->exact |= sql_small(s, q, 6) != 0;
		d->first_event = d->events.n ? d->first_event : sql_int(s, q, 0);
		*map_at(&d->events, (uint64_t)sql_int(s, q, 0)) = id + 1;
	}
	return rc;
}

static uint32_t comm_string(struct dictionary *d, uint32_t comm)
{
	uint64_t *id = map_at(&d->comm_strings, comm);

	if (!*id)
		*id = 1 + (uint64_t)intern_str(&d->all.strings, intern_get(&d->comms, comm));
	return (uint32_t)*id - 1;
}

/* A row has no more samples than its event, and zcost counts an event's samples one by one. */
static bool cost_is_believable(const struct profile_event *e, int64_t samples, int64_t weight)
{
	return samples >= 0 && (uint64_t)samples <= e->samples && weight >= 0 &&
	       weight <= COUNT_MOST;
}

/* Adds a row as a new cost. The rows of a run have distinct keys, so no two rows share a cost. */
static int cost_add(struct store *s, const int64_t v[COST_COLUMNS], struct error *err)
{
	struct dictionary *d = s->dictionary;
	struct profile *p = &d->all;
	uint64_t *event = map_get(&d->events, (uint64_t)(v[COST_EVENT] + d->first_event));
	int64_t comm = v[COST_COMM], frame = v[COST_FRAME] - 1;

	if (!event || frame < 0 || (size_t)frame >= p->nframes || comm < 0 ||
	    (size_t)comm > d->comms.n || v[COST_CONTEXT] < 0 || v[COST_CONTEXT] >= CTX_N ||
	    !cost_is_believable(&p->events[*event - 1], v[COST_SAMPLES], v[COST_WEIGHT]))
		return profile_damaged(s, "cost", err);
	array_add(p->costs, p->ncosts, p->costs_cap,
		  (struct profile_cost){
			  .event = (uint32_t)*event - 1,
			  .cpu = v[COST_CPU] ? (uint32_t)(v[COST_CPU] - 1) : PROFILE_NONE,
			  .comm = comm ? comm_string(d, (uint32_t)comm - 1) : PROFILE_NONE,
			  .pid = (uint32_t)v[COST_PID],
			  .tid = (uint32_t)v[COST_TID],
			  .context = (enum context)v[COST_CONTEXT],
			  .frame = (uint32_t)frame,
			  .samples = (uint64_t)v[COST_SAMPLES],
			  .weight = (uint64_t)v[COST_WEIGHT],
		  });
	return 0;
}

/* Reads a row of the table cost. All values are whole numbers, and only a CPU or a comm is NULL. */
static int cost_read(struct store *s, sqlite3_stmt *q, struct error *err)
{
	int64_t v[COST_COLUMNS];
	int type;

	for (int i = 0; i < COST_COLUMNS; i++) {
		type = sqlite3_column_type(q, i);
		if (type != SQLITE_INTEGER &&
		    (type != SQLITE_NULL || (i != COST_CPU && i != COST_COMM)))
			return profile_damaged(s, "cost", err);
		v[i] = sqlite3_column_int64(q, i);
		v[i] += i == COST_CPU && type == SQLITE_INTEGER;
	}
	v[COST_EVENT] -= s->dictionary->first_event;
	return cost_add(s, v, err);
}

/*
 * The costs of a run follow each other in the table, so reading the table from the first to the
 * last is faster than a search by the index for each.
 */
static int profile_read_rows(struct store *s, int64_t run, struct error *err)
{
	sqlite3_stmt *q;
	int rc = sql_query(s, &q, err,
			   "SELECT event, cpu, comm, pid, tid, context, frame, samples, weight "
			   "FROM cost WHERE rowid BETWEEN "
			   "(SELECT MIN(rowid) FROM cost WHERE run = ?1) AND "
			   "(SELECT MAX(rowid) FROM cost WHERE run = ?1) AND +run = ?1",
			   "i", run);

	while (!rc && (rc = sql_next(s, q, err)) > 0)
		rc = cost_read(s, q, err);
	return rc;
}

static int costs_unpack(struct store *s, const char *at, struct error *err)
{
	int64_t v[COST_COLUMNS] = {0}, differ;
	int rc = 0;

	while (*at && !rc) {
		differ = packed_next(&at);
		for (int i = 0; i < COST_COLUMNS; i++)
			if (i >= COST_FRAME || differ >> i & 1)
				v[i] = packed_next(&at);
		rc = cost_add(s, v, err);
	}
	return rc;
}

static int profile_read_costs(struct store *s, int64_t run, struct error *err)
{
	sqlite3_stmt *q;
	int rc = sql_query(s, &q, err, "SELECT costs FROM packed WHERE run = ?", "i", run);
	const char *costs;

	s->dictionary->all.ncosts = 0;
	if (rc || (rc = sql_next(s, q, err)) <= 0)
		return rc ? rc : profile_read_rows(s, run, err);
	costs = sql_column(s, q, 0, SIZE_MAX);
	rc = costs ? costs_unpack(s, costs, err) : profile_damaged(s, "packed", err);
	sqlite3_reset(q);
	return rc;
}

static int profile_read_own(struct store *s, int64_t run, struct profile *p, struct error *err)
{
	sqlite3_stmt *q;
	int rc = sql_query(s, &q, err, "SELECT pid FROM process WHERE run = ? ORDER BY pid", "i",
			   run);

	p->nown = 0;
	while (!rc && (rc = sql_next(s, q, err)) > 0) {
		profile_add_own(p, (uint32_t)sql_int(s, q, 0));
		rc = 0;
	}
	return rc;
}

int store_profile(struct store *s, int64_t run, const struct profile **p, struct error *err)
{
	int rc = dictionary_load(s, err);

	rc = rc ?: profile_read_events(s, run, err);
	rc = rc ?: profile_read_costs(s, run, err);
	rc = rc ?: profile_read_own(s, run, &s->dictionary->all, err);
	*p = rc ? NULL : &s->dictionary->all;
	return rc;
}

bool store_has_profile(struct store *s, int64_t run)
{
	return sql_first_text(s, "SELECT 'yes' FROM cost WHERE run = ? LIMIT 1", "i", run);
}

/* --- components --- */

static void leaf_read_row(struct store *s, sqlite3_stmt *q, void *row)
{
	const struct profile *all = &s->dictionary->all;
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

SQL_READER(object_read_row, struct object_row, sql_name(s, q, 0), sql_text(s, q, 1))

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
