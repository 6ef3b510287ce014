// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/net/softnet_stat: a line of hexadecimal words per online CPU. The 13th word is the CPU's
 * number; kernels before 5.14 have none, and then the line's place is. The words are 32 bits wide
 *and wrap. Words that no kernel fills any more are passed over:
 *
 *	0 processed, 1 dropped, 2 squeezed, 9 received by RPS, 10 flow limit,
 *	11 packets waiting now, 12 CPU, 13 and 14 the two queues that they wait in
 */
#include "analyze/probes/ingest.h"
#include "analyze/probes/snapshots.h"
#include "analyze/scope/changes.h"

enum { WORDS = 13, WAITING_WORD = 11, CPU_WORD = 12, LEAST = 3 };

static const struct {
	const char *name;
	unsigned int word;
} counters[] = {
	{"processed", 0}, {"dropped", 1}, {"squeezed", 2}, {"received_rps", 9}, {"flow_limit", 10},
};

#define NEAR_NS 100000000 /* how far the readings of the window's ends may lie outside it */

struct softnet {
	struct deltas d; /* first: deltas_free() releases it */
	const struct ingest *in;
	unsigned int lines;
	bool in_window;	 /* the reading */
	double squeezed; /* on the side's CPUs since the last reading; NAN: not known */
	double waiting;	 /* the most packets that waited on one CPU of the side; NAN: not known */
};

static void softnet_add_words(struct softnet *s, int cpu, const uint32_t *w, unsigned int n)
{
	bool here = ingest_has_cpu(s->in, (unsigned int)cpu);
	double growth;

	for (size_t i = 0; i < array_size(counters) && counters[i].word < n; i++) {
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

	s->in = in;
	s->waiting = before_ns ? s->waiting : NAN;
	s->d.wraps = true;
	deltas_reading(&s->d, in, t_ns);
	s->in_window = t_ns + NEAR_NS >= in->run.start_ns && t_ns <= in->run.end_ns + NEAR_NS;
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

const struct parser parser_softnet = {
	.files = {"softnet.snap"},
	.snaps = {"softnet", "softnet_stat", false, sizeof(struct softnet), softnet_read_snap,
		  softnet_finish, deltas_free},
};

/* --- the table --- */

/*
 * softnet: the work of the network softirq on the side's CPUs, and the share of each CPU of the
 * host. --by cpu has a row for each CPU of the host that did any work.
 */

static const struct column softnet_columns[] = {
	SIDE_COLUMNS,
	{"name", .type = V_STR,
	 .what = "softnet_squeezed: the softirq used up its budget; _received_rps: another CPU woke this CPU; _waiting_max: the most packets that waited at any reading"},
	{"cpu", .type = V_STR, .shape = STANDS_RIGHT, .what = "the CPU's number, with --by cpu"},
	{"value", .type = V_REAL, .spread = SPREAD_RANGE,
	 .what = "value in the window; estimate over the runs"},
	{"unit", .type = V_STR, .shape = STAYS_WHOLE},
	{"per_s", "1/s", V_REAL, .digits = 2},
	{"per_mib", "1/MiB", V_REAL, .digits = 4, .what = "per MiB of the workload's bytes"},
	{"cpus", .type = V_STR, .shape = STAYS_WHOLE,
	 .what = "the CPUs and their shares, including other CPUs than the side's"},
	{"runs", .type = V_INT, .what = "runs that measured it"},
};

/* Always listed: a zero here is an answer, not noise. */
static const char *const always[] = {"processed", "dropped", "squeezed"};

/* Returns the position in the list above. Other counters come last. */
static int softnet_rank(const char *name)
{
	int i = str_index(always, array_size(always), name);

	return i < 0 ? (int)array_size(always) : i;
}

static void softnet_put_row(const struct changes *c, const struct change_rate *ranked,
			    const struct change_row *r, struct table *t)
{
	struct estimate e = changes_estimate(c, r, AS_COUNT);
	autofree char *name = xasprintf("softnet_%s", r->name);
	struct value *row = block_row(t, &c->b->block);

	table_set(t, row, "name", value_str(t, name));
	table_set(t, row, "cpu", r->cpu == NO_CPU ? value_none() : value_int(r->cpu));
	table_set(t, row, "unit", value_str(t, r->unit));
	table_set(t, row, "runs", value_int((int64_t)e.n));
	put_estimate(t, row, "value", &e);
	if (!str_ends(name, "_max")) { /* a maximum has no rate */
		e = changes_estimate(c, r, AS_PER_SECOND);
		table_set(t, row, "per_s", value_real(e.value));
		e = changes_estimate(c, r, AS_PER_MIB);
		table_set(t, row, "per_mib", value_real(e.value));
	}
	if (r->cpu == NO_CPU)
		changes_put_cpus(ranked, c->n, r->name, t, row);
}

static int softnet_put_block(struct block_table *k, struct error *err)
{
	bool by_cpu = k->q->by || k->q->cpus;
	autofree struct change_rate *ranked = NULL;
	freed(changes_free) struct changes c;
	int rc = changes_read(&c, k, "softnet", OF_ALL, err), rank;

	changes_fill_cpus(&c);
	ranked = changes_rank(&c);
	for (rank = 0; rank <= (int)array_size(always) && !rc; rank++)
		for (size_t i = 0; i < c.n; i++) {
			bool listed =
				rank < (int)array_size(always) && !by_cpu && c.row[i].cpu == NO_CPU;

			if (softnet_rank(c.row[i].name) == rank &&
			    (listed || changes_wanted(&c, &c.row[i], k->q)))
				softnet_put_row(&c, ranked, &c.row[i], k->t);
		}
	return rc;
}

static void softnet_add_notes(struct block_table *k)
{
	if (!k->t->rows)
		changes_nothing(k->s, k->t, NULL);
	else if (!k->q->by && !k->q->cpus)
		note_add(
			&k->t->notes, table_how,
			"values are those of the side's CPUs; the column cpus lists the CPUs on which the host did the work");
}

const struct measure measure_softnet = {
	.name = "softnet",
	.what = "packets processed, dropped and squeezed by the side's CPUs",
	MEASURE_COLUMNS(softnet_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "by cpu all"},
	.whole = WHOLE_CPUS,
	.spare = "runs",
	.keys = "cpu",
	.block = softnet_put_block,
	.notes = softnet_add_notes,
};
