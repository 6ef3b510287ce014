// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/unwind.h"

#include "analyze/perfdata/objects.h"

#include <elf.h>

/* --- registers --- */

/* perf: ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8..r15 (asm/perf_regs.h of x86) */
static const uint8_t x86_64_regs[] = {
	0,  3,	2,  1,	4,  5,	6,  7,
	16, 17, 18, 19, 20, 21, 22, 23, /* rax rdx rcx rbx rsi rdi rbp rsp */
};

static const struct unwind_arch archs[] = {
	{.name = "x86_64",
	 .abi = PERF_SAMPLE_REGS_ABI_64,
	 .machine = EM_X86_64,
	 .nregs = sizeof(x86_64_regs),
	 .sp = 7,
	 .fp = 6,
	 .pc = 16,
	 .perf_pc = 8,
	 .perf = x86_64_regs,
	 .address_bits = UINT64_MAX},
	{.name = "aarch64", /* and aarch64_be; perf: x0..x29 lr sp pc, the same as DWARF */
	 .abi = PERF_SAMPLE_REGS_ABI_64,
	 .machine = EM_AARCH64,
	 .nregs = 32,
	 .sp = 31,
	 .fp = 29,
	 .pc = 32,
	 .perf_pc = 32,
	 .address_bits = (1ULL << 48) - 1},
};

const struct unwind_arch *unwind_arch_find(const char *machine, uint64_t abi)
{
	for (size_t i = 0; machine && i < array_size(archs); i++)
		if (archs[i].abi == abi && str_starts(machine, archs[i].name))
			return &archs[i];
	return NULL;
}

/* Reads the value of perf's register `number`. Returns false if it was not recorded. */
static bool unwind_regs_find(uint64_t mask, unsigned int number, struct cursor values,
			     uint64_t *value)
{
	uint64_t below = mask & ((1ULL << number) - 1);

	if (!(mask >> number & 1))
		return false;
	cursor_take(&values, 8 * (size_t)__builtin_popcountll(below));
	*value = cursor_u64(&values);
	return !values.bad;
}

bool unwind_regs_read(struct unwind_regs *regs, const struct unwind_arch *arch, uint64_t mask,
		      struct cursor values)
{
	uint64_t pc;

	regs->known = 0;
	for (unsigned int i = 0; i < arch->nregs; i++)
		if (unwind_regs_find(mask, arch->perf ? arch->perf[i] : i, values, &regs->value[i]))
			regs->known |= 1ULL << i;
	if (!unwind_regs_find(mask, arch->perf_pc, values, &pc))
		return false;
	unwind_set_pc(regs, arch, pc);
	return unwind_reg_known(regs, arch->sp);
}

/* --- stacks --- */

enum { CHAIN_MAX = (1 << 16) / 8, FP_FAR = 0x4000 };

struct unwinding {
	const struct recording *r;
	const struct perfdata_options *o;
	struct identities identities;
	struct profile_unwinds counts; /* the counts of all threads */
	uint64_t *missed;	       /* by object: stacks that ended there without a row */
};

struct unwinder {
	struct unwinding *with;
	struct unwind_object **objects; /* by side-band DSO */
	struct history_seen seen;
	uint64_t **chains; /* by slot */
	size_t nchains;
	struct profile_unwinds counts;
};

/* A stack during the walk. */
struct unwind_walk {
	struct unwinder *u;
	const struct unwind_arch *arch;
	struct unwind_regs regs;
	struct unwind_stack stack;
	uint32_t pid, version;
	bool exact; /* the pc is an instruction, not a return address */
	struct unwind_object *object;
	const struct unwind_row *row; /* the rules at the pc, or NULL */
	uint64_t *out;
	size_t n, room;
};

enum ending { GOES_ON, AT_ROOT, CUT, LOST, TOO_DEEP };

static bool event_keeps_stacks(const struct event *e)
{
	uint64_t all = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

	return (e->sample_type & all) == all;
}

struct unwinding *unwinding_new(const struct recording *r, const struct perfdata_options *o)
{
	struct unwinding *with = NULL;

