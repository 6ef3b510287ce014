// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/format.h"

/* Older headers lack these. */
enum {
	BRANCH_HW_INDEX = 1 << 17,
	BRANCH_COUNTERS = 1 << 19,
};

static unsigned int count_bits(uint64_t v)
{
	return (unsigned int)__builtin_popcountll(v);
}

/* Sets the number of words before the values, and per value. */
static void sample_read_layout(const struct event *e, unsigned int *head, unsigned int *each)
{
	uint64_t f = e->read_format;
	unsigned int times =
		count_bits(f & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING));

	*head = times + !!(f & PERF_FORMAT_GROUP);
	*each = 1 + count_bits(f & (PERF_FORMAT_ID | READ_LOST));
}

/* A group is { nr, times, { value, id, lost } x nr }, a single event { value, times, id, lost }. */
static void sample_decode_read(struct sample *s, const struct event *e, struct cursor *c)
{
	struct cursor peek = *c;
	unsigned int head, each;
	uint64_t nr = 1;

	sample_read_layout(e, &head, &each);
	if (e->read_format & PERF_FORMAT_GROUP)
		nr = cursor_u64(&peek);
	if (nr > cursor_left(c) / 8)
		nr = cursor_left(c) + 1; /* too large, so cursor_sub fails */
	s->read = cursor_sub(c, (head + nr * each) * 8);
	c->bad |= s->read.bad;
}

static void sample_decode_chain(struct sample *s, struct cursor *c)
{
	s->nr = cursor_u64(c);
	if (s->nr > cursor_left(c) / 8) {
		c->bad = true;
		return;
	}
	s->chain = cursor_take(c, (size_t)s->nr * 8);
}

bool sample_decode(struct sample *s, const struct event *e, struct cursor *c)
{
	uint64_t type = e->sample_type;

	*s = (struct sample){.period = e->sample_period,
			     .pid = UINT32_MAX,
			     .tid = UINT32_MAX,
			     .cpu = UINT32_MAX};
	if (type & PERF_SAMPLE_IDENTIFIER)
		s->id = cursor_u64(c);
	if (type & PERF_SAMPLE_IP)
		s->ip = cursor_u64(c);
	if (type & PERF_SAMPLE_TID) {
		s->pid = cursor_u32(c);
		s->tid = cursor_u32(c);
	}
	if (type & PERF_SAMPLE_TIME)
		s->time = cursor_u64(c);
	if (type & PERF_SAMPLE_ADDR)
		cursor_u64(c);
	if (type & PERF_SAMPLE_ID)
		s->id = cursor_u64(c);
	if (type & PERF_SAMPLE_STREAM_ID)
		cursor_u64(c);
	if (type & PERF_SAMPLE_CPU) {
		s->cpu = cursor_u32(c);
		cursor_u32(c);
	}
	if (type & PERF_SAMPLE_PERIOD)
		s->period = cursor_u64(c);
	if (type & PERF_SAMPLE_READ)
		sample_decode_read(s, e, c);
	if (type & PERF_SAMPLE_CALLCHAIN)
		sample_decode_chain(s, c);
	return !c->bad;
}

static void sample_skip_branches(const struct event *e, struct cursor *c)
{
	uint64_t nr = cursor_u64(c), words = 3;

	if (e->branch_sample_type & BRANCH_HW_INDEX)
		cursor_u64(c);
	if (e->branch_sample_type & BRANCH_COUNTERS)
		words++; /* one counter word per entry follows the entries */
	if (nr > cursor_left(c) / 8)
		c->bad = true;
	else
		cursor_take(c, (size_t)(nr * words * 8));
}

static void sample_decode_user_state(struct sample_rest *r, const struct event *e, struct cursor *c)
{
	uint64_t size;

	if (e->sample_type & PERF_SAMPLE_REGS_USER) {
		r->user_abi = cursor_u64(c);
		if (r->user_abi)
			r->user_regs = cursor_sub(c, count_bits(e->regs_user) * 8);
	}
	if (e->sample_type & PERF_SAMPLE_STACK_USER) {
		size = cursor_u64(c);
		if (!size)
			return;
		r->stack = size <= cursor_left(c) ? cursor_take(c, (size_t)size) : NULL;
		c->bad |= !r->stack;
		r->stack_size = cursor_u64(c);
		if (r->stack_size > size)
			r->stack_size = size;
	}
}

