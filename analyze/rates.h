/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --rate R[,R...]: units of work per second, as numbers with k, M or G, or as what a link carries
 * of frames of one size: "100Gbit/1536" is 100e9 / (1536 x 8) = 8138020.8 packets per second. The
 * bytes are those on the wire: with preamble, gap and checksum where these are to count.
 */
#ifndef ZC_RATES_H
#define ZC_RATES_H

#include "lib/error.h"

enum { RATES_MAX = 16 };

/* The number of rates, all above 0, or -EINVAL. */
int rates_parse(const char *text, double rates[RATES_MAX], struct error *err);

#endif
