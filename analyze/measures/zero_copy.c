// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/zero_copy.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* THE TABLE of evidence that a workload gives: metrics. */
static const struct {
	const char *what, *plain; /* where zero copy was asked for, and where it was not */
	const char *zero_copy, *copied, *unknown;
	bool drops; /* that were not kept: neither a copy nor none */
} sources[] = {
	{"sends, by completion flags", "sends", "sends_zero_copy", "sends_copied", "sends_unknown",
	 false},
	{"bytes received, mapped or copied", "bytes received", "rx_mapped_bytes", "rx_copied_bytes",
	 "rx_unknown_bytes", false},
	{"dropped (upper bound)", "dropped (upper bound)", NULL, NULL, "rx_dropped_bytes", true},
};

static double evidence_sum(struct store *s, const struct run *runs, int n, const char *name)
{
	double all = NAN, v;
	int i;

	for (i = 0; name && i < n; i++) {
		v = figure_metric(s, &runs[i], name);
		if (!isnan(v))
			all = isnan(all) ? v : all + v;
	}
	return all;
}

static enum asked evidence_asked(struct store *s, const struct run *runs, int n)
{
	double runs_that_did = evidence_sum(s, runs, n, "asked_zero_copy");

	return isnan(runs_that_did) ? ASKED_UNKNOWN
	       : runs_that_did > 0  ? ASKED_ZERO_COPY
				    : ASKED_COPY;
}

static double or_none(double x)
{
	return isnan(x) ? 0 : x;
}

static int add_side(struct store *s, const struct query *q, const struct block *b,
		    struct evidence *e, int max, struct error *err)
{
	struct query every = {.pass = q->pass, .repeat = q->repeat};
	struct run *runs;
	int n = scope_runs(s, &every, b, FOR_FIGURES, &runs, err), count = 0;
	enum asked wish = n > 0 ? evidence_asked(s, runs, n) : ASKED_UNKNOWN;
	size_t i;

	for (i = 0; n > 0 && i < array_size(sources) && count < max; i++) {
		double zc = evidence_sum(s, runs, n, sources[i].zero_copy);
		double copied = evidence_sum(s, runs, n, sources[i].copied);
		double unknown = evidence_sum(s, runs, n, sources[i].unknown);
		bool drops = sources[i].drops;
		double total = drops ? unknown : zc + copied + or_none(unknown);

		if (!(total > 0))
			continue;
		if (unknown > 0 && !(zc + copied > 0))
			zc = copied = NAN; /* nobody said what became of them */
		e[count++] = (struct evidence){
			b->side, wish == ASKED_ZERO_COPY ? sources[i].what : sources[i].plain,
			total,	 zc,
			copied,	 drops ? ASKED_DROP : wish};
	}
	if (n >= 0)
		free(runs);
	return n < 0 ? n : count;
}

int zero_copy_evidence(struct store *s, const struct query *q, const char *variant,
		       struct evidence e[MAX_EVIDENCE], struct error *err)
{
	struct query all = {.variant = variant, .pass = q->pass, .repeat = q->repeat};
	struct block *blocks = NULL;
	int n = scope_blocks(s, &all, &blocks, err), i, k, count = 0;

	for (i = 0; i < n; i++) {
		k = add_side(s, q, &blocks[i], e + count, MAX_EVIDENCE - count, err);
		if (k < 0) {
			n = k;
			break;
		}
		count += k;
	}
	free(blocks);
	return n < 0 ? n : count;
}

double zero_copy_share(const struct evidence *e, int n, const char *side)
{
	double least = NAN, share;
	int i;

	for (i = 0; i < n; i++) {
		share = e[i].zero_copy / e[i].total;
		if (!strcmp(e[i].side, side) && !isnan(share) && !(share >= least))
			least = share;
	}
	return least;
}

/*
 * "mmap sender: 100.0 % of sends ... fell back to copying", for what asked not to be copied; and
 * what was not even received.
 */
static void say_fallback(struct str *s, const char *variant, const struct evidence *e, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		const char *before = s->len ? "; " : "NOT ZERO COPY: ";

		if (e[i].asked == ASKED_ZERO_COPY && e[i].copied > 0.1 * e[i].total)
			str_printf(s, "%s%s %s: %.1f %% of %s%s fell back to copying", before,
				   variant, e[i].side, 100 * e[i].copied / e[i].total, e[i].what,
				   strchr(e[i].what, ',') ? "," : "");
		else if (e[i].asked == ASKED_DROP)
			str_printf(s, "%s%s %s: " DROPPED_UNREAD, before, variant, e[i].side);
	}
}

void zero_copy_notes(struct store *s, const struct query *q, const char *variant, struct table *t)
{
	struct evidence e[MAX_EVIDENCE];
	struct str text = {0};

	say_fallback(&text, variant, e, zero_copy_evidence(s, q, variant, e, NULL));
	if (text.len)
		note_add(&t->notes, not_zero_copy, text.buf);
	str_free(&text);
}

void zero_copy_title(struct store *s, const struct query *q, struct table *t)
{
	struct evidence e[MAX_EVIDENCE];
	const char **variants;
	struct str text = {0};
	int n = store_variants(s, &variants, NULL), i, k;

	for (i = 0; i < n; i++) {
		if (!str_matches(q->variant, variants[i]))
			continue;
		k = zero_copy_evidence(s, q, variants[i], e, NULL);
		say_fallback(&text, variants[i], e, k);
	}
	if (n >= 0)
		free(variants);
	if (text.len)
		table_title(t, "%s", text.buf);
	str_free(&text);
}
