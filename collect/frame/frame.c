// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long each CPU of the side was in each context, and for which process. The kernel's half,
 * frame.bpf.c, adds the times up. frame.tsv has a row for each CPU, process and context with time:
 *
 *   cpu pid parent comm context vector ns
 *
 * and for each CPU and context a row without a process, with the entries in place of ns. The
 * context msr is the writes to model-specific registers, and its vector is the register's number.
 * The row "divided" has the ns between the parts, which user and syscall include.
 * due.tsv has a row for each sample of perf's clock, with what its CPU did when the sample was due:
 *
 *   cpu at late pid context vector changes
 */
#include "collect/frame/frame.h"

#include "collect/bpf.h"
#include "collect/collect.h"
#include "collect/host.h"
#include "collect/run/run.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#ifdef HAVE_BPF

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

EMBED_BPF(frame);

enum {
	RARE_CALLS = 5000,    /* a second and CPU; to see them takes about 1 % of its time */
	PART_NS = 5000000,    /* how long calls are seen at least */
	PAUSE_NS = 120000000, /* between two parts, on average */
	LOOK_NS = 50000000,   /* between two looks whether calls are still rare */
};

struct frame {
	struct bpf_object *obj;
	struct ring_buffer *ring;
	struct frame_due *due;
	size_t ndue, due_cap;
	struct bpf_program *turn;
	struct bpf_program *msr; /* NULL where writes of registers are not counted */
	bool times;
	struct bpf_links links;
	struct bpf_parts parts;
	struct frame_cpu *states; /* the memory of the map, with all CPUs */
	struct frame_piece *sums; /* what each CPU had at its last sample */
	struct frame_piece *pieces;
	size_t npieces, pieces_cap;
	struct prng random;
	enum frame_part part;
	uint64_t looked_ns;
	struct cpuset cpus; /* the CPUs of the side, or of all sides */
	uint32_t ncpus;	    /* possible ones */
	int64_t lost;	    /* samples without room */
	uint64_t unknown;   /* ns of threads that no part divides: they count as system calls */
};

/* --- the programs --- */

/* Returns the address of a function, or 0 if there is none or this user may not see it. */
static uint64_t frame_address(const char *symbols, const char *function)
{
	autofree char *line_end = xasprintf(" %s\n", function);
	const char *at = symbols ? strstr(symbols, line_end) : NULL;

	while (at && at > symbols && at[-1] != '\n')
		at--;
	return at ? strtoull(at, NULL, 16) : 0;
}

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

