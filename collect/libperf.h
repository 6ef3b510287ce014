/* SPDX-License-Identifier: GPL-2.0-only */
/* libperf, told to keep its debugging talk to itself. */
#ifndef ZC_LIBPERF_H
#define ZC_LIBPERF_H

void libperf_quiet(void);

#endif
