// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pass one: every record is looked at once. Samples are only stepped over; where they lie is kept
 * as chunks, so that pass two can take them in any order. What was compressed is unpacked into a
 * temporary file on the way.
 */
#include "analyze/perfdata/recording.h"

#include "analyze/perfdata/format.h"
#include "analyze/perfdata/inflate.h"
#include "analyze/perfdata/packed.h"
#include "analyze/perfdata/sample.h"
#include "analyze/perfdata/stretches.h"
#include "analyze/perfdata/workers.h"
#include "lib/alloc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	CHUNK_BYTES = 1 << 18,
	FORGET_BYTES = 16 << 20,
	PREFETCH_BYTES = 1024,
	PART_BYTES = 4 << 20, /* a thread for less, or for few of them, is not worth its start */
	PARTS_PER_THREAD = 4,
};

struct scan {
	struct recording *r;
	unsigned int threads;
	const struct input *in;
	struct stretches stretches; /* of it */
	size_t forgotten;	    /* of it: behind us */
	struct inflate inflate;
	bool broken;	   /* the compressed stream cannot be followed any more */
	bool unpacked;	   /* the records at hand come out of `inflate` */
	struct chunk open; /* the chunk being grown; len 0: none */
	bool samples;	   /* and whether it holds any */
	struct error *err; /* a failure that is not the file's fault */
	int ret;
	/* what perf asked the kernel for at the end, and LOST has counted: samples, and others */
	uint64_t lost_twice, lost_side;
};

struct record {
	uint32_t type;
	uint16_t misc;
	size_t size;
	struct cursor body;
	uint64_t order, offset; /* in the stream, in the file */
};

static void add_chunk(struct recording *r, const struct chunk *c)
{
	array_grow(r->chunks, r->nchunks, r->chunks_cap);
	r->chunks[r->nchunks++] = *c;
}

static void chunk_close(struct scan *s)
{
	if (s->open.len && s->samples)
		add_chunk(s->r, &s->open);
	s->open.len = 0;
	s->samples = false;
}

static void chunk_add(struct scan *s, const uint8_t *data, size_t len, uint64_t order)
{
	size_t at;

	if (s->unpacked)
		return; /* will lie in the spool: spool_records */
	at = (size_t)(data - s->in->data);
	if (!s->open.len)
		s->open = (struct chunk){.fd = s->in->fd, .at = at, .order = order};
	s->open.len += len;
	if (s->open.len >= CHUNK_BYTES)
		chunk_close(s);
	if (at - s->forgotten < FORGET_BYTES)
		return;
	input_forget(s->in->data + s->forgotten, at - s->forgotten);
	s->forgotten = at;
}

/* The rest of the record as a string; "" when it is not terminated. */
static const char *rest_string(struct cursor *c)
{
	return c->bad || !c->at || !memchr(c->at, 0, cursor_left(c)) ? "" : (const char *)c->at;
}

static struct side_row row_of(struct scan *s, const struct record *rec, enum side_kind kind)
{
	struct side_row row = {.order = rec->order, .kind = (uint8_t)kind};

	sample_trailer_time(&s->r->events, rec->body, &row.time);
	if (row.time == UINT64_MAX)
		row.time = 0;
	return row;
}

/* "[kernel.kallsyms]_text": where the kernel is, and where that symbol was when it ran. */
static void kernel_map(struct sideband *side, const struct side_map *map, const char *name)
{
	const char *symbol = strchr(name, ']');

	if (side->ref_name[0] || !symbol)
		return;
	snprintf(side->ref_name, sizeof(side->ref_name), "%s", symbol + 1);
	side->ref_addr = map->pgoff;
	side->kernel_start = map->start;
	side->kernel_end = map->end;
}

static void add_map(struct scan *s, const struct record *rec, struct side_map map,
		    struct side_dso dso, const char *name, uint32_t pid)
{
	unsigned int mode = rec->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct side_row row = row_of(s, rec, SIDE_MAP);
	struct sideband *side = &s->r->side;

