// SPDX-License-Identifier: GPL-2.0-only
#include "collect/run/motion.h"

#include "collect/run/run.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "workload/workload.h"

#include <stdlib.h>

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

static void motion_settle(struct motion *m, const struct tcp_seen *tcp,
			  const struct tree_state *now)
{
	m->settled = tcp->listens || (now->sleeps && m->slept) || now->cpu_s > SETTLE_CPU_S;
	if (m->settled)
		sync_print(m->run, "settled");
}

static void motion_move(struct motion *m, const struct tcp_seen *tcp, const struct tree_state *now)
{
	bool long_ago = clock_mono_ns() - m->begun > MOVE_NS;
	bool begun = (now->sleeps && m->slept) || now->cpu_s > MOVE_CPU_S;

	m->moving = tcp->moved || (!tcp->sockets && long_ago && begun) ||
		    motion_account_has_begun(m->run);
	if (m->moving)
		sync_print(m->run, "moving");
}

bool motion_look(struct motion *m)
{
	struct tree_state now;
	struct tcp_seen tcp;

	if (m->settled && m->moving)
		return true;
	tcp = tcp_look(&m->tcp);
	now = tree_state_of(tree_of(m->run));
	if (!m->settled)
		motion_settle(m, &tcp, &now);
	if (!m->moving)
		motion_move(m, &tcp, &now);
	m->slept = now.sleeps;
	return m->settled && m->moving;
}

void motion_end(struct motion *m)
{
	tcp_look_end(&m->tcp);
	free(m);
}
