// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/profile.h"

#include "lib/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const context_names[CTX_N] = {
	[CTX_UNKNOWN] = "unknown", [CTX_USER] = "user",		  [CTX_SYSCALL] = "syscall",
	[CTX_SOFTIRQ] = "softirq", [CTX_HARDIRQ] = "hardirq",	  [CTX_IDLE] = "idle",
	[CTX_KTHREAD] = "kthread", [CTX_EXCEPTION] = "exception",
};

void profile_init(struct profile *p)
{
	*p = (struct profile){0};
}

void profile_free(struct profile *p)
{
	intern_free(&p->strings);
	intern_free(&p->cost_ids);
	map_free(&p->symbol_ids);
	map_free(&p->frame_ids);
	free(p->events);
	free(p->dsos);
	free(p->symbols);
	free(p->frames);
	free(p->costs);
	free(p->kernel_note);
	free(p->dso_note);
	*p = (struct profile){0};
}

uint32_t profile_event(struct profile *p, const char *name, bool is_time)
{
	uint32_t id = intern_str(&p->strings, name), i;

	for (i = 0; i < p->nevents; i++)
		if (p->events[i].name == id)
			return i;
	array_grow(p->events, p->nevents, p->events_cap);
	p->events[p->nevents] = (struct profile_event){.name = id, .is_time = is_time};
	return (uint32_t)p->nevents++;
}

/* Few and asked for once per mapping: a scan is enough. */
uint32_t profile_dso(struct profile *p, const char *name, const char *build_id, enum dso_kind kind)
{
	uint32_t name_id = intern_str(&p->strings, name), i;
	uint32_t bid = build_id ? intern_str(&p->strings, build_id) : PROFILE_NONE;

	for (i = 0; i < p->ndsos; i++)
		if (p->dsos[i].name == name_id && p->dsos[i].build_id == bid)
			return i;
	array_grow(p->dsos, p->ndsos, p->dsos_cap);
	p->dsos[p->ndsos] = (struct profile_dso){.name = name_id, .build_id = bid, .kind = kind};
	return (uint32_t)p->ndsos++;
}

uint32_t profile_symbol(struct profile *p, uint32_t dso, const char *name, bool unresolved)
{
	uint32_t name_id = intern_str(&p->strings, name);
	uint64_t *id = map_at(&p->symbol_ids, (uint64_t)dso << 32 | name_id);

	if (*id)
		return (uint32_t)*id - 1;
	array_grow(p->symbols, p->nsymbols, p->symbols_cap);
	p->symbols[p->nsymbols] = (struct profile_symbol){name_id, dso, unresolved};
	*id = ++p->nsymbols;
	return (uint32_t)*id - 1;
}

uint32_t profile_frame(struct profile *p, uint32_t parent, uint32_t symbol)
{
	uint64_t *id = map_at(&p->frame_ids, (uint64_t)parent << 32 | symbol);

	if (*id)
		return (uint32_t)*id - 1;
	array_grow(p->frames, p->nframes, p->frames_cap);
	p->frames[p->nframes] = (struct profile_frame){parent, symbol};
	*id = ++p->nframes;
	return (uint32_t)*id - 1;
}

void profile_add(struct profile *p, const struct profile_cost *c)
{
	uint32_t key[7] = {c->event, c->cpu, c->comm, c->pid, c->tid, c->context, c->frame};
	uint32_t id = intern_bytes(&p->cost_ids, key, sizeof(key));

	if (id == p->ncosts) {
		array_grow(p->costs, p->ncosts, p->costs_cap);
		p->costs[p->ncosts] = *c;
		p->costs[p->ncosts].samples = p->costs[p->ncosts].weight = 0;
		p->ncosts++;
	}
	p->costs[id].samples += c->samples;
	p->costs[id].weight += c->weight;
}

const char *profile_symbol_name(const struct profile *p, uint32_t symbol)
{
	return intern_get(&p->strings, p->symbols[symbol].name);
}

const char *profile_symbol_dso(const struct profile *p, uint32_t symbol)
{
	return intern_get(&p->strings, p->dsos[p->symbols[symbol].dso].name);
}

const char *profile_module(const struct profile *p, uint32_t symbol)
{
	static char name[256];
	const struct profile_dso *dso = &p->dsos[p->symbols[symbol].dso];
	const char *text = intern_get(&p->strings, dso->name), *base = strrchr(text, '/');

	if (dso->kind == DSO_KERNEL)
		return "kernel";
	snprintf(name, sizeof(name), "%s", base ? base + 1 : text + (*text == '['));
	if (*text == '[' && strchr(name, ']'))
		*strchr(name, ']') = '\0';
	return name;
}
