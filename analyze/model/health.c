// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/model/profile.h"

#include "lib/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct telling {
	profile_say say;
	void *arg;
};

__attribute__((format(printf, 3, 4))) static void health_tell(const struct telling *t,
							      const char *severity, const char *fmt,
							      ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	t->say(t->arg, severity, text);
	va_end(ap);
	free(text);
}

#define N(x) ((unsigned long long)(x))

static void health_tell_lost(const struct telling *t, const struct profile_health *h)
{
	if (h->lost_records || h->lost_samples)
		health_tell(t, "lossy", "perf lost %llu records, %llu samples", N(h->lost_records),
			    N(h->lost_samples));
	if (h->truncated)
		health_tell(t, "lossy", "%s", h->why);
	if (h->throttled)
		health_tell(t, "warning", "sampling was throttled %llu times", N(h->throttled));
}

static void health_tell_odd(const struct telling *t, const struct profile *p, uint64_t samples)
{
	const struct profile_health *h = &p->health;
	bool many = h->bad_chains + h->unknown_ids > samples / 100;

	if (h->unknown_ids)
		health_tell(t, many ? "warning" : "note",
			    "%llu samples belong to events that the file does not describe",
			    N(h->unknown_ids));
	if (h->unknown_records)
		health_tell(t, "note", "%llu records have unknown types", N(h->unknown_records));
	if (h->bad_chains)
		health_tell(
			t, many ? "warning" : "note",
			"%llu samples have impossible addresses in their call chains and count for "
			"their leaf alone, as in perf",
			N(h->bad_chains));
	if (h->backwards)
		health_tell(t, "warning",
			    "%llu counter values went backwards; what they counted is missing",
			    N(h->backwards));
	if (h->cut_names)
		health_tell(t, "note", "%llu symbol%s longer than %d bytes, cut there",
			    N(h->cut_names), h->cut_names == 1 ? " has a name" : "s have names",
			    SYMBOL_NAME_MOST);
	if (h->outside_window)
		health_tell(t, "note", "%llu samples lie outside the window and are not counted",
			    N(h->outside_window));
}

/* Reports the periods of one event that are far from its median: see struct profile_event. */
static void health_tell_periods(const struct telling *t, const struct profile *p,
				const struct profile_event *e)
{
	const char *name = intern_get(&p->strings, e->name);
	double share = e->weight ? 100.0 * (double)e->outlier_weight / (double)e->weight : 0;

	if (e->outliers)
		health_tell(
			t, share >= 1 ? "warning" : "note",
			"%s: %llu of %llu samples have periods 16 times the usual and more, and "
			"%.2f %% of the weight",
			name, N(e->outliers), N(e->samples), share);
	if (e->starts)
		health_tell(t, "note",
			    "%s: %llu of %llu samples have periods below a 16th of the usual, as "
			    "at the "
			    "start of a stream",
			    name, N(e->starts), N(e->samples));
}

static bool health_few_unwinds_fail(const struct profile_unwinds *u)
{
	return u->cut + u->lost + u->deep <= u->stacks / 100;
}

void profile_tell_health(const struct profile *p, profile_say say, void *arg)
{
	struct telling t = {say, arg};
	uint64_t samples = 0;
	size_t i;

	for (i = 0; i < p->nevents; i++)
		samples += p->events[i].samples;
	health_tell_lost(&t, &p->health);
	health_tell_odd(&t, p, samples);
	for (i = 0; i < p->nevents; i++)
		health_tell_periods(&t, p, &p->events[i]);
	if (p->kernel_note)
		health_tell(&t, "warning", "%s", p->kernel_note);
	if (p->dso_note)
		health_tell(&t, "warning", "%s", p->dso_note);
	if (p->unwind_note)
		health_tell(&t, health_few_unwinds_fail(&p->health.unwinds) ? "note" : "warning",
			    "%s", p->unwind_note);
}