	for (size_t i = 0; i < r->events.n && !with; i++)
		if (event_keeps_stacks(&r->events.list[i]))
			with = xcalloc(1, sizeof(*with));
	if (!with)
		return NULL;
	with->r = r;
	with->o = o;
	identities_init(&with->identities, r);
	with->missed = xcalloc(r->side.ndsos + 1, sizeof(*with->missed));
	return with;
}

struct unwinder *unwinder_new(struct unwinding *with)
{
	struct unwinder *u;

	if (!with)
		return NULL;
	u = xcalloc(1, sizeof(*u));
	u->with = with;
	u->objects = xcalloc(with->r->side.ndsos + 1, sizeof(*u->objects));
	return u;
}

/* --- look-ups --- */

static struct unwind_object *unwinder_get_object(struct unwinder *u, uint32_t dso)
{
	const struct unwinding *with = u->with;
	struct unwind_object *o = u->objects[dso];
	struct dso_identity id;
	struct symbol_sources from;

	if (o)
		return o;
	o = u->objects[dso] = xcalloc(1, sizeof(*o));
	id = identity_of(&with->identities, dso);
	if (identity_has_no_file(&id))
		return o;
	from = identity_sources(with->r, with->o, &id);
	unwind_object_open(o, &from, &id);
	return o;
}

static const struct unwind_row *unwind_row_at(struct unwind_walk *w, uint64_t pc)
{
	const struct side_map *map =
		history_find_again(&w->u->with->r->history, &w->u->seen, w->pid, pc, w->version);

	if (!map)
		return NULL;
	w->object = unwinder_get_object(w->u, map->dso);
	return unwind_object_row(w->object, w->arch, pc - map->start + map->pgoff);
}

/*
 * Sets the row of the pc. A return address may lie after the end of its function, so this looks up
 * the call before it. Code that returns from a signal handler is the opposite case. Nobody called
 * it, so it may begin at the pc. Its system call never returns, so it may end after the call.
 */
static void unwind_find_row(struct unwind_walk *w)
{
	uint64_t pc = w->regs.pc;

	w->object = NULL;
	w->row = unwind_row_at(w, w->exact ? pc : pc - 1);
	if (w->row)
		return;
	w->row = unwind_row_at(w, w->exact ? pc - 1 : pc);
	if (w->row && !w->row->signal)
		w->row = NULL;
}

/* --- one step --- */

static bool unwind_apply_rule(struct unwind_walk *w, const struct unwind_rule *rule,
			      const struct unwind_frame *f, uint64_t *value)
{
	switch (rule->how) {
	case AT_CFA_PLUS:
		return unwind_stack_read(&w->stack, f->cfa + (uint64_t)rule->offset, value);
	case CFA_PLUS:
		*value = f->cfa + (uint64_t)rule->offset;
		return true;
	case IN_REGISTER:
		if (!unwind_reg_known(&w->regs, rule->from))
			return false;
		*value = w->regs.value[rule->from] + (uint64_t)rule->offset;
		return true;
	case AT_EXPR:
		return unwind_expr(f, rule->ops, rule->nops, value) &&
		       unwind_stack_read(&w->stack, *value, value);
	default:
		return unwind_expr(f, rule->ops, rule->nops, value);
	}
}

static enum ending unwind_failure(const struct unwind_walk *w)
{
	return w->stack.beyond ? CUT : LOST;
}

/*
 * Restores the caller's value of a register. Compilers do not record that an epilogue has popped a
 * register. What was saved below the stack pointer is therefore in the register again. The pc is
 * the exception: its old value is the callee's.
 */
static bool unwind_restore_register(struct unwind_walk *w, const struct unwind_rule *rule,
				    const struct unwind_frame *f, struct unwind_regs *caller)
{
	uint64_t value;

	w->stack.beyond = w->stack.below = false;
	if (unwind_apply_rule(w, rule, f, &value)) {
		caller->value[rule->reg] = value;
		caller->known |= 1ULL << rule->reg;
	} else if (!w->stack.below || rule->reg == w->arch->pc) {
		caller->known &= ~(1ULL << rule->reg);
		return false;
	}
	return true;
}

/* Steps to the caller with the unwind tables. */
static enum ending unwind_step_by_row(struct unwind_walk *w)
{
	const struct unwind_row *row = w->row;
	struct unwind_frame f = {.regs = &w->regs, .stack = &w->stack};
	struct unwind_regs caller = w->regs;

