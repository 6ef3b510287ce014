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
	bool by_place, shifted; /* the lines have no CPU numbers; their number changed */
	bool in_window;		/* the reading */
	double squeezed;	/* on the side's CPUs since the last reading; NAN: not known */
	double waiting; /* the most packets that waited on one CPU of the side; NAN: not known */
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
	else
		s->by_place = true;
	if (n < LEAST || cpu >= CPUSET_MAX)
		return false;
	softnet_add_words(s, (int)cpu, w, n);
	return true;
}

static unsigned int text_count_lines(const char *text)
{
	unsigned int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void softnet_read_snaps(struct ingest *in, struct snaps *snaps, struct softnet *s)
{
	size_t i;

	for (i = 0; i < snaps->n; i++) {
		uint64_t t_ns = snaps->snap[i].mono_ns;
		char *text = snaps_text(snaps, i);

		if (i && s->by_place && text_count_lines(text) != s->lines) {
			s->shifted |= t_ns > in->run.start_ns;
			deltas_restart(&s->d);
		}
		deltas_reading(&s->d, t_ns);
		s->in_window = !i || (t_ns >= in->run.start_ns && t_ns <= in->run.end_ns);
		s->squeezed = NAN;
		s->lines = 0;
		snap_lines(text, softnet_parse_line, s);
		if (s->d.span_s > 0 && !isnan(s->squeezed))
			ingest_point(in, "softnet_squeezed_per_s", t_ns, s->squeezed / s->d.span_s);
	}
}

static int softnet_read_file(struct ingest *in, const char *path, struct error *err)
{
	struct softnet s = {.in = in, .waiting = NAN};
	struct snaps snaps;
	int rc = snaps_open(in, "softnet", path, &snaps, err);

	if (rc)
		return rc;
	deltas_init(&s.d, in);
	s.d.wraps = true;
	softnet_read_snaps(in, &snaps, &s);
	if (snaps_cover(in, "softnet_stat", &snaps) > 0) {
		deltas_add_metrics(in, &s.d, "softnet", "softnet", NULL);
		ingest_metric_of(in, "softnet", "waiting_max", NO_CPU, "1", s.waiting);
		if (s.shifted)
			note_add(&in->notes, softnet_shifted);
	}
	deltas_free(&s.d);
	snaps_close(in, &snaps);
	return 0;
}

const struct parser parser_softnet = {.files = {"softnet.snap"}, .read = softnet_read_file};
