// SPDX-License-Identifier: GPL-2.0-only
/* What each record means that is neither a sample nor part of the side-band. */
#include "analyze/perfdata/recording.h"

#include <stdio.h>

const char *record_rest_string(struct cursor *c)
{
	return c->bad || !c->at || !memchr(c->at, 0, cursor_left(c)) ? "" : (const char *)c->at;
}

static void record_read_lost(struct recording *r, const struct record *rec)
{
	struct cursor c = rec->body;

	cursor_u64(&c); /* id */
	r->profile->health.lost_records += cursor_u64(&c);
}

/*
 * The kernel writes this record for samples that a PMU dropped. perf itself also writes it, at the
 * end and without a time, from PERF_FORMAT_LOST: per event, the records that did not fit into a
 * buffer. LOST records have already counted those. Losses of perf's own side-band event are no
 * samples.
 */
static void record_read_lost_samples(struct recording *r, const struct record *rec)
{
	const struct event *e = sample_trailer_event(&r->events, rec->body);
	struct cursor c = rec->body;
	uint64_t n = cursor_u64(&c), time = 0;
	bool side = e && e->type == PERF_TYPE_SOFTWARE && e->config == PERF_COUNT_SW_DUMMY;

	if (rec->misc & MISC_LOST_SAMPLES_BPF) /* the user's filter left them out */
		return;
	sample_trailer_time(&r->events, rec->body, &time);
	if (e && e->read_format & READ_LOST && !time) {
		if (side) {
			r->lost_side += n;
			return;
		}
		r->lost_twice += n;
	}
	r->profile->health.lost_samples += n;
}

static void record_read_throttle(struct recording *r, const struct record *rec)
{
	(void)rec;
	r->profile->health.throttled++;
}

static void record_read_attr(struct recording *r, const struct record *rec)
{
	struct events *ev = &r->events;
	struct cursor c = rec->body;
	struct event e;

	if (!event_parse(&e, &c, r->big_endian)) {
		recording_damaged(r, rec->offset, "an event's description is cut off");
		return;
	}
	if (ev->n == EVENTS_MAX) {
		recording_damaged(r, rec->offset, "an impossible number of events");
		return;
	}
	events_add(ev, &e);
	while (cursor_left(&c) >= 8)
		events_add_id(ev, cursor_u64(&c), ev->n - 1);
}

static void record_read_event_update(struct recording *r, const struct record *rec)
{
	struct events *ev = &r->events;
	struct cursor c = rec->body;
	uint64_t type = cursor_u64(&c), *index = map_get(&ev->ids, cursor_u64(&c));
	const char *name = record_rest_string(&c);

	if (type == EVENT_UPDATE_NAME && index && *name)
		event_set_name(&ev->list[*index - 1], name, strlen(name));
}

static void record_read_feature(struct recording *r, const struct record *rec)
{
	struct cursor c = rec->body;
	uint64_t bit = cursor_u64(&c);

	header_read_feature(r, bit, c);
}

static void record_read_build_id(struct recording *r, const struct record *rec)
{
	header_read_build_id(r, rec->misc, rec->body);
}

static const struct {
	uint32_t type;
	void (*read)(struct recording *, const struct record *);
} record_readers[] = {
	{PERF_RECORD_MMAP, sideband_read_mmap},
	{PERF_RECORD_LOST, record_read_lost},
	{PERF_RECORD_COMM, sideband_read_comm},
	{PERF_RECORD_EXIT, sideband_read_task},
	{PERF_RECORD_THROTTLE, record_read_throttle},
	{PERF_RECORD_FORK, sideband_read_task},
	{PERF_RECORD_MMAP2, sideband_read_mmap},
	{PERF_RECORD_LOST_SAMPLES, record_read_lost_samples},
	{PERF_RECORD_KSYMBOL, sideband_read_ksymbol},
	{REC_HEADER_ATTR, record_read_attr},
	{REC_HEADER_BUILD_ID, record_read_build_id},
	{REC_EVENT_UPDATE, record_read_event_update},
	{REC_HEADER_FEATURE, record_read_feature},
};

void record_read(struct recording *r, const struct record *rec)
{
	for (size_t i = 0; i < array_size(record_readers); i++)
		if (record_readers[i].type == rec->type)
			record_readers[i].read(r, rec);
}

uint64_t record_payload(uint32_t type, struct cursor body)
{
	if (type == REC_AUXTRACE)
		return cursor_u64(&body);
	if (type == REC_HEADER_TRACING_DATA)
		return ((uint64_t)cursor_u32(&body) + 7) & ~7ULL;
	return 0;
}
