// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/model/profile.h"

#include "analyze/model/notes.h"

#include "lib/alloc.h"
#include "lib/error.h"

#include <errno.h>
#include <stdlib.h>

#define N(x) ((unsigned long long)(x))

static void health_add_losses(struct notes *notes, const struct profile_health *h)
{
	if (h->lost_records || h->lost_samples)
		note_add(notes, perf_lost, N(h->lost_records), N(h->lost_samples));
	if (h->truncated)
		note_add(notes, perf_truncated, h->why);
	if (h->throttled)
		note_add(notes, perf_throttled, N(h->throttled));
}

static void health_add_oddities(struct notes *notes, const struct profile_health *h,
				uint64_t samples)
{
	enum note_severity level =
		h->bad_chains + h->unknown_ids > samples / 100 ? SEVERITY_WARNING : SEVERITY_INFO;

	if (h->unknown_ids)
		note_add(notes, perf_unknown_ids, N(h->unknown_ids))->severity = level;
	if (h->unknown_records)
		note_add(notes, perf_unknown_records, N(h->unknown_records));
	if (h->bad_chains)
		note_add(notes, perf_bad_chains, N(h->bad_chains))->severity = level;
	if (h->backwards)
		note_add(notes, perf_counter_backwards, N(h->backwards));
	if (h->cut_names)
		note_add(notes, perf_cut_names, SYMBOL_NAME_MOST, N(h->cut_names));
	if (h->outside_window)
		note_add(notes, perf_outside_window, N(h->outside_window));
}

/* Periods far from the usual one of the event; see struct profile_event. */
static void health_add_periods(struct notes *notes, const struct profile *p,
			       const struct profile_event *e)
{
	const char *name = intern_get(&p->strings, e->name);
	double share = e->weight ? 100.0 * (double)e->outlier_weight / (double)e->weight : 0;

	if (e->outliers)
		note_add(notes, perf_long_periods, name, N(e->outliers), N(e->samples), share)
			->severity = share >= 1 ? SEVERITY_WARNING : SEVERITY_INFO;
	if (e->late)
		note_add(notes, perf_late, name, 1e-9 * (double)e->late,
			 100.0 * (double)e->late / (double)e->weight);
	if (e->starts)
		note_add(notes, perf_short_periods, name, N(e->starts), N(e->samples));
}

void unread_add(struct unread *u, const struct error *err)
{
	char *none = NULL, *why;

	if (!u || (!error_of_machine(err->code) && err->code != EFBIG))
		return;
	why = xstrdup(err->text);
	if (!__atomic_compare_exchange_n(&u->why, &none, why, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		free(why);
}

void unread_add_errno(struct unread *u, const char *path)
{
	struct error err = {0};

	if (error_of_machine(errno))
		error_sys(&err, errno, "%s: cannot read", path);
	unread_add(u, &err);
}

void profile_add_notes(const struct profile *p, struct notes *notes)
{
	const struct profile_unwinds *u = &p->health.unwinds;
	uint64_t samples = 0;
	size_t i;

	for (i = 0; i < p->nevents; i++)
		samples += p->events[i].samples;
	health_add_losses(notes, &p->health);
	health_add_oddities(notes, &p->health, samples);
	for (i = 0; i < p->nevents; i++)
		health_add_periods(notes, p, &p->events[i]);
	if (p->unread.why)
		note_add(notes, perf_unread, p->unread.why);
	if (p->kernel_note)
		note_add(notes, perf_kernel_symbols, p->kernel_note);
	if (p->dso_note)
		note_add(notes, perf_dso_symbols, p->dso_note);
	if (p->unwind_note)
		note_add(notes, perf_unwinding, p->unwind_note)->severity =
			u->cut + u->lost + u->deep > u->stacks / 100 ? SEVERITY_WARNING
								     : SEVERITY_INFO;
}
