/* SPDX-License-Identifier: GPL-2.0-only */
/* Streams of any events, beside the fixed two of perfdata_writer.h, and reading what was written.
 */
#ifndef TEST_PERFDATA_STREAM_H
#define TEST_PERFDATA_STREAM_H

#include "analyze/perfdata/perfdata.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/hash.h"
#include "tests/unit/perfdata_writer.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* PERF_FORMAT_LOST, newer than some headers; bits of the attr's flags. */
enum { W_FORMAT_LOST = 1 << 4, W_INHERIT = 1 << 1, W_FREQ = 1 << 10, W_ID_ALL = 1 << 18 };

struct w_event {
	uint64_t sample_type, id, read_format, flags, config, branch_type, regs_user, regs_intr;
	uint32_t type, stack_user; /* type 0: software */
};

static inline void w_event_attr(struct writer *w, const struct w_event *e)
{
	uint64_t flags = 0;
	int bit;

	for (bit = 0; bit < 63; bit++)
		flags |= e->flags >> bit & 1 ? w_flag(w, bit) : 0;
	w32(w, e->type ? e->type : PERF_TYPE_SOFTWARE);
	w32(w, 112);
	w64(w, e->config);
	w64(w, 1000);
	w64(w, e->sample_type);
	w64(w, e->read_format);
	w64(w, flags);
	w64(w, 0);
	w64(w, 0);
	w64(w, 0);
	w64(w, e->branch_type);
	w64(w, e->regs_user);
	w32(w, e->stack_user);
	w32(w, 0);
	w64(w, e->regs_intr);
	w64(w, 0);
}

static inline void w_stream_head(struct writer *w, const struct w_event *events, size_t n)
{
	size_t at, i;

	w_magic(w);
	w64(w, 16);
	for (i = 0; i < n; i++) {
		at = w_begin(w, 64, 0);
		w_event_attr(w, &events[i]);
		if (events[i].id)
			w64(w, events[i].id);
		w_end(w, at);
	}
}

/* For fuzzing: what the tests write is what it begins with. */
static inline void w_save(const void *data, size_t len)
{
	const char *dir = getenv("ZCOST_SAVE_STREAMS");
	char *path;

	if (!dir || len > 1 << 16)
		return;
	path = xasprintf("%s/%016llx", dir, (unsigned long long)hash_bytes(data, len, 0));
	file_write(path, data, len, NULL);
	free(path);
}

/* Reads bytes as a file; the caller frees the profile. */
static inline int w_read(struct profile *p, const struct str *file,
			 const struct perfdata_options *o, struct error *err)
{
	static const struct perfdata_options none = {.threads = 1};
	int fd = memfd_create("perf.data", MFD_CLOEXEC), ret;
	char *path = xasprintf("/proc/self/fd/%d", fd);

	w_save(file->buf, file->len);
	profile_init(p);
	if (write(fd, file->buf, file->len) != (ssize_t)file->len)
		abort();
	ret = perfdata_read(p, path, o ? o : &none, err);
	close(fd);
	free(path);
	return ret;
}

static inline struct w_sample w_user_sample(uint64_t time, uint32_t tid, uint64_t addr)
{
	return (struct w_sample){.time = time,
				 .period = 1,
				 .pid = tid,
				 .tid = tid,
				 .mode = PERF_RECORD_MISC_USER,
				 .chain = {(uint64_t)PERF_CONTEXT_USER, addr}};
}

static inline void w_add_sample(struct writer *w, uint64_t weight, uint64_t time, uint32_t tid,
				uint64_t addr)
{
	struct w_sample s = w_user_sample(time, tid, addr);

	s.period = weight;
	w_sample(w, &s);
}

/* Reads the records as a stream. Returns 0 or -errno and frees the records. */
static inline int w_read_records(struct profile *p, struct writer *records, struct error *err)
{
	struct writer w = {.big = records->big};
	int ret;

	w_pipe(&w, &records->out);
	ret = w_read(p, &w.out, NULL, err);
	str_free(&w.out);
	str_free(&records->out);
	return ret;
}

/* The fields that each format begins with. */
#define W_COMMON_FIELDS                                                                \
	"format:\n"                                                                    \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static inline void w_block(struct writer *w, const char *text)
{
	w64(w, strlen(text));
	w_bytes(w, text, strlen(text));
}

/* Begins the formats of tracepoints: all before the number of systems. */
static inline void w_tracing_head(struct writer *w, const char *version)
{
	w_bytes(w, "\x17\x08\x44tracing", 10);
	w_bytes(w, version, strlen(version) + 1);
	w_int(w, w->big, 1);
	w_int(w, 8, 1);
	w32(w, 4096);
	w_bytes(w, "header_page", 12);
	w_block(w, "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n");
	w_bytes(w, "header_event", 13);
	w_block(w, "# compressed entry header\n");
	w32(w, 1);
	w_block(w, "name: function\nID: 1\n");
}

/* Writes the record of a stream that has the formats. */
static inline void w_tracing_record(struct writer *w, const struct str *formats)
{
	size_t at = w_begin(w, 66, 0);

	w32(w, formats->len);
	w_end(w, at);
	w_bytes(w, formats->buf, formats->len);
	w_bytes(w, "\0\0\0\0\0\0\0", -formats->len & 7);
}

#endif
