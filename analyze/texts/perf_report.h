/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the text of `perf report --stdio` or of perf top, and copies of the TUI in mails and
 * slides. A row has one or two percentages, any further columns, and a symbol with its level mark
 * ([k], [.]). The heading line names the columns. Without a heading, the reader infers the
 * columns. The reader skips call graphs, comments and prose. The reader uses one table of a text:
 * the first table, or the table of the requested event. `tables` is the number of tables. The
 * reader refuses a text without a table of shares, such as the text of perf diff.
 */
#ifndef ZC_PERF_REPORT_H
#define ZC_PERF_REPORT_H

#include "lib/alloc.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flat_row {
	const char *symbol;
	const char *dso, *comm; /* NULL if the text has no such column */
	char level;		/* k kernel, . user, g u H guest and hypervisor; 0 if unmarked */
	double self, total;	/* percent; NAN if the text lacks it */
	int64_t samples;	/* -1 if the text lacks it */
	unsigned line;
};

struct flat {
	struct flat_row *rows; /* in the text's order */
	size_t n, cap;
	bool has_self, has_total, has_samples, has_dso, has_comm;
	const char *event;  /* NULL if not stated */
	const char *events; /* all events with a table, "cycles, instructions"; or NULL */
	double event_count; /* sum of the periods; NAN if not stated */
	double samples;	    /* NAN if not stated; "119K" is 119000 and sets `samples_rounded` */
	int64_t lost;	    /* "Total Lost Samples"; -1 if not stated */
	unsigned tables;    /* number of tables; the reader uses one */
	unsigned unmarked;  /* skipped lines with a share but no level mark (call chains) */
	bool samples_rounded;
	struct arena strings; /* owns all strings above */
};

/*
 * Parses a text and changes `data`, or reads the file `name` if `data` is NULL; "-" is standard
 * input. `event` selects a table, and NULL selects the first table. On error `flat` is empty.
 */
int perf_report_parse(const char *name, char *data, size_t len, const char *event,
		      struct flat *flat, struct error *err);
void flat_free(struct flat *flat);

#endif
