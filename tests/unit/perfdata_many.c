// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks the tables of stacks and costs with more entries than their first size, and the profile of
 * thousands of stacks that are made by chance.
 */
#include "analyze/perfdata/fold.h"
#include "tests/unit/perfdata_stream.h"
#include "tests/unit/unit.h"

static uint64_t seed;

static unsigned int dice(unsigned int sides)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned int)(seed >> 33) % sides;
}

enum { STACKS = 9000 };

/* Only 7 different hashes in every third case, so that many stacks compete for the same slots. */
static uint64_t hash_of(uint32_t i)
{
	return i % 3 ? hash_mix(i) : (uint64_t)(i % 7) << 32 | 5;
}

static uint32_t chain_of(struct stacks *s, uint32_t i)
{
	struct chain_head head = {.leaf = 1 + i / 5, .nr = 3, .version = i % 5, .pid = 9};
	uint64_t chain[] = {i % 5, i / 5, 8};

	return stacks_chain(s, hash_of(i), &head, chain);
}

static uint32_t stack_of(struct stacks *s, uint32_t i)
{
	return stacks_id(s, hash_of(i), i / 15, i % 3, i / 3 % 5);
}

TEST(each_chain_and_each_stack_has_one_number)
{
	freed(stacks_free) struct stacks s;

	stacks_init(&s);
	for (uint32_t i = 0; i < STACKS; i++) {
		assert_int_equal(chain_of(&s, i), i);
		assert_int_equal(chain_of(&s, i / 2), i / 2);
		assert_int_equal(s.nchains, i + 1);
		assert_int_equal(stacks_find(&s, hash_of(i), i / 15, i % 3, i / 3 % 5),
				 STACKS_NONE);
		assert_int_equal(stack_of(&s, i), i);
		assert_int_equal(stack_of(&s, i / 2), i / 2);
		assert_int_equal(s.n, i + 1);
		assert_true(s.slots.n >= 2 * s.n && s.slots.n <= 4096 + 4 * s.n);
		assert_int_equal(s.slots.n & (s.slots.n - 1), 0);
		assert_int_equal(s.chain_slots.n, s.slots.n);
	}
	for (uint32_t i = 0; i < STACKS; i++) {
		assert_int_equal(chain_of(&s, i), i);
		assert_int_equal(s.chains[i]->addr[1], i / 5);
		assert_int_equal(s.chains[i]->head.leaf, 1 + i / 5);
		assert_int_equal(stack_of(&s, i), i);
		assert_int_equal(s.list[i].ip, i / 15);
	}
	assert_int_equal(s.n, STACKS);
}

/* Chains with the same hash are different if their addresses or any part of their head differs. */
TEST(chains_differ_by_addresses_and_head)
{
	static const struct chain_head heads[] = {
		{.leaf = 1, .pid = 2, .version = 3, .nr = 2},
		{.leaf = 9, .pid = 2, .version = 3, .nr = 2},
		{.leaf = 1, .pid = 9, .version = 3, .nr = 2},
		{.leaf = 1, .pid = 2, .version = 9, .nr = 2},
		{.leaf = 1, .pid = 2, .version = 3, .nr = 1},
		{.leaf = 1, .pid = 2, .version = 3, .nr = 0},
	};
	static const uint64_t chains[][2] = {{1, 2}, {1, 3}};
	freed(stacks_free) struct stacks s;

	stacks_init(&s);
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t k = 0; k < 2; k++)
			for (uint32_t i = 0; i < (k ? 4 : array_size(heads)); i++)
				assert_int_equal(stacks_chain(&s, 77, &heads[i], chains[k]),
						 k * array_size(heads) + i);
}

/* The callers are the chain without the leaf, which it has first or behind a marker. */
TEST(callers_follow_the_leaf)
{
	enum { IP = 5 };
	static const uint64_t marker = (uint64_t)PERF_CONTEXT_KERNEL;
	static const struct {
		uint64_t chain[3], leaf, ip;
		uint32_t nr, skipped;
	} cases[] = {
		{{marker, IP, 6}, marker, IP, 3, 2},
		{{IP, 6, 7}, LEAF_BARE, IP, 3, 1},
		{{marker, IP}, marker, IP, 2, 2},
		{{IP}, LEAF_BARE, IP, 1, 1},
		{{marker, 6, IP}, LEAF_NONE, IP, 3, 0},
		{{6, IP, 7}, LEAF_NONE, IP, 3, 0},
		{{marker}, LEAF_NONE, IP, 1, 0},
		{{marker}, LEAF_NONE, marker, 1, 0},
		{{0}, LEAF_NONE, IP, 0, 0},
	};

	each (c, cases) {
		struct stack_head head = {.ip = c->ip, .pid = 2, .version = 3, .nr = c->nr};
		const uint8_t *at = (const uint8_t *)c->chain;
		struct chain_head callers = stacks_split(&head, &at);

		assert_int_equal(callers.leaf, c->leaf);
		assert_int_equal(callers.nr, c->nr - c->skipped);
		assert_int_equal(callers.pid, 2);
		assert_int_equal(callers.version, 3);
		assert_ptr_equal(at, c->chain + c->skipped);
	}
}