	w->stack.beyond = false;
	if (row->first)
		return AT_ROOT;
	if (!unwind_apply_rule(w, &row->cfa, &f, &f.cfa))
		return unwind_failure(w);
	caller.value[w->arch->sp] = f.cfa;
	for (unsigned int i = 0; i < row->nrules; i++)
		if (!unwind_restore_register(w, &row->rules[i], &f, &caller) &&
		    row->rules[i].reg == row->ra)
			return unwind_failure(w);
	if (!unwind_reg_known(&caller, row->ra))
		return LOST;
	unwind_set_pc(&caller, w->arch, caller.value[row->ra]);
	if (caller.pc == w->regs.pc && caller.value[w->arch->sp] == w->regs.value[w->arch->sp])
		return LOST;
	w->regs = caller;
	return caller.pc ? GOES_ON : AT_ROOT;
}

/*
 * Steps to the caller with the frame pointer. Hand-written code without tables mostly keeps it.
 * libunwind, which perf uses, has the same test for a frame pointer.
 */
static enum ending unwind_step_by_frame_pointer(struct unwind_walk *w)
{
	uint64_t *value = w->regs.value, fp = value[w->arch->fp], sp = value[w->arch->sp], pc;

	w->stack.beyond = false;
	if (!unwind_reg_known(&w->regs, w->arch->fp) || !w->object || !w->object->tables)
		return LOST;
	if (!fp)
		return AT_ROOT;
	if (fp < sp || fp - sp > FP_FAR || !unwind_stack_read(&w->stack, fp + 8, &pc) ||
	    !unwind_stack_read(&w->stack, fp, &value[w->arch->fp]))
		return unwind_failure(w);
	value[w->arch->sp] = fp + 16;
	w->regs.known = 1ULL << w->arch->fp | 1ULL << w->arch->sp;
	unwind_set_pc(&w->regs, w->arch, pc);
	return w->regs.pc ? GOES_ON : AT_ROOT;
}

/* --- the walk --- */

/* Adds the current frame. Returns false if no code is mapped there. */
static bool unwind_add_frame(struct unwind_walk *w)
{
	uint64_t addr = w->regs.pc;

	unwind_find_row(w);
	if (!w->object)
		return false;
	if (!w->exact && !(w->row && w->row->signal))
		addr--;
	if (addr >= (uint64_t)PERF_CONTEXT_MAX)
		return false;
	w->out[w->n++] = w->u->with->r->swap ? __builtin_bswap64(addr) : addr;
	return true;
}

static enum ending unwind_walk(struct unwind_walk *w)
{
	enum ending end = GOES_ON;
	size_t most = w->n + UNWIND_FRAMES;

	w->exact = true;
	while (end == GOES_ON) {
		if (w->n == most || w->n == w->room)
			return TOO_DEEP;
		if (!unwind_add_frame(w))
			return LOST;
		w->exact = w->row && w->row->signal;
		end = w->row ? unwind_step_by_row(w) : unwind_step_by_frame_pointer(w);
	}
	if (end == LOST && w->object && !w->row)
		w->object->missed++;
	return end;
}

static void unwinds_count(struct profile_unwinds *c, enum ending end)
{
	c->stacks++;
	c->cut += end == CUT;
	c->lost += end == LOST;
	c->deep += end == TOO_DEEP;
}

static uint64_t *unwinder_get_chain(struct unwinder *u, unsigned int slot)
{
	if (slot >= u->nchains) {
		u->chains = xrealloc(u->chains, (slot + 1) * sizeof(*u->chains));
		memset(u->chains + u->nchains, 0, (slot + 1 - u->nchains) * sizeof(*u->chains));
		u->nchains = slot + 1;
	}
	if (!u->chains[slot])
		u->chains[slot] = xmalloc(CHAIN_MAX * sizeof(**u->chains));
	return u->chains[slot];
}

/* Returns whether the recorded chain already has user addresses. */
static bool sample_has_user_part(const struct sample *s, bool swap)
{
	uint64_t v;

	for (uint64_t i = 0; i < s->nr; i++) {
		memcpy(&v, s->chain + 8 * i, sizeof(v));
		if ((swap ? __builtin_bswap64(v) : v) == (uint64_t)PERF_CONTEXT_USER)
			return true;
	}
	return false;
}

