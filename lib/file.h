/* SPDX-License-Identifier: GPL-2.0-only */
/* Files and folders: reading, writing, their owner, and text files inside the program. Every error
 * message names the path. */
#ifndef ZC_FILE_H
#define ZC_FILE_H

#include "lib/error.h"

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Opens a regular file for reading and returns its descriptor or -errno. It refuses a FIFO or a
 * device, because a stranger's capture may hold one and open() or read() would wait forever. Files
 * of /proc and /sys are regular. `err` may be NULL.
 */
int file_open(const char *path, struct error *err);

/* Closes a descriptor, unless it is below 0, and sets it to -1. */
void fd_close(int *fd);
/* A descriptor that is closed where its block ends: autoclose int fd = file_open(path, err); */
#define autoclose __attribute__((cleanup(fd_close)))

/* Reads a whole regular file. A NUL follows the *len bytes. The caller frees *data. */
int file_read(const char *path, char **data, size_t *len, struct error *err);

/* Does the same for a file whose size another user chose. Refuses more than `most` bytes. */
int file_read_most(const char *path, size_t most, char **data, size_t *len, struct error *err);

/* Reads n bytes at an offset, or fewer at the end. Returns their number, or -errno. */
ssize_t file_read_at(int fd, void *buf, size_t n, uint64_t at);

/* Reads a path that the user typed: also a pipe, and "-" for standard input. */
int file_read_named(const char *path, char **data, size_t *len, struct error *err);

/* Writes a temporary file beside `path`, syncs it and renames it, so nobody sees half a file. */
int file_write(const char *path, const void *data, size_t len, struct error *err);

/* Copies a file, which it reads as file_read() and writes as file_write(). */
int file_copy(const char *from, const char *to, struct error *err);

/*
 * Opens a new file at `path` for writing and returns its descriptor or -errno. It removes a file or
 * a symbolic link of that name first. It leaves a device, a FIFO or a folder alone and returns
 * -EEXIST. `flags` are further flags of open().
 */
int file_create(const char *path, int flags, mode_t mode);

/* Writes all bytes to a descriptor. Returns 0 or -errno. */
int file_write_all(int fd, const void *data, size_t len);

/*
 * Ends a file that was written under its temporary name `tmp`: closes `fd`, and gives the file its
 * real name, or removes it when `rc` is an error. Returns `rc` or -errno.
 */
int file_replace(int fd, const char *tmp, const char *path, int rc);

/*
 * Says whether no byte more fits on the disk of an existing path: a program that cannot write does
 * not always say why.
 */
bool disk_is_full(const char *path);

/* Returns whether it is a regular file that begins with these n bytes. */
bool file_begins_with(const char *path, const char *magic, size_t n);
/* Makes the folder and its parents where they are missing. Root checks it as caller_check_folder.
 */
int dir_make(const char *path, struct error *err);
/* Removes the whole tree without following links. A missing path is no error. */
int dir_remove(const char *path, struct error *err);

/* --- all files below a folder --- */

struct walked {
	const char *path;
	const char *name; /* the part of the path below the first folder; "" for that folder */
	struct stat st;	  /* the link itself, not what it points to */
	int level;	  /* 1 for an entry of the first folder */
	int code;	  /* errno: there is no `st`, or the folder cannot be listed; 0: none */
};

/* Returns 0, WALK_SKIP to pass by what is in a folder, or an error, which ends the walk. */
typedef int (*walk_visitor)(void *arg, const struct walked *e, struct error *err);
enum { WALK_SKIP = 1 };

/*
 * Visits all entries below a folder by name, each folder before its entries. A folder that cannot
 * be listed is visited again with a code. Follows no symbolic link but `dir`.
 */
int dir_walk(const char *dir, walk_visitor visit, void *arg, struct error *err);

/*
 * Return true also where the disk or the memory does not allow an answer: who then opens the path
 * gets the error, and does not go on without the file.
 */
bool path_exists(const char *path);
bool path_is_dir(const char *path);

/* Returns the part behind the last slash. */
const char *path_base_name(const char *path);

/*
 * Visits the entries of a folder, "." and ".." among them: each_entry (e, "/proc") puts(e->d_name).
 * A folder that cannot be opened has no entries.
 */
#define each_entry(e, path)                                                  \
	for (DIR * dir_ __attribute__((cleanup(dir_close))) = opendir(path); \
	     dir_ && ((e) = readdir(dir_));)
void dir_close(DIR **dir);

/* --- temporary names, PATH.tmp.PID --- */

/* Returns the temporary name of this process for `path`. The caller frees it. */
char *remains_name(const char *path);

/* Removes the temporary files and folders of `path` that dead processes left behind. */
void remains_remove(const char *path);

/*
 * --- owners ---
 *
 * Under sudo, zcost gives the files that it makes to the user who called sudo, because analysis
 * needs no root. Without sudo or without root no file changes its owner.
 */

/*
 * Refuses a path where a user other than root and the caller could redirect what root writes: each
 * folder from / down, and each link on the way, belongs to one of them, and nobody else can write
 * to the folder unless it is sticky. The path need not exist. Checks nothing without root.
 */
int caller_check_path(const char *path, struct error *err);

/* As caller_check_path, for a folder to write into. It may not be sticky and open to others. Checks
 * the owner and the mode of the folder without root, too. */
int caller_check_folder(const char *dir, struct error *err);

/* Says whether the file itself, not what it links to, belongs to this user or to the caller. */
bool caller_owns(const char *path);

/* Gives a folder or file of root to the caller. A file with several hard links stays root's. */
void caller_give(int fd);

/* As caller_give, for the file at `path`, which is not a link. */
void caller_give_path(const char *path);

/* Gives the folder and everything in it to the caller. Follows no symbolic link. */
void caller_give_tree(const char *dir);

/*
 * Puts a file of the source tree into the program as a NUL-terminated string. `path` starts at the
 * top folder, where make runs. The makefile must name the file as a prerequisite of the object.
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
