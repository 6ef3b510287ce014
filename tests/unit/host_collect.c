// SPDX-License-Identifier: GPL-2.0-only
#include "collect/perf.h"
#include "collect/run/run.h"
#include "collect/syscalls/syscalls.h"
#include "collect/syscalls/methods.h"
#include "lib/str.h"
#include "tests/unit/unit.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

typedef unsigned __int128 u128;

TEST(bucket_is_the_logarithm_of_the_value)
{
	assert_int_equal(syscall_bucket(0), 0);
	assert_int_equal(syscall_bucket(1), 0);
	for (int b = 1; b < 64; b++) {
		assert_int_equal(syscall_bucket(1ULL << b), b);
		assert_int_equal(syscall_bucket((1ULL << b) - 1), b - 1);
		assert_int_equal(syscall_bucket((1ULL << b) + 1), b);
	}
	assert_int_equal(syscall_bucket(UINT64_MAX), 63);
}

/* Compares with 128-bit arithmetic, with carries from every part. */
TEST(square_equals_128_bit_arithmetic)
{
	static const uint64_t ns[] = {1,
				      0xffffffff,
				      0x100000000,
				      0xffffffffffff,
				      UINT64_MAX >> 2,
				      3600ULL * 1000000000,
				      0xfedcba9876543210 >> 4};
	struct syscall_cell c = {0};
	u128 sum = 0;

	for (size_t k = 0; k < 5; k++)
		each (r, ns) {
			sum += (u128)*r * *r;
			syscall_add_square(&c, *r);
			assert_true((u128)c.square_hi << 64 == sum - (uint64_t)sum);
			assert_true(c.square_lo == (uint64_t)sum);
		}
}

/* Returns field `column` (from 0) of a call's row in syscalls.tsv. */
static char *written(const struct syscall_counts *counts, int column)
{
	char *rest, *line, *field = NULL;
	struct str s = {0};

	syscalls_print(&s, counts);
	rest = s.buf;
	str_token(&rest, '\n');
	line = str_token(&rest, '\n');
	while (column-- >= 0)
		field = str_token(&line, '\t');
	field = strdup(field);
	str_free(&s);
	return field;
}

static void expect(const struct syscall_counts *counts, int column, const char *value)
{
	autofree char *field = written(counts, column);

	assert_string_equal(field, value);
}

/* Times 2, 4, 4, 4, 5, 5, 7, 9 have mean 5 and squared deviations 32, also far from 0. */
TEST(syscalls_table_has_sums_and_squared_deviations)
{
	static const uint64_t ns[] = {2, 4, 4, 4, 5, 5, 7, 9};
	static const uint64_t shift[] = {0, 1ULL << 40, 1ULL << 60};
	struct syscall_thread t[2] = {{0}, {.pid = 7, .tid = 8, .comm = "a\tb"}};

	t[1].cell[SYS_read] = 1;
	for (size_t k = 0; k < 3; k++) {
		struct syscall_cell c[2] = {{0}};
		struct syscall_counts counts = {
			.threads = t, .cells = c, .nthreads = 1, .ncells = 1};

		for (size_t i = 0; i < 8; i++) {
			syscall_time(&c[1], shift[k] + ns[i]);
			syscall_count(&c[1], &syscall_traits()[SYS_read], i ? 100 : -5, 0);
		}
		expect(&counts, 10, "32");
		expect(&counts, 5, "8");
		expect(&counts, 6, "1");
		expect(&counts, 11, "700");
		expect(&counts, 14, "6:7");
		expect(&counts, 0, "a?b");
		if (!k)
			expect(&counts, 13, "1:1,2:6,3:1");
	}
}

