/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A measure fills one table from the store (or from bare files that the query carries). A new table
 * is one file with its `const struct measure`, its row in analyze/figures/tables.c, and a test.
 */
#ifndef ZC_MEASURE_H
#define ZC_MEASURE_H

#include "analyze/model/notes.h"
#include "analyze/store/store.h"
#include "lib/table.h"

/* --- what a command asks of a table: which runs, samples and rows, and in what units --- */

struct profile;	     /* analyze/model/profile.h */
struct flat;	     /* the text of perf report, analyze/texts/text.h */
struct trace;	     /* the text of perf trace -s, analyze/texts/text.h */
struct perf_stat;    /* what perf stat printed, analyze/texts/text.h */
struct ethtool_text; /* what ethtool -S printed, analyze/texts/text.h */
struct tracepoints;  /* the tracepoints of a perf.data, analyze/perfdata/tracepoints.h */

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
	bool total; /* only rows of SIDE_TOTAL, which are made from all sides */
	int repeat;
	/* which samples */
	const char *comm, *dso, *symbol; /* names or globs: which rows; shares stay of the whole */
	const char *name;		 /* name or glob: which series */
	const char *drawn; /* globs of the series that a chart draws, by blanks; NULL: all */
	int parts;	   /* a longer series becomes so many means with ranges; 0: every point */
	const char *event; /* without one, the first that has samples */
	const struct cpuset *cpus; /* --cpu; NULL: all */
	bool workload_only;	   /* the CPU time and the samples of the workload's processes */
	/* how to print */
	const char *setting; /* a setting of the plan; NULL: all */
	const char *by;	     /* comma-separated keys, of tally.c, and variant side */
	bool children;	     /* also the cost of rows with what they call, where that is left out */
	long limit;	     /* rows; 0: the table's own default */
	bool all;	     /* --all: every row, unresolved addresses one by one */
	bool figures_only;   /* the caller shows no title and, of summary and zerocopy, no cost of
				copying, for which they read all profiles; of runs, it shows only
				the columns up to the CPUs */
	const char **groups; /* --group, as given */
	size_t ngroups;
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

/* --- a table --- */

struct block_table; /* scope.h */

/* The input of a table: a capture, a bare perf.data, a text file or numbers on the command line. */
enum data_source { SOURCE_CAPTURE, SOURCE_PERF, SOURCE_TEXT, SOURCE_NUMBERS, SOURCES };

/* Options that several tables share. analyze/commands/options_table.c defines each option. */
#define OPT_SLICE     "from to jobs "
#define OPT_RUNS      "variant side run estimator " OPT_SLICE
#define OPT_SAMPLES   "cpu comm event "
#define OPT_MODEL     "power-model power-kind "
#define OPT_RECORDING OPT_SLICE "kallsyms vmlinux inline addresses symfs buildid-dir "
#define OPT_DONE      "rate units seconds busy-ns cycles instructions "

/* The side of a row that adds up all sides. --side takes it where a table has such rows. */
#define SIDE_TOTAL "total"

enum measure_flags {
	MEASURE_COSTS = 1,	 /* the figures are costs of code from profiles */
	MEASURE_TRACEPOINTS = 2, /* reads the tracepoints of a perf.data, not its profile */
	MEASURE_FUNCTION = 4,	 /* the argument after the table's name is a function */
	MEASURE_RATES = 8,	 /* --rate may list several rates */
	MEASURE_TOTAL = 16,	 /* has rows of the side SIDE_TOTAL */
	MEASURE_FACTS = 32,	 /* describes runs and hosts, and has no figure of CPU time */
	MEASURE_BASE = 128,	 /* needs the base variant, also where --variant leaves it out */
	MEASURE_UNTITLED = 64,	 /* its title does not say which variant was not zero copy */
};

/* A table. One file defines the table and the list in tables.c names the table. */
struct measure {
	const char *name, *what;
	const struct column *columns;
	int ncolumns;
	/*
	 * The options that the table accepts for each source, such as "variant side run". NULL
	 * means that the table cannot read the source. The list includes options that the table
	 * itself rejects with a better message.
	 */
	const char *options[SOURCES];
	/*
	 * Why no figure is of the workload's processes alone, for the refusal of --workload-only.
	 * NULL: the table takes the option.
	 */
	const char *whole;
	/*
	 * Columns that a narrow terminal leaves out, the least important first. Costs and evidence
	 * are never in this list. NULL means that the table wraps instead.
	 */
	const char *spare;
	/*
	 * The collectors that the figures depend on, such as "perf cpu workload". The table
	 * ignores losses of other collectors. NULL means every collector.
	 */
	const char *collectors;
	unsigned int flags;
	const struct measure *by; /* the table that --by selects instead */
	const char *keys;	  /* the keys of --by, by blanks; NULL: `run` checks them */
	/*
	 * A table of a capture with rows for each block has `block`, which adds those of one, and
	 * maybe `notes`, which adds the notes of the whole table, and `how`, a note on its rows, or
	 * "". With `how` alone, a table without rows says why. `run` makes any other table.
	 */
	int (*block)(struct block_table *, struct error *);
	void (*notes)(struct block_table *);
	const char *how;
	int (*run)(struct store *, const struct query *, struct table *, struct error *);
};
/* Says in a note what the time of a system call is. */
#define SYSCALLS_TIMES \
	"a call's time runs from its entry to its return and includes waiting: it is not CPU time"

/* Reasons that several tables and charts share. */
#define WHOLE_CPUS  "the kernel counts these for a CPU, whatever process it serves"
#define WHOLE_IDLE  "an idle state is that of a CPU, and no process runs in it"
#define WHOLE_POWER "power is that of the host, and no meter divides it among processes"
#define WHOLE_NAMESPACE \
	"the kernel counts for a network namespace; 'zcost report tcp' has the workload's sockets"
#define WHOLE_FACTS	      "it describes runs and hosts, not processes"
#define MEASURE_COLUMNS(list) .columns = list, .ncolumns = (int)array_size(list)

#endif
