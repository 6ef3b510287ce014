// SPDX-License-Identifier: GPL-2.0-only
/* Which idle states the side's CPUs were in, how often, how long. Idle and iowait: collector cpu.
 */
#include "collect/idle_find.h"
#include "collect/reading.h"
#include "collect/run.h"
#include "lib/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

struct idle {
	struct reading reading;
	struct idle_states states;
};

static const char *idle_root(void)
{
	const char *given = getenv("ZCOST_SYSFS");

	return given ? given : "/sys";
}

static int idle_probe(struct collect *c)
{
	struct idle_states states = {0};
	struct idle *d;
	char *why;

	idle_find(&states, idle_root(), &c->run->cpus);
	if (!states.n) {
		why = idle_why(idle_root());
		error_set(&c->err, ENODEV, "%s", why);
		free(why);
		return -ENODEV;
	}
	c->data = d = xcalloc(1, sizeof(*d));
	d->states = states;
	return 0;
}

static int idle_prepare(struct collect *c)
{
	struct idle *d = c->data;

	return reading_open(&d->reading, c, c->is->files[0]);
}

/*
 * Two files for each state of each CPU may be more than a process is given. The workload runs
 * already: it keeps the limit that it was to have.
 */
static int idle_before(struct collect *c)
{
	struct idle *d = c->data;
	struct rlimit r;

	if (!getrlimit(RLIMIT_NOFILE, &r) && r.rlim_cur < r.rlim_max) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
	idle_read(&d->states, &d->reading.text);
	return 0;
}

static int idle_take(struct collect *c, bool must)
{
	struct idle *d = c->data;

	if (!reading_begin(&d->reading, must))
		return 0;
	if (idle_read(&d->states, &d->reading.text) == d->states.n)
		return error_set(&c->err, EIO, "the idle states of no CPU can be read any more");
	return reading_end(&d->reading, &c->err);
}

static int idle_take_end(struct collect *c)
{
	return idle_take(c, true);
}

static int idle_take_between(struct collect *c)
{
	return idle_take(c, false);
}

static void idle_finish(struct collect *c)
{
	struct idle *d = c->data;

	reading_close(&d->reading, c);
	idle_free(&d->states);
	free(d);
}

const struct collector collector_idle = {
	.name = "idle",
	.what = "idle states of the side's CPUs: entries and time",
	.files = {"idle.snap"},
	.when = DATED,
	.probe = idle_probe,
	.prepare = idle_prepare,
	.before = idle_before,
	.start = idle_take_end,
	.snap = idle_take_between,
	.stop = idle_take_end,
	.finish = idle_finish,
};
