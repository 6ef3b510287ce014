/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zcost doctor: what this host can measure and run, why not, and what to do about it. A check is a
 * function that puts one finding or a few; THE TABLE of checks is in doctor.c.
 */
#ifndef ZC_DOCTOR_H
#define ZC_DOCTOR_H

#include "lib/table.h"

#include <stdbool.h>

enum finding {
	FINDING_YES,	/* there, and right */
	FINDING_NO,	/* not there: what needs it cannot be done */
	FINDING_PARTLY, /* it works, but figures suffer */
	FINDING_NOTE,	/* a fact */
};

struct doctor {
	struct table table; /* doctor_columns */
	const char *group;  /* of the check that runs */

	/* what the user gave */
	double rate_gbps, rtt_ms;  /* 0: not given */
	const char *nic;	   /* NULL: all that are up */
	const char *zcrx, *devmem; /* IF:QUEUE to try for real; NULL: none */
};

extern const struct column doctor_columns[5];

/*
 * One finding: `what` is there or not; `todo` may be NULL; the rest says what was found, or why
 * not. doctor_put copies all.
 */
void doctor_put(struct doctor *d, const char *what, enum finding f, const char *todo,
		const char *fmt, ...) __attribute__((format(printf, 5, 6)));

struct check {
	const char *name, *what;
	void (*run)(struct doctor *d);
};
extern const struct check checks[]; /* ends with a NULL name */

/* /sys, /proc/sys, or what ZCOST_SYSFS and ZCOST_PROC name for tests. */
const char *doctor_sys(void);
/* First line of a file below /sys or /proc/sys: "class/net/lo/mtu"; NULL: none. The caller frees.
 */
char *doctor_sys_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *doctor_sysctl(const char *name); /* "net.core.rmem_max" */
/* The n-th number of a sysctl; -1: there is none. */
double doctor_sysctl_number(const char *name, int n);

/* Is there an interface, up, whose driver tells of header split? zcrx and devmem want it. */
bool doctor_any_split(void);
/* How long each interface's receive ring holds what comes at the rate given, or at its own. */
void check_rings(struct doctor *d);

#endif
