/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the output of `perf stat`: its text in any locale, and `-x,`. The reader ignores perf's
 * comments ("# 2.01 insn per cycle"), because zcost computes such figures from the counts.
 */
#ifndef ZC_PERF_STAT_H
#define ZC_PERF_STAT_H

#include "lib/alloc.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>

enum stat_state { STAT_COUNTED, STAT_NOT_COUNTED, STAT_NOT_SUPPORTED };

struct stat_counter {
	const char *event; /* as perf printed it, with its modifiers: "cycles:k" */
	const char *unit;  /* "msec", "Joules"; NULL for a plain count */
	enum stat_state state;
	double value;	    /* scaled by perf if events shared counters; NAN if not counted */
	double error_pct;   /* -r: standard error in percent of the mean; NAN if not stated */
	double running_pct; /* share of the time in which it counted; NAN if not stated */
};

struct perf_stat {
	struct stat_counter *counters; /* in the text's order */
	size_t n, cap;
	double elapsed_s, user_s, system_s; /* NAN if not stated */
	double elapsed_pct;		    /* standard error in percent, as error_pct */
	unsigned runs;			    /* runs of -r; 0 if not stated */
	unsigned blocks; /* number of "Performance counter stats for"; only the first block is read
			  */
	struct arena strings;
};

/*
 * Parses a text and changes `data`, or reads the file `name` if `data` is NULL; "-" is standard
 * input. On error `st` is empty.
 */
int perf_stat_parse(const char *name, char *data, size_t len, struct perf_stat *st,
		    struct error *err);
void perf_stat_free(struct perf_stat *st);

#endif
