// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/zerocopy.h"

#include "analyze/measures/costs.h"
#include "lib/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* THE TABLE of a workload's evidence, with the metrics. */
static const struct {
	const char *what, *plain; /* name if the workload asked for zero copy, and name if not */
	const char *zero_copy, *copied, *unknown;
	bool drops; /* dropped bytes are neither copied nor zero copy */
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

static int evidence_add_side(struct store *s, const struct query *q, const struct block *b,
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
		double total = drops ? unknown : zc + copied + (isnan(unknown) ? 0 : unknown);

		if (!(total > 0))
			continue;
		if (unknown > 0 && !(zc + copied > 0))
			zc = copied = NAN; /* the workload did not report copies */
		e[count++] = (struct evidence){
			b->side, wish == ASKED_ZERO_COPY ? sources[i].what : sources[i].plain,
			total,	 zc,
			copied,	 drops ? ASKED_DROP : wish};
	}
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
		k = evidence_add_side(s, q, &blocks[i], e + count, MAX_EVIDENCE - count, err);
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
 * Prints "mmap sender: 100.0 % of sends ... fell back to copying" for each side that asked for
 * zero copy, and the data that the receiver dropped.
 */
static void zero_copy_print_fallback(struct str *s, const char *variant, const struct evidence *e,
				     int n)
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

	zero_copy_print_fallback(&text, variant, e, zero_copy_evidence(s, q, variant, e, NULL));
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
		zero_copy_print_fallback(&text, variants[i], e, k);
	}
	free(variants);
	if (text.len)
		table_title(t, "%s", text.buf);
	str_free(&text);
}

/* --- the table --- */

/* zerocopy: one row per piece of evidence, and a verdict in words. */

static const struct column zerocopy_columns[] = {
	{"variant", .type = V_STR},
	{"side", .type = V_STR},
	{"evidence", .type = V_STR, .what = "source of the evidence"},
	{"total", .type = V_REAL, .digits = 1, .what = "sends, bytes, or ns per unit of work"},
	{"zero_copy", .type = V_REAL, .digits = 1,
	 .what = "amount without a copy; empty if not known"},
	{"copied", .type = V_REAL, .digits = 1, .what = "amount copied"},
	{"share", "%", V_REAL, .digits = 2, .what = "zero_copy / total"},
	{"asked", .type = V_STR, .what = "what the workload asked for: zero copy, copy or drop"},
};

static const char *const asked_names[] = {
	[ASKED_UNKNOWN] = NULL,
	[ASKED_COPY] = "copy",
	[ASKED_ZERO_COPY] = "zero copy",
	[ASKED_DROP] = "drop",
};

/* Returns an integer value, because sends and bytes are counts. */
static struct value zerocopy_count(double n)
{
	return isfinite(n) && n == floor(n) && fabs(n) < 1e15 ? value_int((int64_t)n)
							      : value_real(n);
}

static void zerocopy_put_evidence(struct table *t, const struct block *b, const struct evidence *e)
{
	struct value *row = block_row(t, b);

	table_set(t, row, "evidence", value_str(t, e->what));
	table_set(t, row, "total", zerocopy_count(e->total));
	table_set(t, row, "zero_copy", zerocopy_count(e->zero_copy));
	table_set(t, row, "copied", zerocopy_count(e->copied));
	table_set(t, row, "share", value_real(100 * e->zero_copy / e->total));
	table_set(t, row, "asked", value_str(t, asked_names[e->asked]));
}

/* Adds the cost of functions that copy data, from the profile. */
static int zerocopy_put_profile(struct store *s, const struct query *q, const struct block *b,
				struct table *t, struct error *err)
{
	struct basis_value basis;
	struct cost copy;
	struct value *row;
	bool alone;
	char *what;
	int rc = copy_cost(s, q, b, &alone, &copy, &basis, err);

