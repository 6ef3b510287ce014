/* SPDX-License-Identifier: GPL-2.0-only */
/* How many files may be open: sockets, rings, pipes and the like of all flows. */
#ifndef TCPZC_FILES_H
#define TCPZC_FILES_H

#include "tcpzc.h"

/* Where the flows may need more than the soft limit allows, it becomes the hard one. */
void files_raise(const struct options *opt);
/* " (RLIMIT_NOFILE (ulimit -n) is 64: ...)": of what stops at it, and the way out. */
const char *files_limit(void);

#endif
