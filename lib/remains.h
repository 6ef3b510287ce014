/* SPDX-License-Identifier: GPL-2.0-only */
/* What is made under the temporary name PATH.tmp.PID, and what is left of it by who was killed. */
#ifndef ZC_REMAINS_H
#define ZC_REMAINS_H

/* The temporary name of this process; the caller frees. */
char *remains_name(const char *path);

/* Removes PATH.tmp.PID, files and folders, of processes that are no more. */
void remains_remove(const char *path);

#endif
