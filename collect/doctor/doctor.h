/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zcost doctor: what this host can measure and run, why not, and what to do about it. A check is a
 * function in the file of its subject, which puts one finding or a few, and one row in THE TABLE in
 * doctor.c.
 */
#ifndef ZC_DOCTOR_H
#define ZC_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

enum state {
	STATE_YES,    /* there, and right */
	STATE_NO,     /* not there: what needs it cannot be done */
	STATE_PARTLY, /* it works, but figures suffer */
	STATE_NOTE,   /* a fact */
};

/* Options that only some checks use. */
enum doctor_option {
	DOCTOR_NIC = 1 << 0,
	DOCTOR_PATH = 1 << 1, /* --rate and --rtt */
	DOCTOR_ZCRX = 1 << 2,
	DOCTOR_DEVMEM = 1 << 3
};

struct doctor;

struct check {
	const char *name, *what;
	bool needed;	      /* a finding "no" is a failure unless the user says otherwise */
	unsigned int options; /* that it uses */
	void (*run)(struct doctor *d);
};

struct finding {
	const struct check *of;
	char *what, *why, *todo; /* todo: the way out, or NULL */
	enum state state;
};

struct doctor {
	struct finding *found;
	size_t n, cap;
	const struct check *running;
	bool split; /* an interface reports header split */

	/* options of the command line */
	double rate_gbps, rtt_ms;  /* 0 if not given */
	const char *nic;	   /* if NULL, all that are up */
	const char *zcrx, *devmem; /* IF:QUEUE to try for real; NULL: none */
};

/*
 * Adds a finding. `what` is the thing that is there or not. `todo` is the way out and may be NULL.
 * The rest says what was found, or why the thing is not there. All of it is copied.
 */
void doctor_put(struct doctor *d, const char *what, enum state state, const char *todo,
		const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Puts a finding when no driver reports header split: zcrx and devmem need it. */
void doctor_put_split(struct doctor *d);

/* Puts how long each interface's receive ring holds what arrives at --rate, or at its own rate. */
void doctor_put_rings(struct doctor *d);

/* The checks of THE TABLE. */
void doctor_check_perf(struct doctor *d);
void doctor_check_syscalls(struct doctor *d);
void doctor_check_events(struct doctor *d);
void doctor_check_power(struct doctor *d);
void doctor_check_io_uring(struct doctor *d);
void doctor_check_msg_zerocopy(struct doctor *d);
void doctor_check_zcrx(struct doctor *d);
void doctor_check_devmem(struct doctor *d);
void doctor_check_nic(struct doctor *d);
void doctor_check_sysctls(struct doctor *d);
void doctor_check_cpus(struct doctor *d);
void doctor_check_path(struct doctor *d);

#endif
