/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads a perf.data file or pipe stream into a profile. */
#ifndef ZC_PERFDATA_H
#define ZC_PERFDATA_H

#include "analyze/model/profile.h"

/*
 * The exact time of each CPU of a capture, and what the CPU did when each sample of perf's clock
 * was due (probes/frame). The samples of a clock on these CPUs then count where they were due, and
 * only divide the time of their label on their CPU: one part is the workload's, one is that of
 * other programs. A label with too few samples to divide its time has that time in one row.
 */
enum exact_place {
	PLACE_NONE,
	PLACE_USER, /* with page faults, whose end cannot be seen */
	PLACE_SYSCALL,
	PLACE_KTHREAD,
	PLACE_IDLE, /* the idle task, awake */
	PLACE_HALT,
	PLACE_SOFTIRQ_IN_SYSCALL,
	PLACE_SOFTIRQ, /* on top of user mode or a thread of the kernel */
	PLACE_SOFTIRQ_IN_IDLE,
	PLACE_HARDIRQ,
	PLACES
};

/* The name of a place, as in "[hardirq local_timer]". */
struct exact_label {
	char *name; /* owned */
	enum exact_place place;
};

struct exact_time {
	uint32_t cpu, pid, label;
	uint64_t ns;
};

struct exact_due {
	uint64_t at, late; /* ns: CLOCK_MONOTONIC just before the sample; since it was due */
	uint32_t cpu, pid, label;
	uint32_t changes; /* how often the context changed since it was due */
};

struct exact {
	struct exact_label *labels; /* at most UINT8_MAX */
	struct exact_time *times;
	struct exact_due *due; /* sorted by CPU and time */
	size_t nlabels, labels_cap, ntimes, times_cap, ndue, due_cap;
};

/* Frees it and all that it owns. */
void exact_free(struct exact *x);

/*
 * Fills a profile without samples: a row for each CPU, process and label, of the event "frame". The
 * profile is new; the caller frees it.
 */
void exact_fill_profile(const struct exact *x, struct profile *p);

struct perfdata_options {
	struct time_slice slice; /* --from and --to; they replace from_ns and to_ns */
	/* Count only samples in [from_ns, to_ns) of perf's clock. Both 0: count all. */
	uint64_t from_ns, to_ns;
	const struct cpuset *cpus; /* count only these CPUs; NULL: all */
	const char *host_dir;	   /* hosts/<host> of a capture, or NULL */
	const char *run_dir;	   /* the run's folder in a capture, or NULL */
	const char *kallsyms;	   /* --kallsyms FILE, or NULL */
	const char *symfs;	   /* --symfs DIR, or NULL */
	const char *buildid_dir;   /* --buildid-dir DIR, or NULL */
	bool inlines;		   /* --inline: one frame for each inlined function */
	bool addresses;		   /* --addresses: a symbol for each user address in no mapping */
	const char *vmlinux;	   /* --vmlinux FILE, or NULL */
	/* Threads that scan, fold and resolve. 0: one per CPU, or fewer for a small file. */
	unsigned int threads;
	const struct exact *exact; /* or NULL; recorded with CLOCK_MONOTONIC */
	/* Processes of the workload. p->own gets them and all that they started. */
	const uint32_t *workload;
	size_t nworkload;
	bool in_capture;	    /* the path is inside a capture: opens no FIFO, no device */
	bool spots;		    /* also count samples by instruction, with code and lines */
	struct symbol_cache *cache; /* shared by recordings; or NULL */
	bool use_this_host; /* may read this host's kallsyms and DSOs if their build-ids match */
};

/*
 * Reads `path` ("-" is standard input) into `p`. Where perf of zcost collect sampled in parts of
 * the window, the file perf_parts.tsv stands beside it. Then each sample weighs its period times
 * the time of the window over that of the parts. The caller initialises and frees `p`. Returns 0,
 * or -errno with the place and the way out in `err`. Also returns 0 for a damaged file that has
 * samples before the damage; p->health.truncated is then set.
 */
int perfdata_read(struct profile *p, const char *path, const struct perfdata_options *o,
		  struct error *err);

#endif