bool sample_decode_rest(struct sample_rest *r, const struct event *e, struct cursor *c)
{
	uint64_t type = e->sample_type;

	*r = (struct sample_rest){0};
	if (type & PERF_SAMPLE_RAW) {
		r->raw_size = cursor_u32(c);
		r->raw = cursor_take(c, r->raw_size);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		sample_skip_branches(e, c);
	sample_decode_user_state(r, e, c);
	return !c->bad;
}

int sample_id_at(const struct events *ev)
{
	uint64_t type = ev->list[0].sample_type;

	if (type & PERF_SAMPLE_IDENTIFIER)
		return 0;
	if (!(type & PERF_SAMPLE_ID))
		return -1;
	return (int)(8 * count_bits(type & (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
					    PERF_SAMPLE_ADDR)));
}

long sample_event_by_id(const struct events *ev, struct cursor body)
{
	uint64_t id, *index;
	int at;

	if (!ev->n)
		return -1;
	at = sample_id_at(ev);
	if (at < 0)
		return 0; /* events without ids cannot be told apart */
	cursor_take(&body, (size_t)at);
	id = cursor_u64(&body);
	if (!id)
		return 0; /* perf made the sample up */
	index = map_get(&ev->ids, id);
	return index && *index <= ev->n ? (long)*index - 1 : -1;
}

bool sample_read_value(const struct sample *s, const struct event *e, unsigned int i,
		       struct sample_value *v)
{
	bool group = e->read_format & PERF_FORMAT_GROUP;
	struct cursor c = s->read;
	unsigned int head, each;
	uint64_t nr = 1;

	sample_read_layout(e, &head, &each);
	if (group)
		nr = cursor_u64(&c);
	if (c.bad || !c.at || i >= nr)
		return false;
	if (group)
		cursor_take(&c, (head - 1 + (size_t)i * each) * 8);
	v->value = cursor_u64(&c);
	if (!group)
		cursor_take(&c, (size_t)head * 8);
	v->id = e->read_format & PERF_FORMAT_ID ? cursor_u64(&c) : 0;
	return !c.bad;
}

/* Returns the distance of the time from the record's end in bytes, or 0 without a time. */
static size_t trailer_time_offset(const struct event *e)
{
	uint64_t behind = PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
			  PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

	if (!e->sample_id_all || !(e->sample_type & PERF_SAMPLE_TIME))
		return 0;
	return 8 * count_bits(e->sample_type & behind);
}

/* Returns the distance of the id from the record's end in bytes, or 0 without an id. */
static size_t trailer_id_offset(uint64_t type)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		return 8;
	return type & PERF_SAMPLE_ID
		       ? 8 * count_bits(type &
					(PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU))
		       : 0;
}

/* In recordings of several events, the id is at the same place for all of them. */
const struct event *sample_trailer_event(const struct events *ev, struct cursor body)
{
	const struct event *e = ev->n ? &ev->list[0] : NULL;
	uint64_t *index;
	size_t back;

	if (!e || !e->sample_id_all)
		return NULL;
	back = trailer_id_offset(e->sample_type);
	if (ev->n == 1 || !back || cursor_left(&body) < back)
		return e;
	cursor_take(&body, cursor_left(&body) - back);
	index = map_get(&ev->ids, cursor_u64(&body));
	return index && *index <= ev->n ? &ev->list[*index - 1] : e;
}

bool sample_trailer_time(const struct events *ev, struct cursor body, uint64_t *time)
{
	const struct event *e = sample_trailer_event(ev, body);
	size_t back = e ? trailer_time_offset(e) : 0;

	if (!back || back > cursor_left(&body))
		return false;
	cursor_take(&body, cursor_left(&body) - back);
	*time = cursor_u64(&body);
	return true;
}
