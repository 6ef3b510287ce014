// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/costs/tally.h"

#include "analyze/costs/basis.h"
#include "analyze/costs/call_tree.h"

#include <errno.h>

/* A symbol's row in the group of the last lookup. */
struct tally_symbol_row {
	uint32_t group; /* group + 1; 0 for none yet */
	int32_t row;	/* row of the tally, or ROW_UNWANTED */
};

/*
 * The weight below a frame in one turn, which is one group of one run. `above` has a bit for the
 * row of each frame from the root to this frame. One test usually shows that no frame above has
 * the same row.
 */
struct tally_frame_sum {
	double weight;
	uint64_t above;
	int32_t row;
	uint32_t turn;
};

/*
 * The state while a profile is added to a tally. A group is a set of samples with equal sample
 * keys. Groups, symbols and components stay valid for all runs of the profile.
 */
struct tally_pass {
	struct tally *f;
	const struct profile *p;
	uint32_t event;
	int run;
	struct group {
		const char *key[TALLY_KEYS]; /* only the sample keys */
		int last_run;	/* number + 1 of the last run with samples of the group */
		uint32_t place; /* index in that run's `present` */
	} * groups;
	size_t ngroups, groups_cap;
	uint32_t *present; /* groups of this run */
	size_t npresent, present_cap;
	struct intern numbers; /* what tally_sample_numbers says of each group */
	uint32_t last;	       /* group of the last cost */
	uint32_t
		*place_of; /* place of each cost's group; PROFILE_NONE if the cost does not count */
	uint32_t *costs, *first;       /* costs in the order of places; first cost of each place */
	struct tally_symbol_row *rows; /* by symbol */
	uint32_t *relatives;	       /* by frame, from tally_relatives(); or NULL */
	enum context *interrupts;      /* by frame, from tally_interrupts(); or NULL */
	struct tally_frame_sum *sums;  /* by frame */
	uint32_t turn;
	uint32_t *frames;	     /* frames of a turn, parents first */
	const char *(*parts)[CTX_N]; /* by symbol and context: the component, or NULL for not known
					yet */
};

enum { ROW_UNWANTED = -1 };

/*
 * Returns the requested event, else the event of the earlier runs, else NULL for any event with
 * samples.
 */
static const char *tally_wanted_event(const struct tally *f, const struct profile *p)
{
	const char *name;

	if (f->event || f->spec.event)
		return f->event ? f->event : f->spec.event;
	for (size_t i = 0; i < p->nevents; i++) {
		name = intern_get(&p->strings, p->events[i].name);
		if (p->events[i].samples && amount_counted_by(f->spec.in, name))
			return name;
	}
	return NULL;
}

static int tally_pick_event(struct tally_pass *w, struct error *err)
{
	const struct profile *p = w->p;
	const char *found;
	int rc = profile_pick_event(p, tally_wanted_event(w->f, p), &w->event, err);

	if (rc)
		return rc;
	if (w->event < p->nevents && !w->f->event) {
		found = intern_get(&p->strings, p->events[w->event].name);
		w->f->event = intern_get(&w->f->strings, intern_str(&w->f->strings, found));
	}
	w->f->exact |= w->event < p->nevents && p->events[w->event].exact;
	if (p->nevents > w->f->events)
		w->f->events = p->nevents;
	return 0;
}

enum context *tally_symbol_contexts(const struct profile *p)
{
	enum context *contexts = xcalloc(p->nsymbols + 1, sizeof(*contexts));

	for (uint32_t i = 0; i < p->nsymbols; i++)
		contexts[i] = p->dsos[p->symbols[i].dso].kind == DSO_USER
				      ? CTX_USER
				      : context_of_function(profile_symbol_name(p, i));
	return contexts;
}

/* --- the direct caller or callee of a function in each call chain --- */

/* Returns whether each symbol is the function, or NULL if none is. */
static bool *tally_find_function(const struct profile *p, const char *function)
{
	bool *is = xcalloc(p->nsymbols + 1, sizeof(*is)), any = false;
	const char *name;

	for (uint32_t glob = 0; glob < 2 && !any; glob++)
		for (uint32_t i = 0; i < p->nsymbols; i++) {
			name = profile_symbol_name(p, i);
			is[i] = glob ? str_matches(function, name) : !strcmp(function, name);
			any |= is[i];
		}
	if (any)
		return is;
	free(is);
	return NULL;
}

/*
 * Returns the symbol that samples of each leaf frame count for, or PROFILE_NONE if the chain has no
 * function of the spec. Where functions call each other, the outermost one has the caller and the
 * innermost one the callee, so each sample counts once. The symbol p->nsymbols is the row
 * tally_none_name. Returns NULL without a relation, and if no function has the name.
 */
