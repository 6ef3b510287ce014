// SPDX-License-Identifier: GPL-2.0-only
/*
 * intervals CAPTURE [RUNS [DRAWS]]
 *
 * How often the intervals of a capture hold the truth. CAPTURE has many runs of each variant. Each
 * draw takes RUNS of them, and their intervals should hold the figures of all other runs, which are
 * nearly the truth. The other runs have an error too, so each interval is made wider by
 * sqrt(1 + RUNS / other runs). A difference is that of two separate draws, and should hold 0.
 *
 * "+-" is 1.96 x the standard error of a rate over captures: another capture has other runs. It is
 * the infinitesimal jackknife of draws without replacement (Wager, Hastie and Efron 2014, Journal
 * of Machine Learning Research 15), less what it has from the limited number of draws.
 */
#include "analyze/costs/components.h"
#include "analyze/costs/costs.h"
#include "lib/alloc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hits {
	unsigned held, of;
};
enum { SHARE, COST, DIFFERENCE, KINDS };

struct row_hits {
	struct hits kind[KINDS];
};

/* What each draw holds, and the order of its runs. */
struct draws {
	size_t runs, of;
	unsigned n;
	size_t *index; /* n x of */
	struct row_hits *by_draw;
};

static int fail(const struct error *err)
{
	fprintf(stderr, "intervals: %s\n", err->text);
	return 1;
}

/* Puts the first n of `of` indexes in random order. */
static void draw(struct prng *r, size_t *index, size_t n, size_t of)
{
	size_t k, swap;

	for (size_t i = 0; i < of; i++)
		index[i] = i;
	for (size_t i = 0; i < n; i++) {
		k = i + prng_below(r, of - i);
		swap = index[i];
		index[i] = index[k];
		index[k] = swap;
	}
}

/* --- a part of the runs --- */

struct part {
	struct cost_part p;
	const size_t *index;
	double *self;
};

static void part_init(struct part *part, const struct cost_part *all, enum estimator est,
		      const size_t *index, size_t n)
{
	struct tally *f = &part->p.tally;
	double share;
	size_t i;

	*part = (struct part){.p = *all, .index = index, .self = xcalloc(n + 1, sizeof(double))};
	f->nruns = part->p.nruns = (int)n;
	f->run_weight = xcalloc(n + 1, sizeof(double));
	part->p.measured.ns = xcalloc(n + 1, sizeof(double));
	part->p.measured.n = n;
	for (f->weight = 0, i = 0; i < n; i++) {
		f->run_weight[i] = all->tally.run_weight[index[i]];
		f->weight += f->run_weight[i];
		part->p.measured.ns[i] = all->measured.ns[index[i]];
	}
	share = f->weight / all->tally.weight;
	f->n_eff *= share;
	part->p.basis.ns = stats_point(est, part->p.measured.ns, n);
	part->p.measured.error = stats_error_of(est, part->p.measured.ns, n);
}

static void part_free(struct part *part)
{
	free(part->self);
	free(part->p.tally.run_weight);
	free(part->p.measured.ns);
}

static struct cost part_cost(struct part *part, const struct tally_row *of)
{
	struct tally_row row = {.run_self = part->self};

	for (int i = 0; i < part->p.nruns; i++) {
		part->self[i] = of->run_self[part->index[i]];
		row.self += part->self[i];
	}
	return cost_self(&part->p, &row);
}

/* --- draws --- */

static void count(struct row_hits *row, struct row_hits *draw, int kind, double error, double half)
{
	row->kind[kind].of += !isnan(half);
	row->kind[kind].held += fabs(error) <= half;
	draw->kind[kind].of += !isnan(half);
	draw->kind[kind].held += fabs(error) <= half;
}

static void count_draw(const struct cost_part *all, enum estimator est, const size_t *index,
		       size_t runs, size_t of, struct row_hits *hits, struct row_hits *draw)
{
	double wider = sqrt(1 + (double)runs / (double)(of - runs));
	struct part drawn, second, others;

	part_init(&drawn, all, est, index, runs);
	part_init(&second, all, est, index + runs, runs);
	part_init(&others, all, est, index + runs, of - runs);
	for (size_t row = 0; row < all->tally.n; row++) {
		struct cost a = part_cost(&drawn, &all->tally.rows[row]);
		struct cost b = part_cost(&second, &all->tally.rows[row]);
		struct cost truth = part_cost(&others, &all->tally.rows[row]);

		count(&hits[row], draw, SHARE, a.share - truth.share, a.share_ci * wider);
		count(&hits[row], draw, COST, a.ns - truth.ns, a.ns_ci * wider);
		count(&hits[row], draw, DIFFERENCE, a.ns - b.ns,
		      stats_error_half(stats_error_add(a.error, b.error), 0.95));
	}
	part_free(&drawn);
	part_free(&second);
	part_free(&others);
}

static double hits_rate(struct hits h)
{
	return 100.0 * h.held / h.of;
}

/*
 * Returns 1.96 x the standard error of the rate in percent. A difference uses the runs of two
 * draws.
 */
