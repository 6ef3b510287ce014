/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes known by a variable in their environment, NAME=VALUE. Whatever they start inherits it,
 * in whatever group or session, so that all of it is found again, also by who did not start it. One
 * that cleared its environment is not.
 */
#ifndef ZC_MARKED_H
#define ZC_MARKED_H

#include <stdbool.h>

/*
 * SIGTERM to all that carry `mark` ("NAME=VALUE"), SIGKILL after grace_ms. With `begins`, also to
 * those whose value only begins with it. Never to ourselves. How many there were at first.
 */
int marked_end(const char *mark, bool begins, int grace_ms);

#endif
