// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sorts the stacks in an order that depends only on them (stacks.c) and cuts them into pieces.
 * Threads take one piece after the other and turn it into a branch of frames. Then the branches are
 * grafted onto the profile in order, so the profile does not depend on the number of threads.
 *
 * An address gets the symbol that perf report shows (objects.c): a return address is looked up as
 * it is, and an unresolved address is a frame too.
 */
#include "analyze/perfdata/resolve.h"

#include "lib/workers.h"

/* --- addresses --- */

enum { CACHE_SIZE = 1 << 13 };

struct cached_place {
	uint64_t addr;
	uint32_t state; /* history_state() of the space */
	uint32_t mode;	/* + 1, shifted, and whether it is a return address; 0: free */
	struct place place;
};

/* Enters a process's space in a version. Returns true if it is the space of the last call. */
static bool addresses_enter(struct addresses *a, uint32_t pid, uint32_t version)
{
	if (a->pid == pid && a->version == version)
		return true;
	a->pid = pid;
	a->version = version;
	a->user_state = history_state(a->history, pid, version);
	a->kernel_state = history_state(a->history, KERNEL_PID, version);
	return false;
}

static struct place addresses_look_up(struct addresses *a, uint32_t mode, uint64_t addr, bool ret)
{
	const struct side_ksymbol *program;
	const struct side_map *map;

	switch (mode) {
	case PERF_RECORD_MISC_KERNEL:
		program = history_find_program(a->history, addr, a->version);
		map = history_find(a->history, KERNEL_PID, addr, a->version);
		return objects_find_kernel(a->objects, addr, ret, program, map);
	case PERF_RECORD_MISC_USER:
		map = history_find(a->history, a->pid, addr, a->version);
		return objects_find_user(a->objects, a->pid, addr, ret, map);
	default:
		return objects_find_other(a->objects, mode, addr);
	}
}

/*
 * Finds the symbol at an address in the current space. `mode` is PERF_RECORD_MISC_USER and so on.
 * `ret`: it is a return address.
 */
static struct place addresses_find(struct addresses *a, uint32_t mode, uint64_t addr, bool ret)
{
	uint32_t state = 0, key = (mode + 1) << 1 | (ret && a->objects->o->inlines);
	struct cached_place *c;

	if (mode == PERF_RECORD_MISC_KERNEL)
		state = a->kernel_state;
	else if (mode == PERF_RECORD_MISC_USER)
		state = a->user_state;
	c = &a->cache[(addr ^ addr >> 13 ^ (uint64_t)state * 0x9e3779b1) & (CACHE_SIZE - 1)];
	if (c->addr != addr || c->state != state || c->mode != key)
		*c = (struct cached_place){addr, state, key, addresses_look_up(a, mode, addr, ret)};
	return c->place;
}

/* --- branches --- */

/*
 * The frames of some stacks: a small trie that fits into a cache. It is grafted onto the profile
 * later. Frames have numbers from 0 on, parents before children.
 */
struct branch {
	struct profile_frame *frames;
	uint32_t n, cap;
};

/* Finds a frame by parent and symbol. One branch after the other uses it. */
struct branch_index {
	uint32_t *slots; /* frame + 1; 0: free */
	uint32_t nslots; /* a power of two */
};

enum { FIRST_SLOTS = 1 << 14 };

static void branch_start(struct branch *b, struct branch_index *x)
{
	*b = (struct branch){0};
	if (!x->nslots) {
		x->nslots = FIRST_SLOTS;
		x->slots = xmalloc(x->nslots * sizeof(*x->slots));
	}
	memset(x->slots, 0, x->nslots * sizeof(*x->slots));
}

static uint32_t branch_first_slot(const struct branch_index *x, uint32_t parent, uint32_t symbol)
{
	uint64_t h = ((uint64_t)parent << 32 | symbol) * 0x9e3779b97f4a7c15ULL;

	return (uint32_t)(h >> 32) & (x->nslots - 1);
}

static void branch_grow(const struct branch *b, struct branch_index *x)
{
	uint32_t at;

	x->nslots *= 2;
	x->slots = xrealloc(x->slots, x->nslots * sizeof(*x->slots));
	memset(x->slots, 0, x->nslots * sizeof(*x->slots));
	for (uint32_t i = 0; i < b->n; i++) {
		at = branch_first_slot(x, b->frames[i].parent, b->frames[i].symbol);
		while (x->slots[at])
			at = (at + 1) & (x->nslots - 1);
		x->slots[at] = i + 1;
	}
}

