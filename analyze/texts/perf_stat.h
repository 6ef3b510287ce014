/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `perf stat` printed: its text in any locale, `-x,` and `-j`; one CPU, thread, socket or
 * interval a row (-A, --per-*, -I) or all in one. perf's own comments ("# 2.01 insn per cycle") are
 * not read: who wants such figures works them out of the counts.
 */
#ifndef ZC_PERF_STAT_H
#define ZC_PERF_STAT_H

#include "lib/alloc.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>

enum stat_state { STAT_COUNTED, STAT_NOT_COUNTED, STAT_NOT_SUPPORTED };

struct stat_counter {
	const char *event; /* as printed, with its modifiers: "cycles:k" */
	const char *unit;  /* "msec", "Joules"; NULL: a plain count */
	enum stat_state state;
	double value;	    /* scaled by perf where counters were shared; NAN: not counted */
	double error_pct;   /* -r: standard error of the mean in percent of it; NAN: not said */
	double running_pct; /* part of the time it counted; NAN: not said */
	unsigned parts;	    /* rows added up */
	unsigned line;
};

struct perf_stat {
	struct stat_counter *counters; /* in the text's order */
	size_t n, cap;
	double elapsed_s, user_s, system_s; /* NAN: not said */
	double elapsed_pct;		    /* as error_pct */
	unsigned runs;			    /* of -r; 0: not said */
	unsigned blocks;		    /* "Performance counter stats for": the first is read */
	unsigned repeated;		    /* rows of an event that was there: the first is kept */
	struct arena strings;
};

/* `name` is for messages, "-" is standard input; changes `data`. On error `st` is empty. */
int perf_stat_parse(const char *name, char *data, size_t len, struct perf_stat *st,
		    struct error *err);
/* The same from a file, "-" for standard input. */
int perf_stat_read(const char *path, struct perf_stat *st, struct error *err);
void perf_stat_free(struct perf_stat *st);

#endif