/* The object has no other constant. */
static void frame_set_host(struct frame *f)
{
	struct bpf_map *constants = bpf_object__find_map_by_name(f->obj, ".rodata");
	autofree char *hypervisor = host_virtualization();
	autofree char *symbols = NULL;
	struct frame_host host = {
		.silent = !hypervisor || (strcmp(hypervisor, "none") && strcmp(hypervisor, "kvm"))};
	struct error err;

	file_read("/proc/kallsyms", &symbols, NULL, &err);
	host.sampler = frame_address(symbols, "perf_swevent_hrtimer");
	host.tick = frame_address(symbols, "tick_nohz_handler")
			    ?: frame_address(symbols, "tick_sched_timer"); /* before Linux 6.9 */
	bpf_map__set_initial_value(constants, &host, sizeof(host));
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
	bpf_parts_choose(f->obj);
	frame_set_host(f);
	rc = bpf_object__load(f->obj);
	if (!rc)
		f->ring = ring_buffer__new(bpf_object__find_map_fd_by_name(f->obj, "due"),
					   frame_add_due, f, NULL);
	f->sums = xcalloc(f->ncpus, sizeof(*f->sums));
	f->states = bpf_map_memory(f->obj, "cpus", f->ncpus * sizeof(*f->states));
	return rc ? rc : f->ring && f->states ? 0 : -errno;
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

static void frame_print_times(struct str *s, uint32_t cpu, const struct frame_times *t,
			      const struct frame_group *g)
{
	for (uint32_t context = 0; context < FRAME_THREAD; context++) {
		if (!t->ns[context])
			continue;
		str_printf(s, "%u\t", cpu);
		frame_print_group(s, g);
		frame_print_context(s, context);
		str_printf(s, "\t%" PRIu64 "\t\n", t->ns[context]);
	}
}

static void frame_print_entries(struct str *s, const struct frame *f, uint32_t cpu,
				const struct frame_cpu *c)
{
	/* Not all system calls are seen. */
	for (uint32_t context = FRAME_KTHREAD; context < FRAME_THREAD; context++) {
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

static int frame_read_group(const struct frame *f, uint32_t group, struct frame_group *g,
			    struct frame_times *t)
{
	int groups = bpf_object__find_map_fd_by_name(f->obj, "groups");
	int times = bpf_object__find_map_fd_by_name(f->obj, "times");

	if (bpf_map_lookup_elem(groups, &group, g) || bpf_map_lookup_elem(times, &group, t))
		return -1;
	for (uint32_t cpu = 0; cpu < f->ncpus; cpu++)
		for (uint32_t context = 0; context < FRAME_CELLS; context++)
			/* An interrupt between two steps of log_change() can leave less than 0. */
			if ((int64_t)t[cpu].ns[context] < 0)
				t[cpu].ns[context] = 0;
	return 0;
}

/* Prints the times of all processes. */
static int frame_print_groups(struct str *s, struct frame *f, struct frame_split *splits)
{
	autofree struct frame_times *t = xcalloc(f->ncpus, sizeof(*t));
	autofree uint64_t *divided = xcalloc(f->ncpus, sizeof(*divided));
	const double slope = frame_slope(f->pieces, f->npieces, f->sums);
	struct frame_group g;
	int rc = 0;

	for (uint32_t i = 0; i < FRAME_GROUPS && !rc; i++) {
		rc = frame_read_group(f, i, &g, t);
		for (uint32_t cpu = 0; cpu < f->ncpus && !rc; cpu++)
			frame_add_split(&splits[cpu], &t[cpu]);
	}
	for (uint32_t i = 0; i < FRAME_GROUPS && !rc; i++) {
		struct frame_times own = {0};

		rc = frame_read_group(f, i, &g, t);
		for (uint32_t cpu = 0; cpu < f->ncpus && !rc; cpu++)
			for (uint32_t k = 0; k < FRAME_CELLS; k++)
				own.ns[k] += t[cpu].ns[k];
		for (uint32_t cpu = 0; cpu < f->ncpus && !rc; cpu++) {
			divided[cpu] += t[cpu].ns[FRAME_THREAD];
			if (!frame_divide(&t[cpu], &own, &splits[cpu], slope))
				f->unknown += t[cpu].ns[FRAME_THREAD];
			frame_print_times(s, cpu, &t[cpu], &g);
		}
	}
	for (uint32_t cpu = 0; cpu < f->ncpus && !rc; cpu++)
		if (cpuset_has(&f->cpus, cpu))
			str_printf(s, "%u\t\t\t\tdivided\t\t%" PRIu64 "\t\n", cpu, divided[cpu]);
	return rc;
}

static int frame_print(struct str *s, struct frame *f)
{
	int cpus = bpf_object__find_map_fd_by_name(f->obj, "cpus"), rc = 0;
	autofree struct frame_split *splits = xcalloc(f->ncpus, sizeof(*splits));
	freed(str_free) struct str entries = {0};
	struct frame_cpu c;

	str_puts(s, heading);
	for (uint32_t i = 0; i < f->ncpus && !rc; i++) {
		rc = bpf_map_lookup_elem(cpus, &i, &c);
		if (rc)
			break;
		frame_print_entries(&entries, f, i, &c);
		f->lost += (int64_t)c.lost;
	}
	if (!rc && f->times)
		rc = frame_print_groups(s, f, splits);
	str_puts(s, entries.buf ?: "");
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
	int rc;

	prng_seed(&f->random, clock_mono_ns());
	rc = bpf_begin(&c->err) ?: bpf_check_pids(&c->err);

	if (!rc && c->run->frame_cpus)
		rc = cpuset_parse(&cpus, c->run->frame_cpus, &c->err);
	rc = rc ?: frame_load(f, c->run->pass) ?: frame_want(f, &cpus);
	rc = bpf_ready(c, &f->links, f->obj, &f->msr, rc);
	f->cpus = cpus;
	if (!rc)
		bpf_parts_init(&f->parts, f->obj, "zcost_part", &f->cpus);
	return rc;
}

/* Returns the system calls of the CPU with the most since the last time, and begins a new count. */
static uint64_t frame_most_calls(struct frame *f)
{
	uint64_t most = 0;

	for (uint32_t cpu = 0; cpu < f->ncpus; cpu++) {
		volatile uint32_t *calls = &f->states[cpu].calls;

		most = *calls > most ? *calls : most;
		*calls = 0; /* a call at this moment can undo it: then the part may end early */
	}
	return most;
}

/*
 * Returns when the next part begins. Each moment is as likely as any other, whatever ended the part
 * before.
 */
static uint64_t frame_pause(struct frame *f)
{
	double part = (double)(prng_next(&f->random) >> 11) / (double)(1ULL << 53);

	return (uint64_t)(PAUSE_NS * -log1p(-part));
}

static int frame_set_part(struct collect *c, enum frame_part part)
{
	struct frame *f = c->data;
	int rc = part == f->part ? 0 : bpf_parts_set(c, &f->parts, part);
	uint64_t ns = !part ? frame_pause(f) : part == f->part ? LOOK_NS : PART_NS;

	frame_most_calls(f);
	f->looked_ns = clock_mono_ns();
	f->part = part;
	/* No part comes after one that cannot begin or end. */
	c->turn_ns = rc || (part && !f->parts.links.n) ? UINT64_MAX : f->looked_ns + ns;
	return rc;
}

/* Saves what each CPU did in the sample that has ended. */
static void frame_take_pieces(struct frame *f)
{
	for (uint32_t cpu = 0; cpu < f->ncpus; cpu++) {
		const volatile struct frame_cpu *c = &f->states[cpu];
		struct frame_piece now = {cpu,
					  {(double)c->sample[0], (double)c->sample[1]},
					  {c->ticks[0], c->ticks[1]}},
				   piece = now;

		for (int k = FRAME_USER; k <= FRAME_SYSCALL; k++) {
			piece.ns[k] -= f->sums[cpu].ns[k];
			piece.ticks[k] -= f->sums[cpu].ticks[k];
		}
		f->sums[cpu] = now;
		if (piece.ns[FRAME_USER] + piece.ns[FRAME_SYSCALL] > 0)
			array_add(f->pieces, f->npieces, f->pieces_cap, piece);
	}
}

/* A part ends where calls are frequent. */
static int frame_turn(struct collect *c)
{
	struct frame *f = c->data;
	const double seconds = (double)(clock_mono_ns() - f->looked_ns) / 1e9;
	const bool sample = f->part == FRAME_SAMPLE_PART;
	int rc;

	if (!f->part) {
		c->turn_ns =
			UINT64_MAX; /* no sample comes that the window's end would make longer */
		return c->run->until_ns && clock_mono_ns() + 6 * PART_NS > c->run->until_ns
			       ? 0
			       : frame_set_part(c, FRAME_SAMPLE_PART);
	}
	rc = frame_set_part(c, (double)frame_most_calls(f) < RARE_CALLS * seconds ? FRAME_PART
										  : FRAME_NO_PART);
	if (sample)
		frame_take_pieces(f);
	return rc;
}

static int frame_before(struct collect *c)
{
	return ((struct frame *)c->data)->times ? frame_set_part(c, FRAME_PART) : 0;
}

static int frame_start(struct collect *c)
{
	struct frame *f = c->data;
	int rc = bpf_run_on_cpus(f->turn, &c->run->online, FRAME_OPEN);

	frame_most_calls(f);
	f->looked_ns = clock_mono_ns();
	c->turn_ns = f->parts.links.n ? f->looked_ns + PART_NS : UINT64_MAX;
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

	bpf_links_free(&f->parts.links);
	ring_buffer__consume(f->ring);
	return rc ? error_sys(&c->err, -rc, "a CPU does not stop counting") : 0;
}

static void frame_finish(struct collect *c)
{
	autofree struct frame *f = c->data;
	freed(str_free) struct str s = {0};

	bpf_links_free(&f->links);
	bpf_links_free(&f->parts.links);
	if (c->run->end_ns && c->off.from) {
		int rc = frame_print(&s, f);

		c->lost = f->lost;
		if (rc)
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
		if (f->unknown > (c->run->end_ns - c->run->start_ns) / 100)
			collect_degraded(
				c,
				"%.3f s of threads count as system calls, because no part of "
				"the window told them from user mode",
				(double)f->unknown / 1e9);
	}
	ring_buffer__free(f->ring);
	free(f->due);
	free(f->sums);
	free(f->pieces);
	bpf_object__close(f->obj);
}

#endif

const struct collector collector_frame = {
	.name = "frame",
	.what = "time of each CPU by context and process; writes of registers",
	.files = {"frame.tsv", "due.tsv"},
	.passes = PASS_PROFILE | PASS_SYSCALLS,
	BPF_HOOKS(.prepare = frame_prepare, .before = frame_before, .start = frame_start,
		  .turn = frame_turn, .snap = frame_snap, .stop = frame_stop,
		  .finish = frame_finish),
};
