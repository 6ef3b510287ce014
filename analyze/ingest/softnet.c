// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/net/softnet_stat: a line of hexadecimal words per online CPU. The 13th word is the CPU's
 * number; kernels before 5.14 have none, and then the line's place is. The words are 32 bits wide
 * and wrap.
 */
#include "analyze/ingest/ingest.h"
#include "analyze/ingest/spans.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESSED, DROPPED, SQUEEZED, WORDS, CPU_WORD = 12 };

static const char *const names[WORDS] = {"softnet_processed", "softnet_dropped",
					 "softnet_squeezed"};

struct softnet {
	struct {
		bool there;
		uint32_t w[WORDS];
	} * cpu;
	unsigned int n;
};

static void parse_line(const char *line, unsigned int place, struct softnet *s)
{
	unsigned int v[CPU_WORD + 1] = {0}, cpu = place, i;
	int used;

	for (i = 0; i <= CPU_WORD && sscanf(line, "%x%n", &v[i], &used) == 1; i++)
		line += used;
	if (i < WORDS)
		return;
	if (i > CPU_WORD)
		cpu = v[CPU_WORD];
	if (cpu >= CPUSET_MAX)
		return;
	if (cpu >= s->n) {
		s->cpu = xrealloc(s->cpu, (cpu + 1) * sizeof(*s->cpu));
		memset(s->cpu + s->n, 0, (cpu + 1 - s->n) * sizeof(*s->cpu));
		s->n = cpu + 1;
	}
	s->cpu[cpu].there = true;
	for (i = 0; i < WORDS; i++)
		s->cpu[cpu].w[i] = v[i];
}

static struct softnet parse(const char *text)
{
	char *copy = xstrdup(text), *rest = copy, *line;
	struct softnet s = {0};
	unsigned int place = 0;

	while ((line = str_token(&rest, '\n')))
		if (*line)
			parse_line(line, place++, &s);
	free(copy);
	return s;
}

static void add_span(struct ingest *in, const struct softnet *a, const struct softnet *b,
		     double share, double sums[WORDS])
{
	unsigned int cpu, i;

	for (cpu = 0; cpu < a->n && cpu < b->n; cpu++)
		if (ingest_has_cpu(in, cpu) && a->cpu[cpu].there && b->cpu[cpu].there)
			for (i = 0; i < WORDS; i++)
				sums[i] += share *
					   (double)(uint32_t)(b->cpu[cpu].w[i] - a->cpu[cpu].w[i]);
}

static void evaluate(struct ingest *in, const struct snaps *snaps)
{
	uint64_t from = snaps->snap[0].mono_ns, to = snaps->snap[snaps->n - 1].mono_ns;
	struct softnet before = parse(snaps->snap[0].data), now;
	double sums[WORDS] = {0};
	size_t i;

	for (i = 1; i < snaps->n; i++) {
		now = parse(snaps->snap[i].data);
		add_span(in, &before, &now,
			 span_inside(snaps->snap[i - 1].mono_ns, snaps->snap[i].mono_ns,
				     in->run.start_ns, in->run.end_ns),
			 sums);
		free(before.cpu);
		before = now;
	}
	free(before.cpu);
	if (ingest_cover(in, "softnet_stat", &from, &to) > 0)
		for (i = 0; i < WORDS; i++)
			ingest_metric(in, names[i], "1", sums[i], NULL);
}

int ingest_softnet(struct ingest *in, const char *path, struct error *err)
{
	struct error damage = {0};
	struct snaps snaps;
	int rc = snaps_read(&snaps, path, &damage);

	if (rc && rc != -EBADMSG)
		return error_set(err, -rc, "%s", damage.text);
	if (rc)
		ingest_note(in, "lossy", "softnet: %s", damage.text);
	if (snaps.n >= 2)
		evaluate(in, &snaps);
	rc = snaps.n < 2
		     ? error_set(err, ENODATA, "%s: %zu snapshots; two are needed", path, snaps.n)
		     : 0;
	snaps_free(&snaps);
	return rc;
}
