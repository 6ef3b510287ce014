// SPDX-License-Identifier: GPL-2.0-only
#include "collect/libperf.h"

#include <perf/core.h>

static int libperf_print_nothing(enum libperf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

void libperf_quiet(void)
{
	libperf_init(libperf_print_nothing);
}