static enum ending unwind_sample(struct unwind_walk *w, const struct event *e,
				 const struct sample_rest *rest)
{
	w->arch = unwind_arch_find(w->u->with->r->arch, rest->user_abi);
	if (!w->arch || !unwind_regs_read(&w->regs, w->arch, e->regs_user, rest->user_regs))
		return LOST;
	w->stack = (struct unwind_stack){.data = rest->stack,
					 .start = w->regs.value[w->arch->sp],
					 .size = rest->stack_size,
					 .swap = rest->user_regs.swap};
	return rest->stack_size ? unwind_walk(w) : CUT;
}

void unwinder_chain(struct unwinder *u, unsigned int slot, struct sample *s, const struct event *e,
		    struct cursor rest, struct side_space space)
{
	bool swap = u->with->r->swap;
	struct unwind_walk w = {
		.u = u, .pid = space.pid, .version = space.version, .room = CHAIN_MAX};
	struct sample_rest r;
	uint64_t marker = (uint64_t)PERF_CONTEXT_USER;

	if (!event_keeps_stacks(e) || !sample_decode_rest(&r, e, &rest) || !r.user_abi ||
	    s->nr + 1 >= CHAIN_MAX || sample_has_user_part(s, swap))
		return;
	w.out = unwinder_get_chain(u, slot);
	memcpy(w.out, s->chain, s->nr * 8);
	w.n = s->nr;
	w.out[w.n++] = swap ? __builtin_bswap64(marker) : marker;
	unwinds_count(&u->counts, unwind_sample(&w, e, &r));
	if (w.n == s->nr + 1)
		return;
	s->chain = (const uint8_t *)w.out;
	s->nr = w.n;
}

/* --- results --- */

void unwinder_finish(struct unwinder *u)
{
	struct profile_unwinds *to = u ? &u->with->counts : NULL;

	if (!u)
		return;
	to->stacks += u->counts.stacks;
	to->cut += u->counts.cut;
	to->lost += u->counts.lost;
	to->deep += u->counts.deep;
	for (size_t i = 0; i < u->with->r->side.ndsos; i++) {
		if (!u->objects[i])
			continue;
		u->with->missed[i] += u->objects[i]->missed;
		unwind_object_close(u->objects[i]);
		free(u->objects[i]);
	}
	array_free(e, u->chains, u->nchains, free(*e));
	free(u->objects);
	free(u);
}

/* Appends ", most in <object>": the object whose tables were missing most often. */
static void unwinding_name_worst(const struct unwinding *with, struct str *text)
{
	const struct sideband *side = &with->r->side;
	size_t worst = 0;

	for (size_t i = 1; i < side->ndsos; i++)
		if (with->missed[i] > with->missed[worst])
			worst = i;
	if (with->missed[worst])
		str_printf(text, ", most in %s", intern_get(side->strings, side->dsos[worst].name));
}

static char *unwinding_describe_shortfall(const struct unwinding *with)
{
	const struct profile_unwinds *n = &with->counts;
	uint64_t some = n->cut + n->lost + n->deep;
	struct str s = {0};

	if (!some)
		return NULL;
	str_printf(&s, "%.3g %% of %llu user stacks end before their root:",
		   100. * (double)some / (double)n->stacks, (unsigned long long)n->stacks);
	if (n->cut)
		str_printf(
			&s,
			" %llu are longer than the recorded copies (perf record --call-graph dwarf,SIZE records more);",
			(unsigned long long)n->cut);
	if (n->lost) {
		str_printf(&s, " %llu reach code without unwind tables",
			   (unsigned long long)n->lost);
		unwinding_name_worst(with, &s);
		str_puts(&s, ";");
	}
	if (n->deep)
		str_printf(&s, " %llu have more than %d frames;", (unsigned long long)n->deep,
			   UNWIND_FRAMES);
	s.buf[--s.len] = '\0';
	return str_take(&s);
}

void unwinding_finish(struct unwinding *with, struct profile *p)
{
	if (!with)
		return;
	p->health.unwinds = with->counts;
	p->unwind_note = unwinding_describe_shortfall(with);
	identities_free(&with->identities);
	free(with->missed);
	free(with);
}