	if (mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER)
		return;
	if (map.end < map.start)
		map.end = UINT64_MAX;
	dso.name = intern_str(side->strings, name);
	row.pid = mode == PERF_RECORD_MISC_KERNEL ? KERNEL_PID : pid;
	if (row.pid == KERNEL_PID && !strncmp(name, "[kernel.kallsyms]", 17)) {
		kernel_map(side, &map, name);
		if (dso.build_id != UINT32_MAX)
			side->kernel_build_id = dso.build_id;
		return;
	}
	side->nmodules += row.pid == KERNEL_PID;
	map.dso = sideband_dso(side, &dso);
	row.what = sideband_map(side, &map);
	sideband_row(side, &row);
}

static uint32_t take_map(struct cursor *c, struct side_map *map)
{
	uint32_t pid = cursor_u32(c);

	cursor_u32(c); /* tid */
	map->start = cursor_u64(c);
	map->end = map->start + cursor_u64(c);
	map->pgoff = cursor_u64(c);
	return pid;
}

static void on_mmap(struct scan *s, const struct record *rec)
{
	struct side_dso dso = {.build_id = UINT32_MAX};
	struct cursor c = rec->body;
	struct side_map map;
	uint32_t pid = take_map(&c, &map);

	if (c.bad)
		return;
	add_map(s, rec, map, dso, rest_string(&c), pid);
}

static uint32_t mmap2_build_id(struct scan *s, struct cursor id)
{
	uint8_t n = cursor_u8(&id), i;
	const uint8_t *bytes;
	char hex[41] = "";

	cursor_take(&id, 3);
	bytes = cursor_take(&id, 20);
	if (!bytes || n > 20 || !n)
		return UINT32_MAX;
	for (i = 0; i < n; i++)
		snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
	return intern_str(s->r->side.strings, hex);
}

static void on_mmap2(struct scan *s, const struct record *rec)
{
	struct side_dso dso = {.build_id = UINT32_MAX};
	struct cursor c = rec->body, id;
	struct side_map map;
	uint32_t pid = take_map(&c, &map);

	id = cursor_sub(&c, 24);
	cursor_take(&c, 8); /* prot, flags */
	if (c.bad)
		return;
	if (rec->misc & MISC_MMAP_BUILD_ID) {
		dso.build_id = mmap2_build_id(s, id);
	} else {
		dso.major = cursor_u32(&id);
		dso.minor = cursor_u32(&id);
		dso.inode = cursor_u64(&id);
	}
	add_map(s, rec, map, dso, rest_string(&c), pid);
}

static void on_comm(struct scan *s, const struct record *rec)
{
	struct side_row row = row_of(s, rec, SIDE_COMM);
	struct cursor c = rec->body;

	row.pid = cursor_u32(&c);
	row.tid = cursor_u32(&c);
	row.what = intern_str(s->r->side.strings, rest_string(&c));
	if (!c.bad)
		sideband_row(&s->r->side, &row);
}

static void add_task(struct scan *s, const struct record *rec, enum side_kind kind)
{
	struct side_row row = row_of(s, rec, kind);
	struct cursor c = rec->body;

	row.pid = cursor_u32(&c);
	row.ppid = cursor_u32(&c);
	row.tid = cursor_u32(&c);
	row.ptid = cursor_u32(&c);
	row.alone = kind == SIDE_FORK && rec->misc & MISC_FORK_EXEC;
	if (!c.bad)
		sideband_row(&s->r->side, &row);
}

static void on_fork(struct scan *s, const struct record *rec)
{
	add_task(s, rec, SIDE_FORK);
}

static void on_end(struct scan *s, const struct record *rec)
{
	add_task(s, rec, SIDE_EXIT);
}

