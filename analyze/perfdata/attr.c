// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/format.h"

#include "lib/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	int i;

	for (i = 0; i < 64; i++)
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
	size_t i;

	*at++ = ':';
	for (i = 0; i < array_size(contexts); i++)
		all &= !attr_flag(flags, contexts[i].excluded);
	for (i = 0; i < array_size(contexts) && !all; i++)
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

static void attr_parse_rest(struct event *e, struct cursor c)
{
	cursor_take(&c, 24); /* wakeup, bp_type, config1, config2 */
	e->branch_sample_type = cursor_u64(&c);
	e->regs_user = cursor_u64(&c);
	e->stack_user = cursor_u32(&c);
	/* The attr may end anywhere here. Missing fields read as 0. */
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
	attr_parse_rest(e, attr);
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
	size_t i;

	for (i = 0; i < ev->n; i++)
		if (!ev->list[i].name)
			ev->list[i].name = event_make_name(&ev->list[i]);
}

void events_free(struct events *ev)
{
	size_t i;

	for (i = 0; i < ev->n; i++)
		free(ev->list[i].name);
	free(ev->list);
	map_free(&ev->ids);
	*ev = (struct events){0};
}
