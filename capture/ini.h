/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads ini text, the form of plans:
 *
 *     # a comment, also with ;
 *     [section name]
 *     key = value
 *         a line that starts with a blank continues the value (joined by a newline)
 *
 * There are no comments behind a value, because commands have # and ; in them. A section may stand
 * once, but [vars] and [matrix] may go on later. A key may stand once in its section.
 */
#ifndef ZC_CAPTURE_INI_H
#define ZC_CAPTURE_INI_H

#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>

struct ini_at {
	const char *path;
	int line;
};

/* A key of a section, or the line that begins a section: then `key` is NULL. */
struct ini_entry {
	const char *kind, *name; /* [side receiver]: "side" and "receiver"; [plan]: "plan" and "" */
	const char *key, *value;
	struct ini_at at;
	int last_line; /* of the value */
};

struct ini {
	char *text;		 /* all strings lie in it */
	struct ini_entry *entry; /* behind the last one stands one without a key */
	size_t n, cap;
};

/* Reads `text`. -EINVAL for bad syntax. The caller calls ini_free() in any case. */
int ini_read(struct ini *ini, const char *path, const char *text, struct error *err);
void ini_free(struct ini *ini);

/* Returns whether the entry is the line that begins a section of this kind. */
bool ini_begins(const struct ini_entry *e, const char *kind);

/* Returns the key of a section that begins at `section`, or NULL, also where `section` is NULL. */
const struct ini_entry *ini_get(const struct ini_entry *section, const char *key);

/* Returns a variable of [vars], or NULL. */
const struct ini_entry *ini_find_var(const struct ini *ini, const char *name, size_t len);

/* Sets "<path>:<line>: <text>", returns -EINVAL. */
int ini_error(const struct ini_at *at, struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Refuses a key that its section does not have. `known` has the keys, with blanks between. */
int ini_unknown_key(const struct ini_entry *e, const char *known, struct error *err);

#endif
