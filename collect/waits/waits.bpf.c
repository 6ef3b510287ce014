// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds up how long each thread of the workload is on a CPU, and for how long it is off the CPU:
 * until something wakes it, and then until it gets a CPU. Nothing is sent: user space reads the
 * maps after the window.
 *
 * A thread is in one state at a time, and each change adds the time since the last one. So the
 * times of a thread add up to the wall time. Threads of other programs cost a look-up at a switch
 * and at a wake-up. The time on a CPU has contexts in parts of the window alone: tracepoints of
 * system calls cost the workload more than all other programs here together.
 */
#include "collect/waits/waits.h"

struct task_struct___before_5_14 {
	long state;
} KERNEL;

enum {
	TASK_UNINTERRUPTIBLE = 2,
	TASK_STOPPED_OR_TRACED = 4 | 8,
	TASK_DEAD = 0x80,
};

/* The slot of each thread id. User space sets the size of this map and the next one. */
MAP(tids, ARRAY, 1, uint32_t, uint32_t, 0);
MAP(cpus, ARRAY, 1, uint32_t, struct waits_cpu, 0);
MAP(threads, ARRAY, WAITS_THREADS, uint32_t, struct waits_thread, BPF_F_MMAPABLE);
MAP(cells, HASH, WAITS_CELLS, struct waits_key, struct waits_cell, 0);
MAP(stacks, HASH, WAITS_STACKS, struct waits_stack_key, struct waits_stack, 0);
MAP(programs, HASH, WAITS_STACKS, uint32_t, struct waits_program, 0);

/* New values of the last two, which are too large for a program's stack. */
MAP(new_stack, PERCPU_ARRAY, 1, uint32_t, struct waits_stack, 0);
MAP(new_program, PERCPU_ARRAY, 1, uint32_t, struct waits_program, 0);

const struct waits_cell new_cell;

struct waits_control control;

static __always_inline struct waits_cpu *this_cpu(void)
{
	uint32_t cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&cpus, &cpu);
}

#define CPU	      struct waits_cpu
#define PROGRAM(name) waits_##name
#include "collect/frame/contexts.bpf.h"

static __always_inline uint32_t slot_of(uint32_t tid)
{
	uint32_t *slot = bpf_map_lookup_elem(&tids, &tid);

	return slot ? *slot : 0;
}

static __always_inline struct waits_thread *thread_at(uint32_t slot)
{
	return slot ? bpf_map_lookup_elem(&threads, &slot) : 0;
}

static __always_inline void lose(void)
{
	__sync_fetch_and_add(&control.lost, 1);
}

/* --- on a CPU, in a part of the window --- */

/* An interrupt between the reading of the clock and this one has counted the time already. */
static __always_inline void thread_count(struct waits_thread *t, uint64_t now)
{
	if (now <= t->seen)
		return;
	if (t->seen)
		t->ns[t->context & (FRAME_CELLS - 1)] += now - t->seen;
	t->seen = now;
}

static __always_inline int change(void *ctx, struct waits_cpu *c, uint32_t enters)
{
	struct waits_thread *t;

	if (!c->part || control.stop)
		return 0;
	t = thread_at(slot_of((uint32_t)bpf_get_current_pid_tgid()));
	if (!t || !t->seen)
		return 0;
	thread_count(t, bpf_ktime_get_ns());
	t->context = context_of(c, c->base);
	return 0;
}

static __always_inline int set_base(void *ctx, uint32_t base)
{
	struct waits_cpu *c = this_cpu();

	if (!c || !c->part)
		return 0;
	c->base = base;
	c->softirq = c->depth = 0; /* none is on top of a call */
	return change(ctx, c, 0);
}

/* The same in a copy of the program. */
static __always_inline int set_base_again(void *ctx, uint32_t base)
{
	struct waits_cpu *c = this_cpu();

	return c && c->base != base ? set_base(ctx, base) : 0;
}

SEC("raw_tp/sys_enter")
int waits_sys_enter(void *ctx)
{
	return set_base(ctx, FRAME_SYSCALL);
}

AGAIN("raw_tp/sys_enter", waits_sys_enter, void *, set_base_again(ctx, FRAME_SYSCALL))

SEC("raw_tp/sys_exit")
int waits_sys_exit(void *ctx)
{
	return set_base(ctx, FRAME_USER);
}

