// SPDX-License-Identifier: GPL-2.0-only
/* The CPUs, the power and the scores of a side, and of sides that share CPUs or a host. */
#include "analyze/scope/placement.h"
#include "tests/unit/small_store.h"

static int64_t add_side(struct store *s, const char *side, const char *host, const char *cpus,
			double cpu_pct)
{
	int64_t run = small_store_with(s, (struct run){.side = side, .host = host, .cpus = cpus},
				       "throughput = 4, rate_kib = 1000, seconds = 2");
	small_store_metric(s, run, "cpu_pct", cpu_pct);
	return run;
}

static void check_row(const struct table *t, size_t row, double t_gbps, double cpu, double watts,
		      double roi_c, double roi_p)
{
	const double expected[] = {t_gbps, cpu, watts, roi_c, roi_p};
	static const char *const columns[] = {"throughput_gbps", "cpu_pct", "power_w", "roi_c",
					      "roi_p"};
	double v;

	for (size_t i = 0; i < array_size(columns); i++) {
		v = table_real(t, row, columns[i]);
		if (isnan(v) != isnan(expected[i]) || fabs(v - expected[i]) > 1e-9)
			fail_msg("row %zu: %s is %g, not %g", row, columns[i], v, expected[i]);
	}
}

/* 4 Gbit/s with half a CPU and 100 W. */
TEST(scores_are_powers_of_the_throughput_over_the_cost)
{
	struct store *s = small_store();
	int64_t run = add_side(s, "receiver", "h", "1", 50);
	struct table t = small_store_table(s, "roi", (struct query){0});

	check_row(&t, 0, 4, 50, NAN, 0.32, NAN);
	assert_int_equal(t.rows, 1); /* one side has no total */
	small_store_says(&t, "power_w, roi_p are absent: no power source");
	small_store_says(&t, "roi_c = T^2 / C, roi_p = T^2 / P;");
	t = small_store_table(s, "roi", (struct query){.model_idle = 10, .model_per_cpu = 6});
	check_row(&t, 0, 4, 50, 13, 0.32, 16.0 / 13);
	small_store_column_is(&t, "power_source", "modelled");
	small_store_column_is(&t, "power_kind", "-");
	small_store_metrics(s, run, "power_w:package = 100, power_w:platform = 200");
	t = small_store_table(s, "roi", (struct query){.roi_n = 3, .roi_m = 2, .model_idle = 10});
	check_row(&t, 0, 4, 50, 200, 1.28, 64.0 / 40000);
	small_store_says(&t, "roi_c = T^3 / C, roi_p = T^3 / P^2;");
	small_store_says(&t, "power is platform power; also measured: package");
	small_store_column_is(&t, "power_source", "measured");
	t = small_store_table(s, "roi", (struct query){.power_kind = "package"});
	check_row(&t, 0, 4, 50, 100, 0.32, 0.16);
	small_store_column_is(&t, "power_kind", "package");
	small_store_metric(s, run, "workload_udp", 1);
	t = small_store_table(s, "roi", (struct query){0});
	check_row(&t, 0, 4, 50, 200, NAN, NAN);
	small_store_says(&t, "roi_c, roi_p are absent: the workload sent datagrams (UDP)");
	t = small_store_table(s, "power", (struct query){0});
	cells_are(&t, "kind = platform package, 0 roi_p = -");
	small_store_says(&t, "roi_p is absent: the workload sent datagrams (UDP)");
}

TEST(score_over_a_cost_of_0_is_missing)
{
	struct store *s = small_store();
	struct table t;

	small_store_metric(s, add_side(s, "receiver", "h", "1", 0), "power_w:wall", 0);
	t = small_store_table(s, "roi", (struct query){0});
	check_row(&t, 0, 4, 0, 0, NAN, NAN);
}

