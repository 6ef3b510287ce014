/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The raw files of one side of one run, read into memory. The analysis writes the result to the
 * store. A parser that finds its file damaged adds what it could read and a note of severity LOSSY;
 * it never stops the others. Strings belong to the arena.
 */
#ifndef ZC_INGEST_H
#define ZC_INGEST_H

#include "analyze/model/notes.h"
#include "analyze/model/profile.h"
#include "analyze/model/rows.h"

#include <math.h>

struct tsv; /* tsv.h */

/* The CSV of an external meter, from the options of analyze. */
struct meter {
	const char *path; /* without a path, the members below describe the logs in the capture */
	bool in_capture;  /* the path is inside the capture: opens no FIFO, no device */
	const char *side; /* only runs of this side; NULL: all */
	const char *kind; /* a kind of power.h; without one, wall */
	double offset_s;  /* added to every time */
};

/* How to read runs. All zero: whole windows, one thread per CPU, no inlined functions. */
struct ingest_options {
	const struct meter *meters;
	size_t nmeters;
	unsigned int threads;	      /* that may read one file at once; 0: one per CPU */
	struct time_slice slice;      /* the part of each run's window, from its start; see below */
	bool inlines;		      /* inlined functions are frames of their own */
	const char *units;	      /* lines SIDE=ADAPTER, or =ADAPTER; NULL: run.json says */
	struct symbol_cache *symbols; /* shared by all runs */
};

struct ingest_series {
	const char *name;
	uint64_t t_ns;
	double value;
};

/* Mean watts of one domain of a source of power (power.h). */
struct ingest_power {
	const char *kind, *source, *domain;
	const char *how; /* how it was modelled; NULL where it was measured */
	double watts;	 /* NAN: it does not cover the window */
};

struct ingest {
	const char *dir, *host_dir; /* the run's side, its host's folder or NULL */
	struct run run;		    /* start_ns, end_ns: the window; 0, 0: there is none */
	bool sliced;		    /* that is a part of the window that was measured */
	const char *units;	    /* adapter of workload.out */
	uint64_t started_ns, ended_ns;
	uint32_t *pids; /* the workload's processes, from run.json */
	size_t npids, pids_cap;
	const char *named; /* names of programs that zcost did not start; NULL: none */
	bool unmatched;	   /* no process had one of these names */
	double wall_clock; /* seconds since 1970 at started_ns; 0: unknown */
	struct cpuset cpus;
	bool has_cpus;	     /* false: every CPU */
	bool workload_whole; /* threads_seen has all that the workload ran in the window */
	struct ingest_options how;

	struct collector_row *collectors;
	struct ingest_file {
		const char *collector, *name;
	} * files;
	struct metric_row *metrics;
	struct fact_row *facts;
	struct notes notes;
	struct ingest_series *series;
	struct syscall_row *syscalls;
	struct ingest_power *power;
	struct socket_row *sockets;
	struct thread_row *threads_seen;
	struct map thread_index; /* pid << 32 | tid: its place + 1 */
	double one_count_s; /* the workload gave one count for so long, longer than the window */
	struct profile *profile; /* NULL where there are no samples */
	struct exact *exact;	 /* the frame (perfdata.h), or NULL */
	const char **absent;	 /* what has no figure in a slice: collectors */
	size_t ncollectors, collectors_cap, nfiles, files_cap, nmetrics, metrics_cap, nfacts,
		facts_cap, nseries, series_cap, nsyscalls, syscalls_cap, npower, power_cap,
		nthreads_seen, threads_seen_cap, nabsent, absent_cap, nsockets, sockets_cap;
	struct intern series_names;
	struct error broken; /* a raw file that could not be read to its end, after some figures */
	struct arena arena;
};

/* Reads run.json of `dir` and, unless the run failed, every file that it names. */
int ingest_run(struct ingest *in, const char *dir, const char *hosts_dir,
	       const struct ingest_options *how, struct error *err);
