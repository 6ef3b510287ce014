// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/export/export.h"

/* --- names --- */

static uint32_t lines_name_symbol(struct lines *l, const char *name, bool comm)
{
	autofree char *copy = xstrdup(*name ? name : "[unknown]");

	for (char *at = copy; *at; at++) {
		if (*at == ';')
			*at = ':';
		else if ((unsigned char)*at < ' ' || (comm && *at == ' '))
			*at = '_';
	}
	return profile_symbol(&l->trie, 0, copy, false);
}

static uint32_t lines_symbol(struct lines *l, uint32_t symbol)
{
	const struct profile *p = l->source.p;
	uint64_t *known = map_at(&l->source.names, symbol);
	autofree char *object = NULL;

	if (*known)
		return (uint32_t)*known - 1;
	if (p->symbols[symbol].unresolved)
		object = sample_object_name(profile_symbol_dso(p, symbol));
	*known =
		1 + (uint64_t)lines_name_symbol(l, object ?: profile_symbol_name(p, symbol), false);
	return (uint32_t)*known - 1;
}

/* --- from samples to lines --- */

/* Returns the frame of the command. */
static uint32_t lines_comm_frame(struct lines *l, const struct sample_run *r,
				 const struct profile_cost *c)
{
	uint64_t *known = map_at(&l->source.comms, c->comm);

	if (!*known)
		*known = 1 + (uint64_t)profile_frame(&l->trie, l->source.root,
						     lines_name_symbol(l, sample_comm(r, c), true));
	return (uint32_t)(*known - 1);
}

/* Climbs to the first frame that this command already has in the trie, and adds those below it. */
static uint32_t lines_frame(struct lines *l, uint32_t comm, uint32_t frame)
{
	const struct profile_frame *frames = l->source.p->frames;
	uint32_t chain[256], n = 0, at = comm;

	for (; frame != PROFILE_NONE; frame = frames[frame].parent) {
		if (l->source.places[frame].comm == comm + 1) {
			at = l->source.places[frame].frame;
			break;
		}
		if (n == array_size(chain)) {
			at = lines_frame(l, comm, frame);
			break;
		}
		chain[n++] = frame;
	}
	while (n--) {
		at = profile_frame(&l->trie, at, lines_symbol(l, frames[chain[n]].symbol));
		l->source.places[chain[n]] = (struct line_place){comm + 1, at};
	}
	return at;
}

static void lines_add_weight(struct lines *l, uint32_t frame, uint64_t weight)
{
	size_t old = l->weight[l->end].cap, cap = l->trie.frames_cap;
	uint64_t *of = l->weight[l->end].of;

	if (frame >= old) {
		of = xrealloc(of, cap * sizeof(*of));
		memset(of + old, 0, (cap - old) * sizeof(*of));
		l->weight[l->end].of = of;
		l->weight[l->end].cap = cap;
	}
	of[frame] += weight;
}

void lines_end(struct lines *l)
{
	map_free(&l->source.names);
	map_free(&l->source.comms);
	free(l->source.places);
	l->source.places = NULL;
	l->source.block = NULL;
}

static void lines_start_block(struct lines *l, const struct sample_run *r)
{
	struct sample_block *b = r->block;

	lines_end(l);
	l->source.block = b;
	l->source.root = PROFILE_NONE;
	if (r->s->nblocks > 1 || l->all_roots)
		l->source.root = b->root =
			profile_frame(&l->trie, PROFILE_NONE, lines_name_symbol(l, b->name, true));
	l->source.places = xcalloc(r->p->nframes + 1, sizeof(*l->source.places));
}

/* Adds the costs command by command, so that one place for each frame suffices. */
void lines_add(void *lines, const struct sample_run *r)
{
	struct lines *l = lines;
	autofree struct radix_row *rows = xcalloc(r->p->ncosts + 1, sizeof(*rows));
	const struct profile_cost *c;
	size_t n = 0;

	if (l->source.block != r->block)
		lines_start_block(l, r);
	l->source.p = r->p;
	for (size_t i = 0; i < r->p->ncosts; i++) {
		c = &r->p->costs[i];
		if (samples_select(r, c) && sample_ns(r, c) != 0)
			rows[n++] = (struct radix_row){lines_comm_frame(l, r, c), i};
	}
	radix_sort(rows, n);
	for (size_t i = 0; i < n; i++) {
		c = &r->p->costs[rows[i].value];
		lines_add_weight(l, lines_frame(l, (uint32_t)rows[i].key, c->frame),
				 l->count_samples ? c->samples : c->weight);
	}
}