TEST(scores_of_given_numbers)
{
	static const struct {
		struct query q;
		double watts, roi_c, roi_p;
		const char *source;
	} given[] = {
		{{.throughput_gbps = 4, .cpu_pct = 50}, NAN, 0.32, NAN, "-"},
		{{.throughput_gbps = 4, .power_w = 100}, 100, NAN, 0.16, "given"},
		{{.throughput_gbps = 4, .cpu_pct = 50, .model_idle = 10, .model_per_cpu = 6},
		 13,
		 0.32,
		 16.0 / 13,
		 "modelled"},
		{{.throughput_gbps = 4, .cpu_pct = 50, .power_w = 100, .model_idle = 10},
		 100,
		 0.32,
		 0.16,
		 "given"},
	};
	const struct query without = {.throughput_gbps = 4, .model_idle = 10};
	struct table t;

	each (c, given) {
		t = small_store_table(NULL, "roi", c->q);
		check_row(&t, 0, 4, c->q.cpu_pct > 0 ? 50 : NAN, c->watts, c->roi_c, c->roi_p);
		small_store_column_is(&t, "power_source", c->source);
	}
	small_store_refuses(NULL, "roi", without, -EINVAL, "table roi needs a divisor");
}

/* Of three sides, two have a run. The third side's traffic passed the transfer, too. */
TEST(total_has_the_throughput_of_the_transfer)
{
	static const char *const sides[] = {"receiver", "sender"};
	struct store *s = small_store();
	struct table t;

	for (size_t i = 0; i < array_size(sides); i++) {
		int64_t run = add_side(s, sides[i], i ? "g" : "h", "1", 50);

		small_store_metrics(s, run, "transfer_sides = 3, transfer:throughput = 6");
	}
	t = small_store_table(s, "roi", (struct query){0});
	check_row(&t, 0, 4, 50, NAN, 0.32, NAN);
	check_row(&t, 2, 6, 100, NAN, 0.36, NAN);
	s = small_store(); /* a receiver and a sender: what was received */
	for (size_t i = 0; i < array_size(sides); i++) {
		int64_t run = small_store_run(s, (struct run){.side = sides[i], .host = sides[i]});

		small_store_metric(s, run, "throughput", i ? 5 : 4);
		small_store_metric(s, run, "cpu_pct", 50);
	}
	t = small_store_table(s, "roi", (struct query){0});
	check_row(&t, 2, 4, 100, NAN, 0.16, NAN);
}

/* The receiver uses CPUs 1-2, the sender CPUs 2-3; CPU 2 is busy for 30 %. */
TEST(total_counts_a_shared_cpu_once)
{
	struct store *s = small_store();
	int64_t receiver = add_side(s, "receiver", "h", "1-2", 80);
	int64_t sender = add_side(s, "sender", "h", "2-3", 70);
	struct table t;

	small_store_metric(s, receiver, "workload_cpu_pct", 20);
	small_store_metric(s, sender, "workload_cpu_pct", 12);
	t = small_store_table(s, "roi", (struct query){0});
	small_store_column_is(&t, "side", "receiver sender total");
	check_row(&t, 2, 4, NAN, NAN, NAN, NAN);
	small_store_says(
		&t, "cpu_pct, roi_c are absent for v total: receiver and sender share CPU 2: ");
	small_store_metrics(s, sender, "cpu_pct:cpu2 = 30, cpu_pct:cpu3 = 40");
	t = small_store_table(s, "roi", (struct query){0});
	check_row(&t, 0, 4, 80, NAN, 16.0 / 80, NAN);
	check_row(&t, 2, 4, 120, NAN, 16.0 / 120, NAN);
	small_store_says(&t,
			 "v total: receiver and sender share CPU 2: cpu_pct and roi_c count each");
	/* CPU time of processes is not that of CPUs: nothing is shared. */
	t = small_store_table(s, "roi", (struct query){.workload_only = true});
	check_row(&t, 2, 4, 32, NAN, 0.5, NAN);
	assert_false(small_store_noted(&t, "share CPU"));
}

