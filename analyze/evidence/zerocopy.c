// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/evidence/zerocopy.h"

#include "analyze/costs/costs.h"

#include <math.h>

/* THE TABLE of a workload's evidence, with the metrics. */
static const struct {
	const char *what, *plain; /* name if the workload asked for zero copy, and name if not */
	const char *zero_copy, *copied, *unknown;
	enum direction way;
	bool drops; /* dropped bytes are neither copied nor zero copy */
} sources[] = {
	{"sends, by completion flags", "sends", "sends_zero_copy", "sends_copied", "sends_unknown",
	 SENT, false},
	{"bytes received, mapped or copied", "bytes received", "rx_mapped_bytes", "rx_copied_bytes",
	 "rx_unknown_bytes", RECEIVED, false},
	{"dropped (upper bound)", "dropped (upper bound)", NULL, NULL, "rx_dropped_bytes", RECEIVED,
	 true},
};

static double evidence_sum(struct store *s, const struct run *like, const struct query *q,
			   const char *name)
{
	return name ? store_metric_sum(s, like, q->repeat, name) : NAN;
}

/*
 * Below this part of a side's cost, copies after the send call may be those of other programs, or
 * of a few packets.
 */
static const double late_share = 0.05;

/*
 * Adds that the kernel copied after the send call. Calls with MSG_ZEROCOPY and io_uring only ask,
 * and a program may keep no account of what the kernel answers. The profile has the copies, on the
 * CPUs of either side. Like all of the profile it cannot tell shares. Returns the new count.
 */
static int evidence_add_late(struct store *s, const struct query *q, const struct block *b,
			     struct evidence *e, int n, int max, struct error *err)
{
	const struct query all = {.variant = b->variant};
	const struct evidence *asks = NULL;
	autofree struct block *blocks = NULL;
	struct cost cost;
	const char *unit;
	double late = 0;
	int nblocks, rc;

	for (int i = 0; i < n; i++) {
		if (e[i].way == SENT && !isnan(e[i].zero_copy))
			return n;
		if (e[i].way == SENT && e[i].source == BY_SYSCALLS && e[i].lends)
			asks = &e[i];
	}
	if (!asks || n == max)
		return n;
	nblocks = scope_blocks(s, &all, &blocks, err);
	rc = nblocks < 0 ? nblocks : 0;
	for (int i = 0; i < nblocks && !rc; i++) {
		rc = group_cost(s, q, &blocks[i], "skb_copy_ubufs*", &cost, &unit, err);
		late = fmax(late, cost.share);
	}
	if (rc || late < late_share)
		return rc ? rc : n;
	e[n] = *asks;
	e[n].source = BY_PROFILE;
	e[n].what = "bytes sent, by skb_copy_ubufs in the profile";
	e[n].zero_copy = 0;
	e[n].copied = e[n].total;
	e[n].asked = ASKED_ZERO_COPY;
	return n + 1;
}

/*
 * Returns whether other sources must be read for a variant without an account, for it may have
 * fallen back.
 */
static bool evidence_may_be_late(struct store *s)
{
	autofree const char **names = NULL;
	int n = store_names(s, NAMES_FUNCTION, &names, NULL);
	bool found = false;

	for (int i = 0; i < n && !found; i++)
		found = str_starts(names[i], "skb_copy_ubufs");
	return found;
}

