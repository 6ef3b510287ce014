// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/net/softnet_stat: a line of hexadecimal words per online CPU. The 13th word is the CPU's
 * number; kernels before 5.14 have none, and then the line's place is. The words are 32 bits wide
 *and wrap. Words that no kernel fills any more are passed over:
 *
 *	0 processed, 1 dropped, 2 squeezed, 9 received by RPS, 10 flow limit,
 *	11 packets waiting now, 12 CPU, 13 and 14 the two queues that they wait in
 */
#include "analyze/probes/snapshots.h"
#include "analyze/probes/ingest.h"

#include "lib/alloc.h"
#include "lib/snap.h"
#include "lib/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 13, WAITING_WORD = 11, CPU_WORD = 12, LEAST = 3 };

static const struct {
	const char *name;
	unsigned int word;
} counters[] = {
	{"processed", 0}, {"dropped", 1}, {"squeezed", 2}, {"received_rps", 9}, {"flow_limit", 10},
};

struct softnet {
	const struct ingest *in;
	struct deltas d;
	unsigned int lines;
	bool in_window;	 /* the reading */
	double squeezed; /* on the side's CPUs since the last reading; NAN: not known */
	double waiting;	 /* the most packets that waited on one CPU of the side; NAN: not known */
};

static void softnet_add_words(struct softnet *s, int cpu, const uint32_t *w, unsigned int n)
{
	bool here = ingest_has_cpu(s->in, (unsigned int)cpu);
	double growth;
	size_t i;

	for (i = 0; i < array_size(counters) && counters[i].word < n; i++) {
		growth = deltas_put(&s->d, counters[i].name, cpu, w[counters[i].word]);
		if (here && !strcmp(counters[i].name, "squeezed"))
			figure_add(&s->squeezed, growth);
	}
	if (here && s->in_window && n > WAITING_WORD)
		s->waiting = fmax(s->waiting, w[WAITING_WORD]);
}

static bool softnet_parse_line(char *line, void *softnet)
{
	struct softnet *s = softnet;
	unsigned int cpu = s->lines++, n;
	uint32_t w[WORDS];
	char *end;

	for (n = 0; n < WORDS; n++, line = end) {
		w[n] = (uint32_t)strtoul(line, &end, 16);
		if (end == line)
			break;
	}
	if (n > CPU_WORD)
		cpu = w[CPU_WORD];
	if (n < LEAST || cpu >= CPUSET_MAX)
		return false;
	softnet_add_words(s, (int)cpu, w, n);
	return true;
}

static size_t softnet_read_snap(struct ingest *in, void *softnet, char *text, uint64_t before_ns,
				uint64_t t_ns)
{
	struct softnet *s = softnet;

	deltas_reading(&s->d, t_ns);
	s->in_window = !before_ns || (t_ns >= in->run.start_ns && t_ns <= in->run.end_ns);
	s->squeezed = NAN;
	s->lines = 0;
	snap_lines(text, softnet_parse_line, s);
	if (s->d.span_s > 0 && !isnan(s->squeezed))
		ingest_point(in, "softnet_squeezed_per_s", t_ns, s->squeezed / s->d.span_s);
	return 0;
}

static void softnet_finish(struct ingest *in, void *softnet, double covered_s)
{
	struct softnet *s = softnet;

	if (!(covered_s > 0))
		return;
	deltas_add_metrics(in, &s->d, "softnet", "softnet");
	ingest_metric_of(in, "softnet", "waiting_max", NO_CPU, "1", s->waiting);
}

static int softnet_read_file(struct ingest *in, const char *path, struct error *err)
{
	static const struct snap_reader reader = {
		"softnet", "softnet_stat", .reading = softnet_read_snap, .finish = softnet_finish};
	struct softnet s = {.in = in, .waiting = NAN};
	int rc;

	deltas_init(&s.d, in);
	s.d.wraps = true;
	rc = snaps_parse(&reader, in, path, &s, err);
	deltas_free(&s.d);
	return rc;
}

const struct parser parser_softnet = {.files = {"softnet.snap"}, .read = softnet_read_file};
