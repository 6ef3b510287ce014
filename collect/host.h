/* SPDX-License-Identifier: GPL-2.0-only */
/* hosts/<host>/: the facts that explain this host's samples on another machine. */
#ifndef ZC_HOST_H
#define ZC_HOST_H

#include "lib/error.h"
#include "lib/str.h"

/*
 * Returns the folder to use, which the caller frees: `wanted`, or `wanted`-<first digits of this
 * boot's id> where `wanted` holds the facts of another boot, with the kernel at other addresses.
 */
char *host_folder(const char *wanted);

/* Says whether the folder holds the facts of another boot or another machine. */
bool host_is_other(const char *dir, const char *boot_id);

/* Returns this boot's id in static memory, or "" when the kernel has none. */
const char *host_boot_id(void);

/* Writes host.json. It is written last: where it exists, the other files do too. */
int host_write_json(const char *dir, struct error *err);

/*
 * Adds a line "name = value" for each net.* sysctl of the network namespace that we are in, except
 * keys, secrets and the settings of single interfaces. Sets the error where the machine fails.
 */
void host_add_net_sysctls(struct str *out, struct error *err);

/* Calls `each` for the entries of a folder by name, except hidden ones. */
typedef void host_entry(void *arg, const char *dir, const char *name, struct error *err);
void host_each(const char *dir, host_entry *each, void *arg, struct error *err);

/*
 * Returns the first line of a small file, trimmed, or NULL when it is empty or cannot be read. The
 * caller frees it. Where the machine fails (error_of_machine), it fills the error, which may be
 * NULL. A missing file is no error.
 */
char *host_label(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define host_fact(...) host_label(NULL, __VA_ARGS__)

/* Returns number n, from 0 on, in the value of a sysctl, or -1. */
double host_sysctl_number(const char *name, int n);

/*
 * For a child: mounts a file system of the kernel in a mount namespace of its own, and enters the
 * network namespace `netns` before, unless it is -1. Returns 0 or -errno.
 */
int host_mount_alone(const char *type, const char *where, int netns);

/* Return /sys and /proc, or ZCOST_SYSFS and ZCOST_PROC, which tests set. */
const char *sysfs_root(void);
const char *proc_root(void);

/*
 * Returns the hypervisor that the CPU reports, such as "kvm", or "none" where the CPU can report
 * that, or NULL. The caller frees it.
 */
char *host_virtualization(void);

/* Says whether a program of that name is in PATH. */
bool host_has_program(const char *name);

#define NO_PERF                                                                                    \
	"no perf program here; install linux-perf (Debian), linux-tools-generic (Ubuntu) or perf " \
	"(Fedora)"

/*
 * Says whether the folder's kallsyms holds addresses: for a process without the right to see them,
 * all are 0. One symbol at 0 proves nothing: before Linux 6.15 the per-CPU symbols, which come
 * first on x86, start at 0.
 */
bool host_has_addresses(const char *dir);

#endif