/* A slot that several threads used has a name only where all of them had it. */
TEST(threads_of_one_slot_have_their_common_name)
{
	struct syscall_thread t[2] = {{0}, {.pid = 7, .comm = "a", .was = "a"}};
	struct syscall_cell c[2] = {{0}, {.calls = 4, .timed = 4, .unfinished = 2}};
	struct syscall_counts counts = {.threads = t, .cells = c, .nthreads = 1, .ncells = 1};

	t[1].cell[SYS_read] = 1;
	t[1].nr = SYS_read;
	t[1].entered = 9;
	expect(&counts, 0, "a");
	expect(&counts, 2, "0");
	expect(&counts, 5, "4");
	expect(&counts, 12, "3");
	expect(&counts, 17, "4");
	strcpy(t[1].was, "b");
	expect(&counts, 0, "...");
}

/*
 * The sampler takes the first 16 calls and then one in 8. Calls that alternate are sampled alike:
 * every 8th of all calls would always be the same one of two. The limits are six standard
 * deviations of the binomial distribution.
 */
TEST(sampling_takes_each_call_at_the_same_rate)
{
	static struct syscall_thread t = {.lot = 7};
	const uint32_t untimed = SYSCALLS_LOTS - SYSCALLS_LOTS / 8;
	const double n = 40000, p = 1 / 8., most = 6 * sqrt(n * p * (1 - p));
	uint64_t timed[2] = {0};

	for (int i = 0; i < 16; i++)
		for (int nr = 0; nr < 2; nr++)
			assert_true(syscall_timed(&t, (uint32_t)nr, untimed));
	for (int i = 0; i < (int)n; i++)
		for (int nr = 0; nr < 2; nr++)
			timed[nr] += (uint64_t)syscall_timed(&t, (uint32_t)nr, untimed);
	assert_true(fabs((double)timed[0] - n * p) < most);
	assert_true(fabs((double)timed[1] - n * p) < most);
	for (int i = 0; i < 100; i++)
		assert_true(syscall_timed(&t, 2, 0));
}

static struct syscall_event event(uint64_t time, uint32_t tid, int kind, uint32_t nr, int64_t value)
{
	return (struct syscall_event){.time = time,
				      .pid = 10,
				      .tid = tid,
				      .kind = (uint8_t)kind,
				      .nr = nr,
				      .value = value};
}

static void feed(struct syscalls_events *e, const struct syscall_event *list, size_t n)
{
	while (n--)
		syscalls_events_add(e, list++);
}

/* The events are out of order, cut off at both ends, and one enter is lost. */
TEST(events_make_calls_in_any_order)
{
	const struct syscall_event list[] = {
		event(150, 10, SYSCALL_EXIT, SYS_read, 5), /* it ends the call at 100 */
		event(50, 11, SYSCALL_EXIT, SYS_read, 5),  /* began before the window */
		event(100, 10, SYSCALL_ENTER, SYS_read, 0),
		event(160, 10, SYSCALL_ENTER, SYS_write, 0),
		event(170, 10, SYSCALL_EXIT, SYS_read, 1),   /* its enter was lost */
		event(210, 10, SYSCALL_EXIT, SYS_read, -4),  /* it ends the call at 200, which comes
								later */
		event(300, 10, SYSCALL_ENTER, SYS_pause, 0), /* does not return */
	};
	const struct syscall_event late = event(200, 10, SYSCALL_ENTER, SYS_read, 0);
	struct syscalls_events e = {0};
	struct syscall_cell *c;

	feed(&e, list, sizeof(list) / sizeof(list[0]));
	syscalls_events_until(&e, 180);
	feed(&e, &late, 1);
	syscalls_events_until(&e, UINT64_MAX);
	assert_int_equal(e.n, 0);
	assert_int_equal(e.nthreads, 3); /* and the unused first */
	assert_int_equal(e.threads[2].tid, 10);
	assert_int_equal(e.threads[2].entered, 300);
	c = &e.cells[e.threads[2].cell[SYS_read]];
	assert_int_equal(c->calls, 2);
	assert_int_equal(c->errors, 1);
	assert_int_equal(c->total, 60);
	assert_int_equal(c->bytes, 5);
	assert_int_equal(e.threads[2].cell[SYS_write], 0);
	syscalls_events_free(&e);
}

