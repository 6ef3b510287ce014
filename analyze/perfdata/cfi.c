// SPDX-License-Identifier: GPL-2.0-only
/* Reads the rules for an address with libdw, and evaluates the expressions in them. */
#include "analyze/perfdata/unwind.h"

#include <dwarf.h>
#include <errno.h>
#include <unistd.h>

enum { NO_ROW = 1, OPS_MAX = 64 };

/* --- the object's files --- */

static bool cfi_has_section(Elf *elf, const char *name)
{
	GElf_Shdr shdr;

	return elf_section(elf, name, &shdr) && shdr.sh_type == SHT_PROGBITS;
}

/* Thousands of objects may be open. libelf has mapped them, so they need no descriptors. */
static void cfi_drop_fd(struct elf_file *f)
{
	if (f->fd < 0 || elf_cntl(f->elf, ELF_C_FDDONE))
		return;
	close(f->fd);
	f->fd = -1;
}

/* The program or its debug file has .debug_frame. */
static void cfi_open_debug_frame(struct unwind_object *o)
{
	Elf *elf = NULL;

	if (o->files.have_run && cfi_has_section(o->files.run.elf, ".debug_frame"))
		elf = o->files.run.elf;
	else if (o->files.have_syms && cfi_has_section(o->files.syms.elf, ".debug_frame"))
		elf = o->files.syms.elf;
	o->dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	o->frames[1] = o->dwarf ? dwarf_getcfi(o->dwarf) : NULL;
}

void unwind_object_open(struct unwind_object *o, const struct symbol_sources *from,
			const struct dso_identity *id)
{
	struct dso_files *f = &o->files;
	char why[512];

	*o = (struct unwind_object){.unread = from->unread};
	o->found = !dso_files_find(f, from, id, why, sizeof(why));
	if (!o->found)
		return;
	o->machine = (f->have_run ? &f->run : &f->syms)->header.e_machine;
	elf_segments_read(&o->segments, (f->have_run ? &f->run : &f->syms)->elf);
	o->name = id->name;
	errno = 0;
	if (f->have_run)
		o->frames[0] = dwarf_getcfi_elf(f->run.elf);
	cfi_open_debug_frame(o);
	unread_add_errno(o->unread, o->name);
	o->tables = o->frames[0] || o->frames[1];
	if (f->have_run && !(f->have_syms && f->run.elf == f->syms.elf))
		cfi_drop_fd(&f->run);
	if (f->have_syms)
		cfi_drop_fd(&f->syms);
}

void unwind_object_close(struct unwind_object *o)
{
	if (o->frames[0])
		dwarf_cfi_end(o->frames[0]);
	if (o->dwarf)
		dwarf_end(o->dwarf);
	if (o->found)
		dso_files_close(&o->files);
	free(o->segments.list);
	map_free(&o->rows);
	arena_free(&o->arena);
}

/* --- rows --- */

static bool cfi_keep_ops(struct unwind_object *o, struct unwind_rule *rule, const Dwarf_Op *ops,
			 size_t n)
{
	if (n > OPS_MAX)
		return false;
	rule->nops = (uint16_t)n;
	rule->ops = arena_dup(&o->arena, ops, n * sizeof(*ops));
	return true;
}

/* libdw gives a register with an offset as DW_OP_bregx. Anything else is an expression. */
static bool cfi_read_cfa(struct unwind_object *o, Dwarf_Frame *frame, struct unwind_rule *cfa)
{
	Dwarf_Op *ops;
	size_t n;

	*cfa = (struct unwind_rule){.how = IN_REGISTER};
	if (dwarf_frame_cfa(frame, &ops, &n) || !n)
		return false;
	if (n == 1 && ops->atom == DW_OP_bregx && ops->number < UNWIND_REGS) {
		cfa->from = (uint8_t)ops->number;
		cfa->offset = (int64_t)ops->number2;
		return true;
	}
	cfa->how = IS_EXPR;
	return cfi_keep_ops(o, cfa, ops, n);
}