static void on_ksymbol(struct scan *s, const struct record *rec)
{
	struct side_row row = row_of(s, rec, SIDE_KSYMBOL);
	struct cursor c = rec->body;
	struct side_ksymbol k = {.start = cursor_u64(&c)};

	k.end = k.start + cursor_u32(&c);
	cursor_u16(&c); /* type */
	k.unregister = cursor_u16(&c) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	k.name = intern_str(s->r->side.strings, rest_string(&c));
	if (c.bad)
		return;
	row.pid = KERNEL_PID;
	row.what = sideband_ksymbol(&s->r->side, &k);
	sideband_row(&s->r->side, &row);
}

static void on_lost(struct scan *s, const struct record *rec)
{
	struct cursor c = rec->body;

	cursor_u64(&c); /* id */
	s->r->profile->health.lost_records += cursor_u64(&c);
}

/*
 * The kernel writes these for samples that a PMU dropped. Others perf itself writes at the end,
 * with no time, from PERF_FORMAT_LOST: per event, what found no room in a buffer. LOST has counted
 * those already; and what its own event for the side-band lost are no samples.
 */
static void on_lost_samples(struct scan *s, const struct record *rec)
{
	const struct event *e = sample_trailer_event(&s->r->events, rec->body);
	struct cursor c = rec->body;
	uint64_t n = cursor_u64(&c), time = 0;
	bool side = e && e->type == PERF_TYPE_SOFTWARE && e->config == PERF_COUNT_SW_DUMMY;

	sample_trailer_time(&s->r->events, rec->body, &time);
	if (e && e->read_format & READ_LOST && !time) {
		if (side) {
			s->lost_side += n;
			return;
		}
		s->lost_twice += n;
	}
	s->r->profile->health.lost_samples += n;
}

static void on_throttle(struct scan *s, const struct record *rec)
{
	(void)rec;
	s->r->profile->health.throttled++;
}

static void on_attr(struct scan *s, const struct record *rec)
{
	struct events *ev = &s->r->events;
	struct cursor c = rec->body;
	struct event e;

	if (!event_parse(&e, &c, s->r->big_endian)) {
		recording_damaged(s->r, rec->offset, "an event's description is cut short");
		return;
	}
	if (ev->n == EVENTS_MAX) {
		recording_damaged(s->r, rec->offset, "more events than there can be");
		return;
	}
	events_add(ev, &e);
	while (cursor_left(&c) >= 8)
		events_id(ev, cursor_u64(&c), ev->n - 1);
}

static void on_event_update(struct scan *s, const struct record *rec)
{
	struct events *ev = &s->r->events;
	struct cursor c = rec->body;
	uint64_t type = cursor_u64(&c), *index = map_get(&ev->ids, cursor_u64(&c));
	const char *name = rest_string(&c);

	if (type == EVENT_UPDATE_NAME && index && *name)
		event_set_name(&ev->list[*index - 1], name, strlen(name));
}

static void on_feature(struct scan *s, const struct record *rec)
{
	struct cursor c = rec->body;
	uint64_t bit = cursor_u64(&c);

	if (!c.bad && bit < FEAT_BITS)
		header_feature(s->r, (unsigned int)bit, c);
}

static void on_build_id(struct scan *s, const struct record *rec)
{
	header_build_id(s->r, rec->misc, rec->body);
}

/* A chunk with samples has it among its records; a stretch without them is not kept. */
static void on_round(struct scan *s, const struct record *rec)
{
	struct recording *r = s->r;

	(void)rec;
	if (!s->unpacked && !s->samples && r->nchunks)
		r->chunks[r->nchunks - 1].round = true;
}

/* The payload follows the record; cut off, its start counts. */
static void take_tracing_data(struct scan *s, struct cursor rest, uint64_t len)
{
	if (len < cursor_left(&rest))
		rest.end = rest.at + len;
	if (!s->unpacked)
		s->r->tracing = rest;
}

static void on_compressed(struct scan *s, const struct record *rec);

