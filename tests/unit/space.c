// SPDX-License-Identifier: GPL-2.0-only
/* Checks address spaces: a fork has its parent's maps until one of the two changes. */
#include "analyze/perfdata/sideband.h"

#include "tests/unit/unit.h"

enum { PARENT = 1, CHILD = 2, OTHER = 3 };

/* Objects are numbers, another one for each map. */
static struct side_map maps[] = {
	{0x1000, 0x2000, 0, 0}, {0x3000, 0x6000, 0, 1},
	{0x4000, 0x5000, 0, 2}, /* inside the map above */
	{0x3000, 0x4000, 0, 3}, {0x8000, 0x9000, 0, 4},
};

static struct side_row rows[] = {
	{.kind = SIDE_MAP, .pid = PARENT, .what = 0},
	{.kind = SIDE_MAP, .pid = PARENT, .what = 1},
	{.kind = SIDE_FORK, .pid = CHILD, .ppid = PARENT},
	{.kind = SIDE_FORK, .pid = OTHER, .ppid = PARENT},
	{.kind = SIDE_MAP, .pid = CHILD, .what = 2},
	{.kind = SIDE_MAP, .pid = PARENT, .what = 3},
	{.kind = SIDE_FORK, .pid = CHILD, .ppid = PARENT}, /* the same number again */
	{.kind = SIDE_MAP, .pid = OTHER, .what = 4},
	{.kind = SIDE_FORK, .pid = PARENT, .ppid = OTHER, .alone = true},
};

static struct sideband side = {
	.list = rows, .n = array_size(rows), .maps = maps, .nmaps = array_size(maps)};

/* Returns the object of the map at an address in a version, or -1. */
static long at(const struct sideband *b, uint32_t version, uint32_t pid, uint64_t addr)
{
	const struct side_map *m;
	freed(history_free) struct history h;
	long dso;

	history_make(&h, b);
	m = history_find(&h, pid, addr, version);
	dso = m ? (long)m->dso : -1;
	return dso;
}

TEST(fork_has_the_maps_of_its_parent)
{
	assert_int_equal(at(&side, 3, CHILD, 0x4800), 1);
	assert_int_equal(at(&side, 4, CHILD, 0x3800), 1);
	assert_int_equal(at(&side, 4, CHILD, 0x4800), 2);
	assert_int_equal(at(&side, 4, CHILD, 0x5800), 1);
	assert_int_equal(at(&side, 4, PARENT, 0x4800), 1);
	assert_int_equal(at(&side, 4, OTHER, 0x4800), 1);
}

TEST(changed_spaces_are_separate)
{
	assert_int_equal(at(&side, 5, PARENT, 0x3800), 3);
	assert_int_equal(at(&side, 5, CHILD, 0x3800), 1);
	assert_int_equal(at(&side, 5, OTHER, 0x3800), 1);
	assert_int_equal(at(&side, 7, CHILD, 0x3800), 3);
	assert_int_equal(at(&side, 7, CHILD, 0x4800), 1);
	assert_int_equal(at(&side, 7, OTHER, 0x8000), 4);
	assert_int_equal(at(&side, 7, CHILD, 0x8000), -1);
	assert_int_equal(at(&side, 8, PARENT, 0x1000), -1);
	assert_int_equal(at(&side, 8, CHILD, 0x1000), 0);
	assert_int_equal(at(&side, 8, OTHER, 0x1000), 0);
}

/* Look-ups that visit every map would take billions of steps. */
TEST(maps_of_one_range_are_found_fast)
{
	enum { MAPS = 100000 };
	freed(intern_free) struct intern names = {0};
	freed(sideband_free) struct sideband b = {.strings = &names};
	freed(history_free) struct history h;

	for (uint32_t i = 0; i < MAPS; i++) {
		struct side_map m = {.start = 0x1000, .end = 0x2000 + 0x1000 * (i % 2), .dso = i};
		struct side_row row = {
			.kind = SIDE_MAP, .pid = PARENT, .what = sideband_add_map(&b, &m)};

		row.time = row.order = i + 1;
		sideband_add_row(&b, &row);
	}
	sideband_finish(&b);
	history_make(&h, &b);
	for (uint32_t i = 0; i < MAPS; i++) {
		assert_int_equal(history_find(&h, PARENT, 0x1800, i)->dso, i);
		if (i)
			assert_int_equal(history_find(&h, PARENT, 0x2800, i)->dso, (i - 1) | 1);
	}
}

