/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every command that takes samples can be asked: of which runs, of which samples, out of which
 * perf.data. An argp child whose input is a struct query_options.
 */
#ifndef ZC_QUERY_OPTIONS_H
#define ZC_QUERY_OPTIONS_H

#include "analyze/measures/measure.h"
#include "analyze/option_uses.h"
#include "analyze/perfdata/slice.h"

#include <argp.h>

struct query_options {
	struct query *q;	    /* what is filled in; set before parsing */
	struct options_given given; /* the user of this adds its own options */
	/* --perf FILE and what explains it; NULL: not given */
	const char *perf, *kallsyms, *vmlinux, *symfs, *buildid_dir;
	bool inlines;
	struct time_slice slice; /* of the file, or of the windows of a capture (open.h) */
	bool spots;		 /* instructions are to be counted, too */
	unsigned int jobs;	 /* threads that read it; 0: not given */
	/* what q points to */
	struct cpuset cpus;
	char *run; /* --run, taken apart */
	struct profile profile;
};

extern const struct argp query_argp;

void query_options_init(struct query_options *o, struct query *q);
void query_options_free(struct query_options *o);

/* Opens the capture, or makes a store of its part between --from and --to. */
int query_open_capture(const struct query_options *o, const char *capture, struct store **store,
		       struct error *err);

/* Reads --perf FILE, which was given, into q->profile. */
int query_read_perf(struct query_options *o, struct error *err);

#endif
