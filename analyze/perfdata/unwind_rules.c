// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/unwind_rules.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NO_ROW = 1, OPS_MAX = 64 };

/* --- the object's files --- */

static bool has_section(Elf *elf, const char *name)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	const char *s;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		s = gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;
		if (s && !strcmp(s, name) && shdr.sh_type == SHT_PROGBITS)
			return true;
	}
	return false;
}

/* Thousands of objects may be open at a time: what libelf has mapped needs no descriptor. */
static void drop_fd(struct elf_file *f)
{
	if (f->fd < 0 || elf_cntl(f->elf, ELF_C_FDDONE))
		return;
	close(f->fd);
	f->fd = -1;
}

/* .debug_frame is in the program or in its debug file. */
static void open_debug_frame(struct unwind_object *o)
{
	Elf *elf = NULL;

	if (o->files.have_run && has_section(o->files.run.elf, ".debug_frame"))
		elf = o->files.run.elf;
	else if (o->files.have_syms && has_section(o->files.syms.elf, ".debug_frame"))
		elf = o->files.syms.elf;
	o->dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	o->frames[1] = o->dwarf ? dwarf_getcfi(o->dwarf) : NULL;
}

void unwind_object_open(struct unwind_object *o, const struct symbol_sources *from,
			const struct dso_identity *id)
{
	struct dso_files *f = &o->files;
	char why[512];

	*o = (struct unwind_object){0};
	o->found = !dso_files_find(f, from, id, why, sizeof(why));
	if (!o->found)
		return;
	o->machine = (f->have_run ? &f->run : &f->syms)->header.e_machine;
	if (f->have_run)
		o->frames[0] = dwarf_getcfi_elf(f->run.elf);
	open_debug_frame(o);
	o->tables = o->frames[0] || o->frames[1];
	if (f->have_run && !(f->have_syms && f->run.elf == f->syms.elf))
		drop_fd(&f->run);
	if (f->have_syms)
		drop_fd(&f->syms);
}

void unwind_object_close(struct unwind_object *o)
{
	if (o->frames[0])
		dwarf_cfi_end(o->frames[0]);
	if (o->dwarf)
		dwarf_end(o->dwarf);
	if (o->found)
		dso_files_close(&o->files);
	map_free(&o->rows);
	arena_free(&o->arena);
}

/* --- rows --- */

static bool keep_ops(struct unwind_object *o, struct unwind_rule *rule, const Dwarf_Op *ops,
		     size_t n)
{
	if (n > OPS_MAX)
		return false;
	rule->nops = (uint16_t)n;
	rule->ops = arena_dup(&o->arena, ops, n * sizeof(*ops));
	return true;
}

/* A register and an offset: DW_OP_breg<n> or DW_OP_bregx. */
static bool is_register_plus(const Dwarf_Op *op, uint64_t *reg, int64_t *offset)
{
	if (op->atom == DW_OP_bregx) {
		*reg = op->number;
		*offset = (int64_t)op->number2;
	} else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*reg = op->atom - (uint64_t)DW_OP_breg0;
		*offset = (int64_t)op->number;
	} else {
		return false;
	}
	return *reg < UNWIND_REGS;
}

static bool read_cfa(struct unwind_object *o, Dwarf_Frame *frame, struct unwind_rule *cfa)
{
	Dwarf_Op *ops;
	uint64_t reg;
	size_t n;

	*cfa = (struct unwind_rule){.how = IN_REGISTER};
	if (dwarf_frame_cfa(frame, &ops, &n) || !n)
		return false;
	if (n == 1 && is_register_plus(ops, &reg, &cfa->offset)) {
		cfa->from = (uint8_t)reg;
		return true;
	}
	cfa->how = IS_EXPR;
	return keep_ops(o, cfa, ops, n);
}

/* libdw's form of the simple rules; anything else is an expression. */
static bool simple_rule(struct unwind_rule *rule, const Dwarf_Op *ops, size_t n)
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
 * Adds the rule of one register. False: the tables are damaged. libdw tells a register that the
 * tables say nothing of apart from one that is kept, by the platform's convention, but not
 * rightly (rbx on x86-64): both are kept here, and only of the return address "undefined" counts.
 */
static bool read_rule(struct unwind_object *o, Dwarf_Frame *frame, struct unwind_row *row,
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
	if (simple_rule(rule, ops, n))
		return true;
	rule->how = ops[n - 1].atom == DW_OP_stack_value ? IS_EXPR : AT_EXPR;
	return keep_ops(o, rule, ops, n - (rule->how == IS_EXPR));
}

static struct unwind_row *read_row(struct unwind_object *o, const struct unwind_arch *arch,
				   Dwarf_Frame *frame)
{
	struct unwind_row row = {0};
	int ra = dwarf_frame_info(frame, NULL, NULL, &row.signal);
	unsigned int reg, last;

	if (ra < 0 || ra >= UNWIND_REGS)
		return NULL;
	row.ra = (uint8_t)ra;
	if (!read_cfa(o, frame, &row.cfa))
		return NULL;
	last = arch->nregs > row.ra ? arch->nregs : row.ra + 1U;
	for (reg = 0; reg < last; reg++)
		if (!read_rule(o, frame, &row, reg))
			return NULL;
	return arena_dup(&o->arena, &row,
			 offsetof(struct unwind_row, rules) +
				 row.nrules * sizeof(struct unwind_rule));
}

static const struct unwind_row *find_row(struct unwind_object *o, const struct unwind_arch *arch,
					 uint64_t link)
{
	const struct unwind_row *row = NULL;
	Dwarf_Frame *frame;
	int i;

	for (i = 0; i < 2 && !row; i++) {
		if (!o->frames[i] || dwarf_cfi_addrframe(o->frames[i], link, &frame))
			continue;
		row = read_row(o, arch, frame);
		free(frame);
	}
	return row;
}

/* Code first: a page may be mapped twice, as the end of one segment and the start of another. */
static uint64_t link_address(const struct unwind_object *o, uint64_t offset)
{
	Elf *elf = (o->files.have_run ? &o->files.run : &o->files.syms)->elf;
	uint64_t link = offset;
	bool code = false;
	size_t i, n;
	GElf_Phdr p;

	if (elf_getphdrnum(elf, &n))
		n = 0;
	for (i = 0; i < n && !code && gelf_getphdr(elf, (int)i, &p); i++)
		if (p.p_type == PT_LOAD && offset >= p.p_offset &&
		    offset - p.p_offset < p.p_filesz) {
			link = offset - p.p_offset + p.p_vaddr;
			code = p.p_flags & PF_X;
		}
	return link;
}

const struct unwind_row *unwind_object_row(struct unwind_object *o, const struct unwind_arch *arch,
					   uint64_t offset)
{
	uint64_t *at;

	if (!o->tables || o->machine != arch->machine)
		return NULL;
	at = map_at(&o->rows, offset);
	if (!*at)
		*at = (uint64_t)(uintptr_t)find_row(o, arch, link_address(o, offset));
	if (!*at)
		*at = NO_ROW;
	return *at == NO_ROW ? NULL : (const struct unwind_row *)(uintptr_t)*at;
}
