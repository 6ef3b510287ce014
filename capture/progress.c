// SPDX-License-Identifier: GPL-2.0-only
#include "capture/capture.h"

#include "capture/manifest.h"
#include "lib/alloc.h"
#include "lib/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS = 80, MIN_NAME = 12, PLAIN_LINES = 10 };

void progress_init(struct progress *p, const struct plan *plan, bool verbose)
{
	/* First guesses from a small machine. progress_learn replaces them. */
	*p = (struct progress){.plan = plan,
			       .tty = isatty(STDERR_FILENO),
			       .verbose = verbose,
			       .extra_s = {0.3, 1.6, 0.5},
			       .switch_s = 0.1};
}

static bool progress_settings_differ(const struct progress *p, const struct run_id *a,
				     const struct run_id *b)
{
	const struct variant *v = p->plan->variants;

	return v[a->variant].combination != v[b->variant].combination;
}

double progress_expect(const struct progress *p, const struct run_id *id)
{
	return p->plan->warmup_s + p->plan->duration_s + p->extra_s[id->pass];
}

double progress_expect_after(const struct progress *p, const struct order *o, size_t i)
{
	double s = 0;

	while (++i < o->n) {
		s += progress_expect(p, &o->run[i]);
		if (progress_settings_differ(p, &o->run[i - 1], &o->run[i]))
			s += p->switch_s;
	}
	return s;
}

const char *progress_time(double seconds)
{
	static char text[32];
	unsigned long s = seconds > 0 ? (unsigned long)(seconds + 0.5) : 0;

	if (s < 3600)
		snprintf(text, sizeof(text), "%lu:%02lu", s / 60, s % 60);
	else
		snprintf(text, sizeof(text), "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
	return text;
}

static double progress_elapsed(const struct progress *p)
{
	return (double)(clock_mono_ns() - p->began_ns) / 1e9;
}

static int progress_columns(void)
{
	struct winsize w;

	return !ioctl(STDERR_FILENO, TIOCGWINSZ, &w) && w.ws_col ? w.ws_col : COLUMNS;
}

/* Prints one line that fits the terminal, so that "\r" can replace it. Cuts the start of a long
 * name. */
static void progress_show(struct progress *p, const char *what, const char *name, double left_s)
{
	char head[64], tail[64];
	int room, len = (int)strlen(name);

	snprintf(head, sizeof(head), "[%zu/%zu] %s", p->done + 1, p->total, what);
	snprintf(tail, sizeof(tail), ", %s left", progress_time(left_s));
	room = progress_columns() - 1 - (int)(strlen(head) + strlen(tail));
	if (room < MIN_NAME)
		room = MIN_NAME;
	if (len > room)
		fprintf(stderr, "\r%s...%s%s\033[K", head, name + len - (room - 3), tail);
	else
		fprintf(stderr, "\r%s%s%s\033[K", head, name, tail);
	p->shown = true;
}

void progress_tick(struct progress *p)
{
	double rest;
	char *name;

	if (!p->tty || !p->run)
		return;
	rest = progress_expect(p, p->run) - progress_elapsed(p);
	name = run_name(p->plan, p->run);
	progress_show(p, "", name, p->left_s + (rest > 0 ? rest : 0));
	free(name);
}

void progress_begin(struct progress *p, const struct run_id *id, double left_s)
{
	p->run = p->before = id;
	p->left_s = left_s;
	p->began_ns = clock_mono_ns();
	progress_tick(p);
}

void progress_begin_switch(struct progress *p, const struct run_id *id, double left_s)
{
	p->began_ns = clock_mono_ns();
	p->switching = p->before && progress_settings_differ(p, p->before, id);
	if (p->tty && p->switching)
		progress_show(p, "settings of ", p->plan->variants[id->variant].name,
			      p->switch_s + progress_expect(p, id) + left_s);
	else
		progress_clear(p);
}

void progress_end_switch(struct progress *p)
{
	if (p->switching)
		p->switch_s = (p->switch_s + progress_elapsed(p)) / 2;
	p->switching = false;
}

void progress_clear(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}

void progress_learn(struct progress *p, enum pass pass, double took_s)
{
	double extra = took_s - p->plan->warmup_s - p->plan->duration_s;
	double *known = &p->extra_s[pass];

	if (extra < 0)
		extra = 0;
	*known = p->learned[pass] ? (*known + extra) / 2 : extra;
	p->learned[pass] = true;
}

/*
 * Prints a line for a log at each tenth of the runs. The line that ends the capture follows the
 * last run.
 */
static void progress_print_plain(const struct progress *p)
{
	if (p->tty || p->verbose || p->done == p->total ||
	    p->done * PLAIN_LINES / p->total == (p->done - 1) * PLAIN_LINES / p->total)
		return;
	print_note("%zu of %zu runs made, about %s left", p->done, p->total,
		   progress_time(p->left_s));
}

void progress_end(struct progress *p, bool ok)
{
	double took = progress_elapsed(p);
	char *name;

	if (ok)
		progress_learn(p, p->run->pass, took);
	p->done++;
	progress_clear(p);
	if (p->verbose) {
		name = run_name(p->plan, p->run);
		fprintf(stderr, "[%zu/%zu] %s %s, %.1f s\n", p->done, p->total, name,
			ok ? "ok" : "failed", took);
		free(name);
	}
	progress_print_plain(p);
	p->run = NULL;
}

/* --- times of runs that the capture has --- */

/* Returns how long the first side of a run took, or 0. */
static double history_run_seconds(const struct manifest *m, const json_t *run)
{
	const char *side = json_string_value(json_array_get(json_object_get(run, "sides"), 0));
	char *path = xasprintf("%s/runs/%s/%s-%02d/%s/run.json", m->dir, json_text(run, "variant"),
			       json_text(run, "pass"),
			       (int)json_integer_value(json_object_get(run, "repeat")),
			       side ? side : "local");
	json_t *o = json_load_file(path, 0, NULL);
	json_int_t from = json_integer_value(json_object_get(o, "started_ns"));
	json_int_t to = json_integer_value(json_object_get(o, "ended_ns"));

	json_decref(o);
	free(path);
	return from && to > from ? (double)(to - from) / 1e9 : 0;
}

static void history_learn_pass(const struct manifest *m, struct progress *p, enum pass pass)
{
	const json_t *runs = json_object_get(m->root, "runs");
	size_t i = json_array_size(runs);

	while (i--) {
		const json_t *run = json_array_get(runs, i);
		double s;

		if (strcmp(json_text(run, "pass"), pass_names[pass]) ||
		    strcmp(json_text(run, "status"), "ok"))
			continue;
		s = history_run_seconds(m, run);
		if (s > 0)
			progress_learn(p, pass, s);
		return;
	}
}

void history_learn(const struct manifest *m, struct progress *p)
{
	int pass;

	for (pass = 0; pass < PASS_COUNT; pass++)
		history_learn_pass(m, p, (enum pass)pass);
}
