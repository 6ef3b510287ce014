/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which option means something for which table. What was given and means nothing is refused: an
 * option that is passed over in silence gives figures that look like an answer. THE TABLES are in
 * option_uses.c: a new table is a row there, a new option a word in the rows that read it.
 */
#ifndef ZC_OPTION_USES_H
#define ZC_OPTION_USES_H

#include "lib/str.h"

#include <argp.h>
#include <stdbool.h>

/* Where a table's figures come from: the same table may read other options of another source. */
enum option_source { OF_CAPTURE, OF_PERF, OF_TEXT, OF_NUMBERS, OPTION_SOURCES };

struct option_uses {
	const char *table;
	/* "variant side run": options that mean something; NULL: there is no such table of this
	 * source */
	const char *of[OPTION_SOURCES];
};

/* A command's tables, ended by a row without a name; one that has no row is not checked. */
struct option_table {
	const char *sources[OPTION_SOURCES]; /* "a capture" */
	const struct option_uses *uses;
};

extern const struct option_table report_option_uses, compare_option_uses, export_option_uses,
	plot_option_uses;

struct options_given {
	const char *names[64];
	int n;
};

/* The option of that key, if it is one of the list. A parser calls this first with each key. */
void options_note(struct options_given *g, const struct argp_option *list, int key);

/* True and why, when an option that was given means nothing. */
bool options_refused(const struct options_given *g, const struct option_table *t, const char *table,
		     enum option_source source, struct str *why);
/* The same of several tables at once: one of them that reads it is enough. */
bool options_refused_by_all(const struct options_given *g, const struct option_table *t,
			    const char *const *tables, size_t n, enum option_source source,
			    struct str *why);

#endif
