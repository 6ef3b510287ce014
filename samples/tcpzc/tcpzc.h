/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tcpzc moves bytes over one TCP connection by one mode of sending or receiving and says what
 * happened. A mode is a file of its own and a row in modes.c; all of its state hangs on the flow.
 *
 * Functions return 0 or a count, or -errno after flow_fail recorded what went wrong (the first
 * message is kept; main prints it). An interrupted call is no error: a step returns and the
 * caller looks at stop_requested.
 */
#ifndef TCPZC_H
#define TCPZC_H

#include "calls.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

struct flow;

struct mode {
	const char *name, *what;
	/* Memory and rings, before there is a connection. Sets f->state. */
	int (*open)(struct flow *f);
	/* On the connected socket, before the data. May be NULL. */
	int (*attach)(struct flow *f);
	/*
	 * tx: hands over up to one message, or a batch of them; 0.
	 * rx: takes what is there, or waits for it; 1, or 0 at the end of the stream.
	 */
	int (*step)(struct flow *f);
	/* tx: ends when everything is sent and the kernel has given the memory back. May be NULL.
	 */
	int (*drain)(struct flow *f);
	/* Frees f->state, also after a failed or missing open. */
	void (*close)(struct flow *f);
};

/* Both end with NULL; the first is the default. */
extern const struct mode *const tx_modes[], *const rx_modes[];
const struct mode *mode_find(const struct mode *const *table, const char *name);

struct options {
	bool listen;
	const char *host; /* to connect to, or the address to listen on; NULL: any */
	const char *port;
	const struct mode *mode;
	size_t size;	/* of a message */
	uint64_t bytes; /* sender: to send; receiver: expected; 0: no limit */
	double seconds; /* sender; 0: no limit */
	int cpu;	/* -1: not pinned */
	size_t sndbuf, rcvbuf, rcvlowat;
	size_t window;	/* of the mapping, in bytes */
	unsigned batch; /* sends handed over by one io_uring_enter */
	double connect_timeout, accept_timeout;
	bool verify, corrupt;
	uint64_t corrupt_at;
};

struct flow {
	const struct options *opt;
	int fd;
	void *state; /* the mode's */

	uint64_t bytes; /* sent or received so far */
	uint64_t sends, sends_zero_copy, sends_copied;
	uint64_t receives, mapped_bytes, copied_bytes;
	uint64_t recv_hist[64]; /* by floor(log2(size)) */
	uint64_t ring_overflow;
	uint64_t calls[CALL_COUNT];

	uint64_t bad_bytes, first_bad;	  /* --verify */
	uint64_t start_ns, end_ns;	  /* CLOCK_MONOTONIC; the data's first and last */
	uint64_t next_point_ns, check_ns; /* see flow_tick */
	uint64_t check_bytes;
	unsigned int check_steps, check_every;
	struct rusage usage[2]; /* at the start and the end of the span that calls.h defines */

	int error; /* positive errno; 0: none */
	char what[512];
};

/* options.c: exits with 2 on a usage error. */
void options_parse(struct options *opt, int argc, char **argv);

/* net.c: fills f->fd. */
int net_connect(struct flow *f);
int net_accept(struct flow *f);
int net_wait_readable(struct flow *f); /* 0 also when interrupted */
int net_linger(struct flow *f);	       /* sender: until the peer has taken everything */

/* flow.c */
void flow_begin(struct flow *f);
void flow_data_starts(struct flow *f);
void flow_check(struct flow *f); /* the time: prints a point when one is due */
void flow_data_ends(struct flow *f);
int flow_fail(struct flow *f, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A verdict of ours rather than an errno. */
int flow_wrong(struct flow *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
uint64_t flow_left(const struct flow *f, uint64_t pos);	 /* bytes to send from there on */
size_t flow_message(const struct flow *f, uint64_t pos); /* the rest of the message there */
/* Bytes that arrived, `mapped` or copied to `data`. */
void flow_take(struct flow *f, const void *data, size_t n, bool mapped);
void flow_fill(const struct flow *f, void *buf, uint64_t pos, size_t n); /* what to send there */
uint64_t now_ns(void);

/* One send was accepted by the kernel: `n` bytes. */
static inline void flow_sent(struct flow *f, size_t n)
{
	f->sends++;
	f->bytes += n;
}

/* One receive ended and gave `n` > 0 bytes in all. */
static inline void flow_received(struct flow *f, size_t n)
{
	f->receives++;
	f->recv_hist[63 - __builtin_clzll(n)]++;
}

/*
 * After each step. Reading the clock costs as much as a small receive, so that it is read every
 * 256 KiB or 64 steps, and at each step only while steps take longer than a millisecond.
 */
static inline void flow_tick(struct flow *f)
{
	if (f->bytes - f->check_bytes >= 256 << 10 || ++f->check_steps >= f->check_every)
		flow_check(f);
}

/* stop.c: SIGINT, SIGTERM and the timer raise the flag and interrupt the call that waits. */
extern volatile sig_atomic_t stop_requested;
bool stop_asked(void); /* by a signal from outside, not by the timer */
int stop_catch(struct flow *f);
void stop_after(struct flow *f, double seconds);
void stop_count(struct flow *f); /* adds the handler's calls since the last time */

/* pattern.c: byte k of the stream depends on k alone. */
void pattern_fill(void *buf, uint64_t pos, size_t n);
/* How many bytes differ; *first is the position of the first one. */
size_t pattern_check(const void *buf, uint64_t pos, size_t n, uint64_t *first);

/* report.c: JSON lines on standard output. */
void report_point(struct flow *f, uint64_t t_ns);
int report_summary(struct flow *f);
void report_error(struct flow *f); /* and on standard error */

/* memory.c: page-aligned, zeroed and touched; NULL after flow_fail. */
void *memory_get(struct flow *f, size_t size);
void memory_put(void *p, size_t size);
/* "optmem_max is 131072, RLIMIT_MEMLOCK is 8388608": for messages about ENOBUFS and ENOMEM. */
const char *memory_limits(void);

#endif
