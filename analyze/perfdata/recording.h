/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of a recording while zcost reads it. Only the files of this folder use it.
 *
 * The way of a sample, from the file to the profile:
 *   input.c       the bytes: a mapped file, standard input, a folder of `perf record --threads`
 *   header.c      the file header: events, build-ids, host
 *   scan.c        pass one looks at every record once, unpacked where it is compressed, and cuts
 * the stream into chunks records.c     what each record that is no sample means sideband.c    maps,
 * comms and forks in the order of time sample.c      the events and their samples, field by field
 *   fold.c        pass two decodes the samples of the chunks and adds equal ones up
 *   exact.c       counts samples of a clock where they were due, in exact times
 *   unwind.c      turns user stacks in samples into call chains; cfi.c reads the unwind tables
 *   stacks.c      the distinct stacks, and the order in which to resolve them
 *   resolve.c     turns each distinct stack into frames of the profile
 *   space.c       what each process has mapped at a time
 *   objects.c     the symbol at an address: kernel.c; identity.c tells files apart
 *   costs.c       what each stack costs, as rows of the profile
 *   spots.c       samples by instruction, with code and lines
 *   perfdata.c    runs all of this
 *
 * Tables of events take another way after pass one: tracepoints.c delivers the samples of
 * tracepoints in the order of time, and tracepoint_formats.c reads their fields.
 */
#ifndef ZC_RECORDING_H
#define ZC_RECORDING_H

#include "analyze/perfdata/format.h"
#include "analyze/perfdata/perfdata.h"
#include "analyze/perfdata/sideband.h"

/* An unnamed temporary file that only grows. It holds streams and unpacked records. */
struct spool {
	int fd;
	size_t len;
};

int spool_open(struct spool *s, struct error *err); /* in $TMPDIR, or /var/tmp */
int spool_add(struct spool *s, const void *data, size_t len, struct error *err);
void spool_close(struct spool *s);

/* A place in a file: whole records back to back, with samples among them. */
struct chunk {
	int fd;
	size_t at, len;
	uint64_t order; /* position of the first byte in the whole stream; orders equal times */
	bool round;	/* perf ended a round behind this chunk */
};

/* A file of records, mapped during pass one. The first file has the header. */
struct input {
	char *path;
	int fd;
	const uint8_t *data;
	size_t len;
};

struct build_id_row {
	const char *name, *hex; /* in the arena */
	bool kernel;
};

struct recording {
	const char *path;
	struct profile *profile;
	struct input *inputs; /* the file; for a folder, also its other files */
	size_t ninputs, inputs_cap;
	bool swap, big_endian, pipe;
	bool timed; /* side-band records have times; otherwise the order in the file counts */
	uint64_t data_at, data_len; /* the records of the first input */
	double times; /* the periods that a sample counts for (perfdata_read()); 0: one */
	struct events events;
	struct build_id_row *build_ids;
	size_t nbuild_ids, build_ids_cap;
	const char *hostname, *osrelease, *arch; /* in the arena; NULL: not recorded */
	int64_t recorded_by_ns; /* time() x 1e9 at its end: the file's mtime; of a stream, now */
	struct cursor tracing;	/* formats of the tracepoints; its `at` is NULL without them */
	struct arena arena;
	struct chunk *chunks;
	size_t nchunks, chunks_cap;
	uint64_t order;	    /* position of the next record; its offset in a plain file */
	struct spool spool; /* unpacked records */
	struct sideband side;
	struct history history; /* made before pass two of a profile */
	/* Samples and side-band records that PERF_FORMAT_LOST reports once more after LOST. */
	uint64_t lost_twice, lost_side;
	struct unwinding *unwinding; /* NULL where no event records user stacks */
};

/* Records the first damage as "<what> at offset N" and marks the result incomplete. */
void recording_damaged(struct recording *r, uint64_t offset, const char *what);

