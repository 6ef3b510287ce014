/* SPDX-License-Identifier: GPL-2.0-only */
/* ${name} in the values of a plan. */
#ifndef ZC_CAPTURE_VARS_H
#define ZC_CAPTURE_VARS_H

#include "lib/error.h"

#include <stddef.h>

struct vars {
	struct var {
		char *name, *value;
	} * var;
	size_t n, cap;
};

const char *vars_get(const struct vars *v, const char *name, size_t len); /* or NULL */
void vars_set(struct vars *v, const char *name, const char *value);	  /* copies */

/* The text with every ${name} replaced, $${ turned into ${. -EINVAL names what is known. */
int vars_expand(const struct vars *v, const char *text, char **out, struct error *err);
void vars_free(struct vars *v);

#endif
