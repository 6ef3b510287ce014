// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks samples field by field: every bit of sample_type alone, all bits together and
 * pseudo-random sets, in both byte orders. Samples are written as perf_event.h describes
 * PERF_RECORD_SAMPLE, read back, and cut at every byte. Then checks counter values, ids and
 * periods.
 */
#include "analyze/model/notes.h"
#include "analyze/perfdata/format.h"
#include "tests/unit/perfdata_stream.h"
#include "tests/unit/unit.h"

/* Some kernel headers lack these. */
enum {
	B_HW_INDEX = 1 << 17,
	B_COUNTERS = 1 << 19,
};
enum { NCHAIN = 3, NBRANCH = 2, STACK = 24, DYN_STACK = 16, RAW = 12 };
#define REGS_USER 0xffULL /* eight registers */
/* The fields up to the user stack. Nothing reads what follows it. */
#define FIELDS                                                                             \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |    \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |     \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | \
	 PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

static void words(struct writer *w, uint64_t first, int n)
{
	while (n-- > 0)
		w64(w, first++);
}

static void write_branches(struct writer *w, uint64_t branch_type)
{
	w64(w, NBRANCH);
	if (branch_type & B_HW_INDEX)
		w64(w, 0x9000);
	words(w, 0x9100, 3 * NBRANCH);
	if (branch_type & B_COUNTERS)
		words(w, 0x9200, NBRANCH);
}

static void write_head(struct writer *w, uint64_t type)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		w64(w, 0x100);
	if (type & PERF_SAMPLE_IP)
		w64(w, 0x200);
	if (type & PERF_SAMPLE_TID) {
		w32(w, 0x300);
		w32(w, 0x301);
	}
	if (type & PERF_SAMPLE_TIME)
		w64(w, 0x400);
	if (type & PERF_SAMPLE_ADDR)
		w64(w, 0x500);
	if (type & PERF_SAMPLE_ID)
		w64(w, 0x100);
	if (type & PERF_SAMPLE_STREAM_ID)
		w64(w, 0x600);
	if (type & PERF_SAMPLE_CPU) {
		w32(w, 0x700);
		w32(w, 0xdead);
	}
	if (type & PERF_SAMPLE_PERIOD)
		w64(w, 0x800);
	if (type & PERF_SAMPLE_READ)
		words(w, 0xa00, 2); /* { value, id } */
	if (type & PERF_SAMPLE_CALLCHAIN) {
		w64(w, NCHAIN);
		words(w, 0xb00, NCHAIN);
	}
}

static void write_user_state(struct writer *w, uint64_t type)
{
	static const char bytes[STACK] = "stack";

	if (type & PERF_SAMPLE_REGS_USER) {
		w64(w, 2);
		words(w, 0xc00, 8);
	}
	if (type & PERF_SAMPLE_STACK_USER) {
		w64(w, STACK);
		w_bytes(w, bytes, STACK);
		w64(w, DYN_STACK);
	}
}

static void write_tail(struct writer *w, uint64_t type, uint64_t branch_type)
{
	if (type & PERF_SAMPLE_RAW) {
		w32(w, RAW);
		w_bytes(w, "raw bytes..", RAW);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		write_branches(w, branch_type);
	write_user_state(w, type);
}

static void check_head(const struct sample *s, uint64_t type, const struct writer *w)
{
	uint64_t first;

	assert_int_equal(s->id, type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID) ? 0x100 : 0);
	assert_int_equal(s->ip, type & PERF_SAMPLE_IP ? 0x200 : 0);
	assert_int_equal(s->pid, type & PERF_SAMPLE_TID ? 0x300 : UINT32_MAX);
	assert_int_equal(s->tid, type & PERF_SAMPLE_TID ? 0x301 : UINT32_MAX);
	assert_int_equal(s->time, type & PERF_SAMPLE_TIME ? 0x400 : 0);
	assert_int_equal(s->cpu, type & PERF_SAMPLE_CPU ? 0x700 : UINT32_MAX);
	assert_int_equal(s->period, type & PERF_SAMPLE_PERIOD ? 0x800 : 1000);
	assert_int_equal(s->nr, type & PERF_SAMPLE_CALLCHAIN ? NCHAIN : 0);
	if (!s->nr)
		return;
	memcpy(&first, s->chain, sizeof(first));
	assert_int_equal(w->big ? __builtin_bswap64(first) : first, 0xb00);
}

