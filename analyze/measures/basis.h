/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What one unit of work costs in all, which shares are then multiplied with (the design's chapter
 * 7):
 *
 *   wall  W = 1e9 / rate x |S|        a CPU that is never idle costs its whole time
 *   busy  B = busy time of S / N      only time that was not idle; samples of the idle context
 *                                     are left out of the shares
 */
#ifndef ZC_BASIS_H
#define ZC_BASIS_H

#include "analyze/measures/measure.h"
#include "analyze/measures/scope.h"

/* --- amounts --- */

/*
 * What costs are counted in, --in: ns, cycles or instructions. Of the same shares, by another
 * basis: cycles(f) = share(f) x cycles of S / N.
 */

const char *amount_name(enum amount in); /* "ns", "cycles", "instructions" */
/* Reads a name of an amount; -EINVAL for another name. */
int amount_parse(const char *name, enum amount *in, struct error *err);

/* "cycles:ppp" and "cpu_core/cycles/P" are the event "cycles". */
bool amount_is_event(const char *event, const char *name);
/* Returns whether the weights of the event are such amounts. Those in ns never are. */
bool amount_counted_by(enum amount in, const char *event);

/* Returns the total and the units of work that the query gives for a bare file; 0: not given. */
double amount_given(const struct query *q);
double amount_units(const struct query *q);

/* Adds a note where shares of one event divide what another event counted. */
void amount_event_note(struct table *t, enum amount in, const char *event);

/* Renames "self_ns" to "self_cycles", in units as well. The table gets columns that it owns. */
void amount_columns(struct table *t, enum amount in);

/* --- work --- */

/*
 * What the work of runs is counted in: KiB where bytes are known, else packets, else messages.
 * Costs are divided by that unless --unit says otherwise (basis.c has the same order).
 */

/* "KiB", "packet", "message"; NULL: the workload gave no account of any. */
const char *work_unit(struct store *s, const struct run *runs, int n);
bool work_is_in(struct store *s, const struct run *runs, int n, const char *unit);

/* As names of columns and figures have it: "kib", "packet", "message", "syscall"; else "unit". */
const char *work_word(const char *unit);

/* "packets, messages": what a rate is known of in any of the runs; "" for nothing. For free(). */
char *work_units(struct store *s, const struct run *runs, int n);

/* Returns how many system calls the run's own processes made in its window; NAN: not counted. */
double calls_of_run(struct store *s, const struct run *r);

/* Calls per unit of work, `rate_metric`'s, over the block's runs that counted them; n 0: none. */
struct estimate calls_per_work(struct store *s, const struct block *b, enum estimator est,
			       const char *rate_metric);

/* --- the basis --- */

struct basis_value {
	double ns;	   /* per unit, or what --in names; NAN: not known, then shares only */
	const char *unit;  /* "KiB"; NULL when ns is NAN */
	bool exclude_idle; /* busy: idle samples do not count */
	char text[384];	   /* the basis in words, or why there is none */
};

/*
 * In cycles or instructions the basis is what was counted of them / N, whichever of the
 * two; idle samples count only where it is `wall`.
 *
 * Of a block: from the measure pass, whose throughput no profiler slowed, else from the profiled
 * runs themselves. -EINVAL for an unknown unit or a rate that makes no sense. All runs of the block
 * have one basis: a query for one run after the other remembers it in q->known.
 */
struct basis_known {
	struct block block; /* variant NULL: none yet */
	struct basis_value value;
};
int basis_of_block(struct store *s, const struct query *q, const struct block *b,
		   struct basis_value *v, struct error *err);

/* Returns the basis of one run in `unit`, by the query's basis and CPUs; NAN: not known. */
double basis_of_run(struct store *s, const struct query *q, const char *unit, const struct run *r);

/* Makes the basis of a bare file from the query. The file has samples of `ncpus` CPUs. */
int basis_of_file(const struct query *q, unsigned int ncpus, struct basis_value *v,
		  struct error *err);

/*
 * In cycles or instructions, the rest of it: where no total was given, the sum of the weights of an
 * event that counts them. `weight` NAN: not known.
 */
void basis_of_weights(const struct query *q, const char *event, double weight,
		      struct basis_value *v);

/* Returns the rate metric of a unit: "rate_kib" of "KiB"; NULL for an unknown unit. */
const char *basis_rate_metric(const char *unit);

/* Warns of costs made from an event that does not sample time, such as page-faults. */
void basis_event_note(struct table *t, const char *event);

#endif