/* sigreturn leaves with the number -1 and the interrupted code's register. No other call does. */
TEST(sigreturn_ends_without_a_number_or_a_result)
{
	const struct syscall_event list[] = {
		event(100, 10, SYSCALL_ENTER, SYS_rt_sigreturn, 0),
		event(130, 10, SYSCALL_EXIT, UINT32_MAX, -EINTR),
		event(200, 10, SYSCALL_ENTER, SYS_read, 0), /* the enter of rt_sigreturn was lost */
		event(250, 10, SYSCALL_EXIT, UINT32_MAX, 5),
		event(300, 10, SYSCALL_ENTER, SYS_rt_sigreturn, 0), /* its exit was lost */
		event(350, 10, SYSCALL_EXIT, SYS_read, 5),
	};
	struct syscalls_events e = {0};
	struct syscall_cell *c;

	feed(&e, list, sizeof(list) / sizeof(list[0]));
	syscalls_events_until(&e, UINT64_MAX);
	c = &e.cells[e.threads[1].cell[SYS_rt_sigreturn]];
	assert_int_equal(c->calls, 1);
	assert_int_equal(c->errors, 0);
	assert_int_equal(c->total, 30);
	assert_int_equal(e.threads[1].cell[SYS_read], 0);
	syscalls_events_free(&e);
}

/*
 * A thread id that is used again is a new thread. It has its parent's name until it has a new
 * name.
 */
TEST(reused_thread_id_is_a_new_thread)
{
	struct syscalls_events e = {0};
	uint32_t first = intern_str(&e.names, "first"), second = intern_str(&e.names, "second");
	const struct syscall_event list[] = {
		event(1, 10, SYSCALL_COMM, first, 0),	 event(2, 20, SYSCALL_FORK, 10, 0),
		event(3, 20, SYSCALL_ENTER, SYS_dup, 0), event(4, 20, SYSCALL_EXIT, SYS_dup, 0),
		event(5, 10, SYSCALL_COMM, second, 0),	 event(6, 20, SYSCALL_FORK, 10, 0),
		event(7, 20, SYSCALL_ENTER, SYS_dup, 0), event(9, 20, SYSCALL_EXIT, SYS_dup, 0),
	};

	feed(&e, list, sizeof(list) / sizeof(list[0]));
	syscalls_events_until(&e, UINT64_MAX);
	assert_int_equal(e.nthreads, 3);
	assert_string_equal(e.threads[1].comm, "first");
	assert_string_equal(e.threads[2].comm, "second");
	assert_int_equal(e.cells[e.threads[1].cell[SYS_dup]].total, 1);
	assert_int_equal(e.cells[e.threads[2].cell[SYS_dup]].total, 2);
	syscalls_events_free(&e);
}

TEST(system_calls_have_names)
{
	assert_string_equal(syscall_name(SYS_getppid), "getppid");
	assert_string_equal(syscall_name(SYS_io_uring_enter), "io_uring_enter");
	assert_string_equal(syscall_name(462), "mseal");
	assert_null(syscall_name(SYSCALLS_NR));
	assert_true(syscall_traits()[SYS_sendto].moves);
	assert_true(syscall_traits()[SYS_splice].moves);
	assert_false(syscall_traits()[SYS_getppid].moves);
	assert_false(syscall_traits()[SYS_recvmmsg].moves); /* returns messages */
}

static void put(struct str *s, uint32_t type, uint16_t misc, const void *body, size_t len)
{
	struct perf_event_header h = {
		.type = type, .misc = misc, .size = (uint16_t)(sizeof(h) + len)};

	str_add(s, &h, sizeof(h));
	str_add(s, body, len);
}

static void put_mmap(struct str *s, uint32_t pid, uint64_t start, const char *name)
{
	struct {
		uint32_t pid, tid;
		uint64_t start, len, pgoff;
		char name[32];
	} m = {.pid = pid, .tid = pid, .start = start, .len = 0x1000};

	snprintf(m.name, sizeof(m.name), "%s", name);
	put(s, PERF_RECORD_MMAP, 0, &m, sizeof(m));
}

