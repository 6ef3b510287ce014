// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pass one looks at every record once. It steps over samples and only notes where they lie, as
 * chunks, so that pass two can read them in any order. It unpacks compressed records into a
 * temporary file.
 */
#include "analyze/perfdata/recording.h"

#include <errno.h>
#include <zstd.h>

enum {
	CHUNK_BYTES = 1 << 18,
	FORGET_BYTES = 16 << 20,
	PREFETCH_BYTES = 1024,
};

/* --- compressed records --- */

enum { RECORD_MAX = 1 << 16, STEP = 1 << 18, UNPACKED_FREE = 256 << 20, UNPACKED_RATIO = 100 };

/*
 * The records inside PERF_RECORD_COMPRESSED: one zstd stream whose records straddle the pieces.
 * `buf` holds the unpacked bytes until inflate_used. It never grows beyond one record and one step
 * of zstd, whatever the stream contains.
 */
struct inflate {
	void *stream;
	uint8_t *buf;
	size_t len, cap;
	const uint8_t *from; /* the piece to unpack */
	size_t from_len;
	bool more; /* `buf` had no room for all of it */
};

static void inflate_begin(struct inflate *in, const void *data, size_t len)
{
	if (!in->stream) {
		in->stream = ZSTD_createDStream();
		in->cap = RECORD_MAX + STEP;
		in->buf = xmalloc(in->cap);
	}
	in->from = data;
	in->from_len = len;
	in->more = len;
}

/*
 * Unpacks a part of the piece and appends it to `buf`. Returns 1, 0 at the end of the piece, or
 * -EBADMSG.
 */
static int inflate_next(struct inflate *in)
{
	ZSTD_inBuffer from = {.src = in->from, .size = in->from_len};
	ZSTD_outBuffer to = {.dst = in->buf + in->len, .size = in->cap - in->len};
	size_t ret;

	if (!in->more)
		return 0;
	if (!in->stream || !to.size)
		return -EBADMSG;
	ret = ZSTD_decompressStream(in->stream, &to, &from);
	in->from += from.pos;
	in->from_len -= from.pos;
	in->len += to.pos;
	in->more = in->from_len || to.pos == to.size;
	if (ZSTD_isError(ret) || (in->more && !from.pos && !to.pos))
		return -EBADMSG;
	return 1;
}

/* Removes the first `n` bytes of `buf`. */
static void inflate_used(struct inflate *in, size_t n)
{
	in->len -= n;
	memmove(in->buf, in->buf + n, in->len);
}

static void inflate_end(struct inflate *in)
{
	ZSTD_freeDStream(in->stream);
	free(in->buf);
	*in = (struct inflate){0};
}

/* --- the scan --- */

struct scan {
	struct recording *r;
	const struct input *in;
	size_t forgotten; /* `in` up to this offset is dropped from memory */
	struct inflate inflate;
	bool broken;	   /* the compressed stream is damaged */
	bool unpacked;	   /* the current records come from `inflate` */
	struct chunk open; /* the growing chunk; len 0: none */
	bool samples;	   /* the growing chunk has samples */
	struct error *err; /* for errors that are not the file's fault */
	int ret;
};

static void scan_close_chunk(struct scan *s)
{
	struct recording *r = s->r;

	if (s->open.len && s->samples)
		array_add(r->chunks, r->nchunks, r->chunks_cap, s->open);
	s->open.len = 0;
	s->samples = false;
}

static void scan_grow_chunk(struct scan *s, const uint8_t *data, size_t len, uint64_t order)
{
	size_t at;

	if (s->unpacked)
		return; /* scan_spool_records makes the chunk */
	at = (size_t)(data - s->in->data);
	if (!s->open.len)
		s->open = (struct chunk){.fd = s->in->fd, .at = at, .order = order};
	s->open.len += len;
	if (s->open.len >= CHUNK_BYTES)
		scan_close_chunk(s);
	if (at - s->forgotten < FORGET_BYTES)
		return;
	input_forget(s->in->data + s->forgotten, at - s->forgotten);
	s->forgotten = at;
}

/*
 * An end of a round is a record inside a chunk with samples. Without samples there is no chunk, so
 * the flag goes to the previous chunk.
 */
static void scan_note_round(struct scan *s)
{
	struct recording *r = s->r;

	if (!s->unpacked && !s->samples && r->nchunks)
		r->chunks[r->nchunks - 1].round = true;
}

