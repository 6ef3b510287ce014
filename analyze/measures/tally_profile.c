// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/tally.h"

#include "analyze/measures/basis.h"
#include "lib/alloc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The row that a symbol has in the group it was last asked for in. */
struct tally_symbol_row {
	uint32_t group; /* + 1; 0: none yet */
	int32_t row;	/* of the tally, or ROW_UNWANTED */
};

/*
 * What a frame has below it in one group of one run, the turn. `above` has a bit for the row of
 * each frame from the root to it, so that mostly one look says that none of them has a row.
 */
struct frame_sum {
	double weight;
	uint64_t above;
	int32_t row;
	uint32_t turn;
};

/*
 * A profile on its way into a tally. A group is a set of samples with equal sample keys. What is
 * known of groups, symbols and components holds for all runs of the profile.
 */
struct tally_pass {
	struct tally *f;
	const struct profile *p;
	uint32_t event;
	int run;
	struct group {
		const char *key[TALLY_KEYS]; /* of the sample's own keys only */
		int last_run;		     /* + 1: the last run that has samples of it */
		uint32_t place;		     /* in that run's `present` */
	} * groups;
	size_t ngroups, groups_cap;
	uint32_t *present; /* groups of this run */
	size_t npresent, present_cap;
	struct intern group_ids;
	struct intern numbers;	    /* what sample_numbers makes of a cost */
	uint32_t *group_of_numbers; /* by their id */
	uint32_t last;		    /* id of the last cost's */
	size_t numbers_cap;
	uint32_t *place_of;	 /* by cost: its group's place; PROFILE_NONE: does not count */
	uint32_t *costs, *first; /* costs in the order of places; where each place's begin */
	struct tally_symbol_row *rows; /* by symbol */
	struct frame_sum *sums;	       /* by frame */
	uint32_t turn;
	uint32_t *frames; /* those of a turn, parents first */
	struct map parts; /* (symbol, context) -> name of the component */
	struct dso_names dsos;
};

enum { ROW_UNWANTED = -1 };

/* The event asked for, or that of the runs before; NULL: whichever has samples. */
static const char *wanted_event(const struct tally_pass *w)
{
	const struct profile *p = w->p;
	const char *name;
	size_t i;

	if (w->f->event || w->f->spec.event)
		return w->f->event ? w->f->event : w->f->spec.event;
	for (i = 0; i < p->nevents; i++) {
		name = intern_get(&p->strings, p->events[i].name);
		if (p->events[i].samples && amount_counted_by(w->f->spec.in, name))
			return name;
	}
	return NULL;
}

