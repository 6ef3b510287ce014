/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the output of `ethtool -S` or of the script ethtool_stats.pl. ethtool -S prints totals:
 * two of its outputs in one file, and the seconds between the outputs, give a rate. The script
 * prints rates repeatedly, and the reader computes the mean of each rate.
 */
#ifndef ZC_ETHTOOL_TEXT_H
#define ZC_ETHTOOL_TEXT_H

#include "lib/alloc.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ethtool_row {
	const char *interface; /* NULL if the text does not name it */
	const char *name;
	uint64_t first, last; /* totals in the first and the last output of -S */
	unsigned int seen;    /* number of outputs with this row */
	bool ended;	      /* the last output has this row */
	double sum;	      /* sum of the rates */
};

struct ethtool_text {
	struct ethtool_row *rows; /* in the text's order */
	size_t n, cap;
	unsigned int outputs; /* outputs of -S, or rounds of the script */
	bool rates;	      /* the text is from the script */
	struct arena arena;
};

/*
 * Parses a text and changes `data`, or reads the file `name` if `data` is NULL. An -EBADMSG error
 * names file and line.
 */
int ethtool_text_parse(const char *name, char *data, size_t len, struct ethtool_text *e,
		       struct error *err);
void ethtool_text_free(struct ethtool_text *e);

#endif
