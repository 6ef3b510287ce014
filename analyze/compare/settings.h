/* SPDX-License-Identifier: GPL-2.0-only */
/* The settings in which BASE and NEW differ: hosts, network cards, the plan, and CPUs. */
#ifndef ZC_COMPARE_SETTINGS_H
#define ZC_COMPARE_SETTINGS_H

#include "analyze/compare/compare.h"
#include "lib/alloc.h"

struct setting {
	int kind;		       /* the order of the table */
	const char *side;	       /* "": all sides */
	const char *name, *base, *new; /* NULL: this end does not have it */
};

struct settings {
	struct setting *list;
	size_t n, cap;
	struct arena arena;
};

int settings_read(struct settings *s, const struct comparison *c, struct error *err);
void settings_free(struct settings *s);

/* Adds at most `most` lines with a setting that differs, and the number of the others. */
int compare_settings(const struct comparison *c, size_t most, struct str *lines, struct error *err);

#endif
