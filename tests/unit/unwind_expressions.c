// SPDX-License-Identifier: GPL-2.0-only
/* Checks the expressions in unwind tables. */
#include "analyze/perfdata/cfi.h"
#include "tests/unit/unit.h"

#include <dwarf.h>
#include <linux/perf_event.h>

#define OP(a)               \
	{                   \
		.atom = (a) \
	}
#define OP1(a, v)                                      \
	{                                              \
		.atom = (a), .number = (Dwarf_Word)(v) \
	}
#define AT(o, ...)                         \
	{                                  \
		.offset = (o), __VA_ARGS__ \
	}

static uint64_t expr_abi = PERF_SAMPLE_REGS_ABI_64;

static bool evaluate(const Dwarf_Op *ops, size_t n, uint64_t *value)
{
	static const uint8_t memory[16] = {1, 2, 3, 4, 5, 6, 7, 0x88, 9};
	struct unwind_regs regs = {.known = 1 << 7 | 1 << 16};
	struct unwind_stack stack = {.data = memory, .start = 0x1000, .size = sizeof(memory)};
	struct unwind_frame f = {.arch = unwind_arch_find("x86_64", expr_abi),
				 .regs = &regs,
				 .stack = &stack,
				 .cfa = 0x1010};

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
	GIVES(0x0403, OP1(DW_OP_breg7, 2), OP1(DW_OP_deref_size, 2));
	GIVES(0x1000, OP(DW_OP_call_frame_cfa), OP1(DW_OP_plus_uconst, -16));
	GIVES(-3, OP1(DW_OP_const1s, -7), OP(DW_OP_lit2), OP(DW_OP_div));
	GIVES(1, OP1(DW_OP_const1s, -1), OP(DW_OP_lit0), OP(DW_OP_lt));
	GIVES(-1, OP1(DW_OP_const1s, -2), OP(DW_OP_lit1), OP(DW_OP_shra));
	GIVES(0, OP(DW_OP_lit1), OP1(DW_OP_const1u, 64), OP(DW_OP_shl));
	/* 1 2 3 -> rot: 3 1 2 */
	GIVES(2, OP(DW_OP_lit1), OP(DW_OP_lit2), OP(DW_OP_lit3), OP(DW_OP_rot));
	GIVES(7, OP(DW_OP_lit9), OP(DW_OP_lit2), OP(DW_OP_minus));
	GIVES(-7, OP(DW_OP_lit9), OP(DW_OP_lit2), OP(DW_OP_swap), OP(DW_OP_minus));
	/* if (1) 5 else 6: a jump over one operation */
	GIVES(5, AT(0, .atom = DW_OP_lit5), AT(1, .atom = DW_OP_lit1),
	      AT(2, .atom = DW_OP_bra, .number = 1), AT(5, .atom = DW_OP_lit6),
	      AT(6, .atom = DW_OP_nop));
}

