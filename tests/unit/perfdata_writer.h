/* SPDX-License-Identifier: GPL-2.0-only */
/* A writer of perf.data for tests: any endianness, file or pipe, plain or compressed. */
#ifndef TEST_PERFDATA_WRITER_H
#define TEST_PERFDATA_WRITER_H

#include "lib/str.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <zstd.h>

struct writer {
	struct str out;
	bool big;
};

static inline void writer_free(struct writer *w)
{
	str_free(&w->out);
}

static inline void w_bytes(struct writer *w, const void *p, size_t n)
{
	str_add(&w->out, p, n);
}

static inline void w_int(struct writer *w, uint64_t v, int bytes)
{
	uint8_t b[8];
	int i;

	for (i = 0; i < bytes; i++)
		b[i] = (uint8_t)(v >> 8 * (w->big ? bytes - 1 - i : i));
	w_bytes(w, b, (size_t)bytes);
}

static inline void w16(struct writer *w, uint64_t v)
{
	w_int(w, v, 2);
}

static inline void w32(struct writer *w, uint64_t v)
{
	w_int(w, v, 4);
}

static inline void w64(struct writer *w, uint64_t v)
{
	w_int(w, v, 8);
}

/* NUL-terminated, padded to 8. */
static inline void w_name(struct writer *w, const char *s)
{
	static const char zeros[8];
	size_t n = strlen(s) + 1;

	w_bytes(w, s, n);
	w_bytes(w, zeros, -n & 7);
}

static inline size_t w_begin(struct writer *w, uint32_t type, uint16_t misc)
{
	size_t at = w->out.len;

	w32(w, type);
	w16(w, misc);
	w16(w, 0);
	return at;
}

static inline void w_patch16(struct writer *w, size_t at, uint16_t v)
{
	struct writer p = {.big = w->big};

	w16(&p, v);
	memcpy(w->out.buf + at, p.out.buf, 2);
	str_free(&p.out);
}

static inline void w_end(struct writer *w, size_t at)
{
	w_patch16(w, at + 6, (uint16_t)(w->out.len - at));
}

/* What the records below are written for: see w_attr. */
enum {
	W_SAMPLE_TYPE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			PERF_SAMPLE_CALLCHAIN,
	W_EVENT_ID = 77,
	W_OTHER_ID = 78,
};

/* A flags bit as the writer's compiler would place it. */
static inline uint64_t w_flag(const struct writer *w, int bit)
{
	return 1ULL << (w->big ? 63 - bit : bit);
}

/* A software event; `size` as of another perf version, 0: a writer that did not say. */
static inline void w_attr(struct writer *w, uint32_t size, uint64_t config)
{
	size_t start = w->out.len, end = start + (size ? size : 64);

	w32(w, PERF_TYPE_SOFTWARE);
	w32(w, size);
	w64(w, config);
	w64(w, 1000);
	w64(w, W_SAMPLE_TYPE);
	w64(w, PERF_FORMAT_ID);
	w64(w, w_flag(w, 18) | w_flag(w, 20)); /* sample_id_all, exclude_guest */
	while (w->out.len < end)
		w_bytes(w, "", 1);
}

static inline void w_trailer(struct writer *w, uint32_t pid, uint32_t tid, uint64_t time)
{
	w32(w, pid);
	w32(w, tid);
	w64(w, time);
	w64(w, 0); /* cpu */
	w64(w, W_EVENT_ID);
}

static inline void w_mmap2(struct writer *w, uint64_t time, uint32_t pid, uint64_t start,
			   uint64_t len, uint64_t pgoff, const char *name)
{
	size_t at = w_begin(w, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);

	w32(w, pid);
	w32(w, pid);
	w64(w, start);
	w64(w, len);
	w64(w, pgoff);
	w64(w, 0); /* device */
	w64(w, 0); /* inode */
	w64(w, 0); /* its generation */
	w64(w, 5); /* prot, flags */
	w_name(w, name);
	w_trailer(w, pid, pid, time);
	w_end(w, at);
}

static inline void w_kernel_map(struct writer *w, uint64_t start, uint64_t len, uint64_t pgoff,
				const char *name)
{
	size_t at = w_begin(w, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);

	w32(w, UINT32_MAX);
	w32(w, 0);
	w64(w, start);
	w64(w, len);
	w64(w, pgoff);
	w_name(w, name);
	w_trailer(w, 0, 0, 0);
	w_end(w, at);
}

static inline void w_comm(struct writer *w, uint64_t time, uint32_t pid, uint32_t tid, bool exec,
			  const char *name)
{
	size_t at = w_begin(w, PERF_RECORD_COMM, exec ? 1 << 13 : 0);

	w32(w, pid);
	w32(w, tid);
	w_name(w, name);
	w_trailer(w, pid, tid, time);
	w_end(w, at);
}

