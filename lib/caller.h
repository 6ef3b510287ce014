/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Under sudo, what root makes belongs to the user who called it: analysis needs no root. Without
 * sudo, or when we are not root, nothing changes its owner.
 */
#ifndef ZC_CALLER_H
#define ZC_CALLER_H

#include "lib/error.h"

/* Refuses a folder that a user other than us and the caller owns, or that everybody can change. */
int caller_check_folder(const char *dir, struct error *err);

/* Gives the caller root's folder or file, unless the file has another name, somewhere else. */
void caller_give(int fd);

/* Gives the caller the folder and all in it. Follows no symbolic link. */
void caller_give_tree(const char *dir);

#endif
