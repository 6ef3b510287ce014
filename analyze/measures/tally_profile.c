// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/dso_names.h"
#include "analyze/measures/tally.h"

#include "lib/alloc.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The row that a symbol has in the group it was last asked for in. */
struct symbol_row {
	uint32_t group; /* + 1; 0: none yet */
	int32_t row;	/* of the tally, or ROW_UNWANTED */
};

/*
 * What a frame has below it. `above` has a bit for the row of each frame from the root to it, so
 * that mostly one look says that none of them has a row.
 */
struct frame_sum {
	double weight;
	uint64_t above;
	int32_t row;
};

/* One profile on its way into a fold. A group is a set of samples with equal sample keys. */
struct pass {
	struct tally *f;
	const struct profile *p;
	uint32_t event;
	int run;
	struct group {
		const char *key[TALLY_KEYS]; /* of the sample's own keys only */
	} * groups;
	size_t ngroups, groups_cap;
	struct intern group_ids;
	struct map known_groups; /* what sample_key makes of a cost -> group + 1 */
	uint32_t *group_of;	 /* by cost; PROFILE_NONE: does not count */
	struct symbol_row *rows; /* by symbol */
	struct map parts;	 /* (symbol, idle) -> name of the component */
	struct dso_names dsos;
};

enum { ROW_UNWANTED = -1 };

static int pick_event(struct pass *w, struct error *err)
{
	const struct profile *p = w->p;
	const char *found;
	int rc =
		profile_pick_event(p, w->f->event ? w->f->event : w->f->spec.event, &w->event, err);

	if (rc)
		return rc;
	if (w->event < p->nevents && !w->f->event) {
		found = intern_get(&p->strings, p->events[w->event].name);
		w->f->event = intern_get(&w->f->strings, intern_str(&w->f->strings, found));
	}
	if (p->nevents > w->f->events)
		w->f->events = p->nevents;
	return 0;
}

static const char *comm_of(const struct pass *w, const struct profile_cost *c)
{
	return c->comm == PROFILE_NONE ? "" : intern_get(&w->p->strings, c->comm);
}

static enum context context_named(const char *name)
{
	enum context c = CTX_UNKNOWN;

	while (c < CTX_N && strcmp(context_names[c], name))
		c++;
	return c < CTX_N ? c : CTX_UNKNOWN;
}

static const char *component_of(struct pass *w, uint32_t symbol, enum context context)
{
	const struct profile_symbol *y = &w->p->symbols[symbol];
	uint64_t *known = map_at(&w->parts, (uint64_t)symbol << 3 | components_context(context));
	struct function fn;

	if (!*known) {
		fn = (struct function){profile_symbol_name(w->p, symbol),
				       profile_module(w->p, symbol), w->p->dsos[y->dso].kind,
				       components_context(context)};
		*known = (uintptr_t)components_of(w->f->spec.components, &fn);
	}
	return (const char *)(uintptr_t)*known;
}

/* --- groups --- */

static void sample_keys(const struct pass *w, const struct profile_cost *c, uint32_t id[TALLY_KEYS])
{
	struct tally *f = w->f;
	char cpu[16] = "";
	int i;

	for (i = 0; i < f->spec.nkeys; i++) {
		const char *text = "";

		if (f->spec.keys[i] == BY_COMM) {
			text = comm_of(w, c);
		} else if (f->spec.keys[i] == BY_CONTEXT || f->spec.keys[i] == BY_COMPONENT) {
			text = context_names[f->spec.keys[i] == BY_CONTEXT
						     ? c->context
						     : components_context(c->context)];
		} else if (f->spec.keys[i] == BY_CPU && c->cpu != PROFILE_NONE) {
			snprintf(cpu, sizeof(cpu), "%u", c->cpu);
			text = cpu;
		}
		id[i] = intern_str(&f->strings, text);
	}
}

static uint32_t new_group(struct pass *w, const struct profile_cost *c)
{
	uint32_t id[TALLY_KEYS], group;
	int i;

	sample_keys(w, c, id);
	group = intern_bytes(&w->group_ids, id, (size_t)w->f->spec.nkeys * sizeof(*id));
	if (group == w->ngroups) {
		array_grow(w->groups, w->ngroups, w->groups_cap);
		for (i = 0; i < w->f->spec.nkeys; i++)
			w->groups[group].key[i] = intern_get(&w->f->strings, id[i]);
		w->ngroups++;
	}
	return group;
}