static const struct {
	uint32_t type;
	void (*fn)(struct scan *, const struct record *);
} handlers[] = {
	{PERF_RECORD_MMAP, on_mmap},	     {PERF_RECORD_LOST, on_lost},
	{PERF_RECORD_COMM, on_comm},	     {PERF_RECORD_EXIT, on_end},
	{PERF_RECORD_THROTTLE, on_throttle}, {PERF_RECORD_FORK, on_fork},
	{PERF_RECORD_MMAP2, on_mmap2},	     {PERF_RECORD_LOST_SAMPLES, on_lost_samples},
	{PERF_RECORD_KSYMBOL, on_ksymbol},   {REC_HEADER_ATTR, on_attr},
	{REC_HEADER_BUILD_ID, on_build_id},  {REC_FINISHED_ROUND, on_round},
	{REC_EVENT_UPDATE, on_event_update}, {REC_HEADER_FEATURE, on_feature},
	{REC_COMPRESSED, on_compressed},     {REC_COMPRESSED2, on_compressed},
};

static void (*handler_of(uint32_t type))(struct scan *, const struct record *)
{
	size_t i;

	for (i = 0; i < array_size(handlers); i++)
		if (handlers[i].type == type)
			return handlers[i].fn;
	return NULL;
}

bool record_known(uint32_t type)
{
	return type && (type <= 31 || type >= 64) && type < REC_KNOWN;
}

bool record_quiet(uint32_t type)
{
	return record_known(type) && !handler_of(type);
}

static void handle(struct scan *s, const struct record *rec)
{
	void (*fn)(struct scan *, const struct record *) = handler_of(rec->type);

	if (fn)
		fn(s, rec);
	else if (!record_known(rec->type))
		s->r->profile->health.unknown_records++;
}

uint64_t record_payload(uint32_t type, struct cursor body)
{
	if (type == REC_AUXTRACE)
		return cursor_u64(&body);
	if (type == REC_HEADER_TRACING_DATA)
		return ((uint64_t)cursor_u32(&body) + 7) & ~7ULL;
	return 0;
}

/* Reads a record's header and body. False: it is cut off, or its size impossible (0). */
static bool next_record(struct scan *s, struct cursor *c, struct record *rec)
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

static bool is_packed(const struct record *rec)
{
	return rec->type == REC_COMPRESSED || rec->type == REC_COMPRESSED2;
}

/* Everything but samples. False: its payload is cut off. */
static bool side_record(struct scan *s, struct cursor *c, const struct record *rec)
{
	uint64_t skip;

	handle(s, rec);
	skip = record_payload(rec->type, rec->body);
	if (skip)
		chunk_close(s);
	if (rec->type == REC_HEADER_TRACING_DATA)
		take_tracing_data(s, *c, skip);
	return !skip || cursor_take(c, skip > SIZE_MAX ? SIZE_MAX : (size_t)skip);
}

/* Of a sample, only its length counts here; 0: it is none, or not whole. */
static inline size_t sample_size(struct cursor at)
{
	size_t size, left = cursor_left(&at);

	__builtin_prefetch(at.at + PREFETCH_BYTES); /* pages lie anywhere: the CPU cannot guess */
	if (cursor_u32(&at) != PERF_RECORD_SAMPLE)
		return 0;
	cursor_u16(&at);
	size = cursor_u16(&at);
	return at.bad || size < RECORD_HEADER_SIZE || size > left ? 0 : size;
}

/* From where samples follow each other, as many as are known to; else one by one. */
static size_t samples_len(struct scan *s, struct cursor c)
{
	const struct stretch *next = NULL;
	size_t at = s->unpacked ? 0 : (size_t)(c.at - s->in->data), len = 0, most = CHUNK_BYTES, n;

	if (!s->unpacked)
		next = stretches_from(&s->stretches, at);
	if (next && next->at == at)
		return next->len;
	if (next && next->at - at < most)
		most = next->at - at;
	while (len < most && (n = sample_size(c))) {
		c.at += n;
		len += n;
	}
	return len;
}

