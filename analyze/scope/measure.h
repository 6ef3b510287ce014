/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A measure fills one table from the store (or from bare files that the query carries). A new table
 * is one file with its `const struct measure`, its row in analyze/figures/tables.c, and a test.
 */
#ifndef ZC_MEASURE_H
#define ZC_MEASURE_H

#include "analyze/model/notes.h"
#include "analyze/scope/query.h"
#include "analyze/store/store.h"
#include "lib/alloc.h"
#include "lib/table.h"

/* The input of a table: a capture, a bare perf.data, a text file or numbers on the command line. */
enum data_source { SOURCE_CAPTURE, SOURCE_PERF, SOURCE_TEXT, SOURCE_NUMBERS, SOURCES };

/* Options that several tables share. analyze/commands/options_table.c defines each option. */
#define OPT_SLICE     "from to jobs "
#define OPT_RUNS      "variant side run estimator " OPT_SLICE
#define OPT_SAMPLES   "cpu comm event "
#define OPT_MODEL     "power-model power-kind "
#define OPT_RECORDING OPT_SLICE "kallsyms vmlinux inline symfs buildid-dir "
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
	 * are never in this list. "value[]" is the interval of the column "value". NULL means that
	 * the table wraps instead.
	 */
	const char *spare;
	/*
	 * The collectors that the figures depend on, such as "perf cpu workload". The table
	 * ignores losses of other collectors. NULL means every collector.
	 */
	const char *collectors;
	unsigned int flags;
	/* The table that --by selects instead. NULL in by_key means any key. */
	const struct measure *by;
	const char *by_key;
	int (*run)(struct store *, const struct query *, struct table *, struct error *);
};
/* Reasons that several tables and charts share. */
#define WHOLE_CPUS  "the kernel counts these for a CPU, whatever process it serves"
#define WHOLE_IDLE  "an idle state is that of a CPU, and no process runs in it"
#define WHOLE_POWER "power is that of the host, and no meter divides it among processes"
#define WHOLE_NAMESPACE \
	"the kernel counts for a network namespace; 'zcost report tcp' has the workload's sockets"
#define WHOLE_FACTS	      "it describes runs and hosts, not processes"
#define MEASURE_COLUMNS(list) .columns = list, .ncolumns = (int)array_size(list)

#endif
