// SPDX-License-Identifier: GPL-2.0-only
/* Whether a run counts, and why not. */
#include "capture/capture.h"

#include "lib/clock.h"
#include "workload/workload.h"

#include <math.h>

/* --- the windows of the sides --- */

/*
 * Do the sides of a run measure the same time? If not, the cost on one side does not belong to the
 * bytes on the other side. A small difference is allowed, and the analysis reports it.
 */

/* A window in ns of our clock. The true times are within +- error. */
struct side_window {
	const char *side;
	double start, end, error;
};

static bool window_read_times(const char *dir, struct side_window *w)
{
	autofree char *path = xasprintf("%s/%s/run.json", dir, w->side);
	json_auto_t *root = json_load_file(path, 0, NULL);
	json_t *at = json_object_get(root, "window");

	w->start = json_number_value(json_object_get(at, "start_ns"));
	w->end = json_number_value(json_object_get(at, "end_ns"));
	return w->start > 0 && w->end > w->start;
}

/* Uses the offset measured after the run, or else before it. false: both are missing. */
static bool window_to_our_clock(const struct remote *r, struct side_window *w)
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

/* Returns why two windows do not belong together, or NULL. */
static char *windows_check(const struct side_window *a, const struct side_window *b)
{
	const struct side_window w[2] = {a->start <= b->start ? *a : *b,
					 a->start <= b->start ? *b : *a};
	double error = w[0].error + w[1].error;
	double apart = fmax(w[1].start - w[0].start, fabs(w[1].end - w[0].end));
	double shorter = fmin(w[0].end - w[0].start, w[1].end - w[1].start);

	if (w[1].start - w[0].end >= error)
		return xasprintf(
			"the sides' windows do not overlap: the %s's began %.1f ms after the %s's, which was %.1f ms long: the cost of one does not belong to the bytes of the other",
			w[1].side, (w[1].start - w[0].start) / 1e6, w[0].side,
			(w[0].end - w[0].start) / 1e6);
	if (!window_skew_too_large(apart, error, shorter))
		return NULL;
	return xasprintf(
		"the sides' windows are %.1f ms apart, %.1f %% of the shorter one's %.3g s (at most %g %%): the cost of one does not belong to the bytes of the other",
		apart / 1e6, 100 * apart / shorter, shorter / 1e9, 100 * WINDOW_SKEW_LIMIT);
}

char *overlap_missing(struct capture *c, const char *dir)
{
	autofree struct side_window *w = xcalloc((size_t)c->plan->nsides, sizeof(*w));
	char *missing = NULL;
	int n = 0;

	for (int i = 0; i < c->plan->nsides; i++) {
		const struct remote *r = remote_of(c, i);

		w[n] = (struct side_window){.side = c->plan->sides[i].name};
		n += window_read_times(dir, &w[n]) && (!r || window_to_our_clock(r, &w[n]));
	}
	for (int i = 0; i < n && !missing; i++)
		for (int k = 0; k < i && !missing; k++)
			missing = windows_check(&w[k], &w[i]);
	return missing;
}

/* --- what a side reports --- */

/* Adds the last line of a file in quotes, unless `s` quotes a reason already. */
static void report_quote_last_line(struct str *s, const char *path)
{
	autofree char *line = line_of_file(path, false);

	if (line && !(s->buf && strchr(s->buf, '"')))
		str_printf(s, ": \"%s\"", line);
}

static bool remark_is_new(struct capture *c, const char *remark)
{
	size_t known = c->remarks.n;

	return intern_str(&c->remarks, remark) == known;
}

/* Says whether the plan, or a pass, asks for a collector. */
static bool collector_is_asked_for(const struct capture *c, int side, const char *name)
{
	char *word;

	each_part (word, c->plan->sides[side].collect, ',')
		if (!strcmp(str_trim(word), name))
			return true;
	return !strcmp(name, "perf") || !strcmp(name, "syscalls");
}

/*
 * Prints a note for a collector that is degraded, or that is unsupported and was asked for. Each
 * note is printed once in a capture. Adds other unsupported collectors to `unmeasured`.
 */