	if (rc || isnan(copy.ns))
		return rc;
	what = arena_printf(&t->arena, "copy functions of %s, ns/%s",
			    alone ? "the workload" : "all programs", basis.unit);
	row = block_row(t, b);
	table_set(t, row, "evidence", value_str(t, what));
	table_set(t, row, "total", value_real(basis.ns));
	table_set(t, row, "copied", value_real(copy.ns));
	return 0;
}

static bool zerocopy_any_asked(const struct evidence *e, int n, enum asked what)
{
	int i;

	for (i = 0; i < n && e[i].asked != what; i++)
		;
	return i < n;
}

/* Returns true if any evidence does not say what was copied. */
static bool zerocopy_silent(const struct evidence *e, int n)
{
	int i;

	for (i = 0; i < n && !isnan(e[i].zero_copy); i++)
		;
	return i < n;
}

/* Returns the evidence with the largest zero-copy share, or -1 if none has a share. */
static int zerocopy_best_of(const struct evidence *e, int n)
{
	int i, best = -1;
	double share;

	for (i = 0; i < n; i++) {
		share = e[i].zero_copy / e[i].total;
		if (!isnan(share) && (best < 0 || share > e[best].zero_copy / e[best].total))
			best = i;
	}
	return best;
}

/* Adds the verdict, such as "mmap: is zero copy on the receiver: 93.7 % ...". */
static void zerocopy_verdict(struct table *t, const char *variant, const struct evidence *e, int n)
{
	int best = zerocopy_best_of(e, n);
	double share = best < 0 ? NAN : e[best].zero_copy / e[best].total;

	if (zerocopy_any_asked(e, n, ASKED_DROP))
		note_add_of(&t->notes, variant, NULL, zerocopy_dropped);
	if (share > 0)
		note_add_of(&t->notes, variant, NULL, zerocopy_share,
			    share >= 0.9 ? "is" : "is only in part", e[best].side, 100 * share,
			    e[best].what);
	else if (zerocopy_any_asked(e, n, ASKED_DROP))
		return;
	else if (best < 0)
		note_add_of(&t->notes, variant, NULL, zerocopy_no_evidence);
	else if (zerocopy_silent(e, n))
		note_add_of(&t->notes, variant, NULL, zerocopy_one_side, e[best].side);
	else
		note_add_of(&t->notes, variant, NULL, zerocopy_copied,
			    zerocopy_any_asked(e, n, ASKED_ZERO_COPY)
				    ? ", although zero copy was asked for"
			    : zerocopy_any_asked(e, n, ASKED_COPY) ? ", as asked"
								   : "");
}

static int zerocopy_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	struct evidence e[MAX_EVIDENCE];
	struct block_list list;
	bool counted = false;
	int rc = block_list_read(&list, s, q, FOR_FIGURES, err), i, k, n;

	if (!rc)
		zero_copy_title(s, q, t);
	for (i = 0; i < list.n && !rc; i++) {
		const struct block *b = &list.blocks[i].block;
		bool first = !i || strcmp(b->variant, list.blocks[i - 1].block.variant);

		n = zero_copy_evidence(s, q, b->variant, e, err);
		for (k = 0; k < n; k++)
			if (!strcmp(e[k].side, b->side))
				zerocopy_put_evidence(t, b, &e[k]);
		if (n >= 0 && first)
			zerocopy_verdict(t, b->variant, e, n);
		counted |= n > 0;
		rc = n < 0 ? n : zerocopy_put_profile(s, q, b, t, err);
	}
	if (!rc && counted)
		note_add(&t->notes, whole_run, "sends and bytes");
	if (!rc)
		block_list_run_notes(&list, s, t);
	for (i = 0; i < list.n && !rc; i++) /* the cost of copying is from the profiles */
		rc = scope_profile_notes(s, q, &list.blocks[i].block, t, err);
	block_list_free(&list);
	return rc;
}

const struct measure measure_zerocopy = {
	.name = "zerocopy",
	.what = "evidence of zero copy, and a verdict",
	MEASURE_COLUMNS(zerocopy_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS},
	.collectors = "workload",
	.run = zerocopy_run,
};
