/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A workload's own account of its work: how much was done by when. The host half asks whether a run
 * did any work, and the laptop half divides costs by it. Both read it through the same adapters, so
 * they cannot disagree.
 */
#ifndef ZC_WORKLOAD_H
#define ZC_WORKLOAD_H

#include "lib/error.h"
#include "workload/units.h"

#include <stddef.h>
#include <stdint.h>

#define WORK_OF_UNIT(id, unit, units) WORK_##id##S,
enum work { WORK_BYTES, WORK_UNITS(WORK_OF_UNIT) WORK_N };

/* Cumulative points. */
struct points {
	struct point {
		uint64_t t_ns; /* CLOCK_MONOTONIC */
		double n[WORK_N];
	} * p;
	size_t n, cap;
	bool has[WORK_N];
	size_t backwards; /* points that were left out: time or a count went back, or the count
			     is not finite */
};

void points_add(struct points *ps, const struct point *p);

/* What an adapter finds. */
struct account {
	struct points points;
	char *error;   /* the error that ended the workload, in its own words; NULL: none */
	size_t rates;  /* printed rates that share the command's time; 0: the points are dated */
	double late_s; /* how far the times of the points may be wrong; NAN: exact */
	double retransmits; /* TCP segments in the whole run; NAN: the workload does not count them
			     */
	bool udp;
	bool summary; /* the output has a summary as tcpzc's */
};

void account_free(struct account *a);

/* A run's folder, and what its run.json says of the command. */
struct workload_run {
	const char *dir;
	uint64_t started_ns, ended_ns; /* CLOCK_MONOTONIC */
	double wall_clock;	       /* seconds since 1970 at started_ns; 0: unknown */
};

/* An adapter: a const struct in a file of this folder, and one row of the list in adapters.c. */
struct adapter {
	const char *name;
	const char *argument;  /* its name in messages; NULL: the adapter takes none */
	const char *file;      /* the raw file that it reads; NULL: workload.out */
	const char *collector; /* what writes `file`; NULL: the workload */
	bool summary; /* workload.out ends with a summary as tcpzc's: docs/reference/tcpzc.md */
	const struct line_pattern
		*lines;	       /* the patterns of a program that prints rates (lines.c) */
	const char *lines_end; /* the text behind it is left out; NULL: none is */
	bool of_sockets;       /* its bytes are those that the workload's TCP sockets receive */

	/* Refuses a wrong argument before any run is made. NULL: any argument will do. */
	int (*check)(const char *arg, struct error *err);
	/* Fills the account. NULL: the adapter reads nothing. Returns 0, or -errno with the reason.
	 */
	int (*read)(const struct adapter *is, const struct workload_run *run, const char *arg,
		    struct account *a, struct error *err);
	/* Fills the account from workload.out, where `read` is workload_read_text(). */
	int (*parse)(const struct workload_run *run, char *text, struct account *a,
		     struct error *err);
};

/* Returns the adapter that the text NAME or NAME:ARG names, or NULL. */
const struct adapter *adapter_find(const char *units);

/* Checks `units`. Returns -EINVAL with the list of adapters when there is no such adapter. */
int units_check(const char *units, struct error *err);

/* Reads a run through the adapter that `units` names. The caller calls account_free(). */
int account_read(const struct workload_run *run, const char *units, struct account *a,
		 struct error *err);

/* Returns whether the account has any work in it. */
bool account_has_work(const struct account *a);

/* --- latency --- */

enum { LATENCIES = 9 }; /* percentiles of the latency of requests; the last is the maximum */

/* Returns "p50", "p99.9" or "max". */
const char *latency_name(size_t i);

/*
 * Fills the latency of requests in us at each percentile that the workload prints, over its whole
 * run, else NAN. Returns whether it prints any.
 */
bool latency_read(const struct workload_run *run, const char *units, double us[LATENCIES]);

/* --- what a workload says of itself when it fails --- */

/* Copies the text of another program as plain ASCII, cut to `most` bytes. The caller frees. */
char *text_clean(const char *s, size_t most);

/*
 * Returns the first line of a file, or the last line that may be a reason, as plain ASCII. NULL:
 * the file has no such line. The caller frees.
 */
char *line_of_file(const char *path, bool first);

/*
 * Returns the error that ended the workload, in its own words and in plain ASCII: the one that its
 * adapter finds, or the last line of its standard error, or of its output. NULL: it printed none.
 */
char *workload_words(const struct workload_run *run, const char *units);

/*
 * Returns why a workload did no work: its adapter finds an error, or no work. NULL: it did some
 * work, or nothing says that it did none. A workload that is stopped at the end of the window has
 * no exit status that tells.
 */
char *workload_undone(const struct workload_run *run, const char *units);

/*
 * Returns why the account of a workload that did some work is incomplete: it lacks its summary, or
 * it ends before the window does, by more than the analysis accepts without a doubt. NULL: it is
 * complete, or it is not the workload's own. Times are CLOCK_MONOTONIC ns.
 */
char *workload_cut_off(const struct workload_run *run, const char *units, uint64_t start_ns,
		       uint64_t end_ns);

/* --- for adapters --- */

/* A larger output is refused: it would fill the memory of its reader. */
#define WORKLOAD_TEXT_MOST ((size_t)1 << 30)

/* Reads a file of the run. The caller frees it. */
int workload_text(const struct workload_run *run, const char *file, char **text, struct error *err);

/* Reads workload.out and has the adapter's parse() fill the account. */
int workload_read_text(const struct adapter *is, const struct workload_run *run, const char *arg,
		       struct account *a, struct error *err);

struct snaps;

/* Reads the snapshots of a collector. A damaged tail is left out. The caller calls snaps_free(). */
int workload_snaps(const struct workload_run *run, const char *file, struct snaps *snaps,
		   struct error *err);

/* Returns what stands behind the line start "KEY=", up to the text's end, or NULL. */
const char *workload_value(const char *text, const char *key);

/*
 * Adds the points of one rate from one time to another. Over the command's whole time, the account
 * says that the rate is the command's mean.
 */
void account_add_rate(struct account *a, const struct workload_run *run, enum work w, double rate,
		      uint64_t from, uint64_t to);

/*
 * Converts a number that a text contains. A negative number becomes 0, and a number that no clock
 * can show becomes INT64_MAX.
 */
uint64_t workload_ns(double ns);

/* Converts seconds since 1970. `run` has a wall clock. */
uint64_t workload_mono_ns(const struct workload_run *run, double seconds);

#endif
