// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long each CPU of the side was in each context, and for which process. The kernel's half,
 * frame.bpf.c, adds the times up. frame.tsv has a row for each CPU, process and context with time:
 *
 *   cpu pid parent comm context vector ns
 *
 * and for each CPU and context a row without a process, with the entries in place of ns. The
 * context msr is the writes to model-specific registers, and its vector is the register's number.
 * due.tsv has a row for each sample of perf's clock, with what its CPU did when the sample was due:
 *
 *   cpu at late pid context vector changes
 */
#include "collect/frame/frame.h"

#include "collect/bpf.h"
#include "collect/collect.h"
#include "collect/run/run.h"
#include "lib/alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#ifdef HAVE_BPF

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

EMBED_BPF(frame);

struct frame {
	struct bpf_object *obj;
	struct ring_buffer *ring;
	struct frame_due *due;
	size_t ndue, due_cap;
	struct bpf_program *turn;
	struct bpf_program *msr; /* NULL where writes of registers are not counted */
	bool times;
	struct bpf_links links;
	uint32_t ncpus; /* possible ones */
};

/* --- the programs --- */

static int frame_add_due(void *arg, void *data, size_t size)
{
	struct frame *f = arg;

	if (size >= sizeof(*f->due))
		array_add(f->due, f->ndue, f->due_cap, *(struct frame_due *)data);
	return 0;
}

/* Returns the bytes of the ring, a power of two: four seconds of 5,000 samples on each of 64 CPUs.
 */
static uint32_t frame_ring_size(uint32_t ncpus)
{
	uint32_t size = 1 << 20;

	while (size < ncpus << 20 && size < 1 << 26)
		size <<= 1;
	return size;
}

/* The object's constants start with `sampler`, the only one. */
static void frame_set_sampler(struct frame *f)
{
	struct bpf_map *constants = bpf_object__find_map_by_name(f->obj, ".rodata");
	uint64_t sampler = bpf_kernel_function(
		(const char *[]){"perf_swevent_hrtimer", NULL}); /* perf's clock */

	bpf_map__set_initial_value(constants, &sampler, sizeof(sampler));
}

/*
 * Chooses the programs of a pass. Writes of registers are so many that counting them would cost a
 * profiled workload 1 % of its time. So the syscalls pass counts them, without any times.
 */
static void frame_choose(struct frame *f, const char *pass)
{
	struct bpf_program *p;

	f->turn = bpf_object__find_program_by_name(f->obj, "zcost_turn");
	f->msr = bpf_object__find_program_by_name(f->obj, "zcost_write_msr");
	f->times = strcmp(pass, "syscalls");
	bpf_object__for_each_program(p, f->obj) if (strcmp(bpf_program__section_name(p),
							   "raw_tp")) /* those are called */
		bpf_program__set_autoload(p, p == f->msr ? strcmp(pass, "profile") : f->times);
}

static int frame_load(struct frame *f, const char *pass)
{
	int rc;

	f->obj = OPEN_BPF(frame);
	if (!f->obj)
		return -errno;
	f->ncpus = (uint32_t)libbpf_num_possible_cpus();
	bpf_map__set_max_entries(bpf_object__find_map_by_name(f->obj, "processes"),
				 bpf_thread_ids());
	bpf_map__set_max_entries(bpf_object__find_map_by_name(f->obj, "cpus"), f->ncpus);
	bpf_map__set_max_entries(bpf_object__find_map_by_name(f->obj, "due"),
				 frame_ring_size(f->ncpus));
	frame_choose(f, pass);
	bpf_choose_again(f->obj);
	frame_set_sampler(f);
	rc = bpf_object__load(f->obj);
	if (!rc)
		f->ring = ring_buffer__new(bpf_object__find_map_fd_by_name(f->obj, "due"),
					   frame_add_due, f, NULL);
	return rc ? rc : f->ring ? 0 : -errno;
}

/* Makes the programs count on the CPUs of the side. On other CPUs they return at once. */
static int frame_want(struct frame *f, const struct cpuset *cpus)
{
	int map = bpf_object__find_map_fd_by_name(f->obj, "cpus"), rc = 0;
	const struct frame_cpu wanted = {.wanted = 1};

	for (uint32_t cpu = 0; cpu < f->ncpus && !rc; cpu++)
		if (cpuset_has(cpus, cpu))
			rc = bpf_map_update_elem(map, &cpu, &wanted, BPF_ANY);
	return rc;
}

