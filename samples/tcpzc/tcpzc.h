/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tcpzc moves bytes over TCP connections with one mode of sending or receiving, and reports what
 * happened. A connection is a flow. The flows are spread over threads (worker.c). A mode is one
 * file and one row in options.c, and all of its state belongs to the flow.
 *
 * Functions return 0 or a count, or -errno after flow_fail has recorded the error. A flow keeps its
 * first error. An interrupted call is no error: the step returns, and its caller looks at
 * stop_requested.
 */
#ifndef TCPZC_H
#define TCPZC_H

#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/cpuset.h"
#include "lib/file.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>

struct flow;
struct worker;

/* --- system calls --- */

/*
 * The program counts its own system calls, so that they can be compared with the kernel's count.
 *
 * It counts each call that it makes from the connection (connect or accept has returned) to the end
 * of the data. For a sender, the data ends when everything is sent and notified. For a receiver, it
 * ends with the stream, an error, or a stop. The count has calls that fail and calls that a signal
 * interrupts. It has the mode's own calls, the wait for the first byte, the set-up of the connected
 * socket, the write of each line of output, and the return from a signal handler. It leaves out the
 * two calls of getrusage at the ends of the span. With several threads, each thread has such a span
 * around its work. The names are the kernel's: recv(2) is recvfrom.
 */
#define CALLS(X)                                  \
	X(FTRUNCATE, "ftruncate")                 \
	X(GETSOCKOPT, "getsockopt")               \
	X(IO_URING_ENTER, "io_uring_enter")       \
	X(IO_URING_REGISTER, "io_uring_register") \
	X(MADVISE, "madvise")                     \
	X(MMAP, "mmap")                           \
	X(PPOLL, "ppoll")                         \
	X(PWRITE64, "pwrite64")                   \
	X(READ, "read")                           \
	X(RECVFROM, "recvfrom")                   \
	X(RECVMSG, "recvmsg")                     \
	X(RT_SIGRETURN, "rt_sigreturn")           \
	X(SENDFILE, "sendfile")                   \
	X(SENDMSG, "sendmsg")                     \
	X(SENDTO, "sendto")                       \
	X(SETITIMER, "setitimer")                 \
	X(SETSOCKOPT, "setsockopt")               \
	X(SPLICE, "splice")                       \
	X(TEE, "tee")                             \
	X(TGKILL, "tgkill")                       \
	X(WRITE, "write")

#define CALL_ENUM(id, name) CALL_##id,
enum call { CALLS(CALL_ENUM) CALL_COUNT };
#undef CALL_ENUM

/* CALL(flow, SENDTO, send(...)) makes the call and counts it. */
#define CALL(f, id, expression) ((f)->calls[CALL_##id]++, (expression))

/* --- histograms --- */

/*
 * A log-linear histogram, like HdrHistogram. Values below 128 are exact. Above, each power of two
 * has 64 buckets, so a quantile is off by less than 1 %. Count, sum, minimum and maximum are exact.
 */
enum { HIST_SUB = 64, HIST_BUCKETS = (64 - 5) * HIST_SUB };

struct hist {
	uint64_t count, sum, min, max;
	uint64_t buckets[HIST_BUCKETS];
};

static inline unsigned int hist_bucket(uint64_t v)
{
	int shift;

	if (v < 2 * HIST_SUB)
		return (unsigned int)v;
	shift = 63 - __builtin_clzll(v) - 6;
	return (unsigned int)(shift * HIST_SUB) + (unsigned int)(v >> shift);
}

static inline void hist_add(struct hist *h, uint64_t v)
{
	if (!h->count || v < h->min)
		h->min = v;
	if (v > h->max)
		h->max = v;
	h->count++;
	h->sum += v;
	h->buckets[hist_bucket(v)]++;
}

/* Returns the smallest value of a bucket. */
uint64_t hist_floor(unsigned int bucket);
/* Adds the values of `from`, which may be NULL. */
void hist_merge(struct hist *to, const struct hist *from);
/* Returns the middle of the bucket that holds quantile `p`, or 0 when the histogram is empty. */
uint64_t hist_quantile(const struct hist *h, double p);

/* --- modes --- */

/* What a step returns, unless it fails. */
enum {
	STEP_END = 0,  /* rx: the end of the stream */
	STEP_ON = 1,   /* the step did something: take the next one */
	STEP_WAIT = 2, /* nothing can be done until the event of flow_wait_for, or by default
			  until the socket is readable (rx) or writable (tx) */
};

