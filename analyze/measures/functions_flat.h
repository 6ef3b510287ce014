/* SPDX-License-Identifier: GPL-2.0-only */
/* The `functions` table from the text of perf report. */
#ifndef ZC_FUNCTIONS_FLAT_H
#define ZC_FUNCTIONS_FLAT_H

#include "analyze/measures/measure.h"

/*
 * Fills `t`, initialised with the columns of `functions` (and with "comm" where q->by asks for it).
 * Rows of one symbol in one shared object are added up over what else the text tells apart (comm)
 * and then sorted by self, then total. Where none were, they keep the text's order: perf sorts by
 * the children's share where there is one. ns are share x basis where the query knows the basis:
 * --rate, or --units with --busy-ns. -EINVAL where the query asks for what the text does not hold.
 */
int functions_from_flat(const struct flat *flat, const struct query *q, struct table *t,
			struct error *err);

/* -EINVAL where --cpu or --comm asks for what the text does not tell; for every table of it. */
int flat_check_samples(const struct flat *flat, const struct query *q, struct error *err);
/* Which of the text's tables is shown, into the notes of `t`, where there are several. */
void flat_say_tables(const struct flat *flat, struct table *t);

/* Of how many CPUs --rate is the work of. */
void flat_say_cpus(const struct query *q, struct table *t);

#endif
