// SPDX-License-Identifier: GPL-2.0-only
/* Checks the expressions in unwind tables. */
#include "analyze/perfdata/unwind.h"
#include "tests/unit/unit.h"

#include <dwarf.h>

#define OP(a)               \
	{                   \
		.atom = (a) \
	}
#define OP1(a, v)                                      \
	{                                              \
		.atom = (a), .number = (Dwarf_Word)(v) \
	}

static bool evaluate(const Dwarf_Op *ops, size_t n, uint64_t *value)
{
	static const uint8_t memory[16] = {1, 2, 3, 4, 5, 6, 7, 0x88, 9};
	struct unwind_regs regs = {.known = 1 << 7 | 1 << 16};
	struct unwind_stack stack = {.data = memory, .start = 0x1000, .size = sizeof(memory)};
	struct unwind_frame f = {.regs = &regs, .stack = &stack, .cfa = 0x1010};

	regs.value[7] = 0x1000;
	regs.value[16] = 0x400b;
	return unwind_expr(&f, ops, n, value);
}

#define GIVES(expected, ...)                                         \
	do {                                                         \
		const Dwarf_Op ops[] = {__VA_ARGS__};                \
		uint64_t value;                                      \
		assert_true(evaluate(ops, array_size(ops), &value)); \
		assert_true(value == (uint64_t)(expected));          \
	} while (0)
#define FAILS(...)                                                    \
	do {                                                          \
		const Dwarf_Op ops[] = {__VA_ARGS__};                 \
		uint64_t value;                                       \
		assert_false(evaluate(ops, array_size(ops), &value)); \
	} while (0)

TEST(dwarf_expressions_are_evaluated)
{
	/* a PLT entry of x86-64 at its second half: CFA = rsp + 8 + ((rip & 15) >= 11) * 8 */
	GIVES(0x1010, OP1(DW_OP_breg7, 8), OP1(DW_OP_breg16, 0), OP(DW_OP_lit15), OP(DW_OP_and),
	      OP(DW_OP_lit11), OP(DW_OP_ge), OP(DW_OP_lit3), OP(DW_OP_shl), OP(DW_OP_plus));
	GIVES(0x8807060504030201, OP1(DW_OP_breg7, 0), OP(DW_OP_deref));
	GIVES(0x1000, OP(DW_OP_call_frame_cfa), OP1(DW_OP_plus_uconst, -16));
	GIVES(0x1005, {.atom = DW_OP_bregx, .number = 7, .number2 = 5});
	GIVES(31, OP(DW_OP_lit31), OP(DW_OP_nop));
}

/* Operations on two numbers. */
TEST(dwarf_operations_have_their_results)
{
	static const struct {
		int64_t a, b, result;
		uint8_t atom;
	} cases[] = {
		{12, 10, 8, DW_OP_and},	       {3, 4, -1, DW_OP_minus}, {3, 4, 7, DW_OP_plus},
		{1, 62, 1LL << 62, DW_OP_shl}, {8, 64, 0, DW_OP_shl},	{-1, 0, 0, DW_OP_ge},
		{0, 0, 1, DW_OP_ge},	       {1, 0, 1, DW_OP_ge},
	};

	each (c, cases)
		GIVES(c->result, OP1(DW_OP_const8s, c->a), OP1(DW_OP_consts, c->b), OP(c->atom));
}

TEST(bad_dwarf_expressions_are_refused)
{
	Dwarf_Op many[9];
	uint64_t value;

	FAILS(OP(DW_OP_plus));
	FAILS(OP1(DW_OP_breg7, 16), OP(DW_OP_deref));
	FAILS(OP1(DW_OP_breg7, -1), OP(DW_OP_deref));
	FAILS(OP1(DW_OP_breg7, 9), OP(DW_OP_deref)); /* half of the value is beyond the end */
	FAILS(OP1(DW_OP_breg3, 0));		     /* an unknown register */
	FAILS(OP1(DW_OP_bregx, UINT64_MAX));
	FAILS({.atom = DW_OP_bregx, .number = UNWIND_REGS});
	FAILS(OP1(DW_OP_addr, 1));
	FAILS(OP(0xff));
	for (size_t i = 0; i < array_size(many); i++)
		many[i] = (Dwarf_Op){.atom = DW_OP_lit1};
	assert_true(evaluate(many, 8, &value));
	assert_false(evaluate(many, 9, &value));
	assert_false(evaluate(many, 0, &value));
}