static inline void w_task(struct writer *w, uint32_t type, uint64_t time, uint32_t pid,
			  uint32_t ppid, uint32_t tid, uint32_t ptid)
{
	size_t at = w_begin(w, type, 0);

	w32(w, pid);
	w32(w, ppid);
	w32(w, tid);
	w32(w, ptid);
	w64(w, time);
	w_trailer(w, ppid, ptid, time);
	w_end(w, at);
}

static inline void w_ksymbol(struct writer *w, uint64_t time, uint64_t addr, uint32_t len,
			     bool unregister, const char *name)
{
	size_t at = w_begin(w, PERF_RECORD_KSYMBOL, 0);

	w64(w, addr);
	w32(w, len);
	w16(w, 1); /* BPF */
	w16(w, unregister);
	w_name(w, name);
	w_trailer(w, 0, 0, time);
	w_end(w, at);
}

static inline void w_lost(struct writer *w, uint32_t type, uint64_t n)
{
	size_t at = w_begin(w, type, 0);

	if (type == PERF_RECORD_LOST)
		w64(w, W_EVENT_ID);
	w64(w, n);
	w_trailer(w, 0, 0, 0);
	w_end(w, at);
}

struct w_sample {
	uint64_t time, period;
	uint32_t pid, tid, cpu;
	uint16_t mode;
	uint64_t chain[16]; /* ends with 0; [0] or the first after a marker is the address */
	uint64_t id;	    /* 0: W_EVENT_ID */
};

static inline void w_sample(struct writer *w, const struct w_sample *s)
{
	size_t at = w_begin(w, PERF_RECORD_SAMPLE, s->mode), n, i;

	for (n = 0; n < 16 && s->chain[n]; n++)
		;
	w64(w, s->id ? s->id : W_EVENT_ID);
	w64(w, s->chain[0] >= (uint64_t)-4095 ? s->chain[1] : s->chain[0]);
	w32(w, s->pid);
	w32(w, s->tid);
	w64(w, s->time);
	w32(w, s->cpu);
	w32(w, 0);
	w64(w, s->period);
	w64(w, n);
	for (i = 0; i < n; i++)
		w64(w, s->chain[i]);
	w_end(w, at);
}

static inline void w_magic(struct writer *w)
{
	w_bytes(w, w->big ? "2ELIFREP" : "PERFILE2", 8);
}

/* Packs records into COMPRESSED ones of `step` bytes of input each: records straddle them. */
static inline void w_compress(struct writer *w, const struct str *records, size_t step)
{
	ZSTD_CStream *z = ZSTD_createCStream();
	static char buf[1 << 16];
	size_t at, pos;

	for (pos = 0; pos < records->len; pos += step) {
		ZSTD_inBuffer in = {records->buf + pos, records->len - pos, 0};
		ZSTD_outBuffer out = {buf, 60000, 0};

		in.size = in.size < step ? in.size : step;
		while (in.pos < in.size)
			ZSTD_compressStream(z, &out, &in);
		ZSTD_flushStream(z, &out);
		at = w_begin(w, 81, 0);
		w_bytes(w, buf, out.pos);
		w_end(w, at);
	}
	ZSTD_freeCStream(z);
}

/* The whole of a pipe's stream around `records`: cpu-clock and page-faults. */
static inline void w_pipe(struct writer *w, const struct str *records)
{
	size_t at;
	int i;

	w_magic(w);
	w64(w, 16);
	for (i = 0; i < 2; i++) {
		at = w_begin(w, 64, 0);
		w_attr(w, 112, i ? PERF_COUNT_SW_PAGE_FAULTS : PERF_COUNT_SW_CPU_CLOCK);
		w64(w, i ? W_OTHER_ID : W_EVENT_ID);
		w_end(w, at);
	}
	w_bytes(w, records->buf, records->len);
}

/* The whole of a file: header, two events with their ids, records, the host name's feature. */
static inline void w_file(struct writer *w, const struct str *records, uint32_t attr_size)
{
	size_t attr = attr_size ? attr_size : 64, ids = 104, attrs = ids + 16;
	size_t data = attrs + 2 * (attr + 16), features = data + records->len, i;

	w_magic(w);
	w64(w, 104);
	w64(w, attr + 16);
	w64(w, attrs);
	w64(w, 2 * (attr + 16));
	w64(w, data);
	w64(w, records->len);
	w64(w, 0);
	w64(w, 0);
	w64(w, 1 << 3); /* HEADER_HOSTNAME */
	w64(w, 0);
	w64(w, 0);
	w64(w, 0);
	w64(w, W_EVENT_ID);
	w64(w, W_OTHER_ID);
	for (i = 0; i < 2; i++) {
		w_attr(w, attr_size, i ? PERF_COUNT_SW_PAGE_FAULTS : PERF_COUNT_SW_CPU_CLOCK);
		w64(w, ids + 8 * i);
		w64(w, 8);
	}
	w_bytes(w, records->buf, records->len);
	w64(w, features + 16);
	w64(w, 12);
	w32(w, 8);
	w_bytes(w, "faraway\0", 8);
}

#endif
