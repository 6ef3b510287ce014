/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text of `perf report --stdio` (or of perf top), and what people copy from its TUI into mails
 * and slides: rows with one or two percentages, whatever columns stand between, and a symbol with
 * its level mark ([k], [.]). The heading line says which columns there are; without one they are
 * inferred. Call graphs, comments and prose around the rows are passed over.
 *
 * One table of a text is read, the first or that of the event asked for; `tables` says how many
 * there are. What is no table of shares, as the text of perf diff, is refused.
 */
#ifndef ZC_PERF_REPORT_H
#define ZC_PERF_REPORT_H

#include "lib/alloc.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flat_row {
	const char *symbol;	/* "": the text has no such column */
	const char *dso, *comm; /* NULL: the text has no such column */
	char level;		/* k kernel, . user, g u H guest and hypervisor; 0: not marked */
	double self, total;	/* percent; NAN where the text lacks it */
	int64_t samples;	/* -1: the text lacks it */
	unsigned line;
};

struct flat {
	struct flat_row *rows; /* in the text's order */
	size_t n, cap;
	bool has_symbol, has_self, has_total, has_samples, has_dso, has_comm;
	const char *event;  /* NULL: not stated */
	const char *events; /* all that the text has tables of, "cycles, instructions"; or NULL */
	double event_count; /* sum of the periods; NAN: not stated */
	double samples;	    /* NAN: not stated; "119K" is 119000 and `samples_rounded` */
	int64_t lost;	    /* "Total Lost Samples"; -1: not stated */
	unsigned tables;    /* one of them is read */
	unsigned unmarked;  /* lines passed over: a share but no level mark (call chains) */
	bool samples_rounded;
	struct arena strings; /* everything above points into it */
};

/*
 * `name` is for messages, "-" is standard input; changes `data`. `event` chooses a table; NULL: the
 * first. On error `flat` is empty.
 */
int perf_report_parse(const char *name, char *data, size_t len, const char *event,
		      struct flat *flat, struct error *err);
/* The same from a file, "-" for standard input. */
int perf_report_read(const char *path, const char *event, struct flat *flat, struct error *err);
void flat_free(struct flat *flat);

#endif
