// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks tracepoints made by hand: their formats in both byte orders and cut at every byte, the
 * order of time, and which thread an id belongs to.
 */
#include "analyze/perfdata/tracepoints.h"

#include "analyze/model/notes.h"
#include "analyze/perfdata/tracepoint_parts.h"
#include "tests/unit/perfdata_stream.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/stat.h>

static const char enter_format[] =
	"name: sys_enter\nID: 31\n" W_COMMON_FIELDS
	"\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n\n"
	"print fmt: \"NR %ld\", REC->id\n";
static const char exit_format[] = "name: sys_exit\nID: 30\n" W_COMMON_FIELDS
				  "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n"
				  "\tfield:unsigned int flags;\toffset:24;\tsize:4;\tsigned:0;\n"
				  "\tfield:short half;\toffset:24;\tsize:2;\tsigned:1;\n\n"
				  "print fmt: \"NR %ld = %ld\", REC->id, REC->ret\n";
static const char wakeup_format[] = "name: sched_wakeup\nID: 400\n" W_COMMON_FIELDS
				    "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				    "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
				    "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n\n"
				    "print fmt: \"comm=%s pid=%d\", REC->comm, REC->pid\n";

/* Sets the end of the last format. */
static size_t w_tracing(struct writer *w, const char *version)
{
	size_t end;

	w_tracing_head(w, version);
	w32(w, 2);
	w_bytes(w, "raw_syscalls", 13);
	w32(w, 2);
	w_block(w, exit_format);
	w_block(w, enter_format);
	w_bytes(w, "sched", 6);
	w32(w, 1);
	w_block(w, wakeup_format);
	end = w->out.len;
	w32(w, 5);
	w_bytes(w, "a b c", 5);
	w32(w, 0);
	w64(w, 0);
	return end;
}

/* Copies into a new allocation, so that a sanitizer sees a read beyond its end. */
static struct cursor copy_of(const struct writer *w, size_t len)
{
	return cursor_of(xmemdup(w->out.buf, len), len, false);
}

static void check_field(struct tracing *t, uint64_t id, const char *name, uint32_t at, uint8_t size)
{
	struct tracing_field f = tracing_field(t, tracing_find(t, id), name);

	assert_int_equal(f.at, at);
	assert_int_equal(f.size, size);
}

static void whole(struct writer *w)
{
	struct cursor c;
	struct tracing t;
	size_t len;

	w_tracing(w, "0.6");
	c = copy_of(w, w->out.len);
	assert_true(tracing_read(&t, c));
	assert_null(t.cut);
	assert_int_equal(t.big_endian, w->big);
	assert_int_equal(t.long_size, 8);
	assert_int_equal(t.n, 3);
	assert_null(tracing_find(&t, 1)); /* ftrace's internal format */
	assert_string_equal(tracing_find(&t, 31)->name, "sys_enter");
	assert_string_equal(tracing_find(&t, 400)->system, "sched");
	check_field(&t, 31, "id", 8, 8);
	check_field(&t, 30, "ret", 16, 8);
	check_field(&t, 400, "pid", 24, 4);
	assert_true(tracing_field(&t, tracing_find(&t, 30), "half").sign);
	assert_false(tracing_field(&t, tracing_find(&t, 30), "flags").sign);
	check_field(&t, 31, "args", 0, 0); /* not a number */
	check_field(&t, 400, "comm", 0, 0);
	check_field(&t, 400, "nonsense", 0, 0);
	assert_memory_equal(tracing_print_format(tracing_find(&t, 30), &len), " \"NR %ld", 8);
	tracing_free(&t);
	free((void *)c.at);
	str_free(&w->out);
}

TEST(formats_are_read_in_both_byte_orders)
{
	struct writer little = {0}, big = {.big = true};

	whole(&little);
	whole(&big);
}

/* The formats before the cut are present, the others are not, and a message names the cut. */
static void cut_at(const struct writer *w, size_t len, size_t end)
{
	struct cursor c = copy_of(w, len);
	struct tracing t;
	bool ok = tracing_read(&t, c);

	assert_true(t.n <= 3);
	if (len >= end)
		assert_true(ok && t.n == 3 && !t.cut);
	else
		assert_true(!ok || t.cut);
	for (size_t i = 0; i < t.n; i++)
		assert_int_equal(tracing_field(&t, &t.formats[i], "common_pid").at, 4);
	tracing_free(&t);
	free((void *)c.at);
}

