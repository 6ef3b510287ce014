// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pass one looks at every record once. It steps over samples and only notes where they lie, as
 * chunks, so that pass two can read them in any order. It unpacks compressed records into a
 * temporary file.
 */
#include "analyze/perfdata/recording.h"

#include "analyze/perfdata/scan.h"
#include "lib/alloc.h"
#include "lib/workers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	CHUNK_BYTES = 1 << 18,
	FORGET_BYTES = 16 << 20,
	PREFETCH_BYTES = 1024,
	PART_BYTES = 4 << 20, /* a thread that gets less work costs more than it saves */
	PARTS_PER_THREAD = 4,
};

/* --- samples ahead --- */

/*
 * Reads record headers through a small buffer. That is faster than mapping all pages of the file.
 */
enum {
	WINDOW = 1 << 17,
	STRETCH_MIN = 1 << 14, /* shorter stretches are not worth their memory */
	STRETCH_MAX = 1 << 16, /* longer stretches would make uneven chunks */
	ALIGNED = 8,	       /* records start at multiples of 8, except after compressed ones */
	RECORD_MAX = 1 << 16,
	LIKELY = 64,	 /* so many headers in a row are hardly a coincidence */
	TRIES = 1 << 14, /* at most so many headers per guess, whatever the file contains */
	HEAD = 16,	 /* a header, and the part of the body that gives the payload's size */
};

struct window {
	int fd;
	uint8_t *buf;
	size_t from, to; /* the part of the file in the buffer */
};

struct stretch_step {
	size_t len; /* distance to the next record */
	uint32_t type;
	bool alone; /* no payload follows */
};

struct stretch_finder {
	struct stretches *s;
	const struct stretch_source *src;
};

static void window_move(struct window *w, size_t at)
{
	ssize_t n;

	do
		n = pread(w->fd, w->buf, WINDOW, (off_t)at);
	while (n < 0 && errno == EINTR);
	w->from = at;
	w->to = at + (n > 0 ? (size_t)n : 0);
}

/* Returns the first bytes of the record at `at`, or fewer at the end. */
static struct cursor window_head_at(struct window *w, const struct stretch_source *src, size_t at)
{
	size_t left = src->at + src->len - at, n = left < HEAD ? left : HEAD;

	if (at < w->from || at + n > w->to)
		window_move(w, at);
	if (n > w->to - at)
		n = w->to - at;
	return cursor_of(w->buf + (at - w->from), n, src->swap);
}

/*
 * Reads the header at `at`. Returns false if the record is cut off, or if headers alone cannot lead
 * past it.
 */
static bool stretch_read_step(struct window *w, const struct stretch_source *src, size_t at,
			      struct stretch_step *step)
{
	struct cursor c = window_head_at(w, src, at);
	size_t left = src->at + src->len - at, size;
	uint64_t payload = 0;

	step->type = cursor_u32(&c);
	cursor_u16(&c);
	size = cursor_u16(&c);
	if (c.bad || size < RECORD_HEADER_SIZE || size > left)
		return false;
	if (step->type == REC_COMPRESSED || step->type == REC_COMPRESSED2)
		return false;
	if (step->type != PERF_RECORD_SAMPLE) {
		if (cursor_left(&c) > size - RECORD_HEADER_SIZE)
			c.end = c.at + (size - RECORD_HEADER_SIZE);
		payload = record_payload(step->type, c);
	}
	step->alone = !payload;
	step->len = size + (size_t)payload;
	return payload <= left - size;
}

/*
 * Returns whether a record may begin at `at`: others follow it up to the end, or at least LIKELY.
 */
static bool stretch_is_likely(struct window *w, const struct stretch_source *src, size_t at,
			      int *tries)
{
	struct stretch_step step;
	int i;

	for (i = 0; i < LIKELY && at < src->at + src->len; i++, at += step.len)
		if (!stretch_read_step(w, src, at, &step) || !record_known(step.type) ||
		    step.len % ALIGNED || --*tries < 0)
			return false;
	return true;
}

/* Returns where the first record at or after `at` probably begins, or the end. */
static size_t stretch_guess_start(struct window *w, const struct stretch_source *src, size_t at)
{
	size_t end = src->at + src->len, stop = end - at < RECORD_MAX ? end : at + RECORD_MAX;
	int tries = TRIES;

	for (; at < stop && tries > 0; at += ALIGNED)
		if (stretch_is_likely(w, src, at, &tries))
			return at;
	return end;
}

static void stretch_keep(struct stretch_part *part, struct stretch *open)
{
	if (open->len >= STRETCH_MIN)
		array_add(part->list, part->n, part->cap, *open);
	open->len = 0;
}

/* A stretch begins with a sample. It may include records that pass one ignores. */
static bool stretch_takes(const struct stretch *open, const struct stretch_step *step)
{
	return step->type == PERF_RECORD_SAMPLE ||
	       (open->len && step->alone && record_quiet(step->type));
}

static void stretches_find_from(struct stretch_part *part, struct window *w,
				const struct stretch_source *src, size_t at, size_t stop)
{
	struct stretch open = {0};
	struct stretch_step step;

	for (; at < stop && stretch_read_step(w, src, at, &step); at += step.len) {
		if (!stretch_takes(&open, &step) || open.len >= STRETCH_MAX)
			stretch_keep(part, &open);
		if (!stretch_takes(&open, &step))
			continue;
		if (!open.len)
			open.at = at;
		open.len += step.len;
	}
	stretch_keep(part, &open);
}

