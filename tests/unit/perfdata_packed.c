// SPDX-License-Identifier: GPL-2.0-only
/* Checks compressed records. */
#include "tests/unit/perfdata_stream.h"
#include "tests/unit/unit.h"

/* Writes samples that compress badly. */
static void noise(struct writer *w, size_t n)
{
	uint64_t seed = 7;

	for (size_t i = 0; i < n; i++) {
		struct w_sample s = w_user_sample(i + 1, 1, 0x1000);

		for (size_t k = 1; k < 15; k++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			s.chain[k] = seed >> 1;
		}
		w_sample(w, &s);
	}
}

enum data_size { RIGHT, ZERO, TOO_LARGE };

/* Writes a record of packed bytes as perf 6.16 does. */
static void push_packed(struct writer *w, ZSTD_CStream *z, const char *data, size_t len,
			enum data_size wrong)
{
	static char buf[65000];
	ZSTD_inBuffer in = {data, len, 0};
	ZSTD_outBuffer out = {buf, sizeof(buf), 0};
	size_t at = w_begin(w, 83, 0);

	ZSTD_compressStream(z, &out, &in);
	assert_int_equal(ZSTD_flushStream(z, &out), 0);
	w64(w, wrong == ZERO ? 0 : wrong == TOO_LARGE ? out.pos + 1000 : out.pos);
	w_bytes(w, buf, out.pos);
	w_bytes(w, "\0\0\0\0\0\0\0", -out.pos & 7);
	w_end(w, at);
}

static void check_packed(size_t push, enum data_size wrong, bool big)
{
	struct writer records = {.big = big}, packed = {.big = big};
	ZSTD_CStream *z = ZSTD_createCStream();
	freed(profile_free) struct profile p;
	size_t len;

	noise(&records, 4000);
	ZSTD_initCStream(z, 1);
	for (size_t at = 0; at < records.out.len; at += len) {
		len = records.out.len - at < push ? records.out.len - at : push;
		push_packed(&packed, z, records.out.buf + at, len, wrong);
		if (at == 0) /* samples of another CPU between packed records */
			w_add_sample(&packed, 1000, 3, 9, 0x2000);
	}
	ZSTD_freeCStream(z);
	str_free(&records.out);
	assert_int_equal(w_read_records(&p, &packed, NULL), 0);
	if (p.health.truncated)
		print_message("# push %zu wrong %d: %s\n", push, wrong, p.health.why);
	assert_false(p.health.truncated);
	assert_int_equal(p.events[0].samples, 4001);
	assert_int_equal(p.events[0].weight, 5000);
}

TEST(packed_records_of_perf_6_16_are_read)
{
	for (int big = 0; big < 2; big++) {
		check_packed(1000, RIGHT, big);
		check_packed(30001, RIGHT, big);
		check_packed(30001, ZERO, big);
		check_packed(30001, TOO_LARGE, big);
	}
}

/* Writes records that unpack to a thousand times their size, to 260 MB. */
TEST(packed_records_that_fill_the_disk_are_refused)
{
	enum { RECORD = 65528, EACH = 64, PUSHES = 65 };
	char *bytes = calloc(EACH, RECORD);
	struct writer packed = {0}, one = {0};
	ZSTD_CStream *z = ZSTD_createCStream();
	freed(profile_free) struct profile p;

	w_end(&one, w_begin(&one, 85, 0));
	w_patch16(&one, 6, RECORD);
	for (size_t i = 0; i < EACH; i++)
		memcpy(bytes + i * RECORD, one.out.buf, 8);
	setenv("TMPDIR", "/dev/shm", 1);
	for (size_t i = 0; i < PUSHES; i++)
		push_packed(&packed, z, bytes, EACH * RECORD, RIGHT);
	ZSTD_freeCStream(z);
	free(bytes);
	str_free(&one.out);
	assert_int_equal(w_read_records(&p, &packed, &err), -EFBIG);
	assert_non_null(strstr(err.text, "refused: unpacked, it takes more than 256 MiB"));
}