/* Operations on two numbers: a, b and the result, on 64 bits and on 32. */
TEST(dwarf_operations_have_their_results)
{
	static const struct {
		int64_t a, b, wide, narrow;
		uint8_t atom;
	} cases[] = {
		{12, 10, 8, 8, DW_OP_and},
		{12, 10, 14, 14, DW_OP_or},
		{12, 10, 6, 6, DW_OP_xor},
		{12, 10, 120, 120, DW_OP_mul},
		{12, 10, 2, 2, DW_OP_mod},
		{-12, 5, -2, UINT32_MAX - 1, DW_OP_div},
		{12, -1, -12, UINT32_MAX - 11, DW_OP_div},
		{3, 4, -1, UINT32_MAX, DW_OP_minus},
		{1, 62, 1LL << 62, 0, DW_OP_shl},
		{1, 31, 1LL << 31, 1LL << 31, DW_OP_shl},
		{-1, 63, 1, 0, DW_OP_shr},
		{-1, 64, 0, 0, DW_OP_shr},
		{-8, 1, -4, UINT32_MAX - 3, DW_OP_shra},
		{-8, 63, -1, UINT32_MAX, DW_OP_shra},
		{-8, 64, -1, UINT32_MAX, DW_OP_shra},
		{8, 64, 0, 0, DW_OP_shra},
		{-1, 0, 1, 1, DW_OP_le},
		{0, 0, 1, 1, DW_OP_le},
		{1, 0, 0, 0, DW_OP_le},
		{-1, 0, 0, 0, DW_OP_ge},
		{0, 0, 1, 1, DW_OP_ge},
		{1, 0, 1, 1, DW_OP_ge},
		{-1, 0, 1, 1, DW_OP_lt},
		{0, 0, 0, 0, DW_OP_lt},
		{-1, 0, 0, 0, DW_OP_gt},
		{0, 0, 0, 0, DW_OP_gt},
		{1, 0, 1, 1, DW_OP_gt},
		{7, 7, 1, 1, DW_OP_eq},
		{7, 8, 0, 0, DW_OP_eq},
		{7, 7, 0, 0, DW_OP_ne},
		{7, 8, 1, 1, DW_OP_ne},
		{-9, 5, 5, 5, DW_OP_abs}, /* the second number alone loses its sign */
		{9, -5, 5, 5, DW_OP_abs},
		{9, 5, -5, UINT32_MAX - 4, DW_OP_neg},
		{9, 5, -6, UINT32_MAX - 5, DW_OP_not},
		{9, 5, 5, 5, DW_OP_dup},
		{9, 5, 9, 9, DW_OP_over},
		{9, 5, 9, 9, DW_OP_drop},
		{9, 5, 9, 9, DW_OP_swap},
		{9, 5, 5, 5, DW_OP_nop},
	};
	size_t i;

	for (i = 0; i < array_size(cases); i++) {
		GIVES(cases[i].wide, OP1(DW_OP_const8s, cases[i].a), OP1(DW_OP_consts, cases[i].b),
		      OP(cases[i].atom));
		expr_abi = PERF_SAMPLE_REGS_ABI_32;
		GIVES(cases[i].narrow, OP1(DW_OP_const8s, cases[i].a),
		      OP1(DW_OP_consts, cases[i].b), OP(cases[i].atom));
		expr_abi = PERF_SAMPLE_REGS_ABI_64;
	}
	GIVES(3, OP1(DW_OP_const1u, 3), OP(DW_OP_lit5), OP(DW_OP_lit6), OP1(DW_OP_pick, 2));
	FAILS(OP1(DW_OP_const1u, 3), OP(DW_OP_lit5), OP(DW_OP_lit6), OP1(DW_OP_pick, 3));
	GIVES(31, OP(DW_OP_lit31));
	GIVES(0x01, OP1(DW_OP_breg7, 0), OP1(DW_OP_deref_size, 1));
	GIVES(0x04030201, OP1(DW_OP_breg7, 0), OP1(DW_OP_deref_size, 4));
	GIVES(0x0988, OP1(DW_OP_breg7, 7), OP1(DW_OP_deref_size, 2));
	FAILS(OP1(DW_OP_breg7, 0), OP1(DW_OP_deref_size, 3));
	GIVES(0x1005, {.atom = DW_OP_bregx, .number = 7, .number2 = 5});
	FAILS({.atom = DW_OP_bregx, .number = UNWIND_REGS});
	/* no jump if the number is 0 */
	GIVES(6, AT(0, .atom = DW_OP_lit5), AT(1, .atom = DW_OP_lit0),
	      AT(2, .atom = DW_OP_bra, .number = 1), AT(5, .atom = DW_OP_lit6),
	      AT(6, .atom = DW_OP_nop));
	GIVES(5, AT(0, .atom = DW_OP_lit5), AT(1, .atom = DW_OP_skip, .number = 1),
	      AT(4, .atom = DW_OP_lit6), AT(5, .atom = DW_OP_nop));
}

/* A stack has 32 entries, and an expression takes 512 steps at most. */
TEST(dwarf_expressions_have_limits)
{
	Dwarf_Op ops[513];
	uint64_t value;
	size_t i;

	for (i = 0; i < array_size(ops); i++)
		ops[i] = (Dwarf_Op){.atom = i < 32 ? DW_OP_lit1 : DW_OP_nop};
	assert_true(evaluate(ops, 512, &value));
	assert_false(evaluate(ops, 513, &value));
	ops[32].atom = DW_OP_lit1;
	assert_true(evaluate(ops, 32, &value));
	assert_false(evaluate(ops, 33, &value));
}

TEST(bad_dwarf_expressions_are_refused)
{
	Dwarf_Op many[40];
	uint64_t value;
	size_t i;

	FAILS(OP(DW_OP_plus));
	FAILS(OP(DW_OP_lit1), OP(DW_OP_lit0), OP(DW_OP_div));
	FAILS(OP(DW_OP_lit1), OP(DW_OP_lit0), OP(DW_OP_mod));
	GIVES(INT64_MIN, OP1(DW_OP_const8s, INT64_MIN), OP1(DW_OP_const1s, -1), OP(DW_OP_div));
	FAILS(OP1(DW_OP_breg7, 16), OP(DW_OP_deref));
	FAILS(OP1(DW_OP_breg7, -1), OP(DW_OP_deref));
	FAILS(OP1(DW_OP_breg7, 9), OP(DW_OP_deref)); /* half of the value is beyond the end */
	FAILS(OP1(DW_OP_breg7, 0), OP1(DW_OP_deref_size, 0));
	FAILS(OP1(DW_OP_breg7, 0), OP1(DW_OP_deref_size, 200));
	FAILS(OP1(DW_OP_breg3, 0)); /* an unknown register */
	FAILS(OP1(DW_OP_bregx, UINT64_MAX));
	FAILS(OP1(DW_OP_pick, UINT64_MAX));
	FAILS(OP1(DW_OP_addr, 1));
	FAILS(OP(0xff));
	FAILS(AT(0, .atom = DW_OP_skip, .number = (Dwarf_Word)-3)); /* an endless loop */
	FAILS(AT(0, .atom = DW_OP_skip, .number = 77));
	for (i = 0; i < array_size(many); i++)
		many[i] = (Dwarf_Op){.atom = DW_OP_lit1};
	assert_false(evaluate(many, array_size(many), &value));
	assert_false(evaluate(many, 0, &value));
}
