// SPDX-License-Identifier: GPL-2.0-only
/* The bootstrap over whole runs, and the generator it draws with. */
#include "lib/stats.h"

#include "lib/alloc.h"

#include <math.h>
#include <stdlib.h>

static uint64_t prng_rotl(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

void prng_seed(struct prng *r, uint64_t seed)
{
	int i;

	for (i = 0; i < 4; i++) {
		uint64_t z = seed += 0x9e3779b97f4a7c15ULL;

		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
		z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
		r->s[i] = z ^ z >> 31;
	}
}

uint64_t prng_next(struct prng *r)
{
	uint64_t out = prng_rotl(r->s[1] * 5, 7) * 9, t = r->s[1] << 17;

	r->s[2] ^= r->s[0];
	r->s[3] ^= r->s[1];
	r->s[1] ^= r->s[2];
	r->s[0] ^= r->s[3];
	r->s[2] ^= t;
	r->s[3] = prng_rotl(r->s[3], 45);
	return out;
}

/* The high half of a wide product; its bias is n / 2^64. */
size_t prng_below(struct prng *r, size_t n)
{
	return (size_t)((unsigned __int128)prng_next(r) * n >> 64);
}

double prng_unit(struct prng *r)
{
	return (double)(prng_next(r) >> 11) * 0x1p-53;
}

static double boot_ratio(double base, double new)
{
	return base != 0 ? new / base : NAN;
}

static double boot_difference(double base, double new)
{
	return new - base;
}

/* The runs that count, how they are combined, and room for one draw of them. */
struct boot_sample {
	enum estimator e;
	const double *x;
	size_t n;
	double *room;
};

static struct boot_sample boot_sample(enum estimator e, const double *x, size_t n)
{
	if (e == EST_MIDDLE)
		return (struct boot_sample){EST_MEAN, x + 1, n >= 3 ? n - 2 : 0, NULL};
	return (struct boot_sample){e, x, n, NULL};
}

static double boot_draw(struct prng *r, const struct boot_sample *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		s->room[i] = s->x[prng_below(r, s->n)];
	return stats_point(s->e, s->room, s->n);
}

static void boot_run_rounds(struct estimate *est, struct boot_sample *base, struct boot_sample *new,
			    double (*combine)(double, double), double level)
{
	double *rounds = xmalloc(STATS_ROUNDS * sizeof(*rounds)), v;
	size_t i, n = 0;
	struct prng r;

	prng_seed(&r, STATS_SEED);
	for (i = 0; i < STATS_ROUNDS; i++) {
		double b = boot_draw(&r, base);

		v = combine(b, boot_draw(&r, new));
		if (!isnan(v))
			rounds[n++] = v;
	}
	est->lo = stats_quantile(rounds, n, (1 - level) / 2);
	est->hi = stats_quantile(rounds, n, (1 + level) / 2);
	est->level = n ? level : NAN;
	free(rounds);
}

static struct estimate boot_estimate(enum estimator e, double (*combine)(double, double),
				     const double *base, size_t nbase, const double *new,
				     size_t nnew, double level)
{
	struct boot_sample a = boot_sample(e, base, nbase), b = boot_sample(e, new, nnew);
	struct estimate est = {NAN, NAN, NAN, NAN, nbase + nnew, a.n + b.n};

	if (!a.n || !b.n)
		return est;
	est.value = combine(stats_point(a.e, a.x, a.n), stats_point(b.e, b.x, b.n));
	if (a.n < 2 || b.n < 2 || isnan(est.value))
		return est;
	a.room = xmalloc(a.n * sizeof(*a.room));
	b.room = xmalloc(b.n * sizeof(*b.room));
	boot_run_rounds(&est, &a, &b, combine, level);
	free(a.room);
	free(b.room);
	return est;
}

struct estimate stats_boot_ratio(enum estimator e, const double *base, size_t nbase,
				 const double *new, size_t nnew, double level)
{
	return boot_estimate(e, boot_ratio, base, nbase, new, nnew, level);
}

struct estimate stats_boot_difference(enum estimator e, const double *base, size_t nbase,
				      const double *new, size_t nnew, double level)
{
	return boot_estimate(e, boot_difference, base, nbase, new, nnew, level);
}
