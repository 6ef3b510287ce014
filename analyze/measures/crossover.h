/* SPDX-License-Identifier: GPL-2.0-only */
/* Where one curve of figures begins to be better than another, over the values of a setting. */
#ifndef ZC_CROSSOVER_H
#define ZC_CROSSOVER_H

#include <stdbool.h>
#include <stddef.h>

/* The runs of both variants under one value of the setting. */
struct crossover_point {
	double at; /* the value, above 0 if `log` */
	const double *base, *new;
	size_t nbase, nnew;
};

enum crossover_kind {
	CROSSOVER_NONE,	   /* fewer than two values with runs of both */
	CROSSOVER_BEGINS,  /* new is worse up to `at`, then better */
	CROSSOVER_ENDS,	   /* new is better up to `at`, then worse */
	CROSSOVER_ALWAYS,  /* new is better at each value, and each difference is significant */
	CROSSOVER_NEVER,   /* new is worse at each value, and each difference is significant */
	CROSSOVER_OFTEN,   /* the lines cross more than once */
	CROSSOVER_UNCLEAR, /* the lines do not cross, and not each difference is significant */
};

struct crossover {
	enum crossover_kind kind;
	double at;
	/* The 95 % interval. An end is NAN where it lies beyond the measured values. */
	double lo, hi;
	int times;		 /* how often the lines cross */
	size_t better, worse, n; /* values with a significant difference; all values */
};

/*
 * Finds the crossover. `points` are in the order of `at`. `better` is +1 where more is better, -1
 * where less is. Between two values the logarithm of the ratio of the medians, new / base, is a
 * straight line over `at`, or over its logarithm. The interval holds the places where that line's
 * own 95 % interval contains 0 (Fieller 1954). Single values are judged by the exact Mann-Whitney
 * test at 0.05.
 */
struct crossover crossover_find(const struct crossover_point *points, size_t n, int better,
				bool log);

/* Parses "64k", "1500" or "10Gbit/s". `rest` is the text behind the number and its factor. */
bool setting_number(const char *text, double *number, const char **rest);
/* Returns a number as the value `like` is written: "3.01k". The caller frees the text. */
char *setting_text(double x, const char *like);

#endif
