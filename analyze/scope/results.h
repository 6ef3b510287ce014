/* SPDX-License-Identifier: GPL-2.0-only */
/* The rows of tables that charts draw. A member has the name and the unit of its column. */
#ifndef ZC_RESULTS_H
#define ZC_RESULTS_H

#include "analyze/scope/scope.h"

struct idle_row {
	struct block block;
	const char *cpu; /* IDLE_ALL; "" for a single CPU */
	const char *source, *state;
	struct estimate time_pct;
	double entries_per_s, mean_us; /* NAN: not known */
	int64_t runs;
};

/* All CPUs of the side added up, and the sources. */
#define IDLE_ALL     "all"
#define IDLE_CPUIDLE "cpuidle"
#define IDLE_STAT    "/proc/stat"

/* The parts of CPU time; the first five are busy. */
enum cpu_part { CPU_APP, CPU_SYS, CPU_SOFT, CPU_IRQ, CPU_STEAL, CPU_IOWAIT, CPU_IDLE, CPU_PARTS };

/* The first four are parts of the frame, too. These names are the objects of its metric. */
enum { FRAME_PARTS = CPU_STEAL };
extern const char *const frame_parts[FRAME_PARTS];

/*
 * Estimates a part of the CPU time of a CPU, or with NO_CPU of the side's, in percent of one CPU.
 * The parts of the busy time are in the proportions of the frame of any pass, else of ticks, which
 * give softirqs too much on a virtual machine.
 */
double busy_part(struct store *s, const struct query *q, const struct block_runs *b,
		 enum estimator e, enum cpu_part part, int cpu);

struct cpu_row {
	struct block block;
	int64_t cpu; /* NO_CPU: all of the side added up */
	int64_t runs;
	double part[CPU_PARTS]; /* percent of one CPU */
	struct estimate busy_pct;
	double workload_pct; /* on any CPU */
};

/* A point of a series, or the mean of a part of it with its range. */
struct timeline_row {
	struct block block;
	int64_t run;
	const char *name, *unit;
	double t_s, seconds;
	struct estimate value;
};

struct sizes_row {
	struct block block;
	const char *name, *unit;
	struct estimate value;
	int64_t runs;
};

struct syscalls_row {
	struct block block;
	double pid, tid;
	const char *comm, *syscall;
	int64_t calls;
	double errors;
	double total_ms, min_ms, avg_ms, max_ms, stddev_pct, p50_ms, p99_ms;
	double bytes_per_call;
	double calls_per_work, ns_per_work; /* per MiB and KiB, or per unit of --unit */
};

struct path_row {
	struct block block;
	const char *way, *stage; /* PATH_TOTAL: the stages together */
	double packets;
	struct estimate mean_us;
	double p50_us, p99_us, p999_us, share_pct, cpu_us, left;
	double segments, bytes, one_in; /* known for a total alone */
	int64_t runs;
};

#define PATH_TOTAL "end_to_end"

#endif
