/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of the runs of a block: what each counted in the window, per second, per MiB of work.
 * The rows are the metrics whose names begin alike ("snmp:"), with a value for each run.
 */
#ifndef ZC_CHANGES_H
#define ZC_CHANGES_H

#include "analyze/measures/scope.h"

struct change_row {
	const char *name; /* without the beginning; a string of the store */
	const char *unit;
	double *x;	 /* by run; NAN: the run does not have it */
	double *seconds; /* by run, in which it was known; NULL: in all of the window */
};

struct changes {
	const struct block_runs *b;
	enum estimator estimator;
	double *seconds, *mib;	/* by run; NAN: not known */
	struct change_row *row; /* by name, numbers in it as numbers */
	size_t n, cap;
};

enum change_as { AS_COUNT, AS_PER_SECOND, AS_PER_MIB };

/* All metrics of the block's runs that begin with `prefix`. -errno; freed by the caller either way.
 */
int changes_read(struct changes *c, struct store *s, const struct block_list *list,
		 const struct block_runs *b, const char *prefix, struct error *err);
void changes_free(struct changes *c);
/* Metrics `prefix`NAME say for how long the counter NAME was known. */
int changes_known(struct changes *c, struct store *s, const struct block_list *list,
		  const char *prefix, struct error *err);

struct estimate changes_estimate(const struct changes *c, const struct change_row *row,
				 enum change_as as);

/* Returns whether the counter moved in any run. */
bool change_happened(const struct changes *c, const struct change_row *row);

/* Returns the row of that name, or NULL. */
const struct change_row *changes_find(const struct changes *c, const char *name);

/* Sets count, per_s with its interval, per_mib and runs, as far as the table has such columns. */
void changes_put(const struct changes *c, const struct change_row *row, struct table *t,
		 struct value *cells);

/* Says that nothing was measured of what the table is of, and why. */
void changes_nothing(struct store *s, struct table *t);
/* Says which of the `found` counters are shown, or that none was measured. */
void changes_note(struct store *s, const struct query *q, size_t found, struct table *t);

/* What a counter of the network stack or of an interface tells of, where that is trouble. */

/*
 * "retransmit", "drop", "prune", "copy" (the kernel copied payload by itself, which zero copy is
 * there to avoid), "pressure", "error"; NULL: nothing of that.
 */
const char *snmp_kind(const char *name);
/* Of an interface, whoever made its driver: "drop", "error"; NULL. */
const char *nic_kind(const char *name);

#endif