enum { DRAIN_PATIENCE_MS = 2000 };

enum {
	MODE_UDP = 1 << 0,	/* tx: the mode also sends datagrams */
	MODE_NONBLOCK = 1 << 1, /* the mode's calls have no MSG_DONTWAIT: the socket is O_NONBLOCK
				   when the flow shares its thread */
	MODE_NO_DATA = 1 << 2,	/* rx: the mode never sees the data, so --verify cannot work */
	MODE_RING = 1 << 3,	/* the mode's requests wait: the socket must not be O_NONBLOCK */
	MODE_NIC = 1 << 4,	/* the mode needs --nic */
	MODE_DMABUF = 1 << 5,	/* the mode takes --memory and --dmabuf-fd */
	MODE_BUFFERS = 1 << 6,	/* the mode takes --plain-buffers */
	MODE_SLOTS = 1 << 7,	/* tx: the mode takes --depth and --offset */
	MODE_NOTIFIES = 1 << 8, /* tx: the kernel notifies of the end of a send */
	MODE_MAPS = 1 << 9,	/* rx: the kernel says why it does not map a page */
};

/* Whether a mode asks the kernel for zero copy. A mode that shares pages asks for nothing. */
enum asks { ASKS_UNSAID, ASKS_COPY, ASKS_ZERO_COPY };

/* The histograms. summary.c has their names. */
enum {
	HIST_RECV_BYTES,  /* bytes of a receive; flow_received fills it */
	HIST_FRAGS,	  /* pages mapped by a receive */
	HIST_TOKENS,	  /* devmem tokens of a receive */
	HIST_RETURNS,	  /* devmem tokens given back by one call */
	HIST_NOTIFY_NS,	  /* time from a send to its notification */
	HIST_BATCH,	  /* sends that one notification covers */
	HIST_COMPLETIONS, /* completions found in io_uring's ring at once */
	HIST_LATENCY_NS,  /* latency of requests; rr.c fills it */
	HIST_OUTSTANDING, /* sends without a notification, whenever some are read */
	HIST_RETURN_NS,	  /* time from receiving a piece of the area to its return */
	HIST_COUNT,
};

enum limit { LIMIT_OPTMEM, LIMIT_MEMLOCK, LIMIT_COUNT };

/* The memory that io_uring's zero-copy send reads from. BUFFERS_NONE: another mode. */
enum buffers { BUFFERS_NONE, BUFFERS_REGISTERED, BUFFERS_PLAIN };

/*
 * Why a receiver that maps copied: the queue had less than a page; less than a page stood before
 * the next page; a fragment was no whole page.
 */
enum unmapped { UNMAPPED_SHORT, UNMAPPED_REMAINDER, UNMAPPED_FRAGMENT, UNMAPPED_COUNT };

/* Why an io_uring multishot request ended before the stream did and had to be repeated. */
enum rearm { REARM_RING_FULL, REARM_NO_BUFFERS, REARM_INTERRUPTED, REARM_COUNT };

struct mode {
	const char *name, *what;
	const char *needs; /* beyond Linux 5.19; NULL: nothing */
	unsigned int flags;
	unsigned int hists; /* 1 << HIST_... of the histograms that the mode fills itself */
	enum asks asks;
	/* Bytes of f->state, which begins as zeroes. 0: the state is a buffer for one message. */
	size_t state_size;
	/* Gets memory and rings, on the flow's thread, before the connection. May be NULL. */
	int (*open)(struct flow *f);
	/* Prepares the connected socket before the data. May be NULL. */
	int (*attach)(struct flow *f);
	/*
	 * tx: sends up to one message, or one batch of messages. rx: takes what has arrived. It may
	 * block only while the flow is alone on its thread (f->alone).
	 */
	int (*step)(struct flow *f);
	/*
	 * Reads what poll reports as an error until it is read. Returns a negative number or how
	 * much it read. May be NULL.
	 */
	int (*notice)(struct flow *f);
	/*
	 * Takes back what the kernel still has, after the last step and after a stop. Returns 0
	 * when nothing is left, STEP_ON when it got something, or STEP_WAIT when it is to be called
	 * again after the event of flow_wait_for. After two seconds without progress, the rest
	 * stays unknown. May be NULL.
	 */
	int (*drain)(struct flow *f);
	/*
	 * Closes what open got, also after it failed. Runs on the flow's thread, before f->pages
	 * and f->arena are freed. May be NULL.
	 */
	void (*close)(struct flow *f);
};