static void remark_collector(struct capture *c, int side, const char *host, const json_t *collector,
			     struct str *unmeasured)
{
	const char *state = json_text(collector, "state"), *name = json_text(collector, "name"),
		   *why = json_text(collector, "why");
	bool cannot = !strcmp(state, "unsupported");
	autofree char *remark = NULL;

	if (!strcmp(state, "ok"))
		return;
	remark = cannot ? xasprintf("%s: %s cannot be measured: %s", host, name, why)
			: xasprintf("%s: collector %s is %s: %s", c->plan->sides[side].name, name,
				    state, why);
	if (!remark_is_new(c, remark))
		return;
	if (cannot && !c->verbose && !collector_is_asked_for(c, side, name))
		str_printf(unmeasured, "%s%s", unmeasured->len ? ", " : "", name);
	else
		capture_note(c, "%s", remark);
}

static void remark_collectors(struct capture *c, int side, const json_t *root)
{
	const char *host = json_text(root, "host");
	const json_t *collector;
	freed(str_free) struct str names = {0};
	size_t i;

	json_array_foreach (json_object_get(root, "collectors"), i, collector)
		remark_collector(c, side, host, collector, &names);
	if (names.len)
		capture_note(c, "%s: not measured: %s (why: --verbose, or %s/runs/*/*/%s/run.json)",
			     host, names.buf, c->dir, c->plan->sides[side].name);
}

/* Prints once for each side of a variant that its command ended early, unless the run failed. */
static void remark_early_end(struct capture *c, int side, const json_t *root)
{
	const json_t *w = json_object_get(root, "window");
	double early = json_number_value(json_object_get(w, "early_ns"));
	double length = json_number_value(json_object_get(w, "end_ns")) -
			json_number_value(json_object_get(w, "start_ns"));
	autofree char *key =
		xasprintf("%s/%s early", json_text(root, "variant"), c->plan->sides[side].name);

	if (early > 0 && !strcmp(json_text(root, "status"), "ok") && remark_is_new(c, key))
		capture_note(
			c,
			"%s/%s-%02d: %s: the command ended after %.3g s of the window's %.3g s; let it run longer, or set a shorter duration",
			json_text(root, "variant"), json_text(root, "pass"),
			(int)json_integer_value(json_object_get(root, "repeat")),
			c->plan->sides[side].name, length / 1e9, (length + early) / 1e9);
}

enum { WHY_MAX = 1024 };

static void report_add_why(struct str *s, const json_t *root, const char *run_dir,
			   const char *ended)
{
	autofree char *err_path = xasprintf("%s/workload.err", run_dir);
	autofree char *log = xasprintf("%s.log", run_dir);

	if (root && *json_text(root, "why")) {
		autofree char *clean = text_clean(json_text(root, "why"), WHY_MAX);

		str_puts(s, clean);
	} else {
		str_puts(s, ended);
		report_quote_last_line(s, log);
	}
	report_quote_last_line(s, err_path);
}

void report_side(struct capture *c, const char *dir, int side, const char *ended, char **why,
		 char **cut_off)
{
	autofree char *run_dir = xasprintf("%s/%s", dir, c->plan->sides[side].name);
	autofree char *path = xasprintf("%s/run.json", run_dir);
	json_auto_t *root = json_load_file(path, 0, NULL);
	struct str s = {0};

	if (root) {
		remark_collectors(c, side, root);
		remark_early_end(c, side, root);
	}
	if (!root || strcmp(json_text(root, "status"), "ok")) {
		str_printf(&s, "%s: ", c->plan->sides[side].name);
		report_add_why(&s, root, run_dir, ended);
		*why = str_take(&s);
	} else if (*json_text(root, "cut_off") && !*cut_off) {
		autofree char *clean = text_clean(json_text(root, "cut_off"), WHY_MAX);

		*cut_off = xasprintf("%s: %s", c->plan->sides[side].name, clean);
	}
}