void lines_init(struct lines *l)
{
	*l = (struct lines){0};
	profile_init(&l->trie);
	profile_dso(&l->trie, "", NULL, DSO_UNKNOWN);
}

void lines_free(struct lines *l)
{
	lines_end(l);
	free(l->weight[0].of);
	free(l->weight[1].of);
	profile_free(&l->trie);
}

/* --- the walk --- */

struct walk {
	const struct lines *l;
	struct radix_row *rows; /* frames by their parent + 1 and the rank of their name */
	size_t n, *first;	/* the row of the first child of each frame + 1; roots at 0 */
	struct str text;
};

static int lines_order_names(const void *a, const void *b, void *profile)
{
	return strcmp(profile_symbol_name(profile, *(const uint32_t *)a),
		      profile_symbol_name(profile, *(const uint32_t *)b));
}

/* Returns the rank of each symbol in the order of names; the caller frees. */
static uint32_t *lines_rank_names(const struct profile *p)
{
	autofree uint32_t *order = xcalloc(p->nsymbols + 1, sizeof(*order));
	uint32_t *rank = xcalloc(p->nsymbols + 1, sizeof(*rank));

	for (uint32_t i = 0; i < p->nsymbols; i++)
		order[i] = i;
	if (p->nsymbols)
		qsort_r(order, p->nsymbols, sizeof(*order), lines_order_names, (void *)p);
	for (uint32_t i = 0; i < p->nsymbols; i++)
		rank[order[i]] = i;
	return rank;
}

static void walk_sort_children(struct walk *w)
{
	const struct profile *p = &w->l->trie;
	autofree uint32_t *rank = lines_rank_names(p);

	w->n = p->nframes;
	w->rows = xcalloc(w->n + 1, sizeof(*w->rows));
	w->first = xcalloc(w->n + 1, sizeof(*w->first));
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t above = p->frames[i].parent + 1; /* 0: a root */

		w->rows[i] =
			(struct radix_row){(uint64_t)above << 32 | rank[p->frames[i].symbol], i};
	}
	radix_sort(w->rows, w->n);
	memset(w->first, -1, (w->n + 1) * sizeof(*w->first)); /* SIZE_MAX: no child */
	for (size_t row = w->n; row-- > 0;)
		w->first[w->rows[row].key >> 32] = row;
}

struct level {
	size_t at;   /* the row of the next frame */
	size_t len;  /* the length of the line above it */
	uint32_t of; /* the parent + 1 */
};

/* Walks depth first. No recursion: a chain may be thousands of frames deep. */
static void walk_frames(struct walk *w, line_fn *line, void *arg)
{
	const struct profile *trie = &w->l->trie;
	struct level *levels = NULL, *top;
	size_t n = 0, cap = 0;
	uint32_t frame = PROFILE_NONE;

	for (;;) {
		frame++;
		array_add(levels, n, cap, (struct level){w->first[frame], w->text.len, frame});
		while (n && (levels[n - 1].at >= w->n ||
			     w->rows[levels[n - 1].at].key >> 32 != levels[n - 1].of))
			n--;
		if (!n)
			break;
		top = &levels[n - 1];
		frame = (uint32_t)w->rows[top->at++].value;
		w->text.len = top->len;
		if (top->len)
			str_putc(&w->text, ';');
		str_puts(&w->text, profile_symbol_name(trie, trie->frames[frame].symbol));
		if (lines_weight(w->l, 0, frame) || lines_weight(w->l, 1, frame))
			line(arg, w->text.buf, frame);
	}
	free(levels);
}

void lines_walk(const struct lines *l, line_fn *line, void *arg)
{
	struct walk w = {.l = l};

	walk_sort_children(&w);
	walk_frames(&w, line, arg);
	free(w.rows);
	free(w.first);
	str_free(&w.text);
}
