/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A measure fills one table from the store (or from bare files that the query carries). A new table
 * is one file with its `const struct measure`, its row in the list in measure.c, and a test.
 * Reports, comparisons and charts all get their figures through measure_run, so that they cannot
 * disagree.
 */
#ifndef ZC_MEASURE_H
#define ZC_MEASURE_H

#include "analyze/model/notes.h"
#include "analyze/store/store.h"
#include "lib/alloc.h"
#include "lib/cpuset.h"
#include "lib/table.h"

struct components;   /* analyze/measures/components.h */
struct flat;	     /* the text of perf report, analyze/texts/perf_report.h */
struct trace;	     /* the text of perf trace -s, analyze/texts/perf_trace.h */
struct perf_stat;    /* what perf stat printed, analyze/texts/perf_stat.h */
struct ethtool_text; /* what ethtool -S printed, analyze/texts/ethtool_text.h */
struct tracepoints;  /* of a perf.data, analyze/perfdata/tracepoints.h */

enum basis { BASIS_DEFAULT, BASIS_WALL, BASIS_BUSY };
enum amount { IN_NS, IN_CYCLES, IN_INSTRUCTIONS }; /* amount.h */

enum { LIMIT_MOST = 1000000000 }; /* rows that --limit may ask for */

struct basis_known;
struct query {
	/* which runs; NULL or 0: all */
	const char *variant; /* a name, or a glob over names */
	const char *side, *pass;
	int repeat;
	/* which samples */
	const char *comm, *dso, *symbol; /* names or globs: which rows; shares stay of the whole */
	const char *event;		 /* NULL: the first that has samples */
	struct basis_known *known; /* of queries that differ in the run alone (basis.h); or NULL */
	struct cost_runs *runs;	   /* a table of costs fills in each run's own (costs.h); or NULL */
	const struct cpuset *cpus; /* --cpu; NULL: all */
	/* how to print */
	const char *by;	     /* comma-separated keys, of tally.c, and variant side */
	bool children;	     /* also the cost of rows with what they call, where that is left out */
	long limit;	     /* rows; 0: the table's own default */
	bool all;	     /* --all: every row, unresolved addresses one by one */
	const char **groups; /* --group, as given */
	size_t ngroups;
	const struct components *rules;		      /* instead of those two; NULL: none */
	const char *components_file, *components_set; /* own rules; "fine" (NULL) or "basic" */
	/* what a unit of work is and what it costs */
	const char *unit;      /* packet, KiB, message, syscall; NULL: KiB where bytes are known */
	double rate;	       /* units per second, bare files; 0: not given */
	double units, seconds; /* units done in so many seconds; 0: not given */
	double busy_ns;	       /* busy CPU time, bare files; 0: not given */
	enum amount in;	       /* what costs are counted in */
	double cycles, instructions; /* counted meanwhile, bare files; 0: not given */
	const double *rates;	     /* all that --rate gave; `rate` is the first */
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
	/* bare files instead of a store */
	struct profile *profile;
	bool alike; /* its rows are compared with another's: objects go by base name alone */
	const struct flat *flat;
	const struct trace *trace;
	const struct perf_stat *stat;
	const struct ethtool_text *ethtool;
	struct tracepoints *tracepoints;
};

/* What a feature's figures are made from: a capture, or a bare perf.data, text or given numbers. */
enum data_source { SOURCE_CAPTURE, SOURCE_PERF, SOURCE_TEXT, SOURCE_NUMBERS, SOURCES };

/* Options that several features take (analyze/options.c), for their lists. */
#define OPT_SLICE     "from to jobs "
#define OPT_RUNS      "variant side run estimator " OPT_SLICE
#define OPT_SAMPLES   "cpu comm event "
#define OPT_MODEL     "power-model power-kind "
#define OPT_RECORDING OPT_SLICE "kallsyms vmlinux inline symfs buildid-dir "
#define OPT_DONE      "units seconds busy-ns cycles instructions "

enum measure_flags {
	MEASURE_COSTS = 1,	 /* figures are costs of code, out of profiles */
	MEASURE_TRACEPOINTS = 2, /* reads the tracepoints of a perf.data, not its profile */
	MEASURE_FUNCTION = 4,	 /* the argument after the table's name is a function */
	MEASURE_RATES = 8,	 /* --rate may list several rates */
};

/* A table. Its own file defines it, the list in measure.c names it, nothing else knows it. */
struct measure {
	const char *name, *what;
	const struct column *columns;
	int ncolumns;
	/* The options it takes, "variant side run", for each source; NULL: that is no source.
	 * Options that the table refuses itself, with a better reason, are among them. */
	const char *options[SOURCES];
	/* Columns that a narrow terminal leaves out, the least important first. Costs and evidence
	 * are never among them; "value[]" is the interval of the column "value". NULL: it wraps
	 * instead. */
	const char *spare;
	/* The collectors that its figures are made from, "perf cpu workload": a loss of another one
	 * does not concern them. NULL: any may. */
	const char *collectors;
	unsigned int flags;
	/* What --by turns it into; by_key NULL: with any key. */
	const struct measure *by;
	const char *by_key;
	int (*run)(struct store *, const struct query *, struct table *, struct error *);
};
#define MEASURE_COLUMNS(list) .columns = list, .ncolumns = (int)array_size(list)

const struct measure *measure_find(const char *name); /* or NULL */
const struct measure *measure_at(size_t i);	      /* NULL past the last */
/* The measure itself, or what the query's --by turns it into. */
const struct measure *measure_by(const struct measure *m, const struct query *q);

/* Fills `t` (initialised here, freed by the caller also after an error). */
int measure_run(const char *name, struct store *store, const struct query *q, struct table *t,
		struct error *err);

#endif