/* The sender's CPUs are also the receiver's, or the receiver has all CPUs of the host. */
TEST(total_of_sides_on_the_same_cpus)
{
	static const struct {
		const char *host, *receiver, *sender;
		double total;
		const char *says;
	} places[] = {
		{"h", "1", "1", 50, "share CPU 1"},
		{"h", "0-1", "0-1", 50, "share CPUs 0-1"},
		{"h", "", "1", 50, "share CPU 1"},
		{"h", "", "", 50, "share all CPUs"},
		{"h", "1", "0", 120, NULL},
		{"other", "1", "1", 120, NULL}, /* CPU 1 of another host */
	};
	struct table t;

	for (size_t i = 0; i < array_size(places); i++) {
		struct store *s = small_store();
		int64_t sender = add_side(s, "sender", places[i].host, places[i].sender, 70);

		add_side(s, "receiver", "h", places[i].receiver, 50);
		small_store_metrics(s, sender, "cpu_pct:cpu1 = 50, cpu_pct:cpu0 = 20");
		t = small_store_table(s, "roi", (struct query){0});
		if (i == 0) /* only CPU 0, which is outside the sender's set, remains */
			check_row(&t, 2, 4, 70, NAN, 16.0 / 70, NAN);
		else
			check_row(&t, 2, 4, places[i].total, NAN, 16 / places[i].total, NAN);
		if (places[i].says)
			small_store_says(&t, places[i].says);
		else
			assert_false(small_store_noted(&t, "share"));
	}
}

/* A meter on the sender measures host h, on which the receiver runs, too. */
TEST(meter_of_a_host_serves_all_its_sides_and_counts_once)
{
	struct store *s = small_store();
	int64_t meter = add_side(s, "sender", "h", "2", 30);
	struct table t;

	add_side(s, "receiver", "h", "1", 50);
	small_store_metric(s, meter, "power_w:wall", 100);
	t = small_store_table(s, "roi", (struct query){0});
	check_row(&t, 0, 4, 50, 100, 0.32, 0.16);
	check_row(&t, 1, 4, 30, 100, 16.0 / 30, 0.16);
	check_row(&t, 2, 4, 80, 100, 0.2, 0.16);
	small_store_says(&t, "v receiver, v sender: the watts are those of the whole host");
	t = small_store_table(
		s, "roi",
		(struct query){.power_kind = "package", .model_idle = 10, .model_per_cpu = 10});
	check_row(&t, 0, 4, 50, 15, 0.32, 16.0 / 15);
	check_row(&t, 2, 4, 80, 18, 0.2, 16.0 / 18); /* the idle power counts once */
	s = small_store();
	add_side(s, "receiver", "h", "1", 50);
	meter = add_side(s, "sender", "g", "1", 30);
	small_store_metric(s, meter, "power_w:wall", 100);
	t = small_store_table(s, "roi", (struct query){.model_idle = 20});
	check_row(&t, 0, 4, 50, 20, 0.32, 0.8);
	check_row(&t, 1, 4, 30, 100, 16.0 / 30, 0.16);
	check_row(&t, 2, 4, 80, 120, 0.2, 16.0 / 120);
	small_store_column_is(&t, "power_source", "modelled measured modelled");
	assert_false(small_store_noted(&t, "whole host"));
	t = small_store_table(s, "roi", (struct query){0}); /* host h has no power */
	check_row(&t, 2, 4, 80, NAN, 0.2, NAN);
}

TEST(notes_say_which_sides_lack_a_figure_and_why)
{
	struct store *s = small_store();
	struct table t;
	int64_t run;

	add_side(s, "receiver", "h", "1", 50);
	run = small_store_run(s, (struct run){.side = "sender"});
	small_store_metric(s, run, "throughput", 4);
	t = small_store_table(s, "roi", (struct query){0});
	small_store_says(
		&t, "cpu_pct, roi_c are absent for v sender, v total: CPU time was not collected");
	small_store_says(&t, "power_w, roi_p are absent: no power source");
	s = small_store();
	run = small_store_with(s, (struct run){.variant = "w"}, "rate_messages = 9, cpu_pct = 9");
	t = small_store_table(s, "roi", (struct query){0});
	small_store_says(&t, "w receiver: the workload counts messages and roi takes bytes; "
			     "'zcost report summary' and 'zcost compare' have its rate and ns per "
			     "message");
	t = small_store_table(NULL, "roi", (struct query){.throughput_gbps = 4, .cpu_pct = 50});
	small_store_says(&t, "power_w is absent: --power is missing");
}

