/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tcpzc moves bytes over TCP connections by one mode of sending or receiving and says what
 * happened. A connection is a flow; flows are spread over threads (worker.c), and a mode is a
 * file of its own and a row in modes.c: all of its state hangs on the flow.
 *
 * Functions return 0 or a count, or -errno after flow_fail recorded what went wrong (the first
 * message of a flow is kept). An interrupted call is no error: a step returns and the
 * caller looks at stop_requested.
 */
#ifndef TCPZC_H
#define TCPZC_H

#include "calls.h"
#include "hist.h"

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct flow;
struct worker;

/* What a step says. */
enum {
	STEP_END = 0,  /* rx: the end of the stream */
	STEP_ON = 1,   /* something was done: again */
	STEP_WAIT = 2, /* nothing can be done before what flow_wait_for said, or the default:
			  the socket is readable (rx) or writable (tx) */
};

enum { DRAIN_PATIENCE_MS = 2000 };

enum {
	MODE_UDP = 1 << 0,	/* works on datagrams too */
	MODE_NONBLOCK = 1 << 1, /* its calls have no MSG_DONTWAIT of their own: the socket is
				   O_NONBLOCK when the flow shares its thread */
	MODE_RING = 1 << 3,	/* its requests wait: the socket must not be O_NONBLOCK */
	MODE_NIC = 1 << 4,	/* an interface must be named */
	MODE_NO_DATA = 1 << 2,	/* rx: never sees what came: no --verify */
};

/* What a mode asks of the kernel; of pages that are shared without a word of it: nothing is said.
 */
enum asks { ASKS_UNSAID, ASKS_COPY, ASKS_ZERO_COPY };

enum { MODE_OPTIONS = 8 };

/* What is counted by size; summary.c names them. */
enum {
	HIST_RECV_BYTES,  /* of a receive; filled by flow_received */
	HIST_FRAGS,	  /* per receive: pages mapped, or completions */
	HIST_TOKENS,	  /* of devmem, per receive */
	HIST_RETURNS,	  /* those given back at once */
	HIST_NOTIFY_NS,	  /* from handing a send over to its notification */
	HIST_BATCH,	  /* sends that a notification covers */
	HIST_COMPLETIONS, /* found at once in io_uring's ring */
	HIST_LATENCY_NS,  /* of requests; rr.c */
	HIST_COUNT,
};

enum limit { LIMIT_OPTMEM, LIMIT_MEMLOCK, LIMIT_COUNT };

/* What io_uring sends from without a copy; none: no such mode. */
enum buffers { BUFFERS_NONE, BUFFERS_REGISTERED, BUFFERS_PLAIN };

/* Why a multishot request of io_uring ended before its stream did, and was made anew. */
enum rearm { REARM_RING_FULL, REARM_NO_BUFFERS, REARM_INTERRUPTED, REARM_COUNT };

/* Memory in huge pages (huge.c). */
enum huge_kind { HUGE_TLB, HUGE_TRANSPARENT, HUGE_KINDS };
struct huge_map {
	void *p;
	size_t before, mapped; /* bytes of address space before p and from it on */
	size_t bytes;	       /* in huge pages; 0: this place is free */
	enum huge_kind kind;
};
enum { HUGE_MAPS = 4 };

struct mode {
	const char *name, *what;
	const char *needs; /* beyond Linux 5.19; NULL: nothing */
	unsigned int flags;
	unsigned int hists; /* 1 << HIST_... of those the mode fills itself */
	enum asks asks;
	const char *options[MODE_OPTIONS]; /* of those that not every mode has; ends with NULL */
	/* Memory and rings, on the flow's thread, before there is a connection. Sets f->state. */
	int (*open)(struct flow *f);
	/* On the connected socket, before the data. May be NULL. */
	int (*attach)(struct flow *f);
	/*
	 * tx: hands over up to one message, or a batch of them. rx: takes what is there. May
	 * block only while the flow is alone on its thread (f->alone).
	 */
	int (*step)(struct flow *f);
	/*
	 * After the last step, also after a stop: takes back what the kernel still has. 0: that is
	 * all; STEP_ON: got something; STEP_WAIT: to be called again when what flow_wait_for said
	 * is so. Two seconds without progress, and what is not back stays unknown. May be NULL.
	 */
	int (*drain)(struct flow *f);
	/* Frees f->state, also after a failed or missing open. On the flow's thread. */
	void (*close)(struct flow *f);
};

