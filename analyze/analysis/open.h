/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A capture as a command is to see it: its store; or, of a part of each run's window (--from,
 * --to), a store made from its raw files, in memory and for this once.
 */
#ifndef ZC_OPEN_H
#define ZC_OPEN_H

#include "analyze/model/slice.h"
#include "analyze/store/store.h"

struct open_options {
	struct time_slice slice; /* not given: the store that is there */
	const char *variant;	 /* all that is wanted of it; NULL: everything */
	int jobs;		 /* threads; 0: one per CPU */
};

int capture_open(struct store **store, const char *capture, const struct open_options *o,
		 struct error *err);

#endif
