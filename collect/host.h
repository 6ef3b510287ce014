/* SPDX-License-Identifier: GPL-2.0-only */
/* hosts/<host>/: what explains this host's samples, away from it. */
#ifndef ZC_HOST_H
#define ZC_HOST_H

#include "lib/error.h"

#include <stdbool.h>

/*
 * The folder to use: `wanted`, or, where that one holds the facts of another boot (whose kernel
 * lay at other addresses), `wanted`-<first digits of this boot's id>. The caller frees.
 */
char *host_folder(const char *wanted);

/* Does the folder hold the facts of another boot, or another machine? */
bool host_is_other(const char *dir, const char *boot_id);

/* This boot's id; "" when the kernel does not tell. Static. */
const char *host_boot_id(void);

/* host.json: written last, so that where it is all else is. */
int host_write_json(const char *dir, struct error *err);

/* sysctls: the network's and what bears on measuring. */
int host_write_sysctls(const char *dir, struct error *err);

/* nic/<if>/ of the network namespace we are in; an interface that is there already is left alone.
 */
int host_write_nics(const char *dir, struct error *err);

/* The same for another network namespace, given by an open file of /proc/PID/ns/net. */
void host_write_nics_of(const char *dir, int netns);

/* First line of a small file, trimmed; NULL when it cannot be read or is empty. The caller frees.
 */
char *host_fact(const char *path);

#endif
