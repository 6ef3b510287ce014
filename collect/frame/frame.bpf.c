// SPDX-License-Identifier: GPL-2.0-only
/*
 * Logs for each CPU when it changes to another context or process, and adds up the time of each of
 * them. Nothing is sent: user space reads the arrays after the window.
 *
 * The tracepoints of system calls cost a workload several times as much as all others. So where
 * calls are frequent they are used in parts of the window alone, and the time of threads between
 * two parts has its own context.
 *
 * A change costs what the kernel takes to get here, and one reading of the clock. So it is only
 * logged, and hundreds of changes are added up at once (zcost_add), by a program that is called in
 * place of the end of another one. The times of all contexts add up to the wall time.
 *
 * A program may be interrupted by another one on the same CPU. If that happens between its reading
 * of the clock and the end of its entry, a few ns, the time of that interrupt counts for the
 * context that it interrupts. An atomic step would take longer than all others.
 */
#include "collect/frame/frame.h"

struct hrtimer {
	struct {
		long long expires;
	} node;
	void *function;
} KERNEL;

/* What belongs to an id of a process or a thread. */
struct id {
	uint32_t group; /* the group of the process; 0: none yet */
	uint32_t left;	/* the thread was on its way to user mode, or there, when it left its CPU */
};

/*
 * The ids of processes and threads. User space sets the sizes of this map and the
 * next one.
 */
MAP(processes, ARRAY, 1, uint32_t, struct id, 0);
MAP(cpus, ARRAY, 1, uint32_t, struct frame_cpu, BPF_F_MMAPABLE);
MAP(groups, ARRAY, FRAME_GROUPS, uint32_t, struct frame_group, BPF_F_MMAPABLE);
MAP(times, PERCPU_ARRAY, FRAME_GROUPS, uint32_t, struct frame_times, 0);

/* User space sets its size. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} due SEC(".maps");

int zcost_add(void *ctx);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(uint32_t));
	__array(values, int(void *));
} calls SEC(".maps") = {.values = {(void *)&zcost_add}};

volatile uint32_t groups_used;
const volatile struct frame_host host;

static __always_inline struct frame_cpu *any_cpu(void)
{
	uint32_t cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&cpus, &cpu);
}

/* Returns the state of this CPU, or NULL if it is not one of the side. */
static __always_inline struct frame_cpu *this_cpu(void)
{
	struct frame_cpu *c = any_cpu();

	return c && c->wanted ? c : 0;
}

#define CPU	      struct frame_cpu
#define PROGRAM(name) zcost_##name
#include "collect/frame/contexts.bpf.h"

static __always_inline uint32_t *process_group(uint32_t pid)
{
	struct id *id = bpf_map_lookup_elem(&processes, &pid);

	return id ? &id->group : 0;
}

static __always_inline void log_change(struct frame_cpu *c, uint32_t enters)
{
	frame_change at = (frame_change)bpf_ktime_get_ns() << 16;
	uint32_t n = c->nlogged, task = c->base;

	if (c->halted)
		task = FRAME_HALT;
	else if (task <= FRAME_SYSCALL && c->part != FRAME_PART)
		task = c->part ? FRAME_SAMPLE + task : FRAME_THREAD;
	c->log[n & (FRAME_LOG - 1)] = at | enters | c->group << 6 | context_of(c, task);
	c->nlogged = n + 1;
}

static __always_inline frame_change logged(const struct frame_cpu *c, uint32_t i)
{
	return c->log[i & (FRAME_LOG - 1)];
}

/*
 * Returns whether a softirq that starts between two parts may be on top of another base than the
 * one before. A softirq that does not follow an interrupt is the kernel's own, so the base is still
 * a system call. To ask the task costs a quarter of all that the program does.
 */
static __always_inline int base_may_differ(const struct frame_cpu *c)
{
	uint32_t left = frame_change_context(logged(c, c->nlogged - 2));

	if (c->base == FRAME_SYSCALL)
		return host.silent || (left >= FRAME_HARDIRQ && left < FRAME_THREAD);
	return c->base == FRAME_USER;
}