static uint32_t branch_frame(struct branch *b, struct branch_index *x, uint32_t parent,
			     uint32_t symbol)
{
	const struct profile_frame *f;
	uint32_t at;

	if (b->n * 2 >= x->nslots)
		branch_grow(b, x);
	at = branch_first_slot(x, parent, symbol);
	for (; x->slots[at]; at = (at + 1) & (x->nslots - 1)) {
		f = &b->frames[x->slots[at] - 1];
		if (f->parent == parent && f->symbol == symbol)
			return x->slots[at] - 1;
	}
	array_grow(b->frames, b->n, b->cap);
	b->frames[b->n] = (struct profile_frame){parent, symbol};
	x->slots[at] = ++b->n;
	return b->n - 1;
}

static void branch_graft(const struct branch *b, struct profile *p, uint32_t *ids)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct profile_frame *f = &b->frames[i];

		ids[i] = profile_frame(p, f->parent == PROFILE_NONE ? PROFILE_NONE : ids[f->parent],
				       f->symbol);
	}
}

/* --- stacks --- */

enum { PIECE = 2048, PIECES_PER_THREAD = 4 };

/* An entry of a stack: its address and its result. */
struct stack_entry {
	uint64_t addr;
	uint32_t mode, frame, symbol;
	bool ret; /* a return address */
	enum context context;
};

struct stack_entries {
	struct stack_entry *list; /* leaf first */
	size_t n;
};

struct resolver {
	struct objects objects;
	struct stack_order stacks;
	struct resolved *out; /* by stack */
	struct spot *spots;   /* by stack; NULL: nobody asked */
	struct branch *pieces;
	size_t npieces;
	atomic_size_t next; /* the first free piece */
};

/* One thread. */
struct resolve_thread {
	struct resolver *v;
	struct addresses addresses;
	struct branch_index index;
	struct stack_entries now, last; /* the current stack, and the one before it in the piece */
};

static void entries_push(struct stack_entries *e, uint32_t mode, uint64_t addr, bool ret)
{
	e->list[e->n++] = (struct stack_entry){.addr = addr, .mode = mode, .ret = ret};
}

/*
 * Returns the mode after a context marker in a chain, or UINT32_MAX if perf does not know the
 * marker.
 */
static uint32_t marker_mode(uint64_t marker)
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

/* Pushes the leaf first. Returns false and pushes only the leaf if the chain is damaged. */
static bool entries_push_stack(struct stack_entries *e, const struct stack *stack,
			       const struct chain *chain)
{
	uint64_t leaf = chain->head.leaf, addr;
	bool ret = leaf != LEAF_NONE, first = !ret; /* after a marker is no return address */
	uint32_t mode = leaf > LEAF_BARE ? marker_mode(leaf) : PERF_RECORD_MISC_USER;

	entries_push(e, stack->mode & STACK_MODE, stack->ip, false);
	for (size_t i = 0; i < chain->head.nr && mode != UINT32_MAX; i++) {
		addr = chain->addr[i];
		if (addr >= (uint64_t)PERF_CONTEXT_MAX) {
			mode = marker_mode(addr);
			ret = false;
		} else {
			if (!first || addr != stack->ip)
				entries_push(e, mode, addr, ret);
			first = false;
			ret = true;
		}
	}
	if (mode == UINT32_MAX)
		e->n = 1;
	return mode != UINT32_MAX;
}

/* Returns the context, other than `skip`, of the nearest function to the leaf that reveals one. */
static enum context entries_find_context(const struct stack_entries *e, enum context skip)
{
	size_t i;

	for (i = 0; i < e->n && e->list[i].mode == PERF_RECORD_MISC_KERNEL; i++)
		if (e->list[i].context != CTX_UNKNOWN && e->list[i].context != skip)
			return e->list[i].context;
	/* user space entered the kernel, but not by a known interrupt */
	return i && i < e->n && e->list[i].mode == PERF_RECORD_MISC_USER ? CTX_SYSCALL
									 : CTX_UNKNOWN;
}

static enum context entries_context(const struct stack_entries *e)
{
	enum context inner;

	if (e->list[0].mode == PERF_RECORD_MISC_USER)
		return CTX_USER;
	inner = entries_find_context(e, CTX_UNKNOWN);
	return inner == CTX_SOFTIRQ ? context_of_softirq(entries_find_context(e, CTX_SOFTIRQ))
				    : inner;
}

/*
 * Copies the results of the entries, from the root on, that equal those of the last stack. Returns
 * their number.
 */
static size_t entries_common_root(const struct stack_entries *a, const struct stack_entries *b)
{
	size_t most = a->n < b->n ? a->n : b->n, i;

	for (i = 0; i < most; i++) {
		struct stack_entry *to = &a->list[a->n - 1 - i];
		const struct stack_entry *from = &b->list[b->n - 1 - i];

		if (to->addr != from->addr || to->mode != from->mode || to->ret != from->ret)
			break;
		*to = *from;
	}
	return i;
}