/* 10 W of package power for 2 s at 1000 KiB/s. The model adds 6 W for each of 0.5 CPUs. */
TEST(power_has_energy_and_score_of_each_kind)
{
	struct store *s = small_store();
	int64_t run = add_side(s, "receiver", "h", "1", 50);
	struct table t;

	small_store_metrics(s, run,
			    "power_w:package = 10, power_w:package/powercap/core = 4, "
			    "power_w:other/hwmon/gpu = 7");
	t = small_store_table(
		s, "power",
		(struct query){.model_idle = 1, .model_per_cpu = 6, .roi_n = 3, .roi_m = 2});
	cells_are(&t, "kind = package package other model, 0 domain = total, "
		      "1 domain = powercap core, 0 power_w = 10, 0 energy_j = 20, "
		      "0 j_per_gb = 9765.625, 0 roi_p = 0.64, 1 energy_j = 8, 2 power_w = 7, "
		      "3 power_w = 4, 3 roi_p = 4");
	assert_true(isnan(table_real(&t, 1, "j_per_gb"))); /* a part of the package */
	t = small_store_table(s, "power", (struct query){0});
	cells_are(&t, "rows = 3, 0 roi_p = 1.6");
}

/* Adds two packages with a node each: cores of CPUs 0,4 and 1,5, then 2,6 and 3,7. */
static void add_machine(struct store *s)
{
	static const struct topology_row rows[] = {
		{.kind = "core", .name = "0/0/0", .cpus = "0,4", .package = 0, .node = 0},
		{.kind = "core", .name = "0/0/1", .cpus = "1,5", .package = 0, .node = 0},
		{.kind = "core", .name = "1/0/0", .cpus = "2,6", .package = 1, .node = 1},
		{.kind = "core", .name = "1/0/1", .cpus = "3,7", .package = 1, .node = 1},
		{.kind = "cache", .name = "L2", .cpus = "0,4", .size_kib = 512},
		{.kind = "cache", .name = "L2", .cpus = "1,5", .size_kib = 512},
		{.kind = "cache", .name = "L2", .cpus = "2", .size_kib = 256},
		{.kind = "nic", .name = "eth0", .node = 0, .up = 1, .speed = 1000},
		{.kind = "nic", .name = "eth1", .node = 1, .up = 1, .speed = 25000},
		{.kind = "nic", .name = "eth2", .node = 0, .up = 0, .speed = 100000},
		{.kind = "nic", .name = "eth3", .node = -1, .up = 1, .speed = 100000},
	};
	const struct host_row host = {.name = "h", .cpus = 8};

	assert_int_equal(store_host_add(s, &host, NULL), 0);
	each (c, rows) {
		struct topology_row r = *c;

		r.host = "h";
		r.size_kib = r.size_kib > 0 ? r.size_kib : NAN;
		r.speed = r.speed > 0 ? r.speed : NAN;
		assert_int_equal(store_topology_add(s, &r, NULL), 0);
	}
}

TEST(placement_counts_cores_siblings_and_nodes)
{
	static const struct {
		const char *cpus;
		unsigned int cores, doubled, siblings, nodes;
		bool all;
	} places[] = {
		{"0", 1, 0, 1, 1, false},     {"4", 1, 0, 1, 1, false},
		{"0,4", 1, 1, 0, 1, false},   {"0-1", 2, 0, 2, 1, false},
		{"0-3", 4, 0, 4, 2, false},   {"0-2,4-6", 3, 3, 0, 2, false},
		{"0-7", 4, 4, 0, 2, true},    {NULL, 4, 4, 0, 2, true},
		{"1-2,8", 2, 0, 2, 2, false},
	};
	struct store *s = small_store();
	struct placement p;
	freed(machine_free) struct machine m;

	add_machine(s);
	assert_int_equal(machine_read(&m, s, "h", NULL), 0);
	each (c, places) {
		assert_true(placement_of(&p, &m, c->cpus));
		assert_int_equal(p.cores, c->cores);
		assert_int_equal(p.doubled, c->doubled);
		assert_int_equal(cpuset_count(&p.siblings), c->siblings);
		assert_int_equal(cpuset_count(&p.nodes), c->nodes);
		assert_int_equal(cpuset_count(&p.packages), c->nodes);
		assert_int_equal(p.all, c->all);
	}
	assert_false(placement_of(&p, &m, "8")); /* the machine does not have it */
	assert_false(placement_of(&p, &m, ""));
	/* Of the cards that are up and on a known node, the fastest carries the traffic. */
	for (size_t i = 0; i < (size_t)m.n; i++)
		assert_int_equal(placement_counts(&m, &m.rows[i]), !strcmp(m.rows[i].name, "eth1"));
}

