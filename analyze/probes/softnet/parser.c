// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/net/softnet_stat: a line of hexadecimal words per online CPU. The 13th word is the CPU's
 * number; kernels before 5.14 have none, and then the line's place is, as long as no CPU comes or
 * goes. The words are 32 bits wide and wrap. Words that no kernel fills any more are passed over:
 *
 *	0 processed, 1 dropped, 2 squeezed, 9 received by RPS, 10 flow limit,
 *	11 packets waiting now, 12 CPU, 13 and 14 the two queues that they wait in
 */
#include "analyze/probes/snapshots.h"
#include "analyze/probes/ingest.h"

#include "lib/alloc.h"
#include "lib/snap.h"
#include "lib/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 13, WAITING_WORD = 11, CPU_WORD = 12, LEAST = 3 };

/* Counters: the word of each and its metric. */
static const struct {
	const char *name;
	unsigned int word;
} counters[] = {
	{"processed", 0}, {"dropped", 1}, {"squeezed", 2}, {"received_rps", 9}, {"flow_limit", 10},
};
enum { COUNTERS = array_size(counters) };

struct softnet {
	struct line {
		bool there;
		unsigned int words;
		uint32_t w[WORDS];
	} * cpu;
	unsigned int n, lines;
	bool by_place; /* lines without a CPU number */
};

static bool softnet_parse_line(char *line, void *softnet)
{
	struct softnet *s = softnet;
	struct line l = {.there = true};
	unsigned int cpu = s->lines++;
	char *end;

	for (; l.words < WORDS; l.words++, line = end) {
		l.w[l.words] = (uint32_t)strtoul(line, &end, 16);
		if (end == line)
			break;
	}
	if (l.words > CPU_WORD)
		cpu = l.w[CPU_WORD];
	else
		s->by_place = true;
	if (l.words < LEAST || cpu >= CPUSET_MAX)
		return false;
	if (cpu >= s->n) {
		s->cpu = xrealloc(s->cpu, (cpu + 1) * sizeof(*s->cpu));
		memset(s->cpu + s->n, 0, (cpu + 1 - s->n) * sizeof(*s->cpu));
		s->n = cpu + 1;
	}
	s->cpu[cpu] = l;
	return true;
}

struct sums {
	struct cpu_sums {
		double of[COUNTERS];
		bool known[COUNTERS];
	} * cpu;
	unsigned int n;
	uint32_t waiting; /* the most packets that waited on one CPU of the side in any reading in
			     the window */
	bool has_waiting, moved, shifted;
};

static void softnet_add_cpu(struct cpu_sums *s, const struct line *a, const struct line *b,
			    double share)
{
	size_t i;

	for (i = 0; i < COUNTERS; i++) {
		unsigned int w = counters[i].word;

		if (w >= a->words || w >= b->words)
			continue;
		s->of[i] += share * (double)(uint32_t)(b->w[w] - a->w[w]);
		s->known[i] |= share > 0;
	}
}

static void softnet_add_span(struct sums *s, const struct softnet *a, const struct softnet *b,
			     double share)
{
	unsigned int cpu;

	if (!(share > 0))
		return;
	if (a->lines != b->lines && (a->by_place || b->by_place)) {
		s->shifted = true;
		return;
	}
	for (cpu = 0; cpu < s->n; cpu++) {
		bool was = cpu < a->n && a->cpu[cpu].there, is = cpu < b->n && b->cpu[cpu].there;

		s->moved |= was != is;
		if (was && is)
			softnet_add_cpu(&s->cpu[cpu], &a->cpu[cpu], &b->cpu[cpu], share);
	}
}

static void softnet_see_waiting(const struct ingest *in, struct sums *s, const struct softnet *now)
{
	unsigned int cpu;

	for (cpu = 0; cpu < now->n; cpu++) {
		if (!now->cpu[cpu].there || !ingest_has_cpu(in, cpu) ||
		    now->cpu[cpu].words <= WAITING_WORD)
			continue;
		s->has_waiting = true;
		if (now->cpu[cpu].w[WAITING_WORD] > s->waiting)
			s->waiting = now->cpu[cpu].w[WAITING_WORD];
	}
}

