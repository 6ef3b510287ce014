/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frame: how long each CPU was in each context, for each process. The kernel's program and user
 * space both include this header. All times are in ns of CLOCK_MONOTONIC.
 */
#ifndef ZC_FRAME_H
#define ZC_FRAME_H

#include "collect/programs.h"

/* What a task does when no interrupt is on top of it. */
enum frame_base { FRAME_USER, FRAME_SYSCALL, FRAME_KTHREAD, FRAME_IDLE, FRAME_BASES };

/*
 * Hard interrupts, with their tracepoints NAME_entry and NAME_exit. The kernel's tracepoints name
 * all of them but devices on x86; arm64 has `ipi`.
 */
// clang-format off
#define FRAME_HARDIRQS(row) \
	row(irq_handler, FRAME_DEVICE) \
	row(local_timer, FRAME_LOCAL_TIMER) \
	row(reschedule, FRAME_RESCHEDULE) \
	row(call_function, FRAME_CALL_FUNCTION) \
	row(call_function_single, FRAME_CALL_FUNCTION_SINGLE) \
	row(irq_work, FRAME_IRQ_WORK) \
	row(x86_platform_ipi, FRAME_PLATFORM_IPI) \
	row(ipi, FRAME_IPI)
// clang-format on
#define FRAME_VECTOR(name, vector) vector,
enum frame_vector { FRAME_HARDIRQS(FRAME_VECTOR) FRAME_VECTORS };

/*
 * A context is a base, or HALT (an idle task that waits for an interrupt), or a softirq on top of a
 * base, or a hard interrupt on top of whatever it interrupts.
 */
enum {
	FRAME_SOFTIRQS = 10, /* as in /proc/softirqs */
	FRAME_HALT = FRAME_BASES,
	FRAME_SOFTIRQ,
	FRAME_HARDIRQ = FRAME_SOFTIRQ + FRAME_BASES * FRAME_SOFTIRQS,
	FRAME_THREAD = FRAME_HARDIRQ + FRAME_VECTORS, /* USER or SYSCALL: between two parts */
	FRAME_SAMPLE,				      /* + USER or SYSCALL: in a sample */
	FRAME_CONTEXTS = FRAME_SAMPLE + 2,
	FRAME_TICKS = FRAME_CONTEXTS,	      /* + USER or SYSCALL: ticks between two parts */
	FRAME_SAMPLE_TICKS = FRAME_TICKS + 2, /* + USER or SYSCALL: in a sample */
	FRAME_CELLS = 64,		      /* at least FRAME_SAMPLE_TICKS + 2; a power of two */
	FRAME_GROUPS =
		512,	  /* processes with times of their own; 0: kernel threads, and all others */
	FRAME_NESTED = 4, /* hard interrupts on top of each other */
	FRAME_COMM = 16,
	FRAME_LOG = 512,      /* changes of context that a CPU has room for; a power of two */
	FRAME_ADD = 256,      /* changes after which they are added up */
	FRAME_LATE = 64,      /* changes since a sample was due, at most */
	FRAME_FEW = 1000000,  /* ns in parts below which those of other processes count, too */
	FRAME_REGISTERS = 16, /* with writes of their own on a CPU; a power of two */
};

/* What user space knows of the host. */
struct frame_host {
	uint64_t sampler; /* the address of perf_swevent_hrtimer(); 0: not known */
	uint64_t tick;	  /* the address of the function of the kernel's tick; 0: not known */
	uint64_t silent;  /* some interrupts may have no tracepoint, as those of Hyper-V */
};

/* A thread group. Its children use its times when all groups are in use. */
struct frame_group {
	uint32_t pid, parent;
	char comm[FRAME_COMM];
};

/*
 * Whether system calls are seen. Samples begin at random times. They alone say how the time between
 * the parts divides, because the calls themselves decide which other parts there are.
 */
enum frame_part { FRAME_NO_PART, FRAME_PART, FRAME_SAMPLE_PART };

/* Whether a CPU counts. */
enum frame_phase { FRAME_BEFORE, FRAME_OPEN, FRAME_CLOSED };

