// SPDX-License-Identifier: GPL-2.0-only
/*
 * How far another host's CLOCK_MONOTONIC is ahead of ours. A question is sent at s and the answer
 * heard at h, by our clock; there, it was heard at H and answered at S. No message travels faster
 * than at once, so that H - s (the way there) is no less than the offset, and S - h (the way back)
 * no more. Of all trips the least of the one and the most of the other hold, each from the trip
 * whose way was quickest: the offset lies between them, however unequal the ways are.
 */
#include "capture/remote.h"

#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/file.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIPS = 20 };

struct bounds {
	int64_t low, high, rtt;
};

static int clock_trip(struct remote *r, struct interrupt *intr, struct bounds *b, struct error *err)
{
	struct str answer = {0};
	uint64_t sent = clock_mono_ns(), got, heard, said;
	int rc = remote_ask(r, intr, "clock", &answer, err);
	char end;

	got = clock_mono_ns();
	if (!rc && sscanf(answer.buf, "clock %" SCNu64 " %" SCNu64 "%c", &heard, &said, &end) != 2)
		rc = remote_bad_answer(r, answer.buf, err);
	if (!rc)
		*b = (struct bounds){.low = (int64_t)(said - got),
				     .high = (int64_t)(heard - sent),
				     .rtt = (int64_t)(got - sent - (said - heard))};
	str_free(&answer);
	return rc;
}

int remote_offset(struct remote *r, struct interrupt *intr, struct offset *o, struct error *err)
{
	struct bounds all = {0}, best = {0}, one;
	int i, rc = 0;

	*o = (struct offset){.error_ns = -1};
	for (i = 0; i < TRIPS && !rc; i++) {
		rc = clock_trip(r, intr, &one, err);
		if (rc)
			return rc;
		if (!i || one.rtt < best.rtt)
			best = one;
		if (!i || one.low > all.low)
			all.low = one.low;
		if (!i || one.high < all.high)
			all.high = one.high;
	}
	if (all.low > all.high) /* a clock was being slewed: the quickest trip alone then */
		all = best;
	o->at_ns = clock_mono_ns();
	o->offset_ns = all.low + (all.high - all.low) / 2;
	o->error_ns = (all.high - all.low + 1) / 2;
	o->rtt_ns = best.rtt;
	o->trips = TRIPS;
	return 0;
}

static json_t *offset_json(const struct offset *o)
{
	if (o->error_ns < 0)
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:I, s:i}", "at_ns", (json_int_t)o->at_ns, "offset_ns",
			 (json_int_t)o->offset_ns, "error_ns", (json_int_t)o->error_ns, "rtt_ns",
			 (json_int_t)o->rtt_ns, "trips", o->trips);
}

int remote_write_clock(const struct remote *r, const char *dir, struct error *err)
{
	json_t *o =
		json_pack("{s:i, s:s, s:o, s:o}", "schema_version", 1, "clock", "CLOCK_MONOTONIC",
			  "before", offset_json(&r->before), "after", offset_json(&r->after));
	char *path = xasprintf("%s/clock.json", dir), *text = json_dumps(o, JSON_INDENT(2)), *line;
	int rc;

	line = xasprintf("%s\n", text ? text : "{}");
	rc = file_write(path, line, strlen(line), err);
	free(line);
	free(text);
	free(path);
	json_decref(o);
	return rc;
}
