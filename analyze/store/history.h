/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The history: figures of many captures in one SQLite file (history.sql). It is a struct store, so
 * that store_close() and store_failed() serve it. The functions return as those of store.h do.
 */
#ifndef ZC_STORE_HISTORY_H
#define ZC_STORE_HISTORY_H

#include "analyze/store/store.h"

/* Opens a history. With `write`, makes the file where it is missing, and begins a transaction that
 * store_commit() ends. */
int history_open(struct store **h, const char *path, bool write, struct error *err);

struct history_capture {
	int64_t id;
	const char *name, *created, *host;	    /* together the capture's identity */
	const char *kernel, *nic, *commit, *labels; /* or NULL */
};
/* Adds the capture in place of one with the same identity, and sets its id. */
int history_capture_add(struct store *h, struct history_capture *c, struct error *err);

struct history_setting {
	const char *name, *value;
};
/* Adds the setting, or sets *known to the value that the history has. */
int history_setting_add(struct store *h, const char *variant, const char *side,
			const struct history_setting *s, const char **known, struct error *err);

struct history_series {
	int64_t id;
	const char *variant, *side, *figure, *unit;
	int better;
	bool main; /* compare judges it */
};
/* Adds the values of a capture's runs. */
int history_values_add(struct store *h, const struct history_series *s, int64_t capture,
		       const double *x, size_t n, struct error *err);

/* A run of a capture in a series. */
struct history_value {
	struct history_series s;
	struct history_capture c;
	double day, x; /* day: of the capture's creation, counted from any day */
};
/* Which series. NULL selects all variants, all sides, or the main figures. */
struct history_choice {
	const char *variant, *side, *figure; /* names or globs */
};
/* Reads values by series, by the time of the capture's creation, and by run. */
int history_values(struct store *h, const struct history_choice *choice,
		   struct history_value **rows, struct error *err);

#endif