/* Both end with NULL; the first is the default. */
extern const struct mode *const tx_modes[], *const rx_modes[];
const struct mode *mode_find(const struct mode *const *table, const char *name);

struct options {
	bool listen;
	const char *host; /* to connect to, or the address to listen on; NULL: any */
	const char *port;
	const struct mode *mode, *back_mode; /* of what is sent or received, of the responses */
	size_t size;			     /* of a message */
	bool udp;			     /* one flow */
	bool rr;
	size_t response; /* its size */
	unsigned int outstanding;
	double rate; /* per flow, bytes or messages a second; 0: as fast as it goes */
	bool rate_messages;
	uint64_t bytes; /* per flow. Sender: to send; receiver: expected; 0: no limit */
	double seconds; /* sender; 0: no limit */
	unsigned int flows, threads;
	cpu_set_t cpus; /* thread i runs on the i-th of them, and so on round */
	bool pinned;
	size_t sndbuf, rcvbuf;
	unsigned int rcvlowat, mss;
	unsigned int busy_poll, busy_poll_budget; /* microseconds; packets */
	unsigned int prefer_busy_poll;
	bool no_iowait;
	double pacing_rate; /* bytes a second */
	size_t window;	    /* of the mapping, in bytes */
	const char *nic;    /* zcrx, devmem: NULL: not given */
	unsigned int queue; /* its first receive queue for us; flow i takes queue + i */
	size_t area;	    /* bytes of memory to receive into */
	bool no_device, print_setup, plain_buffers;
	bool huge_pages;
	int dmabuf_fd;		     /* devmem: a dmabuf that was given; -1: udmabuf */
	unsigned int dontneed_batch; /* devmem: tokens given back at once */
	unsigned batch;		     /* sends handed over by one io_uring_enter */
	unsigned int cq_entries;     /* of an io_uring's completion ring; 0: the mode's own */
	double connect_timeout, accept_timeout, peer_timeout;
	bool verify, corrupt;
	uint64_t corrupt_at; /* in the first flow */
};

struct flow {
	const struct options *opt;
	const struct mode *mode;
	struct worker *worker;
	unsigned int index; /* 0 .. opt->flows - 1, in the order of the connections */
	bool tx;
	bool alone; /* on its thread: steps may block */
	int fd;
	int kept_fd; /* of the mode, closed after the last of what was sent is read; -1: none */
	void *state; /* the mode's */

	struct flow *back; /* --rr: the responses' (rr.c); else NULL */

	size_t size;	/* of a message */
	uint64_t limit; /* bytes to send; UINT64_MAX: no limit */
	uint64_t allow; /* those that may be sent by now */
	uint64_t seed;	/* of the pattern */
	int event_fd;	/* of the mode's ring (uring.c); -1: none */
	bool event_awaited;
	bool blocked; /* nothing to do until poll says that it, or f->back, can go on */
	bool waiting; /* this half of it; for: */
	int wait_fd;  /* see flow_wait_for */
	short wait_events;
	bool polled;	 /* poll said so */
	uint64_t due_ns; /* or until then; 0: no time set */

	uint64_t bytes; /* sent or received so far; other threads read it */
	uint64_t sends, sends_zero_copy, sends_copied;
	/* A receiver's bytes are one of these; unknown: the kernel does not say if it copied. */
	uint64_t receives, mapped_bytes, copied_bytes, dropped_bytes, unknown_bytes;
	struct hist *hist[HIST_COUNT]; /* NULL where nothing of the kind happens */
	uint64_t retries[LIMIT_COUNT]; /* sends refused for want of memory, by what limits it */
	uint64_t ring_overflow, dropped_completions; /* uring.c */
	enum buffers buffers;
	struct huge_map huge[HUGE_MAPS];
	uint64_t rearmed[REARM_COUNT];
	uint64_t calls[CALL_COUNT];

	uint64_t bad_bytes, first_bad; /* --verify */
	uint64_t start_ns, end_ns;     /* CLOCK_MONOTONIC; the data's first and last; 0: not yet */
	uint64_t check_ns;	       /* see flow_tick */
	uint64_t check_bytes;
	unsigned int check_steps, check_every;
	bool draining;	   /* after the last step */
	uint64_t drain_ns; /* when drain last got something back */

	double pace_rate; /* bytes a second; 0: none */
	uint64_t pace_ns, pace_bytes;