/* --- options --- */

struct options {
	bool listen;
	const char *host; /* to connect to, or the address to listen on; NULL: any address */
	const char *port;
	const struct mode *mode, *back_mode; /* the modes of the data, and of the responses to it */
	size_t size;			     /* the size of a message */
	bool udp;			     /* a sender with one flow */
	bool rr;
	size_t response; /* size of a response */
	unsigned int outstanding;
	double rate; /* bytes or messages a second on each flow; 0: no limit */
	bool rate_messages;
	uint64_t bytes; /* per flow: what a sender sends or a receiver expects; 0: no limit */
	double seconds; /* the time of a sender; 0 when there is no limit */
	unsigned int flows, threads;
	struct cpuset cpus; /* thread i runs on the i-th CPU, modulo their number */
	bool pinned;
	size_t sndbuf, rcvbuf;
	const char *nic;    /* for zcrx and devmem; NULL: missing */
	unsigned int queue; /* flow i takes receive queue `queue` + i */
	size_t area;	    /* bytes of memory to receive into */
	bool plain_buffers;
	unsigned int depth; /* messages in flight at most; 0: the mode decides */
	size_t offset;	    /* bytes from the start of a page to the first message */
	int dmabuf_fd;	    /* devmem: an inherited dmabuf; -1: make one, */
	int gpu;	    /* on this GPU; -1: a udmabuf */
	unsigned int
		cq_entries; /* entries of io_uring's completion ring; 0 when the mode decides */
	double connect_timeout, accept_timeout, peer_timeout;
	bool verify;
};

/* options.c: exits with 2 on a usage error. */
void options_parse(struct options *opt, int argc, char **argv);

/* --- flows --- */

struct flow {
	const struct options *opt;
	const struct mode *mode;
	struct worker *worker;
	unsigned int index; /* 0 .. opt->flows - 1, in the order of the connections */
	bool tx;
	bool alone; /* the only flow on its thread: steps may block */
	int fd;
	int kept_fd; /* a mode's file, closed after the peer has read everything; -1: none */

	void *state;	     /* the mode's own state */
	struct arena arena;  /* for the state and more memory of the mode, until flow_free */
	struct pages *pages; /* what memory_get returned, until flow_close */

	struct flow *back; /* --rr: the flow of the responses (rr.c); else NULL */

	size_t size;	/* the size of a message */
	uint64_t limit; /* bytes to send; UINT64_MAX: no limit */
	uint64_t allow; /* bytes that may be sent by now */
	uint64_t seed;	/* the seed of the pattern */
	int event_fd;	/* the event of the mode's ring (uring.c); -1 when there is none */
	bool event_awaited;
	bool blocked; /* nothing can be done until poll reports this flow or f->back */
	bool waiting; /* this direction waits for: */
	int wait_fd;  /* what flow_wait_for said */
	short wait_events;
	bool polled;	 /* poll reported wait_fd */
	uint64_t due_ns; /* the wait ends at this time; 0: no time is set */

	/* Counters that add up over the flows: all are uint64_t, from `bytes` to `calls`. */
	uint64_t bytes; /* sent or received so far; other threads read it */
	uint64_t sends, sends_zero_copy, sends_copied;
	/* Pages of 4 KiB that the kernel pinned for single sends, and that their bytes need. */
	uint64_t pinned_pages, needed_pages;
	uint64_t waits, waited_ns, flow_ns; /* for notifications, in flow_ns from start to end */
	/* Each received byte is in one of these. unknown: the kernel does not say if it copied. */
	uint64_t receives, mapped_bytes, copied_bytes, dropped_bytes, unknown_bytes;
	uint64_t unmapped[UNMAPPED_COUNT];
	uint64_t retries[LIMIT_COUNT]; /* sends refused for lack of memory, by limit */
	uint64_t ring_overflow, dropped_completions; /* uring.c */
	uint64_t sqes, cqes;   /* requests that the kernel took, and their completions */
	uint64_t refill_empty; /* zcrx: the kernel had taken every entry of the ring */
	uint64_t rearmed[REARM_COUNT];
	uint64_t bad_bytes; /* --verify */
	uint64_t calls[CALL_COUNT];

	uint64_t first_bad;	       /* --verify */
	struct hist *hist[HIST_COUNT]; /* NULL for events that the mode does not have */
	enum buffers buffers;
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC of the first and last data; 0: not yet */
	uint64_t check_ns;	   /* when flow_tick last read the clock */
	uint64_t check_bytes;
	unsigned int check_steps, check_every;
	bool draining;	   /* the last step is over */
	uint64_t drain_ns; /* when drain last got something back */

