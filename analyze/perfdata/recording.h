/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording while it is read; known to the files of this folder only.
 *
 *   input.c     bytes: a mapped file, standard input, a folder of `perf record --threads`
 *   header.c    attrs and features of the file header
 *   records.c   pass one: every record once; side-band to sideband.c, sample stretches to chunks
 *   stretches.c where samples lie back to back, found ahead of it on several threads
 *   sideband.c  maps, comms and forks in the order of time; what thread ran under which name
 *   fold.c      pass two: samples of a chunk, equal ones added up
 *   unwind.c    user stacks kept in samples into call chains, on the way into fold.c
 *   fold_costs.c what each folded stack costs, by thread and CPU
 *   space.c     the maps of each process, replayed
 *   identity.c  which file a mapped object is
 *   order.c     the order in which stacks are resolved
 *   resolve.c   each distinct stack into frames, once; branch.c: the frames of some stacks
 *   addresses.c an address into a symbol, for one thread; objects.c: for all of them
 *   rows.c      what the stacks cost, as rows of the profile
 *   tracing.c   what the fields of tracepoints are; tracepoints.c: their samples in order of time
 */
#ifndef ZC_RECORDING_H
#define ZC_RECORDING_H

#include "analyze/perfdata/format.h"
#include "analyze/perfdata/perfdata.h"
#include "analyze/perfdata/sideband.h"
#include "lib/arena.h"
#include "lib/cursor.h"
#include "lib/error.h"
#include "lib/intern.h"

/* An unnamed temporary file that only grows: for streams and for what was compressed. */
struct spool {
	int fd;
	size_t len;
};

int spool_open(struct spool *s, struct error *err); /* in $TMPDIR, or /var/tmp */
int spool_add(struct spool *s, const void *data, size_t len, struct error *err);
void spool_close(struct spool *s);

/* A stretch of whole records, back to back, samples among them: a place in a file. */
struct chunk {
	int fd;
	size_t at, len;
	uint64_t order; /* position of its first byte in the whole stream: breaks ties of time */
	bool round;	/* behind it perf ended a round; one in its midst is among its records */
};

/* A file of records; the first one has the header. Pass one sees it mapped. */
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
	struct input *inputs; /* the file, and of a folder its others */
	size_t ninputs, inputs_cap;
	bool swap, big_endian, pipe;
	bool timed;		    /* the side-band has times: without, the file's order counts */
	uint64_t data_at, data_len; /* of the first input's records */
	struct events events;
	struct build_id_row *build_ids;
	size_t nbuild_ids, build_ids_cap;
	const char *hostname, *osrelease, *arch; /* in the arena; NULL: not recorded */
	int64_t recorded_by_ns; /* the file's own time stamp; a stream's: when we began to read */
	struct cursor tracing;	/* formats of its tracepoints (tracing.h); at NULL: not recorded */
	struct arena arena;
	struct chunk *chunks;
	size_t nchunks, chunks_cap;
	uint64_t order;	    /* bytes of records so far */
	struct spool spool; /* what was compressed */
	struct sideband side;
	/* what perf asked the kernel for at the end, and LOST has counted: samples, and others */
	uint64_t lost_twice, lost_side;
	struct unwinding *unwinding; /* NULL: no stacks to unwind */
};

/* Notes the first damage: "<what> at offset N"; the result is marked incomplete. */
void recording_damaged(struct recording *r, uint64_t offset, const char *what);

/* In a capture only regular files are opened (lib/file.h); a user may name a pipe. */
int input_open(struct recording *r, const char *path, bool in_capture, struct error *err);
/* These bytes are not needed for now: memory stays small, the file is in the page cache. */
void input_forget(const uint8_t *data, size_t len);
void input_close(struct recording *r);

/* The file header, its attrs and features; a pipe's 16 bytes. */
int header_read(struct recording *r, struct error *err);
/* One feature's bytes: from the file's sections, or from a pipe's record. */
void header_read_feature(struct recording *r, unsigned int bit, struct cursor c);
/* One build-id row, as in the feature's section and in a pipe's record. */
void header_read_build_id(struct recording *r, uint16_t misc, struct cursor c);

/* Pass one, on as many threads as perfdata_options says. */
int recording_scan(struct recording *r, unsigned int threads, struct error *err);

struct record {
	uint32_t type;
	uint16_t misc;
	size_t size;
	struct cursor body;
	uint64_t order, offset; /* in the stream, in the file */
};

/* Acts on a record other than a sample. */
void record_read(struct recording *r, const struct record *rec);
/* The rest of the record as a string; "" when it is not terminated. */
const char *record_rest_string(struct cursor *c);

void sideband_read_mmap(struct recording *r, const struct record *rec);
void sideband_read_mmap2(struct recording *r, const struct record *rec);
void sideband_read_comm(struct recording *r, const struct record *rec);
void sideband_read_fork(struct recording *r, const struct record *rec);
void sideband_read_exit(struct recording *r, const struct record *rec);
void sideband_read_ksymbol(struct recording *r, const struct record *rec);

/* A type that perf or the kernel may write; one that pass one does nothing about. */
bool record_known(uint32_t type);
bool record_quiet(uint32_t type);
/* Bytes that follow a record and are counted in its body, not in its header's size. */
uint64_t record_payload(uint32_t type, struct cursor body);

/*
 * Opens, and does all that comes before pass two. The caller closes also after an error. `r` is
 * zeroed here.
 */
int recording_open(struct recording *r, struct profile *p, const char *path, bool in_capture,
		   unsigned int threads, struct error *err);
void recording_close(struct recording *r);

/*
 * Sets [*from, *to) to the slice in nanoseconds of the recording's clock; both are 0 if the slice
 * has no ends. Returns -ENODATA if no sample has a time, and -EINVAL if no sample lies in the
 * slice.
 */
int recording_resolve_slice(const struct time_slice *s, const struct recording *r, uint64_t *from,
			    uint64_t *to, struct error *err);

/* A chunk in memory. It is read, not mapped: threads do not wait for each other's page tables. */
struct chunk_reader {
	uint8_t *buf;
	size_t cap;
	struct cursor c;
	const uint8_t *start; /* of the chunk */
	uint64_t order;	      /* of its first byte */
};

/* False: it cannot be read (any more), or not whole. The caller frees `buf` in the end. */
bool chunk_read(struct chunk_reader *reader, const struct chunk *chunk, bool swap);

/* A sample of a chunk: its body, and where it stands in the stream. */
struct chunk_sample {
	struct cursor body;
	uint32_t misc;
	uint64_t order;
};

/* Steps to the next record, whatever it is; false at the end. */
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
		return false; /* pass one saw to it that there is none */
	s->body = cursor_sub(c, size - (size_t)RECORD_HEADER_SIZE);
	return !s->body.bad;
}

/* Steps to the next sample; false at the end. */
static inline bool chunk_next(struct chunk_reader *reader, struct chunk_sample *s)
{
	uint32_t type;

	while (chunk_next_record(reader, s, &type))
		if (type == PERF_RECORD_SAMPLE)
			return true;
	return false;
}

#endif
