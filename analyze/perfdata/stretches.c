// SPDX-License-Identifier: GPL-2.0-only
/*
 * Record headers are read through a small buffer, not out of a mapping: copying the whole file
 * into a cache costs less than having all of its pages mapped and unmapped.
 */
#include "analyze/perfdata/stretches.h"

#include "analyze/perfdata/recording.h"
#include "analyze/perfdata/workers.h"
#include "lib/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	WINDOW = 1 << 17,
	STRETCH_MIN = 1 << 14, /* shorter ones are not worth their memory, however many there are */
	STRETCH_MAX = 1 << 16, /* and longer ones would make uneven chunks */
	ALIGNED = 8,	       /* records are, but packed ones, which are not stepped over */
	RECORD_MAX = 1 << 16,
	LIKELY = 64,	 /* so many headers in a row are hardly anything else */
	TRIES = 1 << 14, /* headers looked at for one guess: bounded, whatever the file holds */
	HEAD = 16,	 /* a header, and what may tell of a payload */
};

struct window {
	int fd;
	uint8_t *buf;
	size_t from, to; /* what of the file is in it */
};

struct step {
	size_t len; /* to the next record */
	uint32_t type;
	bool alone; /* no payload follows it */
};

struct finder {
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

/* The first bytes of the record at `at`; fewer where the records or the file end. */
static struct cursor head_at(struct window *w, const struct stretch_source *src, size_t at)
{
	size_t left = src->at + src->len - at, n = left < HEAD ? left : HEAD;

	if (at < w->from || at + n > w->to)
		window_move(w, at);
	if (n > w->to - at)
		n = w->to - at;
	return cursor_of(w->buf + (at - w->from), n, src->swap);
}

/* The record at `at`. False: it is not whole, or no one who reads headers alone can pass it. */
static bool look(struct window *w, const struct stretch_source *src, size_t at, struct step *step)
{
	struct cursor c = head_at(w, src, at);
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

/* Whether a record may begin at `at`: it is followed by others up to the end, or for long enough.
 */
static bool likely(struct window *w, const struct stretch_source *src, size_t at, int *tries)
{
	struct step step;
	int i;

	for (i = 0; i < LIKELY && at < src->at + src->len; i++, at += step.len)
		if (!look(w, src, at, &step) || !record_known(step.type) || step.len % ALIGNED ||
		    --*tries < 0)
			return false;
	return true;
}

/* Where the first record from `at` on may begin; the end, where there is nothing likely. */
static size_t guess(struct window *w, const struct stretch_source *src, size_t at)
{
	size_t end = src->at + src->len, stop = end - at < RECORD_MAX ? end : at + RECORD_MAX;
	int tries = TRIES;

	for (; at < stop && tries > 0; at += ALIGNED)
		if (likely(w, src, at, &tries))
			return at;
	return end;
}

static void keep(struct stretch_part *part, struct stretch *open)
{
	if (open->len >= STRETCH_MIN) {
		array_grow(part->list, part->n, part->cap);
		part->list[part->n++] = *open;
	}
	open->len = 0;
}

/* A stretch begins with a sample; what pass one does nothing about may lie in it. */
static bool belongs(const struct stretch *open, const struct step *step)
{
	return step->type == PERF_RECORD_SAMPLE ||
	       (open->len && step->alone && record_quiet(step->type));
}

static void find(struct stretch_part *part, struct window *w, const struct stretch_source *src,
		 size_t at, size_t stop)
{
	struct stretch open = {0};
	struct step step;

	for (; at < stop && look(w, src, at, &step); at += step.len) {
		if (!belongs(&open, &step) || open.len >= STRETCH_MAX)
			keep(part, &open);
		if (!belongs(&open, &step))
			continue;
		if (!open.len)
			open.at = at;
		open.len += step.len;
	}
	keep(part, &open);
}

static void find_part(void *arg, size_t number)
{
	const struct finder *f = arg;
	const struct stretch_source *src = f->src;
	size_t end = src->at + src->len, each = src->len / f->s->nparts / ALIGNED * ALIGNED;
	size_t at = src->at + number * each, stop = number + 1 < f->s->nparts ? at + each : end;
	struct window w = {.fd = src->fd, .buf = xmalloc(WINDOW)};

	if (number)
		at = guess(&w, src, at);
	find(&f->s->parts[number], &w, src, at, stop);
	free(w.buf);
}

void stretches_find(struct stretches *s, const struct stretch_source *src, size_t nparts)
{
	struct finder f = {s, src};

	*s = (struct stretches){.parts = xcalloc(nparts, sizeof(*s->parts)), .nparts = nparts};
	workers_run(nparts, find_part, &f);
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