AGAIN("raw_tp/sys_exit", waits_sys_exit, void *, set_base_again(ctx, FRAME_USER))

/* User space runs it on each CPU as a part begins, and as it ends. */
SEC("raw_tp")
int waits_part(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct waits_thread *t = thread_at(slot_of(task->pid));
	struct waits_cpu *c = this_cpu();

	if (!c)
		return 0;
	if (t)
		thread_count(t, bpf_ktime_get_ns());
	c->base = task_base(task);
	c->part = (uint32_t)ctx->args[0];
	if (t)
		t->context = context_of(c, c->base);
	if (t && !c->part)
		t->seen = 0;
	return 0;
}

/* --- off the CPU --- */

/* Returns the number of the system call that a task is in, or WAITS_NO_CALL. */
static __always_inline uint32_t wait_call(struct task_struct *task)
{
	long call = task_call(task, -1);

	return task_is_kernels(task) || call < 0 ? WAITS_NO_CALL : (uint32_t)call & 0xfff;
}

static __always_inline uint32_t task_state(struct task_struct *task)
{
	struct task_struct___before_5_14 *old = (void *)task;

	return bpf_core_field_exists(task->__state) ? task->__state : (uint32_t)old->state;
}

static __always_inline void wait_set_waker(struct waits_key *wait, uint32_t context, uint32_t own,
					   const struct task_struct *task)
{
	wait->waker = (struct waits_waker){.seen = 1, .context = context, .own = own};
	if (task)
		bpf_probe_read_kernel_str(wait->waker.comm, sizeof(wait->waker.comm), task->comm);
}

/* The id may belong to another thread already. */
static __always_inline void thread_ends(struct waits_thread *t, const struct task_struct *task)
{
	uint32_t tid = task->pid, *slot = bpf_map_lookup_elem(&tids, &tid);

	if (slot && *slot == t->wait.slot)
		*slot = 0;
	t->died = t->out;
	t->state = WAITS_ENDED;
}

/*
 * Chooses one in `every` waits of a thread, so that about one in WAITS_PERIOD has a stack. The
 * choice is random, and such a wait counts for `every` of them: no kind of wait counts too much.
 */
static __always_inline void wait_choose(struct waits_thread *t)
{
	uint64_t ns;

	t->weight = t->every > 1 && bpf_get_prandom_u32() & (t->every - 1) ? 0 : t->every;
	if (!t->weight || ++t->chosen % WAITS_STEADY)
		return;
	ns = t->out - t->adapted;
	t->adapted = t->out;
	if (ns < WAITS_STEADY / 2 * WAITS_PERIOD && t->every < WAITS_MOST_EVERY)
		t->every *= 2;
	else if (ns > 2 * WAITS_STEADY * WAITS_PERIOD && t->every > 1)
		t->every /= 2;
}

/* Saves where the program called from. Only the thread itself can read that, as it leaves. */
static __noinline int wait_take_program(void *ctx, struct waits_thread *t)
{
	struct waits_program *p;
	uint32_t zero = 0, hash = 1, i;
	long n;

	p = bpf_map_lookup_elem(&new_program, &zero);
	if (!p || !t)
		return 0;
	t->program = 0;
	n = bpf_get_stack(ctx, p->frame, sizeof(p->frame), BPF_F_USER_STACK | BPF_F_USER_BUILD_ID);
	if (n <= 0)
		return 0;
	p->n = (uint32_t)n / sizeof(p->frame[0]);
	for (i = 0; i < WAITS_USER_FRAMES && i < p->n; i++)
		hash = hash * 31 + (uint32_t)p->frame[i].offset + *(uint32_t *)p->frame[i].build_id;
	if (!bpf_map_lookup_elem(&programs, &hash) &&
	    bpf_map_update_elem(&programs, &hash, p, BPF_NOEXIST)) {
		lose();
		return 0;
	}
	t->program = hash;
	return 0;
}

/* A task whose state is "running" as it leaves was preempted, or gave way by sched_yield(). */
static __always_inline void thread_leaves(void *ctx, struct waits_thread *t,
					  const struct waits_cpu *c, struct task_struct *task,
					  struct task_struct *next, uint32_t preempted)
{
	uint32_t state = preempted ? 0 : task_state(task);
	uint64_t from = t->since > control.start ? t->since : control.start;

