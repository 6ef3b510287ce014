// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/probes/snapshots.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int snaps_open(struct ingest *in, const char *what, const char *path, struct snaps *snaps,
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

void snaps_skip_early(struct snaps *s, uint64_t start)
{
	size_t skip = 0;

	while (skip + 2 < s->n && s->snap[skip + 1].mono_ns <= start)
		skip++;
	if (!skip)
		return; /* an empty file has no list at all */
	s->n -= skip;
	memmove(s->snap, s->snap + skip, s->n * sizeof(*s->snap));
}

double snaps_cover(struct ingest *in, const char *what, const struct snaps *snaps)
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

int lines_reader_read(const struct lines_reader *r, struct ingest *in, const char *path,
		      struct snaps *snaps, void *sums, size_t *bad, struct error *err)
{
	char *was = NULL, *is;
	size_t i;
	int rc = snaps_open(in, r->what, path, snaps, err);

	if (rc)
		return rc;
	snaps_skip_early(snaps, in->run.start_ns);
	*bad = 0;
	for (i = 0; i < snaps->n; i++) {
		is = xcalloc(1, r->size);
		*bad += snap_lines(snaps_text(snaps, i), r->parse, is);
		r->add(in, sums, was, is, i ? snaps->snap[i - 1].mono_ns : 0,
		       snaps->snap[i].mono_ns);
		if (was)
			r->release(was);
		free(was);
		was = is;
	}
	r->release(was); /* there are two readings at least */
	free(was);
	return 0;
}

/* --- counters by name --- */

void deltas_init(struct deltas *d, const struct ingest *in)
{
	*d = (struct deltas){.from = in->run.start_ns, .to = in->run.end_ns};
}

void deltas_free(struct deltas *d)
{
	intern_free(&d->names);
	free(d->d);
	*d = (struct deltas){0};
}

void deltas_reading(struct deltas *d, uint64_t t_ns)
{
	d->share = d->t_ns ? span_inside(d->t_ns, t_ns, d->from, d->to) : 0;
	d->span_s = d->t_ns && t_ns > d->t_ns ? (double)(t_ns - d->t_ns) / 1e9 : 0;
	d->t_ns = t_ns;
	d->round++;
	d->next = 0;
}

uint32_t deltas_id(struct deltas *d, const char *name)
{
	uint32_t id = d->next;
	size_t n = d->names.n;

	/* Most readings have the same names in the same order. */
	if (id >= n || strcmp(deltas_name(d, id), name) != 0)
		id = intern_str(&d->names, name);
	if (d->names.n > n) {
		array_grow(d->d, id, d->cap);
		d->d[id] = (struct delta){.between = d->round > 1 && d->t_ns > d->from};
	}
	d->next = id + 1;
	return id;
}

double deltas_put(struct deltas *d, const char *name, uint64_t value)
{
	return deltas_put_id(d, deltas_id(d, name), value);
}

double deltas_put_id(struct deltas *d, uint32_t id, uint64_t value)
{
	struct delta *c = &d->d[id];
	bool known = c->round && c->round == d->round - 1;
	uint64_t last = c->last;

	if (c->round == d->round)
		return NAN; /* the first of two values of one name counts */
	c->last = value;
	c->round = d->round;
	if (!known)
		return NAN;
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

char *deltas_set_back(const struct deltas *d)
{
	struct str s = {0};
	size_t i, n = 0;

	for (i = 0; i < d->names.n; i++) {
		if (!d->d[i].back)
			continue;
		if (n++ < 3)
			str_printf(&s, "%s%s", s.len ? ", " : "", deltas_name(d, i));
	}
	if (n > 3)
		str_printf(&s, " and %zu more", n - 3);
	return n ? str_take(&s) : NULL;
}
