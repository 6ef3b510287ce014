/* SPDX-License-Identifier: GPL-2.0-only */
/* Whole files and folders. Every failure names the path. */
#ifndef ZC_FILE_H
#define ZC_FILE_H

#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Opens a file for reading and returns its descriptor or -errno. Only a regular file (those of
 * /proc and /sys are): a capture of a stranger may hold, or name, a FIFO or a device, on which
 * open() or read() waits for ever. `err` may be NULL.
 */
int file_open(const char *path, struct error *err);

/* Reads the whole file, opened by file_open(). A NUL follows *len bytes. The caller frees. */
int file_read(const char *path, char **data, size_t *len, struct error *err);

/* The same for a path that the user typed: also a pipe, and "-" for standard input. */
int file_read_named(const char *path, char **data, size_t *len, struct error *err);

/* Written to a temporary name beside `path`, fsynced and renamed: never half a file. */
int file_write(const char *path, const void *data, size_t len, struct error *err);

/*
 * Opens a new file at `path` for writing and returns its descriptor or -errno. A file or symbolic
 * link of that name is removed and never written to; a device, a FIFO or a folder stays, and the
 * result is -EEXIST. `flags`: more of open()'s.
 */
int file_create(const char *path, int flags, mode_t mode);

int file_copy(const char *from, const char *to, struct error *err);
int dir_make(const char *path, struct error *err); /* with parents; existing is fine */
int dir_remove(const char *path,
	       struct error *err); /* the whole tree; absent is fine; no links followed */
/* Returns what follows the last slash, or the whole path. */
const char *path_base_name(const char *path);
bool path_exists(const char *path);
bool path_is_dir(const char *path);

/* SHA-256 of a file as 64 hexadecimal digits. */
int file_sha256(const char *path, char hex[65], struct error *err);

/* What is made under the temporary name PATH.tmp.PID, and what is left of it by who was killed. */

/* The temporary name of this process; the caller frees. */
char *remains_name(const char *path);

/* Removes PATH.tmp.PID, files and folders, of processes that are no more. */
void remains_remove(const char *path);

/*
 * Under sudo, what root makes belongs to the user who called it: analysis needs no root. Without
 * sudo, or when we are not root, nothing changes its owner.
 */

/* Refuses a folder that a user other than us and the caller owns, or that everybody can change. */
int caller_check_folder(const char *dir, struct error *err);

/* Gives the caller root's folder or file, unless the file has another name, somewhere else. */
void caller_give(int fd);

/* Gives the caller the folder and all in it. Follows no symbolic link. */
void caller_give_tree(const char *dir);

/*
 * A file of the source tree as a NUL-terminated string inside the program. `path` is seen from the
 * top folder, where make runs; the makefile names the file as a prerequisite of the object.
 */

#define EMBED_TEXT(name, path)                     \
	extern const char name[];                  \
	__asm__(".pushsection .rodata\n"           \
		".global " #name "\n" #name ":\n"  \
		".incbin \"" path "\"\n"           \
		".byte 0\n"                        \
		".size " #name ", . - " #name "\n" \
		".popsection\n")

#endif
