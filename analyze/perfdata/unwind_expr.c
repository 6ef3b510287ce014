// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operations that unwind tables may use (DWARF 5, 6.4.2: none that names another part of the
 * debug information). Signed ones work on numbers as wide as the machine's words.
 */
#include "analyze/perfdata/unwind_expr.h"

#include <dwarf.h>
#include <string.h>

enum { DEPTH = 32, STEPS = 512 };

struct machine {
	uint64_t stack[DEPTH], mask; /* of a word */
	size_t n;
	bool bad;
};

static uint64_t number(const uint8_t *at, unsigned int size, bool swap)
{
	uint64_t v8;
	uint32_t v4;
	uint16_t v2;

	switch (size) {
	case 8:
		memcpy(&v8, at, sizeof(v8));
		return swap ? __builtin_bswap64(v8) : v8;
	case 4:
		memcpy(&v4, at, sizeof(v4));
		return swap ? __builtin_bswap32(v4) : v4;
	case 2:
		memcpy(&v2, at, sizeof(v2));
		return swap ? __builtin_bswap16(v2) : v2;
	}
	return *at;
}

bool unwind_stack_read(struct unwind_stack *s, uint64_t addr, unsigned int size, uint64_t *value)
{
	uint64_t at = addr - s->start;

	if (at >= s->size || s->size - at < size) {
		s->beyond = addr >= s->start;
		s->below = !s->beyond;
		return false;
	}
	*value = number(s->data + at, size, s->swap);
	return true;
}

static void push(struct machine *m, uint64_t v)
{
	if (m->n == DEPTH)
		m->bad = true;
	else
		m->stack[m->n++] = v & m->mask;
}

static uint64_t pop(struct machine *m)
{
	if (m->n)
		return m->stack[--m->n];
	m->bad = true;
	return 0;
}

static uint64_t pick(struct machine *m, uint64_t i)
{
	if (i < m->n)
		return m->stack[m->n - 1 - i];
	m->bad = true;
	return 0;
}

static int64_t as_signed(const struct unwind_frame *f, uint64_t v)
{
	return f->arch->word == 4 ? (int32_t)v : (int64_t)v;
}

static bool compare(uint8_t atom, int64_t a, int64_t b)
{
	switch (atom) {
	case DW_OP_le:
		return a <= b;
	case DW_OP_ge:
		return a >= b;
	case DW_OP_eq:
		return a == b;
	case DW_OP_lt:
		return a < b;
	case DW_OP_gt:
		return a > b;
	}
	return a != b;
}

/* No shift of a 64-bit number is wider than 63. */
static uint64_t shift(const struct unwind_frame *f, uint8_t atom, uint64_t a, uint64_t b)
{
	if (atom == DW_OP_shra)
		return (uint64_t)(as_signed(f, a) >> (b > 63 ? 63 : b));
	if (b > 63)
		return 0;
	return atom == DW_OP_shl ? a << b : a >> b;
}

static void divide(const struct unwind_frame *f, struct machine *m, uint8_t atom, uint64_t a,
		   uint64_t b)
{
	if (!b)
		m->bad = true;
	else if (atom == DW_OP_mod)
		push(m, a % b);
	else if (as_signed(f, b) == -1)
		push(m, -a);
	else
		push(m, (uint64_t)(as_signed(f, a) / as_signed(f, b)));
}

static void binary(const struct unwind_frame *f, struct machine *m, uint8_t atom)
{
	uint64_t b = pop(m), a = pop(m);

	switch (atom) {
	case DW_OP_and:
		return push(m, a & b);
	case DW_OP_or:
		return push(m, a | b);
	case DW_OP_xor:
		return push(m, a ^ b);
	case DW_OP_plus:
		return push(m, a + b);
	case DW_OP_minus:
		return push(m, a - b);
	case DW_OP_mul:
		return push(m, a * b);
	case DW_OP_div:
	case DW_OP_mod:
		return divide(f, m, atom, a, b);
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
		return push(m, shift(f, atom, a, b));
	}
	push(m, compare(atom, as_signed(f, a), as_signed(f, b)));
}

