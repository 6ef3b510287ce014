/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What costs are counted in, --in: ns, cycles or instructions. Of the same shares, by another
 * basis: cycles(f) = share(f) x cycles of S / N.
 */
#ifndef ZC_AMOUNT_H
#define ZC_AMOUNT_H

#include "analyze/measures/measure.h"

const char *amount_name(enum amount in); /* "ns", "cycles", "instructions" */
/* -EINVAL for another name. */
int amount_parse(const char *name, enum amount *in, struct error *err);

/* "cycles:ppp" and "cpu_core/cycles/P" are the event "cycles". */
bool amount_is_event(const char *event, const char *name);
/* Are an event's weights such amounts? Never those of ns. */
bool amount_counted_by(enum amount in, const char *event);

/* Bare files: what the query gives of it in all (--cycles N), and the units done; 0: not given. */
double amount_given(const struct query *q);
double amount_units(const struct query *q);

/* Says so where shares of one event divide what another counted. */
void amount_event_note(struct table *t, enum amount in, const char *event);

/* "self_ns" -> "self_cycles", units as well. Sees to it that the table's columns are its own. */
void amount_columns(struct table *t, enum amount in);

#endif
