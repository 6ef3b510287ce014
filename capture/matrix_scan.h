/* SPDX-License-Identifier: GPL-2.0-only */
/* While a plan is read for its matrix: matrix_read.c fills it, matrix_check.c looks at the whole.
 */
#ifndef ZC_CAPTURE_MATRIX_SCAN_H
#define ZC_CAPTURE_MATRIX_SCAN_H

#include "capture/matrix.h"

enum section { OTHER, VARS, SETTING, VALUE, MATRIX };

struct scan {
	struct matrix *m;
	enum section in;
	struct matrix_setting *setting;
	struct matrix_value *value;
	struct words vars, variants; /* names there are */
	char *cross;		     /* as given, checked at the end */
	struct ini_at cross_at;
};

struct matrix_setting *matrix_setting_named(const struct matrix *m, const char *name, size_t len);

/* " 1500 9000"; the caller frees. */
char *matrix_list_values(const struct matrix_setting *s);

/* Everything that may be wrong when nothing more comes; fills m->cross. */
int matrix_check(struct scan *s, const char *path, struct error *err);

#endif
