// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples of perf's clock, and the exact time of each CPU (struct exact). cpu-clock is a timer of
 * the kernel. While interrupts are off, or while the hypervisor runs something else, the timer
 * waits, and its sample lands behind the code that it was due in. So a sample counts where it was
 * due:
 *
 *   in another context   it is a sample of the function in which that context was left, by the call
 *                        chain of the softirq or interrupt that now runs on top of it. Without this
 *                        function in the chain it is one of the label, as "[hardirq local_timer]"
 *   in the same context, but long before: interrupts were off. "[interrupts off]" is then the
 *                        function, and the place where the sample landed is its caller.
 *
 * A sample of cycles is an NMI, so it lands where it was due: its call chain tells the context.
 *
 * The samples of a label on a CPU divide its exact time, for the workload and for other programs.
 * Too few samples with one label, or too many, thus never change another one. Samples that account
 * for less than a fifth of this time say little about the rest, so the rest has the label's name.
 * Samples of cycles have no label, so that they divide the time of their place.
 */
#include "analyze/perfdata/resolve.h"

/*
 * On a virtual machine a timer is 4 to 16 us late. A sample that is later than this, without a
 * change of context, was held up by code with interrupts off.
 */
enum { LATE_NS = 50000, JOIN_NS = 1000000, MOST_TIMES = 5 };

void exact_free(struct exact *x)
{
	for (size_t i = 0; x && i < x->nlabels; i++)
		free(x->labels[i].name);
	if (x) {
		free(x->labels);
		free(x->times);
		free(x->due);
	}
	free(x);
}

enum context exact_context(enum exact_place place, enum context by_stack)
{
	static const enum context contexts[PLACES] = {
		[PLACE_USER] = CTX_USER,       [PLACE_SYSCALL] = CTX_SYSCALL,
		[PLACE_KTHREAD] = CTX_KTHREAD, [PLACE_IDLE] = CTX_IDLE_TASK,
		[PLACE_HALT] = CTX_IDLE,       [PLACE_SOFTIRQ_IN_SYSCALL] = CTX_SOFTIRQ_IN_SYSCALL,
		[PLACE_SOFTIRQ] = CTX_SOFTIRQ, [PLACE_SOFTIRQ_IN_IDLE] = CTX_SOFTIRQ,
		[PLACE_HARDIRQ] = CTX_HARDIRQ,
	};
	bool task = place == PLACE_USER || place == PLACE_SYSCALL;

	return !place || (task && by_stack == CTX_EXCEPTION) ? by_stack : contexts[place];
}

bool exact_has_due(const struct exact *x, const struct event *e)
{
	const uint64_t needed = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;

	return x && x->ndue && e->type == PERF_TYPE_SOFTWARE &&
	       e->config == PERF_COUNT_SW_CPU_CLOCK && (e->sample_type & needed) == needed &&
	       !(e->sample_type & PERF_SAMPLE_READ);
}

static bool exact_precedes(const struct exact_due *d, uint32_t cpu, uint64_t time)
{
	return d->cpu < cpu || (d->cpu == cpu && d->at <= time);
}