static void resolve_entry(struct resolve_thread *w, struct branch *b, struct stack_entry *e,
			  uint32_t parent)
{
	struct place place = addresses_find(&w->addresses, e->mode, e->addr, e->ret);

	e->context = place.context;
	e->symbol = place.symbol;
	e->frame = branch_frame(b, &w->index, parent, place.symbol);
	for (size_t i = 0; place.inlined && i < place.inlined->n; i++)
		e->frame = branch_frame(b, &w->index, e->frame, place.inlined->symbols[i]);
}

/*
 * Returns the parent of the leaf's frame, which is `caller` or the parent of that frame. The chain
 * of a precise event begins at the interrupt, some instructions behind the leaf. If that is in the
 * leaf's function, it is no caller.
 */
static uint32_t resolve_leaf_parent(struct resolve_thread *w, uint32_t caller)
{
	const struct stack_entry *leaf = &w->now.list[0], *at = &w->now.list[1];

	if (w->now.n < 2 || at->ret || at->mode != leaf->mode ||
	    addresses_find(&w->addresses, leaf->mode, leaf->addr, false).symbol != at->symbol)
		return caller;
	return w->now.n > 2 ? w->now.list[2].frame : PROFILE_NONE;
}

/*
 * Returns the entry in which a sample was due: the nearest one to the leaf in the context of the
 * label. If there is none, it is a new entry behind the others, for the label itself.
 */
static size_t resolve_due(struct resolve_thread *w, struct branch *b, uint32_t label)
{
	const enum exact_place place = w->v->objects.o->exact->labels[label].place;
	struct stack_entries *e = &w->now, rest = *e;
	enum context context;

	for (; rest.n; rest.list++, rest.n--) {
		context = entries_context(&rest);
		if (context != CTX_UNKNOWN && exact_context(place, context) == context)
			return e->n - rest.n;
	}
	e->list[e->n] = (struct stack_entry){.addr = label, .mode = MODE_LABEL};
	resolve_entry(w, b, &e->list[e->n], PROFILE_NONE);
	return e->n;
}

/* Returns the entry that is the leaf. */
static const struct stack_entry *resolve_stack(struct resolve_thread *w, struct branch *b,
					       const struct stack *stack, struct resolved *out)
{
	const struct chain *chain = w->v->stacks.chains[stack->chain];
	struct stack_entries *e = &w->now, swap;
	uint32_t frame = PROFILE_NONE;
	size_t i;

	if (!addresses_enter(&w->addresses, chain->head.pid, chain->head.version))
		w->last.n = 0;
	e->n = 0;
	out->bad_chain = !entries_push_stack(e, stack, chain);
	i = e->n - entries_common_root(e, &w->last);
	if (i < e->n)
		frame = e->list[i].frame;
	while (i-- > 0) {
		resolve_entry(w, b, &e->list[i], i ? frame : resolve_leaf_parent(w, frame));
		frame = e->list[i].frame;
	}
	i = stack->mode >> STACK_DUE ? resolve_due(w, b, (stack->mode >> STACK_DUE) - 1) : 0;
	out->frame = e->list[i].frame;
	out->context = (uint8_t)entries_context(&(struct stack_entries){e->list + i, e->n - i});
	swap = w->now;
	w->now = w->last;
	w->last = swap;
	return &w->last.list[i];
}

static size_t resolve_piece_end(const struct resolver *v, size_t piece)
{
	return piece + 1 < v->npieces ? (piece + 1) * PIECE : v->stacks.n;
}

static void resolve_piece(struct resolve_thread *w, size_t piece)
{
	struct resolver *v = w->v;
	struct branch *b = &v->pieces[piece];
	const struct stack_entry *leaf;

	branch_start(b, &w->index);
	w->last.n = 0;
	for (size_t i = piece * PIECE; i < resolve_piece_end(v, piece); i++) {
		uint32_t id = v->stacks.order[i];

		leaf = resolve_stack(w, b, &v->stacks.stacks[id], &v->out[id]);
		if (v->spots) /* the leaf's space is still the current one */
			v->spots[id] =
				spot_find(&w->addresses, leaf->mode, leaf->addr, leaf->symbol);
	}
}

