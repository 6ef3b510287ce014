// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/ingest/points.h"

#include "analyze/ingest/window.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *rate, *rate_unit;
	double per; /* units of work in one unit of the rate */
} works[WORK_N] = {
	[WORK_BYTES] = {"bytes", "rate_kib", "KiB/s", 1024},
	[WORK_MESSAGES] = {"messages", "rate_messages", "1/s", 1},
	[WORK_PACKETS] = {"packets", "rate_packets", "1/s", 1},
};

void points_add(struct points *ps, const struct point *p)
{
	const struct point *last = ps->n ? &ps->p[ps->n - 1] : NULL;
	int w;

	for (w = 0; last && w < WORK_N; w++) {
		if (p->t_ns < last->t_ns || p->n[w] < last->n[w]) {
			ps->backwards++;
			return;
		}
	}
	array_grow(ps->p, ps->n, ps->cap);
	ps->p[ps->n++] = *p;
}

void points_free(struct points *ps)
{
	free(ps->p);
	*ps = (struct points){0};
}

double points_at(const struct points *ps, enum work w, uint64_t t_ns)
{
	const struct point *a, *b;
	size_t i = 1;

	while (i < ps->n - 1 && ps->p[i].t_ns < t_ns)
		i++;
	a = &ps->p[i - 1];
	b = &ps->p[i];
	if (b->t_ns == a->t_ns)
		return b->n[w];
	return a->n[w] +
	       (b->n[w] - a->n[w]) * ((double)(t_ns - a->t_ns) / (double)(b->t_ns - a->t_ns));
}

/* Gbit/s between neighbouring points, at the later one. */
static void points_add_throughput(struct ingest *in, const struct points *ps)
{
	size_t i;

	for (i = 1; i < ps->n; i++) {
		const struct point *a = &ps->p[i - 1], *b = &ps->p[i];

		if (b->t_ns > a->t_ns)
			ingest_point(in, "throughput", b->t_ns,
				     8 * (b->n[WORK_BYTES] - a->n[WORK_BYTES]) /
					     (double)(b->t_ns - a->t_ns));
	}
}

static void points_add_metrics(struct ingest *in, const struct points *ps, enum work w,
			       uint64_t from, uint64_t to, double seconds)
{
	double n = points_at(ps, w, to) - points_at(ps, w, from);

	ingest_metric(in, works[w].name, "1", n, NULL);
	ingest_metric(in, works[w].rate, works[w].rate_unit, n / works[w].per / seconds, NULL);
	if (w == WORK_BYTES)
		ingest_metric(in, "throughput", "Gbit/s", 8 * n / seconds / 1e9, NULL);
}

static bool points_resolve_slice(struct ingest *in, const struct points *ps)
{
	uint64_t *t = xcalloc(ps->n + 1, sizeof(*t));
	bool known;
	size_t i;

	for (i = 0; i < ps->n; i++)
		t[i] = ps->p[i].t_ns;
	known = window_resolves(in, "workload", t, ps->n);
	free(t);
	return known;
}

int points_metrics(struct ingest *in, const struct points *ps, const char *path, struct error *err)
{
	uint64_t from, to;
	double seconds;
	int w;

	if (ps->backwards)
		note_add(&in->notes, workload_points_backwards, ps->backwards);
	if (ps->n < 2)
		return error_set(err, ENODATA,
				 "%s: %zu points of work done; two are needed to know a rate", path,
				 ps->n);
	if (!points_resolve_slice(in, ps))
		return 0;
	from = ps->p[0].t_ns;
	to = ps->p[ps->n - 1].t_ns;
	seconds = ingest_cover(in, "the workload's account", &from, &to);
	if (ps->has[WORK_BYTES])
		points_add_throughput(in, ps);
	for (w = 0; w < WORK_N && seconds > 0; w++)
		if (ps->has[w])
			points_add_metrics(in, ps, (enum work)w, from, to, seconds);
	if (seconds > 0)
		points_stalls(in, ps);
	return 0;
}

/* --- adapters --- */

static const struct adapter adapter_none = {.name = "none"};

/* The list of adapters, in the order of messages. */
#define ADAPTERS(row) row(tcpzc) row(iperf3) row(pps) row(regex) row(none)

#define DECLARATION(name) extern const struct adapter adapter_##name;
#define ADDRESS(name)	  &adapter_##name,

ADAPTERS(DECLARATION)
static const struct adapter *const adapters[] = {ADAPTERS(ADDRESS)};

/* Finds the adapter that "units" of run.json names up to a colon, or returns NULL. */
static const struct adapter *adapter_find(const char *units)
{
	size_t len = strcspn(units, ":"), i;

	for (i = 0; i < array_size(adapters); i++)
		if (strlen(adapters[i]->name) == len && !strncmp(adapters[i]->name, units, len))
			return adapters[i];
	return NULL;
}

bool workload_has_account(const char *units)
{
	const struct adapter *a = adapter_find(units);

	return !a || a->parse;
}

static int adapter_unknown(const char *units, struct error *err)
{
	struct str names = {0};
	size_t i, n = array_size(adapters);
	int rc;

	for (i = 0; i < n; i++)
		str_printf(&names, "%s%s%s%s",
			   !i	       ? ""
			   : i + 1 < n ? ", "
				       : " and ",
			   adapters[i]->name, adapters[i]->argument ? ":" : "",
			   adapters[i]->argument ? adapters[i]->argument : "");
	rc = error_set(err, EINVAL, "run.json: no adapter '%s'; there are %s", units, names.buf);
	str_free(&names);
	return rc;
}

int ingest_workload(struct ingest *in, const char *path, struct error *err)
{
	const struct adapter *a = adapter_find(in->units);
	const char *colon = strchr(in->units, ':');
	struct points ps = {0};
	char *text;
	int rc;

	if (!a)
		return adapter_unknown(in->units, err);
	rc = file_read(path, &text, NULL, err);
	if (rc)
		return rc;
	rc = a->parse(in, text, colon ? colon + 1 : NULL, &ps, err);
	if (!rc)
		rc = points_metrics(in, &ps, path, err);
	points_free(&ps);
	free(text);
	return rc;
}
