/* SPDX-License-Identifier: GPL-2.0-only */
/* The other hosts of a capture, all of them (capture/remote.h). */
#ifndef ZC_CAPTURE_REMOTES_H
#define ZC_CAPTURE_REMOTES_H

#include "capture/capture.h"

/* NULL: the side runs here. */
struct remote *remote_of(struct capture *c, enum side side);

/* Connects, and makes the plan what it is there (${bindir}). Nothing to do without such sides. */
int remotes_open(struct capture *c, struct error *err);

/* Before a run: those whose connection broke are connected anew. */
int remotes_reconnect(struct capture *c, struct error *err);

void remotes_close(struct capture *c);

#endif
