/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Under sudo, what root makes belongs to the user who called it: analysis needs no root. Without
 * sudo, or when we are not root, nothing changes its owner.
 */
#ifndef ZC_CALLER_H
#define ZC_CALLER_H

#include <stdbool.h>
#include <sys/types.h>

/* Tells whether `owner` is our user or the caller. */
bool caller_is_ours(uid_t owner);

/* Gives the caller root's folder or file, unless the file has another name, somewhere else. */
void caller_give(int fd);

/* Gives the caller the folder and all in it. Follows no symbolic link. */
void caller_give_tree(const char *dir);

#endif
