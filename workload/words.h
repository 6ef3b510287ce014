/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ZC_WORKLOAD_WORDS_H
#define ZC_WORKLOAD_WORDS_H

#include "workload/workload.h"

/* Copies the text of another program as plain ASCII, cut to `most` bytes. The caller frees. */
char *text_clean(const char *s, size_t most);

/*
 * Returns the first line of a file, or the last line that may be a reason, as plain ASCII. NULL:
 * the file has no such line. The caller frees.
 */
char *line_of_file(const char *path, bool first);

/*
 * Returns the error that ended the workload, in its own words and in plain ASCII: the one that its
 * adapter finds, or the last line of its standard error, or of its output. NULL: it printed none.
 */
char *workload_words(const struct workload_run *run, const char *units);

/*
 * Returns why a workload did no work: its adapter finds an error, or no work. Where no adapter
 * reads the output, the workload prints an error line as tcpzc does. NULL: it did some work, or
 * nothing says that it did none. A workload that is stopped at the end of the window has no exit
 * status that tells.
 */
char *workload_undone(const struct workload_run *run, const char *units);

/*
 * Returns why the account of a workload that did some work is incomplete: it lacks its summary, or
 * it ends before the window does, by more than the analysis accepts without a doubt. NULL: it is
 * complete, or it is not the workload's own. Times are CLOCK_MONOTONIC ns.
 */
char *workload_cut_off(const struct workload_run *run, const char *units, uint64_t start_ns,
		       uint64_t end_ns);

#endif