static uint32_t add_stack(struct stacks *s, const struct stack_head *h, const uint64_t *chain)
{
	struct chain_head head = {.pid = h->pid, .version = h->version, .nr = h->nr};
	uint64_t hash = hash_bytes(chain, 8 * h->nr, h->pid + 2 * h->version);
	uint32_t id = stacks_chain(s, hash, &head, chain);

	return stacks_id(s, stacks_hash(h->ip, h->mode, id), h->ip, h->mode, id);
}

static const struct chain *chain_at(const struct stack_order *so, size_t i)
{
	return so->chains[so->stacks[so->order[i]].chain];
}

/* Counts the places where the last `n` addresses of the chain change from one stack to the next. */
static size_t count_changes(const struct stack_order *so, uint32_t n)
{
	size_t changes = 1;

	for (size_t i = 1; i < so->n; i++) {
		const struct chain *a = chain_at(so, i - 1), *b = chain_at(so, i);

		changes += memcmp(&a->addr[a->head.nr - n], &b->addr[b->head.nr - n], 8 * n) != 0;
	}
	return changes;
}

/* Stacks of 16 addresses, each of them one of two, from two folds. The root is the last address. */
TEST(stacks_with_the_same_root_are_neighbours)
{
	static const uint32_t lengths[] = {3, 6, 10};
	struct fold list[2] = {0};
	struct folds f = {list, 2};
	struct stack_order so;
	uint32_t n, *chain_bits;

	seed = 3;
	stacks_init(&list[0].stacks);
	stacks_init(&list[1].stacks);
	for (uint32_t i = 0; i < 3000; i++) {
		struct stack_head head = {.ip = 1, .nr = 16};
		uint64_t chain[16];

		for (uint32_t k = 0; k < 16; k++)
			chain[k] = 10 + dice(2);
		add_stack(&list[i % 2].stacks, &head, chain);
	}
	stack_order_make(&so, &f);
	for (uint32_t i = 0; i < array_size(lengths);
	     i++) { /* as many changes as there are roots */
		freed(map_free) struct map roots = {0};

		n = lengths[i];
		for (uint32_t k = 0; k < so.nchains; k++)
			*map_at(&roots, hash_bytes(&so.chains[k]->addr[16 - n], 8 * n, 0)) = 1;
		assert_int_equal(count_changes(&so, n), roots.n);
	}
	chain_bits = xcalloc(so.n, sizeof(*chain_bits)); /* each stack is in the order once */
	for (uint32_t i = 0; i < so.n; i++)
		assert_int_equal(chain_bits[so.order[i]]++, 0);
	free(chain_bits);
	stack_order_free(&so);
	stacks_free(&list[0].stacks);
	stacks_free(&list[1].stacks);
}

/* Stacks of up to 17 addresses. Their last 15 addresses are the same. */
static uint32_t add_deep_stack(struct stacks *s, uint32_t i)
{
	struct stack_head head = {.nr = 15 + i % 3};
	uint64_t chain[17] = {0};

	seed = i;
	head.ip = dice(2);
	head.mode = dice(2);
	head.pid = dice(2);
	head.version = dice(2);
	chain[0] = head.nr > 15 ? dice(30) : 0;
	chain[1] = head.nr > 16 ? dice(30) : 0;
	return add_stack(s, &head, chain);
}

static int compare_leaves(const struct stack *a, const struct stack *b)
{
	return a->ip != b->ip || a->mode != b->mode;
}

