/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A side's host, reached by the system's ssh: one connection for all runs of a capture. It is the
 * connection of an agent there (collect/agent.h), and of a control socket in a private folder here,
 * through which each run's `zcost collect --sync` goes. Nothing of it outlives us: the ssh process
 * ends with us, the agent with the connection, and what the agent has there with the agent.
 */
#ifndef ZC_CAPTURE_REMOTE_H
#define ZC_CAPTURE_REMOTE_H

#include "capture/child.h"
#include "capture/plan.h"
#include "capture/words.h"
#include "collect/rights.h"

#include <stdint.h>

/* How far the host's CLOCK_MONOTONIC is ahead of ours; error_ns < 0: not measured. */
struct offset {
	int64_t offset_ns, error_ns; /* certainly within +- error_ns */
	uint64_t at_ns;		     /* when, by our clock */
	int64_t rtt_ns;		     /* the shortest round trip */
	int trips;
};

struct remote {
	enum side side;
	const char *url; /* the plan's */
	char *key;	 /* names the agent's folder there, and ours here */
	struct words ssh, zcost;
	char *dir; /* ours: control socket and log; NULL: there is none */
	struct link link;
	bool up;	  /* connected, as far as we know */
	bool hurry;	  /* interrupted in the middle of an answer */
	uint64_t said_ns; /* when it last heard of us */
	double start_timeout_s, stop_timeout_s;

	/* what the agent says of its host */
	char *exe, *host, *boot_id, *folder;
	struct rights rights;

	char *host_name; /* its folder under hosts/ */
	struct offset before, after;
};

int remote_init(struct remote *r, const struct plan *p, enum side side, const char *key,
		struct error *err);
void remote_free(struct remote *r);

/* -EINTR, or why it cannot be used, with the way out. */
int remote_connect(struct remote *r, struct interrupt *intr, struct error *err);
/* true: the agent has left nothing there. */
bool remote_disconnect(struct remote *r);

/* Is the connection still there? */
bool remote_alive(struct remote *r);

/* Says that we are still there, where it has not heard of us for a while. */
void remote_nudge(struct remote *r);

/* The words that run `there` on the host, through the connection. */
void remote_command(const struct remote *r, const struct words *there, struct words *argv);

/* Ends what is left of a run there. */
int remote_sweep(struct remote *r, struct error *err);

/* The clock's offset, now. */
int remote_offset(struct remote *r, struct interrupt *intr, struct offset *o, struct error *err);
/* clock.json in `dir`: both offsets of a run (docs/formats.md). */
int remote_write_clock(const struct remote *r, const char *dir, struct error *err);

/*
 * Brings the files of the last run to `dir`, and what is new of the host's facts to `hosts`; each
 * through the file `staging`. They are removed there.
 */
int remote_fetch(struct remote *r, struct interrupt *intr, const char *dir, const char *hosts,
		 const char *staging, struct error *err);

/* One word to the agent and its line in answer. A failure ends the connection. */
int remote_ask(struct remote *r, struct interrupt *intr, const char *what, struct str *answer,
	       struct error *err);
/* What it said is no answer to what was asked: no more of it either. */
int remote_bad_answer(struct remote *r, const char *said, struct error *err);
/* After a failure of the link: no more of it. `rc` is the link's; returns -errno. */
int remote_lost(struct remote *r, int rc, struct error *err);

/* --- all hosts of a capture --- */

struct capture;

/* NULL: the side runs here. */
struct remote *remote_of(struct capture *c, enum side side);

/* Connects, and makes the plan what it is there (${bindir}). Nothing to do without such sides. */
int remotes_open(struct capture *c, struct error *err);

/* Before a run: those whose connection broke are connected anew. */
int remotes_reconnect(struct capture *c, struct error *err);

void remotes_close(struct capture *c);

#endif
