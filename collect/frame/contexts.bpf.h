/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which context a CPU is in, for the programs of the frame and of the waits. They have defined this
 * before: CPU, the type of a CPU's state; this_cpu(), which returns it, or NULL; and PROGRAM(), the
 * names of programs. They define change().
 */

struct pt_regs {
	long orig_ax;	      /* x86 */
	unsigned long cx, ip; /* x86 */
	int syscallno;	      /* arm64 */
} KERNEL;

/* The CPU is in another context now. `enters`: FRAME_ENTERS, or 0 as it returns to the context. */
static __always_inline int change(void *ctx, CPU *c, uint32_t enters);

/* Returns the context of a CPU. `task` is that of its task where no interrupt is on top. */
static __always_inline uint32_t context_of(const CPU *c, uint32_t task)
{
	if (c->depth)
		return FRAME_HARDIRQ + c->vector[(c->depth - 1) & (FRAME_NESTED - 1)];
	return c->softirq ? FRAME_SOFTIRQ + c->base * FRAME_SOFTIRQS + c->softirq - 1 : task;
}

/*
 * Returns the number of the system call by which a task entered the kernel, or below 0: it came by
 * an interrupt or a page fault. `other` is for machines where nobody knows.
 */
static __always_inline long task_call(struct task_struct *task, long other)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);

	if (bpf_core_field_exists(regs->orig_ax))
		return regs->orig_ax;
	return bpf_core_field_exists(regs->syscallno) ? regs->syscallno : other;
}

/*
 * Interrupts are off on the way out of a system call, so an interrupt that comes there waits until
 * the program's next instruction. SYSRET takes the address of this instruction from cx.
 */
static __always_inline int task_is_leaving(struct task_struct *task)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);

	return bpf_core_field_exists(regs->cx) && regs->ip == regs->cx;
}

static __always_inline int task_is_kernels(const struct task_struct *task)
{
	return task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER);
}

/* Returns what the interrupted task of this CPU does. */
static __always_inline uint32_t task_base(struct task_struct *task)
{
	if (task_is_kernels(task))
		return FRAME_KTHREAD;
	return task_call(task, 0) < 0 && !task_is_leaving(task) ? FRAME_USER : FRAME_SYSCALL;
}

/* vec */
SEC("raw_tp/softirq_entry")
int PROGRAM(softirq_entry)(struct bpf_raw_tracepoint_args *ctx)
{
	CPU *c = this_cpu();

	if (!c)
		return 0;
	c->softirq = 1 + (uint32_t)ctx->args[0] % FRAME_SOFTIRQS;
	return change(ctx, c, FRAME_ENTERS);
}

SEC("raw_tp/softirq_exit")
int PROGRAM(softirq_exit)(void *ctx)
{
	CPU *c = this_cpu();

	if (!c)
		return 0;
	c->softirq = 0;
	return change(ctx, c, 0);
}

static __always_inline int hardirq_entry(void *ctx, uint32_t vector)
{
	CPU *c = this_cpu();

	if (!c)
		return 0;
	c->vector[c->depth++ & (FRAME_NESTED - 1)] = vector;
	return change(ctx, c, FRAME_ENTERS);
}

static __always_inline int hardirq_exit(void *ctx)
{
	CPU *c = this_cpu();

	if (!c)
		return 0;
	if (c->depth) /* 0: the programs were attached in the interrupt */
		c->depth--;
	return change(ctx, c, 0);
}

#define HARDIRQ(name, vector)                                              \
	SEC("raw_tp/" #name "_entry") int PROGRAM(name##_entry)(void *ctx) \
	{                                                                  \
		return hardirq_entry(ctx, vector);                         \
	}                                                                  \
	SEC("raw_tp/" #name "_exit") int PROGRAM(name##_exit)(void *ctx)   \
	{                                                                  \
		return hardirq_exit(ctx);                                  \
	}

FRAME_HARDIRQS(HARDIRQ)
