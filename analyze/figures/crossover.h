/* SPDX-License-Identifier: GPL-2.0-only */
/* Where one curve of figures begins to be better than another, over the values of a setting. */
#ifndef ZC_CROSSOVER_H
#define ZC_CROSSOVER_H

#include "analyze/model/verdict.h"

#include <stdbool.h>
#include <stddef.h>

/* The runs of both variants under one value of the setting. */
struct crossover_point {
	double at;	   /* the value, above 0 if `log` */
	const char *value; /* as the plan writes it */
	const double *base, *new;
	size_t nbase, nnew;
	enum verdict verdict; /* crossover_find sets it, NONE where an end has no runs */
};

/* By the values with a verdict; the others show no difference. */
enum crossover_kind {
	CROSSOVER_NONE,	   /* fewer than two values with runs of both */
	CROSSOVER_BEGINS,  /* new is worse at the lower values and better at the higher ones */
	CROSSOVER_ENDS,	   /* new is better at the lower values and worse at the higher ones */
	CROSSOVER_ALWAYS,  /* new is better at each value */
	CROSSOVER_NEVER,   /* new is worse at each value */
	CROSSOVER_OFTEN,   /* better and worse change places more than once */
	CROSSOVER_UNCLEAR, /* new is not both better and worse, and not each value has a verdict */
};

struct crossover {
	enum crossover_kind kind;
	double at; /* NAN unless new begins or ends to be better, and the lines cross there once */
	/* The 95 % interval. An end is NAN where it lies beyond the measured values. */
	double lo, hi;
	size_t better, worse, n; /* values with a verdict; all values */
	size_t needed;		 /* runs a side that verdicts take; 0: the runs are enough */
};

/*
 * Judges each value and finds the crossover. `points` are in the order of `at`. `better` is +1
 * where more is better, -1 where less is. The verdict at a value is that of the exact Mann-Whitney
 * test, with Holm's correction over the values, and of the threshold. Between two values the
 * logarithm of the ratio of the medians, new / base, is a straight line over `at`, or over its
 * logarithm. The crossing is the zero of that line between the last value with one verdict and the
 * first with the other. Its interval holds the places where the line's own 95 % interval contains 0
 * (Fieller 1954).
 */
struct crossover crossover_find(struct crossover_point *points, size_t n, int better, bool log);

/* Parses "64k", "1500" or "10Gbit/s". `rest` is the text behind the number and its factor. */
bool setting_number(const char *text, double *number, const char **rest);
/* Returns a number as the value `like` is written: "3.01k". The caller frees the text. */
char *setting_text(double x, const char *like);

#endif
