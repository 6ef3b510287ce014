/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A collector that copies one file of /proc into a .snap at the window's start, once a second and
 * at its end. start, snap and stop are all snapfile_take.
 */
#ifndef ZC_SNAPFILE_H
#define ZC_SNAPFILE_H

#include "collect/collect.h"

/* Can `source` be read? */
int snapfile_probe(struct collect *c, const char *source);

/* Opens c->is->files[0]; c->data keeps the descriptor until snapfile_finish. */
int snapfile_prepare(struct collect *c);
int snapfile_take(struct collect *c, const char *source);
void snapfile_finish(struct collect *c);

#endif