TEST(cut_formats_before_the_cut_are_read)
{
	for (int big = 0; big < 2; big++) {
		freed(writer_free) struct writer w = {.big = big};
		size_t end = w_tracing(&w, "0.5");

		for (size_t len = 0; len <= w.out.len; len++)
			cut_at(&w, len, end);
	}
}

/* Changes every byte in turn. */
TEST(damaged_formats_do_not_crash)
{
	freed(writer_free) struct writer w = {0};
	static const uint8_t other[] = {0xff, 0x0a, 0x01, 0x7f, 0x80, 0x20};

	w_tracing(&w, "0.6");
	for (size_t i = 0; i < w.out.len * sizeof(other); i++) {
		struct cursor c = copy_of(&w, w.out.len);
		struct tracing t;

		((uint8_t *)c.at)[i / sizeof(other)] ^= other[i % sizeof(other)];
		tracing_read(&t, c);
		for (size_t k = 0; k < t.n; k++)
			tracing_field(&t, &t.formats[k], "id");
		tracing_free(&t);
		free((void *)c.at);
	}
}

/* Reads one format. Returns the place of its field. */
static struct tracing_field field_of(const char *format, uint64_t id, const char *name)
{
	struct tracing_field f = {0};
	struct tracing_format *found;
	freed(writer_free) struct writer w = {0};
	struct cursor c;
	struct tracing t;

	w_tracing_head(&w, "0.6");
	w32(&w, 1);
	w_bytes(&w, "made", 5);
	w32(&w, 1);
	w_block(&w, format);
	c = copy_of(&w, w.out.len);
	assert_true(tracing_read(&t, c));
	found = tracing_find(&t, id);
	if (found)
		f = tracing_field(&t, found, name);
	tracing_free(&t);
	free((void *)c.at);
	return f;
}

/* libtraceevent gets the lines up to the first one that is not a field. */
TEST(fields_behind_a_damaged_line_are_not_read)
{
	static const struct {
		const char *line;
		bool good;
	} lines[] = {
		{"\tfield:int x;\toffset:8;\tsize:4;\tsigned:1;", true},
		{"\tfield:int x;\toffset:8;\tsize:4;", true},
		{"\tfield:int x;\toffset:12345678;\tsize:4;\tsigned:1;", true},
		{"\tfield:unsigned long args[6];\toffset:8;\tsize:48;\tsigned:0;", true},
		{"\tfield:unsigned long args[SIZE_9];\toffset:8;\tsize:48;\tsigned:0;", true},
		{"\tfield:const char * x_Zz09;\toffset:8;\tsize:8;\tsigned:0;", true},
		{"\tfield:__data_loc char[] x;\toffset:8;\tsize:4;\tsigned:0;", true},
		{"field:int x;\toffset:8;\tsize:4;\tsigned:1;", false},
		{"\tfield:x;\toffset:8;\tsize:4;\tsigned:1;", false},
		{"\tfield: x;\toffset:8;\tsize:4;\tsigned:1;", false},
		{"\tfield:int x ;\toffset:8;\tsize:4;\tsigned:1;", false},
		{"\tfield:int x*;\toffset:8;\tsize:4;\tsigned:1;", false},
		{"\tfield:int x-y;\toffset:8;\tsize:4;\tsigned:1;", false},
		{"\tfield:int x[4;\toffset:8;\tsize:16;\tsigned:1;", false},
		{"\tfield:int [4];\toffset:8;\tsize:16;\tsigned:1;", false},
		{"\tfield:int x[4][4];\toffset:8;\tsize:64;\tsigned:1;", false},
		{"\tfield:int x", false},
		{"\tfield:int x;\toffset:;\tsize:4;\tsigned:1;", false},
		{"\tfield:int x;\toffset:123456789;\tsize:4;\tsigned:1;", false},
		{"\tfield:int x;\toffset:8\tsize:4;\tsigned:1;", false},
		{"\tfield:int x;\tsize:4;\tsigned:1;", false},
		{"\tfield:int x;\toffset:8;\tsigned:1;", false},
		{"\tfield:int x;\toffset:8;\tsize:;\tsigned:1;", false},
		{"\tfield:int x;\toffset:8;\tsize:4", false},
		{"\tfield:int x;\toffset:8;\tsize:4;\tsigned:;", false},
		{"\tfield:int x;\toffset:8;\tsize:4;\tsigned:1", false},
		{"\tfield:int x;\toffset:8;\tsize:4;\tsigned:1; ", false},
		{"\tfield:int x;\toffset:8;\tsize:4;\t1;", false},
	};

	each (l, lines) {
		char *text = xasprintf("name: made\nID: 70\n" W_COMMON_FIELDS "%s\n"
				       "\tfield:int after;\toffset:64;\tsize:4;\tsigned:1;\n\n"
				       "print fmt: \"\"\n",
				       l->line);
		struct tracing_field f = field_of(text, 70, "after");

		if (f.at != (l->good ? 64 : 0))
			print_message("# %s\n", l->line);
		assert_int_equal(f.at, l->good ? 64 : 0);
		assert_int_equal(f.size, l->good ? 4 : 0);
		free(text);
	}
}