static int evidence_add_side(struct store *s, const struct query *q, const struct block *b,
			     bool counted, struct evidence *e, int max, struct error *err)
{
	struct query every = {.pass = q->pass, .repeat = q->repeat};
	autofree struct run *runs = NULL;
	int n = scope_runs(s, &every, b, FOR_FIGURES, &runs, err), count = 0;
	double runs_that_asked = n > 0 ? evidence_sum(s, runs, q, "asked_zero_copy") : NAN;
	enum asked wish = runs_that_asked > 0	   ? ASKED_ZERO_COPY
			  : isnan(runs_that_asked) ? ASKED_UNKNOWN
						   : ASKED_COPY;
	enum asked asked[DIRECTIONS] = {ASKED_UNKNOWN, ASKED_UNKNOWN};

	for (size_t i = 0; n > 0 && i < array_size(sources) && count < max; i++) {
		double zc = evidence_sum(s, runs, q, sources[i].zero_copy);
		double copied = evidence_sum(s, runs, q, sources[i].copied);
		double unknown = evidence_sum(s, runs, q, sources[i].unknown);
		bool drops = sources[i].drops;
		double total = drops ? unknown : zc + copied + (isnan(unknown) ? 0 : unknown);

		if (!(total > 0))
			continue;
		if (unknown > 0 && !(zc + copied > 0))
			zc = copied = NAN; /* the workload did not report copies */
		asked[sources[i].way] = wish;
		e[count++] = (struct evidence){.side = b->side,
					       .way = sources[i].way,
					       .what = wish == ASKED_ZERO_COPY ? sources[i].what
									       : sources[i].plain,
					       .total = total,
					       .zero_copy = zc,
					       .copied = copied,
					       .asked = drops ? ASKED_DROP : wish};
	}
	if (!count)
		asked[RECEIVED] = asked[SENT] = wish;
	if (n < 0 || !(counted || (!count && evidence_may_be_late(s))))
		return n < 0 ? n : count;
	n = zero_copy_add_counted(s, q, b, asked, e + count, max - count, err);
	n = n < 0 ? n : evidence_add_late(s, q, b, e, count + n, max, err);
	count = n;
	n = n < 0 ? n : zero_copy_add_queues(s, q, b, e + count, max - count, err);
	return n < 0 ? n : count + n;
}

int zero_copy_evidence(struct store *s, const struct query *q, const char *variant, bool counted,
		       struct evidence e[MAX_EVIDENCE], struct error *err)
{
	struct query all = {.variant = variant, .pass = q->pass, .repeat = q->repeat};
	autofree struct block *blocks = NULL;
	int n = scope_blocks(s, &all, &blocks, err), k, count = 0;

	for (int i = 0; i < n; i++) {
		k = evidence_add_side(s, q, &blocks[i], counted, e + count, MAX_EVIDENCE - count,
				      err);
		if (k < 0) {
			n = k;
			break;
		}
		count += k;
	}
	return n < 0 ? n : count;
}

