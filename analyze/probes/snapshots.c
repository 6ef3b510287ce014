// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/probes/snapshots.h"

#include "lib/file.h"
#include "lib/str.h"

#include <errno.h>

/* Opens a .snap file. A damaged tail is a lossy note; fewer than two snapshots are -ENODATA. */
static int snaps_open(struct ingest *in, const char *what, const char *path, struct snaps *snaps,
		      struct error *err)
{
	struct error damage = {0};
	int rc = snaps_read(snaps, path, &damage);

	if (rc && rc != -EBADMSG) {
		error_set(err, -rc, "%s", damage.text);
	} else {
		if (rc)
			note_add(&in->notes, file_damaged, what, damage.text);
		rc = snaps->n < 2 ? error_set(err, ENODATA, "%s: %zu snapshots; two are needed",
					      path, snaps->n)
				  : 0;
	}
	if (rc)
		snaps_free(snaps);
	return rc;
}

void snaps_close(struct ingest *in, struct snaps *snaps)
{
	if (snaps->failed.code)
		error_set(&in->broken, snaps->failed.code, "%s", snaps->failed.text);
	snaps_free(snaps);
}

/* Drops the snapshots outside the window, but one at each end, which shows the state there. */
static void snaps_cut(struct snaps *s, const struct run *r, bool early)
{
	size_t skip = 0;

	while (early && skip + 2 < s->n && s->snap[skip + 1].mono_ns <= r->start_ns)
		skip++;
	while (skip + 2 < s->n && s->snap[s->n - 2].mono_ns >= r->end_ns)
		s->n--;
	s->n -= skip;
	memmove(s->snap, s->snap + skip, s->n * sizeof(*s->snap));
}

static double snaps_cover(struct ingest *in, const char *what, const struct snaps *snaps)
{
	uint64_t from = snaps->snap[0].mono_ns, to = snaps->snap[snaps->n - 1].mono_ns;

	return ingest_cover(in, what, &from, &to);
}

size_t snap_lines(char *text, bool (*parse)(char *line, void *arg), void *arg)
{
	char *rest = text, *line;
	size_t bad = 0;

	while ((line = str_token(&rest, '\n')))
		bad += *line && !parse(line, arg);
	return bad;
}

int snaps_parse(const struct snap_reader *r, struct ingest *in, const char *path, struct error *err)
{
	struct snaps snaps;
	size_t bad = 0;
	int rc = snaps_open(in, r->what, path, &snaps, err);
	autofree void *sums = NULL;

	if (rc)
		return rc;
	sums = xcalloc(1, r->size);
	snaps_cut(&snaps, &in->run, r->skip_early);
	for (size_t i = 0; i < snaps.n; i++)
		bad += r->reading(in, sums, snaps_text(&snaps, i),
				  i ? snaps.snap[i - 1].mono_ns : 0, snaps.snap[i].mono_ns);
	if (bad)
		note_add(&in->notes, rows_unreadable, r->what, bad, path_base_name(path));
	r->finish(in, sums, r->cover ? snaps_cover(in, r->cover, &snaps) : NAN);
	snaps_close(in, &snaps);
	if (r->release)
		r->release(sums);
	return 0;
}

/* --- counters by name and CPU --- */

void deltas_free(void *deltas)
{
	struct deltas *d = deltas;

	map_free(&d->index);
	arena_free(&d->names);
	free(d->d);
	*d = (struct deltas){0};
}

void deltas_reading(struct deltas *d, const struct ingest *in, uint64_t t_ns)
{
	d->from = d->whole ? 0 : in->run.start_ns;
	d->share = d->t_ns ? span_inside(d->t_ns, t_ns, d->from,
					 d->whole ? UINT64_MAX : in->run.end_ns)
			   : 0;
	d->span_s = d->t_ns && t_ns > d->t_ns ? (double)(t_ns - d->t_ns) / 1e9 : 0;
	d->t_ns = t_ns;
	d->start = t_ns <= d->from ? d->round + 1 : d->start;
	d->round++;
	d->next = 0;
}

static struct delta *deltas_find(struct deltas *d, const char *name, int cpu)
{
	struct delta *c = d->next < d->n ? &d->d[d->next] : NULL;
	uint64_t *at;

	/* Most readings have the same counters in the same order. */
	if (!c || c->cpu != cpu || strcmp(c->name, name) != 0) {
		at = map_at(&d->index, hash_bytes(name, strlen(name), (uint64_t)cpu + 1));
		if (!*at) {
			array_add(d->d, d->n, d->cap,
				  (struct delta){.name = arena_strdup(&d->names, name),
						 .cpu = cpu,
						 .between = d->round > 1 && d->t_ns > d->from});
			*at = d->n;
		}
		c = &d->d[*at - 1];
	}
	d->next = (size_t)(c - d->d) + 1;
	return c;
}