static void check_rest(struct sample_rest *r, uint64_t type)
{
	assert_int_equal(r->raw_size, type & PERF_SAMPLE_RAW ? RAW : 0);
	if (type & PERF_SAMPLE_RAW)
		assert_memory_equal(r->raw, "raw bytes..", RAW);
	assert_int_equal(r->nbranches, type & PERF_SAMPLE_BRANCH_STACK ? NBRANCH : 0);
	assert_int_equal(r->user_abi, type & PERF_SAMPLE_REGS_USER ? 2 : 0);
	if (type & PERF_SAMPLE_REGS_USER) {
		assert_int_equal(cursor_left(&r->user_regs), 64);
		assert_int_equal(cursor_u64(&r->user_regs), 0xc00);
	}
	assert_int_equal(r->stack_size, type & PERF_SAMPLE_STACK_USER ? DYN_STACK : 0);
	if (type & PERF_SAMPLE_STACK_USER)
		assert_string_equal((const char *)r->stack, "stack");
}

/* In memory of exactly that length, so that a sanitizer sees a byte too many. */
static bool decode(const struct event *e, const struct str *bytes, size_t len, bool swap,
		   struct sample *s, struct sample_rest *rest, uint8_t **copy)
{
	struct cursor c;
	bool ok;

	*copy = malloc(len ? len : 1);
	assert_non_null(*copy);
	memcpy(*copy, bytes->buf ? bytes->buf : "", len);
	c = cursor_of(*copy, len, swap);
	ok = sample_decode(s, e, &c) && sample_decode_rest(rest, e, &c);
	return ok && !cursor_left(&c);
}

static void check_type(uint64_t type, uint64_t branch_type, bool big)
{
	struct event e = {.sample_type = type,
			  .sample_period = 1000,
			  .read_format = PERF_FORMAT_ID,
			  .branch_sample_type = branch_type,
			  .regs_user = REGS_USER};
	freed(writer_free) struct writer w = {.big = big};
	struct sample_rest rest;
	struct sample s;
	uint8_t *copy;

	write_head(&w, type);
	write_tail(&w, type, branch_type);
	assert_true(decode(&e, &w.out, w.out.len, big, &s, &rest, &copy));
	check_head(&s, type, &w);
	check_rest(&rest, type);
	free(copy);
	for (size_t len = 0; len < w.out.len; len++) {
		assert_false(decode(&e, &w.out, len, big, &s, &rest, &copy));
		free(copy);
	}
}

TEST(every_sample_field_is_read)
{
	static const uint64_t branch_types[] = {0, B_HW_INDEX, B_COUNTERS, B_HW_INDEX | B_COUNTERS};
	uint64_t all = FIELDS, seed = 42;

	for (int big = 0; big < 2; big++) {
		for (int i = 0; i < 64; i++) {
			check_type(1ULL << i & all, 0, big);
			check_type(all & ~(1ULL << i), 0, big);
		}
		for (int b = 0; b < 4; b++) {
			check_type(all, branch_types[b], big);
			check_type(PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_STACK_USER,
				   branch_types[b], big);
		}
		for (int i = 0; i < 500; i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			check_type(seed >> 20 & all, branch_types[seed >> 60 & 3], big);
		}
	}
}

/* Lengths exceed the record: of a chain, of branches, raw bytes, stacks and values. */
TEST(impossible_lengths_are_refused)
{
	static const uint64_t types[] = {PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_RAW,
					 PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_STACK_USER,
					 PERF_SAMPLE_READ};
	static const uint64_t lengths[] = {3,	       1 << 16,	       1ULL << 32,     1ULL << 61,
					   1ULL << 63, UINT64_MAX / 8, UINT64_MAX - 7, UINT64_MAX};
	struct sample_rest rest;
	struct sample s;
	uint8_t *copy;

	each (c, types)
		each (r, lengths) {
			struct event e = {.sample_type = *c,
					  .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID};
			freed(writer_free) struct writer w = {0};

			w64(&w, *r);
			w_bytes(&w, "ab", 2);
			assert_false(decode(&e, &w.out, w.out.len, false, &s, &rest, &copy));
			free(copy);
		}
}

