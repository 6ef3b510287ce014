/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether a variant was zero copy. The answer rests on independent evidence (chapter 10 of the
 * design) and is the first line of every table with figures of the variant.
 */
#ifndef ZC_ZEROCOPY_H
#define ZC_ZEROCOPY_H

#include "analyze/scope/scope.h"

/* What the workload asked the kernel to do with its data. */
enum asked { ASKED_UNKNOWN, ASKED_COPY, ASKED_ZERO_COPY, ASKED_DROP };

/*
 * Who says so. Of the profile, only copies after the send call are evidence of their own. The cost
 * of copying in the call confirms or contradicts the others. A queue tells seconds, not bytes:
 * while zcrx or devmem does not have it, the kernel can only copy.
 */
enum evidence_source { BY_WORKLOAD, BY_KERNEL, BY_SYSCALLS, BY_PROFILE, BY_QUEUE };

struct evidence {
	const char *side;
	enum direction way;
	const char *what; /* "sends, by completion flags"; BY_QUEUE: "eth0/rx-1/zcrx" */
	enum evidence_source source;
	double total, zero_copy, copied; /* NAN if not known, as for dropped data */
	enum asked asked;
	bool lends; /* the calls lent pages to the kernel, which may have copied them later */
};

extern const char *const asked_names[]; /* by enum asked; NULL: unknown */

/* A row of table zerocopy: a piece of evidence, or a cost of copying. */
struct zerocopy_row {
	struct block block;
	const char *evidence;
	double total, zero_copy, copied, share; /* share: percent */
	const char *asked;			/* a word of asked_names */
};

/* The text for data that nobody read. */
#define DROPPED_UNREAD "every byte was dropped unread (upper bound)"

enum { MAX_EVIDENCE = 256 };

/*
 * Fills the evidence of the variant, summed over the runs. `counted`: also what the kernel and the
 * system calls say, which takes longer to read. The strings are the store's or static. Returns the
 * count or -errno.
 */
int zero_copy_evidence(struct store *s, const struct query *q, const char *variant, bool counted,
		       struct evidence e[MAX_EVIDENCE], struct error *err);

/* Returns a side's zero-copy share, 0 to 1, from its worst evidence, or NAN without evidence. */
double zero_copy_share(const struct evidence *e, int n, const char *side);

/*
 * Adds a first line to the table if a variant of the query copied although it asked for zero copy.
 */
void zero_copy_title(struct store *s, const struct query *q, struct table *t);

/*
 * Adds the evidence of a side in the runs whose system calls were counted: bytes that the kernel
 * copied to user space, and bytes by system calls, in each direction in which they moved. `asked`:
 * what the workload asked for in each. Returns the count or -errno.
 */
int zero_copy_add_counted(struct store *s, const struct query *q, const struct block *b,
			  const enum asked asked[DIRECTIONS], struct evidence *e, int max,
			  struct error *err);

/*
 * Adds the receive queues that zcrx or devmem TCP had, as seconds: total, and copied, those without
 * it. Returns the count or -errno.
 */
int zero_copy_add_queues(struct store *s, const struct query *q, const struct block *b,
			 struct evidence *e, int max, struct error *err);

/* Finds the directions in which a side moved data, without system calls: from its sockets. */
int zero_copy_find_directions(struct store *s, const struct block *b, bool moves[DIRECTIONS],
			      struct error *err);

/* Returns whether the side is known to have moved nothing over a socket. */
bool zero_copy_no_network(struct store *s, const struct block *b);

/* The cost of copying in one direction on a side, in this variant and in the base. */
struct copying {
	double ns, base_ns; /* NAN: not known, or this is the base */
	double total_ns;    /* what a unit of work costs the side in all */
	const char *base, *unit;
	bool moves;	    /* the side moves data in this direction */
	const char *suffix; /* says the direction, unless the side's role and name say it */
};

/* Returns whether all sides ran on one host. One side alone does not tell. */
bool zero_copy_one_host(const struct block_runs *blocks, int n);

/*
 * Adds the verdict on the variant of the blocks, from its n pieces of evidence and from the cost of
 * copying on each side. `blocks` and `c` have nblocks members.
 */
void zero_copy_add_verdict(struct table *t, const struct block_runs *blocks, int nblocks,
			   const struct evidence *e, int n, const struct copying (*c)[DIRECTIONS]);

/* Adds a note if the variant fell back to copying. */
void zero_copy_notes(struct store *s, const struct query *q, const char *variant, struct table *t);
/* Returns whether it did: no gain of such a variant is one of zero copy. */
bool zero_copy_fell_back(struct store *s, const struct query *q, const char *variant);

#endif
