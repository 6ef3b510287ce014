/* SPDX-License-Identifier: GPL-2.0-only */
/* What a commit message must say of a measurement: kernel, host, command. */
#ifndef ZC_RUN_FACTS_H
#define ZC_RUN_FACTS_H

#include "analyze/measures/measure.h"
#include "lib/str.h"

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

#endif