TEST(elements_of_an_array_are_fields)
{
	struct tracing_field second = field_of(enter_format, 31, "args[1]");

	assert_int_equal(second.at, 24);
	assert_int_equal(second.size, 8);
	assert_int_equal(field_of(enter_format, 31, "args[5]").at, 56);
	assert_int_equal(field_of(enter_format, 31, "args[6]").size, 0);
	assert_int_equal(field_of(enter_format, 31, "args").size, 0);
	assert_int_equal(field_of(enter_format, 31, "id[0]").size, 0);
}

TEST(fields_have_their_values)
{
	static const uint8_t raw[] = {0xfe, 0xff, 0xff, 0xff, 1, 2, 3, 4};

#define VALUE(at, size, sign, swap) tracing_value((struct tracing_field){at, size, sign}, raw, swap)
	assert_true(VALUE(0, 4, true, false) == (uint64_t)-2);
	assert_true(VALUE(0, 4, false, false) == 0xfffffffe);
	assert_true(VALUE(4, 2, true, true) == 0x0102);
	assert_true(VALUE(0, 1, true, false) == (uint64_t)-2);
}

/* A sample with ids, time, CPU and raw data. It is read at fixed offsets if no call chain precedes
 * the raw data. */
static void sample_is_read(bool big, bool fixed)
{
	uint64_t type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW;
	struct event e = {.sample_type = type | (fixed ? 0 : PERF_SAMPLE_CALLCHAIN)};
	struct tracepoint_plan p = {.want = 3, .fields = {{8, 8, true}, {4, 4, true}}};
	freed(writer_free) struct writer w = {.big = big};
	struct cursor body;
	struct tracepoint t;

	w32(&w, 71);
	w32(&w, 72);
	w64(&w, 73);
	w32(&w, 5);
	w32(&w, 0);
	if (!fixed)
		w64(&w, 0); /* an empty chain */
	w32(&w, 20);
	w32(&w, 0);
	w32(&w, 0xfffffff9);
	w64(&w, 74);
	w32(&w, 0);
	tracepoint_plan_finish(&p, &e);
	assert_int_equal(p.fixed, fixed);
	memset(&t, 0xee, sizeof(t));
	body = cursor_of(w.out.buf, w.out.len, big);
	assert_null(tracepoint_plan_read(&p, &e, &body, &t));
	assert_int_equal(t.want, 3);
	assert_int_equal(t.pid, 71);
	assert_int_equal(t.tid, 72);
	assert_int_equal(t.time, 73);
	assert_int_equal(t.cpu, 5);
	assert_int_equal(t.v[0], 74);
	assert_true(t.v[1] == (uint64_t)-7);
	assert_int_equal(t.v[2], 0);
	body = cursor_of(w.out.buf, w.out.len - 8, big);
	assert_string_equal(tracepoint_plan_read(&p, &e, &body, &t),
			    "a sample longer than its record");
	p.need = 21;
	body = cursor_of(w.out.buf, w.out.len, big);
	assert_string_equal(tracepoint_plan_read(&p, &e, &body, &t),
			    "a tracepoint shorter than its format");
}

TEST(samples_have_their_ids_time_cpu_and_fields)
{
	for (int i = 0; i < 4; i++)
		sample_is_read(i & 1, i & 2);
}

struct seen {
	uint64_t time[64], v[64];
	size_t n;
};