static void put_sample(struct str *s, uint32_t pid, uint64_t ip, uint64_t caller)
{
	struct {
		uint64_t ip;
		uint32_t pid, tid;
		uint64_t time, nr, ips[3];
	} r = {.ip = ip,
	       .pid = pid,
	       .tid = pid,
	       .nr = 3,
	       .ips = {(uint64_t)-512, ip, caller}}; /* PERF_CONTEXT_USER */

	put(s, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, &r, sizeof(r));
}

static const uint64_t chains =
	PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN;

static int files_of(const struct str *s, uint64_t type, struct intern *files)
{
	struct perf_data_sums sums = {0};

	return perf_records_read(cursor_of(s->buf, s->len, false), type, &sums, files);
}

static bool has_file(const struct intern *files, const char *name)
{
	struct perf_file as;

	for (uint32_t i = 0; i < files->n; i++)
		if (!strcmp(perf_file_get(files, i, &as), name))
			return true;
	return false;
}

TEST(files_of_chains_are_found)
{
	struct perf_data_sums sums = {0};
	freed(intern_free) struct intern files = {0};
	freed(str_free) struct str s = {0};

	put_mmap(&s, 1, 0x1000, "/leaf");
	put_mmap(&s, 1, 0x2000, "/caller");
	put_mmap(&s, 1, 0x3000, "/unused");
	put_mmap(&s, 1, 0x4000, "//anon"); /* no file */
	put_mmap(&s, 1, 0x5000, "[heap]");
	put_sample(&s, 2, 0x1010, 0x2fff); /* process 2 has the mappings of its parent */
	put_sample(&s, 1, 0x5000, 0xffffffff81000000);
	put_sample(&s, 1, 0x2000 + 0x1000 * 100, 0x6000);
	assert_int_equal(files_of(&s, chains, &files), 0);
	assert_int_equal(files.n, 2);
	assert_true(has_file(&files, "/leaf"));
	assert_true(has_file(&files, "/caller"));
	for (size_t len = 1; len < s.len; len++)
		perf_records_read(cursor_of(s.buf, len, false), chains, &sums, &files);
}

/* The kernel's record identifies a file by an inode and its generation, or by a build-id. */
TEST(file_has_the_identity_in_its_mapping)
{
	struct {
		uint32_t pid, tid;
		uint64_t start, len, pgoff;
		uint32_t maj, min;
		uint64_t ino, generation;
		uint32_t prot, flags;
		char name[8];
	} m = {.pid = 1,
	       .start = 0x1000,
	       .len = 0x1000,
	       .maj = 8,
	       .min = 1,
	       .ino = 77,
	       .generation = 99,
	       .prot = PROT_EXEC,
	       .name = "/one"};
	freed(intern_free) struct intern files = {0};
	struct perf_file as;
	freed(str_free) struct str s = {0};

	put(&s, PERF_RECORD_MMAP2, 0, &m, sizeof(m));
	m.start = 0x2000;
	memcpy(&m.maj, "\x03\0\0\0\xab\xcd\xef", 8);
	put(&s, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, &m, sizeof(m));
	put_sample(&s, 1, 0x1010, 0x2fff);
	assert_int_equal(files_of(&s, chains, &files), 0);
	assert_int_equal(files.n, 2);
	assert_string_equal(perf_file_get(&files, 0, &as), "/one");
	assert_true(as.maj == 8 && as.min == 1 && as.ino == 77 && as.generation == 99);
	assert_string_equal(perf_file_get(&files, 1, &as), "/one");
	assert_true(!as.ino && as.id_len == 3 && !memcmp(as.id, "\xab\xcd\xef", 3));
}