/* The numbers behind the keys: samples that are alike in them are of one group. */
static uint64_t sample_key(const struct pass *w, const struct profile_cost *c)
{
	uint64_t key = 0;
	int i;

	for (i = 0; i < w->f->spec.nkeys; i++) {
		if (w->f->spec.keys[i] == BY_COMM)
			key |= (uint64_t)c->comm << 32;
		else if (w->f->spec.keys[i] == BY_CPU)
			key |= (uint64_t)(c->cpu << 4);
		else if (w->f->spec.keys[i] == BY_CONTEXT || w->f->spec.keys[i] == BY_COMPONENT)
			key |= c->context;
	}
	return key;
}

static uint32_t group_of(struct pass *w, const struct profile_cost *c)
{
	uint64_t *known = map_at(&w->known_groups, sample_key(w, c));

	if (!*known)
		*known = 1 + (uint64_t)new_group(w, c);
	return (uint32_t)*known - 1;
}

/* Counts what a sample adds to the whole, and says whether it belongs to any row. */
static bool count(struct pass *w, const struct profile_cost *c)
{
	struct tally *f = w->f;
	double weight = (double)c->weight;
	uint32_t leaf;

	if (c->event != w->event)
		return false;
	if (f->spec.cpus && (c->cpu == PROFILE_NONE || !cpuset_has(f->spec.cpus, c->cpu)))
		return false;
	if (c->context == CTX_IDLE && f->spec.exclude_idle) {
		f->idle += weight;
		return false;
	}
	leaf = w->p->frames[c->frame].symbol;
	f->weight += weight;
	f->run_weight[w->run] += weight;
	f->samples += c->samples;
	if (w->p->symbols[leaf].unresolved) {
		f->unresolved += weight;
		f->unresolved_by[w->p->symbols[leaf].unresolved] += weight;
	} else if (f->spec.components && component_of(w, leaf, c->context) == component_none) {
		f->unclassified += weight;
	}
	return tally_wanted(f->spec.comm, comm_of(w, c));
}

/* n_eff of the event's samples, less those that were left out. */
static void add_n_eff(struct pass *w, uint64_t kept)
{
	const struct profile_event *e = &w->p->events[w->event];
	double all = (double)e->weight,
	       n_eff = e->weight2 > 0 ? all * all / e->weight2 : (double)e->samples;

	if (e->samples)
		w->f->n_eff += n_eff * ((double)kept / (double)e->samples);
}

static void make_groups(struct pass *w)
{
	uint64_t before = w->f->samples;
	size_t i;

	w->group_of = xcalloc(w->p->ncosts + 1, sizeof(*w->group_of));
	for (i = 0; i < w->p->ncosts; i++)
		w->group_of[i] =
			count(w, &w->p->costs[i]) ? group_of(w, &w->p->costs[i]) : PROFILE_NONE;
	add_n_eff(w, w->f->samples - before);
}

/* --- rows --- */

static const char *dso_text(struct pass *w, uint32_t symbol)
{
	return w->f->spec.tell_dsos ? dso_name(&w->dsos, w->p->symbols[symbol].dso)
				    : dso_base_name(profile_symbol_dso(w->p, symbol));
}

/* A filter may name an object either way. */
static bool dso_wanted(struct pass *w, uint32_t symbol)
{
	const char *pattern = w->f->spec.dso;

	return tally_wanted(pattern, dso_text(w, symbol)) ||
	       tally_wanted(pattern, dso_base_name(profile_symbol_dso(w->p, symbol)));
}

static const char *symbol_text(struct pass *w, uint32_t symbol)
{
	struct intern *in = &w->f->strings;
	char buf[4200];

	if (!w->p->symbols[symbol].unresolved)
		return profile_symbol_name(w->p, symbol);
	return intern_get(in, intern_str(in, profile_symbol_label(w->p, symbol, buf, sizeof(buf))));
}

static void function_keys(struct pass *w, uint32_t group, uint32_t symbol, const char *key[])
{
	const struct tally_spec *spec = &w->f->spec;
	const char *own;
	int i;

	for (i = 0; i < spec->nkeys; i++) {
		own = w->groups[group].key[i];
		switch (spec->keys[i]) {
		case BY_SYMBOL:
			key[i] = spec->merge_unresolved && w->p->symbols[symbol].unresolved
					 ? "[unresolved]"
					 : symbol_text(w, symbol);
			break;
		case BY_DSO:
			key[i] = dso_text(w, symbol);
			break;
		case BY_MODULE:
			own = profile_module(w->p, symbol); /* a buffer of its own */
			key[i] = intern_get(&w->f->strings, intern_str(&w->f->strings, own));
			break;
		case BY_COMPONENT:
			key[i] = component_of(w, symbol, context_named(own));
			break;
		default:
			key[i] = own;
		}
	}
}

