// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/recording.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

static const char magic_2[] = "PERFILE2", magic_1[] = "PERFFILE";

struct section {
	uint64_t at, len;
};

static struct section header_read_section(struct cursor *c)
{
	struct section s = {.at = cursor_u64(c)};

	s.len = cursor_u64(c);
	return s;
}

/* Returns a part of the first input, or a bad cursor if the file ends before it. */
static struct cursor header_section_cursor(const struct recording *r, struct section s)
{
	struct cursor c = cursor_of(r->inputs[0].data, r->inputs[0].len, r->swap);

	cursor_take(&c, s.at > SIZE_MAX ? SIZE_MAX : (size_t)s.at);
	return cursor_sub(&c, (size_t)s.len);
}

static int header_reject(const struct recording *r, struct error *err)
{
	const struct input *in = &r->inputs[0];
	char start[24] = "";

	if (!in->len)
		return error_set(
			err, ENODATA,
			"%s: is empty: perf record wrote nothing (was it killed, or the disk full?); record again",
			r->path);
	for (size_t i = 0; i < in->len && i + 1 < sizeof(start); i++) {
		if (in->data[i] == '\n')
			break;
		start[i] = isprint(in->data[i]) ? (char)in->data[i] : '.';
	}
	return error_set(
		err, EBADMSG,
		"%s: is not a perf.data file (starts with \"%s\"); texts have options of their own: --perf-report, --perf-stat, --perf-trace",
		r->path, start);
}

static bool header_detect(struct recording *r)
{
	const struct input *in = &r->inputs[0];
	char reversed[8];

	if (in->len < PIPE_HEADER_SIZE)
		return false;
	for (int i = 0; i < 8; i++)
		reversed[i] = magic_2[7 - i];
	if (!memcmp(in->data, reversed, 8))
		r->swap = true;
	else if (memcmp(in->data, magic_2, 8) && memcmp(in->data, magic_1, 8))
		return false;
	r->big_endian = r->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	return true;
}

static void header_read_ids(struct recording *r, size_t index, struct section ids)
{
	struct cursor c = header_section_cursor(r, ids);

	if (c.bad && ids.len)
		recording_damaged(r, ids.at, "an event's ids lie past the end of the file");
	while (!c.bad && cursor_left(&c) >= 8)
		events_add_id(&r->events, cursor_u64(&c), index);
}

static int header_read_attrs(struct recording *r, struct section attrs, uint64_t entry,
			     struct error *err)
{
	struct cursor all = header_section_cursor(r, attrs), one, attr;
	struct event e;

	if (all.bad || entry < PERF_ATTR_SIZE_VER0 + 16 || attrs.len / entry > EVENTS_MAX)
		return error_set(err, EBADMSG,
				 "%s: the event table at offset %llu is damaged; record again",
				 r->path, (unsigned long long)attrs.at);
	while (cursor_left(&all) >= entry) {
		one = cursor_sub(&all, (size_t)entry);
		attr = cursor_sub(&one, (size_t)entry - 16);
		if (!event_parse(&e, &attr, r->big_endian))
			return error_set(err, EBADMSG,
					 "%s: event %zu in the table at offset %llu is damaged",
					 r->path, r->events.n, (unsigned long long)attrs.at);
		events_add(&r->events, &e);
		header_read_ids(r, r->events.n - 1, header_read_section(&one));
	}
	if (!r->events.n)
		return error_set(err, EBADMSG, "%s: has no event", r->path);
	return 0;
}

/* A string is a length and bytes padded with NUL. */
static const char *header_read_string(struct recording *r, struct cursor *c)
{
	uint32_t len = cursor_u32(c);
	const char *s = cursor_take(c, len);
	char *copy;

	if (!s)
		return NULL;
	len = (uint32_t)strnlen(s, len);
	copy = arena_alloc(&r->arena, len + 1);
	memcpy(copy, s, len);
	return copy;
}

/* The feature lists all events again, each with its name and ids. */
static void header_read_event_desc(struct recording *r, struct cursor c)
{
	uint32_t n = cursor_u32(&c), size = cursor_u32(&c), nids;

	for (uint32_t i = 0; i < n && !c.bad; i++) {
		const char *name;
		uint64_t *index = NULL, id;

		cursor_take(&c, size);
		nids = cursor_u32(&c);
		name = header_read_string(r, &c);
		for (uint32_t k = 0; k < nids && !c.bad; k++) {
			id = cursor_u64(&c);
			index = index ? index : map_get(&r->events.ids, id);
		}
		if (!name || (!index && i >= r->events.n))
			continue;
		event_set_name(&r->events.list[index ? *index - 1 : i], name, strlen(name));
	}
}

