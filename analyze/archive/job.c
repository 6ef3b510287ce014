// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/archive/archive.h"

#include "lib/clock.h"

#include <stdio.h>
#include <unistd.h>

enum { EVERY_NS = 200 * 1000 * 1000 };

struct advance advance_of(const char *doing, uint64_t total)
{
	return (struct advance){.doing = doing, .total = total, .tty = isatty(STDERR_FILENO)};
}

void advance_add(struct advance *p, uint64_t bytes)
{
	uint64_t now;

	p->done += bytes;
	if (!p->tty || (now = clock_mono_ns()) < p->next_ns)
		return;
	p->next_ns = now + EVERY_NS;
	p->shown = true;
	if (p->total)
		fprintf(stderr, "\r%s %3.0f %%", p->doing,
			100.0 * (double)p->done / (double)p->total);
	else
		fprintf(stderr, "\r%s %.0f MB", p->doing, (double)p->done / 1e6);
}

void advance_end(struct advance *p)
{
	if (p->shown)
		fprintf(stderr, "\r%40s\r", "");
}
