/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads ini text, the form of plans:
 *
 *     # a comment, also with ;
 *     [section name]
 *     key = value
 *         a line that starts with a blank continues the value (joined by a newline)
 *
 * There are no comments behind a value, because commands have # and ; in them.
 */
#ifndef ZC_CAPTURE_INI_H
#define ZC_CAPTURE_INI_H

#include "lib/error.h"

struct ini_at {
	const char *path;
	int line;
};

struct ini_handler {
	/* "[side receiver]" gives kind "side" and name "receiver"; "[plan]" has the name "". */
	int (*section)(void *ctx, const struct ini_at *at, const char *kind, const char *name,
		       struct error *err);
	int (*key)(void *ctx, const struct ini_at *at, const char *key, const char *value,
		   struct error *err);
};

/* Sets "<path>:<line>: <text>", returns -EINVAL. */
int ini_error(const struct ini_at *at, struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Reads `text`, which it changes, up to the first error. -EINVAL for bad syntax. */
int ini_parse(const char *path, char *text, const struct ini_handler *h, void *ctx,
	      struct error *err);

#endif