static void see(void *ctx, const struct tracepoint *t)
{
	struct seen *s = ctx;

	assert_true(s->n < 64);
	s->time[s->n] = t->time;
	s->v[s->n++] = t->v[0];
}

static void come(struct time_order *o, uint64_t time, uint64_t v)
{
	*time_order_slot(o) = (struct tracepoint){.time = time, .v = {v}};
	time_order_keep(o);
}

static void check_order(const struct seen *s, size_t n)
{
	assert_int_equal(s->n, n);
	for (size_t i = 1; i < n; i++)
		assert_true(s->time[i - 1] < s->time[i] ||
			    (s->time[i - 1] == s->time[i] && s->v[i - 1] < s->v[i]));
}

/* Each round has two buffers, and the second is earlier. Samples with equal times stay in order. */
TEST(rounds_are_sorted_by_time)
{
	struct seen s = {0};
	freed(time_order_free) struct time_order o = {.deliver = see, .ctx = &s};

	come(&o, 10, 1);
	come(&o, 30, 2);
	come(&o, 20, 3);
	time_order_round(&o);
	assert_int_equal(s.n, 0); /* the next round may overlap */
	come(&o, 40, 4);
	come(&o, 15, 5);
	come(&o, 30, 6);
	time_order_round(&o);
	assert_int_equal(s.n, 5); /* samples up to time 30 */
	time_order_round(&o);	  /* an empty round changes nothing */
	assert_int_equal(s.n, 5);
	come(&o, 35, 7);
	time_order_finish(&o);
	check_order(&s, 7);
	assert_int_equal(o.late, 0);
}

/* The input is in reverse order. */
TEST(samples_without_rounds_are_merged)
{
	struct seen s = {0};
	freed(time_order_free) struct time_order o = {.deliver = see, .ctx = &s};

	for (uint64_t i = 0; i < 50; i++)
		come(&o, (50 - i) / 3, i);
	time_order_finish(&o);
	check_order(&s, 50);
}

/* A sample that is earlier than its round is delivered late and counted. */
TEST(sample_after_its_round_is_counted_as_late)
{
	struct seen s = {0};
	freed(time_order_free) struct time_order o = {.deliver = see, .ctx = &s};

	come(&o, 10, 1);
	time_order_round(&o);
	come(&o, 20, 2);
	time_order_round(&o);
	come(&o, 5, 3);
	time_order_finish(&o);
	assert_int_equal(s.n, 3);
	assert_int_equal(o.late, 1);
}

