/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads a perf.data file or pipe stream into a profile. */
#ifndef ZC_PERFDATA_H
#define ZC_PERFDATA_H

#include "analyze/model/profile.h"
#include "lib/cpuset.h"
#include "lib/error.h"

struct perfdata_options {
	struct time_slice slice; /* --from and --to; they replace from_ns and to_ns */
	/* Count only samples in [from_ns, to_ns) of perf's clock. Both 0: count all. */
	uint64_t from_ns, to_ns;
	const struct cpuset *cpus; /* count only these CPUs; NULL: all */
	const char *host_dir;	   /* hosts/<host> of a capture, or NULL */
	const char *kallsyms;	   /* --kallsyms FILE, or NULL */
	const char *symfs;	   /* --symfs DIR, or NULL */
	const char *buildid_dir;   /* --buildid-dir DIR, or NULL */
	bool inlines;		   /* --inline: one frame for each inlined function */
	const char *vmlinux;	   /* --vmlinux FILE, or NULL */
	/* Threads that scan, fold and resolve. 0: one per CPU, or fewer for a small file. */
	unsigned int threads;
	/*
	 * The idle time of each of CPUSET_MAX CPUs in ns; NAN: not known. With it, late samples of
	 * a clock count for the periods that its timer missed (clock.c). The recording must be one
	 * of whole CPUs.
	 */
	const double *idle_ns;
	/* Processes of the workload. p->own gets them and all that they started. */
	const uint32_t *workload;
	size_t nworkload;
	bool in_capture;	    /* the path is inside a capture: opens no FIFO, no device */
	bool spots;		    /* also count samples by instruction, with code and lines */
	struct symbol_cache *cache; /* shared by recordings; or NULL */
	bool use_this_host; /* may read this host's kallsyms and DSOs if their build-ids match */
};

/*
 * Reads `path` ("-" is standard input) into `p`. The caller initialises and frees `p`. Returns 0,
 * or -errno with the place and the way out in `err`. Also returns 0 for a damaged file that has
 * samples before the damage; p->health.truncated is then set.
 */
int perfdata_read(struct profile *p, const char *path, const struct perfdata_options *o,
		  struct error *err);

#endif