/* Logs the change, and adds up when it is time to. */
static __always_inline int change(void *ctx, struct frame_cpu *c, uint32_t enters)
{
	if (enters && c->softirq && !c->depth && !c->part && base_may_differ(c))
		c->base = task_base(bpf_get_current_task_btf());
	log_change(c, enters);
	if (c->nlogged - c->nadded >= FRAME_ADD)
		bpf_tail_call(ctx, &calls, 0);
	return 0;
}

/* Returns the ns from one change to a later one, or below 0 (an interrupt, see above). */
static __always_inline int64_t ns_between(frame_change from, frame_change to)
{
	return (int64_t)((to & ~0xffffULL) - (from & ~0xffffULL)) >> 16;
}

static __noinline int add_changes(struct frame_cpu *c)
{
	frame_change last = c->last, next;
	uint32_t to = c->nlogged, at = c->nadded, group, context, i;
	struct frame_times *t;
	uint64_t ns;

	if (c->phase == FRAME_OPEN)
		for (i = 0; i < FRAME_LOG && at != to; i++, at++) {
			next = c->log[at & (FRAME_LOG - 1)];
			group = frame_change_group(last);
			context = frame_change_context(last);
			ns = (uint64_t)ns_between(last, next);
			t = bpf_map_lookup_elem(&times, &group);
			if (t)
				t->ns[context] += ns;
			if (context >= FRAME_SAMPLE)
				c->sample[(context - FRAME_SAMPLE) & 1] += ns;
			if (next & FRAME_ENTERS)
				c->entries[frame_change_context(next)]++;
			last = next;
		}
	c->last = last;
	c->nadded = to;
	return 0;
}

/* An interrupt of this function logs its changes only. */
static __always_inline void add_once(struct frame_cpu *c)
{
	if (c->adding)
		return;
	c->adding = 1;
	add_changes(c);
	c->adding = 0;
}

SEC("raw_tp")
int zcost_add(void *ctx)
{
	struct frame_cpu *c = this_cpu();

	if (c)
		add_once(c);
	return 0;
}

/* --- tasks --- */

/* Gives a group to a process that is new or was never seen on a CPU. Returns its index, or 0. */
static __always_inline uint32_t new_group(uint32_t *group, uint32_t pid, uint32_t parent,
					  const struct task_struct *task)
{
	uint32_t at = take_index(&groups_used, FRAME_GROUPS);
	struct frame_group *g = at ? bpf_map_lookup_elem(&groups, &at) : 0;

	if (!g)
		return 0;
	g->pid = pid;
	g->parent = parent;
	bpf_probe_read_kernel_str(g->comm, sizeof(g->comm), task->comm);
	return *group = at;
}

/*
 * No interrupt is on top of a task that switches or makes a call. An interrupt whose start was seen
 * and whose end was not, as the programs were attached, is forgotten here.
 */
static __always_inline void task_is_on(struct frame_cpu *c)
{
	c->halted = c->depth = c->softirq = 0;
}

/*
 * Returns what a task of a process does that is about to run: how it last entered the kernel says
 * whether it returns to a system call or, after an interrupt or a page fault, to user mode.
 */
static __always_inline uint32_t thread_base(struct task_struct *task)
{
	uint32_t pid = task->pid;
	struct id *id = bpf_map_lookup_elem(&processes, &pid);

	return task_call(task, 0) < 0 || (id && id->left) ? FRAME_USER : FRAME_SYSCALL;
}

/* A thread may lose its CPU behind the end of a system call, on its way to user mode. */
static __always_inline void note_left(const struct frame_cpu *c, const struct task_struct *task)
{
	uint32_t pid = task->pid;
	struct id *id = bpf_map_lookup_elem(&processes, &pid);

	if (id)
		id->left = c && c->part && c->base == FRAME_USER;
}

static __always_inline void set_current(struct frame_cpu *c, struct task_struct *task)
{
	uint32_t tgid = task->tgid, flags = task->flags;
	uint32_t *group = process_group(tgid);

	task_is_on(c);
	if (!task->pid)
		c->base = FRAME_IDLE;
	else
		c->base = task_is_kernels(task) ? FRAME_KTHREAD : thread_base(task);
	c->known = 1;
	c->group = 0;
	if (flags & PF_KTHREAD || !group) /* the idle task has this flag, too */
		return;
	c->group = *group ? *group : new_group(group, tgid, 0, task);
}

