// SPDX-License-Identifier: GPL-2.0-only
#include "capture/remote.h"

#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/json.h"
#include "workload/workload.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The name of a Unix socket has 108 bytes at most, and ssh adds a suffix while it makes one. */
enum { LONGEST_DIR = 64, NUDGE_NS = 1000000000, SWEEP_S = 20, HURRY_S = 1 };

/* Makes our private folder. Its name is always the same: what a killed capture left is removed. */
static int remote_make_dir(struct remote *r, struct error *err)
{
	const char *tmp = getenv("TMPDIR");
	struct stat st;

	if (!tmp || *tmp != '/' || strlen(tmp) > LONGEST_DIR)
		tmp = "/tmp";
	r->dir = xasprintf("%s/zcost-ssh-%s", tmp, r->key);
	if (caller_check_path(r->dir, err))
		return -err->code;
	if (!lstat(r->dir, &st) && (!S_ISDIR(st.st_mode) || st.st_uid != geteuid()))
		return error_set(err, EEXIST,
				 "%s: exists and is not a folder of this user: remove it", r->dir);
	if (dir_remove(r->dir, err))
		return -err->code;
	return mkdir(r->dir, 0700) ? error_sys(err, errno, "%s: cannot make the folder", r->dir)
				   : 0;
}

int remote_init(struct remote *r, const struct plan *p, int side, const char *key,
		struct error *err)
{
	const struct side_plan *s = &p->sides[side];
	int rc;

	*r = (struct remote){.side = s->name,
			     .url = s->host,
			     .owed = r->owed,
			     .start_timeout_s = p->start_timeout_s,
			     .stop_timeout_s = p->stop_timeout_s,
			     .most = {FETCH_BYTES, FETCH_FILES, FETCH_S}};
	r->link.to = r->link.from = -1;
	r->key = xstrdup(key);
	rc = words_split(&r->ssh, p->ssh, err);
	if (!rc)
		rc = words_split(&r->zcost, *s->zcost ? s->zcost : "zcost", err);
	return rc ? rc : remote_make_dir(r, err);
}

void remote_free(struct remote *r)
{
	remote_disconnect(r);
	if (r->dir)
		dir_remove(r->dir, NULL);
	free(r->exe);
	free(r->host);
	free(r->boot_id);
	free(r->folder);
	words_free(&r->ssh);
	words_free(&r->zcost);
	free(r->key);
	free(r->host_name);
	free(r->dir);
	*r = (struct remote){0};
}

/* The agent removes its files first, which takes as long as a run takes to end. */
bool remote_disconnect(struct remote *r)
{
	uint64_t now = clock_mono_ns();
	double patience = SWEEP_S;
	int status = -1;

	if (r->hurry_ns)
		patience = r->hurry_ns > now ? (double)(r->hurry_ns - now) / 1e9 : 0;
	if (r->link.pid)
		link_close(&r->link, r->up ? patience : 0, &status);
	r->up = false;
	return !status;
}

bool remote_alive(struct remote *r)
{
	if (r->up && link_ended(&r->link, NULL))
		r->up = false;
	return r->up;
}

int remote_lost(struct remote *r, int rc, struct error *err)
{
	char *log, *line;

	if (rc == -EINTR) {
		r->hurry_ns = link_deadline(HURRY_S);
		return rc;
	}
	r->up = false;
	remote_disconnect(r);
	if (rc == -ETIMEDOUT)
		return error_set(err, ETIMEDOUT, "%s: no answer for %g s (stop_timeout)", r->url,
				 r->stop_timeout_s);
	log = xasprintf("%s/log", r->dir);
	line = line_of_file(log, false);
	error_set(err, EPIPE, "%s: the connection broke%s%s", r->url, line ? ": " : "",
		  line ? line : "");
	free(line);
	free(log);
	return -EPIPE;
}

int remote_refuse(struct remote *r, struct error *err, const char *why, ...)
{
	va_list ap;
	char *text;

	r->up = false;
	remote_disconnect(r);
	va_start(ap, why);
	text = xvasprintf(why, ap);
	va_end(ap);
	error_set(err, EPROTO, "%s: %s", r->url, text);
	free(text);
	return -EPROTO;
}

