// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer: unwinds any registers and any stack of a program with real unwind tables. Every chain
 * must end. The input also seeds the bytes that it does not have.
 */
#include "lib/hash.h"
#include "tests/unit/perfdata_stream.h"
#include "tests/fuzz/fuzz.h"

#include <sys/stat.h>

#define PROGRAM "/bin/ls" /* small, and without symbols */

enum { REGS = 20, MAPPED = 0x10000000, STACK = 0x7ff00000 };

static struct w_event event = {.sample_type = W_SAMPLE_TYPE | PERF_SAMPLE_REGS_USER |
					      PERF_SAMPLE_STACK_USER,
			       .id = 1,
			       .flags = W_ID_ALL,
			       .regs_user = 0xff0fff};
static uint64_t length; /* length of the program */

static void prepare(void)
{
	autofree char *program = NULL;
	size_t size;

	if (length)
		return;
	if (file_read(PROGRAM, &program, &size, NULL) ||
	    file_write(fuzz_path("prog"), program, size, NULL))
		abort();
	length = size;
}

/* Returns mostly an address of code or of the stack, otherwise the value itself. */
static uint64_t word(const uint8_t **data, size_t *size)
{
	static uint64_t made_up;
	uint64_t v;
	size_t n = *size < 8 ? *size : 8;

	made_up = n ? hash_bytes(*data, n, 0) : hash_mix(made_up + 1);
	v = made_up;
	memcpy(&v, *data, n);
	*data += n;
	*size -= n;
	if ((v & 3) == 1)
		return MAPPED + (v >> 2) % length;
	return (v & 3) == 2 ? STACK + (v >> 2) % 1024 * 8 : v;
}

static void w_sample_of(struct writer *w, const uint8_t *data, size_t size)
{
	size_t at = w_begin(w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER), n;
	bool real_sp = size % 8;

	w64(w, 1);
	w64(w, MAPPED + 0x1000);
	w32(w, 5);
	w32(w, 5);
	w64(w, 100);
	w64(w, 0);
	w64(w, 1000);
	w64(w, 0);
	w64(w, size ? data[0] % 4 : 2); /* ABI */
	for (size_t i = 0; i < REGS; i++)
		w64(w, i == 7 && real_sp ? STACK : word(&data, &size));
	n = size / 8 < 4096 ? size / 8 + 64 : 4096;
	w64(w, n * 8);
	for (size_t i = 0; i < n; i++)
		w64(w, word(&data, &size));
	w64(w, n % 3 ? n * 8 : word(&data, &size));
	w_end(w, at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfdata_options o = {.symfs = fuzz_folder, .threads = 1};
	struct writer w = {.big = false};
	struct error err = {0};
	struct profile p;
	size_t at;

	prepare();
	w_stream_head(&w, &event, 1);
	at = w_begin(&w, 80, 0);
	w64(&w, 6); /* HEADER_ARCH */
	w32(&w, 8);
	w_bytes(&w, "x86_64\0", 8);
	w32(&w, 0);
	w_end(&w, at);
	w_mmap2(&w, 1, 5, MAPPED, length, 0, "/prog");
	w_sample_of(&w, data, size);
	if (w_read(&p, &w.out, &o, &err) || p.nframes > 128)
		abort();
	profile_free(&p);
	str_free(&w.out);
	return 0;
}