	/* --rr, at the client */
	uint64_t *begun_ns, begun, completed; /* by a request's number, modulo `outstanding` */
	uint64_t rest_ns;
	bool held, ended; /* rr.c */

	uint64_t peer_bytes; /* --udp: what the other end says it sent or received */
	bool peer_told;

	int error; /* positive errno; 0: none */
	char what[1024];
} __attribute__((aligned(64)));

/* options.c: exits with 2 on a usage error. */
void options_parse(struct options *opt, int argc, char **argv);

/* net.c: fills the fd of each flow, in turn. */
int net_connect(struct flow *flows, unsigned int n);
int net_accept(struct flow *flows, unsigned int n);
/* linger.c: a sender waits until the peers have taken all. */
void net_linger(struct flow *flows, unsigned int n);

/* flow.c */
void flow_init(struct flow *f, const struct options *opt, unsigned int index);
int flow_open(struct flow *f); /* its histograms, and the mode */
void flow_close(struct flow *f);
void flow_free(struct flow *f); /* what is left of it after that */
void flow_data_starts(struct flow *f);
void flow_check(struct flow *f); /* the time: prints a point when one is due */
void flow_data_ends(struct flow *f);
int flow_fail(struct flow *f, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A verdict of ours rather than an errno. */
int flow_wrong(struct flow *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int flow_copy_error(struct flow *f, const struct flow *from);
uint64_t flow_left(const struct flow *f, uint64_t pos);	 /* bytes to send from there on */
size_t flow_message(const struct flow *f, uint64_t pos); /* the rest of the message there */
/* Bytes that arrived, `mapped` or copied to `data`. */
void flow_take(struct flow *f, const void *data, size_t n, bool mapped);
/* Bytes that arrived at `data`, copied or not: the kernel does not say. */
void flow_take_unknown(struct flow *f, const void *data, size_t n);
void flow_fill(const struct flow *f, void *buf, uint64_t pos, size_t n); /* what to send there */
uint64_t now_ns(void);

/* Returns STEP_WAIT: until poll reports `events` (0: POLLERR alone) of `fd` (-1: none). */
static inline int flow_wait_for(struct flow *f, int fd, short events)
{
	f->wait_fd = fd;
	f->wait_events = events;
	return STEP_WAIT;
}

/* A flag for send, recv and their like: a flow that shares its thread must not block it. */
static inline int flow_dontwait(const struct flow *f)
{
	return f->alone ? 0 : MSG_DONTWAIT;
}

static inline void flow_count_bytes(struct flow *f, size_t n)
{
	__atomic_store_n(&f->bytes, f->bytes + n, __ATOMIC_RELAXED);
}

/* `n` bytes that arrived and that nobody will see. */
static inline void flow_drop(struct flow *f, size_t n)
{
	f->dropped_bytes += n;
	flow_count_bytes(f, n);
}

static inline void flow_hist(struct flow *f, int which, uint64_t v)
{
	hist_add(f->hist[which], v);
}

/* One send was accepted by the kernel: `n` bytes. */
static inline void flow_sent(struct flow *f, size_t n)
{
	f->sends++;
	flow_count_bytes(f, n);
}

/* One receive ended and gave `n` > 0 bytes in all. */
static inline void flow_received(struct flow *f, size_t n)
{
	f->receives++;
	hist_add(f->hist[HIST_RECV_BYTES], n);
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
void stop_after(struct worker *w, double seconds);
void stop_count(struct worker *w); /* adds the calls of its thread's handler since the last time */
void stop_mask_worker(void);	   /* this thread takes STOP_POKE alone */
enum { STOP_POKE = SIGUSR1 };

/* pattern.c: byte k of the stream depends on k and the stream's seed alone. */
void pattern_fill(void *buf, uint64_t seed, uint64_t pos, size_t n);
/* How many bytes differ; *first is the position of the first one. */
size_t pattern_check(const void *buf, uint64_t seed, uint64_t pos, size_t n, uint64_t *first);

/*
 * memory.c: page-aligned and touched; NULL after flow_fail. With --huge-pages in those, but for
 * what is small.
 */
void *memory_get(struct flow *f, size_t size);
void memory_put(struct flow *f, void *p, size_t size);
/* "optmem_max is 131072, RLIMIT_MEMLOCK is 8388608": for messages about ENOBUFS and ENOMEM. */
const char *memory_limits(void);

#endif
