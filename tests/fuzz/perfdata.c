// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer: reads any bytes as a perf.data file or stream. `make fuzz` runs it for FUZZ_SECONDS.
 * With --sweep FILE... it cuts each file at every byte and flips bits everywhere instead. A
 * message must name the offset of a cut.
 */
#include "analyze/perfdata/perfdata.h"
#include "analyze/perfdata/recording.h"
#include "analyze/perfdata/format.h"
#include "tests/fuzz/fuzz.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

/* --- one input --- */

/* Gives kernel addresses names, so that contexts are classified too. */
static const char kallsyms[] = "ffffffff81000000 T _text\nffffffff81000000 T _stext\n"
			       "ffffffff81000200 T do_syscall_64\nffffffffc0000000 t f\t[m]\n";

/* Reads the fields behind the call chain of every sample. */
static void read_samples(const char *path)
{
	struct chunk_reader reader = {0};
	struct chunk_sample at;
	struct sample_rest rest;
	struct recording r;
	struct profile p;
	struct sample s;

	profile_init(&p);
	if (!recording_open(&r, &p, path, false, NULL))
		for (size_t i = 0; i < r.nchunks; i++) {
			chunk_read(&reader, &r.chunks[i], r.swap);
			while (chunk_next(&reader, &at)) {
				long event = sample_event(&r.events, at.body);

				if (event >= 0 &&
				    sample_decode(&s, &r.events.list[event], &at.body))
					sample_decode_rest(&rest, &r.events.list[event], &at.body);
			}
		}
	free(reader.buf);
	recording_close(&r);
	profile_free(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char *names;
	struct perfdata_options o = {.threads = 1};
	struct error err = {0};
	struct profile p;
	const char *path;

	if (!names)
		names = xstrdup(fuzz_file("kallsyms", kallsyms, sizeof(kallsyms) - 1));
	o.kallsyms = names;
	path = fuzz_file("data", data, size);
	profile_init(&p);
	if (!refused(perfdata_read(&p, path, &o, &err), &err) && p.health.truncated &&
	    !strstr(p.health.why, "offset"))
		abort(); /* a failure without an offset */
	profile_free(&p);
	read_samples(path);
	return 0;
}

/* --- mutations of records: random bytes mostly end the reading at the first record --- */

struct record_at {
	size_t at, size;
};

enum { RECORDS = 512 };

static uint64_t get(const uint8_t *p, int bytes)
{
	uint64_t v = 0;

	memcpy(&v, p, (size_t)bytes);
	return v;
}

/*
 * Finds the records of a little-endian stream or file. *data_len is the place of their length in a
 * file's header.
 */
static size_t find_records(uint8_t *data, size_t size, struct record_at *list, uint8_t **data_len)
{
	size_t n = 0, at = 16, end = size, len;

	*data_len = NULL;
	if (size < 104 || memcmp(data, "PERFILE2", 8))
		return 0;
	if (get(data + 8, 8) != 16) {
		at = get(data + 40, 8);
		*data_len = data + 48;
		if (at > size || get(data + 48, 8) > size - at)
			return 0;
		end = at + get(data + 48, 8);
	}
	while (n < RECORDS && at + 8 <= end) {
		len = get(data + at + 6, 2);
		if (len < 8 || len > end - at)
			break;
		list[n++] = (struct record_at){at, len};
		if (get(data + at, 4) == 66 && len >= 12) /* the length of its payload */
			at += (get(data + at + 8, 4) + 7) & ~7ULL;
		at += len;
	}
	return n;
}

/* Replaces `old` bytes at `at` by `with`. Returns 0 if there is no room. */
static size_t put_in(uint8_t *data, size_t size, size_t max, size_t at, size_t old,
		     const uint8_t *with, size_t len, uint8_t *data_len)
{
	uint64_t n;

	if (size - old + len > max)
		return 0;
	memmove(data + at + len, data + at + old, size - at - old);
	memcpy(data + at, with, len);
	if (data_len) {
		n = get(data_len, 8) - old + len;
		memcpy(data_len, &n, 8);
	}
	return size - old + len;
}

static size_t change_record(uint8_t *data, size_t size, size_t max, const struct record_at *r,
			    uint8_t *data_len)
{
	static uint8_t body[1 << 16];
	size_t len;

	memcpy(body, data + r->at, r->size);
	len = LLVMFuzzerMutate(body, r->size, sizeof(body) - 1);
	if (len < 8)
		return 0;
	body[6] = (uint8_t)len;
	body[7] = (uint8_t)(len >> 8);
	return put_in(data, size, max, r->at, r->size, body, len, data_len);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	static struct record_at list[RECORDS];
	static uint8_t copy[1 << 16];
	uint8_t *data_len;
	size_t n = find_records(data, size, list, &data_len), done = 0;
	const struct record_at *a, *b;

	if (!n || seed % 4 == 0)
		return LLVMFuzzerMutate(data, size, max);
	a = &list[(seed >> 3) % n];
	b = &list[(seed >> 12) % n];
	memcpy(copy, data + b->at, b->size);
	switch (seed % 4) {
	case 1: /* repeats a record at another place */
		done = put_in(data, size, max, a->at, 0, copy, b->size, data_len);
		break;
	case 2: /* puts a record in the place of another */
		done = put_in(data, size, max, a->at, a->size, copy, seed & 4 ? b->size : 0,
			      data_len);
		break;
	case 3:
		done = change_record(data, size, max, a, data_len);
		break;
	}
	return done ? done : LLVMFuzzerMutate(data, size, max);
}

/* --- the sweep --- */

/* Checks that a cut file is refused with a message or marked incomplete. */
static void check_cut(const uint8_t *data, size_t len)
{
	struct perfdata_options o = {.threads = 1};
	struct error err = {0};
	struct profile p;
	bool stream = len >= 16 && get(data + 8, 8) == 16;

	profile_init(&p);
	if (!perfdata_read(&p, fuzz_file("data", data, len), &o, &err) && !p.health.truncated &&
	    !stream) /* a stream may end after any record */
		abort();
	profile_free(&p);
}

static void sweep(uint8_t *data, size_t size)
{
	static const uint8_t masks[] = {0x01, 0x80, 0xff};
	size_t step = 1 + size / 4000, i; /* every byte of small files */

	for (i = 0; i < size; i += step) {
		check_cut(data, i);
		data[i] ^= masks[i % 3];
		LLVMFuzzerTestOneInput(data, size);
		data[i] ^= masks[i % 3];
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct error err = {0};
	char *data;
	size_t size;

	if (*argc < 2 || strcmp((*argv)[1], "--sweep"))
		return 0;
	for (int i = 2; i < *argc; i++) {
		if (file_read((*argv)[i], &data, &size, &err))
			abort();
		printf("sweep %s: %zu bytes\n", (*argv)[i], size);
		fflush(stdout);
		sweep((uint8_t *)data, size);
		free(data);
	}
	exit(0);
}
