// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks one kind of record at a time: payloads behind records, losses, maps, forks and names over
 * time, guests, programs in the kernel, headers of other machines. The expected values are worked
 * out by hand.
 */
#include "analyze/perfdata/format.h"
#include "tests/unit/perfdata_stream.h"
#include "tests/unit/unit.h"

#define KERNEL 0xffffffff81000000ULL

enum { FILTERED = 900000 };

/* Returns "comm dso symbol" of the sample at `time`. Each sample of a test has another weight. */
static void check_row(const struct profile *p, uint64_t weight, const char *comm, const char *dso,
		      const char *symbol)
{
	const struct profile_cost *c = NULL;
	uint32_t at;

	for (size_t i = 0; i < p->ncosts; i++)
		if (p->costs[i].weight == weight)
			c = &p->costs[i];
	assert_non_null(c);
	at = p->frames[c->frame].symbol;
	assert_string_equal(intern_get(&p->strings, c->comm), comm);
	assert_string_equal(profile_symbol_dso(p, at), dso);
	assert_string_equal(profile_symbol_name(p, at), symbol);
}

TEST(payloads_behind_records_are_skipped)
{
	struct writer w = {0};
	freed(profile_free) struct profile p;
	size_t at;

	at = w_begin(&w, 66, 0); /* tracing data: 13 bytes, padded to 16 */
	w32(&w, 13);
	w_end(&w, at);
	w_bytes(&w, "\x09\0\0\0\0\0\x08\0\x09\0\0\0\0\0\x08\0", 16); /* looks like samples */
	w_add_sample(&w, 1, 1, 1, 0x1000);
	at = w_begin(&w, 71, 0); /* AUXTRACE: 24 bytes follow */
	w64(&w, 24);
	w64(&w, 0);
	w64(&w, 0);
	w64(&w, 0);
	w_end(&w, at);
	w_bytes(&w, "\x09\0\0\0\0\0\x08\0\x09\0\0\0\0\0\x08\0\x09\0\0\0\0\0\x08\0", 24);
	w_add_sample(&w, 2, 2, 1, 0x1000);
	assert_int_equal(w_read_records(&p, &w, NULL), 0);
	assert_int_equal(p.events[0].weight, 3);
	assert_int_equal(p.events[0].samples, 2);
	assert_false(p.health.truncated);
}

/*
 * Writes every record type with a body of 24 bytes.
 */
TEST(unknown_record_types_are_passed_by)
{
	struct writer w = {0};
	freed(profile_free) struct profile p;
	size_t at;

	for (uint32_t type = 0; type < 260; type++) {
		if (type == PERF_RECORD_SAMPLE || (type >= 64 && type < 87) || type == 2 ||
		    type == PERF_RECORD_LOST_SAMPLES)
			continue; /* other tests cover these types */
		at = w_begin(&w, type, 0);
		w64(&w, 1);
		w64(&w, 1);
		w64(&w, 1);
		w_trailer(&w, 1, 1, 1);
		w_end(&w, at);
	}
	w_add_sample(&w, 1, 300, 1, 0x1000);
	assert_int_equal(w_read_records(&p, &w, NULL), 0);
	assert_int_equal(p.events[0].samples, 1);
	assert_false(p.health.truncated);
}

static void lost(struct writer *w, uint32_t type, uint64_t id, uint64_t n, uint64_t time)
{
	size_t at = w_begin(w, type, n == FILTERED ? 1 << 15 : 0);

	if (type == PERF_RECORD_LOST)
		w64(w, id);
	w64(w, n);
	w32(w, 1);
	w32(w, 1);
	w64(w, time);
	w64(w, id);
	w_end(w, at);
}

/*
 * The buffers lost 50 records: 40 samples of the event and 10 of perf's side-band event. perf 6.1
 * asks the kernel for them at the end. A PMU dropped 7 more samples and reported them at once.
 * Samples that a filter of perf record left out are not lost.
 */
TEST(lost_samples_count_once)
{
	uint64_t type =
		PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER;
	struct w_event events[] = {
		{.sample_type = type, .id = 5, .read_format = W_FORMAT_LOST, .flags = W_ID_ALL},
		{.sample_type = type,
		 .id = 6,
		 .read_format = W_FORMAT_LOST,
		 .flags = W_ID_ALL,
		 .config = PERF_COUNT_SW_DUMMY}};
	struct profile p;

	for (int format = 0; format < 3; format++) {
		freed(writer_free) struct writer w = {0};

		if (!format) /* before Linux 6.0 LOST_SAMPLES counts samples that a PMU dropped */
			events[0].read_format = events[1].read_format = PERF_FORMAT_ID;
		else
			events[0].read_format = events[1].read_format = W_FORMAT_LOST;
		w_stream_head(&w, events, 2);
		if (format < 2) { /* the kernel has no room for LOST in a buffer that stays full */
			lost(&w, PERF_RECORD_LOST, 5, 30, 100);
			lost(&w, PERF_RECORD_LOST, 6, 20, 120);
		}
		lost(&w, PERF_RECORD_LOST_SAMPLES, 5, 7, 110);
		if (format) {
			lost(&w, PERF_RECORD_LOST_SAMPLES, 5, 40, 0);
			lost(&w, PERF_RECORD_LOST_SAMPLES, 6, 10, 0);
			lost(&w, PERF_RECORD_LOST_SAMPLES, 5, FILTERED, 0);
		}
		assert_int_equal(w_read(&p, &w.out, NULL, NULL), 0);
		assert_int_equal(p.health.lost_records, format ? 10 : 50);
		assert_int_equal(p.health.lost_samples, format ? 47 : 7);
		profile_free(&p);
	}
}

