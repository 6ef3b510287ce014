/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The matrix of a plan: its settings, the values of each, and which of their combinations are
 * measured. Read before all else, since the rest of a plan is read once for each combination, with
 * the values of that one as variables:
 *
 *     [setting S]    values = V..., what, save, before, after    ${S} is the value
 *     [value S=V]    what, label, save, before, after, and variables of [vars] that it changes
 *     [matrix]       cross = S...          default: all settings, as they stand
 *                    exclude = S=V S=V     a line for each combination that is left out; V may be a
 *                                          glob, and S `variant`
 *
 * The hooks (save, before, after) are not kept here: variables hold in them.
 */
#ifndef ZC_CAPTURE_MATRIX_H
#define ZC_CAPTURE_MATRIX_H

#include "capture/ini.h"
#include "capture/words.h"

#include <stdbool.h>
#include <stddef.h>

struct matrix_var {
	char *name, *raw; /* in [vars], and what it is instead */
	struct ini_at at;
};

struct matrix_value {
	char *value;
	char *label; /* in the names of variants: "mtu9000", "gro-off" */
	char *what;  /* "MTU 9000"; as the label when not given */
	struct matrix_var *var;
	size_t nvar, var_cap;
	bool seen; /* has a section of its own */
};

struct matrix_setting {
	char *name, *what;
	struct matrix_value *value;
	size_t n, cap;
};

struct matrix {
	struct matrix_setting *setting; /* as they stand in the file */
	size_t n, cap;
	size_t *cross; /* indexes into `setting`, the slowest first */
	size_t ncross;
	struct matrix_exclude {
		struct words word; /* S=V each */
		struct ini_at at;
	} * exclude;
	size_t nexclude, exclude_cap;
};

/* `text` is the whole plan. -EINVAL with file:line. */
int matrix_read(struct matrix *m, const char *path, const char *text, struct error *err);
void matrix_free(struct matrix *m);

/* How many combinations there are, 1 without settings; the n-th: an index of a value per `cross`.
 */
size_t matrix_count(const struct matrix *m);
void matrix_pick(const struct matrix *m, size_t n, size_t *pick);
const struct matrix_value *matrix_value(const struct matrix *m, const size_t *pick, size_t i);
bool matrix_excludes(const struct matrix *m, const size_t *pick, const char *variant);

/* The place in `cross` of a setting, -1: it is not crossed, or is none. */
int matrix_find(const struct matrix *m, const char *setting);

/* What a combination has a variable of [vars] be instead; NULL: nothing. */
const struct matrix_var *matrix_var(const struct matrix *m, const size_t *pick, const char *name);

#endif
