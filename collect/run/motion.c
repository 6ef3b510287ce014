// SPDX-License-Identifier: GPL-2.0-only
#include "collect/run/motion.h"

#include "collect/run/run.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "workload/workload.h"

#include <stdlib.h>

#define SETTLE_NS 2000000000ull
#define MOVE_NS	  1000000000ull

struct motion {
	struct run *run;
	struct collect tcp;
	uint64_t begun;
	bool slept; /* at the last look: a program may sleep for a moment while it starts */
	bool settled, moving;
};

/* Says whether nothing would tell that the workload moves data. */
static bool motion_is_blind(const struct run *r)
{
	const struct adapter *is = adapter_find(r->units);

	return r->warmup_s <= 0 || !is || !is->read;
}

struct motion *motion_begin(struct run *r)
{
	struct motion *m = xcalloc(1, sizeof(*m));

	m->run = m->tcp.run = r;
	m->begun = clock_mono_ns();
	m->moving = motion_is_blind(r);
	if (m->moving)
		sync_print(r, "moving");
	return m;
}

/* A workload's account may have its first point before the first byte has passed. */
static bool motion_account_has_begun(const struct run *r)
{
	const struct workload_run w = {r->dir, r->started_ns, clock_mono_ns(), 0};
	const struct adapter *is = adapter_find(r->units);
	struct account a;
	bool begun;

	if (is->collector)
		return false;
	account_read(&w, r->units, &a, NULL);
	begun = a.points.n || a.rates || a.error;
	account_free(&a);
	return begun;
}

static void motion_settle(struct motion *m, const struct tcp_seen *tcp, uint64_t since)
{
	bool sleeps = tree_sleeps(tree_of(m->run));

	m->settled = tcp->listens || (sleeps && m->slept) || since > SETTLE_NS;
	m->slept = sleeps;
	if (m->settled)
		sync_print(m->run, "settled");
}

static void motion_move(struct motion *m, const struct tcp_seen *tcp, uint64_t since)
{
	m->moving = tcp->moved || (!tcp->sockets && since > MOVE_NS) ||
		    motion_account_has_begun(m->run);
	if (m->moving)
		sync_print(m->run, "moving");
}

bool motion_look(struct motion *m)
{
	uint64_t since = clock_mono_ns() - m->begun;
	struct tcp_seen tcp;

	if (m->settled && m->moving)
		return true;
	tcp = tcp_look(&m->tcp);
	if (!m->settled)
		motion_settle(m, &tcp, since);
	if (!m->moving)
		motion_move(m, &tcp, since);
	return m->settled && m->moving;
}

void motion_end(struct motion *m)
{
	tcp_look_end(&m->tcp);
	free(m);
}
