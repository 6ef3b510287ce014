// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/analysis/analysis.h"

#include "analyze/model/notes.h"
#include "analyze/scope/work.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

enum { RATES = array_size(rates_of) };

struct run_rates {
	double rate[RATES];
	bool has[RATES], any;
};

struct sharing {
	struct store *s;
	const struct work_side *sides;
	size_t nsides;
	const struct run *runs;
	struct run_rates *rates; /* of each run, as its own side counted them */
	int n;
};

static void sharing_read_rates(struct sharing *k)
{
	int i, r;

	for (i = 0; i < k->n; i++)
		for (r = 0; r < RATES; r++) {
			struct run_rates *of = &k->rates[i];

			of->has[r] =
				store_metric(k->s, k->runs[i].id, rates_of[r].name, &of->rate[r]);
			of->any |= of->has[r];
		}
}

static const struct work_side *sharing_side(const struct sharing *k, const struct run *r)
{
	static const struct work_side counts = {.counts = true};
	size_t i;

	for (i = 0; i < k->nsides; i++)
		if (k->sides[i].run == r->id)
			return &k->sides[i];
	return &counts;
}

/* The sides of one run, and those whose counts are added up. */
struct group {
	int *run; /* indexes */
	bool *source;
	int n;
};

static struct group group_read(const struct sharing *k, const struct run *r)
{
	struct group g = {.run = xcalloc((size_t)k->n, sizeof(*g.run)),
			  .source = xcalloc((size_t)k->n, sizeof(*g.source))};
	int i;

	for (i = 0; i < k->n; i++)
		if (k->runs[i].repeat == r->repeat && !strcmp(k->runs[i].variant, r->variant) &&
		    !strcmp(k->runs[i].pass, r->pass))
			g.run[g.n++] = i;
	return g;
}

static void group_free(struct group *g)
{
	free(g->run);
	free(g->source);
}

static const struct run *group_run(const struct sharing *k, const struct group *g, int i)
{
	return &k->runs[g->run[i]];
}

static bool sharing_names_side(const char *work, const char *side)
{
	size_t len = strlen(side);
	const char *p;

	for (p = strstr(work, side); p; p = strstr(p + len, side))
		if ((p == work || strchr(" \t\n", p[-1])) && (!p[len] || strchr(" \t\n", p[len])))
			return true;
	return false;
}

/* Adds the sides that count the work of side i. Returns false if there is no count. */
static bool group_add_sources(const struct sharing *k, struct group *g, int i)
{
	const struct run *r = group_run(k, g, i);
	const char *work = sharing_side(k, r)->work;
	bool any = false;
	int o;

	for (o = 0; o < g->n; o++) {
		if (work ? o == i || !sharing_names_side(work, group_run(k, g, o)->side) : o != i)
			continue;
		g->source[o] |= work || k->rates[g->run[o]].any;
		any |= k->rates[g->run[o]].any;
	}
	return any;
}

static int group_count_role(const struct sharing *k, const struct group *g, const char *role)
{
	int i, n = 0;

	for (i = 0; i < g->n; i++)
		n += !strcmp(group_run(k, g, i)->role, role);
	return n;
}

/* Finds the sides that count the transfer once, as docs/reference/plan.md says under "Work". */
static void group_find_transfer(const struct sharing *k, struct group *g)
{
	static const char *const order[] = {"receiver", "sender", "proxy", NULL};
	size_t o;
	int i;

	for (o = 0; o < array_size(order); o++) {
		bool complete = !order[o] || group_count_role(k, g, order[o]);

		memset(g->source, 0, (size_t)g->n * sizeof(*g->source));
		for (i = 0; i < g->n; i++) {
			const struct run *r = group_run(k, g, i);

			if (!order[o] && !strcmp(r->role, r->side))
				group_add_sources(k, g, i);
			else if (order[o] && !strcmp(r->role, order[o]))
				complete &= group_add_sources(k, g, i);
		}
		if (complete)
			return;
	}
}

/* Adds up the rates of the sources. A rate that one of them lacks is in no sum. */
static struct run_rates group_sum(const struct sharing *k, const struct group *g, struct str *names)
{
	struct run_rates sum = {0};
	struct str list = {0};
	int i, c, n = 0;

	for (i = 0; i < g->n; i++) {
		const struct run_rates *of = &k->rates[g->run[i]];

		if (!g->source[i])
			continue;
		for (c = 0; c < RATES; c++) {
			sum.has[c] = of->has[c] && (!n || sum.has[c]);
			sum.rate[c] += of->rate[c];
		}
		str_printf(&list, "%s%s", n++ ? " and " : "", group_run(k, g, i)->side);
	}
	str_printf(names, "the side%s %s", n > 1 ? "s" : "", list.buf ? list.buf : "");
	str_free(&list);
	for (c = 0; c < RATES; c++)
		sum.any |= sum.has[c];
	return sum;
}

static int sharing_put(const struct sharing *k, const struct run *r, const char *name,
		       const char *object, const char *unit, double value, struct error *err)
{
	const struct metric_row m = {{name, object, NO_CPU}, unit, value, NULL};

	return store_metric_put(k->s, r->id, &m, err);
}