/* A thread id is used again by a thread of another process and by a new process. */
TEST(reused_thread_id_belongs_to_its_new_process)
{
	struct writer w = {0};
	freed(profile_free) struct profile p;

	w_comm(&w, 0, 10, 10, false, "first");
	w_mmap2(&w, 0, 10, 0x1000, 0x1000, 0, "/first");
	w_comm(&w, 0, 20, 20, false, "second");
	w_mmap2(&w, 0, 20, 0x1000, 0x1000, 0, "/second");
	w_task(&w, PERF_RECORD_FORK, 5, 10, 10, 30, 10); /* 30: a thread of 10 */
	w_add_sample(&w, 1, 6, 10, 0x1010);
	w_task(&w, PERF_RECORD_EXIT, 8, 10, 10, 30, 10);
	w_task(&w, PERF_RECORD_FORK, 10, 30, 20, 30, 20); /* 30: a child of 20 */
	w_add_sample(&w, 2, 11, 30, 0x1010);
	w_task(&w, PERF_RECORD_EXIT, 12, 30, 20, 30, 20);
	w_task(&w, PERF_RECORD_FORK, 13, 30, 10, 30, 10); /* 30: a child of 10 */
	w_add_sample(&w, 4, 14, 30, 0x1010);
	w_comm(&w, 15, 30, 30, false, "renamed"); /* not an exec: the maps stay */
	w_add_sample(&w, 8, 16, 30, 0x1010);
	w_comm(&w, 17, 30, 30, true, "third");
	w_mmap2(&w, 18, 30, 0x1000, 0x1000, 0, "/third");
	w_add_sample(&w, 16, 19, 30, 0x1010);
	w_add_sample(&w, 32, 19, 10, 0x1020); /* the parent still has its own maps */
	assert_int_equal(w_read_records(&p, &w, NULL), 0);
	check_row(&p, 1, "first", "/first", "0x10");
	check_row(&p, 2, "second", "/second", "0x10");
	check_row(&p, 4, "first", "/first", "0x10");
	check_row(&p, 8, "renamed", "/first", "0x10");
	check_row(&p, 16, "third", "/third", "0x10");
	check_row(&p, 32, "first", "/first", "0x20");
}

/*
 * perf synthesizes forks at its start. The child's maps follow, so it does not inherit the
 * parent's.
 */
/* Such a thread id is the kernel's number here. */
TEST(a_thread_with_the_highest_id_leaves_the_others_their_maps)
{
	struct writer w = {0};
	freed(profile_free) struct profile p;

	w_comm(&w, 0, 10, 10, false, "first");
	w_mmap2(&w, 0, 10, 0x1000, 0x1000, 0, "/first");
	w_task(&w, PERF_RECORD_FORK, 5, 10, 10, UINT32_MAX, 10);
	w_add_sample(&w, 1, 6, 10, 0x1010);
	assert_int_equal(w_read_records(&p, &w, NULL), 0);
	check_row(&p, 1, "first", "/first", "0x10");
}

TEST(synthesized_fork_shares_no_maps)
{
	struct writer w = {0};
	freed(profile_free) struct profile p;
	size_t at;

	w_mmap2(&w, 0, 10, 0x1000, 0x1000, 0, "/parent");
	at = w_begin(&w, PERF_RECORD_FORK, 1 << 13);
	w32(&w, 11);
	w32(&w, 10);
	w32(&w, 11);
	w32(&w, 10);
	w64(&w, 0);
	w_trailer(&w, 11, 11, 0);
	w_end(&w, at);
	w_add_sample(&w, 1, 5, 11, 0x1010);
	assert_int_equal(w_read_records(&p, &w, NULL), 0);
	check_row(&p, 1, ":11", "[unknown]", "[unknown]");
}

/*
 * Rounds overlap: a later record in the file may have an earlier time. Records with equal times
 * stay in file order.
 */
TEST(overlapping_rounds_are_sorted_by_time)
{
	struct writer w = {0};
	freed(profile_free) struct profile p;

	w_comm(&w, 0, 1, 1, false, "a");
	w_mmap2(&w, 50, 1, 0x1000, 0x1000, 0, "/late");
	w_comm(&w, 50, 1, 1, false, "b");
	w_add_sample(&w, 1, 60, 1, 0x1000);
	w_add_sample(&w, 2, 10, 1, 0x1000); /* before /late was mapped, and after /early was */
	w_add_sample(&w, 4, 50, 1, 0x1000);
	w_mmap2(&w, 5, 1, 0x1000, 0x1000, 0, "/early");
	w_comm(&w, 50, 1, 1, false, "c");
	w_add_sample(&w, 8, 50, 1, 0x1001);
	assert_int_equal(w_read_records(&p, &w, NULL), 0);
	check_row(&p, 1, "c", "/late", "0x0");
	check_row(&p, 2, "a", "/early", "0x0");
	check_row(&p, 4, "b", "/late", "0x0");
	check_row(&p, 8, "c", "/late", "0x1");
}

