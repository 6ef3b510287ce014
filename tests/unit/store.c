// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/model/notes.h"
#include "lib/sha256.h"
#include "tests/unit/spelled.h"
#include "tests/unit/unit.h"

static void add_run(struct store *s, const char *variant, const char *pass, int repeat,
		    const char *status, int64_t *id)
{
	struct run r = {.variant = variant,
			.pass = pass,
			.repeat = repeat,
			.side = "receiver",
			.cpus = "1",
			.ncpus = 1,
			.start_ns = 10,
			.end_ns = 20,
			.position = repeat,
			.status = status};

	assert_int_equal(store_run_add(s, &r, NULL), 0);
	*id = r.id;
}

TEST(runs_are_listed_by_filter)
{
	struct run_filter mmap_only = {.variant = "mmap"}, failed = {.failed = true};
	struct store *s;
	struct run *runs;
	const char **names;
	int64_t id;

	assert_int_equal(store_create(&s, NULL, NULL), 0);
	assert_int_equal(store_variant_add(s, "baseline", "send -> recv", NULL, NULL), 0);
	assert_int_equal(store_variant_add(s, "mmap", NULL, NULL, NULL), 0);
	add_run(s, "mmap", "measure", 2, "ok", &id);
	add_run(s, "baseline", "measure", 1, "ok", &id);
	add_run(s, "mmap", "measure", 3, "failed", &id);
	assert_int_equal(store_runs(s, &(struct run_filter){0}, &runs, NULL), 2);
	assert_string_equal(runs[0].variant, "baseline");
	assert_int_equal(runs[1].end_ns, 20);
	assert_null(runs[1].host);
	free(runs);
	assert_int_equal(store_runs(s, &mmap_only, &runs, NULL), 1);
	free(runs);
	assert_int_equal(store_runs(s, &failed, &runs, NULL), 3);
	free(runs);
	assert_int_equal(store_variants(s, &names, NULL), 2);
	assert_string_equal(names[0], "baseline");
	free(names);
	assert_string_equal(store_variant_what(s, "baseline"), "send -> recv");
	assert_null(store_variant_what(s, "mmap"));
	assert_int_equal(store_close(s, 0, NULL), 0);
}

TEST(metrics_are_stored_without_nan)
{
	const char *source;
	struct store *s;
	double v = -1;
	int64_t id;

	assert_int_equal(store_create(&s, NULL, NULL), 0);
	add_run(s, "v", "measure", 1, "ok", &id);
	assert_false(store_metric(s, id, "throughput", &v));
	assert_int_equal(put_metric(s, id, "throughput", "Gbit/s", 12.5), 0);
	assert_int_equal(put_metric(s, id, "power_w", "W", NAN), 0);
	assert_true(store_metric_of(s, id, &(struct metric_key){"throughput", NULL, NO_CPU}, &v,
				    &source));
	assert_float_equal(v, 12.5, 0);
	assert_string_equal(source, "measured");
	assert_false(store_metric(s, id, "power_w", &v));
	assert_int_equal(store_close(s, 0, NULL), 0);
}

TEST(keys_of_metrics_have_an_object_and_a_cpu)
{
	static const char *const keys[] = {"irq",	    "irq:LOC",		"irq:LOC:cpu1",
					   "irq:LOC:cpu10", "irq:42 eth0:cpu1", "irqs:LOC"};
	struct metric_row *rows;
	struct store *s;
	double v;
	int64_t id;

	assert_int_equal(store_create(&s, NULL, NULL), 0);
	add_run(s, "v", "measure", 1, "ok", &id);
	for (size_t i = 0; i < array_size(keys); i++)
		assert_int_equal(put_metric(s, id, keys[i], "1", (double)i), 0);
	assert_int_equal(put_metric(s, id, "irq:LOC:cpu1", "1", 7), 0); /* replaces the first */
	assert_int_equal(store_metrics(s, id, "irq", OF_SIDE, &rows, NULL), 2);
	assert_null(rows[0].key.object);
	assert_string_equal(rows[1].key.object, "LOC");
	free(rows);
	assert_int_equal(store_metrics(s, id, "irq", OF_EACH_CPU, &rows, NULL), 3);
	assert_int_equal(rows[1].key.cpu, 1);
	assert_float_equal(rows[1].value, 7, 0);
	assert_int_equal(rows[2].key.cpu, 10);
	free(rows);
	assert_int_equal(store_metrics(s, id, "irq", OF_ALL, &rows, NULL), 5);
	free(rows);
	assert_true(store_metric(s, id, "irq", &v));
	assert_float_equal(v, 0, 0);
	assert_false(store_metric_of(s, id, &(struct metric_key){"irq", NULL, 1}, &v, NULL));
	assert_int_equal(store_close(s, 0, NULL), 0);
}