/* preempt, prev, next */
SEC("tp_btf/sched_switch")
int zcost_switch(uint64_t *ctx)
{
	struct frame_cpu *c = this_cpu();

	note_left(c, (struct task_struct *)ctx[1]);
	if (!c)
		return 0;
	set_current(c, (struct task_struct *)ctx[2]);
	log_change(c, FRAME_ENTERS); /* a program of another type cannot call zcost_add */
	if (c->nlogged - c->nadded >= FRAME_LOG - FRAME_LATE) /* no other change came for long */
		add_once(c);
	return 0;
}

/* parent, child */
SEC("tp_btf/sched_process_fork")
int zcost_fork(uint64_t *ctx)
{
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	uint32_t pid = child->pid, from = parent->tgid;
	uint32_t *group = process_group(pid), *parents = process_group(from);

	if (group && pid == (uint32_t)child->tgid && !new_group(group, pid, from, child))
		*group = parents ? *parents : 0;
	return 0;
}

/* task, old pid, bprm */
SEC("raw_tp/sched_process_exec")
int zcost_exec(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	uint32_t pid = BPF_CORE_READ(task, tgid);
	uint32_t *at = process_group(pid);
	struct frame_group *g = at && *at ? bpf_map_lookup_elem(&groups, at) : 0;

	if (g && g->pid == pid)
		bpf_probe_read_kernel_str(g->comm, sizeof(g->comm), task->comm);
	return 0;
}

static __always_inline int set_base(void *ctx, uint32_t base)
{
	struct frame_cpu *c = any_cpu();

	if (!c)
		return 0;
	c->calls += base == FRAME_SYSCALL; /* on all CPUs, because all have the cost */
	if (!c->wanted)
		return 0;
	hold_cpu();
	task_is_on(c);
	c->base = base;
	c->known = 1;
	if (!is_preempted())
		return change(ctx, c, FRAME_ENTERS);
	log_change(c, FRAME_ENTERS); /* a program that holds the CPU cannot call zcost_add */
	if (c->nlogged - c->nadded >= FRAME_ADD)
		add_once(c);
	release_cpu();
	return 0;
}

/* The same in a copy of the program. */
static __always_inline int set_base_again(void *ctx, uint32_t base)
{
	struct frame_cpu *c = this_cpu();

	return c && c->base != base ? set_base(ctx, base) : 0;
}

SEC("raw_tp/sys_enter")
int zcost_sys_enter(void *ctx)
{
	return set_base(ctx, FRAME_SYSCALL);
}

AGAIN("raw_tp/sys_enter", zcost_sys_enter, void *, set_base_again(ctx, FRAME_SYSCALL))

SEC("raw_tp/sys_exit")
int zcost_sys_exit(void *ctx)
{
	return set_base(ctx, FRAME_USER);
}

AGAIN("raw_tp/sys_exit", zcost_sys_exit, void *, set_base_again(ctx, FRAME_USER))

/* state, cpu: the state is (u32)-1 at the end */
SEC("raw_tp/cpu_idle")
int zcost_idle(struct bpf_raw_tracepoint_args *ctx)
{
	struct frame_cpu *c = this_cpu();

	if (!c)
		return 0;
	c->halted = (uint32_t)ctx->args[0] != (uint32_t)-1;
	return change(ctx, c, c->halted ? FRAME_ENTERS : 0);
}

/*
 * register, value, failed. On a virtual machine most of these writes exit to the hypervisor: they
 * send an interrupt to another CPU, or set the timer. The kernel does not trace all of its writes:
 * not the end of an interrupt, for example.
 */
SEC("raw_tp/write_msr")
int zcost_write_msr(struct bpf_raw_tracepoint_args *ctx)
{
	struct frame_cpu *c = this_cpu();
	uint32_t number = (uint32_t)ctx->args[0], i;

	if (!c || c->phase != FRAME_OPEN)
		return 0;
	__sync_fetch_and_add(&c->msr_writes, 1);
	for (i = 0; i < FRAME_REGISTERS; i++) {
		struct frame_register *r = &c->registers[(number + i) & (FRAME_REGISTERS - 1)];

		if (!r->number)
			__sync_val_compare_and_swap(&r->number, 0, number);
		if (r->number == number) {
			__sync_fetch_and_add(&r->writes, 1);
			break;
		}
	}
	return 0;
}

