// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/tracepoint_plan.h"

#include "analyze/perfdata/format.h"
#include "analyze/perfdata/sample.h"

#include <string.h>

static const char too_long[] = "a sample longer than its record";
static const char too_short[] = "a tracepoint shorter than its format";

static uint32_t bytes_before(uint64_t type, uint64_t field)
{
	static const uint64_t before[] = {
		PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,	 PERF_SAMPLE_TID,	PERF_SAMPLE_TIME,
		PERF_SAMPLE_ADDR,	PERF_SAMPLE_ID,	 PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,
		PERF_SAMPLE_PERIOD,	PERF_SAMPLE_RAW,
	};
	uint32_t n = 0, i;

	for (i = 0; before[i] != field; i++)
		n += type & before[i] ? 8 : 0;
	return n;
}

void tracepoint_plan_finish(struct tracepoint_plan *p, const struct event *e)
{
	uint64_t type = e->sample_type;
	int i;

	p->fixed = !(type & (PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN));
	p->ids = bytes_before(type, PERF_SAMPLE_TID);
	p->time = bytes_before(type, PERF_SAMPLE_TIME);
	p->cpu = type & PERF_SAMPLE_CPU ? bytes_before(type, PERF_SAMPLE_CPU) : 0;
	p->raw = bytes_before(type, PERF_SAMPLE_RAW);
	for (i = 0; i < TRACEPOINT_FIELDS && p->fields[i].size; i++) {
		p->nfields++;
		if (p->fields[i].at + p->fields[i].size > p->need)
			p->need = p->fields[i].at + p->fields[i].size;
	}
}

static inline uint32_t at32(const uint8_t *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t at64(const uint8_t *p, bool swap)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

static inline uint64_t value_at(const uint8_t *raw, uint32_t need, struct tracing_field f,
				bool swap)
{
	bool bad = false;

	if (f.size == 8)
		return at64(raw + f.at, swap);
	if (f.size == 4 && f.sign)
		return (uint64_t)(int32_t)at32(raw + f.at, swap);
	return tracing_value(f, raw, need, swap, &bad);
}

/* Those that are not asked for are left as they are. */
static inline void take_values(const struct tracepoint_plan *p, const uint8_t *raw, bool swap,
			       struct tracepoint *t)
{
	uint32_t i;

	for (i = 0; i < p->nfields; i++)
		t->v[i] = value_at(raw, p->need, p->fields[i], swap);
}

/* The bytes up to the last field are checked once, then read where they are. */
static inline const char *take_fixed(const struct tracepoint_plan *p, const struct cursor *body,
				     struct tracepoint *t)
{
	size_t left = cursor_left(body), head_size = p->raw + sizeof(uint32_t);
	const uint8_t *head = body->at;
	bool swap = body->swap;
	uint32_t size;

	if (left < head_size)
		return too_long;
	size = at32(head + p->raw, swap);
	if (size > left - head_size)
		return too_long;
	if (size < p->need)
		return too_short;
	t->time = at64(head + p->time, swap);
	t->pid = at32(head + p->ids, swap);
	t->tid = at32(head + p->ids + 4, swap);
	t->cpu = p->cpu ? at32(head + p->cpu, swap) : UINT32_MAX;
	take_values(p, head + head_size, swap, t);
	return NULL;
}

static const char *take_decoded(const struct tracepoint_plan *p, const struct event *e,
				struct cursor body, struct tracepoint *t)
{
	struct sample_rest rest;
	struct sample s;

	if (!sample_decode(&s, e, &body) || !sample_decode_rest(&rest, e, &body))
		return too_long;
	if (rest.raw_size < p->need)
		return too_short;
	t->time = s.time;
	t->pid = s.pid;
	t->tid = s.tid;
	t->cpu = s.cpu;
	take_values(p, rest.raw, body.swap, t);
	return NULL;
}

const char *tracepoint_take(const struct tracepoint_plan *p, const struct event *e,
			    const struct cursor *body, struct tracepoint *t)
{
	t->want = p->want;
	t->event = p->event;
	return p->fixed ? take_fixed(p, body, t) : take_decoded(p, e, *body, t);
}