static void fill_profile(struct profile *p, const char *leaf)
{
	struct profile_cost c = {.comm = PROFILE_NONE, .cpu = 3, .samples = 2, .weight = 200};
	uint32_t dso;

	profile_init(p);
	c.event = profile_event(p, "cpu-clock", true);
	p->events[c.event].samples = 2;
	p->events[c.event].weight = 200;
	p->events[c.event].weight2 = 20000;
	dso = profile_dso(p, "[kernel.kallsyms]", "ab12", DSO_KERNEL);
	c.frame = profile_frame(p, PROFILE_NONE, profile_symbol(p, dso, "main", false));
	for (int i = 0; i < 3000; i++) /* deeper than any buffer on the stack */
		c.frame = profile_frame(p, c.frame, profile_symbol(p, dso, i & 1 ? "a" : "b", 0));
	c.frame = profile_frame(p, c.frame, profile_symbol(p, dso, leaf, false));
	c.context = CTX_SOFTIRQ;
	profile_add(p, &c);
	c.comm = intern_str(&p->strings, "tcpzc");
	c.cpu = PROFILE_NONE;
	profile_add(p, &c);
}

static void check_profile(struct store *s, int64_t id, const char *leaf, uint64_t weight)
{
	const struct profile *p;

	assert_int_equal(store_profile(s, id, &p, NULL), 0);
	assert_int_equal(p->nevents, 1);
	assert_int_equal(p->ncosts, 2);
	assert_int_equal(p->nframes, 3003); /* another leaf in each of two runs */
	assert_int_equal(p->costs[0].weight, weight);
	assert_int_equal(p->costs[0].cpu, 3);
	assert_int_equal(p->costs[0].comm, PROFILE_NONE);
	assert_int_equal(p->costs[1].cpu, PROFILE_NONE);
	assert_string_equal(intern_get(&p->strings, p->costs[1].comm), "tcpzc");
	assert_int_equal(p->costs[1].context, CTX_SOFTIRQ);
	assert_string_equal(profile_symbol_name(p, p->frames[p->costs[0].frame].symbol), leaf);
	assert_string_equal(intern_get(&p->strings, p->dsos[0].build_id), "ab12");
	assert_float_equal(p->events[0].weight2, 20000, 0);
	assert_true(p->events[0].is_time);
}

TEST(profiles_are_read_back)
{
	autofree char *path = xasprintf("%s/zcost.db", dir);
	struct profile p;
	struct notes notes = {0};
	struct store *s;
	int64_t a, b;

	assert_int_equal(store_create(&s, path, &err), 0);
	add_run(s, "v", "profile", 1, "ok", &a);
	add_run(s, "v", "profile", 2, "ok", &b);
	fill_profile(&p, "leaf_one");
	assert_int_equal(store_profile_write(s, a, &p, &err), 0);
	profile_free(&p);
	fill_profile(&p, "leaf_two");
	assert_int_equal(store_profile_write(s, b, &p, &err), 0);
	profile_free(&p);
	check_profile(s, b, "leaf_two", 200);
	check_profile(s, a, "leaf_one", 200);
	check_profile(s, b, "leaf_two", 200); /* again, from memory */
	assert_false(path_exists(path));
	assert_int_equal(store_commit_all(s, &err), 0);
	assert_true(path_exists(path));
	note_add(&notes, capture_incomplete);
	assert_int_equal(store_note_add(s, a, &notes.note[0], &err), -EROFS);
	notes_free(&notes);
	assert_int_equal(store_close(s, 0, NULL), 0);

	assert_int_equal(store_open(&s, dir, NULL), 0);
	check_profile(s, a, "leaf_one", 200);
	check_profile(s, b, "leaf_two", 200);
	assert_true(store_has_profile(s, a));
	assert_false(store_has_profile(s, 99));
	assert_int_equal(store_close(s, 0, NULL), 0);
}

