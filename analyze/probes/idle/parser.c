// SPDX-License-Identifier: GPL-2.0-only
/*
 * idle.snap: a row "cpu<tab>number<tab>name<tab>entries<tab>us" for each idle state of each of the
 * side's CPUs. The kernel adds the time of a sleep when the CPU wakes. If a span holds more sleep
 * than it is long, the rest was slept before the span. That rest is subtracted from the state with
 * the most time, because that is where the CPU slept.
 */
#include "analyze/probes/snapshots.h"
#include "analyze/probes/ingest.h"
#include "analyze/probes/tsv.h"

#include "lib/alloc.h"
#include "lib/intern.h"
#include "lib/snap.h"
#include "lib/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct state {
	unsigned int cpu;
	uint64_t entries, us;		  /* as last read */
	unsigned int round;		  /* the round of the reading they are from */
	double change_us, change_entries; /* those of the current span; below 0: not known */
	double sum_us, sum_entries, known_s;
};

struct idle {
	struct intern names; /* "CPU NUMBER NAME" */
	struct state *s;     /* by the name's id; a CPU's states stand together */
	size_t cap;
	unsigned int round;
	bool back;
};

static struct state *idle_find_state(struct idle *d, unsigned int cpu, const char *number,
				     const char *name)
{
	char *key = xasprintf("%u %s %s", cpu, number, name);
	size_t before = d->names.n;
	uint32_t id = intern_str(&d->names, key);

	if (d->names.n > before) {
		array_grow(d->s, id, d->cap);
		d->s[id] = (struct state){.cpu = cpu};
	}
	free(key);
	return &d->s[id];
}

static bool idle_read_row(char *line, void *idle)
{
	struct idle *d = idle;
	const char *cpu = str_token(&line, '\t'), *number = str_token(&line, '\t');
	const char *name = str_token(&line, '\t'), *entries = str_token(&line, '\t');
	const char *us = str_token(&line, '\t');
	uint64_t c, n, e, t;
	struct state *s;

	if (!us || !parse_u64(cpu, &c) || c >= CPUSET_MAX || !parse_u64(number, &n) ||
	    !parse_u64(entries, &e) || !parse_u64(us, &t))
		return false;
	s = idle_find_state(d, (unsigned int)c, number, name);
	s->change_us = s->change_entries = -1;
	if (s->round == d->round)
		return true;
	if (s->round && s->round == d->round - 1) {
		d->back |= t < s->us || e < s->entries;
		if (t >= s->us && e >= s->entries) {
			s->change_us = (double)(t - s->us);
			s->change_entries = (double)(e - s->entries);
		}
	}
	s->us = t;
	s->entries = e;
	s->round = d->round;
	return true;
}

/* Subtracts from a CPU's states the time it slept before the span. */
static void idle_cut_early_sleep(struct idle *d, size_t first, size_t end, double span_us)
{
	struct state *most = NULL;
	double all = 0;
	size_t i;

	for (i = first; i < end; i++) {
		struct state *s = &d->s[i];

		if (s->round != d->round || s->change_us < 0)
			continue;
		all += s->change_us;
		if (!most || s->change_us > most->change_us)
			most = s;
	}
	if (!most || all <= span_us)
		return;
	most->change_us -= all - span_us;
	if (most->change_us < 0)
		most->change_us = 0;
}

static void idle_add_span(struct idle *d, double span_us, double share)
{
	size_t i, first = 0;

	for (i = 1; i <= d->names.n; i++) {
		if (i < d->names.n && d->s[i].cpu == d->s[first].cpu)
			continue;
		idle_cut_early_sleep(d, first, i, span_us);
		first = i;
	}
	for (i = 0; i < d->names.n; i++) {
		struct state *s = &d->s[i];

		if (s->round != d->round || s->change_us < 0)
			continue;
		s->sum_us += share * s->change_us;
		s->sum_entries += share * s->change_entries;
		s->known_s += share * span_us / 1e6;
	}
}

static size_t idle_read_snap(struct ingest *in, void *idle, char *text, uint64_t before_ns,
			     uint64_t t_ns)
{
	struct idle *d = idle;
	size_t bad;

	d->round++;
	bad = snap_lines(text, idle_read_row, d);
	if (before_ns && t_ns > before_ns)
		idle_add_span(d, (double)(t_ns - before_ns) / 1e3,
			      span_inside(before_ns, t_ns, in->run.start_ns, in->run.end_ns));
	return bad;
}

/* The sum over all CPUs, by "NUMBER NAME". */
struct sum {
	double pct, entries;
};

static void idle_add_metrics(struct ingest *in, const struct idle *d)
{
	struct intern names = {0};
	struct sum *sums = xcalloc(d->names.n + 1, sizeof(*sums)), *sum;
	double window_s = (double)(in->run.end_ns - in->run.start_ns) / 1e9;
	size_t i;

	for (i = 0; i < d->names.n; i++) {
		const struct state *s = &d->s[i];
		const char *name = strchr(intern_get(&d->names, (uint32_t)i), ' ') + 1;
		double pct = s->sum_us / 1e4 / s->known_s;

		if (!(s->known_s >= 0.9 * window_s) || !ingest_has_cpu(in, s->cpu))
			continue;
		ingest_metric_of(in, "cstate_pct", name, (int)s->cpu, "%", pct);
		ingest_metric_of(in, "cstate_entries", name, (int)s->cpu, "1", s->sum_entries);
		sum = &sums[intern_str(&names, name)];
		sum->pct += pct;
		sum->entries += s->sum_entries;
	}
	for (i = 0; i < names.n; i++) {
		const char *name = intern_get(&names, (uint32_t)i);

		ingest_metric_of(in, "cstate_pct", name, NO_CPU, "%", sums[i].pct);
		ingest_metric_of(in, "cstate_entries", name, NO_CPU, "1", sums[i].entries);
	}
	intern_free(&names);
	free(sums);
}

/* Below nine tenths of the window the states have no figures. */
static void idle_note_partial(struct ingest *in, const struct state *s, double window_s)
{
	char what[48];

	snprintf(what, sizeof(what), "the idle states of CPU %u", s->cpu);
	note_add(&in->notes, known_partly, "idle", what, s->known_s, window_s)->severity =
		s->known_s < 0.9 * window_s ? SEVERITY_LOSSY : SEVERITY_WARNING;
}

static void idle_add_notes(struct ingest *in, const struct idle *d)
{
	double window_s = (double)(in->run.end_ns - in->run.start_ns) / 1e9;
	size_t i;

	for (i = 0; i < d->names.n; i++)
		if (d->s[i].known_s < 0.99 * window_s && (!i || d->s[i].cpu != d->s[i - 1].cpu))
			idle_note_partial(in, &d->s[i], window_s);
	if (d->back)
		note_add(&in->notes, counter_reset, "idle", "of cpuidle");
}

static void idle_finish(struct ingest *in, void *idle, double covered_s)
{
	if (!(covered_s > 0))
		return;
	idle_add_metrics(in, idle);
	idle_add_notes(in, idle);
}

static int idle_read_file(struct ingest *in, const char *path, struct error *err)
{
	static const struct snap_reader reader = {"idle", "idle.snap", .reading = idle_read_snap,
						  .finish = idle_finish};
	struct idle d = {0};
	int rc = snaps_parse(&reader, in, path, &d, err);

	intern_free(&d.names);
	free(d.s);
	return rc;
}

const struct parser parser_idle = {.files = {"idle.snap"}, .read = idle_read_file};