/* A copied stack has the callers' addresses among its words. */
TEST(files_of_stack_words_are_found)
{
	const uint64_t type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN |
			      PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	struct {
		uint64_t ip;
		uint32_t pid, tid;
		uint64_t nr, abi, regs[2], size, words[3], used;
	} r = {.ip = 0x1010,
	       .pid = 1,
	       .tid = 1,
	       .abi = 2,
	       .regs = {0x7ff000, 0x1010},
	       .size = 24,
	       .words = {0x123456789, 0x2010, 0x7ff008},
	       .used = 24};
	freed(intern_free) struct intern files = {0};
	freed(str_free) struct str s = {0};

	put_mmap(&s, 1, 0x1000, "/leaf");
	put_mmap(&s, 1, 0x2000, "/caller");
	put_mmap(&s, 1, 0x3000, "/unused");
	put(&s, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, &r, sizeof(r));
	assert_int_equal(files_of(&s, type, &files), 0);
	assert_int_equal(files.n, 2);
	assert_true(has_file(&files, "/caller"));
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Returns the CPU time of a recording with n mappings and a sample in each. */
static double files_seconds(unsigned int n)
{
	struct intern files = {0};
	struct str s = {0};
	char name[32];
	double begun;

	for (unsigned int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "/lib/%u", i);
		put_mmap(&s, 1, 0x1000000 + (uint64_t)i * 0x2000, name);
	}
	for (unsigned int i = 0; i < n; i++)
		put_sample(&s, i % 2 + 1, 0x1000000 + (uint64_t)(i * 7919 % n) * 0x2000, 0);
	begun = cpu_seconds();
	assert_int_equal(files_of(&s, chains, &files), 0);
	begun = cpu_seconds() - begun;
	assert_int_equal(files.n, n);
	intern_free(&files);
	str_free(&s);
	return begun;
}

/* Sixteen times the mappings take about sixteen times as long. A list would take 256 times. */
TEST(time_grows_linearly_with_mappings)
{
	double few = files_seconds(4096);

	assert_true(files_seconds(65536) < 80 * few);
}

/* An address in two mappings, and one in a large mapping that a smaller one follows. */
TEST(all_files_at_an_address_are_found)
{
	freed(intern_free) struct intern files = {0};
	freed(str_free) struct str s = {0};

	put_mmap(&s, 1, 0x1000, "/large");
	*(uint64_t *)(s.buf + 8 + 16) = 0x10000; /* its length */
	put_mmap(&s, 1, 0x2000, "/inside");
	put_mmap(&s, 1, 0x3000, "/earlier");
	put_mmap(&s, 1, 0x3000, "/later");
	put_sample(&s, 1, 0x9000, 0x3fff);
	assert_int_equal(files_of(&s, chains, &files), 0);
	assert_int_equal(files.n, 3);
	assert_false(has_file(&files, "/inside"));
}

static enum sync_event hear(struct sync *s, int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return sync_read(s);
}

TEST(lines_arrive_in_pieces_or_together)
{
	struct sync s = {0};
	char longer[400];
	int p[2];

	assert_int_equal(pipe(p), 0);
	s.fd = p[0];
	assert_int_equal(hear(&s, p[1], "go 1"), SYNC_NOTHING);
	assert_int_equal(hear(&s, p[1], "23 456\n"), SYNC_GO);
	assert_int_equal(s.start_ns, 123);
	assert_int_equal(s.duration_ns, 456);
	assert_int_equal(hear(&s, p[1], "go 7 8\n"), SYNC_NOTHING);
	assert_int_equal(s.start_ns, 123);
	assert_int_equal(hear(&s, p[1], "go 7 8\nabort\n"), SYNC_ABORT);
	assert_string_equal(s.why, "aborted through standard input");
	s = (struct sync){.fd = p[0]};
	assert_int_equal(hear(&s, p[1], "go 7\n"), SYNC_ABORT);
	s = (struct sync){.fd = p[0]};
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(hear(&s, p[1], longer), SYNC_ABORT);
	close(p[1]);
	close(p[0]);
}
