/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opens the store of a capture for a command. For a part of each run's window (--from, --to),
 * makes a store in memory from the raw files.
 */
#ifndef ZC_OPEN_H
#define ZC_OPEN_H

#include "analyze/model/slice.h"
#include "analyze/store/store.h"

struct open_options {
	struct time_slice slice; /* empty: opens the existing store */
	const char *variant;	 /* the only variant to read; NULL reads all */
	int jobs;		 /* threads; 0 means one per CPU */
};

int capture_open(struct store **store, const char *capture, const struct open_options *o,
		 struct error *err);

#endif