static uint32_t *tally_relatives(const struct tally_spec *spec, const struct profile *p)
{
	bool *is = spec->relation ? tally_find_function(p, spec->function) : NULL, here;
	uint32_t *relatives, parent, above, none = (uint32_t)p->nsymbols;

	if (!is)
		return NULL;
	relatives = xcalloc(p->nframes + 1, sizeof(*relatives));
	for (uint32_t i = 0; i < p->nframes; i++) { /* parents precede their children */
		parent = p->frames[i].parent;
		above = parent == PROFILE_NONE ? PROFILE_NONE : relatives[parent];
		here = is[p->frames[i].symbol];
		if (spec->relation == TALLY_CALLEES)
			relatives[i] = here ? none : above == none ? p->frames[i].symbol : above;
		else if (above != PROFILE_NONE || !here)
			relatives[i] = above;
		else
			relatives[i] = parent == PROFILE_NONE ? none : p->frames[parent].symbol;
	}
	free(is);
	return relatives;
}

/*
 * Returns the interrupt that each frame runs in, if it began below the function of the relation:
 * CTX_SOFTIRQ, CTX_HARDIRQ or CTX_UNKNOWN.
 */
static enum context *tally_interrupts(const uint32_t *relatives, const struct profile *p)
{
	enum context *revealed = tally_symbol_contexts(p), own;
	enum context *inside = xcalloc(p->nframes + 1, sizeof(*inside));
	uint32_t above;

	for (uint32_t i = 0; i < p->nframes; i++) {
		above = p->frames[i].parent;
		if (above == PROFILE_NONE || relatives[above] == PROFILE_NONE)
			continue;
		own = revealed[p->frames[i].symbol];
		inside[i] = own == CTX_SOFTIRQ || own == CTX_HARDIRQ ? own : inside[above];
	}
	free(revealed);
	return inside;
}

/* Returns the row of samples whose function has no caller, or is itself the leaf. */
static const char *tally_none_name(enum tally_relation relation)
{
	return relation == TALLY_CALLERS ? "[no caller]" : "[self]";
}

/* Returns -ENOENT, and names functions with similar names. */
static int tally_no_function(const char *name, const struct profile *p, struct error *err)
{
	freed(str_free) struct str all = {0};

	for (uint32_t i = 0; i < p->nsymbols; i++)
		str_printf(&all, "%s ", profile_symbol_name(p, i));
	error_set(
		err, ENOENT,
		"no sample has a function '%s' in its call chain; %s'zcost report functions --all' lists the functions",
		name, did_you_mean(all.buf, name));
	return -ENOENT;
}

/* --- components --- */

static const char *tally_comm_of(const struct tally_pass *w, const struct profile_cost *c)
{
	return c->comm == PROFILE_NONE ? "" : intern_get(&w->p->strings, c->comm);
}

static const char *tally_component_of(struct tally_pass *w, uint32_t symbol, enum context context)
{
	const struct components *c = w->f->spec.components;
	const enum context known = components_context(c, context);
	const char **part = &w->parts[symbol][known];
	struct function fn;

	if (!*part) {
		fn = (struct function){profile_symbol_name(w->p, symbol),
				       profile_module(w->p, symbol),
				       w->p->dsos[w->p->symbols[symbol].dso].kind, known};
		*part = components_of(c, &fn);
	}
	return *part;
}

/* --- groups --- */

/* Returns the number behind a sample key, or 0 for other keys. */
static uint32_t tally_sample_number(const struct tally_pass *w, const struct profile_cost *c,
				    enum tally_key key)
{
	switch (key) {
	case BY_COMM:
		return c->comm;
	case BY_PID:
		return c->pid;
	case BY_TID:
	case BY_THREAD:
		return c->tid;
	case BY_CPU:
		return c->cpu;
	case BY_CONTEXT:
		return c->context;
	case BY_COMPONENT:
		return components_context(w->f->spec.components, c->context);
	default:
		return 0;
	}
}

/* Returns a sample key as text, or "" if the key is unknown or not a sample key. */
static const char *tally_sample_text(const struct tally_pass *w, const struct profile_cost *c,
				     enum tally_key key, char *buf, size_t size)
{
	uint32_t number = tally_sample_number(w, c, key);

