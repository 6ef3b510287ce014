/* SPDX-License-Identifier: GPL-2.0-only */
/* What the store knows of its capture, as charts say it. Strings live until facts_free. */
#ifndef ZC_PLOT_FACTS_H
#define ZC_PLOT_FACTS_H

#include "plot/chart.h"

struct facts {
	struct chart_facts chart;
	struct arena arena;
};

/* `capture`: the path it was given by, for its name where it has none. */
/* `variants`: a name or glob of those to be drawn; NULL: all. -ENOENT: none is like that. */
int facts_read(struct facts *f, struct store *store, const char *capture, const char *variants,
	       struct error *err);
void facts_free(struct facts *f);

/* A source of charts that asks measure_run; `from` is the struct store. */
int facts_table(const struct chart_source *source, const char *name, const struct query *q,
		struct table *t, struct error *err);

/* The same for waterfalls: by `compare`. */
int facts_compare(const struct chart_source *source, const char *const ends[2],
		  const struct query *q, struct table *t, struct outcome *out, struct error *err);

#endif