/* A new map covers the middle, the head or the tail of another map, several maps, or all maps. */
TEST(later_map_replaces_the_part_it_covers)
{
	static const struct {
		uint64_t start, len, pgoff;
		const char *name;
	} maps[] = {{0x1000, 0x9000, 0, "/a"},	    {0x4000, 0x1000, 0, "/b"},
		    {0x1000, 0x1000, 0, "/c"},	    {0x9000, 0x1000, 0, "/d"},
		    {0x3000, 0x3000, 0x7000, "/e"}, {0x20000, 0x1000, 0, "/f"},
		    {0x20000, 0x1000, 0, "/g"},	    {0xfffffffffffff000, 0x1000, 0, "/top"}};
	static const struct {
		uint64_t addr;
		const char *dso, *symbol;
	} expected[] = {{0x1008, "/c", "0x8"},
			{0x2008, "/a", "0x1008"},
			{0x3008, "/e", "0x7008"},
			{0x4008, "/e", "0x8008"},
			{0x5008, "/e", "0x9008"},
			{0x6008, "/a", "0x5008"},
			{0x8fff, "/a", "0x7fff"},
			{0x9008, "/d", "0x8"},
			{0xa000, "[unknown]", "[unknown]"},
			{0x20008, "/g", "0x8"}};
	struct writer w = {0};
	freed(profile_free) struct profile p;

	w_comm(&w, 0, 1, 1, false, "x");
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		w_mmap2(&w, i + 1, 1, maps[i].start, maps[i].len, maps[i].pgoff, maps[i].name);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		w_add_sample(&w, 1ULL << i, 100 + i, 1, expected[i].addr);
	assert_int_equal(w_read_records(&p, &w, NULL), 0);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		check_row(&p, 1ULL << i, "x", expected[i].dso, expected[i].symbol);
}

/* Maps a page of a file. It has a build-id, or numbers of its device and its inode. */
static void map_file(struct writer *w, uint64_t start, const char *name, uint8_t id,
		     const uint32_t *file)
{
	const uint8_t build_id[24] = {4, 0, 0, 0, 0xab, 0xcd, 0xef, id};
	size_t at = w_begin(w, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | (file ? 0 : 1 << 14));

	w32(w, 1);
	w32(w, 1);
	w64(w, start);
	w64(w, 0x1000);
	w64(w, 0);
	if (file) {
		w32(w, file[0]);
		w32(w, file[1]);
		w64(w, file[2]);
		w64(w, 0);
	} else {
		w_bytes(w, build_id, sizeof(build_id));
	}
	w64(w, 5);
	w_name(w, name);
	w_trailer(w, 1, 1, 0);
	w_end(w, at);
}

/* A mapping has four or twenty bytes of build-id. The build-id tells files of one path apart. */
TEST(build_id_tells_files_of_one_path_apart)
{
	struct writer w = {.big = true};
	freed(profile_free) struct profile p;
	size_t found = 0;

	map_file(&w, 0x1000, "/same/path", 1, NULL);
	map_file(&w, 0x2000, "/same/path", 2, NULL);
	map_file(&w, 0x3000, "/same/path", 0, (const uint32_t[]){8, 1, 5});
	for (size_t i = 0; i < 3; i++)
		w_add_sample(&w, 1ULL << i, 9, 1, 0x1000 * (i + 1));
	assert_int_equal(w_read_records(&p, &w, NULL), 0);
	for (size_t i = 0; i < p.ndsos; i++) {
		const char *id = p.dsos[i].build_id == PROFILE_NONE
					 ? ""
					 : intern_get(&p.strings, p.dsos[i].build_id);

		found |= !strcmp(id, "abcdef01") ? 1 : !strcmp(id, "abcdef02") ? 2 : !*id ? 4 : 8;
	}
	assert_int_equal(found, 1 | 2 | 4);
}

static void w_string(struct writer *w, const char *s)
{
	size_t n = (strlen(s) + 4) & ~3UL;

	w32(w, n);
	w_bytes(w, s, strlen(s));
	while (n-- > strlen(s))
		w_bytes(w, "", 1);
}

/* Writes a feature as a record of a stream. */
static size_t begin_feature(struct writer *w, uint64_t bit)
{
	size_t at = w_begin(w, 80, 0);

	w64(w, bit);
	return at;
}

/* A row of the header's list. The bytes of the build-id are 1 to 20. */
static void listed_id_of(struct writer *w, uint16_t misc, uint8_t size, const char *name)
{
	uint8_t id[24] = {0};
	size_t at = w_begin(w, 67, misc);

	for (size_t i = 0; i < (strstr(name, "padded") ? size : 20); i++)
		id[i] = (uint8_t)(i + 1);
	id[20] = size;
	w32(w, 1);
	w_bytes(w, id, sizeof(id));
	w_name(w, name);
	w_end(w, at);
}