void header_read_build_id(struct recording *r, uint16_t misc, struct cursor c)
{
	struct build_id_row row = {0};
	const uint8_t *id;
	const char *name;
	size_t len = 20;
	char *hex;

	cursor_u32(&c); /* pid */
	id = cursor_take(&c, 24);
	name = cursor_take(&c, 0);
	if (c.bad || !memchr(name, 0, cursor_left(&c)))
		return;
	if (misc & MISC_BUILD_ID_SIZE && id[20] <= 20)
		len = id[20];
	/* perf before 5.11 pads shorter ids with zeros */
	while (!(misc & MISC_BUILD_ID_SIZE) && len && !memcmp(id + len - 4, "\0\0\0", 4))
		len -= 4;
	if (!len)
		return;
	hex = arena_alloc(&r->arena, 2 * len + 1);
	for (size_t i = 0; i < len; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	row.hex = hex;
	row.name = arena_strdup(&r->arena, name);
	row.kernel = (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	array_add(r->build_ids, r->nbuild_ids, r->build_ids_cap, row);
}

static void header_read_build_ids(struct recording *r, struct cursor c)
{
	uint16_t misc, size;

	while (cursor_left(&c) >= RECORD_HEADER_SIZE) {
		cursor_u32(&c);
		misc = cursor_u16(&c);
		size = cursor_u16(&c);
		if (size < RECORD_HEADER_SIZE)
			return;
		header_read_build_id(r, misc, cursor_sub(&c, size - (size_t)RECORD_HEADER_SIZE));
	}
}

void header_read_feature(struct recording *r, uint64_t bit, struct cursor c)
{
	switch (bit) {
	case FEAT_BUILD_ID:
		header_read_build_ids(r, c);
		break;
	case FEAT_HOSTNAME:
		r->hostname = header_read_string(r, &c);
		break;
	case FEAT_OSRELEASE:
		r->osrelease = header_read_string(r, &c);
		break;
	case FEAT_ARCH:
		r->arch = header_read_string(r, &c);
		break;
	case FEAT_TRACING_DATA:
		r->tracing = c;
		break;
	case FEAT_EVENT_DESC:
		header_read_event_desc(r, c);
		break;
	}
}

static bool header_has_feature(uint64_t bits, unsigned int bit)
{
	return bits >> bit & 1;
}

/*
 * The bitmap is an array of the writer's longs. All writers set the bit of the host name. If it is
 * missing in a file of the other endianness, the writer's longs had 32 bits. Only the first long
 * has features that zcost knows.
 */
static uint64_t header_read_bitmap(struct cursor c)
{
	struct cursor again = c;
	uint64_t bits = cursor_u64(&c);

	return c.swap && !header_has_feature(bits, FEAT_HOSTNAME) ? cursor_u32(&again) : bits;
}

/* The list of the features' sections follows the data. */
static void header_read_features(struct recording *r, uint64_t bits)
{
	struct section list = {r->data_at + r->data_len, 16};

	for (unsigned int bit = 0; bit < 64; bit++) {
		struct cursor c, body;
		struct section s;

		if (!header_has_feature(bits, bit))
			continue;
		c = header_section_cursor(r, list);
		s = header_read_section(&c);
		body = header_section_cursor(r, s);
		if (c.bad || body.bad) {
			recording_damaged(r, list.at, "the header's features are cut off");
			return;
		}
		header_read_feature(r, bit, body);
		list.at += 16;
	}
}

/* A killed perf record leaves a data size of 0. The records then run to the end of the file. */
static void header_place_data(struct recording *r, struct section data)
{
	uint64_t len = r->inputs[0].len;

	r->data_at = data.at < len ? data.at : len;
	r->data_len = data.len;
	if (!data.len) {
		r->data_len = len - r->data_at;
		recording_damaged(
			r, 40, "perf record did not finish: the header has no size of the data,");
	} else if (data.len > len - r->data_at) {
		r->data_len = len - r->data_at;
		recording_damaged(r, len, "the file ends before its data does,");
	}
}

static int header_read_file(struct recording *r, struct error *err)
{
	struct cursor c = cursor_of(r->inputs[0].data, r->inputs[0].len, r->swap);
	struct section attrs, data;
	uint64_t entry, bits;
	int ret;

	cursor_take(&c, 16);
	entry = cursor_u64(&c);
	attrs = header_read_section(&c);
	data = header_read_section(&c);
	header_read_section(&c); /* event types of old perf */
	bits = header_read_bitmap(c);
	if (cursor_left(&c) < FEAT_BITS / 8)
		return error_set(err, EBADMSG, "%s: the file ends inside its header; record again",
				 r->path);
	ret = header_read_attrs(r, attrs, entry, err);
	if (ret)
		return ret;
	header_place_data(r, data);
	if (!r->profile->health.truncated)
		header_read_features(r, bits);
	return 0;
}

int header_read(struct recording *r, struct error *err)
{
	struct cursor c;

	if (!header_detect(r))
		return header_reject(r, err);
	c = cursor_of(r->inputs[0].data, r->inputs[0].len, r->swap);
	cursor_take(&c, 8);
	if (cursor_u64(&c) == PIPE_HEADER_SIZE) {
		r->pipe = true;
		r->data_at = PIPE_HEADER_SIZE;
		r->data_len = r->inputs[0].len - PIPE_HEADER_SIZE;
		return 0;
	}
	return header_read_file(r, err);
}