	t->out = bpf_ktime_get_ns();
	if (t->seen)
		thread_count(t, t->out);
	t->seen = 0;
	t->base = c->part ? c->base : task_base(task);
	if (t->state == WAITS_RUNNING && t->out > from)
		t->ran += t->out - from;
	t->since = t->out;
	if (state & TASK_DEAD) {
		thread_ends(t, task);
		return;
	}
	t->wait.call = wait_call(task);
	t->wait.kind = !state				? 'R'
		       : state & TASK_STOPPED_OR_TRACED ? 'T'
		       : state & TASK_UNINTERRUPTIBLE	? 'D'
							: 'S';
	if (!state)
		wait_set_waker(&t->wait, FRAME_SYSCALL, slot_of(next->pid) != 0, next);
	t->state = state ? WAITS_BLOCKED : WAITS_PREEMPTED;
	wait_choose(t);
	if (t->weight && !task_is_kernels(task))
		wait_take_program(ctx, t);
}

static __noinline int wait_add_stack(struct waits_thread *t, struct task_struct *task, uint64_t ns)
{
	struct waits_stack_key key = {0};
	struct waits_stack *s, *known;
	uint32_t zero = 0, i;
	long n;

	s = bpf_map_lookup_elem(&new_stack, &zero);
	if (!s || !t || !task)
		return 0;
	n = bpf_get_task_stack(task, s->address, sizeof(s->address), 0);
	s->n = n < 0 ? 0 : (uint32_t)n / sizeof(s->address[0]);
	key.wait = t->wait;
	key.program = t->program;
	for (i = 0; i < WAITS_FRAMES && i < s->n; i++)
		key.hash = key.hash * 31 + (uint32_t)s->address[i];
	known = bpf_map_lookup_elem(&stacks, &key);
	if (!known) {
		s->samples = s->ns = 0;
		bpf_map_update_elem(&stacks, &key, s, BPF_NOEXIST);
		known = bpf_map_lookup_elem(&stacks, &key);
	}
	if (!known) {
		lose();
		return 0;
	}
	__sync_fetch_and_add(&known->samples, 1);
	__sync_fetch_and_add(&known->ns, ns * t->weight);
	return 0;
}

static __always_inline uint64_t in_window(uint64_t time)
{
	return time > control.start ? time : control.start;
}

/* A thread that is blocked until here was woken before it left: then all its time is for a CPU. */
static __always_inline void thread_waited(struct waits_thread *t, uint64_t now)
{
	uint64_t woken = t->state == WAITS_WOKEN ? t->since : t->out;
	struct waits_cell *cell = bpf_map_lookup_elem(&cells, &t->wait);

	if (!cell) {
		bpf_map_update_elem(&cells, &t->wait, &new_cell, BPF_NOEXIST);
		cell = bpf_map_lookup_elem(&cells, &t->wait);
	}
	if (!cell) {
		lose();
		return;
	}
	cell->n++;
	if (t->state != WAITS_PREEMPTED) {
		cell->ns[WAITS_FOR_WAKER] += in_window(woken) - in_window(t->out);
		cell->hist[WAITS_FOR_WAKER][waits_bucket(woken - t->out) & (WAITS_BUCKETS - 1)]++;
	}
	cell->ns[WAITS_FOR_CPU] += now - in_window(woken);
	cell->hist[WAITS_FOR_CPU][waits_bucket(now - woken) & (WAITS_BUCKETS - 1)]++;
}

static __always_inline void thread_enters(struct waits_thread *t, struct waits_cpu *c,
					  struct task_struct *task)
{
	uint64_t now = bpf_ktime_get_ns();

	if (t->state != WAITS_RUNNING && now > control.start) {
		thread_waited(t, now);
		if (now - t->out > WAITS_PERIOD && t->every > 1) /* it waits less often now */
			t->every /= 2;
		if (t->weight)
			wait_add_stack(t, task, now - in_window(t->out));
	}
	t->wait.waker = (struct waits_waker){0};
	t->since = now;
	t->state = WAITS_RUNNING;
	c->base = t->context = t->base;
	t->seen = c->part ? now : 0;
}

/* preempt, prev, next */
SEC("tp_btf/sched_switch")
int waits_switch(uint64_t *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	struct waits_cpu *c = this_cpu();
	struct waits_thread *t;

	if (!c || control.stop)
		return 0;
	c->softirq = c->depth = 0; /* none is on top of a task that switches */
	t = thread_at(slot_of(prev->pid));
	if (t)
		thread_leaves(ctx, t, c, prev, next, (uint32_t)ctx[0] & 1);
	t = thread_at(slot_of(next->pid));
	if (t)
		thread_enters(t, c, next);
	return 0;
}

