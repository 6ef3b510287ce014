/* SPDX-License-Identifier: GPL-2.0-only */
/* The one clock of every raw file: CLOCK_MONOTONIC, nanoseconds. */
#ifndef ZC_CLOCK_H
#define ZC_CLOCK_H

#include <stdint.h>

uint64_t clock_mono_ns(void);

#endif
