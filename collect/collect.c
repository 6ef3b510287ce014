// SPDX-License-Identifier: GPL-2.0-only
#include "collect/collect.h"

#include "collect/run/run.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void collector_set_why(struct collect *c, const char *fmt, va_list ap)
{
	char *text = NULL;

	if (c->why || vasprintf(&text, fmt, ap) < 0)
		return;
	c->why = text;
}

void collect_why(struct collect *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	collector_set_why(c, fmt, ap);
	va_end(ap);
}

void collect_degraded(struct collect *c, const char *fmt, ...)
{
	va_list ap;

	if (c->state == COLLECT_UNSUPPORTED)
		return;
	if (c->state == COLLECT_OK) {
		free(c->why); /* a reason replaces a remark */
		c->why = NULL;
	}
	c->state = COLLECT_DEGRADED;
	va_start(ap, fmt);
	collector_set_why(c, fmt, ap);
	va_end(ap);
}

void collect_info_str(struct collect *c, const char *key, const char *value)
{
	json_object_set_new(c->info, key, json_string(value));
}

void collect_info_int(struct collect *c, const char *key, int64_t value)
{
	json_object_set_new(c->info, key, json_integer(value));
}

char *collect_path(const struct collect *c, const char *name)
{
	return xasprintf("%s/%s", c->run->dir, name);
}

void collect_write(struct collect *c, const char *name, const struct str *text)
{
	autofree char *path = collect_path(c, name);
	struct error err = {0};

	if (text->len && file_write(path, text->buf, text->len, &err))
		collect_degraded(c, "%s", err.text);
}

static void collector_set_unsupported(struct collect *c)
{
	c->state = COLLECT_UNSUPPORTED;
	collect_why(c, "%s", c->err.text[0] ? c->err.text : "not possible here");
	c->err = (struct error){0};
}

void collect_prepare(struct collect *list, size_t n)
{
	struct collect *c;

	for (c = list; c < list + n; c++) {
		sync_print(c->run, "step preparing %s", c->is->name);
		if (c->is->probe && c->is->probe(c)) {
			collector_set_unsupported(c);
			continue;
		}
		c->prepared = true;
		if ((c->is->prepare && c->is->prepare(c)) || (c->is->read && reading_open(c)))
			collector_set_unsupported(c);
	}
}

/* Calls a hook of one collector in the window. A failure degrades this collector and no other. */
static void collector_step(struct collect *c, collect_hook *hook)
{
	if (c->state == COLLECT_UNSUPPORTED || !hook || !hook(c))
		return;
	collect_degraded(c, "%s", c->err.text[0] ? c->err.text : "failed while measuring");
	c->err = (struct error){0};
}

/*
 * Calls a hook and saves the times before and after it: how far collectors are apart is a figure of
 * the run.
 */
static void collector_step_timed(struct collect *c, collect_hook *hook, struct cut *when)
{
	if (c->state == COLLECT_UNSUPPORTED || !hook)
		return;
	when->from = clock_mono_ns();
	collector_step(c, hook);
	when->to = clock_mono_ns();
}

void collect_before(struct collect *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		collector_step(&list[i], list[i].is->before);
}

/* A collector with `read` takes a reading where it has no hook of its own. */
static collect_hook *collector_hook(const struct collector *is, collect_hook *own)
{
	return is->read && !own ? reading_take : own;
}

/* Inside the window only a DATED collector takes readings, unless it has a hook. */
static collect_hook *collector_snap(const struct collector *is)
{
	return is->read && is->when == DATED ? reading_take_when_due : is->snap;
}

void collect_start(struct collect *list, size_t n, enum collect_when when)
{
	struct collect *c;

	for (c = list; c < list + n; c++)
		if (c->is->when == when)
			collector_step_timed(c, collector_hook(c->is, c->is->start), &c->on);
}

void collect_snap(struct collect *list, size_t n, bool dated_only)
{
	struct collect *c;

	for (c = list; c < list + n; c++)
		if (!dated_only || c->is->when == DATED)
			collector_step(c, collector_snap(c->is));
}

void collect_stop(struct collect *list, size_t n, enum collect_when when)
{
	while (n--)
		if (list[n].is->when == when)
			collector_step_timed(&list[n], collector_hook(list[n].is, list[n].is->stop),
					     &list[n].off);
}

void collect_after(struct collect *list, size_t n)
{
	while (n--) {
		if (list[n].is->after)
			sync_print(list[n].run, "step ending %s", list[n].is->name);
		collector_step(&list[n], list[n].is->after);
	}
}

void collect_finish(struct collect *list, size_t n)
{
	while (n--) {
		sync_print(list[n].run, "step finishing %s", list[n].is->name);
		if (list[n].prepared && list[n].is->finish)
			list[n].is->finish(&list[n]);
		if (list[n].prepared && list[n].is->read)
			reading_close(&list[n]);
	}
}

void collect_free(struct collect *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		free(list[i].why);
		json_decref(list[i].info);
	}
	free(list);
}