static void stretches_worker(void *arg, size_t number)
{
	const struct stretch_finder *f = arg;
	const struct stretch_source *src = f->src;
	size_t end = src->at + src->len, each = src->len / f->s->nparts / ALIGNED * ALIGNED;
	size_t at = src->at + number * each, stop = number + 1 < f->s->nparts ? at + each : end;
	struct window w = {.fd = src->fd, .buf = xmalloc(WINDOW)};

	if (number)
		at = stretch_guess_start(&w, src, at);
	stretches_find_from(&f->s->parts[number], &w, src, at, stop);
	free(w.buf);
}

void stretches_find(struct stretches *s, const struct stretch_source *src, size_t nparts)
{
	struct stretch_finder f = {s, src};

	*s = (struct stretches){.parts = xcalloc(nparts, sizeof(*s->parts)), .nparts = nparts};
	workers_run(nparts, stretches_worker, &f);
}

const struct stretch *stretches_from(struct stretches *s, size_t at)
{
	const struct stretch_part *part;

	for (; s->part < s->nparts; s->part++, s->next = 0) {
		part = &s->parts[s->part];
		while (s->next < part->n && part->list[s->next].at < at)
			s->next++;
		if (s->next < part->n)
			return &part->list[s->next];
	}
	return NULL;
}

void stretches_free(struct stretches *s)
{
	size_t i;

	for (i = 0; i < s->nparts; i++)
		free(s->parts[i].list);
	free(s->parts);
}

/* --- the scan --- */

struct scan {
	struct recording *r;
	unsigned int threads;
	const struct input *in;
	struct stretches stretches; /* stretches of `in` */
	size_t forgotten;	    /* `in` up to this offset is dropped from memory */
	struct inflate inflate;
	bool broken;	   /* the compressed stream is damaged */
	bool unpacked;	   /* the current records come from `inflate` */
	struct chunk open; /* the growing chunk; len 0: none */
	bool samples;	   /* the growing chunk has samples */
	struct error *err; /* for errors that are not the file's fault */
	int ret;
};

static void scan_add_chunk(struct recording *r, const struct chunk *c)
{
	array_add(r->chunks, r->nchunks, r->chunks_cap, *c);
}

static void scan_close_chunk(struct scan *s)
{
	if (s->open.len && s->samples)
		scan_add_chunk(s->r, &s->open);
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
	uint64_t wrapped = packed_wrapped(*c);
	struct cursor at = *c;

	*rec = (struct record){.type = cursor_u32(&at)};
	rec->misc = cursor_u16(&at);
	rec->size = cursor_u16(&at);
	if (wrapped)
		rec->size = (size_t)wrapped;
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

/* Returns the length of the samples from `c` on: a stretch if one starts here, else one by one. */
static size_t scan_samples_len(struct scan *s, struct cursor c)
{
	const struct stretch *next = NULL;
	size_t at = s->unpacked ? 0 : (size_t)(c.at - s->in->data), len = 0, most = CHUNK_BYTES, n;

	if (!s->unpacked)
		next = stretches_from(&s->stretches, at);
	if (next && next->at == at)
		return next->len;
	if (next && next->at - at < most)
		most = next->at - at;
	while (len < most && (n = scan_sample_size(c))) {
		c.at += n;
		len += n;
	}
	return len;
}

/* Steps over samples, which most records are. Returns false if there is none here. */
static bool scan_step_over_samples(struct scan *s, struct cursor *c)
{
	size_t len = scan_samples_len(s, *c);

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

/* Writes the unpacked records that scan_walk has passed to the spool, as a chunk. */
static void scan_spool_records(struct scan *s, size_t len, uint64_t order)
{
	struct recording *r = s->r;
	struct chunk c = {.at = r->spool.len, .len = len, .order = order};

	if (!len || s->ret)
		return;
	if (r->spool.fd < 0)
		s->ret = spool_open(&r->spool, s->err);
	if (!s->ret)
		s->ret = spool_add(&r->spool, s->inflate.buf, len, s->err);
	c.fd = r->spool.fd;
	scan_add_chunk(r, &c);
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

static int scan_unpack_piece(struct scan *s, const struct cursor *piece, uint64_t offset)
{
	int ret = 0;

	inflate_begin(&s->inflate, piece->at, cursor_left(piece));
	while (!s->ret && (ret = inflate_next(&s->inflate)) > 0)
		scan_walk_unpacked(s, offset);
	return ret;
}

static void scan_unpack_record(struct scan *s, const struct record *rec)
{
	struct packed p = {.rest = rec->body, .sized = rec->type == REC_COMPRESSED2};
	struct cursor piece;

	if (s->unpacked)
		return;
	while (!s->ret && !s->broken && packed_next(&p, &piece))
		s->broken = scan_unpack_piece(s, &piece, rec->offset) < 0;
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
	struct stretch_source src = {in->fd, at, len, s->r->swap};
	struct cursor c = cursor_of(in->data + at, len, s->r->swap);
	size_t used;

	s->in = in;
	s->forgotten = at;
	stretches_find(&s->stretches, &src,
		       workers_count(s->threads, len / PART_BYTES, PARTS_PER_THREAD));
	used = scan_walk(s, c, at);
	stretches_free(&s->stretches);
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

int recording_scan(struct recording *r, unsigned int threads, struct error *err)
{
	struct profile_health *h = &r->profile->health;
	struct scan s = {.r = r, .threads = threads, .err = err};
	size_t i;

	r->order = r->data_at; /* in a plain file, the order of a record is its offset */
	for (i = 0; i < r->ninputs && !s.ret; i++) {
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