/* --- frame.tsv --- */

static const char heading[] = "cpu\tpid\tparent\tcomm\tcontext\tvector\tns\tentries\n";

static const char *const bases[FRAME_BASES] = {"user", "syscall", "kthread", "idle"};

/* The names of /proc/softirqs. */
static const char *const softirqs[FRAME_SOFTIRQS] = {"HI",	"TIMER",    "NET_TX",  "NET_RX",
						     "BLOCK",	"IRQ_POLL", "TASKLET", "SCHED",
						     "HRTIMER", "RCU"};

static const char *const vectors[FRAME_VECTORS] = {
	"device",   "local_timer",	"reschedule", "call_function", "call_function_single",
	"irq_work", "x86_platform_ipi", "ipi"};

const char *frame_vector_name(uint32_t context)
{
	return context >= FRAME_HARDIRQ ? vectors[context - FRAME_HARDIRQ]
					: softirqs[(context - FRAME_SOFTIRQ) % FRAME_SOFTIRQS];
}

void frame_print_context(struct str *s, uint32_t context)
{
	if (context < FRAME_BASES)
		str_printf(s, "%s\t", bases[context]);
	else if (context == FRAME_HALT)
		str_puts(s, "halt\t");
	else if (context < FRAME_HARDIRQ)
		str_printf(s, "softirq_in_%s\t%s",
			   bases[(context - FRAME_SOFTIRQ) / FRAME_SOFTIRQS],
			   frame_vector_name(context));
	else
		str_printf(s, "hardirq\t%s", frame_vector_name(context));
}

void frame_print_comm(struct str *s, const char comm[FRAME_COMM])
{
	for (size_t i = 0; i < FRAME_COMM && comm[i]; i++)
		str_putc(s, (unsigned char)comm[i] < ' ' ? '?' : comm[i]);
}

static void frame_print_group(struct str *s, const struct frame_group *g)
{
	str_printf(s, "%u\t%u\t", g->pid, g->parent);
	frame_print_comm(s, g->comm);
	str_putc(s, '\t');
}

static void frame_print_times(struct str *s, const struct frame *f, const struct frame_times *t,
			      const struct frame_group *g)
{
	for (uint32_t cpu = 0; cpu < f->ncpus; cpu++)
		for (uint32_t context = 0; context < FRAME_CONTEXTS; context++) {
			/* An interrupt between two steps of log_change() can leave less than 0. */
			if ((int64_t)t[cpu].ns[context] <= 0)
				continue;
			str_printf(s, "%u\t", cpu);
			frame_print_group(s, g);
			frame_print_context(s, context);
			str_printf(s, "\t%" PRIu64 "\t\n", t[cpu].ns[context]);
		}
}

static void frame_print_entries(struct str *s, const struct frame *f, uint32_t cpu,
				const struct frame_cpu *c)
{
	for (uint32_t context = 0; context < FRAME_CONTEXTS; context++) {
		if (!c->entries[context])
			continue;
		str_printf(s, "%u\t\t\t\t", cpu);
		frame_print_context(s, context);
		str_printf(s, "\t\t%" PRIu64 "\n", c->entries[context]);
	}
	if (!f->msr || c->phase == FRAME_BEFORE)
		return;
	/* A zero here says that writes were counted. */
	str_printf(s, "%u\t\t\t\tmsr\t\t\t%" PRIu64 "\n", cpu, c->msr_writes);
	for (const struct frame_register *r = c->registers; r < c->registers + FRAME_REGISTERS; r++)
		if (r->number)
			str_printf(s, "%u\t\t\t\tmsr\t0x%x\t\t%" PRIu64 "\n", cpu, r->number,
				   r->writes);
}

