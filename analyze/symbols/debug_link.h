/* SPDX-License-Identifier: GPL-2.0-only */
/* .gnu_debuglink: the name of a file's separate debug file, and the sum over its bytes. */
#ifndef ZC_DEBUG_LINK_H
#define ZC_DEBUG_LINK_H

#include <stdbool.h>
#include <stdint.h>

struct debug_link {
	char *name; /* without a folder; NULL: none; the caller frees */
	uint32_t sum;
};

struct debug_link debug_link_of(const char *path);

/* Is this the file that the link was made for? Reads all of it. */
bool debug_link_proves(const struct debug_link *link, const char *path);

#endif
