// SPDX-License-Identifier: GPL-2.0-only
/* Checks the keys of stacks, and the order in which stacks are resolved. */
#include "analyze/perfdata/fold.h"

#include "tests/unit/unit.h"

enum { FRAMES = 20 };

/* The key has hashes of the first 3, 6, 10 and 15 frames from the root, and of all. */
TEST(key_of_a_root_begins_like_that_of_a_longer_one)
{
	static const uint32_t lengths[] = {3, 6, 10, 15, FRAMES};
	struct chain_head head = {.nr = FRAMES};
	uint64_t chain[FRAMES], base;
	uint32_t changed;
	freed(stacks_free) struct stacks s;

	stacks_init(&s);
	for (uint32_t i = 0; i < FRAMES; i++)
		chain[i] = 100 + i;
	stacks_chain(&s, 0, &head, chain);
	base = s.keys[0].root;
	assert_true(base >> 60 == 0);
	for (uint32_t i = 0; i < FRAMES; i++) { /* frames from the root on */
		chain[FRAMES - 1 - i] += 1000;
		changed = stacks_chain(&s, 0, &head, chain);
		chain[FRAMES - 1 - i] -= 1000;
		for (uint32_t level = 0; level < array_size(lengths); level++) {
			int shift = 48 - 12 * (int)level;

			assert_int_equal(s.keys[changed].root >> shift == base >> shift,
					 i >= lengths[level]);
		}
	}
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Below 0: a is before b. */
static int compare_stacks(const struct stack_order *so, const struct stack *l,
			  const struct stack *r)
{
	const struct chain *a = so->chains[l->chain], *b = so->chains[r->chain];
	int c = 0;

	for (uint32_t i = 0; !c && i < a->head.nr && i < b->head.nr; i++)
		c = compare(a->addr[a->head.nr - 1 - i], b->addr[b->head.nr - 1 - i]);
	c = c ? c : compare(a->head.nr, b->head.nr);
	c = c ? c : compare(a->head.leaf, b->head.leaf);
	c = c ? c : compare(l->mode, r->mode);
	return c ? c : compare(l->ip, r->ip);
}

/*
 * Stacks of two folds and two spaces. They share 15 frames from the root, so that many have the
 * same key.
 */
TEST(stacks_are_ordered_by_space_key_and_frames)
{
	enum { STACKS = 6000 };
	struct stack_key *keys = xcalloc(2 * STACKS, sizeof(*keys));
	struct fold list[3] = {0};
	struct folds f = {list, 3};
	size_t n = 0, equal = 0;
	freed(stack_order_free) struct stack_order so;
	uint32_t seed = 1;

	for (size_t i = 0; i < 3; i++)
		stacks_init(&list[i].stacks); /* the last stays empty */
	for (size_t i = 0; i < STACKS; i++) {
		uint64_t chain[17] = {seed / 7 % 50000, seed >> 30};
		struct chain_head head = {.leaf = i / 8 % 2,
					  .pid = 1 + (uint32_t)(i / 2 % 2),
					  .version = (uint32_t)(i / 4 % 2),
					  .nr = i % 11 ? 17 : 16};
		struct stacks *s = &list[i % 2].stacks;
		uint32_t id;

		seed = seed * 1103515245 + 12345;
		for (uint32_t k = 2; k < 17; k++)
			chain[k] = k;
		id = stacks_chain(s, i / 2, &head, chain + (17 - head.nr));
		stacks_id(s, i, i % 2, i % 5 < 2, id);
		stacks_id(s, i, 7 + i, i % 3, id);
	}
	for (size_t i = 0; i < 2; i++)
		for (uint32_t k = 0; k < list[i].stacks.nchains; k++)
			keys[n++] = list[i].stacks.keys[k];
	stack_order_make(&so, &f);
	assert_int_equal(so.nchains, n);
	for (size_t i = 1; i < so.n; i++) {
		const struct stack *l = &so.stacks[so.order[i - 1]], *r = &so.stacks[so.order[i]];
		const struct stack_key *a = &keys[l->chain], *b = &keys[r->chain];
		int c = compare(a->space, b->space);

		c = c ? c : compare(a->root, b->root);
		assert_true(c <= 0);
		if (!c)
			assert_true(compare_stacks(&so, l, r) <= 0);
		equal += !c;
	}
	assert_true(equal > 1000);
	for (size_t i = 0; i < 3; i++) {
		assert_null(list[i].stacks.list);
		stacks_free(&list[i].stacks);
	}
	free(keys);
}

/* Of two stacks with equal keys, the shorter is first. */
TEST(shorter_of_two_stacks_is_first)
{
	struct chain_head head = {.nr = 16};
	uint64_t chain[17] = {0};
	struct fold list[1] = {0};
	struct folds f = {list, 1};
	freed(stack_order_free) struct stack_order so;
	struct stacks s;
	uint32_t id;

	stacks_init(&s);
	stacks_chain(&s, 0, &head, chain + 1);
	do { /* finds a frame that leaves the key as it was */
		head.nr = 17;
		chain[0]++;
		id = stacks_chain(&s, chain[0], &head, chain);
	} while (s.keys[id].root != s.keys[0].root);
	stacks_free(&s);
	stacks_init(&list[0].stacks);
	stacks_id(&list[0].stacks, 1, 0, 0, stacks_chain(&list[0].stacks, 1, &head, chain));
	head.nr = 16;
	stacks_id(&list[0].stacks, 2, 0, 0, stacks_chain(&list[0].stacks, 2, &head, chain + 1));
	stack_order_make(&so, &f);
	assert_int_equal(so.chains[so.stacks[so.order[0]].chain]->head.nr, 16);
	assert_int_equal(so.chains[so.stacks[so.order[1]].chain]->head.nr, 17);
	stacks_free(&list[0].stacks);
}
