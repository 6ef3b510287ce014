/* SPDX-License-Identifier: GPL-2.0-only */
/* What a command asks of a table: which runs, samples and rows, and in what units. */
#ifndef ZC_QUERY_H
#define ZC_QUERY_H

#include "lib/cpuset.h"

#include <stdbool.h>
#include <stddef.h>

struct profile;	     /* analyze/model/profile.h */
struct flat;	     /* the text of perf report, analyze/texts/perf_report.h */
struct trace;	     /* the text of perf trace -s, analyze/texts/perf_trace.h */
struct perf_stat;    /* what perf stat printed, analyze/texts/perf_stat.h */
struct ethtool_text; /* what ethtool -S printed, analyze/texts/ethtool_text.h */
struct tracepoints;  /* of a perf.data, analyze/perfdata/tracepoints.h */
struct components;   /* analyze/costs/components.h */

enum basis { BASIS_DEFAULT, BASIS_WALL, BASIS_BUSY };
enum amount { IN_NS, IN_CYCLES, IN_INSTRUCTIONS }; /* --in */

enum { LIMIT_MOST = 1000000000 }; /* rows that --limit may ask for */

/* The work that a bare file did, from the command line; 0 where it is not given. */
struct work_done {
	double rate; /* units per second */
	double units, seconds, busy_ns;
	double cycles, instructions; /* counted meanwhile */
};

/* The files that a table is made from instead of a store. Each is NULL where it is not the input.
 */
struct bare_files {
	struct profile *profile;
	const struct flat *flat;
	const struct trace *trace;
	const struct perf_stat *stat;
	const struct ethtool_text *ethtool;
	struct tracepoints *tracepoints;
};

struct query {
	/* which runs; NULL or 0: all */
	const char *variant; /* a name, or a glob over names */
	const char *side, *pass;
	int repeat;
	/* which samples */
	const char *comm, *dso, *symbol; /* names or globs: which rows; shares stay of the whole */
	const char *name;		 /* name or glob: which series */
	const char *drawn; /* globs of the series that a chart draws, by blanks; NULL: all */
	int parts;	   /* a longer series becomes so many means with ranges; 0: every point */
	const char *event; /* NULL: the first that has samples */
	const struct cpuset *cpus; /* --cpu; NULL: all */
	bool workload_only; /* rows of the workload's processes, and one of interrupts elsewhere */
	/* how to print */
	const char *setting; /* of a plan; NULL: all */
	const char *by;	     /* comma-separated keys, of tally.c, and variant side */
	bool children;	     /* also the cost of rows with what they call, where that is left out */
	long limit;	     /* rows; 0: the table's own default */
	bool all;	     /* --all: every row, unresolved addresses one by one */
	bool figures_only;   /* the caller shows no title and, of summary and zerocopy, no cost of
				copying, for which they read all profiles; of runs, it shows only
				the columns up to the CPUs */
	const char **groups; /* --group, as given */
	size_t ngroups;
	const struct components *rules;		      /* instead of those two; NULL: none */
	const char *components_file, *components_set; /* own rules; "fine" (NULL) or "basic" */
	/* what a unit of work is, and what it costs */
	const char *unit; /* packet, KiB, message, syscall; NULL: KiB where bytes are known */
	enum amount in;	  /* what costs are counted in */
	struct work_done work;
	const double *rates; /* all that --rate gave; work.rate is the first */
	int nrates;
	double system_load; /* percent of the machine's CPU time in use meanwhile; 0: not given */
	bool load_measured; /* it is that of each side's CPUs, of a capture */
	enum basis basis;
	/* scores */
	double roi_n, roi_m;		  /* exponents; 0: 2 and 1 */
	const char *estimator;		  /* median, middle, mean; NULL: the capture's */
	double model_idle, model_per_cpu; /* --power-model; both 0: none */
	const char *power_kind; /* wall, platform, package; NULL: the first that was measured */
	double throughput_gbps, cpu_pct,
		power_w; /* given numbers instead of a store; 0: not given */
	struct bare_files bare;
};

#endif