/* The payload follows the record. If it is cut off, use its beginning. */
static void scan_keep_tracing_data(struct scan *s, struct cursor rest, uint64_t len)
{
	uint64_t left = cursor_left(&rest);

	rest.end = rest.at + (len < left ? len : left);
	if (!s->unpacked)
		s->r->tracing = rest;
}

/* Reads a record's header and body. Returns false if it is cut off or its size is impossible. */
static bool scan_next_record(struct scan *s, struct cursor *c, struct record *rec)
{
	struct cursor at = *c;

	*rec = (struct record){.type = cursor_u32(&at)};
	rec->misc = cursor_u16(&at);
	rec->size = cursor_u16(&at);
	if (at.bad || rec->size < RECORD_HEADER_SIZE)
		return false;
	rec->body = cursor_sub(&at, rec->size - (size_t)RECORD_HEADER_SIZE);
	if (rec->body.bad)
		return false;
	*c = at;
	rec->order = s->r->order;
	s->r->order += rec->size;
	return true;
}

static bool record_is_compressed(const struct record *rec)
{
	return rec->type == REC_COMPRESSED || rec->type == REC_COMPRESSED2;
}

static void scan_unpack_record(struct scan *s, const struct record *rec);

/* Handles a record that is no sample. Returns false if its payload is cut off. */
static bool scan_read_record(struct scan *s, struct cursor *c, const struct record *rec)
{
	uint64_t skip;

	if (record_is_compressed(rec))
		scan_unpack_record(s, rec);
	else if (rec->type == REC_FINISHED_ROUND)
		scan_note_round(s);
	else
		record_read(s->r, rec);
	skip = record_payload(rec->type, rec->body);
	if (skip)
		scan_close_chunk(s);
	s->r->order += skip;
	if (rec->type == REC_HEADER_TRACING_DATA)
		scan_keep_tracing_data(s, *c, skip);
	return !skip || cursor_take(c, skip > SIZE_MAX ? SIZE_MAX : (size_t)skip);
}

/* Returns the size of the sample at `at`, or 0 if there is no whole sample. */
static inline size_t scan_sample_size(struct cursor at)
{
	size_t size, left = cursor_left(&at);

	__builtin_prefetch(at.at + PREFETCH_BYTES); /* the CPU cannot guess the next page */
	if (cursor_u32(&at) != PERF_RECORD_SAMPLE)
		return 0;
	cursor_u16(&at);
	size = cursor_u16(&at);
	return at.bad || size < RECORD_HEADER_SIZE || size > left ? 0 : size;
}

/* Returns the length of the samples from `c` on, up to about a chunk. */
static size_t scan_samples_len(struct cursor c)
{
	size_t len = 0, n;

	while (len < CHUNK_BYTES && (n = scan_sample_size(c))) {
		c.at += n;
		len += n;
	}
	return len;
}

/* Steps over samples, which most records are. Returns false if there is none here. */
static bool scan_step_over_samples(struct scan *s, struct cursor *c)
{
	size_t len = scan_samples_len(*c);

	if (!len)
		return false;
	s->samples = true;
	scan_grow_chunk(s, c->at, len, s->r->order);
	s->r->order += len;
	c->at += len;
	return true;
}

/*
 * Steps over the whole records in `c`, which starts at `offset` of the file. Returns the number of
 * bytes up to the end, or up to a record that is cut off or damaged.
 */
static size_t scan_walk(struct scan *s, struct cursor c, uint64_t offset)
{
	const uint8_t *start = c.at;
	struct record rec;

	while (!s->ret) {
		const uint8_t *at = c.at;

		if (scan_step_over_samples(s, &c))
			continue;
		if (!scan_next_record(s, &c, &rec))
			break;
		rec.offset = offset + (s->unpacked ? 0 : (uint64_t)(at - start));
		if (record_is_compressed(&rec)) /* its header may state a wrong size */
			scan_close_chunk(s);
		else
			scan_grow_chunk(s, at, rec.size, rec.order);
		if (!scan_read_record(s, &c, &rec))
			return (size_t)(at - start);
	}
	return (size_t)(c.at - start);
}

/* The records of perf record -z unpack to 3 to 50 times their size. */
static bool scan_unpacks_too_much(const struct recording *r)
{
	uint64_t packed = 0;

	for (size_t i = 0; i < r->ninputs; i++)
		packed += r->inputs[i].len;
	return r->spool.len > UNPACKED_FREE && r->spool.len / UNPACKED_RATIO > packed;
}