static double draws_error(const struct draws *d, struct hits all, int kind)
{
	size_t used = kind == DIFFERENCE ? 2 * d->runs : d->runs;
	double p = (double)used / (double)d->of, n = (double)d->of, rate = hits_rate(all);
	double *sum = xcalloc(d->of, sizeof(*sum)), squares = 0, var = 0, e;
	const struct hits *h;

	for (size_t i = 0; i < d->n; i++) {
		h = &d->by_draw[i].kind[kind];
		e = (100.0 * h->held - rate * h->of) / all.of;
		squares += e * e;
		for (size_t k = 0; k < d->of; k++)
			sum[d->index[i * d->of + k]] += ((k < used) - p) * e;
	}
	for (size_t k = 0; k < d->of; k++)
		var += sum[k] * sum[k] - p * (1 - p) * squares;
	free(sum);
	return STATS_Z95 * sqrt(fmax(0, var * (n - 1) / n)) / (1 - p);
}

/* Prints the rate of all rows, and the worst row among those with an interval in most draws. */
static void print_kind(const char *what, const struct tally *rows, const struct row_hits *hits,
		       int kind, const struct draws *draws)
{
	struct hits sum = {0, 0}, h, worst = {1, 1};
	const char *name = "-";
	unsigned shown = 0;

	for (size_t i = 0; i < rows->n; i++) {
		h = hits[i].kind[kind];
		sum.held += h.held;
		sum.of += h.of;
		shown += h.of > 0;
		if (h.of > draws->n / 2 && hits_rate(h) < hits_rate(worst)) {
			worst = h;
			name = rows->rows[i].key[0];
		}
	}
	printf("  %-26s %5.1f +- %.1f %% of %u intervals of %u rows; worst row %.0f %%: %s\n", what,
	       hits_rate(sum), draws_error(draws, sum, kind), sum.of, shown, hits_rate(worst),
	       name);
}

static void cover(const struct cost_part *all, enum estimator est, const char *what, size_t runs,
		  unsigned n)
{
	static const char *const kinds[KINDS] = {"shares of", "costs of", "differences of"};
	struct draws d = {.runs = runs, .of = all->measured.n};
	struct row_hits *hits = xcalloc(all->tally.n + 1, sizeof(*hits));
	char name[64];
	struct prng r;

	d.of = (size_t)all->nruns < d.of ? (size_t)all->nruns : d.of;
	d.index = xcalloc(n * d.of + 1, sizeof(*d.index));
	d.by_draw = xcalloc(n + 1, sizeof(*d.by_draw));
	prng_seed(&r, STATS_SEED);
	for (; d.n < n && d.of >= 2 * runs; d.n++) {
		draw(&r, d.index + d.n * d.of, d.of, d.of);
		count_draw(all, est, d.index + d.n * d.of, runs, d.of, hits, &d.by_draw[d.n]);
	}
	for (int kind = 0; kind < KINDS; kind++) {
		snprintf(name, sizeof(name), "%s %s", kinds[kind], what);
		print_kind(name, &all->tally, hits, kind, &d);
	}
	free(d.index);
	free(d.by_draw);
	free(hits);
}

static int cover_block(struct store *s, const struct block *b, size_t runs, unsigned draws,
		       struct error *err)
{
	static const struct {
		const char *what;
		enum tally_key key;
	} lists[] = {{"components", BY_COMPONENT}, {"functions", BY_SYMBOL}};
	struct tally_spec spec = {.nkeys = 1, .merge_unresolved = true};
	struct components *components;
	struct query q = {0};
	struct cost_part part;
	enum estimator est;
	int rc = scope_estimator(s, &q, &est, err);

	if (!rc)
		rc = components_read(&components, NULL, NULL, err);
	if (rc)
		return rc;
	spec.components = components;
	for (size_t i = 0; i < array_size(lists) && !rc; i++) {
		spec.keys[0] = lists[i].key;
		rc = cost_part_read(s, &q, b, &spec, &part, err);
		if (!rc)
			cover(&part, est, lists[i].what, runs, draws);
		cost_part_free(&part);
	}
	components_free(components);
	return rc;
}

int main(int argc, char **argv)
{
	size_t runs = argc > 2 ? (size_t)atoi(argv[2]) : 6;
	unsigned draws = argc > 3 ? (unsigned)atoi(argv[3]) : 1000;
	const struct query any = {0};
	struct error err = {0};
	struct block *blocks;
	struct store *s;
	int n, rc;

	if (argc < 2 || runs < 2) {
		fprintf(stderr, "usage: intervals CAPTURE [RUNS [DRAWS]]\n");
		return 2;
	}
	rc = store_open(&s, argv[1], &err);
	if (rc)
		return fail(&err);
	n = scope_blocks(s, &any, &blocks, &err);
	rc = n < 0 ? n : 0;
	for (int i = 0; i < n && !rc; i++) {
		printf("%s %s: %u draws of %zu runs, seed %#llx\n", blocks[i].variant,
		       blocks[i].side, draws, runs, (unsigned long long)STATS_SEED);
		rc = cover_block(s, &blocks[i], runs, draws, &err);
	}
	free(blocks);
	rc = store_close(s, rc, &err);
	return rc ? fail(&err) : 0;
}