/* Parses libdw's form of the simple rules. Anything else is an expression. */
static bool cfi_parse_simple_rule(struct unwind_rule *rule, const Dwarf_Op *ops, size_t n)
{
	bool value = ops[n - 1].atom == DW_OP_stack_value;
	size_t terms = n - value;

	if (n == 1 &&
	    ((ops->atom >= DW_OP_reg0 && ops->atom <= DW_OP_reg31) || ops->atom == DW_OP_regx)) {
		rule->how = IN_REGISTER;
		rule->from = (uint8_t)(ops->atom == DW_OP_regx ? ops->number
							       : ops->atom - (uint64_t)DW_OP_reg0);
		return ops->atom != DW_OP_regx || ops->number < UNWIND_REGS;
	}
	if (ops[0].atom != DW_OP_call_frame_cfa || terms < 1 || terms > 2 ||
	    (terms == 2 && ops[1].atom != DW_OP_plus_uconst))
		return false;
	rule->how = value ? CFA_PLUS : AT_CFA_PLUS;
	rule->offset = terms == 2 ? (int64_t)ops[1].number : 0;
	return true;
}

/*
 * Adds the rule of one register. Returns false if the tables are damaged. libdw distinguishes
 * registers without a rule from registers that the platform's convention preserves, but it is wrong
 * for some (rbx on x86-64). So both keep their values here, and "undefined" counts only for the
 * return address.
 */
static bool cfi_read_rule(struct unwind_object *o, Dwarf_Frame *frame, struct unwind_row *row,
			  unsigned int reg)
{
	struct unwind_rule *rule = &row->rules[row->nrules];
	Dwarf_Op memory[3], *ops;
	size_t n;

	if (dwarf_frame_register(frame, (int)reg, memory, &ops, &n))
		return false;
	if (!n) {
		row->first |= ops && reg == row->ra;
		return true;
	}
	*rule = (struct unwind_rule){.reg = (uint8_t)reg};
	row->nrules++;
	if (cfi_parse_simple_rule(rule, ops, n))
		return true;
	rule->how = ops[n - 1].atom == DW_OP_stack_value ? IS_EXPR : AT_EXPR;
	return cfi_keep_ops(o, rule, ops, n - (rule->how == IS_EXPR));
}

static struct unwind_row *cfi_read_row(struct unwind_object *o, const struct unwind_arch *arch,
				       Dwarf_Frame *frame)
{
	struct unwind_row row = {0};
	int ra = dwarf_frame_info(frame, NULL, NULL, &row.signal);
	unsigned int last;

	if (ra < 0 || ra >= UNWIND_REGS)
		return NULL;
	row.ra = (uint8_t)ra;
	if (!cfi_read_cfa(o, frame, &row.cfa))
		return NULL;
	last = arch->nregs > row.ra ? arch->nregs : row.ra + 1U;
	for (unsigned int reg = 0; reg < last; reg++)
		if (!cfi_read_rule(o, frame, &row, reg))
			return NULL;
	return arena_dup(&o->arena, &row,
			 offsetof(struct unwind_row, rules) +
				 row.nrules * sizeof(struct unwind_rule));
}

static const struct unwind_row *cfi_find_row(struct unwind_object *o,
					     const struct unwind_arch *arch, uint64_t link)
{
	const struct unwind_row *row = NULL;
	Dwarf_Frame *frame;

	errno = 0;
	for (int i = 0; i < 2 && !row; i++) {
		if (!o->frames[i] || dwarf_cfi_addrframe(o->frames[i], link, &frame))
			continue;
		row = cfi_read_row(o, arch, frame);
		free(frame);
	}
	unread_add_errno(o->unread, o->name);
	return row;
}

