// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/analysis/analysis.h"

#include "analyze/model/notes.h"
#include "analyze/scope/runs.h"
#include "analyze/scope/work.h"

// clang-format off
/* THE TABLE of metrics of work. Rates, because the windows of two sides may differ in length. */
static const struct {
	const char *name, *unit;
} rates_of[] = {
	{"rate_kib", "KiB/s"},
#define RATE_OF_UNIT(id, unit, units) {"rate_" units, "1/s"},
	WORK_UNITS(RATE_OF_UNIT)
	{"throughput", "Gbit/s"},
};

// clang-format on

enum { RATES = array_size(rates_of), THROUGHPUT = RATES - 1 };

/* NAN: not counted. Then a sum is not counted either, and store_metric_put() stores no row. */
struct run_rates {
	double rate[RATES];
};

static bool rates_any(const struct run_rates *r)
{
	int c;

	for (c = 0; c < RATES && isnan(r->rate[c]); c++)
		;
	return c < RATES;
}

/* The sides of one run, and those whose counts are added up. */
struct group {
	struct store *s;
	const struct run *side;
	size_t n;
	const struct work_side **of; /* what the plan says of each side */
	struct run_rates *rates;     /* as each side counted them itself */
	bool *source;
};

static void group_read_rates(struct group *g)
{
	for (size_t i = 0; i < g->n; i++)
		for (int r = 0; r < RATES; r++)
			if (!store_metric(g->s, g->side[i].id, rates_of[r].name,
					  &g->rates[i].rate[r]))
				g->rates[i].rate[r] = NAN;
}

static void group_find_sides(struct group *g, const struct work_side *sides, size_t nsides)
{
	static const struct work_side counts = {.counts = true};

	for (size_t i = 0; i < g->n; i++) {
		g->of[i] = &counts;
		for (size_t k = 0; k < nsides; k++)
			if (sides[k].run == g->side[i].id)
				g->of[i] = &sides[k];
	}
}

/* Adds the sides that count the work of side i. Returns false if there is no count. */
static bool group_add_sources(struct group *g, size_t i)
{
	const char *work = g->of[i]->work;
	bool any = false;

	for (size_t o = 0; o < g->n; o++) {
		if (work ? o == i || !str_matches_any(work, g->side[o].side) : o != i)
			continue;
		g->source[o] |= work || rates_any(&g->rates[o]);
		any |= rates_any(&g->rates[o]);
	}
	return any;
}

static int group_count_role(const struct group *g, const char *role)
{
	int n = 0;

	for (size_t i = 0; i < g->n; i++)
		n += !strcmp(g->side[i].role, role);
	return n;
}

/* Finds the sides that count the transfer once, as docs/reference/plan.md says under "Work". */
static void group_find_transfer(struct group *g)
{
	static const char *const order[] = {"receiver", "sender", "proxy", NULL};

	for (size_t o = 0; o < array_size(order); o++) {
		bool complete = !order[o] || group_count_role(g, order[o]);

		memset(g->source, 0, g->n * sizeof(*g->source));
		for (size_t i = 0; i < g->n; i++) {
			const struct run *r = &g->side[i];

			if (!order[o] && !strcmp(r->role, r->side))
				group_add_sources(g, i);
			else if (order[o] && !strcmp(r->role, order[o]))
				complete &= group_add_sources(g, i);
		}
		if (complete)
			return;
	}
}

/* Adds up the rates of the sources. A rate that one of them lacks is in no sum. */
static struct run_rates group_sum(const struct group *g)
{
	struct run_rates sum;
	bool first = true;

	for (int c = 0; c < RATES; c++)
		sum.rate[c] = NAN;
	for (size_t i = 0; i < g->n; i++) {
		for (int c = 0; c < RATES && g->source[i]; c++)
			sum.rate[c] = g->rates[i].rate[c] + (first ? 0 : sum.rate[c]);
		first &= !g->source[i];
	}
	return sum;
}

/* Returns "the sides a and b" for the sources. The caller frees the text. */
static char *group_source_names(const struct group *g)
{
	freed(str_free) struct str list = {0};
	int n = 0;

	for (size_t i = 0; i < g->n; i++)
		if (g->source[i])
			str_printf(&list, "%s%s", n++ ? " and " : "", g->side[i].side);
	return xasprintf("the side%s %s", n > 1 ? "s" : "", list.buf ? list.buf : "");
}

static int group_put(const struct group *g, size_t i, const char *name, const char *object,
		     const char *unit, double value, struct error *err)
{
	const struct metric_row m = {{name, object, NO_CPU}, unit, value, NULL};

	return store_metric_put(g->s, g->side[i].id, &m, err);
}

