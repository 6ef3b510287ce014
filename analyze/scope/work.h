/* SPDX-License-Identifier: GPL-2.0-only */
/* The work that runs did: its unit, its rate and its amount in the window. */
#ifndef ZC_WORK_H
#define ZC_WORK_H

#include "analyze/scope/scope.h"
#include "workload/workload.h"

/*
 * The unit of work of runs is KiB where bytes are known, else packets, else messages. --unit
 * overrides the unit.
 */

/* The units in texts: WORK_UNITS(WORK_UNIT_COMMA) "KiB and syscall". */
#define WORK_UNIT_PIPE(id, unit, units)	 unit "|"
#define WORK_UNIT_COMMA(id, unit, units) unit ", "

/* A unit of work, its spelling in names of columns, and the metric with its rate or NULL. */
struct work_kind {
	const char *unit, *word, *rate;
};
#define WORK_COUNT(...) +1
enum { WORK_KINDS = 2 WORK_UNITS(WORK_COUNT) };
extern const struct work_kind work_kinds[WORK_KINDS];

/* Returns the kind of unit of that name, in any case, of KiB for NULL, or NULL for no unit. */
const struct work_kind *work_kind_find(const char *unit);

/* Returns "KiB", "packet" or "message", or NULL when the workload counted no work. */
const char *work_unit(struct store *s, const struct run *runs, int n);
/* Returns the rate metric of a unit, such as "rate_kib" for "KiB", or NULL for an unknown unit. */
const char *work_rate_metric(const char *unit);
/*
 * Returns the unit as names of columns and metrics spell it: "kib", "packet", "message" or
 * "syscall", else "unit".
 */
const char *work_word(const char *unit);

/*
 * Returns the units with a rate in any of the runs, such as "packet, message", or "". The caller
 * frees the string.
 */
char *work_units(struct store *s, const struct run *runs, int n);

/*
 * Returns the work of the whole window at the measured rate: KiB for "rate_kib". A total over the
 * window divided by it is the ratio of two rates, also where the workload accounts for a part of
 * the window only. The metric `bytes` is the work of that part. Returns NAN where no work was done
 * or none is known.
 */
double work_in_window(struct store *s, const struct run *r, const char *rate_metric);

/* Returns the busy ns per second of some CPUs (NULL: all CPUs of the side) in one run, or NAN. */
double busy_rate(struct store *s, const struct run *r, const struct cpuset *cpus);
/*
 * Returns the CPU time of a unit of work in ns: of the side's CPUs that the query selects, or of
 * the workload's processes with --workload-only. All costs per unit of work of a run are this one.
 */
double work_time(struct store *s, const struct query *q, const struct run *r,
		 const char *rate_metric);

/*
 * Returns a rate of the whole transfer, such as "throughput": what passed its sides once. Any run
 * of the repeat has it; of one receiver and one sender it is that of `r`.
 */
double transfer_rate(struct store *s, const struct run *r, const char *rate_metric);

/*
 * Returns the side's part of the work of the transfer, or NAN. A total adds up the sides' costs per
 * unit of their own work, each times this part.
 */
double transfer_part(struct store *s, const struct run *r);

/*
 * Says how long a packet of the runs is, if that is known, behind the words `before`. An interface
 * without a wire, as veth, counts an aggregate of GSO as one packet: then a packet is longer than
 * the MTU and an Ethernet header.
 */
void work_print_packet(struct str *out, const char *before, struct store *s, const struct run *runs,
		       int n);
/* Says the same of all runs of a query whose unit is the packet. */
void work_print_packets(struct str *out, struct store *s, const struct query *q);

/* Factors that turn an amount per KiB into an amount per byte, per MiB and per 1e9 bytes. */
#define PER_BYTE (1.0 / 1024)
#define PER_MIB	 1024.0
#define PER_GB	 (1e9 / 1024)

/* Returns how many system calls the run's processes made in its window. NAN: not counted. */
double calls_of_run(struct store *s, const struct run *r);

/*
 * Returns the calls per unit of work over all runs of the block that counted calls, with
 * their standard error. rate_metric names the rate of work. n is 0 when no run counted calls.
 */
struct estimate calls_per_work(struct store *s, const struct block *b, enum estimator est,
			       const char *rate_metric, struct stats_error *error);

#endif