/* An empty stack has no dynamic size. Registers of ABI 0 are absent. */
TEST(sample_without_user_registers_and_stack_is_read)
{
	struct event e = {.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
			  .regs_user = REGS_USER};
	struct sample_rest rest;
	freed(writer_free) struct writer w = {0};
	struct sample s;
	uint8_t *copy;

	w64(&w, 0); /* user registers' ABI */
	w64(&w, 0); /* stack size */
	assert_true(decode(&e, &w.out, w.out.len, false, &s, &rest, &copy));
	assert_int_equal(rest.stack_size, 0);
	free(copy);
}

TEST(time_is_found_in_every_trailer)
{
	static const uint64_t behind[] = {PERF_SAMPLE_TID, PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID,
					  PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER};
	freed(events_free) struct events ev = {0};
	struct event e = {.sample_id_all = true};
	uint64_t time;

	events_add(&ev, &e);
	for (int set = 0; set < 64; set++) {
		freed(writer_free) struct writer w = {.big = set & 1};
		uint64_t type = PERF_SAMPLE_TIME;

		for (int i = 0; i < 5; i++)
			type |= set >> i & 1 ? behind[i] : 0;
		w64(&w, 1); /* the record's own */
		if (type & PERF_SAMPLE_TID)
			w64(&w, 2);
		w64(&w, 4711);
		for (int i = 1; i < 5; i++)
			if (type & behind[i])
				w64(&w, 9);
		ev.list[0].sample_type = type;
		assert_true(
			sample_trailer_time(&ev, cursor_of(w.out.buf, w.out.len, w.big), &time));
		assert_int_equal(time, 4711);
		assert_false(sample_trailer_time(&ev, cursor_of(w.out.buf, 7, w.big), &time));
	}
	ev.list[0].sample_type = PERF_SAMPLE_TIME;
	ev.list[0].sample_id_all = false;
	assert_false(sample_trailer_time(&ev, cursor_of("12345678", 8, false), &time));
}

enum { NO_USER = 1 << 4, NO_KERNEL = 1 << 5, NO_HV = 1 << 6, PRECISE = 1 << 15 };
enum { NO_HOST = 1 << 19, NO_GUEST = 1 << 20 };

/* The modifiers are those that perf shows. By default it excludes guests. */
TEST(events_have_the_modifiers_of_perf)
{
	static const struct {
		uint64_t flags;
		const char *modifier;
	} cases[] = {
		{NO_GUEST, ""},
		{0, ":HG"},
		{NO_HOST, ":G"},
		{NO_HOST | NO_GUEST, ""},
		{NO_KERNEL, ":uh"},
		{NO_KERNEL | NO_HV, ":u"},
		{NO_USER | NO_HV, ":k"},
		{NO_USER | NO_KERNEL, ":h"},
		{NO_HV, ":ku"},
		{NO_KERNEL | NO_HV | NO_GUEST, ":uH"},
		{PRECISE, ":p"},
		{2 * PRECISE, ":pp"},
		{3 * PRECISE | NO_USER, ":khppp"},
		{PRECISE | NO_GUEST, ":pH"},
		{PRECISE | NO_HOST | NO_GUEST, ":p"},
	};
	struct cursor c;
	struct event e;

	for (size_t i = 0; i < 2 * array_size(cases); i++) {
		struct w_event from = {.type = 7,
				       .config = 8,
				       .flags = cases[i / 2].flags,
				       .sample_type = 9,
				       .read_format = 10,
				       .branch_type = 11,
				       .regs_user = 12,
				       .stack_user = 14};
		freed(writer_free) struct writer w = {.big = i % 2};

		w_event_attr(&w, &from);
		c = cursor_of(w.out.buf, w.out.len, w.big);
		assert_true(event_parse(&e, &c, w.big));
		assert_int_equal(cursor_left(&c), 0);
		assert_string_equal(e.modifier, cases[i / 2].modifier);
		assert_int_equal(e.type, 7);
		assert_int_equal(e.config, 8);
		assert_int_equal(e.sample_period, 1000);
		assert_int_equal(e.sample_type, 9);
		assert_int_equal(e.read_format, 10);
		assert_int_equal(e.branch_sample_type, 11);
		assert_int_equal(e.regs_user, 12);
		assert_int_equal(e.stack_user, 14);
		assert_false(e.freq || e.inherit || e.sample_id_all);
	}
}

