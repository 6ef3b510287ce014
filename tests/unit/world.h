/* SPDX-License-Identifier: GPL-2.0-only */
/* A profile that is small enough to add up by hand, and runs of a store for it. */
#ifndef ZCOST_TESTS_UNIT_WORLD_H
#define ZCOST_TESTS_UNIT_WORLD_H

#include "tests/unit/small_store.h"

/*
 * main -> a (20), main -> a -> b (30), main -> a -> b -> a (10), idle: do_idle (40); all CPU 1 but
 * the idle ones, which are CPU 2. Ten samples of weight 10.
 */
struct world {
	struct profile p;
	uint32_t kernel, comm, event;
};

static inline void world_free(struct world *w)
{
	profile_free(&w->p);
}

static inline uint32_t frame(struct world *w, uint32_t parent, const char *name)
{
	return profile_frame(&w->p, parent, profile_symbol(&w->p, w->kernel, name, false));
}

static inline void add(struct world *w, uint32_t leaf, uint32_t cpu, enum context context,
		       uint64_t n)
{
	struct profile_cost c = {.event = w->event,
				 .cpu = cpu,
				 .comm = w->comm,
				 .context = context,
				 .frame = leaf,
				 .samples = n,
				 .weight = 10 * n};

	profile_add(&w->p, &c);
	w->p.events[w->event].samples += n;
	w->p.events[w->event].weight += 10 * n;
	w->p.events[w->event].weight2 += 100.0 * (double)n;
}

static inline void start_world(struct world *w)
{
	*w = (struct world){0};
	profile_init(&w->p);
	w->event = profile_event(&w->p, "cpu-clock", true);
	w->kernel = profile_dso(&w->p, "[kernel.kallsyms]", NULL, DSO_KERNEL);
	w->comm = intern_str(&w->p.strings, "prog");
}

static inline void make_world(struct world *w, uint64_t b_samples)
{
	uint32_t main_, a, b;

	start_world(w);
	main_ = frame(w, PROFILE_NONE, "main");
	a = frame(w, main_, "tcp_a");
	b = frame(w, a, "skb_b");
	add(w, a, 1, CTX_SYSCALL, 2);
	add(w, b, 1, CTX_SOFTIRQ, b_samples);
	add(w, frame(w, b, "tcp_a"), 1, CTX_SOFTIRQ, 1);
	add(w, frame(w, PROFILE_NONE, "do_idle"), 2, CTX_IDLE, 4);
}

static inline size_t find(const struct table *t, const char *key, const char *value)
{
	size_t row;

	assert_true(table_column(t, key) >= 0);
	for (row = 0; row < t->rows; row++)
		if (!strcmp(table_text(t, row, key), value))
			return row;
	fail_msg("no row '%s'", value);
	return 0;
}

static inline double cell(const struct table *t, const char *key, const char *value,
			  const char *column)
{
	assert_true(table_column(t, column) >= 0);
	return table_real(t, find(t, key, value), column);
}

static inline int64_t add_run_of(struct store *s, const char *variant, const char *pass, int repeat)
{
	return small_store_run(s, (struct run){.variant = variant, .pass = pass, .repeat = repeat});
}

static inline int64_t add_run(struct store *s, const char *pass, int repeat)
{
	return add_run_of(s, "v", pass, repeat);
}

/* Stores the profile of a run, and frees it. */
static inline void store_world(struct store *s, int64_t run, struct world *w)
{
	assert_int_equal(store_profile_write(s, run, &w->p, NULL), 0);
	world_free(w);
}

/* Adds a run of the measure pass: a basis of 1000 ns per KiB. */
static inline int64_t add_basis(struct store *s, const char *variant)
{
	int64_t run = add_run_of(s, variant, "measure", 1);

	put_metric(s, run, "cpu_pct", "%", 100);
	put_metric(s, run, "rate_kib", "KiB/s", 1e6);
	return run;
}

#endif
