/* SPDX-License-Identifier: GPL-2.0-only */
/* The `syscalls` table: its rows, and the two bare files that it is made from. */
#ifndef ZC_SYSCALLS_H
#define ZC_SYSCALLS_H

#include "analyze/scope/measure.h"
#include "analyze/scope/scope.h"
#include "analyze/store/store.h"

/* Rows of the `syscalls` table, from any source: added up by keys, sorted and printed. */

/* The keys of a row in addition to the call. comm is the default; syscall adds no key. */
enum { SYSCALLS_BY_COMM = 1, SYSCALLS_BY_PID = 2, SYSCALLS_BY_TID = 4 };

struct syscall_sums {
	struct syscall_row *rows;
	size_t n, cap;
	unsigned int keys;
	double kib; /* work done in the counted time; NAN if not known */
};

/* Parses the keys of q->by and ignores "variant" and "side". Returns -EINVAL for an unknown key. */
int syscalls_keys(const struct query *q, unsigned int *keys, struct error *err);
/* Sets the table's columns. by_block adds variant and side in front. */
void syscalls_set_columns(struct table *t, unsigned int keys, bool by_block);

/* Adds the calls to the row with the same keys. */
void syscalls_add(struct syscall_sums *s, const struct syscall_row *r);
/*
 * Prints the rows by total time, within the query's limit, and notes on all of them. The block of
 * a file is empty.
 */
void syscalls_put(struct table *t, const struct query *q, struct syscall_sums *s,
		  const struct block *b);

/* The text of note syscalls_times. */
#define SYSCALLS_TIMES \
	"a call's time runs from its entry to its return and includes waiting: it is not CPU time"

/* Returns the KiB of work from --units with --unit KiB, or NAN without them. */
double syscalls_work_kib(const struct query *q);

/* The `syscalls` table from the tracepoints of a perf.data. */

/*
 * Fills `t` from raw_syscalls:sys_enter and sys_exit. A call counts if the recording has both its
 * entry and its return. The row uses the thread's last name. docs/method.md lists the differences
 * from perf trace -s.
 */
int syscalls_from_perf(struct tracepoints *tp, const struct query *q, struct table *t,
		       struct error *err);

#endif
