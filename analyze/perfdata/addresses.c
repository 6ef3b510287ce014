// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/addresses.h"

#include "analyze/perfdata/format.h"
#include "lib/alloc.h"

#include <stdlib.h>

enum { CACHE_SIZE = 1 << 13 };

struct cached_place {
	uint64_t addr;
	uint32_t state; /* of the space */
	uint32_t mode;	/* + 1, and whether it is a return address; 0: free */
	struct place place;
};

void addresses_init(struct addresses *a, struct objects *objects)
{
	*a = (struct addresses){.objects = objects, .pid = KERNEL_PID, .version = UINT32_MAX};
	a->spaces.side = &objects->r->side;
	a->cache = xcalloc(CACHE_SIZE, sizeof(*a->cache));
}

void addresses_free(struct addresses *a)
{
	spaces_free(&a->spaces);
	free(a->cache);
}

bool addresses_enter(struct addresses *a, uint32_t pid, uint32_t version)
{
	if (a->pid == pid && a->version == version)
		return true;
	spaces_advance(&a->spaces, version);
	a->pid = pid;
	a->version = version;
	a->user = spaces_get(&a->spaces, pid);
	a->kernel = spaces_get(&a->spaces, KERNEL_PID);
	return false;
}

static struct place look_up(struct addresses *a, uint32_t mode, uint64_t addr, bool ret)
{
	const struct side_ksymbol *program;
	const struct side_map *map;

	switch (mode) {
	case PERF_RECORD_MISC_KERNEL:
		program = spaces_ksymbol(&a->spaces, addr);
		map = spaces_find(&a->spaces, a->kernel, addr);
		return objects_kernel(a->objects, addr, ret, program, map);
	case PERF_RECORD_MISC_USER:
		map = spaces_find(&a->spaces, a->user, addr);
		return objects_user(a->objects, a->pid, addr, ret, map);
	default:
		return objects_other(a->objects, mode, addr);
	}
}

struct place addresses_find(struct addresses *a, uint32_t mode, uint64_t addr, bool ret)
{
	uint32_t state = 0, key = (mode + 1) << 1 | (ret && a->objects->o->inlines);
	struct cached_place *c;

	if (mode == PERF_RECORD_MISC_KERNEL)
		state = a->spaces.kernel_state;
	else if (mode == PERF_RECORD_MISC_USER && a->user)
		state = a->user->state;
	c = &a->cache[(addr ^ addr >> 13 ^ (uint64_t)state * 0x9e3779b1) & (CACHE_SIZE - 1)];
	if (c->addr != addr || c->state != state || c->mode != key)
		*c = (struct cached_place){addr, state, key, look_up(a, mode, addr, ret)};
	return c->place;
}