/*
 * The list is a feature, or records of a stream. It belongs to a name, so it says nothing if two
 * files have that name. A row of the kernel says nothing about files, and the first row of a name
 * counts.
 */
TEST(build_ids_of_the_header_belong_to_names)
{
	enum { USER = PERF_RECORD_MISC_USER, KERN = PERF_RECORD_MISC_KERNEL, SIZED = 1 << 15 };
	static const char whole[] = "0102030405060708090a0b0c0d0e0f1011121314";
	static const struct {
		const char *name, *expected; /* NULL where there is no build-id */
		uint16_t misc;
		uint8_t size;
		uint32_t files[2][3]; /* device, inode */
	} cases[] = {
		{"/twenty", whole, USER, 0, {{8, 1, 5}, {8, 1, 5}}},
		{"/without-size", whole, USER, 4, {{8, 1, 5}, {8, 1, 5}}},
		{"/padded-8", "0102030405060708", USER, 8, {{8, 1, 5}, {8, 1, 5}}},
		{"/padded-16",
		 "0102030405060708090a0b0c0d0e0f10",
		 USER,
		 16,
		 {{8, 1, 5}, {8, 1, 5}}},
		{"/none", NULL, USER | SIZED, 0, {{8, 1, 5}, {8, 1, 5}}},
		{"/padded-0", NULL, USER, 0, {{8, 1, 5}, {8, 1, 5}}},
		{"/four", "01020304", USER | SIZED, 4, {{8, 1, 5}, {8, 1, 5}}},
		{"/most", whole, USER | SIZED, 20, {{8, 1, 5}, {8, 1, 5}}},
		{"/impossible", whole, USER | SIZED, 21, {{8, 1, 5}, {8, 1, 5}}},
		{"/of-the-kernel", NULL, KERN, 0, {{8, 1, 5}, {8, 1, 5}}},
		{"/two-inodes", NULL, USER, 0, {{8, 1, 5}, {8, 1, 6}}},
		{"/two-majors", NULL, USER, 0, {{8, 1, 5}, {9, 1, 5}}},
		{"/two-minors", NULL, USER, 0, {{8, 1, 5}, {8, 2, 5}}},
		{"/inode-unknown", whole, USER, 0, {{8, 1, 5}, {0, 0, 0}}},
	};
	struct writer list = {0}, w;
	struct profile p;
	size_t k;

	for (size_t i = 0; i < array_size(cases); i++) {
		listed_id_of(&list, cases[i].misc, cases[i].size, cases[i].name);
		listed_id_of(&list, USER | SIZED, 3, "/other");
		listed_id_of(&list, USER | SIZED, 2, i ? cases[0].name : "/other");
	}
	for (size_t n = 0; n < 2; n++) {
		w = (struct writer){0};
		k = begin_feature(&w, 2);
		w_bytes(&w, list.out.buf, n ? list.out.len : 0);
		w_end(&w, k);
		w_bytes(&w, list.out.buf, n ? 0 : list.out.len);
		for (size_t i = 0; i < 2 * array_size(cases); i++) {
			map_file(&w, 0x10000 + 0x1000 * i, cases[i / 2].name, 0,
				 cases[i / 2].files[i % 2]);
			w_add_sample(&w, 1, 9, 1, 0x10000 + 0x1000 * i);
		}
		assert_int_equal(w_read_records(&p, &w, NULL), 0);
		assert_int_equal(p.ndsos, array_size(cases));
		each (c, cases) {
			for (k = 0; strcmp(intern_get(&p.strings, p.dsos[k].name), c->name); k++)
				assert_true(k < p.ndsos);
			if (c->expected)
				assert_string_equal(intern_get(&p.strings, p.dsos[k].build_id),
						    c->expected);
			else
				assert_int_equal(p.dsos[k].build_id, PROFILE_NONE);
		}
		profile_free(&p);
	}
	str_free(&list.out);
}

static void feature_of(struct writer *w, uint64_t bit, const char *value)
{
	size_t at = begin_feature(w, bit);

	w_string(w, value);
	w_end(w, at);
}

static void described_event(struct writer *w, const char *name, const uint64_t *ids)
{
	uint32_t n;

	w_bytes(w, "attributes. ", 12);
	for (n = 0; ids[n]; n++)
		;
	w32(w, n);
	w_string(w, name);
	for (n = 0; ids[n]; n++)
		w64(w, ids[n]);
}

/* An event is found by any of its ids, and without ids by its position. */
TEST(description_of_events_names_them)
{
	static const uint64_t lists[][3][3] = {
		{{W_OTHER_ID}, {999, W_EVENT_ID}, {998}},
		{{W_OTHER_ID, W_OTHER_ID}, {W_EVENT_ID, 999}, {998}},
		{{0}, {0}, {0}},
	};
	static const char *const expected[][2] = {{"b", "a"}, {"b", "a"}, {"a", "b"}};
	struct profile p;
	size_t at;

	for (size_t i = 0; i < array_size(lists); i++) {
		struct writer w = {.big = i & 1};

		at = begin_feature(&w, 12);
		w32(&w, 3);
		w32(&w, 12);
		described_event(&w, "a", lists[i][0]);
		described_event(&w, "b", lists[i][1]);
		described_event(&w, "c", lists[i][2]);
		w_end(&w, at);
		w_add_sample(&w, 1, 1, 1, 0x1000);
		assert_int_equal(w_read_records(&p, &w, NULL), 0);
		assert_string_equal(intern_get(&p.strings, p.events[0].name), expected[i][0]);
		assert_string_equal(intern_get(&p.strings, p.events[1].name), expected[i][1]);
		profile_free(&p);
	}
}

