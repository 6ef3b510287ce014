/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows that ingestion fills, the store holds and the measures read. */
#ifndef ZC_ROWS_H
#define ZC_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/* The message of a capture that is not there; a printf format for its path. */
#define NO_SUCH_CAPTURE                                               \
	"%s: no such capture; 'zcost capture' makes one, and 'zcost " \
	"unpack' makes one of an archive"

/* One side of one run of a capture. */
struct run {
	int64_t id; /* in the store */
	const char *variant, *pass, *side, *host, *command, *cpus, *status, *why;
	const char *role; /* receiver, proxy or sender; the side's name if the plan gives none */
	int repeat, ncpus, position;
	uint64_t start_ns, end_ns; /* the window, CLOCK_MONOTONIC; both 0: there is no window */
};

struct collector_row {
	const char *name, *state, *why;
	int64_t lost; /* A collector that cannot count it has -1. */
};

struct host_row {
	const char *name, *release, *arch, *cpu_model, *virtualization;
	int64_t cpus; /* 0: unknown */
};

/* A setting of a host, of a variant or of a run; the others of the three are NULL and 0. */
struct fact_row {
	const char *host, *variant;
	int64_t run;
	const char *name, *value;
};

/* One place in a host's topology; schema.sql describes the columns. */
struct topology_row {
	const char *host, *kind, *name, *cpus, *distances;
	int64_t package, node, up; /* A number that is not known is -1. */
	double size_kib, speed;	   /* NAN: not known */
};

/* A program or library that a run executed. */
struct object_row {
	const char *path, *build_id;
};

enum { NO_CPU = -1 };

/*
 * The key of a metric in a run: its name, and what it speaks of. The object is an event, a source
 * of interrupts, a counter of an interface ...; NULL means none. NO_CPU means no single CPU.
 */
struct metric_key {
	const char *name, *object;
	int cpu;
};

struct metric_row {
	struct metric_key key;
	const char *unit;
	double value;
	const char *source; /* measured, modelled or imported; NULL: measured */
};

#define ERRORS_UNKNOWN UINT64_MAX /* in a text without errors */

struct syscall_row {
	const char *comm, *name;
	int64_t pid, tid, nr;
	uint64_t calls, errors, total_ns, min_ns, max_ns, bytes, unfinished;
	double m2;
	bool has_bytes;
	uint64_t time_hist[64], size_hist[64];
};

enum thread_figure {
	THREAD_RUN,
	THREAD_USER,
	THREAD_SYSTEM,
	THREAD_MIGRATIONS,
	THREAD_SCHED_RUN,
	THREAD_WAIT,
	THREAD_SLICES,
	THREAD_VOLUNTARY,
	THREAD_INVOLUNTARY,
	THREAD_FIGURES,
};

/* A thread of the workload in the window; schema.sql describes the columns. NAN, NULL: not
 * measured. */
struct thread_row {
	int64_t pid, tid;
	const char *comm, *allowed, *cpus;
	uint64_t first_ns, last_ns;
	union {
		struct {
			double run_ns, user_ns, system_ns, migrations; /* collector threads */
			double sched_run_ns, wait_ns, slices, voluntary, involuntary; /* sched */
		};
		double f[THREAD_FIGURES]; /* the same, by enum thread_figure */
	};
};

/*
 * A TCP socket of the workload in the window. A state is the median of its readings; min_rtt_us is
 * the least of them, and app_limited_pct is the share of the readings in which the application was
 * the limit. A counter is its growth. Rates are bytes per second. NAN: the kernel did not report
 * it.
 */
// clang-format off
#define SOCKET_FIGURES(X)                                                                  \
	X(rtt_us) X(rttvar_us) X(min_rtt_us) X(cwnd) X(ssthresh) X(mss) X(delivery_rate)   \
	X(pacing_rate) X(rcv_rtt_us) X(rcv_space) X(snd_wnd) X(unacked) X(notsent) X(rmem) \
	X(rcvbuf) X(wmem) X(sndbuf) X(app_limited_pct) X(bytes_acked) X(bytes_received)    \
	X(bytes_sent) X(bytes_retrans) X(segs_out) X(segs_in) X(retrans) X(busy_us)        \
	X(rwnd_limited_us) X(sndbuf_limited_us) X(reordered) X(dsacks) X(out_of_order) X(drops)
// clang-format on
enum socket_figure {
#define X(name) SOCKET_##name,
	SOCKET_FIGURES(X)
#undef X
		SOCKET_NFIGURES,
};
struct socket_row {
	int64_t pid;
	const char *local, *peer, *congestion, *state;
	uint64_t first_ns, last_ns;
	int64_t readings;
	double f[SOCKET_NFIGURES];
};

#endif