static int group_put_rates(const struct group *g, size_t i, const struct run_rates *sum,
			   struct error *err)
{
	int rc = 0;

	for (int c = 0; c < RATES && !rc; c++)
		rc = !isnan(sum->rate[c])
			     ? group_put(g, i, rates_of[c].name, NULL, rates_of[c].unit,
					 sum->rate[c], err)
			     : store_metric_drop(g->s, g->side[i].id, rates_of[c].name, err);
	return rc;
}

/*
 * Stores the work of side i where other sides count it. *rates receives the rates it has then.
 * Several sides of one role move a part of the transfer each, and the sum is the throughput of
 * none.
 */
static int group_store_work(struct group *g, size_t i, struct run_rates *rates, struct error *err)
{
	const struct work_side *side = g->of[i];
	struct notes notes = {0};
	autofree char *names = NULL;
	int rc;

	*rates = g->rates[i];
	if (!side->work && side->counts)
		return 0;
	memset(g->source, 0, g->n * sizeof(*g->source));
	if (side->work)
		group_add_sources(g, i);
	else
		group_find_transfer(g);
	*rates = group_sum(g);
	names = group_source_names(g);
	if (rates_any(rates) && !side->work && group_count_role(g, g->side[i].role) > 1) {
		rates->rate[THROUGHPUT] = NAN;
		note_add(&notes, work_of_sides, names);
	} else if (rates_any(rates))
		note_add(&notes, work_of_side, names);
	else if (side->work)
		note_add(&notes, work_of_side_missing, side->work);
	rc = notes.n ? group_put_rates(g, i, rates, err) : 0;
	return store_notes_add(g->s, g->side[i].id, &notes, err) ?: rc;
}

/*
 * Returns the side's part of the transfer's work: more than 1 if its count has each byte twice. The
 * only receiver and the only sender moved all of it, although datagrams may be lost between them.
 */
static double group_part(const struct group *g, size_t i, const struct run_rates *rates,
			 const struct run_rates *transfer)
{
	const char *role = g->side[i].role;

	if ((!strcmp(role, "receiver") || !strcmp(role, "sender")) &&
	    group_count_role(g, role) == 1)
		return 1;
	for (int c = 0; c < RATES; c++)
		if (!isnan(rates->rate[c]) && transfer->rate[c] > 0)
			return rates->rate[c] / transfer->rate[c];
	return NAN;
}

/* Stores the rates of the transfer, and the part of side i, which has these rates. */
static int group_store_transfer(struct group *g, size_t i, const struct run_rates *rates,
				struct error *err)
{
	struct run_rates transfer;
	int rc = group_put(g, i, "transfer_sides", NULL, "1", (double)g->n, err);

	group_find_transfer(g);
	transfer = group_sum(g);
	for (int c = 0; c < RATES && !rc; c++)
		rc = group_put(g, i, "transfer", rates_of[c].name, rates_of[c].unit,
			       transfer.rate[c], err);
	return rc ? rc
		  : group_put(g, i, "transfer_part", NULL, "1", group_part(g, i, rates, &transfer),
			      err);
}

static int group_store(struct group *g, const struct work_side *sides, size_t nsides,
		       struct error *err)
{
	/* One receiver and one sender need no rates apart from those of the sides. */
	bool plain = g->n < 2 || (g->n == 2 && strcmp(g->side[0].role, g->side[1].role));
	struct run_rates rates;
	int rc = 0;

	g->of = xcalloc(g->n, sizeof(struct work_side *));
	g->rates = xcalloc(g->n, sizeof(*g->rates));
	g->source = xcalloc(g->n, sizeof(*g->source));
	group_read_rates(g);
	group_find_sides(g, sides, nsides);
	for (size_t i = 0; i < g->n && !rc; i++) {
		if (strcmp(g->side[i].status, "ok") != 0)
			continue; /* it counted nothing, and so a sum with it is not known */
		rc = group_store_work(g, i, &rates, err);
		if (!rc && !plain)
			rc = group_store_transfer(g, i, &rates, err);
	}
	free(g->of);
	free(g->rates);
	free(g->source);
	return rc;
}

/* The sides of a run follow each other. */
int work_share_store(struct store *s, const struct run *runs, int n, const struct work_side *sides,
		     size_t nsides, struct error *err)
{
	int rc = 0;

	for (int i = 0; i < n && !rc;) {
		struct group g = {.s = s, .side = &runs[i]};

		while (i < n && run_is_of(&runs[i], g.side))
			i++;
		g.n = (size_t)(&runs[i] - g.side);
		rc = group_store(&g, sides, nsides, err);
	}
	return rc;
}