/*
 * What a CPU does from a time on, in 8 bytes: the time << 16 (ns, modulo 78 hours), whether the CPU
 * enters the context or returns to it, the group << 6, and the context.
 */
typedef uint64_t frame_change;
enum { FRAME_ENTERS = 1 << 15 };

static inline uint32_t frame_change_context(frame_change change)
{
	return change & (FRAME_CELLS - 1);
}

static inline uint32_t frame_change_group(frame_change change)
{
	return change >> 6 & (FRAME_GROUPS - 1);
}

/* When a sample of perf's clock was due, and what the CPU did then. */
struct frame_due {
	uint64_t at;   /* when the timer expired, just before perf takes the sample */
	uint64_t late; /* ns since the sample was due */
	uint32_t cpu;
	uint32_t context, group; /* those in which it was due */
	uint32_t changes;	 /* times that the context changed since then, but for the timer */
};

/* A model-specific register that a CPU wrote; its number is 0 in an unused slot. */
struct frame_register {
	uint32_t number;
	uint64_t writes;
};

/*
 * Whole cache lines, so that no CPU writes to a line of another one. A change touches the first
 * line and one of the log.
 */
struct frame_cpu {
	uint32_t nlogged, nadded; /* changes */
	uint32_t group;
	uint32_t calls; /* system calls since user space looked, in parts of the window */
	uint8_t wanted; /* a CPU of the side; user space sets it before the programs run */
	uint8_t phase;
	uint8_t known; /* the base is known, not assumed */
	uint8_t part;  /* enum frame_part */
	uint8_t base, halted;
	uint8_t softirq; /* 1 + its number; 0: none */
	uint8_t depth;	 /* hard interrupts on top of each other */
	uint8_t vector[FRAME_NESTED];
	uint8_t adding;	   /* the changes are being added up */
	frame_change last; /* the newest change that was added up */
	uint64_t lost;	   /* samples that had no room in `due` */
	frame_change log[FRAME_LOG] __attribute__((aligned(64)));
	uint64_t entries[FRAME_CELLS];
	uint64_t sample[2];  /* ns of user mode and system calls, in samples */
	uint32_t ticks[2];   /* ticks of both, in samples */
	uint64_t msr_writes; /* to all model-specific registers */
	struct frame_register registers[FRAME_REGISTERS];
} __attribute__((aligned(64)));

/* ns of each context, and numbers of ticks. */
struct frame_times {
	uint64_t ns[FRAME_CELLS];
};

#ifndef __bpf__

#include "lib/str.h"

/* A sample of a CPU, or the sum of all of them: ns and ticks of user mode and of system calls. */
struct frame_piece {
	uint32_t cpu;
	double ns[2], ticks[2];
};

/* The ns of user mode and of system calls on a CPU, in samples. */
struct frame_split {
	uint64_t few[2], all[2]; /* the sums of processes below FRAME_FEW; all sums */
};

void frame_add_split(struct frame_split *split, const struct frame_times *t);
/*
 * Returns how much the share of user mode in a sample follows that of its ticks, from 0 to 1. It is
 * 0 with too few samples. `sums` has the sum of each CPU's samples.
 */
double frame_slope(const struct frame_piece *pieces, size_t n, const struct frame_piece *sums);
/*
 * Adds the time of a process on a CPU between the parts, and in samples, to user mode and system
 * calls. `own` has the sums of the process over all CPUs. Returns false if nothing says how: then
 * it is system calls.
 */
bool frame_divide(struct frame_times *t, const struct frame_times *own,
		  const struct frame_split *split, double slope);
/* Returns the name of a softirq or of a hard interrupt. */
const char *frame_vector_name(uint32_t context);
/* Adds the context and its vector: "user\t", "softirq_in_syscall\tNET_RX", "hardirq\tdevice". */
void frame_print_context(struct str *s, uint32_t context);
/* Adds the name of a program, which chooses it: a tab or a newline is "?". */
void frame_print_comm(struct str *s, const char comm[FRAME_COMM]);

#endif

#endif