/* task. The wake-up of a thread that is still on its CPU counts if the thread leaves nevertheless.
 */
SEC("tp_btf/sched_waking")
int waits_waking(uint64_t *ctx)
{
	struct task_struct *task = (void *)ctx[0], *by = bpf_get_current_task_btf();
	struct waits_thread *t = thread_at(slot_of(task->pid));
	struct waits_cpu *c = this_cpu();

	if (!t || !c || control.stop || t->state > WAITS_BLOCKED)
		return 0;
	if (c->depth)
		wait_set_waker(&t->wait, context_of(c, 0), 0, 0);
	else if (c->softirq)
		wait_set_waker(&t->wait, FRAME_SOFTIRQ + c->softirq - 1, 0, 0);
	else
		wait_set_waker(&t->wait, FRAME_SYSCALL, slot_of(by->pid) != 0, by);
	if (t->state == WAITS_BLOCKED) {
		t->since = bpf_ktime_get_ns();
		t->state = WAITS_WOKEN;
	}
	return 0;
}

/* --- the workload's threads --- */

static __always_inline uint32_t new_slot(void)
{
	uint32_t slot = take_index(&control.threads, WAITS_THREADS);

	if (!slot)
		lose();
	return slot;
}

/* A new thread waits for its first CPU. */
static __noinline int thread_starts(uint32_t slot, struct task_struct *task)
{
	struct waits_thread *t = thread_at(slot);

	if (!t || !task)
		return 0;
	t->pid = task->tgid;
	t->tid = task->pid;
	bpf_probe_read_kernel_str(t->comm, sizeof(t->comm), task->comm);
	t->born = t->out = t->since = bpf_ktime_get_ns();
	t->every = t->weight = 1;
	t->wait.slot = slot;
	t->wait.call = wait_call(task);
	t->wait.kind = 'R';
	t->base = task_is_kernels(task) ? FRAME_KTHREAD : FRAME_SYSCALL; /* it returns from clone */
	t->state = WAITS_PREEMPTED;
	return 0;
}

/* task, flags. It runs in the parent, also for threads of io_uring. */
SEC("tp_btf/task_newtask")
int waits_newtask(uint64_t *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	uint64_t id = bpf_get_current_pid_tgid();
	uint32_t tid = task->pid, pid = id >> 32, *slot = bpf_map_lookup_elem(&tids, &tid);

	if (!slot)
		return 0;
	*slot = 0;
	if (!slot_of(id) && (!control.adopt || pid != control.adopt || (uint32_t)task->tgid == pid))
		return 0;
	*slot = new_slot();
	thread_starts(*slot, task);
	return 0;
}

/* task, old tid, bprm. A thread that is not the leader takes the leader's id as it execs. */
SEC("raw_tp/sched_process_exec")
int waits_exec(struct bpf_raw_tracepoint_args *ctx)
{
	uint32_t tid = bpf_get_current_pid_tgid(), old = ctx->args[1];
	uint32_t *now = bpf_map_lookup_elem(&tids, &tid),
		 *before = bpf_map_lookup_elem(&tids, &old);
	struct waits_thread *t;

	if (!now || !before || !*before)
		return 0;
	if (old != tid) {
		*now = *before;
		*before = 0;
	}
	t = thread_at(*now);
	if (!t)
		return 0;
	t->tid = tid;
	bpf_get_current_comm(t->comm, sizeof(t->comm));
	return 0;
}

/* task, new name */
SEC("raw_tp/task_rename")
int waits_rename(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	struct waits_thread *t = thread_at(slot_of(BPF_CORE_READ(task, pid)));

	if (t)
		bpf_probe_read_kernel_str(t->comm, sizeof(t->comm), (void *)ctx->args[1]);
	return 0;
}

/* User space runs it on each CPU as the window opens. It has added all threads as waiting ones. */
SEC("raw_tp")
int waits_look(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct waits_thread *t = thread_at(slot_of(task->pid));

	if (t)
		t->state = WAITS_RUNNING;
	return 0;
}

/* Returns our process id in the initial namespace. */
SEC("raw_tp")
int waits_whoami(void *ctx)
{
	return bpf_get_current_pid_tgid() >> 32;
}