const struct unwind_row *unwind_object_row(struct unwind_object *o, const struct unwind_arch *arch,
					   uint64_t offset)
{
	uint64_t *at;

	if (!o->tables || o->machine != arch->machine)
		return NULL;
	at = map_at(&o->rows, offset);
	if (!*at) {
		elf_segments_link(&o->segments, offset, &offset);
		*at = (uint64_t)(uintptr_t)cfi_find_row(o, arch, offset);
	}
	if (!*at)
		*at = NO_ROW;
	return *at == NO_ROW ? NULL : (const struct unwind_row *)(uintptr_t)*at;
}

/* --- expressions --- */

/*
 * The operations that compilers, linkers and hand-written code put into unwind tables: PLT entries
 * compute with the pc, frames of signals and of aligned stacks read the CFA from memory.
 */

enum { DEPTH = 8 };

struct expr_machine {
	uint64_t stack[DEPTH];
	size_t n;
	bool bad;
};

bool unwind_stack_read(struct unwind_stack *s, uint64_t addr, uint64_t *value)
{
	uint64_t at = addr - s->start;

	if (at >= s->size || s->size - at < sizeof(*value)) {
		s->beyond = addr >= s->start;
		s->below = !s->beyond;
		return false;
	}
	memcpy(value, s->data + at, sizeof(*value));
	*value = s->swap ? __builtin_bswap64(*value) : *value;
	return true;
}

static void expr_push(struct expr_machine *m, uint64_t v)
{
	if (m->n == DEPTH)
		m->bad = true;
	else
		m->stack[m->n++] = v;
}

static uint64_t expr_pop(struct expr_machine *m)
{
	if (m->n)
		return m->stack[--m->n];
	m->bad = true;
	return 0;
}

static void expr_push_register(const struct unwind_frame *f, struct expr_machine *m, uint64_t reg,
			       uint64_t offset)
{
	if (reg < UNWIND_REGS && unwind_reg_known(f->regs, (unsigned int)reg))
		expr_push(m, f->regs->value[reg] + offset);
	else
		m->bad = true;
}

/* Executes an operation that pushes a value. Returns false for other operations. */
static bool expr_push_source(const struct unwind_frame *f, struct expr_machine *m,
			     const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		expr_push(m, op->atom - (uint64_t)DW_OP_lit0);
	else if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts)
		expr_push(m, op->number);
	else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		expr_push_register(f, m, op->atom - (uint64_t)DW_OP_breg0, op->number);
	else if (op->atom == DW_OP_bregx)
		expr_push_register(f, m, op->number, op->number2);
	else if (op->atom == DW_OP_call_frame_cfa)
		expr_push(m, f->cfa);
	else
		return false;
	return true;
}

static void expr_step(const struct unwind_frame *f, struct expr_machine *m, const Dwarf_Op *op)
{
	uint64_t b, a;

	if (expr_push_source(f, m, op) || op->atom == DW_OP_nop)
		return;
	b = expr_pop(m);
	switch (op->atom) {
	case DW_OP_plus_uconst:
		return expr_push(m, b + op->number);
	case DW_OP_deref:
		m->bad |= !unwind_stack_read(f->stack, b, &b);
		return expr_push(m, b);
	}
	a = expr_pop(m);
	switch (op->atom) {
	case DW_OP_plus:
		return expr_push(m, a + b);
	case DW_OP_minus:
		return expr_push(m, a - b);
	case DW_OP_and:
		return expr_push(m, a & b);
	case DW_OP_shl:
		return expr_push(m, b > 63 ? 0 : a << b);
	case DW_OP_ge:
		return expr_push(m, (int64_t)a >= (int64_t)b);
	}
	m->bad = true;
}

bool unwind_expr(const struct unwind_frame *f, const Dwarf_Op *ops, size_t n, uint64_t *value)
{
	struct expr_machine m = {.n = 0};

	for (size_t i = 0; i < n && !m.bad; i++)
		expr_step(f, &m, &ops[i]);
	*value = expr_pop(&m);
	return !m.bad;
}
