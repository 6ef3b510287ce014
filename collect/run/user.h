/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user who runs the workload: `zcost collect --user NAME`. zcost, its collectors and the words
 * of the prefix stay root, because a prefix such as `ip netns exec` needs root. Behind the prefix
 * env drops the variables of root, and setpriv its rights for good: no setuid program brings them
 * back. lib/spawn.h keeps the terminal, the keys and the descriptors of root away (`apart`). The
 * limits of resources stay those of zcost.
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
 * setpriv with their options, then the other words. `mark` ("NAME=VALUE") stays in the environment.
 * Without a name these are the words of argv. The caller frees it with user_free().
 */
char **user_command(const char *name, size_t prefix, char *const argv[], const char *mark,
		    struct error *err);
void user_free(char **words);

#endif
