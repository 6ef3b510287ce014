/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory freed by region: everything from one arena lives until arena_free. */
#ifndef ZC_ARENA_H
#define ZC_ARENA_H

#include <stddef.h>

struct arena {
	struct arena_block *blocks;
	char *at, *end;
};

void *arena_alloc(struct arena *a, size_t size); /* zeroed, aligned to 8 */
void *arena_dup(struct arena *a, const void *p, size_t size);
char *arena_strdup(struct arena *a, const char *s);
void arena_free(struct arena *a);

#endif