	double pace_rate; /* bytes a second; 0: no --rate */
	uint64_t pace_ns, pace_bytes;

	/* --rr, at the client */
	uint64_t *begun_ns, begun, completed; /* indexed by request number modulo `outstanding` */
	uint64_t rest_ns;
	bool held, ended; /* rr.c */

	int error; /* positive errno; 0: none */
	char what[1024];
} __attribute__((aligned(64)));

/* flow.c */
void flow_init(struct flow *f, const struct options *opt, unsigned int index);
int flow_open(struct flow *f); /* allocates the histograms and opens the mode */
void flow_close(struct flow *f);
void flow_free(struct flow *f); /* frees what flow_close leaves */
void flow_data_starts(struct flow *f);
void flow_check(struct flow *f); /* reads the clock and prints a point when one is due */
void flow_data_ends(struct flow *f);
/* Records the first error of a flow; code 0: an error that has no errno. */
int flow_fail(struct flow *f, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
#define flow_wrong(f, ...) flow_fail(f, 0, __VA_ARGS__)
/* Handles errno after a call on the socket: waits for EAGAIN, tries again for EINTR, else fails. */
int flow_call_failed(struct flow *f, const char *call);
int flow_copy_error(struct flow *f, const struct flow *from);
uint64_t flow_left(const struct flow *f, uint64_t pos);	 /* bytes to send from `pos` on */
size_t flow_message(const struct flow *f, uint64_t pos); /* bytes left of the message at `pos` */
/* Verifies bytes that arrived at `data` and counts them in *counter, such as f->mapped_bytes. */
void flow_take(struct flow *f, const void *data, size_t n, uint64_t *counter);
/* Writes the bytes to send at `pos`. Does nothing without --verify. */
void flow_fill(const struct flow *f, void *buf, uint64_t pos, size_t n);

/* Returns STEP_WAIT. The flow waits for `events` (0: POLLERR alone) of `fd` (-1: none). */
static inline int flow_wait_for(struct flow *f, int fd, short events)
{
	f->wait_fd = fd;
	f->wait_events = events;
	return STEP_WAIT;
}

/* Returns the flag for send or recv: a flow that shares its thread must not block it. */
static inline int flow_dontwait(const struct flow *f)
{
	return f->alone ? 0 : MSG_DONTWAIT;
}

static inline void flow_count_bytes(struct flow *f, size_t n)
{
	__atomic_store_n(&f->bytes, f->bytes + n, __ATOMIC_RELAXED);
}

static inline void flow_hist(struct flow *f, int which, uint64_t v)
{
	if (f->hist[which])
		hist_add(f->hist[which], v);
}

/*
 * Ends the wait for a notification that began at *from, unless it is 0: nobody waits. A drain after
 * the last send is no wait of the transfer.
 */
static inline void flow_waited(struct flow *f, uint64_t *from, uint64_t now)
{
	if (*from && !f->draining) {
		f->waits++;
		f->waited_ns += now - *from;
	}
	*from = 0;
}

/* Counts one send of `n` bytes that the kernel accepted. */
static inline void flow_sent(struct flow *f, size_t n)
{
	f->sends++;
	flow_count_bytes(f, n);
}

/* Counts one receive of `n` > 0 bytes in all. */
static inline void flow_received(struct flow *f, size_t n)
{
	f->receives++;
	hist_add(f->hist[HIST_RECV_BYTES], n);
}

/*
 * Runs after each step. Reading the clock costs as much as a small receive. So it is read every
 * 256 KiB or 64 steps, and at each step only while steps take longer than a millisecond.
 */
static inline void flow_tick(struct flow *f)
{
	if (f->bytes - f->check_bytes >= 256 << 10 || ++f->check_steps >= f->check_every)
		flow_check(f);
}

/* worker.c: SIGINT, SIGTERM and the timer set the flag and interrupt a call that blocks. */
extern volatile sig_atomic_t stop_requested;
bool stop_asked(void); /* true after a signal from outside, not after the timer */
int stop_catch(struct flow *f);
void stop_after(struct worker *w, double seconds);
void stop_count(struct worker *w); /* adds the calls of the thread's handler since the last time */
void stop_mask_worker(void);	   /* lets this thread take STOP_POKE alone */
enum { STOP_POKE = SIGUSR1 };

#endif
