// SPDX-License-Identifier: GPL-2.0-only
/* Cuts and changes the recording of perfdata_world.h at every byte, in every form of perf.data. */
#include "tests/unit/perfdata_world.h"
#include "tests/unit/unit.h"

/*
 * A file cut anywhere gives an error with a message, or a profile marked incomplete, and never
 * more samples than the whole file.
 */
static void check_damaged(const struct str *file, bool cut)
{
	struct error err = {0};
	freed(profile_free) struct profile p;
	int ret = w_read(&p, file, NULL, &err);

	if (ret)
		assert_true(err.code && *err.text);
	else if (cut)
		assert_true(p.health.truncated && strstr(p.health.why, "offset"));
	if (cut && p.nevents)
		assert_true(p.events[0].samples <= NSAMPLES - 1);
}

TEST(truncated_file_is_refused_or_incomplete)
{
	struct str file;
	size_t len;

	for (int bits = 0; bits < 8; bits += 2) {
		file = form(bits & 1, false, bits & 4, 112);
		len = file.len;
		for (file.len = 0; file.len < len; file.len++)
			check_damaged(&file, true);
		str_free(&file);
	}
}

/* Flips every byte in turn and many at random: no crash, no hang. */
TEST(flipped_bytes_do_not_crash)
{
	static const uint8_t masks[] = {0xff, 0x80, 0x01};
	static const int forms[] = {0, 3, 5, 6}; /* each two of the three properties in every way */
	uint32_t seed = 12345;
	struct str file;

	each (bits, forms) {
		file = form(*bits & 1, *bits & 2, *bits & 4, 112);
		for (size_t i = 0; i < file.len; i++) {
			file.buf[i] ^= (char)masks[i % 3];
			check_damaged(&file, false);
			file.buf[i] ^= (char)masks[i % 3];
		}
		for (size_t k = 0; k < 300; k++) {
			seed = seed * 1103515245 + 12345;
			file.buf[(seed >> 8) % file.len] = (char)(seed >> 24);
			check_damaged(&file, false);
		}
		str_free(&file);
	}
}
