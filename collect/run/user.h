/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user who runs the workload: `zcost collect --user NAME`. zcost, its collectors and the words
 * of the prefix stay root, because a prefix such as `ip netns exec` needs root. Behind the prefix
 * setpriv drops the rights of root. The limits of resources stay those of zcost.
 */
#ifndef ZC_USER_H
#define ZC_USER_H

#include "lib/error.h"

#include <stddef.h>

/*
 * Checks that this process may run a command as the user. Returns -EINVAL for a user that this host
 * does not know, -EPERM without root, and -ENOENT without setpriv.
 */
int user_check(const char *name, struct error *err);

/*
 * Returns the words that run `argv` as the user: the first `prefix` words of argv, then env and
 * setpriv with their options, then the other words. Without a name these are the words of argv. The
 * caller frees it with user_free().
 */
char **user_command(const char *name, size_t prefix, char *const argv[], struct error *err);
void user_free(char **words);

#endif
