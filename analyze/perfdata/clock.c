// SPDX-License-Identifier: GPL-2.0-only
/*
 * The weight of late samples. cpu-clock and task-clock are timers of the kernel. While interrupts
 * are off, or while the hypervisor runs something else, the timer waits. Then it takes one sample
 * and skips the periods that it missed (hrtimer_forward). So the sample accounts for all periods
 * since the timer was due, and these are a whole number, because the timer keeps its grid.
 *
 * The time since the CPU's previous sample would be wrong: it charges the rest of the period before
 * the interrupts went off to the code that ran with interrupts off.
 *
 * A CPU with missing samples must not have such weights. The kernel of some virtual machines
 * records no sample while a CPU's idle task is current, and a function must not pay for idle time.
 * So late samples count on CPUs with samples of the idle task for their idle time, or without idle
 * time, and only in recordings without losses and throttling.
 */
#include "analyze/perfdata/fold.h"

#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { FOLLOW = 64 }; /* part of the distance by which the grid follows a sample */

static bool event_is_timer(const struct event *e)
{
	const uint64_t needed = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;

	return e->type == PERF_TYPE_SOFTWARE &&
	       (e->config == PERF_COUNT_SW_CPU_CLOCK || e->config == PERF_COUNT_SW_TASK_CLOCK) &&
	       (e->sample_type & needed) == needed && !(e->sample_type & PERF_SAMPLE_READ) &&
	       (e->sample_type & PERF_SAMPLE_PERIOD || !e->freq);
}

static struct fold_clock *fold_clock_of(struct fold *f, uint32_t event, uint32_t cpu)
{
	size_t at = (size_t)cpu * f->r->events.n + event, n = f->nclocks;

	if (at >= n) {
		f->nclocks = (cpu + 1) * f->r->events.n;
		f->clocks = xrealloc(f->clocks, f->nclocks * sizeof(*f->clocks));
		memset(f->clocks + n, 0, (f->nclocks - n) * sizeof(*f->clocks));
	}
	return &f->clocks[at];
}

/*
 * Returns the number of periods that the timer missed before `time`, and moves to the next time at
 * which it is due. A sample before that time corrects the grid. A sample shortly after it moves the
 * grid a little, because the clock of the samples may drift away from the timer's clock.
 */
static uint64_t fold_clock_advance(struct fold_clock *c, uint64_t time, uint64_t period)
{
	uint64_t after = time - c->due, missed = after / period;

	if (!c->due || time < c->due) {
		c->due = time + period;
		return 0;
	}
	c->due += (missed + 1) * period + (missed ? 0 : after / FOLLOW);
	return missed;
}

uint64_t fold_clock_missed(struct fold *f, uint32_t event, const struct sample *s)
{
	struct fold_clock *c;
	uint64_t ns;

	if (s->cpu >= CPUSET_MAX || !s->period || !event_is_timer(&f->r->events.list[event]))
		return 0;
	c = fold_clock_of(f, event, s->cpu);
	c->idle_task += s->tid ? 0 : s->period;
	ns = fold_clock_advance(c, s->time, s->period) * s->period;
	c->missed += ns;
	c->squares += (double)ns * (double)(ns + 2 * s->period);
	return ns;
}

bool fold_clocks_count(const struct recording *r, const struct perfdata_options *o)
{
	const struct profile_health *h = &r->profile->health;
	size_t i;

	if (!o->idle_ns || h->lost_records || h->lost_samples || h->throttled)
		return false;
	for (i = 0; i < r->events.n && !event_is_timer(&r->events.list[i]); i++)
		;
	return i < r->events.n;
}

/* Returns the CPUs with late samples that count. */
static struct cpuset fold_find_late_cpus(const struct fold *f, const double *idle_ns)
{
	struct cpuset set = {0};
	unsigned int cpu;

	for (size_t i = 0; i < f->nclocks; i++) {
		cpu = (unsigned int)(i / f->r->events.n);
		if (profile_has_idle((double)f->clocks[i].idle_task, idle_ns[cpu]))
			cpuset_add(&set, cpu);
	}
	return set;
}

void fold_weigh(struct fold *f)
{
	struct cpuset cpus;

	if (!fold_clocks_count(f->r, f->o))
		return;
	cpus = fold_find_late_cpus(f, f->o->idle_ns);
	for (size_t i = 0; i < f->costs.n; i++)
		if (f->costs.list[i].missed && cpuset_has(&cpus, f->costs.list[i].cpu))
			f->costs.list[i].weight += f->costs.list[i].missed;
	for (size_t i = 0; i < f->nclocks; i++) {
		struct fold_event *e = &f->events[i % f->r->events.n];

		if (!cpuset_has(&cpus, (unsigned int)(i / f->r->events.n)))
			continue;
		e->weight += f->clocks[i].missed;
		e->late += f->clocks[i].missed;
		e->weight2 += f->clocks[i].squares;
	}
}