#define ROW(k, t, p, i, ...)                                                       \
	{                                                                          \
		.kind = SIDE_##k, .time = (t), .pid = (p), .tid = (i), __VA_ARGS__ \
	}
#define MAP(t, p, map)	ROW(MAP, t, p, 0, .what = (map))
#define COMM(t, p, ...) ROW(COMM, t, p, p, .what = __VA_ARGS__)
#define FORK(t, p, tid) ROW(FORK, t, p, tid, .ppid = OTHER, .ptid = OTHER)
#define ALONE(t, p)	ROW(FORK, t, p, p, .ppid = OTHER, .ptid = OTHER, .alone = true)
#define EXIT(t, p)	ROW(EXIT, t, p, p, .ppid = OTHER)

/* Adds rows in the order of the file, with the maps above. */
static void make_side(struct sideband *b, struct side_row *list, size_t n)
{
	each (c, maps)
		sideband_add_map(b, c);
	for (size_t i = 0; i < n; i++) {
		list[i].order = i + 1;
		sideband_add_row(b, &list[i]);
	}
	sideband_finish(b);
}

/*
 * As with perf record --tail-synthesize: the file has CHILD's start but not its exec. Records at
 * the end, without a time, describe CHILD. OTHER started before perf.
 */
TEST(late_synthesized_maps_apply_from_the_start)
{
	freed(intern_free) struct intern names = {0};
	freed(sideband_free) struct sideband b = {.strings = &names};
	uint32_t before = intern_str(&names, "sh"), after = intern_str(&names, "tcpzc");
	struct side_row list[] = {
		COMM(50, PARENT, before),
		MAP(60, PARENT, 0),
		ROW(FORK, 100, CHILD, CHILD, .ppid = PARENT, .ptid = PARENT),
		COMM(0, CHILD, after),
		MAP(0, CHILD, 1),
		COMM(0, OTHER, after),
		MAP(0, OTHER, 4),
	};
	const struct side_timeline *t;

	make_side(&b, list, array_size(list));
	t = sideband_get_timeline(&b.comms, CHILD);
	assert_int_equal(t->changes[t->n - 1].value, after);
	assert_int_equal(t->changes[t->n - 1].time, 100); /* from its start on, not before */
	t = sideband_get_timeline(&b.comms, OTHER);
	assert_int_equal(t->changes[0].time, 0);
	assert_int_equal(at(&b, (uint32_t)b.n - 1, CHILD, 0x3800), 1);
	assert_int_equal(at(&b, (uint32_t)b.n - 1, CHILD, 0x1800),
			 0); /* the parent's map still exists, as after an exec */
	assert_int_equal(at(&b, (uint32_t)b.n - 1, OTHER, 0x8800), 4);
}

static const char *name_at(const struct sideband *b, uint32_t tid, uint64_t time)
{
	uint32_t id = timeline_at(sideband_get_timeline(&b->comms, tid), time, 0, UINT32_MAX);

	return id == UINT32_MAX ? "" : intern_get(b->strings, id);
}

/* CHILD starts, execs ip on a measured CPU and tcpzc on another one. It starts OTHER. */
TEST(exec_that_only_the_end_knows_wins)
{
	freed(intern_free) struct intern names = {0};
	uint32_t ip = intern_str(&names, "ip"), tcpzc = intern_str(&names, "tcpzc"),
		 sh = intern_str(&names, "sh");
	freed(sideband_free) struct sideband b = {.strings = &names};
	struct side_row list[] = {
		ROW(FORK, 150, OTHER, OTHER, .ppid = CHILD, .ptid = CHILD),
		COMM(10, PARENT, sh),
		COMM(110, CHILD, ip, .exec = true),
		ROW(FORK, 100, CHILD, CHILD, .ppid = PARENT, .ptid = PARENT),
		MAP(120, CHILD, 1),
		ROW(FORK, 0, CHILD, CHILD, .ppid = PARENT, .ptid = PARENT, .alone = true),
		COMM(0, CHILD, tcpzc),
		MAP(0, CHILD, 2),
	};

	make_side(&b, list, array_size(list));
	assert_int_equal(b.n, array_size(list) - 1); /* without the FORK that perf wrote */
	assert_string_equal(name_at(&b, CHILD, 99), "");
	assert_string_equal(name_at(&b, CHILD, 105), "sh");
	assert_string_equal(name_at(&b, CHILD, 130), "tcpzc");
	assert_string_equal(name_at(&b, OTHER, 160), "tcpzc");
	assert_int_equal(at(&b, (uint32_t)b.n - 1, CHILD, 0x3800), 1);
	assert_int_equal(at(&b, (uint32_t)b.n - 1, CHILD, 0x4800), 2);
}

