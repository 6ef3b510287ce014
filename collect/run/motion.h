/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far a workload has come before its window opens. The capture waits for both lines of the
 * protocol (run.h), so that a client finds its server listening, and a window has data in it also
 * where the host is so busy that the workload starts late:
 *
 *   settled   it has a TCP socket that listens, or all its processes sleep: a server waits for its
 *             client, any other program for something else
 *   moving    its account of the work has begun, or one of its TCP sockets has moved a byte
 *
 * Time on a busy host says little, so a limit is CPU time: a workload that has used two seconds of
 * it is settled. It counts as moving when it has no TCP socket although it has used one second of
 * CPU time, or sleeps a second after its start. It counts as moving at once when it has no `units`,
 * and when it is measured without a warm-up.
 */
#ifndef ZC_MOTION_H
#define ZC_MOTION_H

#include "collect/collect.h"

struct motion;

struct motion *motion_begin(struct run *r);

/* Looks at the workload and prints what it reached. Returns true when no further look is due. */
bool motion_look(struct motion *m);
void motion_end(struct motion *m);

/* What the workload's TCP sockets showed. */
struct tcp_seen {
	bool sockets, listens, moved;
};

/*
 * Looks at the sockets for a `c` that belongs to no list of collectors and only has its run. Shows
 * nothing where the sockets cannot be read. The caller calls tcp_look_end() after the last look.
 */
struct tcp_seen tcp_look(struct collect *c);
void tcp_look_end(struct collect *c);

#endif
