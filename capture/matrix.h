/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The matrix of a plan: its settings, their values, and which combinations of them are measured. It
 * is read first, because the rest of a plan is read once for each combination, with its values as
 * variables:
 *
 *     [setting S]    values = V..., what, save, before, after    ${S} is the value
 *     [value S=V]    what, label, save, before, after, and variables of [vars] that it changes
 *     [matrix]       cross = S...          default: all settings, in their order
 *                    exclude = S=V S=V     one line for each combination to leave out; V may be a
 *                                          glob, and S `variant`
 *
 * plan_read.c reads the hooks (save, before, after), because variables in them must be expanded.
 */
#ifndef ZC_CAPTURE_MATRIX_H
#define ZC_CAPTURE_MATRIX_H

#include "capture/ini.h"
#include "lib/words.h"

#include <stdbool.h>
#include <stddef.h>

struct matrix_setting {
	const char *name;
	struct words value;
	const struct ini_entry **section; /* [value S=V] of each value, or NULL */
};

/* Strings and sections belong to the struct ini that the matrix was read from. */
struct matrix {
	struct matrix_setting *setting; /* in the order of the file */
	size_t n, cap;
	size_t *cross; /* indexes into `setting`, the one that changes least often first */
	size_t ncross;
	struct matrix_exclude {
		struct words word; /* each is S=V */
		struct ini_at at;
	} * exclude;
	size_t nexclude, exclude_cap;
};

/* Reads the matrix of a plan. -EINVAL with file:line. The caller frees it in any case. */
int matrix_read(struct matrix *m, const struct ini *ini, struct error *err);
void matrix_free(struct matrix *m);

/* Returns the number of combinations, which is 1 without settings. */
size_t matrix_count(const struct matrix *m);

/* Fills `pick` with combination n: for each setting in `cross` the index of its value. */
void matrix_pick(const struct matrix *m, size_t n, size_t *pick);

/* Return the value of setting cross[i] in a combination, and its section [value S=V] or NULL. */
const char *matrix_value(const struct matrix *m, const size_t *pick, size_t i);
const struct ini_entry *matrix_section(const struct matrix *m, const size_t *pick, size_t i);

bool matrix_excludes(const struct matrix *m, const size_t *pick, const char *variant);

/* Returns the index of a setting in `cross`, or -1. */
int matrix_find(const struct matrix *m, const char *setting, size_t len);

/* Returns the value that a combination has for a variable of [vars], or NULL. */
const struct ini_entry *matrix_var(const struct matrix *m, const size_t *pick, const char *name);

#endif
