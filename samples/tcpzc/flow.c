// SPDX-License-Identifier: GPL-2.0-only
/* The books of a flow: what arrived or left, when, and by which calls. */
#include "tcpzc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CHECK_STEPS = 64 };

static const uint64_t point_ns = 100000000, slow_ns = 1000000;

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

int flow_fail(struct flow *f, int code, const char *fmt, ...)
{
	size_t n;
	va_list ap;

	if (f->error)
		return -code;
	f->error = code;
	va_start(ap, fmt);
	vsnprintf(f->what, sizeof(f->what), fmt, ap);
	va_end(ap);
	n = strlen(f->what);
	snprintf(f->what + n, sizeof(f->what) - n, ": %s", strerror(code));
	return -code;
}

int flow_wrong(struct flow *f, const char *fmt, ...)
{
	va_list ap;

	if (f->error)
		return -f->error;
	f->error = EPROTO;
	va_start(ap, fmt);
	vsnprintf(f->what, sizeof(f->what), fmt, ap);
	va_end(ap);
	return -f->error;
}

/* The span that calls.h defines begins: connected. */
void flow_begin(struct flow *f)
{
	stop_count(f);
	memset(f->calls, 0, sizeof(f->calls));
	getrusage(RUSAGE_SELF, &f->usage[0]);
}

void flow_data_starts(struct flow *f)
{
	f->start_ns = f->check_ns = now_ns();
	f->next_point_ns = f->start_ns + point_ns;
	f->check_every = CHECK_STEPS;
	report_point(f, f->start_ns);
}

void flow_check(struct flow *f)
{
	uint64_t now = now_ns();

	f->check_every = now - f->check_ns > slow_ns ? 1 : CHECK_STEPS;
	f->check_ns = now;
	f->check_steps = 0;
	f->check_bytes = f->bytes;
	if (now < f->next_point_ns)
		return;
	report_point(f, now);
	f->next_point_ns += (now - f->next_point_ns) / point_ns * point_ns + point_ns;
}

void flow_data_ends(struct flow *f)
{
	f->end_ns = now_ns();
	if (f->start_ns)
		report_point(f, f->end_ns);
	else
		f->start_ns = f->end_ns; /* it never came to data */
	getrusage(RUSAGE_SELF, &f->usage[1]);
	stop_count(f);
}

uint64_t flow_left(const struct flow *f, uint64_t pos)
{
	if (!f->opt->bytes)
		return UINT64_MAX;
	return f->opt->bytes > pos ? f->opt->bytes - pos : 0;
}

size_t flow_message(const struct flow *f, uint64_t pos)
{
	uint64_t left = flow_left(f, pos);
	size_t n = f->opt->size - pos % f->opt->size;

	return left < n ? (size_t)left : n;
}

void flow_take(struct flow *f, const void *data, size_t n, bool mapped)
{
	uint64_t first;
	size_t bad = f->opt->verify ? pattern_check(data, f->bytes, n, &first) : 0;

	if (bad && !f->bad_bytes)
		f->first_bad = first;
	f->bad_bytes += bad;
	f->bytes += n;
	*(mapped ? &f->mapped_bytes : &f->copied_bytes) += n;
}

void flow_fill(const struct flow *f, void *buf, uint64_t pos, size_t n)
{
	const struct options *o = f->opt;

	if (!o->verify)
		return;
	pattern_fill(buf, pos, n);
	if (o->corrupt && o->corrupt_at >= pos && o->corrupt_at - pos < n)
		((unsigned char *)buf)[o->corrupt_at - pos] ^= 0xff;
}