static void update_of(struct writer *w, uint64_t type, uint64_t id, const char *name)
{
	size_t at = w_begin(w, 78, 0);

	w64(w, type);
	w64(w, id);
	w_name(w, name);
	w_end(w, at);
}

TEST(features_of_a_stream_are_read)
{
	freed(writer_free) struct writer w = {0};
	struct perfdata_options o = {.threads = 1, .spots = true};
	freed(writer_free) struct writer all = {0};
	freed(profile_free) struct profile p;

	feature_of(&w, 6, "riscv64");
	feature_of(&w, 5, "6.16");
	feature_of(&w, 4, "6.1.0-test");
	feature_of(&w, 3, "faraway");
	feature_of(&w, 300, "unknown");
	update_of(&w, 2, W_OTHER_ID, "faults/name=x/");
	update_of(&w, 1, W_OTHER_ID, "unit"); /* a unit, not a name */
	update_of(&w, 2, 999, "other");
	update_of(&w, 2, W_OTHER_ID, "");
	w_add_sample(&w, 1, 1, 1, 0x1000);
	w_pipe(&all, &w.out);
	assert_int_equal(w_read(&p, &all.out, &o, NULL), 0);
	assert_string_equal(intern_get(&p.strings, p.host), "faraway");
	assert_string_equal(intern_get(&p.strings, p.release), "6.1.0-test");
	assert_string_equal(intern_get(&p.strings, p.arch), "riscv64");
	assert_string_equal(intern_get(&p.strings, p.events[0].name), "cpu-clock");
	assert_string_equal(intern_get(&p.strings, p.events[1].name), "faults/name=x/");
	assert_false(p.health.truncated);
}

/* perf itself has far fewer events than the file may describe. */
TEST(events_beyond_65536_are_damage)
{
	static const struct w_event event = {.sample_type = PERF_SAMPLE_IP};
	freed(writer_free) struct writer w = {0};
	freed(profile_free) struct profile p;
	size_t at;

	w_stream_head(&w, &event, 1);
	for (size_t i = 1; i < 65537; i++) {
		if (i == 65536) {
			assert_int_equal(w_read(&p, &w.out, NULL, NULL), 0);
			assert_false(p.health.truncated);
			profile_free(&p);
		}
		at = w_begin(&w, 64, 0);
		w_event_attr(&w, &event);
		w_end(&w, at);
	}
	assert_int_equal(w_read(&p, &w.out, NULL, NULL), 0);
	assert_true(p.health.truncated);
	assert_non_null(strstr(p.health.why, "an impossible number of events at offset"));
}

/* Samples without call chains. Their rows come in the order of address spaces, then of addresses.
 */
TEST(profile_has_the_order_of_spaces_and_addresses)
{
	enum { USER = PERF_RECORD_MISC_USER, GUEST = PERF_RECORD_MISC_GUEST_USER };
	static const struct {
		uint64_t time, addr;
		uint16_t mode;
		const char *dso, *symbol;
	} rows[] = {
		{6, 0x1003, USER, "/new", "0x3"},
		{6, 0x1001, USER, "/new", "0x1"},
		{2, 0x1004, USER, "/old", "0x4"},
		{2, 0x1002, USER, "/old", "0x2"},
		{6, 0x1003, GUEST, "[guest]", "0x1003"},
		{0, 0x1005, USER, "[unknown]", "[unknown]"},
	};
	struct w_event e = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
					   PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER,
			    .flags = W_ID_ALL};
	struct writer w = {0};
	freed(profile_free) struct profile p;
	size_t at;

	w_stream_head(&w, &e, 1);
	w_mmap2(&w, 1, 1, 0x1000, 0x1000, 0, "/old");
	w_mmap2(&w, 5, 1, 0x1000, 0x1000, 0, "/new");
	each (r, rows) {
		at = w_begin(&w, PERF_RECORD_SAMPLE, r->mode);
		w64(&w, W_EVENT_ID);
		w64(&w, r->addr);
		w32(&w, 1);
		w32(&w, 1);
		w64(&w, r->time);
		w64(&w, 0);
		w_end(&w, at);
	}
	assert_int_equal(w_read(&p, &w.out, NULL, NULL), 0);
	str_free(&w.out);
	assert_int_equal(p.nframes, array_size(rows));
	for (size_t i = 0; i < p.nframes; i++) {
		uint32_t symbol = p.frames[i].symbol, row = (uint32_t)(array_size(rows) - 1 - i);

		assert_string_equal(profile_symbol_dso(&p, symbol), rows[row].dso);
		assert_string_equal(profile_symbol_name(&p, symbol), rows[row].symbol);
	}
}