static void resolve_worker(void *arg, size_t number)
{
	struct resolve_thread w = {.v = arg};
	size_t most = (1 << 16) / 8 + 2, piece; /* the size of a record has 16 bits */

	(void)number;
	w.now.list = xcalloc(most, sizeof(*w.now.list));
	w.last.list = xcalloc(most, sizeof(*w.last.list));
	w.addresses = (struct addresses){.objects = &w.v->objects,
					 .history = &w.v->objects.r->history,
					 .pid = KERNEL_PID,
					 .version = UINT32_MAX,
					 .cache = xcalloc(CACHE_SIZE, sizeof(struct cached_place))};
	while ((piece = atomic_fetch_add(&w.v->next, 1)) < w.v->npieces)
		resolve_piece(&w, piece);
	free(w.addresses.cache);
	free(w.index.slots);
	free(w.now.list);
	free(w.last.list);
}

/* Assigns new numbers in the order of the first use. */
struct numbering {
	uint32_t *of, next;
};

static struct numbering numbering_new(size_t n)
{
	struct numbering new = {.of = xmalloc(n * sizeof(*new.of))};

	memset(new.of, 0xff, n * sizeof(*new.of));
	return new;
}

static uint32_t numbering_assign(struct numbering *numbers, uint32_t old)
{
	if (numbers->of[old] == UINT32_MAX)
		numbers->of[old] = numbers->next++;
	return numbers->of[old];
}

/*
 * Threads number symbols in random order. This renumbers them in the order of the branches, and
 * then the objects in the order of the symbols.
 */
static void resolve_number_symbols(struct resolver *v, struct profile *p)
{
	struct profile_symbol *rows = xcalloc(p->nsymbols, sizeof(*rows));
	struct numbering symbols = numbering_new(p->nsymbols), dsos = numbering_new(p->ndsos);
	autofree struct profile_dso *objects = xmemdup(p->dsos, p->ndsos * sizeof(*objects));

	for (size_t piece = 0; piece < v->npieces; piece++)
		for (size_t i = 0; i < v->pieces[piece].n; i++) {
			uint32_t *id = &v->pieces[piece].frames[i].symbol;

			*id = numbering_assign(&symbols, *id);
		}
	for (size_t i = 0; i < p->nsymbols; i++)
		rows[numbering_assign(&symbols, (uint32_t)i)] = p->symbols[i];
	for (size_t i = 0; i < p->nsymbols; i++)
		rows[i].dso = numbering_assign(&dsos, rows[i].dso);
	for (size_t i = 0; i < p->ndsos; i++)
		p->dsos[numbering_assign(&dsos, (uint32_t)i)] = objects[i];
	profile_take_symbols(p, rows, p->nsymbols);
	spots_number_symbols(p, symbols.of);
	free(symbols.of);
	free(dsos.of);
}

/* Turns the frames of the branches into frames of the profile. */
static void resolve_graft(struct resolver *v, struct profile *p)
{
	autofree uint32_t *ids = NULL;

	for (size_t piece = 0; piece < v->npieces; piece++) {
		struct branch *b = &v->pieces[piece];

		ids = xrealloc(ids, b->n * sizeof(*ids));
		branch_graft(b, p, ids);
		for (size_t i = piece * PIECE; i < resolve_piece_end(v, piece); i++) {
			struct resolved *out = &v->out[v->stacks.order[i]];

			out->frame = ids[out->frame];
		}
		free(b->frames);
	}
}

static void resolve_stacks(struct resolver *v, struct folds *f, const struct perfdata_options *o)
{
	stack_order_make(&v->stacks, f);
	v->npieces = (v->stacks.n + PIECE - 1) / PIECE;
	v->pieces = xcalloc(v->npieces, sizeof(*v->pieces));
	v->out = xcalloc(v->stacks.n, sizeof(*v->out));
	if (o->spots)
		v->spots = xcalloc(v->stacks.n + 1, sizeof(*v->spots));
	workers_run(workers_count(o->threads, v->npieces, PIECES_PER_THREAD), resolve_worker, v);
	for (size_t i = 0; i < f->n; i++)
		fold_free_stacks(&f->list[i]);
}

void resolve_folds(struct recording *r, struct folds *f, struct kernel_symbols *kernel,
		   const struct perfdata_options *o)
{
	struct resolver v = {.npieces = 0};

	objects_init(&v.objects, r, kernel, o);
	resolve_stacks(&v, f, o);
	folds_weigh_cycles(f, r, o->exact, v.out);
	if (v.spots)
		spots_add(&v.objects, f, v.spots);
	objects_free(&v.objects);
	resolve_number_symbols(&v, r->profile);
	resolve_graft(&v, r->profile);
	rows_add(r, f, v.out);
	spots_number_events(r);
	stack_order_free(&v.stacks);
	free(v.pieces);
	free(v.out);
	free(v.spots);
}