	switch (key) {
	case BY_CONTEXT:
	case BY_COMPONENT:
		return context_names[number];
	case BY_COMM:
	case BY_THREAD:
		if (key == BY_COMM || number == PROFILE_NONE)
			return tally_comm_of(w, c);
		snprintf(buf, size, "%s:%u", tally_comm_of(w, c), number);
		return buf;
	case BY_CPU:
	case BY_PID:
	case BY_TID:
		snprintf(buf, size, "%u", number);
		return number == PROFILE_NONE ? "" : buf;
	default:
		return "";
	}
}

/* Fills the numbers behind the keys. Samples with equal numbers belong to one group. */
static void tally_sample_numbers(const struct tally_pass *w, const struct profile_cost *c,
				 uint32_t numbers[TALLY_KEYS + 1])
{
	for (int i = 0; i < w->f->spec.nkeys; i++) {
		numbers[i] = tally_sample_number(w, c, w->f->spec.keys[i]);
		if (w->f->spec.keys[i] == BY_THREAD)
			numbers[TALLY_KEYS] = c->comm;
	}
}

static void tally_add_group(struct tally_pass *w, const struct profile_cost *c)
{
	struct intern *in = &w->f->strings;
	struct group *g;
	char buf[256];

	g = array_new(w->groups, w->ngroups, w->groups_cap);
	g->last_run = 0;
	for (int i = 0; i < w->f->spec.nkeys; i++)
		g->key[i] =
			intern_get(in, intern_str(in, tally_sample_text(w, c, w->f->spec.keys[i],
									buf, sizeof(buf))));
}

static uint32_t tally_group_of(struct tally_pass *w, const struct profile_cost *c)
{
	uint32_t numbers[TALLY_KEYS + 1] = {0};

	tally_sample_numbers(w, c, numbers);
	if (!w->ngroups || memcmp(numbers, intern_get(&w->numbers, w->last), sizeof(numbers)) != 0)
		w->last = intern_bytes(&w->numbers, numbers, sizeof(numbers));
	if (w->last == w->ngroups)
		tally_add_group(w, c);
	return w->last;
}

/* Returns whether the time of the workload's threads has the sample. */
static bool tally_is_own(const struct tally_pass *w, const struct profile_cost *c)
{
	return profile_is_own(w->p, c->pid) &&
	       !(w->f->spec.exclude_irq && context_is_interrupt(c->context));
}

/*
 * Adds a sample to the totals. Returns true if the sample belongs to a row. The time of the
 * workload's threads is that on all CPUs, so their samples count on CPUs that have no rows, too.
 */
static bool tally_count(struct tally_pass *w, const struct profile_cost *c)
{
	struct tally *f = w->f;
	const bool here =
		!f->spec.cpus || (c->cpu != PROFILE_NONE && cpuset_has(f->spec.cpus, c->cpu));
	double weight = (double)c->weight;
	uint32_t leaf;

	if (c->event != w->event || (!here && !f->spec.workload_only))
		return false;
	if (c->context == CTX_IDLE && f->spec.exclude_idle) {
		f->idle += weight;
		return false;
	}
	if (f->spec.workload_only && !tally_is_own(w, c)) {
		f->others += weight;
		return false;
	}
	leaf = w->p->frames[c->frame].symbol;
	f->weight += weight;
	f->run_weight[w->run] += weight;
	f->samples += c->samples;
	if (w->p->symbols[leaf].unresolved) {
		f->unresolved += weight;
		f->unresolved_by[w->p->symbols[leaf].unresolved] += weight;
	} else if (f->spec.components &&
		   tally_component_of(w, leaf, c->context) == component_none) {
		f->unclassified += weight;
	}
	return here && str_matches(f->spec.comm, tally_comm_of(w, c)) &&
	       (!w->relatives || w->relatives[c->frame] != PROFILE_NONE);
}

/* Adds a sample of a row to the interrupts inside the function. */
static void tally_add_interrupt(struct tally_pass *w, const struct profile_cost *c)
{
	enum context inside = w->interrupts ? w->interrupts[c->frame] : CTX_UNKNOWN;

	if (inside == CTX_SOFTIRQ)
		w->f->softirq += (double)c->weight;
	else if (inside == CTX_HARDIRQ)
		w->f->hardirq += (double)c->weight;
}

/* Adds n_eff of the event's samples, without the excluded samples. */
static void tally_add_n_eff(struct tally_pass *w, uint64_t kept)
{
	const struct profile_event *e = &w->p->events[w->event];
	double all = (double)e->weight,
	       n_eff = e->weight2 > 0 ? all * all / e->weight2 : (double)e->samples;

	if (e->samples)
		w->f->n_eff += n_eff * ((double)kept / (double)e->samples);
}

