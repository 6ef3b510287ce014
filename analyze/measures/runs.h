/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs as more than one table needs them: their facts, their clocks, what their passes cost. */
#ifndef ZC_RUNS_H
#define ZC_RUNS_H

#include "analyze/measures/measure.h"
#include "analyze/measures/scope.h"
#include "lib/str.h"

/* What a commit message must say of a measurement: kernel, host, command. */

struct run_facts {
	const char *kernel, *host; /* the store's; NULL: unknown */
	char *command;		   /* without the folder of its program; owned, or NULL */
};

/* Of the first such run; NULL: of any variant, any side. */
struct run_facts run_facts_of(struct store *s, const char *variant, const char *side);
void run_facts_free(struct run_facts *f);

/* "Linux 6.18 on host vm" and a newline. */
void run_facts_host(struct str *s, const struct run_facts *f);

/* Above the title of a report for a commit message: host, and each variant's command where one side
 * is asked for. */
void run_facts_title(struct store *s, const struct query *q, struct table *t);

/* Sides on two hosts have two clocks: how they were compared, and what of it reports say. */

/* A host's clock against that of the host that steered. */
struct clock_facts {
	bool known;
	double offset, error;	   /* s, in the first run; certainly within +- error */
	double drift, drift_error; /* ppm, between the first and the last run; NAN: one run */
	double seconds;		   /* that is the distance of these */
};

/* Of all runs on that host. 0 or -errno. */
int clocks_of_host(struct store *s, const char *host, struct clock_facts *f, struct error *err);

/* A note: how far apart the windows of two sides were. Nothing for sides on one host. */
int clocks_note(struct store *s, struct table *t, struct error *err);

/* "65.3 us", "+100.000000001 s"; the caller frees. */
char *clocks_text(double seconds);

/* What the instruments of a pass cost the workload. */

/* A line of the dearest passes of these blocks, where there is a measure pass beside another. */
void passes_note(struct store *s, const struct block_list *list, struct table *t);

#endif
