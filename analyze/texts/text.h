/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads text that people saved or pasted from a terminal, a browser or a slide. The reader cleans
 * lines in place: it removes carriage returns, colors and <pre> tags, and turns U+00A0 and similar
 * characters into spaces. Numbers may have a decimal point or a decimal comma.
 */
#ifndef ZC_TEXT_H
#define ZC_TEXT_H

#include "analyze/model/rows.h"
#include "lib/alloc.h"
#include "lib/error.h"

struct text {
	const char *name; /* file name for messages, which print "-" as "standard input" */
	char *at;	  /* the unread text; NULL after the last line */
	unsigned line;	  /* number of the line last returned, from 1 */
	char *file;	  /* the contents of the file; NULL: the caller owns the text */
	struct error *err;
};

/*
 * Opens a text. `data` is NUL-terminated, and the reader changes it. If `data` is NULL, reads the
 * file `name` ("-" is standard input). Refuses an empty text and a text with NUL bytes. The caller
 * calls text_close, also after an error.
 */
int text_open(struct text *t, const char *name, char *data, size_t len, struct error *err);
void text_close(struct text *t);
char *text_next(struct text *t); /* returns NULL at the end; valid until text_close */
const char *text_name(const struct text *t);

/* Fills the error with the file, the line and `what`. Returns -EBADMSG. */
int text_bad(const struct text *t, const char *what);

/*
 * Parses a number such as "12.5", "12,5" or "1." at *p and moves *p past it. Returns false and
 * leaves *p if there is no number. The number is never negative.
 */
bool text_number(const char **p, double *value);
bool text_count(const char **p, uint64_t *value); /* digits that end at a word's end */

/* Parse a number that is the whole of `s`. */
bool text_is_number(const char *s, double *value);
bool text_is_count(const char *s, uint64_t *value);

char *text_skip(const char *p); /* skips spaces and tabs */

/*
 * Cuts `s` in place into at most `max` fields. Cuts at tabs or two spaces and more (`wide`), or at
 * any white space. The last field takes the rest. Returns the number of fields.
 */
size_t text_fields(char *s, bool wide, char **fields, size_t max);

/*
 * The marks of numbers in a text of unknown locale: which of '.' and ',' is the decimal mark, and
 * which groups thousands. The text decides: "1.208.000.453", "0,373027705" and "12.5 %" have one
 * reading each, but "1,234" has two. So the reader inspects the whole text before it parses
 * numbers.
 */

struct marks {
	char decimal;	      /* '.' or ','; 0 if no number decides */
	unsigned line, other; /* first line that decides; first line that contradicts, or 0 */
};

/* Replaces U+00A0, U+2007, U+2009 and U+202F between groups of digits by an apostrophe, in place.
 */
void marks_keep_groups(char *data);

void marks_learn(struct marks *m, const char *s, unsigned line);

/*
 * Parses a number at *p and moves *p past it. Returns false and leaves *p if there is no number.
 * If `count` is true, the number is a whole number, and "1,234" is 1234 if the text does not
 * decide. The number is never negative.
 */
bool marks_number(const struct marks *m, const char **p, bool count, double *value);

/*
 * --- the texts of other tools ---
 *
 * Each function parses a text and changes `data`, or reads the file `name` if `data` is NULL; "-"
 * is standard input. On error the result is empty. An -EBADMSG error names file and line.
 */

/*
 * --- perf_report.c ---
 *
 * Reads the text of `perf report --stdio` or of perf top, and copies of the TUI in mails and
 * slides. A row has one or two percentages, any further columns, and a symbol with its level mark
 * ([k], [.]). The heading line names the columns. Without a heading, the reader infers the
 * columns. The reader skips call graphs, comments and prose. The reader uses one table of a text:
 * the first table, or the table of the requested event. `tables` is the number of tables. The
 * reader refuses a text without a table of shares, such as the text of perf diff.
 */

struct flat_row {
	const char *symbol;
	const char *dso, *comm; /* NULL if the text has no such column */
	char level;		/* k kernel, . user, g u H guest and hypervisor; 0 if unmarked */
	double self, total;	/* percent; NAN if the text lacks it */
	int64_t samples;	/* -1 if the text lacks it */
	unsigned line;
};