static uint32_t tally_place_of(struct tally_pass *w, uint32_t group)
{
	struct group *g = &w->groups[group];

	if (g->last_run != w->run + 1) {
		g->last_run = w->run + 1;
		g->place = (uint32_t)w->npresent;
		array_add(w->present, w->npresent, w->present_cap, group);
	}
	return g->place;
}

static void tally_make_groups(struct tally_pass *w)
{
	uint64_t before = w->f->samples;

	w->npresent = 0;
	w->place_of = xcalloc(w->p->ncosts + 1, sizeof(*w->place_of));
	for (size_t i = 0; i < w->p->ncosts; i++) {
		const struct profile_cost *c = &w->p->costs[i];

		w->place_of[i] =
			tally_count(w, c) ? tally_place_of(w, tally_group_of(w, c)) : PROFILE_NONE;
		if (w->place_of[i] == PROFILE_NONE)
			continue;
		tally_add_interrupt(w, c);
		if (w->f->spec.calls)
			call_tree_add(w->f->spec.calls, w->p, w->run, c);
	}
	tally_add_n_eff(w, w->f->samples - before);
}

/* --- rows --- */

static const char *tally_dso_text(struct tally_pass *w, uint32_t symbol)
{
	return dso_base_name(profile_symbol_dso(w->p, symbol));
}

static const char *tally_symbol_text(struct tally_pass *w, uint32_t symbol)
{
	struct intern *in = &w->f->strings;
	char buf[4200];

	if (!w->p->symbols[symbol].unresolved)
		return profile_symbol_name(w->p, symbol);
	return intern_get(in, intern_str(in, profile_symbol_label(w->p, symbol, buf, sizeof(buf))));
}

