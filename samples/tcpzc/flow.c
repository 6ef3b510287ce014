// SPDX-License-Identifier: GPL-2.0-only
/* The books of a flow: what arrived or left, when, and by which calls. */
#include "files.h"
#include "pace.h"
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CHECK_STEPS = 64 };

static const uint64_t slow_ns = 1000000;

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void flow_init(struct flow *f, const struct options *opt, unsigned int index)
{
	memset(f, 0, sizeof(*f));
	f->opt = opt;
	f->mode = opt->mode;
	f->index = index;
	f->tx = !opt->listen;
	f->fd = f->event_fd = f->kept_fd = -1;
	f->size = opt->size;
	f->limit = opt->bytes ? opt->bytes : UINT64_MAX;
	f->allow = f->limit;
	f->check_every = CHECK_STEPS;
}

int flow_open(struct flow *f)
{
	unsigned int mask = f->mode->hists | (f->tx ? 0 : 1 << HIST_RECV_BYTES), i;

	if (f->back && f->tx)
		mask |= 1 << HIST_LATENCY_NS;
	for (i = 0; i < HIST_COUNT; i++) {
		if (!(mask & 1 << i))
			continue;
		f->hist[i] = calloc(1, sizeof(struct hist));
		if (!f->hist[i])
			return flow_fail(f, ENOMEM, "memory");
	}
	return f->mode->open(f);
}

void flow_close(struct flow *f)
{
	f->mode->close(f);
}

void flow_free(struct flow *f)
{
	unsigned int i;

	for (i = 0; i < HIST_COUNT; i++)
		free(f->hist[i]);
	if (f->kept_fd >= 0)
		close(f->kept_fd);
	if (!f->back)
		return;
	flow_free(f->back);
	free(f->back);
	free(f->begun_ns);
}

/* "flow 3: " where there are several. */
static size_t flow_put_name(struct flow *f)
{
	if (f->opt->flows == 1)
		return 0;
	return (size_t)snprintf(f->what, sizeof(f->what), "flow %u: ", f->index);
}

/* A remark in brackets at the end, on what the call needs, is beside the point of this error. */
static void flow_cut_remark(char *text)
{
	char *p = text + strlen(text);
	int inside = 0;

	if (p == text || p[-1] != ')')
		return;
	do {
		p--;
		inside += (*p == ')') - (*p == '(');
	} while (p > text && inside);
	if (p > text)
		p[-1] = '\0';
}

int flow_fail(struct flow *f, int code, const char *fmt, ...)
{
	const char *way_out = code == EMFILE ? files_limit() : "";
	size_t n;
	va_list ap;

	if (f->error)
		return -code;
	f->error = code;
	n = flow_put_name(f);
	va_start(ap, fmt);
	vsnprintf(f->what + n, sizeof(f->what) - n, fmt, ap);
	va_end(ap);
	if (code == EMFILE)
		flow_cut_remark(f->what);
	n = strlen(f->what);
	snprintf(f->what + n, sizeof(f->what) - n, ": %s%s", strerror(code), way_out);
	return -code;
}

int flow_wrong(struct flow *f, const char *fmt, ...)
{
	size_t n;
	va_list ap;

	if (f->error)
		return -f->error;
	f->error = EPROTO;
	n = flow_put_name(f);
	va_start(ap, fmt);
	vsnprintf(f->what + n, sizeof(f->what) - n, fmt, ap);
	va_end(ap);
	return -f->error;
}

int flow_copy_error(struct flow *f, const struct flow *from)
{
	if (!f->error && from->error) {
		f->error = from->error;
		memcpy(f->what, from->what, sizeof(f->what));
	}
	return -f->error;
}

void flow_data_starts(struct flow *f)
{
	struct worker *w = f->worker;

	if (f->opt->rate > 0 && f->tx)
		pace_start(f);
	f->check_ns = now_ns();
	__atomic_store_n(&f->start_ns, f->check_ns, __ATOMIC_RELEASE);
	if (w == w->run->boss)
		run_starts(w->run, f->start_ns);
	else
		worker_tell_boss(w);
}

void flow_check(struct flow *f)
{
	struct run *r = f->worker->run;
	uint64_t now;

	f->check_steps = 0;
	f->check_bytes = f->bytes;
	if (f->worker != r->boss)
		return;
	now = now_ns();
	f->check_every = now - f->check_ns > slow_ns ? 1 : CHECK_STEPS;
	f->check_ns = now;
	run_point_if_due(r, now);
}

static void flow_judge_responses(struct flow *f)
{
	const struct flow *b = f->back;
	uint64_t requests = f->bytes / f->size;

	if (b->bad_bytes)
		flow_wrong(f,
			   "verify: %" PRIu64 " of %" PRIu64
			   " bytes of the responses differ, the first at offset %" PRIu64,
			   b->bad_bytes, b->bytes, b->first_bad);
	if (f->tx && f->completed < requests && !stop_asked())
		flow_wrong(f, "%" PRIu64 " responses to %" PRIu64 " requests came", f->completed,
			   requests);
}

/* What a receiver knows to be wrong with data that came without an error. */
static void flow_judge(struct flow *f)
{
	const struct options *o = f->opt;

	if (f->back)
		flow_judge_responses(f);
	if (f->bad_bytes)
		flow_wrong(f,
			   "verify: %" PRIu64 " of %" PRIu64
			   " bytes differ, the first at offset %" PRIu64,
			   f->bad_bytes, f->bytes, f->first_bad);
	if (!f->tx && o->bytes && f->bytes != o->bytes && !stop_asked())
		flow_wrong(f, "%" PRIu64 " bytes came, --bytes says %" PRIu64, f->bytes, o->bytes);
}

void flow_data_ends(struct flow *f)
{
	f->end_ns = now_ns();
	if (f->back)
		flow_copy_error(f, f->back);
	if (!f->start_ns)
		f->start_ns = f->end_ns; /* it never came to data */
	flow_judge(f);
}

uint64_t flow_left(const struct flow *f, uint64_t pos)
{
	return f->allow > pos ? f->allow - pos : 0;
}

size_t flow_message(const struct flow *f, uint64_t pos)
{
	uint64_t left = flow_left(f, pos);
	size_t n = f->size - pos % f->size;

	return left < n ? (size_t)left : n;
}

static void flow_compare(struct flow *f, const void *data, size_t n)
{
	uint64_t first;
	size_t bad = f->opt->verify ? pattern_check(data, f->seed, f->bytes, n, &first) : 0;

	if (bad && !f->bad_bytes)
		f->first_bad = first;
	f->bad_bytes += bad;
	flow_count_bytes(f, n);
}

void flow_take(struct flow *f, const void *data, size_t n, bool mapped)
{
	flow_compare(f, data, n);
	*(mapped ? &f->mapped_bytes : &f->copied_bytes) += n;
}

void flow_take_unknown(struct flow *f, const void *data, size_t n)
{
	flow_compare(f, data, n);
	f->unknown_bytes += n;
}

void flow_fill(const struct flow *f, void *buf, uint64_t pos, size_t n)
{
	const struct options *o = f->opt;

	if (!o->verify)
		return;
	pattern_fill(buf, f->seed, pos, n);
	if (o->corrupt && !f->index && o->corrupt_at >= pos && o->corrupt_at - pos < n)
		((unsigned char *)buf)[o->corrupt_at - pos] ^= 0xff;
}
