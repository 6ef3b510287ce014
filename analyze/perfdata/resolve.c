// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks are taken in an order that depends on them alone (order.c), cut into pieces. Threads take
 * piece after piece; each replays the maps for itself, and makes a branch of frames out of a piece
 * (branch.c). Then the branches are grafted onto the profile in that order, which makes it the same
 * whatever the number of threads.
 *
 * An address becomes a symbol as in perf report (addresses.c, objects.c): a return address is
 * looked up as it is, and an address nothing explains is a frame of its own. A stack that a hook in
 * fold.c unwound arrives here as any other.
 */
#include "analyze/perfdata/resolve.h"

#include "analyze/perfdata/addresses.h"
#include "analyze/perfdata/branch.h"
#include "analyze/perfdata/format.h"
#include "analyze/perfdata/order.h"
#include "analyze/perfdata/rows.h"
#include "analyze/perfdata/spots.h"
#include "analyze/perfdata/workers.h"
#include "lib/alloc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 2048, PIECES_PER_THREAD = 4 };

/* An entry of a stack: what it was recorded as, and what came out of it. */
struct entry {
	uint64_t addr;
	uint32_t mode, frame, symbol;
	bool ret; /* a return address */
	enum context context;
};

struct entries {
	struct entry *list; /* leaf first */
	size_t n;
};

struct resolver {
	struct objects objects;
	struct stack_order stacks;
	struct resolved *out; /* by stack */
	struct spot *spots;   /* by stack; NULL: not asked for */
	struct branch *pieces;
	size_t npieces;
	atomic_size_t next; /* the first piece that nobody has taken */
};

/* One thread of it. */
struct walker {
	struct resolver *v;
	struct addresses addresses;
	struct branch_index index;
	struct entries now, last; /* the stack at hand, and the one before it in the piece */
};

static void push(struct entries *e, uint32_t mode, uint64_t addr, bool ret)
{
	e->list[e->n++] = (struct entry){.addr = addr, .mode = mode, .ret = ret};
}

/* The mode that a context marker in a chain switches to; UINT32_MAX: perf does not know it. */
static uint32_t mode_of_marker(uint64_t marker)
{
	switch (marker) {
	case (uint64_t)PERF_CONTEXT_HV:
		return PERF_RECORD_MISC_HYPERVISOR;
	case (uint64_t)PERF_CONTEXT_KERNEL:
		return PERF_RECORD_MISC_KERNEL;
	case (uint64_t)PERF_CONTEXT_USER:
		return PERF_RECORD_MISC_USER;
	}
	return UINT32_MAX;
}

/* Leaf first. False: the chain was damaged, and only the leaf is kept. */
static bool push_chain(struct entries *e, const struct stack *stack)
{
	const struct stack_head *head = &stack->head;
	const uint64_t *chain = stack->chain;
	uint32_t mode = PERF_RECORD_MISC_USER;
	bool first = true, ret = false; /* what follows a marker is where that mode was left */
	size_t i;

	push(e, head->mode, head->ip, false);
	for (i = 0; i < head->nr; i++) {
		if (chain[i] >= (uint64_t)PERF_CONTEXT_MAX) {
			mode = mode_of_marker(chain[i]);
			if (mode == UINT32_MAX) {
				e->n = 1;
				return false;
			}
			ret = false;
		} else {
			if (!first || chain[i] != head->ip)
				push(e, mode, chain[i], ret);
			first = false;
			ret = true;
		}
	}
	return true;
}

/* The nearest function to the leaf that says where it runs decides. */
static enum context context_of_stack(const struct entries *e)
{
	size_t i;

	if (e->list[0].mode == PERF_RECORD_MISC_USER)
		return CTX_USER;
	for (i = 0; i < e->n && e->list[i].mode == PERF_RECORD_MISC_KERNEL; i++)
		if (e->list[i].context != CTX_UNKNOWN)
			return e->list[i].context;
	/* entered from user space, by no interrupt that we know */
	return i && i < e->n && e->list[i].mode == PERF_RECORD_MISC_USER ? CTX_SYSCALL
									 : CTX_UNKNOWN;
}

/* How many entries, from the root, are as in the stack before: their frames are known. */
static size_t common_root(const struct entries *a, const struct entries *b)
{
	size_t most = a->n < b->n ? a->n : b->n, i;

	for (i = 0; i < most; i++) {
		struct entry *to = &a->list[a->n - 1 - i];
		const struct entry *from = &b->list[b->n - 1 - i];

		if (to->addr != from->addr || to->mode != from->mode || to->ret != from->ret)
			break;
		*to = *from;
	}
	return i;
}

static void resolve_entry(struct walker *w, struct branch *b, struct entry *e, uint32_t parent)
{
	struct place place = addresses_find(&w->addresses, e->mode, e->addr, e->ret);
	size_t i;

	e->context = place.context;
	e->symbol = place.symbol;
	e->frame = branch_frame(b, &w->index, parent, place.symbol);
	for (i = 0; place.inlined && i < place.inlined->n; i++)
		e->frame = branch_frame(b, &w->index, e->frame, place.inlined->symbols[i]);
}

static void resolve_stack(struct walker *w, struct branch *b, const struct stack *stack,
			  struct resolved *out)
{
	struct entries *e = &w->now, swap;
	uint32_t frame = PROFILE_NONE;
	size_t i;

	if (!addresses_enter(&w->addresses, stack->head.pid, stack->head.version))
		w->last.n = 0;
	e->n = 0;
	out->bad_chain = !push_chain(e, stack);
	i = e->n - common_root(e, &w->last);
	if (i < e->n)
		frame = e->list[i].frame;
	while (i-- > 0) {
		resolve_entry(w, b, &e->list[i], frame);
		frame = e->list[i].frame;
	}
	out->frame = frame;
	out->context = (uint8_t)context_of_stack(e);
	swap = w->now;
	w->now = w->last;
	w->last = swap;
}

