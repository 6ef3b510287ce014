// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples of perf's clock, and the exact time of each CPU (struct exact). cpu-clock is a timer of
 * the kernel. While interrupts are off, or while the hypervisor runs something else, the timer
 * waits, and its sample lands behind the code that it was due in. So a sample counts where it was
 * due:
 *
 *   in another context   it is a sample of that context's label, such as "[hardirq local_timer]"
 *   in the same context, but long before: interrupts were off. "[interrupts off]" is then the
 *                        function, and the place where the sample landed is its caller.
 *
 * The samples of a place on a CPU divide the exact time of that place, for the workload and for
 * other programs. Too few samples in one place, or too many, thus never change another one.
 */
#include "analyze/perfdata/fold.h"

#include "lib/alloc.h"

#include <stdlib.h>

/*
 * On a virtual machine a timer is 4 to 16 us late. A sample that is later than this, without a
 * change of context, was held up by code with interrupts off.
 */
enum { LATE_NS = 50000, JOIN_NS = 1000000 };

void exact_free(struct exact *x)
{
	size_t i;

	for (i = 0; x && i < x->nlabels; i++)
		free(x->labels[i].name);
	if (x) {
		free(x->labels);
		free(x->times);
		free(x->due);
	}
	free(x);
}

static bool event_is_clock(const struct event *e)
{
	const uint64_t needed = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;

	return e->type == PERF_TYPE_SOFTWARE && e->config == PERF_COUNT_SW_CPU_CLOCK &&
	       (e->sample_type & needed) == needed && !(e->sample_type & PERF_SAMPLE_READ);
}

static bool exact_precedes(const struct exact_due *d, uint32_t cpu, uint64_t time)
{
	return d->cpu < cpu || (d->cpu == cpu && d->at <= time);
}

const struct exact_due *exact_find(const struct fold *f, uint32_t event, const struct sample *s)
{
	const struct exact *x = f->o->exact;
	size_t low = 0, high = x->ndue, middle;

	if (!event_is_clock(&f->r->events.list[event]))
		return NULL;
	while (low < high) {
		middle = (low + high) / 2;
		if (exact_precedes(&x->due[middle], s->cpu, s->time))
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || x->due[low - 1].cpu != s->cpu || s->time - x->due[low - 1].at > JOIN_NS)
		return NULL;
	return &x->due[low - 1];
}

void exact_place_sample(struct fold_cost *c, struct stack_head *h, const struct exact *x,
			const struct exact_due *d)
{
	c->place = x->labels[d->label].place;
	if (d->changes) {
		h->mode = MODE_LABEL;
		h->ip = d->label;
		h->nr = 0;
		h->pid = KERNEL_PID;
	} else if (d->late >= LATE_NS && h->mode == PERF_RECORD_MISC_KERNEL &&
		   c->place != PLACE_IDLE) {
		h->mode = MODE_INTERRUPTS_OFF;
		h->ip = 0;
	}
}

/* --- weights --- */

struct exact_cell {
	double exact, sampled; /* ns */
	uint32_t label;	       /* the one with most time, for a cell without a sample */
	uint64_t most;
};

typedef struct exact_cell exact_cells[2][PLACES]; /* [1]: the workload's */

static void exact_sum_times(exact_cells *cells, const struct exact *x, const struct profile *p)
{
	struct exact_cell *c;
	size_t i;

	for (i = 0; i < x->ntimes; i++) {
		const struct exact_time *t = &x->times[i];

		c = &cells[t->cpu][profile_is_own(p, t->pid)][x->labels[t->label].place];
		c->exact += (double)t->ns;
		if (t->ns > c->most) {
			c->most = t->ns;
			c->label = t->label;
		}
	}
}

static struct exact_cell *exact_cell_of(exact_cells *cells, const struct profile *p,
					const struct fold_cost *c)
{
	return &cells[c->cpu][profile_is_own(p, c->pid)][c->place];
}

static void exact_sum_samples(exact_cells *cells, const struct fold *f, const struct profile *p)
{
	size_t i;

	for (i = 0; i < f->costs.n; i++)
		if (f->costs.list[i].place)
			exact_cell_of(cells, p, &f->costs.list[i])->sampled +=
				(double)f->costs.list[i].weight;
}

static void exact_weigh(exact_cells *cells, struct fold *f, const struct profile *p)
{
	struct exact_cell *cell;
	double factor, weight;
	size_t i;

	for (i = 0; i < f->costs.n; i++) {
		struct fold_cost *c = &f->costs.list[i];
		struct fold_event *e = &f->events[c->event];

		if (!c->place)
			continue;
		cell = exact_cell_of(cells, p, c);
		factor = cell->exact / cell->sampled;
		weight = (double)c->weight;
		e->weight2 += weight * weight / (double)c->samples * (factor * factor - 1);
		e->weight -= c->weight;
		c->weight = (uint64_t)(weight * factor + 0.5);
		e->weight += c->weight;
	}
}

/* Adds a row for a place with time and without a sample. */
static void exact_add_unsampled(struct fold *f, const struct exact_cell *cell, uint32_t event,
				uint32_t cpu, const struct profile *p, bool own)
{
	struct stack_head head = {
		.mode = MODE_LABEL, .ip = cell->label, .pid = KERNEL_PID, .version = UINT32_MAX};
	struct fold_cost c = {.event = event, .cpu = cpu, .comm = UINT32_MAX};

	c.pid = c.tid = own ? p->own[0] : 0;
	c.stack = stacks_append(&f->stacks, &head, NULL);
	c.weight = (uint64_t)cell->exact;
	array_add(f->costs.list, f->costs.n, f->costs.cap, c);
	f->events[event].weight += c.weight;
}

void folds_weigh_exact(struct folds *f, const struct recording *r, const struct perfdata_options *o)
{
	exact_cells *cells;
	uint32_t event = 0, cpu;
	size_t i;
	int own, place;

	while (event < r->events.n && !event_is_clock(&r->events.list[event]))
		event++;
	if (!o->exact || event == r->events.n)
		return;
	cells = xcalloc(CPUSET_MAX, sizeof(*cells));
	exact_sum_times(cells, o->exact, r->profile);
	for (i = 0; i < f->n; i++)
		exact_sum_samples(cells, &f->list[i], r->profile);
	for (i = 0; i < f->n; i++)
		exact_weigh(cells, &f->list[i], r->profile);
	for (cpu = 0; cpu < CPUSET_MAX; cpu++)
		for (own = 0; own < 2; own++)
			for (place = 1; place < PLACES; place++)
				if (cells[cpu][own][place].exact >= 1 &&
				    !(cells[cpu][own][place].sampled > 0))
					exact_add_unsampled(&f->list[0], &cells[cpu][own][place],
							    event, cpu, r->profile, own);
	free(cells);
}
