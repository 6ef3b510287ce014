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
 * struct matrix has no hooks (save, before, after), because variables in them must be expanded.
 */
#ifndef ZC_CAPTURE_MATRIX_H
#define ZC_CAPTURE_MATRIX_H

#include "capture/ini.h"
#include "lib/words.h"

#include <stdbool.h>
#include <stddef.h>

struct matrix_var {
	char *name, *raw; /* the variable, and its value before expansion */
	struct ini_at at;
};

struct matrix_value {
	char *value;
	char *label; /* in the names of variants: "mtu9000", "gro-off" */
	char *what;  /* "MTU 9000" */
	struct matrix_var *var;
	size_t nvar, var_cap;
	bool seen; /* it has a section [value] */
};

struct matrix_setting {
	char *name, *what;
	struct matrix_value *value;
	size_t n, cap;
};

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

/* Reads the matrix from the text of a plan. -EINVAL with file:line. */
int matrix_read(struct matrix *m, const char *path, const char *text, struct error *err);
void matrix_free(struct matrix *m);

/* Returns the number of combinations, which is 1 without settings. */
size_t matrix_count(const struct matrix *m);

/* Fills `pick` with combination n: for each setting in `cross` the index of its value. */
void matrix_pick(const struct matrix *m, size_t n, size_t *pick);

/* Returns the value of setting cross[i] in a combination. */
const struct matrix_value *matrix_value(const struct matrix *m, const size_t *pick, size_t i);
bool matrix_excludes(const struct matrix *m, const size_t *pick, const char *variant);

/* Returns the index of a setting in `cross`, or -1. */
int matrix_find(const struct matrix *m, const char *setting);

/* Returns the value that a combination has for a variable of [vars], or NULL. */
const struct matrix_var *matrix_var(const struct matrix *m, const size_t *pick, const char *name);

#endif