/* --- the tick, and samples of perf's clock --- */

/*
 * Counts a tick of a thread by what the thread does. Ticks are spread evenly, and between two parts
 * nothing else is known.
 */
static __always_inline void count_tick(struct frame_cpu *c)
{
	uint32_t group = c->group, base = c->base, at = FRAME_SAMPLE_TICKS;
	struct frame_times *t = bpf_map_lookup_elem(&times, &group);

	if (!t || base > FRAME_SYSCALL || c->softirq || c->depth > 1 || c->part == FRAME_PART)
		return;
	if (!c->part) {
		base = task_base(bpf_get_current_task_btf());
		at = FRAME_TICKS;
	} else {
		c->ticks[base & 1]++;
	}
	t->ns[at + (base & 1)]++;
}

/* Returns how many changes of context came after a time, at most FRAME_LATE. */
static __always_inline uint32_t changes_after(const struct frame_cpu *c, uint64_t time)
{
	uint32_t i;

	for (i = 0; i < FRAME_LATE; i++)
		if (ns_between(logged(c, c->nlogged - 1 - i), time << 16) >= 0)
			break;
	return i;
}

/*
 * timer, now. The last change of context is the interrupt of this timer. It ended the context in
 * which the sample lands. A sample that was due after that lands where it was due.
 */
SEC("raw_tp/hrtimer_expire_entry")
int zcost_expire(struct bpf_raw_tracepoint_args *ctx)
{
	struct hrtimer *timer = (void *)ctx->args[0];
	struct frame_cpu *c = this_cpu();
	frame_change at;
	uint64_t now, expires, function;
	struct frame_due *d;
	uint32_t n, context;

	if (!c || c->phase != FRAME_OPEN)
		return 0;
	function = (uint64_t)BPF_CORE_READ(timer, function);
	if (host.tick && function == host.tick)
		count_tick(c);
	if (!host.sampler || function != host.sampler)
		return 0;
	d = bpf_ringbuf_reserve(&due, sizeof(*d), 0);
	if (!d) {
		c->lost++;
		return 0;
	}
	now = bpf_ktime_get_ns();
	expires = (uint64_t)BPF_CORE_READ(timer, node.expires);
	n = changes_after(c, expires);
	at = logged(c, c->nlogged - 1 - (n ? n : 1));
	context = frame_change_context(at);
	/* A thread that has left its CPU since then was in the kernel. */
	if (context == FRAME_THREAD)
		context = frame_change_group(at) == c->group ? task_base(bpf_get_current_task_btf())
							     : FRAME_SYSCALL;
	else if (context >= FRAME_SAMPLE)
		context -= FRAME_SAMPLE;
	d->at = now;
	d->late = now - expires;
	d->cpu = bpf_get_smp_processor_id();
	d->context = context;
	d->group = frame_change_group(at);
	d->changes = n > 1 ? n - 1 : 0;
	bpf_ringbuf_submit(d, BPF_RB_NO_WAKEUP);
	return 0;
}

/* --- the window, and its parts --- */

/* User space runs it on each CPU, at each end of a part. */
SEC("raw_tp")
int zcost_part(struct bpf_raw_tracepoint_args *ctx)
{
	struct frame_cpu *c = this_cpu();

	if (!c)
		return 0;
	if (!c->known)
		set_current(c, bpf_get_current_task_btf());
	else if (c->base <= FRAME_SYSCALL)
		c->base = task_base(bpf_get_current_task_btf());
	c->part = (uint32_t)ctx->args[0];
	log_change(c, 0);
	add_once(c);
	return 0;
}

/* User space runs it on each CPU, at each end of the window. */
SEC("raw_tp")
int zcost_turn(struct bpf_raw_tracepoint_args *ctx)
{
	struct frame_cpu *c = this_cpu();

	if (!c)
		return 0;
	if (!c->known)
		set_current(c, bpf_get_current_task_btf());
	log_change(c, 0);
	add_changes(c);
	c->last = logged(c, c->nlogged - 1);
	c->phase = (uint32_t)ctx->args[0];
	return 0;
}