/* Writes the unpacked records that scan_walk has passed to the spool, as a chunk. */
static void scan_spool_records(struct scan *s, size_t len, uint64_t order)
{
	struct recording *r = s->r;
	struct chunk c = {.at = r->spool.len, .len = len, .order = order};

	if (!len || s->ret)
		return;
	if (scan_unpacks_too_much(r))
		s->ret = error_set(
			s->err, EFBIG,
			"%s: refused: unpacked, it takes more than 256 MiB and more than 100 times its size",
			r->path);
	if (!s->ret && r->spool.fd < 0)
		s->ret = spool_open(&r->spool, s->err);
	if (!s->ret)
		s->ret = spool_add(&r->spool, s->inflate.buf, len, s->err);
	c.fd = r->spool.fd;
	array_add(r->chunks, r->nchunks, r->chunks_cap, c);
}

/* Walks over the whole records that are unpacked so far. The rest waits for the next piece. */
static void scan_walk_unpacked(struct scan *s, uint64_t offset)
{
	uint64_t order = s->r->order;
	size_t used;

	s->unpacked = true;
	used = scan_walk(s, cursor_of(s->inflate.buf, s->inflate.len, s->r->swap), offset);
	s->unpacked = false;
	s->samples = false;
	scan_spool_records(s, used, order);
	inflate_used(&s->inflate, used);
}

/*
 * Returns the packed bytes of a record. COMPRESSED2 says how many of its bytes are data. perf 6.16
 * may say so wrongly: then all bytes are data except possible padding.
 */
static struct cursor scan_packed_bytes(const struct record *rec)
{
	struct cursor c = rec->body;
	uint64_t size;

	if (rec->type == REC_COMPRESSED)
		return c;
	size = cursor_u64(&c);
	if (size && size <= cursor_left(&c))
		c.end = c.at + size;
	else
		for (int i = 0; i < 7 && c.end > c.at && !c.end[-1]; i++)
			c.end--;
	return c;
}

static void scan_unpack_record(struct scan *s, const struct record *rec)
{
	struct cursor packed = scan_packed_bytes(rec);
	int ret = 0;

	if (s->unpacked || s->broken)
		return;
	inflate_begin(&s->inflate, packed.at, cursor_left(&packed));
	while (!s->ret && (ret = inflate_next(&s->inflate)) > 0)
		scan_walk_unpacked(s, rec->offset);
	s->broken = ret < 0;
	if (s->broken)
		recording_damaged(s->r, rec->offset, "compressed records cannot be unpacked");
}

static void scan_report_rest(struct recording *r, struct cursor rest, uint64_t offset)
{
	uint16_t size;

	cursor_take(&rest, 6);
	size = cursor_u16(&rest);
	if (!rest.bad && size < RECORD_HEADER_SIZE)
		recording_damaged(r, offset, "a record of impossible size");
	else
		recording_damaged(r, offset, "the last record is cut off");
}

static void scan_input(struct scan *s, const struct input *in, size_t at, size_t len)
{
	struct cursor c = cursor_of(in->data + at, len, s->r->swap);
	size_t used;

	s->in = in;
	s->forgotten = at;
	used = scan_walk(s, c, at);
	scan_close_chunk(s);
	input_forget(in->data + at, used);
	if (used < len && !s->ret) {
		cursor_take(&c, used);
		scan_report_rest(s->r, c, at + used);
	}
	if (s->inflate.len)
		recording_damaged(s->r, at + len, "the last compressed record is cut off");
	inflate_end(&s->inflate);
	s->broken = false;
}

int recording_scan(struct recording *r, struct error *err)
{
	struct profile_health *h = &r->profile->health;
	struct scan s = {.r = r, .err = err};

	r->order = r->data_at; /* in a plain file, the order of a record is its offset */
	for (size_t i = 0; i < r->ninputs && !s.ret; i++) {
		if (i)
			scan_input(&s, &r->inputs[i], 0, r->inputs[i].len);
		else
			scan_input(&s, &r->inputs[0], (size_t)r->data_at, (size_t)r->data_len);
	}
	h->lost_records -= r->lost_twice < h->lost_records ? r->lost_twice : h->lost_records;
	if (h->lost_records <
	    r->lost_side) /* the kernel writes no LOST for a buffer that stays full */
		h->lost_records = r->lost_side;
	return s.ret;
}
