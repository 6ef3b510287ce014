// SPDX-License-Identifier: GPL-2.0-only
#include "capture/progress.h"

#include "lib/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void progress_init(struct progress *p, const struct plan *plan, bool verbose)
{
	/* First guesses; replaced by what the runs really take. */
	*p = (struct progress){.plan = plan,
			       .tty = isatty(STDERR_FILENO),
			       .verbose = verbose,
			       .extra_s = {1, 2, 1}};
}

double progress_expect(const struct progress *p, const struct run_id *id)
{
	return p->plan->warmup_s + p->plan->duration_s + p->extra_s[id->pass];
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

static double elapsed(const struct progress *p)
{
	return (double)(clock_mono_ns() - p->began_ns) / 1e9;
}

void progress_tick(struct progress *p)
{
	double rest;
	char *name;

	if (!p->tty || !p->run)
		return;
	rest = progress_expect(p, p->run) - elapsed(p);
	name = run_name(p->plan, p->run);
	fprintf(stderr, "\r[%zu/%zu] %s, %s left\033[K", p->done + 1, p->total, name,
		progress_time(p->left_s + (rest > 0 ? rest : 0)));
	free(name);
	p->shown = true;
}

void progress_begin(struct progress *p, const struct run_id *id, double left_s)
{
	p->run = id;
	p->left_s = left_s;
	p->began_ns = clock_mono_ns();
	progress_tick(p);
}

void progress_clear(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}

static void learn(struct progress *p, double took)
{
	double extra = took - p->plan->warmup_s - p->plan->duration_s;
	double *known = &p->extra_s[p->run->pass];

	if (extra < 0)
		extra = 0;
	*known = (*known + extra) / 2;
}

void progress_end(struct progress *p, bool ok)
{
	double took = elapsed(p);
	char *name;

	if (ok)
		learn(p, took);
	p->done++;
	progress_clear(p);
	if (p->verbose) {
		name = run_name(p->plan, p->run);
		fprintf(stderr, "[%zu/%zu] %s %s, %.1f s\n", p->done, p->total, name,
			ok ? "ok" : "failed", took);
		free(name);
	}
	p->run = NULL;
}