void ingest_free(struct ingest *in);

/* Reads run.json alone (run_json.c). */
int ingest_run_json(struct ingest *in, const char *path, struct error *err);

/* --- for the parsers --- */

/* Adds a metric of the run. A value that is not finite adds none. */
void ingest_metric(struct ingest *in, const char *name, const char *unit, double value);
/* Adds a metric of an object, of a CPU, or of both. Copies the texts of the key. */
void ingest_metric_of(struct ingest *in, const char *name, const char *object, int cpu,
		      const char *unit, double value);
/* Adds a fact of the run: a value that is a word, or the name of a setting. Copies both texts. */
void ingest_fact(struct ingest *in, const char *name, const char *value);
/* Adds a metric with a source, of an object or of none. */
void ingest_metric_row(struct ingest *in, const struct metric_row *m);
/* Returns the metric that a parser has added, of an object or of none (NULL); or NAN. */
double ingest_find_metric(const struct ingest *in, const char *name, const char *object);
/* Adds a point of a series. Copies the name. */
void ingest_point(struct ingest *in, const char *series, uint64_t t_ns, double value);
bool ingest_has_cpu(const struct ingest *in, unsigned int cpu);
/*
 * Returns the row of a thread, and adds it if it is new. The pointer is valid until the next call.
 * schema.sql describes tid 0 and pid 0.
 */
struct thread_row *ingest_thread(struct ingest *in, int64_t pid, int64_t tid);
/* Records that a reading at t_ns saw the thread, under this name. */
void thread_seen(struct ingest *in, struct thread_row *row, const char *comm, uint64_t t_ns);
/* Adds to a figure that is NAN while nothing is known. */
static inline void figure_add(double *to, double by)
{
	if (!isnan(by))
		*to = (isnan(*to) ? 0 : *to) + by;
}

/*
 * Returns the seconds of the window that a source with readings in [from, to] covers; rates are
 * per these seconds. Below 90 % it returns 0 and adds a lossy note, so that the figure stays
 * absent. Below 99 % it adds a note, which is lossy below 95 %. *from and *to are cut to the
 * window.
 */
double ingest_cover(struct ingest *in, const char *what, uint64_t *from, uint64_t *to);

/* How to read the snapshots of a .snap file. */
struct snap_reader {
	const char *what;  /* the collector */
	const char *cover; /* names the readings in a note on the window; NULL: no check */
	bool skip_early;   /* reads none before the window but the last one */
	size_t size;	   /* bytes of `sums`, which begins as zeros */
	/* Reads a snapshot. before_ns is 0 at the first one. Returns the unreadable lines. */
	size_t (*reading)(struct ingest *in, void *sums, char *text, uint64_t before_ns,
			  uint64_t t_ns);
	/* Adds the figures. covered_s is 0 where the readings do not cover the window. */
	void (*finish)(struct ingest *in, void *sums, double covered_s);
	void (*release)(void *sums);
};

/*
 * A parser of raw files. Each collector's file has one parser, in one source file, with one row in
 * the list in ingest.c.
 */
struct parser {
	const char *files[5]; /* names in a run's folder; ends with NULL */
	/*
	 * The rows carry times, or count nothing: the file is read for any slice of the window. A
	 * .snap file is read where its readings are close enough to the slice. Any other file is a
	 * total of the whole window.
	 */
	bool timed;
	bool last; /* reads its file after the other parsers, because it uses their metrics */
	/* What reads the file: `rows`, `read` or `snaps`. Each returns 0, or -errno with the text
	 * of a lossy note. */
	int (*read)(struct ingest *in, const char *path, struct error *err);
	struct snap_reader snaps;
	/* Reads a table with these columns, "cpu pid ns", and counts what it cannot use in t->bad.
	 */
	int (*rows)(struct ingest *in, struct tsv *t, struct error *err);
	const char *collector, *columns;
};

