/* SPDX-License-Identifier: GPL-2.0-only */
/* What this process may measure of the kernel. */
#ifndef ZC_RIGHTS_H
#define ZC_RIGHTS_H

#include <stdint.h>

struct rights {
	uint64_t caps; /* the effective capabilities, bits as in linux/capability.h */
	int paranoid;  /* kernel.perf_event_paranoid; 2 where there is none */
};

struct rights rights_of_this_process(void);

#endif
