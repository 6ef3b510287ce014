// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/costs/call_tree.h"

#include <math.h>

/* What is known about a profile's frames, for all its runs. */
struct call_source {
	const struct profile *p;
	enum context *contexts; /* by frame */
	bool *begins;		/* by frame */
	struct map commands;	/* comm -> label + 1, or, if the tree is not reversed, root + 1 */
	struct map labels;	/* (frame's symbol, context, begins) -> label + 1 */
	struct call_place {	/* where the latest chain through a frame put the frame */
		uint32_t root, context;
		uint32_t at; /* frame of the tree + 1; 0: no chain yet */
	} * places;	     /* by frame; not of a reversed tree */
	uint32_t *chain;
	size_t chain_cap;
};

void call_tree_init(struct call_tree *s, bool reverse)
{
	*s = (struct call_tree){.reverse = reverse};
}

static void call_tree_source_free(struct call_tree *s)
{
	autofree struct call_source *source = s->source;

	if (!source)
		return;
	free(source->contexts);
	free(source->begins);
	map_free(&source->commands);
	map_free(&source->labels);
	free(source->places);
	free(source->chain);
	s->source = NULL;
}

void call_tree_free(struct call_tree *s)
{
	call_tree_source_free(s);
	array_free(e, s->runs, s->nruns, free(e->weight), free(e->samples));
	free(s->labels);
	free(s->frames);
	intern_free(&s->strings);
	intern_free(&s->label_ids);
	map_free(&s->frame_ids);
}

/* Fills the context that each frame runs in, by its callers, and whether it begins there. */
static void call_tree_fill_contexts(const struct profile *p, enum context *contexts, bool *begins)
{
	enum context *revealed = tally_symbol_contexts(p), own, outer;
	uint32_t parent;

	for (uint32_t i = 0; i < p->nframes; i++) { /* parents precede their children */
		parent = p->frames[i].parent;
		outer = parent == PROFILE_NONE ? CTX_UNKNOWN : contexts[parent];
		own = revealed[p->frames[i].symbol];
		if (own == CTX_SOFTIRQ)
			own = context_is_softirq(outer) ? outer : context_of_softirq(outer);
		contexts[i] = own == CTX_UNKNOWN ? outer : own;
		begins[i] = contexts[i] != outer && own != CTX_USER;
	}
	free(revealed);
}

static void call_tree_set_source(struct call_tree *s, const struct profile *p)
{
	if (s->source && s->source->p == p)
		return;
	call_tree_source_free(s);
	s->source = xcalloc(1, sizeof(*s->source));
	s->source->p = p;
	s->source->contexts = xcalloc(p->nframes + 1, sizeof(*s->source->contexts));
	s->source->begins = xcalloc(p->nframes + 1, sizeof(*s->source->begins));
	call_tree_fill_contexts(p, s->source->contexts, s->source->begins);
	if (!s->reverse)
		s->source->places = xcalloc(p->nframes + 1, sizeof(*s->source->places));
}

/* --- labels and frames --- */

static const char *call_tree_string(struct call_tree *s, const char *text)
{
	return intern_get(&s->strings, intern_str(&s->strings, text));
}

static uint32_t call_tree_label(struct call_tree *s, struct call_label l)
{
	struct {
		const char *symbol, *dso, *component;
		uint64_t context, begins, command;
	} key = {call_tree_string(s, l.symbol),
		 call_tree_string(s, l.dso),
		 call_tree_string(s, l.component),
		 l.context,
		 l.begins,
		 l.command};
	uint32_t id = intern_bytes(&s->label_ids, &key, sizeof(key));

	if (id == s->nlabels) {
		l.symbol = key.symbol;
		l.dso = key.dso;
		l.component = key.component;
		array_add(s->labels, s->nlabels, s->labels_cap, l);
	}
	return id;
}

static uint32_t call_tree_frame(struct call_tree *s, uint32_t parent, uint32_t label)
{
	uint64_t *id = map_at(&s->frame_ids, ((uint64_t)parent + 1) << 32 | label);

	if (!*id) {
		array_add(s->frames, s->nframes, s->frames_cap, (struct call_frame){parent, label});
		*id = s->nframes;
	}
	return (uint32_t)*id - 1;
}