const struct exact_due *exact_find(const struct exact *x, const struct sample *s)
{
	size_t low = 0, high = x->ndue, middle;

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

/* Moves a sample to the context before the one in which it landed. */
static void exact_move_sample(struct fold_cost *c, struct stack_head *h, const struct exact_due *d)
{
	const bool other = d->pid && d->pid != c->pid; /* pid 0: threads of the kernel, too */

	/* due.tsv does not name the threads of the kernel, whose stacks have no user addresses. */
	if (d->pid != c->pid && (c->place != PLACE_KTHREAD || h->pid != KERNEL_PID))
		c->pid = c->tid = d->pid;
	/* Samples land behind an interrupt, so that no chain tells where in the interrupt. */
	if (other || c->place == PLACE_HARDIRQ) {
		h->mode = MODE_LABEL;
		h->ip = d->label;
		h->nr = 0;
	} else {
		h->mode |= (d->label + 1U) << STACK_DUE;
	}
}

void exact_place_sample(struct fold_cost *c, struct stack_head *h, const struct exact *x,
			const struct exact_due *d)
{
	c->place = x->labels[d->label].place;
	c->label = (uint8_t)(d->label + 1);
	/* The timer missed the periods since then, because interrupts were off in this context. */
	c->weight += c->weight ? d->late / c->weight * c->weight : 0;
	if (d->changes || c->place == PLACE_HARDIRQ) {
		exact_move_sample(c, h, d);
		return;
	}
	if (d->late >= LATE_NS && h->mode == PERF_RECORD_MISC_KERNEL && h->nr &&
	    c->place != PLACE_HALT) {
		h->mode = MODE_INTERRUPTS_OFF;
		h->ip = 0;
	}
}

/* --- weights --- */

/* A label on one CPU, of the workload or of other programs. */
struct exact_cell {
	double exact, sampled; /* as the weights of the samples: ns, or cycles */
	uint32_t pid;	       /* that with most time */
	uint64_t most;
};

struct exact_sums {
	const struct exact *x;
	const struct profile *p;
	struct exact_cell *cells; /* exact_cells(x): by CPU, own, and label */
};

static size_t exact_cells(const struct exact *x)
{
	return 2 * CPUSET_MAX * x->nlabels;
}

static struct exact_cell *exact_cell_of(const struct exact_sums *s, uint32_t cpu, uint32_t pid,
					uint32_t label)
{
	return &s->cells[(2 * cpu + profile_is_own(s->p, pid)) * s->x->nlabels + label];
}

/*
 * Returns the first label of a place + 1, or 0. Sums by place are kept under this label.
 */
static uint32_t exact_label_of(const struct exact *x, enum exact_place place)
{
	for (uint32_t i = 0; i < x->nlabels; i++)
		if (x->labels[i].place == place)
			return i + 1;
	return 0;
}

/* `scale` is the weight of a nanosecond. */
static void exact_sum_times(const struct exact_sums *s, double scale, bool by_place)
{
	for (size_t i = 0; i < s->x->ntimes; i++) {
		const struct exact_time *t = &s->x->times[i];
		uint32_t label = by_place ? exact_label_of(s->x, s->x->labels[t->label].place) - 1
					  : t->label;
		struct exact_cell *c = exact_cell_of(s, t->cpu, t->pid, label);

		c->exact += scale * (double)t->ns;
		if (t->ns > c->most) {
			c->most = t->ns;
			c->pid = t->pid;
		}
	}
}

/* Returns the weight of all samples that have a place. */
static double exact_sum_samples(const struct exact_sums *s, const struct folds *f)
{
	double sum = 0;

	for (size_t i = 0; i < f->n; i++)
		for (size_t k = 0; k < f->list[i].costs.n; k++) {
			const struct fold_cost *c = &f->list[i].costs.list[k];

			if (!c->place)
				continue;
			if (c->label)
				exact_cell_of(s, c->cpu, c->pid, c->label - 1U)->sampled +=
					(double)c->weight;
			sum += (double)c->weight;
		}
	return sum;
}

static bool exact_cell_is_thin(const struct exact_cell *c)
{
	return c->sampled * MOST_TIMES < c->exact;
}

/* A sample in a place without any time weighs nothing. */
static void exact_weigh(const struct exact_sums *s, struct fold *f)
{
	for (size_t i = 0; i < f->costs.n; i++) {
		struct fold_cost *c = &f->costs.list[i];
		struct fold_event *e = &f->events[c->event];
		const struct exact_cell *cell;
		double factor = 0, weight = (double)c->weight;

		if (!c->place)
			continue;
		if (c->label) {
			cell = exact_cell_of(s, c->cpu, c->pid, c->label - 1U);
			factor = exact_cell_is_thin(cell) ? 1 : cell->exact / cell->sampled;
		}
		e->weight2 += weight * weight / (double)c->samples * (factor * factor - 1);
		e->weight -= c->weight;
		c->weight = (uint64_t)(weight * factor + 0.5);
		e->weight += c->weight;
	}
}

/* Adds a row for the time of a label that its samples do not account for. */
static void exact_add_rest(struct fold *f, const struct exact_cell *cell, const struct exact *x,
			   uint32_t label, uint32_t event, uint32_t cpu)
{
	const struct side_timeline *comms = sideband_get_timeline(&f->r->side.comms, cell->pid);
	struct stack_head head = {
		.mode = MODE_LABEL, .ip = label, .pid = KERNEL_PID, .version = UINT32_MAX};
	struct fold_cost c = {.event = event,
			      .place = (uint8_t)x->labels[label].place,
			      .cpu = cpu,
			      .comm = timeline_at(comms, UINT64_MAX, UINT64_MAX, UINT32_MAX),
			      .pid = cell->pid,
			      .tid = cell->pid,
			      .stack = stacks_append(&f->stacks, &head, NULL),
			      .weight = (uint64_t)(cell->exact - cell->sampled + 0.5)};

	array_add(f->costs.list, f->costs.n, f->costs.cap, c);
	f->events[event].weight += c.weight;
}

void folds_weigh_exact(struct folds *f, const struct recording *r, const struct perfdata_options *o)
{
	const struct exact *x = o->exact;
	autofree struct exact_cell *cells = NULL;
	struct exact_sums s = {x, r->profile, NULL};
	uint32_t event = 0;

	while (event < r->events.n && !exact_has_due(x, &r->events.list[event]))
		event++;
	if (event == r->events.n || !x->ntimes)
		return;
	f->list[0].events[event].exact = true;
	s.cells = cells = xcalloc(exact_cells(x), sizeof(*cells));
	exact_sum_times(&s, 1, false);
	exact_sum_samples(&s, f);
	for (size_t i = 0; i < f->n; i++)
		exact_weigh(&s, &f->list[i]);
	for (size_t i = 0; i < exact_cells(x); i++)
		if (exact_cell_is_thin(&cells[i]))
			exact_add_rest(&f->list[0], &cells[i], x, (uint32_t)(i % x->nlabels), event,
				       (uint32_t)(i / x->nlabels / 2));
}

/* --- samples of cycles --- */

static bool event_is_cycles(const struct event *e)
{
	return e->type == PERF_TYPE_HARDWARE && (uint32_t)e->config == PERF_COUNT_HW_CPU_CYCLES &&
	       e->sample_type & PERF_SAMPLE_CPU;
}

/* Gives the samples their places, by what their stacks reveal. */
static void exact_place_cycles(struct fold *f, const struct recording *r, const struct exact *x,
			       const struct resolved *out)
{
	static const enum exact_place places[CTX_N] = {
		[CTX_USER] = PLACE_USER,
		[CTX_EXCEPTION] = PLACE_USER,
		[CTX_SYSCALL] = PLACE_SYSCALL,
		[CTX_KTHREAD] = PLACE_KTHREAD,
		[CTX_IDLE] = PLACE_IDLE, /* a CPU that halts counts no cycles */
		[CTX_SOFTIRQ_IN_SYSCALL] = PLACE_SOFTIRQ_IN_SYSCALL,
		[CTX_SOFTIRQ] = PLACE_SOFTIRQ,
		[CTX_HARDIRQ] = PLACE_HARDIRQ,
	};

	for (size_t i = 0; i < f->costs.n; i++) {
		struct fold_cost *c = &f->costs.list[i];

		if (!event_is_cycles(&r->events.list[c->event]) || c->cpu >= CPUSET_MAX)
			continue;
		c->place = places[out[c->stack].context];
		if (c->place == PLACE_SOFTIRQ && !c->pid)
			c->place = PLACE_SOFTIRQ_IN_IDLE;
		c->label = (uint8_t)exact_label_of(x, c->place);
	}
}

/* The weights stay cycles: the exact times divide all cycles among the places. */
void folds_weigh_cycles(struct folds *f, const struct recording *r, const struct exact *x,
			const struct resolved *out)
{
	autofree struct exact_cell *cells = NULL;
	struct exact_sums s = {x, r->profile, NULL};
	double ns = 0;

	for (size_t i = 0; x && !x->ndue && i < x->ntimes; i++)
		if (x->labels[x->times[i].label].place != PLACE_HALT)
			ns += (double)x->times[i].ns;
	if (!(ns > 0))
		return;
	cells = xcalloc(exact_cells(x), sizeof(*cells));
	s.cells = cells;
	for (size_t i = 0; i < f->n; out += f->list[i++].nstacks)
		exact_place_cycles(&f->list[i], r, x, out);
	exact_sum_times(&s, exact_sum_samples(&s, f) / ns, true);
	for (size_t i = 0; i < f->n; i++)
		exact_weigh(&s, &f->list[i]);
}

/* --- without samples --- */

void exact_fill_profile(const struct exact *x, struct profile *p)
{
	const uint32_t event = profile_event(p, EXACT_EVENT, true);
	const uint32_t kernel = profile_dso(p, "[kernel.kallsyms]", NULL, DSO_KERNEL);
	struct profile_cost *rows = xcalloc(x->ntimes, sizeof(*rows));
	const char *name;

	for (size_t i = 0; i < x->ntimes; i++) {
		const struct exact_time *t = &x->times[i];
		const struct exact_label *l = &x->labels[t->label];

		name = intern_get(&p->strings, intern_str(&p->strings, l->name));
		rows[i] = (struct profile_cost){
			.event = event,
			.cpu = t->cpu,
			.comm = PROFILE_NONE,
			.pid = t->pid,
			.tid = t->pid,
			.context = exact_context(l->place, CTX_UNKNOWN),
			.frame = profile_frame(p, PROFILE_NONE,
					       profile_symbol(p, kernel, name, RESOLVED)),
			.samples = 1,
			.weight = t->ns};
		p->events[event].weight += t->ns;
		p->events[event].samples++;
	}
	p->events[event].weight2 = 1; /* exact times have no sampling error */
	profile_take_costs(p, rows, x->ntimes);
}