double deltas_put(struct deltas *d, const char *name, int cpu, uint64_t value)
{
	struct delta *c = deltas_find(d, name, cpu);
	bool known = c->round && c->round == d->round - 1;
	uint64_t last = c->last;

	if (c->round == d->round)
		return NAN; /* the first of two values of one name counts */
	c->last = value;
	c->round = d->round;
	if (!known)
		return NAN;
	if (value < last && d->wraps && last - value > 1ULL << 31)
		value += 1ULL << 32;
	c->back |= value < last && d->share > 0;
	if (value < last)
		return NAN;
	c->known_s += d->share * d->span_s;
	c->sum += d->share * (double)(value - last);
	return (double)(value - last);
}

void deltas_restart(struct deltas *d)
{
	d->round++;
	d->t_ns = 0;
}

void deltas_note_resets(struct ingest *in, const struct deltas *d, const char *what)
{
	freed(str_free) struct str s = {0};
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++) {
		if (!d->d[i].back || n++ >= 3)
			continue;
		str_printf(&s, "%s%s", s.len ? ", " : "", d->d[i].name);
		if (d->d[i].cpu != NO_CPU)
			str_printf(&s, " of CPU %d", d->d[i].cpu);
	}
	if (n > 3)
		str_printf(&s, " and %zu more", n - 3);
	if (n)
		note_add(&in->notes, counter_reset, what, s.buf);
}

double deltas_add_metrics(struct ingest *in, struct deltas *d, const char *what, const char *metric)
{
	double *sums = xcalloc(d->n + 1, sizeof(*sums)), *sum, all = NAN;
	freed(intern_free) struct intern names = {0};
	size_t n;

	for (size_t i = 0; i < d->n; i++) {
		const struct delta *c = &d->d[i];

		n = names.n;
		sum = &sums[intern_str(&names, c->name)];
		if (names.n > n)
			*sum = NAN;
		if (!(c->known_s > 0))
			continue;
		if (c->cpu != NO_CPU && c->sum > 0)
			ingest_metric_of(in, metric, c->name, c->cpu, "1", c->sum);
		if (c->cpu == NO_CPU || ingest_has_cpu(in, (unsigned int)c->cpu))
			figure_add(sum, c->sum);
		if (c->cpu != NO_CPU && ingest_has_cpu(in, (unsigned int)c->cpu))
			figure_add(&all, c->sum);
	}
	for (size_t i = 0; i < names.n; i++)
		ingest_metric_of(in, metric, intern_get(&names, (uint32_t)i), NO_CPU, "1", sums[i]);
	free(sums);
	deltas_note_resets(in, d, what);
	return all;
}

/* --- gauges by name --- */

void gauges_free(void *gauges)
{
	struct gauges *s = gauges;

	free(s->gauges);
	intern_free(&s->names);
	*s = (struct gauges){0};
}

void gauges_reading(struct gauges *s, const struct ingest *in, uint64_t before_ns, uint64_t t_ns)
{
	s->from = in->run.start_ns;
	s->to = in->run.end_ns;
	s->t_ns[0] = before_ns;
	s->t_ns[1] = t_ns;
	s->reading++;
}

/* Returns the gauge at time t between the last two readings. */
static double gauge_at(const struct gauges *s, double before, double now, uint64_t t)
{
	double share = (double)(t - s->t_ns[0]) / (double)(s->t_ns[1] - s->t_ns[0]);

	return before + share * (now - before);
}

static void gauge_add_span(const struct gauges *s, struct gauge *g, double now)
{
	uint64_t lo = s->t_ns[0] > s->from ? s->t_ns[0] : s->from;
	uint64_t hi = s->t_ns[1] < s->to ? s->t_ns[1] : s->to;
	double a, b, seconds;

	if (g->reading + 1 != s->reading || hi <= lo)
		return;
	a = gauge_at(s, g->last, now, lo);
	b = gauge_at(s, g->last, now, hi);
	seconds = (double)(hi - lo) / 1e9;
	g->area += (a + b) / 2 * seconds;
	g->seconds += seconds;
	g->most = fmax(g->most, fmax(a, b));
}

const struct gauge *gauges_put(struct gauges *s, const char *name, double value)
{
	uint32_t id = intern_str(&s->names, name);
	struct gauge *g;

	if (id >= s->n)
		array_add(s->gauges, s->n, s->cap, (struct gauge){0});
	g = &s->gauges[id];
	gauge_add_span(s, g, value);
	if (value > 0) {
		g->first_ns = g->first_ns ? g->first_ns : s->t_ns[1];
		g->last_ns = s->t_ns[1];
	}
	g->last = value;
	g->reading = s->reading;
	return g;
}