/* Opens a temporary file, writes and closes it. Fails unless it is in `dir`, without a name. */
static void check_spool(const char *dir)
{
	struct spool s;
	char link[64], name[256];
	struct stat st;
	ssize_t n;

	assert_int_equal(spool_open(&s, NULL), 0);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", s.fd);
	n = readlink(link, name, sizeof(name) - 1);
	assert_true(n > 0);
	name[n] = '\0';
	assert_memory_equal(name, dir, strlen(dir));
	assert_int_equal(name[strlen(dir)], '/');
	assert_int_equal(fstat(s.fd, &st), 0);
	assert_int_equal(st.st_nlink, 0);
	assert_int_equal(fcntl(s.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(spool_add(&s, "abc", 3, NULL), 0);
	assert_int_equal(spool_add(&s, "de", 2, NULL), 0);
	assert_int_equal(s.len, 5);
	assert_int_equal(pread(s.fd, name, sizeof(name), 0), 5);
	assert_memory_equal(name, "abcde", 5);
	spool_close(&s);
	assert_int_equal(s.fd, -1);
}

TEST(temporary_file_is_in_tmpdir_and_has_no_name)
{
	char dir[] = "/tmp/zcost-spool-XXXXXX";
	autofree char *old = getenv("TMPDIR") ? xstrdup(getenv("TMPDIR")) : NULL;
	int standard = dup(STDIN_FILENO);
	struct spool s;

	assert_non_null(mkdtemp(dir));
	for (int i = 0; i < 2; i++) {
		if (i)
			close(STDIN_FILENO); /* the file gets the number 0 */
		setenv("TMPDIR", dir, 1);
		check_spool(dir);
		setenv("TMPDIR", "", 1);
		check_spool("/var/tmp");
		unsetenv("TMPDIR");
		check_spool("/var/tmp");
	}
	dup2(standard, STDIN_FILENO);
	close(standard);
	assert_int_equal(rmdir(dir), 0); /* it is empty */
	setenv("TMPDIR", dir, 1);
	assert_int_equal(spool_open(&s, &err), -ENOENT);
	assert_non_null(strstr(err.text, dir));
	assert_non_null(strstr(err.text, "(set TMPDIR)"));
	if (old)
		setenv("TMPDIR", old, 1);
	else
		unsetenv("TMPDIR");
}

TEST(thread_ids_have_the_names_of_their_time)
{
	freed(intern_free) struct intern strings = {0};
	freed(sideband_free) struct sideband side = {.strings = &strings,
						     .kernel_build_id = UINT32_MAX};
	struct side_row rows[] = {
		{.kind = SIDE_COMM, .time = 0, .pid = 10, .tid = 10, .what = 0},
		{.kind = SIDE_FORK, .time = 100, .pid = 20, .tid = 20, .ppid = 10, .ptid = 10},
		{.kind = SIDE_COMM, .time = 150, .pid = 20, .tid = 20, .what = 1},
		{.kind = SIDE_FORK, .time = 200, .pid = 20, .tid = 20, .ppid = 10, .ptid = 10},
		{.kind = SIDE_COMM, .time = 300, .pid = 30, .tid = 30, .what = 1},
		{.kind = SIDE_COMM, .time = 400, .pid = 30, .tid = 30, .what = 0},
	};
	freed(tracepoint_threads_free) struct tracepoint_threads t;
	uint32_t first, second, early;

	intern_str(&strings, "parent");
	intern_str(&strings, "child");
	for (size_t i = 0; i < array_size(rows); i++) {
		rows[i].order = i;
		sideband_add_row(&side, &rows[i]);
	}
	sideband_finish(&side);
	side.n--; /* what lies behind the last row does not count */
	tracepoint_threads_init(&t, &side);
	tracepoint_threads_advance(&t, 120);
	first = tracepoint_threads_at(&t, 20);
	early = tracepoint_threads_at(&t, 30); /* found later, with the same result */
	tracepoint_threads_advance(&t, 200);
	second = tracepoint_threads_at(&t, 20);
	assert_int_not_equal(first, second);
	assert_string_equal(intern_get(&strings, t.list[first].name), "child");
	assert_string_equal(intern_get(&strings, t.list[second].name), "parent");
	assert_string_equal(intern_get(&strings, t.list[tracepoint_threads_at(&t, 0)].name),
			    "swapper");
	tracepoint_threads_advance(&t, 1000);
	assert_int_equal(tracepoint_threads_at(&t, 30), early);
	assert_string_equal(intern_get(&strings, t.list[early].name), "child");
	assert_int_equal(t.list[tracepoint_threads_at(&t, 77)].name, UINT32_MAX);
}

enum {
	RECORDED = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
		   PERF_SAMPLE_RAW,
	ENTER = 5, /* ids of the events */
	EXIT = 6,
	DUMMY = 7,
};

static void w_formats(struct writer *w)
{
	freed(writer_free) struct writer data = {.big = w->big};

	w_tracing(&data, "0.6");
	w_tracing_record(w, &data.out);
}

static void w_event_sample(struct writer *w, uint64_t id, uint64_t time, uint32_t tid, uint32_t cpu,
			   uint64_t value)
{
	size_t at = w_begin(w, PERF_RECORD_SAMPLE, 0);

	w64(w, id);
	w32(w, tid);
	w32(w, tid);
	w64(w, time);
	w32(w, cpu);
	w32(w, 0);
	w32(w, 68);
	w64(w, 0);
	for (size_t i = 0; i < 7; i++)
		w64(w, value + i);
	w32(w, 0);
	w_end(w, at);
}

static const struct w_event enter_event = {
	.sample_type = RECORDED, .type = PERF_TYPE_TRACEPOINT, .config = 31, .id = ENTER};
static const struct time_slice all = {0};

/* Three rounds on two CPUs. The call of thread 20 at 130 is in the file twice. */
static void w_calls(struct writer *w, uint64_t type)
{
	const struct w_event events[] = {
		{.sample_type = type, .type = PERF_TYPE_TRACEPOINT, .config = 31, .id = ENTER},
		{.sample_type = type, .type = PERF_TYPE_TRACEPOINT, .config = 30, .id = EXIT},
		{.sample_type = type, .config = PERF_COUNT_SW_DUMMY, .id = DUMMY},
	};

	w_stream_head(w, events, array_size(events));
	w_formats(w);
	w_comm(w, 0, 10, 10, false, "parent");
	w_event_sample(w, ENTER, 100, 10, 0, 1000);
	w_event_sample(w, ENTER, 130, 20, 0, 1001);
	w_event_sample(w, ENTER, 130, 20, 0, 1001);
	w_event_sample(w, ENTER, 130, 20, 1, 1001);
	w_event_sample(w, ENTER, 130, 20, 1, 1002);
	w_event_sample(w, DUMMY, 131, 20, 1, 1002);
	w_event_sample(w, EXIT, 110, 10, 1, 2000);
	w_end(w, w_begin(w, 68, 0));
	w_event_sample(w, EXIT, 140, 30, 0, 2001);
	w_end(w, w_begin(w, 68, 0));
	w_end(w, w_begin(w, 68, 0));
	w_event_sample(w, EXIT, 90, 10, 0, 2002);
	w_event_sample(w, 999, 150, 10, 0, 2003);
}

struct delivered {
	struct tracepoints *tp;
	struct str text;
};

static void note_delivered(void *ctx, const struct tracepoint *t, uint32_t thread)
{
	struct delivered *d = ctx;

	str_printf(&d->text, "%llu %s.%u/%u: %s(%lld, %lld)\n", (unsigned long long)t->time,
		   tracepoints_comm(d->tp, thread), tracepoints_thread(d->tp, thread)->pid, t->cpu,
		   t->want ? "second" : "first", (long long)t->v[0], (long long)t->v[1]);
}

static size_t lines_in(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* Opens and reads. Returns the first result that is not 0. The caller closes d->tp. */
static int read_calls(const struct writer *w, const struct time_slice *slice,
		      const struct tracepoint_want *wants, size_t n, struct delivered *d,
		      struct error *err)
{
	int fd = memfd_create("calls", MFD_CLOEXEC), ret;
	struct tracepoints_query q = {wants, n, note_delivered, d};
	autofree char *path = xasprintf("/proc/self/fd/%d", fd);

	*d = (struct delivered){0};
	assert_int_equal(write(fd, w->out.buf, w->out.len), w->out.len);
	ret = tracepoints_open(&d->tp, path, slice, err);
	if (!ret)
		ret = tracepoints_read(d->tp, &q, err);
	close(fd);
	return ret;
}

static const struct tracepoint_want enters = {"raw_syscalls", "sys_enter", {"id"}};
static const struct tracepoint_want exits = {"raw_syscalls", "sys_exit", {"id", "ret"}};

TEST(calls_are_delivered_in_order_and_once)
{
	const struct tracepoint_want wants[] = {enters, exits};
	struct delivered d;
	size_t len;

	for (int big = 0; big < 2; big++) {
		freed(writer_free) struct writer w = {.big = big};

		w_calls(&w, RECORDED);
		assert_int_equal(read_calls(&w, &all, wants, 2, &d, NULL), 0);
		assert_string_equal(d.text.buf, "100 parent.10/0: first(1000, 0)\n"
						"110 parent.10/1: second(2000, 2001)\n"
						"130 :20.20/0: first(1001, 0)\n"
						"130 :20.20/1: first(1001, 0)\n"
						"130 :20.20/1: first(1002, 0)\n"
						"90 parent.10/0: second(2002, 2003)\n"
						"140 :30.30/0: second(2001, 2002)\n");
		assert_true(tracepoints_has(d.tp, "raw_syscalls", "sys_enter"));
		assert_true(tracepoints_has(d.tp, "raw_syscalls", "sys_exit"));
		assert_false(tracepoints_has(d.tp, "sched", "sys_exit"));
		assert_memory_equal(
			tracepoints_print_format(d.tp, "raw_syscalls", "sys_exit", &len),
			" \"NR %ld = ", 11);
		assert_null(tracepoints_print_format(d.tp, "raw_syscalls", "nothing", &len));
		tracepoints_close(d.tp);
		str_free(&d.text);
	}
}

/* A sample of ENTER at 130 ns whose raw data has `len` bytes, and the first value. */
static void w_short_sample(struct writer *w, uint32_t pid, uint32_t tid, uint32_t cpu,
			   uint64_t value, uint32_t len)
{
	size_t at = w_begin(w, PERF_RECORD_SAMPLE, 0);

	w64(w, ENTER);
	w32(w, pid);
	w32(w, tid);
	w64(w, 130);
	w32(w, cpu);
	w32(w, 0);
	w32(w, len);
	w64(w, 0);
	w64(w, value);
	for (size_t i = 16; i + 4 < len; i += 8)
		w64(w, 0);
	w32(w, 0);
	w_end(w, at);
}

/* At one time only a sample that is equal in everything is left out. */
TEST(calls_that_differ_are_no_doubles)
{
	freed(writer_free) struct writer w = {0};
	struct notes notes = {0};
	struct delivered d;

	w_stream_head(&w, &enter_event, 1);
	w_formats(&w);
	w_short_sample(&w, 1, 2, 3, 4, 20);
	w_short_sample(&w, 9, 2, 3, 4, 20);
	w_short_sample(&w, 1, 9, 3, 4, 20);
	w_short_sample(&w, 1, 2, 9, 4, 20);
	w_short_sample(&w, 1, 2, 3, 9, 20);
	w_short_sample(&w, 1, 2, 3, 4, 20); /* the first again */
	w_short_sample(&w, 1, 2, 3, 9, 20);
	assert_int_equal(read_calls(&w, &all, &enters, 1, &d, NULL), 0);
	assert_int_equal(lines_in(d.text.buf), 5);
	tracepoints_add_notes(d.tp, &notes);
	assert_int_equal(notes.n, 0);
	tracepoints_close(d.tp);
	str_free(&d.text);
}

/* The samples before and behind a damaged one count. */
TEST(health_of_calls_is_noted)
{
	struct writer w = {0};
	struct notes notes = {0};
	struct delivered d;
	int damage; /* bits: lost records, lost samples, a short sample, a late one */

	for (damage = 0; damage < 16; damage++) {
		size_t n = 0;

		w_stream_head(&w, &enter_event, 1);
		w_formats(&w);
		w_short_sample(&w, 1, 1, 0, 4, 20);
		if (damage & 1)
			w_lost(&w, PERF_RECORD_LOST, 7);
		if (damage & 2)
			w_lost(&w, PERF_RECORD_LOST_SAMPLES, 5);
		if (damage & 4)
			w_short_sample(&w, 2, 2, 0, 4, 12);
		w_end(&w, w_begin(&w, 68, 0));
		w_short_sample(&w, 3, 3, 0, 4, 20);
		w_end(&w, w_begin(&w, 68, 0));
		if (damage & 8)
			w_event_sample(&w, ENTER, 100, 4, 0, 1);
		assert_int_equal(read_calls(&w, &all, &enters, 1, &d, NULL), 0);
		assert_non_null(strstr(d.text.buf, "130 :1.1/"));
		assert_null(strstr(d.text.buf, ":2.2/"));
		assert_non_null(strstr(d.text.buf, "130 :3.3/"));
		tracepoints_add_notes(d.tp, &notes);
		if (damage & 3) {
			assert_true(note_is(&notes.note[n], (damage & 3) == 3 ? NOTE_perf_lost
							    : damage & 1 ? NOTE_perf_lost_records
									 : NOTE_perf_lost_samples));
			assert_float_equal(notes.note[n].value[0].number, damage & 1 ? 7 : 5, 0);
			if ((damage & 3) == 3)
				assert_float_equal(notes.note[n].value[1].number, 5, 0);
			n++;
		}
		if (damage & 4) {
			assert_true(note_is(&notes.note[n], NOTE_perf_truncated));
			assert_non_null(strstr(notes.note[n++].value[0].text,
					       "a tracepoint shorter than its format at offset"));
		}
		if (damage & 8) {
			assert_true(note_is(&notes.note[n], NOTE_tracepoints_late));
			assert_float_equal(notes.note[n++].value[0].number, 1, 0);
		}
		assert_int_equal(notes.n, n);
		notes_free(&notes);
		notes = (struct notes){0};
		tracepoints_close(d.tp);
		str_free(&d.text);
		str_free(&w.out);
	}
}

/* Each thread of perf record ends its own rounds. */
TEST(files_of_a_folder_share_no_rounds)
{
	char dir[] = "/tmp/zcost-threads-XXXXXX";
	freed(writer_free) struct writer first = {0}, second = {0};
	struct delivered d = {0};
	struct tracepoints_query q = {&enters, 1, note_delivered, &d};
	autofree char *data, *other;

	assert_non_null(mkdtemp(dir));
	data = xasprintf("%s/data", dir);
	other = xasprintf("%s/data.0", dir);
	w_stream_head(&first, &enter_event, 1);
	w_formats(&first);
	w_event_sample(&first, ENTER, 100, 1, 0, 1);
	for (int i = 0; i < 2; i++) {
		w_event_sample(&first, ENTER, 200 + (uint64_t)i, 1, 0, 1);
		w_end(&first, w_begin(&first, 68, 0));
	}
	w_event_sample(&second, ENTER, 50, 2, 0, 1);
	w_event_sample(&second, ENTER, 150, 2, 0, 1);
	assert_int_equal(file_write(data, first.out.buf, first.out.len, NULL), 0);
	assert_int_equal(file_write(other, second.out.buf, second.out.len, NULL), 0);
	assert_int_equal(tracepoints_open(&d.tp, dir, &all, NULL), 0);
	assert_int_equal(tracepoints_read(d.tp, &q, NULL), 0);
	assert_string_equal(d.text.buf, "50 :2.2/0: first(1, 0)\n"
					"100 :1.1/0: first(1, 0)\n"
					"150 :2.2/0: first(1, 0)\n"
					"200 :1.1/0: first(1, 0)\n"
					"201 :1.1/0: first(1, 0)\n");
	tracepoints_close(d.tp);
	unlink(data);
	unlink(other);
	rmdir(dir);
	str_free(&d.text);
}

TEST(calls_outside_the_slice_are_left_out)
{
	static const struct {
		struct time_slice slice;
		const char *first;
		size_t lines;
	} cases[] = {
		{{{110, true, false}, {130, true, false}}, "110 ", 1},
		{{{20, true, true}, {0}}, "110 ", 5}, /* 20 ns after the first sample, at 90 */
		{{{0}, {100, true, false}}, "90 ", 1},
		{{{0}, {50, true, true}}, "90 ", 6},
	};
	const struct tracepoint_want wants[] = {enters, exits};
	freed(writer_free) struct writer w = {0};
	struct delivered d;

	w_calls(&w, RECORDED);
	each (c, cases) {
		assert_int_equal(read_calls(&w, &c->slice, wants, 2, &d, &err), 0);
		assert_ptr_equal(strstr(d.text.buf, c->first), d.text.buf);
		assert_int_equal(lines_in(d.text.buf), c->lines);
		tracepoints_close(d.tp);
		str_free(&d.text);
	}
}

static void check_refusal(const struct writer *w, const struct time_slice *slice,
			  const struct tracepoint_want *want, const char *expected)
{
	struct error err = {0};
	struct delivered d;

	assert_true(read_calls(w, slice, want, 1, &d, &err) < 0);
	assert_non_null(strstr(err.text, expected));
	tracepoints_close(d.tp);
	str_free(&d.text);
}

TEST(messages_name_what_a_recording_of_calls_lacks)
{
	static const struct tracepoint_want other = {"raw_syscalls", "sys_exit", {"ret", "fd"}};
	static const struct time_slice later = {.from = {150, true, false}},
				       earlier = {.to = {90, true, false}};
	freed(writer_free) struct writer w = {0}, bare = {0}, cpus = {0};

	w_calls(&w, RECORDED);
	check_refusal(&w, &all, &other, "the format of raw_syscalls:sys_exit has no number 'fd'");
	check_refusal(&w, &later, &enters,
		      "its samples are from 0.000000 to 0.000000 s (+0.000000)");
	check_refusal(&w, &earlier, &enters, "no sample between --from and --to");
	w_stream_head(&bare, &enter_event, 1);
	check_refusal(&bare, &all, &enters, "formats (the stream's tracing data); record again");
	check_refusal(&bare, &later, &enters, "has tracepoints but not their formats");
	w_calls(&cpus, RECORDED & ~PERF_SAMPLE_RAW);
	check_refusal(&cpus, &all, &enters, "recorded without times, threads or raw data");
}
