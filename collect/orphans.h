/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the workload leaves behind: processes that left its group and lost their parent become our
 * children, once we said so, and are ended with the run.
 */
#ifndef ZC_ORPHANS_H
#define ZC_ORPHANS_H

#include <sys/types.h>

/* Call before anything is started. */
void orphans_adopt(void);

/* SIGTERM to all our children but one, SIGKILL after grace_ms; reaps them. `except` 0: none. */
void orphans_end(int grace_ms, pid_t except);

#endif