/* The recording has the exec of tcpzc and a later map. A thread names itself later. */
TEST(recorded_exec_wins_over_the_end)
{
	freed(intern_free) struct intern names = {0};
	uint32_t tcpzc = intern_str(&names, "tcpzc"), sh = intern_str(&names, "sh");
	freed(sideband_free) struct sideband b = {.strings = &names};
	struct side_row list[] = {
		COMM(10, PARENT, sh),
		ROW(FORK, 100, CHILD, CHILD, .ppid = PARENT, .ptid = PARENT),
		COMM(110, CHILD, tcpzc, .exec = true),
		MAP(120, CHILD, 2),
		COMM(130, CHILD, sh),
		COMM(0, CHILD, tcpzc),
		MAP(0, CHILD, 1),
	};

	make_side(&b, list, array_size(list));
	assert_string_equal(name_at(&b, CHILD, 105), "sh");
	assert_string_equal(name_at(&b, CHILD, 125), "tcpzc");
	assert_string_equal(name_at(&b, CHILD, 135), "tcpzc");
	assert_int_equal(at(&b, 1, CHILD, 0x4800), -1);
	assert_int_equal(at(&b, (uint32_t)b.n - 1, CHILD, 0x3800), 1);
	assert_int_equal(at(&b, (uint32_t)b.n - 1, CHILD, 0x4800), 2);
}

/*
 * Of rows with equal times the later one in the file counts. That holds for the program of a
 * process that starts and execs at the same time, too, and for the first row of the file.
 */
TEST(rows_with_equal_times_apply_in_order_of_the_file)
{
	freed(intern_free) struct intern names = {0};
	uint32_t ip = intern_str(&names, "ip"), tcpzc = intern_str(&names, "tcpzc");
	freed(sideband_free) struct sideband b = {.strings = &names};
	struct side_row list[] = {
		MAP(120, CHILD, 1),	FORK(100, CHILD, CHILD), COMM(100, CHILD, ip, .exec = true),
		COMM(0, CHILD, tcpzc),	MAP(0, CHILD, 2),	 COMM(90, OTHER, ip),
		COMM(90, OTHER, tcpzc),
	};

	make_side(&b, list, array_size(list));
	assert_string_equal(name_at(&b, CHILD, 101), "tcpzc");
	assert_string_equal(name_at(&b, OTHER, 101), "tcpzc");
	assert_string_equal(name_at(&b, 0, 0), "swapper");
	assert_int_equal(at(&b, (uint32_t)b.n - 1, CHILD, 0x4800),
			 2); /* the map of ip came before */
}

/*
 * The file has maps of CHILD with a time, and at its end others without a time. The recorded map
 * stays the later one unless CHILD has the name of another program than the recorded exec started.
 */
TEST(name_without_an_exec_starts_no_program)
{
	static const struct side_row cases[][5] = {
		{FORK(100, CHILD, CHILD), MAP(120, CHILD, 1), COMM(0, CHILD, 0), MAP(0, CHILD, 2)},
		{COMM(100, CHILD, 0), MAP(120, CHILD, 1), COMM(0, CHILD, 1), MAP(0, CHILD, 2)},
		{COMM(100, CHILD, 0, .exec = true), MAP(120, CHILD, 1), COMM(0, CHILD, 0),
		 MAP(0, CHILD, 2)},
		{ROW(COMM, 100, CHILD, OTHER, .what = 0, .exec = true), /* a thread's name */
		 FORK(100, CHILD, CHILD), MAP(120, CHILD, 1), ROW(COMM, 0, CHILD, OTHER, .what = 1),
		 MAP(0, CHILD, 2)},
	};
	size_t n;

	each (c, cases) {
		freed(intern_free) struct intern names = {0};
		freed(sideband_free) struct sideband b = {.strings = &names};
		struct side_row rows[5];

		memcpy(rows, *c, sizeof(rows));
		for (n = 0; n < 5 && rows[n].pid; n++)
			;
		make_side(&b, rows, n);
		assert_int_equal(at(&b, (uint32_t)b.n - 1, CHILD, 0x4800), 1);
	}
}