static void tally_function_keys(struct tally_pass *w, uint32_t group, uint32_t symbol,
				const char *key[])
{
	const struct tally_spec *spec = &w->f->spec;
	const char *own;

	for (int i = 0; i < spec->nkeys; i++) {
		own = w->groups[group].key[i];
		if (symbol == w->p->nsymbols) {
			key[i] = spec->keys[i] == BY_SYMBOL	? tally_none_name(spec->relation)
				 : spec->keys[i] < BY_COMPONENT ? own
								: "";
			continue;
		}
		switch (spec->keys[i]) {
		case BY_SYMBOL:
			key[i] = spec->merge_unresolved && w->p->symbols[symbol].unresolved
					 ? tally_unresolved(profile_symbol_dso(w->p, symbol))
					 : tally_symbol_text(w, symbol);
			break;
		case BY_DSO:
			key[i] = tally_dso_text(w, symbol);
			break;
		case BY_MODULE:
			own = profile_module(w->p, symbol); /* valid until the next call */
			key[i] = intern_get(&w->f->strings, intern_str(&w->f->strings, own));
			break;
		case BY_COMPONENT:
			key[i] = tally_component_of(w, symbol, context_of_name(own));
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

	if (f->spec.symbol && !str_matches(f->spec.symbol, tally_symbol_text(w, symbol)))
		return ROW_UNWANTED;
	if (f->spec.dso &&
	    (symbol == w->p->nsymbols || !str_matches(f->spec.dso, tally_dso_text(w, symbol))))
		return ROW_UNWANTED;
	tally_function_keys(w, group, symbol, key);
	return (int32_t)(tally_row(f, key) - f->rows);
}

/* Returns the row's index in the tally, or ROW_UNWANTED. */
static int32_t tally_row_of(struct tally_pass *w, uint32_t group, uint32_t symbol)
{
	struct tally_symbol_row *r = &w->rows[symbol];

	if (r->group != group + 1)
		*r = (struct tally_symbol_row){group + 1, tally_find_row(w, group, symbol)};
	return r->row;
}

static void tally_add_self(struct tally_pass *w, uint32_t place)
{
	for (uint32_t i = w->first[place]; i < w->first[place + 1]; i++) {
		const struct profile_cost *c = &w->p->costs[w->costs[i]];
		uint32_t symbol =
			w->relatives ? w->relatives[c->frame] : w->p->frames[c->frame].symbol;
		int32_t row = tally_row_of(w, w->present[place], symbol);

		if (row == ROW_UNWANTED)
			continue;
		w->f->rows[row].self += (double)c->weight;
		w->f->rows[row].samples += c->samples;
		w->f->rows[row].run_self[w->run] += (double)c->weight;
	}
}

/* Lists the frame and the frames above it that are not yet in the list, the root first. */
static size_t tally_list_chain(struct tally_pass *w, uint32_t frame, size_t n)
{
	size_t from = n;
	uint32_t other;

	while (frame != PROFILE_NONE && w->sums[frame].turn != w->turn) {
		w->sums[frame] = (struct tally_frame_sum){.turn = w->turn};
		w->frames[n++] = frame;
		frame = w->p->frames[frame].parent;
	}
	for (size_t to = n; from + 1 < to; from++) {
		other = w->frames[--to];
		w->frames[to] = w->frames[from];
		w->frames[from] = other;
	}
	return n;
}

/* Lists the frames in the call chains of a group. */
static size_t tally_list_frames(struct tally_pass *w, uint32_t place)
{
	uint32_t from = w->first[place], to = w->first[place + 1];
	size_t n = 0;

	w->turn++;
	for (uint32_t i = from; i < to; i++) {
		const struct profile_cost *c = &w->p->costs[w->costs[i]];

		n = tally_list_chain(w, c->frame, n);
		w->sums[c->frame].weight += (double)c->weight;
	}
	return n;
}

/*
 * Returns true if a frame above has the same row. The frames above precede this frame, so their
 * rows are known.
 */
static bool tally_counted_above(const struct profile *p, const struct tally_frame_sum *sums,
				uint32_t frame)
{
	uint64_t bit = 1ULL << (sums[frame].row & 63);
	int32_t row = sums[frame].row;

	while ((frame = p->frames[frame].parent) != PROFILE_NONE && sums[frame].above & bit)
		if (sums[frame].row == row)
			return true;
	return false;
}

/*
 * Adds the totals. Going backwards passes each frame's weight to its parent before the parent is
 * read.
 */
static void tally_add_total(struct tally_pass *w, uint32_t place)
{
	const struct profile_frame *frames = w->p->frames;
	size_t n = tally_list_frames(w, place);
	struct tally_frame_sum *s;
	uint32_t i;

	for (size_t k = n; k-- > 0;) {
		i = w->frames[k];
		if (frames[i].parent != PROFILE_NONE)
			w->sums[frames[i].parent].weight += w->sums[i].weight;
	}
	for (size_t k = 0; k < n; k++) {
		i = w->frames[k];
		s = &w->sums[i];
		if (!(s->weight > 0))
			continue;
		s->row = tally_row_of(w, w->present[place], frames[i].symbol);
		s->above = frames[i].parent == PROFILE_NONE ? 0 : w->sums[frames[i].parent].above;
		if (s->row == ROW_UNWANTED)
			continue;
		s->above |= 1ULL << (s->row & 63);
		if (tally_counted_above(w->p, w->sums, i))
			continue;
		w->f->rows[s->row].total += s->weight;
		w->f->rows[s->row].run_total[w->run] += s->weight;
	}
}

/* Sorts the counted costs by their groups' places. */
static void tally_sort_costs(struct tally_pass *w)
{
	uint32_t *at = w->first, sum = 0, n;

	for (size_t i = 0; i < w->p->ncosts; i++)
		if (w->place_of[i] != PROFILE_NONE)
			at[w->place_of[i] + 1]++;
	for (uint32_t g = 0; g <= w->npresent; g++) {
		n = at[g];
		at[g] = sum += n;
	}
	for (size_t i = w->p->ncosts; i-- > 0;)
		if (w->place_of[i] != PROFILE_NONE)
			w->costs[--at[w->place_of[i] + 1]] = (uint32_t)i;
	memmove(at, at + 1, w->npresent * sizeof(*at));
	at[w->npresent] = sum;
}

static void tally_groups(struct tally_pass *w)
{
	tally_make_groups(w);
	w->first = xcalloc(w->npresent + 2, sizeof(*w->first));
	w->costs = xcalloc(w->p->ncosts + 1, sizeof(*w->costs));
	tally_sort_costs(w);
	for (uint32_t place = 0; place < w->npresent; place++) {
		tally_add_self(w, place);
		if (w->f->spec.totals)
			tally_add_total(w, place);
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
	w->parts = xcalloc(p->nsymbols + 1, sizeof(*w->parts));
	w->relatives = tally_relatives(&f->spec, p);
	w->interrupts = w->relatives ? tally_interrupts(w->relatives, p) : NULL;
	w->sums = xcalloc(p->nframes + 1, sizeof(*w->sums));
	w->frames = xcalloc(p->nframes + 1, sizeof(*w->frames));
	return w;
}

int tally_run(struct tally_pass *w, int run, struct error *err)
{
	int rc = tally_pick_event(w, err);

	if (!rc && w->f->spec.relation && !w->relatives)
		rc = tally_no_function(w->f->spec.function, w->p, err);
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
	free(w->present);
	free(w->rows);
	free(w->relatives);
	free(w->interrupts);
	free(w->sums);
	free(w->frames);
	intern_free(&w->numbers);
	free(w->parts);
	free(w);
}