TEST(events_without_a_name_are_named_by_type_and_config)
{
	static const struct {
		uint32_t type;
		uint64_t config;
		const char *name;
	} cases[] = {
		{PERF_TYPE_HARDWARE, 0, "cycles:u"},
		{PERF_TYPE_HARDWARE, 9, "ref-cycles:u"},
		{PERF_TYPE_HARDWARE, 10, "event 0/0xa:u"},
		{PERF_TYPE_SOFTWARE, 1, "task-clock:u"},
		{PERF_TYPE_SOFTWARE, 11, "cgroup-switches:u"},
		{PERF_TYPE_SOFTWARE, 12, "event 1/0xc:u"},
		{PERF_TYPE_TRACEPOINT, 31, "tracepoint 31"},
		{PERF_TYPE_RAW, 0x1a2, "raw 0x1a2:u"},
		{9, 3, "event 9/0x3:u"},
	};
	freed(events_free) struct events ev = {0};

	each (c, cases) {
		struct event e = {.type = c->type, .config = c->config, .modifier = ":u"};

		events_add(&ev, &e);
	}
	event_set_name(&ev.list[1], "spoken", 5);
	events_name_rest(&ev);
	for (size_t i = 0; i < array_size(cases); i++)
		assert_string_equal(ev.list[i].name, i == 1 ? "spoke" : cases[i].name);
}

enum { BASE = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD };

static void plain_sample(struct writer *w, uint64_t type, uint64_t id, uint64_t time,
			 uint64_t period)
{
	size_t at = w_begin(w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

	if (type & PERF_SAMPLE_IDENTIFIER)
		w64(w, id);
	w64(w, 0x1000);
	w32(w, 1);
	w32(w, 1);
	w64(w, time);
	if (type & PERF_SAMPLE_ID)
		w64(w, id);
	w64(w, period);
	w_end(w, at);
}

/* The rows of an event add up to its samples and its weight. */
static void check_rows(const struct profile *p)
{
	uint64_t samples, weight;

	for (size_t i = 0; i < p->nevents; i++) {
		samples = weight = 0;
		for (size_t k = 0; k < p->ncosts; k++) {
			samples += p->costs[k].event == i ? p->costs[k].samples : 0;
			weight += p->costs[k].event == i ? p->costs[k].weight : 0;
		}
		assert_int_equal(p->events[i].samples, samples);
		assert_int_equal(p->events[i].weight, weight);
	}
}

/*
 * Finds events by IDENTIFIER or by the position of ID. Id 0 is the first event. Unknown ids are
 * counted.
 */
static void check_ids(uint64_t how, bool big)
{
	struct w_event events[2] = {{.sample_type = BASE | how, .id = 5},
				    {.sample_type = BASE | how, .id = 6, .config = 2}};
	freed(writer_free) struct writer w = {.big = big};
	freed(profile_free) struct profile p;

	w_stream_head(&w, events, 2);
	plain_sample(&w, how, 5, 1, 1);
	plain_sample(&w, how, 6, 2, 10);
	plain_sample(&w, how, 6, 3, 100);
	plain_sample(&w, how, 0, 4, 1000);
	plain_sample(&w, how, 7, 5, 10000);
	assert_int_equal(w_read(&p, &w.out, NULL, NULL), 0);
	assert_int_equal(p.events[0].weight, how ? 1001 : 11111);
	assert_int_equal(p.events[1].weight, how ? 110 : 0);
	assert_int_equal(p.health.unknown_ids, how ? 1 : 0);
	check_rows(&p);
}

TEST(id_finds_the_event)
{
	for (int big = 0; big < 2; big++) {
		check_ids(PERF_SAMPLE_IDENTIFIER, big);
		check_ids(PERF_SAMPLE_ID, big);
		check_ids(PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER, big);
		check_ids(0, big); /* without ids every sample belongs to the first event */
	}
}

TEST(single_event_needs_no_id)
{
	struct w_event one = {.sample_type = BASE | PERF_SAMPLE_IDENTIFIER, .id = 5};
	freed(writer_free) struct writer w = {0};
	freed(profile_free) struct profile p;

	w_stream_head(&w, &one, 1);
	plain_sample(&w, one.sample_type, 999, 1, 7);
	assert_int_equal(w_read(&p, &w.out, NULL, NULL), 0);
	assert_int_equal(p.events[0].weight, 7);
	assert_int_equal(p.health.unknown_ids, 0);
	check_rows(&p);
}

struct values {
	uint32_t tid;
	uint64_t time, value[2];
};

/* Writes { value } or { nr, { value }... } with the other fields of the read format. */
static void read_sample(struct writer *w, uint64_t format, const struct values *v)
{
	size_t at = w_begin(w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	int n = format & PERF_FORMAT_GROUP ? 2 : 1;

	w64(w, 5);
	w64(w, 0x1000);
	w32(w, 1);
	w32(w, v->tid);
	w64(w, v->time);
	w64(w, 1000000); /* the period, which does not count */
	if (format & PERF_FORMAT_GROUP)
		w64(w, 2);
	else
		w64(w, v->value[0]);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		w64(w, 0xaaaa);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		w64(w, 0xbbbb);
	for (int i = 0; i < n; i++) {
		if (format & PERF_FORMAT_GROUP)
			w64(w, v->value[i]);
		if (format & PERF_FORMAT_ID)
			w64(w, (uint64_t)(5 + i));
		if (format & W_FORMAT_LOST)
			w64(w, 0xcccc);
	}
	w_end(w, at);
}

static void read_stream(struct profile *p, uint64_t format, uint64_t flags, const struct values *v,
			size_t n, const struct perfdata_options *o)
{
	uint64_t type = BASE | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_READ;
	struct w_event events[2] = {
		{.sample_type = type, .id = 5, .read_format = format, .flags = flags},
		{.sample_type = type, .id = 6, .config = 2, .read_format = format, .flags = flags}};
	freed(writer_free) struct writer w = {0};

	w_stream_head(&w, events, 2);
	for (size_t i = 0; i < n; i++)
		read_sample(&w, format, &v[i]);
	assert_int_equal(w_read(p, &w.out, o, NULL), 0);
}

/* A sample counts what the counter gained, in every read format. A gain of 0 is no sample. */
TEST(counter_gains_are_weights_in_every_read_format)
{
	static const struct values v[] = {{1, 1, {100, 7}}, {1, 2, {150, 7}}, {1, 3, {175, 9}}};
	struct profile p;
	bool group;

	for (uint64_t format = 0; format < 32; format++) {
		group = format & PERF_FORMAT_GROUP;
		if (group && !(format & PERF_FORMAT_ID))
			continue; /* no id says which event the values belong to */
		read_stream(&p, format, 0, v, 3, NULL);
		assert_int_equal(p.events[0].weight, 175);
		assert_int_equal(p.events[0].samples, 3);
		assert_int_equal(p.events[1].weight, group ? 9 : 0);
		assert_int_equal(p.events[1].samples, group ? 2 : 0);
		assert_int_equal(p.health.unknown_ids, 0);
		check_rows(&p);
		profile_free(&p);
	}
}

/* A counter that goes backwards was reset. It gives no huge weight, and a counter reports it. */
TEST(counter_that_goes_backwards_is_reported)
{
	static const struct values v[] = {{1, 1, {100, 0}}, {1, 2, {40, 0}}, {1, 3, {60, 0}}};
	freed(profile_free) struct profile p;

	read_stream(&p, PERF_FORMAT_ID, 0, v, 3, NULL);
	assert_int_equal(p.events[0].weight, 120);
	assert_int_equal(p.events[0].samples, 2);
	assert_int_equal(p.health.backwards, 1);
	check_rows(&p);
}

/* Inherited counters (Linux 6.12) have one value per thread under one id. */
TEST(inherited_counters_gain_per_thread)
{
	static const struct values v[] = {
		{1, 1, {100, 0}}, {2, 2, {30, 0}}, {1, 3, {110, 0}}, {2, 4, {35, 0}}};
	freed(profile_free) struct profile p;

	read_stream(&p, PERF_FORMAT_ID, W_INHERIT, v, 4, NULL);
	assert_int_equal(p.events[0].weight, 110 + 35);
	assert_int_equal(p.health.backwards, 0);
	check_rows(&p);
}

/*
 * Samples outside the window do not count, and the first sample inside does not include their
 * gain.
 */
TEST(gains_outside_the_window_do_not_count)
{
	static const struct values v[] = {
		{1, 1, {1000, 50}}, {1, 2, {2000, 60}}, {1, 3, {2010, 61}}, {1, 9, {5000, 99}}};
	struct perfdata_options o = {.from_ns = 3, .to_ns = 9, .threads = 1};
	freed(profile_free) struct profile p;

	read_stream(&p, PERF_FORMAT_ID | PERF_FORMAT_GROUP | W_FORMAT_LOST, 0, v, 4, &o);
	assert_int_equal(p.events[0].weight, 10);
	assert_int_equal(p.events[1].weight, 1);
	assert_int_equal(p.health.outside_window, 3);
	check_rows(&p);
}

/* --- unequal periods --- */

/* One period of 20 times the usual makes 100 samples tell as much as 28 equal ones. */
TEST(unequal_periods_are_noted)
{
	static const uint64_t longest[] = {1000000, 10000000, 20000000};

	for (size_t i = 0; i < array_size(longest); i++) {
		struct w_event one = {.sample_type = BASE, .flags = W_FREQ};
		struct notes notes = {0};
		freed(writer_free) struct writer w = {0};
		freed(profile_free) struct profile p;

		w_stream_head(&w, &one, 1);
		for (size_t k = 0; k < 100; k++)
			plain_sample(&w, BASE, 0, 1 + k, k ? 1000000 : longest[i]);
		assert_int_equal(w_read(&p, &w.out, NULL, NULL), 0);
		profile_add_notes(&p, &notes);
		assert_int_equal(notes.n, i > 0);
		if (i)
			assert_int_equal(notes.note[0].severity,
					 i == 2 ? SEVERITY_WARNING : SEVERITY_INFO);
		if (i == 2)
			assert_float_equal(notes.note[0].value[2].number, 119e6 * 119e6 / 499e12,
					   1e-9);
		check_rows(&p);
		notes_free(&notes);
	}
}

/* Of two samples that are longer than their records, the message names the first. */
TEST(first_sample_longer_than_its_record_is_named)
{
	struct w_event one = {.sample_type = BASE, .type = PERF_TYPE_SOFTWARE, .config = 1};
	char where[40];
	freed(writer_free) struct writer w = {0};
	freed(profile_free) struct profile p;
	size_t at;

	w_stream_head(&w, &one, 1);
	at = w_begin(&w, 71, 0); /* AUXTRACE: 16 bytes follow */
	w64(&w, 16);
	w_end(&w, at);
	w64(&w, 0);
	w64(&w, 0);
	plain_sample(&w, BASE, 0, 1, 7);
	snprintf(where, sizeof(where), "at offset %zu;", w.out.len);
	for (size_t i = 0; i < 2; i++) {
		at = w_begin(&w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
		w64(&w, 0x1000);
		w_end(&w, at);
	}
	plain_sample(&w, BASE, 0, 2, 8);
	assert_int_equal(w_read(&p, &w.out, NULL, NULL), 0);
	assert_true(p.health.truncated);
	assert_non_null(strstr(p.health.why, where));
	assert_int_equal(p.events[0].weight, 15);
	assert_true(p.events[0].is_time); /* task-clock */
	assert_int_equal(p.first_ns, 1);
	assert_int_equal(p.last_ns, 2);
	check_rows(&p);
}