/* Of the stack that was resolved last, in the space that is still at hand. */
static struct spot spot_of_leaf(const struct walker *w)
{
	const struct entry *leaf = &w->last.list[0];

	return spot_of(&w->addresses, leaf->mode, leaf->addr, leaf->symbol);
}

static size_t piece_end(const struct resolver *v, size_t piece)
{
	return piece + 1 < v->npieces ? (piece + 1) * PIECE : v->stacks.n;
}

static void resolve_piece(struct walker *w, size_t piece)
{
	struct resolver *v = w->v;
	struct branch *b = &v->pieces[piece];
	size_t i;

	branch_start(b, &w->index);
	w->last.n = 0;
	for (i = piece * PIECE; i < piece_end(v, piece); i++) {
		uint32_t id = v->stacks.order[i];

		resolve_stack(w, b, v->stacks.stacks[id], &v->out[id]);
		if (v->spots)
			v->spots[id] = spot_of_leaf(w);
	}
}

static void walk(void *arg, size_t number)
{
	struct walker w = {.v = arg};
	size_t most = (1 << 16) / 8 + 1, piece; /* a record's size has 16 bits */

	(void)number;
	w.now.list = xcalloc(most, sizeof(*w.now.list));
	w.last.list = xcalloc(most, sizeof(*w.last.list));
	addresses_init(&w.addresses, &w.v->objects);
	while ((piece = atomic_fetch_add(&w.v->next, 1)) < w.v->npieces)
		resolve_piece(&w, piece);
	addresses_free(&w.addresses);
	branch_index_free(&w.index);
	free(w.now.list);
	free(w.last.list);
}

/* New numbers for old ones, in the order in which they are asked for. */
struct numbering {
	uint32_t *of, next;
};

static struct numbering numbering_of(size_t n)
{
	struct numbering new = {.of = xmalloc(n * sizeof(*new.of))};

	memset(new.of, 0xff, n * sizeof(*new.of));
	return new;
}

static uint32_t renumber(struct numbering *numbers, uint32_t old)
{
	if (numbers->of[old] == UINT32_MAX)
		numbers->of[old] = numbers->next++;
	return numbers->of[old];
}

/*
 * Threads numbered the symbols as they came; the branches, in their order, name them anew: the
 * first that they use is 0. Objects follow, in the symbols' order.
 */
static void number_symbols(struct resolver *v, struct profile *p)
{
	struct profile_symbol *rows = xcalloc(p->nsymbols, sizeof(*rows));
	struct numbering symbols = numbering_of(p->nsymbols), dsos = numbering_of(p->ndsos);
	struct profile_dso *objects = xmemdup(p->dsos, p->ndsos * sizeof(*objects));
	size_t piece, i;

	for (piece = 0; piece < v->npieces; piece++)
		for (i = 0; i < v->pieces[piece].n; i++) {
			uint32_t *id = &v->pieces[piece].frames[i].symbol;

			*id = renumber(&symbols, *id);
		}
	for (i = 0; i < p->nsymbols; i++)
		rows[renumber(&symbols, (uint32_t)i)] = p->symbols[i];
	for (i = 0; i < p->nsymbols; i++)
		rows[i].dso = renumber(&dsos, rows[i].dso);
	for (i = 0; i < p->ndsos; i++)
		p->dsos[renumber(&dsos, (uint32_t)i)] = objects[i];
	profile_take_symbols(p, rows, p->nsymbols);
	spots_number_symbols(p, symbols.of);
	free(symbols.of);
	free(dsos.of);
	free(objects);
}

/* Frames of branches become frames of the profile. */
static void graft(struct resolver *v, struct profile *p)
{
	uint32_t *ids = NULL;
	size_t piece, i;

	for (piece = 0; piece < v->npieces; piece++) {
		struct branch *b = &v->pieces[piece];

		ids = xrealloc(ids, b->n * sizeof(*ids));
		branch_graft(b, p, ids);
		for (i = piece * PIECE; i < piece_end(v, piece); i++) {
			struct resolved *out = &v->out[v->stacks.order[i]];

			out->frame = ids[out->frame];
		}
		branch_free(b);
	}
	free(ids);
}

static void resolve_stacks(struct resolver *v, struct folds *f, const struct perfdata_options *o)
{
	size_t i;

	stack_order_make(&v->stacks, f);
	v->npieces = (v->stacks.n + PIECE - 1) / PIECE;
	v->pieces = xcalloc(v->npieces, sizeof(*v->pieces));
	v->out = xcalloc(v->stacks.n, sizeof(*v->out));
	if (o->spots)
		v->spots = xcalloc(v->stacks.n + 1, sizeof(*v->spots));
	workers_run(workers_count(o->threads, v->npieces, PIECES_PER_THREAD), walk, v);
	for (i = 0; i < f->n; i++)
		fold_free_stacks(&f->list[i]);
}

void resolve(struct recording *r, struct folds *f, struct kernel_symbols *kernel,
	     const struct perfdata_options *o)
{
	struct resolver v = {.npieces = 0};

	objects_init(&v.objects, r, kernel, o);
	resolve_stacks(&v, f, o);
	if (v.spots)
		spots_add(&v.objects, f, v.spots);
	objects_free(&v.objects);
	number_symbols(&v, r->profile);
	graft(&v, r->profile);
	rows_add(r, f, v.out);
	spots_number_events(r);
	stack_order_free(&v.stacks);
	free(v.pieces);
	free(v.out);
	free(v.spots);
}
