/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Texts of other programs instead of a capture. THE TABLE of them is in text_options.c: a further
 * one is a parser in ingest/, a row there, and a member of struct query. An argp child whose input
 * is a struct text_options.
 */
#ifndef ZC_TEXT_OPTIONS_H
#define ZC_TEXT_OPTIONS_H

#include "analyze/ingest/ethtool_text.h"
#include "analyze/ingest/perf_report.h"
#include "analyze/ingest/perf_stat.h"
#include "analyze/ingest/perf_trace.h"
#include "analyze/measures/measure.h"

#include <argp.h>

struct text_options {
	struct query *q;	      /* what is filled in; set before parsing */
	const struct text_kind *kind; /* of the one that was given; NULL: none */
	const char *path;	      /* "-": standard input */
	unsigned given;
	/* what q points to */
	struct flat flat;
	struct trace trace;
	struct perf_stat stat;
	struct ethtool_text ethtool;
};

extern const struct argp text_argp;

/* Reads the text that was given into q. */
int text_read(struct text_options *o, struct error *err);
void text_options_free(struct text_options *o);

#endif
