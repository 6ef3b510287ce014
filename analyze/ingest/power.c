// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/ingest/power.h"

#include "analyze/ingest/tsv.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_time(const void *a, const void *b)
{
	uint64_t x = ((const struct reading *)a)->t_ns, y = ((const struct reading *)b)->t_ns;

	return x < y ? -1 : x > y;
}

void readings_sort(struct reading *r, size_t n)
{
	qsort(r, n, sizeof(*r), by_time);
}

static double at(const struct reading *a, const struct reading *b, uint64_t t)
{
	if (b->t_ns == a->t_ns)
		return b->v;
	return a->v + (b->v - a->v) * ((double)(t - a->t_ns) / (double)(b->t_ns - a->t_ns));
}

double readings_integrate(const struct reading *r, size_t n, uint64_t from, uint64_t to)
{
	double joules = 0;
	size_t i;

	for (i = 1; i < n; i++) {
		uint64_t lo = r[i - 1].t_ns > from ? r[i - 1].t_ns : from;
		uint64_t hi = r[i].t_ns < to ? r[i].t_ns : to;

		if (hi > lo)
			joules += (at(&r[i - 1], &r[i], lo) + at(&r[i - 1], &r[i], hi)) / 2 *
				  ((double)(hi - lo) / 1e9);
	}
	return joules;
}

static double value_at(const struct reading *r, size_t n, uint64_t t)
{
	size_t i = 1;

	while (i < n - 1 && r[i].t_ns < t)
		i++;
	return at(&r[i - 1], &r[i], t);
}

double readings_difference(const struct reading *r, size_t n, uint64_t from, uint64_t to)
{
	return n < 2 ? NAN : value_at(r, n, to) - value_at(r, n, from);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double readings_gap(const struct reading *r, size_t n, uint64_t from, uint64_t to)
{
	double *step = xcalloc(n + 1, sizeof(*step)), longest = 0, median;
	size_t i;

	for (i = 1; i < n; i++) {
		step[i - 1] = (double)(r[i].t_ns - r[i - 1].t_ns) / 1e9;
		if (r[i].t_ns > from && r[i - 1].t_ns < to && step[i - 1] > longest)
			longest = step[i - 1];
	}
	qsort(step, n ? n - 1 : 0, sizeof(*step), by_size);
	median = n > 1 ? step[(n - 1) / 2] : 0;
	free(step);
	return longest > 3 * median ? longest : 0;
}

double readings_power(struct ingest *in, const char *what, const struct reading *r, size_t n,
		      bool energy)
{
	uint64_t from, to;
	double seconds, gap;

	if (n < 2) {
		ingest_note(in, "lossy", "%s: %zu readings; two are needed", what, n);
		return NAN;
	}
	from = r[0].t_ns;
	to = r[n - 1].t_ns;
	seconds = ingest_cover(in, what, &from, &to);
	if (!(seconds > 0))
		return NAN;
	gap = readings_gap(r, n, from, to);
	if (gap > 0)
		ingest_note(in, "lossy",
			    "%s: no reading for %.2f s; a straight line was drawn over the gap",
			    what, gap);
	return (energy ? readings_difference(r, n, from, to) : readings_integrate(r, n, from, to)) /
	       seconds;
}

/* --- power.tsv --- */

struct domain {
	const char *source, *name;
	bool energy;
	struct reading *r;
	size_t n, cap;
};

struct domains {
	struct domain *d;
	size_t n, cap;
};

static struct domain *domain_of(struct domains *list, const char *source, const char *name)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (!strcmp(list->d[i].source, source) && !strcmp(list->d[i].name, name))
			return &list->d[i];
	array_grow(list->d, list->n, list->cap);
	list->d[list->n] = (struct domain){.source = source, .name = name};
	return &list->d[list->n++];
}

static size_t read_rows(const struct tsv *t, struct domains *list)
{
	int source = tsv_column(t, "source"), domain = tsv_column(t, "domain"),
	    t_ns = tsv_column(t, "t_ns"), uj = tsv_column(t, "microjoules"),
	    watts = tsv_column(t, "watts");
	size_t row, bad = t->short_rows;

	for (row = 0; row < t->rows; row++) {
		struct reading r;
		struct domain *d;
		double v;
		bool energy = parse_real(tsv_cell(t, row, uj), &v);

		if ((!energy && !parse_real(tsv_cell(t, row, watts), &v)) ||
		    !parse_u64(tsv_cell(t, row, t_ns), &r.t_ns)) {
			bad++;
			continue;
		}
		r.v = energy ? v / 1e6 : v;
		d = domain_of(list, tsv_cell(t, row, source), tsv_cell(t, row, domain));
		d->energy = energy;
		array_grow(d->r, d->n, d->cap);
		d->r[d->n++] = r;
	}
	return bad;
}

static const char *leaf(const char *domain)
{
	const char *slash = strrchr(domain, '/');

	return slash ? slash + 1 : domain;
}

/*
 * Which domains make up the machine: the platform's where there is one; else everything of the
 * first source but the domains that lie inside a package (core, uncore).
 */
static bool counts(const struct domains *list, const struct domain *d)
{
	bool platform = false;
	size_t i;

	for (i = 0; i < list->n; i++)
		platform |= str_starts(leaf(list->d[i].name), "psys");
	if (platform)
		return str_starts(leaf(d->name), "psys");
	if (strcmp(d->source, list->d[0].source))
		return false;
	return !str_starts(leaf(d->name), "core") && !str_starts(leaf(d->name), "uncore");
}

static void put_power(struct ingest *in, const struct domains *list)
{
	double watts, total = 0;
	struct str used = {0};
	size_t i;

	for (i = 0; i < list->n; i++) {
		struct domain *d = &list->d[i];
		char *what = xasprintf("power of %s %s", d->source, d->name);
		char *metric = xasprintf("power_w:%s", d->name);

		readings_sort(d->r, d->n);
		watts = readings_power(in, what, d->r, d->n, d->energy);
		ingest_metric(in, metric, "W", watts, NULL);
		if (counts(list, d)) {
			total += watts; /* NAN where one is missing: then the sum is missing */
			str_printf(&used, "%s%s", used.len ? " + " : "", d->name);
		}
		free(what);
		free(metric);
	}
	if (used.len && isfinite(total)) {
		ingest_metric(in, "power_w", "W", total, NULL);
		ingest_metric(in, "energy_j", "J",
			      total * (double)(in->run.end_ns - in->run.start_ns) / 1e9, NULL);
		ingest_note(in, "note", "power: %s of %s", used.buf, list->d[0].source);
	}
	str_free(&used);
}

int ingest_power(struct ingest *in, const char *path, struct error *err)
{
	struct domains list = {0};
	size_t bad, i;
	struct tsv t;
	int rc = tsv_read(&t, path, '\t', err);

	if (rc)
		return rc;
	rc = tsv_require(&t, err, "source", "domain", "t_ns", "microjoules", "watts", NULL);
	if (!rc) {
		bad = read_rows(&t, &list);
		if (bad)
			ingest_note(in, "lossy", "power: %zu rows of power.tsv are not readable",
				    bad);
		put_power(in, &list);
	}
	for (i = 0; i < list.n; i++)
		free(list.d[i].r);
	free(list.d);
	tsv_free(&t);
	return rc;
}