TEST(system_calls_are_read_back)
{
	struct syscall_row in = {.comm = "c",
				 .name = "recvfrom",
				 .pid = 7,
				 .tid = 8,
				 .nr = 45,
				 .calls = 3,
				 .total_ns = 600,
				 .min_ns = 100,
				 .max_ns = 300,
				 .m2 = 1e30,
				 .bytes = 4096,
				 .has_bytes = true};
	struct syscall_row *rows;
	struct store *s;
	int64_t id;

	in.time_hist[7] = 2;
	in.size_hist[63] = 1;
	assert_int_equal(store_create(&s, NULL, NULL), 0);
	add_run(s, "v", "syscalls", 1, "ok", &id);
	assert_int_equal(store_syscall_add(s, id, &in, NULL), 0);
	in.nr = 3;
	in.has_bytes = false;
	in.total_ns = 5;
	assert_int_equal(store_syscall_add(s, id, &in, NULL), 0);
	assert_int_equal(store_syscalls(s, id, &rows, NULL), 2);
	assert_true(rows[0].has_bytes);
	assert_false(rows[1].has_bytes);
	assert_int_equal(rows[0].time_hist[7], 2);
	assert_int_equal(rows[0].size_hist[63], 1);
	assert_float_equal(rows[0].m2, 1e30, 0);
	free(rows);
	assert_int_equal(store_close(s, 0, NULL), 0);
}

/*
 * Opens what users pass: no folder, a folder without a store, a text file of that name, another
 * version.
 */
TEST(open_says_what_is_wrong_with_a_store)
{
	autofree char *empty = xasprintf("%s/empty", dir),
		      *db = xasprintf("%s/empty/zcost.db", dir);
	struct store *s;

	assert_int_equal(store_open(&s, "/nonexistent/capture", &err), -ENOENT);
	assert_non_null(strstr(err.text, "no such capture"));
	assert_int_equal(dir_make(empty, NULL), 0);
	err = (struct error){0};
	assert_int_equal(store_open(&s, empty, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no capture"));
	assert_int_equal(file_write(db, "hello, this is text, not a database at all\n", 43, NULL),
			 0);
	err = (struct error){0};
	assert_int_equal(store_open(&s, empty, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "zcost.db"));
}

TEST(changed_manifest_makes_a_store_stale)
{
	autofree char *db = xasprintf("%s/zcost.db", dir),
		      *manifest = xasprintf("%s/manifest.json", dir);
	struct store *s;
	char hex[65];

	assert_int_equal(file_write(manifest, "{}", 2, NULL), 0);
	assert_int_equal(sha256_file(manifest, hex, NULL), 0);
	assert_int_equal(store_create(&s, db, &err), 0);
	assert_int_equal(store_capture_put(s, "manifest_sha256", hex, &err), 0);
	assert_int_equal(store_commit_all(s, &err), 0);
	assert_int_equal(store_close(s, 0, NULL), 0);
	assert_int_equal(store_open(&s, dir, &err), 0);
	assert_int_equal(store_close(s, 0, NULL), 0);
	assert_int_equal(file_write(manifest, "{} ", 3, NULL), 0);
	assert_int_equal(store_open(&s, dir, &err), -ESTALE);
}
