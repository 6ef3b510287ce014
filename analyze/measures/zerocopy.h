/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Was it zero copy? Answered from independent evidence (the design's chapter 10), and said first
 * wherever a figure of the variant stands.
 */
#ifndef ZC_ZEROCOPY_H
#define ZC_ZEROCOPY_H

#include "analyze/measures/scope.h"

/* What the workload asked the kernel to do with its data. */
enum asked { ASKED_UNKNOWN, ASKED_COPY, ASKED_ZERO_COPY, ASKED_DROP };

struct evidence {
	const char *side;
	const char *what;		 /* "sends, by completion flags" */
	double total, zero_copy, copied; /* NAN: not known, as of what was dropped */
	enum asked asked;
};

/* Of what nobody looked at: the same words wherever it is told. */
#define DROPPED_UNREAD "every byte was dropped unread (upper bound)"

enum { MAX_EVIDENCE = 8 };

/* All evidence of the variant, sums over its figures' runs. Count or -errno. */
int zero_copy_evidence(struct store *s, const struct query *q, const char *variant,
		       struct evidence e[MAX_EVIDENCE], struct error *err);

/* Zero-copy share 0..1 of a side, by its worst evidence; NAN: there is none. */
double zero_copy_share(const struct evidence *e, int n, const char *side);

/* The table's first line, where a variant of the query copied although it asked not to. */
void zero_copy_title(struct store *s, const struct query *q, struct table *t);

/* The same of one variant as a note; none where nothing fell back. */
void zero_copy_notes(struct store *s, const struct query *q, const char *variant, struct table *t);

#endif
