// SPDX-License-Identifier: GPL-2.0-only
/* Which CPU was interrupted by what, and which softirqs it ran. */
#include "collect/run/reading.h"
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

static int irq_probe(struct collect *c)
{
	size_t i;

	for (i = 0; i < array_size(sources); i++)
		if (access(sources[i], R_OK))
			return error_sys(&c->err, errno, "%s: cannot read", sources[i]);
	return 0;
}

static int irq_prepare(struct collect *c)
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

static int irq_read_all(struct collect *c)
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

static int irq_take(struct collect *c, bool must)
{
	struct irq *q = c->data;
	int rc;

	if (!reading_begin(&q->reading, must))
		return 0;
	rc = irq_read_all(c);
	return rc ? rc : reading_end(&q->reading, &c->err);
}

static int irq_take_end(struct collect *c)
{
	return irq_take(c, true);
}

static int irq_take_between(struct collect *c)
{
	return irq_take(c, false);
}

static void irq_finish(struct collect *c)
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
	.probe = irq_probe,
	.prepare = irq_prepare,
	.before = irq_read_all, /* for nothing: the first one takes longer */
	.start = irq_take_end,
	.snap = irq_take_between,
	.stop = irq_take_end,
	.finish = irq_finish,
};
