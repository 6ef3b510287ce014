// SPDX-License-Identifier: GPL-2.0-only
/* Which CPU was interrupted by what, and which softirqs it ran. */
#include "collect/reading.h"
#include "lib/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const sources[] = {"/proc/interrupts", "/proc/softirqs"};

struct irq {
	struct reading reading;
	int fd[array_size(sources)];
};

static int probe(struct collect *c)
{
	size_t i;

	for (i = 0; i < array_size(sources); i++)
		if (access(sources[i], R_OK))
			return error_sys(&c->err, errno, "%s: cannot read", sources[i]);
	return 0;
}

static int prepare(struct collect *c)
{
	struct irq *q = xcalloc(1, sizeof(*q));
	size_t i;

	c->data = q;
	for (i = 0; i < array_size(sources); i++) {
		q->fd[i] = open(sources[i], O_RDONLY | O_CLOEXEC);
		if (q->fd[i] < 0)
			return error_sys(&c->err, errno, "%s: cannot read", sources[i]);
	}
	return reading_open(&q->reading, c, c->is->files[0]);
}

static int read_all(struct collect *c)
{
	struct irq *q = c->data;
	size_t i;
	int rc;

	for (i = 0; i < array_size(sources); i++) {
		rc = reading_add(&q->reading, q->fd[i]);
		if (rc)
			return error_sys(&c->err, -rc, "%s: cannot read", sources[i]);
	}
	return 0;
}

static int take(struct collect *c, bool must)
{
	struct irq *q = c->data;
	int rc;

	if (!reading_begin(&q->reading, must))
		return 0;
	rc = read_all(c);
	return rc ? rc : reading_end(&q->reading, &c->err);
}

static int take_end(struct collect *c)
{
	return take(c, true);
}

static int take_between(struct collect *c)
{
	return take(c, false);
}

static void finish(struct collect *c)
{
	struct irq *q = c->data;
	size_t i;

	reading_close(&q->reading, c);
	for (i = 0; i < array_size(sources); i++)
		if (q->fd[i] > 0)
			close(q->fd[i]);
	free(q);
}

const struct collector collector_irq = {
	.name = "irq",
	.what = "interrupts and softirqs by source and CPU",
	.files = {"irq.snap"},
	.when = DATED,
	.probe = probe,
	.prepare = prepare,
	.before = read_all, /* for nothing: the first one takes longer */
	.start = take_end,
	.snap = take_between,
	.stop = take_end,
	.finish = finish,
};
