// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the workload's system calls in the kernel. The hot path has only array look-ups, each a
 * few instructions: thread id -> state of the id -> slot of the thread -> cell of (thread,
 * syscall). Nothing is sent: user space reads the arrays after the window. When many threads have
 * ended, a new one goes on with the slot and the cells of one of them.
 *
 * A thread belongs to the workload from its first instruction on when its parent does
 * (sched_process_fork). It gets a slot at its first call in the window. Thread ids are those of the
 * initial namespace; `zcost_whoami` returns ours.
 */
#include "collect/syscalls/syscalls.h"

#include <bpf/bpf_tracing.h>
#include <linux/ptrace.h>

/* The state of each thread id. User space sets the size. */
MAP(tids, ARRAY, 1, uint32_t, uint32_t, 0);
MAP(threads, ARRAY, SYSCALLS_THREADS, uint32_t, struct syscall_thread, BPF_F_MMAPABLE);
MAP(cells, ARRAY, SYSCALLS_CELLS, uint32_t, struct syscall_cell, BPF_F_MMAPABLE);

struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, SYSCALLS_THREADS);
	__type(value, uint32_t);
} ended SEC(".maps");

MAP(copies, PERCPU_ARRAY, SOCKET_COPY_KINDS, uint32_t, struct socket_copies, 0);

volatile struct syscall_control control;
const volatile struct syscall_trait traits[SYSCALLS_NR];

static __noinline int new_slot(uint32_t *known)
{
	uint64_t id = bpf_get_current_pid_tgid();
	uint32_t slot = 0, pid = id >> 32, used;
	int crowded = control.threads >= SYSCALLS_THREADS / SYSCALLS_KEPT ||
		      control.cells >= SYSCALLS_CELLS / SYSCALLS_KEPT;
	struct syscall_thread *t;

	if (!known)
		return 0;
	used = crowded && !bpf_map_pop_elem(&ended, &slot);
	if (!used)
		slot = take_index(&control.threads, SYSCALLS_THREADS);
	t = slot ? bpf_map_lookup_elem(&threads, &slot) : 0;
	if (!t)
		return 0;
	t->pid = !used || t->pid == pid ? pid : 0;
	t->tid = used ? 0 : id;
	t->lot = (uint32_t)id * 2654435761;
	bpf_get_current_comm(t->comm, sizeof(t->comm));
	*known = MEMBER + slot;
	return 0;
}

static __always_inline struct syscall_thread *thread_at(uint32_t known)
{
	uint32_t slot = known - MEMBER;

	return known > MEMBER ? bpf_map_lookup_elem(&threads, &slot) : 0;
}

/* Returns an argument of the call, counted from 0. Nobody asks for the first or the last one. */
static __always_inline uint64_t call_argument(struct bpf_raw_tracepoint_args *ctx, int argument)
{
	uint64_t value = 0;
#if defined(bpf_target_defined)
	struct pt_regs *regs = (void *)ctx->args[0];

	bpf_probe_read_kernel(&value, sizeof(value),
			      argument == 1   ? (void *)&PT_REGS_PARM2(regs)
			      : argument == 2 ? (void *)&PT_REGS_PARM3(regs)
			      : argument == 3 ? (void *)&PT_REGS_PARM4_SYSCALL(regs)
					      : (void *)&PT_REGS_PARM5(regs));
#endif
	return value;
}

static __always_inline uint32_t call_index(struct bpf_raw_tracepoint_args *ctx)
{
	uint32_t nr = syscall_index(ctx->args[1]);
	const volatile struct syscall_trait *t = &traits[nr & (SYSCALLS_NR - 1)];

	if (nr < SYSCALLS_FLAGGED && t->flag && call_argument(ctx, t->argument) & t->flag)
		return t->flagged;
	return nr;
}