TEST(fastest_known_card_carries_the_traffic)
{
	static const struct {
		struct topology_row a, b;
		bool first, second;
	} cards[] = {
		{{.kind = "nic", .speed = 10, .up = 1},
		 {.kind = "nic", .speed = 10, .node = 1, .up = 1},
		 true,
		 true},
		{{.kind = "nic", .speed = NAN, .up = 1},
		 {.kind = "nic", .speed = 10, .up = 1},
		 false,
		 true},
		{{.kind = "nic", .speed = NAN, .up = 1},
		 {.kind = "nic", .speed = NAN, .up = -1},
		 true,
		 true},
		{{.kind = "nic", .speed = 9, .up = 1},
		 {.kind = "nic", .speed = 10, .up = -1},
		 false,
		 true},
		{{.kind = "nic", .speed = 9, .up = 1},
		 {.kind = "nic", .speed = 10, .up = 0},
		 true,
		 false},
		{{.kind = "nic", .speed = 9, .up = 1},
		 {.kind = "node", .speed = 10, .up = 1},
		 true,
		 false},
	};

	each (c, cards) {
		struct topology_row rows[] = {c->a, c->b};
		struct machine m = {.rows = rows, .n = 2};

		assert_int_equal(placement_counts(&m, &rows[0]), c->first);
		assert_int_equal(placement_counts(&m, &rows[1]), c->second);
	}
}

TEST(notes_name_sides_that_slow_each_other)
{
	static const struct {
		const char *receiver, *sender;
		const char *says[2], *silent;
	} places[] = {
		{"2", "3", {NULL}, "CPUs"},
		{"2",
		 "6",
		 {"CPUs 2 share cores with CPUs 6 of the sender",
		  "CPUs 6 share cores with CPUs 2 of the receiver"},
		 "node"},
		{"2,6", "3", {"CPUs 2,6: both SMT threads are in use on 1 of the cores"}, "share"},
		{"0",
		 "3",
		 {"CPUs 0 are on NUMA node 0 and network card eth1 is on node 1"},
		 "eth0"},
		{"1-2",
		 "3",
		 {"CPUs 1-2 are on NUMA node 0-1 and network card eth1 is on node 1; some"},
		 "share"},
		{"0-7", "3", {NULL}, "CPUs"},
	};
	struct run *runs;
	struct table t;
	int n;

	for (size_t i = 0; i < array_size(places); i++) {
		struct store *s = small_store();

		add_machine(s);
		small_store_run(s, (struct run){.cpus = places[i].receiver, .ncpus = 1});
		small_store_run(s, (struct run){.side = "sender", .cpus = places[i].sender});
		n = store_runs(s, &(struct run_filter){0}, &runs, NULL);
		assert_int_equal(placement_notes(s, runs, n, NULL), 0);
		free(runs);
		t = small_store_table(s, "topology", (struct query){0});
		for (size_t k = 0; k < 2 && places[i].says[k]; k++)
			small_store_says(&t, places[i].says[k]);
		if (small_store_noted(&t, places[i].silent))
			fail_msg("case %zu: a note has '%s'", i, places[i].silent);
	}
}

TEST(topology_has_a_row_for_alike_caches_and_for_each_side)
{
	struct store *s = small_store();
	struct table t;

	add_machine(s);
	small_store_run(s, (struct run){.cpus = "1-2,5"});
	small_store_run(s, (struct run){.cpus = "1-2,5", .repeat = 2});
	t = small_store_table(s, "topology", (struct query){0});
	cells_are(&t, "kind = cache cache nic nic nic nic side, 0 count = 2, "
		      "0 detail = each of 2 CPUs, 1 count = 1, 1 cpus = 2, 2 speed_gbps = 1, "
		      "2 detail = up, 4 detail = down, 5 detail = node unknown, 6 nodes = 0-1, 6 "
		      "detail = both threads of 1 core; SMT siblings 6 are not the side's; eth0 "
		      "near; eth1 near");
	t = small_store_table(s, "topology", (struct query){.all = true});
	assert_int_equal(t.rows, 12); /* 4 cores, 3 caches, 4 cards and a side */
}