/* Returns the parser of the raw file of that name, or NULL. */
const struct parser *parser_find(const char *file);
int parser_read(const struct parser *p, struct ingest *in, const char *path, struct error *err);

/* Reads clock.json, where the side ran on another host. */
void ingest_clock(struct ingest *in);
/* Adds the user time of other programs, after proc_stat and threads (proc_stat.c). */
void ingest_others(struct ingest *in);

/* Makes a profile of the exact times of a run without samples (probes/frame). */
void ingest_fill_profile(struct ingest *in);
/* Returns the idle time of each CPU in ns, after proc_stat. NAN: not known. The caller frees it. */
double *ingest_idle_ns(const struct ingest *in);
/* Compares the samples with the busy time of the CPUs, after perf and proc_stat (coverage.c). */
void ingest_coverage(struct ingest *in);
/*
 * Fills a meter's mean power in the window. NAN, with a note: the meter does not cover the window.
 */
int ingest_meter(struct ingest *in, const struct meter *meter, double *watts, struct error *err);
/*
 * Adds the power of all meters of this run: those of the options, or power.csv in its folder.
 */
void ingest_meters(struct ingest *in);

/* --- workload/: the workload's account of its work (workload/workload.h), over the window --- */

/* Replaces the units of run.json by those of in->how.units for the run's side. */
void workload_set_units(struct ingest *in);

/* Returns the raw file that the adapter in in->units reads, or NULL: the run has none to read. */
const char *workload_file(const struct ingest *in);

/* Reads the file through the adapter that in->units names. `path` is its name in messages. */
int ingest_workload(struct ingest *in, const char *path, struct error *err);
/* Sets the rate in the window from the sockets' bytes where the workload printed a single count. */
void ingest_rate_in_window(struct ingest *in);
/* Adds a note where most connections opened and closed unseen, between two readings of sockets. */
void ingest_check_sockets(struct ingest *in);

/* Reads the lines of tcpzc's output, cut up in place, for its summary (workload/tcpzc_summary.c).
 */
void ingest_summary(struct ingest *in, char *text);

/* Returns the path of the run's kernel symbols, or of its host's, or NULL. The caller frees it. */
char *ingest_kallsyms(const struct ingest *in);

/*
 * --- slices ---
 *
 * A slice of each run's window: --from and --to of a capture. The window is narrowed before the
 * raw files are read, so that every figure is over exactly this interval. A total of the whole
 * window, or readings that are too far apart, give no figure: a note names them, and they are
 * never scaled.
 */
/* Narrows in->run's window to in->how.slice. -ERANGE: the window ends before the slice begins. */
int window_narrow(struct ingest *in, struct error *err);

/* Notes that the collector `what` has no figure in the slice, and why. */
void window_absent(struct ingest *in, const char *what, const char *why);

/*
 * Returns whether n sorted readings resolve the slice, and notes it if they do not. The time in ns
 * is the first member of each reading, which has `size` bytes.
 * Counters are taken to move evenly between two readings: the slice's ends must lie near readings,
 * or several readings inside it. Always true for a whole window.
 */
bool window_resolves(struct ingest *in, const char *what, const void *first, size_t n, size_t size);

/* The same for the readings of a .snap file; true also if it cannot be read. */
bool window_resolves_snaps(struct ingest *in, const char *what, const char *path);

/* Drops the points of series outside the slice. */
void window_cut_series(struct ingest *in);

/* --- host.c: a host of a capture, from hosts/<host>/: host.json and nic/ --- */

struct host {
	struct host_row row;
	struct topology_row *places;
	struct fact_row *facts;
	size_t nplaces, places_cap, nfacts, facts_cap;
	struct arena arena; /* owns all strings */
};

/*
 * Reads a host. Without a valid host.json only its name and its network cards are known. Returns 0,
 * or -errno if error_of_machine().
 */
int host_read(struct host *h, const char *hosts_dir, const char *name, struct error *err);
void host_free(struct host *h);

#endif
