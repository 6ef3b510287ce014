// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks that stretches of samples are found from guessed offsets. Bytes of a sample that look
 * like records cannot be told from records, but they must not change the result. Neither must
 * damage behind a guess.
 */
#include "analyze/perfdata/format.h"
#include "analyze/perfdata/scan.h"
#include "tests/unit/perfdata_stream.h"
#include "tests/unit/unit.h"

enum { SAMPLE_MAX = 65528, FIXED = 64, THREADS = 4 };

/*
 * Writes a sample of the largest size. All of its chain looks like headers of samples of `size`
 * bytes.
 */
static void imitation(struct writer *w, uint64_t time, uint16_t size)
{
	size_t at = w_begin(w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER), i;
	struct writer head = {.big = w->big};

	w_end(&head, w_begin(&head, PERF_RECORD_SAMPLE, 0));
	w_patch16(&head, 6, size);
	w64(w, W_EVENT_ID);
	w64(w, 0x1000);
	w32(w, 1);
	w32(w, 1);
	w64(w, time);
	w64(w, 0);
	w64(w, 1);
	w64(w, (SAMPLE_MAX - FIXED) / 8);
	for (i = 0; i < (SAMPLE_MAX - FIXED) / 8; i++)
		w_bytes(w, head.out.buf, 8);
	w_end(w, at);
	assert_int_equal(w->out.len - at, SAMPLE_MAX);
	str_free(&head.out);
}

static void small_samples(struct writer *w, uint64_t time, size_t n)
{
	struct w_sample s = {.time = time, .period = 1, .pid = 1, .tid = 1, .chain = {0x1000}};

	s.mode = PERF_RECORD_MISC_USER;
	for (; n--; s.time++) {
		s.chain[1 + s.time % 13] = 0; /* chains of many sizes */
		w_sample(w, &s);
		s.chain[1 + s.time % 13] = 0x2000;
	}
}

/* --- what is found --- */

static size_t size_at(const struct writer *w, size_t at)
{
	const uint8_t *p = (const uint8_t *)w->out.buf + at + 6;

	return w->big ? (size_t)(p[0] << 8 | p[1]) : (size_t)(p[1] << 8 | p[0]);
}

struct found {
	size_t reached, bytes; /* stretches at true records */
	size_t astray;	       /* stretches elsewhere */
};

static struct found search(const struct writer *w, size_t nparts)
{
	struct stretch_source src = {.len = w->out.len, .swap = w->big};
	const struct stretch *next;
	struct found found = {0};
	struct stretches s;
	size_t at, i, n = 0;

	src.fd = memfd_create("records", MFD_CLOEXEC);
	assert_int_equal(write(src.fd, w->out.buf, w->out.len), (ssize_t)w->out.len);
	stretches_find(&s, &src, nparts);
	for (i = 0; i < nparts; i++) /* a part's stretches begin inside it */
		for (at = 0; at < s.parts[i].n; at++)
			assert_in_range(s.parts[i].list[at].at, w->out.len / nparts / 8 * 8 * i,
					i + 1 < nparts ? w->out.len / nparts / 8 * 8 * (i + 1) - 1
						       : w->out.len);
	for (at = 0; at < w->out.len; at += size_at(w, at)) {
		next = stretches_from(&s, at);
		if (!next || next->at != at)
			continue;
		found.reached++;
		found.bytes += next->len;
	}
	for (i = 0; i < s.nparts; i++)
		n += s.parts[i].n;
	found.astray = n - found.reached;
	stretches_free(&s);
	close(src.fd);
	return found;
}

TEST(stretches_start_at_records)
{
	size_t nparts, i;
	int big;

	for (big = 0; big < 2; big++) {
		struct writer w = {.big = big};
		struct found found;

		for (i = 0; i < 20; i++) {
			small_samples(&w, i * 1000, 600);
			w_comm(&w, i * 1000 + 999, 1, 1, false, "name");
			w_task(&w, PERF_RECORD_EXIT, i * 1000 + 999, 2, 1, 2, 1);
		}
		for (nparts = 1; nparts < 7; nparts++) {
			found = search(&w, nparts);
			assert_int_equal(found.astray, 0);
			assert_true(found.bytes > w.out.len * 9 / 10);
		}
		str_free(&w.out);
	}
}

