// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often the printed intervals hold the truth. Each variant of a simulated capture has the same
 * truth: every function has its share, and a KiB costs BASIS ns. The runs differ: the basis of a
 * run by 8 %, the weight of a function by 10 %, and the samples by chance (Poisson). In a noisy
 * lab one weight in ten is twice as large, and one basis in ten three times or a third as
 * large. The store and the tables are those of a real capture.
 */
#include "analyze/compare/diff.h"
#include "tests/unit/small_store.h"

enum { STORES = 50, VARIANTS = 6, RUNS = 6, SAMPLES = 4000 };
#define BASIS 300.0

/* Shares in percent. The last is too rare for an interval in many of the captures. */
static const struct {
	const char *name;
	double share;
} functions[] = {
	{"_copy_to_iter", 40},	 {"tcp_v4_rcv", 20}, {"__napi_poll", 15}, {"kmem_cache_alloc", 10},
	{"tcp_ack", 7},		 {"skb_clone", 4},   {"schedule", 2},	  {"__skb_clone", 1},
	{"tcp_data_queue", 0.7}, {"read_tsc", 0.3},
};
enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

static double unit(struct prng *r)
{
	return ((double)prng_below(r, 1 << 30) + 0.5) / (1 << 30);
}

/* Returns a factor with the median 1. */
static double factor(struct prng *r, double sd)
{
	return exp(sd * stats_normal_quantile(unit(r)));
}

enum lab { SEPARATE_PASSES, SAME_RUNS, NOISY };

/* Returns what other programs do to a factor in one run of ten of a noisy lab. */
static double noise(struct prng *r, enum lab lab, double up, double down)
{
	size_t luck = lab == NOISY ? prng_below(r, 20) : 20;

	return luck == 0 ? up : luck == 1 ? down : 1;
}

static uint64_t poisson(struct prng *r, double mean)
{
	double product = 1, end = exp(-mean);
	uint64_t n = 0;

	if (mean > 300) /* normal */
		return (uint64_t)(mean + sqrt(mean) * stats_normal_quantile(unit(r)) + 0.5);
	for (product = unit(r); product > end; product *= unit(r))
		n++;
	return n;
}

/* A second of a CPU at 100 %. */
static void add_work(struct store *s, int64_t run, double ns_per_kib)
{
	small_store_metrics(s, run, "seconds = 1, cpu_pct = 100");
	small_store_metric(s, run, "rate_kib", 1e9 / ns_per_kib);
}

/* `kernel` is the share of the kernel's code. User code has the rest. */
static void add_profile(struct store *s, int64_t run, struct prng *r, double kernel, enum lab lab)
{
	freed(profile_free) struct profile p;
	uint32_t event, dso, user;

	profile_init(&p);
	event = profile_event(&p, "cpu-clock", true);
	dso = profile_dso(&p, "[kernel.kallsyms]", NULL, DSO_KERNEL);
	user = profile_dso(&p, "/bin/workload", NULL, DSO_USER);
	for (size_t i = 0; i <= FUNCTIONS; i++) {
		double share = i < FUNCTIONS ? kernel * functions[i].share / 100 * factor(r, 0.1) *
						       noise(r, lab, 2, 2)
					     : 1 - kernel;
		struct profile_cost c = {.event = event,
					 .cpu = 1,
					 .comm = PROFILE_NONE,
					 .context = CTX_SOFTIRQ,
					 .samples = poisson(r, SAMPLES * share)};
		const char *name = i < FUNCTIONS ? functions[i].name : "main";

		if (!c.samples)
			continue;
		c.weight = c.samples * 1000;
		c.frame =
			profile_frame(&p, PROFILE_NONE,
				      profile_symbol(&p, i < FUNCTIONS ? dso : user, name, false));
		profile_add(&p, &c);
		p.events[event].samples += c.samples;
		p.events[event].weight += c.weight;
		p.events[event].weight2 += 1e6 * (double)c.samples;
	}
	assert_int_equal(store_profile_write(s, run, &p, NULL), 0);
}

/*
 * Separate passes give shares and basis. In the pass `all` the same runs give both: user code makes
 * some runs dearer, and there the shares of the kernel's code are smaller by as much.
 */
static void add_variant(struct store *s, const char *name, struct prng *r, enum lab lab)
{
	const bool same_runs = lab == SAME_RUNS;
	int64_t run;

	assert_int_equal(store_variant_add(s, name, NULL, NULL, NULL), 0);
	for (int i = 1; i <= RUNS; i++) {
		double kernel = same_runs ? 0.75 + 0.06 * stats_normal_quantile(unit(r)) : 1;

		run = small_store_run(s, (struct run){.variant = name,
						      .pass = same_runs ? "all" : "measure",
						      .repeat = i});
		add_work(s, run,
			 BASIS / kernel * factor(r, same_runs ? 0.02 : 0.08) *
				 noise(r, lab, 3, 1.0 / 3));
		if (!same_runs)
			run = small_store_run(
				s, (struct run){.variant = name, .pass = "profile", .repeat = i});
		add_profile(s, run, r, kernel, lab);
	}
}