struct flat {
	struct flat_row *rows; /* in the text's order */
	size_t n, cap;
	bool has_self, has_total, has_samples, has_dso, has_comm;
	const char *event;  /* NULL if not stated */
	const char *events; /* all events with a table, "cycles, instructions"; or NULL */
	double event_count; /* sum of the periods; NAN if not stated */
	double samples;	    /* NAN if not stated; "119K" is 119000 and sets `samples_rounded` */
	int64_t lost;	    /* "Total Lost Samples"; -1 if not stated */
	unsigned tables;    /* number of tables; the reader uses one */
	unsigned unmarked;  /* skipped lines with a share but no level mark (call chains) */
	bool samples_rounded;
	struct arena strings; /* owns all strings above */
};

/* `event` selects a table, and NULL selects the first table. */
int perf_report_parse(const char *name, char *data, size_t len, const char *event,
		      struct flat *flat, struct error *err);
void flat_free(struct flat *flat);

/*
 * --- perf_stat.c ---
 *
 * Reads the output of `perf stat`: its text in any locale, and `-x,`. The reader ignores perf's
 * comments ("# 2.01 insn per cycle"), because zcost computes such figures from the counts.
 */

enum stat_state { STAT_COUNTED, STAT_NOT_COUNTED, STAT_NOT_SUPPORTED };

struct stat_counter {
	const char *event; /* as perf printed it, with its modifiers: "cycles:k" */
	const char *unit;  /* "msec", "Joules"; NULL for a plain count */
	enum stat_state state;
	double value;	    /* scaled by perf if events shared counters; NAN if not counted */
	double error_pct;   /* -r: standard error in percent of the mean; NAN if not stated */
	double running_pct; /* share of the time in which it counted; NAN if not stated */
};

struct perf_stat {
	struct stat_counter *counters; /* in the text's order */
	size_t n, cap;
	double elapsed_s, user_s, system_s; /* NAN if not stated */
	double elapsed_pct;		    /* standard error in percent, as error_pct */
	unsigned runs;			    /* runs of -r; 0 if not stated */
	unsigned blocks; /* number of "Performance counter stats for"; only the first block is read
			  */
	struct arena strings;
};

int perf_stat_parse(const char *name, char *data, size_t len, struct perf_stat *st,
		    struct error *err);
void perf_stat_free(struct perf_stat *st);

/*
 * --- perf_trace.c ---
 *
 * Reads the text of `perf trace -s`. Each thread has a heading "comm (tid), N events, P%" and a
 * table: syscall, calls, errors, total, min, avg, max (ms), stddev (%: 100 x standard error of the
 * mean / mean).
 */

struct trace {
	struct syscall_row *rows; /* in the text's order; comm is "" and tid 0 where not named */
	size_t n, cap;
	struct arena strings;
};

int perf_trace_parse(const char *name, char *data, size_t len, struct trace *trace,
		     struct error *err);
void trace_free(struct trace *trace);

/*
 * --- ethtool_text.c ---
 *
 * Reads the output of `ethtool -S` or of the script ethtool_stats.pl. ethtool -S prints totals:
 * two of its outputs in one file, and the seconds between the outputs, give a rate. The script
 * prints rates repeatedly, and the reader computes the mean of each rate.
 */

struct ethtool_row {
	const char *interface; /* NULL if the text does not name it */
	const char *name;
	uint64_t first, last; /* totals in the first and the last output of -S */
	unsigned int seen;    /* number of outputs with this row */
	bool ended;	      /* the last output has this row */
	double sum;	      /* sum of the rates */
};

struct ethtool_text {
	struct ethtool_row *rows; /* in the text's order */
	size_t n, cap;
	unsigned int outputs; /* outputs of -S, or rounds of the script */
	bool rates;	      /* the text is from the script */
	struct arena arena;
};

int ethtool_text_parse(const char *name, char *data, size_t len, struct ethtool_text *e,
		       struct error *err);
void ethtool_text_free(struct ethtool_text *e);

#endif