static int32_t find_row(struct pass *w, uint32_t group, uint32_t symbol)
{
	const char *key[TALLY_KEYS];
	struct tally *f = w->f;

	if (!tally_wanted(f->spec.symbol, symbol_text(w, symbol)) || !dso_wanted(w, symbol))
		return ROW_UNWANTED;
	function_keys(w, group, symbol, key);
	return (int32_t)(tally_row(f, key) - f->rows);
}

/* The row's place in the tally, or ROW_UNWANTED. */
static int32_t row_of(struct pass *w, uint32_t group, uint32_t symbol)
{
	struct symbol_row *r = &w->rows[symbol];

	if (r->group != group + 1)
		*r = (struct symbol_row){group + 1, find_row(w, group, symbol)};
	return r->row;
}

static void add_self(struct pass *w, uint32_t group, struct frame_sum *sums)
{
	size_t i;

	for (i = 0; i < w->p->ncosts; i++) {
		const struct profile_cost *c = &w->p->costs[i];
		int32_t row;

		if (w->group_of[i] != group)
			continue;
		sums[c->frame].weight += (double)c->weight;
		row = row_of(w, group, w->p->frames[c->frame].symbol);
		if (row == ROW_UNWANTED)
			continue;
		w->f->rows[row].self += (double)c->weight;
		w->f->rows[row].samples += c->samples;
		w->f->rows[row].run_self[w->run] += (double)c->weight;
	}
}

/* Does a frame above have the same row? They stand before it and have theirs. */
static bool counted_above(const struct profile *p, const struct frame_sum *sums, uint32_t frame)
{
	uint64_t bit = 1ULL << (sums[frame].row & 63);
	int32_t row = sums[frame].row;

	while ((frame = p->frames[frame].parent) != PROFILE_NONE && sums[frame].above & bit)
		if (sums[frame].row == row)
			return true;
	return false;
}

/* Frames stand after their parents: backwards, each hands its weight up before it is asked. */
static void add_total(struct pass *w, uint32_t group, struct frame_sum *sums)
{
	const struct profile_frame *frames = w->p->frames;
	struct frame_sum *s;
	size_t i;

	for (i = w->p->nframes; i-- > 0;)
		if (frames[i].parent != PROFILE_NONE)
			sums[frames[i].parent].weight += sums[i].weight;
	for (i = 0; i < w->p->nframes; i++) {
		s = &sums[i];
		if (!(s->weight > 0))
			continue;
		s->row = row_of(w, group, frames[i].symbol);
		s->above = frames[i].parent == PROFILE_NONE ? 0 : sums[frames[i].parent].above;
		if (s->row == ROW_UNWANTED)
			continue;
		s->above |= 1ULL << (s->row & 63);
		if (counted_above(w->p, sums, (uint32_t)i))
			continue;
		w->f->rows[s->row].total += s->weight;
		w->f->rows[s->row].run_total[w->run] += s->weight;
	}
}

static void tally_groups(struct pass *w, struct frame_sum *sums)
{
	uint32_t g;

	make_groups(w);
	for (g = 0; g < w->ngroups; g++) {
		memset(sums, 0, (w->p->nframes + 1) * sizeof(*sums));
		add_self(w, g, sums);
		if (w->f->spec.totals)
			add_total(w, g, sums);
	}
	free(w->group_of);
	free(w->groups);
	intern_free(&w->group_ids);
	map_free(&w->known_groups);
	map_free(&w->parts);
}

int tally_profile(struct tally *f, const struct profile *p, int run, struct error *err)
{
	struct pass w = {.f = f, .p = p, .run = run};
	struct frame_sum *sums;
	int rc = pick_event(&w, err);

	if (rc || w.event >= p->nevents)
		return rc;
	sums = malloc((p->nframes + 1) * sizeof(*sums));
	w.rows = calloc(p->nsymbols + 1, sizeof(*w.rows));
	dso_names_init(&w.dsos, p);
	if (sums && w.rows)
		tally_groups(&w, sums);
	else
		rc = error_set(err, ENOMEM, "no memory for %zu frames", p->nframes);
	dso_names_free(&w.dsos);
	free(sums);
	free(w.rows);
	return rc;
}
