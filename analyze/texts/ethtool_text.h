/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `ethtool -S` printed, or the script ethtool_stats.pl. The one prints what was counted so
 * far: two of its outputs in one file, and the seconds between them, tell a rate. The other prints
 * rates, again and again: their mean is taken.
 */
#ifndef ZC_ETHTOOL_TEXT_H
#define ZC_ETHTOOL_TEXT_H

#include "lib/alloc.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ethtool_row {
	const char *interface; /* NULL: the text does not tell */
	const char *name;
	uint64_t first, last; /* of -S */
	unsigned int seen;    /* outputs that have it */
	bool ended;	      /* the last output has it */
	double sum;	      /* of rates */
};

struct ethtool_text {
	struct ethtool_row *rows; /* in the text's order */
	size_t n, cap;
	unsigned int outputs; /* of -S in the file, or rounds of the script */
	bool rates;	      /* the script's */
	struct arena arena;
};

/* Changes `data`, which is NUL-terminated. -EBADMSG names file and line. */
int ethtool_text_parse(const char *name, char *data, size_t len, struct ethtool_text *e,
		       struct error *err);
int ethtool_text_read(const char *path, struct ethtool_text *e, struct error *err);
void ethtool_text_free(struct ethtool_text *e);

#endif
