// SPDX-License-Identifier: GPL-2.0-only
/* A flow: its counters, its errors, its pace, and its steps. */
#include "memory.h"
#include "run.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum { CHECK_STEPS = 64 };

static const uint64_t slow_ns = 1000000;

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
	unsigned int mask = f->mode->hists | (f->tx ? 0 : 1 << HIST_RECV_BYTES);

	if (f->back && f->tx)
		mask |= 1 << HIST_LATENCY_NS;
	for (unsigned int i = 0; i < HIST_COUNT; i++) {
		if (!(mask & 1 << i))
			continue;
		f->hist[i] = calloc(1, sizeof(struct hist));
		if (!f->hist[i])
			return flow_fail(f, ENOMEM, "memory");
	}
	f->state = f->mode->state_size ? arena_alloc(&f->arena, f->mode->state_size)
				       : memory_get(f, f->size);
	if (!f->state)
		return -f->error;
	return f->mode->open ? f->mode->open(f) : 0;
}

void flow_close(struct flow *f)
{
	if (f->state && f->mode->close)
		f->mode->close(f);
	memory_free(f);
}

void flow_free(struct flow *f)
{
	for (unsigned int i = 0; i < HIST_COUNT; i++)
		free(f->hist[i]);
	arena_free(&f->arena);
	fd_close(&f->kept_fd);
	if (!f->back)
		return;
	flow_free(f->back);
	free(f->back);
}

int flow_fail(struct flow *f, int code, const char *fmt, ...)
{
	struct rlimit rl = {0};
	size_t n = 0;
	va_list ap;

	if (f->error)
		return code ? -code : -f->error;
	f->error = code ? code : EPROTO;
	if (f->opt->flows > 1)
		n = (size_t)snprintf(f->what, sizeof(f->what), "flow %u: ", f->index);
	va_start(ap, fmt);
	vsnprintf(f->what + n, sizeof(f->what) - n, fmt, ap);
	va_end(ap);
	if (!code)
		return -f->error;
	n = strlen(f->what);
	n += (size_t)snprintf(f->what + n, sizeof(f->what) - n, ": %s", strerror(code));
	if (code == EMFILE && n < sizeof(f->what) && !getrlimit(RLIMIT_NOFILE, &rl))
		snprintf(f->what + n, sizeof(f->what) - n,
			 " (RLIMIT_NOFILE (ulimit -n) is %llu: raise it, or take fewer --flows)",
			 (unsigned long long)rl.rlim_cur);
	return -code;
}

int flow_call_failed(struct flow *f, const char *call)
{
	return errno == EAGAIN	? STEP_WAIT
	       : errno == EINTR ? STEP_ON
				: flow_fail(f, errno, "%s", call);
}

int flow_copy_error(struct flow *f, const struct flow *from)
{
	if (!f->error && from->error) {
		f->error = from->error;
		memcpy(f->what, from->what, sizeof(f->what));
	}
	return -f->error;
}

/*
 * --rate: message k of a flow is due k / rate seconds after the first one, and the thread sleeps in
 * between. A late flow catches up on at most 10 ms, so that a rate that is too high for a while
 * does not become a burst later. Requests catch up on all of the delay, because their latency
 * counts from the time when they were due.
 */
static const uint64_t late_ns = 10000000;

uint64_t pace_due_ns(const struct flow *f, uint64_t message)
{
	double bytes = (double)(message * f->size) - (double)f->pace_bytes;

	return f->pace_ns + (uint64_t)(bytes > 0 ? bytes / f->pace_rate * 1e9 : 0);
}

int pace_allow(struct flow *f)
{
	uint64_t now = clock_mono_ns(), due = pace_due_ns(f, f->bytes / f->size), messages;

	if (now < due) {
		f->due_ns = due;
		return flow_wait_for(f, -1, 0);
	}
	if (now - due > late_ns && !f->back) {
		f->pace_ns = now - late_ns;
		f->pace_bytes = f->bytes;
	}
	messages = (uint64_t)((double)(now - f->pace_ns) / 1e9 * f->pace_rate / (double)f->size);
	f->allow = f->pace_bytes / f->size * f->size + (messages + 1) * f->size;
	if (f->allow > f->limit)
		f->allow = f->limit;
	return 0;
}

void flow_data_starts(struct flow *f)
{
	const struct options *o = f->opt;
	struct worker *w = f->worker;

	if (o->rate > 0 && f->tx) {
		f->pace_rate = o->rate_messages ? o->rate * (double)f->size : o->rate;
		f->pace_ns = clock_mono_ns();
	}
	f->check_ns = clock_mono_ns();
	__atomic_store_n(&f->start_ns, f->check_ns, __ATOMIC_RELEASE);
	if (w == w->run->boss)
		run_starts(w->run, f->start_ns);
	else
		worker_notify_boss(w);
}