/*
 * Adds each counter's sum over the side's CPUs, and its value on each CPU of the host unless it is
 * 0.
 */
static void softnet_add_metrics(struct ingest *in, const struct sums *s)
{
	unsigned int cpu;
	size_t i;

	for (i = 0; i < COUNTERS; i++) {
		bool known = false;
		double all = 0;

		for (cpu = 0; cpu < s->n; cpu++) {
			const struct cpu_sums *c = &s->cpu[cpu];

			if (ingest_has_cpu(in, cpu)) {
				known |= c->known[i];
				all += c->of[i];
			}
			if (c->of[i] > 0)
				ingest_metric_of(in, "softnet", counters[i].name, (int)cpu, "1",
						 c->of[i]);
		}
		if (known)
			ingest_metric_of(in, "softnet", counters[i].name, NO_CPU, "1", all);
	}
	if (s->has_waiting)
		ingest_metric_of(in, "softnet", "waiting_max", NO_CPU, "1", s->waiting);
}

/* Adds the squeezes on the side's CPUs between two readings to their series. */
static void softnet_add_point(struct ingest *in, const struct softnet *a, const struct softnet *b,
			      uint64_t from, uint64_t to)
{
	enum { SQUEEZED = 2 };
	double n = 0;
	unsigned int cpu;

	if (to <= from || a->lines != b->lines)
		return;
	for (cpu = 0; cpu < a->n && cpu < b->n; cpu++)
		if (ingest_has_cpu(in, cpu) && a->cpu[cpu].there && b->cpu[cpu].there)
			n += (uint32_t)(b->cpu[cpu].w[SQUEEZED] - a->cpu[cpu].w[SQUEEZED]);
	ingest_point(in, "softnet_squeezed_per_s", to, 1e9 * n / (double)(to - from));
}

static void softnet_read_snaps(struct ingest *in, struct snaps *snaps, struct sums *s)
{
	struct softnet before = {0}, now;
	size_t i;

	snap_lines(snaps_text(snaps, 0), softnet_parse_line, &before);
	softnet_see_waiting(in, s, &before);
	for (i = 1; i < snaps->n; i++) {
		uint64_t a = snaps->snap[i - 1].mono_ns, b = snaps->snap[i].mono_ns;

		now = (struct softnet){0};
		snap_lines(snaps_text(snaps, i), softnet_parse_line, &now);
		if (now.n > s->n || before.n > s->n) {
			unsigned int n = now.n > before.n ? now.n : before.n;

			s->cpu = xrealloc(s->cpu, n * sizeof(*s->cpu));
			memset(s->cpu + s->n, 0, (n - s->n) * sizeof(*s->cpu));
			s->n = n;
		}
		softnet_add_span(s, &before, &now,
				 span_inside(a, b, in->run.start_ns, in->run.end_ns));
		softnet_add_point(in, &before, &now, a, b);
		if (b >= in->run.start_ns && b <= in->run.end_ns)
			softnet_see_waiting(in, s, &now);
		free(before.cpu);
		before = now;
	}
	free(before.cpu);
}

static int softnet_read_file(struct ingest *in, const char *path, struct error *err)
{
	struct sums s = {0};
	struct snaps snaps;
	int rc = snaps_open(in, "softnet", path, &snaps, err);

	if (rc)
		return rc;
	softnet_read_snaps(in, &snaps, &s);
	if (snaps_cover(in, "softnet_stat", &snaps) > 0) {
		softnet_add_metrics(in, &s);
		if (s.moved)
			note_add(&in->notes, softnet_hotplug);
		if (s.shifted)
			note_add(&in->notes, softnet_shifted);
	}
	free(s.cpu);
	snaps_close(in, &snaps);
	return 0;
}

const struct parser parser_softnet = {.files = {"softnet.snap"}, .read = softnet_read_file};