/* Also adds up the samples that were lost. */
static int frame_print(struct str *s, const struct frame *f, int64_t *lost)
{
	int cpus = bpf_object__find_map_fd_by_name(f->obj, "cpus");
	int groups = bpf_object__find_map_fd_by_name(f->obj, "groups");
	int times = bpf_object__find_map_fd_by_name(f->obj, "times");
	autofree struct frame_times *t = xcalloc(f->ncpus, sizeof(*t));
	struct frame_group g;
	struct frame_cpu c;
	int rc = 0;

	*lost = 0;
	str_puts(s, heading);
	for (uint32_t i = 0; i < FRAME_GROUPS && f->times && !rc; i++) {
		rc = bpf_map_lookup_elem(groups, &i, &g) ?: bpf_map_lookup_elem(times, &i, t);
		if (!rc)
			frame_print_times(s, f, t, &g);
	}
	for (uint32_t i = 0; i < f->ncpus && !rc; i++) {
		rc = bpf_map_lookup_elem(cpus, &i, &c);
		if (!rc)
			frame_print_entries(s, f, i, &c);
		if (!rc)
			*lost += (int64_t)c.lost;
	}
	return rc;
}

static const char due_heading[] = "cpu\tat\tlate\tpid\tcontext\tvector\tchanges\n";

static int frame_print_due(struct str *s, const struct frame *f)
{
	int groups = bpf_object__find_map_fd_by_name(f->obj, "groups");
	struct frame_group g;

	str_puts(s, due_heading);
	for (const struct frame_due *d = f->due; d < f->due + f->ndue; d++) {
		if (bpf_map_lookup_elem(groups, &d->group, &g))
			return -1;
		str_printf(s, "%u\t%" PRIu64 "\t%" PRIu64 "\t%u\t", d->cpu, d->at, d->late, g.pid);
		frame_print_context(s, d->context);
		str_printf(s, "\t%u\n", d->changes);
	}
	return 0;
}

/* --- the collector --- */

static int frame_prepare(struct collect *c)
{
	struct frame *f = c->data = xcalloc(1, sizeof(*f));
	struct cpuset cpus = c->run->cpus;
	int rc = bpf_begin(&c->err) ?: bpf_check_pids(&c->err);

	if (!rc && c->run->frame_cpus)
		rc = cpuset_parse(&cpus, c->run->frame_cpus, &c->err);
	rc = rc ?: frame_load(f, c->run->pass) ?: frame_want(f, &cpus);
	return bpf_ready(c, &f->links, f->obj, &f->msr, rc);
}

static int frame_start(struct collect *c)
{
	const struct frame *f = c->data;
	int rc = bpf_run_on_cpus(f->turn, &c->run->online, FRAME_OPEN);

	return rc ? error_sys(&c->err, -rc, "a CPU cannot begin to count") : 0;
}

static int frame_snap(struct collect *c)
{
	struct frame *f = c->data;

	ring_buffer__consume(f->ring);
	return 0;
}

static int frame_stop(struct collect *c)
{
	struct frame *f = c->data;
	int rc = bpf_run_on_cpus(f->turn, &c->run->online, FRAME_CLOSED);

	ring_buffer__consume(f->ring);
	return rc ? error_sys(&c->err, -rc, "a CPU does not stop counting") : 0;
}

static void frame_finish(struct collect *c)
{
	autofree struct frame *f = c->data;
	freed(str_free) struct str s = {0};

	bpf_links_free(&f->links);
	if (c->run->end_ns && c->off.from) {
		if (frame_print(&s, f, &c->lost))
			collect_degraded(c, "the times cannot be read: %s", strerror(errno));
		else
			collect_write(c, "frame.tsv", &s);
		str_reset(&s);
		if (f->ndue && frame_print_due(&s, f))
			collect_degraded(c, "the times of samples cannot be read: %s",
					 strerror(errno));
		else if (f->ndue)
			collect_write(c, "due.tsv", &s);
		if (c->lost)
			collect_degraded(c, "%lld samples were lost", (long long)c->lost);
	}
	ring_buffer__free(f->ring);
	free(f->due);
	bpf_object__close(f->obj);
}

#endif

const struct collector collector_frame = {
	.name = "frame",
	.what = "exact time of each CPU by context and process; writes of registers",
	.files = {"frame.tsv", "due.tsv"},
	.passes = PASS_PROFILE | PASS_SYSCALLS,
	BPF_HOOKS(.prepare = frame_prepare, .start = frame_start, .snap = frame_snap,
		  .stop = frame_stop, .finish = frame_finish),
};