/*
 * perf lists a process while it starts. Its start then keeps the listed maps. OTHER is a parent
 * with a map at 0x1000, and the list has a map of CHILD at 0x8000.
 */
TEST(start_of_a_listed_process_keeps_its_maps)
{
	static const struct {
		struct side_row rows[4];
		bool keeps; /* the last row is a start, which keeps the listed map */
	} cases[] = {
		{{MAP(0, CHILD, 4), FORK(100, CHILD, CHILD)}, true},
		{{MAP(60, CHILD, 4), FORK(100, CHILD, CHILD)}, false}, /* recorded, not listed */
		{{MAP(0, CHILD, 4), MAP(60, CHILD, 4), FORK(100, CHILD, CHILD)}, true},
		{{MAP(0, CHILD, 4), EXIT(90, CHILD), FORK(100, CHILD, CHILD)}, false},
		{{MAP(0, CHILD, 4), FORK(90, CHILD, CHILD), FORK(100, CHILD, CHILD)}, false},
		{{MAP(0, CHILD, 4), FORK(90, OTHER, CHILD), FORK(100, CHILD, CHILD)}, false},
		{{MAP(0, CHILD, 4), EXIT(90, PARENT), FORK(100, CHILD, CHILD)}, true},
		{{ALONE(0, CHILD), MAP(0, CHILD, 4), FORK(100, CHILD, CHILD)}, true},
		{{MAP(0, CHILD, 4), ALONE(100, CHILD)}, false},
		{{MAP(0, CHILD, 4), FORK(100, OTHER, CHILD)}, false}, /* a thread */
		{{MAP(0, CHILD, 4), COMM(90, CHILD, 0), FORK(100, CHILD, CHILD)}, true},
	};
	size_t n;

	for (size_t i = 0; i < array_size(cases); i++) {
		freed(intern_free) struct intern names = {0};
		freed(sideband_free) struct sideband b = {.strings = &names};
		struct side_row rows[5];

		for (n = 0; n < 4 && cases[i].rows[n].pid; n++)
			rows[n] = cases[i].rows[n];
		rows[n++] = (struct side_row)MAP(0, OTHER, 0);
		make_side(&b, rows, n);
		if (at(&b, (uint32_t)b.n - 1, CHILD, 0x8800) != (cases[i].keeps ? 4 : -1))
			print_message("# case %zu\n", i);
		assert_int_equal(at(&b, (uint32_t)b.n - 1, CHILD, 0x8800), cases[i].keeps ? 4 : -1);
	}
}

/* A program in kernel memory exists from its registration on, until it is unregistered. */
TEST(programs_come_and_go)
{
	static struct side_ksymbol symbols[] = {
		{0x1000, 0x1100, 0, false}, {0x1000, 0x1100, 0, true}, {0x1080, 0x1180, 0, false}};
	static struct side_row list[] = {{.kind = SIDE_KSYMBOL, .pid = KERNEL_PID, .what = 0},
					 {.kind = SIDE_KSYMBOL, .pid = KERNEL_PID, .what = 1},
					 {.kind = SIDE_KSYMBOL, .pid = KERNEL_PID, .what = 2}};
	struct sideband b = {.list = list, .n = 3, .ksymbols = symbols, .nksymbols = 3};
	freed(history_free) struct history h;

	history_make(&h, &b);
	assert_null(history_find_program(&h, 0x1000, UINT32_MAX));
	assert_ptr_equal(history_find_program(&h, 0x1000, 0), &symbols[0]);
	assert_null(history_find_program(&h, 0x1100, 0));
	assert_null(history_find_program(&h, 0x1090, 1));
	assert_ptr_equal(history_find_program(&h, 0x1090, 2), &symbols[2]);
}
