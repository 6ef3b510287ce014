// SPDX-License-Identifier: GPL-2.0-only
/* Reads the events of a recording (struct perf_event_attr) and their samples. */
#include "analyze/perfdata/format.h"

#include "lib/alloc.h"

#include <stdio.h>

/* --- events --- */

/* Bits of the attr's flags word as little-endian compilers place them. */
enum {
	FLAG_INHERIT = 1,
	FLAG_EXCLUDE_USER = 4,
	FLAG_EXCLUDE_KERNEL = 5,
	FLAG_EXCLUDE_HV = 6,
	FLAG_FREQ = 10,
	FLAG_PRECISE = 15, /* two bits */
	FLAG_SAMPLE_ID_ALL = 18,
	FLAG_EXCLUDE_HOST = 19,
	FLAG_EXCLUDE_GUEST = 20,
};

static const char *const hardware_names[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

static const char *const software_names[] = {
	"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches",
};

static uint64_t attr_reverse_bits(uint64_t v)
{
	uint64_t out = 0;

	for (int i = 0; i < 64; i++)
		out |= (v >> i & 1) << (63 - i);
	return out;
}

static bool attr_flag(uint64_t flags, int bit)
{
	return flags >> bit & 1;
}

/* Writes ":u", ":k" or ":ppH" as perf does (evsel__add_modifiers). */
static void event_write_modifier(struct event *e, uint64_t flags)
{
	static const struct {
		int excluded;
		char letter;
	} contexts[] = {
		{FLAG_EXCLUDE_KERNEL, 'k'}, {FLAG_EXCLUDE_USER, 'u'}, {FLAG_EXCLUDE_HV, 'h'}};
	int precise = (int)(flags >> FLAG_PRECISE & 3);
	bool all = true, guest_is_out = precise;
	char *at = e->modifier;

	*at++ = ':';
	for (size_t i = 0; i < array_size(contexts); i++)
		all &= !attr_flag(flags, contexts[i].excluded);
	for (size_t i = 0; i < array_size(contexts) && !all; i++)
		if (!attr_flag(flags, contexts[i].excluded))
			*at++ = contexts[i].letter;
	while (precise-- > 0)
		*at++ = 'p';
	if (attr_flag(flags, FLAG_EXCLUDE_HOST) ||
	    attr_flag(flags, FLAG_EXCLUDE_GUEST) == (guest_is_out || !all)) {
		if (!attr_flag(flags, FLAG_EXCLUDE_HOST))
			*at++ = 'H';
		if (!attr_flag(flags, FLAG_EXCLUDE_GUEST))
			*at++ = 'G';
	}
	*at = '\0';
	if (!e->modifier[1])
		e->modifier[0] = '\0';
}

bool event_parse(struct event *e, struct cursor *c, bool big_endian)
{
	struct cursor attr = *c, head = *c;
	uint64_t flags;
	uint32_t size;

	*e = (struct event){.type = cursor_u32(&head)};
	size = cursor_u32(&head);
	attr = cursor_sub(c, size ? size : PERF_ATTR_SIZE_VER0);
	if (attr.bad || cursor_left(&attr) < PERF_ATTR_SIZE_VER0)
		return false;
	cursor_take(&attr, 8);
	e->config = cursor_u64(&attr);
	e->sample_period = cursor_u64(&attr);
	e->sample_type = cursor_u64(&attr);
	e->read_format = cursor_u64(&attr);
	flags = cursor_u64(&attr);
	if (big_endian)
		flags = attr_reverse_bits(flags);
	e->inherit = attr_flag(flags, FLAG_INHERIT);
	e->freq = attr_flag(flags, FLAG_FREQ);
	e->sample_id_all = attr_flag(flags, FLAG_SAMPLE_ID_ALL);
	event_write_modifier(e, flags);
	/* The attr may end anywhere from here on. Missing fields read as 0. */
	cursor_take(&attr, 24); /* wakeup, bp_type, config1, config2 */
	e->branch_sample_type = cursor_u64(&attr);
	e->regs_user = cursor_u64(&attr);
	e->stack_user = cursor_u32(&attr);
	return true;
}

struct event *events_add(struct events *ev, const struct event *e)
{
	array_add(ev->list, ev->n, ev->cap, *e);
	return &ev->list[ev->n - 1];
}

void events_add_id(struct events *ev, uint64_t id, size_t index)
{
	*map_at(&ev->ids, id) = index + 1;
}

void event_set_name(struct event *e, const char *name, size_t len)
{
	free(e->name);
	e->name = xstrndup(name, len);
}

static char *event_make_name(const struct event *e)
{
	if (e->type == PERF_TYPE_HARDWARE && e->config < array_size(hardware_names))
		return xasprintf("%s%s", hardware_names[e->config], e->modifier);
	if (e->type == PERF_TYPE_SOFTWARE && e->config < array_size(software_names))
		return xasprintf("%s%s", software_names[e->config], e->modifier);
	if (e->type == PERF_TYPE_TRACEPOINT)
		return xasprintf("tracepoint %llu", (unsigned long long)e->config);
	if (e->type == PERF_TYPE_RAW)
		return xasprintf("raw 0x%llx%s", (unsigned long long)e->config, e->modifier);
	return xasprintf("event %u/0x%llx%s", e->type, (unsigned long long)e->config, e->modifier);
}

void events_name_rest(struct events *ev)
{
	for (size_t i = 0; i < ev->n; i++)
		if (!ev->list[i].name)
			ev->list[i].name = event_make_name(&ev->list[i]);
}

void events_free(struct events *ev)
{
	array_free(e, ev->list, ev->n, free(e->name));
	map_free(&ev->ids);
	*ev = (struct events){0};
}

/* --- samples --- */

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

static void sample_decode_branches(struct sample_rest *r, const struct event *e, struct cursor *c)
{
	uint64_t nr = cursor_u64(c), words = 3;

	if (e->branch_sample_type & BRANCH_HW_INDEX)
		cursor_u64(c);
	if (e->branch_sample_type & BRANCH_COUNTERS)
		words++; /* one counter word per entry follows the entries */
	if (nr > cursor_left(c) / 8)
		c->bad = true;
	else
		r->branches = cursor_take(c, (size_t)(nr * words * 8));
	r->nbranches = nr;
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
		sample_decode_branches(r, e, c);
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
