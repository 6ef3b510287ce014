// SPDX-License-Identifier: GPL-2.0-only
/*
 * Do a run's sides measure the same time? Where they do not, what one side spent was not spent on
 * what the other moved. Whoever is a little late is measured all the same, and the analysis says by
 * how much.
 */
#include "capture/overlap.h"

#include "capture/remotes.h"
#include "lib/alloc.h"
#include "lib/str.h"
#include "lib/window_skew.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

/* By our clock, ns, certainly within +- error. */
struct window {
	enum side side;
	double start, end, error;
	double early; /* its command ended so long before the window was to; 0: it did not */
};

static bool window_read_times(const char *dir, struct window *w)
{
	char *path = xasprintf("%s/%s/run.json", dir, side_names[w->side]);
	json_t *root = json_load_file(path, 0, NULL), *at = json_object_get(root, "window");

	w->start = json_number_value(json_object_get(at, "start_ns"));
	w->end = json_number_value(json_object_get(at, "end_ns"));
	w->early = json_number_value(json_object_get(at, "early_ns"));
	json_decref(root);
	free(path);
	return w->start > 0 && w->end > w->start;
}

/* Another host's clock was compared before the run and after it. false: neither. */
static bool window_to_our_clock(const struct remote *r, struct window *w)
{
	const struct offset *o = r->after.error_ns >= 0 ? &r->after : &r->before;
	double ahead = (double)o->offset_ns;

	if (o->error_ns < 0)
		return false;
	w->start -= ahead;
	w->end -= ahead;
	w->error = (double)o->error_ns;
	return true;
}

static bool window_read(struct capture *c, const char *dir, enum side side, struct window *w)
{
	const struct remote *r = remote_of(c, side);

	*w = (struct window){.side = side};
	return window_read_times(dir, w) && (!r || window_to_our_clock(r, w));
}

/* Two windows that are known, the earlier one first. */
static int windows_read(struct capture *c, const char *dir, struct window w[2])
{
	int n = 0, i;

	for (i = 0; i < SIDE_COUNT && n < 2; i++)
		if (c->plan->sides[i].used && window_read(c, dir, (enum side)i, &w[n]))
			n++;
	if (n == 2 && w[1].start < w[0].start) {
		struct window first = w[1];

		w[1] = w[0];
		w[0] = first;
	}
	return n;
}

static char *windows_no_overlap(const struct window w[2])
{
	return xasprintf("the sides' windows do not overlap: the %s's began %.1f ms after the "
			 "%s's, which was %.1f ms long: what one spent is not what the other moved",
			 side_names[w[1].side], (w[1].start - w[0].start) / 1e6,
			 side_names[w[0].side], (w[0].end - w[0].start) / 1e6);
}

static char *windows_too_far_apart(const struct window w[2], double apart, double shorter)
{
	const struct window *e = w[1].early > w[0].early ? &w[1] : &w[0];
	struct str s = {0};

	str_printf(&s,
		   "the sides' windows are %.1f ms apart, %.1f %% of the shorter one's %.3g s (at "
		   "most %g %%): what one spent is not what the other moved",
		   apart / 1e6, 100 * apart / shorter, shorter / 1e9, 100 * WINDOW_SKEW_LIMIT);
	if (e->early > 0)
		str_printf(&s,
			   "; the %s's command ended %.3g s before the window was to: let it run "
			   "longer, or give a shorter duration",
			   side_names[e->side], e->early / 1e9);
	return str_take(&s);
}

char *overlap_missing(struct capture *c, const char *dir, bool *again)
{
	double apart, shorter, error;
	struct window w[2];

	if (windows_read(c, dir, w) < 2)
		return NULL;
	error = w[0].error + w[1].error;
	apart = fmax(w[1].start - w[0].start, fabs(w[1].end - w[0].end));
	shorter = fmin(w[0].end - w[0].start, w[1].end - w[1].start);
	*again = w[0].early <= 0 && w[1].early <= 0;
	if (w[1].start - w[0].end >= error)
		return windows_no_overlap(w);
	return window_skew_too_large(apart, error, shorter) ? windows_too_far_apart(w, apart, shorter)
							    : NULL;
}