static int pick_event(struct tally_pass *w, struct error *err)
{
	const struct profile *p = w->p;
	const char *found;
	int rc = profile_pick_event(p, wanted_event(w), &w->event, err);

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

static const char *comm_of(const struct tally_pass *w, const struct profile_cost *c)
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

static const char *component_of(struct tally_pass *w, uint32_t symbol, enum context context)
{
	const struct profile_symbol *y = &w->p->symbols[symbol];
	uint64_t *known =
		map_at(&w->parts,
		       (uint64_t)symbol << 3 | components_context(w->f->spec.components, context));
	struct function fn;

	if (!*known) {
		fn = (struct function){profile_symbol_name(w->p, symbol),
				       profile_module(w->p, symbol), w->p->dsos[y->dso].kind,
				       components_context(w->f->spec.components, context)};
		*known = (uintptr_t)components_of(w->f->spec.components, &fn);
	}
	return (const char *)(uintptr_t)*known;
}

/* --- groups --- */

/* A key of the sample's own as text; "": not known, or not its own. */
static const char *sample_text(const struct tally_pass *w, const struct profile_cost *c,
			       enum tally_key key, char *buf, size_t size)
{
	uint32_t number;

	switch (key) {
	case BY_COMM:
		return comm_of(w, c);
	case BY_CONTEXT:
		return context_names[c->context];
	case BY_COMPONENT:
		return context_names[components_context(w->f->spec.components, c->context)];
	case BY_THREAD:
		if (c->tid == PROFILE_NONE)
			return comm_of(w, c);
		snprintf(buf, size, "%s:%u", comm_of(w, c), c->tid);
		return buf;
	case BY_CPU:
	case BY_PID:
	case BY_TID:
		number = key == BY_CPU ? c->cpu : key == BY_PID ? c->pid : c->tid;
		snprintf(buf, size, "%u", number);
		return number == PROFILE_NONE ? "" : buf;
	default:
		return "";
	}
}

static void sample_keys(const struct tally_pass *w, const struct profile_cost *c,
			uint32_t id[TALLY_KEYS])
{
	struct tally *f = w->f;
	char buf[256];
	int i;

	for (i = 0; i < f->spec.nkeys; i++)
		id[i] = intern_str(&f->strings,
				   sample_text(w, c, f->spec.keys[i], buf, sizeof(buf)));
}

static uint32_t new_group(struct tally_pass *w, const struct profile_cost *c)
{
	uint32_t id[TALLY_KEYS], group;
	int i;

	sample_keys(w, c, id);
	group = intern_bytes(&w->group_ids, id, (size_t)w->f->spec.nkeys * sizeof(*id));
	if (group == w->ngroups) {
		array_grow(w->groups, w->ngroups, w->groups_cap);
		w->groups[group].last_run = 0;
		for (i = 0; i < w->f->spec.nkeys; i++)
			w->groups[group].key[i] = intern_get(&w->f->strings, id[i]);
		w->ngroups++;
	}
	return group;
}

/* The numbers behind the keys: samples that are alike in them are of one group. */
static void sample_numbers(const struct tally_pass *w, const struct profile_cost *c,
			   uint32_t numbers[TALLY_KEYS + 1])
{
	int i;

	for (i = 0; i < w->f->spec.nkeys; i++) {
		switch (w->f->spec.keys[i]) {
		case BY_THREAD:
			numbers[TALLY_KEYS] = c->comm;
			numbers[i] = c->tid;
			break;
		case BY_COMM:
			numbers[i] = c->comm;
			break;
		case BY_PID:
			numbers[i] = c->pid;
			break;
		case BY_TID:
			numbers[i] = c->tid;
			break;
		case BY_CPU:
			numbers[i] = c->cpu;
			break;
		case BY_CONTEXT:
		case BY_COMPONENT:
			numbers[i] = c->context;
			break;
		default:
			break;
		}
	}
}

static uint32_t tally_group_of(struct tally_pass *w, const struct profile_cost *c)
{
	uint32_t numbers[TALLY_KEYS + 1] = {0}, id;
	size_t before = w->numbers.n;

	sample_numbers(w, c, numbers);
	if (before && !memcmp(numbers, intern_get(&w->numbers, w->last), sizeof(numbers)))
		return w->group_of_numbers[w->last];
	w->last = id = intern_bytes(&w->numbers, numbers, sizeof(numbers));
	if (w->numbers.n > before) {
		array_grow(w->group_of_numbers, id, w->numbers_cap);
		w->group_of_numbers[id] = new_group(w, c);
	}
	return w->group_of_numbers[id];
}

/* Counts what a sample adds to the whole, and says whether it belongs to any row. */
static bool tally_count(struct tally_pass *w, const struct profile_cost *c)
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
static void add_n_eff(struct tally_pass *w, uint64_t kept)
{
	const struct profile_event *e = &w->p->events[w->event];
	double all = (double)e->weight,
	       n_eff = e->weight2 > 0 ? all * all / e->weight2 : (double)e->samples;

	if (e->samples)
		w->f->n_eff += n_eff * ((double)kept / (double)e->samples);
}

static uint32_t place_of(struct tally_pass *w, uint32_t group)
{
	struct group *g = &w->groups[group];

	if (g->last_run != w->run + 1) {
		array_grow(w->present, w->npresent, w->present_cap);
		g->last_run = w->run + 1;
		g->place = (uint32_t)w->npresent;
		w->present[w->npresent++] = group;
	}
	return g->place;
}

static void make_groups(struct tally_pass *w)
{
	uint64_t before = w->f->samples;
	size_t i;

	w->npresent = 0;
	w->place_of = xcalloc(w->p->ncosts + 1, sizeof(*w->place_of));
	for (i = 0; i < w->p->ncosts; i++) {
		const struct profile_cost *c = &w->p->costs[i];

		w->place_of[i] =
			tally_count(w, c) ? place_of(w, tally_group_of(w, c)) : PROFILE_NONE;
	}
	add_n_eff(w, w->f->samples - before);
}

/* --- rows --- */

static const char *dso_text(struct tally_pass *w, uint32_t symbol)
{
	return w->f->spec.tell_dsos ? dso_name(&w->dsos, w->p->symbols[symbol].dso)
				    : dso_base_name(profile_symbol_dso(w->p, symbol));
}

/* A filter may name an object either way. */
static bool dso_wanted(struct tally_pass *w, uint32_t symbol)
{
	const char *pattern = w->f->spec.dso;

	if (!pattern)
		return true;
	return tally_wanted(pattern, dso_text(w, symbol)) ||
	       tally_wanted(pattern, dso_base_name(profile_symbol_dso(w->p, symbol)));
}

static const char *symbol_text(struct tally_pass *w, uint32_t symbol)
{
	struct intern *in = &w->f->strings;
	char buf[4200];

	if (!w->p->symbols[symbol].unresolved)
		return profile_symbol_name(w->p, symbol);
	return intern_get(in, intern_str(in, profile_symbol_label(w->p, symbol, buf, sizeof(buf))));
}

static void function_keys(struct tally_pass *w, uint32_t group, uint32_t symbol, const char *key[])
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

static int32_t tally_find_row(struct tally_pass *w, uint32_t group, uint32_t symbol)
{
	const char *key[TALLY_KEYS];
	struct tally *f = w->f;

	if (f->spec.symbol && !tally_wanted(f->spec.symbol, symbol_text(w, symbol)))
		return ROW_UNWANTED;
	if (!dso_wanted(w, symbol))
		return ROW_UNWANTED;
	function_keys(w, group, symbol, key);
	return (int32_t)(tally_row(f, key) - f->rows);
}

/* The row's place in the tally, or ROW_UNWANTED. */
static int32_t tally_row_of(struct tally_pass *w, uint32_t group, uint32_t symbol)
{
	struct tally_symbol_row *r = &w->rows[symbol];

	if (r->group != group + 1)
		*r = (struct tally_symbol_row){group + 1, tally_find_row(w, group, symbol)};
	return r->row;
}

static void add_self(struct tally_pass *w, uint32_t place)
{
	uint32_t i;

	for (i = w->first[place]; i < w->first[place + 1]; i++) {
		const struct profile_cost *c = &w->p->costs[w->costs[i]];
		int32_t row = tally_row_of(w, w->present[place], w->p->frames[c->frame].symbol);

		if (row == ROW_UNWANTED)
			continue;
		w->f->rows[row].self += (double)c->weight;
		w->f->rows[row].samples += c->samples;
		w->f->rows[row].run_self[w->run] += (double)c->weight;
	}
}

/* The frame and those above it that are not yet in the list, the root first. */
static size_t list_chain(struct tally_pass *w, uint32_t frame, size_t n)
{
	size_t from = n, to;
	uint32_t other;

	while (frame != PROFILE_NONE && w->sums[frame].turn != w->turn) {
		w->sums[frame] = (struct frame_sum){.turn = w->turn};
		w->frames[n++] = frame;
		frame = w->p->frames[frame].parent;
	}
	for (to = n; from + 1 < to; from++) {
		other = w->frames[--to];
		w->frames[to] = w->frames[from];
		w->frames[from] = other;
	}
	return n;
}

/* All frames: they stand after their parents, and are read one after the other. */
static size_t list_all(struct tally_pass *w)
{
	size_t i;

	for (i = 0; i < w->p->nframes; i++) {
		w->sums[i] = (struct frame_sum){.turn = w->turn};
		w->frames[i] = (uint32_t)i;
	}
	return w->p->nframes;
}

/* A small group has few of the frames: its work is to be that of its own chains. */
static size_t list_frames(struct tally_pass *w, uint32_t place)
{
	uint32_t from = w->first[place], to = w->first[place + 1], i;
	size_t n = 0;

	w->turn++;
	if ((size_t)(to - from) * 8 > w->p->nframes)
		n = list_all(w);
	for (i = from; i < to; i++) {
		const struct profile_cost *c = &w->p->costs[w->costs[i]];

		n = list_chain(w, c->frame, n);
		w->sums[c->frame].weight += (double)c->weight;
	}
	return n;
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

/* Backwards, each frame hands its weight up before it is asked. */
static void add_total(struct tally_pass *w, uint32_t place)
{
	const struct profile_frame *frames = w->p->frames;
	size_t n = list_frames(w, place), k;
	struct frame_sum *s;
	uint32_t i;

	for (k = n; k-- > 0;) {
		i = w->frames[k];
		if (frames[i].parent != PROFILE_NONE)
			w->sums[frames[i].parent].weight += w->sums[i].weight;
	}
	for (k = 0; k < n; k++) {
		i = w->frames[k];
		s = &w->sums[i];
		if (!(s->weight > 0))
			continue;
		s->row = tally_row_of(w, w->present[place], frames[i].symbol);
		s->above = frames[i].parent == PROFILE_NONE ? 0 : w->sums[frames[i].parent].above;
		if (s->row == ROW_UNWANTED)
			continue;
		s->above |= 1ULL << (s->row & 63);
		if (counted_above(w->p, w->sums, i))
			continue;
		w->f->rows[s->row].total += s->weight;
		w->f->rows[s->row].run_total[w->run] += s->weight;
	}
}

/* The costs that count, in the order of their groups' places. */
static void sort_costs(struct tally_pass *w)
{
	uint32_t *at = w->first, sum = 0, n, g;
	size_t i;

	for (i = 0; i < w->p->ncosts; i++)
		if (w->place_of[i] != PROFILE_NONE)
			at[w->place_of[i] + 1]++;
	for (g = 0; g <= w->npresent; g++) {
		n = at[g];
		at[g] = sum += n;
	}
	for (i = w->p->ncosts; i-- > 0;)
		if (w->place_of[i] != PROFILE_NONE)
			w->costs[--at[w->place_of[i] + 1]] = (uint32_t)i;
	memmove(at, at + 1, w->npresent * sizeof(*at));
	at[w->npresent] = sum;
}

static void tally_groups(struct tally_pass *w)
{
	uint32_t place;

	make_groups(w);
	w->first = xcalloc(w->npresent + 2, sizeof(*w->first));
	w->costs = xcalloc(w->p->ncosts + 1, sizeof(*w->costs));
	sort_costs(w);
	for (place = 0; place < w->npresent; place++) {
		add_self(w, place);
		if (w->f->spec.totals)
			add_total(w, place);
	}
	free(w->place_of);
	free(w->first);
	free(w->costs);
}

struct tally_pass *tally_begin(struct tally *f, const struct profile *p)
{
	struct tally_pass *w = xcalloc(1, sizeof(*w));

	w->f = f;
	w->p = p;
	w->rows = xcalloc(p->nsymbols + 1, sizeof(*w->rows));
	w->sums = xcalloc(p->nframes + 1, sizeof(*w->sums));
	w->frames = xcalloc(p->nframes + 1, sizeof(*w->frames));
	dso_names_init(&w->dsos, p);
	return w;
}

int tally_run(struct tally_pass *w, int run, struct error *err)
{
	int rc = pick_event(w, err);

	w->run = run;
	if (!rc && w->event < w->p->nevents)
		tally_groups(w);
	return rc;
}

void tally_end(struct tally_pass *w)
{
	if (!w)
		return;
	free(w->groups);
	free(w->group_of_numbers);
	free(w->present);
	free(w->rows);
	free(w->sums);
	free(w->frames);
	intern_free(&w->group_ids);
	intern_free(&w->numbers);
	map_free(&w->parts);
	dso_names_free(&w->dsos);
	free(w);
}

int tally_profile(struct tally *f, const struct profile *p, struct error *err)
{
	struct tally_pass *w = tally_begin(f, p);
	int rc = tally_run(w, 0, err);

	tally_end(w);
	return rc;
}
