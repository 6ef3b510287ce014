/* SPDX-License-Identifier: GPL-2.0-only */
/* What several tables need of runs: their facts, their clocks, and the costs of their passes. */
#ifndef ZC_RUNS_H
#define ZC_RUNS_H

#include "analyze/scope/measure.h"
#include "analyze/scope/scope.h"

/* A row of table runs. A figure that is NAN is not known, or not asked for. */
struct runs_row {
	struct block block;
	int64_t position, repeat;
	const char *pass, *status, *host, *cpus, *why;
	double seconds, throughput_gbps, cpu_pct, coverage_pct;
	double window_error_us, readings_us, skew_us, stalled_s, steal_pct, throttled;
};

/* Returns whether two rows are sides of one run, or the same side. */
bool run_is_of(const struct run *a, const struct run *b);
/* Counts each run once for all its sides, which follow each other. It succeeds if all sides do. */
void runs_count(const struct run *runs, int n, size_t *ok, size_t *failed);

/* The facts that a commit message needs: kernel, host and command. */

struct run_facts {
	const char *kernel, *host; /* strings of the store; NULL if unknown */
	char *command;		   /* without the program's directory; owned, may be NULL */
};

/* Returns the facts of the first matching run. NULL matches any variant or any side. */
struct run_facts run_facts_of(struct store *s, const char *variant, const char *side);
void run_facts_free(struct run_facts *f);

/* Prints "Linux 6.18 on host vm" and a newline. */
void run_facts_host(struct str *s, const struct run_facts *f);

/*
 * Adds the host above the title of a report for a commit message. Adds each variant's command if
 * the query asks for one side.
 */
void run_facts_title(struct store *s, const struct query *q, struct table *t);

/* Returns the interface that moved the most bytes, "host/eth0" or "workload/eth0", or NULL. */
const char *run_interface(struct store *s, const struct run *r, struct arena *a, struct error *err);

/* Two hosts have two clocks. These functions report how the clocks were compared. */

/* The difference between a host's clock and the steering host's clock. */
struct clock_facts {
	bool known;
	double offset, error; /* s, in the first run; the true offset is within +- error */
};

/* Reads the clock facts of all runs on the host. Returns 0 or -errno. */
int clocks_of_host(struct store *s, const char *host, struct clock_facts *f, struct error *err);

/* Adds a note on the distance between the windows of two sides. Adds none for sides on one host. */
int clocks_note(struct store *s, struct table *t, struct error *err);

/* Returns "65.3 us" or "+100.000000001 s". The caller frees the text. */
char *clocks_text(double seconds);

/* The throughput that the instruments of a pass cost. */

enum { MEASURE_PASS, PROFILE_PASS, SYSCALLS_PASS, TRACE_PASS, ALL_PASS, PASSES };
extern const char *const stored_passes[PASSES];

/* The rates of work of one block's runs in one pass. */
struct pass_runs {
	struct run *runs;
	double *x;
	int n;
	size_t nx;
};

/*
 * Reads the runs of a pass and their rates of kind *rate. Of the measure pass it reads the first
 * kind from *rate on that the runs have, and sets *rate. The caller frees, also after an error.
 */
int passes_read_pass(struct store *s, const struct query *q, const struct block *b, int pass,
		     int *rate, struct pass_runs *p, struct error *err);
void pass_runs_free(struct pass_runs *p);
/* Returns the loss of the rate of work in percent of that of the measure pass. */
struct estimate pass_cost(enum estimator e, const struct pass_runs *measure,
			  const struct pass_runs *pass);
/*
 * Adds a warning before all other notes if this pass of the block did much more or less work than
 * its measure pass. The largest difference is first. Returns 0 or -errno.
 */
int passes_note_conditions(struct store *s, const struct query *q, const struct block *b, int pass,
			   struct table *t, struct error *err);
/* Sorts the last note, a passes_differ, into those at the front: the largest difference is first.
 */
void passes_sort_last_note(struct notes *list);

#endif
