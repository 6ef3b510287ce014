/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The basis: the cost of one unit of work, which each share is multiplied by (chapter 7 of the
 * design).
 *
 *   wall  W = 1e9 / rate x |S|        includes idle time
 *   busy  B = busy time of S / N      excludes idle time; the shares then leave out the samples
 *                                     of the idle context
 *   workload  CPU time of the         with --workload-only; the shares are of the samples of the
 *             workload's threads / N  workload's processes
 */
#ifndef ZC_BASIS_H
#define ZC_BASIS_H

#include "analyze/scope/measure.h"
#include "analyze/scope/scope.h"
#include "analyze/scope/work.h"

/* --- amounts --- */

/*
 * The amount that --in selects for costs: ns, cycles or instructions. The shares are the same for
 * each amount, and only the basis differs: cycles(f) = share(f) x cycles of S / N.
 */

const char *amount_name(enum amount in); /* "ns", "cycles", "instructions" */
/* Parses the name of an amount. Returns -EINVAL for an unknown name. */
int amount_parse(const char *name, enum amount *in, struct error *err);

/* Returns whether the weights of the event are in this amount. Always false for ns. */
bool amount_counted_by(enum amount in, const char *event);

/*
 * Renames "self_ns" to "self_cycles", and the column's unit as well. The table then owns its
 * columns.
 */
void amount_columns(struct table *t, enum amount in);

/* --- the basis --- */

struct basis_value {
	double ns;	   /* per unit, in the amount of --in; NAN: not known */
	const char *unit;  /* such as "KiB"; NULL when ns is NAN */
	bool uncounted;	   /* it lacks the unit that the query names */
	bool exclude_idle; /* busy: leave out idle samples */
	bool exclude_irq;  /* workload: the threads' time has no softirqs and interrupts, so the
			      shares leave out their samples */
	char text[384];	   /* describes the basis, or the reason why it is missing */
};

/* The basis of each run of a block that measured it. */
struct basis_runs {
	double *ns;  /* the basis of each run */
	int64_t *id; /* the id of each run in the store */
	size_t n;
	/* the error of the block's basis; it includes that of the calls per unit of work */
	struct stats_error error;
};
/*
 * Reads the basis of a block, and that of each run behind it. The measure pass provides it, because
 * no profiler slows that pass. Without a measure pass, the profiled runs provide it. In cycles or
 * instructions, the basis is their total / N for both `wall` and `busy`; only `wall` includes idle
 * samples. Returns -EINVAL for an unknown unit. The caller frees *runs, also after an error.
 */
int basis_of_block(struct store *s, const struct query *q, const struct block *b,
		   struct basis_value *v, struct basis_runs *runs, struct error *err);
void basis_runs_free(struct basis_runs *runs);

/* Returns -ENODATA when no run that the query asks for counts work in --unit. */
int basis_require_unit(struct store *s, const struct query *q, struct error *err);

/* Fills the basis of a bare file from the query. The file has samples of `ncpus` CPUs. */
int basis_of_file(const struct query *q, unsigned int ncpus, struct basis_value *v,
		  struct error *err);

/*
 * Completes the basis in cycles or instructions when the query gives no total: the total is the
 * sum of the weights of an event that counts the amount. `weight` is NAN when it is not known.
 */
void basis_of_weights(const struct query *q, const char *event, double weight,
		      struct basis_value *v);

/*
 * Adds a note when the event of the shares does not fit the basis `per`: an event such as
 * page-faults does not sample time, and cycles need an event that counts cycles. Adds none if
 * `per` is NAN.
 */
void basis_note_event(struct table *t, double per, enum amount in, const char *event);

#endif