static void unary(const struct unwind_frame *f, struct machine *m, const Dwarf_Op *op)
{
	uint64_t v = pop(m), size;

	switch (op->atom) {
	case DW_OP_abs:
		return push(m, as_signed(f, v) < 0 ? -v : v);
	case DW_OP_neg:
		return push(m, -v);
	case DW_OP_not:
		return push(m, ~v);
	case DW_OP_plus_uconst:
		return push(m, v + op->number);
	}
	/* deref, deref_size */
	size = op->atom == DW_OP_deref ? f->arch->word : op->number;
	if ((size == 1 || size == 2 || size == 4 || size == 8) &&
	    unwind_stack_read(f->stack, v, (unsigned int)size, &v))
		push(m, v);
	else
		m->bad = true;
}

static void shuffle(struct machine *m, const Dwarf_Op *op)
{
	uint64_t a, b, c;

	switch (op->atom) {
	case DW_OP_dup:
		return push(m, pick(m, 0));
	case DW_OP_over:
		return push(m, pick(m, 1));
	case DW_OP_pick:
		return push(m, pick(m, op->number));
	case DW_OP_drop:
		pop(m);
		return;
	}
	a = pop(m); /* swap, rot */
	b = pop(m);
	c = op->atom == DW_OP_rot ? pop(m) : 0;
	push(m, a);
	if (op->atom == DW_OP_rot)
		push(m, c);
	push(m, b);
}

static void push_register(const struct unwind_frame *f, struct machine *m, uint64_t reg,
			  uint64_t offset)
{
	if (reg < UNWIND_REGS && unwind_reg_known(f->regs, (unsigned int)reg))
		push(m, f->regs->value[reg] + offset);
	else
		m->bad = true;
}

/* What pushes a value. False: it is something else. */
static bool source(const struct unwind_frame *f, struct machine *m, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		push(m, op->atom - (uint64_t)DW_OP_lit0);
	else if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts)
		push(m, op->number);
	else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		push_register(f, m, op->atom - (uint64_t)DW_OP_breg0, op->number);
	else if (op->atom == DW_OP_bregx)
		push_register(f, m, op->number, op->number2);
	else if (op->atom == DW_OP_call_frame_cfa)
		push(m, f->cfa);
	else
		return false;
	return true;
}

static bool is_binary(uint8_t atom)
{
	return (atom >= DW_OP_eq && atom <= DW_OP_ne) ||
	       (atom >= DW_OP_and && atom <= DW_OP_xor && atom != DW_OP_neg && atom != DW_OP_not &&
		atom != DW_OP_plus_uconst);
}

static void step(const struct unwind_frame *f, struct machine *m, const Dwarf_Op *op)
{
	if (source(f, m, op))
		return;
	if (is_binary(op->atom)) {
		binary(f, m, op->atom);
		return;
	}
	switch (op->atom) {
	case DW_OP_abs:
	case DW_OP_neg:
	case DW_OP_not:
	case DW_OP_plus_uconst:
	case DW_OP_deref:
	case DW_OP_deref_size:
		unary(f, m, op);
		break;
	case DW_OP_dup:
	case DW_OP_over:
	case DW_OP_pick:
	case DW_OP_drop:
	case DW_OP_swap:
	case DW_OP_rot:
		shuffle(m, op);
		break;
	case DW_OP_nop:
		break;
	default:
		m->bad = true;
	}
}

/* The operation that a jump goes to: offsets count bytes from behind the jump. `n`: none. */
static size_t target(const Dwarf_Op *ops, size_t n, const Dwarf_Op *jump)
{
	Dwarf_Word to = jump->offset + 3 + (Dwarf_Word)(int16_t)jump->number;
	size_t i;

	for (i = 0; i < n && ops[i].offset != to; i++)
		;
	return i;
}

bool unwind_expr(const struct unwind_frame *f, const Dwarf_Op *ops, size_t n, uint64_t *value)
{
	struct machine m = {.mask = f->arch->word == 4 ? UINT32_MAX : UINT64_MAX};
	size_t i = 0;
	int steps;

	for (steps = 0; i < n && !m.bad; steps++) {
		const Dwarf_Op *op = &ops[i++];

		if (steps == STEPS)
			return false;
		if (op->atom == DW_OP_skip || (op->atom == DW_OP_bra && pop(&m))) {
			i = target(ops, n, op);
			if (i == n)
				return false;
		} else if (op->atom != DW_OP_bra) {
			step(f, &m, op);
		}
	}
	*value = pop(&m);
	return !m.bad;
}