int remote_bad_answer(struct remote *r, const char *said, struct error *err)
{
	return remote_refuse(r, err, "unexpected answer of zcost there: '%.60s'", said);
}

int remote_ask(struct remote *r, struct interrupt *intr, const char *what, struct str *answer,
	       struct error *err)
{
	double patience = r->stop_timeout_s + (strcmp(what, "sweep") ? 0 : SWEEP_S);
	int rc = r->up ? link_write_line(&r->link, what) : -EPIPE;

	r->said_ns = clock_mono_ns();
	if (!rc)
		rc = link_read_line(&r->link, intr, link_deadline(patience), answer);
	return rc ? remote_lost(r, rc, err) : 0;
}

void remote_nudge(struct remote *r)
{
	uint64_t now = clock_mono_ns();

	if (!r->up || now - r->said_ns < NUDGE_NS)
		return;
	link_write_line(&r->link, "alive");
	r->said_ns = now;
}

int remote_sweep(struct remote *r, struct interrupt *intr, struct error *err)
{
	freed(str_free) struct str answer = {0};
	int rc = remote_ask(r, intr, "clock", &answer, err); /* does the agent answer? */

	if (!rc)
		rc = remote_ask(r, intr, "sweep", &answer, err);
	if (!rc && strcmp(answer.buf, "swept 0") != 0)
		rc = error_set(err, EBUSY, "%s: processes of the run cannot be ended", r->url);
	return rc;
}

/*
 * How far CLOCK_MONOTONIC of another host is ahead of ours. We send a question at s and receive the
 * answer at h, by our clock. The agent receives the question at H and answers at S, by its clock.
 * No message arrives before it was sent, so that the offset is at most H - s and at least S - h.
 * The smallest H - s and the largest S - h of all trips are the bounds, however different the two
 * ways are. A host that answers slowly makes fewer trips in stop_timeout.
 */

enum { TRIPS = 20 };

struct clock_bounds {
	int64_t low, high, rtt;
};

static int clock_trip(struct remote *r, struct interrupt *intr, struct clock_bounds *b,
		      struct error *err)
{
	freed(str_free) struct str answer = {0};
	uint64_t sent = clock_mono_ns(), got, heard, said;
	int rc = remote_ask(r, intr, "clock", &answer, err);
	char end;

	got = clock_mono_ns();
	if (!rc && sscanf(answer.buf, "clock %" SCNu64 " %" SCNu64 "%c", &heard, &said, &end) != 2)
		rc = remote_bad_answer(r, answer.buf, err);
	if (!rc)
		*b = (struct clock_bounds){.low = (int64_t)(said - got),
					   .high = (int64_t)(heard - sent),
					   .rtt = (int64_t)(got - sent - (said - heard))};
	return rc;
}

int remote_offset(struct remote *r, struct interrupt *intr, struct offset *o, struct error *err)
{
	struct clock_bounds all = {0}, best = {0}, one;
	uint64_t deadline = link_deadline(r->stop_timeout_s);
	int i, rc = 0;

	*o = (struct offset){.error_ns = -1};
	for (i = 0; i < TRIPS && (!i || clock_mono_ns() < deadline); i++) {
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
	if (all.low > all.high) /* a clock was slewed meanwhile: use the shortest trip alone */
		all = best;
	o->at_ns = clock_mono_ns();
	o->offset_ns = all.low + (all.high - all.low) / 2;
	o->error_ns = (all.high - all.low + 1) / 2;
	o->rtt_ns = best.rtt;
	o->trips = i;
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
	json_auto_t *o =
		json_pack("{s:i, s:s, s:o, s:o}", "schema_version", 1, "clock", "CLOCK_MONOTONIC",
			  "before", offset_json(&r->before), "after", offset_json(&r->after));
	autofree char *path = xasprintf("%s/clock.json", dir);

	return json_write(path, o, JSON_INDENT(2), err);
}
