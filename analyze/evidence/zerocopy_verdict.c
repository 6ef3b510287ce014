// SPDX-License-Identifier: GPL-2.0-only
/* The verdict on a variant, by all sources of evidence together. */
#include "analyze/evidence/zerocopy.h"

#include <math.h>

/* A side's zero-copy share by its sources; NAN: not known. */
struct side_shares {
	double share, least, most, by_profile;
	bool by[BY_PROFILE + 1], profile;
	bool later; /* the kernel copied after the send call */
};

/* The sources, the best first. */
static const struct {
	enum evidence_source source;
	const char *name;
} ranked[] = {
	{BY_KERNEL, "the kernel's own count"},
	{BY_WORKLOAD, "the workload's account"},
	{BY_SYSCALLS, "system calls"},
};

static bool evidence_is_of(const struct evidence *e, const char *side, enum direction way)
{
	return e->way == way && !strcmp(e->side, side);
}

static double side_share_by(struct side_shares *v, const struct evidence *e, int n,
			    const char *side, enum direction way, enum evidence_source source)
{
	double least = NAN, share;

	for (int i = 0; i < n; i++) {
		share = e[i].zero_copy / e[i].total;
		if (!evidence_is_of(&e[i], side, way) || e[i].source != source || isnan(share))
			continue;
		least = fmin(least, share);
		v->least = fmin(v->least, share);
		v->most = fmax(v->most, share);
		v->by[source] = true;
	}
	return least;
}

/*
 * Returns whether the kernel may copy what the side sends after the send call, where the profile of
 * the copy from the program does not see it: MSG_ZEROCOPY and io_uring lend pages, and a device or
 * a socket of the same host may want a copy of the data.
 */
static bool side_lends_pages(const struct evidence *e, int n, const char *side)
{
	return array_find(one, e, n,
			  evidence_is_of(one, side, SENT) &&
				  (one->asked == ASKED_ZERO_COPY ||
				   (one->source == BY_SYSCALLS && isnan(one->zero_copy))));
}

static struct side_shares side_shares_of(const struct evidence *e, int n, const char *side,
					 enum direction way, const struct copying *c)
{
	struct side_shares v = {.share = NAN, .least = NAN, .most = NAN};
	/* A base that copies nothing to speak of compares with nothing. */
	double ratio = c->base_ns > 0.01 * c->total_ns ? c->ns / c->base_ns : NAN, share;

	for (size_t i = 0; i < array_size(ranked); i++) {
		share = side_share_by(&v, e, n, side, way, ranked[i].source);
		v.share = isnan(v.share) ? share : v.share;
	}
	if (isnan(v.share)) {
		v.share = side_share_by(&v, e, n, side, way, BY_PROFILE);
		v.later = v.by[BY_SYSCALLS] = !isnan(v.share); /* the calls that asked */
	}
	/*
	 * The profile cannot tell shares: it says only whether nearly nothing is copied any more. A
	 * copy out of a near cache can cost a tenth of one from memory. Where nothing says that the
	 * side moves data in this direction, no copy means nothing.
	 */
	v.by_profile = ratio < 0.02 && c->moves ? 1 : ratio > 0.5 ? 0 : NAN;
	if (v.by_profile == 1 && !(v.share >= 0.9) && way == SENT && side_lends_pages(e, n, side)) {
		v.by_profile = NAN;
		v.later = !isnan(v.share);
	}
	v.profile = v.later || !isnan(v.by_profile);
	if (isnan(v.share))
		v.share = v.by_profile;
	return v;
}

/* Adds the shares of a side whose sources differ by more than a tenth. Returns whether they do. */
static bool side_shares_disagree(struct table *t, const struct block *b, enum direction way,
				 const struct side_shares *v, const struct evidence *e, int n,
				 const struct copying *c)
{
	freed(str_free) struct str text = {0};

	if (!(fmax(v->most, v->by_profile) - fmin(v->least, v->by_profile) > 0.1))
		return false;
	for (int i = 0; i < n; i++)
		if (evidence_is_of(&e[i], b->side, way) && !isnan(e[i].zero_copy))
			str_printf(&text, "%s %.1f %% (%s)",
				   text.len ? "," : "The share of zero copy is",
				   100 * e[i].zero_copy / e[i].total, e[i].what);
	if (!isnan(v->by_profile))
		str_printf(&text, "%s%s with callees costs %.1f ns/%s, %.1f in %s",
			   text.len ? ". " : "", copying_function(way), c->ns, c->unit, c->base_ns,
			   c->base);
	note_add_of(
		&t->notes, b->variant, NULL, zerocopy_verdict,
		arena_printf(
			&t->arena,
			"no verdict for the %s%s, because its sources contradict each other. %s",
			b->side,
			!*c->suffix   ? ""
			: way == SENT ? " as a sender"
				      : " as a receiver",
			text.buf));
	return true;
}

/* Appends "97.9 to 99.8 %", or "97.9 %" if both are the same. */
static void side_print_range(struct str *s, double low, double high)
{
	str_printf(s, "%.1f", 100 * low);
	if (round(1000 * low) < round(1000 * high))
		str_printf(s, " to %.1f", 100 * high);
	str_puts(s, " %");
}

