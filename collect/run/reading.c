// SPDX-License-Identifier: GPL-2.0-only
#include "collect/run/run.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/snap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

enum { SHARE = 1000 };

int reading_open(struct collect *c)
{
	str_free(&c->reading.text);
	c->reading = (struct reading){.fd = run_create_file(c->run, c->is->files[0], &c->err)};
	return -c->err.code;
}

static int reading_write(struct collect *c)
{
	struct reading *r = &c->reading;
	int rc = snap_append(r->fd, r->began_ns, r->text.buf ? r->text.buf : "", r->text.len);
	uint64_t took = clock_thread_ns() - r->cpu_ns;

	r->n++;
	r->spent_ns += took;
	r->longest_ns = took > r->longest_ns ? took : r->longest_ns;
	r->next_ns = r->began_ns + took * SHARE;
	return rc ? error_sys(&c->err, -rc, "%s: cannot write", c->is->files[0]) : 0;
}

int reading_take(struct collect *c)
{
	struct reading *r = &c->reading;
	int rc;

	r->began_ns = clock_mono_ns();
	str_reset(&r->text);
	r->cpu_ns = clock_thread_ns();
	rc = c->is->read(c);
	return rc ? rc : reading_write(c);
}

int reading_take_when_due(struct collect *c)
{
	if (c->is->always_due || clock_mono_ns() >= c->reading.next_ns)
		return reading_take(c);
	c->reading.skipped++;
	return 0;
}

void reading_close(struct collect *c)
{
	const struct reading *r = &c->reading;

	if (!c->is->always_due && r->n) {
		collect_info_int(c, "readings", r->n);
		collect_info_int(c, "reading_us", (int64_t)(r->spent_ns / r->n / 1000));
		collect_info_int(c, "longest_us", (int64_t)(r->longest_ns / 1000));
	}
	if (!c->is->always_due && r->skipped)
		collect_info_int(c, "skipped", r->skipped);
	if (c->reading.fd > 0)
		close(c->reading.fd);
	str_free(&c->reading.text);
	c->reading = (struct reading){0};
}