void flow_check(struct flow *f)
{
	struct run *r = f->worker->run;
	uint64_t now;

	f->check_steps = 0;
	f->check_bytes = f->bytes;
	if (f->worker != r->boss)
		return;
	now = clock_mono_ns();
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
		flow_wrong(f, "only %" PRIu64 " responses to %" PRIu64 " requests came",
			   f->completed, requests);
}

/* Finds what is wrong with data that came without an error. */
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
		flow_wrong(f, "%" PRIu64 " bytes arrived, but --bytes is %" PRIu64, f->bytes,
			   o->bytes);
}

void flow_data_ends(struct flow *f)
{
	f->end_ns = clock_mono_ns();
	if (f->back)
		flow_copy_error(f, f->back);
	if (!f->start_ns)
		f->start_ns = f->end_ns; /* no data ever came */
	f->flow_ns = f->end_ns - f->start_ns;
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

/* --- the data --- */

/*
 * The data of --verify: a sequence of 64-bit little-endian words. Word i is a hash of i and the
 * stream's seed. So the check finds a byte that is lost, repeated, moved, changed, or from another
 * flow.
 */
static uint64_t pattern_word(uint64_t seed, uint64_t i)
{
	i = (i + 1 + (seed << 40)) * 0x9e3779b97f4a7c15ULL;
	i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9ULL;
	i = (i ^ i >> 27) * 0x94d049bb133111ebULL;
	return htole64(i ^ i >> 31);
}

static void pattern_fill(void *buf, uint64_t seed, uint64_t pos, size_t n)
{
	unsigned char *p = buf;

	while (n) {
		uint64_t word = pattern_word(seed, pos >> 3);
		size_t skip = pos & 7;
		size_t k = 8 - skip < n ? 8 - skip : n;

		memcpy(p, (unsigned char *)&word + skip, k);
		p += k;
		pos += k;
		n -= k;
	}
}

/* Returns how many bytes differ. *first is the position of the first one. */
static size_t pattern_check(const void *buf, uint64_t seed, uint64_t pos, size_t n, uint64_t *first)
{
	const unsigned char *p = buf;
	unsigned char want[4096];
	size_t bad = 0, k;

	for (; n; p += k, pos += k, n -= k) {
		k = n < sizeof(want) ? n : sizeof(want);
		pattern_fill(want, seed, pos, k);
		if (!memcmp(p, want, k))
			continue;
		for (size_t i = 0; i < k; i++) {
			if (p[i] == want[i])
				continue;
			if (!bad++)
				*first = pos + i;
		}
	}
	return bad;
}

void flow_take(struct flow *f, const void *data, size_t n, uint64_t *counter)
{
	uint64_t first;
	size_t bad = f->opt->verify ? pattern_check(data, f->seed, f->bytes, n, &first) : 0;

	if (bad && !f->bad_bytes)
		f->first_bad = first;
	f->bad_bytes += bad;
	*counter += n;
	flow_count_bytes(f, n);
}

void flow_fill(const struct flow *f, void *buf, uint64_t pos, size_t n)
{
	if (f->opt->verify)
		pattern_fill(buf, f->seed, pos, n);
}

void half_wait_readable(struct flow *f)
{
	f->waiting = true;
	flow_wait_for(f, f->fd, POLLIN);
}

int half_step(struct flow *f)
{
	int rc;

	flow_wait_for(f, f->fd, f->tx ? POLLOUT : POLLIN);
	rc = f->mode->step(f);
	f->waiting = rc == STEP_WAIT;
	return rc;
}

int half_drain(struct flow *f)
{
	uint64_t now;
	int rc;

	if (!f->mode->drain)
		return 0;
	if (!f->drain_ns)
		f->drain_ns = clock_mono_ns();
	flow_wait_for(f, f->fd, f->tx ? POLLOUT : POLLIN);
	rc = f->mode->drain(f);
	now = clock_mono_ns();
	if (rc == STEP_ON)
		f->drain_ns = now;
	if (rc == STEP_WAIT && now - f->drain_ns >= DRAIN_PATIENCE_MS * 1000000ULL)
		rc = 0;
	f->waiting = rc == STEP_WAIT;
	return rc;
}

/* Says whether the flow is stopped, has failed, or has sent everything. */
static bool flow_ended(const struct flow *f)
{
	return stop_requested || f->error || (f->tx && f->bytes >= f->limit);
}

int flow_next(struct flow *f)
{
	int rc;

	if (f->draining || flow_ended(f)) {
		f->draining = true;
		return f->back ? rr_drain(f) : half_drain(f);
	}
	if (!f->start_ns)
		flow_data_starts(f);
	if (!f->back && f->pace_rate > 0 && pace_allow(f)) {
		f->waiting = true;
		return STEP_WAIT;
	}
	rc = f->back ? rr_move(f) : half_step(f);
	flow_tick(f);
	f->draining = rc <= 0;
	return f->draining ? STEP_ON : rc;
}