/* Which fold has a stack, and which number, does not count. */
TEST(order_of_stacks_depends_on_nothing_but_them)
{
	enum { N = 4000 };
	struct fold list[3] = {0};
	struct folds one = {list, 1}, two = {list + 1, 2};
	struct stack_order a, b;
	size_t k = 0;

	for (uint32_t i = 0; i < 3; i++)
		stacks_init(&list[i].stacks);
	for (uint32_t i = 0; i < N; i++) {
		add_deep_stack(&list[0].stacks, i);
		add_deep_stack(&list[1 + i % 2].stacks, N - 1 - i);
	}
	stack_order_make(&a, &one);
	stack_order_make(&b, &two);
	assert_true(a.n > N / 10 && b.n >= a.n);
	for (uint32_t i = 0; i < b.n; i++) { /* both folds may have a stack */
		const struct stack *r = &b.stacks[b.order[i]], *l;
		const struct chain *lc, *rc = chain_at(&b, i);

		if (i && !memcmp(rc, chain_at(&b, i - 1), sizeof(*rc) + 8 * rc->head.nr) &&
		    !compare_leaves(r, &b.stacks[b.order[i - 1]]))
			continue;
		l = &a.stacks[a.order[k]];
		lc = chain_at(&a, k++);
		assert_int_equal(compare_leaves(l, r), 0);
		assert_memory_equal(lc, rc, sizeof(*lc) + 8 * lc->head.nr);
	}
	assert_int_equal(k, a.n);
	stack_order_free(&a);
	stack_order_free(&b);
	for (uint32_t i = 0; i < 3; i++)
		stacks_free(&list[i].stacks);
}

TEST(each_cost_has_one_row)
{
	enum { KEYS = 3000 };
	struct stack *stacks[2] = {xcalloc(1, sizeof(struct stack)),
				   xcalloc(1, sizeof(struct stack))};
	struct fold_costs c = {0};
	uint32_t round;

	for (round = 0; round < 2; round++)
		for (uint32_t i = 0; i < KEYS; i++) {
			struct fold_cost key = {.stack = i % 2,
						.event = i / 2 % 2,
						.cpu = i / 4 % 5,
						.comm = i / 20 % 3,
						.pid = i / 60 % 5,
						.tid = i / 300};
			struct fold_cost *row = fold_costs_row(&c, stacks[key.stack], &key);

			assert_int_equal(row->samples, round * (i + 1));
			row->samples += i + 1;
			assert_int_equal(c.n, round ? KEYS : i + 1);
			assert_true(c.slots.n <= 1024 + 4 * c.n && 2 * c.n <= c.slots.n + 2);
		}
	for (uint32_t i = 0; i < KEYS; i++)
		assert_int_equal(c.list[i].samples, 2 * (i + 1));
	fold_costs_free(&c);
	free(stacks[0]);
	free(stacks[1]);
}

/* Compares the keys of two rows. */
static int compare_rows(const struct profile_cost *a, const struct profile_cost *b)
{
	const uint32_t l[] = {a->event, a->cpu, a->pid, a->tid, a->comm};
	const uint32_t r[] = {b->event, b->cpu, b->pid, b->tid, b->comm};

	for (size_t i = 0; i < array_size(l); i++)
		if (l[i] != r[i])
			return l[i] < r[i] ? -1 : 1;
	return 0;
}

/*
 * Samples at one address that no mapping has, by falling keys and twice, with a mapping between the
 * two. The names of the threads change.
 */
TEST(rows_of_a_frame_are_sorted_by_their_keys)
{
	enum { KEYS = 16 };
	struct writer w = {0};
	freed(profile_free) struct profile p;

	for (uint32_t pid = 1; pid <= 2; pid++)
		for (uint32_t i = 0; i < 2; i++) {
			w_comm(&w, 0, pid, pid + 10 * i, false, "later");
			w_comm(&w, 100, pid, pid + 10 * i, false, "earlier");
		}
	for (uint32_t i = 2 * KEYS; i-- > 0;) {
		struct w_sample s = w_user_sample(i < KEYS ? 50 : 150, 1, 0x1000);

		s.id = i & 1 ? W_OTHER_ID : W_EVENT_ID;
		s.cpu = i >> 1 & 1;
		s.pid = 1 + (i >> 2 & 1);
		s.tid = s.pid + 10 * (i >> 3 & 1);
		s.period = 1 + i;
		w_sample(&w, &s);
		s.time += 20;
		w_sample(&w, &s);
	}
	for (uint32_t pid = 1; pid <= 2; pid++) {
		w_mmap2(&w, 60, pid, 0x100000 * pid, 0x1000, 0, "/other");
		w_mmap2(&w, 160, pid, 0x400000 * pid, 0x1000, 0, "/other");
	}
	assert_int_equal(w_read_records(&p, &w, NULL), 0);
	assert_int_equal(p.nframes, 1);
	assert_int_equal(p.ncosts, 2 * KEYS);
	for (size_t k = 0; k < p.ncosts; k++) {
		assert_int_equal(p.costs[k].samples, 2);
		if (k)
			assert_true(compare_rows(&p.costs[k - 1], &p.costs[k]) < 0);
	}
}