static int sharing_put_rates(const struct sharing *k, const struct run *r,
			     const struct run_rates *sum, struct error *err)
{
	int c, rc = 0;

	for (c = 0; c < RATES && !rc; c++)
		rc = sum->has[c] ? sharing_put(k, r, rates_of[c].name, NULL, rates_of[c].unit,
					       sum->rate[c], err)
				 : store_metric_drop(k->s, r->id, rates_of[c].name, err);
	return rc;
}

/* Several sides of one role move a part of the transfer each, and the sum is the rate of none. */
static void sharing_drop_throughput(struct run_rates *rates)
{
	int c;

	for (c = 0; c < RATES; c++)
		if (!strcmp(rates_of[c].name, "throughput"))
			rates->has[c] = false;
}

/* Stores the work of side i where other sides count it. *rates receives the rates it has then. */
static int sharing_store_work(const struct sharing *k, struct group *g, int i,
			      struct run_rates *rates, struct error *err)
{
	const struct run *r = group_run(k, g, i);
	const struct work_side *side = sharing_side(k, r);
	struct notes notes = {0};
	struct str names = {0};
	int rc = 0;

	*rates = k->rates[g->run[i]];
	if (!side->work && side->counts)
		return 0;
	memset(g->source, 0, (size_t)g->n * sizeof(*g->source));
	if (side->work)
		group_add_sources(k, g, i);
	else
		group_find_transfer(k, g);
	*rates = group_sum(k, g, &names);
	if (rates->any && !side->work && group_count_role(k, g, r->role) > 1) {
		sharing_drop_throughput(rates);
		note_add(&notes, work_of_sides, names.buf);
	} else if (rates->any)
		note_add(&notes, work_of_side, names.buf);
	else if (side->work)
		note_add(&notes, work_of_side_missing, side->work);
	if (notes.n)
		rc = sharing_put_rates(k, r, rates, err);
	if (notes.n && !rc)
		rc = store_note_add(k->s, r->id, &notes.note[0], err);
	notes_free(&notes);
	str_free(&names);
	return rc;
}

/*
 * Returns the side's part of the transfer's work: more than 1 if its count has each byte twice. The
 * only receiver and the only sender moved all of it, although datagrams may be lost between them.
 */
static double sharing_part(const struct sharing *k, const struct group *g, int i,
			   const struct run_rates *rates, const struct run_rates *transfer)
{
	const char *role = group_run(k, g, i)->role;
	int c;

	if ((!strcmp(role, "receiver") || !strcmp(role, "sender")) &&
	    group_count_role(k, g, role) == 1)
		return 1;
	for (c = 0; c < RATES; c++)
		if (rates->has[c] && transfer->has[c] && transfer->rate[c] > 0)
			return rates->rate[c] / transfer->rate[c];
	return NAN;
}

/* Stores the rates of the transfer, and the side's part of it. */
static int sharing_store_transfer(const struct sharing *k, const struct group *g, int i,
				  const struct run_rates *rates, const struct run_rates *transfer,
				  struct error *err)
{
	const struct run *r = group_run(k, g, i);
	double part = sharing_part(k, g, i, rates, transfer);
	int c, rc = sharing_put(k, r, "transfer_sides", NULL, "1", g->n, err);

	for (c = 0; c < RATES && !rc; c++)
		if (transfer->has[c])
			rc = sharing_put(k, r, "transfer", rates_of[c].name, rates_of[c].unit,
					 transfer->rate[c], err);
	if (!rc && !isnan(part))
		rc = sharing_put(k, r, "transfer_part", NULL, "1", part, err);
	return rc;
}

/* A transfer of one receiver and one sender needs no rates apart from those of its sides. */
static bool group_is_plain(const struct sharing *k, const struct group *g)
{
	return g->n < 2 ||
	       (g->n == 2 && strcmp(group_run(k, g, 0)->role, group_run(k, g, 1)->role));
}

static int sharing_store_one(const struct sharing *k, int at, struct error *err)
{
	struct group g = group_read(k, &k->runs[at]);
	struct run_rates rates, transfer;
	struct str ignored = {0};
	int i = 0, rc;

	while (g.run[i] != at)
		i++;
	rc = sharing_store_work(k, &g, i, &rates, err);
	if (!rc && !group_is_plain(k, &g)) {
		group_find_transfer(k, &g);
		transfer = group_sum(k, &g, &ignored);
		rc = sharing_store_transfer(k, &g, i, &rates, &transfer, err);
	}
	str_free(&ignored);
	group_free(&g);
	return rc;
}

int work_share_store(struct store *s, const struct work_side *sides, size_t nsides,
		     struct error *err)
{
	struct run_filter all = {0};
	struct run *runs;
	int n = store_runs(s, &all, &runs, err), i, rc = n < 0 ? n : store_begin(s, err);
	struct sharing k = {
		.s = s, .sides = sides, .nsides = nsides, .runs = runs, .n = n < 0 ? 0 : n};

	k.rates = xcalloc((size_t)k.n + 1, sizeof(*k.rates));
	sharing_read_rates(&k);
	for (i = 0; i < k.n && !rc; i++)
		rc = sharing_store_one(&k, i, err);
	free(k.rates);
	if (n >= 0)
		free(runs);
	return rc ? rc : store_commit(s, err);
}