/* Appends the sources of a side: " (from the kernel's own count, profile)". */
static void side_print_sources(struct str *s, const struct side_shares *v)
{
	const char *separator = " (from ";

	for (size_t i = 0; i < array_size(ranked); i++)
		if (v->by[ranked[i].source]) {
			str_printf(s, "%s%s", separator, ranked[i].name);
			separator = ", ";
		}
	if (v->profile)
		str_printf(s, "%sprofile", separator);
	str_puts(s, ")");
}

/*
 * Appends "the receiver does not copy 97.9 to 99.8 % of its data". `suffix`: " that it sends", or
 * nothing.
 */
static void side_shares_print(struct str *s, const char *side, const char *suffix,
			      const struct side_shares *v)
{
	double low = fmin(v->share, v->least), high = fmax(v->share, v->most);

	str_printf(s, "%sthe %s ", s->len ? ", " : "", side);
	if (low >= 0.9995) {
		str_printf(s, "does not copy%s%s", *suffix ? " a byte" : "", suffix);
	} else if (high <= 0.01) {
		str_printf(s, "copies every byte%s", suffix);
	} else {
		str_puts(s, v->share < 0.5 ? "copies " : "does not copy ");
		if (v->share < 0.5)
			side_print_range(s, 1 - high, 1 - low);
		else
			side_print_range(s, low, high);
		str_printf(s, " of %s data%s", *suffix ? "the" : "its", suffix);
	}
	str_puts(s, v->later ? " after the send call" : "");
	side_print_sources(s, v);
}

/*
 * Appends the verdict of all sources on each side, such as "the sender does not copy (from system
 * calls, profile), the receiver copies every byte (from system calls)". Returns whether sources of
 * a side disagree.
 */
static bool zerocopy_print_sides(struct str *s, struct table *t, const struct block_runs *blocks,
				 int nblocks, const struct evidence *e, int n,
				 const struct copying (*copying)[DIRECTIONS])
{
	bool disagree = false, of_side;

	for (int i = 0; i < DIRECTIONS * nblocks; i++) {
		const struct block *b = &blocks[i / DIRECTIONS].block;
		const enum direction way = i % DIRECTIONS;
		const struct copying *c = &copying[i / DIRECTIONS][way];
		struct side_shares v = side_shares_of(e, n, b->side, way, c);

		of_side = side_shares_disagree(t, b, way, &v, e, n, c);
		disagree |= of_side;
		if (!of_side && !isnan(v.share))
			side_shares_print(s, b->side, c->suffix, &v);
	}
	return disagree;
}

bool zero_copy_one_host(const struct block_runs *blocks, int n)
{
	const char *first = blocks->n ? blocks->runs->host : NULL;

	for (int i = 1; i < n && first; i++)
		if (!blocks[i].n || !blocks[i].runs->host || strcmp(blocks[i].runs->host, first))
			return false;
	return n > 1 && first;
}

/* Appends what fell back to copying, and what the workload dropped. */
static void zerocopy_print_asked(struct str *s, const struct evidence *e, int n, bool one_host)
{
	bool dropped = false;

	for (int i = 0; i < n; i++) {
		const char *owner = e[i].source == BY_QUEUE ? strrchr(e[i].what, '/') : NULL;

		dropped |= e[i].asked == ASKED_DROP;
		if (owner && e[i].copied > 1e-6 * e[i].total)
			str_printf(
				s,
				"%s%s did not have %.*s for %.1f of %.1f s, when the kernel can only copy",
				s->len ? ". " : "", owner + 1, (int)(owner - e[i].what), e[i].what,
				e[i].copied, e[i].total);
		if (e[i].source == BY_WORKLOAD && e[i].asked == ASKED_ZERO_COPY &&
		    e[i].copied > 0.1 * e[i].total)
			str_printf(s,
				   "%sZero copy was asked for: the kernel copied %.1f %% of %s%s",
				   s->len ? ". " : "", 100 * e[i].copied / e[i].total, e[i].what,
				   e[i].way == SENT && one_host
					   ? "; it copies packets that stay on the host"
					   : "");
	}
	if (dropped)
		str_printf(
			s,
			"%sthe receiver dropped the bytes unread (MSG_TRUNC): an upper bound for receiving, not zero copy",
			s->len ? "; " : "");
}

void zero_copy_add_verdict(struct table *t, const struct block_runs *blocks, int nblocks,
			   const struct evidence *e, int n, const struct copying (*c)[DIRECTIONS])
{
	freed(str_free) struct str s = {0};
	bool disagree = zerocopy_print_sides(&s, t, blocks, nblocks, e, n, c);

	zerocopy_print_asked(&s, e, n, zero_copy_one_host(blocks, nblocks));
	if (!s.len && !disagree)
		str_puts(&s, "no evidence: the workload does not report how its data were moved");
	if (s.len)
		note_add_of(&t->notes, blocks->block.variant, NULL, zerocopy_verdict, s.buf);
}
