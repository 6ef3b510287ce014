// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/analysis/work_share.h"

#include "analyze/model/notes.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <stdlib.h>
#include <string.h>

/* THE TABLE of metrics of work. Rates, because the windows of two sides may differ in length. */
static const struct {
	const char *name, *unit;
} rates[] = {{"rate_kib", "KiB/s"},
	     {"rate_messages", "1/s"},
	     {"rate_packets", "1/s"},
	     {"throughput", "Gbit/s"}};

enum { RATES = array_size(rates) };

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

			of->has[r] = store_metric(k->s, k->runs[i].id, rates[r].name, &of->rate[r],
						  NULL);
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

/* Returns whether `other` is another side of the run that `work` names. NULL names all sides. */
static bool sharing_is_source(const struct run *r, const struct run *other, const char *work)
{
	size_t len = strlen(other->side);
	const char *p = work;

	if (other->repeat != r->repeat || strcmp(other->variant, r->variant) ||
	    strcmp(other->pass, r->pass) || !strcmp(other->side, r->side))
		return false;
	while (p && (p = strstr(p, other->side))) {
		if ((p == work || strchr(" \t\n", p[-1])) && (!p[len] || strchr(" \t\n", p[len])))
			return true;
		p += len;
	}
	return !work;
}

/* Adds up the rates of the sources. A rate that one of them lacks is in no sum. */
static struct run_rates sharing_sum(const struct sharing *k, const struct run *r, const char *work,
				    struct str *names)
{
	struct run_rates sum = {0};
	int i, c;

	for (i = 0; i < k->n; i++) {
		const struct run_rates *of = &k->rates[i];

		if (!sharing_is_source(r, &k->runs[i], work) || (!work && !of->any))
			continue;
		for (c = 0; c < RATES; c++) {
			sum.has[c] = of->has[c] && (!names->len || sum.has[c]);
			sum.rate[c] += of->rate[c];
		}
		str_printf(names, "%s%s", names->len ? " and " : "the side ", k->runs[i].side);
	}
	for (c = 0; c < RATES; c++)
		sum.any |= sum.has[c];
	return sum;
}

static int sharing_put_rates(const struct sharing *k, const struct run *r,
			     const struct run_rates *sum, struct error *err)
{
	int c, rc = 0;

	for (c = 0; c < RATES && !rc; c++)
		rc = sum->has[c] ? store_metric_put(k->s, r->id, rates[c].name, rates[c].unit,
						    sum->rate[c], NULL, err)
				 : store_metric_drop(k->s, r->id, rates[c].name, err);
	return rc;
}

static int sharing_store_one(const struct sharing *k, int at, struct error *err)
{
	const struct run *r = &k->runs[at];
	const struct work_side *side = sharing_side(k, r);
	struct notes notes = {0};
	struct str names = {0};
	struct run_rates sum;
	int rc = 0;

	if (!side->work && side->counts)
		return 0;
	sum = sharing_sum(k, r, side->work, &names);
	if (sum.any)
		note_add(&notes, work_of_side, names.buf);
	else if (side->work)
		note_add(&notes, work_of_side_missing, side->work);
	if (notes.n)
		rc = sharing_put_rates(k, r, &sum, err);
	if (notes.n && !rc)
		rc = store_note_add(k->s, r->id, &notes.note[0], err);
	notes_free(&notes);
	str_free(&names);
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
