// SPDX-License-Identifier: GPL-2.0-only
#include "collect/run/run.h"

#include "lib/alloc.h"
#include "lib/clock.h"
#include "workload/workload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

void sync_print(const struct run *r, const char *fmt, ...)
{
	autofree char *line = r->sync ? xformat(fmt) : NULL;

	if (!line)
		return;
	puts(line);
	fflush(stdout); /* the end of standard input reports that nobody listens */
}

static enum sync_event sync_set_aborted(struct sync *s, const char *why)
{
	snprintf(s->why, sizeof(s->why), "%s", why);
	s->closed = true;
	return SYNC_ABORT;
}

static enum sync_event sync_parse(struct sync *s, const char *line)
{
	uint64_t start, duration;
	char end;

	if (!strcmp(line, "abort"))
		return sync_set_aborted(s, "aborted through standard input");
	if (sscanf(line, "go %" SCNu64 " %" SCNu64 "%c", &start, &duration, &end) != 2)
		return sync_set_aborted(
			s, "standard input has neither 'go START_NS DURATION_NS' nor 'abort'");
	if (s->start_ns)
		return SYNC_NOTHING;
	s->start_ns = start ? start : 1;
	s->duration_ns = duration;
	return SYNC_GO;
}

enum sync_event sync_read(struct sync *s)
{
	enum sync_event all = SYNC_NOTHING, heard;
	ssize_t n = read(s->fd, s->line + s->len, sizeof(s->line) - s->len);
	char *end;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return SYNC_NOTHING;
	if (n <= 0)
		return sync_set_aborted(s, "standard input was closed before the run was over");
	s->len += (size_t)n;
	while (all != SYNC_ABORT && (end = memchr(s->line, '\n', s->len))) {
		*end++ = '\0';
		heard = sync_parse(s, str_trim(s->line));
		all = heard > all ? heard : all;
		s->len -= (size_t)(end - s->line);
		memmove(s->line, end, s->len);
	}
	if (all != SYNC_ABORT && s->len == sizeof(s->line))
		return sync_set_aborted(s, "standard input: line too long");
	return all;
}

/* --- how far the workload has come --- */

#define SETTLE_CPU_S 2
#define MOVE_CPU_S   1
#define MOVE_NS	     1000000000ull

struct motion {
	struct run *run;
	struct collect tcp;
	uint64_t begun;
	bool slept; /* at the last look: a program may sleep for a moment while it starts */
	bool settled, moving;
};

struct motion *motion_begin(struct run *r)
{
	const struct adapter *is = adapter_find(r->units);
	struct motion *m = xcalloc(1, sizeof(*m));

	m->run = m->tcp.run = r;
	m->begun = clock_mono_ns();
	m->moving = r->warmup_s <= 0 || !is || !is->read; /* else nothing would tell */
	if (m->moving)
		sync_print(r, "moving");
	return m;
}

/* A workload's account may have its first point before the first byte has passed. */
static bool motion_account_has_begun(const struct run *r)
{
	const struct workload_run w = {r->dir, r->started_ns, clock_mono_ns(), 0};
	const struct adapter *is = adapter_find(r->units);
	freed(account_free) struct account a = {0};

	if (is->collector)
		return false;
	account_read(&w, r->units, &a, NULL);
	return a.points.n || a.rates || a.error;
}

bool motion_look(struct motion *m)
{
	struct tree_state now;
	struct tcp_seen tcp;
	bool waits, begun;

	if (m->settled && m->moving)
		return true;
	tcp = tcp_look(&m->tcp);
	now = tree_state_of(tree_of(m->run));
	waits = now.sleeps && m->slept;
	m->slept = now.sleeps;
	if (!m->settled && (tcp.listens || waits || now.cpu_s > SETTLE_CPU_S)) {
		m->settled = true;
		sync_print(m->run, "settled");
	}
	begun = clock_mono_ns() - m->begun > MOVE_NS && (waits || now.cpu_s > MOVE_CPU_S);
	if (!m->moving &&
	    (tcp.moved || (!tcp.sockets && begun) || motion_account_has_begun(m->run))) {
		m->moving = true;
		sync_print(m->run, "moving");
	}
	return m->settled && m->moving;
}

void motion_end(struct motion *m)
{
	tcp_look_end(&m->tcp);
	free(m);
}