static __always_inline int enter(struct bpf_raw_tracepoint_args *ctx, int again)
{
	uint32_t tid, nr, *known, sized;
	struct syscall_thread *t;

	if (!control.on)
		return 0;
	tid = bpf_get_current_pid_tgid();
	known = bpf_map_lookup_elem(&tids, &tid);
	if (!known || *known == STRANGER)
		return 0;
	if (*known == MEMBER)
		new_slot(known);
	t = thread_at(*known);
	if (!t) {
		__sync_fetch_and_add(&control.lost, !again);
		return 0;
	}
	if (t->entered && again)
		return 0;
	if (t->entered && is_preempted()) /* the end of a call was lost */
		__sync_fetch_and_add(&control.lost, 1);
	nr = call_index(ctx);
	t->nr = nr;
	sized = traits[nr & (SYSCALLS_NR - 1)].sized;
	if (sized)
		t->asked = call_argument(ctx, sized - 1);
	t->entered = syscall_timed(t, nr, control.untimed) ? bpf_ktime_get_ns() : SYSCALLS_UNTIMED;
	return 0;
}

SEC("raw_tp/sys_enter")
int zcost_enter(struct bpf_raw_tracepoint_args *ctx)
{
	return enter(ctx, 0);
}

AGAIN("raw_tp/sys_enter", zcost_enter, struct bpf_raw_tracepoint_args *, enter(ctx, 1))

static __noinline uint32_t new_cell(struct syscall_thread *t, uint32_t nr)
{
	uint32_t cell;

	if (!t || nr >= SYSCALLS_NR)
		return 0;
	cell = take_index(&control.cells, SYSCALLS_CELLS);
	t->cell[nr] = cell;
	return cell;
}

static __always_inline struct syscall_cell *cell_of(struct syscall_thread *t, uint32_t nr)
{
	uint32_t cell = 0;
	struct syscall_cell *c;

	if (nr < SYSCALLS_NR) {
		cell = t->cell[nr];
		if (!cell)
			cell = new_cell(t, nr);
	}
	c = cell ? bpf_map_lookup_elem(&cells, &cell) : 0;
	if (!c)
		__sync_fetch_and_add(&control.lost, 1);
	return c;
}

static __always_inline int end(struct bpf_raw_tracepoint_args *ctx, int again)
{
	uint64_t entered, now = 0;
	uint32_t tid, *known, nr;
	struct syscall_thread *t;
	struct syscall_cell *c;

	if (!control.on)
		return 0;
	tid = bpf_get_current_pid_tgid();
	known = bpf_map_lookup_elem(&tids, &tid);
	if (!known || *known <= MEMBER)
		return 0;
	t = thread_at(*known);
	if (t && !t->entered && !again && is_preempted()) /* its beginning was lost */
		__sync_fetch_and_add(&control.lost, 1);
	if (!t || !t->entered)
		return 0;
	entered = t->entered;
	if (entered != SYSCALLS_UNTIMED)
		now = bpf_ktime_get_ns();
	t->entered = 0;
	nr = t->nr;
	c = cell_of(t, nr);
	if (!c)
		return 0;
	if (entered != SYSCALLS_UNTIMED)
		syscall_time(c, now - entered);
	syscall_count(c, &traits[nr & (SYSCALLS_NR - 1)], ctx->args[1], t->asked);
	return 0;
}

SEC("raw_tp/sys_exit")
int zcost_exit(struct bpf_raw_tracepoint_args *ctx)
{
	return end(ctx, 0);
}

AGAIN("raw_tp/sys_exit", zcost_exit, struct bpf_raw_tracepoint_args *, end(ctx, 1))

/* The arguments are parent and child. It runs in the parent. */
SEC("raw_tp/sched_process_fork")
int zcost_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *child = (void *)ctx->args[1];
	uint64_t id = bpf_get_current_pid_tgid();
	uint32_t tid = id, pid = id >> 32, *known;
	int member;

	known = bpf_map_lookup_elem(&tids, &tid);
	member = (known && *known) ||
		 (control.adopt && pid == control.adopt && BPF_CORE_READ(child, tgid) != (int)pid);
	tid = BPF_CORE_READ(child, pid);
	known = bpf_map_lookup_elem(&tids, &tid);
	if (known)
		*known = member ? MEMBER : STRANGER;
	return 0;
}

/* Threads that used one slot under different names are "..." together. */
static __always_inline void merge_names(struct syscall_thread *t)
{
	uint64_t *now = (void *)t->comm, *was = (void *)t->was;

	if (was[0] && (was[0] != now[0] || was[1] != now[1])) {
		__builtin_memset(t->comm, 0, sizeof(t->comm));
		__builtin_memset(t->comm, '.', 3);
	}
	was[0] = now[0];
	was[1] = now[1];
}

