/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Readings of a collector: its first file is a .snap (lib/snap.h), and each reading is one snapshot
 * in it. A collector with the hook `read` adds text to c->reading.text, and the runner does the
 * rest: it takes a reading at the window's start, once a second, and at the window's end.
 *
 * Some readings take long: thousands of interrupts, a driver that asks its firmware. Between the
 * window's ends such readings are skipped until they take at most a thousandth of the time. The CPU
 * time that they cost stands in run.json: readings, reading_us (the mean), longest_us, skipped.
 */
#ifndef ZC_READING_H
#define ZC_READING_H

#include "lib/str.h"

#include <stdbool.h>
#include <stdint.h>

struct collect;

struct reading {
	int fd;			    /* the .snap; 0: not open */
	struct str text;	    /* the present reading; the collector adds to it */
	bool next_is_cheaper;	    /* set by the collector: the next reading is not skipped */
	uint64_t began_ns, next_ns; /* CLOCK_MONOTONIC */
	uint64_t cpu_ns;	    /* CPU time of the thread when the reading began */
	uint64_t spent_ns, longest_ns;
	unsigned int n, skipped;
};

/* Creates the collector's first file. */
int reading_open(struct collect *c);

/* Takes a reading by the collector's hook `read` and writes it. Returns 0 or -errno. */
int reading_take(struct collect *c);

/* Does the same when a reading is due; see above. */
int reading_take_when_due(struct collect *c);

/* Saves the cost in c->info, unless every reading is due (collect.h), and closes the file. */
void reading_close(struct collect *c);

/*
 * Hooks of a collector that copies files of /proc, c->is->sources, one behind the other. The first
 * source must be there; the others are left out where the kernel does not have them. A collector
 * with `in_netns` names its sources below /proc/thread-self/net: they are read in the network
 * namespace that the workload lives in, and a line "netns <inode>" stands before them. `read` also
 * serves as `before`: the first reading takes longer than the later ones, so it is thrown away.
 */
int snapfile_probe(struct collect *c);
int snapfile_prepare(struct collect *c);
int snapfile_read(struct collect *c);
void snapfile_finish(struct collect *c);

#define SNAPFILE_HOOKS                                                               \
	.probe = snapfile_probe, .prepare = snapfile_prepare, .read = snapfile_read, \
	.finish = snapfile_finish

#endif