/* A mapping may reach to the end of the address space: its length then is one beyond. */
TEST(mapping_to_the_end_of_the_addresses_has_no_end)
{
	const uint64_t kernel = 0xffffffff81000000, low = (uint64_t)-0x3000;
	struct w_sample s = {.time = 2,
			     .period = 8,
			     .mode = PERF_RECORD_MISC_KERNEL,
			     .chain = {(uint64_t)PERF_CONTEXT_KERNEL, kernel + 0x1000000}};
	struct writer w = {0};
	freed(profile_free) struct profile p;

	w_kernel_map(&w, kernel, 0 - kernel + 0x10, kernel, "[kernel.kallsyms]_text");
	w_mmap2(&w, 1, 1, low, 0x4000, 0x5000, "/end");
	w_add_sample(&w, 4, 2, 1, low + 0x1000);
	w_sample(&w, &s);
	assert_int_equal(w_read_records(&p, &w, NULL), 0);
	assert_int_equal(p.ncosts, 2);
	for (size_t i = 0; i < 2; i++) {
		uint32_t symbol = p.frames[p.costs[i].frame].symbol;

		assert_string_equal(profile_symbol_dso(&p, symbol),
				    p.costs[i].weight == 4 ? "/end" : "[kernel.kallsyms]");
		assert_string_equal(profile_symbol_name(&p, symbol),
				    p.costs[i].weight == 4 ? "0x6000" : "0x1000000");
	}
}

/* Checks the names of the only stack, leaf first, each with a blank behind it. */
static void check_stack(const struct profile *p, const char *names)
{
	struct str s = {0};

	assert_int_equal(p->ncosts, 1);
	for (uint32_t f = p->costs[0].frame; f != PROFILE_NONE; f = p->frames[f].parent)
		str_printf(&s, "%s ", profile_symbol_name(p, p->frames[f].symbol));
	assert_string_equal(s.buf, names);
	str_free(&s);
}