static struct call_label call_tree_function(struct call_tree *s, uint32_t symbol,
					    enum context context, bool begins)
{
	struct call_source *source = s->source;
	const struct profile *p = source->p;
	uint32_t dso = p->symbols[symbol].dso;
	struct function fn = {profile_symbol_name(p, symbol), profile_module(p, symbol),
			      p->dsos[dso].kind, components_context(s->components, context)};

	if (p->symbols[symbol].unresolved)
		fn.symbol = tally_unresolved(profile_symbol_dso(p, symbol));
	return (struct call_label){.symbol = fn.symbol,
				   .dso = dso_base_name(profile_symbol_dso(p, symbol)),
				   .merges = p->symbols[symbol].unresolved,
				   .component = components_of(s->components, &fn),
				   .context = context,
				   .begins = begins};
}

/*
 * Returns the label of a profile's frame. A chain that reveals no context has the sample's.
 * Functions do not show whether a softirq runs on top of a system call, but the frame does. In a
 * reversed tree a frame has a context only where the context begins, so that one function is not
 * split by the contexts that call it.
 */
static uint32_t call_tree_label_of(struct call_tree *s, uint32_t frame, enum context of_sample)
{
	struct call_source *source = s->source;
	enum context context = source->contexts[frame];
	bool begins = source->begins[frame];
	uint32_t symbol = source->p->frames[frame].symbol;
	struct call_label l;
	uint64_t *known;

	if (context == CTX_UNKNOWN ||
	    (context_is_softirq(context) && context_is_softirq(of_sample)))
		context = of_sample;
	known = map_at(&source->labels, (uint64_t)symbol << 8 | (uint64_t)context << 1 | begins);
	if (!*known) {
		l = call_tree_function(s, symbol, context, begins);
		if (s->reverse && !begins)
			l.context = CTX_UNKNOWN;
		*known = 1 + call_tree_label(s, l);
	}
	return (uint32_t)*known - 1;
}

/* perf names a thread without a known command by its number, ":123". */
static bool command_is_known(const char *name)
{
	return *name && (*name != ':' || name[1 + strspn(name + 1, "-0123456789")]);
}

static uint32_t call_tree_command(struct call_tree *s, const char *name)
{
	return call_tree_label(
		s, (struct call_label){.symbol = command_is_known(name) ? name : "[unknown]",
				       .dso = "",
				       .component = "",
				       .command = true});
}

/* --- chains --- */

/* Adds a frame below `at`. Unresolved addresses of one object merge. */
static uint32_t call_tree_descend(struct call_tree *s, uint32_t at, uint32_t label)
{
	if (at != CALL_NONE && s->frames[at].label == label && s->labels[label].merges)
		return at;
	return call_tree_frame(s, at, label);
}

/* Climbs to the first frame that has a place in the tree, and adds those below it. */
static uint32_t call_tree_place(struct call_tree *s, const struct profile_cost *c, uint32_t root)
{
	struct call_source *source = s->source;
	const struct profile_frame *frames = source->p->frames;
	uint32_t at = root, frame;
	struct call_place *place;
	size_t n = 0;

	for (frame = c->frame; frame != PROFILE_NONE; frame = frames[frame].parent) {
		place = &source->places[frame];
		if (place->at && place->root == root && place->context == c->context) {
			at = place->at - 1;
			break;
		}
		array_add(source->chain, n, source->chain_cap, frame);
	}
	while (n--) {
		frame = source->chain[n];
		at = call_tree_descend(s, at, call_tree_label_of(s, frame, c->context));
		source->places[frame] = (struct call_place){root, c->context, at + 1};
	}
	return at;
}

static uint32_t call_tree_place_reversed(struct call_tree *s, const struct profile_cost *c,
					 uint32_t command)
{
	const struct profile_frame *frames = s->source->p->frames;
	uint32_t at = CALL_NONE;

	for (uint32_t frame = c->frame; frame != PROFILE_NONE; frame = frames[frame].parent)
		at = call_tree_descend(s, at, call_tree_label_of(s, frame, c->context));
	return call_tree_frame(s, at, command);
}