/* In a capture, opens only regular files (lib/file.h). A user may name a pipe. */
int input_open(struct recording *r, const char *path, bool in_capture, struct error *err);
/* Drops pages that are not needed now. The page cache still has them. */
void input_forget(const uint8_t *data, size_t len);
void input_close(struct recording *r);

/* Reads the file header with its attrs and features, or a pipe's 16 bytes. */
int header_read(struct recording *r, struct error *err);
/* Reads one feature, from a section of the file or from a record of a pipe. */
void header_read_feature(struct recording *r, uint64_t bit, struct cursor c);
/* Reads one build-id, from the feature's section or from a record of a pipe. */
void header_read_build_id(struct recording *r, uint16_t misc, struct cursor c);

/* Runs pass one. */
int recording_scan(struct recording *r, struct error *err);

struct record {
	uint32_t type;
	uint16_t misc;
	size_t size;
	struct cursor body;
	uint64_t order, offset; /* order: position in the stream; offset: in the file */
};

/* Acts on a record other than a sample. Other types than those of its table say nothing. */
void record_read(struct recording *r, const struct record *rec);
/* Returns the rest of the record as a string, or "" if it is not terminated. */
const char *record_rest_string(struct cursor *c);

void sideband_read_mmap(struct recording *r, const struct record *rec); /* also MMAP2 */
void sideband_read_comm(struct recording *r, const struct record *rec);
void sideband_read_task(struct recording *r, const struct record *rec); /* FORK or EXIT */
void sideband_read_ksymbol(struct recording *r, const struct record *rec);

/* Returns the number of bytes that follow a record without counting in its header's size. */
uint64_t record_payload(uint32_t type, struct cursor body);

/*
 * Opens a recording and does everything before pass two. Zeroes `r` first. The caller calls
 * recording_close, also after an error.
 */
int recording_open(struct recording *r, struct profile *p, const char *path, bool in_capture,
		   struct error *err);
void recording_close(struct recording *r);

/*
 * Sets [*from, *to) to the slice in nanoseconds of the recording's clock; both are 0 if the slice
 * has no ends. Returns -ENODATA if no sample has a time, and -EINVAL if no sample lies in the
 * slice.
 */
int recording_resolve_slice(const struct time_slice *s, const struct recording *r, uint64_t *from,
			    uint64_t *to, struct error *err);

/*
 * A chunk in memory. Threads read chunks instead of mapping them, so they do not wait for each
 * other's page faults.
 */
struct chunk_reader {
	uint8_t *buf;
	size_t cap;
	struct cursor c;
	const uint8_t *start; /* the first byte of the chunk */
	uint64_t order;	      /* position of its first byte in the stream */
};

/*
 * Reads a chunk. Returns false if the file does not have all of it any more. The caller frees `buf`
 * after the last chunk.
 */
bool chunk_read(struct chunk_reader *reader, const struct chunk *chunk, bool swap);

/* A sample of a chunk: its body and its position in the stream. */
struct chunk_sample {
	struct cursor body;
	uint32_t misc;
	uint64_t order;
};

/* Steps to the next record of any type. Returns false at the end. */
static inline bool chunk_next_record(struct chunk_reader *reader, struct chunk_sample *s,
				     uint32_t *type)
{
	struct cursor *c = &reader->c;
	uint32_t size;

	if (cursor_left(c) < RECORD_HEADER_SIZE)
		return false;
	s->order = reader->order + (uint64_t)(c->at - reader->start);
	*type = cursor_u32(c);
	s->misc = cursor_u16(c);
	size = cursor_u16(c);
	if (size < RECORD_HEADER_SIZE)
		return false; /* pass one excludes this */
	s->body = cursor_sub(c, size - (size_t)RECORD_HEADER_SIZE);
	return !s->body.bad;
}

/* Steps to the next sample. Returns false at the end. */
static inline bool chunk_next(struct chunk_reader *reader, struct chunk_sample *s)
{
	uint32_t type;

	while (chunk_next_record(reader, s, &type))
		if (type == PERF_RECORD_SAMPLE)
			return true;
	return false;
}

#endif