/* A precise event's address is some instructions before the interrupt, where its chain begins. */
TEST(interrupt_of_a_precise_event_is_no_caller)
{
	static const struct {
		uint64_t ip, interrupted;
		const char *names;
	} rows[] = {{0x10, 0x18, "f g "}, {0x10, 0x48, "f g g "}, {0x18, 0x18, "f g "}};

	each (r, rows) {
		struct writer w = {0};
		freed(profile_free) struct profile p;
		size_t at;

		w_ksymbol(&w, 1, KERNEL, 0x20, false, "f");
		w_ksymbol(&w, 1, KERNEL + 0x40, 0x20, false, "g");
		at = w_begin(&w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
		w64(&w, W_EVENT_ID);
		w64(&w, KERNEL + r->ip);
		w32(&w, 1);
		w32(&w, 1);
		w64(&w, 2); /* time */
		w64(&w, 0); /* cpu */
		w64(&w, 1); /* period */
		w64(&w, 3);
		w64(&w, (uint64_t)PERF_CONTEXT_KERNEL);
		w64(&w, KERNEL + r->interrupted);
		w64(&w, KERNEL + 0x50);
		w_end(&w, at);
		assert_int_equal(w_read_records(&p, &w, NULL), 0);
		check_stack(&p, r->names);
	}
}

/* In user space, only the interrupted address of the kernel's call chain counts. */
TEST(branches_of_the_call_stack_replace_callers)
{
	const struct w_event e = {.sample_type = W_SAMPLE_TYPE | PERF_SAMPLE_BRANCH_STACK,
				  .flags = W_ID_ALL,
				  .branch_type =
					  PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK};
	const uint64_t words[] = {6,	      (uint64_t)PERF_CONTEXT_KERNEL,
				  KERNEL + 1, (uint64_t)PERF_CONTEXT_USER,
				  0x1010,     0x1ff0,
				  0x1fe0,     2,
				  0x1020,     0x1008,
				  0,	      0x1030,
				  0x1018,     0};
	struct profile p;
	size_t at;

	for (int i = 0; i < 4; i++) {
		struct writer w = {.big = i & 1};

		w_stream_head(&w, &e, 1);
		w_mmap2(&w, 1, 1, 0x1000, 0x1000, 0, "/prog");
		at = w_begin(&w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
		w64(&w, W_EVENT_ID);
		w64(&w, KERNEL + 1);
		w32(&w, 1);
		w32(&w, 1);
		w64(&w, 2); /* time */
		w64(&w, 0); /* cpu */
		w64(&w, 1); /* period */
		for (size_t k = 0; k < array_size(words); k++)
			w64(&w, i & 2 && k == 7 ? 0 : words[k]);
		w_end(&w, at);
		assert_int_equal(w_read(&p, &w.out, NULL, NULL), 0);
		check_stack(&p, i & 2 ? "0xffffffff81000001 0x10 0xff0 0xfe0 "
				      : "0xffffffff81000001 0x10 0x20 0x30 ");
		profile_free(&p);
		str_free(&w.out);
	}
}

/* Records that end inside their fields say nothing, and the sample between them counts. */
TEST(records_without_all_of_their_fields_are_ignored)
{
	static const struct {
		uint32_t type;
		size_t len; /* the length of the fields, without the name */
	} rows[] = {
		{PERF_RECORD_MMAP, 32},	   {PERF_RECORD_COMM, 8},   {PERF_RECORD_EXIT, 16},
		{PERF_RECORD_FORK, 16},	   {PERF_RECORD_MMAP2, 64}, {PERF_RECORD_KSYMBOL, 16},
		{REC_HEADER_BUILD_ID, 28},
	};
	static const uint8_t ones[64] = {1, [4] = 1, [8] = 1, [16] = 1};
	const struct w_event e = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID};
	freed(writer_free) struct writer w = {0};
	freed(profile_free) struct profile p;
	size_t at;

	w_stream_head(&w, &e, 1);
	each (r, rows)
		for (size_t len = 0; len < r->len; len++) {
			at = w_begin(&w, r->type, PERF_RECORD_MISC_USER);
			w_bytes(&w, ones, len);
			w_end(&w, at);
		}
	at = w_begin(&w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	w64(&w, 0x10);
	w32(&w, 1);
	w32(&w, 1);
	w_end(&w, at);
	at = w_begin(&w, REC_HEADER_BUILD_ID, PERF_RECORD_MISC_USER); /* its name has no end */
	w_bytes(&w, ones, 28);
	w_bytes(&w, "name", 4);
	w_end(&w, at);
	assert_int_equal(w_read(&p, &w.out, NULL, NULL), 0);
	assert_false(p.health.truncated);
	assert_int_equal(p.ncosts, 1);
	assert_string_equal(intern_get(&p.strings, p.costs[0].comm), ":1");
	assert_string_equal(profile_symbol_dso(&p, p.frames[0].symbol), "[unknown]");
}

/* A system call is kernel code directly before user code. */
TEST(kernel_code_below_a_hypervisor_is_of_unknown_context)
{
	enum { KERN = PERF_RECORD_MISC_KERNEL };
	const uint64_t in_kernel = (uint64_t)PERF_CONTEXT_KERNEL, k = 0xffffffff81000000;
	const uint64_t in_user = (uint64_t)PERF_CONTEXT_USER, in_hv = (uint64_t)PERF_CONTEXT_HV;
	const struct {
		uint16_t mode;
		uint64_t chain[8];
		enum context context;
		uint32_t depth; /* the number of frames */
	} rows[] = {
		{KERN, {in_kernel, k + 1, in_user, 0x10}, CTX_SYSCALL, 2},
		{KERN, {in_kernel, k + 2, k + 1, in_user, 0x10, 0x20}, CTX_SYSCALL, 4},
		{KERN, {in_kernel, k + 1}, CTX_UNKNOWN, 1},
		{KERN, {in_kernel, k + 1, in_hv, 0x10}, CTX_UNKNOWN, 2},
		{KERN, {in_kernel, k + 1, in_hv, 0x10, in_user, 0x20}, CTX_UNKNOWN, 3},
		{PERF_RECORD_MISC_HYPERVISOR, {in_hv, 0x10, in_user, 0x20}, CTX_UNKNOWN, 2},
		{PERF_RECORD_MISC_USER, {in_user, 0x10}, CTX_USER, 1},
	};

	each (r, rows) {
		struct w_sample s = {.time = 1, .period = 1, .pid = 1, .tid = 1, .mode = r->mode};
		struct writer w = {0};
		freed(profile_free) struct profile p;
		uint32_t depth = 0;

		memcpy(s.chain, r->chain, sizeof(r->chain));
		w_sample(&w, &s);
		assert_int_equal(w_read_records(&p, &w, NULL), 0);
		assert_int_equal(p.ncosts, 1);
		assert_int_equal(p.costs[0].context, r->context);
		for (uint32_t frame = p.costs[0].frame; frame != PROFILE_NONE;
		     frame = p.frames[frame].parent)
			depth++;
		assert_int_equal(depth, r->depth);
		assert_int_equal(p.health.bad_chains, 0);
	}
}

/* Guests have separate address spaces: their maps and samples do not belong to the host. */
TEST(guests_have_separate_address_spaces)
{
	struct w_sample kernel = w_user_sample(10, 1, 0x1010), user = kernel, host = kernel;
	struct writer w = {0};
	freed(profile_free) struct profile p;
	size_t at;

	w_comm(&w, 0, 1, 1, false, "qemu");
	w_mmap2(&w, 0, 1, 0x1000, 0x1000, 0, "/host");
	at = w_begin(&w, PERF_RECORD_MMAP, PERF_RECORD_MISC_GUEST_USER);
	w32(&w, 1);
	w32(&w, 1);
	w64(&w, 0x1000);
	w64(&w, 0x1000);
	w64(&w, 0);
	w_name(&w, "/guest");
	w_trailer(&w, 1, 1, 1);
	w_end(&w, at);
	kernel.mode = PERF_RECORD_MISC_GUEST_KERNEL;
	kernel.period = 1;
	user.mode = PERF_RECORD_MISC_GUEST_USER;
	user.period = 2;
	user.chain[1] = 0x1020;
	host.period = 4;
	w_sample(&w, &kernel);
	w_sample(&w, &user);
	w_sample(&w, &host);
	assert_int_equal(w_read_records(&p, &w, NULL), 0);
	check_row(&p, 1, "qemu", "[guest]", "0x1010");
	check_row(&p, 2, "qemu", "[guest]", "0x1020");
	check_row(&p, 4, "qemu", "/host", "0x10");
}

/* A program is registered twice, unregistered by its start, and registered over another program. */
TEST(kernel_programs_follow_ksymbol_records)
{
	static const uint64_t times[] = {15, 25, 35, 45};
	static const char *const expected[] = {"one", "two", "[unknown]", "three"};
	struct w_sample s = {.pid = 1,
			     .tid = 1,
			     .mode = PERF_RECORD_MISC_KERNEL,
			     .chain = {(uint64_t)PERF_CONTEXT_KERNEL, KERNEL + 0x20}};
	struct writer w = {0};
	freed(profile_free) struct profile p;
	size_t at;

	w_comm(&w, 0, 1, 1, false, "x");
	w_mmap2(&w, 1, UINT32_MAX - 1, KERNEL, 0x1000, 0, "/of/a/process/that/cannot/be");
	w_ksymbol(&w, 10, KERNEL, 0x100, false, "one");
	w_ksymbol(&w, 20, KERNEL, 0x100, false, "two");
	at = w_begin(&w, 20, 0); /* TEXT_POKE: the kernel changes its code, not its symbols */
	w64(&w, KERNEL);
	w16(&w, 5);
	w16(&w, 5);
	w_bytes(&w, "0123456789", 10);
	w_bytes(&w, "\0\0\0\0\0\0\0", 2);
	w_trailer(&w, 0, 0, 21);
	w_end(&w, at);
	w_ksymbol(&w, 30, KERNEL, 0x100, true, "two");
	w_ksymbol(&w, 40, KERNEL + 0x10, 0x40, false, "three");
	w_ksymbol(&w, 41, KERNEL + 0x200, 0, false, "empty");
	w_ksymbol(&w, 42, KERNEL + 0x200, 0, true, "empty"); /* ends nothing else */
	for (size_t i = 0; i < 4; i++) {
		s.time = times[i];
		s.period = 1ULL << i;
		w_sample(&w, &s);
	}
	s.period = 16;
	s.chain[1] = KERNEL + 0x500; /* no program has this address, and a process's map is none */
	w_sample(&w, &s);
	assert_int_equal(w_read_records(&p, &w, NULL), 0);
	check_row(&p, 1, "x", "one", "one");
	check_row(&p, 2, "x", "two", "two");
	check_row(&p, 4, "x", "[unknown]", "0xffffffff81000020");
	check_row(&p, 8, "x", "three", "three");
	check_row(&p, 16, "x", "[unknown]", "0xffffffff81000500");
	for (size_t i = 0; i < p.ndsos; i++)
		if (!strcmp(intern_get(&p.strings, p.dsos[i].name), expected[0]))
			assert_int_equal(p.dsos[i].kind, DSO_BPF);
	profile_free(&p);
}

/* Moves the bit of the host name to its place on machines with longs of 32 bits. */
TEST(feature_bitmaps_of_other_machines_are_read)
{
	struct writer w = {.big = true}, records = {.big = true};
	const size_t bitmap = 72;
	freed(str_free) struct str file;
	struct profile p;

	w_add_sample(&records, 1, 1, 1, 0x1000);
	w_file(&w, &records.out, 112);
	str_free(&records.out);
	file = w.out;
	for (int bits32 = 0; bits32 < 2; bits32++) {
		if (bits32) {
			memset(file.buf + bitmap, 0, 8);
			file.buf[bitmap + 3] = 1 << 3;
		}
		assert_int_equal(w_read(&p, &file, NULL, NULL), 0);
		assert_false(p.health.truncated);
		assert_int_equal(p.events[0].weight, 1);
		assert_string_equal(intern_get(&p.strings, p.host), "faraway");
		profile_free(&p);
	}
}

/* Reads an event table of a newer perf: larger entries, and one id more. */
TEST(larger_attrs_of_a_newer_perf_are_read)
{
	static const uint32_t sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 256, 4096};
	struct profile p;
	int big;

	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		freed(writer_free) struct writer w = {0}, records = {0};

		big = i & 1;
		w.big = records.big = big;
		w_add_sample(&records, 3, 1, 1, 0x1000);
		w_file(&w, &records.out, sizes[i / 2]);
		assert_int_equal(w_read(&p, &w.out, NULL, NULL), 0);
		assert_false(p.health.truncated);
		assert_int_equal(p.events[0].weight, 3);
		assert_int_equal(p.nevents, 2);
		profile_free(&p);
		w.out.buf[16 + (big ? 7 : 0)] = 79; /* no room for an attr and its ids */
		w.out.buf[16 + (big ? 6 : 1)] = 0;
		assert_int_equal(w_read(&p, &w.out, NULL, &err), -EBADMSG);
		assert_non_null(strstr(err.text, "the event table at offset 120 is damaged"));
		profile_free(&p);
	}
}
