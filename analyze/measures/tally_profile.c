// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/tally.h"

#include "lib/alloc.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	uint32_t *group_of; /* by cost; PROFILE_NONE: does not count */
	struct map rows;    /* (group, symbol) -> row + 1; ROW_UNWANTED */
	struct map parts;   /* (symbol, idle) -> name of the component */
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

/* Rules may ask for the context where it says more than the function: idle, and unknown programs.
 */
static enum context telling(enum context context)
{
	return context == CTX_IDLE || context == CTX_USER ? context : CTX_UNKNOWN;
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
	uint64_t *known = map_at(&w->parts, (uint64_t)symbol << 3 | telling(context));
	struct function fn;

	if (!*known) {
		fn = (struct function){profile_symbol_name(w->p, symbol),
				       profile_module(w->p, symbol), w->p->dsos[y->dso].kind,
				       telling(context)};
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
			text = context_names[f->spec.keys[i] == BY_CONTEXT ? c->context
									   : telling(c->context)];
		} else if (f->spec.keys[i] == BY_CPU && c->cpu != PROFILE_NONE) {
			snprintf(cpu, sizeof(cpu), "%u", c->cpu);
			text = cpu;
		}
		id[i] = intern_str(&f->strings, text);
	}
}

static uint32_t group_of(struct pass *w, const struct profile_cost *c)
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
	if (w->p->symbols[leaf].unresolved)
		f->unresolved += weight;
	else if (f->spec.components && component_of(w, leaf, c->context) == component_none)
		f->unclassified += weight;
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

static const char *dso_text(const char *name)
{
	const char *slash = *name == '/' ? strrchr(name, '/') : NULL;

	return slash && slash[1] ? slash + 1 : name;
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
					 : profile_symbol_name(w->p, symbol);
			break;
		case BY_DSO:
			key[i] = dso_text(profile_symbol_dso(w->p, symbol));
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

/* The row's place in the fold, or ROW_UNWANTED. */
static int64_t row_of(struct pass *w, uint32_t group, uint32_t symbol)
{
	uint64_t *known = map_at(&w->rows, (uint64_t)group << 32 | symbol);
	const char *key[TALLY_KEYS];
	struct tally *f = w->f;

	if (*known)
		return (int64_t)*known - 2;
	if (!tally_wanted(f->spec.symbol, profile_symbol_name(w->p, symbol)) ||
	    !tally_wanted(f->spec.dso, dso_text(profile_symbol_dso(w->p, symbol)))) {
		*known = 1;
		return ROW_UNWANTED;
	}
	function_keys(w, group, symbol, key);
	*known = (uint64_t)(tally_row(f, key) - f->rows) + 2;
	return (int64_t)*known - 2;
}

static void add_self(struct pass *w, uint32_t group, double *below)
{
	size_t i;

	for (i = 0; i < w->p->ncosts; i++) {
		const struct profile_cost *c = &w->p->costs[i];
		int64_t row;

		if (w->group_of[i] != group)
			continue;
		below[c->frame] += (double)c->weight;
		row = row_of(w, group, w->p->frames[c->frame].symbol);
		if (row == ROW_UNWANTED)
			continue;
		w->f->rows[row].self += (double)c->weight;
		w->f->rows[row].samples += c->samples;
		w->f->rows[row].run_self[w->run] += (double)c->weight;
	}
}

/* `rows`: the row of each frame above, which stands before it. */
static bool above(const struct profile *p, const int64_t *rows, uint32_t frame)
{
	int64_t row = rows[frame];

	while ((frame = p->frames[frame].parent) != PROFILE_NONE)
		if (rows[frame] == row)
			return true;
	return false;
}

/* Frames stand after their parents: backwards, each hands its weight up before it is asked. */
static void add_total(struct pass *w, uint32_t group, double *below, int64_t *rows)
{
	const struct profile *p = w->p;
	size_t i;

	for (i = p->nframes; i-- > 0;)
		if (p->frames[i].parent != PROFILE_NONE)
			below[p->frames[i].parent] += below[i];
	for (i = 0; i < p->nframes; i++) {
		if (!(below[i] > 0))
			continue;
		rows[i] = row_of(w, group, p->frames[i].symbol);
		if (rows[i] == ROW_UNWANTED || above(p, rows, (uint32_t)i))
			continue;
		w->f->rows[rows[i]].total += below[i];
		w->f->rows[rows[i]].run_total[w->run] += below[i];
	}
}

static void tally_groups(struct pass *w, double *below, int64_t *rows)
{
	uint32_t g;

	make_groups(w);
	for (g = 0; g < w->ngroups; g++) {
		memset(below, 0, (w->p->nframes + 1) * sizeof(*below));
		add_self(w, g, below);
		if (w->f->spec.totals)
			add_total(w, g, below, rows);
	}
	free(w->group_of);
	free(w->groups);
	intern_free(&w->group_ids);
	map_free(&w->rows);
	map_free(&w->parts);
}

int tally_profile(struct tally *f, const struct profile *p, int run, struct error *err)
{
	struct pass w = {.f = f, .p = p, .run = run};
	int64_t *rows;
	double *below;
	int rc = pick_event(&w, err);

	if (rc || w.event >= p->nevents)
		return rc;
	below = malloc((p->nframes + 1) * sizeof(*below));
	rows = malloc((p->nframes + 1) * sizeof(*rows));
	if (below && rows)
		tally_groups(&w, below, rows);
	else
		rc = error_set(err, ENOMEM, "no memory for %zu frames", p->nframes);
	free(below);
	free(rows);
	return rc;
}
