/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options of report, compare, plot and export. options_table.c has a row for each: name,
 * argument, help and parser. A feature (table, chart, format) names the options it takes; a command
 * offers what its features take and refuses an option that means nothing for the feature asked for:
 * an option that is ignored in silence gives figures that look like an answer.
 */
#ifndef ZC_OPTIONS_H
#define ZC_OPTIONS_H

#include "analyze/texts/text.h"
#include "analyze/figures/tables.h"
#include "analyze/model/profile.h"

#include <argp.h>

struct option_row;
struct options;

/* An option of the command line. */
struct option_given {
	const struct argp_state *state;
	const struct option_row *row;
	void *to; /* the arguments of the command */
	char *arg;
};

/* Stores the option in the command's arguments. Ends with a usage error if it is wrong. */
typedef void option_parser(const struct option_given *g);

/* The groups of --help, in its order; options.c has their headings. */
enum option_group {
	GROUP_NONE,
	GROUP_RUNS,
	GROUP_SAMPLES,
	GROUP_RECORDING,
	GROUP_TEXTS,
	GROUP_ROWS,
	GROUP_WORK,
	GROUP_SCORES,
	GROUP_OUTPUT = 9,
	OPTION_GROUPS
};

struct option_row {
	const char *name;
	int key;	 /* a letter, or 0 */
	const char *arg; /* NULL where it takes none */
	enum option_group group;
	const char *help;
	option_parser *parse;
	size_t at; /* where in the arguments, for parsers that store one member */
	const char
		*of_capture; /* what to type for a capture, where the option is refused; or NULL */
	/* Of a file instead of a capture: reads it. */
	int (*read)(struct options *o, struct error *err);
};

/* A row; behind its parser any other members. */
#define OPTION(row_name, row_arg, row_group, row_help, parser, ...)                     \
	{                                                                               \
		.name = row_name, .arg = row_arg, .group = row_group, .help = row_help, \
		.parse = parser, __VA_ARGS__                                            \
	}

extern const struct option_row option_table[]; /* ended by a row without a name */

#define WORKLOAD_ONLY "workload-only"

/* What a command knows of one of its features. */
struct feature {
	const char *name, *what;
	const char *const *options; /* by source, as in struct measure */
	const char *whole;	    /* likewise; NULL: none */
};

struct command {
	struct argp argp;	      /* without options; its parser gets arguments and the end */
	const char *sources[SOURCES]; /* "a capture", for messages */
	const char *heading;	      /* the heading of the features in --help, such as "Tables:" */
	struct feature (*feature)(size_t i); /* the name is NULL past the last */
	const char *offers;		     /* options of the table that no feature names */
	/* Its own options, ended by a row without a name. A row with the name of the table takes
	 * from it what is 0 here. */
	const struct option_row *own;
};

enum { OPTIONS_MAX = 80, RATES_MAX = 16 };

/* What the options say. A command's own arguments begin with it. */
struct options {
	struct query q;
	const struct option_row *input; /* the file instead of a capture; NULL: none */
	const char *path;		/* its name; "-": standard input */
	int inputs;			/* number of such options on the command line */
	const char *kallsyms, *vmlinux, *symfs, *buildid_dir; /* what explains a perf.data */
	bool inlines, addresses;
	unsigned int read_flags; /* the flags of the measure that a perf.data is read for */
	struct time_slice slice; /* the part of the file, or of the windows of a capture (open.h) */
	unsigned int jobs;	 /* threads that read it; 0: the default */
	/* what q points to */
	double rates[RATES_MAX];
	struct cpuset cpus;
	char *run; /* --run, taken apart */
	struct profile profile;
	struct flat flat;
	struct trace trace;
	struct perf_stat stat;
	struct ethtool_text ethtool;
	/* the parser's */
	const struct command *command;
	struct option_row rows[OPTIONS_MAX];
	int nrows;
	bool given[OPTIONS_MAX];
};

/* Parses the command line; ends the process at --help and usage errors. */
void options_parse(struct options *o, const struct command *c, int argc, char **argv);
void options_free(struct options *o);

/* Returns the source of the figures: the capture, the file, or numbers. */
enum data_source options_source(const struct options *o, const char *capture);

/* Ends with a usage error if the feature, for example a "table", cannot read this source. */
void options_check_source(const struct argp_state *state, const struct options *o, const char *kind,
			  const struct feature *f, enum data_source source);

/*
 * Ends with a usage error if the command line has an option that none of the n features accepts.
 * Features that cannot read the source do not count.
 */
void options_check(const struct argp_state *state, const struct options *o,
		   const struct feature *features, size_t n, enum data_source source);

/*
 * Returns an option that selects samples, is on the command line and means nothing for the feature,
 * or NULL.
 */
const char *options_untaken(const struct options *o, const struct feature *f,
			    enum data_source source);

/* Makes later checks ignore the option. */
void options_ignore(struct options *o, const char *name);

/* Prints the features for the end of --help, each with what it is. */
void options_help_features(struct str *s, const struct command *c);
/* "summary runs ..."; the caller frees. */
char *options_feature_names(const struct command *c);

/* Returns whether the path is a capture, and no perf.data and no text. */
bool options_is_capture(const char *path);

/* Ends with a usage error about a name that is no feature, for example no "table". */
void options_refuse_name(const struct argp_state *state, const struct command *c, const char *kind,
			 const char *name);

/* Opens the capture, or makes a store of its part between --from and --to, then of the variant
 * alone, or of all where it is NULL. */
int options_open_capture(const struct options *o, const char *capture, const char *variant,
			 struct store **store, struct error *err);
/* Reads the file into q. */
int options_read_input(struct options *o, struct error *err);
/* Makes the perf.data the input, as --perf does. */
void options_set_perf(struct options *o, const char *path);

/* Parsers that a command uses for its own options. */
option_parser option_text, option_flag;

#endif
