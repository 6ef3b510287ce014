// SPDX-License-Identifier: GPL-2.0-only
#include "capture/capture.h"

#include "lib/clock.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS = 80, MIN_NAME = 12, PLAIN_LINES = 10 };

/* Seconds of a run without warm-up and window, on a small machine. */
static const double extra_s[PASS_COUNT] = {0.3, 1.6, 0.5, 0.7};

void progress_init(struct progress *p, const struct plan *plan, bool verbose)
{
	*p = (struct progress){.plan = plan, .tty = isatty(STDERR_FILENO), .verbose = verbose};
}

static double progress_guess(const struct progress *p, const struct run_id *id)
{
	return p->plan->warmup_s + p->plan->duration_s + extra_s[id->pass];
}

double progress_expect(const struct progress *p, const struct order *o, size_t from)
{
	double s = 0;

	for (; from < o->n; from++)
		s += progress_guess(p, &o->run[from]) + p->late_s;
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

/* Prints one line that fits the terminal, so that "\r" can replace it. Cuts the start of a long
 * name. */
void progress_tick(struct progress *p)
{
	char head[64], tail[64], *name;
	struct winsize w;
	double rest;
	int room, len;

	if (!p->tty || !p->run)
		return;
	rest = progress_guess(p, p->run) + p->late_s - progress_elapsed(p);
	name = run_name(p->plan, p->run);
	len = (int)strlen(name);
	snprintf(head, sizeof(head), "[%zu/%zu] ", p->done + 1, p->total);
	snprintf(tail, sizeof(tail), ", %s left", progress_time(p->left_s + (rest > 0 ? rest : 0)));
	room = !ioctl(STDERR_FILENO, TIOCGWINSZ, &w) && w.ws_col ? w.ws_col : COLUMNS;
	room -= 1 + (int)(strlen(head) + strlen(tail));
	if (room < MIN_NAME)
		room = MIN_NAME;
	fprintf(stderr, "\r%s%s%s%s\033[K", head, len > room ? "..." : "",
		len > room ? name + len - (room - 3) : name, tail);
	p->shown = true;
	free(name);
}

void progress_begin(struct progress *p, const struct order *o, size_t i)
{
	p->run = &o->run[i];
	p->total = o->n;
	p->left_s = progress_expect(p, o, i + 1);
	p->began_ns = clock_mono_ns();
	progress_tick(p);
}

void progress_clear(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
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
	double took = progress_elapsed(p), late = took - progress_guess(p, p->run);
	autofree char *name = run_name(p->plan, p->run);

	if (ok)
		p->late_s = p->learned ? (p->late_s + late) / 2 : late;
	p->learned |= ok;
	p->done++;
	progress_clear(p);
	if (p->verbose)
		fprintf(stderr, "[%zu/%zu] %s %s, %.1f s\n", p->done, p->total, name,
			ok ? "ok" : "failed", took);
	progress_print_plain(p);
	p->run = NULL;
}