enum { SAMPLES = 24000, LEVELS = 14, MAPPED = 8, ODD = 11, PIDS = 65 };

/* What the profile must have: sums over the samples, or over the rows. */
struct sums {
	uint64_t weights; /* a sum over each row's weight and key */
	struct map rows, frames;
};

static void add_row(struct sums *sums, uint64_t frame, uint32_t tid, uint32_t cpu, uint64_t weight)
{
	uint64_t key = hash_mix(frame ^ ((uint64_t)tid << 32 | cpu));

	sums->weights += key * weight;
	*map_at(&sums->rows, key) = 1;
}

/*
 * Chains share their roots: the address of a level is one of three. The upper levels lie in no
 * mapping. sums[1] is with their addresses.
 */
static void write_chance_sample(struct writer *w, struct sums *sums)
{
	uint32_t n = 1 + dice(LEVELS);
	struct w_sample s = {
		.period = 1 + dice(100), .cpu = dice(3), .mode = PERF_RECORD_MISC_USER};
	uint64_t frame[2] = {0};

	s.pid = s.tid = 1 + dice(9) * dice(9);
	for (uint32_t i = 0; i < n; i++) {
		s.chain[n - i] = (i < ODD ? 0 : ~0ULL << 60) + 0x1000 * (i + 1) + 16 * dice(3);
		for (int all = 0; all < 2; all++) {
			frame[all] =
				hash_mix(frame[all] ^ (all || i < MAPPED ? s.chain[n - i] : 0));
			*map_at(&sums[all].frames, frame[all]) = 1;
		}
	}
	s.chain[0] = (uint64_t)PERF_CONTEXT_USER;
	for (int all = 0; all < 2; all++)
		add_row(&sums[all], frame[all], s.tid, s.cpu, s.period);
	w_sample(w, &s);
}

static void sum_profile(const struct profile *p, struct sums *sums)
{
	uint64_t *frames = xcalloc(p->nframes, sizeof(*frames));

	for (size_t i = 0; i < p->nframes; i++) {
		const struct profile_frame *f = &p->frames[i];
		const char *address = profile_symbol_name(p, f->symbol);

		frames[i] = hash_mix((f->parent == PROFILE_NONE ? 0 : frames[f->parent]) ^
				     strtoull(address, NULL, 16));
		*map_at(&sums->frames, frames[i]) = 1;
	}
	for (size_t i = 0; i < p->ncosts; i++)
		add_row(sums, frames[p->costs[i].frame], p->costs[i].tid, p->costs[i].cpu,
			p->costs[i].weight);
	free(frames);
}

static void check_profile(const struct writer *w, const struct sums *expected,
			  const struct perfdata_options *o)
{
	struct sums found = {0};
	freed(profile_free) struct profile p;

	assert_int_equal(w_read(&p, &w->out, o, NULL), 0);
	assert_int_equal(p.events[0].samples, SAMPLES);
	sum_profile(&p, &found);
	assert_true(found.weights == expected->weights);
	assert_int_equal(p.ncosts, expected->rows.n);
	assert_int_equal(p.nframes, expected->frames.n);
	map_free(&found.rows);
	map_free(&found.frames);
}

TEST(profile_of_many_stacks_has_each_sample_once)
{
	for (int big = 0; big < 2; big++) {
		freed(writer_free) struct writer records = {.big = big}, w = {.big = big};
		struct sums expected[2] = {0};

		seed = 42;
		for (uint32_t pid = 1; pid <= PIDS; pid++)
			w_mmap2(&records, 0, pid, 0x1000, 0x1000 * MAPPED, 0x1000, "/mapped");
		for (int i = 0; i < SAMPLES; i++)
			write_chance_sample(&records, expected);
		w_pipe(&w, &records.out);
		for (int all = 0; all < 2; all++) {
			check_profile(&w, &expected[all],
				      &(struct perfdata_options){.threads = 1, .addresses = all});
			check_profile(&w, &expected[all],
				      &(struct perfdata_options){.threads = 4, .addresses = all});
			map_free(&expected[all].rows);
			map_free(&expected[all].frames);
		}
	}
}