double zero_copy_share(const struct evidence *e, int n, const char *side)
{
	double least = NAN, share;

	for (int i = 0; i < n; i++) {
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
	for (int i = 0; i < n; i++) {
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
	freed(str_free) struct str text = {0};

	zero_copy_print_fallback(&text, variant, e,
				 zero_copy_evidence(s, q, variant, false, e, NULL));
	if (text.len)
		note_add(&t->notes, not_zero_copy, text.buf);
}

bool zero_copy_fell_back(struct store *s, const struct query *q, const char *variant)
{
	freed(table_free) struct table t = {0};

	table_init(&t, "zerocopy", NULL, 0);
	zero_copy_notes(s, q, variant, &t);
	return t.notes.n;
}

void zero_copy_title(struct store *s, const struct query *q, struct table *t)
{
	struct evidence e[MAX_EVIDENCE];
	autofree const char **variants = NULL;
	freed(str_free) struct str text = {0};
	int n, k;

	if (q->figures_only)
		return;
	n = store_variants(s, &variants, NULL);
	for (int i = 0; i < n; i++) {
		if (!str_matches(q->variant, variants[i]))
			continue;
		k = zero_copy_evidence(s, q, variants[i], false, e, NULL);
		zero_copy_print_fallback(&text, variants[i], e, k);
	}
	if (text.len)
		table_title(t, "%s", text.buf);
}

/* --- the table --- */

/* zerocopy: one row per piece of evidence, and a verdict in words. */

static const struct column zerocopy_columns[] = {
	BLOCK_COLUMNS(struct zerocopy_row),
	{MEMBER(struct zerocopy_row, evidence), .type = V_STR, .what = "source of the evidence"},
	{MEMBER(struct zerocopy_row, total), .type = V_REAL, .digits = 1,
	 .what = "sends, bytes, or ns per unit of work"},
	{MEMBER(struct zerocopy_row, zero_copy), .type = V_REAL, .digits = 1,
	 .what = "amount without a copy; empty if not known"},
	{MEMBER(struct zerocopy_row, copied), .type = V_REAL, .digits = 1, .what = "amount copied"},
	{MEMBER(struct zerocopy_row, share), "%", V_REAL, .digits = 2, .what = "zero_copy / total"},
	{MEMBER(struct zerocopy_row, asked), .type = V_STR,
	 .what = "what the workload asked for: zero copy, copy or drop"},
};

const char *const asked_names[] = {
	[ASKED_UNKNOWN] = NULL,
	[ASKED_COPY] = "copy",
	[ASKED_ZERO_COPY] = "zero copy",
	[ASKED_DROP] = "drop",
};

static void zerocopy_put_evidence(struct table *t, const struct block *b, const struct evidence *e)
{
	const char *owner = e->source == BY_QUEUE ? strrchr(e->what, '/') : NULL;
	struct zerocopy_row row = {*b,
				   owner ? arena_printf(&t->arena, "seconds in which %s had %.*s",
							owner + 1, (int)(owner - e->what), e->what)
					 : e->what,
				   e->total,
				   e->zero_copy,
				   e->copied,
				   100 * e->zero_copy / e->total,
				   asked_names[e->asked]};
	struct value *cells = table_add(t, struct zerocopy_row, &row);

	table_set(t, cells, "total", value_count(e->total));
	table_set(t, cells, "zero_copy", value_count(e->zero_copy));
	table_set(t, cells, "copied", value_count(e->copied));
}

static void zerocopy_put_cost(struct table *t, const struct block *b, const char *what,
			      double total, double copied)
{
	table_add(t, struct zerocopy_row,
		  &(struct zerocopy_row){*b, what, total, NAN, copied, NAN, NULL});
}

/*
 * Fills *moves with the directions in which a side moves data, by its n pieces of evidence, or,
 * without evidence, by its sockets.
 */
static int zerocopy_find_directions(struct store *s, const struct block *b,
				    const struct evidence *e, int n, bool moves[DIRECTIONS],
				    struct error *err)
{
	moves[RECEIVED] = moves[SENT] = false;
	for (int i = 0; i < n; i++)
		if (!strcmp(e[i].side, b->side))
			moves[e[i].way] = true;
	if (moves[RECEIVED] || moves[SENT])
		return 0;
	return zero_copy_find_directions(s, b, moves, err);
}

/* Reads the cost of copying in the base, NAN if the side moves no data in this direction there. */
static int zerocopy_read_base(struct store *s, const struct query *q, const struct block *b,
			      enum direction way, double *ns, struct error *err)
{
	struct evidence e[MAX_EVIDENCE];
	bool moves[DIRECTIONS];
	int n = evidence_add_side(s, q, b, true, e, MAX_EVIDENCE, err), rc;

	rc = n < 0 ? n : zerocopy_find_directions(s, b, e, n, moves, err);
	if (rc || (moves[!way] && !moves[way]))
		return rc;
	return copying_read_direction(s, q, b, way, ns, err);
}

/* Returns nothing where the side's role says in which direction it moves data. */
static const char *zerocopy_suffix(struct store *s, const char *side, const bool moves[DIRECTIONS],
				   enum direction way)
{
	if (!(moves[RECEIVED] && moves[SENT]) &&
	    store_side_is(s, side, way == SENT ? "sender" : "receiver"))
		return "";
	return way == SENT ? " that it sends" : " that it receives";
}

/*
 * Adds the cost of copying in one direction: other copies on the side's CPUs do not count. Where
 * nothing says in which direction the side moves data, a direction without a cost has no row.
 * `whose`: the programs that count.
 */
static int zerocopy_put_direction(struct store *s, const struct query *q, const struct block *b,
				  const char *base, const char *whose,
				  const struct basis_value *basis, enum direction way,
				  struct copying *c, struct table *t, struct error *err)
{
	const struct block of_base = {base, b->side};
	freed(str_free) struct str what = {0};
	int rc = copying_read_direction(s, q, b, way, &c->ns, err);

	c->base = base;
	c->unit = basis->unit;
	c->total_ns = basis->ns;
	if (!rc && strcmp(base, b->variant))
		rc = zerocopy_read_base(s, q, &of_base, way, &c->base_ns, err);
	if (rc || isnan(c->ns) || !(c->moves || c->ns > 0 || c->base_ns > 0))
		return rc;
	str_printf(&what, "%s of %s with callees and interrupts, ns/%s", copying_function(way),
		   whose, basis->unit);
	if (!isnan(c->base_ns))
		str_printf(&what, " (%s: %.1f)", base, c->base_ns);
	zerocopy_put_cost(t, b, what.buf, basis->ns, c->ns);
	return 0;
}

/* Adds the cost of functions that copy data, from the profile. */
static int zerocopy_put_profile(struct store *s, const struct query *q, const struct block *b,
				const char *base, struct copying c[DIRECTIONS], struct table *t,
				struct error *err)
{
	struct basis_value basis;
	const char *whose;
	struct cost copy;
	bool alone;
	int rc = copy_cost(s, q, b, &alone, &copy, &basis, err);

	if (rc || isnan(copy.ns))
		return rc;
	whose = alone ? "the workload" : "all programs";
	zerocopy_put_cost(t, b,
			  arena_printf(&t->arena, "copy functions of %s, ns/%s", whose, basis.unit),
			  basis.ns, copy.ns);
	for (int way = 0; way < DIRECTIONS && !rc; way++)
		if (c[way].moves || !c[!way].moves)
			rc = zerocopy_put_direction(s, q, b, base, whose, &basis,
						    (enum direction)way, &c[way], t, err);
	return rc;
}

static int zerocopy_start_copying(struct store *s, const struct block *b, const struct evidence *e,
				  int n, struct copying c[DIRECTIONS], struct error *err)
{
	bool moves[DIRECTIONS];
	int rc = zerocopy_find_directions(s, b, e, n, moves, err);

	for (int way = 0; way < DIRECTIONS; way++)
		c[way] = (struct copying){
			.ns = NAN,
			.base_ns = NAN,
			.moves = moves[way],
			.suffix = zerocopy_suffix(s, b->side, moves, (enum direction)way)};
	return rc;
}

/* Adds the rows and the verdict of a variant. */
static int zerocopy_put_variant(struct store *s, const struct query *q, const char *base,
				const struct block_runs *blocks, int nblocks, struct table *t,
				struct error *err)
{
	const char *variant = blocks->block.variant;
	autofree struct copying(*copying)[DIRECTIONS] = xcalloc((size_t)nblocks, sizeof(*copying));
	struct evidence e[MAX_EVIDENCE];
	int n = zero_copy_evidence(s, q, variant, true, e, err), rc = n < 0 ? n : 0, local;

	for (int i = 0; i < nblocks && !rc; i++) {
		for (int k = 0; k < n; k++)
			if (!strcmp(e[k].side, blocks[i].block.side))
				zerocopy_put_evidence(t, &blocks[i].block, &e[k]);
		rc = rc ?: zerocopy_start_copying(s, &blocks[i].block, e, n, copying[i], err);
		if (!rc && !q->figures_only)
			rc = zerocopy_put_profile(s, q, &blocks[i].block, base, copying[i], t, err);
	}
	for (local = 0; local < nblocks && zero_copy_no_network(s, &blocks[local].block);)
		local++;
	if (!rc && local == nblocks)
		note_add_of(&t->notes, variant, NULL, zerocopy_verdict,
			    "no network transfer: the workload used no socket");
	else if (!rc)
		zero_copy_add_verdict(t, blocks, nblocks, e, n, copying);
	for (int k = 0; k < n; k++)
		if (e[k].source == BY_WORKLOAD) /* equal notes are one line */
			note_add(&t->notes, whole_run, "sends and bytes");
	return rc;
}

static int zerocopy_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	freed(block_list_free) struct block_list list;
	int rc = block_list_read(&list, s, q, FOR_FIGURES, err), end;

	for (int i = 0; i < list.n && !rc; i = end) {
		for (end = i + 1; end < list.n && !strcmp(list.blocks[i].block.variant,
							  list.blocks[end].block.variant);
		     end++)
			;
		rc = zerocopy_put_variant(s, q, copying_base(s, list.blocks[i].block.variant),
					  &list.blocks[i], end - i, t, err);
	}
	if (!rc)
		block_list_run_notes(&list, s, t);
	for (int i = 0; i < list.n && !rc; i++) /* the cost of copying is from the profiles */
		rc = scope_profile_notes(s, q, &list.blocks[i].block, t, err);
	return rc;
}

const struct measure measure_zerocopy = {
	.name = "zerocopy",
	.what = "evidence of zero copy, and a verdict",
	MEASURE_COLUMNS(zerocopy_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "workload-only"},
	.flags = MEASURE_BASE,
	.collectors = "workload syscalls",
	.run = zerocopy_run,
};