static void call_tree_add_weight(struct call_tree *s, size_t run, uint32_t frame, double weight,
				 uint64_t samples)
{
	struct call_run *r;
	size_t n = s->frames_cap;

	while (run >= s->nruns)
		array_add(s->runs, s->nruns, s->runs_cap, (struct call_run){0});
	r = &s->runs[run];
	if (frame >= r->n) {
		r->weight = xrealloc(r->weight, n * sizeof(*r->weight));
		r->samples = xrealloc(r->samples, n * sizeof(*r->samples));
		memset(r->weight + r->n, 0, (n - r->n) * sizeof(*r->weight));
		memset(r->samples + r->n, 0, (n - r->n) * sizeof(*r->samples));
		r->n = n;
	}
	r->weight[frame] += weight;
	r->samples[frame] += samples;
}

void call_tree_add(struct call_tree *s, const struct profile *p, int run,
		   const struct profile_cost *c)
{
	uint32_t command, frame;
	uint64_t *known;

	if (s->waits && c->context != CTX_BLOCKED && c->context != CTX_RUN_QUEUE)
		return;
	call_tree_set_source(s, p);
	known = map_at(&s->source->commands, c->comm);
	if (!*known) {
		command = call_tree_command(
			s, c->comm == PROFILE_NONE ? "" : intern_get(&p->strings, c->comm));
		*known = 1 + (s->reverse ? command : call_tree_frame(s, CALL_NONE, command));
	}
	frame = s->reverse ? call_tree_place_reversed(s, c, (uint32_t)*known - 1)
			   : call_tree_place(s, c, (uint32_t)*known - 1);
	call_tree_add_weight(s, s->first + (size_t)run, frame, (double)c->weight, c->samples);
}

void call_tree_add_root(struct call_tree *s, int run, const char *name, double weight,
			uint64_t samples)
{
	call_tree_add_weight(s, s->first + (size_t)run,
			     call_tree_frame(s, CALL_NONE, call_tree_command(s, name)), weight,
			     samples);
}

/* --- reading --- */

static struct tally_spec call_tree_spec(struct call_tree *s, const struct query *q)
{
	return (struct tally_spec){.keys = {BY_CONTEXT},
				   .nkeys = 1,
				   .event = q->event,
				   .in = q->in,
				   .comm = q->comm,
				   .cpus = q->cpus,
				   .calls = s};
}

int call_tree_read(struct call_tree *s, struct store *store, const struct query *q,
		   const struct block *b, struct cost_part *part, struct table *notes,
		   struct error *err)
{
	struct components *own = NULL;
	struct tally_spec spec;
	int rc = components_keep(&own, store, q->components_file, q->components_set, err);

	*part = (struct cost_part){0};
	if (rc)
		return rc;
	s->components = own;
	s->first = s->nruns;
	spec = call_tree_spec(s, q);
	rc = cost_part_read(store, q, b, &spec, part, err);
	rc = rc ?: cost_part_add_notes(store, q, part, notes, err);
	while (!rc && s->nruns < s->first + (size_t)part->nruns)
		array_add(s->runs, s->nruns, s->runs_cap, (struct call_run){0});
	call_tree_source_free(s);
	s->components = NULL;
	components_free(own);
	return rc;
}

void call_tree_add_up(const struct call_tree *s, double *weights)
{
	for (size_t i = s->nframes; i-- > 0;)
		if (s->frames[i].parent != CALL_NONE)
			weights[s->frames[i].parent] += weights[i];
}

double *call_tree_totals(const struct call_tree *s, size_t from, size_t to)
{
	double *totals = xcalloc(s->nframes + 1, sizeof(*totals));

	for (size_t run = from; run < to; run++)
		for (size_t i = 0; i < s->runs[run].n && i < s->nframes; i++)
			totals[i] += s->runs[run].weight[i];
	call_tree_add_up(s, totals);
	return totals;
}