/*
 * The id will belong to another thread. From here on nothing is counted for this thread, so its
 * slot may go to another one. A slot that the stack does not take stays unused.
 */
SEC("raw_tp/sched_process_exit")
int zcost_task_exit(struct bpf_raw_tracepoint_args *ctx)
{
	uint32_t tid = bpf_get_current_pid_tgid(), slot;
	uint32_t *known = bpf_map_lookup_elem(&tids, &tid);
	struct syscall_thread *t = known ? thread_at(*known) : 0;
	struct syscall_cell *c;

	if (!known)
		return 0;
	slot = *known - MEMBER;
	*known = STRANGER;
	if (!t)
		return 0;
	c = t->entered ? cell_of(t, t->nr) : 0;
	if (c)
		c->unfinished++;
	t->entered = 0;
	merge_names(t);
	bpf_map_push_elem(&ended, &slot, 0);
	return 0;
}

/* task, old tid, bprm. A thread that is not the leader takes the leader's id as it execs. */
SEC("raw_tp/sched_process_exec")
int zcost_exec(struct bpf_raw_tracepoint_args *ctx)
{
	uint32_t tid = bpf_get_current_pid_tgid(), old = ctx->args[1];
	uint32_t *known = bpf_map_lookup_elem(&tids, &tid);
	uint32_t *before = bpf_map_lookup_elem(&tids, &old);
	struct syscall_thread *t;

	if (!known || !before || !*before)
		return 0;
	if (old != tid) {
		*known = *before;
		*before = STRANGER;
	}
	t = thread_at(*known);
	if (!t)
		return 0;
	if (t->tid)
		t->tid = tid;
	bpf_get_current_comm(t->comm, sizeof(t->comm));
	return 0;
}

/* task, new name */
SEC("raw_tp/task_rename")
int zcost_rename(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	uint32_t tid = BPF_CORE_READ(task, pid);
	uint32_t *known = bpf_map_lookup_elem(&tids, &tid);
	struct syscall_thread *t = known ? thread_at(*known) : 0;

	if (!t)
		return 0;
	__builtin_memset(t->comm, 0, sizeof(t->comm));
	bpf_probe_read_kernel_str(t->comm, sizeof(t->comm), (void *)ctx->args[1]);
	return 0;
}

/* --- data of sockets --- */

static __always_inline void add_copy(uint32_t kind, uint64_t bytes)
{
	struct socket_copies *c = bpf_map_lookup_elem(&copies, &kind);

	if (!c)
		return;
	__sync_fetch_and_add(&c->calls, 1); /* a program may be interrupted here */
	__sync_fetch_and_add(&c->bytes, bytes);
}

/* A worker of io_uring has no state, but its process has. */
static __always_inline int is_workload(void)
{
	uint64_t id = bpf_get_current_pid_tgid();
	uint32_t tid = id, pid = id >> 32;
	uint32_t *thread = bpf_map_lookup_elem(&tids, &tid);
	uint32_t *process = bpf_map_lookup_elem(&tids, &pid);

	return (thread && *thread) || (process && *process);
}

/* skb, len */
SEC("raw_tp/skb_copy_datagram_iovec")
int zcost_copy_out(struct bpf_raw_tracepoint_args *ctx)
{
	if (control.on && is_workload())
		add_copy(SOCKET_COPY_OUT, (uint32_t)ctx->args[1]);
	return 0;
}

/* skb, gfp. It runs on receive, in any context, so it cannot be limited to the workload. */
SEC("fentry/skb_copy_ubufs")
int zcost_copy_frags(unsigned long long *args)
{
	struct sk_buff *skb = (void *)args[0];

	if (control.on)
		add_copy(SOCKET_COPY_FRAGS, BPF_CORE_READ(skb, data_len));
	return 0;
}

/* msg, sk, skb, from, length; since Linux 6.0 */
SEC("fentry/__zerocopy_sg_from_iter")
int zcost_pin(unsigned long long *args)
{
	if (control.on && is_workload())
		add_copy(SOCKET_COPY_PINS, args[4]);
	return 0;
}

/* Returns our process id in the initial namespace. */
SEC("raw_tp")
int zcost_whoami(void *ctx)
{
	return bpf_get_current_pid_tgid() >> 32;
}