TEST(imitations_start_stretches_too)
{
	struct writer w = {0};
	struct found found;
	size_t i;

	for (i = 0; i < 151; i++) /* the second half begins inside a sample */
		imitation(&w, i, SAMPLE_MAX);
	found = search(&w, 2);
	assert_true(found.reached > 30 && found.astray > 30);
	str_free(&w.out);
}

/* --- what is read --- */

static void read_on(struct profile *p, const struct str *file, unsigned int threads)
{
	struct perfdata_options o = {.threads = threads};

	assert_int_equal(w_read(p, file, &o, NULL), 0);
}

/* Any number of threads gives the same rows and the same health. */
static void check_same(const struct str *file, uint64_t samples)
{
	struct profile one, more;
	unsigned int threads;

	read_on(&one, file, 1);
	assert_int_equal(one.events[0].samples, samples);
	for (threads = 2; threads <= THREADS; threads++) {
		read_on(&more, file, threads);
		assert_int_equal(more.events[0].samples, samples);
		assert_int_equal(more.events[0].weight, samples);
		assert_int_equal(more.ncosts, one.ncosts);
		assert_memory_equal(more.costs, one.costs, one.ncosts * sizeof(*one.costs));
		assert_int_equal(more.health.truncated, one.health.truncated);
		assert_int_equal(more.health.unknown_records, one.health.unknown_records);
		if (one.health.truncated) /* behind the file's name, which differs */
			assert_string_equal(strchr(more.health.why, ':'),
					    strchr(one.health.why, ':'));
		profile_free(&more);
	}
	profile_free(&one);
}

enum { SAMPLES = 280 };

/* Writes 18 MB with renames in between. */
static void imitations(struct writer *w, bool big, uint16_t size)
{
	struct writer records = {.big = big};
	char name[16];
	size_t i;

	for (i = 0; i < SAMPLES; i++) {
		snprintf(name, sizeof(name), "name%zu", i / 20);
		if (i % 20 == 0)
			w_comm(&records, i * 10, 1, 1, false, name);
		imitation(&records, i * 10 + 5, size);
	}
	w->big = big;
	w_pipe(w, &records.out);
	str_free(&records.out);
}

TEST(imitations_do_not_change_the_profile)
{
	static const uint16_t sizes[] = {8, 16, 24, 40, 4096, 65520, SAMPLE_MAX};
	size_t i;

	for (i = 0; i < 2 * array_size(sizes); i++) {
		struct writer w = {0};

		imitations(&w, i & 1, sizes[i / 2]);
		check_same(&w.out, SAMPLES);
		str_free(&w.out);
	}
}

TEST(renames_do_not_depend_on_stretches)
{
	struct writer w = {0};
	struct profile p;
	size_t i;

	imitations(&w, false, SAMPLE_MAX);
	read_on(&p, &w.out, 2);
	assert_int_equal(p.ncosts, SAMPLES / 20);
	for (i = 0; i < p.ncosts; i++)
		assert_int_equal(p.costs[i].weight, 20);
	profile_free(&p);
	str_free(&w.out);
}

/* Cuts the last sample but 10, or gives the record there a size of 0. */
TEST(damage_does_not_depend_on_stretches)
{
	struct writer w = {0};
	size_t cut, len;

	imitations(&w, false, SAMPLE_MAX);
	cut = w.out.len - 10 * (size_t)SAMPLE_MAX;
	len = w.out.len;
	w.out.len = cut + 30000;
	check_same(&w.out, SAMPLES - 10);
	w.out.len = len;
	memset(w.out.buf + cut + 6, 0, 2);
	check_same(&w.out, SAMPLES - 10);
	str_free(&w.out);
}