struct hits {
	const char *what;
	unsigned held, of, without; /* intervals that hold the truth; all; rows without */
};

static void count(struct hits *h, double error, double half)
{
	h->without += isnan(half);
	h->of += !isnan(half);
	h->held += fabs(error) <= half;
}

static const char *component_of(const struct components *rules, const char *symbol)
{
	const struct function f = {symbol, "kernel", DSO_KERNEL, CTX_SOFTIRQ};

	return components_of(rules, &f);
}

/* Returns the share of a function, or of a component where there are rules. NAN: user code. */
static double true_share(const struct components *rules, const char *name)
{
	double share = 0;

	for (size_t i = 0; i < FUNCTIONS; i++)
		if (!strcmp(rules ? component_of(rules, functions[i].name) : functions[i].name,
			    name))
			share += functions[i].share;
	return share > 0 ? share : NAN;
}

/* Counts a column of a table of the whole capture. `scale`: the true value / the true share. */
static void count_table(struct store *s, const char *key, const char *column, double scale,
			struct query q, struct hits *h)
{
	bool whole = !strcmp(key, "component");
	struct components *rules = NULL;
	struct error err = {0};
	freed(table_free) struct table t;

	q.all = true;
	if (whole)
		assert_int_equal(components_read(&rules, NULL, NULL, &err), 0);
	assert_int_equal(measure_run(whole ? "components" : "functions", s, &q, &t, &err), 0);
	for (size_t i = 0; i < t.rows; i++) {
		double truth = scale * true_share(rules, table_text(&t, i, key));

		if (!isnan(truth))
			count(h, table_real(&t, i, column) - truth,
			      table_interval(&t, i, column).half);
	}
	components_free(rules);
}

/* Compares two variants that do not differ. */
static void count_differences(struct store *s, char names[][8], int n, struct hits *h)
{
	struct comparison c = {.rule = {.alpha = 0.05, .threshold = 0.02}};
	struct table notes;
	struct diff d;

	for (int i = 0; i + 1 < n; i += 2) {
		c.end[BASE] = (struct compare_end){.store = s, .variant = names[i]};
		c.end[NEW] = (struct compare_end){.store = s, .variant = names[i + 1]};
		table_init(&notes, "notes", NULL, 0);
		assert_int_equal(diff_read_ends(&d, &c, "receiver", &functions_spec, &notes, NULL),
				 0);
		for (size_t row = 0; row < d.n; row++)
			count(h, d.rows[row].delta, d.rows[row].delta_ci);
		diff_free(&d);
		table_free(&notes);
	}
}

/* Outliers make intervals of differences wider than needed: both ends have them. */
static void check(const struct hits *h, double most)
{
	double rate = (double)h->held / h->of;

	printf("# %s: %u of %u intervals hold the truth, %.1f %%; %u rows without\n", h->what,
	       h->held, h->of, 100 * rate, h->without);
	if (rate < 0.93 || rate > most)
		fail_msg("%s: %.1f %%", h->what, 100 * rate);
}

static void cover(enum lab lab)
{
	struct hits cost = {.what = "functions"}, component = {.what = "components"},
		    share = {.what = "shares"}, change = {.what = "differences"};
	const struct query any = {0}, shares = {.in = IN_CYCLES}; /* not counted */
	char names[VARIANTS][8];
	struct store *s;
	struct prng r;

	prng_seed(&r, STATS_SEED);
	printf("# seed %#llx\n", (unsigned long long)STATS_SEED);
	for (int i = 0; i < STORES; i++) {
		assert_int_equal(store_create(&s, NULL, NULL), 0);
		for (int k = 0; k < VARIANTS; k++) {
			snprintf(names[k], sizeof(names[k]), "v%d", k);
			add_variant(s, names[k], &r, lab);
		}
		count_table(s, "symbol", "self_ns", BASIS / 100, any, &cost);
		count_table(s, "component", "self_ns", BASIS / 100, any, &component);
		count_table(s, "symbol", "self_share", lab == SAME_RUNS ? 0.75 : 1, shares, &share);
		count_differences(s, names, VARIANTS, &change);
		assert_int_equal(store_close(s, 0, NULL), 0);
	}
	check(&cost, 0.97);
	check(&component, 0.97);
	check(&share, lab == SAME_RUNS ? 0.975 : 0.97);
	check(&change, lab == NOISY ? 0.98 : 0.97);
}

TEST(intervals_from_separate_passes_hold_95_percent)
{
	cover(SEPARATE_PASSES);
}

TEST(intervals_from_the_same_runs_hold_95_percent)
{
	cover(SAME_RUNS);
}

TEST(intervals_of_runs_with_outliers_hold_95_percent)
{
	cover(NOISY);
}