/* Most records are samples, one behind the other. False: here is none. */
static bool step_over_samples(struct scan *s, struct cursor *c)
{
	size_t len = samples_len(s, *c);

	if (!len)
		return false;
	s->samples = true;
	chunk_add(s, c->at, len, s->r->order);
	s->r->order += len;
	c->at += len;
	return true;
}

/*
 * Steps over the whole records of `c`, whose bytes lie in the file from `offset` on. Gives how many
 * bytes were used: fewer than there are, before a record that is cut off or damaged.
 */
static size_t walk(struct scan *s, struct cursor c, uint64_t offset)
{
	const uint8_t *start = c.at;
	struct record rec;

	while (!s->ret) {
		const uint8_t *at = c.at;

		if (step_over_samples(s, &c))
			continue;
		if (!next_record(s, &c, &rec))
			break;
		rec.offset = offset + (s->unpacked ? 0 : (uint64_t)(at - start));
		if (is_packed(&rec)) /* its size may not be what its header says */
			chunk_close(s);
		else
			chunk_add(s, at, rec.size, rec.order);
		if (!side_record(s, &c, &rec))
			return (size_t)(at - start);
	}
	return (size_t)(c.at - start);
}

/* Keeps the unpacked records that were just walked over as a chunk of the spool. */
static void spool_records(struct scan *s, size_t len, uint64_t order)
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
	add_chunk(r, &c);
}

/* The records that are whole in what is unpacked so far; the rest waits for the next piece. */
static void unpacked_records(struct scan *s, uint64_t offset)
{
	uint64_t order = s->r->order;
	size_t used;

	s->unpacked = true;
	used = walk(s, cursor_of(s->inflate.buf, s->inflate.len, s->r->swap), offset);
	s->unpacked = false;
	s->samples = false;
	spool_records(s, used, order);
	inflate_used(&s->inflate, used);
}

static int unpack(struct scan *s, const struct cursor *piece, uint64_t offset)
{
	int ret = 0;

	inflate_begin(&s->inflate, piece->at, cursor_left(piece));
	while (!s->ret && (ret = inflate_next(&s->inflate)) > 0)
		unpacked_records(s, offset);
	return ret;
}

static void on_compressed(struct scan *s, const struct record *rec)
{
	struct packed p = {.rest = rec->body, .sized = rec->type == REC_COMPRESSED2};
	struct cursor piece;

	if (s->unpacked)
		return;
	while (!s->ret && !s->broken && packed_next(&p, &piece))
		s->broken = unpack(s, &piece, rec->offset) < 0;
	if (s->broken)
		recording_damaged(s->r, rec->offset, "compressed records cannot be unpacked");
}

static void describe_rest(struct recording *r, struct cursor rest, uint64_t offset)
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
	used = walk(s, c, at);
	stretches_free(&s->stretches);
	chunk_close(s);
	input_forget(in->data + at, used);
	if (used < len && !s->ret) {
		cursor_take(&c, used);
		describe_rest(s->r, c, at + used);
	}
	if (s->inflate.len)
		recording_damaged(s->r, at + len, "the last compressed record is cut off");
	inflate_end(&s->inflate);
	s->broken = false;
}

int records_scan(struct recording *r, unsigned int threads, struct error *err)
{
	struct profile_health *h = &r->profile->health;
	struct scan s = {.r = r, .threads = threads, .err = err};
	size_t i;

	for (i = 0; i < r->ninputs && !s.ret; i++) {
		if (i)
			scan_input(&s, &r->inputs[i], 0, r->inputs[i].len);
		else
			scan_input(&s, &r->inputs[0], (size_t)r->data_at, (size_t)r->data_len);
	}
	h->lost_records -= s.lost_twice < h->lost_records ? s.lost_twice : h->lost_records;
	if (h->lost_records < s.lost_side) /* LOST is not told of a buffer that stayed full */
		h->lost_records = s.lost_side;
	return s.ret;
}
