/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Another host that runs a side, reached by ssh. One connection serves all runs of a capture: an
 * agent there (collect/agent.h) answers over it, and each run's `zcost collect --sync` goes through
 * its control socket, which is in a private folder here. Nothing outlives the capture: the ssh
 * process ends with it, the agent ends with the connection, and then the agent removes its files.
 */
#ifndef ZC_CAPTURE_REMOTE_H
#define ZC_CAPTURE_REMOTE_H

#include "capture/child.h"
#include "capture/plan.h"
#include "lib/words.h"
#include "collect/agent.h"

/* How far CLOCK_MONOTONIC of the host is ahead of ours. error_ns < 0: not measured. */
struct offset {
	int64_t offset_ns, error_ns; /* the true offset is within +- error_ns */
	uint64_t at_ns;		     /* when, by our clock */
	int64_t rtt_ns;		     /* the shortest round trip */
	int trips;
};

/*
 * What this host accepts from another one for one run, which may be hostile or broken. An archive
 * takes 32 GiB, too. A JSON file is read into memory. Lines of an answer have 64 KiB at most
 * (capture/child.c), and messages LOG_MOST.
 */
#define FETCH_BYTES ((uint64_t)32 << 30)
enum { FETCH_FILES = 10000, FETCH_S = 3600, FETCH_FOLDERS = 8, FETCH_JSON_BYTES = 16 << 20 };

struct fetch_limits {
	uint64_t bytes, files;
	double seconds;
};

struct remote {
	const char *side; /* the plan owns it, and url */
	const char *url;
	char *key; /* part of the names of our folders there and here */
	struct words ssh, zcost;
	char *dir; /* our folder with control socket and log; NULL: not made */
	struct link link;
	bool up;	   /* connected, as far as we know */
	bool owed;	   /* the host may still have our files */
	uint64_t hurry_ns; /* when to stop waiting, after a signal in the middle of an answer; 0:
			    * none came */
	uint64_t said_ns;  /* when we last wrote to the agent */
	double start_timeout_s, stop_timeout_s;

	struct fetch_limits most;

	/* The agent reports these of its host. */
	const char *exe, *host, *boot_id, *folder;
	json_t *hello; /* owns them; NULL: not connected yet */
	struct rights rights;

	char *host_name; /* its folder under hosts/ */
	struct offset before, after;
};

int remote_init(struct remote *r, const struct plan *p, int side, const char *key,
		struct error *err);
void remote_free(struct remote *r);

/* Connects and starts the agent. -EINTR, or an error with the way out. */
int remote_connect(struct remote *r, struct interrupt *intr, struct error *err);

/* Tells the agent that the capture is alive, if we have not written to it for a while. */
void remote_nudge(struct remote *r);

/* Adds an option and its value to a command: command_add(argv, "--repeat", "%u", 3). */
#define command_add(argv, option, ...) (words_add(argv, option), words_addf(argv, __VA_ARGS__))

/* Adds the words to *argv that run the command `there` on the host, through the connection. */
void remote_command(const struct remote *r, const struct words *there, struct words *argv);

/* Ends all processes of a run on the host. */
int remote_sweep(struct remote *r, struct interrupt *intr, struct error *err);

/* Measures the offset of the clock. */
int remote_offset(struct remote *r, struct interrupt *intr, struct offset *o, struct error *err);

/* Writes clock.json in `dir` with both offsets of a run (docs/reference/capture-folder.md). */
int remote_write_clock(const struct remote *r, const char *dir, struct error *err);

/*
 * Fetches the files of the last run to `dir`, and new files of the host's description to `hosts`.
 * Each goes through the file `staging`. The agent then removes them.
 */
int remote_fetch(struct remote *r, struct interrupt *intr, const char *dir, const char *hosts,
		 const char *staging, struct error *err);

/* Writes one line to the agent and reads its answer. A failure ends the connection. */
int remote_ask(struct remote *r, struct interrupt *intr, const char *what, struct str *answer,
	       struct error *err);

/* Ends the connection because `answer` does not answer the question. Returns -EPROTO. */
int remote_bad_answer(struct remote *r, const char *answer, struct error *err);

/* Ends the connection because of `why`, which follows the name of the host. Returns -EPROTO. */
int remote_refuse(struct remote *r, struct error *err, const char *why, ...)
	__attribute__((format(printf, 3, 4)));

/* Ends the connection after the link returned `rc`, and says why. Returns -errno. */
int remote_lost(struct remote *r, int rc, struct error *err);

/* --- all hosts of a capture --- */

struct capture;

/* Returns NULL for a side that runs here. */
struct remote *remote_of(struct capture *c, int side);

/* Connects to all hosts and sets ${bindir} of their sides. */
int remotes_open(struct capture *c, struct error *err);

/*
 * Connects again to hosts that lost the connection. Waits up to start_timeout for a host that
 * cannot be reached, as one that boots.
 */
int remotes_reconnect(struct capture *c, struct error *err);

void remotes_close(struct capture *c);

#endif
