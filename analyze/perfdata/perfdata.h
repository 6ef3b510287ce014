/* SPDX-License-Identifier: GPL-2.0-only */
/* A perf.data file, or pipe stream, into a profile. */
#ifndef ZC_PERFDATA_H
#define ZC_PERFDATA_H

#include "analyze/model/slice.h"
#include "analyze/model/profile.h"
#include "lib/cpuset.h"
#include "lib/error.h"

struct perfdata_options {
	struct time_slice slice; /* --from, --to, in place of the following */
	uint64_t from_ns,
		to_ns; /* count only samples in [from, to); both 0: all. perf's own clock */
	const struct cpuset *cpus; /* count only these; NULL: all */
	const char
		*host_dir; /* hosts/<host> of a capture: kallsyms, modules, notes, dso/; or NULL */
	const char *kallsyms;	 /* --kallsyms FILE; or NULL */
	const char *symfs;	 /* --symfs DIR; or NULL */
	const char *buildid_dir; /* --buildid-dir DIR; or NULL */
	bool inlines; /* one frame for each inlined function, where debug information tells */
	const char *vmlinux; /* --vmlinux FILE; or NULL */
	/* that scan, fold and resolve. 0: one per CPU, as far as the file is worth it; N: N, if it
	 * has the parts */
	unsigned int threads;
	bool in_capture;    /* the path is of a capture, not of the user: no FIFO, no device */
	bool spots;	    /* also count instructions, with their code and lines */
	bool use_this_host; /* may read this host's kallsyms and DSOs, where build-ids match */
};

/*
 * Reads `path` ("-": standard input) into `p`, which the caller initialised and frees. 0, or
 * -errno with the place and the way out in `err`. A damaged file that gave samples before the
 * damage is 0 with p->health.truncated set.
 */
int perfdata_read(struct profile *p, const char *path, const struct perfdata_options *o,
		  struct error *err);

#endif
