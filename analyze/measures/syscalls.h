/* SPDX-License-Identifier: GPL-2.0-only */
/* The `syscalls` table: its rows, and the two bare files that it is made from. */
#ifndef ZC_SYSCALLS_H
#define ZC_SYSCALLS_H

#include "analyze/measures/measure.h"
#include "analyze/store/store.h"

/* Rows of the `syscalls` table, whatever counted them: added up by keys, sorted, printed. */

/* What keeps rows apart besides the call: --by comm (the default), pid, tid, syscall (nothing). */
enum { SYSCALLS_BY_COMM = 1, SYSCALLS_BY_PID = 2, SYSCALLS_BY_TID = 4 };

struct syscall_sums {
	struct syscall_row *rows;
	size_t n, cap;
	unsigned int keys;
	double kib; /* work done in the time that was counted; NAN: not known */
	int runs;
};

/* The keys of q->by; "variant" and "side" are passed over. -EINVAL: there is no such key. */
int syscalls_keys(const struct query *q, unsigned int *keys, struct error *err);
/* The table's columns: with variant and side before them, or without. */
void syscalls_set_columns(struct table *t, unsigned int keys, bool by_block);

/* Adds the row to the one that it is not kept apart from. */
void syscalls_add(struct syscall_sums *s, const struct syscall_row *r);
/* Prints the rows, the longest in all first; gives how many: as the query limits them. */
size_t syscalls_put(struct table *t, const struct query *q, struct syscall_sums *s,
		    const char *variant, const char *side);
/* Calls of threads that ended and were added up: the rows have no tid, or no pid. */
uint64_t syscalls_of_ended(const struct syscall_sums *s);
/* Calls that were entered and never left, as text: "exit_group 5, read 1"; "" for none. */
char *syscalls_unfinished(const struct syscall_sums *s);

/* What the times of calls are, for note syscalls_times. */
#define SYSCALLS_TIMES \
	"a call's time runs from its entry to its return and includes waiting: it is not CPU time"

/* KiB of work done, as the query says it (--units and --unit KiB); NAN: it does not. */
double syscalls_work_kib(const struct query *q);

/* The `syscalls` table from the tracepoints of a perf.data. */

/*
 * Fills `t` from raw_syscalls:sys_enter and sys_exit, or, where those are not recorded, from
 * syscalls:sys_enter_* and sys_exit_*. A call counts when both its entry and its return are in the
 * recording, under the name its thread had last: see docs/method.md for where perf trace -s
 * differs.
 */
int syscalls_from_perf(struct tracepoints *tp, const struct query *q, struct table *t,
		       struct error *err);

/* The `syscalls` table from the text of perf trace -s. */

/*
 * Fills `t`, initialised with the columns of `syscalls`: one row per command and system call, the
 * threads of a command added up (mean and standard error by their formulas), the longest in all
 * first; --by syscall adds up the commands, too. ns per KiB and calls per MiB where the query gives
 * the work in KiB (--units, --unit KiB).
 */
int syscalls_from_perf_trace(const struct trace *trace, const struct query *q, struct table *t,
			     struct error *err);

#endif
