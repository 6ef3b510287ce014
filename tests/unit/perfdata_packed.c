// SPDX-License-Identifier: GPL-2.0-only
/* Checks packed records of perf 6.16, in which records and pieces straddle each other. */
#include "tests/unit/perfdata_stream.h"
#include "tests/unit/unit.h"

/* Writes samples that compress badly. */
static void noise(struct writer *w, size_t n)
{
	uint64_t seed = 7;
	size_t i, k;

	for (i = 0; i < n; i++) {
		struct w_sample s = w_user_sample(i + 1, 1, 0x1000);

		for (k = 1; k < 15; k++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			s.chain[k] = seed >> 1;
		}
		w_sample(w, &s);
	}
}

enum data_size { RIGHT, ZERO, TOO_LARGE };

/*
 * Writes what zstd_compress_stream_to_records and record__pushfn of perf 6.16 write: pieces of up
 * to 65519 bytes, each in a record. Then the first header covers all pieces, with a size of 16
 * bits.
 */
static void push_packed(struct writer *w, ZSTD_CStream *z, const char *data, size_t len,
			enum data_size wrong, bool last)
{
	static char buf[65519];
	ZSTD_inBuffer in = {data, len, 0};
	struct writer head = {.big = w->big};
	size_t start = w->out.len, at, total, kept = 0;

	while (in.pos < in.size || (last && kept)) { /* perf forgets kept bytes */
		ZSTD_outBuffer out = {buf, sizeof(buf), 0};

		ZSTD_compressStream(z, &out, &in);
		kept = ZSTD_flushStream(z, &out);
		at = w_begin(w, 83, 0xabcd);
		w64(w, 0x5555555555555555); /* arbitrary old contents */
		w_bytes(w, buf, out.pos);
		w_end(w, at);
	}
	total = w->out.len - start;
	w64(&head, wrong == ZERO ? 0 : wrong == TOO_LARGE ? total + 1000 : total - 16);
	memcpy(w->out.buf + start + 8, head.out.buf, 8);
	w_patch16(w, start + 6, (uint16_t)((total + 7) & ~7UL));
	if (total <= 65528)
		w_bytes(w, "\0\0\0\0\0\0\0", -total & 7);
	str_free(&head.out);
}

static void check_packed(size_t push, enum data_size wrong, bool big)
{
	struct writer records = {.big = big}, packed = {.big = big};
	ZSTD_CStream *z = ZSTD_createCStream();
	struct error err = {0};
	struct profile p;
	size_t at, len;

	noise(&records, 4000);
	ZSTD_initCStream(z, 1);
	for (at = 0; at < records.out.len; at += len) {
		len = records.out.len - at < push ? records.out.len - at : push;
		push_packed(&packed, z, records.out.buf + at, len, wrong,
			    at + len == records.out.len);
		if (at == 0) /* samples of another CPU behind a wrapped record */
			w_add_sample(&packed, 1000, 3, 9, 0x2000);
	}
	ZSTD_freeCStream(z);
	str_free(&records.out);
	assert_int_equal(w_read_records(&p, &packed, &err), 0);
	if (p.health.truncated)
		print_message("# push %zu wrong %d: %s\n", push, wrong, p.health.why);
	assert_false(p.health.truncated);
	assert_int_equal(p.events[0].samples, 4001);
	assert_int_equal(p.events[0].weight, 5000);
	profile_free(&p);
}

TEST(packed_records_of_perf_6_16_are_read)
{
	size_t push;
	int big;

	for (big = 0; big < 2; big++) {
		check_packed(1000, RIGHT, big);
		check_packed(30001, RIGHT, big);
		check_packed(30001, ZERO, big);
		check_packed(30001, TOO_LARGE, big);
		check_packed(120000, RIGHT, big); /* the output is full: its size wraps to 0 */
		check_packed(524288, RIGHT, big); /* several pieces in one record */
		for (push = 74000; push < 76000; push += 97) /* around 64 KiB */
			check_packed(push, RIGHT, big);
	}
}

/* The file ends inside a wrapped record. The samples before it count. */
TEST(samples_before_a_cut_packed_record_count)
{
	struct writer records = {0}, packed = {0};
	ZSTD_CStream *z = ZSTD_createCStream();
	struct profile p;

	noise(&records, 3000);
	ZSTD_initCStream(z, 1);
	w_add_sample(&packed, 5, 1, 1, 0x1000);
	push_packed(&packed, z, records.out.buf, records.out.len, RIGHT, true);
	ZSTD_freeCStream(z);
	packed.out.len -= 100;
	assert_int_equal(w_read_records(&p, &packed, NULL), 0);
	assert_true(p.health.truncated);
	assert_non_null(strstr(p.health.why, "at offset"));
	assert_true(p.events[0].weight >= 5);
	profile_free(&p);
	str_free(&records.out);
}
