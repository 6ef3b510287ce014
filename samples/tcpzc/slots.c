// SPDX-License-Identifier: GPL-2.0-only
#include "slots.h"

#include <errno.h>
#include <stdlib.h>

enum { POOL = 4 << 20, SLOTS_MIN = 4, SLOTS_MAX = 1024 };

int slots_open(struct flow *f, struct slots *s)
{
	size_t n = POOL / f->size;

	s->n = n < SLOTS_MIN ? SLOTS_MIN : n > SLOTS_MAX ? SLOTS_MAX : (unsigned int)n;
	s->size = f->size;
	s->slot = calloc(s->n, sizeof(*s->slot));
	if (!s->slot)
		return flow_fail(f, ENOMEM, "memory");
	s->mem = memory_get(f, s->n * s->size);
	return s->mem ? 0 : -f->error;
}

void slots_close(struct flow *f, struct slots *s)
{
	memory_put(f, s->mem, s->n * s->size);
	free(s->slot);
}
