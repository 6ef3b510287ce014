/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gives equal byte strings one small number: 0, 1, 2 ... in the order in which they arrive. It also
 * serves structs that compare by their bytes. Numbers and bytes stay valid until intern_free(). It
 * holds at most 2^32 - 1 entries.
 */
#ifndef ZC_INTERN_H
#define ZC_INTERN_H

#include "lib/alloc.h"

#include <stdint.h>

struct intern {
	struct arena arena;
	struct intern_item *items;
	uint32_t *slots; /* id + 1, 0 is free */
	size_t n, items_cap, cap;
};

#define INTERN_NONE UINT32_MAX

uint32_t intern_bytes(struct intern *in, const void *data, size_t len);
uint32_t intern_str(struct intern *in, const char *s);
uint32_t intern_find(const struct intern *in, const void *data, size_t len); /* or INTERN_NONE */
const char *intern_get(const struct intern *in, uint32_t id);		     /* NUL-terminated */
void intern_free(struct intern *in);

#endif
